//! [`Session`]: how callers watch and steer a running tool.
//!
//! One thread owns each running tool and is the truth about it; it publishes states on a [`Board`].
//! A [`Session`] reads them and sends [`Order`]s back. A question, the tool's or the policy's, is
//! always the state `waiting`; nothing calls upward to ask.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jig_broker::{CancelToken, Unapproved};
use jig_proto::{Content, Question, Status, ToolError, ToolState};
use jig_sandbox::Status as Confinement;
use serde_json::Value;

use crate::Reached;

/// A running tool.
///
/// Dropping it aborts the tool.
#[derive(Debug)]
pub struct Session {
    board: Arc<Board>,
    orders: Orders,
}

impl Session {
    pub(crate) fn new(board: Arc<Board>, orders: Orders) -> Self {
        Self { board, orders }
    }

    /// Where the tool stands.
    pub fn state(&self) -> Update {
        self.board.lock().update()
    }

    /// Waits until the tool stands elsewhere than after the update number `seen`, at most for
    /// `limit`. Returns the newest update either way.
    pub fn wait(&self, seen: u64, limit: Option<Duration>) -> Update {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut post = self.board.lock();
        loop {
            if post.number > seen || post.state.status() == Status::Stopped {
                return post.update();
            }
            post = match deadline {
                None => {
                    let waited = self.board.changed.wait(post);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return post.update();
                    }
                    let waited = self.board.changed.wait_timeout(post, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Answers the question of the update with the number `seen`, or gives input to a tool that ran
    /// then.
    ///
    /// An answer to a question that is not shown any more is dropped: it was given to another
    /// question than the one that is open now, and a tool can change what it asks while a person
    /// reads.
    pub fn apply(&self, seen: u64, input: Value) -> Result<(), NotRunning> {
        self.order(Order::Apply(seen, input))
    }

    /// Says that nobody answers the question of the update with the number `seen`.
    pub fn decline(&self, seen: u64, why: Unapproved) -> Result<(), NotRunning> {
        self.order(Order::Decline(seen, why))
    }

    /// Asks the tool to end, and ends it if it does not.
    pub fn cancel(&self) {
        // A tool that has stopped needs no cancelling.
        let _ = self.order(Order::Cancel);
        self.board.give_up();
    }

    /// Ends the tool at once, with everything that it started.
    pub fn abort(&self) {
        let _ = self.order(Order::Abort);
        self.board.give_up();
    }

    /// What is enforced on the tool by the operating system; `None` for code inside jig.
    pub fn confinement(&self) -> Option<Confinement> {
        self.board.lock().confinement.clone()
    }

    /// The limits that the tool came up against, so far as that is known by now.
    pub fn reached(&self) -> Vec<Reached> {
        self.board.lock().reached.clone()
    }

    /// What its caller should know about how the tool is confined, each in one sentence.
    pub fn warnings(&self) -> Vec<String> {
        self.board.lock().warnings.clone()
    }

    fn order(&self, order: Order) -> Result<(), NotRunning> {
        if self.board.lock().state.status() == Status::Stopped {
            return Err(NotRunning);
        }
        self.orders.send(order)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.abort();
    }
}

/// A state, and its number: later ones have higher numbers.
#[derive(Debug, Clone)]
pub struct Update {
    /// The number.
    pub number: u64,
    /// Where the tool stands.
    pub state: ToolState,
    /// Who has to answer, while the tool waits.
    pub asker: Option<AskedBy>,
}

/// Whose question it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedBy {
    /// The tool's own.
    Tool,
    /// The policy's: may the tool do something that no rule covers? Its answers are `once`, `turn`
    /// and `no`, and only a person or whoever speaks for one may give them, never the model.
    Policy,
}

/// The tool has stopped: there is nothing to answer or to steer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the tool is not running any more")]
pub struct NotRunning;

/// What a session is told to do.
#[derive(Debug)]
pub(crate) enum Order {
    Apply(u64, Value),
    Decline(u64, Unapproved),
    Cancel,
    Abort,
}

/// The way of orders to the thread that owns the tool.
#[derive(Debug, Clone)]
pub(crate) struct Orders {
    sender: Sender<Order>,
    waker: Option<jig_sandbox::Waker>,
}

impl Orders {
    /// A way that also ends the wait of a thread that polls.
    pub(crate) fn new(waker: Option<jig_sandbox::Waker>) -> (Self, Receiver<Order>) {
        let (sender, receiver) = channel();
        (Self { sender, waker }, receiver)
    }

    fn send(&self, order: Order) -> Result<(), NotRunning> {
        self.sender.send(order).map_err(|_| NotRunning)?;
        if let Some(waker) = &self.waker {
            waker.wake();
        }
        Ok(())
    }
}

/// Where the owner of a tool publishes its state.
#[derive(Debug)]
pub(crate) struct Board {
    post: Mutex<Post>,
    changed: Condvar,
}

#[derive(Debug)]
pub(crate) struct Post {
    number: u64,
    state: ToolState,
    asker: Option<AskedBy>,
    confinement: Option<Confinement>,
    warnings: Vec<String>,
    reached: Vec<Reached>,
    /// What gives up the request that a tool inside jig is in the middle of.
    current: Option<CancelToken>,
    /// Whether the call was given up.
    given_up: bool,
}

impl Post {
    fn update(&self) -> Update {
        Update {
            number: self.number,
            state: self.state.clone(),
            asker: self.asker,
        }
    }
}

impl Board {
    pub(crate) fn new(confinement: Option<Confinement>) -> Arc<Self> {
        Arc::new(Self {
            post: Mutex::new(Post {
                number: 1,
                state: ToolState::running(Content::EMPTY),
                asker: None,
                confinement,
                warnings: Vec::new(),
                reached: Vec::new(),
                current: None,
                given_up: false,
            }),
            changed: Condvar::new(),
        })
    }

    /// Notes what is to be said about the confinement of the tool. Each thing is said once.
    pub(crate) fn warn(&self, warnings: impl IntoIterator<Item = String>) {
        let mut post = self.lock();
        for warning in warnings {
            if !post.warnings.contains(&warning) {
                post.warnings.push(warning);
            }
        }
    }

    /// Notes limits that the tool came up against.
    pub(crate) fn reached(&self, reached: &[Reached]) {
        self.lock().reached.extend_from_slice(reached);
    }

    pub(crate) fn running(&self, content: Content) {
        self.publish(ToolState::running(content), None);
    }

    pub(crate) fn waiting(&self, content: Content, question: Question, asker: AskedBy) {
        self.publish(ToolState::Waiting { content, question }, Some(asker));
    }

    pub(crate) fn stopped(&self, result: Result<Content, ToolError>) {
        let content = Content::EMPTY;
        self.publish(ToolState::Stopped { content, result }, None);
    }

    /// Whether an answer to the update of this number answers what is shown now.
    pub(crate) fn shows(&self, number: u64) -> bool {
        let post = self.lock();
        post.asker.is_none() || post.number == number
    }

    /// Notes which request a tool inside jig is in the middle of; gives it up if the call already is.
    pub(crate) fn set_current(&self, token: Option<CancelToken>) {
        let mut post = self.lock();
        if let Some(token) = token.as_ref().filter(|_| post.given_up) {
            token.cancel();
        }
        post.current = token;
    }

    fn give_up(&self) {
        let mut post = self.lock();
        post.given_up = true;
        let token = post.current.take();
        drop(post);
        if let Some(token) = token {
            token.cancel();
        }
    }

    fn publish(&self, state: ToolState, asker: Option<AskedBy>) {
        let mut post = self.lock();
        // The same question again is not news: it would be asked twice.
        if asker.is_some() && post.asker == asker && post.state == state {
            return;
        }
        // Stopped is final: what comes late is not news.
        if post.state.status() != Status::Stopped {
            post.number += 1;
            post.state = state;
            post.asker = asker;
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Post> {
        self.post.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
