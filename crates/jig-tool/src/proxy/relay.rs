//! [`Relay`]: a process in the middle.

mod child;
mod child_requests;
mod llm;
mod ordered_answers;
mod spawn;
mod standard_streams;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::SystemTime;

use jig_proto::fsproxy::OpenMode;
use serde::Serialize;

use super::{Client, lock};
use child::ChildConnection;
pub use spawn::RelayChild;

/// Serves the children of this process as its own parent serves it, and passes on upward what they
/// ask for.
///
/// Each child has a connection of its own, and knows only the handles that it has opened itself. When
/// it ends, in whatever way, exactly these are closed upstream. When the connection to the parent
/// ends, so do those of all children.
///
/// All that the children and this process ask goes over one connection, and is answered in order: a
/// question to a language model holds up everybody's file work until it is answered. A child that does
/// not read its answers is no longer read from, and holds up nobody else.
///
/// It is cheap to clone. Children are served until they end, also after the last clone is gone.
#[derive(Debug, Clone)]
pub struct Relay {
    core: Arc<RelayCore>,
}

#[derive(Debug)]
struct RelayCore {
    upstream: Client,
    children: Mutex<BTreeMap<u64, Arc<ChildConnection>>>,
    last_id: AtomicU64,
}

/// How a child is served.
///
/// The default is closed: no standard streams, and no language model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChildOptions {
    /// What the child reads from handle 0.
    pub stdin: ChildStream,
    /// Where that goes what the child writes to handle 1.
    pub stdout: ChildStream,
    /// Where that goes what the child writes to handle 2.
    pub stderr: ChildStream,
    /// Whether the child may ask a language model and see the quota, as far as this process may.
    pub llm: bool,
}

impl ChildOptions {
    /// The standard streams are those of this process; no language model.
    pub const INHERIT: Self = Self {
        stdin: ChildStream::Inherit,
        stdout: ChildStream::Inherit,
        stderr: ChildStream::Inherit,
        llm: false,
    };
}

/// What one of the handles 0, 1 and 2 is to a child. Requests on them are never passed on upward.
///
/// Exhaustive: there is nothing else that a process in the middle could give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChildStream {
    /// The stream of the same number of this process, read and written without a buffer.
    Inherit,
    /// Nothing to be read; what is written is gone.
    Null,
    /// An open file of this process, which is read or written in the place of the stream. It must
    /// stay open as long as the child uses it.
    Handle(u64),
    /// There is no such stream: `E_PERM`.
    #[default]
    None,
}

/// A child of a relay, at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RelayClientRow {
    /// Its name in this relay, such as `c1`.
    pub id: String,
    /// The connection as the operating system names it, such as `socket:[4711]`.
    pub pipe_id: String,
    /// Its process, if the relay started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The handles that it has open.
    pub open_files: Vec<u64>,
    /// Since when it is served.
    pub connected_at: SystemTime,
}

/// An open file of a relay's child, at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RelayFileRow {
    /// The handle, which is the same here and upstream.
    pub fileno: u64,
    /// The path as the child wrote it.
    pub filename: String,
    /// How it is opened: `r`, `w`, `a` or `rw`.
    pub mode: &'static str,
    /// Whose it is.
    pub client_id: String,
    /// Since when it is open.
    pub opened_at: SystemTime,
    /// Whether the top level has opened it: never, what is below a relay is nested.
    pub is_top_level: bool,
}

impl Relay {
    /// A relay over this connection, which can go on being used for files of this process itself.
    ///
    /// # Errors
    ///
    /// If there can be no thread.
    pub fn new(upstream: Client) -> io::Result<Self> {
        let link = Arc::clone(upstream.link());
        let core = Arc::new(RelayCore {
            upstream,
            children: Mutex::default(),
            last_id: AtomicU64::new(0),
        });
        // It holds neither the client nor the relay: both can go away while it waits.
        let reader = Arc::clone(&link);
        thread::Builder::new()
            .name("proxy-upstream".to_owned())
            .spawn(move || reader.keep_reading())?;
        let weak = Arc::downgrade(&core);
        link.at_end(move || {
            if let Some(core) = weak.upgrade() {
                core.end_all();
            }
        });
        Ok(Self { core })
    }

    /// Serves one more child, and gives its end of the connection, for it to inherit.
    ///
    /// The end is to be closed here once the child has it: as long as it is open anywhere, the child
    /// has not ended. [`spawn`](Self::spawn) takes care of that.
    ///
    /// # Errors
    ///
    /// If there can be no socket or no thread.
    pub fn attach(&self, options: ChildOptions) -> io::Result<(AttachedChild, OwnedFd)> {
        let (ours, theirs) = UnixStream::pair()?;
        let number = self.core.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let connection = Arc::new(ChildConnection::new(
            number,
            ours.into(),
            options,
            self.core.upstream.clone(),
            Arc::downgrade(&self.core),
        ));
        lock(&self.core.children).insert(number, Arc::clone(&connection));
        // If the end came before it was among the others, nobody has ended it.
        if self.core.upstream.link().has_ended() {
            connection.end();
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let served = Arc::clone(&connection);
        let thread = thread::Builder::new()
            .name(format!("proxy-{}", connection.id()))
            .spawn(move || child_requests::serve(&served));
        if let Err(error) = thread {
            connection.end();
            return Err(error);
        }
        Ok((AttachedChild { connection }, theirs.into()))
    }

    /// Starts a program that finds its connection on descriptor 3, and serves it until it exits.
    ///
    /// It inherits no other descriptor from here than its standard streams, which are those of
    /// `command`. The command is consumed because it holds the program's end of the connection: if it
    /// lived on, the end of the program's side would never be seen.
    ///
    /// # Errors
    ///
    /// If it can't be started.
    pub fn spawn(&self, command: Command, options: ChildOptions) -> io::Result<RelayChild> {
        spawn::spawn(self, command, options)
    }

    /// The children that are served now.
    pub fn clients(&self) -> Vec<RelayClientRow> {
        let children = lock(&self.core.children);
        children.values().map(|child| child.row()).collect()
    }

    /// The files that children have open now.
    pub fn files(&self) -> Vec<RelayFileRow> {
        let children = lock(&self.core.children);
        children.values().flat_map(|child| child.files()).collect()
    }

    /// Ends the connections of all children; what they have open is closed.
    pub fn end(&self) {
        self.core.end_all();
    }
}

impl RelayCore {
    fn end_all(&self) {
        let children = std::mem::take(&mut *lock(&self.children));
        for child in children.into_values() {
            child.end();
        }
    }
}

/// A child that is served. Dropping this changes nothing for it.
#[derive(Debug, Clone)]
pub struct AttachedChild {
    connection: Arc<ChildConnection>,
}

impl AttachedChild {
    /// Its name in this relay, such as `c1`.
    pub fn id(&self) -> String {
        self.connection.id()
    }

    /// Ends the connection at once, as when the process has exited: what it has open is closed.
    pub fn end(&self) {
        self.connection.end();
    }

    /// Waits until the connection has ended and what it had open is being closed.
    pub fn wait(&self) {
        self.connection.wait();
    }
}

/// What a relay remembers about an open file of a child.
#[derive(Debug, Clone)]
struct RelayedFile {
    name: String,
    mode: OpenMode,
    opened_at: SystemTime,
}
