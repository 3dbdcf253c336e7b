//! One call of a server's tool: how the engine makes it ([`ToolServers::call`]), and what happens meanwhile.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use jig_broker::CancelToken;
use jig_config::DefinitionMode;
use jig_engine::{HeldOffer, ServedCall, ServerCall, ToolServers};
use jig_proto::{Content, Denial, Question, ToolError, hint};
use jig_runtime::{InProcess, OptionalAnswer};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::{block_in_place, spawn_blocking};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::error_texts;
use super::running_server::{LiveServer, ServerUse};
use super::slot::{ServerSlot, Unavailable};
use super::{Servers, after};
use crate::client::connection::{
    CallEvent, ElicitationAnswer, UpstreamCall, UpstreamError, clean_question,
};

/// What happens during a call.
#[derive(Debug)]
enum ServerCallEvent {
    /// How far it has come: one printable line.
    Progress(String),
    /// Something that has to be told, however soon the call ends after it.
    Notice(String),
    /// The server asks.
    Ask {
        /// The question, in the words of the server.
        question: Box<Question>,
        /// Where the answer goes. Dropped, it means that nobody answers.
        answer: oneshot::Sender<ElicitationAnswer>,
        /// Cancelled when nobody waits for the answer any more: the server took its question back, or is gone, or
        /// the call has ended.
        gone: CancelToken,
    },
}

impl Servers {
    /// Calls a tool of a server, which is started if it has to be, until `cancel` gives the call up.
    ///
    /// The time that a question waits for its answer is not the server's: it is not counted.
    ///
    /// # Errors
    ///
    /// If the server cannot be used, the tool is held, or the call fails: also as the tool itself says
    /// (`isError`). What the server was refused meanwhile is among the denials.
    async fn call_async(
        &self,
        call: ServerCall,
        cancel: CancellationToken,
        events: UnboundedSender<ServerCallEvent>,
    ) -> Result<Content, ToolError> {
        let (slot, visit) = tokio::select! {
            biased;
            entered = self.enter(&call.server.name) => entered.map_err(Unavailable::into_error)?,
            () = cancel.cancelled() => return Err(given_up()),
        };
        let server = slot.server();
        // Another configuration may have come into force: what was judged and agreed to was a call of another server.
        let is_same =
            Arc::ptr_eq(&server, &call.server) || server.fingerprint() == call.server.fingerprint();
        if !is_same {
            return Err(Unavailable::Gone(server.name.clone()).into_error());
        }
        // It may have come up anew since somebody looked, and with other definitions.
        if self.ledger.held(&server, &call.tool).is_some() {
            return Err(ToolError::new(format!(
                "the definition of `{}` has just changed, and a person has to accept it; call it again to \
                 have them asked",
                error_texts::name(&call.tool)
            )));
        }
        slot.called();
        let calling = ServerCallAttempt {
            slot: &slot,
            visit,
            limit: server.time,
        };
        calling.call(call, cancel, events).await
    }

    /// Brings a call to its end.
    async fn serve(&self, call: ServerCall, mut served: ServedCall) {
        let token = CancelToken::new();
        let (cancel, _hook) = bridge(Some(&token));
        served.door.cancel_by(&token);
        let (events, mut received) = unbounded_channel();
        let mut work = pin!(self.call_async(call, cancel, events));
        let result = loop {
            let event = tokio::select! {
                biased;
                result = &mut work => break result,
                // Its sender lives as long as the work.
                Some(event) = received.recv() => event,
            };
            let ServerCallEvent::Ask {
                question,
                answer,
                gone,
            } = event
            else {
                tell(&mut served.door, event);
                continue;
            };
            // A person takes their time. Meanwhile the server can take its question back, or end the call.
            let mut asking =
                spawn_blocking(move || (put(*question, &gone, &mut served.door), served));
            let mut ended = None;
            let asked = loop {
                tokio::select! {
                    biased;
                    asked = &mut asking => break asked,
                    result = &mut work, if ended.is_none() => ended = Some(result),
                }
            };
            // Otherwise it was dropped there, and the call has ended.
            let Ok((answered, back)) = asked else {
                return;
            };
            served = back;
            let _ = answer.send(answered);
            if let Some(result) = ended {
                break result;
            }
        };
        // What the server told before its result is told before it.
        while let Ok(event) = received.try_recv() {
            tell(&mut served.door, event);
        }
        served.door.no_cancel();
        served.end(result);
    }

