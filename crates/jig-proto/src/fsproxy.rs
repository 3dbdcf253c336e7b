//! The FS Proxy protocol: how a child process does its file work through handles that its parent
//! owns.
//!
//! A child writes a [`ProxyRequest`] to the socket that it inherited and reads a [`ProxyResponse`] from it. A
//! message is a *frame*: four bytes of length, the highest first, and so many bytes of JSON.
//! [`FrameBuffer`] cuts a stream into frames. The server's side is [`read_request`] and the `write_`
//! functions for answers; the client's side is [`write_request`] and [`read_response`]. A process in
//! the middle has both, and passes an answer on with [`write_answer`] without decoding it. Older
//! clients speak lines of text, see [`legacy`]; [`Variant::detect`] tells them apart by their first
//! byte.
//!
//! Nothing is read from or written to anywhere here, and nothing is decided: a path is the text that
//! the client wrote, a handle is a number. Whatever the other side sends, reading it neither panics
//! nor takes more memory than the limit of a frame.
//!
//! ```
//! use jig_proto::fsproxy::{self, FrameBuffer, MAX_FRAME, Op, ReadParams};
//!
//! // The child asks for what is in handle 42.
//! let mut sent = Vec::new();
//! fsproxy::write_request(&mut sent, "2", &Op::Read(ReadParams { handle: 42, max: 4096 }));
//!
//! // The parent cuts the stream into frames, understands, and answers.
//! let mut buffer = FrameBuffer::new(MAX_FRAME);
//! buffer.space()[..sent.len()].copy_from_slice(&sent);
//! buffer.filled(sent.len());
//! let frame = buffer.next()?.expect("one whole frame was sent");
//! assert_eq!(frame, br#"{"id":"2","op":"read","params":{"h":42,"max":4096}}"#);
//! let request = fsproxy::read_request(frame).expect("it is a request");
//! let mut answer = Vec::new();
//! fsproxy::write_data(&mut answer, &request.id, b"hello", false);
//!
//! // The child reads the answer to what it asked.
//! let response = fsproxy::read_response(&answer[4..])?;
//! let mut content = Vec::new();
//! let is_end = response.result?.data_into(&mut content)?;
//! assert_eq!((content.as_slice(), is_end), (&b"hello"[..], false));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bytes;
mod data;
mod error;
mod frames;
pub mod legacy;
mod list;
mod llm;
mod mode;
mod params;
mod request;
mod response;
mod usual;
mod variant;
mod write;

pub use data::Data;
pub use error::{ProxyError, ProxyErrorCode};
pub use frames::{FrameBuffer, FrameTooLong};
pub use list::{ListParams, ListedEntry, ListedKind, ProxyListReply};
pub use llm::{LlmCmd, LlmMessage, LlmReply, LlmRole, QuotaReport, TokenUsage};
pub use mode::{OpenEffects, OpenMode};
pub use request::{
    FrameRefusal, Op, OpenParams, ProxyRequest, ReadParams, WriteParams, read_request,
};
pub use response::{NotAResponse, NotAnAnswer, ProxyAnswer, ProxyResponse, read_response};
pub use variant::Variant;
pub use write::{
    write_answer, write_data, write_done, write_error, write_handle, write_refusal, write_request,
    write_result, write_written,
};

/// The most bytes that one `read` returns.
pub const MAX_READ: usize = 4096;

/// The usual limit of a frame, without its length. The length could announce 4 GiB, and whoever
/// believed it would hold that much for each client that says so.
pub const MAX_FRAME: usize = 1 << 20;

/// The longest `id`. It comes back with every answer, which without this could not be kept within
/// the limit of a frame.
pub const MAX_ID: usize = 1024;

/// The first handle that an `open` returns. Those below are the standard streams.
pub const FIRST_HANDLE: u64 = 3;

/// The descriptor under which a child finds its end of the connection.
pub const DESCRIPTOR: i32 = 3;

/// The variable that says which descriptor it is: `3`, or `r,w` for one to read from and one to
/// write to.
pub const DESCRIPTOR_VARIABLE: &str = "JIG_PROXY_FD";
