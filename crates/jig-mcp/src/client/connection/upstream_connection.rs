//! [`UpstreamConnection`]: requests and answers over one connection, whatever it runs over.

mod in_flight;

use std::collections::{BTreeMap, HashMap};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Semaphore, oneshot, watch};
use tokio_util::sync::CancellationToken;

pub(super) use self::in_flight::{EnteredCall, UpstreamInFlight};
use super::forms::UpstreamForm;
use super::http::HttpUpstream;
use super::message::{
    self, ServerErrorReply, ServerMessage, UpstreamAnswer, UpstreamReply, UpstreamResult, words,
};
use super::pipes::{self, ServerStdin};
use super::stray_lines::Strays;
use super::tool_list::KnownTools;
use super::{CallEvent, ElicitationAnswer, UpstreamError};

/// One connection.
#[derive(Debug)]
pub(super) struct UpstreamConnection {
    link: UpstreamLink,
    /// The numbers of requests and the tokens of calls.
    next: AtomicU64,
    waiting: Mutex<HashMap<u64, oneshot::Sender<Result<UpstreamResult, ServerErrorReply>>>>,
    calls: Mutex<BTreeMap<u64, Arc<UpstreamInFlight>>>,
    /// The questions that a server can take back, by their numbers as JSON.
    asked: Mutex<HashMap<String, CancellationToken>>,
    /// Bounds the answers that a server has asked for and does not read.
    replies: Arc<Semaphore>,
    /// What every request says about us, in the newer era.
    meta: OnceLock<Map<String, Value>>,
    known: KnownTools,
    /// How long a request that is no call may take.
    limit: Duration,
    changed: watch::Sender<u64>,
    is_change_due: AtomicBool,
    closed: CancellationToken,
    why: OnceLock<String>,
}

#[derive(Debug)]
enum UpstreamLink {
    Pipes(ServerStdin),
    Http(Box<HttpUpstream>),
}

/// Whether somebody waited for a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageUse {
    /// It is the answer to a request.
    Answer,
    /// Nobody did.
    Noise,
}

impl UpstreamConnection {
    /// A connection over two pipes. They are read from now on, and what is no message goes to `strays`.
    pub(super) fn over_pipes(
        stdin: OwnedFd,
        stdout: OwnedFd,
        limit: Duration,
        strays: Strays,
    ) -> Result<Arc<Self>, UpstreamError> {
        let failed = |error: std::io::Error| UpstreamError::unreachable(error.to_string());
        let (pipes, reader) = ServerStdin::new(stdin, stdout).map_err(failed)?;
        let wire = Self::new(UpstreamLink::Pipes(pipes), limit);
        tokio::spawn(pipes::read(Arc::clone(&wire), reader, strays));
        Ok(wire)
    }

    /// A connection to a URL, which is not asked yet.
    pub(super) fn over_http(
        url: &str,
        headers: &[(String, String)],
        limit: Duration,
    ) -> Result<Arc<Self>, UpstreamError> {
        let http = HttpUpstream::new(url, headers)?;
        Ok(Self::new(UpstreamLink::Http(Box::new(http)), limit))
    }

    fn new(link: UpstreamLink, limit: Duration) -> Arc<Self> {
        Arc::new(Self {
            link,
            next: AtomicU64::new(1),
            waiting: Mutex::default(),
            calls: Mutex::default(),
            asked: Mutex::default(),
            replies: Arc::new(Semaphore::new(REPLIES)),
            meta: OnceLock::new(),
            known: KnownTools::default(),
            limit,
            changed: watch::Sender::new(0),
            is_change_due: AtomicBool::new(false),
            closed: CancellationToken::new(),
            why: OnceLock::new(),
        })
    }

    /// The connection as one over HTTP, if it is.
    pub(super) fn http(&self) -> Option<&HttpUpstream> {
        match &self.link {
            UpstreamLink::Http(http) => Some(http),
            UpstreamLink::Pipes(_) => None,
        }
    }

    /// The connection as one over pipes, if it is.
    pub(super) fn pipes(&self) -> Option<&ServerStdin> {
        match &self.link {
            UpstreamLink::Pipes(pipes) => Some(pipes),
            UpstreamLink::Http(_) => None,
        }
    }

    /// What is known of the server's tools.
    pub(super) fn known(&self) -> &KnownTools {
        &self.known
    }

    /// How long a request that is no call may take.
    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    /// Whether a request has no answer yet.
    pub(super) fn is_waiting_for(&self, id: u64) -> bool {
        locked(&self.waiting).contains_key(&id)
    }

