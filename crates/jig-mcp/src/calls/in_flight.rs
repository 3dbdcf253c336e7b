//! [`InFlight`]: one call that runs, or waits for an answer.
//!
//! One task or thread makes the call by [`Engine::begin`], and is the only one that does: whoever wants to know how it
//! goes looks here, and may go away and come back. A call that has to ask is *parked*: its thread waits at the board
//! of questions, the tool waits for its answer, and nothing of it is started again when the answer comes.

use std::collections::{BTreeMap, HashSet};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use jig_broker::CancelToken;
use jig_engine::{Call, CallError, Engine, Reply};
use rmcp::model::{CallToolResult, ContentBlock, ErrorData, InputResponses};
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::task::{block_in_place, spawn_blocking};
use tokio::time::timeout_at;

use crate::caller::Caller;
use crate::calls::asker::CallAsker;
use crate::calls::request_state::{CallRound, TicketScope};
use crate::calls::results::result;
use crate::calls::runtime_thread::{self, RuntimeThread};
use crate::calls::tools_call::{CLIENT, MODEL};
use crate::questions::QuestionId;
use crate::questions::forms::ClientForm;
use crate::questions::sampling::Sampling;
use crate::shared::SharedServer;

/// One call that runs, or waits for an answer.
pub(crate) struct InFlight {
    /// Its number among those of the server: a ticket of a turn that has ended is for no call of the next one.
    number: u64,
    bound: TicketScope,
    cancel: CancelToken,
    state: Mutex<CallProgressState>,
    /// Counts up with every change.
    changed: watch::Sender<u64>,
}

/// What is to be called.
pub(crate) struct CallRequest {
    /// The tool, by the name that jig has for it.
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) bound: TicketScope,
    /// Whether the client can show a form.
    pub(crate) form: bool,
    /// Whether the client has its model answer questions.
    pub(crate) sampling: bool,
    /// Answers to the tool's own questions that came with the call, by the id of the question.
    pub(crate) given: InputResponses,
}

struct CallProgressState {
    number: u64,
    changed: SystemTime,
    progress: Option<Arc<str>>,
    asking: Option<Arc<InFlightQuestion>>,
    done: Option<Arc<CallOutcome>>,
    /// When it was done.
    ended: Option<Instant>,
    /// The round for which a client has a ticket that it has not used.
    ticket: Option<u64>,
    rounds: u64,
    /// What questions were called towards the client. Each name is used once.
    keys: HashSet<String>,
}

/// A question that a call waits for.
pub(crate) struct InFlightQuestion {
    pub(crate) id: QuestionId,
    /// What it is called towards the client.
    pub(crate) key: String,
    pub(crate) way: ServerQuestionForm,
    /// How many answers of the client did not fit.
    wrong: AtomicU32,
    /// What was wrong with the last one.
    complaint: Mutex<Option<String>>,
}

/// How the client is asked. Exhaustive: there is nothing else.
#[derive(Debug, Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "a form is what there nearly always is, and there are few"
)]
pub(crate) enum ServerQuestionForm {
    /// By a form, for whoever sits there.
    Form(Box<ClientForm>),
    /// By its model.
    Sampling(Sampling),
}

/// What a call came to.
pub(crate) struct CallOutcome {
    pub(crate) result: CallToolResult,
    /// What went wrong, if that was not in the tool: it could not be started, or jig itself failed.
    pub(crate) failure: Option<ErrorData>,
    /// Whether it was given up before.
    pub(crate) cancelled: bool,
}

/// How a call stands.
#[derive(Clone)]
pub(crate) enum InFlightStatus {
    /// It runs; and what it last had to say.
    Running(Option<Arc<str>>),
    /// It waits for the answer to a question.
    Asking(Arc<InFlightQuestion>),
    Done(Arc<CallOutcome>),
}

/// Why a call is not begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TooManyCalls {
    #[error(
        "{0} calls are running or waiting for an answer already, which is the most for one caller; try \
         again when one of them has ended"
    )]
    OfCaller(usize),
    #[error(
        "{0} calls are running or waiting for an answer already, which is the most for this server; try \
         again when one of them has ended"
    )]
    OfServer(usize),
}

