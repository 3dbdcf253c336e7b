//! A call that goes to a server behind this one: a task awaits it, and only a question takes a thread.

use std::pin::pin;
use std::sync::Arc;

use jig_engine::{Asker, Inquired};
use jig_proto::{Block, Content, ToolError};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, spawn_blocking};

use super::{Outcome, Request, Running, broke};
use crate::desk::Desk;
use crate::quick::Directly;
use crate::servers::{Event, bridge};
use crate::upstream::Answered;

/// Makes the call, and tells what it came to.
pub(super) async fn run(running: Running, request: Request, directly: Directly) {
    let mut ending = Ending {
        running,
        outcome: None,
    };
    ending.outcome = Some(call(&ending.running, request, directly).await);
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

async fn call(running: &Running, request: Request, directly: Directly) -> Outcome {
    let Directly {
        engine,
        servers,
        call,
        direct,
    } = directly;
    let cancel = &running.flight.cancel;
    let (given_up, _hook) = bridge(Some(cancel));
    let (events, mut received) = mpsc::unbounded_channel();
    let mut desk = Some(running.desk(request.form, request.given));
    let mut asking: Option<JoinHandle<Back>> = None;
    let mut work = pin!(servers.call_async(call, given_up, events));
    let result = loop {
        tokio::select! {
            biased;
            result = &mut work => break result,
            Some(event) = received.recv() => match (event, desk.take()) {
                (Event::Progress(text), Some(mut here)) => {
                    here.progress(direct.tool(), &text);
                    desk = Some(here);
                }
                (Event::Ask { question, answer, .. }, Some(mut here)) => {
                    let (engine, tool) = (Arc::clone(&engine), direct.tool().to_owned());
                    asking = Some(spawn_blocking(move || {
                        let answered = match engine.inquire(&tool, &question, &mut here) {
                            Inquired::Given(value) => Answered::Given(value),
                            Inquired::Unanswered => Answered::Declined,
                            Inquired::GivenUp => Answered::Cancelled,
                        };
                        Back { desk: here, answer, answered }
                    }));
                }
                // While somebody is asked, there is nothing else to tell or to ask.
                (_, None) => {}
            },
            back = joined(&mut asking) => {
                // Before the server hears of it: its next question finds the desk there.
                desk = Some(back.desk);
                // The server may have taken its question back.
                let _ = back.answer.send(back.answered);
            }
        }
    };
    // What the server told before its result is told before it.
    while let (Ok(Event::Progress(text)), Some(here)) = (received.try_recv(), desk.as_mut()) {
        here.progress(direct.tool(), &text);
    }
    let was_cancelled = cancel.is_cancelled();
    if let Some(asking) = asking {
        // Nobody waits for the answer any more: the question is taken back.
        cancel.cancel();
        desk = asking.await.ok().map(|back| back.desk);
    }
    let tool = direct.tool().to_owned();
    let outcome = match is_short(&result) {
        true => direct.end(&engine, result, was_cancelled),
        false => {
            let engine = Arc::clone(&engine);
            let ended = spawn_blocking(move || direct.end(&engine, result, was_cancelled)).await;
            let Ok(outcome) = ended else { return broke() };
            outcome
        }
    };
    let notes = desk.as_ref().map(Desk::notes).unwrap_or_default();
    running.outcome(&engine, &tool, outcome, was_cancelled, notes)
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