    /// Says this about us in every request from now on: the newer era. A second time changes nothing.
    pub(super) fn introduce(&self, meta: Map<String, Value>) {
        let _ = self.meta.set(meta);
    }

    /// Whether every request stands for itself: the newer era.
    pub(super) fn is_stateless(&self) -> bool {
        self.meta.get().is_some()
    }

    /// Asks the server, and waits for its answer until the connection ends. Given up, the server is told.
    ///
    /// # Errors
    ///
    /// If there is no answer, or it is an error.
    pub(super) async fn request(
        self: &Arc<Self>,
        method: &'static str,
        params: Map<String, Value>,
    ) -> Result<Value, UpstreamError> {
        let answer = self.exchange(method, params, |_| {}).await?;
        answer.map_err(|refusal| UpstreamError::Refused {
            method,
            code: refusal.code,
            message: refusal.message,
        })
    }

    /// The same, at most for `limit`.
    pub(super) async fn request_within(
        self: &Arc<Self>,
        limit: Duration,
        method: &'static str,
        params: Map<String, Value>,
    ) -> Result<Value, UpstreamError> {
        let answer = tokio::time::timeout(limit, self.request(method, params)).await;
        answer.map_err(|_| UpstreamError::Late { method, limit })?
    }

    /// Asks the server. `numbered` is told the number of the request before it is sent.
    ///
    /// # Errors
    ///
    /// If there is no answer. An answer that is an error is an answer.
    pub(super) async fn exchange(
        self: &Arc<Self>,
        method: &'static str,
        mut params: Map<String, Value>,
        numbered: impl FnOnce(u64),
    ) -> Result<UpstreamAnswer, UpstreamError> {
        if let Some(own) = self.meta.get() {
            let meta = params.entry("_meta").or_insert_with(|| json!({}));
            if let Value::Object(meta) = meta {
                meta.extend(
                    own.iter()
                        .map(|(name, value)| (name.clone(), value.clone())),
                );
            }
        }
        let http = match &self.link {
            UpstreamLink::Pipes(pipes) => {
                let answer = self.ask(pipes, method, &params, numbered).await?;
                return Ok(answer.map(UpstreamResult::into_value));
            }
            UpstreamLink::Http(http) => http,
        };
        let mut waiter = AnswerWaiter::new(self, method);
        numbered(waiter.id);
        waiter.is_sent = true;
        let request = Box::pin(http.request(self, waiter.id, method, &params));
        // The answer may come on another stream than that of the request.
        let answer = tokio::select! {
            biased;
            posted = request => {
                posted.map_err(|error| http.named(error))?;
                (&mut waiter.answer).await
            }
            answer = &mut waiter.answer => answer,
        };
        waiter.is_sent = false;
        let answer = answer.map_err(|_| self.lost(ENDED))?;
        Ok(answer.map(UpstreamResult::into_value))
    }

    /// The same over pipes: what is said is written as it is.
    pub(super) async fn ask(
        self: &Arc<Self>,
        pipes: &ServerStdin,
        method: &'static str,
        params: &impl Serialize,
        numbered: impl FnOnce(u64),
    ) -> Result<Result<UpstreamResult, ServerErrorReply>, UpstreamError> {
        let mut waiter = AnswerWaiter::new(self, method);
        numbered(waiter.id);
        let line = message::request(waiter.id, method, params);
        // Before it is: what is given up meanwhile may go out all the same.
        waiter.is_sent = true;
        let sent = pipes.send(line, &self.closed).await;
        sent.map_err(|error| self.lost(&error.to_string()))?;
        let answer = (&mut waiter.answer).await;
        waiter.is_sent = false;
        answer.map_err(|_| self.lost(ENDED))
    }

    /// Says something to the server.
    pub(super) async fn notify(
        self: &Arc<Self>,
        method: &str,
        params: Map<String, Value>,
    ) -> Result<(), UpstreamError> {
        let bytes = message::notification(method, &params);
        self.send(bytes).await
    }

    async fn send(self: &Arc<Self>, bytes: Vec<u8>) -> Result<(), UpstreamError> {
        match &self.link {
            UpstreamLink::Pipes(pipes) => {
                let sent = pipes.send(bytes, &self.closed).await;
                sent.map_err(|error| self.lost(&error.to_string()))
            }
            UpstreamLink::Http(http) => http.send(bytes).await.map_err(|error| http.named(error)),
        }
    }

