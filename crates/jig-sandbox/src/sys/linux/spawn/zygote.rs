//! [`Zygote`]: the host's side of the helper of a pool.
//!
//! The zygote hands keepers that wait to the host, each with the line to it, and the host gives the rest
//! of an order straight to one of them. So a start costs one message to a process that is ready.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{Mode, OFlags};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

use super::failure;
use super::launcher::{self, LauncherJob};
use super::packed_order::{self, PackedOrder};
use super::plan::SpawnPlan;
use super::process::KeeperHandle;
use crate::process::{SpawnError, SpawnRequest};
use crate::sys::linux::readiness;
use crate::sys::linux::stage::raw::RawErrno;
use crate::sys::linux::stage::record::{StartStep, StepFailure};
use crate::sys::linux::stage::zygote::{Demand, MOST_DESCRIPTORS, NAME, ZygoteAnswer};

/// The helper of a pool. It ends with the last that shares it.
#[derive(Debug, Clone)]
pub(crate) struct Zygote(Arc<Mutex<ZygoteState>>);

#[derive(Debug)]
struct ZygoteState {
    /// How many keepers are to wait.
    ready: usize,
    /// The helper, with the channel to it.
    helper: KeeperHandle,
    /// The generation whose base the helper knows.
    known: Option<u32>,
    /// What the keepers have done that are made now.
    base: Vec<u8>,
    /// A number for all keepers with that base that were made since the host's mounts last changed.
    generation: u32,
    /// Keepers of this generation that wait, the oldest first.
    waiting: VecDeque<WaitingKeeper>,
    /// How many of this generation were asked for and are not here yet.
    coming: usize,
    /// Tells when the host's mounts change: keepers that wait have a copy of the old ones.
    mounts: Option<OwnedFd>,
}

/// A keeper that waits for its order.
#[derive(Debug)]
struct WaitingKeeper {
    pid: i32,
    pidfd: OwnedFd,
    line: OwnedFd,
}

