use serde_json::{Value, json};

use crate::json::{self, JsonLimits};
use crate::{Block, Content, ToolError};

fn read(result: Value) -> Content {
    Content::from_mcp(result).expect("no error")
}

fn of(blocks: Value) -> Content {
    read(json!({ "content": blocks }))
}

fn check_text(block: Value, expected: &str) {
    assert_eq!(of(json!([block])).to_text(), expected);
}

#[test]
fn blocks_are_kept_as_they_came() {
    let blocks = json!([
        {"type": "text", "text": "plain"},
        {"type": "text", "text": "more", "annotations": {"priority": 0.7}, "_meta": {"x": 1}},
        {"type": "text", "text": ""},
        {"type": "image", "data": "AAAA", "mimeType": "image/png", "later": true},
        {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "jig://output/1", "name": "theirs"},
        {"type": "resource", "resource": {"uri": "a:b", "text": "t", "_meta": {"deep": [1]}}},
        {"type": "resource", "resource": {"uri": "a:b", "blob": "AAAA"}},
    ]);
    let content = of(blocks.clone());
    assert_eq!(content.blocks()[0], Block::text("plain"));
    assert_eq!(json!(content), blocks);
    let foreign = |block: &&Block| matches!(block, Block::Foreign(_));
    assert_eq!(content.blocks().iter().filter(foreign).count(), 7);
}

#[test]
fn what_stands_beside_the_blocks_is_kept() {
    let content = read(json!({
        "content": [{"type": "text", "text": "a"}],
        "structuredContent": {"a": [null]},
        "_meta": {"x/y": 1},
        "isError": false,
    }));
    assert_eq!(content.structured(), Some(&json!({"a": [null]})));
    assert_eq!(content.to_text(), "a");
    assert!(matches!(content.blocks(), [_, _, Block::Meta(meta)] if meta["x/y"] == 1));
    // A server may say nothing but JSON, and null is JSON.
    assert_eq!(
        read(json!({"structuredContent": {"a": 1}})).to_text(),
        r#"{"a":1}"#
    );
    assert_eq!(
        read(json!({"structuredContent": null})).structured(),
        Some(&Value::Null)
    );
}

#[test]
fn a_failure_carries_its_blocks() {
    let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    let failed = Content::from_mcp(json!({
        "content": [{"type": "text", "text": "no"}, image], "isError": true,
    }));
    let error = failed.expect_err("an error");
    assert_eq!(error.message, "no\n[image: image/png, 3 bytes]");
    assert_eq!(error.content.blocks().len(), 2);
    // The blocks are for whoever passes blocks on, and are no part of the error's own form.
    assert_eq!(json!(error).get("content"), None);
    let silent = Content::from_mcp(json!({"isError": true})).expect_err("an error");
    assert_eq!(silent.message, "the tool failed, and said nothing about it");
}

#[test]
fn what_is_no_block_becomes_a_note() {
    check_text(json!(3), "[the server sent something that is no block]");
    check_text(
        json!({"text": "a"}),
        "[the server sent a block without a type]",
    );
    check_text(
        json!({"type": 1}),
        "[the server sent a block without a type]",
    );
    check_text(
        json!({"type": "video\n[x"}),
        r#"[a block of the kind "video\n[x", which jig does not know]"#,
    );
    for broken in [
        json!({"type": "text"}),
        json!({"type": "text", "text": 1}),
        json!({"type": "image", "data": "AAAA"}),
        json!({"type": "resource"}),
        json!({"type": "resource", "resource": []}),
        json!({"type": "resource", "resource": {"uri": "a:b"}}),
        json!({"type": "resource", "resource": {"uri": "a:b", "text": "a", "blob": "b"}}),
        json!({"type": "resource_link", "uri": "a:b"}),
    ] {
        assert!(
            of(json!([broken]))
                .to_text()
                .ends_with("that is not whole]"),
            "{broken}"
        );
    }
    for odd in [
        json!(null),
        json!([]),
        json!("text"),
        json!({"content": "text"}),
    ] {
        let content = read(odd.clone());
        assert!(content.to_text().starts_with("[the server sent"), "{odd}");
    }
    assert_eq!(read(json!({})), Content::EMPTY);
}

#[test]
fn blocks_are_shown_by_their_kind() {
    check_text(json!({"type": "text", "text": "a", "_meta": {}}), "a");
    check_text(
        json!({"type": "image", "data": "AAA=", "mimeType": "image/png]\nour words"}),
        "[image: image/pngour words, 2 bytes]",
    );
    check_text(
        json!({"type": "resource", "resource": {"uri": "a:b", "mimeType": "text/rust", "text": "x"}}),
        "```rs\nx\n```",
    );
    check_text(
        json!({"type": "resource", "resource": {"uri": "a:b", "blob": "AAAA"}}),
        "[a:b: binary, 3 bytes]",
    );
    check_text(
        json!({"type": "resource_link", "uri": "a:b", "name": "n"}),
        "[link: n, a:b]",
    );
}