    /// A call is in flight until what this returns is dropped.
    pub(super) fn enter(
        self: &Arc<Self>,
        caller: u64,
        events: UnboundedSender<CallEvent>,
    ) -> EnteredCall {
        let token = self.number();
        let call = Arc::new(UpstreamInFlight::new(caller, events));
        locked(&self.calls).insert(token, Arc::clone(&call));
        EnteredCall::new(Arc::clone(self), token, call)
    }

    fn left(&self, token: u64) {
        locked(&self.calls).remove(&token);
    }

    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Takes a message of the server in. `origin` is the request on whose stream it came, if it has its own.
    pub(super) fn incoming(
        self: &Arc<Self>,
        message: ServerMessage,
        origin: Option<u64>,
    ) -> MessageUse {
        match message {
            ServerMessage::Answer { id, answer } => return self.answered(id, answer, origin),
            ServerMessage::Notification { method, params } => self.notified(&method, &params),
            ServerMessage::Request { id, method, params } => match method.as_str() {
                "ping" => self.reply(&id, &UpstreamReply::Result(json!({}))),
                "elicitation/create" => self.asked(id, &params, origin),
                method => self.reply(&id, &UpstreamReply::no_such_method(method)),
            },
        }
        MessageUse::Noise
    }

    fn answered(
        &self,
        id: Option<u64>,
        answer: Result<UpstreamResult, ServerErrorReply>,
        origin: Option<u64>,
    ) -> MessageUse {
        let mut waiting = locked(&self.waiting);
        let known = id.filter(|id| waiting.contains_key(id));
        // An error without a number belongs to the request of its stream, or to the only one.
        let only = || (waiting.len() == 1).then(|| waiting.keys().next().copied());
        let guessed = || origin.or_else(|| only().flatten());
        let id = known.or_else(|| {
            let is_nameless = id.is_none() && answer.is_err();
            is_nameless.then(guessed).flatten()
        });
        let waiter = id.and_then(|id| waiting.remove(&id));
        drop(waiting);
        match waiter {
            Some(waiter) => {
                // Whoever asked may have given up at this moment.
                let _ = waiter.send(answer);
                MessageUse::Answer
            }
            // Late, or to nothing that was ever asked.
            None => MessageUse::Noise,
        }
    }

    fn notified(self: &Arc<Self>, method: &str, params: &Value) {
        match method {
            "notifications/progress" => {
                let token = match params.get("progressToken") {
                    Some(Value::String(text)) => text.parse().ok(),
                    Some(token) => token.as_u64(),
                    None => None,
                };
                let call = token.and_then(|token| locked(&self.calls).get(&token).cloned());
                if let Some(call) = call {
                    call.progress(params);
                }
            }
            "notifications/tools/list_changed" => self.list_changed(),
            "notifications/cancelled" => {
                if let Some(id) = params.get("requestId")
                    && let Some(question) = locked(&self.asked).get(&id.to_string())
                {
                    question.cancel();
                }
            }
            _ => {}
        }
    }

