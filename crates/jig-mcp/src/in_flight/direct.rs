//! A call that goes to a server behind this one: a task awaits it, and only a question takes a thread.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use jig_engine::{Direct, Engine, Inquired, ServerCall};
use jig_proto::{Block, Content, ToolError};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio_util::sync::CancellationToken;

use super::{Outcome, Place, Request, Running, broke, outcome};
use crate::caller::Caller;
use crate::desk::Desk;
use crate::mailbox::{self, mailbox};
use crate::servers::{Event, Servers};
use crate::upstream::Answered;

/// Makes the call, and tells what it came to.
pub(super) async fn run(running: Running, request: Request, underway: Underway) {
    let mut ending = Ending {
        running,
        outcome: None,
    };
    ending.outcome = Some(call(&ending.running, request, underway).await);
}

/// Tells what a call came to, also if that is a mistake of ours.
struct Ending {
    running: Running,
    outcome: Option<Outcome>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        let outcome = self.outcome.take().unwrap_or_else(broke);
        self.running.end(outcome);
    }
}

/// A call that goes to a server, from when it is ready to be made until it is done.
pub(crate) struct Underway {
    engine: Arc<Engine>,
    direct: Direct,
    work: Pin<Box<dyn Future<Output = Result<Content, ToolError>> + Send>>,
    events: mailbox::Receiver<Event>,
    /// What has come of those already.
    first: Option<Event>,
    given_up: CancellationToken,
    place: Option<Place>,
}

impl Underway {
    /// A call that is made when somebody waits for it.
    pub(crate) fn new(
        engine: Arc<Engine>,
        servers: Arc<Servers>,
        call: ServerCall,
        direct: Direct,
    ) -> Self {
        let (tell, events) = mailbox();
        let given_up = CancellationToken::new();
        let cancel = given_up.clone();
        Self {
            engine,
            direct,
            work: Box::pin(async move { servers.call_async(call, cancel, tell).await }),
            events,
            first: None,
            given_up,
            place: None,
        }
    }

    /// What gives it up.
    pub(crate) fn given_up(&self) -> &CancellationToken {
        &self.given_up
    }

