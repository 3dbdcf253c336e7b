//! [`call_tool`]: one `tools/call`, whatever era of the protocol its client speaks.
//!
//! A request begins a call or comes back to one that is parked. Then it waits, and tells the client how it
//! goes: by progress, by a question in the way that its era knows, by a task when it takes long, and at last by
//! the result. What the client does meanwhile never starts a second run.

use std::sync::Arc;
use std::time::Duration;

use jig_engine::Answer;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelledNotificationParam, ClientResult,
    ElicitRequest, ErrorData, InputRequest, InputRequests, InputRequiredResult, InputResponses,
    ProtocolVersion, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RequestHandle, ServiceError};
use tokio::time::{Instant, sleep_until};

use crate::caller::Caller;
use crate::calls::in_flight::{
    CallRequest, InFlight, InFlightQuestion, InFlightStatus, ServerQuestionForm, error,
};
use crate::calls::progress::CallProgress;
use crate::calls::request_state::TicketScope;
use crate::methods::server_handler::McpConnection;
use crate::questions::forms::FormReply;
use crate::shared::{ServedConfig, SharedServer};

/// What a client can do, as it said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClientFeatures {
    /// It retries a call that needs an answer; the server sends it no requests.
    retries: bool,
    /// It shows forms.
    pub(crate) form: bool,
    /// It has its model answer questions.
    pub(crate) sampling: bool,
    /// It knows tasks.
    tasks: bool,
}

/// Answers a `tools/call`.
///
/// # Errors
///
/// If there is no such tool, or the request comes back to a call that is none. All else is a result.
pub(crate) async fn call_tool(
    connection: &McpConnection,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let shared = &connection.shared;
    let caller = connection.caller(&context.extensions)?;
    let caller = &caller;
    let client = ClientFeatures::of(&context);
    let arguments = request.arguments.unwrap_or_default();
    let bound = TicketScope::new(&caller.name, &request.name, &arguments);
    let responses = request.input_responses.unwrap_or_default();
    let mut waiting = WaitingCall {
        shared,
        caller,
        client,
        context: &context,
        is_long: false,
        task_at: None,
    };
    let flight = match request.request_state {
        Some(state) => {
            let flight = redeem(shared, caller, &state, &bound)?;
            if let (_, InFlightStatus::Asking(asking)) = flight.now() {
                deliver(shared, &flight, &asking, responses);
            }
            flight
        }
        None => {
            let (tool, stays) = found(shared, &request.name).await?;
            // A stateful tool that is to run to its end takes as long as it takes.
            if client.tasks && stays && !arguments.contains_key("action") {
                waiting.is_long = true;
                waiting.task_at = Some(Instant::now() + LONG_TASK_AFTER);
            }
            let request = CallRequest {
                tool,
                arguments,
                bound,
                form: client.form,
                sampling: client.sampling,
                given: responses,
            };
            let begun = tokio::select! {
                biased;
                begun = InFlight::start(shared, caller, request) => begun,
                () = context.ct.cancelled() => return Ok(error(CANCELLED).into()),
            };
            match begun {
                Ok(flight) => flight,
                Err(too_many) => return Ok(error(too_many.to_string()).into()),
            }
        }
    };
    if client.tasks {
        let later = Instant::now() + TASK_AFTER;
        waiting.task_at.get_or_insert(later);
    }
    waiting.wait(&flight).await
}

/// The tool that a client means, and whether it is one that stays.
async fn found(shared: &Arc<SharedServer>, name: &str) -> Result<(String, bool), ErrorData> {
    let mut served = ready(shared.current()).await?;
    if served.is_incomplete() && served.catalogue().find(name).is_none() {
        // It may be one of a server that has not told its tools yet.
        served = complete(shared).await?;
    }
    let Some(tool) = served.catalogue().find(name) else {
        return Err(unknown_tool(name));
    };
    let declared = served.config.tool(tool);
    let stays = declared.is_some_and(|tool| !tool.actions.is_one_shot());
    Ok((tool.to_owned(), stays))
}

