//! When a call is tried again.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::mpsc;
use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

use crate::cancel::CancelToken;

/// How long a provider wants us to wait: the value of `retry-after-ms`, or that of `Retry-After`, which is a
/// number of seconds or a date.
pub(super) fn told_wait(milliseconds: Option<&str>, retry_after: Option<&str>) -> Option<Duration> {
    let number = |text: Option<&str>| text?.trim().parse::<f64>().ok();
    if let Some(milliseconds) = number(milliseconds) {
        return Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    }
    if let Some(seconds) = number(retry_after) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = DateTimeParser::new().parse_timestamp(retry_after?).ok()?;
    let wait = date.duration_since(Timestamp::now());
    Some(wait.try_into().unwrap_or(Duration::ZERO))
}

/// How long to wait before the attempt after the `failed`-th (counted from 0): `first`, doubled each time, of
/// which up to a third is left to chance, so that calls which failed together do not come back together.
pub(super) fn backoff(first: Duration, failed: u32) -> Duration {
    let doubled = first.saturating_mul(2_u32.saturating_pow(failed.min(16)));
    let whole = doubled.min(MAX_BACKOFF);
    // A hasher of the standard library has random keys: randomness enough for this.
    let chance = RandomState::new().build_hasher().finish() % 1000;
    whole.mul_f64(1.0 - chance as f64 / 3000.0)
}

/// Waits. `false` if the call was given up meanwhile.
pub(super) fn pause(time: Duration, cancel: &CancelToken) -> bool {
    let (giving_up, given_up) = mpsc::channel();
    let _hook = cancel.on_cancel(move || {
        let _ = giving_up.send(());
    });
    // The hook keeps the channel open: only the time or the call ends this.
    given_up.recv_timeout(time).is_err() && !cancel.is_cancelled()
}

/// The longest wait that a provider is granted; with more, the call ends instead.
pub(super) const MAX_TOLD_WAIT: Duration = Duration::from_secs(60);

/// The longest wait of our own choice.
const MAX_BACKOFF: Duration = Duration::from_secs(8);

#[cfg(test)]
mod tests;
