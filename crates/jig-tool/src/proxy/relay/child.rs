//! [`ChildConnection`]: what is known about a child, and the end of it.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, OnceLock, Weak};
use std::thread;
use std::time::SystemTime;

use rustix::event::{PollFd, PollFlags};
use rustix::net::Shutdown;

use super::super::shared_connection::Flush;
use super::super::{Client, descriptors, lock, wait_on};
use super::ordered_answers::Outbox;
use super::{ChildOptions, RelayClientRow, RelayCore, RelayFileRow, RelayedFile};

/// The connection of one child.
///
/// A thread of its own reads its requests. Answers are put in by that thread or by the one that reads
/// from upstream, and sent by whoever has put the last; only when the child does not read them does a
/// further thread wait for it.
#[derive(Debug)]
pub(super) struct ChildConnection {
    number: u64,
    socket: OwnedFd,
    pub(super) options: ChildOptions,
    pub(super) upstream: Client,
    core: Weak<RelayCore>,
    pid: OnceLock<u32>,
    connected_at: SystemTime,
    state: Mutex<ChildConnectionState>,
    /// Tells the reader that there is room for a request, and others that the connection has ended.
    changed: Condvar,
    /// Tells the sender that there is something to send.
    unsent: Condvar,
}

#[derive(Debug, Default)]
struct ChildConnectionState {
    outbox: Outbox,
    files: BTreeMap<u64, RelayedFile>,
    /// The child will ask nothing more.
    input_ended: bool,
    /// There is a thread that waits for the child to read.
    has_sender: bool,
    /// Nothing more is done for the child.
    ended: bool,
    /// What it had open is closed, and nobody knows it any more.
    is_over: bool,
}

/// The connection has ended: there is nobody to answer.
#[derive(Debug)]
pub(super) struct ConnectionEnded;

impl ChildConnection {
    pub(super) fn new(
        number: u64,
        socket: OwnedFd,
        options: ChildOptions,
        upstream: Client,
        core: Weak<RelayCore>,
    ) -> Self {
        Self {
            number,
            socket,
            options,
            upstream,
            core,
            pid: OnceLock::new(),
            connected_at: SystemTime::now(),
            state: Mutex::default(),
            changed: Condvar::new(),
            unsent: Condvar::new(),
        }
    }

    pub(super) fn id(&self) -> String {
        format!("c{}", self.number)
    }

    pub(super) fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    pub(super) fn is_process(&self, pid: u32) {
        // It is told once.
        let _ = self.pid.set(pid);
    }

    pub(super) fn row(&self) -> RelayClientRow {
        RelayClientRow {
            id: self.id(),
            pipe_id: match rustix::fs::fstat(&self.socket) {
                Ok(status) => format!("socket:[{}]", status.st_ino),
                Err(_) => String::new(),
            },
            pid: self.pid.get().copied(),
            open_files: lock(&self.state).files.keys().copied().collect(),
            connected_at: self.connected_at,
        }
    }

    pub(super) fn files(&self) -> Vec<RelayFileRow> {
        let state = lock(&self.state);
        let row = |(fileno, file): (&u64, &RelayedFile)| RelayFileRow {
            fileno: *fileno,
            filename: file.name.clone(),
            mode: file.mode.text(),
            client_id: self.id(),
            opened_at: file.opened_at,
            is_top_level: false,
        };
        state.files.iter().map(row).collect()
    }

    /// The place of the next request; `None` if too many are under way.
    pub(super) fn take_place(&self) -> Result<Option<u64>, ConnectionEnded> {
        let mut state = lock(&self.state);
        match state {
            _ if state.ended => Err(ConnectionEnded),
            _ if state.outbox.is_full() => Ok(None),
            _ => Ok(Some(state.outbox.take_place())),
        }
    }

    /// Waits until fewer requests are under way, or the child has read some of its answers.
    pub(super) fn wait_for_room(&self) {
        let mut state = lock(&self.state);
        while !state.ended && state.outbox.is_full() {
            state = wait_on(&self.changed, state);
        }
    }

    /// Puts an answer in; [`flush`](Flush::flush) sends it.
    pub(super) fn answer(&self, place: u64, write: impl FnOnce(&mut Vec<u8>)) {
        let mut state = lock(&self.state);
        state.outbox.answer(place, write);
        if !state.outbox.is_full() {
            self.changed.notify_all();
        }
    }

