//! `jig knowledge`, and `jig call learn` (W-050 to W-055).

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::Workspace;

const CONFIG: &str = "\
[kb.topic.style]
title = \"House style\"
introduction = \"How we write code here.\"
description = \"Load what concerns you.\"
subjects = \"docs/style\"
learned = [\"naming\"]
disabled = [\"errors/secret\"]

[kb.topic.old]
subjects = \"docs/old\"
enable = false
";

/// The workspace of the tests.
fn workspace() -> Workspace {
    let workspace = Workspace::with(CONFIG);
    workspace.write("docs/style/naming.md", "No abbreviations.\n");
    workspace.write("docs/style/errors/handling.md", "Use thiserror.\n");
    workspace.write("docs/style/errors/secret.md", "nobody gets this\n");
    workspace.write("docs/style/reviews.py", "print('hi')\n");
    workspace.write("docs/style/.hidden.md", "psst\n");
    workspace
}

/// The program, with the compiled code that all tests share: that is not what is tested here.
fn jig(workspace: &Workspace, args: &[&str]) -> Command {
    let folder: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("knowledge");
    let mut command = workspace.jig(args);
    command
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .env("XDG_STATE_HOME", folder.join("state"));
    command
}

/// What it prints on stdout, on stderr, and how it ends.
fn ran(workspace: &Workspace, args: &[&str]) -> (String, String, i32) {
    let output = jig(workspace, args).output().unwrap();
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        // A busy machine takes its time for the first compilation, and that is told.
        let lines = text
            .split_inclusive('\n')
            .filter(|line| !line.contains("compiling learn"));
        lines.collect::<String>()
    };
    (
        text(&output.stdout),
        text(&output.stderr),
        output.status.code().unwrap(),
    )
}

fn printed(workspace: &Workspace, args: &[&str]) -> String {
    let (out, err, code) = ran(workspace, args);
    assert_eq!((err.as_str(), code), ("", 0), "{args:?}: {out}");
    out
}

const SECTION: &str = "\
# Knowledge

This project has written down what it knows about the topics below. Before work that one of them covers, \
load what you need with the tool `learn`: with `topic` alone it lists the subjects of a topic, with \
`subjects` it returns their text.

- `style` (House style), 2 subjects: How we write code here.
  Load what concerns you.

What follows is loaded already.

<subject topic=\"style\" name=\"naming\">
No abbreviations.
</subject>
";

#[test]
fn the_section_is_all_that_is_printed() {
    let workspace = workspace();
    assert_eq!(printed(&workspace, &["knowledge"]), SECTION);
    assert_eq!(printed(&workspace, &["knowledge", "HOUSE style"]), SECTION);
    let output = jig(&workspace, &["knowledge", "--json"]).output().unwrap();
    let json = super::parsed(&output);
    assert_eq!(json["text"], SECTION);
    assert_eq!(json["tool"], "learn");
    assert_eq!(
        json["topics"][0]["subjects"],
        json!(["errors/handling", "reviews"])
    );
}

#[test]
fn topics_and_subjects_are_listed() {
    let workspace = workspace();
    let expected = "\
TOPIC  TITLE        TO LOAD  LEARNED  DIRECTORY
style  House style  2        1        docs/style
old    old          off      off      docs/old
";
    assert_eq!(printed(&workspace, &["knowledge", "--list"]), expected);
    let expected = "\
SUBJECT          STATE
errors/handling  to load
naming           learned
reviews          to load
";
    assert_eq!(
        printed(&workspace, &["knowledge", "style", "--list"]),
        expected
    );
    let output = jig(&workspace, &["knowledge", "--list", "--json"])
        .output()
        .unwrap();
    let json = super::parsed(&output);
    assert_eq!(json[0]["available"], 2);
    assert_eq!(json[0]["origin"], "jig.toml:1");
    assert_eq!(json[1]["enabled"], false);
}

#[test]
fn mistakes_come_with_the_way_out() {
    let workspace = workspace();
    let (out, err, code) = ran(&workspace, &["knowledge", "stile"]);
    assert_eq!((out.as_str(), code), ("", 1));
    assert_eq!(
        err,
        "error: there is no topic `stile`; the topics are `style` (House style)\nhint: did you mean `style`?\n"
    );
    // A directory that is missing: a warning beside the others, an error for one that was asked for.
    workspace.write(
        "jig.toml",
        format!("{CONFIG}\n[kb.topic.gone]\nsubjects = \"docs/gone\"\n"),
    );
    let (out, err, code) = ran(&workspace, &["knowledge"]);
    assert_eq!((out.as_str(), code), (SECTION, 0));
    assert!(
        err.contains("the topic `gone` has no subjects: `docs/gone` does not exist"),
        "{err}"
    );
    let (out, err, code) = ran(&workspace, &["knowledge", "gone"]);
    assert_eq!((out.as_str(), code), ("", 1));
    assert!(err.contains("hint: create the directory"), "{err}");
}

#[test]
fn without_topics_it_says_how_to_make_one() {
    let workspace = Workspace::new();
    for args in [&["knowledge"][..], &["knowledge", "--list"]] {
        let (out, err, code) = ran(&workspace, args);
        assert_eq!((out.as_str(), code), ("", 0));
        assert!(err.contains("[kb.topic.style]"), "{err}");
    }
    // What it shows is right.
    let (_, err, _) = ran(&workspace, &["knowledge"]);
    let lines = err.lines().filter_map(|line| line.strip_prefix("    "));
    workspace.write(
        "jig.toml",
        lines.map(|line| format!("{line}\n")).collect::<String>(),
    );
    workspace.write("docs/style/one.md", "one\n");
    let text = printed(&workspace, &["knowledge"]);
    assert!(
        text.contains("- `style` (House style), 1 subject: How we write code here."),
        "{text}"
    );
    let json = super::parsed(
        &jig(&Workspace::new(), &["knowledge", "--json"])
            .output()
            .unwrap(),
    );
    assert_eq!(json["topics"], json!([]));
}

#[test]
fn learn_is_called_as_any_tool() {
    let workspace = workspace();
    let listed = printed(&workspace, &["call", "learn", "topic=style"]);
    assert!(
        listed.starts_with("# House style\n\nLoad what concerns you.\n"),
        "{listed}"
    );
    assert!(
        !listed.contains("hidden") && !listed.contains("secret"),
        "{listed}"
    );
    let loaded = printed(
        &workspace,
        &["call", "learn", "topic=style", "subjects=errors/*"],
    );
    assert_eq!(loaded, "Use thiserror.\n");
    let several = [
        "call",
        "learn",
        "topic=style",
        "subjects=hidden",
        "subjects=reviews",
    ];
    let loaded = printed(&workspace, &several);
    assert!(
        loaded.contains("psst") && loaded.contains("```python\nprint('hi')\n```"),
        "{loaded}"
    );
    let (_, err, code) = ran(
        &workspace,
        &["call", "learn", "topic=style", "subjects=errors/secret"],
    );
    assert_eq!(code, 1);
    assert!(
        err.contains("no subject of `House style` matches `errors/secret`"),
        "{err}"
    );
    assert!(!err.contains("nobody gets this"));
}
