//! Real programs in the real sandbox: what holds, and what works.

use std::path::Path;

use jig_broker::{
    Broker, CommandedProgram, ProgramEnding, ProgramReach, ProgramStart, SystemAccess,
};
use jig_proto::vfs::{ErrorKind, ProcessReply, ProcessRun, VfsReply, VfsRequest};
use jig_sandbox::Rights;

use crate::world::{World, both, kind};

pub(crate) fn shell(world: &World, script: &str) -> ProcessReply<'static> {
    let request = VfsRequest::ProcessRun(ProcessRun {
        program: "sh".into(),
        args: vec!["-c".into(), script.into()],
        envs: Vec::new(),
        cwd: None,
    });
    match world.ask(&request) {
        Ok(VfsReply::Process(reply)) => reply,
        other => panic!("{script}: {other:?}"),
    }
}

/// The output of a script that has to succeed.
pub(crate) fn output(world: &World, script: &str) -> String {
    let reply = shell(world, script);
    assert_eq!(
        reply.exit_code, 0,
        "{script}: {}{}",
        reply.stdout, reply.stderr
    );
    reply.stdout.into_owned()
}

fn world() -> World {
    World::on_disk()
        .allow(".", "rcudx")
        .command("sh", None, &[])
        .confined()
}

#[test]
fn v080_a_confined_program_works_in_the_workspace() {
    both(|world| {
        let world = world
            .with("a.txt", "content")
            .allow(".", "rcudx")
            .command("sh", None, &[])
            .confined();
        let reply = shell(
            &world,
            "cat a.txt; printf new > b.txt; rm a.txt; mkdir d; echo x >&2; exit 3",
        );
        assert_eq!(reply.stdout, "content");
        assert_eq!((reply.stderr.as_ref(), reply.exit_code), ("x\n", 3));
        assert_eq!(world.content("b.txt").as_deref(), Some("new"));
        assert_eq!(world.content("a.txt"), None);
    });
}

#[test]
fn x62_what_no_rule_grants_is_out_of_reach() {
    let make = || {
        let world = World::on_disk()
            .with(".env", "SECRET=1")
            .with("sub/.env.local", "SECRET=2")
            .with("locked/file", "locked")
            .with("hidden/file", "hidden")
            .with_link("out", "../outside.txt")
            .allow(".", "rcudx")
            .allow("locked", "r")
            .allow("hidden", "")
            .command("sh", None, &[]);
        std::fs::write(world.outside().join("outside.txt"), "outside").unwrap();
        world
    };
    let attacks = [
        "cat .env",
        "cat sub/.env.local",
        "echo x >> .env",
        "rm -f .env && test ! -e .env",
        "mv .env other && cat other",
        "ln .env other && cat other",
        "cat hidden/file",
        "ls hidden | grep file",
        "echo x > hidden/new",
        "rm -r hidden",
        "touch locked/file",
        "echo x > locked/new",
        "rm locked/file",
        "mv locked free && echo x > free/file",
        "cat out",
        "cat ../outside.txt",
        "cat /etc/shadow",
        "touch /usr/planted",
    ];
    let root = rustix::process::geteuid().is_root();
    for attack in attacks {
        // The twin: without the sandbox it succeeds, so that it would be noticed here.
        let needs_root = attack.contains("/etc/shadow") || attack.contains("/usr/");
        if !needs_root {
            let reply = shell(&make(), attack);
            assert_eq!(reply.exit_code, 0, "{attack}: {}", reply.stderr);
        } else if root && attack.contains("/etc/shadow") {
            assert_eq!(shell(&make(), attack).exit_code, 0, "{attack}");
        }
        let world = make().confined();
        let reply = shell(&world, attack);
        assert_ne!(reply.exit_code, 0, "{attack} succeeded: {}", reply.stdout);
        assert!(!reply.stdout.contains("SECRET"), "{attack}");
        for (path, content) in [
            (".env", "SECRET=1"),
            ("locked/file", "locked"),
            ("hidden/file", "hidden"),
        ] {
            let now = std::fs::read_to_string(world.outside().join("ws").join(path));
            assert_eq!(now.unwrap(), content, "{attack}: {path}");
        }
    }
    // What lies around the workspace is memory that vanishes, or nothing at all.
    let world = make().confined();
    shell(&world, "echo x > ../planted");
    assert!(!world.outside().join("planted").exists());
}

