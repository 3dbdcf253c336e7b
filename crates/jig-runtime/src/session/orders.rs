//! [`Orders`]: how the owner of a tool is steered.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use jig_broker::Unapproved;
use jig_pty::SendError;
use jig_sandbox::Waker;
use serde_json::Value;

use super::{ApplyError, SessionBoard};

/// What a session is told to do.
#[derive(Debug)]
pub(crate) enum SessionOrder {
    Apply(ApplyOrder),
    Decline(u64, Unapproved),
    Cancel,
    Abort,
}

/// An answer or an input, and who waits to hear what became of it.
#[derive(Debug)]
pub(crate) struct ApplyOrder {
    pub(crate) given: InputPurpose,
    pub(crate) input: Value,
    taken: Option<SyncSender<Result<(), ApplyError>>>,
    /// Its place among those that wait, for an owner that takes them when it comes to it.
    _place: Option<QueuePlace>,
}

/// What somebody meant with what they gave. It is settled by what they saw: an answer never becomes input
/// of a tool that has gone on meanwhile, nor input the answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputPurpose {
    /// The answer to the question of the update with this number.
    Answer(u64),
    /// Input of a tool that runs.
    Input,
}

impl ApplyOrder {
    /// Tells whoever gave it what became of it.
    pub(crate) fn reply(self, result: Result<(), ApplyError>) {
        if let Some(taken) = self.taken {
            // Nobody may be there any more.
            let _ = taken.send(result);
        }
    }
}

/// A place in the queue of a tool. Dropping it makes room.
#[derive(Debug)]
struct QueuePlace {
    waiting: Arc<AtomicUsize>,
    bytes: usize,
}

impl QueuePlace {
    /// Takes a place for an input, if there is one.
    fn take(waiting: &Arc<AtomicUsize>, input: &Value) -> Result<Self, ApplyError> {
        let bytes = input.to_string().len().max(LEAST_COUNTED);
        let place = Self {
            waiting: Arc::clone(waiting),
            bytes,
        };
        let before = waiting.fetch_add(bytes, Ordering::SeqCst);
        if before > 0 && before + bytes > MOST_WAITING {
            return Err(SendError::Full { waiting: before }.into());
        }
        Ok(place)
    }
}

impl Drop for QueuePlace {
    fn drop(&mut self) {
        self.waiting.fetch_sub(self.bytes, Ordering::SeqCst);
    }
}

/// The way of orders to the thread that owns the tool.
#[derive(Debug, Clone)]
pub(crate) struct Orders {
    sender: Sender<SessionOrder>,
    /// How many bytes of input wait for an owner without a waker.
    waiting: Arc<AtomicUsize>,
    /// Ends the wait of a thread that polls.
    waker: Option<WakerSlot>,
}

/// A waker until the tool has stopped: whoever keeps the session then does not keep its descriptor.
pub(super) type WakerSlot = Arc<Mutex<Option<Waker>>>;

impl Orders {
    /// A way that also ends the wait of a thread that polls. Without a waker, the thread takes orders
    /// when it comes to it.
    pub(crate) fn new(waker: Option<Waker>) -> (Self, Receiver<SessionOrder>) {
        let (sender, receiver) = channel();
        let waker = waker.map(|waker| Arc::new(Mutex::new(Some(waker))));
        let waiting = Arc::default();
        let orders = Self {
            sender,
            waiting,
            waker,
        };
        (orders, receiver)
    }

    pub(super) fn send(&self, order: SessionOrder) -> Result<(), ApplyError> {
        let sent = self.sender.send(order);
        sent.map_err(|_| ApplyError::NotRunning)?;
        if let Some(waker) = &self.waker
            && let Some(waker) = &*waker.lock().unwrap_or_else(PoisonError::into_inner)
        {
            waker.wake();
        }
        Ok(())
    }

    pub(super) fn waker(&self) -> Option<WakerSlot> {
        self.waker.clone()
    }

    /// Sends an answer or an input, and waits until the owner of the tool has taken it, if that is one
    /// that takes orders at once.
    pub(super) fn apply(
        &self,
        board: &SessionBoard,
        seen: u64,
        input: Value,
    ) -> Result<(), ApplyError> {
        let given = board.given(seen, &input)?;
        if self.waker.is_none() {
            // Nobody says later that it was not taken: what cannot wait is refused here.
            let place = match given {
                InputPurpose::Input => Some(QueuePlace::take(&self.waiting, &input)?),
                InputPurpose::Answer(_) => None,
            };
            let applied = ApplyOrder {
                given,
                input,
                taken: None,
                _place: place,
            };
            self.send(SessionOrder::Apply(applied))?;
            board.input_has_come();
            return Ok(());
        }
        let (taken, reply) = sync_channel(1);
        let applied = ApplyOrder {
            given,
            input,
            taken: Some(taken),
            _place: None,
        };
        self.send(SessionOrder::Apply(applied))?;
        // An owner that ends drops what it was sent.
        reply.recv().unwrap_or(Err(ApplyError::NotRunning))
    }
}

/// How much input waits for a tool that does not take it. One that never does could otherwise be fed until
/// memory is full.
const MOST_WAITING: usize = 1024 * 1024;

/// What an input counts at least: the smallest takes some memory, too.
const LEAST_COUNTED: usize = 1024;
