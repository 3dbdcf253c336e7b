use serde_json::{Value, json};

use super::Outcome;
use crate::{Question, ToolError, ToolState};

#[test]
fn s041_j011_w015_outcomes_are_written_and_read_as_states() {
    let check = |outcome: Outcome, expected: Value| {
        assert_eq!(
            serde_json::to_string(&outcome).unwrap(),
            expected.to_string()
        );
        let read = ToolState::read(expected).unwrap();
        assert_eq!(read.value, ToolState::from(outcome));
    };
    check(
        Outcome::Success {
            content: "3 files".into(),
        },
        json!({"type": "success", "content": "3 files"}),
    );
    check(
        Outcome::Success { content: "".into() },
        json!({"type": "success", "content": ""}),
    );
    check(
        Outcome::Error(ToolError {
            message: "no route".to_owned(),
            trace: vec!["dns".to_owned()],
            transient: true,
            denials: Vec::new(),
            content: crate::Content::EMPTY,
        }),
        json!({"type": "error", "message": "no route", "trace": ["dns"], "transient": true}),
    );
    check(
        Outcome::NeedsInput {
            question: Question::yes_no("q", "Sure?"),
        },
        json!({"type": "needs_input",
            "question": {"id": "q", "text": "Sure?", "schema": {"type": "boolean"}}}),
    );
}
