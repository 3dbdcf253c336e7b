//! Waiting by `poll`, and waking by an event descriptor.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec};
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::process::Direction;

/// Waits, and returns a bit for each descriptor that would not block.
pub(crate) fn poll(
    descriptors: &[(BorrowedFd<'_>, Direction)],
    limit: Option<Duration>,
) -> io::Result<u64> {
    let mut fds: Vec<PollFd<'_>> = descriptors
        .iter()
        .map(|(fd, direction)| match direction {
            Direction::Read => PollFd::from_borrowed_fd(*fd, PollFlags::IN),
            Direction::Write => PollFd::from_borrowed_fd(*fd, PollFlags::OUT),
        })
        .collect();
    wait(&mut fds, limit)?;
    let met = fds
        .iter()
        .enumerate()
        // A descriptor with an error or without a partner does not block either.
        .filter(|(_, fd)| !fd.revents().is_empty())
        .fold(0, |met, (place, _)| met | 1 << place);
    Ok(met)
}

/// Waits on the entries until one has something or the time is over; says whether one has.
///
/// A wait that a signal cut short goes on for the rest of its time.
pub(super) fn wait(fds: &mut [PollFd<'_>], limit: Option<Duration>) -> io::Result<bool> {
    // A limit beyond what the clock can say is as good as none.
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    loop {
        let left = deadline.map(|deadline| {
            let left = deadline.saturating_duration_since(Instant::now());
            Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: left.subsec_nanos().into(),
            }
        });
        match rustix::event::poll(fds, left.as_ref()) {
            Ok(count) => return Ok(count > 0),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// An event descriptor: readable from the first wake-up until it is cleared.
#[derive(Debug, Clone)]
pub(crate) struct Wake(Arc<OwnedFd>);

impl Wake {
    pub(crate) fn new() -> io::Result<Self> {
        let fd = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self(Arc::new(fd)))
    }

    /// The one way to fail is a counter that cannot rise any more, and that is awake.
    pub(crate) fn wake(&self) {
        let _ = rustix::io::write(&*self.0, &1_u64.to_ne_bytes());
    }

    pub(crate) fn clear(&self) -> bool {
        rustix::io::read(&*self.0, &mut [0; 8]).is_ok()
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

pub(crate) fn set_nonblocking(fd: BorrowedFd<'_>, nonblocking: bool) -> io::Result<()> {
    let mut flags = rustix::fs::fcntl_getfl(fd)?;
    flags.set(OFlags::NONBLOCK, nonblocking);
    Ok(rustix::fs::fcntl_setfl(fd, flags)?)
}
