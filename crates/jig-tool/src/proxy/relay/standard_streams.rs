//! Handles 0, 1 and 2, which this process serves itself.

use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Mutex;

use jig_proto::fsproxy::{MAX_READ, ProxyError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::super::{descriptors, lock};
use super::child::{ChildConnection, ConnectionEnded};
use super::{ChildOptions, ChildStream};

/// A stream of a child, and which of ours it may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct StandardStream {
    pub(super) number: u64,
    pub(super) stream: ChildStream,
}

impl StandardStream {
    /// The stream of this number; `None` for a handle that is none.
    pub(super) fn of(options: &ChildOptions, number: u64) -> Option<Self> {
        let stream = match number {
            0 => options.stdin,
            1 => options.stdout,
            2 => options.stderr,
            _ => return None,
        };
        Some(Self { number, stream })
    }

    /// Why it can't be used, or not in this way.
    pub(super) fn refusal(self) -> ProxyError {
        match self.stream {
            ChildStream::None => ProxyError::perm(format!("handle {} is reserved", self.number)),
            _ if self.number == 0 => ProxyError::perm("handle 0 can only be read"),
            _ => ProxyError::perm(format!("handle {} can only be written", self.number)),
        }
    }
}

/// Reads from our standard input; gives up when the child is gone.
pub(super) fn read_stdin(
    connection: &ChildConnection,
    max: usize,
) -> Result<Result<Vec<u8>, ProxyError>, ConnectionEnded> {
    read_from(connection, io::stdin().as_fd(), max)
}

fn read_from(
    connection: &ChildConnection,
    stream: BorrowedFd<'_>,
    max: usize,
) -> Result<Result<Vec<u8>, ProxyError>, ConnectionEnded> {
    let mut bytes = vec![0; max];
    loop {
        wait_unless_gone(connection, stream, PollFlags::IN)?;
        let turn = lock(&TURNS[0]);
        match is_ready(stream, PollFlags::IN) {
            Ok(true) => {}
            // Somebody else was faster.
            Ok(false) => continue,
            Err(_) => return Ok(Err(ProxyError::io("standard input cannot be read"))),
        }
        let read = rustix::io::read(stream, &mut bytes);
        drop(turn);
        match read {
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => return Ok(Err(ProxyError::io("standard input cannot be read"))),
            Ok(count) => {
                bytes.truncate(count);
                return Ok(Ok(bytes));
            }
        }
    }
}

/// Reads our standard input to its end, as text, for a language model. A terminal has no end that
/// anybody could wait for, and counts as empty.
pub(super) fn read_all_stdin(
    connection: &ChildConnection,
    limit: usize,
) -> Result<Result<String, ProxyError>, ConnectionEnded> {
    let mut all = Vec::new();
    if io::stdin().is_terminal() {
        return Ok(Ok(String::new()));
    }
    loop {
        match read_stdin(connection, MAX_READ)? {
            Err(error) => return Ok(Err(error)),
            Ok(bytes) if bytes.is_empty() => break,
            Ok(bytes) => all.extend_from_slice(&bytes),
        }
        if all.len() > limit {
            let why = format!("standard input holds more than {limit} bytes");
            return Ok(Err(ProxyError::range(why)));
        }
    }
    Ok(Ok(String::from_utf8_lossy(&all).into_owned()))
}

/// Writes to our standard output or error; gives up when it takes nothing and the child is gone.
pub(super) fn write(
    connection: &ChildConnection,
    number: u64,
    mut bytes: &[u8],
) -> Result<Result<(), ProxyError>, ConnectionEnded> {
    let (stdout, stderr) = (io::stdout(), io::stderr());
    let stream = match number {
        1 => stdout.as_fd(),
        _ => stderr.as_fd(),
    };
    while !bytes.is_empty() {
        let turn = lock(&TURNS[if number == 1 { 1 } else { 2 }]);
        let written = descriptors::write_pipe_now(stream, bytes);
        drop(turn);
        match written {
            Ok(0) => wait_unless_gone(connection, stream, PollFlags::OUT)?,
            Ok(count) => bytes = &bytes[count..],
            Err(_) => return Ok(Err(ProxyError::io("the stream cannot be written"))),
        }
    }
    Ok(Ok(()))
}

fn is_ready(stream: BorrowedFd<'_>, flags: PollFlags) -> Result<bool, Errno> {
    let mut polled = [PollFd::from_borrowed_fd(stream, flags)];
    match poll(&mut polled, Some(&Timespec::default())) {
        Err(Errno::INTR) => Ok(false),
        other => other.map(|count| count > 0),
    }
}

/// Waits until the descriptor is ready, unless the child is gone before.
pub(super) fn wait_unless_gone(
    connection: &ChildConnection,
    descriptor: BorrowedFd<'_>,
    flags: PollFlags,
) -> Result<(), ConnectionEnded> {
    let mut polled = [
        PollFd::from_borrowed_fd(descriptor, flags),
        PollFd::from_borrowed_fd(connection.socket(), PollFlags::empty()),
    ];
    descriptors::wait(&mut polled).map_err(|_| ConnectionEnded)?;
    if polled[0].revents().is_empty() {
        return Err(ConnectionEnded);
    }
    Ok(())
}

/// Held between the look whether a stream is ready and the use of it, never while waiting. Of two
/// children that see the same byte, one would otherwise wait in a read that not even its end ends.
static TURNS: [Mutex<()>; 3] = [const { Mutex::new(()) }; 3];

#[cfg(test)]
mod tests;
