use jig_proto::vfs::Method;
use serde_json::{Value, json};

use crate::doors::Call;

fn project(arguments: Value) -> Call {
    let mut call = Call::new("fs_list_files", arguments);
    for path in [
        "Cargo.toml",
        "a/b",
        "a-b",
        "a.rs",
        "src/main.rs",
        "src/deep/down/x.rs",
        "src/notes.md",
        ".git/config",
        ".github/ci.yml",
        ".rs",
        "sub/.git/HEAD",
    ] {
        call = call.file(path, "");
    }
    call.directory("empty")
}

fn check(arguments: Value, expected: &[&str]) {
    let outcome = project(arguments).run();
    assert_eq!(outcome.text, expected.join("\n"));
}

#[test]
fn files_are_listed_in_the_order_of_their_paths_without_git() {
    let all = [
        ".github/ci.yml",
        ".rs",
        "Cargo.toml",
        "a-b",
        "a.rs",
        "a/b",
        "src/deep/down/x.rs",
        "src/main.rs",
        "src/notes.md",
    ];
    let mut sorted = all;
    sorted.sort_unstable();
    assert_eq!(all, sorted);
    check(json!({}), &all);
    check(json!({"path": "."}), &all);
    check(json!({"path": "./"}), &all);
}

#[test]
fn a_directory_is_listed_with_its_own_path() {
    let expected = ["src/deep/down/x.rs", "src/main.rs", "src/notes.md"];
    check(json!({"path": "src"}), &expected);
    check(json!({"path": "src/"}), &expected);
}

#[test]
fn extensions_may_have_a_dot() {
    let expected = ["a.rs", "src/deep/down/x.rs", "src/main.rs"];
    check(json!({"extensions": ["rs"]}), &expected);
    check(json!({"extensions": [".rs"]}), &expected);
    check(json!({"extensions": "rs"}), &expected);
    check(
        json!({"extensions": ["md", "toml"]}),
        &["Cargo.toml", "src/notes.md"],
    );
    check(
        json!({"extensions": ["py"]}),
        &["There are no files with the extension `py` below `.`."],
    );
    check(
        json!({"path": "empty"}),
        &["There are no files below `empty`."],
    );
}

#[test]
fn the_limit_is_marked() {
    let note = "[Only the first 2 files; there are more. List a directory below, give `extensions`, or a larger `limit` (up to 10000).]";
    check(json!({"limit": 2}), &[".github/ci.yml", ".rs", note]);
    check(json!({"limit": 0}), &["error: `limit` must be at least 1"]);
    // Exactly as many as there are.
    check(
        json!({"path": "src", "limit": 3}),
        &["src/deep/down/x.rs", "src/main.rs", "src/notes.md"],
    );
    let mut many = Call::new("fs_list_files", json!({"limit": u64::MAX}));
    for index in 0..10_001 {
        many = many.file(&format!("{index:05}"), "");
    }
    let text = many.in_process(crate::doors::FULL).text;
    assert_eq!(
        text.lines().filter(|line| !line.starts_with('[')).count(),
        10_000
    );
    assert!(text.contains("Only the first 10000 files"));
}

#[test]
fn x52_what_is_denied_is_left_out_and_counted() {
    let outcome = project(json!({"extensions": ["rs"]}))
        .deny(Method::FsListDir, "src/deep")
        .run();
    assert_eq!(
        outcome.text,
        "a.rs\nsrc/main.rs\n[1 directory was left out: access is denied, or they are too deep.]"
    );
    let outcome = project(json!({"path": "src"}))
        .deny(Method::FsListDir, "src")
        .run();
    assert!(
        outcome.text.starts_with("error: access denied"),
        "{}",
        outcome.text
    );
}

#[test]
fn what_is_not_a_directory_has_a_way_out() {
    check(
        json!({"path": "a.rs"}),
        &[
            "error: `a.rs` is a file",
            "hint: read it with `fs_read_file`",
        ],
    );
    check(
        json!({"path": "nowhere"}),
        &[
            "error: `nowhere` does not exist",
            "hint: look for it with `fs_list_files`",
        ],
    );
}

#[test]
fn a_tree_without_end_ends() {
    let deep = format!("{}x", "d/".repeat(60));
    let outcome = Call::new("fs_list_files", json!({}))
        .file(&deep, "")
        .file("y", "")
        .run();
    assert_eq!(
        outcome.text,
        "y\n[1 directory was left out: access is denied, or they are too deep.]"
    );
}

#[test]
fn a_name_with_a_line_end_stays_on_its_line() {
    let outcome = Call::new("fs_list_files", json!({}))
        .file("a\nb", "")
        .file("ü", "")
        .run();
    assert_eq!(outcome.text, "a\\nb\nü");
}
