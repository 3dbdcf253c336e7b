//! What fits a schema and what does not.

use serde_json::{Value, json};

use super::fits;

#[track_caller]
fn check(schema: Value, value: Value, expected: Result<(), &str>) {
    let found = fits(&schema, &value);
    let found = found.as_ref().copied().map_err(String::as_str);
    assert_eq!(found, expected, "{schema} {value}");
}

#[test]
fn types() {
    for (kind, fitting) in [
        ("string", json!("x")),
        ("number", json!(1.5)),
        ("integer", json!(3)),
        ("integer", json!(3.0)),
        ("boolean", json!(false)),
        ("array", json!([])),
        ("object", json!({})),
        ("null", Value::Null),
    ] {
        check(json!({ "type": kind }), fitting, Ok(()));
    }
    let string = json!({ "type": "string" });
    check(string, json!(7), Err("it must be of type string"));
    let integer = json!({ "type": "integer" });
    check(integer, json!(1.5), Err("it must be of type integer"));
    let either = json!({ "type": ["string", "null"] });
    check(either.clone(), Value::Null, Ok(()));
    check(either, json!(1), Err("it must be of type string or null"));
}

#[test]
fn choices() {
    let plain = json!({ "enum": ["a", 1] });
    check(plain.clone(), json!(1), Ok(()));
    check(
        plain,
        json!("b"),
        Err("it must be one of the given choices"),
    );
    let titled = json!({ "type": "string", "oneOf": [{ "const": "a", "title": "A" }] });
    check(titled.clone(), json!("a"), Ok(()));
    check(
        titled,
        json!("A"),
        Err("it must be one of the given choices"),
    );
    let only = json!({ "const": true });
    check(
        only,
        json!(false),
        Err("it must be one of the given choices"),
    );
}

#[test]
fn ranges() {
    let text = json!({ "minLength": 2, "maxLength": 3 });
    check(text.clone(), json!("äö"), Ok(()));
    check(text.clone(), json!("ä"), Err("it must be at least 2 long"));
    check(text, json!("äöüß"), Err("it must be at most 3 long"));
    let number = json!({ "minimum": 0, "maximum": 10 });
    check(number.clone(), json!(10), Ok(()));
    check(
        number.clone(),
        json!(-1),
        Err("it must be at least 0 large"),
    );
    check(number, json!(10.5), Err("it must be at most 10 large"));
    let list = json!({ "maxItems": 1, "items": { "enum": ["a"] } });
    check(list.clone(), json!(["a"]), Ok(()));
    check(
        list.clone(),
        json!(["a", "a"]),
        Err("it must be at most 1 long"),
    );
    let wrong = Err("item 0 of it must be one of the given choices");
    check(list, json!(["b"]), wrong);
}

#[test]
fn members() {
    let schema = json!({
        "type": "object",
        "properties": { "name": { "type": "string" } },
        "required": ["name"],
    });
    check(schema.clone(), json!({ "name": "x", "more": 1 }), Ok(()));
    check(schema.clone(), json!({}), Err("`name` is missing"));
    check(
        schema.clone(),
        json!({ "name": 1 }),
        Err("`name` must be of type string"),
    );
    let mut closed = schema;
    closed["additionalProperties"] = false.into();
    check(
        closed,
        json!({ "name": "x", "more": 1 }),
        Err("it has no member `more`"),
    );
}

#[test]
fn what_is_no_schema_lets_pass_and_false_lets_nothing_pass() {
    check(json!(true), json!(1), Ok(()));
    check(
        json!({ "type": 7, "enum": "x", "minimum": "y" }),
        json!(1),
        Ok(()),
    );
    check(json!(false), json!(1), Err("it cannot be answered"));
}

/// A tool could nest its schema as deep as a message goes.
#[test]
fn depth_is_bounded() {
    let mut schema = json!({ "type": "string" });
    let mut value = json!(7);
    for _ in 0..100 {
        schema = json!({ "items": schema });
        value = json!([value]);
    }
    check(schema, value, Ok(()));
}