/// Also where the workspace lies in a directory that programs have anew, such as `/tmp`: what seems to be written and is
/// gone afterwards is lost without a word.
#[test]
fn what_only_leads_to_what_is_granted_cannot_be_written_to() {
    for (place, is_memory) in [("/tmp", true), ("/var/tmp", true), ("/opt", false)] {
        let Ok(folder) = tempfile::tempdir_in(place) else {
            println!("only root can try {place}");
            continue;
        };
        let world = World::at(folder)
            .with("docs/deep/file", "text")
            .with("other/file", "text")
            .with("a.txt", "text")
            .allow("docs/deep", "rcudx")
            .allow("a.txt", "r")
            .command("sh", None, &[])
            .confined();
        for attack in [
            "echo x > new.txt",
            "mkdir sub",
            "echo x > docs/new.txt",
            "mkdir -p other && echo x > other/new",
            "echo x > a.txt",
            "mv docs elsewhere",
            "rmdir docs/deep docs",
        ] {
            let reply = shell(&world, attack);
            assert_ne!(reply.exit_code, 0, "{place}: {attack}: {}", reply.stdout);
        }
        assert_eq!(
            output(&world, "cat docs/deep/file a.txt; echo y > docs/deep/new"),
            "texttext",
            "{place}"
        );
        assert_eq!(world.content("docs/deep/new").as_deref(), Some("y\n"));
        let listed = output(&world, "ls; ls docs");
        assert_eq!(listed, "a.txt\ndocs\ndeep\n", "{place}");
        if is_memory {
            // What is beside it is the program's own, as ever.
            output(
                &world,
                &format!("echo x > {place}/mine && cat {place}/mine"),
            );
        }
    }
}

/// What is shown around a directory of the program's own shows nothing in it: the workspace has to be shown by itself.
#[test]
fn a_workspace_in_something_that_is_shown_is_there() {
    for place in ["/tmp", "/var/tmp"] {
        let mut world = World::at(tempfile::tempdir_in(place).unwrap())
            .with("file", "text")
            .allow(".", "rcud")
            .command("sh", None, &[])
            .confined();
        let settings = world.confine.as_mut().unwrap();
        settings.system = vec![SystemAccess {
            path: Path::new(place).to_owned(),
            write: true,
            execute: false,
        }];
        assert_eq!(output(&world, "cat file; echo x > new"), "text", "{place}");
        assert_eq!(world.content("new").as_deref(), Some("x\n"), "{place}");
    }
}

#[test]
fn x65_what_lies_above_something_hidden_cannot_be_moved() {
    let world = World::on_disk()
        .with("a/b/secret", "secret")
        .with("a/c", "")
        .allow(".", "rcud")
        .allow("a/b/secret", "")
        .command("sh", None, &[])
        .confined();
    assert_ne!(shell(&world, "mv a other").exit_code, 0);
    assert_ne!(shell(&world, "mv a/b a/other").exit_code, 0);
    assert_ne!(shell(&world, "cat a/b/secret").exit_code, 0);
    output(&world, "mv a/c a/d && touch a/b/new && rm a/b/new");
}

#[test]
fn the_users_home_is_hidden_and_the_program_has_its_own() {
    let world = world();
    let home = world.outside().canonicalize().unwrap().join("home");
    std::fs::write(home.join("secret"), "secret").unwrap();
    let script = format!("cat {}/secret", home.display());
    assert_ne!(shell(&world, &script).exit_code, 0);
    let text = output(
        &world,
        "echo $HOME; cd && pwd; echo x > file && cat file; ls -A /tmp",
    );
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..3], ["/home/jig", "/home/jig", "x"]);
    assert!(!Path::new("/home/jig/file").exists());
    // Temporary files vanish with the program.
    output(&world, "touch /tmp/jig-test-file");
    assert_ne!(shell(&world, "test -e /tmp/jig-test-file").exit_code, 0);
    assert!(!Path::new("/tmp/jig-test-file").exists());
}

