//! [`ProcessTree`]: the host's side of a keeper.

use std::ffi::c_int;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags};
use rustix::process::{Pid, PidfdFlags, Signal};

use super::abandoned_keepers;
use super::temporary::Temporary;
use super::usage;
use super::zygote::Zygote;
use crate::process::{Exit, ProcessLimit, TreeUsage};
use crate::sys::linux::stage::record::{self, KeeperMessage, ProcessNames};
use crate::sys::linux::{readiness, uapi};

/// A keeper, and through it a tree of processes. Dropping it kills and reaps all of them.
#[derive(Debug)]
pub(crate) struct ProcessTree {
    keeper: KeeperHandle,
    /// Whether the kernel ends the tree with the keeper.
    in_namespace: bool,
    /// Goes when all that could use it has ended.
    _temporary: Option<Temporary>,
}

impl ProcessTree {
    pub(super) fn new(
        keeper: KeeperHandle,
        in_namespace: bool,
        temporary: Option<Temporary>,
    ) -> Self {
        Self {
            keeper,
            in_namespace,
            _temporary: temporary,
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.keeper.pid.cast_unsigned()
    }

    /// Waits until the keeper is gone, and then says how the tool ended; `None` if the time is over.
    pub(crate) fn wait(&self, limit: Option<Duration>) -> io::Result<Option<Exit>> {
        self.keeper.wait(limit)
    }

    /// The keeper takes `SIGKILL` for the end of everything, which is what it comes to.
    pub(crate) fn signal(&self, signal: i32) {
        if let Ok(signal @ 1..=64) = u8::try_from(signal) {
            self.keeper.tell(signal);
        }
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

    pub(crate) fn reached(&self) -> Vec<ProcessLimit> {
        let reached = match *self.keeper.lock() {
            KeeperEndState::Heard(word) | KeeperEndState::Over(word) => word.reached,
            KeeperEndState::NotYet => 0,
        };
        LIMITS
            .into_iter()
            .filter(|(bit, _)| reached & bit != 0)
            .map(|(_, limit)| limit)
            .collect()
    }

    pub(crate) fn left_behind(&self) -> Vec<String> {
        let names = match *self.keeper.lock() {
            KeeperEndState::Heard(word) | KeeperEndState::Over(word) => word.left,
            KeeperEndState::NotYet => ProcessNames::default(),
        };
        let names = names.iter().map(|name| {
            let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
            String::from_utf8_lossy(name).into_owned()
        });
        names.filter(|name| !name.is_empty()).collect()
    }

    pub(crate) fn usage(&self) -> TreeUsage {
        let usage = usage::below(self.keeper.pid);
        // While the keeper runs, its number is its own. One that has ended may have left it to another.
        if self.keeper.has_ended() {
            return TreeUsage::default();
        }
        usage
    }

    /// The line tells the end first, until there is nothing more to hear on it.
    pub(crate) fn end_descriptor(&self) -> BorrowedFd<'_> {
        match *self.keeper.lock() {
            KeeperEndState::NotYet => self.keeper.line.as_fd(),
            _ => self.keeper.pidfd.as_fd(),
        }
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.kill();
        // A process that hangs in the kernel, as on a dead network drive, must not hold the caller.
        let _ = self.wait(Some(PATIENCE));
    }
}

/// A keeper, or a zygote, that is not reaped yet. Dropping it kills and reaps it.
#[derive(Debug)]
pub(super) struct KeeperHandle {
    pid: c_int,
    pidfd: Arc<OwnedFd>,
    /// The host's end of the line to it.
    line: OwnedFd,
    parent: KeeperParent,
    end: Mutex<KeeperEndState>,
}

/// Who reaps it.
#[derive(Debug)]
enum KeeperParent {
    Host,
    /// Which lives at least as long.
    Zygote(Zygote),
}

#[derive(Debug, Clone, Copy)]
enum KeeperEndState {
    NotYet,
    /// The program has ended, and its tree is about to.
    Heard(KeeperExit),
    /// All of the tree have ended.
    Over(KeeperExit),
}

/// What the keeper said last.
#[derive(Debug, Clone, Copy)]
struct KeeperExit {
    exit: Exit,
    /// The limits that the tree came up against.
    reached: u32,
    /// The processes that were left when the program had ended.
    left: ProcessNames,
}

impl KeeperHandle {
    /// Takes on a child of this process. If that fails, the child is killed and reaped.
    pub(super) fn new(pid: c_int, line: OwnedFd) -> io::Result<Self> {
        // The child is not reaped, so that the number is its own.
        let pidfd = Pid::from_raw(pid)
            .ok_or(rustix::io::Errno::SRCH)
            .and_then(|pid| rustix::process::pidfd_open(pid, PidfdFlags::empty()));
        match pidfd {
            Ok(pidfd) => Ok(Self {
                pid,
                pidfd: Arc::new(pidfd),
                line,
                parent: KeeperParent::Host,
                end: Mutex::new(KeeperEndState::NotYet),
            }),
            Err(errno) => {
                uapi::kill(pid);
                let _ = uapi::wait(pid, true);
                Err(errno.into())
            }
        }
    }

    /// Takes on a child of a zygote.
    pub(super) fn of_zygote(pid: c_int, pidfd: OwnedFd, line: OwnedFd, zygote: Zygote) -> Self {
        Self {
            pid,
            pidfd: Arc::new(pidfd),
            line,
            parent: KeeperParent::Zygote(zygote),
            end: Mutex::new(KeeperEndState::NotYet),
        }
    }

    pub(super) fn line(&self) -> &OwnedFd {
        &self.line
    }

