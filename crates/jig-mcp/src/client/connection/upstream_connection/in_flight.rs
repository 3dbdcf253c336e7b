//! [`UpstreamInFlight`]: a call that a server works on, as what the server says finds it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use jig_proto::Question;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Semaphore, oneshot};

use super::UpstreamConnection;
use crate::client::connection::message::words;
use crate::client::connection::rate_limit::RateGate;
use crate::client::connection::{CallEvent, ElicitationAnswer};

/// A call.
#[derive(Debug)]
pub(in crate::client::connection) struct UpstreamInFlight {
    pub(super) caller: u64,
    events: UnboundedSender<CallEvent>,
    /// The number of its request. Every round of questions is a new one.
    request: AtomicU64,
    /// One question after the other.
    turn: Semaphore,
    /// How many questions there are now.
    questions: AtomicUsize,
    pace: RateGate,
}

impl UpstreamInFlight {
    pub(super) fn new(caller: u64, events: UnboundedSender<CallEvent>) -> Self {
        Self {
            caller,
            events,
            request: AtomicU64::new(0),
            turn: Semaphore::new(1),
            questions: AtomicUsize::new(0),
            pace: RateGate::default(),
        }
    }

    /// The call is this request now.
    pub(in crate::client::connection) fn is_now(&self, request: u64) {
        self.request.store(request, Ordering::Release);
    }

    pub(super) fn is_of_request(&self, request: u64) -> bool {
        self.request.load(Ordering::Acquire) == request
    }

    /// A place among the questions of this call that wait; none if there are many.
    pub(super) fn queue(self: &Arc<Self>) -> Option<QueuedQuestion> {
        let queued = QueuedQuestion(Arc::clone(self));
        let before = self.questions.fetch_add(1, Ordering::AcqRel);
        (before < QUESTIONS).then_some(queued)
    }

    /// Puts a question to whoever called, when those before it are answered.
    pub(in crate::client::connection) async fn put(&self, question: Question) -> ElicitationAnswer {
        let Ok(_turn) = self.turn.acquire().await else {
            return ElicitationAnswer::Cancelled;
        };
        let (answer, answered) = oneshot::channel();
        let asked = self.events.send(CallEvent::Ask { question, answer });
        match asked {
            Ok(()) => tokio::select! {
                answered = answered => answered.unwrap_or(ElicitationAnswer::Cancelled),
                // The call ended before its question did.
                () = self.events.closed() => ElicitationAnswer::Cancelled,
            },
            Err(_) => ElicitationAnswer::Cancelled,
        }
    }

    /// Tells what a server says about its progress, if it has not just said something.
    pub(in crate::client::connection) fn progress(&self, params: &Value) {
        let amount = |name: &str| params.get(name).and_then(Value::as_f64);
        let part = amount("progress").map(|done| match amount("total") {
            Some(total) => format!("{done}/{total}"),
            None => done.to_string(),
        });
        let message = params.get("message").and_then(Value::as_str);
        let text = match (message, part) {
            (Some(message), Some(part)) if !message.is_empty() => format!("{message} ({part})"),
            (_, Some(part)) => part,
            (Some(message), None) => message.to_owned(),
            (None, None) => return,
        };
        self.status(&text);
    }

    /// Tells what a server says about a call, if it has not just said something.
    pub(in crate::client::connection) fn status(&self, text: &str) {
        if self.pace.is_time(Instant::now(), EVERY) {
            self.tell(words(text));
        }
    }

    /// Tells something that has to be known. The text is printable.
    pub(in crate::client::connection) fn tell(&self, text: String) {
        // A call that has ended is told nothing.
        let _ = self.events.send(CallEvent::Progress(text));
    }
}

/// A place among the questions of a call, until it is dropped.
pub(super) struct QueuedQuestion(Arc<UpstreamInFlight>);

impl Drop for QueuedQuestion {
    fn drop(&mut self) {
        self.0.questions.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A call, until it is dropped.
#[derive(Debug)]
pub(in crate::client::connection) struct EnteredCall {
    wire: Arc<UpstreamConnection>,
    token: u64,
    call: Arc<UpstreamInFlight>,
}

impl EnteredCall {
    pub(super) fn new(
        wire: Arc<UpstreamConnection>,
        token: u64,
        call: Arc<UpstreamInFlight>,
    ) -> Self {
        Self { wire, token, call }
    }

    /// What the server names in its notifications of progress.
    pub(in crate::client::connection) fn token(&self) -> u64 {
        self.token
    }

    /// The call.
    pub(in crate::client::connection) fn call(&self) -> &UpstreamInFlight {
        &self.call
    }
}

impl Drop for EnteredCall {
    fn drop(&mut self) {
        self.wire.left(self.token);
    }
}

/// How many questions of one call may wait for the one before; more of them are declined.
const QUESTIONS: usize = 8;

/// How often the progress of a call is told.
const EVERY: Duration = Duration::from_millis(100);
