use serde_json::json;

use super::*;

fn keys(names: &[&str]) -> Input {
    Input::Keys(names.iter().map(|name| name.parse().unwrap()).collect())
}

fn text(text: &str) -> Input {
    Input::Text(text.to_owned())
}

fn line(text: &str) -> Input {
    Input::Line(text.to_owned())
}

#[test]
fn input_has_these_forms() {
    let check = |value: Value, expected: &[Input]| {
        assert_eq!(Input::read(&value).as_deref(), Ok(expected), "{value}");
    };
    check(json!("y\n"), &[text("y\n")]);
    check(json!(""), &[text("")]);
    check(json!(42), &[text("42")]);
    check(json!(1.5), &[text("1.5")]);
    check(json!(true), &[text("true")]);
    check(json!({"line": "ls -l"}), &[line("ls -l")]);
    check(json!({"line": 3}), &[line("3")]);
    check(json!({"text": "abc"}), &[text("abc")]);
    check(json!({"key": "enter"}), &[keys(&["enter"])]);
    check(
        json!({"keys": ["ctrl-c", "up"]}),
        &[keys(&["ctrl-c", "up"])],
    );
    check(json!({"keys": [1, "q"]}), &[keys(&["1", "q"])]);
    check(json!({"keys": "f5"}), &[keys(&["f5"])]);
    check(json!({"keys": []}), &[keys(&[])]);
    check(
        json!({"resize": {"rows": 40, "cols": 120}}),
        &[Input::Resize(Size::new(40, 120))],
    );
    check(json!({"end": true}), &[Input::End]);
    check(json!([]), &[]);
    check(
        json!([{"line": "a"}, "b", {"key": "esc"}, {"end": true}]),
        &[line("a"), text("b"), keys(&["esc"]), Input::End],
    );
}

#[test]
fn other_forms_are_refused_with_the_forms_there_are() {
    let check = |value: Value, expected: &str| {
        let error = Input::read(&value)
            .expect_err(&value.to_string())
            .to_string();
        assert!(error.contains(expected), "{value}: {error}");
    };
    check(
        json!(null),
        "`null` is no input; it is a string, `{\"line\": \"…\"}`",
    );
    check(json!([["a"]]), "a list inside a list is no input");
    check(json!({}), "an object with 0 members");
    check(
        json!({"line": "a", "end": true}),
        "an object with 2 members",
    );
    check(json!({"input": "a"}), "`input` is no input; it is a string");
    check(json!({"line": null}), "`line` without a text");
    check(json!({"text": ["a"]}), "`text` without a text");
    check(json!({"key": 5}), "`key` without the names of keys");
    check(json!({"keys": [null]}), "`keys` without the names of keys");
    check(json!({"key": "entr"}), "did you mean `enter`?");
    check(json!({"end": false}), "`end` that is not `true`");
    check(
        json!({"resize": "40x120"}),
        "`resize` needs `rows` from 1 to 500",
    );
    check(json!({"resize": {"rows": 0, "cols": 80}}), "`resize` needs");
    check(
        json!({"resize": {"rows": 24, "cols": 100_000}}),
        "`resize` needs",
    );
    check(json!({"resize": {"rows": 24}}), "`resize` needs");
    check(json!([{"line": "a"}, null]), "`null` is no input");
    check(json!({"\u{1b}[2J": 1}), "\\u{1b}");
}
