//! Programs that do what they may not, by `jig call` and `jig run`: reading, writing and surviving beyond
//! their rules, and what jig leaves behind when it is killed meanwhile.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use camino::Utf8Path;

use super::vfs_tool::until;
use super::workspace_user::{Desk, for_each_user};

/// Gives a desk one tool, `tool`, that is a shell script.
fn set(desk: &Desk, script: &str, settings: &str) {
    desk.workspace.write("tool.sh", script);
    let head = "[tools.tool]\nsource = 'local'\nrun = 'unattended'\ncommand = 'sh tool.sh'\n";
    desk.workspace
        .write("jig.toml", format!("{head}{settings}"));
}

/// What the tool printed, whether it ended well or not.
fn printed(desk: &Desk) -> String {
    desk.call(&["tool"]).to_string()
}

/// a link to what does not exist yet is no way to create it.
#[test]
fn x12_nothing_is_created_through_a_dangling_link() {
    for_each_user(|desk| {
        let outside = desk.beside("outside");
        std::fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(outside.join("new"), desk.path("link")).unwrap();
        std::os::unix::fs::symlink(outside.join("folder"), desk.path("links")).unwrap();
        set(
            desk,
            "echo x > link; echo x > links/file; mkdir links; ln x link; echo tried",
            "",
        );
        let answer = printed(desk);
        assert!(answer.contains("tried"), "{answer}");
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
        // The same without a sandbox gets out.
        desk.unconfined(&["sh", "tool.sh"]);
        assert!(outside.join("new").exists());
    });
}

/// a deny and a read-only rule inside of what is writable hold against every way to the file.
#[test]
fn x53_a_rule_inside_of_another_holds() {
    for_each_user(|desk| {
        for name in ["private/key", "locked/file", "open/file"] {
            desk.workspace.write(name, "original\n");
        }
        let script = "
            cat private/key; cat ./open/../private/key; cat /proc/self/cwd/private/key; cp -r private copy
            ln private/key open/hard; ln -s ../private/key open/soft; cat open/soft; mv private moved; cat moved/key
            rm -rf private; echo x > locked/file; echo x > locked/new; rm locked/file; mv locked moved
            chmod 777 locked; mv open/file locked/file; touch -d 2001-01-01 locked/file; umount private locked
            echo changed > open/file; echo tried";
        set(
            desk,
            script,
            "access.fs = [{ path = '.', read = true, write = true, execute = true }, { path = 'private', read = false },\n\
             { path = 'locked', read = true }]\n",
        );
        let answer = printed(desk);
        assert!(
            answer.contains("tried") && !answer.contains("original"),
            "{answer}"
        );
        assert_eq!(desk.read("private/key"), "original\n");
        assert_eq!(desk.read("locked/file"), "original\n");
        assert_eq!(desk.read("open/file"), "changed\n");
        assert!(!desk.path("locked/new").exists() && !desk.path("moved").exists());
        let touched = std::fs::metadata(desk.path("locked/file")).unwrap().mtime();
        assert!(touched > 1_100_000_000, "{touched}");
        // The same without a sandbox reads, moves and removes it all.
        assert!(desk.unconfined(&["sh", "tool.sh"]).contains("original"));
        assert!(!desk.path("private").exists() && desk.path("moved").exists());
    });
}

