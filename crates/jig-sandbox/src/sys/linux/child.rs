//! [`attempts`]: system calls tried in a short-lived child, with their results sent home.
//!
//! The child is a copy that never runs another program. It reports before and after each attempt,
//! so that a call that kills or hangs it is known by name, and whatever came before is kept.

use std::ffi::c_int;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::pipe::PipeFlags;

use super::uapi::{self, BlockedSignals, ExitOnDrop, Fork, ForkedChildEnd};
use crate::machine::{Errno, ProbeResult};

#[cfg(test)]
mod tests;

/// Runs `job` in a forked child and returns what it reported. The child is gone afterwards.
///
/// A child that has not ended after `limit` is killed.
///
/// # Safety
///
/// `job` runs between fork and exit, perhaps of a process with other threads: it may only call
/// what is async-signal-safe, which is what [`uapi`] and [`Reporter`] offer. It must not allocate,
/// lock or panic.
#[expect(unsafe_code, reason = "passes the conditions of fork on to the caller")]
pub(super) unsafe fn attempts(limit: Duration, job: impl FnOnce(&Reporter)) -> Attempts {
    let (reader, writer) = match rustix::pipe::pipe_with(PipeFlags::CLOEXEC) {
        Ok(ends) => ends,
        Err(errno) => return Attempts::not_started(Errno(errno.raw_os_error())),
    };
    let signals = BlockedSignals::all();
    // SAFETY: the child's branch makes calls of uapi, runs the job, which the caller vouches for,
    // and exits.
    match unsafe { uapi::fork() } {
        Err(errno) => Attempts::not_started(errno),
        Ok(Fork::Child) => {
            let _no_unwinding = ExitOnDrop;
            uapi::settle_child();
            job(&Reporter {
                fd: writer.as_raw_fd(),
            });
            uapi::exit()
        }
        Ok(Fork::Parent(pid)) => {
            drop(signals);
            drop(writer);
            collect(
                &mut AttemptChild { pid, ended: None },
                &reader,
                Instant::now() + limit,
            )
        }
    }
}

/// What a child did, by the number of the attempt.
pub(super) struct Attempts {
    states: [AttemptState; MOST],
    ending: AttemptEnd,
}

impl Attempts {
    fn not_started(errno: Errno) -> Self {
        Self {
            states: [AttemptState::NotTried; MOST],
            ending: AttemptEnd::NotStarted(errno),
        }
    }

    /// How an attempt went.
    pub(super) fn trial(&self, number: usize) -> ProbeResult {
        if let AttemptEnd::NotStarted(errno) = self.ending {
            return ProbeResult::NoChild { errno };
        }
        match self
            .states
            .get(number)
            .copied()
            .unwrap_or(AttemptState::NotTried)
        {
            AttemptState::NotTried => ProbeResult::NotTried,
            AttemptState::Ended(_, trial) => trial,
            AttemptState::Begun => match self.ending {
                AttemptEnd::Ended(ForkedChildEnd::Killed(signal)) => ProbeResult::Killed { signal },
                _ => ProbeResult::TimedOut,
            },
        }
    }

    /// The number that an attempt returned, if it worked.
    pub(super) fn value(&self, number: usize) -> Option<i32> {
        match self.states.get(number) {
            Some(AttemptState::Ended(value, ProbeResult::Works)) => Some(*value),
            _ => None,
        }
    }
}

/// The child's way to tell its parent.
pub(super) struct Reporter {
    fd: c_int,
}

impl Reporter {
    /// Makes an attempt, reports it, and says whether it worked.
    pub(super) fn attempt<T: AttemptResult>(
        &self,
        number: usize,
        call: impl FnOnce() -> Result<T, Errno>,
    ) -> bool {
        self.begin(number);
        match call() {
            Ok(value) => value.report(self, number),
            Err(errno) => {
                self.send(number, FAILED, errno.0);
                false
            }
        }
    }

    /// Makes an attempt in a child of this child, such as the first process of a new namespace.
    pub(super) fn attempt_in_child(&self, number: usize, call: fn() -> Result<(), Errno>) {
        self.begin(number);
        #[expect(unsafe_code, reason = "this process is itself a forked child")]
        // SAFETY: the caller is a job and so bound to async-signal-safe calls, `call` included; the
        // branch of the child exits.
        let forked = unsafe { uapi::fork() };
        match forked {
            Err(errno) => self.send(number, FAILED, errno.0),
            Ok(Fork::Child) => {
                let _no_unwinding = ExitOnDrop;
                uapi::settle_child();
                self.attempt(number, call);
                uapi::exit()
            }
            Ok(Fork::Parent(pid)) => match uapi::wait(pid, true) {
                Ok(Some(ForkedChildEnd::Killed(signal))) => self.send(number, KILLED, signal),
                Ok(_) => {}
                Err(errno) => self.send(number, FAILED, errno.0),
            },
        }
    }

    fn begin(&self, number: usize) {
        self.send(number, BEGUN, 0);
    }

    /// One write of less than PIPE_BUF, hence never torn. If it fails, nobody listens any more.
    fn send(&self, number: usize, kind: i32, value: i32) {
        let mut record = [0; RECORD];
        let words = [number as i32, kind, value];
        for (bytes, word) in record.chunks_exact_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
        let _ = uapi::write(self.fd, &record);
    }
}

/// What a successful attempt returns.
pub(super) trait AttemptResult {
    /// Reports it and says whether the attempt counts as having worked.
    fn report(self, reporter: &Reporter, number: usize) -> bool;
}

