//! Commands that try to bring more through a layer than their rules give them.

use std::os::unix::fs::PermissionsExt as _;

use super::workspace_user::for_each_user;

/// What no direct run could do, applying a layer does not do either.
#[test]
fn a_layer_brings_nothing_that_the_rules_withhold() {
    for_each_user(|desk| {
        let workspace = &desk.workspace;
        workspace.write(
            "jig.toml",
            r#"
            [tools.held]
            source = "local"
            command = "true"
            [[tools.held.access.fs]]
            path = "."
            read = true
            write = true
            execute = true
            [[tools.held.access.fs]]
            path = "closed"
            [[tools.held.access.fs]]
            path = "fixed"
            read = true
            "#,
        );
        workspace.write("closed/secret", "secret\n");
        workspace.write("fixed/file", "fixed\n");
        workspace.write(".env", "TOKEN=1\n");
        workspace.write(".git/config", "[core]\n");
        workspace.write("kept/file", "kept\n");
        workspace.write("outer/file", "outer\n");
        let before = std::fs::read_to_string(desk.path("jig.toml")).unwrap();
        // Marks of overlayfs that a command sets itself are no marks.
        let script = r#"
            echo x > jig.toml; echo x > .env; echo x >> .git/config; mv .git moved
            mkdir -p .git/hooks sub/.git/hooks; echo x > .git/hooks/pre-commit; echo x > sub/.git/hooks/pre-commit
            rm -rf closed fixed; mv closed open; mv fixed loose; echo x > fixed/file
            echo x > program; chmod 6755 program; mknod device c 1 3; mkfifo pipe
            rm -rf outer; ln -s /etc outer; echo x > outer/jig-was-here
            python3 -c '
import os
for path in [".", "kept", "kept/file"]:
    for name, value in [("opaque", b"y"), ("whiteout", b"y"), ("redirect", b"/etc"), ("metacopy", b"")]:
        try: os.setxattr(path, "user.overlay." + name, value)
        except OSError: pass
'
            true
        "#;
        let words = ["run", "--policy", "held", "--overlay", "--apply", "--"];
        let ran = desk.run(&[&words[..], &["sh", "-c", script]].concat());
        let text = |path: &str| std::fs::read_to_string(desk.path(path)).unwrap_or_default();
        assert_eq!(text("jig.toml"), before, "{ran:?}");
        for (path, expected) in [
            ("closed/secret", "secret\n"),
            ("fixed/file", "fixed\n"),
            (".env", "TOKEN=1\n"),
            (".git/config", "[core]\n"),
            ("kept/file", "kept\n"),
        ] {
            assert_eq!(text(path), expected, "{path}: {ran:?}");
        }
        for path in ["open", "loose", "device", "pipe", ".git/hooks/pre-commit"] {
            assert!(!desk.path(path).exists(), "{path}: {ran:?}");
        }
        assert!(!desk.path("sub/.git/hooks/pre-commit").exists(), "{ran:?}");
        let program = desk.path("program").metadata().unwrap();
        assert_eq!(program.permissions().mode() & 0o7000, 0, "{ran:?}");
        // The link came, as it would have, and nobody went through it.
        let outer = desk.path("outer").symlink_metadata().unwrap();
        assert!(outer.is_symlink(), "{ran:?}");
        assert!(!std::path::Path::new("/etc/jig-was-here").exists());
    });
}

/// A workspace in a folder that may be changed as well, and that only leads to what a rule grants: what is in it is of
/// the layer, too.
#[test]
fn what_is_granted_in_a_folder_with_a_layer_is_of_the_layer() {
    for_each_user(|desk| {
        let workspace = &desk.workspace;
        workspace.write("inside/a/file", "before\n");
        workspace.write("inside/top", "before\n");
        let config = format!(
            r#"
            [tools.held]
            source = "local"
            command = "true"
            sandbox.system = [{{ path = "{}", write = true }}]
            [[tools.held.access.fs]]
            path = "a"
            read = true
            write = true
            [[tools.held.access.fs]]
            path = "top"
            read = true
            update = true
            "#,
            desk.path(""),
        );
        workspace.write("inside/jig.toml", &config);
        let inside = desk.path("inside");
        let inside = inside.as_str();
        let script =
            "echo x > a/escaped; echo x > a/file; echo x > top; echo x > ../beside; cat a/file top";
        let words = [
            "--workspace",
            inside,
            "run",
            "--policy",
            "held",
            "--overlay",
            "--discard",
            "--",
        ];
        let ran = desk.run(&[&words[..], &["sh", "-c", script]].concat());
        assert_eq!(
            ran.out.lines().take(2).collect::<Vec<_>>(),
            ["x", "x"],
            "{ran:?}"
        );
        let text = |path: &str| std::fs::read_to_string(desk.path(path)).unwrap_or_default();
        assert_eq!(text("inside/a/file"), "before\n", "{ran:?}");
        assert_eq!(text("inside/top"), "before\n", "{ran:?}");
        for path in ["inside/a/escaped", "beside"] {
            assert!(!desk.path(path).exists(), "{path}: {ran:?}");
        }
    });
}

/// The same without the folder: there is a layer over a file in the workspace, and over many folders of it.
#[test]
fn parts_of_a_workspace_take_layers() {
    for_each_user(|desk| {
        let workspace = &desk.workspace;
        workspace.write("top", "before\n");
        workspace.write("other", "other\n");
        let folders: Vec<String> = (0..9).map(|number| format!("d{number}")).collect();
        for folder in &folders {
            workspace.write(&format!("{folder}/file"), "before\n");
        }
        let run = |granted: &[&str], script: &str| {
            let mut words = vec!["run", "--overlay", "--discard"];
            for path in granted {
                words.extend(["--write", path]);
            }
            words.extend(["--", "sh", "-c", script]);
            let ran = desk.run(&words);
            assert_eq!(ran.code, Some(0), "{ran:?}");
            ran
        };
        let ran = run(&["top"], "echo x > top; cat top");
        assert!(ran.out.starts_with("x\n"), "{ran:?}");
        let all: Vec<&str> = folders.iter().map(String::as_str).collect();
        run(&all, "for d in d*; do echo x > $d/new || exit 1; done");
        let text = |path: &str| std::fs::read_to_string(desk.path(path)).unwrap_or_default();
        assert_eq!(text("top"), "before\n");
        assert!(!desk.path("d3/new").exists());
    });
}

/// A name cannot add lines to the list of changes, nor steer the terminal.
#[test]
fn a_name_forges_no_line_of_the_list() {
    for_each_user(|desk| {
        let script = "touch \"$(printf 'x\\n  M README.md\\033[2J')\" \"$(printf 'y\\377')\"";
        let ran = desk.run(&[
            "run",
            "--overlay",
            "--discard",
            "--write",
            ".",
            "--",
            "sh",
            "-c",
            script,
        ]);
        assert!(
            !ran.err
                .lines()
                .any(|line| line.trim_start() == "M README.md"),
            "{ran:?}"
        );
        assert!(!ran.err.contains("\u{1b}[2J"), "{ran:?}");
        assert!(ran.err.contains("2 created"), "{ran:?}");
    });
}
