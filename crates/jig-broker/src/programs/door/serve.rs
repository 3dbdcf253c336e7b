//! [`Door`]: answers shims, one thread for each.

use std::borrow::Cow;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use jig_policy::{CommandProgram, CommandTarget, Rule, Target as _};
use jig_proto::vfs::{ErrorKind, ErrorReply, ProcessRun, VfsRequest};
use jig_proto::visible_line_to;
use jig_sandbox::{Descriptor, Exit, Interest, Waker, poll, set_nonblocking};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketFlags, accept_with, recv, send};

use super::call::{DoorCall, DoorCallError};
use crate::broker::Broker;
use crate::programs::confine::Intruder;
use crate::requests::inquiry::Unapproved;
use crate::requests::process::{ProgramStartSettings, StartedProgram};
use crate::requests::work::JudgedRequest;

/// The door of one running tool.
///
/// Whatever was started through it ends when it is closed or dropped, before that returns. The tool should
/// have ended by then: it finds nobody any more.
#[derive(Debug)]
pub struct Door {
    shared: Arc<DoorState>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct DoorState {
    broker: Broker,
    root: Utf8PathBuf,
    closed: AtomicBool,
    /// Woken when the door is closed, and never cleared: it ends every wait.
    closing: Waker,
    /// How many are being answered.
    busy: Mutex<usize>,
    changed: Condvar,
    intruders: Mutex<Vec<Intruder>>,
}

impl Door {
    pub(crate) fn open(broker: Broker, listener: Descriptor, root: &Utf8Path) -> io::Result<Self> {
        set_nonblocking(listener.as_fd(), true)?;
        let shared = Arc::new(DoorState {
            broker,
            root: root.to_owned(),
            closed: AtomicBool::new(false),
            closing: Waker::new()?,
            busy: Mutex::new(0),
            changed: Condvar::new(),
            intruders: Mutex::new(Vec::new()),
        });
        let thread = thread::Builder::new().name("jig-door".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || shared.listen(&listener)
        })?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Closes it, with all that was started through it. What that left where nothing may come into being
    /// was moved away, and is told here.
    pub fn close(mut self) -> Vec<Intruder> {
        self.end();
        std::mem::take(&mut *lock(&self.shared.intruders))
    }

    /// What the programs that have ended since this was last asked left where nothing may come into being: for a
    /// tool that stays.
    pub fn take_intruders(&self) -> Vec<Intruder> {
        std::mem::take(&mut *lock(&self.shared.intruders))
    }

    fn end(&mut self) {
        let Some(thread) = self.thread.take() else {
            return;
        };
        {
            let _busy = lock(&self.shared.busy);
            self.shared.closed.store(true, Ordering::SeqCst);
        }
        self.shared.closing.wake();
        self.shared.changed.notify_all();
        // A panic there has been reported.
        let _ = thread.join();
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.end();
    }
}

impl DoorState {
    /// Accepts until the door is closed, and returns when all have ended.
    fn listen(&self, listener: &OwnedFd) {
        thread::scope(|scope| {
            while self.wait_for_room() {
                let interests = [
                    Interest::Readable(listener.as_fd()),
                    Interest::Woken(&self.closing),
                ];
                if poll(&interests, None).is_err() {
                    return;
                }
                let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
                let stream = match accept_with(listener, flags) {
                    Ok(stream) => stream,
                    Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                        // Until somebody else gives some back. The shim waits.
                        let _ = poll(&[Interest::Woken(&self.closing)], Some(PAUSE));
                        continue;
                    }
                    Err(_) => continue,
                };
                *lock(&self.busy) += 1;
                let turn = BusyRequest(self);
                // If there can be no thread, the stream is closed, and the shim says so.
                let _ = thread::Builder::new()
                    .name("jig-door-program".to_owned())
                    .spawn_scoped(scope, move || {
                        let BusyRequest(shared) = &turn;
                        shared.serve(&stream);
                    });
            }
        });
    }

