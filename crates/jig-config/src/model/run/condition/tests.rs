use serde_json::{Value as Json, json};

use super::{ConditionMatch, RunCondition, RunTest, parse_pointer};

const YES: ConditionMatch = ConditionMatch::Yes;
const NO: ConditionMatch = ConditionMatch::No;
const UNCLEAR: ConditionMatch = ConditionMatch::Unclear;

fn matches(pointer: &str, test: RunTest, arguments: &Json) -> ConditionMatch {
    let steps = parse_pointer(pointer).expect("a pointer");
    let arguments = arguments.as_object().expect("an object");
    RunCondition::new(steps, test).matches(arguments, &|_| super::PathMeaning::AsWritten)
}

fn prefix(prefix: &str, argument: impl Into<Json>) -> ConditionMatch {
    let argument: Json = argument.into();
    let test = RunTest::Prefix(prefix.to_owned());
    matches("/path", test, &json!({ "path": argument }))
}

/// No spelling of a path gets into a directory, or out of it.
#[test]
fn prefixes_of_paths() {
    let check = |argument: &str, expected: ConditionMatch| {
        assert_eq!(prefix("src/", argument), expected, "{argument:?}");
        // However the prefix itself is spelled.
        assert_eq!(prefix("./src//", argument), expected, "{argument:?}");
    };
    check("src/main.rs", YES);
    check("src/a/b", YES);
    check("./src/a", YES);
    check("src//a", YES);
    check("src/./a", YES);
    check(".//src/a", YES);
    check("src/a/../b", YES);
    check("lib/main.rs", NO);
    check("", NO);
    // It looks as if it were inside, or as if it were not.
    check("src/../x", UNCLEAR);
    check("src//../x", UNCLEAR);
    check("src/./../x", UNCLEAR);
    check("src/a/../../x", UNCLEAR);
    check("src/../src2/a", UNCLEAR);
    check("docs/../src/a", UNCLEAR);
    check("x;rm/../src/a", UNCLEAR);
    check("srcx/a", NO);
    check("src2", NO);
    check("SRC/a", NO);
    check("a/src/b", NO);
    // What lies outside the workspace may be a way back into it.
    check("src/../../etc", UNCLEAR);
    check("../src/a", UNCLEAR);
    check("..", UNCLEAR);
    check("src/../..", UNCLEAR);
    check("/etc/passwd", UNCLEAR);
    check("//src/a", UNCLEAR);
    check("/src/a", UNCLEAR);
    check("/../src/a", UNCLEAR);
    check("src/\0/a", UNCLEAR);
    // What is done to a directory may be done to all in it.
    check("src", UNCLEAR);
    check("src/", UNCLEAR);
    check("src/.", UNCLEAR);
    check("./src", UNCLEAR);
    check(".", UNCLEAR);
    check("src/..", UNCLEAR);
    // Some programs take `\` for `/`.
    check("src\\a", UNCLEAR);
    check("src/a\\b", YES);
    check("src/..\\..\\etc", UNCLEAR);
    check("src/a\\..\\..\\x", UNCLEAR);
    check("src\\..", UNCLEAR);
    check("..\\src\\a", UNCLEAR);
    check("lib\\a", NO);
    // No character but `/` separates names, and none but `.` makes a name special.
    check("src\u{2215}..\u{2215}x", NO);
    check("src/\u{2024}\u{2024}/x", YES);
    check("src/\u{ff0e}\u{ff0e}/x", YES);
    check("\u{200b}src/a", NO);
    check("src/é", YES);
    check("src/ ..", YES);
    check("src/...", YES);
    check("src/.../../../x", UNCLEAR);
    check("~/src/a", NO);
    check("src/a\n../../x", YES);
}

