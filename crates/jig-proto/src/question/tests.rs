use serde_json::{Value, json};

use super::{Prompt, Question};

fn read(value: Value) -> Result<Question, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

/// `fields` added to a question that has `id` and `text`.
fn with(fields: Value) -> Value {
    let mut question = json!({"id": "q", "text": "Sure?"});
    let (Value::Object(all), Value::Object(fields)) = (&mut question, fields) else {
        unreachable!("both are objects");
    };
    all.extend(fields);
    question
}

#[test]
fn x15_x16_every_spelling_becomes_the_one_form() {
    let check = |fields: Value, expected: Value| {
        let question = read(with(fields)).unwrap();
        let written = serde_json::to_value(&question).unwrap();
        assert_eq!(written, with(expected));
        assert_eq!(read(written).unwrap(), question);
    };
    let boolean = json!({"schema": {"type": "boolean"}});
    for name in ["Boolean", "boolean", "BOOLEAN"] {
        check(json!({"answer_type": name}), boolean.clone());
    }
    for name in ["Text", "text"] {
        check(
            json!({"answer_type": name}),
            json!({"schema": {"type": "string"}}),
        );
    }
    let select = json!({"schema": {"type": "string", "enum": ["a", "b"]}});
    check(
        json!({"answer_type": {"Select": {"options": ["a", "b"]}}}),
        select.clone(),
    );
    check(
        json!({"answer_type": {"select": {"options": ["a", "b"]}}}),
        select.clone(),
    );
    check(
        json!({"answer_type": {"SELECT": {"Options": ["a", "b"]}}}),
        select,
    );
    check(
        json!({"answer_type": {"select": {"options": [1, "b"]}}}),
        json!({"schema": {"enum": [1, "b"]}}),
    );
    check(
        json!({"schema": {"type": "integer", "minimum": 3}}),
        json!({"schema": {"type": "integer", "minimum": 3}}),
    );
    check(json!({"schema": true}), json!({"schema": true}));
    // A schema says more than an answer type.
    check(
        json!({"schema": {"type": "boolean"}, "answer_type": "Text"}),
        boolean.clone(),
    );
    // J-011: all fields of the older form, with `null` for what is not there.
    check(
        json!({"pre_amble": null, "answer_type": "Boolean", "default": null}),
        boolean,
    );
    check(
        json!({"pre_amble": "It is dirty.", "answer_type": "Boolean", "default": true}),
        json!({"context": "It is dirty.", "schema": {"type": "boolean"}, "default": true}),
    );
    check(
        json!({"context": "new", "pre_amble": "old", "schema": {}, "default": {"a": [1.5]}}),
        json!({"context": "new", "schema": {}, "default": {"a": [1.5]}}),
    );
}

#[test]
fn a_malformed_question_says_what_was_expected_and_where() {
    let check = |value: Value, expected: &str| assert_eq!(read(value).unwrap_err(), expected);
    check(
        json!({"text": "t", "schema": {}}),
        "`id` is missing: expected a string",
    );
    check(
        json!({"id": "q", "schema": {}}),
        "`text` is missing: expected a string",
    );
    check(
        with(json!({})),
        "`schema` is missing: expected a JSON Schema (or an `answer_type`)",
    );
    check(
        with(json!({"schema": "boolean"})),
        "`schema`: expected a JSON Schema, found the string \"boolean\"",
    );
    let kinds = "`boolean`, `text` or `{\"select\": {\"options\": […]}}`";
    check(
        with(json!({"answer_type": "number"})),
        &format!("`answer_type`: expected {kinds}, found the string \"number\""),
    );
    check(
        with(json!({"answer_type": {}})),
        &format!("`answer_type`: expected {kinds}, found an object"),
    );
    check(
        with(json!({"answer_type": {"choose": {"options": ["a"]}}})),
        "`answer_type`: expected `select` with its `options`, found the string \"choose\"",
    );
    check(
        with(json!({"answer_type": {"select": ["a"]}})),
        "`answer_type.select`: expected an object with `options`, found a list",
    );
    check(
        with(json!({"answer_type": {"select": {"options": []}}})),
        "`answer_type.select.options`: expected a list that is not empty, found an empty list",
    );
    check(
        with(json!({"answer_type": {"select": {}}})),
        "`answer_type.select.options` is missing: expected a list that is not empty",
    );
}

#[test]
fn the_schema_decides_how_to_ask() {
    let check = |schema: Value, expected: Prompt<'_>| {
        assert_eq!(
            Question::new("q", "t", schema.clone()).prompt(),
            expected,
            "{schema}"
        );
    };
    check(json!({"type": "boolean"}), Prompt::YesNo);
    check(json!({"type": ["boolean"]}), Prompt::YesNo);
    check(json!({"type": "string"}), Prompt::Text);
    check(json!({"type": "string", "minLength": 3}), Prompt::Text);
    let options = [json!("a"), json!("b")];
    check(
        json!({"type": "string", "enum": ["a", "b"]}),
        Prompt::Select(&options),
    );
    check(json!({"enum": ["a", "b"]}), Prompt::Select(&options));
    // Nothing can be chosen from these.
    check(json!({"type": "string", "enum": []}), Prompt::Other);
    check(json!({"type": "string", "enum": "a"}), Prompt::Other);
    check(json!({"type": ["string", "null"]}), Prompt::Other);
    check(json!({"type": "object"}), Prompt::Other);
    check(json!({"type": "integer"}), Prompt::Other);
    check(json!({}), Prompt::Other);
    check(json!(true), Prompt::Other);
}

#[test]
fn w013_w014_wit_strings_round_trip() {
    let check = |question: Question, answer_type: &str, default: Option<&str>| {
        assert_eq!(question.wit_answer_type().as_deref(), Some(answer_type));
        assert_eq!(question.wit_default().as_deref(), default);
        let read = Question::from_wit(&question.id, &question.text, answer_type, default).unwrap();
        assert_eq!(read, question);
    };
    check(Question::yes_no("q", "t"), "boolean", None);
    check(
        Question::yes_no("q", "t").with_default(true),
        "boolean",
        Some("true"),
    );
    check(
        Question::text("q", "t").with_default("a \"b\""),
        "text",
        Some(r#""a \"b\"""#),
    );
    check(
        Question::select("q", "t", ["x", "y"]),
        r#"{"select":{"options":["x","y"]}}"#,
        None,
    );
    assert_eq!(
        Question::new("q", "t", json!({"type": "integer"})).wit_answer_type(),
        None
    );
}

#[test]
fn wit_strings_are_read_leniently_but_not_blindly() {
    let check = |answer_type: &str, default: Option<&str>, expected: Result<Question, &str>| {
        let found = Question::from_wit("q", "t", answer_type, default);
        assert_eq!(
            found.map_err(|error| error.at().to_owned()),
            expected.map_err(str::to_owned)
        );
    };
    check("Boolean", None, Ok(Question::yes_no("q", "t")));
    check(
        " {\"Select\": {\"options\": [\"x\"]}}",
        None,
        Ok(Question::select("q", "t", ["x"])),
    );
    check("text", Some("null"), Ok(Question::text("q", "t")));
    check("", None, Err("answer-type"));
    check("{", None, Err("answer-type"));
    check(
        "{\"select\":{\"options\":[]}}",
        None,
        Err("answer-type.select.options"),
    );
    check("text", Some("not JSON"), Err("default"));
    check("text", Some(&"[".repeat(100)), Err("default"));
}