#[test]
fn any_number_of_blocks_is_bounded() {
    let many = vec![json!({"type": "text", "text": "a"}); 10_000];
    let content = of(Value::Array(many));
    assert_eq!(content.blocks().len(), Content::MAX_BLOCKS + 1);
    assert!(
        content
            .to_text()
            .ends_with("[8976 more blocks were left out]")
    );
}

#[test]
fn bytes_are_counted_by_what_they_are() {
    let check = |block: Value, text: usize, binary: usize| {
        let content = of(json!([block]));
        let block = &content.blocks()[0];
        assert_eq!(
            (block.text_bytes(), block.binary_bytes()),
            (text, binary),
            "{block:?}"
        );
    };
    check(json!({"type": "text", "text": "abc"}), 3, 0);
    let base64 = "A".repeat(4000);
    let image = json!({"type": "image", "data": base64, "mimeType": "image/png"});
    let content = of(json!([image]));
    assert!(content.blocks()[0].text_bytes() < 60);
    assert_eq!(content.blocks()[0].binary_bytes(), 4000);
    let blob = json!({"type": "resource", "resource": {"uri": "a:b", "blob": base64}});
    let content = of(json!([blob]));
    assert!(content.blocks()[0].text_bytes() < 60);
    assert_eq!(content.blocks()[0].binary_bytes(), 4000);
    // What a server hides in what is not shown counts as well.
    let hidden = json!({"type": "text", "text": "a", "_meta": {"x": "y".repeat(4000)}});
    assert!(of(json!([hidden])).blocks()[0].text_bytes() > 4000);
    let content = read(json!({"structuredContent": {"x": "y".repeat(4000)}}));
    assert!(content.blocks()[0].text_bytes() > 4000);
}

#[test]
fn every_text_is_visited_and_no_binary_data() {
    let secret = "s3cret";
    let result = json!({
        "content": [
            {"type": "text", "text": "s3cret"},
            {"type": "text", "text": "a s3cret", "annotations": {"audience": ["s3cret"]}},
            {"type": "image", "data": "s3cret==", "mimeType": "image/s3cret", "_meta": {"s3cret": "s3cret"}},
            {"type": "resource", "resource": {"uri": "s3cret:b", "blob": "s3cret=="}},
            {"type": "resource_link", "uri": "a:s3cret", "name": "s3cret", "icons": [{"src": "s3cret"}]},
        ],
        "structuredContent": {"data": "s3cret", "s3cret": ["s3cret"]},
        "_meta": {"x": "s3cret"},
        "isError": true,
    });
    let mut error: ToolError = Content::from_mcp(result).expect_err("an error");
    error.visit_texts(&mut |text| *text = text.replace(secret, "***"));
    assert!(!error.message.contains(secret));
    let left = json!(error.content).to_string();
    assert_eq!(left.matches(secret).count(), 2, "{left}");
    assert_eq!(left.matches("\"data\":\"s3cret==\"").count(), 1);
    assert_eq!(left.matches("\"blob\":\"s3cret==\"").count(), 1);
}

/// What a server may send is read within the limits of a message, or not at all; the rest must not panic.
#[test]
fn odd_json_does_no_harm() {
    let read = |text: &str| json::value(text.as_bytes(), &JsonLimits::MESSAGE);
    let deep = format!(
        "{{\"structuredContent\": {}{}}}",
        "[".repeat(60),
        "]".repeat(60)
    );
    let content =
        Content::from_mcp(read(&deep).expect("it is within the limits")).expect("a result");
    assert_eq!(content.blocks().len(), 1);
    assert!(content.blocks()[0].text_bytes() >= 120);
    for refused in [
        format!(
            "{{\"structuredContent\": {}{}}}",
            "[".repeat(200),
            "]".repeat(200)
        ),
        r#"{"content": [{"type": "text", "text": "\ud800"}]}"#.to_owned(),
        r#"{"structuredContent": 1e999}"#.to_owned(),
        r#"{"structuredContent": NaN}"#.to_owned(),
    ] {
        assert!(read(&refused).is_err(), "{refused}");
    }
    // 15 MiB of base64.
    let huge = json!([{"type": "image", "data": "A".repeat(15 << 20), "mimeType": "image/png"}]);
    assert_eq!(of(huge).to_text(), "[image: image/png, 11796480 bytes]");
}
