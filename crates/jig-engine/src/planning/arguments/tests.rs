use serde_json::json;

use super::*;

fn parameters() -> IndexMap<String, Parameter> {
    let plain = |kind| Parameter {
        types: vec![kind],
        ..Parameter::default()
    };
    let mut edit = IndexMap::new();
    edit.insert(
        "old".to_owned(),
        Parameter {
            required: true,
            ..plain(ParameterType::String)
        },
    );
    edit.insert(
        "regex".to_owned(),
        Parameter {
            default: Some(json!(false)),
            ..plain(ParameterType::Boolean)
        },
    );
    let edit = Parameter {
        properties: edit,
        ..plain(ParameterType::Object)
    };
    let mut all = IndexMap::new();
    all.insert(
        "path".to_owned(),
        Parameter {
            required: true,
            ..plain(ParameterType::String)
        },
    );
    all.insert("line".to_owned(), plain(ParameterType::Integer));
    all.insert(
        "mode".to_owned(),
        Parameter {
            values: vec![json!("a"), json!("b")],
            default: Some(json!("a")),
            ..plain(ParameterType::String)
        },
    );
    all.insert(
        "edits".to_owned(),
        Parameter {
            items: Some(Box::new(edit)),
            ..plain(ParameterType::Array)
        },
    );
    all
}

fn check(given: Value, expected: Result<Value, &str>) {
    let Value::Object(map) = given.clone() else {
        panic!("an object");
    };
    let completed = complete(map, &parameters());
    let completed = completed
        .map(Value::Object)
        .map_err(|errors| errors.to_string());
    assert_eq!(completed, expected.map_err(str::to_owned), "{given}");
}

/// J-017: a default of an object is completed by the defaults of its properties, at any depth.
#[test]
fn j017_nested_defaults_are_filled_in() {
    let mut parameters = parameters();
    let edit = parameters["edits"].items.clone().expect("what an edit is");
    let mut outer = Parameter {
        types: vec![ParameterType::Object],
        default: Some(json!({"inner": {"old": "x"}})),
        ..Parameter::default()
    };
    outer.properties.insert("inner".to_owned(), *edit);
    parameters.insert("outer".to_owned(), outer);
    let complete = |given: Value| {
        let Value::Object(given) = given else {
            panic!("an object")
        };
        let completed = complete(given, &parameters).map(Value::Object);
        completed.unwrap_or_else(|errors| panic!("{errors}"))
    };
    let expected =
        json!({"path": "x", "mode": "a", "outer": {"inner": {"old": "x", "regex": false}}});
    assert_eq!(complete(json!({"path": "x"})), expected);
    assert_eq!(
        complete(json!({"path": "x", "outer": "{\"inner\": \"{\\\"old\\\": \\\"x\\\"}\"}"})),
        expected,
        "text that holds JSON becomes what is declared, also inside"
    );
}

/// J-017.
#[test]
fn j017_arguments_are_coerced_completed_and_checked() {
    check(json!({"path": "x"}), Ok(json!({"path": "x", "mode": "a"})));
    check(
        json!({"path": "x", "line": "3"}),
        Ok(json!({"path": "x", "line": 3, "mode": "a"})),
    );
    check(json!({"path": "3"}), Ok(json!({"path": "3", "mode": "a"})));
    check(
        json!({"path": "x", "edits": "[{\"old\": \"y\"}]"}),
        Ok(json!({"path": "x", "mode": "a", "edits": [{"old": "y", "regex": false}]})),
    );
    check(json!({}), Err("`path` is missing"));
    check(
        json!({"path": 3}),
        Err("`path` must be string, not a number"),
    );
    check(
        json!({"path": "x", "line": "three"}),
        Err("`line` must be integer, not a string"),
    );
    check(
        json!({"path": "x", "line": 2.5}),
        Err("`line` must be integer, not a number"),
    );
    check(
        json!({"path": "x", "mode": "c"}),
        Err("`mode` must be one of \"a\", \"b\""),
    );
    check(
        json!({"path": "x", "edits": [{"old": "y"}, {"new": "z"}]}),
        Err("`edits[1].old` is missing; `edits[1].new` is not known; there is `old`, `regex`"),
    );
    check(
        json!({"paht": "x"}),
        Err("`path` is missing; `paht` is not known; there is `path`, `line`, `mode`, `edits`"),
    );
}

/// Clients in a strict mode send every parameter, and `null` for those that they leave out. What has to be there is not
/// left out by that.
#[test]
fn j017_null_is_absence_where_it_can_be_nothing_else() {
    check(
        json!({"path": "x", "line": null, "mode": null, "edits": null}),
        Ok(json!({"path": "x", "mode": "a"})),
    );
    check(
        json!({"path": "x", "edits": [{"old": "y", "regex": null}]}),
        Ok(json!({"path": "x", "mode": "a", "edits": [{"old": "y", "regex": false}]})),
    );
    check(
        json!({"path": null}),
        Err("`path` must be string, not null"),
    );
    check(
        json!({"path": "x", "other": null}),
        Err("`other` is not known; there is `path`, `line`, `mode`, `edits`"),
    );
}
