//! `jig run --overlay`: what a command changes is shown first, and then applied or discarded.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;

use camino::Utf8Path;
use serde_json::Value as Json;

use super::terminal_user::Seat;
use super::vfs_tool::until;
use super::workspace_user::{Desk, for_each_user};

/// Every path of the workspace with its mode, time and content.
fn tree(desk: &Desk) -> Vec<String> {
    let mut lines = Vec::new();
    let mut left = vec![desk.path("")];
    while let Some(path) = left.pop() {
        let about = path.symlink_metadata().unwrap();
        let content = if about.is_dir() {
            left.extend(
                path.read_dir_utf8()
                    .unwrap()
                    .map(|entry| entry.unwrap().into_path()),
            );
            String::new()
        } else if about.is_symlink() {
            path.read_link_utf8().unwrap().into_string()
        } else {
            format!("{:?}", std::fs::read(&path).unwrap())
        };
        let (mode, time) = (about.permissions().mode(), about.modified().unwrap());
        lines.push(format!("{path} {mode:o} {time:?} {content}"));
    }
    lines.sort();
    lines
}

fn prepared(desk: &Desk) {
    desk.workspace.write("a", "a\n");
    desk.workspace.write("b", "1\n2\n3\n");
    desk.workspace.write("d/x", "x\n");
    desk.workspace.write("gone/y", "y\n");
}

const WORK: &str = "echo new > n; echo two >> b; rm a; mkdir -p e/f; mv d/x e/f/x; rm -r gone; ln -s b l; \
                    chmod 700 d";

fn json(text: &str) -> Json {
    serde_json::from_str(text).unwrap()
}

/// How many layers there are.
fn layers(desk: &Desk) -> usize {
    let home = desk.workspace.home.join(".local/state/jig/layers");
    home.read_dir_utf8().map_or(0, Iterator::count)
}

/// Where nobody can be asked, it is said what was changed and what became of it.
#[test]
fn without_an_answer_nothing_is_changed() {
    for_each_user(|desk| {
        prepared(desk);
        let before = tree(desk);
        for (flags, why) in [
            (
                &["--overlay"][..],
                ": nobody was there to ask; with --apply they are kept\n",
            ),
            (&["--overlay", "--discard"][..], "\n"),
        ] {
            for code in [0, 7] {
                let script = format!("{WORK}; exit {code}");
                let command = ["--", "sh", "-c", &script];
                let ran = desk.run(&[&["run"], flags, &command[..]].concat());
                assert_eq!(ran.code, Some(code), "{}", ran.err);
                assert_eq!(ran.out, "");
                for line in [
                    "changes: 5 created, 2 modified, 4 deleted\n",
                    "\n  D a\n",
                    "\n  M b\n",
                    "\n  M d  directory, mode 755 to 700\n",
                    "\n  A e  directory\n",
                    "\n  A l  symlink\n",
                    "--- a/b\n+++ b/b\n@@ -1,3 +1,4 @@\n 1\n 2\n 3\n+two\n",
                    "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+new\n",
                ] {
                    assert!(ran.err.contains(line), "{line:?} is not in\n{}", ran.err);
                }
                let end = format!("jig: the changes were discarded{why}");
                assert!(ran.err.ends_with(&end), "{}", ran.err);
                assert_eq!(tree(desk), before);
                assert_eq!(layers(desk), 0);
            }
        }
        let ran = desk.run(&["run", "--overlay", "--", "cat", "a"]);
        assert_eq!(ran.out, "a\n");
        assert_eq!(ran.err, "jig: the command changed nothing\n");
    });
}

