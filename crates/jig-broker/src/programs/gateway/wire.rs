//! [`GatewayConnection`]: a connection of which every wait has an end.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use jig_sandbox::{Interest, ReadyInterests, poll};
use rustix::net::sockopt;

use super::GatewayState;

/// A connection that never blocks. What waits for it ends when the gateway is closed.
#[derive(Debug)]
pub(super) struct GatewayConnection<'g> {
    pub(super) stream: TcpStream,
    pub(super) shared: &'g GatewayState,
}

impl<'g> GatewayConnection<'g> {
    pub(super) fn new(shared: &'g GatewayState, stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        // What is passed on was waited for already.
        stream.set_nodelay(true)?;
        // Whoever closes a connection without reading what comes looks like one who has said all and goes on
        // reading. Only asking tells the two apart; where that cannot be had, connections work all the same.
        let _ = sockopt::set_socket_keepalive(&stream, true)
            .and_then(|()| sockopt::set_tcp_keepidle(&stream, ASK_AFTER))
            .and_then(|()| sockopt::set_tcp_keepintvl(&stream, ASK_AGAIN))
            .and_then(|()| sockopt::set_tcp_keepcnt(&stream, 3));
        Ok(Self { stream, shared })
    }

    /// Whether the other side is known to be gone.
    pub(super) fn is_gone(&self) -> bool {
        !matches!(self.stream.take_error(), Ok(None))
    }

    /// Reads some bytes; none at the end.
    pub(super) fn read(&self, buffer: &mut [u8], deadline: Instant) -> io::Result<usize> {
        loop {
            match (&self.stream).read(buffer) {
                Err(error) if is_passing(&error) => {
                    self.shared
                        .wait(&[Interest::Readable(self.stream.as_fd())], Some(deadline))?;
                }
                other => return other,
            }
        }
    }

    /// Writes all bytes.
    pub(super) fn write_all(&self, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
            match (&self.stream).write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => bytes = &bytes[count..],
                Err(error) if is_passing(&error) => {
                    self.shared
                        .wait(&[Interest::Writable(self.stream.as_fd())], Some(deadline))?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Says a last thing and closes in such a way that it arrives.
    ///
    /// Closing a socket that has unread bytes resets the connection, and what was said last is lost. So
    /// the rest of what the other side says is taken for a while, and thrown away.
    pub(super) fn say_last(self, bytes: &[u8]) {
        let deadline = Instant::now() + FAREWELL;
        if self.write_all(bytes, deadline).is_err() {
            return;
        }
        self.close_gently(deadline);
    }

    /// Closes after everything that was written has been taken.
    pub(super) fn close_gently(self, deadline: Instant) {
        if self.stream.shutdown(Shutdown::Write).is_err() {
            return;
        }
        let mut buffer = vec![0; 16 * 1024];
        let mut left = MOST_THROWN_AWAY;
        while let Ok(count @ 1..) = self.read(&mut buffer, deadline) {
            left = left.saturating_sub(count);
            if left == 0 {
                return;
            }
        }
    }

    /// Closes as a connection that broke, so that nobody takes it for one that came to its end.
    pub(super) fn reset(self) {
        // Where that fails it is closed in the ordinary way.
        let _ = sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO));
    }
}

impl GatewayState {
    /// Waits until one of the interests is met. It is an error if the time is over or the gateway is closed.
    ///
    /// There may be two less than [`ReadyInterests::MOST`].
    pub(super) fn wait(
        &self,
        interests: &[Interest<'_>],
        deadline: Option<Instant>,
    ) -> io::Result<ReadyInterests> {
        let mut all = interests.to_vec();
        all.push(Interest::Woken(&self.stopped));
        let limit = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let ready = poll(&all, limit)?;
        if ready.contains(interests.len()) {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        if ready.is_empty() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(ready)
    }
}

/// Whether an operation is only to be tried again.
pub(super) fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

/// After how long a silence the kernel asks whether the other side is there, and how often then.
const ASK_AFTER: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 30 });
const ASK_AGAIN: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });

/// How long the last words to a program may take. A program that reads nothing must not hold a thread.
const FAREWELL: Duration = Duration::from_secs(5);

/// How much of what a refused program still says is taken. It may say more than anybody wants to read.
const MOST_THROWN_AWAY: usize = 4 * 1024 * 1024;
