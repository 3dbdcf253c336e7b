//! [`Settle`]: when has a program finished printing for now?

use std::time::{Duration, Instant};

/// Decides when the output of a program has settled, so that it can be shown.
///
/// A program that answers prints in bursts with short gaps. It has settled when something changed and
/// nothing more came for [`quiet`](Self::quiet); when nothing came at all for
/// [`silence`](Self::silence); when it ended; and in any case after [`limit`](Self::limit), because
/// some programs never stop printing. There is no clock in here: whoever waits says what time it is.
///
/// ```
/// use std::time::{Duration, Instant};
/// use jig_pty::Settle;
///
/// let start = Instant::now();
/// let after = |millis| start + Duration::from_millis(millis);
/// let mut settle = Settle::default();
/// settle.begin(start, 0);
/// settle.observe(after(50), 1);
/// assert!(!settle.is_settled(after(100)));
/// assert_eq!(settle.deadline(after(100)), Duration::from_millis(70));
/// assert!(settle.is_settled(after(170)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settle {
    /// How long nothing may come after a change.
    pub quiet: Duration,
    /// How long the first change is waited for.
    pub silence: Duration,
    /// How long it takes at most.
    pub limit: Duration,
    began: Option<Instant>,
    seen: u64,
    changed: Option<Instant>,
    has_ended: bool,
}

impl Settle {
    /// Starts over at `now`: what is new is what comes after position `seq`.
    pub fn begin(&mut self, now: Instant, seq: u64) {
        self.began = Some(now);
        self.seen = seq;
        self.changed = None;
        self.has_ended = false;
    }

    /// Tells that the output stands at position `seq` now. The first time, if
    /// [`begin`](Self::begin) was not called, it begins here.
    pub fn observe(&mut self, now: Instant, seq: u64) {
        if self.began.is_none() {
            self.begin(now, seq);
        } else if seq != self.seen {
            self.seen = seq;
            self.changed = Some(now);
        }
    }

    /// Tells that the program has ended, or asks a question: there is nothing to wait for.
    pub fn exited(&mut self) {
        self.has_ended = true;
    }

    /// How long from `now` until it has settled, if nothing else comes. Zero if it has.
    pub fn deadline(&self, now: Instant) -> Duration {
        if self.has_ended {
            return Duration::ZERO;
        }
        let began = self.began.unwrap_or(now);
        let still = match self.changed {
            Some(changed) => changed + self.quiet,
            None => began + self.silence,
        };
        still.min(began + self.limit).saturating_duration_since(now)
    }

    /// Whether the output has settled.
    pub fn is_settled(&self, now: Instant) -> bool {
        self.deadline(now).is_zero()
    }
}

/// 120 ms after a change, 700 ms without any, 5 s in any case.
impl Default for Settle {
    fn default() -> Self {
        Self {
            quiet: Duration::from_millis(120),
            silence: Duration::from_millis(700),
            limit: Duration::from_secs(5),
            began: None,
            seen: 0,
            changed: None,
            has_ended: false,
        }
    }
}

#[cfg(test)]
mod tests;
