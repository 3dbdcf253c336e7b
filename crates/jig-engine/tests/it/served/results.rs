//! What comes back: blocks as they came, within limits, and as the tool declares it.

use jig_broker::AuditDecision;
use jig_engine::{About, Answer, CallError};
use jig_proto::{Block, Content};
use serde_json::{Value, json};

use crate::served::{Person, Script, World, plain, text, yes};

fn image(bytes: usize) -> Value {
    json!({"type": "image", "data": "A".repeat(bytes), "mimeType": "image/png"})
}

#[test]
fn blocks_reach_the_caller_unchanged_and_a_line_is_written() {
    let blocks = json!([
        {"type": "text", "text": "a", "annotations": {"audience": ["user"]}, "_meta": {"x": 1}},
        image(8),
        {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "jig://output/1", "name": "n"},
        {"type": "resource", "resource": {"uri": "a:b", "text": "t"}},
    ]);
    let result = json!({"content": blocks, "structuredContent": {"n": 1}, "_meta": {"m": 1}});
    let world = World::new(Script::saying(result), &[plain("t")]);
    let content = world.call("s_t", json!({})).unwrap();
    let (shown, beside) = content.blocks().split_at(5);
    assert_eq!(json!(shown), blocks);
    assert!(matches!(beside, [Block::Structured(one), Block::Meta(_)] if *one == json!({"n": 1})));
    let tool = world.engine.config().tool("s_t").unwrap();
    assert_eq!(
        world.engine.structured(tool, &content),
        Some(json!({"n": 1}))
    );
    let lines = world.lines.take();
    let [line] = lines.as_slice() else {
        panic!("one line: {lines:?}");
    };
    assert_eq!(
        (line.tool.as_str(), line.operation.as_str()),
        ("s_t", "mcp.call")
    );
    assert_eq!(
        (line.target.as_str(), line.decision),
        ("s.t", AuditDecision::Allow)
    );
    let hash = tool.definition.as_ref().unwrap().hash();
    assert_eq!(line.reason, format!("definition {hash}"));
    assert!(
        line.origin.as_ref().unwrap().contains("jig.toml"),
        "{:?}",
        line.origin
    );
    assert_eq!(line.outcome.as_deref(), Some("ok"));
    assert!(line.duration_us.is_some());
}

#[test]
fn a_failure_keeps_its_blocks() {
    let result = json!({"content": [{"type": "text", "text": "no"}, image(8)], "isError": true});
    let world = World::new(Script::saying(result), &[plain("t")]);
    let error = world.call("s_t", json!({})).unwrap_err();
    let CallError::Tool(error) = error else {
        panic!("{error}");
    };
    assert_eq!(error.message, "no\n[image: image/png, 6 bytes]");
    assert_eq!(error.content.blocks().len(), 2);
    assert_eq!(world.lines.take()[0].outcome.as_deref(), Some("error"));
}

const SMALL: &str =
    "[tools.t]\nsource = \"mcp.s\"\nrun = \"unattended\"\nsize_threshold = \"1KiB\"\n";

