//! Arguments are held to what the server says of them, and reach it as they are.

use serde_json::{Value, json};

use crate::served::{Script, World, text};

fn world(schema: Value) -> World {
    let tool = json!({"name": "t", "inputSchema": schema});
    World::new(Script::saying(text("done")), &[tool])
}

/// What is wrong with the arguments; `None` if they reach the server, unchanged.
fn fault(world: &World, arguments: &Value) -> Option<String> {
    match world.call("s_t", arguments.clone()) {
        Ok(_) => {
            let sent = world.script.calls.lock().unwrap().pop().unwrap();
            assert_eq!(Value::Object(sent.arguments), *arguments);
            assert_eq!((sent.tool.as_str(), sent.server.name.as_str()), ("t", "s"));
            None
        }
        Err(error) => Some(error.to_string()),
    }
}

/// J-017, and the words are those in which the arguments of our own tools are told.
#[test]
fn what_does_not_fit_is_told_by_the_name_of_the_argument() {
    let world = world(json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where it is.\nMore."},
            "count": {"type": ["integer", "null"], "minimum": 1, "default": 5},
            "mode": {"enum": ["a", "b"]},
            "edits": {"type": "array", "items": {
                "type": "object",
                "properties": {"old": {"type": "string"}},
                "required": ["old"],
                "additionalProperties": false,
            }},
        },
        "required": ["path"],
        "additionalProperties": false,
    }));
    let check = |arguments: Value, expected: Option<&str>| {
        let expected = expected.map(|words| format!("Invalid arguments: {words}\nhint: the description of the tool `s_t` says what it takes"));
        assert_eq!(fault(&world, &arguments), expected, "{arguments}");
    };
    // What has a default is left out: the server fills it in.
    check(json!({"path": "a"}), None);
    check(
        json!({"path": "a", "count": null, "mode": "b", "edits": [{"old": "x"}]}),
        None,
    );
    check(json!({}), Some("`path` is missing (Where it is)"));
    check(
        json!({"path": 3}),
        Some("`path` must be string, not a number"),
    );
    check(
        json!({"path": "a", "count": true}),
        Some("`count` must be null or integer, not a boolean"),
    );
    check(
        json!({"path": "a", "count": 0}),
        Some("`count` is less than the minimum of 1"),
    );
    check(
        json!({"path": "a", "mode": "c"}),
        Some(r#"`mode` must be one of "a", "b""#),
    );
    check(
        json!({"path": "a", "edits": [{"old": "x"}, {"new": 1}]}),
        Some("`edits[1].new` is not known; `edits[1].old` is missing"),
    );
    check(
        json!({"path": "a", "x": 1}),
        Some("`x` is not known; there is `path`, `count`, `mode`, `edits`"),
    );
    assert_eq!(world.calls(), 0);
}

#[test]
fn json_in_a_string_becomes_what_the_schema_wants() {
    let schema = json!({"type": "object", "properties": {
        "list": {"type": "array"}, "text": {"type": ["array", "string"]}, "any": {},
    }});
    let world = world(schema);
    let given = json!({"list": "[1, 2]", "text": "[1]", "any": "[1]"});
    world.call("s_t", given).unwrap();
    let sent = world.script.calls.lock().unwrap().pop().unwrap();
    let expected = json!({"list": [1, 2], "text": "[1]", "any": "[1]"});
    assert_eq!(Value::Object(sent.arguments), expected);
}

