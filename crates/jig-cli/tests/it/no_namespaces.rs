//! Machines that refuse user namespaces, as many containers do: Landlock and the filter hold what they can, ordinary
//! commands run, and what they cannot do there is said.

use std::net::TcpListener;
use std::process::Command;

use super::vfs_tool::until;
use super::workspace_user::{Desk, Ran, for_each_user};

/// Runs a test for each user who can play such a machine.
fn without_namespaces(test: impl Fn(&Bare<'_>)) {
    for_each_user(|desk| {
        if desk.has(&["unshare", "--map-root-user", "true"]) {
            test(&Bare(desk));
        }
    });
}

/// A desk at a machine that refuses new user namespaces.
struct Bare<'a>(&'a Desk);

impl Bare<'_> {
    fn command(&self, args: &[&str]) -> Command {
        let jig = self.0.jig(args);
        let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" \"$@\"";
        let mut command = self.0.command("unshare");
        command.args(["--map-root-user", "sh", "-c", script]);
        command.arg(jig.get_program()).args(jig.get_args());
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }

    /// `jig run -- sh -c SCRIPT`.
    fn sh(&self, script: &str) -> Ran {
        self.run(&["run", "--", "sh", "-c", script])
    }

    /// What a command prints that goes well.
    #[track_caller]
    fn ok(&self, words: &[&str]) -> String {
        let ran = self.run(&[&["run", "--"], words].concat());
        assert_eq!(ran.code, Some(0), "{words:?}: {ran:?}");
        ran.out
    }
}

