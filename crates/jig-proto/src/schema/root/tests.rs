use serde_json::{Map, Value, json};

use super::flattened;

fn check(schema: Value, expected: Value) {
    let Value::Object(schema) = schema else {
        panic!("a schema");
    };
    assert_eq!(Value::Object(flattened(&schema)), expected, "{schema:?}");
}

#[test]
fn a_plain_schema_stays_as_it_is() {
    let plain = json!({
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": true},
        "additionalProperties": false,
        "required": ["a"],
    });
    check(plain.clone(), plain);
    check(json!({}), json!({}));
    check(json!({"type": "object"}), json!({"type": "object"}));
}

#[test]
fn what_stands_behind_a_reference_comes_to_the_root() {
    check(
        json!({"$ref": "#/$defs/Args", "$defs": {"Args": {
            "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
        }}}),
        json!({
            "$defs": {"Args": {
                "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
            }},
            "properties": {"a": {"type": "string"}},
            "required": ["a"],
        }),
    );
    // A name with the signs that a pointer writes in another way.
    check(
        json!({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"properties": {"x": {}}}}}),
        json!({"$defs": {"a/b": {"properties": {"x": {}}}}, "properties": {"x": {}}}),
    );
}

#[test]
fn a_choice_has_all_properties_and_requires_what_every_variant_does() {
    check(
        json!({"type": "object", "oneOf": [
            {"properties": {"kind": {"const": "a"}, "x": {"type": "string"}}, "required": ["kind", "x"]},
            {"properties": {"kind": {"const": "b"}, "x": {"type": "integer"}}, "required": ["kind"]},
        ]}),
        json!({
            "type": "object",
            "properties": {
                "kind": {"enum": ["a", "b"]},
                "x": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            },
            "required": ["kind"],
        }),
    );
}

#[test]
fn what_all_of_it_says_holds_together() {
    check(
        json!({"properties": {"a": {}}, "required": ["a"], "allOf": [
            {"properties": {"b": {}}, "required": ["b"]}, {"properties": {"c": {}}},
        ]}),
        json!({"properties": {"a": {}, "b": {}, "c": {}}, "required": ["a", "b"]}),
    );
}

#[test]
fn what_is_no_schema_is_left_out() {
    check(
        json!({"type": "object", "properties": 3, "required": "a", "anyOf": [1, null], "$ref": 4}),
        json!({"type": "object", "properties": {}}),
    );
    for reference in ["#", "#/", "#/nowhere", "other.json", "#/$defs/a/b/c"] {
        check(
            json!({"$ref": reference, "$defs": {"a": {}}}),
            json!({"$defs": {"a": {}}}),
        );
    }
}

/// Without a limit each of these would take for ever.
#[test]
fn what_leads_to_itself_or_multiplies_comes_to_an_end() {
    check(
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}),
        json!({
            "$defs": {"a": {"$ref": "#/$defs/a"}},
        }),
    );
    let mut definitions = Map::new();
    for at in 0..40 {
        let next = format!("#/$defs/d{}", at + 1);
        let variant = json!({"$ref": next, "properties": {format!("p{at}"): {}}});
        definitions.insert(format!("d{at}"), json!({"anyOf": vec![variant; 40]}));
    }
    let Value::Object(schema) = json!({"$ref": "#/$defs/d0", "$defs": definitions}) else {
        panic!("a schema");
    };
    let flat = flattened(&schema);
    assert!(flat["properties"].get("p0").is_some());
    // Any number of properties, and any number of forms of one.
    let many: Vec<Value> = (0..5000)
        .map(|at| json!({"properties": {format!("p{at}"): {}, "same": {"minimum": at}}}))
        .collect();
    let Value::Object(schema) = json!({ "anyOf": many }) else {
        panic!("a schema");
    };
    let flat = flattened(&schema);
    assert_eq!(flat["properties"].as_object().map(Map::len), Some(512));
    assert_eq!(
        flat["properties"]["same"]["anyOf"].as_array().map(Vec::len),
        Some(32)
    );
}
