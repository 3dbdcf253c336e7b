//! Tools of the runtime `vfs`: [`run()`] or [`connect`], then the [`Host`].
//!
//! The tool talks with its host over standard input and output, so it must print nothing there;
//! standard error is for people. Requests block until they are answered. What the policy denies is a
//! [`HostError`] that says why and what would allow it; the tool goes on as it likes.

#[cfg(target_os = "linux")]
mod descriptors;
#[cfg(not(target_os = "linux"))]
#[path = "vfs/no_descriptors.rs"]
mod descriptors;
mod error;
mod files;
mod grep;
mod host;
mod host_connection;
mod http;
mod inbox;
mod opened;
mod pipes;
mod process;
#[cfg(unix)]
mod readiness;
mod rules;
mod run;
mod staying_process;
mod transport;

use std::io::{self, Stdin, Stdout};

pub use descriptors::Descriptors;
pub use error::{ConnectError, HostError, RefusedOperation};
pub use grep::Grep;
pub use host::{ArgumentsError, Host};
pub use http::HttpRequest;
pub use jig_proto::vfs::{
    Capabilities, DoneReply, Edit, Entry, EntryKind, ErrorKind, ErrorReply, FileMatches, FsAppend,
    FsDelete, FsPatch, FsRename, FsWrite, GrepReply, HttpReply, Init, MatchedLine, MetadataReply,
    Method, Payload, ProcessOutput, ProcessReply, ReadReply, Ready, SessionLimits, ToolInput,
    VfsReply, VfsRequest,
};
pub use opened::Opened;
pub use pipes::Pipes;
pub use process::Run;
pub use run::{run, serve};
pub use staying_process::{Process, ReadOptions, Start};
pub use transport::{HostAnswer, Notification, RequestError, Transport};

/// Reads `init` from standard input and takes standard input and output for the protocol, and the
/// socket over which open files come, if there is one.
///
/// # Errors
///
/// If no host is there, or it does not speak a version of the protocol that we do.
pub fn connect() -> Result<Host, ConnectError> {
    let (init, pipes) = Pipes::<Stdin, Stdout>::open(io::stdin(), io::stdout())?;
    let pipes = match Descriptors::inherited() {
        Some(descriptors) => pipes.with_descriptors(descriptors),
        None => pipes,
    };
    #[cfg(unix)]
    let pipes = pipes.with_readiness(readiness::of_stdin);
    Host::over(init, pipes)
}
