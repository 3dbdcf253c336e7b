//! Words of a shell as arguments of a server's tool.

use serde_json::{Map, json};

use super::{take, types_of};

/// What becomes of words for a parameter of this schema.
#[track_caller]
fn check(schema: serde_json::Value, words: &[&str], expected: serde_json::Value) {
    let mut arguments = Map::new();
    for word in words {
        let types = types_of(&schema);
        take(&mut arguments, "it".to_owned(), (*word).to_owned(), &types);
    }
    assert_eq!(arguments["it"], expected, "{words:?} for {schema}");
}

#[test]
fn words_become_what_the_schema_names() {
    check(json!({ "type": "string" }), &["7"], json!("7"));
    check(json!({ "type": "string" }), &["[1]"], json!("[1]"));
    check(json!({ "type": "integer" }), &["7"], json!(7));
    check(json!({ "type": "integer" }), &["7.5"], json!("7.5"));
    check(json!({ "type": "integer" }), &["many"], json!("many"));
    check(json!({ "type": "number" }), &["7.5"], json!(7.5));
    check(json!({ "type": "boolean" }), &["true"], json!(true));
    check(json!({ "type": "boolean" }), &["yes"], json!("yes"));
    check(
        json!({ "type": "object" }),
        &[r#"{"a": 1}"#],
        json!({ "a": 1 }),
    );
    check(
        json!({ "type": ["string", "null"] }),
        &["null"],
        json!("null"),
    );
    check(
        json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] }),
        &["3"],
        json!(3),
    );
    // Nothing that simple is said: it is left as it is typed.
    check(json!({ "$ref": "#/$defs/It" }), &["3"], json!("3"));
    check(json!(true), &["3"], json!("3"));
}

#[test]
fn one_name_several_times_makes_a_list() {
    let list = json!({ "type": "array", "items": { "type": "string" } });
    check(list.clone(), &["a"], json!(["a"]));
    check(list.clone(), &["a", "b"], json!(["a", "b"]));
    check(list, &[r#"["a", "b"]"#], json!(["a", "b"]));
    // What is no list has one value, the last.
    check(json!({ "type": "string" }), &["a", "b"], json!("b"));
}
