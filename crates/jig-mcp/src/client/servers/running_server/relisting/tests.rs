use std::time::{Duration, Instant};

use super::ToolListTimes;

/// Each list comes so many seconds after the one before, and is followed by a pause of so many.
fn check(lists: &[(u64, u64)]) {
    let mut now = Instant::now();
    let mut kept = ToolListTimes::default();
    for (number, &(after, pause)) in lists.iter().enumerate() {
        now += Duration::from_secs(after);
        let paused = kept.listed(now);
        assert_eq!(paused, Duration::from_secs(pause), "number {number}");
    }
}

#[test]
fn one_that_goes_on_changing_is_asked_less_and_less_often() {
    check(&[
        (0, 1),
        (1, 2),
        (2, 4),
        (4, 8),
        (8, 16),
        (16, 32),
        (32, 60),
        (60, 60),
        (61, 60),
    ]);
}

#[test]
fn one_that_came_to_rest_is_asked_at_once_again() {
    check(&[(0, 1), (1, 2), (3, 4), (8, 1), (1, 2), (3600, 1)]);
}
