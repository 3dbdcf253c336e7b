use serde_json::{Map, Value, json};

use super::{ErrorDetails, Response};
use crate::{Block, Content, Question, StateName, ToolError, ToolState, Warnings};

fn check(response: Response, expected: Value) {
    assert_eq!(
        serde_json::to_string(&response).unwrap(),
        expected.to_string()
    );
    let read = Response::read(expected).unwrap();
    assert!(read.warnings.is_empty());
    assert_eq!(read.value, response);
}

#[test]
fn responses_round_trip() {
    let text = |text: &str| Response {
        content: text.into(),
        ..Response::default()
    };
    check(
        text("a"),
        json!({"content": [{"type": "text", "text": "a"}]}),
    );
    check(text(""), json!({"content": []}));
    check(
        Response {
            status: Some(StateName::Running),
            ..text("a")
        },
        json!({"content": [{"type": "text", "text": "a"}], "_meta": {"computer.jp/status": "running"}}),
    );
    let mut meta = Map::new();
    meta.insert("z.example/first".to_owned(), json!([1]));
    meta.insert("a.example/second".to_owned(), json!({"b": null}));
    check(
        Response {
            is_error: true,
            status: Some(StateName::Stopped),
            error: Some(ErrorDetails {
                transient: true,
                trace: vec!["io".to_owned()],
            }),
            meta,
            ..text("no")
        },
        json!({"content": [{"type": "text", "text": "no"}], "isError": true, "_meta": {
            "computer.jp/status": "stopped",
            "computer.jp/error": {"transient": true, "trace": ["io"]},
            "z.example/first": [1],
            "a.example/second": {"b": null},
        }}),
    );
}

#[test]
fn v028_content_may_be_a_string() {
    let read = Response::read(json!({"content": "a", "isError": null, "_meta": null})).unwrap();
    assert_eq!(
        read.value,
        Response {
            content: "a".into(),
            ..Response::default()
        }
    );
}

#[test]
fn a_malformed_response_says_what_was_expected_and_where() {
    let check = |value: Value, expected: &str| {
        assert_eq!(Response::read(value).unwrap_err().to_string(), expected);
    };
    check(
        json!([]),
        "`$`: expected an object with `content`, found an empty list",
    );
    check(
        json!({}),
        "`content` is missing: expected a string or a list of blocks",
    );
    check(
        json!({"content": "", "isError": 1}),
        "`isError`: expected `true` or `false`, found the number 1",
    );
    check(
        json!({"content": "", "_meta": []}),
        "`_meta`: expected an object, found an empty list",
    );
    check(
        json!({"content": "", "_meta": {"computer.jp/error": {"trace": [1]}}}),
        "`_meta.computer.jp/error.trace[0]`: expected a string, found the number 1",
    );
}

#[test]
fn a_state_becomes_a_response_and_back() {
    let check = |state: ToolState| {
        let response = Response::from(state.clone());
        let mut warnings = Warnings::default();
        assert_eq!(response.into_state(&mut warnings).unwrap(), state);
        assert!(warnings.is_empty());
    };
    check(ToolState::running("x"));
    check(ToolState::waiting(Question::text("q", "Name?")));
    check(ToolState::Waiting {
        content: "above".into(),
        question: Question::text("q", "Name?"),
    });
    check(ToolState::succeeded(vec![
        Block::text("a"),
        Block::text("b"),
    ]));
    // A result that holds a question is still a result, because the status says so.
    check(ToolState::succeeded(vec![Block::Question(Question::text(
        "q", "Name?",
    ))]));
    check(ToolState::failed(ToolError {
        message: "no".to_owned(),
        trace: vec!["io".to_owned()],
        transient: true,
        denials: Vec::new(),
        content: Content::EMPTY,
    }));
}

#[test]
fn x05_what_was_shown_last_precedes_the_result() {
    let state = ToolState::Stopped {
        content: "shown".into(),
        result: Ok("result".into()),
    };
    let expected = Content::from(vec![Block::text("shown"), Block::text("result")]);
    assert_eq!(Response::from(state).content, expected);
}
