//! One call of a tool: the request, what the server asks before it answers, and the task that it may become.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::forms::UpstreamForm;
use super::handshake::UpstreamAgreement;
use super::message::{ServerErrorReply, UpstreamResult, words};
use super::tool_list::requires_task;
use super::upstream_connection::{EnteredCall, UpstreamConnection, UpstreamInFlight};
use super::{UpstreamCall, UpstreamError, task};
use crate::client::check::Era;

/// Makes the call.
pub(super) async fn call(
    wire: &Arc<UpstreamConnection>,
    agreed: &UpstreamAgreement,
    call: UpstreamCall,
) -> Result<UpstreamResult, UpstreamError> {
    let UpstreamCall {
        name,
        arguments,
        caller,
        events,
    } = call;
    let entered = wire.enter(caller, events);
    match agreed.era {
        Era::Handshake => older(wire, agreed, name, arguments, &entered).await,
        // Every call has room for the longest way that it could go. What only some go is elsewhere.
        Era::Stateless => Box::pin(newer(wire, &name, arguments, &entered))
            .await
            .map(UpstreamResult::Json),
    }
}

/// A call in the older era: the server asks while it works.
async fn older(
    wire: &Arc<UpstreamConnection>,
    agreed: &UpstreamAgreement,
    name: String,
    arguments: Map<String, Value>,
    entered: &EnteredCall,
) -> Result<UpstreamResult, UpstreamError> {
    let definition = wire.known().of(&name);
    let is_task = definition.is_some_and(|definition| requires_task(&definition))
        && agreed.offers("/tasks/requests/tools/call");
    let params = LegacyCallParams {
        name: &name,
        arguments: &arguments,
        meta: ProgressMeta {
            progress_token: entered.token(),
        },
        task: is_task.then(Map::new),
    };
    let result = match wire.pipes() {
        Some(pipes) => {
            let numbered = |id| entered.call().is_now(id);
            let answer = wire.ask(pipes, METHOD, &params, numbered).await?;
            answer.map_err(refused)?
        }
        None => {
            let params = match json!(params) {
                Value::Object(params) => params,
                _ => Map::new(),
            };
            UpstreamResult::Json(send(wire, entered.call(), params).await?)
        }
    };
    match is_task {
        true => Box::pin(task::older(wire, result.into_value(), entered.call()))
            .await
            .map(UpstreamResult::Json),
        false => Ok(result),
    }
}

/// A call in the newer era: a server that has a question ends the request, and is called again with the answer.
async fn newer(
    wire: &Arc<UpstreamConnection>,
    name: &str,
    arguments: Map<String, Value>,
    entered: &EnteredCall,
) -> Result<Value, UpstreamError> {
    let mut more = Map::new();
    for round in 0..ROUNDS {
        let mut params = Map::from_iter([
            ("name".to_owned(), name.into()),
            ("arguments".to_owned(), arguments.clone().into()),
            (
                "_meta".to_owned(),
                json!({"progressToken": entered.token()}),
            ),
        ]);
        params.append(&mut more);
        let mut result = send(wire, entered.call(), params).await?;
        match result.get("resultType").and_then(Value::as_str) {
            Some("input_required") => {}
            Some("task") => return task::newer(wire, &result, entered.call()).await,
            _ => return Ok(result),
        }
        let asked = result.get_mut("inputRequests").map(Value::take);
        let answers = answers(asked.unwrap_or_default(), entered.call()).await?;
        if answers.is_empty() {
            // The server only wants to be called again, later.
            tokio::time::sleep(LATER * (round + 1)).await;
        } else {
            more.insert("inputResponses".to_owned(), answers.into());
        }
        // Whatever it is, it goes back as it came, and is not there if it was not.
        if let Some(state) = result.get_mut("requestState") {
            more.insert("requestState".to_owned(), state.take());
        }
    }
    Err(UpstreamError::Broken(format!(
        "it asked more than {ROUNDS} times before it answered a call"
    )))
}

async fn send(
    wire: &Arc<UpstreamConnection>,
    call: &UpstreamInFlight,
    params: Map<String, Value>,
) -> Result<Value, UpstreamError> {
    let numbered = |id| call.is_now(id);
    let answer = wire.exchange(METHOD, params, numbered).await?;
    answer.map_err(refused)
}

fn refused(refusal: ServerErrorReply) -> UpstreamError {
    UpstreamError::Refused {
        method: METHOD,
        code: refusal.code,
        message: refusal.message,
    }
}

/// What a call of the older era says.
#[derive(Serialize)]
struct LegacyCallParams<'a> {
    name: &'a str,
    arguments: &'a Map<String, Value>,
    #[serde(rename = "_meta")]
    meta: ProgressMeta,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<Map<String, Value>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProgressMeta {
    progress_token: u64,
}

/// The answers to `inputRequests`, under the same names: one question after the other.
pub(super) async fn answers(
    requests: Value,
    call: &UpstreamInFlight,
) -> Result<Map<String, Value>, UpstreamError> {
    let requests = match requests {
        Value::Object(requests) => requests,
        Value::Null => return Ok(Map::new()),
        _ => {
            return Err(UpstreamError::Broken(
                "its questions are no object".to_owned(),
            ));
        }
    };
    if requests.len() > QUESTIONS {
        return Err(UpstreamError::Broken(format!(
            "it asks more than {QUESTIONS} questions at once"
        )));
    }
    let mut answers = Map::new();
    for (name, request) in requests {
        let method = request.get("method").and_then(Value::as_str);
        if method != Some("elicitation/create") {
            // We never said that we could: there is no way to answer it.
            return Err(UpstreamError::Unable(format!(
                "the server asks for `{}`, which jig does not offer",
                words(method.unwrap_or("nothing"))
            )));
        }
        let answer = match UpstreamForm::of(request.get("params").unwrap_or(&Value::Null)) {
            Ok(form) => form.result(call.put(form.question().clone()).await),
            Err(refused) => {
                if let Some(told) = refused.told {
                    call.tell(told);
                }
                json!({"action": "decline"})
            }
        };
        answers.insert(name, answer);
    }
    Ok(answers)
}

const METHOD: &str = "tools/call";

/// How often a call may come back with a question. A wizard has some steps; a server without end has no limit.
const ROUNDS: u32 = 32;

/// How many questions may come at once. A person answers them one by one.
const QUESTIONS: usize = 16;

/// How long a server that only wants to be called again waits, times the round.
const LATER: Duration = Duration::from_millis(200);