#[test]
fn what_is_too_large_is_cut_or_replaced_by_a_note() {
    let check = |config: &str, tool: &str, result: Value, expected: &dyn Fn(&Content) -> bool| {
        let world = World::with(config, Script::saying(result), &[plain("t")]);
        let content = world.call(tool, json!({})).unwrap();
        assert!(expected(&content), "{:.2000}", format!("{content:?}"));
    };
    let is_image = |block: &Block| matches!(block, Block::Foreign(one) if one["type"] == "image");
    // An image that a screen fills is passed on.
    let result = json!({ "content": [image(2 << 20)] });
    check("", "s_t", result, &|content| is_image(&content.blocks()[0]));
    // More than that, or than the tool may have, is told in words.
    let result = json!({ "content": [image(12 << 20), image(8)] });
    check("", "s_t", result, &|content| {
        let text = content.to_text();
        is_image(&content.blocks()[1])
            && text.contains("image/png, 9437184 bytes")
            && text.contains("left out")
    });
    let result = json!({ "content": [image(2000)] });
    check(SMALL, "t", result, &|content| {
        content.to_text().contains("left out")
    });
    // Text is cut, wherever it stands, and what is no text stays.
    let long = "x".repeat(5000);
    for block in [
        json!({"type": "text", "text": long}),
        json!({"type": "text", "text": long, "_meta": {}}),
        json!({"type": "text", "text": "x", "_meta": {"hidden": long}}),
        json!({"type": "resource", "resource": {"uri": "a:b", "text": long}}),
        json!({"type": "resource_link", "uri": "a:b", "name": long}),
    ] {
        let result = json!({ "content": [block, image(8), {"type": "text", "text": "after"}] });
        check(SMALL, "t", result, &|content| {
            let text = content.to_text();
            text.len() < 1200
                && text.contains("truncated")
                && !text.contains("after")
                && content.blocks().iter().any(is_image)
                && json!(content).to_string().len() < 1400
        });
    }
    // JSON beside the text has the same limit.
    let result = json!({"content": [], "structuredContent": {"x": long}, "_meta": {"x": long}});
    check(SMALL, "t", result, &|content| {
        content.structured().is_none() && content.to_text().contains("5 KB was left out")
    });
    // An error is cut likewise.
    let result = json!({"content": [{"type": "text", "text": long}, image(2000)], "isError": true});
    let world = World::with(SMALL, Script::saying(result), &[plain("t")]);
    match world.call("t", json!({})).unwrap_err() {
        CallError::Tool(error) => {
            assert!(error.message.len() < 1200);
            let carried = json!(error.content).to_string();
            assert!(carried.len() < 1400, "{carried}");
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_declared_result_is_held_to_its_schema() {
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let check = |schema: &Value, result: Value, expected: Result<Value, &str>| {
        let tool = json!({"name": "t", "inputSchema": {}, "outputSchema": schema});
        let world = World::new(Script::saying(result), &[tool]);
        let said = world.call("s_t", json!({}));
        let tool = world.engine.config().tool("s_t").unwrap();
        let said = said.map(|content| world.engine.structured(tool, &content));
        match (said, expected) {
            (Ok(said), Ok(expected)) => assert_eq!(said, Some(expected)),
            (Err(error @ CallError::Output { .. }), Err(words)) => {
                assert!(error.to_string().contains(words), "{error}");
            }
            (said, expected) => panic!("{said:?}, not {expected:?}"),
        }
    };
    let structured = |value: Value| json!({"content": [], "structuredContent": value});
    check(&schema, structured(json!({"n": 1})), Ok(json!({"n": 1})));
    check(&schema, structured(json!({"n": "1"})), Err("at `/n`"));
    check(&schema, structured(json!({})), Err("required property"));
    // A server that says it only as text is understood.
    check(&schema, text(r#"{"n": 2}"#), Ok(json!({"n": 2})));
    check(&schema, text("two"), Err("not JSON"));
    check(&schema, json!({}), Err("empty"));
    // Half of it would be something else.
    check(
        &schema,
        structured(json!({"n": 1, "x": "y".repeat(300_000)})),
        Err("at most 262144"),
    );
    // What cannot be checked here is the server's affair.
    let odd = json!({"type": "object", "$ref": "#"});
    check(&odd, structured(json!({"n": 1})), Ok(json!({"n": 1})));
}

/// An error is not held to the schema of a success.
#[test]
fn a_failure_is_not_held_to_the_schema() {
    let tool = json!({"name": "t", "inputSchema": {}, "outputSchema": {"type": "object", "required": ["n"]}});
    let result = json!({"content": [{"type": "text", "text": "no such city"}], "isError": true});
    let world = World::new(Script::saying(result), &[tool]);
    let error = world.call("s_t", json!({})).unwrap_err();
    assert_eq!(error.to_string(), "no such city");
}

#[test]
fn result_modes_hold_for_servers() {
    let config = |mode: &str| {
        format!("[tools.t]\nsource = \"mcp.s\"\nrun = \"unattended\"\nresult = \"{mode}\"\n")
    };
    let result = json!({"content": [{"type": "text", "text": "secret plan"}, image(8)]});
    let world =
        |mode: &str| World::with(&config(mode), Script::saying(result.clone()), &[plain("t")]);
    assert!(matches!(
        world("skip").call("t", json!({})),
        Err(CallError::ResultWithheld(_))
    ));
    let mut person = Person::who_says([yes()]);
    let content = world("ask").call_with("t", json!({}), &mut person).unwrap();
    assert_eq!(content.blocks().len(), 2);
    assert_eq!(person.asked[0].0, About::Result);
    assert_eq!(
        person.asked[0].2,
        "secret plan\n[image: image/png, 6 bytes]"
    );
    let mut person = Person::who_says([Answer::Given(json!("plan"))]);
    let content = world("edit")
        .call_with("t", json!({}), &mut person)
        .unwrap();
    assert_eq!(content, Content::text("plan"));
}