/// G-109, X-62: programs that know nothing of rules, and the files that they may not have.
#[test]
fn x62_ordinary_programs_are_held() {
    for_each_user(|desk| {
        desk.workspace.write(".env", "SECRET=1\n");
        desk.workspace.write("data.txt", "data\n");
        let hidden = desk.beside("hidden");
        std::fs::write(&hidden, "SECRET=2\n").unwrap();
        std::os::unix::fs::symlink(&hidden, desk.path("link")).unwrap();
        std::os::unix::fs::symlink("/etc/shadow", desk.path("shadow")).unwrap();
        let script = format!(
            "cat .env link shadow {hidden} {home}/token; grep -r SECRET . /etc/shadow
             cp .env copy; tar -cf - .env | od -c; dd if=.env; head -c 99 < .env; cat data.txt
             touch data.txt; echo x >> data.txt; rm -f data.txt; mv data.txt other; touch new; ln -s x new",
            home = desk.workspace.home
        );
        std::fs::write(desk.workspace.home.join("token"), "SECRET=3\n").unwrap();
        set(
            desk,
            &script,
            "access.fs = [{ path = '.', read = true, execute = true }]\n",
        );
        let modified = || {
            std::fs::metadata(desk.path("data.txt"))
                .unwrap()
                .mtime_nsec()
        };
        let before = (tree(&desk.workspace.root), modified());
        let answer = printed(desk);
        assert!(answer.contains("data"), "{answer}");
        for secret in ["SECRET=", "S   E   C   R   E   T", "root:"] {
            assert!(!answer.contains(secret), "{answer}");
        }
        assert_eq!((tree(&desk.workspace.root), modified()), before);
        // The same without a sandbox.
        let twin = desk.command("sh").arg("tool.sh").output().unwrap();
        let printed = String::from_utf8_lossy(&twin.stdout);
        for secret in ["SECRET=1", "SECRET=2", "SECRET=3"] {
            assert!(printed.contains(secret), "{printed}");
        }
        assert!(!desk.path("data.txt").exists());
    });
}

/// two calls, the first of which moves the parent of what is denied or read-only out of the way.
#[test]
fn x65_a_parent_is_not_moved_away_over_two_calls() {
    for_each_user(|desk| {
        desk.workspace.write("conf/deep/key", "SECRET=1\n");
        desk.workspace.write("conf/locked/file", "original\n");
        let script = "
            mv conf moved; mv conf/deep deep; mkdir -p fake/deep; echo fake > fake/deep/key
            cat conf/deep/key moved/deep/key deep/key
            echo x > moved/locked/file; echo x > conf/locked/file; echo tried";
        set(
            desk,
            script,
            "access.fs = [{ path = '.', read = true, write = true, execute = true }, { path = 'conf/deep/key', read = false },\n\
             { path = 'conf/locked', read = true }]\n",
        );
        let numbers = || {
            ["conf", "conf/deep", "conf/deep/key", "conf/locked"]
                .map(|name| std::fs::symlink_metadata(desk.path(name)).unwrap().ino())
        };
        let before = numbers();
        for _ in 0..2 {
            let answer = printed(desk);
            assert!(
                answer.contains("tried") && !answer.contains("SECRET=1"),
                "{answer}"
            );
        }
        // What is called `moved` now is at most a copy of what could be read.
        assert_eq!(numbers(), before);
        assert_eq!(desk.read("conf/deep/key"), "SECRET=1\n");
        assert_eq!(desk.read("conf/locked/file"), "original\n");
        // The same without a sandbox.
        assert!(desk.unconfined(&["sh", "tool.sh"]).contains("SECRET=1"));
    });
}

/// sensitive paths are closed wherever they are, unless a rule names them.
#[test]
fn x66_sensitive_paths_need_a_rule_that_names_them() {
    for_each_user(|desk| {
        let files = [
            ".env",
            "sub/.env.local",
            "deploy/.ssh/id_ed25519",
            ".git/hooks/pre-commit",
        ];
        for file in files {
            desk.workspace.write(file, format!("SECRET in {file}\n"));
        }
        let script = files
            .map(|file| format!("cat {file}; echo x >> {file}; mv {file} moved; cat moved\n"))
            .concat();
        set(desk, &format!("{script}echo tried"), "");
        let answer = printed(desk);
        assert!(
            answer.contains("tried") && !answer.contains("SECRET in"),
            "{answer}"
        );
        for file in files {
            assert_eq!(desk.read(file), format!("SECRET in {file}\n"));
        }
        set(
            desk,
            "cat .env sub/.env.local; echo tried",
            "access.fs = [{ path = '.', read = true, execute = true }, { path = '.env', read = true }]\n",
        );
        let answer = printed(desk);
        assert!(
            answer.contains("SECRET in .env\\n") && !answer.contains("SECRET in sub"),
            "{answer}"
        );
    });
}

