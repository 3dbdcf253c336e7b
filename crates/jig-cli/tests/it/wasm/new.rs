//! `jig wasm new`: what it makes builds, and runs under jig.

use std::process::Command;

use insta::assert_snapshot;

use super::{Workspace, build, repository};

#[test]
fn a_project_is_made_and_explained() {
    let workspace = Workspace::with("");
    let text = workspace.ok(&["wasm", "new", "word-count"]);
    assert_snapshot!(text, @r#"
    made word-count: a tool in Rust, 9 files
      edit      word-count/src/lib.rs
      build     cd word-count && rustup target add wasm32-wasip2 && cargo build --release --target wasm32-wasip2
      run       jig -C word-count call word_count path=README.md
    For the workspace around it, in its jig.toml:
      [tools.word_count]
      source = "local"
      wasm = "word-count/target/wasm32-wasip2/release/word_count.wasm"
    "#);
    let (code, made) = workspace.json(&["wasm", "new", "it", "--lang", "js", "--dir", "tools/a b"]);
    assert_eq!(code, Some(0), "{made}");
    assert_eq!(made["name"], "it");
    assert_eq!(
        made["build"],
        "cd 'tools/a b' && npm install && npm run build"
    );
    for path in made["files"].as_array().unwrap() {
        let path = workspace
            .root
            .join("tools/a b")
            .join(path.as_str().unwrap());
        assert!(path.is_file(), "{path}");
    }
    let config = made["config"].as_str().unwrap();
    assert!(config.contains(r#"wasm = "tools/a b/it.wasm""#), "{config}");
    // Each is a workspace of its own, whose configuration holds.
    for folder in ["word-count", "tools/a b"] {
        workspace.ok(&["-C", folder, "config", "check"]);
    }
}

#[test]
fn mistakes_are_explained() {
    let workspace = Workspace::new();
    assert_snapshot!(workspace.fails(&["wasm", "new", "Word Count"]), @"
    error: `Word Count` cannot be the name of a tool's project
    hint: a name has small letters and digits, in words that begin with a letter: word-count; did you mean `word-count`?
    ");
    workspace.write("taken/mine.txt", "mine");
    assert_snapshot!(workspace.fails(&["wasm", "new", "taken"]), @"
    error: there is already something at `taken`
    hint: choose another name, or another folder with --dir; nothing was changed
    ");
    let names: Vec<_> = std::fs::read_dir(workspace.root.join("taken"))
        .unwrap()
        .collect();
    assert_eq!(names.len(), 1, "nothing was added");
    assert_eq!(std::fs::read_dir(&workspace.root).unwrap().count(), 1);
    let ran = workspace.run(&["wasm", "new", "x", "--lang", "cobol"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
}

/// W-005: the project in Rust builds with the printed command, describes itself, runs, and is held to its rules.
#[test]
fn w005_a_project_in_rust_builds_and_runs() {
    let workspace = Workspace::new();
    workspace.ok(&["wasm", "new", "word-count"]);
    let folder = workspace.root.join("word-count");
    let said = build(&folder, "word_count");
    assert!(!said.contains("warning:"), "{said}");
    let jig = |args: &[&str]| {
        let mut words = vec!["-C", "word-count"];
        words.extend(args);
        workspace.run(&words)
    };
    workspace.write("word-count/text.txt", "one two\nthree\n");
    let ran = jig(&["call", "word_count", "path=text.txt"]);
    assert_eq!(ran.out, "text.txt: 2 lines, 3 words, 14 bytes\n", "{ran:?}");
    // Its own description has the parameters, which `jig.toml` has not.
    let ran = jig(&["call", "word_count"]);
    assert!(ran.code == Some(1) && ran.err.contains("path"), "{ran:?}");
    // It is held to its rules.
    workspace.write("outside.txt", "secret");
    for path in [
        "path=../outside.txt",
        "path=/etc/passwd",
        "path=missing.txt",
    ] {
        let ran = jig(&["call", "word_count", path]);
        assert!(ran.code == Some(1) && ran.out.is_empty(), "{ran:?}");
        assert!(ran.err.contains("Failed to read"), "{ran:?}");
    }
    let component = "word-count/target/wasm32-wasip2/release/word_count.wasm";
    let text = workspace.ok(&["wasm", "inspect", component]);
    for part in [
        "word_count  Counts the lines, words and bytes of a text file.",
        "path string, required  The file, relative to the workspace.",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    a_description_cannot_steer_a_terminal(&workspace);
}

/// What a component says of itself is text of somebody else.
fn a_description_cannot_steer_a_terminal(workspace: &Workspace) {
    let folder = workspace.root.join("word-count");
    let source = std::fs::read_to_string(folder.join("src/lib.rs")).unwrap();
    let attack = source.replace(
        "Counts the lines",
        r"\u{1b}[2J\u{1b}]0;owned\u{7}safe\u{202e}\n  can never\n  do harm. Counts the lines",
    );
    assert_ne!(source, attack);
    std::fs::write(folder.join("src/lib.rs"), attack).unwrap();
    build(&folder, "word_count");
    let component = "word-count/target/wasm32-wasip2/release/word_count.wasm";
    for args in [
        &["wasm", "inspect", component][..],
        &["--color", "always", "wasm", "inspect", component],
    ] {
        let text = workspace.ok(args);
        let plain = text.replace("\u{1b}[0m", "");
        for part in ["\u{1b}[2J", "\u{1b}]", "\u{7}", "\u{202e}"] {
            assert!(!plain.contains(part), "{part:?} in {plain:?}");
        }
        // It stays on its line, and cannot look like ours.
        let line = plain.lines().find(|line| line.contains("safe")).unwrap();
        assert!(line.contains("do harm. Counts the lines"), "{plain}");
    }
}

/// A template in Python builds with the tools that `cargo xtask guests --python` installs. It is not called: to
/// compile one more Python takes longer than all other tests, and the example is called.
#[test]
fn a_project_in_python_builds() {
    let componentize = repository().join("target/guests-tools/python/bin/componentize-py");
    if !componentize.exists() {
        jig_testkit::skipped_without(
            "componentize-py",
            "`cargo xtask guests --python` installs it",
        );
        return;
    }
    let workspace = Workspace::new();
    workspace.ok(&["wasm", "new", "word-count", "--lang", "python"]);
    let folder = workspace.root.join("word-count");
    let mut command = Command::new(componentize);
    command.args(["-q", "-d", "wit", "-w", "component"]).args([
        "componentize",
        "app",
        "-o",
        "word_count.wasm",
    ]);
    ran(command.current_dir(&folder));
    let component = std::fs::read(folder.join("word_count.wasm")).unwrap();
    assert!(component.starts_with(b"\0asm\x0d\0"), "it is a component");
}

/// A template in JavaScript builds with the tools that `cargo xtask guests --js` installs, and runs.
#[test]
fn a_project_in_javascript_builds_and_runs() {
    let modules = repository().join("target/guests-tools/js/node_modules");
    if !modules.exists() {
        jig_testkit::skipped_without("componentize-js", "`cargo xtask guests --js` installs it");
        return;
    }
    let workspace = Workspace::new();
    workspace.ok(&["wasm", "new", "word-count", "--lang", "js"]);
    let folder = workspace.root.join("word-count");
    std::os::unix::fs::symlink(modules, folder.join("node_modules")).unwrap();
    ran(Command::new("npm")
        .args(["run", "build"])
        .current_dir(folder));
    workspace.write("word-count/text.txt", "one two\nthree\n");
    let call = |path: &str| workspace.run(&["-C", "word-count", "call", "word_count", path]);
    let done = call("path=text.txt");
    assert_eq!(
        done.out, "text.txt: 2 lines, 3 words, 14 bytes\n",
        "{done:?}"
    );
    let denied = call("path=../outside.txt");
    assert!(
        denied.code == Some(1) && denied.err.contains("Failed to read"),
        "{denied:?}"
    );
}

#[track_caller]
fn ran(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}
