//! [`ParentLink`]: the requests of many threads over one connection.
//!
//! There is no thread that only reads. Whoever waits for an answer reads, for itself and for all who
//! wait with it, until its own answer has come, and passes the role on; so a request that is alone
//! costs no switch between threads. A relay has a thread that keeps the role for good.
//!
//! Requests are put into one outbox and leave it in order, never by a write that blocks: when the
//! parent takes nothing more, it may be that it waits for us to read.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use jig_proto::fsproxy::{self, FrameBuffer, MAX_FRAME, Op, ProxyAnswer, ProxyError};

use super::answer_slot::{ReplySlot, ReplySlotWake};
use super::descriptors::ProxyTransport;
use super::{Error, lock};

/// A connection, and who waits for what over it.
#[derive(Debug)]
pub(super) struct ParentLink {
    wire: ProxyTransport,
    /// The process that asks, which is a part of every id: the connection may have been that of another
    /// process before, which has not read its last answers.
    process: u32,
    state: Mutex<LinkState>,
    /// Locked by whoever has the role of the reader.
    input: Mutex<FrameBuffer>,
    /// How many wait in their slot, for an answer or for the role.
    asleep: AtomicUsize,
    /// Tells those who wait for fewer requests to be under way.
    room: Condvar,
    /// Tells the thread that will read for good that the role is its.
    appointed: Condvar,
}

#[derive(Debug)]
struct LinkState {
    process: u32,
    /// Frames that were not sent yet; of the first, the beginning may be.
    outbox: Vec<u8>,
    /// How much of the outbox was sent.
    sent: usize,
    /// The requests without an answer, oldest first.
    pending: VecDeque<LinkRequest>,
    last_id: u64,
    id_text: String,
    /// Whether somebody reads.
    has_reader: bool,
    /// Whether a thread reads for good, or is about to.
    keeper: ReaderThreadState,
    /// Why nothing can be sent any more.
    closed: Option<Broken>,
    at_end: AtEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReaderThreadState {
    None,
    /// It gets the role next.
    Waits,
    Reads,
}

#[derive(Debug)]
struct LinkRequest {
    id: u64,
    target: AnswerReceiver,
}

/// Who gets an answer.
#[derive(Debug)]
pub(super) enum AnswerReceiver {
    /// Somebody who may wait for it.
    Slot(Arc<ReplySlot>),
    /// A function, called by whoever reads; it must not block.
    Call(ReplyCallback),
    /// Nobody.
    Nobody,
}

/// What came of a request: its answer, or the loss of the connection.
pub(super) type RequestOutcome<'a> = Result<Result<ProxyAnswer<'a>, ProxyError>, &'a Broken>;

type Callback = dyn FnOnce(RequestOutcome<'_>) -> Option<Arc<dyn Flush>> + Send;

/// A function that gets an answer.
pub(super) struct ReplyCallback(Box<Callback>);

impl ReplyCallback {
    /// What it gives is flushed after all answers that came with this one.
    pub(super) fn new(
        callback: impl FnOnce(RequestOutcome<'_>) -> Option<Arc<dyn Flush>> + Send + 'static,
    ) -> Self {
        Self(Box::new(callback))
    }
}

impl std::fmt::Debug for ReplyCallback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Call")
    }
}

/// Something that gathers answers and sends them on in one piece. It must not block.
pub(super) trait Flush: Send + Sync {
    fn flush(&self);
}

/// What is done once the connection has ended.
#[derive(Default)]
struct AtEnd(Vec<Box<dyn FnOnce() + Send>>);

impl std::fmt::Debug for AtEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AtEnd({})", self.0.len())
    }
}

/// Why a connection ended, for each of those who asked something over it.
#[derive(Debug, Clone)]
pub(super) struct Broken {
    kind: io::ErrorKind,
    why: Arc<str>,
}

impl Broken {
    pub(super) fn to_error(&self) -> Error {
        Error::Connection(io::Error::new(self.kind, &*self.why))
    }
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        Self {
            kind: error.kind(),
            why: error.to_string().into(),
        }
    }
}

