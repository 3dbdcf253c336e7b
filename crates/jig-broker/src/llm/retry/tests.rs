//! How long, and whether at all.

use std::thread;
use std::time::{Duration, Instant};

use jiff::{Timestamp, ToSpan as _};

use super::{backoff, pause, told_wait};
use crate::cancel::CancelToken;

#[test]
fn a_provider_says_how_long_to_wait() {
    let check = |milliseconds, retry_after, expected: Option<f64>| {
        let got = told_wait(milliseconds, retry_after);
        assert_eq!(got, expected.map(Duration::from_secs_f64));
    };
    check(None, None, None);
    check(None, Some("2"), Some(2.0));
    check(None, Some(" 0.5 "), Some(0.5));
    check(None, Some("0"), Some(0.0));
    check(Some("1500"), Some("9"), Some(1.5));
    check(Some("soon"), Some("9"), Some(9.0));
    for nonsense in ["-1", "NaN", "inf", "1e300", "soon", "", "Sun, 99 Nov 1994"] {
        check(None, Some(nonsense), None);
    }
    // A date that is over means at once.
    check(None, Some("Sun, 06 Nov 1994 08:49:37 GMT"), Some(0.0));
    let later = Timestamp::now() + 100.seconds();
    let later = jiff::fmt::rfc2822::DateTimePrinter::new()
        .timestamp_to_rfc9110_string(&later)
        .unwrap();
    let wait = told_wait(None, Some(&later)).unwrap();
    assert!(
        wait > Duration::from_secs(60) && wait <= Duration::from_secs(100),
        "{wait:?}"
    );
}

#[test]
fn waits_grow_and_end() {
    let first = Duration::from_millis(300);
    let check = |failed, whole: u64| {
        for _ in 0..50 {
            let wait = backoff(first, failed);
            let whole = Duration::from_millis(whole);
            assert!(wait <= whole && wait >= whole * 2 / 3, "{failed}: {wait:?}");
        }
    };
    check(0, 300);
    check(1, 600);
    check(2, 1200);
    check(10, 8000);
    check(u32::MAX, 8000);
    assert_eq!(backoff(Duration::ZERO, 5), Duration::ZERO);
    // They differ, or calls that failed together would come back together.
    let waits: std::collections::BTreeSet<Duration> = (0..50).map(|_| backoff(first, 0)).collect();
    assert!(waits.len() > 10, "{waits:?}");
}

#[test]
fn a_wait_ends_when_the_call_is_given_up() {
    assert!(pause(Duration::from_millis(1), &CancelToken::new()));
    let cancel = CancelToken::new();
    let cancelling = cancel.clone();
    let start = Instant::now();
    let waiting = thread::spawn(move || pause(Duration::from_secs(600), &cancel));
    cancelling.cancel();
    assert!(!waiting.join().unwrap());
    assert!(start.elapsed() < Duration::from_secs(60));
    assert!(!pause(Duration::ZERO, &cancelling));
}
