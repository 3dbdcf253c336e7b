//! When there is too much.

use std::time::{Duration, Instant};

use super::{RateGate, ReadThrottle};

#[test]
fn a_server_may_say_much_but_not_without_end() {
    let start = Instant::now();
    let mut pace = ReadThrottle::new(start);
    for _ in 0..1000 {
        assert_eq!(pace.noise(start, 100), None);
    }
    let later = start + Duration::from_millis(30);
    assert_eq!(pace.noise(later, 100), Some(Duration::from_millis(70)));
    let next = start + Duration::from_millis(101);
    assert_eq!(pace.noise(next, 100), None);
}

#[test]
fn long_messages_count_by_their_length() {
    let start = Instant::now();
    let mut pace = ReadThrottle::new(start);
    assert_eq!(pace.noise(start, 1 << 20), None);
    let wait = pace.noise(start, 15 << 20).expect("too much");
    assert!(wait >= Duration::from_millis(400), "{wait:?}");
    assert!(pace.noise(start, usize::MAX).is_some());
}

#[test]
fn seldom_is_seldom() {
    let start = Instant::now();
    let seldom = RateGate::default();
    let every = Duration::from_millis(100);
    let at = |millis| seldom.is_time(start + Duration::from_millis(millis), every);
    assert_eq!(
        [at(0), at(1), at(99), at(100), at(150), at(201)],
        [true, false, false, true, false, true]
    );
}