    /// Tells that the list changed, soon: a server that says so without end is heard a few times per second.
    pub(super) fn list_changed(self: &Arc<Self>) {
        if self.is_change_due.swap(true, Ordering::AcqRel) {
            return;
        }
        let wire = Arc::clone(self);
        tokio::spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(CHANGES) => {}
                () = wire.closed.cancelled() => return,
            }
            wire.is_change_due.store(false, Ordering::Release);
            wire.changed.send_modify(|count| *count += 1);
        });
    }

    /// Puts a question of the older era to whom it must belong.
    fn asked(self: &Arc<Self>, id: Value, params: &Value, origin: Option<u64>) {
        let form = match UpstreamForm::of(params) {
            Ok(form) => form,
            Err(refused) => {
                if let Some(told) = refused.told
                    && let Some(call) = self.call_that_asks(origin)
                {
                    call.tell(told);
                }
                return self.reply(&id, &refused.reply);
            }
        };
        let call = self.call_that_asks(origin);
        let Some((call, place)) = call.and_then(|call| Some((Arc::clone(&call), call.queue()?)))
        else {
            return self.reply(
                &id,
                &UpstreamReply::Result(form.result(ElicitationAnswer::Declined)),
            );
        };
        let wire = Arc::clone(self);
        let taken_back = self.closed.child_token();
        locked(&self.asked).insert(id.to_string(), taken_back.clone());
        tokio::spawn(async move {
            let answered = tokio::select! {
                answered = call.put(form.question().clone()) => Some(answered),
                () = taken_back.cancelled() => None,
            };
            drop(place);
            locked(&wire.asked).remove(&id.to_string());
            // A question that was taken back gets no answer.
            if let Some(answered) = answered {
                wire.reply(&id, &UpstreamReply::Result(form.result(answered)));
            }
        });
    }

    /// The call on whose behalf the server asks: that of the stream, or the only one, or the first of the only
    /// caller. Nobody answers a question that may be about what somebody else does.
    fn call_that_asks(&self, origin: Option<u64>) -> Option<Arc<UpstreamInFlight>> {
        let calls = locked(&self.calls);
        if let Some(origin) = origin
            && let Some(call) = calls.values().find(|call| call.is_of_request(origin))
        {
            return Some(Arc::clone(call));
        }
        let first = calls.values().next()?;
        let is_sole = calls.values().all(|call| call.caller == first.caller);
        is_sole.then(|| Arc::clone(first))
    }

    fn reply(self: &Arc<Self>, id: &Value, reply: &UpstreamReply) {
        let Ok(permit) = Arc::clone(&self.replies).try_acquire_owned() else {
            return self.close("it asks faster than it reads the answers");
        };
        let wire = Arc::clone(self);
        let bytes = message::reply(id, reply);
        tokio::spawn(async move {
            // A server that is gone reads no answer.
            let _ = wire.send(bytes).await;
            drop(permit);
        });
    }

    /// Counts the changes of the list.
    pub(super) fn changed(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Cancelled when the connection has ended.
    pub(super) fn closed(&self) -> &CancellationToken {
        &self.closed
    }

    /// Why it has.
    pub(super) fn why_closed(&self) -> Option<String> {
        self.why.get().cloned()
    }

    /// Ends the connection, for the reason that is given first.
    pub(super) fn close(&self, why: &str) {
        let _ = self.why.set(words(why));
        self.closed.cancel();
        locked(&self.waiting).clear();
    }

    /// Ends it in order.
    pub(super) async fn end(&self) {
        match &self.link {
            UpstreamLink::Pipes(pipes) => pipes.shut(&self.closed).await,
            UpstreamLink::Http(http) => http.end().await,
        }
        self.close("it was told to end");
    }

    fn lost(&self, error: &str) -> UpstreamError {
        let why = self.why.get().cloned();
        UpstreamError::Closed(why.unwrap_or_else(|| words(error)))
    }
}

/// Waits for an answer. Dropped before it is there, it tells the server that nobody waits any more.
struct AnswerWaiter<'a> {
    wire: &'a Arc<UpstreamConnection>,
    id: u64,
    method: &'static str,
    answer: oneshot::Receiver<Result<UpstreamResult, ServerErrorReply>>,
    is_sent: bool,
}

impl<'a> AnswerWaiter<'a> {
    fn new(wire: &'a Arc<UpstreamConnection>, method: &'static str) -> Self {
        let (sender, answer) = oneshot::channel();
        let id = wire.number();
        locked(&wire.waiting).insert(id, sender);
        // Whatever is put there after the end would never be woken.
        if wire.closed.is_cancelled() {
            locked(&wire.waiting).remove(&id);
        }
        Self {
            wire,
            id,
            method,
            answer,
            is_sent: false,
        }
    }
}

impl Drop for AnswerWaiter<'_> {
    fn drop(&mut self) {
        let was_waiting = locked(&self.wire.waiting).remove(&self.id).is_some();
        // Over HTTP, the newer era sees that the stream is closed; how a connection begins is never given up.
        let is_seen = self.wire.http().is_some() && self.wire.is_stateless();
        let is_told = was_waiting && self.is_sent && !is_seen && !is_beginning(self.method);
        if is_told && let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let wire = Arc::clone(self.wire);
            let id = self.id;
            runtime.spawn(async move {
                let params = [
                    ("requestId".to_owned(), id.into()),
                    ("reason".to_owned(), "nobody waits for it any more".into()),
                ];
                let told = wire.notify("notifications/cancelled", Map::from_iter(params));
                // Whether it is read is the server's business.
                let _ = tokio::time::timeout(CANCELS, told).await;
            });
        }
    }
}

fn is_beginning(method: &str) -> bool {
    matches!(method, "initialize" | "server/discover")
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const ENDED: &str = "it ended without a reason";

/// How many answers may be on their way to a server that does not read them.
const REPLIES: usize = 64;

/// How long changes of the list are collected.
const CHANGES: Duration = Duration::from_millis(100);

/// How long it is tried to tell a server that a request was given up.
const CANCELS: Duration = Duration::from_secs(5);
