//! What a person decides, as the answer to a question.

use jig_engine::Answer;
use jig_proto::Prompt;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::asked::{BoardQuestion, QuestionTopic};

/// What a person decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum QuestionDecision {
    /// Yes, or this value, for this one time.
    Once,
    /// Yes, or this value, for the rest of the turn.
    Turn,
    /// No.
    Deny,
    /// The configuration comes into force, or what a server is and says is accepted.
    Accept,
}

/// Why what was decided is no answer to the question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoAnswer {
    #[error("`{id}` is decided by one of: {}", .decisions.join(", "))]
    OtherDecision {
        id: String,
        decisions: &'static [&'static str],
    },
    #[error("`{0}` wants a value, which is the answer")]
    NoValue(String),
    #[error("`{0}` is only allowed or denied: it takes no value")]
    Value(String),
    #[error("`{id}` wants {wants}, and the value is not")]
    OtherValue { id: String, wants: &'static str },
}

/// The answer that a decision comes to.
pub(super) fn answer(
    asked: &BoardQuestion,
    decision: QuestionDecision,
    value: Option<Value>,
    reason: Option<String>,
) -> Result<Answer, NoAnswer> {
    let id = asked.id().to_string();
    let fits = match decision {
        QuestionDecision::Deny => true,
        QuestionDecision::Accept => asked.topic.is_accepted(),
        QuestionDecision::Once => !asked.topic.is_accepted(),
        QuestionDecision::Turn => asked.topic.can_last(),
    };
    if !fits {
        let decisions = asked.decisions();
        return Err(NoAnswer::OtherDecision { id, decisions });
    }
    if decision == QuestionDecision::Deny {
        return Ok(match reason {
            Some(reason) if !reason.trim().is_empty() => Answer::Rejected(reason),
            _ => no(asked),
        });
    }
    let value = match (asked.needs_value(), value) {
        (true, None) => return Err(NoAnswer::NoValue(id)),
        (true, Some(value)) => match wants(asked, &value) {
            Some(wants) => return Err(NoAnswer::OtherValue { id, wants }),
            None => value,
        },
        (false, None) => Value::Bool(true),
        // A tool's question of yes or no can be answered by no, which is no denial.
        (false, Some(value @ Value::Bool(_))) if asked.topic == QuestionTopic::Tool => value,
        (false, Some(_)) => return Err(NoAnswer::Value(id)),
    };
    Ok(match (asked.topic, decision) {
        (QuestionTopic::Access, QuestionDecision::Turn) => Answer::Given("turn".into()),
        (QuestionTopic::Access, _) => Answer::Given("once".into()),
        (_, QuestionDecision::Turn) => Answer::GivenForTurn(value),
        _ => Answer::Given(value),
    })
}

/// A plain no.
fn no(asked: &BoardQuestion) -> Answer {
    match asked.topic {
        QuestionTopic::Access => Answer::Given("no".into()),
        // Somebody who does not want to answer a tool has not answered "no".
        QuestionTopic::Tool | QuestionTopic::Arguments | QuestionTopic::EditResult => {
            Answer::Rejected("the user declined to answer".to_owned())
        }
        _ => Answer::Given(Value::Bool(false)),
    }
}

/// What the question wants instead of this value. The schema itself is for whoever asked to hold it to.
fn wants(asked: &BoardQuestion, value: &Value) -> Option<&'static str> {
    if asked.topic == QuestionTopic::Arguments {
        return (!value.is_object()).then_some("an object");
    }
    match asked.question.prompt() {
        Prompt::YesNo => (!value.is_boolean()).then_some("true or false"),
        Prompt::Select(options) => (!options.contains(value)).then_some("one of its options"),
        Prompt::Text => (!value.is_string()).then_some("text"),
        _ => None,
    }
}

/// What an answer is called in what people are told.
pub(super) fn name(answer: &Answer) -> &'static str {
    match answer {
        Answer::Given(Value::Bool(false)) | Answer::Rejected(_) => "deny",
        Answer::Given(Value::String(word)) if word == "no" => "deny",
        Answer::Given(Value::String(word)) if word == "turn" => "turn",
        Answer::Given(_) => "once",
        Answer::GivenForTurn(_) => "turn",
        _ => "gone",
    }
}
