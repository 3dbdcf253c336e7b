//! [`ClientLink`]: the connection to a client, whose waits somebody else can end.
//!
//! A socket is read and written by blocking calls, and shutting it down ends them. Pipes cannot be shut down, and
//! they may be shared with other processes, so that their flags must not be changed: every wait on them is a
//! `poll` that also watches a socket of ours.

use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

/// The connection to a client: a socket, or a descriptor for each direction.
#[derive(Debug)]
pub(super) struct ClientLink {
    input: OwnedFd,
    /// Where answers go, if that is another descriptor than the one that requests come from.
    output: Option<OwnedFd>,
    /// Only where shutting down the descriptors is not enough.
    stop: Option<LinkStop>,
}

/// Shutting one end down is seen at the other.
#[derive(Debug)]
struct LinkStop {
    ours: UnixStream,
    seen: UnixStream,
}

/// What a wait ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkWaitResult {
    /// What was waited for has come.
    Ready,
    /// The client is gone altogether, or was ended.
    Gone,
}

impl ClientLink {
    /// A link over one socket.
    pub(super) fn socket(socket: UnixStream) -> Self {
        Self {
            input: socket.into(),
            output: None,
            stop: None,
        }
    }

    /// A link over a descriptor for each direction, which may be one socket twice.
    pub(super) fn pair(input: OwnedFd, output: OwnedFd) -> io::Result<Self> {
        let sockets = is_socket(input.as_fd())? && is_socket(output.as_fd())?;
        let stop = match sockets {
            true => None,
            false => {
                let (ours, seen) = UnixStream::pair()?;
                Some(LinkStop { ours, seen })
            }
        };
        Ok(Self {
            input,
            output: Some(output),
            stop,
        })
    }

    /// Receives some bytes; 0 at the end.
    pub(super) fn receive(&self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let received = match &self.stop {
                None => rustix::net::recv(&self.input, &mut *into, RecvFlags::empty())
                    .map(|(count, _)| count),
                Some(_) => match self.wait(self.input.as_fd(), PollFlags::IN, WaitEnd::Stop)? {
                    LinkWaitResult::Gone => return Ok(0),
                    LinkWaitResult::Ready => rustix::io::read(&self.input, &mut *into),
                },
            };
            match received {
                Ok(count) => return Ok(count),
                Err(Errno::INTR) => {}
                // Somebody made it non-blocking, or another reader of the pipe was faster.
                Err(Errno::AGAIN) => {
                    self.wait(self.input.as_fd(), PollFlags::IN, WaitEnd::Stop)?;
                }
                // A process that ends with answers unread ends like any other.
                Err(Errno::CONNRESET) => return Ok(0),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Sends all bytes. Waits as long as the client does not read.
    pub(super) fn send(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let sent = match &self.stop {
                None => rustix::net::send(self.output(), bytes, SEND_FLAGS),
                Some(_) => match self.wait(self.output(), PollFlags::OUT, WaitEnd::Stop)? {
                    LinkWaitResult::Gone => return Err(io::ErrorKind::BrokenPipe.into()),
                    LinkWaitResult::Ready => {
                        let some = &bytes[..bytes.len().min(PIPE_WRITE)];
                        rustix::io::write(self.output(), some)
                    }
                },
            };
            match sent {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    self.wait(self.output(), PollFlags::OUT, WaitEnd::Stop)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Waits for `events` of a descriptor, or until the client is gone. That the client will send nothing more
    /// is not enough for that: it may still wait for answers.
    pub(super) fn wait_for(
        &self,
        descriptor: BorrowedFd<'_>,
        events: PollFlags,
    ) -> io::Result<LinkWaitResult> {
        self.wait(descriptor, events, WaitEnd::Client)
    }

    /// Ends the connection: whoever waits for it, on either side, waits no more.
    pub(super) fn shut_down(&self) {
        // What is no socket, or not connected any more, has nothing to shut down.
        let _ = rustix::net::shutdown(&self.input, rustix::net::Shutdown::Both);
        if let Some(output) = &self.output {
            let _ = rustix::net::shutdown(output, rustix::net::Shutdown::Both);
        }
        if let Some(stop) = &self.stop {
            let _ = stop.ours.shutdown(Shutdown::Both);
        }
    }

    /// What the operating system calls the descriptors, such as `socket:[4711]`.
    pub(super) fn describe(&self) -> String {
        let mut text = described(self.input.as_fd());
        if let Some(output) = &self.output {
            let output = described(output.as_fd());
            if output != text {
                text = format!("{text},{output}");
            }
        }
        text
    }

    fn output(&self) -> BorrowedFd<'_> {
        self.output.as_ref().unwrap_or(&self.input).as_fd()
    }

    fn wait(
        &self,
        descriptor: BorrowedFd<'_>,
        events: PollFlags,
        watch: WaitEnd,
    ) -> io::Result<LinkWaitResult> {
        // No event is asked for: an error or the end of both directions is told anyway.
        let quiet = PollFlags::empty();
        let mut polled = vec![PollFd::from_borrowed_fd(descriptor, events)];
        if let Some(stop) = &self.stop {
            polled.push(PollFd::new(&stop.seen, quiet));
        }
        if watch == WaitEnd::Client {
            polled.push(PollFd::from_borrowed_fd(self.output(), quiet));
        }
        loop {
            match poll(&mut polled, None) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            // The end counts first, so that nothing is taken for a client that is gone.
            if polled.iter().skip(1).any(|fd| !fd.revents().is_empty()) {
                return Ok(LinkWaitResult::Gone);
            }
            if polled.first().is_some_and(|fd| !fd.revents().is_empty()) {
                return Ok(LinkWaitResult::Ready);
            }
        }
    }
}

/// What ends a wait besides the descriptor that is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WaitEnd {
    /// That the connection is ended from here. The descriptor itself tells all else.
    Stop,
    /// That the client is gone, too.
    Client,
}

fn is_socket(descriptor: BorrowedFd<'_>) -> io::Result<bool> {
    let mode = fstat(descriptor)?.st_mode;
    Ok(FileType::from_raw_mode(mode) == FileType::Socket)
}

fn described(descriptor: BorrowedFd<'_>) -> String {
    let Ok(stat) = fstat(descriptor) else {
        return "unknown".to_owned();
    };
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Socket => "socket",
        FileType::Fifo => "pipe",
        FileType::CharacterDevice => "terminal",
        _ => "file",
    };
    format!("{kind}:[{}]", stat.st_ino)
}

/// How much is written to a pipe at once: so much has room where there is any, so that the write does not wait.
pub(super) const PIPE_WRITE: usize = 4096;

/// A client that is gone is told by the result, not by a signal.
#[cfg(not(target_vendor = "apple"))]
const SEND_FLAGS: SendFlags = SendFlags::NOSIGNAL;

/// The standard library sets its sockets so; Rust programs ignore the signal.
#[cfg(target_vendor = "apple")]
const SEND_FLAGS: SendFlags = SendFlags::empty();
