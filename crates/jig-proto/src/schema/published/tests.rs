use serde_json::{Map, Value, json};

use super::{SchemaForm, each_schema, name_for_providers, published, rename_definitions, simplify};
use crate::{Actions, SchemaError, ToolAction};

fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is not an object"),
    }
}

fn git() -> Map<String, Value> {
    map(json!({
        "properties": {"command": {"type": "string"}, "args": {"type": "array"}},
        "required": ["command"],
    }))
}

fn flat(spawn: Map<String, Value>, actions: &[&str]) -> Map<String, Value> {
    let actions = Actions::from_names(actions.iter().copied()).unwrap();
    let mut all = published("t", "", &spawn, actions, SchemaForm::Flat).unwrap();
    assert_eq!(all.len(), 1);
    all.remove(0).parameters
}

#[test]
fn s055_flat_has_every_parameter_and_needs_none() {
    let check = |actions: &[&str], names: &[&str], told: &str| {
        let schema = flat(git(), actions);
        let properties = schema["properties"].as_object().unwrap();
        let found: Vec<&String> = properties.keys().collect();
        assert_eq!(found, names);
        // Without `action` the tool runs to its end.
        assert_eq!(schema.get("required"), None);
        assert_eq!(schema["type"], "object");
        assert_eq!(properties["action"]["enum"], json!(actions));
        assert_eq!(properties["action"]["description"], told);
    };
    check(
        &["spawn", "fetch", "apply", "abort"],
        &[
            "action",
            "command",
            "args",
            "id",
            "input",
            "view",
            "after_seq",
            "max_bytes",
            "wait_ms",
        ],
        "What to do; without it, the tool runs to its end. Starting it needs `command`. spawn: start the \
         tool with its parameters, and get its `id` and first output. fetch: get the state and the new output of `id`. apply: send `input` to \
         `id`, or answer its question, and get what comes of it. abort: stop `id`.",
    );
    check(
        &["spawn", "abort"],
        &["action", "command", "args", "id"],
        "What to do; without it, the tool runs to its end. Starting it needs `command`. spawn: start the \
         tool with its parameters, and get its `id` and first output. abort: stop `id`.",
    );
}

#[test]
fn a_parameter_with_a_name_of_the_protocol_stays_what_it_is() {
    let own = json!({"type": "integer"});
    let spawn = map(json!({"properties": {"input": own, "view": own}}));
    let schema = flat(spawn.clone(), &["spawn", "fetch", "apply"]);
    assert_eq!(schema["properties"]["view"], own);
    assert_eq!(schema["properties"]["input"]["anyOf"][0], own);
    // Where nothing is applied, it is only the tool's.
    let schema = flat(spawn, &["spawn", "fetch"]);
    assert_eq!(schema["properties"]["input"], own);
}

#[test]
fn split_is_one_tool_for_each_action() {
    let actions = Actions::from_names(["spawn", "fetch", "apply", "abort"]).unwrap();
    let all = published("git", "Runs git.", &git(), actions, SchemaForm::Split).unwrap();
    let found: Vec<(&str, Option<ToolAction>)> = all
        .iter()
        .map(|one| (one.name.as_str(), one.action))
        .collect();
    assert_eq!(
        found,
        [
            ("git_spawn", Some(ToolAction::Spawn)),
            ("git_fetch", Some(ToolAction::Fetch)),
            ("git_apply", Some(ToolAction::Apply)),
            ("git_abort", Some(ToolAction::Abort)),
        ]
    );
    assert_eq!(
        all[0].description,
        "Runs git.\n\nStarts the tool, and returns its `id` and first output. Go on with `git_fetch`, \
         `git_apply`, `git_abort`."
    );
    let required: Vec<&Value> = all.iter().map(|one| &one.parameters["required"]).collect();
    let id = json!(["id"]);
    assert_eq!(
        required,
        [&json!(["command"]), &id, &json!(["id", "input"]), &id]
    );
    let called = all[1].arguments(map(json!({"id": "h_1"})));
    assert_eq!(
        Value::Object(called),
        json!({"id": "h_1", "action": "fetch"})
    );
}

#[test]
fn a_one_shot_tool_is_published_as_it_is() {
    let plan = map(json!({"properties": {"action": {"const": "create"}}, "oneOf": [{}]}));
    for form in SchemaForm::ALL {
        let all = published("plan", "Plans.", &plan, Actions::NONE, form).unwrap();
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].name.as_str(), all[0].action), ("plan", None));
        assert_eq!(all[0].parameters, plan);
        assert_eq!(all[0].arguments(Map::new()), Map::new());
    }
}

