//! The older variant of the protocol: lines of text, with raw bytes behind some of them.
//!
//! A request is `COMMAND parameter…` on one line; `WRITE` and `LLM_CHAT` are followed by as many bytes
//! as they announce. An answer is `OK …` or `ERROR …` on one line, where `READ` and `LLM_CHAT` have
//! bytes behind it. There are no ids: answers come in the order of the requests.
//!
//! [`CommandBuffer`] makes [`LegacyCommand`]s of a stream; the `write_` functions make the answers. New
//! clients should speak frames, see [`fsproxy`](super).
//!
//! ```
//! use jig_proto::fsproxy::legacy::{self, LegacyCommand, CommandBuffer};
//!
//! let mut buffer = CommandBuffer::new(1024);
//! buffer.feed(b"WRITE 3 5\nhello");
//! assert_eq!(buffer.next()?, Some(LegacyCommand::Write { handle: 3, data: b"hello" }));
//!
//! let mut answer = Vec::new();
//! legacy::write_ok(&mut answer, "5");
//! assert_eq!(answer, b"OK 5\n");
//! # Ok::<(), legacy::LegacyRefusal>(())
//! ```

mod buffer;
mod command;
mod mode;
mod write;

pub use buffer::CommandBuffer;
pub use command::{LegacyCommand, LegacyRefusal};
pub use mode::LegacyOpenMode;
pub use write::{write_chat, write_command, write_error, write_ok, write_payload};

/// The longest line of a command, without its end. It holds the longest path that is opened and
/// leaves room; without it, a client that never ends its line would fill the memory of the host.
pub const MAX_LINE: usize = 8 * 1024;

#[cfg(test)]
mod tests;
