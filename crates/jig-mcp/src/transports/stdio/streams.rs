//! Standard input and output as the client has given them to us: pipes, sockets, or something else.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, Stdin, Stdout};
#[cfg(unix)]
use tokio::net::UnixStream;
#[cfg(target_os = "linux")]
use tokio::net::unix::pipe;

/// Standard input and output. Must be called inside of a runtime.
///
/// Pipes and sockets are read and written without a thread in between, which would cost more than reading a small file does.
pub(super) fn open() -> (StdinReader, StdoutWriter) {
    #[cfg(unix)]
    {
        let reader = unix::reader().unwrap_or_else(|| StdinReader::Other(tokio::io::stdin()));
        let writer = unix::writer().unwrap_or_else(|| StdoutWriter::Other(tokio::io::stdout()));
        (reader, writer)
    }
    #[cfg(not(unix))]
    {
        (
            StdinReader::Other(tokio::io::stdin()),
            StdoutWriter::Other(tokio::io::stdout()),
        )
    }
}

/// Standard input.
pub(super) enum StdinReader {
    /// What Python and Rust programs give to those that they start.
    #[cfg(target_os = "linux")]
    Pipe(pipe::Receiver),
    /// What Node gives to them.
    #[cfg(unix)]
    Socket(UnixStream),
    /// A file or a terminal, read by a thread.
    Other(Stdin),
}

/// Standard output.
pub(super) enum StdoutWriter {
    #[cfg(target_os = "linux")]
    Pipe(pipe::Sender),
    #[cfg(unix)]
    Socket(UnixStream),
    /// A file or a terminal, written by a thread.
    Other(Stdout),
}

#[cfg(unix)]
mod unix {
    use std::os::fd::{AsFd, OwnedFd};

    use rustix::fs::{FileType, fstat};
    use rustix::net::{AddressFamily, SocketType, sockopt};
    use tokio::net::UnixStream;

    use super::{StdinReader, StdoutWriter};

    pub(super) fn reader() -> Option<StdinReader> {
        let stdin = rustix::stdio::stdin();
        #[cfg(target_os = "linux")]
        if is_pipe(&stdin) {
            let own = reopened("/proc/self/fd/0", rustix::fs::OFlags::RDONLY)?;
            return tokio::net::unix::pipe::Receiver::from_owned_fd(own)
                .ok()
                .map(StdinReader::Pipe);
        }
        socket(&stdin).map(StdinReader::Socket)
    }

    pub(super) fn writer() -> Option<StdoutWriter> {
        let stdout = rustix::stdio::stdout();
        #[cfg(target_os = "linux")]
        if is_pipe(&stdout) {
            let own = reopened("/proc/self/fd/1", rustix::fs::OFlags::WRONLY)?;
            return tokio::net::unix::pipe::Sender::from_owned_fd(own)
                .ok()
                .map(StdoutWriter::Pipe);
        }
        socket(&stdout).map(StdoutWriter::Socket)
    }

    #[cfg(target_os = "linux")]
    fn is_pipe(fd: &impl AsFd) -> bool {
        fstat(fd).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Fifo)
    }

    /// Opens a pipe once more: not to wait is then a property of ours alone, and not of the one that whoever
    /// started us may still hold.
    #[cfg(target_os = "linux")]
    fn reopened(path: &str, access: rustix::fs::OFlags) -> Option<OwnedFd> {
        use rustix::fs::{Mode, OFlags, open};
        let flags = access | OFlags::NONBLOCK | OFlags::CLOEXEC;
        open(path, flags, Mode::empty()).ok()
    }

    /// A connected Unix socket, if it is one. Nobody but us uses this end of it, so that it may be made not to
    /// wait.
    fn socket(fd: &impl AsFd) -> Option<UnixStream> {
        let is_socket =
            fstat(fd).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Socket);
        let is_ours = is_socket
            && sockopt::socket_domain(fd).is_ok_and(|domain| domain == AddressFamily::UNIX)
            && sockopt::socket_type(fd).is_ok_and(|kind| kind == SocketType::STREAM);
        if !is_ours {
            return None;
        }
        let own: OwnedFd = fd.as_fd().try_clone_to_owned().ok()?;
        let stream = std::os::unix::net::UnixStream::from(own);
        stream.set_nonblocking(true).ok()?;
        UnixStream::from_std(stream).ok()
    }
}

impl AsyncRead for StdinReader {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            #[cfg(target_os = "linux")]
            Self::Pipe(pipe) => Pin::new(pipe).poll_read(context, buffer),
            #[cfg(unix)]
            Self::Socket(socket) => Pin::new(socket).poll_read(context, buffer),
            Self::Other(stdin) => Pin::new(stdin).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for StdoutWriter {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            #[cfg(target_os = "linux")]
            Self::Pipe(pipe) => Pin::new(pipe).poll_write(context, bytes),
            #[cfg(unix)]
            Self::Socket(socket) => Pin::new(socket).poll_write(context, bytes),
            Self::Other(stdout) => Pin::new(stdout).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            #[cfg(target_os = "linux")]
            Self::Pipe(pipe) => Pin::new(pipe).poll_write_vectored(context, slices),
            #[cfg(unix)]
            Self::Socket(socket) => Pin::new(socket).poll_write_vectored(context, slices),
            Self::Other(stdout) => Pin::new(stdout).poll_write_vectored(context, slices),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            #[cfg(target_os = "linux")]
            Self::Pipe(pipe) => Pin::new(pipe).poll_flush(context),
            #[cfg(unix)]
            Self::Socket(socket) => Pin::new(socket).poll_flush(context),
            Self::Other(stdout) => Pin::new(stdout).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}