/// A repository as people have it, with a secret, a configuration of jig and a folder for results.
fn repository(desk: &Desk) {
    let files = [
        (".env", "SECRET=1\n"),
        ("README.md", "read me\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("src/deep/file", "deep\n"),
        ("conf/.env.local", "SECRET=2\n"),
        ("conf/shared", "shared\n"),
        ("target/old", "old\n"),
        ("tool.sh", "echo tool; cat README.md; cat .env\n"),
        (".gitignore", ".env*\ntarget\n"),
        (
            "jig.toml",
            "[tools.tool]\nsource = 'local'\nrun = 'unattended'\ncommand = 'sh tool.sh'\n",
        ),
    ];
    for (name, content) in files {
        desk.workspace.write(name, content);
    }
    let script =
        "git init -q . && git add -A && git -c user.name=n -c user.email=e commit -qm first";
    desk.unconfined(&["sh", "-c", script]);
    desk.workspace.write(".git/hooks/pre-commit", "SECRET=3\n");
}

/// the first things that somebody does in a repository work, with nothing but `jig run`.
#[test]
fn x53_ordinary_commands_run_in_a_repository() {
    without_namespaces(|bare| {
        let desk = bare.0;
        repository(desk);
        let listed = bare.ok(&["ls", "-A"]);
        for name in [".env", ".git", "README.md", "jig.toml", "src"] {
            assert!(listed.lines().any(|line| line == name), "{listed}");
        }
        assert_eq!(
            bare.ok(&["cat", "README.md", "src/deep/file"]),
            "read me\ndeep\n"
        );
        assert_eq!(bare.ok(&["git", "status", "--short"]), "");
        assert!(bare.ok(&["git", "log", "--oneline"]).ends_with("first\n"));
        bare.ok(&[
            "sh",
            "-c",
            "echo more >> README.md; echo changed > src/main.rs",
        ]);
        assert_eq!(desk.read("README.md"), "read me\nmore\n");
        assert!(bare.ok(&["git", "diff", "--stat"]).contains("README.md"));
        let script = "mkdir -p target/debug/x; echo new > target/debug/x/out; mv target/debug/x target/y
            rm -r target/debug; ln src/main.rs src/deep/linked; mv src/main.rs src/deep/; cat conf/shared jig.toml";
        bare.ok(&["sh", "-e", "-c", script]);
        assert_eq!(desk.read("target/y/out"), "new\n");
        assert_eq!(desk.read("src/deep/main.rs"), "changed\n");

        let ran = bare.run(&["call", "tool", "--no-interaction"]);
        assert!(ran.out.contains("tool\nread me\n"), "{ran:?}");
        let ran = bare.run(&["call", "shell", "command=ls; cat README.md", "--yes"]);
        assert!(
            ran.code == Some(0) && ran.out.contains("read me"),
            "{ran:?}"
        );
    });
}

/// Compilers need a place for temporary files. It is the tool's own, and goes with it.
#[test]
fn temporary_files_have_a_place_without_namespaces() {
    without_namespaces(|bare| {
        let other = tempfile::NamedTempFile::new().unwrap();
        let script = "set -e; file=$(mktemp); echo x > $file; mkdir $TMPDIR/a; mv $file $TMPDIR/a/; echo $TMPDIR";
        let place = bare.ok(&["sh", "-c", script]);
        let place = std::path::Path::new(place.trim());
        assert!(place.is_absolute() && !place.exists(), "{place:?}");
        let script = "ln -s / $TMPDIR/root; ls $TMPDIR/..; cat \"$0\"; mv $TMPDIR $TMPDIR.moved; rm -r $TMPDIR; echo x > \"$0\"; echo tried";
        let name = other.path().to_str().unwrap();
        let ran = bare.run(&["run", "--", "sh", "-c", script, name]);
        assert_eq!(ran.out, "tried\n", "{ran:?}");
        assert_eq!(std::fs::read(other.path()).unwrap(), b"");
    });
}

/// what is withheld inside of the workspace is held there too, against every way around it, and also over
/// several calls.
#[test]
fn x53_what_is_withheld_is_held_without_namespaces() {
    let script = "
        cat .env ./src/../.env /proc/self/cwd/.env conf/.env.local .git/hooks/pre-commit
        cp .env src/copy; ln .env src/hard; ln .env hard; mv .env src/moved; mv .env moved; mv conf src/conf
        ln -s ../.env src/soft; cat src/soft src/copy src/hard hard src/moved moved src/conf/.env.local
        ln conf/.env.local src/local; cat src/local; mv conf moved; cat moved/.env.local
        mv src/deep/file .env; mv src/deep/file .git/hooks/pre-push; mv src/deep/file jig.toml
        echo x >> .env; echo x > jig.toml; echo x >> .git/config; echo x > .git/hooks/post-checkout
        rm -rf .env jig.toml .git/config .git/hooks; mv .git gone; mv src gone; mkdir .jig; echo x > .jig/config.toml
        echo x > .git/config.worktree; ln -s /tmp .git/modules; cp -r .git/hooks src/hooks; cat src/hooks/*
        truncate -s 0 .env jig.toml .git/config; echo tried";
    let kept = [
        ".env",
        "jig.toml",
        "conf/.env.local",
        ".git/config",
        ".git/hooks/pre-commit",
        "src/deep/file",
    ];
    without_namespaces(|bare| {
        let desk = bare.0;
        repository(desk);
        let before = kept.map(|name| desk.read(name));
        for flags in [&["run"][..], &["run", "--best-effort"], &["run"]] {
            let ran = bare.run(&[flags, &["--", "sh", "-c", script]].concat());
            assert!(ran.out.contains("tried"), "{ran:?}");
            assert!(!ran.out.contains("SECRET"), "{ran:?}");
            assert_eq!(kept.map(|name| desk.read(name)), before, "{flags:?}");
            for name in [".jig", ".git/config.worktree", ".git/hooks/post-checkout"] {
                assert!(!desk.path(name).exists(), "{name} after {flags:?}");
            }
        }
        let ran = bare.run(&["call", "tool", "--json", "--no-interaction"]);
        assert!(
            ran.out.contains("tool") && !ran.out.contains("SECRET"),
            "{ran:?}"
        );
        // The same without a sandbox.
        let twin = desk.command("sh").args(["-c", script]).output().unwrap();
        let printed = String::from_utf8_lossy(&twin.stdout);
        for secret in ["SECRET=1", "SECRET=2", "SECRET=3"] {
            assert!(printed.contains(secret), "{printed}");
        }
        assert!(!desk.path("jig.toml").exists() || desk.read("jig.toml") != before[1]);
    });
}

/// a declared rule inside of another is held, its names included.
#[test]
fn x53_a_declared_rule_inside_of_another_is_held_without_namespaces() {
    without_namespaces(|bare| {
        let desk = bare.0;
        desk.workspace.write("private/key", "SECRET=1\n");
        desk.workspace.write("locked/file", "original\n");
        desk.workspace.write("open/file", "original\n");
        let rules = "[tools.tool]\nsource = 'local'\nrun = 'unattended'\ncommand = 'sh tool.sh'\n\
            access.fs = [{ path = '.', read = true, write = true, execute = true }, { path = 'private', read = false },\n\
            { path = 'locked', read = true }]\n";
        desk.workspace.write("jig.toml", rules);
        let script = "cat private/key; ls private; mv private open/p; cat open/p/key; cat locked/file
            echo x > locked/file; echo x > locked/new; mv open/file locked/file; echo changed > open/file; echo tried";
        desk.workspace.write("tool.sh", script);
        let ran = bare.run(&["call", "tool", "--json", "--no-interaction"]);
        assert!(
            ran.out.contains("tried") && ran.out.contains("original"),
            "{ran:?}"
        );
        assert!(!ran.out.contains("SECRET"), "{ran:?}");
        let names = bare.run(&["run", "--policy", "tool", "--", "ls", "private"]);
        assert!(
            names.code != Some(0) && !names.out.contains("key"),
            "{names:?}"
        );
        assert_eq!(desk.read("locked/file"), "original\n");
        assert_eq!(desk.read("open/file"), "changed\n");
        assert!(!desk.path("locked/new").exists() && desk.path("private/key").exists());
    });
}

/// A second name of a withheld file opens it no more than the first.
#[test]
fn a_hard_link_beside_a_withheld_file_is_not_granted() {
    without_namespaces(|bare| {
        let desk = bare.0;
        desk.workspace.write(".env", "SECRET=1\n");
        std::fs::hard_link(desk.path(".env"), desk.path("backup")).unwrap();
        let ran = bare.sh("cat .env; cat backup; echo tried");
        assert_eq!(ran.out, "tried\n", "{ran:?}");
    });
}

/// a name at the top of a repository cannot be made there. It is said why, and what helps; nothing weaker than
/// that is offered.
#[test]
fn x53_a_name_that_cannot_be_made_is_explained() {
    without_namespaces(|bare| {
        let desk = bare.0;
        repository(desk);
        for (script, target) in [
            ("echo x > new", "new"),
            ("mkdir new", "new"),
            ("mv README.md OTHER.md", "OTHER.md"),
            ("rm README.md", "README.md"),
            ("echo x > .git/new", ".git/new"),
        ] {
            let ran = bare.sh(script);
            assert!(ran.code != Some(0), "{script}: {ran:?}");
            let told = ran
                .err
                .lines()
                .find(|line| line.starts_with("jig: refused"));
            let told = told.unwrap_or_else(|| panic!("{script}: {ran:?}"));
            for part in [target, "without user namespaces"] {
                assert!(told.contains(part), "{script}: {told}");
            }
            let advice = "`jig doctor` says how to get user namespaces";
            assert!(ran.err.contains(advice), "{script}: {ran:?}");
            assert!(!ran.err.contains("best-effort"), "{script}: {ran:?}");
        }
        assert!(!desk.path("new").exists() && desk.path("README.md").exists());
        let told = bare.sh("true").err;
        let in_part = "jig: enforced in part on this machine: tree, processes, files, limits (`jig doctor` says";
        assert!(
            told.starts_with(in_part) && told.lines().count() == 1,
            "{told}"
        );

        // Where nothing is withheld, all of it works.
        let plain = desk.anew();
        let plain = Bare(&plain);
        let ran = plain.sh("echo x > new && mkdir folder && mv new folder/");
        assert_eq!(ran.code, Some(0), "{ran:?}");
    });
}

/// a tool that reads whatever failed says is told as well.
#[test]
fn x53_a_call_that_could_not_make_a_name_is_explained() {
    without_namespaces(|bare| {
        repository(bare.0);
        bare.0.workspace.write("tool.sh", "echo x > new\n");
        let ran = bare.run(&["call", "tool", "--no-interaction", "--json"]);
        assert!(ran.out.contains("without user namespaces"), "{ran:?}");
    });
}

/// what nobody declared is no reason not to start: there is no network, and nothing opens one.
#[test]
fn x53_no_port_is_open_without_namespaces() {
    without_namespaces(|bare| {
        repository(bare.0);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let connect = format!(
            "import socket\ntry:\n socket.create_connection(('127.0.0.1', {port}), 5)\n print('connected')\n\
             except OSError as e:\n print('refused')"
        );
        for flags in [&["run"][..], &["run", "--best-effort"]] {
            let ran = bare.run(&[flags, &["--", "python3", "-c", &connect]].concat());
            assert_eq!(
                (ran.code, ran.out.as_str()),
                (Some(0), "refused\n"),
                "{ran:?}"
            );
            assert!(listener.accept().is_err(), "{flags:?}");
        }
        assert_eq!(
            bare.0.unconfined(&["python3", "-c", &connect]),
            "connected\n"
        );

        // Nothing weaker is offered than what helps.
        let ran = bare.run(&["run", "--overlay", "--discard", "--", "true"]);
        assert_eq!(ran.code, Some(125), "{ran:?}");
        assert!(
            ran.err.contains("without --overlay the command runs"),
            "{ran:?}"
        );
        assert!(!ran.err.contains("best-effort"), "{ran:?}");
        let ran = bare.run(&["run", "--net", "example.com", "--", "true"]);
        assert_eq!(ran.code, Some(125), "{ran:?}");
        let way_out = "without rules on hosts the tool runs, and has no network";
        assert!(ran.err.contains(way_out), "{ran:?}");
    });
}

/// what cannot be enforced at all is not started. Rules on hosts are such.
#[test]
fn x53_what_cannot_be_enforced_is_not_started() {
    without_namespaces(|bare| {
        let desk = bare.0;
        let rules = "[tools.tool]\nsource = 'local'\nrun = 'unattended'\ncommand = 'touch src/started'\n\
            access.net = [{ host = 'example.com', allow = true }]\n";
        desk.workspace.write("jig.toml", rules);
        desk.workspace.write("src/file", "");
        let call = ["call", "tool", "--no-interaction"];
        let run = ["run", "--policy", "tool", "--", "touch", "src/started"];
        for (args, code) in [(&call[..], 1), (&run, 125)] {
            let ran = bare.run(args);
            assert_eq!(ran.code, Some(code), "{ran:?}");
            for part in [
                "not started",
                "network namespace",
                "jig doctor",
                "best-effort",
            ] {
                assert!(ran.err.contains(part), "{part}: {ran:?}");
            }
            assert!(!desk.path("src/started").exists());
        }
    });
}

/// What went to the background and was ended with the command is named without namespaces, too.
#[test]
fn processes_in_the_background_are_named_without_namespaces() {
    without_namespaces(|bare| {
        let ran = bare.sh("sleep 600 & setsid sleep 601 & echo done");
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), "done\n"), "{ran:?}");
        // They may not have got as far as to be `sleep`.
        let told = "were still running in the background and were ended with the command";
        assert!(ran.err.contains(told), "{ran:?}");
        let ran = bare.sh("sleep 0 & wait; echo done");
        assert!(!ran.err.contains("background"), "{ran:?}");
    });
}

/// With namespaces, to be content with less leaves nothing to say as long as all rules are held.
#[test]
fn best_effort_says_nothing_where_all_is_held() {
    for_each_user(|desk| {
        repository(desk);
        let ran = desk.run(&["run", "--best-effort", "--", "cat", "README.md"]);
        assert_eq!(
            (ran.out.as_str(), ran.err.as_str()),
            ("read me\n", ""),
            "{ran:?}"
        );
    });
}

/// Where nobody supervises what makes names, a tool's configuration is there for a moment. It never counts, however often
/// it is made again while others read theirs, and is kept for its user.
#[test]
fn a_configuration_that_a_tool_makes_never_counts_without_namespaces() {
    const EVIL: &str = "mkdir -p .jig; printf \"[tools.evil]\\nsource = 'local'\\ncommand = 'true'\\n\" > .jig/config.toml";
    without_namespaces(|bare| {
        let desk = bare.0;
        let ran = bare.sh(EVIL);
        assert!(
            ran.err.contains("`.jig` appeared") && ran.err.contains("moved to"),
            "{ran:?}"
        );
        assert!(!desk.path(".jig").exists());
        let again = format!("while :; do ({EVIL}) 2> /dev/null; done");
        let mut jig = bare.command(&["run", "--", "sh", "-c", &again]);
        let mut jig = jig.spawn().unwrap();
        let removed = desk.workspace.home.join(".local/state/jig/removed");
        let kept = || {
            std::fs::read_dir(&removed)
                .map(Iterator::count)
                .unwrap_or(0)
        };
        for _ in 0..20 {
            let ran = desk.run(&["tools"]);
            assert!(!ran.out.contains("evil"), "while it is made: {ran:?}");
        }
        until("it was made", || kept() > 1);
        jig.kill().unwrap();
        jig.wait().unwrap();
        let ran = desk.run(&["tools"]);
        assert!(!ran.out.contains("evil"), "after the kill: {ran:?}");
        assert!(!desk.path(".jig").exists());
    });
}

/// Where jig keeps its state on another disk, what is moved away has to be copied. A tool that makes it as
/// deep as it can must not bring jig down, now or at any later start.
#[test]
fn a_deep_configuration_does_not_bring_jig_down_without_namespaces() {
    let device = |path: &std::path::Path| {
        std::fs::metadata(path)
            .map(|data| std::os::unix::fs::MetadataExt::dev(&data))
            .ok()
    };
    let other = std::path::Path::new("/dev/shm");
    without_namespaces(|bare| {
        let desk = bare.0;
        if device(other).is_none() || device(other) == device(desk.workspace.root.as_std_path()) {
            return;
        }
        let state = tempfile::tempdir_in(other).unwrap();
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(state.path(), open).unwrap();
        let jig = |args: &[&str]| {
            let mut command = bare.command(args);
            Ran::of(
                command
                    .env("XDG_STATE_HOME", state.path())
                    .output()
                    .unwrap(),
            )
        };
        for depth in [100, 127, 200] {
            let script = format!(
                "import os\nos.mkdir('.jig')\nopen('.jig/config.toml', 'w').write('[tools.evil]\\nsource = \"local\"\\ncommand = \"true\"\\n')\n\
                 os.chdir('.jig')\nfor _ in range({depth}):\n  os.mkdir('a')\n  os.chdir('a')"
            );
            let ran = jig(&["run", "--", "python3", "-c", &script]);
            assert!(
                ran.code == Some(1) && ran.err.contains("`.jig` appeared"),
                "{ran:?}"
            );
            let ran = jig(&["tools"]);
            assert!(ran.code == Some(0) && !ran.out.contains("evil"), "{ran:?}");
            let _ = std::fs::remove_dir_all(desk.path(".jig"));
        }
    });
}
