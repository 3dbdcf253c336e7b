use serde_json::{Value, json};

use super::{CutReport, Details, HandleId, HandleIdError, HandleReport, TerminalReport};
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
        let report = HandleReport::new(HandleId::numbered(1), state);
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
fn s083_details_stand_beside_the_state() {
    let check = |details: Details, members: Value| {
        let mut expected = json!({"id": "h_1", "state": "running", "content": "x"});
        let report = HandleReport {
            details,
            ..HandleReport::new(HandleId::numbered(1), ToolState::running("x"))
        };
        for (key, member) in members.as_object().unwrap() {
            expected[key] = member.clone();
        }
        assert_eq!(report.to_string(), expected.to_string());
        assert_eq!(HandleReport::read(expected).unwrap().value, report);
    };
    check(Details::default(), json!({}));
    check(
        Details {
            seq: Some(u64::MAX),
            ..Details::default()
        },
        json!({"seq": u64::MAX}),
    );
    check(
        Details {
            seq: Some(7),
            cut: Some(CutReport {
                bytes: 1000,
                hint: "ask with `after_seq`".to_owned(),
            }),
            terminal: Some(TerminalReport {
                rows: 24,
                cols: 80,
                cursor: [3, 0],
                alternate: true,
            }),
            exit_code: Some(-1),
            notes: vec!["refused".to_owned()],
        },
        json!({
            "seq": 7,
            "cut": {"bytes": 1000, "hint": "ask with `after_seq`"},
            "terminal": {"rows": 24, "cols": 80, "cursor": [3, 0], "alternate": true},
            "exit_code": -1,
            "notes": ["refused"],
        }),
    );
}

#[test]
fn details_that_are_none_are_named() {
    let check = |members: Value, expected: &str| {
        let mut report = json!({"id": "h_1", "state": "running"});
        for (key, member) in members.as_object().unwrap() {
            report[key] = member.clone();
        }
        assert_eq!(
            HandleReport::read(report).unwrap_err().to_string(),
            expected
        );
    };
    check(
        json!({"seq": -1}),
        "`seq`: expected a number that is not negative, found the number -1",
    );
    check(
        json!({"exit_code": 1.5}),
        "`exit_code`: expected a whole number, found the number 1.5",
    );
    check(
        json!({"exit_code": 2_147_483_648_u32}),
        "`exit_code`: expected a whole number, found the number 2147483648",
    );
    check(
        json!({"cut": {"bytes": 1}}),
        "`cut.hint` is missing: expected a string",
    );
    check(
        json!({"cut": 1}),
        "`cut`: expected an object with `bytes` and `hint`, found the number 1",
    );
    let terminal = |cursor: Value| json!({"terminal": {"rows": 1, "cols": 1, "cursor": cursor, "alternate": false}});
    check(
        terminal(json!([1])),
        "`terminal.cursor` is missing: expected a row and a column",
    );
    check(
        terminal(json!([1, "x"])),
        "`terminal.cursor[1]`: expected a number from 0 to 65535, found the string \"x\"",
    );
    check(
        json!({"terminal": {"cols": 1, "cursor": [0, 0], "alternate": false}}),
        "`terminal.rows` is missing: expected a number",
    );
}

#[test]
fn x06_blocks_are_rendered_as_text() {
    let resource = Resource::text("file:///a.json", "{}").with_mime_type("application/json");
    let blocks = vec![Block::text("Found:"), Block::Resource(resource)];
    let report = HandleReport::new(HandleId::numbered(2), ToolState::succeeded(blocks));
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
