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
    assert!(awake.is_worth_it(now + after(199)));
    assert!(!awake.is_worth_it(now + LONGEST));
}

/// After a few waits that were too long nothing is spent any more, until one was short.
#[test]
fn waits_that_are_too_long_are_slept_through() {
    let mut now = Instant::now();
    let awake = Awake::new(now);
    let long = LONGEST * 100;
    // A client that asks now and then, and a server that answers at once.
    for round in 0..10 {
        now += long;
        awake.stir(Side::Client, now);
        assert!(awake.is_worth_it(now), "a quick server, in round {round}");
        now += after(50);
        awake.stir(Side::Server, now);
        assert_eq!(
            awake.is_worth_it(now + after(1)),
            round + 1 < MISSES,
            "{round}"
        );
    }
    now += after(100);
    awake.stir(Side::Client, now);
    now += after(50);
    awake.stir(Side::Server, now);
    assert!(awake.is_worth_it(now + after(1)), "it asked soon");
}