    /// Waits until one more can be answered; `false` if the door is closed. Those who come meanwhile wait
    /// in the kernel's queue, and at its end before it.
    fn wait_for_room(&self) -> bool {
        let mut busy = lock(&self.busy);
        loop {
            if self.closed.load(Ordering::SeqCst) {
                return false;
            }
            if *busy < MOST_AT_ONCE {
                return true;
            }
            busy = self
                .changed
                .wait(busy)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn serve(&self, stream: &OwnedFd) {
        let answer = match DoorCall::receive(stream.as_fd(), &self.closing, TIME_TO_ASK) {
            Ok(call) => self.run(call, stream.as_fd()),
            Err(DoorCallError::Garbled(why)) => ShimAnswer::not_run("a program", why),
            Err(DoorCallError::Gone) => return,
        };
        answer.send(stream.as_fd());
    }

    /// Runs the program of a call, if it may be run.
    fn run(&self, call: DoorCall, stream: BorrowedFd<'_>) -> ShimAnswer {
        let program = call.program.clone();
        self.try_run(call, stream)
            .unwrap_or_else(|error| ShimAnswer::refused(&program, &error))
    }

    fn try_run(&self, call: DoorCall, stream: BorrowedFd<'_>) -> Result<ShimAnswer, ErrorReply> {
        let DoorCall {
            cwd,
            program,
            args,
            streams,
        } = call;
        let envs = self.envs(&program, &args);
        let request = VfsRequest::ProcessRun(ProcessRun {
            program: Cow::Owned(program.clone()),
            args: args.into_iter().map(Cow::Owned).collect(),
            envs: envs.into_iter().map(Cow::Owned).collect(),
            cwd: None,
        });
        let work = match self.broker.judge(&request) {
            JudgedRequest::Ready(work) => work,
            // Whoever waits at the other end is a program in the midst of its work, not somebody who asks.
            JudgedRequest::Uncovered(inquiry) => return Err(inquiry.deny(Unapproved::Unavailable)),
            JudgedRequest::Refused(error) => return Err(error),
        };
        let given = ProgramStartSettings { streams, cwd };
        let started = work.start_program(&self.root, given)?;
        let end = self.watch(&started, stream);
        let failed = matches!(&end, Ok(Some(exit)) if *exit != Exit::Exited { code: 0 });
        let (outcome, mut answer) = match end {
            Ok(Some(exit)) => ("ok", ShimAnswer::of(exit)),
            Ok(None) => (ErrorKind::Cancelled.name(), ShimAnswer::ended(&program)),
            Err(_) => {
                let error = ErrorReply::internal("the program could not be watched");
                (error.kind().name(), ShimAnswer::refused(&program, &error))
            }
        };
        let (notes, intruders) = started.finish(outcome, failed);
        let mut known = lock(&self.intruders);
        let room = MOST_INTRUDERS.saturating_sub(known.len());
        known.extend(intruders.into_iter().take(room));
        drop(known);
        for note in notes {
            answer.text.push_str(&format!("jig: `{program}`: {note}\n"));
        }
        Ok(answer)
    }

    /// The variables that the rule on this command grants. A shim cannot name them, so it gets all.
    fn envs(&self, program: &str, args: &[String]) -> Vec<String> {
        let target = CommandTarget {
            program: CommandProgram::Name(program.to_owned()),
            args: args.to_vec(),
        };
        match target.decide(&self.broker.inner.policy).rule {
            Some(Rule::Command(rule)) => rule.envs().to_vec(),
            _ => Vec::new(),
        }
    }

    /// Waits until the program has ended, and ends it when nobody waits for it any more; `None` then.
    fn watch(&self, started: &StartedProgram, stream: BorrowedFd<'_>) -> io::Result<Option<Exit>> {
        let child = started.program.child();
        let mut kill_at = None;
        loop {
            let mut interests = vec![Interest::Exited(child), Interest::Woken(&self.closing)];
            if kill_at.is_none() {
                interests.push(Interest::Readable(stream));
            }
            let left = kill_at.map(|at: Instant| at.saturating_duration_since(Instant::now()));
            let ready = poll(&interests, left)?;
            if ready.contains(0)
                && let Some(exit) = child.try_wait()?
            {
                return Ok(kill_at.is_none().then_some(exit));
            }
            if ready.contains(1) || left.is_some_and(|left| left.is_zero()) {
                child.kill();
                child.wait()?;
                return Ok(None);
            }
            if ready.contains(2) && has_left(stream) {
                child.terminate();
                kill_at = Some(Instant::now() + self.broker.inner.limits.process_grace);
            }
        }
    }
}

/// Whether a shim has hung up. One that goes on talking is none, and is treated the same.
fn has_left(stream: BorrowedFd<'_>) -> bool {
    let said = recv(stream, &mut [0_u8; 1], RecvFlags::empty());
    !matches!(said, Err(Errno::AGAIN | Errno::INTR))
}

/// One of those that are answered at once, until it is dropped.
struct BusyRequest<'a>(&'a DoorState);

impl Drop for BusyRequest<'_> {
    fn drop(&mut self) {
        *lock(&self.0.busy) -= 1;
        self.0.changed.notify_all();
    }
}

