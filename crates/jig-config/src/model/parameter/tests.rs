use super::*;

fn string() -> Parameter {
    Parameter {
        types: vec![ParameterType::String],
        ..Parameter::default()
    }
}

#[test]
fn parameters_become_a_closed_schema() {
    // J-024.
    let item = Parameter {
        types: vec![ParameterType::Object],
        properties: IndexMap::from([
            (
                "old".to_owned(),
                Parameter {
                    required: true,
                    ..string()
                },
            ),
            ("new".to_owned(), string()),
        ]),
        ..Parameter::default()
    };
    let parameters = IndexMap::from([
        (
            "path".to_owned(),
            Parameter {
                required: true,
                summary: Some("One line.".to_owned()),
                description: Some("More.".to_owned()),
                examples: vec![json!("src")],
                ..string()
            },
        ),
        (
            "mode".to_owned(),
            Parameter {
                types: vec![ParameterType::String, ParameterType::Null],
                values: vec![json!("a"), json!(null)],
                default: Some(json!("a")),
                ..Parameter::default()
            },
        ),
        (
            "edits".to_owned(),
            Parameter {
                types: vec![ParameterType::Array],
                items: Some(Box::new(item)),
                ..Parameter::default()
            },
        ),
        ("anything".to_owned(), Parameter::default()),
    ]);
    let expected = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "description": "One line.\n\nMore.", "examples": ["src"] },
            "mode": { "type": ["string", "null"], "enum": ["a", null], "default": "a" },
            "edits": { "type": "array", "items": {
                "type": "object",
                "properties": { "old": { "type": "string" }, "new": { "type": "string" } },
                "required": ["old"],
                "additionalProperties": false,
            } },
            "anything": {},
        },
        "required": ["path"],
        "additionalProperties": false,
    });
    assert_eq!(input_schema(&parameters), expected);
}