#[test]
fn the_environment_is_small_and_the_search_path_visible() {
    let world = world();
    let text = output(
        &world,
        "env; IFS=:; for d in $PATH; do test -d \"$d\" || echo missing $d; done",
    );
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name)
        .collect();
    for name in &names {
        let known = [
            "PATH", "HOME", "USER", "LANG", "TERM", "PWD", "OLDPWD", "SHLVL", "_",
        ];
        assert!(known.contains(name) || name.starts_with("LC_"), "{text}");
    }
    assert!(!text.contains("missing"), "{text}");
}

#[test]
fn configuration_that_a_program_makes_is_refused_or_moved_away_and_reported() {
    let script = "echo evil > jig.toml; mkdir .jig; echo fine > fine";
    let supervised = world();
    let reply = shell(&supervised, script);
    assert_eq!(
        reply.stderr.matches("ermission denied").count(),
        2,
        "{}",
        reply.stderr
    );
    assert_eq!(supervised.content("fine").as_deref(), Some("fine\n"));
    let audit = format!("{:?}", supervised.log.entries());
    assert!(
        audit.contains("it is configuration that jig loads"),
        "{audit}"
    );
    let world = world().unsupervised();
    let reply = shell(&world, script);
    assert_eq!(reply.exit_code, 0);
    assert!(
        reply.stderr.contains(
            "jig: `jig.toml` may not be made and was moved away: it is configuration that jig loads"
        ),
        "{}",
        reply.stderr
    );
    assert!(reply.stderr.contains("`.jig`"), "{}", reply.stderr);
    assert!(!reply.stderr.contains("/state/"), "{}", reply.stderr);
    let ws = world.outside().join("ws");
    assert!(!ws.join("jig.toml").exists() && !ws.join(".jig").exists() && ws.join("fine").exists());
    let audit = format!("{:?}", world.log.entries());
    assert!(audit.contains("/removed/"), "{audit}");
    // What is there already cannot even be touched.
    let world = world.with("jig.toml", "mine");
    for attack in [
        "echo evil > jig.toml",
        "rm jig.toml",
        "mv jig.toml x",
        "echo > x; mv x jig.toml",
    ] {
        let reply = shell(&world, attack);
        assert_ne!(reply.exit_code, 0, "{attack}");
        assert_eq!(
            world.content("jig.toml").as_deref(),
            Some("mine"),
            "{attack}: {}",
            reply.stderr
        );
    }
}

#[test]
fn of_many_files_that_may_not_be_made_only_some_are_named() {
    let world = world().unsupervised();
    let reply = shell(
        &world,
        "i=0; while [ $i -lt 100 ]; do echo > .env$i; i=$((i+1)); done",
    );
    assert_eq!(
        reply.stderr.matches("was moved away").count(),
        10,
        "{}",
        reply.stderr
    );
    assert!(
        reply
            .stderr
            .ends_with("jig: 90 more may not be made either"),
        "{}",
        reply.stderr
    );
    assert_eq!(
        std::fs::read_dir(world.outside().join("ws"))
            .unwrap()
            .count(),
        0
    );
}

#[test]
fn what_a_program_makes_in_memory_files_is_looked_at_before_it_is_brought_back() {
    let world = World::in_memory()
        .with("a", "")
        .allow(".", "rcud")
        .command("sh", None, &[])
        .confined()
        .unsupervised();
    let reply = shell(
        &world,
        "echo evil > jig.toml; echo SECRET > .env; echo fine > fine",
    );
    assert!(reply.stderr.contains("`jig.toml`"), "{}", reply.stderr);
    assert_eq!(world.content("jig.toml"), None);
    assert_eq!(world.content(".env"), None);
    assert_eq!(world.content("fine").as_deref(), Some("fine\n"));
}