/// Names, numbers, modes, sizes and times of all that is there: whatever was made and removed again has
/// changed the time of a folder.
fn tree(root: &Utf8Path) -> BTreeMap<PathBuf, (u64, u32, u64, i64, i64)> {
    fn walk(path: &Path, found: &mut BTreeMap<PathBuf, (u64, u32, u64, i64, i64)>) {
        let data = std::fs::symlink_metadata(path).unwrap();
        let facts = (
            data.ino(),
            data.mode(),
            data.size(),
            data.mtime(),
            data.mtime_nsec(),
        );
        found.insert(path.to_owned(), facts);
        if data.is_dir() {
            for entry in std::fs::read_dir(path).unwrap() {
                walk(&entry.unwrap().path(), found);
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(root.as_std_path(), &mut found);
    found
}

/// A program that repeats its input, running, with one line repeated already.
fn repeating(command: &mut Command) -> Child {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.as_mut().unwrap().write_all(b"ready\n").unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(child.stdout.as_mut().unwrap());
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    child
}

/// What may not be there need not be there: no stand-in is made for it in the user's folders, not even for
/// a moment, so that none can be left when jig is killed.
#[test]
fn no_stub_is_ever_in_the_tree() {
    for_each_user(|desk| {
        for file in ["src/main.rs", "a/b/file", ".env", "deploy/key.pem"] {
            desk.workspace.write(file, "content\n");
        }
        set(
            desk,
            "echo done",
            "access.fs = [{ path = '.', read = true, write = true, execute = true }, { path = 'secrets', read = false },\n\
             { path = 'a/b/missing/deep.txt', read = false }, { path = 'src/generated', read = true },\n\
             { path = 'src/main.rs', read = false }]\n",
        );
        let before = tree(&desk.workspace.root);
        let same = |moment: &str| assert_eq!(tree(&desk.workspace.root), before, "{moment}");

        assert_eq!(desk.result(&["tool"]), "done\n");
        same("after a call");
        for args in [
            &["run", "--", "cat"][..],
            &["run", "--policy", "tool", "--", "cat"],
        ] {
            let mut jig = repeating(&mut desk.jig(args));
            same("meanwhile");
            drop(jig.stdin.take());
            assert!(jig.wait().unwrap().success());
            same("after the end");

            let mut jig = repeating(&mut desk.jig(args));
            jig.kill().unwrap();
            jig.wait().unwrap();
            // All that ran in the sandbox holds the pipe.
            jig.stdout
                .take()
                .unwrap()
                .read_to_end(&mut Vec::new())
                .unwrap();
            same("after a kill");
        }
        desk.ok(&["tools"]);
        same("after the next start");
        let calls = desk.workspace.home.join(".local/state/jig/calls");
        assert_eq!(
            std::fs::read_dir(calls).unwrap().count(),
            0,
            "nothing is pending"
        );
    });
}

/// A tool makes no configuration, not even for a moment in which another jig could read it.
#[test]
fn a_tool_cannot_make_a_configuration() {
    for_each_user(|desk| {
        let evil = "mkdir -p .jig; printf \"[tools.evil]\\nsource = 'local'\\ncommand = 'true'\\n\" > .jig/config.toml";
        let is_known = || desk.run(&["tools"]).out.contains("evil");
        set(desk, evil, "");
        let error = desk.error(&["tool"]);
        assert_eq!(error["denials"][0]["target"], ".jig", "{error}");
        assert!(!desk.path(".jig").exists() && !is_known());

        let wait = format!("{evil}; exec cat");
        let mut jig = repeating(&mut desk.jig(&["run", "--", "sh", "-c", &wait]));
        assert!(!desk.path(".jig").exists() && !is_known(), "while it runs");
        jig.kill().unwrap();
        jig.wait().unwrap();
        assert!(!desk.path(".jig").exists() && !is_known(), "after the kill");
        // The same without a sandbox makes it.
        desk.unconfined(&["sh", "-c", evil]);
        assert!(is_known());
    });
}

/// What a tool calls its files does not look like a line of jig.
#[test]
fn a_name_cannot_speak_for_jig() {
    let desk = Desk::new();
    // The shell would repeat the name as it is.
    let script = "(printf x > \"$(printf '.env\\njig: all is well\\033[2J')\") 2> /dev/null";
    let ran = desk.run(&["run", "--", "sh", "-c", script]);
    let told = "create on `.env\\njig: all is well\\u{1b}[2J`";
    assert!(ran.err.contains(told), "{ran:?}");
    let is_forged = |line: &str| line.starts_with("jig: all is well");
    assert!(!ran.err.lines().any(is_forged), "{ran:?}");
}

/// Three processes that left their parents, their session and their manners, each with a heartbeat.
const DAEMONS: &str = "
for name in 1 2 3; do
    setsid sh -c \"trap '' TERM INT HUP; while :; do date +%s%N > beat$name; sleep 0.02; done\" daemon-of \"$PWD\" \\
        < /dev/null > /dev/null 2>&1 &
done
exec sleep 600";

/// Starts the daemons, and waits until all are at work.
fn with_daemons(desk: &Desk, args: &[&str]) -> Child {
    set(desk, DAEMONS, "");
    let mut jig = desk.jig(args);
    let jig = jig
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the daemons are at work", || {
        ["beat1", "beat2", "beat3"]
            .iter()
            .all(|beat| desk.path(beat).exists())
    });
    assert!(!jig_testkit::working_in(desk.workspace.root.as_std_path()).is_empty());
    jig
}

/// No process of the call is left, and nothing is written any more.
fn nobody_is_left(desk: &Desk) {
    let root = desk.workspace.root.as_str();
    until("all daemons are gone", || {
        std::fs::read_dir("/proc").unwrap().flatten().all(|entry| {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line);
            !(line.contains("daemon-of") && line.contains(root))
        })
    });
    until("nobody can make the hearts beat", || {
        jig_testkit::working_in(desk.workspace.root.as_std_path()).is_empty()
    });
}