    /// Remembers a file that was opened for the child; `false` if it has ended meanwhile, and whoever
    /// asks has to close it.
    pub(super) fn opened(&self, handle: u64, file: RelayedFile) -> bool {
        let mut state = lock(&self.state);
        if !state.ended {
            state.files.insert(handle, file);
        }
        !state.ended
    }

    /// Whether the child has this open.
    pub(super) fn owns(&self, handle: u64) -> bool {
        lock(&self.state).files.contains_key(&handle)
    }

    /// Forgets an open file; `false` if the child has none of this number.
    pub(super) fn release(&self, handle: u64) -> bool {
        lock(&self.state).files.remove(&handle).is_some()
    }

    /// The child has asked all that it will ask: waits until all of it is answered, or until there is
    /// nobody left who could read the answers.
    pub(super) fn finish(&self) {
        {
            let mut state = lock(&self.state);
            state.input_ended = true;
            if state.ended || state.outbox.is_idle() {
                return;
            }
        }
        // Whoever sends the last answer shuts the socket down, which looks the same as a child that
        // is gone.
        let _ =
            descriptors::wait(&mut [PollFd::from_borrowed_fd(self.socket(), PollFlags::empty())]);
    }

    /// The process has exited: what it has asked until now is still done, and nothing else, whoever
    /// may have inherited its end of the connection.
    pub(super) fn hang_up(&self) {
        let _ = rustix::net::shutdown(self.socket(), Shutdown::Both);
    }

    /// Ends it, once: all that the child has open is closed upstream.
    pub(super) fn end(&self) {
        let files = {
            let mut state = lock(&self.state);
            if std::mem::replace(&mut state.ended, true) {
                return;
            }
            state.outbox.clear();
            self.changed.notify_all();
            self.unsent.notify_all();
            std::mem::take(&mut state.files)
        };
        self.hang_up();
        for handle in files.into_keys() {
            self.upstream.forget(handle);
        }
        if let Some(core) = self.core.upgrade() {
            lock(&core.children).remove(&self.number);
        }
        lock(&self.state).is_over = true;
        self.changed.notify_all();
    }

    /// Waits until it is over.
    pub(super) fn wait(&self) {
        let mut state = lock(&self.state);
        while !state.is_over {
            state = wait_on(&self.changed, state);
        }
    }

    /// Sends what is ready; with an error, there is nobody to send it to.
    fn flush_now(&self, state: &mut ChildConnectionState) -> bool {
        match state.outbox.flush(self.socket()) {
            Ok(is_all) => {
                if state.input_ended && state.outbox.is_idle() {
                    self.hang_up();
                }
                if !state.outbox.is_full() {
                    self.changed.notify_all();
                }
                is_all
            }
            Err(_) => {
                // The reader sees it as the end.
                state.outbox.clear();
                self.changed.notify_all();
                self.hang_up();
                true
            }
        }
    }

    /// Waits for a child that does not read, as often as that happens.
    fn send_for_good(&self) {
        let mut state = lock(&self.state);
        while !state.ended {
            if self.flush_now(&mut state) {
                state = wait_on(&self.unsent, state);
                continue;
            }
            drop(state);
            let mut polled = [PollFd::from_borrowed_fd(self.socket(), PollFlags::OUT)];
            if descriptors::wait(&mut polled).is_err() {
                return self.hang_up();
            }
            state = lock(&self.state);
        }
    }

    /// Sends what is ready without waiting, and has a thread wait for what is not.
    fn flush_shared(self: &Arc<Self>) {
        let mut state = lock(&self.state);
        if state.ended || self.flush_now(&mut state) {
            return;
        }
        if std::mem::replace(&mut state.has_sender, true) {
            self.unsent.notify_one();
            return;
        }
        let this = Arc::clone(self);
        let sender = thread::Builder::new()
            .name(format!("proxy-{}-answers", self.id()))
            .spawn(move || this.send_for_good());
        if sender.is_err() {
            // Its answers could not be delivered in order any more.
            self.hang_up();
        }
    }
}

/// A connection that others can have flushed.
#[derive(Debug)]
pub(super) struct FlushedConnection(pub(super) Arc<ChildConnection>);

impl Flush for FlushedConnection {
    fn flush(&self) {
        self.0.flush_shared();
    }
}
