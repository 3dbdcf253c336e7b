//! [`Leftover`]: what was found of a handle whose jig was killed.

use std::time::Duration;

/// A handle that was live when the jig that had it was killed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leftover {
    /// The id of the handle, which means nothing any more.
    pub id: String,
    /// Its tool.
    pub tool: String,
    /// How long ago it was started.
    pub age: Duration,
    /// Whether some process of it was still running.
    pub was_alive: bool,
    /// Whether none is running now.
    pub has_ended: bool,
}
