use super::*;

#[test]
fn a_wake_up_lasts_until_it_is_cleared() {
    let wake = Wake::new().unwrap();
    let ready = |wake: &Wake| {
        poll(
            &[(wake.descriptor(), Direction::Read)],
            Some(Duration::ZERO),
        )
        .unwrap()
    };
    assert_eq!(ready(&wake), 0);
    assert!(!wake.clear());
    for _ in 0..100_000 {
        wake.clone().wake();
    }
    assert_eq!((ready(&wake), ready(&wake)), (1, 1));
    assert!(wake.clear());
    assert_eq!(ready(&wake), 0);
}

#[test]
fn it_waits_for_both_directions_and_for_the_time() {
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    let both = [
        (reader.as_fd(), Direction::Read),
        (writer.as_fd(), Direction::Write),
    ];
    assert_eq!(poll(&both, None).unwrap(), 2);
    rustix::io::write(&writer, b"x").unwrap();
    assert_eq!(poll(&both, None).unwrap(), 3);
    let start = Instant::now();
    let (quiet, _other) = rustix::pipe::pipe().unwrap();
    let limit = Duration::from_millis(20);
    assert_eq!(
        poll(&[(quiet.as_fd(), Direction::Read)], Some(limit)).unwrap(),
        0
    );
    assert!(start.elapsed() >= limit);
}