    /// Waits for a server, on a thread that may block.
    fn wait_for(&self, server: &str, cancel: Option<&CancelToken>) -> Result<(), ToolError> {
        let (given_up_by, _hook) = bridge(cancel);
        let ready = async {
            tokio::select! {
                entered = self.enter(server) => entered.map(drop).map_err(Unavailable::into_error),
                () = given_up_by.cancelled() => Err(given_up()),
            }
        };
        self.block_on(ready)?
    }

    fn block_on<T>(&self, work: impl Future<Output = T>) -> Result<T, ToolError> {
        let runtime = self.runtime().map_err(ToolError::new)?;
        // It may be the thread that reads what the server says.
        Ok(block_in_place(|| runtime.block_on(work)))
    }
}

impl ToolServers for Servers {
    fn call(self: Arc<Self>, call: ServerCall, served: ServedCall) {
        match self.runtime() {
            Ok(runtime) => drop(runtime.spawn(async move { self.serve(call, served).await })),
            Err(error) => served.end(Err(ToolError::new(error))),
        }
    }

    fn held(
        &self,
        server: &str,
        tool: &str,
        cancel: Option<&CancelToken>,
    ) -> Result<Option<HeldOffer>, ToolError> {
        let slot = self.slot(server);
        let slot = slot.ok_or_else(|| Unavailable::Unknown(server.to_owned()).into_error())?;
        let server = slot.server();
        if !slot.is_up() {
            if let Some(held) = self.ledger.held_server(&server) {
                return Ok(Some(held));
            }
            // What it says now decides, unless whatever it says is taken.
            if server.definitions == DefinitionMode::Hold {
                self.wait_for(&server.name, cancel)?;
            }
        }
        Ok(self.ledger.held(&server, tool))
    }

    fn accept(&self, held: &HeldOffer) -> Result<(), String> {
        let (HeldOffer::Server { name, .. } | HeldOffer::Definition { server: name, .. }) = held;
        let slot = self.slot(name);
        let slot = slot.ok_or_else(|| format!("there is no MCP server `{name}` any more"))?;
        self.ledger.accept(&slot.server(), held)?;
        self.common.tell_change();
        Ok(())
    }
}

/// A call that goes to a server.
struct ServerCallAttempt<'c> {
    slot: &'c ServerSlot,
    visit: ServerUse,
    limit: Duration,
}

/// What a call that went well tells of what its server was refused meanwhile.
fn in_passing(refused: &[Denial]) -> String {
    let told = refused.iter().map(|denial| format!("denied: {denial}"));
    let told: Vec<String> = told.collect();
    format!(
        "jig: during this call the server was refused something.\n{}",
        told.join("\n")
    )
}

/// A question that waits for its answer.
struct ServerCallQuestion {
    answer: oneshot::Receiver<ElicitationAnswer>,
    /// Where the server's connection waits for it.
    wanted: oneshot::Sender<ElicitationAnswer>,
    since: Instant,
    /// Tells whoever is asked that nobody wants to know any more.
    _gone: CancelOnDrop,
}

