//! One call of a tool: the request, what the server asks before it answers, and the task that it may become.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::ask::Form;
use super::begin::Agreed;
use super::list::requires_task;
use super::message::words;
use super::wire::{Entered, InFlight, Wire};
use super::{UpstreamCall, UpstreamError, task};
use crate::check::Era;

/// Makes the call.
pub(super) async fn call(
    wire: &Arc<Wire>,
    agreed: &Agreed,
    call: UpstreamCall,
) -> Result<Value, UpstreamError> {
    let UpstreamCall {
        name,
        arguments,
        caller,
        cancel,
        events,
    } = call;
    let entered = wire.enter(caller, events);
    let result = async {
        match agreed.era {
            Era::Handshake => older(wire, agreed, name, arguments, &entered).await,
            Era::Stateless => newer(wire, &name, arguments, &entered).await,
        }
    };
    tokio::select! {
        biased;
        result = result => result,
        () = cancel.cancelled() => Err(UpstreamError::Cancelled),
    }
}

/// A call in the older era: the server asks while it works.
async fn older(
    wire: &Arc<Wire>,
    agreed: &Agreed,
    name: String,
    arguments: Map<String, Value>,
    entered: &Entered,
) -> Result<Value, UpstreamError> {
    let definition = wire.known().of(&name);
    let is_task = definition.is_some_and(|definition| requires_task(&definition))
        && agreed.offers("/tasks/requests/tools/call");
    let mut params = Map::from_iter([
        ("name".to_owned(), name.into()),
        ("arguments".to_owned(), arguments.into()),
        (
            "_meta".to_owned(),
            json!({"progressToken": entered.token()}),
        ),
    ]);
    if is_task {
        params.insert("task".to_owned(), json!({}));
    }
    let result = send(wire, entered.call(), params).await?;
    match is_task {
        true => task::older(wire, result, entered.call()).await,
        false => Ok(result),
    }
}

/// A call in the newer era: a server that has a question ends the request, and is called again with the answer.
async fn newer(
    wire: &Arc<Wire>,
    name: &str,
    arguments: Map<String, Value>,
    entered: &Entered,
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
    wire: &Arc<Wire>,
    call: &InFlight,
    params: Map<String, Value>,
) -> Result<Value, UpstreamError> {
    let method = "tools/call";
    let numbered = |id| call.is_now(id);
    let answer = wire.exchange(method, params, numbered).await?;
    answer.map_err(|refusal| UpstreamError::Refused {
        method,
        code: refusal.code,
        message: refusal.message,
    })
}

/// The answers to `inputRequests`, under the same names: one question after the other.
pub(super) async fn answers(
    requests: Value,
    call: &InFlight,
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
        let answer = match Form::of(request.get("params").unwrap_or(&Value::Null)) {
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

/// How often a call may come back with a question. A wizard has some steps; a server without end has no limit.
const ROUNDS: u32 = 32;

/// How many questions may come at once. A person answers them one by one.
const QUESTIONS: usize = 16;

/// How long a server that only wants to be called again waits, times the round.
const LATER: Duration = Duration::from_millis(200);