impl ClientFeatures {
    fn of(context: &RequestContext<RoleServer>) -> Self {
        let capabilities = context.client_capabilities().unwrap_or_default();
        // A client that says nothing about modes has forms: there was nothing else once.
        let form = capabilities
            .elicitation
            .as_ref()
            .is_some_and(|modes| modes.form.is_some() || modes.url.is_none());
        let version = context.protocol_version();
        let is_new =
            version.is_some_and(|it| it.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        Self {
            retries: is_new,
            form,
            sampling: capabilities.sampling.is_some(),
            // Clients name the extension when they speak older versions, too, and cannot read what it brings:
            // results had no type then.
            tasks: is_new && capabilities.supports_tasks(),
        }
    }
}

impl ClientFeatures {
    /// Whether it can be asked in this way.
    pub(crate) fn can(self, asking: &InFlightQuestion) -> bool {
        match asking.way {
            ServerQuestionForm::Form(_) => self.form,
            ServerQuestionForm::Sampling(_) => self.sampling,
        }
    }
}

/// A request that waits for a call.
struct WaitingCall<'a> {
    shared: &'a Arc<SharedServer>,
    caller: &'a Arc<Caller>,
    client: ClientFeatures,
    context: &'a RequestContext<RoleServer>,
    /// Whether the call is one that becomes a task unless it is over at once.
    is_long: bool,
    /// When the call becomes a task.
    task_at: Option<Instant>,
}

impl WaitingCall<'_> {
    async fn wait(mut self, flight: &Arc<InFlight>) -> Result<CallToolResponse, ErrorData> {
        // Whatever ends this wait without a result ends the call: the client has cancelled it, or is gone.
        let abandoned = AbandonedCallGuard(Some(Arc::clone(flight)));
        let peer = self.context.peer.clone();
        let mut progress = CallProgress::new(self.context.meta.get_progress_token(), peer);
        let mut seen = None;
        loop {
            let (number, event) = tokio::select! {
                biased;
                next = flight.next(seen) => next,
                () = self.context.ct.cancelled() => return Ok(error(CANCELLED).into()),
                () = at(self.task_at) => match self.task(flight) {
                    Some(task) => {
                        abandoned.not();
                        return Ok(task);
                    }
                    // There are too many tasks: this one is waited for.
                    None => {
                        (self.task_at, self.is_long) = (None, false);
                        seen = None;
                        continue;
                    }
                },
                () = progress.due() => {
                    progress.tell().await;
                    continue;
                }
            };
            seen = Some(number);
            match event {
                // Only a task can say that the tool never ran.
                InFlightStatus::Done(outcome) if self.is_long && outcome.failure.is_some() => {
                    self.task_at = Some(Instant::now());
                }
                InFlightStatus::Done(outcome) => {
                    abandoned.not();
                    // What it said right before its end is told before it.
                    if let Some(text) = flight.said() {
                        progress.note(text);
                        progress.tell().await;
                    }
                    return Ok(outcome.result.clone().into());
                }
                InFlightStatus::Running(Some(text)) => progress.note(text),
                InFlightStatus::Running(None) => {}
                // The client asks about the task, and is asked there.
                InFlightStatus::Asking(_) if self.is_long => self.task_at = Some(Instant::now()),
                InFlightStatus::Asking(asking)
                    if self.client.can(&asking) && self.client.retries =>
                {
                    let parked = self.parked(flight, &asking);
                    abandoned.not();
                    return Ok(parked.into());
                }
                InFlightStatus::Asking(asking) if self.client.can(&asking) => {
                    if self.put(flight, &asking, number).await.is_none() {
                        return Ok(error(CANCELLED).into());
                    }
                    // The question took as long as it took; the tool goes on from here.
                    if self.task_at.is_some() {
                        self.task_at = Some(Instant::now() + TASK_AFTER);
                    }
                }
                // Somebody elsewhere is asked.
                InFlightStatus::Asking(_) => {}
            }
        }
    }

    fn task(&self, flight: &Arc<InFlight>) -> Option<CallToolResponse> {
        let task = self.caller.tasks.create(flight, self.client)?;
        Some(task.into())
    }

    /// Ends the request, not the call: the client comes back with the answer.
    fn parked(&self, flight: &InFlight, asking: &InFlightQuestion) -> InputRequiredResult {
        let ttl = self.shared.current().config.mcp.approval_wait;
        let ticket = flight.ticket();
        let state = self.shared.seal.seal(ticket, flight.bound(), ttl);
        InputRequiredResult::new(Some(input_requests(asking)), Some(state))
    }

    /// Asks the client while the call waits. `None` if the request was cancelled meanwhile.
    async fn put(
        &self,
        flight: &Arc<InFlight>,
        asking: &InFlightQuestion,
        number: u64,
    ) -> Option<()> {
        let peer = &self.context.peer;
        let questions = &self.shared.questions;
        loop {
            let complaint = asking.complaint();
            let request = match &asking.way {
                ServerQuestionForm::Form(form) => {
                    let form = form.request(complaint.as_deref());
                    Some(ServerRequest::ElicitRequest(ElicitRequest::new(form)))
                }
                ServerQuestionForm::Sampling(sampling) => sampling.request(complaint.as_deref()),
            };
            let sent = match request {
                Some(request) => {
                    let options = PeerRequestOptions::no_options();
                    peer.send_cancellable_request(request, options).await.ok()
                }
                None => None,
            };
            let Some(sent) = sent else {
                let _ = questions.answer(&asking.id, Answer::Unavailable, CLIENT);
                return Some(());
            };
            let id = sent.id.clone();
            let response = tokio::select! {
                response = answered(sent, asking) => response,
                _ = flight.next(Some(number)) => {
                    // Somebody else was faster.
                    let told = CancelledNotificationParam::new(Some(id), Some(ANSWERED.to_owned()));
                    let _ = peer.notify_cancelled(told).await;
                    return Some(());
                }
                () = self.context.ct.cancelled() => {
                    let told = CancelledNotificationParam::new(Some(id), Some(CANCELLED.to_owned()));
                    let _ = peer.notify_cancelled(told).await;
                    return None;
                }
            };
            match response {
                // It cannot ask after all.
                Err(_) => {
                    let _ = questions.answer(&asking.id, Answer::Unavailable, CLIENT);
                    flight.asked(asking.id);
                    return Some(());
                }
                Ok(read) => {
                    if answer(self.shared, flight, asking, read) {
                        return Some(());
                    }
                }
            }
        }
    }
}

