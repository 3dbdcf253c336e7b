//! The tools from outside, as a host calls them.
#![expect(clippy::unwrap_used, reason = "a fixture that fails is a failed test")]

mod contract;
mod create;
mod delete;
mod doors;
mod fake;
mod grep;
mod list;
mod modify;
mod moves;
mod read;
mod show;

use doors::Call;
use serde_json::{Value, json};

#[test]
fn the_names_are_those_of_the_tools() {
    for name in jig_fs_tools::NAMES {
        // Each of them needs an argument, or finds nothing: all that matters is that it is there.
        Call::new(name, json!({})).run();
    }
}

#[test]
fn arguments_of_the_wrong_kind_are_named() {
    fn check(tool: &str, arguments: Value, expected: &str) {
        let outcome = Call::new(tool, arguments).file("a", "text").run();
        assert_eq!(outcome.text, format!("error: {expected}"));
        assert_eq!(outcome.workspace.changes, 0);
    }
    check("fs_read_file", json!({}), "`path` is missing: give a path");
    check(
        "fs_read_file",
        json!({"path": null}),
        "`path` is missing: give a path",
    );
    check(
        "fs_read_file",
        json!({"path": 7}),
        "`path` must be a text, not 7",
    );
    check(
        "fs_read_file",
        json!({"path": ["a"]}),
        "`path` must be a text, not a list",
    );
    check(
        "fs_read_file",
        json!({"path": ""}),
        "`path` is empty: give a path relative to the workspace (`.` is the workspace itself)",
    );
    for wrong in [json!("2"), json!(-1), json!(1.5), json!(true), json!({})] {
        let outcome = Call::new("fs_read_file", json!({"path": "a", "start_line": wrong})).run();
        let start = "error: `start_line` must be a whole number from 0, not ";
        assert!(outcome.text.starts_with(start), "{}", outcome.text);
    }
    check(
        "fs_list_files",
        json!({"extensions": [1]}),
        "`extensions` must be a list of texts, not 1",
    );
    check(
        "fs_grep_files",
        json!({"pattern": {}}),
        "`pattern` must be a text, not an object",
    );
    check(
        "fs_create_file",
        json!({"path": "b", "content": 1}),
        "`content` must be a text, not 1",
    );
    check(
        "fs_modify_file",
        json!({"path": "a"}),
        "`patterns` is missing: give a list of objects",
    );
    check(
        "fs_modify_file",
        json!({"path": "a", "patterns": []}),
        "`patterns` is empty: there is nothing to change",
    );
    check(
        "fs_modify_file",
        json!({"path": "a", "patterns": ["x"]}),
        "`patterns` must be a list of objects, not the text `x`",
    );
    check(
        "fs_modify_file",
        json!({"path": "a", "patterns": [{"old": "x"}]}),
        "`new` is missing: give a text",
    );
    check(
        "fs_modify_file",
        json!({"path": "a", "patterns": [{"old": "x", "new": "y", "regex": "no"}]}),
        "`regex` must be `true` or `false`, not the text `no`",
    );
    check(
        "fs_move_file",
        json!({"from": "a"}),
        "`to` is missing: give a path",
    );
    check(
        "fs_delete_file",
        json!({}),
        "there is nothing to delete: give `path` or `paths`",
    );
}

#[test]
fn x11_what_leaves_the_workspace_is_refused_by_the_host() {
    for (tool, arguments) in [
        ("fs_read_file", json!({"path": "../a"})),
        ("fs_read_file", json!({"path": "/etc/passwd"})),
        ("fs_list_files", json!({"path": "b/../.."})),
        ("fs_create_file", json!({"path": "../a"})),
        (
            "fs_modify_file",
            json!({"path": "../a", "patterns": {"old": "a", "new": "b"}}),
        ),
        ("fs_delete_file", json!({"path": "../a"})),
        ("fs_move_file", json!({"from": "a", "to": "../a"})),
    ] {
        let outcome = Call::new(tool, arguments).file("a", "a").answer(true).run();
        let text = &outcome.text;
        assert!(
            text.contains("leads out of the workspace"),
            "{tool}: {text}"
        );
        assert_eq!(outcome.workspace.changes, 0);
    }
}