impl InFlight {
    /// Begins a call, as soon as there is room for it. It goes on until it is done or [cancelled](Self::cancel), whoever
    /// looks.
    ///
    /// It is a task of the runtime that serves its client, if its tool may [begin](Engine::begins_on_callers_thread) on a
    /// thread of that, and has a thread of its own otherwise.
    ///
    /// # Errors
    ///
    /// If too many are in flight, and none of them ends in time.
    pub(crate) async fn start(
        shared: &Arc<SharedServer>,
        caller: &Arc<Caller>,
        request: CallRequest,
    ) -> Result<Arc<Self>, TooManyCalls> {
        caller.in_flight.enter(shared).await?;
        // Nothing waits from here on: a call that has its place begins.
        let flight = caller.in_flight.admit(shared, request.bound);
        let engine = caller.engine(shared);
        let is_task = runtime_thread::can_be_lent()
            && engine.begins_on_callers_thread(&request.tool, &request.arguments);
        let running = RunningCall {
            shared: Arc::clone(shared),
            caller: Arc::clone(caller),
            flight: Arc::clone(&flight),
            engine,
            outcome: None,
        };
        match is_task {
            // Whoever waits for it is a task of its own, and must be able to ask the client meanwhile.
            true => drop(tokio::spawn(running.run_as_task(request))),
            // A thread of the pool that is still warm, if there is one.
            false => drop(spawn_blocking(move || running.run(request))),
        }
        Ok(flight)
    }

    /// How it stands, as soon as that is something else than what was seen, with its number.
    pub(crate) async fn next(&self, seen: Option<u64>) -> (u64, InFlightStatus) {
        let mut changes = self.changed.subscribe();
        // The sender lives as long as this.
        let _ = changes.wait_for(|number| Some(*number) > seen).await;
        self.now()
    }

    /// How it stands.
    pub(crate) fn now(&self) -> (u64, InFlightStatus) {
        let state = self.state();
        let event = match (&state.done, &state.asking) {
            (Some(outcome), _) => InFlightStatus::Done(Arc::clone(outcome)),
            (None, Some(asking)) => InFlightStatus::Asking(Arc::clone(asking)),
            (None, None) => InFlightStatus::Running(state.progress.clone()),
        };
        (state.number, event)
    }

    /// When something last changed.
    pub(crate) fn changed_at(&self) -> SystemTime {
        self.state().changed
    }

    /// How long ago it was done.
    pub(crate) fn ended(&self) -> Option<Duration> {
        self.state().ended.map(|ended| ended.elapsed())
    }

    /// Gives it up: the tool is asked to end, and killed if it does not. What it came to is told as that of
    /// any other.
    pub(crate) fn cancel(&self) {
        self.cancel.cancel();
    }

    /// What cancels it.
    pub(crate) fn cancel_token(&self) -> &CancelToken {
        &self.cancel
    }

    /// What it is bound to.
    pub(crate) fn bound(&self) -> &TicketScope {
        &self.bound
    }

    /// A ticket for the next round. Those before are not good for anything any more.
    pub(crate) fn ticket(&self) -> CallRound {
        let mut state = self.state();
        state.rounds += 1;
        state.ticket = Some(state.rounds);
        CallRound {
            call: self.number,
            round: state.rounds,
        }
    }

    /// Uses a ticket up. Of several who try, one has it.
    fn redeem(&self, round: u64) -> bool {
        let mut state = self.state();
        let is_it = state.ticket == Some(round);
        if is_it {
            state.ticket = None;
        }
        is_it
    }

    /// What the tool last had to say.
    pub(crate) fn said(&self) -> Option<Arc<str>> {
        self.state().progress.clone()
    }

    /// Notes what the tool has to say.
    pub(crate) fn progress(&self, text: &str) {
        self.change(|state| state.progress = Some(text.into()));
    }

    /// Notes that it waits for an answer. The question is called `wanted` towards the client if nothing else
    /// was yet.
    pub(crate) fn ask(&self, id: QuestionId, wanted: &str, way: ServerQuestionForm) {
        self.change(|state| {
            let mut key = wanted.to_owned();
            let mut count = 1;
            while !state.keys.insert(key.clone()) {
                count += 1;
                key = format!("{wanted}-{count}");
            }
            state.asking = Some(Arc::new(InFlightQuestion {
                id,
                key,
                way,
                wrong: AtomicU32::new(0),
                complaint: Mutex::default(),
            }));
        });
    }

    /// Notes that a question is not open any more.
    pub(crate) fn asked(&self, id: QuestionId) {
        let is_open =
            |state: &CallProgressState| state.asking.as_ref().is_some_and(|open| open.id == id);
        if is_open(&self.state()) {
            self.change(|state| {
                if is_open(state) {
                    state.asking = None;
                }
            });
        }
    }

    fn finish(&self, outcome: CallOutcome) {
        self.change(|state| {
            state.asking = None;
            state.ended = Some(Instant::now());
            state.done = Some(Arc::new(outcome));
        });
    }

    fn change(&self, change: impl FnOnce(&mut CallProgressState)) {
        let mut state = self.state();
        change(&mut state);
        state.number += 1;
        state.changed = SystemTime::now();
        self.changed.send_replace(state.number);
    }

