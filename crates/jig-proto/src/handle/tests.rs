use serde_json::{Value, json};

use super::{HandleId, HandleIdError, HandleReport};
use crate::{Block, Question, Resource, ToolError, ToolState};

#[test]
fn s061_x20_ids() {
    let check = |text: &str, expected: Result<(), HandleIdError>| {
        let id = text.parse::<HandleId>();
        assert_eq!(
            id.as_ref().map(HandleId::as_str),
            expected.as_ref().map(|()| text),
            "{text:?}"
        );
    };
    check("h_1", Ok(()));
    check("build:ui/2", Ok(()));
    check("~", Ok(()));
    check(&"x".repeat(64), Ok(()));
    check(&"x".repeat(65), Err(HandleIdError::TooLong));
    check("", Err(HandleIdError::Empty));
    check(" ", Err(HandleIdError::NotPrintable));
    check("a b", Err(HandleIdError::NotPrintable));
    check("a\n", Err(HandleIdError::NotPrintable));
    check("a\u{1b}[2J", Err(HandleIdError::NotPrintable));
    check("a\0", Err(HandleIdError::NotPrintable));
    check("\u{202e}h_1", Err(HandleIdError::NotPrintable));
    check("h_\u{661}", Err(HandleIdError::NotPrintable));

    assert_eq!(HandleId::numbered(1).to_string(), "h_1");
    assert_eq!(
        HandleId::numbered(u64::MAX).as_str().parse(),
        Ok(HandleId::numbered(u64::MAX))
    );
    assert_eq!(
        serde_json::from_value::<HandleId>(json!("h_1")).unwrap(),
        HandleId::numbered(1)
    );
    assert!(serde_json::from_value::<HandleId>(json!("a b")).is_err());
}

#[test]
fn s010_to_s014_reports() {
    let check = |state: ToolState, expected: Value| {
        let report = HandleReport {
            id: HandleId::numbered(1),
            state,
        };
        assert_eq!(report.to_string(), expected.to_string());
        assert_eq!(HandleReport::read(expected).unwrap().value, report);
    };
    check(
        ToolState::running("diff --git a/..."),
        json!({"id": "h_1", "state": "running", "content": "diff --git a/..."}),
    );
    check(
        ToolState::running("Stage this hunk? [y/n/...]"),
        json!({"id": "h_1", "state": "running", "content": "Stage this hunk? [y/n/...]"}),
    );
    check(
        ToolState::running(""),
        json!({"id": "h_1", "state": "running"}),
    );
    check(
        ToolState::succeeded("Staged 3 hunks."),
        json!({"id": "h_1", "state": "stopped", "result": "Staged 3 hunks."}),
    );
    check(
        ToolState::failed(ToolError::new("no")),
        json!({"id": "h_1", "state": "stopped",
            "error": {"message": "no", "trace": [], "transient": false}}),
    );
    // S-075: the assistant sees the question and answers by `apply`.
    check(
        ToolState::Waiting {
            content: "Dirty.".into(),
            question: Question::yes_no("q", "Sure?"),
        },
        json!({"id": "h_1", "state": "waiting", "content": "Dirty.",
            "question": {"id": "q", "text": "Sure?", "schema": {"type": "boolean"}}}),
    );
}

#[test]
fn x06_blocks_are_rendered_as_text() {
    let resource = Resource::text("file:///a.json", "{}").with_mime_type("application/json");
    let blocks = vec![Block::text("Found:"), Block::Resource(resource)];
    let report = HandleReport {
        id: HandleId::numbered(2),
        state: ToolState::succeeded(blocks),
    };
    let expected = json!({"id": "h_2", "state": "stopped", "result": "Found:\n```json\n{}\n```"});
    assert_eq!(serde_json::to_value(&report).unwrap(), expected);
}

#[test]
fn x02_the_tag_of_a_tool_is_not_the_tag_of_a_report() {
    let check = |value: Value, expected: &str| {
        assert_eq!(HandleReport::read(value).unwrap_err().to_string(), expected);
    };
    check(
        json!({"id": "h_1", "type": "running"}),
        "`state` is missing: expected `running`, `waiting` or `stopped`",
    );
    check(
        json!({"id": "h_1", "state": "spawned"}),
        "`state`: expected `running`, `waiting` or `stopped`, found the string \"spawned\"",
    );
    check(
        json!({"state": "running"}),
        "`id` is missing: expected a handle id",
    );
}