/// A server's schema must not take our time, our memory or our files: one that would is left to the server.
#[test]
fn a_schema_that_cannot_be_used_is_left_to_the_server() {
    let chain = |width: usize, length: usize| {
        let mut definitions = serde_json::Map::new();
        for at in 0..length {
            let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
            definitions.insert(format!("d{at}"), json!({"allOf": vec![next; width]}));
        }
        definitions.insert(format!("d{length}"), json!({"type": "object"}));
        json!({"type": "object", "allOf": [{"$ref": "#/$defs/d0"}], "$defs": definitions})
    };
    for schema in [
        json!({"type": 7}),
        json!({"type": "object", "properties": 3}),
        json!({"type": "object", "properties": {"a": {"pattern": "(?<=x)y"}}}),
        json!({"type": "object", "properties": {"a": {"pattern": "(a{1000}){1000}"}}}),
        json!({"type": "object", "$ref": "http://127.0.0.1:1/schema.json"}),
        json!({"type": "object", "$ref": "file:///etc/passwd"}),
        json!({"type": "object", "$schema": "http://127.0.0.1:1/schema.json"}),
        json!({"type": "object", "$ref": "#"}),
        json!({"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}),
        json!({"$id": "urn:x", "type": "object", "$ref": "urn:x"}),
        // 2^60 checks.
        chain(2, 60),
        // As many as there are leaves in a tree of the depth of the arguments.
        json!({"type": "object", "allOf": [
            {"properties": {"a": {"$ref": "#/$defs/a"}}}, {"properties": {"a": {"$ref": "#/$defs/a"}}},
        ], "$defs": {"a": {"properties": {"a": {"$ref": "#/$defs/a"}}}}}),
    ] {
        let world = world(schema.clone());
        let mut deep = json!(1);
        for _ in 0..40 {
            deep = json!({ "a": deep });
        }
        assert_eq!(fault(&world, &deep), None, "{schema}");
    }
    // One that is only long is used.
    let world = world(chain(1, 20));
    assert_eq!(fault(&world, &json!({"a": 1})), None);
}

/// Any number of faults, of any size.
#[test]
fn the_words_are_bounded() {
    let world = world(json!({"type": "object", "properties": {"a": {
        "type": "array", "items": {"enum": vec!["x".repeat(1000); 1]},
    }}}));
    for many in [900, 200_000] {
        let told = fault(&world, &json!({ "a": vec![1; many] })).unwrap();
        assert!(told.len() < 10_000, "{}", told.len());
    }
    let closed = self::world(json!({"type": "object", "additionalProperties": false}));
    let name = "n".repeat(100_000);
    let told = fault(&closed, &json!({ name: 1 })).unwrap();
    assert!(told.len() < 1000, "{}", told.len());
}

/// Rules on arguments are about what the caller wrote, since nothing else is known here.
#[test]
fn run_rules_judge_the_arguments_as_they_are() {
    let config = r#"
        [tools.t]
        source = "mcp.s"
        run = [
            { arg = "/path", prefix = "docs/", mode = "unattended" },
            { arg = "/path", prefix = "locked/", mode = "skip" },
            { mode = "ask" },
        ]
    "#;
    let tool = json!({"name": "t", "inputSchema": {"properties": {"path": {"type": "string", "default": "locked/a"}}}});
    let world = World::with(config, Script::saying(text("done")), &[tool]);
    let check = |arguments: Value, expected: &str| {
        let said = match world.call("t", arguments.clone()) {
            Ok(content) => content.to_text(),
            Err(error) => error.to_string(),
        };
        assert_eq!(said, expected, "{arguments}");
    };
    let nobody = "`t` asks before it runs, and nobody can be asked here";
    check(json!({"path": "docs/a"}), "done");
    check(
        json!({"path": "locked/a"}),
        "`t` is configured to be skipped",
    );
    check(
        json!({"path": "docs/../locked/a"}),
        "`t` is configured to be skipped",
    );
    check(json!({}), nobody);
    check(
        json!({"path": 3}),
        "Invalid arguments: `path` must be string, not a number\nhint: the description of the tool `t` says what it takes",
    );
    assert_eq!(world.calls(), 1);
}

/// JSON in a string does not get around a rule.
#[test]
fn a_rule_is_about_what_is_sent() {
    let config = r#"
        [tools.t]
        source = "mcp.s"
        run = [{ arg = "/force", equals = true, mode = "ask" }, { mode = "unattended" }]
    "#;
    let tool = json!({"name": "t", "inputSchema": {"properties": {"force": {"type": "boolean"}}}});
    let world = World::with(config, Script::saying(text("done")), &[tool]);
    let check = |arguments: Value, is_unattended: bool| match world.call("t", arguments.clone()) {
        Ok(_) => assert!(is_unattended, "{arguments}"),
        Err(asked) => {
            assert!(!is_unattended, "{arguments}: {asked}");
            assert!(asked.to_string().contains("asks before it runs"), "{asked}");
        }
    };
    check(json!({}), true);
    check(json!({"force": false}), true);
    check(json!({"force": "false"}), true);
    check(json!({"force": true}), false);
    check(json!({"force": "true"}), false);
    check(json!({"force": " true "}), false);
}