#[test]
fn x48_a_program_of_the_workspace_runs_confined() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::on_disk()
        .with("bin/hi", "#!/bin/sh\necho hi; cat .env\n")
        .with(".env", "SECRET")
        .allow(".", "rx")
        .command("./bin/hi", None, &[])
        .confined();
    let file = world.outside().join("ws/bin/hi");
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    let request = VfsRequest::ProcessRun(ProcessRun {
        program: "./bin/hi".into(),
        args: Vec::new(),
        envs: Vec::new(),
        cwd: None,
    });
    let Ok(VfsReply::Process(reply)) = world.ask(&request) else {
        panic!("it may run");
    };
    assert_eq!(reply.stdout, "hi\n");
    let missing = VfsRequest::ProcessRun(ProcessRun {
        program: "sh-that-is-missing".into(),
        args: Vec::new(),
        envs: Vec::new(),
        cwd: None,
    });
    let world = world.command("sh-that-is-missing", None, &[]);
    let error = world.ask(&missing).unwrap_err();
    assert_eq!(
        error.message,
        "the program `sh-that-is-missing` was not found"
    );
    assert_eq!(kind(world.ask(&missing)), Err(ErrorKind::NotFound));
}

#[test]
fn a_program_that_uses_too_much_is_ended_and_told_so() {
    let mut world = world();
    let settings = world.confine.as_mut().unwrap();
    settings.limits.file_size = Some(1 << 20);
    let reply = shell(&world, "exec head -c 3000000 /dev/zero > big");
    assert_ne!(reply.exit_code, 0);
    let told = "\njig: denied: use on `file size`: it could not write a file of more than 1 MiB\n  \
                to allow it, add:\n    [tools.editor.sandbox.limits]\n    file_size = \"2MiB\"";
    assert!(reply.stderr.ends_with(told), "{}", reply.stderr);
    let size = std::fs::metadata(world.outside().join("ws/big"))
        .unwrap()
        .len();
    assert_eq!(size, 1 << 20);
}

#[test]
fn a_tool_that_asks_for_every_file_reaches_its_own_program_only() {
    let world = World::on_disk()
        .with("tool.sh", "cat tool.sh data .env 2>/dev/null; ls; pwd")
        .with("data", "DATA")
        .with(".env", "SECRET")
        .confined();
    let broker = Broker::new(world.parts());
    let root = camino::Utf8PathBuf::from_path_buf(world.outside().join("ws")).unwrap();
    let command = CommandedProgram {
        program: "sh".into(),
        literals: vec!["tool.sh".into()],
        ..CommandedProgram::default()
    };
    let confined = broker
        .confine(&command, &root, ProgramReach::OwnProgramOnly)
        .unwrap();
    let script = root.as_std_path().canonicalize().unwrap().join("tool.sh");
    let rule = confined
        .profile
        .paths
        .iter()
        .find(|rule| rule.path == script);
    assert_eq!(rule.unwrap().rights, Rights::READ);
    let mut start = ProgramStart::confined(confined, &root);
    start.request.args = vec!["tool.sh".into()];
    let mut program = broker.start(start).unwrap();
    let mut text = String::new();
    let stdout = program.streams.stdout.as_mut().unwrap();
    std::io::Read::read_to_string(stdout, &mut text).unwrap();
    program.child().wait().unwrap();
    let end = program.finish(ProgramEnding::Unexplained);
    assert_eq!(end.intruders, []);
    assert!(text.contains("cat tool.sh"), "{text}");
    assert!(!text.contains("DATA") && !text.contains("SECRET"), "{text}");
    assert!(
        text.ends_with(&format!("\n{}\n", script.parent().unwrap().display())),
        "{text}"
    );
}

/// What `Broker::confine` makes for `sh`.
fn confined(world: &World, reach: ProgramReach) -> jig_broker::Confined {
    let root = world.outside().canonicalize().unwrap().join("ws");
    let command = CommandedProgram {
        program: "sh".into(),
        literals: Vec::new(),
        ..CommandedProgram::default()
    };
    let root = camino::Utf8PathBuf::from_path_buf(root).unwrap();
    world.broker().confine(&command, &root, reach).unwrap()
}

