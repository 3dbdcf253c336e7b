//! The rows of the two tables: what is open, and who is connected.

use serde::Serialize;

/// One open handle, with the names that the protocol's documents give its fields (F-085).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileRow {
    /// The number of the handle.
    pub fileno: u64,
    /// The path, relative to the workspace or, if it is only a name, as it was given.
    pub filename: String,
    /// How it was opened, such as `rw`.
    pub mode: String,
    /// The client that has it.
    pub client_id: String,
    /// When it was opened, in RFC 3339.
    pub opened_at: String,
    /// Whether the top level has opened it.
    pub is_top_level: bool,
    /// Whether the file exists only for these clients.
    #[serde(rename = "virtual")]
    pub is_virtual: bool,
}

/// One client, with the names that the protocol's documents give its fields (F-086).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClientRow {
    /// `c1`, `c2`, …
    pub id: String,
    /// The connection as the operating system names it, such as `socket:[4711]`.
    pub pipe_id: String,
    /// The numbers of its open handles, in order.
    pub open_files: Vec<u64>,
    /// When it was connected, in RFC 3339.
    pub connected_at: String,
    /// The process at the other end, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// What it is, in the words of whoever connected it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// How many requests it has made.
    pub requests: u64,
    /// How many bytes it has read.
    pub bytes_read: u64,
    /// How many bytes it has written.
    pub bytes_written: u64,
}
