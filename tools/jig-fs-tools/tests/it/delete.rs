use jig_proto::vfs::Method;
use serde_json::{Value, json};

use crate::doors::Call;

fn project(arguments: Value) -> Call {
    Call::new("fs_delete_file", arguments)
        .file("a", "")
        .file("b", "")
        .file("dir/x", "")
        .file("dir/y", "")
        .directory("empty")
}

fn check(call: Call, expected: &str, left: &[&str]) {
    let outcome = call.run();
    assert_eq!(outcome.text, expected);
    let files: Vec<&str> = outcome.workspace.files.keys().map(String::as_str).collect();
    assert_eq!(files, left);
}

const ALL: [&str; 4] = ["a", "b", "dir/x", "dir/y"];

#[test]
fn files_are_deleted() {
    check(project(json!({"path": "a"})), "Deleted `a`.", &ALL[1..]);
    check(
        project(json!({"paths": ["a", "b", "a"]})),
        "Deleted `a`, `b`.",
        &ALL[2..],
    );
    check(
        project(json!({"path": "b", "paths": ["a"]})),
        "Deleted `b`, `a`.",
        &ALL[2..],
    );
}

#[test]
fn a_slip_in_one_path_keeps_all_files() {
    check(
        project(json!({"paths": ["a", "nowhere"]})),
        "error: `nowhere` does not exist\nhint: look for it with `fs_list_files`",
        &ALL,
    );
    check(
        project(json!({"paths": ["a", ""]})),
        "error: a path in `paths` is empty",
        &ALL,
    );
}

#[test]
fn a_directory_goes_only_with_consent() {
    let both = || project(json!({"paths": ["dir", "empty"]}));
    check(both().answer(true), "Deleted `dir`, `empty`.", &["a", "b"]);
    check(
        both().answer(false),
        "error: nothing was deleted: the deletion of `dir`, `empty` was declined\nhint: delete single files in it instead",
        &ALL,
    );
    let outcome = project(json!({"path": "dir"})).answer(true).run();
    let asked: Vec<_> = outcome
        .workspace
        .asked
        .iter()
        .map(|one| (&*one.id, &*one.text))
        .collect();
    assert_eq!(
        asked,
        [(
            "delete_directory",
            "Delete the directory `dir` and all that is in it?"
        )]
    );
}

#[test]
fn the_workspace_stays() {
    for path in [".", "./", "./."] {
        check(
            project(json!({"path": path})),
            "error: the workspace itself can't be deleted",
            &ALL,
        );
    }
}

#[test]
fn g038_a_file_that_may_not_be_read_can_be_deleted() {
    check(
        project(json!({"path": "a"})).deny(Method::FsMetadata, "a"),
        "Deleted `a`.",
        &ALL[1..],
    );
}

#[test]
fn v131_a_denial_says_what_was_done_before_it() {
    check(
        project(json!({"paths": ["a", "b", "dir/x"]})).deny(Method::FsDelete, "b"),
        "error: access denied: `fs.delete` on `b`\nrule: jig.toml:7\nhint: add a rule\ndeleted before that: `a`\nnot tried any more: `dir/x`",
        &ALL[1..],
    );
}
