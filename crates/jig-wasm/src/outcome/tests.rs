use jig_proto::{Content, Question, ToolError};
use serde_json::json;

use super::{GuestResult, clean, said};
use crate::bindings::jp::tool::types::{ErrorInfo, Outcome, Question as Asked};

/// The other way: what a tool of the contract would say for it.
fn told(came: Result<GuestResult, ToolError>) -> Outcome {
    match came {
        Ok(GuestResult::Done(content)) => Outcome::Success(content.to_text()),
        Ok(GuestResult::Asks(question)) => Outcome::NeedsInput(Asked {
            answer_type: question.wit_answer_type().unwrap(),
            default: question.wit_default(),
            id: question.id,
            text: question.text,
        }),
        Err(error) => Outcome::Error(ErrorInfo {
            message: error.message,
            trace: error.trace,
            transient: error.transient,
        }),
    }
}

#[test]
fn w018_outcomes_round_trip() {
    let question = |answer_type: &str, default: Option<&str>| {
        Outcome::NeedsInput(Asked {
            id: "sure".to_owned(),
            text: "Sure?".to_owned(),
            answer_type: answer_type.to_owned(),
            default: default.map(str::to_owned),
        })
    };
    let error = |transient: bool, trace: &[&str]| {
        Outcome::Error(ErrorInfo {
            message: "no".to_owned(),
            trace: trace.iter().map(|line| (*line).to_owned()).collect(),
            transient,
        })
    };
    let all = [
        Outcome::Success(String::new()),
        Outcome::Success("text\n{\"type\": \"error\", \"message\": \"no\"}".to_owned()),
        Outcome::Success("{\"type\":\"error\",\"message\":\"stays text\"}".to_owned()),
        error(false, &[]),
        error(true, &["nearest", "", "far"]),
        question("boolean", None),
        question("boolean", Some("true")),
        question("text", Some("\"a\"")),
        question("{\"select\":{\"options\":[\"a\",\"b\"]}}", Some("\"b\"")),
    ];
    for outcome in all {
        let again = told(said("tool", outcome.clone()));
        assert_eq!(format!("{again:?}"), format!("{outcome:?}"));
    }
}

#[test]
fn w014_a_question_of_no_kind_is_an_error_that_names_the_tool() {
    let asked = Outcome::NeedsInput(Asked {
        id: "x".to_owned(),
        text: "?".to_owned(),
        answer_type: "colour".to_owned(),
        default: None,
    });
    let error = said("tool", asked).unwrap_err();
    assert!(
        error
            .message
            .starts_with("`tool` asks what cannot be asked"),
        "{error:?}"
    );
}

#[test]
fn no_secret_leaves_by_any_outcome() {
    let scrub = |text: String| text.replace("s3cret", "[REDACTED]");
    let done = clean(Ok(GuestResult::Done(Content::text("a s3cret"))), scrub);
    assert_eq!(
        done.unwrap(),
        GuestResult::Done(Content::text("a [REDACTED]"))
    );
    let asks = clean(
        Ok(GuestResult::Asks(Question::yes_no("q", "s3cret?"))),
        scrub,
    );
    assert_eq!(
        asks.unwrap(),
        GuestResult::Asks(Question::yes_no("q", "[REDACTED]?"))
    );
    let mut error = ToolError::new("s3cret");
    error.trace.push("in s3cret".to_owned());
    let error = clean(Err(error), scrub).unwrap_err();
    let told = json!([error.message, error.trace]);
    assert_eq!(told, json!(["[REDACTED]", ["in [REDACTED]"]]));
}