#[test]
fn other_prefixes() {
    let check = |start: &str, argument: Json, expected: ConditionMatch| {
        assert_eq!(
            prefix(start, argument.clone()),
            expected,
            "{start:?} {argument}"
        );
    };
    // Without a slash at its end it is the beginning of a name.
    check("src", json!("src"), YES);
    check("src", json!("src/a"), YES);
    check("src", json!("src2/a"), YES);
    check("src/ma", json!("src/main.rs"), YES);
    check("src/ma", json!("src"), UNCLEAR);
    check("src/ma", json!("src/lib.rs"), NO);
    // The workspace itself: whatever does not leave it.
    check(".", json!("a/b"), YES);
    check("./", json!("."), YES);
    check("./", json!("../a"), UNCLEAR);
    check("./", json!("/a"), UNCLEAR);
    // A prefix outside the workspace is for paths outside it.
    check("/tmp/", json!("/tmp/a"), YES);
    check("/tmp/", json!("//tmp//a"), YES);
    check("/tmp/", json!("/tmp/../etc"), UNCLEAR);
    check("/tmp/", json!("/tmp/../../etc"), UNCLEAR);
    check("/tmp/", json!("tmp/a"), UNCLEAR);
    check("/", json!("/etc"), YES);
    // Texts that are no paths.
    check("git ", json!("git log"), YES);
    check("git ", json!("git"), NO);
    check("git ", json!("gitk"), NO);
    check("git log ", json!("git log -- a/b"), YES);
    check("git log ", json!("git log -- a/../b"), UNCLEAR);
    // Read as paths they would begin so; a shell runs something else.
    check("git ", json!("./git log"), UNCLEAR);
    check("git ", json!("rm -r x/../git log"), UNCLEAR);
    check("git ", json!("$(rm)/../git log"), UNCLEAR);
    check("bin/", json!("$(rm)/../bin/ls"), UNCLEAR);
    check("bin/", json!("./bin/ls"), YES);
    check("git log ", json!("git log /../../rm"), UNCLEAR);
    check("https://example.com/", json!("https://example.com/a"), YES);
    check(
        "https://example.com/",
        json!("https://example.com.evil/a"),
        NO,
    );
    check(
        "https://example.com/",
        json!("https://example.com/../evil/"),
        UNCLEAR,
    );
    check("é", json!("e\u{301}"), NO);
    // Only texts begin with something.
    check("1", json!(12), NO);
    check("n", json!(null), NO);
    check("{", json!({}), NO);
}

/// A list is meant if every item is; if some are, nobody can tell.
#[test]
fn prefixes_of_lists() {
    let check = |argument: Json, expected: ConditionMatch| {
        assert_eq!(prefix("src/", argument.clone()), expected, "{argument}");
    };
    check(json!(["src/a", "src/b"]), YES);
    check(json!(["src/a", "lib/b"]), UNCLEAR);
    check(json!(["lib/b", "src/a"]), UNCLEAR);
    check(json!(["src/a", "../x"]), UNCLEAR);
    check(json!(["lib/a", "lib/b"]), NO);
    check(json!(["src/a", 1]), UNCLEAR);
    check(json!([["src/a"]]), NO);
    check(json!([]), NO);
}

#[test]
fn values() {
    let check = |wanted: Json, argument: Json, expected: ConditionMatch| {
        let arguments = json!({ "path": argument });
        let equals = matches("/path", RunTest::Equals(wanted.clone()), &arguments);
        assert_eq!(equals, expected, "{wanted} {argument}");
        let one_of = RunTest::OneOf(vec![json!("another"), wanted.clone()]);
        let one_of = matches("/path", one_of, &arguments);
        assert_eq!(one_of, expected, "{wanted} {argument}");
    };
    check(json!("stage"), json!("stage"), YES);
    check(json!("stage"), json!("Stage"), NO);
    check(json!("stage"), json!("stage "), NO);
    check(json!(true), json!(true), YES);
    check(json!(true), json!("true"), NO);
    check(json!(null), json!(null), YES);
    // JSON has one kind of number.
    check(json!(1), json!(1), YES);
    check(json!(1), json!(1.0), YES);
    check(json!(0), json!(-0.0), YES);
    check(json!([1, { "a": 2 }]), json!([1.0, { "a": 2.0 }]), YES);
    check(json!(1), json!(2), NO);
    check(json!(9007199254740993_i64), json!(9007199254740992_i64), NO);
    check(json!(u64::MAX), json!(i64::MAX), NO);
    check(json!({ "a": 1 }), json!({ "a": 1, "b": 2 }), NO);
    // One file can be written in many ways.
    check(json!("Cargo.lock"), json!("./Cargo.lock"), UNCLEAR);
    check(json!("Cargo.lock"), json!("a/../Cargo.lock"), UNCLEAR);
    check(json!("a/b"), json!("a//b"), UNCLEAR);
    check(json!("a/b"), json!("a\\b"), UNCLEAR);
    check(json!("Cargo.lock"), json!("a/Cargo.lock"), NO);
    check(json!("a"), json!("/a"), NO);
    check(json!(""), json!(""), YES);
    check(json!(""), json!("."), NO);
}

