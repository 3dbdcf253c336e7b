//! [`ProxyTransport`]: the descriptors of a connection, and how to wait for them.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{SendFlags, Shutdown, send};

use super::lock;

/// A connection: one socket, or two ends of pipes.
#[derive(Debug)]
pub(super) enum ProxyTransport {
    Socket(OwnedFd),
    Pair {
        input: OwnedFd,
        /// Gone once nothing is to be written any more: a pipe has no other way to say so.
        output: Mutex<Option<Arc<OwnedFd>>>,
    },
}

/// What a connection is ready for. The end of it counts as both.
#[derive(Debug, Clone, Copy)]
pub(super) struct TransportReadiness {
    pub(super) to_read: bool,
    pub(super) to_write: bool,
}

impl ProxyTransport {
    /// Two ends of pipes.
    pub(super) fn pair(input: OwnedFd, output: OwnedFd) -> Self {
        Self::Pair {
            input,
            output: Mutex::new(Some(Arc::new(output))),
        }
    }

    /// Reads what there is; waits if there is nothing. 0 is the end.
    pub(super) fn read(&self, space: &mut [u8]) -> io::Result<usize> {
        let input = self.input();
        loop {
            match rustix::io::read(input, &mut *space) {
                Err(Errno::INTR) => {}
                // Whoever made the descriptor may have made it non-blocking.
                Err(Errno::AGAIN) => {
                    wait(&mut [PollFd::from_borrowed_fd(input, PollFlags::IN)])?;
                }
                other => return Ok(other?),
            }
        }
    }

    /// Writes as much as goes without waiting: 0 if nothing does.
    pub(super) fn write_now(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Socket(socket) => send_now(socket.as_fd(), bytes),
            Self::Pair { output, .. } => match &*lock(output) {
                Some(output) => write_pipe_now(output.as_fd(), bytes),
                None => Err(io::ErrorKind::BrokenPipe.into()),
            },
        }
    }

    /// Waits until something can be written, or never will be again.
    pub(super) fn wait_to_write(&self) -> io::Result<()> {
        match self {
            Self::Socket(socket) => wait(&mut [PollFd::new(socket, PollFlags::OUT)]),
            Self::Pair { output, .. } => {
                // The lock is not kept while this waits: the output may be ended meanwhile.
                let Some(output) = lock(output).clone() else {
                    return Ok(());
                };
                wait(&mut [PollFd::new(&*output, PollFlags::OUT)])
            }
        }
    }

    /// Waits until something can be read or written.
    pub(super) fn wait_for_any(&self) -> io::Result<TransportReadiness> {
        match self {
            Self::Socket(socket) => {
                let mut polled = [PollFd::new(socket, PollFlags::IN | PollFlags::OUT)];
                wait(&mut polled)?;
                let happened = polled[0].revents();
                Ok(TransportReadiness {
                    to_read: happened.intersects(!PollFlags::OUT),
                    to_write: happened.intersects(!PollFlags::IN),
                })
            }
            Self::Pair { input, output } => {
                let Some(output) = lock(output).clone() else {
                    return Ok(TransportReadiness {
                        to_read: true,
                        to_write: true,
                    });
                };
                let mut polled = [
                    PollFd::new(input, PollFlags::IN),
                    PollFd::new(&*output, PollFlags::OUT),
                ];
                wait(&mut polled)?;
                Ok(TransportReadiness {
                    to_read: !polled[0].revents().is_empty(),
                    to_write: !polled[1].revents().is_empty(),
                })
            }
        }
    }

    /// Says that nothing more will be written. What was written is still read and answered.
    pub(super) fn end_output(&self) {
        match self {
            // It fails if the other side is gone, and then there is nobody to tell.
            Self::Socket(socket) => drop(rustix::net::shutdown(socket, Shutdown::Write)),
            Self::Pair { output, .. } => drop(lock(output).take()),
        }
    }

    /// Ends the connection in both directions: whoever waits for it is woken.
    pub(super) fn end(&self) {
        match self {
            Self::Socket(socket) => drop(rustix::net::shutdown(socket, Shutdown::Both)),
            // The other side sees the end of its input and closes its output, which wakes us.
            Self::Pair { .. } => self.end_output(),
        }
    }

    fn input(&self) -> BorrowedFd<'_> {
        match self {
            Self::Socket(socket) => socket.as_fd(),
            Self::Pair { input, .. } => input.as_fd(),
        }
    }
}

/// Sends as much as goes without waiting: 0 if nothing does.
pub(super) fn send_now(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    loop {
        match send(socket, bytes, NOW) {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Ok(0),
            other => return Ok(other?),
        }
    }
}

/// The descriptor may be shared with other processes, so its flags are not ours to change. A pipe
/// that is ready takes `PIPE_BUF` bytes without blocking.
pub(super) fn write_pipe_now(pipe: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    let mut polled = [PollFd::from_borrowed_fd(pipe, PollFlags::OUT)];
    loop {
        match poll(&mut polled, Some(&rustix::event::Timespec::default())) {
            Err(Errno::INTR) => continue,
            Ok(0) => return Ok(0),
            other => other?,
        };
        let some = &bytes[..bytes.len().min(rustix::pipe::PIPE_BUF)];
        match rustix::io::write(pipe, some) {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Ok(0),
            other => return Ok(other?),
        }
    }
}

/// Waits until something happens to any of them.
pub(super) fn wait(polled: &mut [PollFd<'_>]) -> io::Result<()> {
    loop {
        match poll(polled, None) {
            Err(Errno::INTR) => {}
            other => return Ok(other.map(drop)?),
        }
    }
}

/// Without blocking, and without a signal if the other side is gone.
#[cfg(not(target_vendor = "apple"))]
const NOW: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);
#[cfg(target_vendor = "apple")]
const NOW: SendFlags = SendFlags::DONTWAIT;
