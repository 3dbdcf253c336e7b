//! `--write`: the person's file stays theirs.

use std::os::unix::fs::PermissionsExt as _;

use crate::workspace_user::{Desk, for_each_user};
use crate::{allows, tree};

const CONFIG: &str = r#"# Ours.
[tools.show]  # shows
source = "local"
command = "cat a.txt"   # the command stays

# Never this one.
[[tools.show.access.fs]]
path = "private"

[tools.other]
source = "local"
command = "true"
# The end.
"#;

#[test]
fn comments_and_rules_are_kept() {
    for_each_user(|desk| {
        desk.workspace.write("jig.toml", CONFIG);
        desk.workspace.write("a.txt", "a\n");
        desk.workspace.write("private/b.txt", "b\n");
        let path = desk.path("jig.toml");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let script = "cat a.txt; cat private/b.txt; true";
        let text = desk.ok(&["suggest", "show", "--write", "--", "sh", "-c", script]);
        let expected = CONFIG.replace(
            "path = \"private\"\n",
            "path = \"private\"\n\n# read by cat (once)\n[[tools.show.access.fs]]\npath = \"a.txt\"\nread = true\n",
        );
        assert_eq!(desk.read("jig.toml"), expected);
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o640);
        assert!(
            text.contains("# - `private`: a rule denies it (jig.toml:7)"),
            "{text}"
        );
        assert!(!allows(desk, "show", "read", "private/b.txt"));
        assert_eq!(desk.ok(&["call", "show", "--yes"]), "a\n");
    });
}

/// What a tool was granted before, it is granted afterwards: a new rule inside an old one keeps what the old
/// one gives.
#[test]
fn nothing_that_was_granted_is_lost() {
    let desk = Desk::new();
    desk.workspace.write(
        "jig.toml",
        "[tools.t]\nsource = 'local'\ncommand = 'true'\naccess.fs = [{ path = 'src', read = true, write = true }]\n",
    );
    desk.workspace.write("src/run.sh", "#!/bin/sh\necho run\n");
    desk.workspace.write("src/b.txt", "b\n");
    let run = desk.path("src/run.sh");
    std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o755)).unwrap();
    desk.ok(&["suggest", "t", "--write", "--", "sh", "-c", "src/run.sh"]);
    for path in ["src/run.sh", "src/b.txt"] {
        assert!(allows(&desk, "t", "read", path));
        assert!(allows(&desk, "t", "update", path));
    }
    assert!(allows(&desk, "t", "execute", "src/run.sh"));
    assert!(!allows(&desk, "t", "execute", "src/b.txt"));
}

#[test]
fn what_cannot_be_written_is_said() {
    let desk = Desk::new();
    // A name is needed.
    let ran = desk.run(&["suggest", "--write", "--", "true"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    // A tool that is no program of its own.
    let ran = desk.run(&["suggest", "fs_read_file", "--", "true"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("runtime `builtin`"), "{ran:?}");
    // A program that is not there.
    let ran = desk.run(&["suggest", "--", "no-such-program"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("was not found"), "{ran:?}");
    // A link is not written through.
    let real = desk.workspace.home.join("real.toml");
    std::fs::write(&real, "").unwrap();
    std::os::unix::fs::symlink(&real, desk.path("jig.toml")).unwrap();
    let ran = desk.run(&["suggest", "t", "--write", "--", "true"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("symbolic link"), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&real).unwrap(), "");
}

/// Without a place for layers nothing is run.
#[test]
fn without_layers_nothing_is_run() {
    let desk = Desk::new();
    let before = tree(&desk.workspace.root);
    let mut jig = desk.jig(&["suggest", "--", "sh", "-c", "echo x > x"]);
    let state = desk.path("state");
    let output = jig.env("XDG_STATE_HOME", state).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("XDG_STATE_HOME"), "{told}");
    let mut after = tree(&desk.workspace.root);
    after.retain(|path, _| !path.starts_with("/state"));
    assert_eq!(after, before);
}
