//! What a manager and its clients are told when they are made.

use std::io;
use std::os::fd::AsFd;

use super::names::ClientPaths;
use super::streams::ParentStream;
use jig_proto::fsproxy::{MAX_FRAME, MAX_READ};

/// How a [`Manager`](super::Manager) serves its clients. Every limit is one that a client could otherwise
/// use to fill the memory or the descriptors of the host; one that is reached is `E_RANGE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagerOptions {
    /// Read at most [`max_read`](Self::max_read) bytes where a client asks for more, instead of refusing it.
    /// Default: off.
    pub lenient: bool,
    /// The longest message, in bytes. Default: 1 MiB. A longer one ends the connection.
    pub max_frame: usize,
    /// The most bytes of one `read` (F-025). Default: 4096.
    pub max_read: usize,
    /// Serve clients that speak the text protocol too; they are told apart by their first byte. Default: on.
    pub legacy: bool,
    /// Close the handles of a client that is gone and forget it (F-089). Default: on. When it is off, both
    /// stay in the tables until the manager ends, for whoever wants to see what a client left behind.
    pub auto_cleanup: bool,
    /// How paths of clients become paths of the workspace.
    pub names: ClientPaths,
    /// What a refused client is told to add. Default: the rule that would allow it.
    pub advice: Option<Advice>,
    /// The most handles that one client has open. Default: 1024.
    pub client_handles: usize,
    /// The most handles that all clients have open. Default: 16,384.
    pub tree_handles: usize,
    /// The most clients at a time. Default: 4096.
    pub clients: usize,
    /// The most content of all virtual files, in bytes. Default: 256 MiB.
    pub virtual_bytes: u64,
    /// The most virtual files. Default: 4096.
    pub virtual_files: usize,
    /// The longest path that a client may write, in bytes. Default: 4096.
    pub path_bytes: usize,
}

impl Default for ManagerOptions {
    fn default() -> Self {
        Self {
            lenient: false,
            max_frame: MAX_FRAME,
            max_read: MAX_READ,
            legacy: true,
            auto_cleanup: true,
            names: ClientPaths::default(),
            advice: None,
            client_handles: 1024,
            tree_handles: 16 * 1024,
            clients: 4096,
            virtual_bytes: 256 * 1024 * 1024,
            virtual_files: 4096,
            path_bytes: 4096,
        }
    }
}

/// What a refused client is told to add where rules are not written by hand: these words and the path, such as
/// `-o notes.txt`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// What comes before a path that may not be read.
    pub read: String,
    /// What comes before a path that may not be written.
    pub write: String,
}

/// What one client is and has.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// Whether what it asks for is the work of the top level. If not, nothing that it says makes it so.
    /// Default: yes.
    pub top_level: bool,
    /// Whether it may have language models called and may ask about their quota (F-096). Default: no.
    pub llm: bool,
    /// What its handles 0..2 mean. Default: nothing.
    pub streams: ParentStreams,
    /// The process at the other end, where it is known already; for the table of clients.
    pub pid: Option<u32>,
    /// What it is, in a few words; for the table of clients.
    pub label: String,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            top_level: true,
            llm: false,
            streams: ParentStreams::default(),
            pid: None,
            label: String::new(),
        }
    }
}

/// The streams of the parent that a client reaches as handles 0..2 (F-012). One that is missing is `E_PERM`.
#[derive(Debug, Clone, Default)]
pub struct ParentStreams {
    /// What handle 0 reads.
    pub stdin: Option<ParentStream>,
    /// Where handle 1 writes.
    pub stdout: Option<ParentStream>,
    /// Where handle 2 writes.
    pub stderr: Option<ParentStream>,
}

impl ParentStreams {
    /// The standard streams of this process, as descriptors of their own.
    pub fn inherited() -> io::Result<Self> {
        let copy = |stream: &dyn AsFd| stream.as_fd().try_clone_to_owned().map(ParentStream::new);
        Ok(Self {
            stdin: Some(copy(&io::stdin())?),
            stdout: Some(copy(&io::stdout())?),
            stderr: Some(copy(&io::stderr())?),
        })
    }
}
