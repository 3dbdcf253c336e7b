use serde_json::{Value, json};

use super::{StateName, ToolState};
use crate::{Block, Content, Outcome, Question, ToolError};

#[test]
fn s020_s021_s026_states_are_written_in_one_form() {
    let check = |state: ToolState, expected: Value| {
        assert_eq!(serde_json::to_string(&state).unwrap(), expected.to_string());
        assert_eq!(ToolState::read(expected).unwrap().value, state);
    };
    check(
        ToolState::running("Next hunk: ..."),
        json!({"type": "running", "content": "Next hunk: ..."}),
    );
    check(ToolState::running(""), json!({"type": "running"}));
    let question = json!({"id": "ok", "text": "Confirm?", "schema": {"type": "boolean"}});
    check(
        ToolState::waiting(Question::yes_no("ok", "Confirm?")),
        json!({"type": "waiting", "question": question}),
    );
    check(
        ToolState::Waiting {
            content: Content::text("Diff"),
            question: Question::yes_no("ok", "Confirm?"),
        },
        json!({"type": "waiting", "content": "Diff", "question": question}),
    );
    check(
        ToolState::succeeded("Staged 3 hunks."),
        json!({"type": "stopped", "result": "Staged 3 hunks."}),
    );
    check(
        ToolState::succeeded(""),
        json!({"type": "stopped", "result": ""}),
    );
    check(
        ToolState::succeeded(vec![Block::text("a"), Block::text("b")]),
        json!({"type": "stopped", "result": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
    );
    let error = ToolError {
        message: "no".to_owned(),
        trace: vec!["io".to_owned()],
        transient: true,
        denials: Vec::new(),
        content: Content::EMPTY,
    };
    check(
        ToolState::failed(error.clone()),
        json!({"type": "stopped", "error": {"message": "no", "trace": ["io"], "transient": true}}),
    );
    // what was shown last, beside the result.
    check(
        ToolState::Stopped {
            content: Content::text("bye"),
            result: Err(error),
        },
        json!({"type": "stopped", "content": "bye",
            "error": {"message": "no", "trace": ["io"], "transient": true}}),
    );
}

#[test]
fn s040_s091_an_outcome_is_a_state() {
    let check =
        |outcome: Outcome, expected: ToolState| assert_eq!(ToolState::from(outcome), expected);
    check(
        Outcome::Success {
            content: "done".into(),
        },
        ToolState::succeeded("done"),
    );
    check(
        Outcome::Error(ToolError::new("no")),
        ToolState::failed(ToolError::new("no")),
    );
    let question = Question::text("q", "Name?");
    check(
        Outcome::NeedsInput {
            question: question.clone(),
        },
        ToolState::Waiting {
            content: Content::EMPTY,
            question,
        },
    );
}

#[test]
fn s027_transitions() {
    use StateName::{Running, Stopped, Waiting};
    let allowed = [
        (Running, Running),
        (Running, Waiting),
        (Running, Stopped),
        (Waiting, Running),
        (Waiting, Stopped),
    ];
    for from in [Running, Waiting, Stopped] {
        for to in [Running, Waiting, Stopped] {
            assert_eq!(
                from.can_become(to),
                allowed.contains(&(from, to)),
                "{from} to {to}"
            );
        }
    }
}
