//! Waiting by `poll`, and waking by a pipe.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::process::Direction;

#[cfg(test)]
mod tests;

/// Waits, and returns a bit for each descriptor that would not block.
///
/// A wait that a signal cut short goes on for the rest of its time.
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
        match rustix::event::poll(&mut fds, left.as_ref()) {
            Ok(_) => break,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    let met = fds
        .iter()
        .enumerate()
        // A descriptor with an error or without a partner does not block either.
        .filter(|(_, fd)| !fd.revents().is_empty())
        .fold(0, |met, (place, _)| met | 1 << place);
    Ok(met)
}

/// A pipe: readable from the first wake-up until it is cleared.
#[derive(Debug, Clone)]
pub(crate) struct Wake(Arc<(OwnedFd, OwnedFd)>);

impl Wake {
    pub(crate) fn new() -> io::Result<Self> {
        let (reader, writer) = rustix::pipe::pipe()?;
        for fd in [&reader, &writer] {
            rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::CLOEXEC)?;
            set_nonblocking(fd.as_fd(), true)?;
        }
        Ok(Self(Arc::new((reader, writer))))
    }

    /// The one way to fail is a pipe that is full, and that is awake.
    pub(crate) fn wake(&self) {
        let _ = rustix::io::write(&self.0.1, &[0]);
    }

    pub(crate) fn clear(&self) -> bool {
        let mut cleared = false;
        while rustix::io::read(&self.0.0, &mut [0; 64]).is_ok_and(|count| count > 0) {
            cleared = true;
        }
        cleared
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.0.as_fd()
    }
}

pub(crate) fn set_nonblocking(fd: BorrowedFd<'_>, nonblocking: bool) -> io::Result<()> {
    let mut flags = rustix::fs::fcntl_getfl(fd)?;
    flags.set(OFlags::NONBLOCK, nonblocking);
    Ok(rustix::fs::fcntl_setfl(fd, flags)?)
}
