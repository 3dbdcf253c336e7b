use super::*;

fn after(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

/// It stays awake for a while after a message, and not longer.
#[test]
fn a_message_is_worth_a_moment() {
    let now = Instant::now();
    let awake = Awake::new(now);
    assert!(!awake.is_worth_it(now));
    awake.stir(Side::Client, now);
    assert!(!awake.is_worth_it(now), "nothing was quick yet");
    awake.stir(Side::Server, now + after(50));
    awake.stir(Side::Client, now + after(100));
    assert!(awake.is_worth_it(now + after(100)));
    assert!(awake.is_worth_it(now + after(99) + LONGEST));
    assert!(!awake.is_worth_it(now + after(100) + LONGEST));
}

/// A client that asks now and then, of a server that answers at once: only the answer is waited for.
#[test]
fn waits_that_are_too_long_are_slept_through() {
    let mut now = Instant::now();
    let awake = Awake::new(now);
    for round in 0..10 {
        now += LONGEST * 100;
        awake.stir(Side::Client, now);
        assert_eq!(awake.is_worth_it(now), round > 0, "{round}");
        now += after(50);
        awake.stir(Side::Server, now);
        assert!(!awake.is_worth_it(now), "{round}");
    }
}

/// What a short wait has earned is spent by those that are too long.
#[test]
fn what_was_earned_is_spent() {
    let mut now = Instant::now();
    let awake = Awake::new(now);
    let mut round = |pause: Duration| {
        now += pause;
        awake.stir(Side::Client, now);
        now += after(50);
        awake.stir(Side::Server, now);
        awake.is_worth_it(now)
    };
    assert!(!round(LONGEST * 2));
    for _ in 0..3 {
        assert!(round(after(100)));
        for _ in 1..EARNED {
            assert!(round(LONGEST * 2));
        }
        assert!(!round(LONGEST * 2));
        assert!(!round(LONGEST * 2));
    }
}
