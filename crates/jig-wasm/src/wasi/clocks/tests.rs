use super::*;

#[test]
fn the_clock_goes_on_and_can_be_counted_back_from() {
    let first = shown(Instant::now());
    let second = shown(Instant::now());
    assert!(first <= second);
    assert!(Duration::from_nanos(first) >= AGE);
}

#[test]
fn a_moment_of_the_clock_is_found_again() {
    let moment = Instant::now().max(base());
    match at(shown(moment)) {
        Pollable::At(found) => assert_eq!(found, moment),
        other => panic!("{other:?}"),
    }
    assert!(matches!(at(0), Pollable::Ready));
    // Some hundred years from now: a clock can show that, or not, and nothing overflows.
    assert!(matches!(at(u64::MAX), Pollable::At(_) | Pollable::Never));
}

#[test]
fn any_duration_can_be_waited_for() {
    let now = Instant::now();
    assert!(matches!(after(now, 0), Pollable::Ready));
    match after(now, 5) {
        Pollable::At(then) => assert_eq!(then, now + Duration::from_nanos(5)),
        other => panic!("{other:?}"),
    }
    assert!(matches!(
        after(now, u64::MAX),
        Pollable::At(_) | Pollable::Never
    ));
}

#[test]
fn times_are_counted_from_1970() {
    let check = |time: SystemTime, seconds: u64, nanoseconds: u32| {
        let shown = datetime(time);
        assert_eq!((shown.seconds, shown.nanoseconds), (seconds, nanoseconds));
    };
    check(SystemTime::UNIX_EPOCH, 0, 0);
    check(SystemTime::UNIX_EPOCH + Duration::new(86_400, 7), 86_400, 7);
    check(SystemTime::UNIX_EPOCH - Duration::from_secs(1), 0, 0);
}
