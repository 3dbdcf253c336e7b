//! [`BorrowedThread`]: the thread on which a tool has begun, if that is its caller's.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::plan::LentThread;

/// The thread on which a tool has begun.
#[derive(Debug)]
pub(crate) struct BorrowedThread {
    thread: Arc<dyn LentThread>,
    since: Instant,
}

impl BorrowedThread {
    /// From now on.
    pub(crate) fn new(thread: Arc<dyn LentThread>) -> Self {
        Self {
            thread,
            since: Instant::now(),
        }
    }

    /// Whether the tool has used the thread for so long that others wait for it.
    pub(crate) fn is_overdue(&self) -> bool {
        self.since.elapsed() > LONGEST_USE
    }
}

/// Waits, with the thread given back if it is a lent one.
pub(crate) fn wait<T>(lent: Option<&BorrowedThread>, mut wait: impl FnMut() -> T) -> T {
    let mut waited = None;
    if let Some(lent) = lent {
        lent.thread.wait(&mut || waited = Some(wait()));
    }
    waited.unwrap_or_else(wait)
}

/// How long a tool may use a lent thread before every request gives it back: many that are quick take long together.
const LONGEST_USE: Duration = Duration::from_millis(5);