impl ParentLink {
    pub(super) fn new(wire: ProxyTransport) -> Self {
        let process = std::process::id();
        Self {
            wire,
            process,
            state: Mutex::new(LinkState {
                process,
                outbox: Vec::new(),
                sent: 0,
                pending: VecDeque::new(),
                last_id: 0,
                id_text: String::new(),
                has_reader: false,
                keeper: ReaderThreadState::None,
                closed: None,
                at_end: AtEnd::default(),
            }),
            input: Mutex::new(FrameBuffer::new(ANSWER_BYTES)),
            asleep: AtomicUsize::new(0),
            room: Condvar::new(),
            appointed: Condvar::new(),
        }
    }

    /// Puts a request behind the others; [`send`](Self::send) sends it.
    ///
    /// Waits while too many are under way.
    pub(super) fn put(&self, op: &Op<'_>, target: AnswerReceiver) -> Result<(), Error> {
        let mut state = lock(&self.state);
        while state.closed.is_none() && state.pending.len() >= MAX_PENDING {
            state = self.wait_for_room(state);
        }
        state.put(op, target)
    }

    /// Sends all that was put, and waits for the parent to take it.
    pub(super) fn send(&self) -> Result<(), Error> {
        loop {
            let mut state = lock(&self.state);
            if state.flush(&self.wire)? {
                return Ok(());
            }
            if state.has_reader {
                // It reads, so the parent goes on, so there will be room.
                drop(state);
                self.wire.wait_to_write().map_err(Error::Connection)?;
            } else {
                state.has_reader = true;
                drop(state);
                self.read_until(|| lock(&self.state).outbox.is_empty());
            }
        }
    }

    /// Puts and sends a request whose answer nobody waits for, without ever waiting.
    ///
    /// What can't be sent at once is sent with the next request, or by whoever reads.
    pub(super) fn post(&self, op: &Op<'_>, target: AnswerReceiver) {
        let mut state = lock(&self.state);
        // Over a connection that has ended there is nothing left to do for it.
        if state.put(op, target).is_ok() {
            drop(state.flush(&self.wire));
        }
    }

    /// Waits for the answer in `slot`, and reads meanwhile if nobody else does.
    pub(super) fn wait(&self, slot: &ReplySlot) {
        {
            let mut state = lock(&self.state);
            if slot.is_answered() {
                return;
            }
            if !state.has_reader {
                state.has_reader = true;
                drop(state);
                return self.read_until(|| slot.is_answered());
            }
            // Before the lock is given back: whoever passes the role on must see it.
            self.asleep.fetch_add(1, Ordering::AcqRel);
            slot.lie_down();
        }
        let wake = slot.sleep();
        self.asleep.fetch_sub(1, Ordering::AcqRel);
        if wake == ReplySlotWake::Read {
            self.read_until(|| slot.is_answered());
        }
    }

    /// Reads for good, until the connection ends: the role of one thread, which must not do anything
    /// else. Returns at once if there is such a thread.
    pub(super) fn keep_reading(&self) {
        {
            let mut state = lock(&self.state);
            if state.keeper != ReaderThreadState::None {
                return;
            }
            if state.has_reader {
                state.keeper = ReaderThreadState::Waits;
                while state.keeper == ReaderThreadState::Waits {
                    state = super::wait_on(&self.appointed, state);
                }
            } else {
                state.keeper = ReaderThreadState::Reads;
                state.has_reader = true;
            }
        }
        self.read_until(|| false);
    }

    /// Has `then` called when the connection has ended, or now if it has.
    pub(super) fn at_end(&self, then: impl FnOnce() + Send + 'static) {
        let mut state = lock(&self.state);
        if state.closed.is_none() {
            state.at_end.0.push(Box::new(then));
            return;
        }
        drop(state);
        then();
    }

    /// Whether nothing can be asked any more.
    pub(super) fn has_ended(&self) -> bool {
        lock(&self.state).closed.is_some()
    }