    /// The same call, which has this place.
    pub(crate) fn in_place(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// The tool, by the name that jig has for it.
    pub(crate) fn tool(&self) -> &str {
        self.direct.tool()
    }

    /// The place that it has.
    pub(super) fn take_place(&mut self) -> Option<Place> {
        self.place.take()
    }

    /// Makes the call. Returns its result, or nothing if the server has something to say before.
    ///
    /// It can be asked again: what the server had to say is then passed over.
    pub(crate) async fn result(&mut self) -> Option<Result<Content, ToolError>> {
        self.first = None;
        // The server has it: what else there is to do is done while it works.
        let at_once = poll_fn(|context| Poll::Ready(self.work.as_mut().poll(context))).await;
        if at_once.is_pending() {
            // What goes wrong here goes wrong at the end.
            let _ = self.direct.prepare(&self.engine);
        }
        let result = tokio::select! {
            biased;
            result = done(at_once, &mut self.work) => result,
            Some(event) = self.events.recv() => {
                self.first = Some(event);
                return None;
            }
        };
        match self.events.try_recv() {
            Some(event) => {
                self.first = Some(event);
                self.work = Box::pin(std::future::ready(result));
                None
            }
            None => Some(result),
        }
    }

    /// What a client is told of a result before which there was nothing to tell.
    pub(crate) async fn outcome(
        self: Box<Self>,
        caller: &Caller,
        result: Result<Content, ToolError>,
    ) -> Outcome {
        let was_cancelled = self.given_up.is_cancelled();
        let Self { engine, direct, .. } = *self;
        match is_short(&result) {
            true => ended(caller, &engine, direct, result, was_cancelled, &[]),
            // Few take long: the others need no room for it.
            false => {
                let ended = ended_elsewhere(caller, engine, direct, result, was_cancelled, &[]);
                Box::pin(ended).await
            }
        }
    }
}

/// The result of work, which may be there already.
async fn done<T>(at_once: Poll<T>, work: impl Future<Output = T>) -> T {
    match at_once {
        Poll::Ready(result) => result,
        Poll::Pending => work.await,
    }
}

async fn call(running: &Running, request: Request, underway: Underway) -> Outcome {
    let Underway {
        engine,
        mut direct,
        mut work,
        mut events,
        first,
        given_up,
        ..
    } = underway;
    let cancel = &running.flight.cancel;
    let giving_up = given_up.clone();
    let _hook = cancel.on_cancel(move || giving_up.cancel());
    // Should nobody wait for its end, its line in the log says so. What goes wrong here goes wrong at the end.
    let _ = direct.prepare(&engine);
    let mut desk = Some(running.desk(&request));
    let mut asking: Option<JoinHandle<Back>> = None;
    let heard = |event, desk: &mut Option<Desk>, asking: &mut Option<JoinHandle<Back>>| {
        match (event, desk.take()) {
            // Also while somebody is asked.
            (Event::Progress(text) | Event::Notice(text), here) => {
                Desk::say(&running.flight, &text);
                *desk = here;
            }
            (
                Event::Ask {
                    question,
                    answer,
                    gone,
                },
                Some(mut here),
            ) => {
                let (engine, tool) = (Arc::clone(&engine), direct.tool().to_owned());
                *asking = Some(spawn_blocking(move || {
                    let answered = match engine.inquire(&tool, &question, &gone, &mut here) {
                        Inquired::Given(value) => Answered::Given(value),
                        Inquired::Unanswered => Answered::Declined,
                        Inquired::GivenUp => Answered::Cancelled,
                    };
                    Back {
                        desk: here,
                        answer,
                        answered,
                    }
                }));
            }
            // While somebody is asked, there is nothing else to ask.
            (Event::Ask { .. }, None) => {}
        }
    };
    if let Some(event) = first {
        heard(event, &mut desk, &mut asking);
    }
    let result = loop {
        tokio::select! {
            biased;
            result = &mut work => break result,
            Some(event) = events.recv() => heard(event, &mut desk, &mut asking),
            back = joined(&mut asking) => {
                // Before the server hears of it: its next question finds the desk there.
                desk = Some(back.desk);
                // The server may have taken its question back.
                let _ = back.answer.send(back.answered);
            }
        }
    };
    // What the server told before its result is told before it.
    while let Some(event) = events.try_recv() {
        if let Event::Progress(text) | Event::Notice(text) = event {
            Desk::say(&running.flight, &text);
        }
    }
    let was_cancelled = cancel.is_cancelled() || given_up.is_cancelled();
    if let Some(asking) = asking {
        // With the call its question is gone: this takes a moment.
        desk = asking.await.ok().map(|back| back.desk);
    }
    let notes = desk.as_ref().map(Desk::notes).unwrap_or_default();
    let caller = &running.caller;
    match is_short(&result) {
        true => ended(caller, &engine, direct, result, was_cancelled, notes),
        false => ended_elsewhere(caller, engine, direct, result, was_cancelled, notes).await,
    }
}

/// Writes the call's line in the log, and says what the client is told.
fn ended(
    caller: &Caller,
    engine: &Engine,
    direct: Direct,
    result: Result<Content, ToolError>,
    was_cancelled: bool,
    notes: &[String],
) -> Outcome {
    let tool = direct.tool().to_owned();
    let ended = direct.end(engine, result, was_cancelled);
    outcome(caller, engine, &tool, ended, was_cancelled, notes)
}

/// The same, for a result that takes its time.
async fn ended_elsewhere(
    caller: &Caller,
    engine: Arc<Engine>,
    direct: Direct,
    result: Result<Content, ToolError>,
    was_cancelled: bool,
    notes: &[String],
) -> Outcome {
    let tool = direct.tool().to_owned();
    let here = Arc::clone(&engine);
    match spawn_blocking(move || direct.end(&here, result, was_cancelled)).await {
        Ok(ended) => outcome(caller, &engine, &tool, ended, was_cancelled, notes),
        Err(_) => broke(),
    }
}

/// Whether a result is looked at in no time, whatever schema its server declares for it.
fn is_short(result: &Result<Content, ToolError>) -> bool {
    let Ok(content) = result else { return true };
    let bytes = content.blocks().iter().map(Block::text_bytes);
    bytes.sum::<usize>() <= SHORT
}

/// The desk after a question, and the answer on its way to the server.
struct Back {
    desk: Desk,
    answer: oneshot::Sender<Answered>,
    answered: Answered,
}

/// The desk, when whoever was asked there has answered.
async fn joined(asking: &mut Option<JoinHandle<Back>>) -> Back {
    if let Some(handle) = asking {
        let back = handle.await;
        *asking = None;
        if let Ok(back) = back {
            return back;
        }
    }
    std::future::pending().await
}

/// How many bytes of a result are held to its schema on a thread that serves connections. A server chooses both, and
/// could keep everybody else waiting with a long one.
const SHORT: usize = 4 << 10;
