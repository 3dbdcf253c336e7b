//! [`Backoff`]: when a server that failed may be started again.

use std::time::{Duration, Instant};

/// How often a server has failed of late, and when it may be tried again.
///
/// Without it a server that dies at its start would be started as often as it is called, and an agent calls
/// again and again.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    failures: u32,
    due: Option<Instant>,
}

impl Backoff {
    /// Notes that the server failed after it had lived for so long; zero if it never came up.
    pub(crate) fn failed(&mut self, lived: Duration, now: Instant) {
        if lived >= FORGIVEN {
            self.failures = 0;
        }
        // More doublings than these change nothing.
        let doublings = self.failures.min(16);
        let delay = FIRST.saturating_mul(1 << doublings).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        self.due = now.checked_add(delay);
    }

    /// How long it must not be started yet.
    pub(crate) fn left(&self, now: Instant) -> Duration {
        self.due
            .map_or(Duration::ZERO, |due| due.saturating_duration_since(now))
    }
}

/// The pause after the first failure. Each further one doubles it.
const FIRST: Duration = Duration::from_millis(500);

/// The longest pause.
const LONGEST: Duration = Duration::from_secs(60);

/// A server that lived so long works; its next failure is a first one.
const FORGIVEN: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests;
