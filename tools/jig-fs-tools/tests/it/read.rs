use jig_proto::vfs::Method;
use serde_json::{Value, json};

use crate::doors::Call;

fn check(content: impl AsRef<[u8]>, arguments: Value, expected: &str) {
    let mut arguments = arguments;
    arguments["path"] = json!("a.txt");
    let shown = arguments.to_string();
    let outcome = Call::new("fs_read_file", arguments)
        .file("a.txt", content)
        .run();
    assert_eq!(outcome.text, expected, "{shown}");
}

const FIVE: &str = "one\ntwo\nthree\nfour\nfive\n";

#[test]
fn a_file_is_returned_as_it_is() {
    for content in [
        FIVE,
        "no end",
        "\n",
        "\n\n",
        "a\r\nb\r\n",
        "ü → 🦀\n",
        "\u{feff}bom",
    ] {
        check(content, json!({}), content);
    }
    check("", json!({}), "`a.txt` is empty.");
}

#[test]
fn lines_are_counted_from_one() {
    let range = |first: Value, last: Value| json!({"start_line": first, "end_line": last});
    check(FIVE, range(json!(1), json!(1)), "one\n");
    check(FIVE, range(json!(2), json!(3)), "two\nthree\n");
    check(FIVE, range(json!(4), json!(null)), "four\nfive\n");
    check(FIVE, range(json!(null), json!(2)), "one\ntwo\n");
    check(FIVE, range(json!(5), json!(5)), "five\n");
    check(FIVE, range(json!(5.0), json!(1e30)), "five\n");
    check(FIVE, range(json!(1), json!(u64::MAX)), FIVE);
    check("a\nb", range(json!(2), json!(9)), "b");
    check("a\r\nb\r\n", range(json!(2), json!(2)), "b\r\n");
}

#[test]
fn a_range_that_can_not_be_is_an_error() {
    let range = |first: u64, last: u64| json!({"start_line": first, "end_line": last});
    check(
        FIVE,
        range(0, 1),
        "error: lines are counted from 1, not from 0",
    );
    check(
        FIVE,
        range(1, 0),
        "error: lines are counted from 1, not from 0",
    );
    check(
        FIVE,
        range(3, 2),
        "error: `end_line` (2) is before `start_line` (3)",
    );
    check(
        FIVE,
        range(6, 7),
        "error: `a.txt` has 5 lines: there is no line 6",
    );
    check(
        FIVE,
        json!({"start_line": u64::MAX}),
        &format!("error: `a.txt` has 5 lines: there is no line {}", u64::MAX),
    );
    check(
        "a",
        range(2, 2),
        "error: `a.txt` has 1 line: there is no line 2",
    );
}

#[test]
fn numbers_stand_before_the_lines_if_asked_for() {
    check(
        FIVE,
        json!({"start_line": 2, "end_line": 3, "line_numbers": true}),
        "     2\ttwo\n     3\tthree\n",
    );
}

#[test]
fn a_binary_file_is_named_as_such() {
    let binary = "error: `a.txt` is a binary file (4 bytes), not UTF-8 text\nhint: this tool reads text only";
    check(b"\x89PN\xff", json!({}), binary);
    check(b"ab\0c", json!({}), binary);
    check("ab\0c", json!({"start_line": 1}), binary);
}

#[test]
fn a_large_file_is_bounded_and_can_be_read_on() {
    let line = format!("{}\n", "x".repeat(99));
    let content = line.repeat(3_000);
    let first = Call::new("fs_read_file", json!({"path": "a.txt"}))
        .file("a.txt", &content)
        .run();
    let shown = line.repeat(1_310);
    let note =
        "[Lines 1 to 1310 of `a.txt`; the file goes on. For more, read from `start_line` 1311.]";
    assert_eq!(first.text, format!("{shown}{note}"));
    check(&content, json!({"start_line": 2_999}), &line.repeat(2));
    check(
        &content,
        json!({"start_line": 1_500, "end_line": 1_501}),
        &line.repeat(2),
    );
}

#[test]
fn a_line_that_is_too_long_is_cut_at_a_character() {
    // Three bytes each, so that the cut falls inside of one.
    let content = "→".repeat(100_000);
    let shown = "→".repeat(128 * 1024 / 3);
    check(
        &content,
        json!({}),
        &format!("{shown}\n[Line 1 of `a.txt` is cut here: it is longer than 131072 bytes.]"),
    );
}

#[test]
fn a_character_across_two_pieces_is_whole() {
    let content = format!("{}→→\n", "x\n".repeat(128 * 1024 - 1));
    check(&content, json!({"start_line": 128 * 1024}), "→→\n");
}

#[test]
fn what_is_not_a_file_has_a_way_out() {
    let check = |path: &str, expected: &str| {
        let outcome = Call::new("fs_read_file", json!({"path": path}))
            .file("src/a.rs", "")
            .deny(Method::FsRead, "secret")
            .run();
        assert_eq!(outcome.text, expected);
    };
    check(
        "src",
        "error: `src` is a directory\nhint: give the path of a file; `fs_list_files` lists what is in it",
    );
    check(
        "b",
        "error: `b` does not exist\nhint: look for it with `fs_list_files`",
    );
    check(
        "secret/key",
        "error: access denied: `fs.read` on `secret/key`\nrule: jig.toml:7\nhint: add a rule",
    );
}
