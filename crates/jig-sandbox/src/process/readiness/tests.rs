use super::*;

#[test]
fn places_are_bits() {
    let ready = ReadyInterests(1 | 1 << 63);
    assert!(ready.contains(0) && ready.contains(63));
    assert!(!ready.contains(1) && !ready.contains(64));
    assert!(!ready.is_empty() && ReadyInterests(0).is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn too_many_interests_are_refused() {
    let waker = Waker::new().unwrap();
    waker.wake();
    let mut interests = vec![Interest::Woken(&waker); ReadyInterests::MOST];
    assert_eq!(poll(&interests, None).unwrap(), ReadyInterests(u64::MAX));
    interests.push(Interest::Woken(&waker));
    let error = poll(&interests, None).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_to_wait_for_is_a_pause() {
    let start = std::time::Instant::now();
    let limit = Duration::from_millis(20);
    assert!(poll(&[], Some(limit)).unwrap().is_empty());
    assert!(start.elapsed() >= limit);
}

/// Both ends of a pipe: the closing of one is readiness of the other.
#[cfg(target_os = "linux")]
#[test]
fn a_partner_that_is_gone_does_not_block() {
    use std::os::fd::AsFd;
    let (reader, writer) = io::pipe().unwrap();
    let look = |interest| !poll(&[interest], Some(Duration::ZERO)).unwrap().is_empty();
    assert!(!look(Interest::Readable(reader.as_fd())));
    drop(writer);
    assert!(look(Interest::Readable(reader.as_fd())));
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    assert!(look(Interest::Writable(writer.as_fd())));
}