/// What is applied is what the command would have done without a layer.
#[test]
fn apply_is_for_commands_that_went_well() {
    for_each_user(|desk| {
        prepared(desk);
        let before = tree(desk);
        let script = format!("{WORK}; exit 3");
        let ran = desk.run(&["run", "--overlay", "--apply", "--", "sh", "-c", &script]);
        assert_eq!(ran.code, Some(3));
        let end = "jig: the changes were discarded: the command failed, and --apply is for one that ends with 0\n";
        assert!(ran.err.ends_with(end), "{}", ran.err);
        assert_eq!(tree(desk), before);

        let ran = desk.run(&["run", "--overlay", "--apply", "--", "sh", "-c", WORK]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(
            ran.err.ends_with("jig: 11 changes applied\n"),
            "{}",
            ran.err
        );
        assert_eq!(desk.read("n"), "new\n");
        assert_eq!(desk.read("b"), "1\n2\n3\ntwo\n");
        assert_eq!(desk.read("e/f/x"), "x\n");
        assert_eq!(desk.path("l").read_link_utf8().unwrap(), "b");
        assert!(!desk.path("a").exists() && !desk.path("gone").exists());
        let mode = desk.path("d").metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert_eq!(layers(desk), 0);
    });
}

/// The sandbox cannot keep a file from coming into being; what is applied, the rules decide.
#[test]
fn what_the_rules_do_not_allow_is_not_applied() {
    let config = "[tools.t]\nsource = \"local\"\ncommand = \"true\"\n\
                  [[tools.t.access.fs]]\npath = \".\"\nread = true\nwrite = true\nexecute = true\n\
                  [[tools.t.access.fs]]\npath = \"locked\"\nread = true\n";
    for_each_user(|desk| {
        desk.workspace.write("jig.toml", config);
        let script = "mkdir locked; echo x > locked/f; echo x > open; echo x > jig.toml; true";
        let args = [
            "run",
            "--policy",
            "t",
            "--overlay",
            "--apply",
            "--",
            "sh",
            "-c",
            script,
        ];
        let ran = desk.run(&args);
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        for line in [
            "jig: 1 change applied\n",
            "jig: not applied: created locked: the rules do not allow it\n",
            "jig: not applied: created locked/f: the rules do not allow it\n",
        ] {
            assert!(ran.err.contains(line), "{line:?} is not in\n{}", ran.err);
        }
        assert_eq!(desk.read("open"), "x\n");
        assert_eq!(desk.read("jig.toml"), config);
        assert!(!desk.path("locked").exists());
    });
}

/// What may be changed outside of the workspace is not changed either, before it is applied.
#[test]
fn layers_cover_all_that_can_be_changed() {
    for_each_user(|desk| {
        prepared(desk);
        let outside = desk.beside("outside");
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("o"), "o\n").unwrap();
        let script = format!("echo z > {outside}/o; echo z > d/x; echo z > b");
        let given = [
            "run",
            "--overlay",
            "--read",
            ".",
            "--write",
            "d",
            "--write",
            outside.as_str(),
        ];
        let command = ["--", "sh", "-c", &script];
        let ran = desk.run(&[&given[..], &command[..]].concat());
        assert!(ran.err.contains("changes: 2 modified\n"), "{}", ran.err);
        assert!(ran.err.contains("--- a/d/x\n+++ b/d/x\n"), "{}", ran.err);
        let header = format!("--- {outside}/o\n+++ {outside}/o\n");
        assert!(ran.err.contains(&header), "{}", ran.err);
        let read = |path: &Utf8Path| std::fs::read_to_string(path).unwrap();
        assert_eq!(
            (desk.read("d/x"), read(&outside.join("o"))),
            ("x\n".into(), "o\n".into())
        );

        let script = format!("echo y > {outside}/o; echo y > d/x");
        let command = ["--apply", "--", "sh", "-c", &script];
        let ran = desk.run(&[&given[..], &command[..]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert_eq!(
            (desk.read("d/x"), read(&outside.join("o"))),
            ("y\n".into(), "y\n".into())
        );
    });
}

/// What somebody else changed while the command ran is theirs.
#[test]
fn what_changed_meanwhile_is_kept() {
    for_each_user(|desk| {
        prepared(desk);
        let script = "echo layer > b; echo layer > a; echo ready; read line";
        let mut child = desk
            .jig(&["run", "--overlay", "--apply", "--", "sh", "-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        desk.workspace.write("b", "mine\n");
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
        let mut errors = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut errors)
            .unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(1), "{errors}");
        assert!(
            errors.contains("  M b  changed by somebody else meanwhile\n"),
            "{errors}"
        );
        assert!(errors.contains("jig: 1 change applied\n"), "{errors}");
        assert_eq!(
            (desk.read("a"), desk.read("b")),
            ("layer\n".into(), "mine\n".into())
        );
        let kept = errors.lines().last().unwrap();
        let kept = kept
            .strip_prefix("jig: what the command made is kept for a week in ")
            .unwrap();
        assert_eq!(
            std::fs::read_to_string(format!("{kept}/b")).unwrap(),
            "layer\n"
        );
    });
}

#[test]
fn programs_read_the_changes_as_json() {
    for_each_user(|desk| {
        prepared(desk);
        let ran = desk.run(&["--json", "run", "--overlay", "--", "sh", "-c", WORK]);
        assert_eq!(ran.err, "");
        let told = json(&ran.out);
        assert_eq!(told["outcome"], "discarded");
        let first = &told["changes"][0];
        assert_eq!(
            (&first["path"], &first["kind"]),
            (&"a".into(), &"deleted".into())
        );
        assert_eq!(told["changes"].as_array().unwrap().len(), 11);
        let args = [
            "--json",
            "run",
            "--overlay",
            "--apply",
            "--",
            "sh",
            "-c",
            WORK,
        ];
        let told = json(&desk.ok(&args));
        assert_eq!(told["outcome"], "applied");
        assert_eq!(told["applied"].as_array().unwrap().len(), 11);
        let told = json(&desk.ok(&["--json", "run", "--overlay", "--", "true"]));
        assert_eq!(told["outcome"], "unchanged");
    });
}

/// A person decides when they have seen what it is about.
#[test]
fn somebody_at_a_terminal_is_asked() {
    for_each_user(|desk| {
        prepared(desk);
        let before = tree(desk);
        let script = "echo new > n; rm a; exit 4";
        let args = ["run", "--overlay", "--", "sh", "-c", script];
        for keys in ["d\r", "\r", "\x04", "no\rs\rdiscard\r"] {
            let mut seat = Seat::new(desk, &args);
            seat.sees_text("[a]pply, [s]how the whole diff, [d]iscard:");
            seat.types(keys);
            let (status, screen) = seat.ends();
            assert!(screen.contains("the changes were discarded"), "{screen}");
            assert_eq!(status.code(), Some(4));
            assert_eq!(tree(desk), before, "{keys:?}");
        }
        let mut seat = Seat::new(desk, &args);
        let screen = seat.sees_text("[a]pply, [s]how the whole diff, [d]iscard:");
        assert!(screen.contains("the command failed"), "{screen}");
        assert!(screen.contains("+new"), "{screen}");
        seat.types("a\r");
        let (status, screen) = seat.ends();
        assert!(screen.contains("2 changes applied"), "{screen}");
        assert_eq!(status.code(), Some(4));
        assert_eq!(desk.read("n"), "new\n");
        assert!(!desk.path("a").exists());
        assert_eq!(layers(desk), 0);
    });
}

/// Whoever leaves at the question has not said yes; what is left behind is cleared away by the next jig.
#[test]
fn leaving_at_the_question_changes_nothing() {
    for_each_user(|desk| {
        prepared(desk);
        let before = tree(desk);
        let args = ["run", "--overlay", "--", "sh", "-c", "echo new > n"];
        let mut seat = Seat::new(desk, &args);
        seat.sees_text("[d]iscard:");
        seat.types("\x03");
        let (status, _) = seat.ends();
        assert_eq!(status.signal(), Some(2), "{status:?}");
        assert_eq!(tree(desk), before);
        desk.sh("true");
        assert_eq!(layers(desk), 0);
    });
}

/// A tool chooses names and contents; what they would do to a terminal they do not.
#[test]
fn names_and_contents_do_not_steer_the_terminal() {
    for_each_user(|desk| {
        let script = "printf 'x\\033]0;content\\007\\033[2Jy\\n' > f; \
                      printf x > \"$(printf 'name\\033]0;evil\\007\\nM forged')\"";
        let mut seat = Seat::new(desk, &["run", "--overlay", "--", "sh", "-c", script]);
        seat.sees_text("[d]iscard:");
        let printed = String::from_utf8_lossy(&seat.printed).into_owned();
        assert!(!printed.contains("\x1b]0;"), "{printed:?}");
        assert!(!printed.contains("\x1b[2J"), "{printed:?}");
        assert!(!printed.contains("\nM forged"), "{printed:?}");
        assert!(printed.contains("\\u{1b}"), "{printed:?}");
        seat.types("d\r");
        seat.ends();
    });
}

/// Of a jig that was killed nothing stays, neither in the workspace nor beside it.
#[test]
fn a_layer_that_was_left_is_cleared_away() {
    for_each_user(|desk| {
        prepared(desk);
        let before = tree(desk);
        let mut child = desk
            .jig(&[
                "run",
                "--overlay",
                "--",
                "sh",
                "-c",
                "echo x > b; echo ready; sleep 600",
            ])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(tree(desk), before);
        assert_eq!(layers(desk), 1);
        until("it is cleared away", || {
            desk.sh("true");
            layers(desk) == 0
        });
        assert_eq!(tree(desk), before);
    });
}

#[test]
fn flags_that_need_a_layer_say_so() {
    let desk = Desk::new();
    for flags in [
        &["--apply"][..],
        &["--discard"],
        &["--overlay", "--apply", "--discard"],
    ] {
        let ran = desk.run(&[&["run"], flags, &["--", "true"][..]].concat());
        assert_eq!(ran.code, Some(2), "{}", ran.err);
    }
}

/// What belongs to another group than the user's first cannot be copied into a layer, which is said before.
#[test]
fn another_group_is_warned_of() {
    for_each_user(|desk| {
        let mut command = desk.jig(&["run", "--overlay", "--", "true"]);
        if desk.is_plain_user() {
            std::os::unix::fs::chown(desk.path(""), None, Some(100)).unwrap();
        }
        let output = command.output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        let warning = "belongs to another group than your first";
        assert_eq!(told.contains(warning), desk.is_plain_user(), "{told}");
    });
}

/// What is shown stays short, however long the lines, the names and the files are that a command makes.
#[test]
fn long_lines_are_cut() {
    for_each_user(|desk| {
        let script = "head -c 100000 /dev/zero | tr '\\0' x > a; seq 1 20000 > b; \
                      d=$(head -c 200 /dev/zero | tr '\\0' d); mkdir -p $d/$d; echo new > $d/$d/c";
        let ran = desk.run(&["run", "--overlay", "--discard", "--", "sh", "-c", script]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        for part in [
            "x… (99701 more characters)\n",
            "d… (103 more characters)\n",
            " more lines)\n",
        ] {
            assert!(ran.err.contains(part), "{part:?} is not in\n{}", ran.err);
        }
        let longest = ran.err.lines().map(|line| line.chars().count()).max();
        assert!(longest < Some(400), "{longest:?}");
        assert!(ran.err.lines().count() < 300, "{}", ran.err);
    });
}
