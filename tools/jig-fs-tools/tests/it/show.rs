//! J-010: a call that is only shown changes nothing.

use serde_json::{Value, json};

use crate::doors::Call;

fn check(tool: &str, arguments: Value, expected: &str) {
    let outcome = Call::new(tool, arguments)
        .file("a", "old\n")
        .only_shows()
        .run();
    assert_eq!(outcome.text, expected);
    assert_eq!(outcome.workspace.changes, 0);
    assert!(outcome.workspace.asked.is_empty());
}

#[test]
fn j010_a_call_is_shown_and_nothing_is_done() {
    check("fs_read_file", json!({"path": "a"}), "Read `a`.");
    check(
        "fs_read_file",
        json!({"path": "a", "start_line": 2, "end_line": 3}),
        "Read lines 2 to 3 of `a`.",
    );
    check("fs_list_files", json!({}), "List the files below `.`.");
    check("fs_grep_files", json!({"pattern": "x"}), "Search for `x`.");
    check(
        "fs_grep_files",
        json!({"pattern": "x", "paths": ["a", "b"]}),
        "Search for `x` in `a`, `b`.",
    );
    check(
        "fs_create_file",
        json!({"path": "b", "content": "hi\n"}),
        "Create `b` (3 bytes).\n\n--- a/b\n+++ b/b\n@@ -0,0 +1 @@\n+hi\n",
    );
    check(
        "fs_modify_file",
        json!({"path": "a", "patterns": [{"old": "old", "new": "new"}]}),
        "Change `a`.\n\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-old\n+new\n",
    );
    check("fs_delete_file", json!({"path": "a"}), "Delete `a`.");
    check(
        "fs_move_file",
        json!({"from": "a", "to": "b"}),
        "Move `a` to `b`.",
    );
}

#[test]
fn text_of_a_model_stays_on_its_line() {
    check(
        "fs_delete_file",
        json!({"path": "a\u{1b}[31m\nDelete `b"}),
        "Delete `a\\u{1b}[31m\\nDelete `b`.",
    );
}
