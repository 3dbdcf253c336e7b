//! [`Process`]: the host's side of a keeper.

use std::ffi::c_int;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::net::{RecvFlags, SendFlags};
use rustix::process::{Pid, PidfdFlags, Signal};

use super::record::{self, Record};
use crate::machine::Errno;
use crate::process::Exit;
use crate::sys::linux::{readiness, uapi};

/// A keeper, and through it a tree of processes. Dropping it kills and reaps all of them.
#[derive(Debug)]
pub(crate) struct Process {
    keeper: Handle,
    /// Whether the kernel ends the tree with the keeper.
    in_namespace: bool,
}

impl Process {
    pub(super) fn new(keeper: Handle, in_namespace: bool) -> Self {
        Self {
            keeper,
            in_namespace,
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.keeper.pid.cast_unsigned()
    }

    /// Waits until the keeper is gone, and then says how the tool ended; `None` if the time is over.
    pub(crate) fn wait(&self, limit: Option<Duration>) -> io::Result<Option<Exit>> {
        self.keeper.wait(limit)
    }

    pub(crate) fn terminate(&self) {
        self.keeper.tell(libc::SIGTERM as u8);
    }

    /// Without namespaces the keeper does the killing. It is given the time for that, and is killed itself
    /// if it does not end, so that a wait after this always returns.
    pub(crate) fn kill(&self) {
        if !self.in_namespace && self.keeper.tell(record::KILL) {
            let deadline = Instant::now() + PATIENCE;
            while Instant::now() < deadline {
                // Its tool may have stopped it, and may do so again.
                self.keeper.signal(Signal::CONT);
                if !matches!(self.wait(Some(WAKING)), Ok(None)) {
                    return;
                }
            }
        }
        self.keeper.kill();
    }

    pub(crate) fn end_descriptor(&self) -> BorrowedFd<'_> {
        self.keeper.pidfd.as_fd()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        if matches!(self.wait(Some(PATIENCE)), Ok(None)) {
            // A process hangs in the kernel, as on a dead network drive. That must not hold the caller.
            self.keeper.reap_elsewhere();
        }
    }
}

/// A forked keeper that is not reaped yet. Dropping it kills and reaps it.
#[derive(Debug)]
pub(super) struct Handle {
    pid: c_int,
    pidfd: OwnedFd,
    /// The host's end of the line to it.
    line: OwnedFd,
    /// Set by the one that reaps it.
    end: Mutex<End>,
}

#[derive(Debug, Clone, Copy)]
enum End {
    NotYet,
    Reaped(Exit),
    /// Another thread waits for it, for good.
    Elsewhere,
}

impl Handle {
    /// Takes on a forked child. If that fails, the child is killed and reaped.
    pub(super) fn new(pid: c_int, line: OwnedFd) -> io::Result<Self> {
        // The child is not reaped, so that the number is its own.
        let pidfd = Pid::from_raw(pid)
            .ok_or(rustix::io::Errno::SRCH)
            .and_then(|pid| rustix::process::pidfd_open(pid, PidfdFlags::empty()));
        match pidfd {
            Ok(pidfd) => Ok(Self {
                pid,
                pidfd,
                line,
                end: Mutex::new(End::NotYet),
            }),
            Err(errno) => {
                uapi::kill(pid);
                let _ = uapi::wait(pid, true);
                Err(errno.into())
            }
        }
    }

    pub(super) fn pid(&self) -> c_int {
        self.pid
    }

    /// Waits for the next record; `None` if the keeper ends without one.
    ///
    /// The keeper's end is watched too: another thread's fork may hold its end of the line open.
    pub(super) fn next_record(&self) -> io::Result<Option<Record>> {
        let mut fds = [
            PollFd::new(&self.line, PollFlags::IN),
            PollFd::new(&self.pidfd, PollFlags::IN),
        ];
        // Without namespaces, a tool may stop its keeper before that has said a word.
        while !readiness::wait(&mut fds, Some(WAKING))? {
            self.signal(Signal::CONT);
        }
        Ok(self.received_record())
    }

    /// A record that is there already.
    pub(super) fn received_record(&self) -> Option<Record> {
        let mut bytes = [0; record::LENGTH];
        loop {
            return match rustix::net::recv(&self.line, &mut bytes, RecvFlags::DONTWAIT) {
                Ok((length, _)) => Record::decode(&bytes[..length]),
                // A keeper that ended with a command of ours unread resets the line. That is told
                // once, and before what it had sent.
                Err(rustix::io::Errno::INTR | rustix::io::Errno::CONNRESET) => continue,
                Err(_) => None,
            };
        }
    }

    /// Sends a command; says whether it could be sent.
    ///
    /// It does not wait: a keeper that was stopped would leave its queue full.
    pub(super) fn tell(&self, command: u8) -> bool {
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        rustix::net::send(&self.line, &[command], flags).is_ok()
    }

    fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// By descriptor, which never means another process. One that has ended cannot be reached any more.
    fn signal(&self, signal: Signal) {
        let _ = rustix::process::pidfd_send_signal(&self.pidfd, signal);
    }

    fn wait(&self, limit: Option<Duration>) -> io::Result<Option<Exit>> {
        if let End::Reaped(exit) = *self.lock() {
            return Ok(Some(exit));
        }
        let mut fds = [PollFd::new(&self.pidfd, PollFlags::IN)];
        if !readiness::wait(&mut fds, limit)? {
            return Ok(None);
        }
        self.reap().map(Some)
    }

    /// Reaps a keeper that has ended, once, whichever thread comes first.
    fn reap(&self) -> io::Result<Exit> {
        let mut end = self.lock();
        if let End::Reaped(exit) = *end {
            return Ok(exit);
        }
        match uapi::wait(self.pid, true) {
            // It takes a `wait` with `__WALL` for somebody else to have reaped it; it is gone then too.
            Ok(_) | Err(Errno(libc::ECHILD)) => {}
            Err(errno) => return Err(io::Error::from_raw_os_error(errno.0)),
        }
        let exit = match self.received_record() {
            Some(Record::Ended { status }) => exit(status),
            // The keeper was killed, and its tree with it.
            _ => Exit::Killed {
                signal: libc::SIGKILL,
                core: false,
            },
        };
        *end = End::Reaped(exit);
        Ok(exit)
    }

    /// Leaves the reaping to a thread that has the time. Without one, it stays a zombie until we end.
    fn reap_elsewhere(&self) {
        let mut end = self.lock();
        if matches!(*end, End::NotYet) {
            let pid = self.pid;
            let waiting = std::thread::Builder::new()
                .name("jig-reaper".to_owned())
                .spawn(move || uapi::wait(pid, true));
            drop(waiting);
            *end = End::Elsewhere;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, End> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if matches!(*self.lock(), End::NotYet) {
            self.kill();
            let _ = self.reap();
        }
    }
}

/// A status as the kernel codes it.
pub(super) fn exit(status: c_int) -> Exit {
    if libc::WIFSIGNALED(status) {
        Exit::Killed {
            signal: libc::WTERMSIG(status),
            core: libc::WCOREDUMP(status),
        }
    } else {
        Exit::Exited {
            code: libc::WEXITSTATUS(status),
        }
    }
}

/// How long to wait for a tree to die. Longer than a keeper without namespaces tries.
const PATIENCE: Duration = Duration::from_secs(3);

/// How often to wake a keeper that may have been stopped.
const WAKING: Duration = Duration::from_millis(50);