impl AttemptResult for () {
    fn report(self, reporter: &Reporter, number: usize) -> bool {
        0.report(reporter, number)
    }
}

impl AttemptResult for i32 {
    fn report(self, reporter: &Reporter, number: usize) -> bool {
        reporter.send(number, WORKED, self);
        true
    }
}

/// Whether what the call should bring about was seen.
impl AttemptResult for bool {
    fn report(self, reporter: &Reporter, number: usize) -> bool {
        reporter.send(number, if self { WORKED } else { NO_EFFECT }, 0);
        self
    }
}

#[derive(Clone, Copy)]
enum AttemptState {
    NotTried,
    Begun,
    Ended(i32, ProbeResult),
}

enum AttemptEnd {
    NotStarted(Errno),
    Ended(ForkedChildEnd),
    TimedOut,
}

/// A running child. Dropping it kills and reaps it.
struct AttemptChild {
    pid: c_int,
    ended: Option<ForkedChildEnd>,
}

impl AttemptChild {
    /// Reaps the child. If somebody else did, which takes a `wait` with `__WALL`, it exited.
    fn reap(&mut self, block: bool) -> Option<ForkedChildEnd> {
        if self.ended.is_none() {
            self.ended = uapi::wait(self.pid, block).unwrap_or(Some(ForkedChildEnd::Exited));
        }
        self.ended
    }
}

impl Drop for AttemptChild {
    fn drop(&mut self) {
        if self.ended.is_none() {
            uapi::kill(self.pid);
            self.reap(true);
        }
    }
}

/// Reads until the child has ended or the deadline has passed.
///
/// The end of the pipe is the usual sign of the child's end, but not the only one to look for:
/// another thread's fork may hold the writing end open for as long as it likes.
fn collect(child: &mut AttemptChild, reader: &OwnedFd, deadline: Instant) -> Attempts {
    let mut inbox = AttemptInbox {
        states: [AttemptState::NotTried; MOST],
        pending: [0; RECORD],
        filled: 0,
    };
    let ending = loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break AttemptEnd::TimedOut;
        }
        match inbox.receive(reader, left.min(PATIENCE)) {
            ProbeReadResult::Some => {}
            ProbeReadResult::Nothing => {
                if let Some(ended) = child.reap(false) {
                    // What it wrote last may have come after the look into the pipe.
                    while matches!(inbox.receive(reader, Duration::ZERO), ProbeReadResult::Some) {}
                    break AttemptEnd::Ended(ended);
                }
            }
            // The descriptors of a process are closed on its way out, so this wait is short.
            ProbeReadResult::End => {
                break AttemptEnd::Ended(child.reap(true).unwrap_or(ForkedChildEnd::Exited));
            }
        }
    };
    Attempts {
        states: inbox.states,
        ending,
    }
}

enum ProbeReadResult {
    Some,
    Nothing,
    End,
}

struct AttemptInbox {
    states: [AttemptState; MOST],
    pending: [u8; RECORD],
    filled: usize,
}

impl AttemptInbox {
    /// Waits for bytes and takes them in, one record at a time.
    fn receive(&mut self, reader: &OwnedFd, wait: Duration) -> ProbeReadResult {
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: wait.subsec_nanos().into(),
        };
        let mut fds = [PollFd::new(reader, PollFlags::IN)];
        match rustix::event::poll(&mut fds, Some(&timeout)) {
            // An interrupted wait is one that brought nothing.
            Ok(0) | Err(rustix::io::Errno::INTR) => return ProbeReadResult::Nothing,
            Ok(_) => {}
            Err(_) => return ProbeReadResult::End,
        }
        match rustix::io::read(reader, &mut self.pending[self.filled..]) {
            Ok(0) => ProbeReadResult::End,
            Ok(count) => {
                self.filled += count;
                if self.filled == RECORD {
                    self.filled = 0;
                    self.take();
                }
                ProbeReadResult::Some
            }
            Err(rustix::io::Errno::INTR) => ProbeReadResult::Nothing,
            Err(_) => ProbeReadResult::End,
        }
    }

    fn take(&mut self) {
        let word = |at: usize| {
            let mut bytes = [0; 4];
            bytes.copy_from_slice(&self.pending[at..at + 4]);
            i32::from_ne_bytes(bytes)
        };
        let (number, kind, value) = (word(0), word(4), word(8));
        let state = match kind {
            WORKED => AttemptState::Ended(value, ProbeResult::Works),
            FAILED => AttemptState::Ended(
                0,
                ProbeResult::Failed {
                    errno: Errno(value),
                },
            ),
            NO_EFFECT => AttemptState::Ended(0, ProbeResult::NoEffect),
            KILLED => AttemptState::Ended(0, ProbeResult::Killed { signal: value }),
            _ => AttemptState::Begun,
        };
        if let Some(slot) = usize::try_from(number)
            .ok()
            .and_then(|at| self.states.get_mut(at))
        {
            *slot = state;
        }
    }
}

/// The most attempts that one child makes.
const MOST: usize = 16;

/// How long to listen before looking whether the child still lives.
const PATIENCE: Duration = Duration::from_millis(5);

/// A record: the attempt's number, what happened, and a value. Three words of 4 bytes.
const RECORD: usize = 12;
const BEGUN: i32 = 0;
const WORKED: i32 = 1;
const FAILED: i32 = 2;
const NO_EFFECT: i32 = 3;
const KILLED: i32 = 4;
