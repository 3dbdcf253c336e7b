#[path = "../../../../crates/jig-cli/tests/support/follow.rs"]
mod follow;

use std::time::Duration;

use self::follow::follow;
use super::{ReplaceBounds, ReplacePattern, ReplaceProblem, ReplacedText, apply};

const BOUNDS: ReplaceBounds = ReplaceBounds {
    bytes: 1_000_000,
    time: Duration::from_secs(60),
};

fn text(old: &str, new: &str) -> ReplacePattern {
    ReplacePattern {
        old: old.to_owned(),
        new: new.to_owned(),
        is_regex: false,
        all: false,
    }
}

fn regex(old: &str, new: &str) -> ReplacePattern {
    ReplacePattern {
        is_regex: true,
        ..text(old, new)
    }
}

fn all(pattern: ReplacePattern) -> ReplacePattern {
    ReplacePattern {
        all: true,
        ..pattern
    }
}

fn check(before: &str, pattern: ReplacePattern, expected: Result<&str, &str>) {
    let shown = format!("{pattern:?} on {before:?}");
    let found = apply(before, &[pattern], BOUNDS);
    let found = found.map(|done| done.text).map_err(|problem| problem.why);
    let expected = expected.map(str::to_owned).map_err(str::to_owned);
    assert_eq!(found, expected, "{shown}");
}

#[test]
fn text_is_replaced_exactly() {
    check("a b c", text("b", "B"), Ok("a B c"));
    check("a.c", text(".", "$1"), Ok("a$1c"));
    check("x", text("x", ""), Ok(""));
    check("ünï🦀", text("ï🦀", "→"), Ok("ün→"));
    check("a\nb\n", text("a\nb", "c"), Ok("c\n"));
    check("no end", text("end", "END"), Ok("no END"));
    check("aXbXc", all(text("X", "-")), Ok("a-b-c"));
    // What was put in is not searched again.
    check("aa", all(text("a", "aa")), Ok("aaaa"));
}

#[test]
fn text_must_be_there_once() {
    check("a", text("b", "c"), Err("does not occur in the file: `b`"));
    check("a", text("", "c"), Err("has an empty `old`"));
    check(
        "a\nb\na",
        text("a", "c"),
        Err("matches 2 times (lines 1, 3)"),
    );
    check(
        &"a\n".repeat(9),
        text("a", "c"),
        Err("matches 9 times (lines 1, 2, 3, 4, 5, …)"),
    );
    check(
        "fn a() {\n\treturn;\n}\n",
        text("  return;\n}", ""),
        Err(
            "does not occur in the file: `  return;\\n}`; line 2 begins like it, but white space or what follows is different",
        ),
    );
}

#[test]
fn lines_of_windows_match_and_stay_so() {
    check("a\r\nb\r\nc", text("a\nb", "x\ny"), Ok("x\r\ny\r\nc"));
    check("a\r\nb\r\n", text("a\r\nb", "x"), Ok("x\r\n"));
    check(
        "a\r\nb\r\n",
        regex("(?m)^(.)$\n^b$", "$1!\n"),
        Ok("a!\r\n\r\n"),
    );
    // Where ends are mixed, nothing is guessed.
    check(
        "a\r\nb\n",
        text("a\nb", "x"),
        Err(
            "does not occur in the file: `a\\nb`; line 1 begins like it, but white space or what follows is different",
        ),
    );
    check("a\r\nb\n", text("b", "x"), Ok("a\r\nx\n"));
}

#[test]
fn groups_come_back() {
    check(
        "let x = 1;",
        regex(r"let (\w+)", "let mut $1"),
        Ok("let mut x = 1;"),
    );
    check("ab", regex("(?<first>a)b", "${first}1 $$"), Ok("a1 $"));
    check("a1b2", all(regex(r"\d", "<$0>")), Ok("a<1>b<2>"));
    check("price", regex("price", "5 $"), Ok("5 $"));
    check(
        "a1b2",
        regex(r"\d", ""),
        Err("matches 2 times (lines 1, 1)"),
    );
    // The regex crate would put nothing there.
    let no_group = |name: &str| format!("has no group `{name}`, which its `new` refers to");
    check("a", regex("a", "$1"), Err(&no_group("1")));
    check("a", regex("(a)", "$1b"), Err(&no_group("1b")));
    check("a", regex("(a)", "${2}"), Err(&no_group("2")));
}

#[test]
fn an_expression_must_match_something() {
    check("a", regex("b", ""), Err("matches nothing: `b`"));
    check("abc", regex("x*", "-"), Err("matches empty text (line 1)"));
    check("abc", regex("", "-"), Err("matches empty text (line 1)"));
    check(
        "a\nb",
        regex("(?m)$", "-"),
        Err("matches empty text (line 1)"),
    );
}

#[test]
fn an_expression_that_can_not_be_used_is_explained() {
    for bad in ["(", "[a", r"\k", "a{2,1}", "(?=a)"] {
        let problem = apply("a", &[regex(bad, "")], BOUNDS).unwrap_err();
        assert!(
            problem
                .why
                .starts_with("is not a regular expression that can be used"),
            "{problem:?}"
        );
    }
    // It would take gigabytes.
    let problem = apply("a", &[regex("(((a{100}){100}){100}){100}", "")], BOUNDS).unwrap_err();
    assert!(problem.why.contains("size limit"), "{problem:?}");
}

#[test]
fn an_expression_that_is_catastrophic_elsewhere_takes_no_time_here() {
    let before = format!("{}!", "a".repeat(30_000));
    check(
        &before,
        regex("(a+)+$", "x"),
        Err("matches nothing: `(a+)+$`"),
    );
    check(
        &before,
        regex("(a|aa)*(a|aa)*c", "x"),
        Err("matches nothing: `(a|aa)*(a|aa)*c`"),
    );
}

#[test]
fn an_expression_that_searches_everything_for_each_match_is_given_up() {
    // Each match looks for a `b` to the very end.
    let before = "a".repeat(BOUNDS.bytes);
    let bounds = ReplaceBounds {
        time: Duration::from_millis(50),
        ..BOUNDS
    };
    let found = apply(&before, &[all(regex("a.*b|a", "x"))], bounds);
    let problem = found.unwrap_err();
    assert_eq!(problem.why, "takes too long to match");
    apply(&before, &[all(text("a", "x"))], BOUNDS).unwrap();
    follow(
        "use a simpler expression, or plain text",
        &problem.hint.to_string(),
        "",
    );
}

#[test]
fn what_grows_without_bound_is_given_up() {
    let double = all(text("a", "aa"));
    let found = apply("a", &vec![double; 64], BOUNDS);
    assert_eq!(
        found,
        Err(ReplaceProblem {
            pattern: 20,
            why: format!("makes the file larger than {} bytes", BOUNDS.bytes),
            hint: jig_tool::hint!("replace less at once"),
        })
    );
}

#[test]
fn each_pattern_sees_what_those_before_it_made() {
    let found = apply(
        "a",
        &[text("a", "b"), text("b", "cc"), all(text("c", "d"))],
        BOUNDS,
    );
    let expected = ReplacedText {
        text: "dd".to_owned(),
        count: 4,
    };
    assert_eq!(found, Ok(expected));
}
