//! How fast a server may talk without having been asked.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Slows a reader down when a server sends more than anybody needs: what is not read fills the pipe, and the
/// server waits.
#[derive(Debug)]
pub(super) struct ReadThrottle {
    since: Instant,
    messages: usize,
    bytes: usize,
}

impl ReadThrottle {
    /// Nothing was sent yet.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            since: now,
            messages: 0,
            bytes: 0,
        }
    }

    /// Counts a message that nobody waited for. Returns how long not to read, if there were too many.
    pub(super) fn noise(&mut self, now: Instant, bytes: usize) -> Option<Duration> {
        let passed = now.saturating_duration_since(self.since);
        if passed >= WINDOW {
            *self = Self::new(now);
        }
        self.messages += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        let is_much = self.messages > MESSAGES || self.bytes > BYTES;
        // What one line has too much is waited for by as many windows.
        let windows = u32::try_from(1 + self.bytes / BYTES).unwrap_or(u32::MAX);
        is_much.then(|| (WINDOW * windows).saturating_sub(passed.min(WINDOW)))
    }
}

/// Lets something through every now and then.
#[derive(Debug, Default)]
pub(super) struct RateGate(Mutex<Option<Instant>>);

impl RateGate {
    /// Whether `every` has passed since this was last true.
    pub(super) fn is_time(&self, now: Instant, every: Duration) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_time = last.is_none_or(|last| now.saturating_duration_since(last) >= every);
        if is_time {
            *last = Some(now);
        }
        is_time
    }
}

/// How long is counted at once.
const WINDOW: Duration = Duration::from_millis(100);

/// How many messages in a [`WINDOW`] are read as fast as they come. Progress of all calls together is far below.
const MESSAGES: usize = 1000;

/// The same for their bytes.
const BYTES: usize = 4 << 20;

#[cfg(test)]
mod tests;