#[test]
fn paths_of_the_system_are_reached_as_they_were_declared() {
    let mut world = world();
    let folder = world.outside().canonicalize().unwrap();
    for name in ["cache", "sdk", "state"] {
        std::fs::create_dir_all(folder.join(name)).unwrap();
        std::fs::write(folder.join(name).join("file"), name).unwrap();
    }
    let settings = world.confine.as_mut().unwrap();
    let access = |path: &str, write| SystemAccess {
        path: folder.join(path),
        write,
        execute: false,
    };
    settings.system = vec![
        access("cache", true),
        access("sdk", false),
        access("nowhere", false),
    ];
    let path = folder.display();
    output(
        &world,
        &format!("cat {path}/cache/file {path}/sdk/file; echo x > {path}/cache/new"),
    );
    assert!(folder.join("cache/new").exists());
    assert_ne!(
        shell(&world, &format!("echo x > {path}/sdk/new")).exit_code,
        0
    );
    assert_ne!(
        shell(&world, &format!("cat {path}/state/file")).exit_code,
        0
    );
    let warnings = confined(&world, ProgramReach::Workspace).warnings.clone();
    assert_eq!(
        warnings,
        [format!(
            "`{path}/nowhere` of `sandbox.system` does not exist"
        )]
    );
    // Who is given all that lies around still gets neither the workspace beyond its rules nor jig's state.
    let mut world = World::on_disk()
        .with("open/a", "open")
        .with("closed/a", "closed")
        .allow("open", "r")
        .command("sh", None, &[])
        .confined();
    let folder = world.outside().canonicalize().unwrap();
    std::fs::create_dir_all(folder.join("state")).unwrap();
    std::fs::write(folder.join("state/file"), "state").unwrap();
    std::fs::create_dir_all(folder.join("run/jig")).unwrap();
    std::fs::write(folder.join("run/jig/key"), "key").unwrap();
    // The twin: seen, unless it is said to be jig's.
    world.confine.as_mut().unwrap().system = vec![SystemAccess {
        path: folder.join("run"),
        write: true,
        execute: false,
    }];
    assert_eq!(output(&world, "cat ../run/jig/key"), "key");
    world.hidden = vec![folder.join("run/jig")];
    assert_ne!(shell(&world, "cat ../run/jig/key").exit_code, 0);
    let settings = world.confine.as_mut().unwrap();
    settings.system = vec![SystemAccess {
        path: folder.clone(),
        write: true,
        execute: false,
    }];
    assert_eq!(
        output(&world, "cat open/a; ls; touch ../around"),
        "openopen\n"
    );
    for attack in [
        "cat closed/a",
        "echo x > open/a",
        "cat ../state/file",
        "echo x > ../state/new",
        "cat ../run/jig/key",
        "echo x > ../run/jig/new",
        "mv ../run/jig ../run/other && cat ../run/other/key",
    ] {
        assert_ne!(shell(&world, attack).exit_code, 0, "{attack}");
    }
    assert!(folder.join("around").exists());
}

/// The first call of all, before which jig has no state: a program that may write all around neither reads nor forges
/// the journal of its own call.
#[test]
fn state_that_a_call_makes_is_kept_from_its_program() {
    let mut world = World::on_disk()
        .with("a", "")
        .allow(".", "rcud")
        .command("sh", None, &[])
        .confined();
    let folder = world.outside().canonicalize().unwrap();
    let state = folder.join("state");
    world.confine.as_mut().unwrap().system = vec![SystemAccess {
        path: folder.clone(),
        write: true,
        execute: false,
    }];
    for attack in [
        "cat ../state/calls/*",
        "echo x > ../state/calls/0123456789abcdef",
        "rm -r ../state/calls",
        "mv ../state ../elsewhere",
    ] {
        let _ = std::fs::remove_dir_all(&state);
        let reply = shell(&world, attack);
        assert!(reply.exit_code != 0 && reply.stdout.is_empty(), "{attack}");
        assert!(!state.join("calls/0123456789abcdef").exists(), "{attack}");
        assert!(!folder.join("elsewhere").exists(), "{attack}");
    }
    // The twin: what lies beside it is written.
    assert_eq!(output(&world, "echo x > ../beside; cat ../beside"), "x\n");
}

