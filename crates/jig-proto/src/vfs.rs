//! The VFS tool protocol: JSON-RPC lines between a tool and its host.
//!
//! A tool has no files, no network and no programs of its own: it writes a [`VfsRequest`] to its
//! standard output and reads a [`VfsReply`] or an [`ErrorReply`] from its standard input. [`host`] has
//! the host's side of it, [`tool`] the tool's; [`LineBuffer`] cuts the stream into lines. Nothing is
//! read from or written to anywhere here, and nothing is decided: a path in a request is the text
//! that the tool wrote.
//!
//! What is large is not copied on the way: a request borrows from its line, a reply is written
//! straight into its line. A line of the other side, whatever it holds, neither panics nor takes
//! more memory than its limits allow.
//!
//! ```
//! use jig_proto::vfs::{FsRead, Id, Method, Reading, VfsReply, VfsRequest, host, tool};
//!
//! // The tool asks.
//! let mut line = Vec::new();
//! tool::write_request(&mut line, &Id::from(1), &VfsRequest::FsRead(FsRead::new("src/main.rs")));
//! assert_eq!(
//!     line,
//!     br#"{"jsonrpc":"2.0","id":1,"method":"fs.read","params":{"path":"src/main.rs"}}
//! "#,
//! );
//!
//! // The host understands, and answers.
//! let Ok(host::ToolLine::Request { id, request }) = host::read_line(&line, &Reading::PLAIN) else {
//!     panic!("it is a request");
//! };
//! assert_eq!(request.method(), Method::FsRead);
//! let mut answer = Vec::new();
//! host::write_reply(&mut answer, &id, &VfsReply::read("fn main() {}"));
//!
//! // The tool knows what it asked, and reads the answer to that.
//! let Ok(tool::HostLine::Reply { id, result }) = tool::read_line(&answer, &Reading::PLAIN) else {
//!     panic!("it is an answer");
//! };
//! assert_eq!(id.as_u64(), Some(1));
//! assert_eq!(result.read(Method::FsRead)?, VfsReply::read("fn main() {}"));
//! # Ok::<(), tool::BadReply>(())
//! ```
//!
//! # Beyond the plain protocol
//!
//! A host may offer [`Capabilities`] in [`Init`], and a tool may pick from them in [`Ready`]. With
//! `blobs`, a message may have a member `blob` beside its `params` or `result`: the number of raw
//! bytes that follow its line, with nothing between and nothing after them. They are the `content`
//! or `body` that the message then does not have. The length stands outside of the params so that
//! it can be skipped even if the request is refused.
//!
//! With `fd_pass`, an `fs.read` with `fd` may be answered by an open file. Lines stay on the pipes; a
//! Unix stream socket, which the tool inherits under the number that the variable
//! [`Capabilities::FD_VARIABLE`] says, carries the files. For each answer with `fd`, in the order of
//! these answers, the host sends one byte with one descriptor, and it does so before it writes the
//! line: a tool that has read the line finds the descriptor there without waiting. A tool takes one
//! for every such answer, also for a request that it has given up. The host never waits for it: if the
//! socket is full, or the file is not one that can be passed, the answer has the content instead.

mod capabilities;
mod envelope;
mod error;
pub mod host;
mod id;
mod init;
mod method;
mod owned;
mod payload;
mod process;
mod ready;
mod reply;
mod request;
pub mod tool;
mod write;

pub use crate::lines::{Frame, LineBuffer};
pub use capabilities::Capabilities;
pub use envelope::{NotAMessage, Reading};
pub use error::{ErrorData, ErrorKind, ErrorReply};
pub use id::Id;
pub use init::{Init, SessionLimits, ToolInput};
pub use method::Method;
pub use payload::Payload;
pub use process::{
    ProcessOutput, ProcessRead, ProcessRun, ProcessStart, ProcessStop, ProcessWrite,
    StartedProcess, TerminalSize,
};
pub use ready::Ready;
pub use reply::{
    DescriptorReply, DoneReply, Entry, EntryKind, FileMatches, GrepReply, HttpReply, ListReply,
    MatchedLine, MetadataReply, ProcessReply, ReadReply, VfsReply,
};
pub use request::{
    Edit, FsAppend, FsDelete, FsGrep, FsListDir, FsPatch, FsPath, FsRead, FsRename, FsWrite,
    Header, HttpGet, HttpPost, VfsRequest,
};
