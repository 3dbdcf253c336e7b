//! Headers of requests.

use jig_config::Definition;
use serde_json::{Map, Value, json};

use super::{check, has_annotations, of};

fn params(value: Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

#[test]
fn a_request_names_its_method_and_what_it_is_about() {
    let check = |method: &str, value: Value, name: Option<&str>| {
        let headers = of(method, &params(value), None);
        assert_eq!(headers["mcp-method"], method);
        let named = headers
            .get("mcp-name")
            .map(|name| name.to_str().expect("text"));
        assert_eq!(named, name);
    };
    check("tools/list", json!({"name": "a"}), None);
    check("tools/call", json!({"name": "a-b"}), Some("a-b"));
    check("tasks/get", json!({"taskId": "t"}), Some("t"));
    check(
        "tools/call",
        json!({"name": "tööl"}),
        Some("=?base64?dMO2w7Zs?="),
    );
    check("tools/call", json!({"name": " a"}), Some("=?base64?IGE=?="));
    check(
        "tools/call",
        json!({"name": "=?base64?x?="}),
        Some("=?base64?PT9iYXNlNjQ/eD89?="),
    );
    check(
        "tools/call",
        json!({"name": "a\r\nEvil: 1"}),
        Some("=?base64?YQ0KRXZpbDogMQ==?="),
    );
}

#[test]
fn marked_arguments_are_said() {
    let input = json!({"type": "object", "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "count": {"type": "integer", "x-mcp-header": "Count"},
        "loud": {"type": "boolean", "x-mcp-header": "Loud"},
        "none": {"type": "string", "x-mcp-header": "None"},
        "missing": {"type": "string", "x-mcp-header": "Missing"},
        "in": {"type": "object", "properties": {"side": {"type": "string", "x-mcp-header": "Side"}}},
        "plain": {"type": "string"},
    }});
    assert!(has_annotations(&input));
    assert_eq!(check(&input), Ok(()));
    let definition =
        Definition::from_json(json!({"name": "t", "inputSchema": input})).expect("a tool");
    let arguments = json!({
        "region": "eu", "count": 3, "loud": false, "none": null, "in": {"side": "left"}, "plain": "x",
    });
    let headers = of(
        "tools/call",
        &params(json!({"name": "t", "arguments": arguments})),
        Some(&definition),
    );
    let said = |name: &str| headers.get(name).map(|value| value.to_str().expect("text"));
    assert_eq!(said("mcp-param-region"), Some("eu"));
    assert_eq!(said("mcp-param-count"), Some("3"));
    assert_eq!(said("mcp-param-loud"), Some("false"));
    assert_eq!(said("mcp-param-side"), Some("left"));
    assert_eq!(said("mcp-param-none"), None);
    assert_eq!(said("mcp-param-missing"), None);
    assert_eq!(headers.len(), 6);
}

/// Schemas with marks that cannot be followed.
#[test]
fn wrong_marks() {
    for properties in [
        json!({"a": {"type": "string", "x-mcp-header": ""}}),
        json!({"a": {"type": "string", "x-mcp-header": "My Region"}}),
        json!({"a": {"type": "string", "x-mcp-header": "Région"}}),
        json!({"a": {"type": "string", "x-mcp-header": 7}}),
        json!({"a": {"type": "number", "x-mcp-header": "A"}}),
        json!({"a": {"type": "object", "x-mcp-header": "A"}}),
        json!({"a": {"x-mcp-header": "A"}}),
        json!({"a": {"type": "string", "x-mcp-header": "X"}, "b": {"type": "string", "x-mcp-header": "x"}}),
        json!({"a": {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}}),
        json!({"a": {"anyOf": [{"type": "string", "x-mcp-header": "A"}]}}),
    ] {
        let schema = json!({"type": "object", "properties": properties});
        assert!(check(&schema).is_err(), "{schema}");
    }
    assert!(check(&json!({"type": "object", "x-mcp-header": "A"})).is_err());
    assert!(check(&json!({"$defs": {"d": {"type": "string", "x-mcp-header": "A"}}})).is_err());
    // A name and a value, not a mark.
    let named = json!({"properties": {"x-mcp-header": {"type": "string"}, "b": {"default": {"x-mcp-header": 1}}}});
    assert_eq!(check(&named), Ok(()));
}