    /// Ends the connection: the parent reads what it was sent, and nobody waits any longer.
    pub(super) fn end(&self) {
        let mut state = lock(&self.state);
        drop(state.flush(&self.wire));
        drop(state);
        self.wire.end();
    }

    /// Reads until `is_done`, or until the connection ends, and gives the role away.
    fn read_until(&self, is_done: impl Fn() -> bool) {
        let mut input = lock(&self.input);
        loop {
            while !is_done() && self.read_some(&mut input) {}
            let mut state = lock(&self.state);
            // A frame that is half sent and nobody who reads: the parent might wait for both.
            let is_stuck = state.is_stuck() && state.closed.is_none();
            if self.pass_on(&mut state) || !is_stuck {
                return;
            }
            state.has_reader = true;
            drop(state);
            self.read_some(&mut input);
        }
    }

    /// Gives the role to somebody who waits; `false` if there is nobody, and it is free.
    fn pass_on(&self, state: &mut LinkState) -> bool {
        if state.keeper == ReaderThreadState::Waits {
            state.keeper = ReaderThreadState::Reads;
            self.appointed.notify_one();
            return true;
        }
        if self.asleep.load(Ordering::Acquire) > 0 {
            for entry in &state.pending {
                if let AnswerReceiver::Slot(slot) = &entry.target
                    && slot.appoint()
                {
                    return true;
                }
            }
        }
        state.has_reader = false;
        self.room.notify_all();
        false
    }

    /// Waits until something was read or sent, and delivers it; `false` at the end.
    fn read_some(&self, input: &mut FrameBuffer) -> bool {
        match self.receive(input).and_then(|()| self.deliver(input)) {
            Ok(()) => true,
            Err(error) => {
                self.break_off(error.into());
                false
            }
        }
    }

    fn receive(&self, input: &mut FrameBuffer) -> io::Result<()> {
        if lock(&self.state).is_stuck() {
            let ready = self.wire.wait_for_any()?;
            if ready.to_write {
                // If it fails, reading shows the end, after all that was answered.
                drop(lock(&self.state).flush(&self.wire));
            }
            if !ready.to_read {
                return Ok(());
            }
        }
        match self.wire.read(input.space())? {
            0 => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the parent closed the connection",
            )),
            count => {
                input.filled(count);
                Ok(())
            }
        }
    }

    /// Gives each answer that has come to whom it belongs.
    fn deliver(&self, input: &mut FrameBuffer) -> io::Result<()> {
        let mut touched: Vec<Arc<dyn Flush>> = Vec::new();
        let delivered = loop {
            let frame = match input.next() {
                Ok(Some(frame)) => frame,
                Ok(None) => break Ok(()),
                Err(error) => break Err(invalid(error)),
            };
            let response = match fsproxy::read_response(frame) {
                Ok(response) => response,
                Err(error) => break Err(invalid(error)),
            };
            let entry = match self.take_entry(&response.id) {
                Some(Some(entry)) => entry,
                Some(None) => continue,
                None => break Err(invalid("there is an answer that belongs to no request")),
            };
            if let Some(one) = self.give(entry.target, Ok(response.result))
                && !touched.last().is_some_and(|last| Arc::ptr_eq(last, &one))
            {
                touched.push(one);
            }
        };
        for one in touched {
            one.flush();
        }
        delivered
    }

    /// The request of this id; `Some(None)` if it was that of another process, and `None` if there is no
    /// such request.
    ///
    /// Answers come in the order of the requests, but nothing relies on it.
    fn take_entry(&self, id: &str) -> Option<Option<LinkRequest>> {
        let (process, number) = id.split_once('.')?;
        let process = u32::from_str_radix(process, 16).ok()?;
        let number: u64 = number.parse().ok()?;
        if process != self.process {
            return Some(None);
        }
        let mut state = lock(&self.state);
        let place = state.pending.iter().position(|entry| entry.id == number)?;
        let entry = state.pending.remove(place);
        if state.pending.len() == MAX_PENDING - 1 {
            self.room.notify_all();
        }
        Some(entry)
    }

    fn give(&self, target: AnswerReceiver, outcome: RequestOutcome<'_>) -> Option<Arc<dyn Flush>> {
        match target {
            AnswerReceiver::Nobody => None,
            AnswerReceiver::Call(ReplyCallback(callback)) => callback(outcome),
            AnswerReceiver::Slot(slot) => {
                // An open whose asker has gone: nobody else knows of the handle.
                if let Some(handle) = slot.answer(outcome) {
                    self.post(&Op::Close { handle }, AnswerReceiver::Nobody);
                }
                None
            }
        }
    }

    /// The connection has ended: everybody who waits is told.
    fn break_off(&self, broken: Broken) {
        let mut state = lock(&self.state);
        let broken = state.closed.get_or_insert(broken).clone();
        state.drop_outbox();
        let pending = std::mem::take(&mut state.pending);
        let at_end = std::mem::take(&mut state.at_end);
        drop(state);
        self.wire.end();
        self.room.notify_all();
        for entry in pending {
            self.give(entry.target, Err(&broken));
        }
        for then in at_end.0 {
            then();
        }
    }

    fn wait_for_room<'a>(
        &'a self,
        mut state: MutexGuard<'a, LinkState>,
    ) -> MutexGuard<'a, LinkState> {
        // Those that wait in the outbox would never be answered.
        drop(state.flush(&self.wire));
        if state.has_reader {
            return super::wait_on(&self.room, state);
        }
        state.has_reader = true;
        drop(state);
        self.read_until(|| lock(&self.state).pending.len() < MAX_PENDING);
        lock(&self.state)
    }
}

