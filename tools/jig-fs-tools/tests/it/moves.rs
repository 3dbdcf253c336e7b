use jig_proto::vfs::Method;
use serde_json::json;

use crate::doors::Call;

fn moving(from: &str, to: &str) -> Call {
    Call::new("fs_move_file", json!({"from": from, "to": to}))
        .file("a", "A")
        .file("b", "B")
        .file("dir/x", "X")
}

fn check(call: Call, expected: &str, left: &[(&str, &str)]) {
    let outcome = call.run();
    assert_eq!(outcome.text, expected);
    let files = outcome.workspace.files.iter();
    let files: Vec<(&str, &str)> = files
        .map(|(path, bytes)| (path.as_str(), str::from_utf8(bytes).unwrap()))
        .collect();
    assert_eq!(files, left);
}

const ALL: [(&str, &str); 3] = [("a", "A"), ("b", "B"), ("dir/x", "X")];

#[test]
fn a_file_gets_another_path() {
    check(
        moving("a", "new/c"),
        "Moved `a` to `new/c`.",
        &[("b", "B"), ("dir/x", "X"), ("new/c", "A")],
    );
}

#[test]
fn s073_a_file_is_overwritten_only_with_consent() {
    check(
        moving("a", "b").answer(true),
        "Moved `a` to `b`.",
        &[("b", "A"), ("dir/x", "X")],
    );
    check(
        moving("a", "b").answer(false),
        "error: `a` was not moved: `b` exists and was not to be overwritten\nhint: choose another path",
        &ALL,
    );
    let outcome = moving("a", "b").answer(true).run();
    assert_eq!(outcome.workspace.asked[0].id, "overwrite");
    assert_eq!(
        outcome.workspace.asked[0].text,
        "`b` exists. Overwrite it with `a`?"
    );
}

#[test]
fn what_can_not_be_moved_has_a_way_out() {
    check(
        moving("a", "dir"),
        "error: `dir` is a directory\nhint: give the whole new path, such as `dir/a`",
        &ALL,
    );
    check(
        moving("nowhere", "c"),
        "error: `nowhere` does not exist\nhint: look for it with `fs_list_files`",
        &ALL,
    );
    check(
        moving("a", "a"),
        "error: `from` and `to` are the same: `a`",
        &ALL,
    );
    check(
        moving("a", "dir/c").deny(Method::FsRename, "dir"),
        "error: access denied: `fs.rename` on `dir/c`\nrule: jig.toml:7\nhint: add a rule",
        &ALL,
    );
}
