//! [`TreeUsage`]: what a tree of processes uses.

use std::time::Duration;

use serde::Serialize;

/// What a tree of processes uses, its keeper left out. Every number is as good as the system tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct TreeUsage {
    /// The processor time that it has used so far, that of processes which have ended included.
    pub cpu: Duration,
    /// The memory that its processes hold, in bytes. What several of them share counts for each.
    pub memory: u64,
    /// How many processes and threads it has.
    pub tasks: u64,
}
