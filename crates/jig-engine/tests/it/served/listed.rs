//! What is said about the tools of servers: their schemas, and what they can do.

use jig_engine::{Effects, not_offered};
use jig_proto::SchemaForm;
use serde_json::{Value, json};

use crate::served::{Script, World, plain, text};

fn world(config: &str, tools: &[Value]) -> World {
    World::with(config, Script::saying(text("done")), tools)
}

fn program(more: &str) -> String {
    format!("[mcp.servers.s]\ncommand = \"true\"\n{more}")
}

const REMOTE: &str = "[mcp.servers.s]\nurl = \"http://127.0.0.1:9/mcp\"\n";

/// The server's rules decide; its own hints only ever make a tool look worse.
#[test]
fn effects_are_those_of_the_servers_policy() {
    let any = Effects::ANY;
    let check = |config: &str, hints: Value, expected: Effects| {
        let tool = json!({"name": "t", "inputSchema": {}, "annotations": hints});
        let world = world(config, &[tool]);
        let tool = world.engine.config().tool("s_t").unwrap();
        assert_eq!(world.engine.effects(tool), expected, "{config} {hints}");
    };
    let harmless = json!({
        "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false,
    });
    // Claims of a server that may do anything are worth nothing.
    check(REMOTE, harmless.clone(), any);
    check(REMOTE, json!({}), any);
    let writes =
        program("[mcp.servers.s.access]\nfs = [{ path = \".\", read = true, write = true }]\n");
    let writing = Effects {
        open_world: false,
        ..any
    };
    check(&writes, harmless.clone(), writing);
    let net = program("[mcp.servers.s.access]\nnet = [{ host = \"example.com\", allow = true }]\n");
    check(&net, harmless.clone(), any);
    // One that can do nothing may still say that it does.
    let reads = program("[mcp.servers.s.access]\nfs = [{ path = \".\", read = true }]\n");
    check(&reads, json!({}), Effects::NONE);
    check(&reads, harmless, Effects::NONE);
    check(
        &reads,
        json!({"readOnlyHint": false}),
        Effects {
            read_only: false,
            idempotent: false,
            ..Effects::NONE
        },
    );
    check(
        &reads,
        json!({"readOnlyHint": false, "destructiveHint": true, "openWorldHint": true}),
        any,
    );
    check(
        &reads,
        json!({"openWorldHint": true}),
        Effects {
            open_world: true,
            ..Effects::NONE
        },
    );
    // What is no hint is none.
    check(&reads, json!({"readOnlyHint": "no"}), Effects::NONE);
}

#[test]
fn schemas_are_published_in_a_form_that_providers_take() {
    let tools = [
        json!({"name": "ref", "inputSchema": {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "$ref": "#/definitions/A", "definitions": {"A": {"properties": {"x": {"const": 1}}, "required": ["x"]}},
        }}),
        json!({"name": "choice", "inputSchema": {"anyOf": [
            {"properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"properties": {"b": true}, "required": ["b"]},
        ]}}),
        plain("none"),
    ];
    let world = world("", &tools);
    let published = world.engine.published(SchemaForm::Flat).unwrap();
    let schema = |name: &str| {
        let one = published.iter().find(|one| one.tool == name).unwrap();
        Value::Object(one.clone().simplified().parameters)
    };
    assert_eq!(
        schema("s_ref"),
        json!({
            "type": "object",
            "$defs": {"A": {"properties": {"x": {"enum": [1]}}, "required": ["x"]}},
            "properties": {"x": {"enum": [1]}},
            "required": ["x"],
        })
    );
    assert_eq!(
        schema("s_choice"),
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {}}})
    );
    assert_eq!(
        schema("s_none"),
        json!({"type": "object", "properties": {}})
    );
}

#[test]
fn a_tool_that_its_server_did_not_describe_is_not_offered_and_can_be_called() {
    let config = "[tools.t]\nsource = \"mcp.s\"\nrun = \"unattended\"\n";
    let world = world(config, &[]);
    let tool = world.engine.config().tool("t").unwrap();
    assert!(not_offered(world.engine.config(), tool).is_some());
    let published = world.engine.published(SchemaForm::Flat).unwrap();
    assert!(published.iter().all(|one| one.tool != "t"));
    assert_eq!(
        world.call("t", json!({"any": 1})).unwrap().to_text(),
        "done"
    );
    assert_eq!(world.lines.take()[0].reason, "its definition is not known");
}

#[test]
fn without_anybody_who_reaches_servers_a_call_says_so() {
    let mut world = world("", &[plain("t")]);
    world.engine.servers = None;
    let error = world.call("s_t", json!({})).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("nothing here reaches MCP servers"),
        "{error}"
    );
}