#[test]
fn a_hidden_file_in_the_history_is_remarked_on() {
    let world = World::on_disk()
        .with(".env", "SECRET")
        .with(".git/index", b"DIRC....src/a\0.env\0\0")
        .allow(".", "rcud")
        .confined();
    let warnings = confined(&world, ProgramReach::Workspace).warnings.clone();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].starts_with("`.env` is hidden from the tool, but git has it"),
        "{warnings:?}"
    );
    let world = world.allow(".git", "");
    assert_eq!(confined(&world, ProgramReach::Workspace).warnings, [""; 0]);
}

#[test]
fn nothing_is_noted_for_a_program_that_can_make_nothing() {
    let world = World::on_disk().with("a", "").allow(".", "r").confined();
    let calls = world.outside().join("state/calls");
    let read_only = confined(&world, ProgramReach::Workspace);
    assert!(!calls.exists());
    drop(read_only);
    let world = world.allow(".", "rcud");
    let writing = confined(&world, ProgramReach::Workspace);
    assert_eq!(std::fs::read_dir(&calls).unwrap().count(), 1);
    // Dropping is enough: a call that never starts leaves nothing behind.
    drop(writing);
    assert_eq!(std::fs::read_dir(&calls).unwrap().count(), 0);
    let own = confined(&world, ProgramReach::OwnProgramOnly);
    assert_eq!(std::fs::read_dir(&calls).unwrap().count(), 0);
    assert_eq!(own.cwd, own.home);
}

#[test]
fn without_settings_nothing_is_confined() {
    let world = World::on_disk();
    let root = camino::Utf8PathBuf::from_path_buf(world.outside().join("ws")).unwrap();
    let error =
        world
            .broker()
            .confine(&CommandedProgram::default(), &root, ProgramReach::Workspace);
    assert_eq!(
        error.unwrap_err().to_string(),
        "nothing says how programs are confined"
    );
}

#[test]
fn what_a_machine_cannot_enforce_is_in_the_log_if_it_is_tolerated() {
    let mut world = world().with(".env", "SECRET").with("a", "content");
    let settings = world.confine.as_mut().unwrap();
    settings.layers = jig_sandbox::Layers::TIER_B;
    settings.enforce = jig_sandbox::Enforce::BestEffort;
    assert_eq!(output(&world, "cat a"), "content");
    let audit = format!("{:?}", world.log.entries());
    assert!(audit.contains("not all is enforced ("), "{audit}");
    // Where it is not, what can be held by other means is.
    world.confine.as_mut().unwrap().enforce = jig_sandbox::Enforce::Required;
    let script = "cat a; cat .env 2> /dev/null || echo refused";
    assert_eq!(output(&world, script), "contentrefused\n");
    // What cannot be does not start.
    let world = world.net("example.com", 443, true);
    let request = VfsRequest::ProcessRun(ProcessRun {
        program: "sh".into(),
        args: vec!["-c".into(), "cat a".into()],
        envs: Vec::new(),
        cwd: None,
    });
    let error = world.ask(&request).unwrap_err();
    assert!(
        error.message.contains("without a network namespace"),
        "{error}"
    );
    assert!(!error.message.contains("/tmp"), "{error}");
}

#[test]
fn odd_files_are_hidden_as_well() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = world();
    let ws = world.outside().join("ws");
    std::fs::create_dir(ws.join("a\nb")).unwrap();
    std::fs::write(ws.join("a\nb/.env"), "SECRET").unwrap();
    std::fs::write(ws.join(std::ffi::OsStr::from_bytes(b".env\xff")), "SECRET").unwrap();
    let fifo = ws.join(".env.pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(ws.join(".env.socket")).unwrap();
    let reply = shell(&world, "grep -r SECRET . ; cat .env*; echo done");
    assert!(
        reply.stdout.ends_with("done\n") && !reply.stdout.contains("SECRET"),
        "{}",
        reply.stdout
    );
    let reply = shell(&world, "echo x > .env.pipe");
    assert_ne!(reply.exit_code, 0);
}