    fn state(&self) -> MutexGuard<'_, CallProgressState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InFlightQuestion {
    /// Notes an answer that does not fit. `false` if that was the last try.
    pub(crate) fn try_again(&self, complaint: String) -> bool {
        let place = self.complaint.lock();
        *place.unwrap_or_else(PoisonError::into_inner) = Some(complaint);
        self.wrong.fetch_add(1, Ordering::Relaxed) + 1 < MOST_TRIES
    }

    /// Whose answer it is that the client gives.
    pub(crate) fn by(&self) -> &'static str {
        match self.way {
            ServerQuestionForm::Form(_) => CLIENT,
            ServerQuestionForm::Sampling(_) => MODEL,
        }
    }

    /// What was wrong with the last answer.
    pub(crate) fn complaint(&self) -> Option<String> {
        let complaint = self.complaint.lock();
        complaint.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A call while it is made. Its flight ends when this is dropped.
struct RunningCall {
    shared: Arc<SharedServer>,
    caller: Arc<Caller>,
    flight: Arc<InFlight>,
    engine: Arc<Engine>,
    /// What it came to. If there is nothing, jig itself failed.
    outcome: Option<CallOutcome>,
}

impl RunningCall {
    fn run(mut self, request: CallRequest) {
        let mut asker = self.asker(&request);
        let (tool, call) = self.call(request);
        let result = self.engine.call(call, &mut asker);
        self.outcome = Some(self.outcome(&tool, result, &asker));
    }

    /// Makes the call as a task. It gives its thread back before it waits for anything but the tool.
    async fn run_as_task(mut self, request: CallRequest) {
        let mut asker = self.asker(&request);
        let (tool, mut call) = self.call(request);
        call.callers_thread = Some(Arc::new(RuntimeThread));
        let engine = Arc::clone(&self.engine);
        let result = match engine.begin(call, &mut asker) {
            Ok(begun) => {
                begun.first_news().await;
                match begun.has_stopped() {
                    true => begun.finish(&mut asker),
                    false => block_in_place(|| begun.finish(&mut asker)),
                }
            }
            Err(error) => Err(error),
        };
        self.outcome = Some(self.outcome(&tool, result, &asker));
    }

    fn asker(&self, request: &CallRequest) -> CallAsker {
        CallAsker::new(
            &self.shared,
            &self.caller,
            &self.flight,
            &self.engine,
            request,
        )
    }

    /// The name of the tool, and its call.
    fn call(&self, request: CallRequest) -> (String, Call) {
        let arguments = Value::Object(request.arguments);
        let mut call = Call::new(request.tool.clone(), arguments);
        call.cancel = Some(self.flight.cancel.clone());
        (request.tool, call)
    }

    fn outcome(
        &self,
        tool: &str,
        made: Result<Reply, CallError>,
        asker: &CallAsker,
    ) -> CallOutcome {
        let failed = made.as_ref().is_err_and(never_ran);
        let cancelled = self.flight.cancel.is_cancelled() && made.is_err();
        let result = match self.engine.config().tool(tool) {
            Some(tool) => result(&self.caller, &self.engine, tool, made, asker.notes()),
            // It was there a moment ago: another configuration came into force.
            None => error(format!("there is no tool `{tool}` any more")),
        };
        CallOutcome {
            failure: failed.then(|| ErrorData::internal_error(text(&result), None)),
            result,
            cancelled,
        }
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        // Whoever hears of the result may make the next call at once: there is room for it by then.
        self.caller.in_flight.leave(&self.shared);
        self.flight
            .finish(self.outcome.take().unwrap_or_else(broke));
        self.caller.in_flight.forget(&self.flight);
    }
}

/// The calls in flight of one caller.
#[derive(Default)]
pub(crate) struct InFlights {
    calls: Mutex<Calls>,
}

#[derive(Default)]
struct Calls {
    running: usize,
    /// Those that run, and those that are done and wait for a client with a ticket.
    known: BTreeMap<u64, Arc<InFlight>>,
    closed: bool,
}

impl InFlights {
    /// Takes room for one more call, and waits for it if there is none. A client may send more calls at once than may
    /// run at once.
    async fn enter(&self, shared: &SharedServer) -> Result<(), TooManyCalls> {
        let until = tokio::time::Instant::now() + shared.options.room_wait;
        loop {
            let mut freed = pin!(shared.freed.notified());
            // From now on: a call may end between the look at the numbers and the wait.
            freed.as_mut().enable();
            let Err(too_many) = self.calls().enter(shared) else {
                return Ok(());
            };
            if timeout_at(until, freed).await.is_err() {
                return Err(too_many);
            }
        }
    }

    /// Notes a call that has its room.
    fn admit(&self, shared: &SharedServer, bound: TicketScope) -> Arc<InFlight> {
        let mut calls = self.calls();
        calls.forget_old();
        let flight = Arc::new(InFlight {
            number: shared.begun.fetch_add(1, Ordering::Relaxed) + 1,
            bound,
            cancel: CancelToken::new(),
            state: Mutex::new(CallProgressState::new()),
            changed: watch::Sender::new(0),
        });
        calls.known.insert(flight.number, Arc::clone(&flight));
        if calls.closed {
            flight.cancel();
        }
        flight
    }

    /// A call takes no room any more.
    fn leave(&self, shared: &SharedServer) {
        self.calls().running -= 1;
        shared.running.fetch_sub(1, Ordering::AcqRel);
        shared.freed.notify_waiters();
    }

    /// A call is done. If a client has a ticket for it, its result waits.
    fn forget(&self, flight: &InFlight) {
        let mut calls = self.calls();
        if flight.state().ticket.is_none() {
            calls.known.remove(&flight.number);
        }
        calls.forget_old();
    }

    /// The call that a ticket is for, if it was not used. It is now.
    pub(crate) fn redeem(&self, ticket: CallRound, bound: &TicketScope) -> Option<Arc<InFlight>> {
        let mut calls = self.calls();
        let flight = Arc::clone(calls.known.get(&ticket.call)?);
        if flight.bound != *bound || !flight.redeem(ticket.round) {
            return None;
        }
        if flight.ended().is_some() {
            calls.known.remove(&ticket.call);
        }
        Some(flight)
    }

    /// Gives up every call, also those that are yet to come: the turn of the caller has ended.
    pub(crate) fn cancel_all(&self) {
        let mut calls = self.calls();
        calls.closed = true;
        let known: Vec<Arc<InFlight>> = calls.known.values().map(Arc::clone).collect();
        drop(calls);
        for flight in known {
            flight.cancel();
        }
    }

    /// How many run, or wait for an answer.
    pub(crate) fn len(&self) -> usize {
        self.calls().running
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Calls {
    /// Takes room for one more, if there is any.
    fn enter(&mut self, shared: &SharedServer) -> Result<(), TooManyCalls> {
        let options = &shared.options;
        if self.running >= options.calls_per_caller {
            return Err(TooManyCalls::OfCaller(options.calls_per_caller));
        }
        let admitted =
            shared
                .running
                .fetch_update(Ordering::AcqRel, Ordering::Acquire, |running| {
                    (running < options.calls).then_some(running + 1)
                });
        if admitted.is_err() {
            return Err(TooManyCalls::OfServer(options.calls));
        }
        self.running += 1;
        Ok(())
    }

    /// Forgets results that nobody came for.
    fn forget_old(&mut self) {
        let ended = self.known.values().filter_map(|call| {
            let ended = call.ended()?;
            Some((call.number, ended))
        });
        let ended: Vec<(u64, Duration)> = ended.collect();
        let surplus = ended.len().saturating_sub(MOST_UNFETCHED);
        for (index, (number, age)) in ended.into_iter().enumerate() {
            if index < surplus || age > LONGEST_UNFETCHED {
                self.known.remove(&number);
            }
        }
    }
}

impl CallProgressState {
    fn new() -> Self {
        Self {
            number: 0,
            changed: SystemTime::now(),
            progress: None,
            asking: None,
            done: None,
            ended: None,
            ticket: None,
            rounds: 0,
            keys: HashSet::new(),
        }
    }
}

/// A result that says what went wrong.
pub(crate) fn error(text: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text.into())])
}

/// Whether the tool never ran because it could not be started. A task tells that apart from a tool that failed.
fn never_ran(error: &CallError) -> bool {
    use CallError::{Files, Runtime, Start};
    matches!(error, Runtime { .. } | Files(_) | Start { .. })
}

/// What a result says.
fn text(result: &CallToolResult) -> String {
    let blocks = result.content.iter().filter_map(ContentBlock::as_text);
    let texts: Vec<&str> = blocks.map(|block| block.text.as_str()).collect();
    texts.join("\n")
}

/// What a call comes to that hit a mistake of ours.
fn broke() -> CallOutcome {
    let told = "jig itself failed in this call; whether the tool has done its work is not known";
    CallOutcome {
        result: error(told),
        failure: Some(ErrorData::internal_error(told, None)),
        cancelled: false,
    }
}

/// How often a client may answer one question with something that does not fit.
const MOST_TRIES: u32 = 2;

/// Results that wait for clients with a ticket. One that never comes back would fill the memory.
const MOST_UNFETCHED: usize = 64;

/// How long such a result waits. Tickets expire before.
const LONGEST_UNFETCHED: Duration = Duration::from_secs(60 * 60);

#[cfg(test)]
mod tests;
