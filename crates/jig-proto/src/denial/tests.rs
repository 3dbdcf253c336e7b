use serde_json::{Value, json};

use super::Denial;

fn full() -> Denial {
    Denial {
        rule: Some("read on `src` (jig.toml:4)".to_owned()),
        grants: vec!["read on `src`".to_owned(), "read on `docs`".to_owned()],
        hint: Some("[[tools.t.access.fs]]\npath = \"a\"\nread = true\n".to_owned()),
        advice: Some("or copy it into the workspace".to_owned()),
        count: 3,
        ..Denial::new("read", "a", "no rule grants it")
    }
}

#[test]
fn what_is_empty_is_absent_and_all_comes_back() {
    let check = |denial: Denial, expected: Value| {
        assert_eq!(serde_json::to_value(&denial).unwrap(), expected);
        assert_eq!(serde_json::from_value::<Denial>(expected).unwrap(), denial);
    };
    check(
        Denial::new("connect", "example.com:443", "no rule names the host"),
        json!({"operation": "connect", "target": "example.com:443", "why": "no rule names the host"}),
    );
    check(
        full(),
        json!({
            "operation": "read", "target": "a", "why": "no rule grants it",
            "rule": "read on `src` (jig.toml:4)", "grants": ["read on `src`", "read on `docs`"],
            "hint": "[[tools.t.access.fs]]\npath = \"a\"\nread = true\n",
            "advice": "or copy it into the workspace", "count": 3,
        }),
    );
    let guessed = Denial {
        guessed: true,
        ..Denial::new("read", "a", "no")
    };
    check(
        guessed,
        json!({"operation": "read", "target": "a", "why": "no", "guessed": true}),
    );
}

#[test]
fn a_malformed_denial_says_what_was_expected_and_where() {
    let check = |input: Value, expected: &str| {
        let error = serde_json::from_value::<Denial>(input).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    let expected = "`$`: expected an object with `operation`, `target` and `why`, found `true`";
    check(json!(true), expected);
    check(json!({}), "`operation` is missing: expected a string");
    check(
        json!({"operation": "read", "target": "a", "why": "w", "grants": [1]}),
        "`grants[0]`: expected a string, found the number 1",
    );
}

#[test]
fn the_text_has_the_rule_the_grants_and_the_way_out_on_lines_of_their_own() {
    let check = |denial: Denial, expected: &str| assert_eq!(denial.to_string(), expected);
    check(Denial::new("run", "make", "no"), "run on `make`: no");
    let guessed = Denial {
        guessed: true,
        ..Denial::new("read", "a", "no")
    };
    check(
        guessed,
        "read on `a`: no (a guess, from the program's own words)",
    );
    check(
        full(),
        "read on `a`: no rule grants it (3 times)
  rule: read on `src` (jig.toml:4)
  granted: read on `src`, read on `docs`
  or copy it into the workspace
  to allow it, add:
    [[tools.t.access.fs]]
    path = \"a\"
    read = true",
    );
}

#[test]
fn texts_are_cut_between_characters_and_a_rule_that_is_too_long_is_left_out() {
    let long = "ü".repeat(5000);
    let denial = Denial {
        rule: Some(long.clone()),
        grants: vec![long.clone(); 30],
        hint: Some(long.clone()),
        advice: Some(long.clone()),
        ..Denial::new(long.clone(), long.clone(), long)
    };
    let bounded = denial.bounded();
    let cut = format!("{}…", "ü".repeat(Denial::MAX_TEXT / 2));
    assert_eq!(
        [&bounded.operation, &bounded.target, &bounded.why],
        [&cut; 3]
    );
    assert_eq!(
        (&bounded.rule, &bounded.advice),
        (&Some(cut.clone()), &Some(cut.clone()))
    );
    assert_eq!(bounded.grants, vec![cut; Denial::MAX_GRANTS]);
    assert_eq!(bounded.hint, None);
    assert_eq!(full().bounded(), full());
}

#[test]
fn how_often_makes_no_other_denial() {
    let again = Denial { count: 9, ..full() };
    assert!(full().is_same(&again));
    let other = Denial {
        hint: None,
        ..full()
    };
    assert!(!full().is_same(&other));
}
