//! What is chosen about handles: [`HandleLimits`] for all of them, [`HandleOptions`] for each.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many handles there may be, and how much is shown of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandleLimits {
    /// The most handles whose tools run. An assistant in a loop could start tools without end.
    pub live: usize,
    /// The most handles whose tools have stopped and that nobody has fetched. The first to stop is the
    /// first to be dropped.
    pub kept: usize,
    /// The most bytes that these hold together, in output and results. If they hold more, the first to stop
    /// is dropped; the last to stop never is. A result can have megabytes.
    pub kept_bytes: usize,
    /// The most bytes of output in a report, unless a fetch says otherwise.
    pub max_bytes: usize,
}

/// 4096 running, 256 that nobody fetched with 64 MiB together, 16 KiB of output.
impl Default for HandleLimits {
    fn default() -> Self {
        Self {
            live: 4096,
            kept: 256,
            kept_bytes: 64 * 1024 * 1024,
            max_bytes: 16 * 1024,
        }
    }
}

/// How a handle behaves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HandleOptions {
    /// Of what its caller is told unasked.
    pub notices: NoticeOptions,
}

/// Of what a caller is told unasked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoticeOptions {
    /// That the tool has stopped.
    pub stopped: bool,
    /// That the tool waits for an answer.
    pub waiting: bool,
}

/// Of both.
impl Default for NoticeOptions {
    fn default() -> Self {
        Self {
            stopped: true,
            waiting: true,
        }
    }
}

/// Of the end, and of questions.
impl From<(bool, bool)> for NoticeOptions {
    fn from((stopped, waiting): (bool, bool)) -> Self {
        Self { stopped, waiting }
    }
}

/// The count of the ids `h_1`, `h_2`, … that were made. Turns that share one never make the same id (S-061).
#[derive(Debug, Clone, Default)]
pub struct HandleNumbers(Arc<AtomicU64>);

impl HandleNumbers {
    /// The next number; the first is 1.
    pub(super) fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}
