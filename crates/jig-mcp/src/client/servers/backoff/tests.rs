use std::time::{Duration, Instant};

use super::Backoff;

/// After servers that lived for these seconds, one after the other, the pauses are these, in milliseconds.
fn check(lives: &[u64], pauses: &[u128]) {
    let now = Instant::now();
    let mut backoff = Backoff::default();
    assert_eq!(backoff.left(now), Duration::ZERO);
    let left = lives.iter().map(|&seconds| {
        backoff.failed(Duration::from_secs(seconds), now);
        backoff.left(now).as_millis()
    });
    assert_eq!(left.collect::<Vec<_>>(), pauses, "{lives:?}");
}

#[test]
fn pauses_double_up_to_a_minute() {
    check(
        &[0; 10],
        &[
            500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000,
        ],
    );
}

#[test]
fn a_minute_of_life_is_forgiven() {
    check(&[0, 0, 59, 60, 0], &[500, 1000, 2000, 500, 1000]);
}

#[test]
fn a_pause_ends() {
    let now = Instant::now();
    let mut backoff = Backoff::default();
    backoff.failed(Duration::ZERO, now);
    let later = now + Duration::from_millis(400);
    assert_eq!(backoff.left(later), Duration::from_millis(100));
    assert_eq!(backoff.left(now + Duration::from_secs(1)), Duration::ZERO);
}

#[test]
fn failing_for_ever_overflows_nothing() {
    let now = Instant::now();
    let mut backoff = Backoff::default();
    for _ in 0..100_000 {
        backoff.failed(Duration::ZERO, now);
    }
    assert_eq!(backoff.left(now), Duration::from_secs(60));
}
