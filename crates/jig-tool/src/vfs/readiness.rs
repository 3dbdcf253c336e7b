//! Waiting for the host with a limit.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Whether standard input can be read from without blocking, or has ended, within `limit`.
///
/// The buffer of the standard library is not in the way: reads as large as ours pass it by.
pub(super) fn of_stdin(limit: Duration) -> io::Result<bool> {
    of(io::stdin(), limit)
}

pub(super) fn of(source: impl AsFd, limit: Duration) -> io::Result<bool> {
    let mut sources = [PollFd::new(&source, PollFlags::IN)];
    let timeout = Timespec::try_from(limit).ok();
    Ok(poll(&mut sources, timeout.as_ref())? > 0)
}
