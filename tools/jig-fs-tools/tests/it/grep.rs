use jig_proto::vfs::Method;
use serde_json::{Value, json};

use crate::doors::Call;

fn project(arguments: Value) -> Call {
    Call::new("fs_grep_files", arguments)
        .file("src/a.rs", "fn a() {}\n\nfn b() {\n    a();\n}\nlast\n")
        .file("src/b.rs", "// nothing\n")
        .file("notes.md", "call a() twice\r\n")
}

fn check(arguments: Value, expected: &str) {
    assert_eq!(project(arguments).run().text, expected);
}

#[test]
fn matches_are_grouped_by_file() {
    check(
        json!({"pattern": "a\\(\\)"}),
        "notes.md:1: call a() twice\n\nsrc/a.rs:1: fn a() {}\nsrc/a.rs:4:     a();",
    );
    check(json!({"pattern": "nowhere"}), "No line matches `nowhere`.");
}

#[test]
fn paths_and_extensions_narrow_the_search() {
    let only_notes = "notes.md:1: call a() twice";
    check(
        json!({"pattern": "a\\(", "extensions": [".md"]}),
        only_notes,
    );
    check(
        json!({"pattern": "a\\(", "paths": ["notes.md"]}),
        only_notes,
    );
    check(json!({"pattern": "twice", "paths": []}), only_notes);
    check(
        json!({"pattern": "^fn", "paths": ["src", "notes.md"]}),
        "src/a.rs:1: fn a() {}\nsrc/a.rs:3: fn b() {",
    );
}

#[test]
fn context_is_marked_and_gaps_are_too() {
    check(
        json!({"pattern": "fn a|last", "context": 1}),
        "src/a.rs:1: fn a() {}\nsrc/a.rs-2- \n--\nsrc/a.rs-5- }\nsrc/a.rs:6: last",
    );
    let all = project(json!({"pattern": "fn b", "context": u64::MAX})).run();
    assert_eq!(all.text.lines().count(), 6);
}

#[test]
fn a_pattern_that_can_not_be_used_is_an_error() {
    check(
        json!({"pattern": ""}),
        "error: `pattern` is empty, which matches every line\nhint: to list files, use `fs_list_files`",
    );
    let outcome = project(json!({"pattern": "("})).run();
    let start = "error: invalid parameters of `fs.grep`";
    assert!(outcome.text.starts_with(start), "{}", outcome.text);
    check(
        json!({"pattern": "a", "paths": [""]}),
        "error: a path in `paths` is empty\nhint: the workspace itself is `.`",
    );
}

#[test]
fn output_is_bounded() {
    let outcome = Call::new("fs_grep_files", json!({"pattern": "."}))
        .file("a", "x\n".repeat(10_000))
        .file("b", "y\n")
        .run();
    assert!(outcome.text.len() < 70 * 1024);
    assert!(outcome.text.ends_with("[There are more matches. Narrow the search by `paths`, `extensions` or a longer `pattern`.]"));
    assert!(!outcome.text.contains("b:1"));
    let outcome = Call::new("fs_grep_files", json!({"pattern": "."}))
        .file("a", "→".repeat(1_000))
        .run();
    assert_eq!(outcome.text, format!("a:1: {}…", "→".repeat(166)));
}

#[test]
fn x52_what_was_not_searched_is_counted() {
    let outcome = project(json!({"pattern": "twice"}))
        .deny(Method::FsGrep, "src")
        .run();
    assert_eq!(
        outcome.text,
        "notes.md:1: call a() twice\n[2 places not searched: access is denied.]"
    );
}
