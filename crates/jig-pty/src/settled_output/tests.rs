use super::*;

/// What happens at a time in milliseconds.
enum Event {
    Seq(u64),
    Exit,
}
use Event::{Exit, Seq};

#[test]
fn output_settles() {
    let check = |events: &[(u64, Event)], settled_at: u64| {
        let start = Instant::now();
        let mut settle = Settle::default();
        settle.begin(start, 10);
        let mut events = events.iter().peekable();
        let found = (0..10_000).find(|millis| {
            let now = start + Duration::from_millis(*millis);
            while let Some((_, event)) = events.next_if(|(at, _)| at <= millis) {
                match event {
                    Seq(seq) => settle.observe(now, *seq),
                    Exit => settle.exited(),
                }
            }
            let remaining = settle.deadline(now);
            assert_eq!(remaining.is_zero(), settle.is_settled(now));
            settle.is_settled(now)
        });
        assert_eq!(found, Some(settled_at));
    };
    // Nothing at all.
    check(&[], 700);
    check(&[(5, Seq(10)), (600, Seq(10))], 700);
    // One change, then quiet.
    check(&[(0, Seq(11))], 120);
    check(&[(50, Seq(11))], 170);
    check(&[(699, Seq(11))], 819);
    check(&[(50, Seq(11)), (100, Seq(11))], 170);
    // A burst with short gaps.
    check(&[(50, Seq(11)), (150, Seq(12)), (260, Seq(13))], 380);
    // A gap that is too long: what comes later is for the next time.
    check(&[(50, Seq(11)), (171, Seq(12))], 170);
    // The end.
    check(&[(30, Exit)], 30);
    check(&[(30, Seq(11)), (60, Exit)], 60);
    // A program that never stops printing.
    let endless: Vec<_> = (0..1_000).map(|step| (step * 10, Seq(11 + step))).collect();
    check(&endless, 5_000);
}

#[test]
fn the_first_observation_begins() {
    let now = Instant::now();
    let mut settle = Settle::default();
    assert!(!settle.is_settled(now));
    settle.observe(now, 7);
    assert_eq!(settle.deadline(now), settle.silence);
    settle.observe(now, 8);
    assert_eq!(settle.deadline(now), settle.quiet);
    settle.begin(now, 8);
    assert_eq!(settle.deadline(now), settle.silence);
}