#[test]
fn one_of_none_is_nothing() {
    let arguments = json!({ "path": "a" });
    assert_eq!(matches("/path", RunTest::OneOf(Vec::new()), &arguments), NO);
}

#[test]
fn arguments_are_found_by_pointers() {
    let arguments = json!({
        "path": "src/a",
        "edit": { "file": "src/b", "a/b": "src/c", "m~n": "src/d", "none": null },
        "paths": ["src/a", "src/b"],
        "0": "src/e",
    });
    let check = |pointer: &str, found: bool| {
        let there = |wanted| matches(pointer, RunTest::Present(wanted), &arguments);
        assert_eq!(there(true) == YES, found, "{pointer}");
        assert_eq!(there(false) == YES, !found, "{pointer}");
        let begins = matches(pointer, RunTest::Prefix("src/".to_owned()), &arguments);
        let is_text = found && !matches!(pointer, "/edit" | "/edit/none");
        assert_eq!(begins, if is_text { YES } else { NO }, "{pointer}");
    };
    check("/path", true);
    check("/edit", true);
    check("/edit/file", true);
    check("/edit/a~1b", true);
    check("/edit/m~0n", true);
    check("/edit/none", true);
    check("/paths", true);
    check("/paths/0", true);
    check("/paths/1", true);
    check("/0", true);
    check("/paths/2", false);
    check("/paths/01", false);
    check("/paths/-", false);
    check("/paths/+1", false);
    check("/paths/99999999999999999999999", false);
    check("/Path", false);
    check("/path/0", false);
    check("/edit/file/x", false);
    check("/other", false);
}

#[test]
fn pointers_that_are_none() {
    for text in ["", "path", "/", "/a//b", "/a/", "/a~b", "/a~2", "/~", "#/a"] {
        assert!(parse_pointer(text).is_err(), "{text:?}");
    }
    for text in ["/a", "/a/b", "/a~0b", "/a~1b", "/ ", "/ü/0"] {
        let steps = parse_pointer(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        let condition = RunCondition::new(steps, RunTest::Present(true));
        assert_eq!(condition.pointer(), text);
    }
}

#[test]
fn conditions_are_shown_without_control_characters() {
    let check = |pointer: &str, test: RunTest, expected: &str| {
        let steps = parse_pointer(pointer).expect("a pointer");
        assert_eq!(RunCondition::new(steps, test).to_string(), expected);
    };
    let text = |text: &str| RunTest::Prefix(text.to_owned());
    check("/path", text("src/"), "`path` begins with \"src/\"");
    check("/a/b", RunTest::Equals(json!(1)), "`a.b` is 1");
    check(
        "/a",
        RunTest::OneOf(vec![json!("x"), json!(null)]),
        "`a` is one of \"x\", null",
    );
    check("/a", RunTest::Present(true), "`a` is given");
    check("/a", RunTest::Present(false), "`a` is not given");
    check(
        "/a\u{1b}",
        text("\u{1b}[2J\u{202e}"),
        "`a\\u{1b}` begins with \"\\u001b[2J\\u{202e}\"",
    );
}
