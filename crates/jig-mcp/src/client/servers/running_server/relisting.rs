//! [`ToolListTimes`]: when a server that says that its tools have changed is asked for them.

use std::time::{Duration, Instant};

/// When a server was last asked for its tools, and how long it is not asked again.
///
/// One that says without end that they have changed would be asked without end, and each list is compared, written
/// down and told to clients.
#[derive(Debug, Default)]
pub(super) struct ToolListTimes {
    last: Option<Instant>,
    pause: Duration,
}

impl ToolListTimes {
    /// Notes that it has just been asked. Returns how long it is not to be asked again: longer each time while it
    /// goes on saying so.
    pub(super) fn listed(&mut self, now: Instant) -> Duration {
        let since = self.last.map(|last| now.saturating_duration_since(last));
        // It is asked after the pause at the earliest. One that was quiet for as long again has come to rest.
        let goes_on = since.is_some_and(|since| since < self.pause * 2);
        self.pause = match goes_on {
            true => (self.pause * 2).min(LONGEST),
            false => FIRST,
        };
        self.last = Some(now);
        self.pause
    }
}

/// The pause after the first list.
const FIRST: Duration = Duration::from_secs(1);

/// The longest pause.
const LONGEST: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests;
