//! [`Session`]: how callers watch and steer a running tool.
//!
//! One thread owns each running tool and is the truth about it; it publishes states and output on a
//! [`SessionBoard`]. A [`Session`] reads them and sends [`SessionOrder`]s back. A question, the tool's or the
//! policy's, is always the state `waiting`; nothing calls upward to ask.

mod board;
mod orders;
mod output;
#[cfg(test)]
mod tests;

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use jig_broker::{AuditNote, CancelToken, Unapproved};
use jig_proto::{StateName, ToolState};
use jig_pty::{InputError, SendError, Settle};
use jig_sandbox::{Status as Confinement, TreeUsage};
use serde_json::Value;

use crate::ReachedLimit;

#[cfg(test)]
pub(crate) use board::InputKind;
pub(crate) use board::{BoardSetup, SessionBoard};
pub(crate) use orders::{ApplyOrder, InputPurpose, Orders, SessionOrder};
pub use output::{OutputLook, PaintedScreen, SessionOutput};

/// A running tool.
///
/// Dropping it aborts the tool.
#[derive(Debug)]
pub struct Session {
    board: Arc<SessionBoard>,
    orders: Orders,
}

impl Session {
    pub(crate) fn new(board: Arc<SessionBoard>, orders: Orders) -> Self {
        if let Some(waker) = orders.waker() {
            board.keep_waker(waker);
        }
        Self { board, orders }
    }

    /// Where the tool stands.
    pub fn state(&self) -> Update {
        self.board.update()
    }

    /// Whether the tool runs, waits or has stopped.
    pub fn status(&self) -> StateName {
        self.board.status()
    }

    /// Waits until the tool stands elsewhere than after the update number `seen`, at most for
    /// `limit`. Returns the newest update either way. Output alone does not end the wait.
    pub fn wait(&self, seen: u64, limit: Option<Duration>) -> Update {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        self.board.wait(deadline, |post| post.number() > seen)
    }

    /// Waits, as a task, until the tool has said something about its progress, asks, or has stopped. It takes the place
    /// of the hook of [`on_status`](Self::on_status).
    pub fn first_news(&self) -> impl Future<Output = ()> + Send {
        poll_fn(|context| {
            let waker = context.waker().clone();
            self.on_status(move |_| waker.wake_by_ref());
            match self.board.is_quiet() {
                true => Poll::Pending,
                false => Poll::Ready(()),
            }
        })
    }

    /// What the tool said about its progress after the update number `after`, up to the update number `until`, in
    /// order. A later state takes the place of an earlier one; this has what both said. Of a tool that says much at
    /// once the latest is kept.
    pub fn progress(&self, after: u64, until: u64) -> Vec<String> {
        self.board.progress(after, until)
    }

    /// How far the output has come. It grows with all that a [`OutputLook`] could show.
    pub fn seq(&self) -> u64 {
        self.board.seq()
    }

    /// What the tool has said so far, as far as it is kept and the look asks for it.
    ///
    /// Secrets of the call are left out, and for a tool without a terminal so are control sequences. A
    /// session that is not stateful and has no terminal keeps no output: what its state tells is shown.
    pub fn output(&self, look: &OutputLook) -> SessionOutput {
        self.board.output(look)
    }

    /// Waits until there is output after `seq`, a question later than the update number `seen`, or the
    /// end; at most for `limit`. Returns the newest update either way.
    pub fn wait_news(&self, seen: u64, seq: u64, limit: Option<Duration>) -> Update {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        self.board.wait_news(seen, seq, deadline)
    }

    /// Waits until what the tool says after `seq` has come to rest, as `settle` has it; or until a
    /// question later than the update number `seen`, or the end. Returns the newest update.
    pub fn settle(&self, seen: u64, seq: u64, settle: &Settle) -> Update {
        self.board.settle(seen, seq, settle)
    }

    /// Answers the question of the update with the number `seen`, or gives input to a tool that ran
    /// then. When this returns, the input is on its way: output after it comes after it.
    ///
    /// An answer to a question that is not shown any more is refused: it was given to another
    /// question than the one that is open now, and a tool can change what it asks while a person
    /// reads.
    ///
    /// # Errors
    ///
    /// If the tool has stopped, has other questions by now, or takes no such input.
    pub fn apply(&self, seen: u64, input: Value) -> Result<(), ApplyError> {
        self.orders.apply(&self.board, seen, input)
    }