#[test]
fn nothing_survives_a_killed_jig() {
    for_each_user(|desk| {
        for args in [&["call", "tool"][..], &["run", "--", "sh", "tool.sh"]] {
            let mut jig = with_daemons(desk, args);
            jig.kill().unwrap();
            jig.wait().unwrap();
            nobody_is_left(desk);
        }
    });
}

/// J-019: Ctrl-C ends the call and its whole tree.
#[test]
fn j019_a_cancelled_call_leaves_nobody() {
    for_each_user(|desk| {
        let jig = with_daemons(desk, &["call", "tool"]);
        let pid = jig.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-INT", &pid])
                .status()
                .unwrap()
                .success()
        );
        let output = jig.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && told.contains("cancelled"),
            "{output:?}"
        );
        nobody_is_left(desk);
    });
}

/// A tool gets the variables that its rules name, and what steers a loader only by its exact name.
#[test]
fn variables_of_the_host_need_a_rule() {
    for_each_user(|desk| {
        for (rules, expected) in [
            ("", ""),
            ("{ name = 'API_TOKEN', read = true }", "API_TOKEN "),
            ("{ name = '*', read = true }", "API_TOKEN "),
            ("{ name = 'LD_*', read = true }", ""),
            (
                "{ name = 'LD_LIBRARY_PATH', read = true }",
                "LD_LIBRARY_PATH ",
            ),
            (
                "{ name = '*', read = true }, { name = 'API_TOKEN', read = false }",
                "",
            ),
        ] {
            let script = "echo names: $(cat /proc/self/environ | tr '\\0' '\\n' | sed -n 's/=canary$//p' | sort) .";
            set(desk, script, &format!("access.env = [{rules}]\n"));
            let mut jig = desk.jig(&["call", "tool", "--json"]);
            for name in ["API_TOKEN", "LD_LIBRARY_PATH", "BASH_ENV", "PYTHONPATH"] {
                jig.env(name, "canary");
            }
            let output = jig.output().unwrap();
            let told = String::from_utf8_lossy(&output.stdout);
            assert!(
                told.contains(&format!("names: {expected}.")),
                "{rules}: {told}"
            );
        }
    });
}