/// Cancels when it goes.
struct CancelOnDrop(CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl ServerCallAttempt<'_> {
    async fn call(
        self,
        call: ServerCall,
        cancel: CancellationToken,
        events: UnboundedSender<ServerCallEvent>,
    ) -> Result<Content, ToolError> {
        let live = self.visit.live();
        let mark = live.mark();
        let result = self.run(call, cancel, events).await;
        let note = self.slot.take_untold();
        match result {
            Ok(mut content) => {
                content.visit_texts(&mut |text| scrub(live, text));
                if let Some(note) = note {
                    content = content.followed_by(Content::text(note));
                }
                let Ok(intruded) = live.intruded_since(mark).await else {
                    return Err(ToolError::new(NOT_LOOKED));
                };
                if intruded.is_empty() {
                    let refused = live.refused_in_passing(mark).await;
                    return Ok(match refused.is_empty() {
                        true => content,
                        false => content.followed_by(Content::text(in_passing(&refused))),
                    });
                }
                // Whatever it says: what it left would have had the power of somebody else's.
                let mut error = ToolError::of_content(content.followed_by(Content::text(INTRUDED)));
                error.denials = intruded;
                Err(error)
            }
            Err(mut error) => {
                // To explain it takes a while, and others are served on this thread.
                let (asked, said) = (Arc::clone(live), error.message.clone());
                let refused = spawn_blocking(move || {
                    let mut refused = asked.refused_since(mark.as_ref());
                    let named = asked.refused_by_its_words(&said, &refused);
                    refused.extend(named);
                    refused
                });
                for denial in refused.await.unwrap_or_default() {
                    if !error.denials.contains(&denial) {
                        error.denials.push(denial);
                    }
                }
                error.visit_texts(&mut |text| scrub(live, text));
                if let Some(note) = note {
                    add_note(&mut error, note);
                }
                Err(error)
            }
        }
    }

    /// Does the call, and passes on what the server says and asks meanwhile.
    async fn run(
        &self,
        call: ServerCall,
        cancel: CancellationToken,
        events: UnboundedSender<ServerCallEvent>,
    ) -> Result<Content, ToolError> {
        let live = self.visit.live();
        let (said, mut says) = unbounded_channel();
        let mut work = pin!(live.upstream.call(UpstreamCall {
            name: call.tool,
            arguments: call.arguments,
            caller: call.caller,
            events: said,
        }));
        let mut deadline = after(self.limit);
        let mut asked: Option<ServerCallQuestion> = None;
        let result = loop {
            tokio::select! {
                biased;
                result = &mut work => break result,
                Some(event) = says.recv() => match event {
                    CallEvent::Progress(text) => {
                        let text = live.scrub(&text).into_owned();
                        // Whoever does not listen any more is about to give up.
                        let _ = events.send(ServerCallEvent::Progress(text));
                    }
                    CallEvent::Ask { question, answer } => {
                        self.ask(question, answer, &mut asked, &events);
                    }
                },
                answer = answered(&mut asked) => {
                    if let Some(asked) = asked.take() {
                        deadline += asked.since.elapsed();
                        // The server may have taken its question back: then nobody is there.
                        let _ = asked.wanted.send(answer);
                    }
                }
                // The server is told; it need not agree.
                () = cancel.cancelled() => return Err(given_up()),
                () = sleep_until(deadline), if asked.is_none() => return Err(self.late()),
            }
        };
        // What it told before its result is told before it. A question that is still there has lost its call.
        while let Ok(event) = says.try_recv() {
            if let CallEvent::Progress(text) = event {
                let text = live.scrub(&text).into_owned();
                let _ = events.send(ServerCallEvent::Progress(text));
            }
        }
        match result {
            Ok(result) => result.into_content(),
            Err(error) => Err(Box::pin(self.failed(error)).await),
        }
    }

    fn ask(
        &self,
        mut question: Question,
        wanted: oneshot::Sender<ElicitationAnswer>,
        asked: &mut Option<ServerCallQuestion>,
        events: &UnboundedSender<ServerCallEvent>,
    ) {
        let live = self.visit.live();
        if asked.is_some() {
            // One at a time: a person is not to be buried in questions.
            let _ = wanted.send(ElicitationAnswer::Declined);
            return;
        }
        let secrets = live.scrubber();
        if let Some(secrets) = &secrets
            && !clean_question(&mut question, secrets)
        {
            let name = &self.slot.server().name;
            let _ = events.send(ServerCallEvent::Notice(format!(
                "the MCP server `{name}` asked for something whose possible answers hold one of its secrets; nobody \
                 was asked"
            )));
            let _ = wanted.send(ElicitationAnswer::Declined);
            return;
        }
        let (answer, receive) = oneshot::channel();
        let gone = CancelToken::new();
        let ask = ServerCallEvent::Ask {
            question: Box::new(question),
            answer,
            gone: gone.clone(),
        };
        // Whoever does not listen drops it, and with it the way of the answer.
        let _ = events.send(ask);
        *asked = Some(ServerCallQuestion {
            answer: receive,
            wanted,
            since: Instant::now(),
            _gone: CancelOnDrop(gone),
        });
    }

    fn late(&self) -> ToolError {
        let name = &self.slot.server().name;
        ToolError::new(format!(
            "the MCP server `{name}` did not answer within {limit}, and the call was given up; it may have had \
             effects\n{}",
            hint!("if it needs more time, set `time` in `[mcp.servers.{name}]`"),
            limit = error_texts::time(self.limit),
        ))
    }

    async fn failed(&self, error: UpstreamError) -> ToolError {
        let live = self.visit.live();
        let name = self.slot.server().name.clone();
        match error {
            UpstreamError::Refused { code, message, .. } => ToolError::new(format!(
                "the MCP server `{name}` refused the call: {message} (error {code})"
            )),
            UpstreamError::Closed(why) => {
                // A server that takes nothing more is of no use, also if it goes on talking.
                if timeout(CLOSED, live.closed().cancelled()).await.is_err() {
                    live.condemn(&why).await;
                }
                let failure = live.fate().await;
                let mut error = ToolError::new(format!(
                    "the MCP server `{name}` ended during the call: {}\nthe call was not repeated, because it \
                     may have had effects; the next one starts the server anew",
                    failure.why
                ));
                error.denials = failure.denials;
                error
            }
            error => ToolError::new(format!("the MCP server `{name}` failed: {error}")),
        }
    }
}

