//! What can be said about handles at a glance.

use std::time::{Duration, SystemTime};

use jig_proto::{HandleId, StateName};
use jig_sandbox::TreeUsage;

/// How many handles there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HandleCounts {
    /// Those that have not stopped, with those that are being started.
    pub live: usize,
    /// Those that have stopped and have something left to tell.
    pub stopped: usize,
}

/// What can be said about a handle at a glance.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HandleInfo {
    /// The handle.
    pub id: HandleId,
    /// Its tool.
    pub tool: String,
    /// Where the tool stands.
    pub status: StateName,
    /// What it asks, while it waits.
    pub question: Option<String>,
    /// When it was started.
    pub started: SystemTime,
    /// How long ago that is.
    pub age: Duration,
    /// What its processes use; `None` if there are none.
    pub usage: Option<TreeUsage>,
    /// The root of its processes; `None` if there are none.
    pub pid: Option<u32>,
    /// Whether it runs on a terminal.
    pub terminal: bool,
}
