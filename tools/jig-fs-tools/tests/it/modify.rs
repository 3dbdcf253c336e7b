use jig_proto::Prompt;
use jig_proto::vfs::Method;
use serde_json::{Value, json};

use crate::doors::{Call, Outcome};

fn modify(patterns: Value) -> Call {
    Call::new("fs_modify_file", json!({"path": "a", "patterns": patterns}))
}

/// A call that does not ask.
fn quiet(patterns: Value) -> Call {
    modify(patterns).option("confirmation_mode", false)
}

fn content(outcome: &Outcome) -> &[u8] {
    &outcome.workspace.files["a"]
}

#[test]
fn a_change_is_shown_asked_about_and_made() {
    let outcome = modify(json!([{"old": "two", "new": "2"}]))
        .file("a", "one\ntwo\nthree\n")
        .answer(true)
        .run();
    let diff = "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
    assert_eq!(
        outcome.text,
        format!("Changed `a` (1 replacement).\n\n{diff}")
    );
    assert_eq!(content(&outcome), b"one\n2\nthree\n");
    let [question] = outcome.workspace.asked.as_slice() else {
        panic!("it must be asked once");
    };
    assert_eq!(question.id, "apply_changes");
    assert_eq!(
        question.text,
        "Apply these changes to `a` (1 line added, 1 removed)?"
    );
    assert_eq!(question.prompt(), Prompt::YesNo);
    assert_eq!(question.context.as_deref(), Some(diff));
}

#[test]
fn a_change_that_is_declined_is_not_made() {
    let outcome = modify(json!([{"old": "a", "new": "b"}]))
        .file("a", "a")
        .answer(false)
        .run();
    assert_eq!(
        outcome.text,
        "error: `a` was not changed: the changes were declined\nhint: ask what should be different"
    );
    assert_eq!(outcome.workspace.changes, 0);
}

#[test]
fn only_the_option_switches_the_question_off() {
    let check = |option: Value, is_asked: bool| {
        let outcome = modify(json!([{"old": "a", "new": "b"}]))
            .file("a", "a")
            .option("confirmation_mode", option)
            .answer(true)
            .run();
        assert_eq!(outcome.workspace.asked.len(), usize::from(is_asked));
        assert_eq!(content(&outcome), b"b");
    };
    check(json!(false), false);
    check(json!(true), true);
    check(json!("false"), true);
    check(json!(0), true);
    check(json!(null), true);
}

#[test]
fn a_change_by_someone_else_is_not_lost() {
    let outcome = modify(json!([{"old": "old", "new": "new"}]))
        .file("a", "old")
        .answer(true)
        .meanwhile("a", "old, and theirs")
        .run();
    assert_eq!(
        outcome.text,
        "error: `a` was changed by someone else in the meantime\nhint: read it again, and repeat the change if it still fits"
    );
    assert_eq!(content(&outcome), b"old, and theirs");
}

#[test]
fn all_patterns_apply_or_none() {
    let outcome = quiet(json!([{"old": "a", "new": "b"}, {"old": "c", "new": "d"}]))
        .file("a", "a\n")
        .run();
    assert_eq!(
        outcome.text,
        "error: `a` was not changed: pattern 2 does not occur in the file: `c`\nhint: give the text exactly as it is in the file"
    );
    assert_eq!(outcome.workspace.changes, 0);
    let outcome = quiet(json!([{"old": "a", "new": "b"}, {"old": "b", "new": "c"}]))
        .file("a", "a\n")
        .run();
    assert_eq!(content(&outcome), b"c\n");
}

#[test]
fn a_change_of_nothing_is_an_error() {
    let outcome = quiet(json!([{"old": "a", "new": "a"}]))
        .file("a", "a")
        .run();
    assert_eq!(
        outcome.text,
        "error: `a` was not changed: the patterns put back what they replace"
    );
}

#[test]
fn a_diff_shows_lines_without_end_and_hides_those_of_windows() {
    let diff_of = |before: &str| {
        let outcome = quiet(json!([{"old": "x", "new": "y"}]))
            .file("a", before)
            .run();
        let (_, diff) = outcome.text.split_once("@@\n").unwrap();
        (
            diff.to_owned(),
            String::from_utf8(content(&outcome).to_vec()).unwrap(),
        )
    };
    assert_eq!(
        diff_of("x"),
        (
            "-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n".to_owned(),
            "y".to_owned()
        )
    );
    assert_eq!(
        diff_of("a\r\nx\r\n"),
        (" a\n-x\n+y\n".to_owned(), "a\r\ny\r\n".to_owned())
    );
}

#[test]
fn a_huge_diff_is_bounded() {
    let outcome = quiet(json!([{"old": "x", "new": "y", "all": true}]))
        .file("a", "x\n".repeat(5_000))
        .run();
    assert_eq!(content(&outcome), "y\n".repeat(5_000).as_bytes());
    assert!(outcome.text.starts_with("Changed `a` (5000 replacements)."));
    assert!(outcome.text.len() < 40 * 1024);
    assert!(outcome.text.ends_with("more lines of the diff)\n"));
}

#[test]
fn what_is_not_a_text_file_has_a_way_out() {
    let check = |path: &str, expected: &str| {
        let arguments = json!({"path": path, "patterns": [{"old": "x", "new": "y"}]});
        let outcome = Call::new("fs_modify_file", arguments)
            .file("dir/a", "x")
            .file("b", b"\xff")
            .run();
        assert_eq!(outcome.text, format!("error: {expected}"));
    };
    check(
        "b",
        "`b` is a binary file (1 byte)\nhint: this tool changes text only",
    );
    check(
        "dir",
        "`dir` is a directory\nhint: give the path of a file; `fs_list_files` lists what is in it",
    );
    check(
        "c",
        "`c` does not exist\nhint: look for it with `fs_list_files`",
    );
}

#[test]
fn g038_text_can_be_replaced_in_a_file_that_may_not_be_read() {
    let unreadable = |patterns: Value| {
        modify(patterns)
            .file("a", "key = 1\n")
            .deny(Method::FsRead, "a")
            .answer(true)
            .run()
    };
    let outcome = unreadable(json!([{"old": "1", "new": "2"}]));
    assert_eq!(outcome.text, "Changed `a`.");
    assert_eq!(content(&outcome), b"key = 2\n");
    assert_eq!(outcome.workspace.asked.len(), 1);
    // An expression needs the text.
    let outcome = unreadable(json!([{"old": "\\d", "new": "2", "regex": true}]));
    assert_eq!(
        outcome.text,
        "error: access denied: `fs.read` on `a`\nrule: jig.toml:7\nhint: add a rule"
    );
    assert_eq!(outcome.workspace.changes, 0);
}

#[test]
fn v131_a_denial_is_explained() {
    let outcome = quiet(json!([{"old": "a", "new": "b"}]))
        .file("a", "a")
        .deny(Method::FsWrite, "a")
        .run();
    assert_eq!(
        outcome.text,
        "error: access denied: `fs.write` on `a`\nrule: jig.toml:7\nhint: add a rule"
    );
}