impl Zygote {
    pub(crate) fn start(ready: usize) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let mounts = rustix::fs::open("/proc/thread-self/mountinfo", flags, Mode::empty()).ok();
        Ok(Self(Arc::new(Mutex::new(ZygoteState {
            ready: ready.min(MOST_READY),
            helper: start_helper()?,
            known: None,
            base: Vec::new(),
            generation: 0,
            waiting: VecDeque::new(),
            coming: 0,
            mounts,
        }))))
    }

    /// Gives an order to a keeper of the plan's kind.
    pub(super) fn launch(
        &self,
        request: &SpawnRequest,
        plan: &SpawnPlan,
    ) -> Result<Result<KeeperHandle, StepFailure>, SpawnError> {
        let broken = |error| failure::step(request, "talking to the pool", error);
        let order = launcher::in_memory(packed_order::call(plan).as_bytes())
            .map_err(|errno| failure::step(request, "writing the order for its keeper", errno))?;
        let mut fds = vec![order.as_fd()];
        #[expect(unsafe_code, reason = "descriptors of the plan are numbers")]
        // SAFETY: the plan's descriptors are open as long as the request, which is longer than this.
        fds.extend(packed_order::sources(plan).map(|fd| unsafe { BorrowedFd::borrow_raw(fd) }));
        if fds.len() > MOST_DESCRIPTORS {
            return Err(broken(io::ErrorKind::InvalidInput.into()));
        }
        let base = packed_order::base(plan);
        for _ in 0..ATTEMPTS {
            let ticket = match self.state().take(&base).map_err(broken)? {
                Ok(ticket) => ticket,
                Err(errno) => return Ok(Err(StepFailure::at(StartStep::Fork)(errno))),
            };
            // A keeper that ended while it waited, or was killed, is none.
            if send(&ticket.line, &[0], &fds).is_ok() {
                let WaitingKeeper { pid, pidfd, line } = ticket;
                return Ok(Ok(KeeperHandle::of_zygote(pid, pidfd, line, self.clone())));
            }
        }
        Err(broken(io::ErrorKind::BrokenPipe.into()))
    }

    /// As [`Zygote::refill`], if no keeper is left. Otherwise there is time for that when the tool has
    /// ended, which would have to share processors and locks of the kernel with it.
    pub(super) fn refill_if_empty(&self) {
        let mut state = self.state();
        if state.waiting.is_empty() && state.coming == 0 {
            let _ = state.refill();
        }
    }

    /// Has keepers made for the next calls.
    pub(super) fn refill(&self) {
        // What cannot be had now is tried again when it is needed.
        let _ = self.state().refill();
    }

    fn state(&self) -> MutexGuard<'_, ZygoteState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ZygoteState {
    /// A keeper with this base: one that waits, or a new one. An error number says that the kernel refused
    /// to make it.
    fn take(&mut self, base: &PackedOrder) -> io::Result<Result<WaitingKeeper, RawErrno>> {
        self.collect();
        if self.mounts_have_changed() || self.base != base.as_bytes() {
            self.base = base.as_bytes().to_vec();
            self.begin_generation();
        }
        let mut refused = None;
        for _ in 0..ATTEMPTS {
            if let Some(ticket) = self.waiting.pop_front() {
                return Ok(Ok(ticket));
            }
            if let Some(errno) = refused {
                return Ok(Err(errno));
            }
            let result = match self.coming {
                0 => self.demand(1),
                _ => Ok(()),
            };
            match result.and_then(|()| self.receive(None)) {
                Ok(errno) => refused = errno,
                // It was killed. Another one does as well.
                Err(_) => self.restart()?,
            }
        }
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn refill(&mut self) -> io::Result<()> {
        self.collect();
        let missing = self.ready.saturating_sub(self.waiting.len() + self.coming);
        if missing > 0 && !self.base.is_empty() {
            self.demand(missing as u32)?;
        }
        Ok(())
    }

    /// Lets go of all keepers that wait: they end when their lines do.
    fn begin_generation(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        self.waiting.clear();
        self.coming = 0;
    }

    fn restart(&mut self) -> io::Result<()> {
        self.helper = start_helper()?;
        self.known = None;
        self.begin_generation();
        Ok(())
    }

    /// Asks for so many keepers. The base goes along when it is new to the helper.
    fn demand(&mut self, count: u32) -> io::Result<()> {
        let demand = Demand {
            count,
            generation: self.generation,
        };
        let base = if self.known == Some(self.generation) {
            None
        } else {
            Some(launcher::in_memory(&self.base)?)
        };
        let fds: Vec<BorrowedFd<'_>> = base.iter().map(AsFd::as_fd).collect();
        send(self.helper.line(), &demand.encode(), &fds)?;
        self.known = Some(self.generation);
        self.coming += count as usize;
        Ok(())
    }

    /// Takes in what the helper has sent.
    fn collect(&mut self) {
        while self.coming > 0 && matches!(self.receive(Some(Duration::ZERO)), Ok(None)) {}
    }

    /// Takes in one answer, if it comes in time; the error number if it is a refusal.
    fn receive(&mut self, limit: Option<Duration>) -> io::Result<Option<RawErrno>> {
        let helper = &self.helper;
        let mut fds = [
            PollFd::new(helper.line(), PollFlags::IN),
            PollFd::new(helper.pidfd(), PollFlags::IN),
        ];
        if !readiness::wait(&mut fds, limit)? {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let mut bytes = [0; ZygoteAnswer::LENGTH];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let mut parts = [IoSliceMut::new(&mut bytes)];
        let received = rustix::net::recvmsg(helper.line(), &mut parts, &mut control, flags)?;
        let mut descriptors = control.drain().flat_map(|message| match message {
            RecvAncillaryMessage::ScmRights(fds) => fds.collect(),
            _ => Vec::new(),
        });
        let answer = ZygoteAnswer::decode(bytes.get(..received.bytes).unwrap_or_default())
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        let (line, pidfd) = (descriptors.next(), descriptors.next());
        drop(descriptors);
        // Of an earlier generation: by dropping its line it is told to end.
        if answer.generation != self.generation {
            return Ok(None);
        }
        self.coming = self.coming.saturating_sub(1);
        match (line, pidfd) {
            (Some(line), Some(pidfd)) => {
                self.waiting.push_back(WaitingKeeper {
                    pid: answer.pid,
                    pidfd,
                    line,
                });
                Ok(None)
            }
            _ => Ok(Some(RawErrno(-answer.pid))),
        }
    }

    /// Whether the host's mounts have changed since this was asked last. A host that cannot know takes a
    /// fresh keeper each time.
    fn mounts_have_changed(&self) -> bool {
        let Some(mounts) = &self.mounts else {
            return true;
        };
        let mut fds = [PollFd::new(mounts, PollFlags::PRI)];
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        !matches!(rustix::event::poll(&mut fds, Some(&now)), Ok(0))
    }
}

fn start_helper() -> io::Result<KeeperHandle> {
    let program = launcher::program()?;
    let (ours, theirs) = super::new_line()?;
    let host = super::own_descriptor()?;
    let kept = [theirs.as_raw_fd()];
    let job = LauncherJob::new(program, NAME, theirs.as_raw_fd(), &kept, 0);
    let pid = job
        .run(0)
        .map_err(|refusal| io::Error::from_raw_os_error(refusal.errno.0))?;
    drop(theirs);
    let helper = KeeperHandle::new(pid, ours)?;
    send(helper.line(), &[0], &[host.as_fd()])?;
    Ok(helper)
}

fn send(socket: &OwnedFd, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(fds.len()))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    rustix::net::sendmsg(
        socket,
        &[IoSlice::new(bytes)],
        &mut control,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}

/// A pool larger than this gains nothing, and each keeper that waits is a process with namespaces.
const MOST_READY: usize = 64;

/// How many keepers, or helpers, may turn out to be dead.
const ATTEMPTS: usize = 80;
