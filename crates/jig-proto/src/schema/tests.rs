use serde_json::{Map, Value, json};

use super::{SchemaError, stateful_schema};
use crate::{Actions, Invocation};

fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is not an object"),
    }
}

fn schema(spawn: Value, actions: &[&str]) -> Result<Value, SchemaError> {
    let actions = Actions::from_names(actions.iter().copied()).unwrap();
    stateful_schema(&map(spawn), actions).map(Value::Object)
}

const GIT: &[&str] = &["spawn", "fetch", "apply", "abort"];
const CARGO_CHECK: &[&str] = &["spawn", "fetch", "abort"];

fn git() -> Value {
    json!({
        "type": "object",
        "properties": {
            "command": {"enum": ["stage", "commit", "rebase"]},
            "args": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["command"],
    })
}

fn fetch() -> Value {
    let number = json!({"type": "integer", "minimum": 0});
    json!({
        "properties": {
            "action": {"const": "fetch"},
            "id": {"type": "string"},
            "view": {"type": "string", "enum": ["new", "screen", "all"]},
            "after_seq": number,
            "max_bytes": number,
            "wait_ms": number,
        },
        "required": ["action", "id"],
    })
}

fn abort() -> Value {
    json!({
        "properties": {"action": {"const": "abort"}, "id": {"type": "string"}},
        "required": ["action", "id"],
    })
}

#[test]
fn s050_to_s054_git_and_cargo_check() {
    let check = |spawn: Value, actions: &[&str], variants: Value| {
        let expected = json!({"type": "object", "oneOf": variants});
        assert_eq!(
            schema(spawn, actions).unwrap().to_string(),
            expected.to_string()
        );
    };
    let spawn = json!({
        "properties": {
            "action": {"const": "spawn"},
            "command": {"enum": ["stage", "commit", "rebase"]},
            "args": {"type": "array", "items": {"type": "string"}},
            "id": {"type": "string"},
        },
        "required": ["action", "command"],
    });
    let number = json!({"type": "integer", "minimum": 0});
    let apply = json!({
        "properties": {
            "action": {"const": "apply"},
            "id": {"type": "string"},
            "input": {},
            "view": {"type": "string", "enum": ["new", "screen", "all"]},
            "after_seq": number,
            "max_bytes": number,
            "wait_ms": number,
        },
        "required": ["action", "id", "input"],
    });
    check(git(), GIT, json!([spawn, fetch(), apply, abort()]));

    let spawn = json!({
        "properties": {
            "action": {"const": "spawn"},
            "package": {"type": "string"},
            "id": {"type": "string"},
        },
        "required": ["action"],
    });
    let package = json!({"type": "object", "properties": {"package": {"type": "string"}}});
    check(package, CARGO_CHECK, json!([spawn, fetch(), abort()]));

    let spawn = json!({
        "properties": {"action": {"const": "spawn"}, "id": {"type": "string"}},
        "required": ["action"],
    });
    check(json!({}), &["spawn", "fetch"], json!([spawn, fetch()]));
}

#[test]
fn a_one_shot_tool_keeps_its_schema() {
    let plan = json!({"type": "object", "properties": {"action": {"enum": ["create", "next"]}}});
    assert_eq!(schema(plan.clone(), &[]).unwrap(), plan);
}

#[test]
fn what_the_schema_accepts_can_be_parsed_and_the_other_way_round() {
    let validator = jsonschema::validator_for(&schema(git(), GIT).unwrap()).unwrap();
    let check = |args: Value, expected: bool| {
        assert_eq!(validator.is_valid(&args), expected, "{args}");
        if expected {
            assert!(Invocation::parse(map(args), Actions::ALL).is_ok());
        }
    };
    check(
        json!({"action": "spawn", "command": "stage", "args": ["--patch"]}),
        true,
    );
    check(
        json!({"action": "spawn", "command": "stage", "id": "mine"}),
        true,
    );
    check(json!({"action": "fetch", "id": "h_1"}), true);
    check(json!({"action": "apply", "id": "h_1", "input": null}), true);
    check(json!({"action": "abort", "id": "h_1"}), true);
    check(
        json!({"action": "fetch", "id": "h_1", "view": "all", "after_seq": 1, "max_bytes": 9, "wait_ms": 0}),
        true,
    );
    check(
        json!({"action": "fetch", "id": "h_1", "view": "last"}),
        false,
    );
    check(
        json!({"action": "fetch", "id": "h_1", "wait_ms": -1}),
        false,
    );
    check(
        json!({"action": "spawn", "command": "stage", "id": 7}),
        false,
    );
    check(json!({"action": "spawn"}), false);
    check(json!({"action": "spawn", "command": "push"}), false);
    check(json!({"action": "apply", "id": "h_1"}), false);
    check(json!({"action": "fetch"}), false);
    check(json!({"action": "stop", "id": "h_1"}), false);
    check(json!({"command": "stage"}), false);
}

#[test]
fn a_closed_schema_stays_closed_but_for_the_id() {
    let mut spawn = git();
    spawn["additionalProperties"] = json!(false);
    let validator = jsonschema::validator_for(&schema(spawn, GIT).unwrap()).unwrap();
    assert!(validator.is_valid(&json!({"action": "spawn", "command": "stage", "id": "mine"})));
    assert!(!validator.is_valid(&json!({"action": "spawn", "command": "stage", "force": true})));
}

#[test]
fn definitions_move_to_the_root() {
    let spawn = json!({
        "description": "Runs git.",
        "properties": {"name": {"$ref": "#/$defs/name"}},
        "minProperties": 2,
        "$defs": {"name": {"type": "string", "minLength": 2}},
    });
    let found = schema(spawn, &["spawn"]).unwrap();
    assert_eq!(found["description"], "Runs git.");
    assert_eq!(found["oneOf"][0]["minProperties"], 2);
    assert_eq!(found["oneOf"][0].get("$defs"), None);
    let validator = jsonschema::validator_for(&found).unwrap();
    assert!(validator.is_valid(&json!({"action": "spawn", "name": "ab"})));
    assert!(!validator.is_valid(&json!({"action": "spawn", "name": "a"})));
}

#[test]
fn what_can_not_be_a_spawn_schema_is_refused() {
    let check = |spawn: Value, expected: &str| {
        assert_eq!(schema(spawn, GIT).unwrap_err().to_string(), expected);
    };
    check(
        json!({"type": "array"}),
        "the parameters of a tool must be of type `object`",
    );
    check(json!({"properties": []}), "`properties` must be an object");
    check(json!({"required": "a"}), "`required` must be a list");
    for name in ["action", "id"] {
        check(
            json!({"properties": {name: {}}}),
            &format!(
                "a stateful tool can't have a parameter `{name}`: the protocol uses this name"
            ),
        );
    }
}