/// What a shim is told.
struct ShimAnswer {
    how: u8,
    value: u8,
    text: String,
}

impl ShimAnswer {
    fn of(exit: Exit) -> Self {
        let (how, value) = match exit {
            Exit::Exited { code } => (EXITED, code),
            Exit::Killed { signal, .. } => (KILLED, signal),
        };
        Self {
            how,
            // Neither is larger: the kernel keeps a byte of a code.
            value: u8::try_from(value & 0xff).unwrap_or(u8::MAX),
            text: String::new(),
        }
    }

    /// It ran, and was ended because the call is over.
    fn ended(program: &str) -> Self {
        Self {
            how: KILLED,
            value: SIGKILL,
            text: format!("jig: `{program}` was ended, because the call is over\n"),
        }
    }

    fn not_run(what: &str, why: &str) -> Self {
        Self {
            how: EXITED,
            value: NOT_STARTED,
            text: format!("jig: {what} was not run: {why}\n"),
        }
    }

    /// A refusal in words, with the rule that decided and the one that would allow it.
    fn refused(program: &str, error: &ErrorReply) -> Self {
        let program = format!("`{}`", visible_line_to(program, MAX_NAME));
        let mut answer = Self::not_run(&program, &error.message);
        if error.kind() == ErrorKind::NotFound {
            answer.value = NOT_FOUND;
        }
        if let Some(rule) = &error.data.rule {
            answer.text.push_str(&format!("rule: {rule}\n"));
        }
        if let Some(hint) = &error.data.hint {
            answer
                .text
                .push_str(&format!("hint: {}\n", hint.trim_end()));
        }
        answer
    }

    /// Sends it, if somebody takes it. It fits into an empty buffer, so there is no waiting.
    fn send(&self, stream: BorrowedFd<'_>) {
        let mut end = self.text.len().min(MAX_TEXT);
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let text = &self.text.as_bytes()[..end];
        let mut bytes = vec![self.how, self.value];
        bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
        bytes.extend_from_slice(text);
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            match send(stream, rest, SendFlags::NOSIGNAL) {
                Ok(count) => rest = &rest[count..],
                Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }
}

/// A panic elsewhere cannot leave a number or a list half-changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many are answered at once. Each has a thread, and a tree of processes. The next ones wait.
const MOST_AT_ONCE: usize = 64;

/// From connecting to having said everything. Whoever connects and says nothing takes up one of the few
/// places until then.
const TIME_TO_ASK: Duration = Duration::from_secs(5);

/// How long to wait for descriptors or memory.
const PAUSE: Duration = Duration::from_millis(50);

/// How many things that were moved away are told. A tool can have programs make any number.
const MOST_INTRUDERS: usize = 100;

const SIGKILL: u8 = 9;

const EXITED: u8 = 0;
const KILLED: u8 = 1;

/// As shells tell that a program was found and not started.
const NOT_STARTED: u8 = 126;

/// As shells tell that there is no such program.
const NOT_FOUND: u8 = 127;

/// How much of a name is repeated.
const MAX_NAME: usize = 100;

/// The most bytes of text. The kernel's buffer holds more.
const MAX_TEXT: usize = 16 * 1024;
