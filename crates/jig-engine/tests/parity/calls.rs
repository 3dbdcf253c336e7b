//! Calls, each with what somebody says who is asked meanwhile.

use jig_fs_tools::NAMES;
use serde_json::{Value, json};

use crate::door::Says;

pub(crate) struct Call {
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
    pub(crate) says: Says,
}

/// Everything that is tried: operations on paths of every kind, and calls that are wrong.
pub(crate) fn all() -> Vec<Call> {
    let mut calls = Vec::new();
    let mut add = |tool: &'static str, arguments: Value, says: Says| {
        assert!(NAMES.contains(&tool));
        calls.push(Call {
            tool,
            arguments,
            says,
        });
    };
    for path in PATHS {
        add("fs_read_file", json!({ "path": path }), Says::Nothing);
    }
    for path in [
        ".",
        "src",
        "src/deep",
        "secret",
        "README.md",
        "nothing",
        "inside",
        "outside",
        "..",
    ] {
        add("fs_list_files", json!({ "path": path }), Says::Nothing);
    }
    for arguments in [
        json!({ "pattern": "e" }),
        json!({ "pattern": "E.*", "context": 1, "paths": ["src", "README.md"] }),
        json!({ "pattern": "x", "paths": ["src/deep"], "extensions": ["txt"] }),
        json!({ "pattern": "x", "paths": ["secret", "nothing"] }),
        json!({ "pattern": "(", "paths": ["src"] }),
        json!({ "pattern": "x", "paths": ["../"] }),
    ] {
        add("fs_grep_files", arguments, Says::Nothing);
    }
    for path in [
        "new.txt",
        "out/new.txt",
        "src/new/below.txt",
        "src/deep/new.txt",
        "README.md",
        "src/main.rs",
        "src",
        ".env",
        ".jig/new",
        "jig.toml",
        "../new",
        "/tmp/new",
        "inside",
        "outside",
        "dangling",
        "secret/new",
        "README.md/below",
    ] {
        add(
            "fs_create_file",
            json!({ "path": path, "content": "made\n" }),
            Says::Yes,
        );
    }
    for path in PATHS {
        let patterns = json!([{ "old": "e", "new": "E", "all": true }]);
        add(
            "fs_modify_file",
            json!({ "path": path, "patterns": patterns }),
            Says::Yes,
        );
    }
    for path in PATHS {
        add("fs_delete_file", json!({ "path": path }), Says::Yes);
    }
    for (from, to) in [
        ("README.md", "moved.md"),
        ("README.md", "src/deep/moved.md"),
        ("src/deep/x.txt", "x.txt"),
        ("src/deep", "deep"),
        ("src", "secret/src"),
        ("README.md", "src/main.rs"),
        ("README.md", "src"),
        ("README.md", ".env"),
        ("README.md", "jig.toml"),
        ("jig.toml", "other.toml"),
        (".env", "env"),
        ("secret/key", "key"),
        ("inside", "moved"),
        ("outside", "moved"),
        ("nothing", "moved"),
        ("README.md", "../moved"),
        ("../x", "moved"),
    ] {
        add("fs_move_file", json!({ "from": from, "to": to }), Says::Yes);
    }
    // Who is asked, and what they say.
    for says in [Says::Nothing, Says::No, Says::Once, Says::Turn, Says::Late] {
        add("fs_read_file", json!({ "path": "README.md" }), says);
        add("fs_read_file", json!({ "path": ".env" }), says);
        add(
            "fs_grep_files",
            json!({ "pattern": "e", "paths": ["src/deep"] }),
            says,
        );
        add(
            "fs_create_file",
            json!({ "path": "src/main.rs", "content": "x" }),
            says,
        );
        add(
            "fs_create_file",
            json!({ "path": "a/b/c", "content": "x" }),
            says,
        );
        let patterns = json!([{ "old": "main", "new": "other" }]);
        add(
            "fs_modify_file",
            json!({ "path": "src/main.rs", "patterns": patterns }),
            says,
        );
        add(
            "fs_delete_file",
            json!({ "paths": ["README.md", "src/deep/x.txt", "nothing"] }),
            says,
        );
        add("fs_delete_file", json!({ "path": "src" }), says);
        add(
            "fs_move_file",
            json!({ "from": "src", "to": "moved/src" }),
            says,
        );
        add(
            "fs_move_file",
            json!({ "from": "README.md", "to": "src/main.rs" }),
            says,
        );
    }
    // Forms of the answer, and calls that are wrong.
    for arguments in [
        json!({ "path": "README.md", "start_line": 2, "end_line": 3, "line_numbers": true }),
        json!({ "path": "README.md", "start_line": 99 }),
        json!({ "path": "odd.bin" }),
        json!({ "path": "" }),
        json!({ "path": "a\u{0}b" }),
        json!({ "path": "state.json" }),
    ] {
        add("fs_read_file", arguments, Says::Nothing);
    }
    for patterns in [
        json!([{ "old": "not there", "new": "x" }]),
        json!([{ "old": "e", "new": "x" }]),
        json!([{ "old": "(\\w+)", "new": "<$1>", "regex": true }]),
        json!([{ "old": "(", "new": "x", "regex": true }]),
        json!([]),
    ] {
        add(
            "fs_modify_file",
            json!({ "path": "README.md", "patterns": patterns }),
            Says::Once,
        );
    }
    add(
        "fs_list_files",
        json!({ "limit": 2, "extensions": ["txt", "md"] }),
        Says::Once,
    );
    calls
}

/// Paths of every kind.
const PATHS: &[&str] = &[
    "README.md",
    "./src//main.rs",
    "src/../README.md",
    "src/deep/x.txt",
    "src/deep",
    "secret/key",
    ".env",
    ".jig/tool.toml",
    "jig.toml",
    ".git/config",
    "inside",
    "outside",
    "dangling",
    "loop",
    "src/link/key",
    "nothing",
    "nothing/below",
    "README.md/below",
    "../x",
    "a/../../x",
    "/etc/passwd",
    "%2e%2e/x",
    "wörter.txt",
];