impl LinkState {
    fn put(&mut self, op: &Op<'_>, target: AnswerReceiver) -> Result<(), Error> {
        if let Some(broken) = &self.closed {
            return Err(broken.to_error());
        }
        let before = self.outbox.len();
        let id = self.last_id + 1;
        self.id_text.clear();
        // Writing to a string does not fail.
        let _ = write!(self.id_text, "{:x}.{id}", self.process);
        fsproxy::write_request(&mut self.outbox, &self.id_text, op);
        // The parent would end the connection, for everybody who uses it.
        if self.outbox.len() - before > MAX_FRAME {
            self.outbox.truncate(before);
            let why = format!("the request is larger than {MAX_FRAME} bytes");
            return Err(ProxyError::range(why).into());
        }
        self.last_id = id;
        self.pending.push_back(LinkRequest { id, target });
        Ok(())
    }

    /// Sends what goes without waiting; `true` if that was all.
    ///
    /// After an error nothing is sent any more, and what the parent has answered is still read.
    fn flush(&mut self, wire: &ProxyTransport) -> Result<bool, Error> {
        while self.sent < self.outbox.len() {
            match wire.write_now(&self.outbox[self.sent..]) {
                Ok(0) => return Ok(false),
                Ok(count) => self.sent += count,
                Err(error) => {
                    let broken = self.closed.get_or_insert(error.into()).clone();
                    self.drop_outbox();
                    wire.end_output();
                    return Err(broken.to_error());
                }
            }
        }
        self.drop_outbox();
        Ok(true)
    }

    fn is_stuck(&self) -> bool {
        !self.outbox.is_empty()
    }

    fn drop_outbox(&mut self) {
        self.outbox.clear();
        self.outbox.shrink_to(KEPT_BYTES);
        self.sent = 0;
    }
}

fn invalid(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// The most requests without an answer. What is under way is remembered here and answered into
/// memory, so somebody who only asks and never waits would take ever more of both.
const MAX_PENDING: usize = 1024;

/// The longest answer: a frame, and the difference that an id makes.
const ANSWER_BYTES: usize = MAX_FRAME + 8 * fsproxy::MAX_ID;

/// The memory that the outbox keeps.
const KEPT_BYTES: usize = 256 * 1024;
