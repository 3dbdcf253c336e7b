//! [`ParentStream`]: a standard stream of the parent, which clients use as handle 0, 1 or 2.

use std::io::{self, IsTerminal as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jig_proto::fsproxy::ProxyError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::client_socket::{ClientLink, LinkWaitResult, PIPE_WRITE};

/// A stream of the parent that clients read or write. Clones are the same stream, and several clients can have
/// it: each byte of an input then goes to one of them.
///
/// The descriptor stays as it is: whether it blocks is a matter of everybody who has it open.
#[derive(Debug, Clone)]
pub struct ParentStream(Arc<SharedDescriptor>);

#[derive(Debug)]
struct SharedDescriptor {
    descriptor: OwnedFd,
    /// Held between the look whether something can be done and doing it, never while waiting. Without it, of
    /// two clients that see the same byte one would wait in a read that nothing ends.
    turn: Mutex<()>,
}

impl ParentStream {
    /// A stream on a descriptor that can be read or written.
    pub fn new(descriptor: OwnedFd) -> Self {
        Self(Arc::new(SharedDescriptor {
            descriptor,
            turn: Mutex::new(()),
        }))
    }

    /// Whether it is a terminal, where somebody would have to type.
    pub(super) fn is_terminal(&self) -> bool {
        self.0.descriptor.is_terminal()
    }

    /// Reads up to `max` bytes to the end of `into`; true at the end of the stream. Nothing is taken from the
    /// stream once the client at the other end of `link` is gone.
    pub(super) fn read(
        &self,
        link: &ClientLink,
        max: usize,
        into: &mut Vec<u8>,
    ) -> Result<bool, ProxyError> {
        let start = into.len();
        let read = self.when_ready(link, PollFlags::IN, |descriptor| {
            into.resize(start + max, 0);
            let read = rustix::io::read(descriptor, &mut into[start..]);
            into.truncate(start + read.unwrap_or(0));
            read
        });
        match read {
            Ok(count) => Ok(count == 0),
            Err(error) => Err(failed("standard input could not be read", &error)),
        }
    }

    /// Writes all bytes.
    pub(super) fn write(&self, link: &ClientLink, mut bytes: &[u8]) -> Result<(), ProxyError> {
        while !bytes.is_empty() {
            let some = &bytes[..bytes.len().min(PIPE_WRITE)];
            let written = self.when_ready(link, PollFlags::OUT, |descriptor| {
                rustix::io::write(descriptor, some)
            });
            match written {
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(error) => return Err(failed("the stream could not be written", &error)),
            }
        }
        Ok(())
    }

    /// Waits until `events` are there and acts then.
    fn when_ready(
        &self,
        link: &ClientLink,
        events: PollFlags,
        mut act: impl FnMut(BorrowedFd<'_>) -> Result<usize, Errno>,
    ) -> io::Result<usize> {
        let descriptor = self.0.descriptor.as_fd();
        loop {
            if link.wait_for(descriptor, events)? == LinkWaitResult::Gone {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            let turn = self.turn();
            let mut polled = [PollFd::from_borrowed_fd(descriptor, events)];
            match poll(&mut polled, Some(&Timespec::default())) {
                // Somebody else was faster.
                Ok(0) | Err(Errno::INTR) => continue,
                Ok(_) => {}
                Err(error) => return Err(error.into()),
            }
            let done = act(descriptor);
            drop(turn);
            match done {
                Err(Errno::INTR | Errno::AGAIN) => {}
                done => return done.map_err(Into::into),
            }
        }
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.0.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<OwnedFd> for ParentStream {
    fn from(descriptor: OwnedFd) -> Self {
        Self::new(descriptor)
    }
}

/// What a client is told; the error itself is the host's.
fn failed(what: &str, error: &io::Error) -> ProxyError {
    match error.kind() {
        io::ErrorKind::BrokenPipe => ProxyError::io(format!("{what}: nobody reads it any more")),
        io::ErrorKind::ConnectionAborted => ProxyError::io(format!("{what}: the client is gone")),
        _ => ProxyError::io(what),
    }
}

#[cfg(test)]
mod tests;
