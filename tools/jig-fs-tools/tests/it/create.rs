use jig_proto::Prompt;
use jig_proto::vfs::Method;
use serde_json::{Value, json};

use crate::doors::{Call, Outcome};

fn create(path: &str, content: &str) -> Call {
    Call::new("fs_create_file", json!({"path": path, "content": content}))
}

fn content<'o>(outcome: &'o Outcome, path: &str) -> &'o str {
    let bytes = outcome
        .workspace
        .files
        .get(path)
        .expect("the file is there");
    str::from_utf8(bytes).unwrap()
}

#[test]
fn a_new_file_has_the_content_as_it_is() {
    for text in [
        "hello\n",
        "",
        "no end",
        "a\r\nb\r\n",
        "ü 🦀\0",
        &"x".repeat(200_000),
    ] {
        let outcome = create("dir/a.txt", text).run();
        assert_eq!(content(&outcome, "dir/a.txt"), text);
        let plural = if text.len() == 1 { "" } else { "s" };
        let size = format!("{} byte{plural}", text.len());
        assert_eq!(outcome.text, format!("Created `dir/a.txt` ({size})."));
        assert!(outcome.workspace.asked.is_empty());
    }
    let outcome = Call::new("fs_create_file", json!({"path": "a"})).run();
    assert_eq!(content(&outcome, "a"), "");
}

#[test]
fn s073_a_file_that_exists_is_overwritten_only_with_consent() {
    let check = |answer: Value, expected: &str, left: &str| {
        let outcome = create("a", "new\n").file("a", "old\n").answer(answer).run();
        assert_eq!(outcome.text, expected);
        assert_eq!(content(&outcome, "a"), left);
        let [question] = outcome.workspace.asked.as_slice() else {
            panic!("it must be asked once");
        };
        assert_eq!(question.id, "overwrite");
        assert_eq!(question.text, "`a` exists. Overwrite it?");
        assert_eq!(question.prompt(), Prompt::YesNo);
        assert_eq!(question.default, Some(json!(false)));
        let diff = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-old\n+new\n";
        assert_eq!(question.context.as_deref(), Some(diff));
    };
    check(json!(true), "Overwrote `a` (4 bytes).", "new\n");
    check(
        json!(false),
        "error: `a` exists and was not overwritten\nhint: choose another path, or change the file with `fs_modify_file`",
        "old\n",
    );
    check(
        json!("whatever"),
        "error: the answer to `overwrite` must be `true` or `false`, not \"whatever\"",
        "old\n",
    );
}

#[test]
fn an_answer_that_is_known_is_not_asked_for() {
    let outcome = create("a", "new")
        .file("a", "old")
        .known_answer("overwrite", true)
        .run();
    assert_eq!(content(&outcome, "a"), "new");
    assert!(outcome.workspace.asked.is_empty());
}

#[test]
fn the_same_content_is_not_written_again() {
    let outcome = create("a", "same").file("a", "same").run();
    assert_eq!(
        outcome.text,
        "`a` has this content already; nothing was written."
    );
    assert_eq!(outcome.workspace.changes, 0);
}

#[test]
fn what_was_agreed_upon_is_the_version_that_was_there() {
    let outcome = create("a", "new")
        .file("a", "old")
        .answer(true)
        .meanwhile("a", "theirs")
        .run();
    assert_eq!(
        outcome.text,
        "error: `a` was changed by someone else in the meantime\nhint: read it again, and repeat the change if it still fits"
    );
    assert_eq!(content(&outcome, "a"), "theirs");
}

#[test]
fn g038_a_file_that_may_not_be_read_can_be_replaced() {
    let outcome = create("a", "new")
        .file("a", "old")
        .deny(Method::FsRead, "a")
        .answer(true)
        .run();
    assert_eq!(outcome.text, "Overwrote `a` (3 bytes).");
    assert_eq!(outcome.workspace.asked[0].context, None);
}

#[test]
fn a_directory_is_not_overwritten() {
    let outcome = create("src", "x").file("src/a", "").run();
    assert_eq!(
        outcome.text,
        "error: `src` is a directory\nhint: give the path of a file; `fs_list_files` lists what is in it"
    );
}

#[test]
fn v131_a_denial_is_explained() {
    let outcome = create("a", "x").deny(Method::FsWrite, "a").run();
    assert_eq!(
        outcome.text,
        "error: access denied: `fs.write` on `a`\nrule: jig.toml:7\nhint: add a rule"
    );
}