    /// What is cancelled as soon as the question of the update with the number `seen` is asked no more: it was
    /// answered, the tool took it back, or has stopped.
    pub fn asking(&self, seen: u64) -> CancelToken {
        self.board.asking(seen)
    }

    /// Says that nobody answers the question of the update with the number `seen`.
    ///
    /// # Errors
    ///
    /// If the tool has stopped.
    pub fn decline(&self, seen: u64, why: Unapproved) -> Result<(), ApplyError> {
        self.order(SessionOrder::Decline(seen, why))
    }

    /// Asks the tool to end, and ends it if it does not.
    pub fn cancel(&self) {
        // A tool that has stopped needs no cancelling.
        let _ = self.order(SessionOrder::Cancel);
        self.board.give_up();
    }

    /// Ends the tool at once, with everything that it started.
    pub fn abort(&self) {
        let _ = self.order(SessionOrder::Abort);
        self.board.give_up();
        self.board.kill_processes();
    }

    /// The code that the program of a stopped tool exited with; `None` while it runs, for one that was
    /// ended by a signal, and for tools that tell their result themselves.
    pub fn exit_code(&self) -> Option<i32> {
        self.board.exit_code()
    }

    /// What the processes of the tool use now; `None` if there are none.
    pub fn usage(&self) -> Option<TreeUsage> {
        Some(self.board.child()?.usage())
    }

    /// The process id of the root of the tool's processes, as the host sees it; `None` if there are none.
    pub fn pid(&self) -> Option<u32> {
        Some(self.board.child()?.id())
    }

    /// About how many bytes of memory what is kept of the tool takes: its output, its screen, and what its
    /// state says.
    pub(crate) fn weight(&self) -> usize {
        self.board.weight()
    }

    /// Whether the tool runs on a terminal.
    pub fn is_terminal(&self) -> bool {
        self.board.is_terminal()
    }

    /// The screen of a tool on a terminal, for a person's own terminal.
    pub fn painted(&self) -> Option<PaintedScreen> {
        self.board.painted()
    }

    /// Has `hook` called after every change of the state, with where the tool stands then; output alone is
    /// no change. It is called by the thread that owns the tool, which waits for it. Changes before this are
    /// not told; a second hook takes the place of the first.
    pub fn on_status(&self, hook: impl Fn(StateName) + Send + Sync + 'static) {
        self.board.set_hook(Arc::new(hook));
    }

    /// What is enforced on the tool by the operating system; `None` for code inside jig.
    pub fn confinement(&self) -> Option<Confinement> {
        self.board.confinement()
    }

    /// The limits that the tool came up against, so far as that is known by now.
    pub fn reached(&self) -> Vec<ReachedLimit> {
        self.board.all_reached()
    }

    /// Writes a line about the tool to the log, if its start is there: who answered its question, for example.
    pub fn note(&self, note: AuditNote) {
        self.board.write_note(note);
    }

    /// What its caller should know about how the tool is confined, each in one sentence.
    pub fn warnings(&self) -> Vec<String> {
        self.board.warnings()
    }

    /// What is to be said about the tool besides what it says itself, without the first `count` of it.
    pub fn notes_after(&self, count: usize) -> Vec<String> {
        self.board.notes_after(count)
    }

    fn order(&self, order: SessionOrder) -> Result<(), ApplyError> {
        if self.status() == StateName::Stopped {
            return Err(ApplyError::NotRunning);
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

/// Why a tool was not given an answer or input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// The tool has stopped: there is nothing to answer or to steer.
    #[error("the tool is not running any more")]
    NotRunning,
    /// The tool asks something else by now, or asks although it ran before.
    #[error("the tool asks something else by now")]
    Changed,
    /// The tool runs, and was not started to take input.
    #[error("the tool takes no input while it runs")]
    NotTaken,
    /// The input is of no form that there is.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The tool cannot be given this input, or not now.
    #[error(transparent)]
    Send(#[from] SendError),
}