/// Passes on what needs no answer. Nobody waits for that to a question any more.
fn tell(door: &mut InProcess, event: ServerCallEvent) {
    match event {
        ServerCallEvent::Progress(text) => door.tell(Content::text(text)),
        ServerCallEvent::Notice(text) => door.remark(text),
        ServerCallEvent::Ask { .. } => {}
    }
}

/// Puts a question, on a thread that may block.
fn put(question: Question, gone: &CancelToken, door: &mut InProcess) -> ElicitationAnswer {
    match door.put(question, &|| !gone.is_cancelled()) {
        OptionalAnswer::Answered(value) => ElicitationAnswer::Given(value),
        OptionalAnswer::Unanswered => ElicitationAnswer::Declined,
        OptionalAnswer::GivenUp => ElicitationAnswer::Cancelled,
    }
}

/// What comes of the question that waits, if one does. One that the server takes back comes to nothing.
async fn answered(asked: &mut Option<ServerCallQuestion>) -> ElicitationAnswer {
    let Some(ServerCallQuestion { answer, wanted, .. }) = asked else {
        return std::future::pending().await;
    };
    tokio::select! {
        answered = answer => answered.unwrap_or(ElicitationAnswer::Cancelled),
        () = wanted.closed() => ElicitationAnswer::Cancelled,
    }
}

/// A token for tasks that is cancelled with one of ours.
fn bridge(token: Option<&CancelToken>) -> (CancellationToken, Option<jig_broker::CancelHook>) {
    let cancel = CancellationToken::new();
    let hook = token.map(|token| {
        let cancel = cancel.clone();
        token.on_cancel(move || cancel.cancel())
    });
    (cancel, hook)
}

fn scrub(live: &LiveServer, text: &mut String) {
    if let std::borrow::Cow::Owned(clean) = live.scrub(text) {
        *text = clean;
    }
}

/// Adds something to what a failure says: to the blocks of the server if it has some, else to our words.
fn add_note(error: &mut ToolError, note: String) {
    match error.content.is_empty() {
        true => {
            error.message.push('\n');
            error.message.push_str(&note);
        }
        false => {
            let content = std::mem::take(&mut error.content);
            error.content = content.followed_by(Content::text(note));
        }
    }
}

fn given_up() -> ToolError {
    ToolError::new("the call was cancelled")
}

/// What a call is told during which a server left something where nothing may come into being.
const INTRUDED: &str =
    "the call counts as failed: its server left something where nothing may come into being";

/// What a call is told of which nobody knows whether it left something.
const NOT_LOOKED: &str = "the call counts as failed: jig could not look for what its server left";

/// How long it is waited for the end of a connection on which nothing can be sent any more.
const CLOSED: Duration = Duration::from_secs(1);
