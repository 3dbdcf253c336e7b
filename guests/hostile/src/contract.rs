//! Every outcome that the contract has, with the fields that the arguments ask for.

use serde_json::{Value, json};

use crate::jp::tool::types::{Action, ErrorInfo, Question};
use crate::{Context, Outcome};

/// What a call gets beside its arguments.
pub struct Call<'a> {
    pub context: &'a Context,
    pub name: &'a str,
    pub answers: &'a str,
}

pub fn run(action: &str, arguments: &Value, call: &Call<'_>) -> Option<Outcome> {
    Some(match action {
        "echo" => Outcome::Success(echo(arguments, call)),
        "fail" => Outcome::Error(ErrorInfo {
            message: text(arguments, "message"),
            trace: trace(arguments),
            transient: arguments["transient"].as_bool().unwrap_or_default(),
        }),
        "ask" => ask(arguments, call),
        _ => return None,
    })
}

/// All that was given, as JSON. `answers` is what came as text, so that a test sees its spelling.
fn echo(arguments: &Value, call: &Call<'_>) -> String {
    let action = match call.context.action {
        Action::Run => "run",
        Action::FormatArguments => "format-arguments",
    };
    json!({
        "root": call.context.root,
        "action": action,
        "name": call.name,
        "arguments": arguments,
        "answers": call.answers,
    })
    .to_string()
}

/// Asks the question `id` until it has an answer, which is then the content.
///
/// With `ids`, one question after the other; the content is the object of all answers.
fn ask(arguments: &Value, call: &Call<'_>) -> Outcome {
    let answers: Value = serde_json::from_str(call.answers).unwrap_or_default();
    let ids = match arguments["ids"].as_array() {
        Some(ids) => ids.clone(),
        None => vec![arguments["id"].clone()],
    };
    for id in &ids {
        let id = id.as_str().unwrap_or("question");
        if answers.get(id).is_none() {
            return Outcome::NeedsInput(Question {
                id: id.to_owned(),
                text: text(arguments, "text"),
                answer_type: match arguments["answer_type"].as_str() {
                    Some(kind) => kind.to_owned(),
                    None => "boolean".to_owned(),
                },
                default: arguments["default"].as_str().map(str::to_owned),
            });
        }
    }
    Outcome::Success(match ids.as_slice() {
        [id] => answers[id.as_str().unwrap_or("question")].to_string(),
        _ => answers.to_string(),
    })
}

fn trace(arguments: &Value) -> Vec<String> {
    let lines = arguments["trace"].as_array().into_iter().flatten();
    lines
        .filter_map(|line| line.as_str().map(str::to_owned))
        .collect()
}

fn text(arguments: &Value, key: &str) -> String {
    arguments[key].as_str().unwrap_or_default().to_owned()
}
