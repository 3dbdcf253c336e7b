//! [`Error`]: why something was not done, and [`ProxyConnectError`]: why there is no connection.

use std::io;

use jig_proto::fsproxy::{ProxyError, ProxyErrorCode};

/// Why a request was not done.
///
/// It becomes an [`io::Error`] of the kind that code for ordinary files expects: what is missing is
/// `NotFound`, what a rule or the mode of a handle forbids is `PermissionDenied`.
///
/// Exhaustive: either there was an answer, or there was none.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The parent said no. The connection goes on.
    #[error("{}", .0.message)]
    Proxy(#[from] ProxyError),
    /// There is no connection any more, or what comes over it is not the protocol.
    #[error("the connection to the parent failed")]
    Connection(#[source] io::Error),
}

impl Error {
    /// What the parent said; `None` if the connection failed.
    pub fn code(&self) -> Option<ProxyErrorCode> {
        match self {
            Self::Proxy(error) => Some(error.code),
            Self::Connection(_) => None,
        }
    }

    /// An answer that cannot be one.
    pub(super) fn nonsense(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Connection(io::Error::new(io::ErrorKind::InvalidData, why))
    }
}

impl Error {
    /// What an [`io::Read`] or [`io::Write`] of ours made of an error.
    pub(super) fn from_io(error: io::Error) -> Self {
        match error.downcast::<ProxyError>() {
            Ok(error) => Self::Proxy(error),
            Err(error) => Self::Connection(error),
        }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Connection(error) => error,
            Error::Proxy(error) => io::Error::new(kind(error.code), error),
        }
    }
}

fn kind(code: ProxyErrorCode) -> io::ErrorKind {
    match code {
        ProxyErrorCode::Arg => io::ErrorKind::InvalidInput,
        ProxyErrorCode::NoEnt => io::ErrorKind::NotFound,
        ProxyErrorCode::Perm => io::ErrorKind::PermissionDenied,
        ProxyErrorCode::Io => io::ErrorKind::Other,
        ProxyErrorCode::Closed => io::ErrorKind::NotConnected,
        ProxyErrorCode::Unsupported => io::ErrorKind::Unsupported,
        ProxyErrorCode::Range => io::ErrorKind::QuotaExceeded,
    }
}

/// Why this process has no connection to a parent that serves files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyConnectError {
    /// Nothing was inherited: the process was not started by a proxy.
    #[error("descriptor {0} was not inherited: this process was not started with a proxy")]
    NotInherited(i32),
    /// What was inherited under that number is something else. It was left as it is.
    #[error("descriptor {0} is not a connection to a proxy")]
    NotAConnection(i32),
    /// The variable does not name descriptors.
    #[error("`JIG_PROXY_FD` must be a descriptor such as `3`, or two such as `3,4`; it is `{0}`")]
    Variable(String),
    /// Another process that inherited the same connection uses it. Answers to one would be read by the
    /// other.
    #[error("descriptor {0} is in use by another process")]
    InUse(i32),
    /// The connection belongs to an earlier [`Client`](super::Client) of this process.
    #[error("the inherited connection was already taken")]
    AlreadyTaken,
    /// The operating system refused something.
    #[error("the inherited connection cannot be used")]
    Io(#[source] io::Error),
}
