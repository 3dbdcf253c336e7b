//! The FS Proxy: children do their file work through handles that this process owns.
//!
//! A [`Manager`] owns the handles of one tree of clients. [`Manager::connect`] makes a socket that a child process
//! inherits as descriptor 3; over it the child opens, reads, writes and closes, and asks for language models. What
//! is real is decided by the manager's broker: every open is judged as any other request, and what no rule
//! speaks of is a *virtual file*, which lives in memory as long as the manager.
//!
//! ```
//! use std::io::{Read as _, Write as _};
//! use std::os::unix::net::UnixStream;
//! # use std::sync::Arc;
//!
//! use jig_broker::{Broker, BrokerParts};
//! # use jig_files::{FilesLookup, MemoryFiles, ProjectFiles};
//! # use jig_policy::{DeclaredAccess, DefaultAccess, Guards, Policy, Workspace};
//! use jig_proto::fsproxy::{OpenMode, Op, OpenParams, read_response, write_request};
//! use jig_runtime::fsproxy::{ClientOptions, ClientEnd, Manager, ManagerOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let files: Arc<dyn ProjectFiles> = Arc::new(MemoryFiles::new());
//! # let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(&files)));
//! # let access = DefaultAccess::READ_ONLY;
//! # let policy = Policy::compile(&DeclaredAccess::default(), access, &Guards::default(), &workspace)?;
//! # let broker = Broker::new(BrokerParts::new("shell", "c1", files, Arc::new(policy)));
//! let manager = Manager::new(broker, ManagerOptions::default());
//! let (client, socket) = manager.connect(ClientOptions::default())?;
//!
//! // A child would have the socket as descriptor 3.
//! let mut socket = UnixStream::from(socket);
//! let open = Op::Open(OpenParams { path: "notes.txt".into(), mode: OpenMode::Write, is_top_level: None });
//! let mut request = Vec::new();
//! write_request(&mut request, "1", &open);
//! socket.write_all(&request)?;
//! let mut length = [0; 4];
//! socket.read_exact(&mut length)?;
//! let mut answer = vec![0; u32::from_be_bytes(length) as usize];
//! socket.read_exact(&mut answer)?;
//! assert_eq!(read_response(&answer)?.result?.handle()?, 3);
//! assert!(manager.files()[0].is_virtual);
//!
//! // A child that goes leaves nothing behind.
//! drop(socket);
//! assert_eq!(client.wait(), ClientEnd::Eof);
//! assert!(manager.files().is_empty() && manager.clients().is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! A client's end is noticed by the end of its stream, by [`ProxyClient::end`] when its process has exited, and by the
//! manager's own end. All lead to one cleanup, which happens once: its handles are closed and its record is
//! removed. What it has written stays.
//!
//! Handles 0..2 are the standard streams. A client that was given [`ParentStreams`] reads and writes those of its
//! parent; for any other they are refused.

mod client;
mod client_socket;
mod connection;
mod departure_watch;
mod handles;
mod list;
mod llm;
mod manager;
mod names;
mod open;
mod options;
mod refusal;
mod streams;
mod table_rows;
mod text_variant;
mod virtual_files;

pub use client::{ClientEnd, ProxyClient};
pub use manager::Manager;
pub use names::ClientPaths;
pub use options::{Advice, ClientOptions, ManagerOptions, ParentStreams};
pub use streams::ParentStream;
pub use table_rows::{ClientRow, FileRow};