    pub(super) fn pidfd(&self) -> &OwnedFd {
        &self.pidfd
    }

    pub(super) fn pid(&self) -> c_int {
        self.pid
    }

    /// Waits for the next record; `None` if the keeper ends without one.
    ///
    /// The keeper's end is watched too: another thread's fork may hold its end of the line open.
    pub(super) fn next_record(&self) -> io::Result<(Option<KeeperMessage>, Vec<OwnedFd>)> {
        let mut fds = [
            PollFd::new(&self.line, PollFlags::IN),
            PollFd::new(&self.pidfd, PollFlags::IN),
        ];
        // Without namespaces, a tool may stop its keeper before that has said a word.
        while !readiness::wait(&mut fds, Some(WAKING))? {
            self.signal(Signal::CONT);
        }
        Ok(match self.received_record() {
            Some((record, descriptors)) => (Some(record), descriptors),
            None => (None, Vec::new()),
        })
    }

    /// A record that is there already, with the descriptors that came with it.
    pub(super) fn received_record(&self) -> Option<(KeeperMessage, Vec<OwnedFd>)> {
        let mut bytes = [0; record::LENGTH];
        let mut space =
            [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(record::MOST_DESCRIPTORS))];
        loop {
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let received = rustix::net::recvmsg(
                &self.line,
                &mut [io::IoSliceMut::new(&mut bytes)],
                &mut control,
                RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC,
            );
            return match received {
                Ok(message) => {
                    let mut descriptors = Vec::new();
                    for one in control.drain() {
                        if let RecvAncillaryMessage::ScmRights(fds) = one {
                            descriptors.extend(fds);
                        }
                    }
                    KeeperMessage::decode(&bytes[..message.bytes])
                        .map(|record| (record, descriptors))
                }
                // A keeper that ended with a command of ours unread resets the line. That is told
                // once, and before what it had sent.
                Err(rustix::io::Errno::INTR | rustix::io::Errno::CONNRESET) => continue,
                Err(_) => None,
            };
        }
    }

    fn has_ended(&self) -> bool {
        let mut fds = [PollFd::new(&*self.pidfd, PollFlags::IN)];
        !matches!(readiness::wait(&mut fds, Some(Duration::ZERO)), Ok(false))
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

    /// The word of a keeper that nothing is left of its tree is enough: it has nothing more to do than to
    /// take down its namespaces, and is reaped later.
    fn wait(&self, limit: Option<Duration>) -> io::Result<Option<Exit>> {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        loop {
            let end = *self.lock();
            let (line, pidfd) = (
                PollFd::new(&self.line, PollFlags::IN),
                PollFd::new(&self.pidfd, PollFlags::IN),
            );
            let (mut both, mut one);
            let fds: &mut [PollFd<'_>] = match end {
                KeeperEndState::Over(word) => return Ok(Some(word.exit)),
                KeeperEndState::Heard(..) => {
                    one = [pidfd];
                    &mut one
                }
                KeeperEndState::NotYet => {
                    both = [pidfd, line];
                    &mut both
                }
            };
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if !readiness::wait(fds, left)? {
                return Ok(None);
            }
            let is_gone = !fds[0].revents().is_empty();
            self.listen(is_gone);
        }
    }

    /// Takes in what the keeper said last, once, whichever thread comes first.
    fn listen(&self, is_gone: bool) {
        let mut end = self.lock();
        let is_news = matches!(*end, KeeperEndState::NotYet);
        if is_news {
            *end = match self.received_record() {
                Some((KeeperMessage::Ended(end), _)) => {
                    let word = KeeperExit {
                        exit: exit(end.status),
                        reached: end.reached,
                        left: end.left,
                    };
                    match end.is_empty {
                        true => KeeperEndState::Over(word),
                        false => KeeperEndState::Heard(word),
                    }
                }
                // The keeper was killed, and its tree with it, or is about to be.
                _ => KeeperEndState::Heard(KeeperExit {
                    exit: KILLED,
                    reached: 0,
                    left: ProcessNames::default(),
                }),
            };
        }
        if let (KeeperEndState::Heard(word), true) = (*end, is_gone) {
            *end = KeeperEndState::Over(word);
        }
        drop(end);
        if let (KeeperParent::Zygote(zygote), true) = (&self.parent, is_news) {
            zygote.refill();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, KeeperEndState> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for KeeperHandle {
    fn drop(&mut self) {
        if !matches!(*self.lock(), KeeperEndState::Over(..)) {
            self.kill();
            let _ = self.wait(Some(PATIENCE));
        }
        if let KeeperParent::Host = self.parent {
            // It may still take down its namespaces.
            let mut fds = [PollFd::new(&*self.pidfd, PollFlags::IN)];
            let _ = readiness::wait(&mut fds, Some(PATIENCE));
            abandoned_keepers::bury(&self.pidfd);
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

const KILLED: Exit = Exit::Killed {
    signal: libc::SIGKILL,
    core: false,
};

const LIMITS: [(u32, ProcessLimit); 6] = [
    (record::REACHED_TASKS, ProcessLimit::Tasks),
    (record::REACHED_MEMORY, ProcessLimit::Memory),
    (record::REACHED_DESCRIPTORS, ProcessLimit::Descriptors),
    (record::REACHED_FILE_SIZE, ProcessLimit::FileSize),
    (record::REACHED_DISK, ProcessLimit::Disk),
    (record::REACHED_FILES, ProcessLimit::Files),
];

/// How long to wait for a tree to die. Longer than a keeper without namespaces tries.
const PATIENCE: Duration = Duration::from_secs(3);

/// How often to wake a keeper that may have been stopped.
const WAKING: Duration = Duration::from_millis(50);
