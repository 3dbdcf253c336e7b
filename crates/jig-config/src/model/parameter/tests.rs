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

#[test]
fn the_schema_of_a_tool_that_describes_itself_becomes_parameters_and_is_published_as_it_came() {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "description": "Where.", "minLength": 1 },
            "mode": { "type": ["string", "null"], "enum": ["a", null], "default": "a" },
            "edits": { "type": "array", "items": {
                "type": "object",
                "properties": { "old": { "type": "string" } },
                "required": ["old"],
                "additionalProperties": false,
            } },
            "anything": {},
        },
        "required": ["path"],
        "additionalProperties": false,
    });
    let parameters = Parameter::from_schema(schema.as_object().expect("it is an object"));
    let parameters = parameters.expect("it describes an object");
    assert!(parameters["path"].required);
    assert_eq!(parameters["path"].keywords["minLength"], json!(1));
    let edits = parameters["edits"].items.as_ref();
    assert!(edits.expect("it has items").properties["old"].required);
    assert_eq!(input_schema(&parameters), schema);
}

#[test]
fn hostile_schemas_are_read_as_far_as_they_make_sense() {
    let check = |schema: serde_json::Value, expected: Option<usize>| {
        let read = Parameter::from_schema(schema.as_object().expect("it is an object"));
        assert_eq!(read.map(|read| read.len()), expected, "{schema}");
    };
    check(json!({}), Some(0));
    check(json!({ "type": "array" }), None);
    check(json!({ "type": ["object"] }), None);
    check(json!({ "properties": 3, "required": "path" }), Some(0));
    check(json!({ "properties": { "a": 3, "b": null } }), Some(2));
    let mut deep = json!({});
    for _ in 0..100 {
        deep = json!({ "properties": { "a": deep } });
    }
    check(deep, Some(1));
}