#[test]
fn a_one_shot_tool_can_be_simplified_for_every_provider() {
    let check = |own: Value, expected: Value| {
        let all = published("t", "", &map(own), Actions::NONE, SchemaForm::Flat).unwrap();
        for one in all {
            assert_eq!(Value::Object(one.simplified().parameters), expected);
        }
    };
    check(json!({}), json!({"type": "object", "properties": {}}));
    check(
        json!({"$schema": "x", "properties": {"a": {"const": "x"}}, "oneOf": [{}], "required": ["a"]}),
        json!({
            "properties": {"a": {"enum": ["x"], "type": "string"}},
            "required": ["a"],
            "type": "object",
        }),
    );
    check(
        json!({"type": "object", "properties": {
            "list": {"type": "array"},
            "full": {"type": "array", "items": {"type": "string"}},
            "either": {"type": ["string", "array"]},
        }}),
        json!({"type": "object", "properties": {
            "list": {"type": "array", "items": {}},
            "full": {"type": "array", "items": {"type": "string"}},
            "either": {"anyOf": [{"type": "string"}, {"type": "array", "items": {}}]},
        }}),
    );
}

#[test]
fn what_can_not_be_a_spawn_schema_is_refused_in_every_form() {
    let spawn = map(json!({"properties": {"id": {}}}));
    for form in SchemaForm::ALL {
        let refused = published("t", "", &spawn, Actions::ALL, form);
        assert_eq!(refused, Err(SchemaError::Reserved { name: "id" }));
    }
}

#[test]
fn schemas_are_written_as_providers_take_them() {
    let check = |schema: Value, expected: Value| {
        let mut schema = map(schema);
        rename_definitions(&mut schema);
        each_schema(&mut schema, &mut simplify);
        assert_eq!(Value::Object(schema), expected);
    };
    check(
        json!({"const": "x"}),
        json!({"enum": ["x"], "type": "string"}),
    );
    check(json!({"const": 1}), json!({"enum": [1]}));
    check(
        json!({"enum": ["a", "b"]}),
        json!({"enum": ["a", "b"], "type": "string"}),
    );
    check(
        json!({"enum": ["a"], "type": ["string", "null"]}),
        json!({"enum": ["a"], "type": ["string", "null"]}),
    );
    check(
        json!({"items": {"anyOf": [{"const": "x"}]}}),
        json!({"items": {"anyOf": [{"enum": ["x"], "type": "string"}]}}),
    );
    check(
        json!({"type": ["null", "string", "array"], "description": "d", "items": {"const": 1}}),
        json!({"anyOf": [
            {"type": "null"},
            {"description": "d", "type": "string", "items": {"enum": [1]}},
            {"type": "array", "items": {"enum": [1]}},
        ]}),
    );
    check(
        json!({"description": "d", "type": ["string", "null"], "minLength": 1}),
        json!({"anyOf": [{"description": "d", "minLength": 1, "type": "string"}, {"type": "null"}]}),
    );
    // A property that is called `const` is a property, and a default is a value.
    check(
        json!({"properties": {"const": {"type": "string"}}, "default": {"const": 1}}),
        json!({"properties": {"const": {"type": "string"}}, "default": {"const": 1}}),
    );
    check(
        json!({"definitions": {"a": {"const": "x"}}, "properties": {"b": {"$ref": "#/definitions/a"}}}),
        json!({"properties": {"b": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"enum": ["x"], "type": "string"}}}),
    );
    // Two that have one name stay two.
    let two = json!({
        "$defs": {"a": {"type": "string"}},
        "definitions": {"a": {"type": "integer"}, "b": {}},
        "properties": {"c": {"$ref": "#/definitions/a"}, "d": {"$ref": "#/$defs/a"}},
    });
    check(two.clone(), two);
    check(json!({"type": ["string"]}), json!({"type": "string"}));
}

#[test]
fn names_are_of_64_plain_characters() {
    let check = |tool: &str, suffix: &str, expected: &str| {
        assert_eq!(name_for_providers(tool, suffix), expected);
    };
    check("git", "", "git");
    check("git", "spawn", "git_spawn");
    check("fs-read_2", "", "fs-read_2");
    check("a.b", "", "a_b_108bf50c");
    let (most, longer) = ("x".repeat(58), "x".repeat(59));
    check(&most, "spawn", &format!("{most}_spawn"));
    let cut = name_for_providers(&longer, "spawn");
    assert_eq!(cut.len(), 64);
    assert!(cut.starts_with("xxx") && cut.ends_with("_spawn"), "{cut}");
    let others = [
        "a.b",
        "a/b",
        "a_b",
        "",
        "é",
        "e\u{301}",
        &longer,
        &"y".repeat(200),
    ];
    let mut names: Vec<String> = others
        .iter()
        .map(|name| name_for_providers(name, ""))
        .collect();
    for name in &names {
        assert!((1..=64).contains(&name.len()), "{name}");
        assert!(name.is_ascii(), "{name}");
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), others.len());
}

#[test]
fn forms_have_names() {
    for form in SchemaForm::ALL {
        assert_eq!(form.to_string().parse(), Ok(form));
    }
    assert_eq!(
        "flat ".parse::<SchemaForm>().unwrap_err().to_string(),
        "\"flat \" is not a form of schemas (there are `flat`, `split` and `oneof`)"
    );
}