/// What the response to a request of ours says.
async fn answered(
    sent: RequestHandle<RoleServer>,
    asking: &InFlightQuestion,
) -> Result<Result<FormReply, String>, ServiceError> {
    let response = sent.await_response().await?;
    let read = match (&asking.way, response) {
        (ServerQuestionForm::Form(form), ClientResult::ElicitResult(result)) => {
            Some(form.read_result(result))
        }
        (ServerQuestionForm::Form(_), _) => None,
        (ServerQuestionForm::Sampling(sampling), response) => {
            let read = sampling.read_result(&response);
            read.map(|read| read.map(FormReply::Decided))
        }
    };
    read.ok_or(ServiceError::UnexpectedResponse)
}

/// Cancels a call whose request ends without having told what came of it.
struct AbandonedCallGuard(Option<Arc<InFlight>>);

impl AbandonedCallGuard {
    /// It was told, or somebody comes back for it.
    fn not(mut self) {
        self.0 = None;
    }
}

impl Drop for AbandonedCallGuard {
    fn drop(&mut self) {
        if let Some(flight) = self.0.take() {
            flight.cancel();
        }
    }
}

/// A question as a client that retries, or that has a task, is given it.
pub(crate) fn input_requests(asking: &InFlightQuestion) -> InputRequests {
    let complaint = asking.complaint();
    let request = match &asking.way {
        ServerQuestionForm::Form(form) => {
            let form = form.request(complaint.as_deref());
            Some(InputRequest::Elicitation(ElicitRequest::new(form)))
        }
        ServerQuestionForm::Sampling(sampling) => sampling.input_request(complaint.as_deref()),
    };
    let requests = request.map(|request| (asking.key.clone(), request));
    requests.into_iter().collect()
}

