//! A call that the server has made a task of: asked about until it has ended.
//!
//! Both eras have tasks, and they differ. In the newer one, `tasks/get` tells all: the state, the questions, the
//! result. In the older one, it tells the state, `tasks/result` waits for the result, and questions come as
//! requests of the server, as they do during any call.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::UpstreamError;
use super::call::answers;
use super::message::words;
use super::upstream_connection::{UpstreamConnection, UpstreamInFlight};

/// Sees a task of the newer era to its end. `made` is what the server said when it made the task.
pub(super) async fn newer(
    wire: &Arc<UpstreamConnection>,
    made: &Value,
    call: &UpstreamInFlight,
) -> Result<Value, UpstreamError> {
    let mut task = ServerTask::new(wire, made)?;
    let mut answered = Vec::new();
    let mut wait = pause(made);
    loop {
        tokio::time::sleep(wait).await;
        let mut state = task.get().await?;
        wait = pause(&state);
        if let Some(text) = state.get("statusMessage").and_then(Value::as_str) {
            call.status(text);
        }
        match status(&state) {
            "working" => {}
            "input_required" => {
                let asked = state.get_mut("inputRequests").map(Value::take);
                let Some(Value::Object(mut asked)) = asked else {
                    return Err(broken("waits for input, but asks nothing"));
                };
                // A question stays there until its answer was taken in.
                asked.retain(|name, _| !answered.contains(name));
                if asked.is_empty() {
                    continue;
                }
                answered.extend(asked.keys().cloned());
                if answered.len() > QUESTIONS {
                    return Err(broken("asks without end"));
                }
                let responses = answers(asked.into(), call).await?;
                task.update(responses).await?;
                wait = SOON;
            }
            "completed" => {
                task.is_over = true;
                let result = state.get_mut("result").map(Value::take);
                return result.ok_or_else(|| broken("has ended without a result"));
            }
            "failed" => {
                task.is_over = true;
                return Err(failed(state.get("error")));
            }
            "cancelled" => {
                task.is_over = true;
                return Err(UpstreamError::Unable(CANCELLED.to_owned()));
            }
            other => return Err(broken(&format!("is in a state `{other}`"))),
        }
    }
}

/// The same in the older era.
pub(super) async fn older(
    wire: &Arc<UpstreamConnection>,
    made: Value,
    call: &UpstreamInFlight,
) -> Result<Value, UpstreamError> {
    let Some(made) = made.get("task") else {
        // It has answered at once.
        return Ok(made);
    };
    let mut task = ServerTask::new(wire, made)?;
    let mut wait = pause(made);
    let mut state = made.clone();
    // A task that wants something only says what to whoever waits for its result.
    while status(&state) == "working" {
        tokio::time::sleep(wait).await;
        state = task.get().await?;
        wait = pause(&state);
        if let Some(text) = state.get("statusMessage").and_then(Value::as_str) {
            call.status(text);
        }
    }
    if status(&state) == "cancelled" {
        task.is_over = true;
        return Err(UpstreamError::Unable(CANCELLED.to_owned()));
    }
    let method = "tasks/result";
    // Its questions come on the stream of this request.
    let numbered = |id| call.is_now(id);
    let answer = wire.exchange(method, task.params(), numbered).await?;
    task.is_over = true;
    answer.map_err(|refusal| UpstreamError::Refused {
        method,
        code: refusal.code,
        message: refusal.message,
    })
}

/// A task of a server. Dropped before it is over, it is cancelled.
struct ServerTask<'a> {
    wire: &'a Arc<UpstreamConnection>,
    limit: Duration,
    id: String,
    is_over: bool,
}

impl<'a> ServerTask<'a> {
    fn new(wire: &'a Arc<UpstreamConnection>, made: &Value) -> Result<Self, UpstreamError> {
        let id = made.get("taskId").and_then(Value::as_str);
        let id = id.filter(|id| id.len() <= LONGEST_ID);
        Ok(Self {
            wire,
            limit: wire.limit(),
            id: id.ok_or_else(|| broken("has no name"))?.to_owned(),
            is_over: false,
        })
    }

    fn params(&self) -> Map<String, Value> {
        Map::from_iter([("taskId".to_owned(), self.id.as_str().into())])
    }

    async fn get(&self) -> Result<Value, UpstreamError> {
        let asked = self
            .wire
            .request_within(self.limit, "tasks/get", self.params());
        asked.await
    }

    async fn update(&self, responses: Map<String, Value>) -> Result<(), UpstreamError> {
        let mut params = self.params();
        params.insert("inputResponses".to_owned(), responses.into());
        let updated = self.wire.request_within(self.limit, "tasks/update", params);
        updated.await.map(drop)
    }
}

impl Drop for ServerTask<'_> {
    fn drop(&mut self) {
        if !self.is_over
            && !self.wire.closed().is_cancelled()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let wire = Arc::clone(self.wire);
            let params = self.params();
            runtime.spawn(async move {
                // It is over for us, whatever the server says to that.
                let _ = wire.request_within(CANCEL, "tasks/cancel", params).await;
            });
        }
    }
}

fn status(task: &Value) -> &str {
    task.get("status")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// How long to wait before the next question, as the server wants it, within reason.
fn pause(task: &Value) -> Duration {
    let wanted = task
        .get("pollIntervalMs")
        .or_else(|| task.get("pollInterval"));
    let wanted = wanted.and_then(Value::as_u64).map(Duration::from_millis);
    wanted.unwrap_or(PAUSE).clamp(SOON, LONGEST_PAUSE)
}

fn failed(error: Option<&Value>) -> UpstreamError {
    let message = error.and_then(|error| error.get("message"));
    let code = error.and_then(|error| error.get("code"));
    UpstreamError::Refused {
        method: "tools/call",
        code: code.and_then(Value::as_i64).unwrap_or_default(),
        message: words(
            message
                .and_then(Value::as_str)
                .unwrap_or("it does not say why"),
        ),
    }
}

fn broken(what: &str) -> UpstreamError {
    UpstreamError::Broken(format!("a task of it {}", words(what)))
}

const CANCELLED: &str = "the server cancelled the task";

/// How long is waited between two questions if the server does not say.
const PAUSE: Duration = Duration::from_millis(500);

/// The shortest and the longest that a server may want.
const SOON: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How long the name of a task may be: every request repeats it.
const LONGEST_ID: usize = 1024;

/// How many questions a task may ask.
const QUESTIONS: usize = 256;

/// How long it is tried to cancel a task.
const CANCEL: Duration = Duration::from_secs(5);
