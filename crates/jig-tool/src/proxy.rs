//! File work through a parent process: a client of the FS Proxy protocol, and a relay for children.
//!
//! A process that was started by a proxy (`jig proxy -- COMMAND…`, or [`Relay::spawn`]) may have no
//! files of its own. It has one connection, on descriptor 3, and [`Client`] opens files over it:
//!
//! ```no_run
//! use std::io::{Read, Write};
//!
//! use jig_tool::proxy::{Client, OpenMode};
//!
//! let client = Client::inherited()?;
//! let mut text = String::new();
//! client.open("notes.md", OpenMode::Read)?.read_to_string(&mut text)?;
//! let mut summary = client.open("summary.md", OpenMode::Write)?;
//! writeln!(summary, "{} words", text.split_whitespace().count())?;
//! summary.close()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Such a process can have children of its own that work the same way, to any depth: [`Relay`] serves
//! them and passes on to its own parent what they ask for.
//!
//! Nothing here decides what may be opened: the process at the top does.

mod answer_slot;
mod client;
mod descriptors;
mod error;
mod file;
mod inherited_descriptors;
mod relay;
mod shared_connection;

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

pub use client::{Client, PendingRequest, ProxyReply};
pub use error::{Error, ProxyConnectError};
pub use file::File;
pub use jig_proto::fsproxy::{
    DESCRIPTOR, DESCRIPTOR_VARIABLE, Data, ListParams, ListedEntry, ListedKind, LlmCmd, LlmMessage,
    LlmReply, LlmRole, MAX_READ, Op, OpenMode, OpenParams, ProxyError, ProxyErrorCode,
    ProxyListReply, QuotaReport, ReadParams, TokenUsage, WriteParams,
};
pub use relay::{
    AttachedChild, ChildOptions, ChildStream, Relay, RelayChild, RelayClientRow, RelayFileRow,
};

/// A thread that panicked leaves nothing half done behind these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait_on<'a, T>(condvar: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condvar.wait(guard).unwrap_or_else(PoisonError::into_inner)
}