/// Hands the client's responses to the question that is open. Those that answer something else are not looked
/// at: the question may have been answered elsewhere.
pub(crate) fn deliver(
    shared: &SharedServer,
    flight: &InFlight,
    asking: &InFlightQuestion,
    mut responses: InputResponses,
) {
    if let Some(response) = responses.remove(&asking.key) {
        let read = match &asking.way {
            ServerQuestionForm::Form(form) => form.read(response),
            ServerQuestionForm::Sampling(sampling) => {
                sampling.read(&response).map(FormReply::Decided)
            }
        };
        answer(shared, flight, asking, read);
    }
}

/// Takes the client's answer. `false` if it does not fit and is asked for again.
fn answer(
    shared: &SharedServer,
    flight: &InFlight,
    asking: &InFlightQuestion,
    read: Result<FormReply, String>,
) -> bool {
    let answer = match read {
        Ok(FormReply::Decided(answer)) => answer,
        Ok(FormReply::PutAway(answer)) => {
            shared.questions.put_away(&asking.id, answer, asking.by());
            flight.asked(asking.id);
            return true;
        }
        Err(complaint) if asking.try_again(complaint.clone()) => return false,
        // A model that does not understand the question is no reason to end the tool: somebody else is asked.
        Err(_) if matches!(asking.way, ServerQuestionForm::Sampling(_)) => Answer::Unavailable,
        Err(complaint) => Answer::Rejected(format!("the answer could not be used: {complaint}")),
    };
    // Whoever was faster has answered it.
    let _ = shared.questions.answer(&asking.id, answer, asking.by());
    flight.asked(asking.id);
    true
}

/// The call that a client comes back to.
fn redeem(
    shared: &SharedServer,
    caller: &Caller,
    state: &str,
    bound: &TicketScope,
) -> Result<Arc<InFlight>, ErrorData> {
    let ticket = shared.seal.open(state, bound);
    let flight = ticket.and_then(|ticket| caller.in_flight.redeem(ticket, bound));
    flight.ok_or_else(|| {
        let told = "the request state is not valid: it was used already, has expired, or belongs to another \
                    call; make the call again without it";
        ErrorData::invalid_params(told, None)
    })
}

/// The configuration in force, with its tools listed. That may take a while the first time: components are
/// asked what they are.
pub(crate) async fn ready(served: Arc<ServedConfig>) -> Result<Arc<ServedConfig>, ErrorData> {
    if served.is_catalogued() {
        return Ok(served);
    }
    let listed = tokio::task::spawn_blocking(move || {
        served.catalogue();
        served
    });
    listed
        .await
        .map_err(|_| ErrorData::internal_error("the tools could not be listed", None))
}

/// The same, with the tools of all servers that can be asked for them.
async fn complete(shared: &Arc<SharedServer>) -> Result<Arc<ServedConfig>, ErrorData> {
    let shared = Arc::clone(shared);
    let completed = tokio::task::spawn_blocking(move || shared.complete());
    let served = completed
        .await
        .map_err(|_| ErrorData::internal_error("the tools could not be listed", None))?;
    ready(served).await
}

fn unknown_tool(name: &str) -> ErrorData {
    let name = jig_proto::visible_words(crate::text_prefix::cut(name, 200));
    ErrorData::invalid_params(format!("there is no tool `{name}`"), None)
}

/// Waits for a time that may never come.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// Whose answer it was, as people are told.
pub(crate) const CLIENT: &str = "the client";

/// The same for an answer that its model gave.
pub(crate) const MODEL: &str = "the client's model";

const CANCELLED: &str = "the call was cancelled";

const ANSWERED: &str = "the question was answered elsewhere";

/// When a call that still runs becomes a task, for a client that knows tasks: long enough that most calls are
/// over, short enough for clients that wait impatiently.
const TASK_AFTER: Duration = Duration::from_secs(2);

/// When a call of a stateful tool does: those that are over at once need no task.
const LONG_TASK_AFTER: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests;
