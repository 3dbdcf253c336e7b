use jig_broker::Secrets;
use jig_proto::Question;
use serde_json::{Value, json};

use super::{ArgumentNames, clean, clean_question};

#[track_caller]
fn check(secret: &str, mut said: Value, shown: Value) {
    let secrets = Secrets::new();
    secrets.remember(secret);
    let _ = clean(&mut said, &secrets.scrubber().expect("a secret"));
    assert_eq!(said, shown);
}

#[test]
fn texts_and_names_lose_it_however_deep_they_lie() {
    check(
        "Sword-fish",
        json!({"a": [{"Sword-fish": ["my Sword-fish", 1, null, true]}], "b": "fish"}),
        json!({"a": [{"[REDACTED]": ["my [REDACTED]", 1, null, true]}], "b": "fish"}),
    );
}

#[test]
fn of_names_that_become_one_the_first_counts() {
    check(
        "Sword-fish",
        json!({"a": 0, "[REDACTED]": 1, "Sword-fish": 2}),
        json!({"a": 0, "[REDACTED]": 1}),
    );
}

#[test]
fn a_secret_that_is_an_ordinary_word_breaks_no_schema() {
    check(
        "string",
        json!({"type": "string", "description": "a string", "properties": {"a string": {"type": ["string", "null"]}}}),
        json!({"type": "string", "description": "a [REDACTED]", "properties": {"a string": {"type": ["string", "null"]}}}),
    );
}

/// The server knows its arguments by no other names.
#[test]
fn a_secret_that_is_no_key_is_no_reason_to_rename_an_argument() {
    for secret in ["table", "table_of_names", "tAble"] {
        let other = format!("{secret}Number7");
        check(
            secret,
            json!({
                "properties": {secret: {"description": secret}, other.clone(): {}, "required": {"default": secret}},
                "required": [secret, other],
                "dependentRequired": {secret: [other]},
            }),
            json!({
                "properties": {secret: {"description": "[REDACTED]"}, other.clone(): {}, "required": {"default": "[REDACTED]"}},
                "required": [secret, other],
                "dependentRequired": {secret: [other]},
            }),
        );
    }
    check(
        "Sword-fish",
        json!({"required": ["my_Sword-fish", "x"]}),
        json!({"required": ["my_[REDACTED]", "x"]}),
    );
}

#[test]
fn it_is_told_whether_an_argument_was_renamed() {
    let check = |mut said: Value, expected: ArgumentNames| {
        let secrets = Secrets::new();
        secrets.remember("Sword-fish");
        let names = clean(&mut said, &secrets.scrubber().expect("a secret"));
        assert_eq!(names, expected, "{said}");
    };
    check(
        json!({"properties": {"a": {}}, "$defs": {"Sword-fish": {}}}),
        ArgumentNames::Same,
    );
    check(json!({"description": "Sword-fish"}), ArgumentNames::Same);
    check(
        json!({"properties": {"Sword-fish": {}}}),
        ArgumentNames::Changed,
    );
    let deep = json!({"properties": {"a": {"items": [{"properties": {"x-Sword-fish": {}}}]}}});
    check(deep, ArgumentNames::Changed);
}

#[track_caller]
fn check_question(schema: Value, default: Option<Value>, is_same: bool, shown: Value) {
    let secrets = Secrets::new();
    secrets.remember("Sword-fish");
    let mut question = Question::new("Sword-fish", "Which Sword-fish?", schema);
    question.context = Some("the Sword-fish".to_owned());
    question.default = default;
    let scrubber = secrets.scrubber().expect("a secret");
    assert_eq!(
        clean_question(&mut question, &scrubber),
        is_same,
        "{question:?}"
    );
    assert_eq!(question.schema, shown);
    let shown = format!("{question:?}");
    assert!(!shown.contains("fish"), "{shown}");
}

#[test]
fn a_question_loses_it_and_stays_the_same_question_where_only_prose_had_it() {
    check_question(
        json!({"type": "string", "title": "a Sword-fish", "enum": ["a"], "enumNames": ["Sword-fish"]}),
        Some(json!("Sword-fish")),
        true,
        json!({"type": "string", "title": "a [REDACTED]", "enum": ["a"], "enumNames": ["[REDACTED]"]}),
    );
    // A default in place of which nothing can be shown is none; fields may be called anything.
    check_question(
        json!({"properties": {
            "a": {"default": "Sword-fish"},
            "default": {"description": "Sword-fish"},
            "title": {"default": 1},
        }}),
        None,
        true,
        json!({"properties": {
            "a": {},
            "default": {"description": "[REDACTED]"},
            "title": {"default": 1},
        }}),
    );
}

#[test]
fn a_question_whose_answers_hold_it_is_another_one_without_it() {
    check_question(
        json!({"enum": ["a", "Sword-fish"]}),
        None,
        false,
        json!({"enum": ["a", "[REDACTED]"]}),
    );
    check_question(
        json!({"properties": {"Sword-fish": {}, "b": {}}, "required": ["Sword-fish"]}),
        None,
        false,
        json!({"properties": {"[REDACTED]": {}, "b": {}}, "required": ["[REDACTED]"]}),
    );
    check_question(
        json!({"const": "my Sword-fish"}),
        None,
        false,
        json!({"const": "my [REDACTED]"}),
    );
}
