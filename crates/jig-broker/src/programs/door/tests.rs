use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use jig_sandbox::Waker;

use super::call::{DoorCall, DoorCallError, MOST_BYTES, parse};

#[test]
fn words_are_taken_apart_or_refused() {
    let check = |body: &[u8], expected: Result<(&str, &str, &[&str]), &str>| {
        let parsed = parse(body);
        let shown = String::from_utf8_lossy(body);
        match (parsed, expected) {
            (Ok((cwd, program, args)), Ok(expected)) => {
                let args: Vec<&str> = args.iter().map(String::as_str).collect();
                let found = (cwd.to_str().unwrap(), program.as_str(), &args[..]);
                assert_eq!(found, expected, "{shown}");
            }
            (Err(error), Err(expected)) => assert!(error.contains(expected), "{shown}: {error}"),
            (parsed, _) => panic!("{shown}: {parsed:?}"),
        }
    };
    check(b"/w\0cargo\0", Ok(("/w", "cargo", &[])));
    check(b"/w\0cargo\0build\0\0", Ok(("/w", "cargo", &["build", ""])));
    check("/w\0ä\0ö ü\0".as_bytes(), Ok(("/w", "ä", &["ö ü"])));
    check(b"", Err("does not end"));
    check(b"/w\0cargo", Err("does not end"));
    check(b"/w\0", Err("names no program"));
    check(b"w\0cargo\0", Err("working directory"));
    check(b"\0cargo\0", Err("working directory"));
    check(b"/w/../x\0cargo\0", Err("working directory"));
    check(b"/w\0\0", Err("without slashes"));
    check(b"/w\0.\0", Err("without slashes"));
    check(b"/w\0..\0", Err("without slashes"));
    check(b"/w\0../cargo\0", Err("without slashes"));
    check(b"/w\0/bin/cargo\0", Err("without slashes"));
    check(b"/w\0c\xff\0", Err("name of the program is not UTF-8"));
    check(b"/w\0cargo\0\xff\0", Err("an argument is not UTF-8"));
    let mut many = b"/w\0cargo\0".to_vec();
    many.resize(many.len() + 70_000, 0);
    check(&many, Err("too many"));
}

/// What is said, and whether the other end stays; the reason why there is no call.
fn received(said: &[u8], stays: bool) -> DoorCallError {
    let (ours, mut theirs) = UnixStream::pair().expect("sockets can be had");
    ours.set_nonblocking(true).expect("it is a socket");
    theirs.write_all(said).expect("there is room");
    let theirs = stays.then_some(theirs);
    let closing = Waker::new().expect("a waker can be had");
    let time = Duration::from_millis(50);
    let call = DoorCall::receive(ours.as_fd(), &closing, time);
    drop(theirs);
    call.expect_err("it is no call")
}

#[test]
fn a_call_is_bounded_in_time_and_size() {
    let too_late = DoorCallError::Garbled("the request did not come in time");
    assert_eq!(received(b"", true), too_late);
    assert_eq!(received(b"\x01\x00", true), too_late);
    assert_eq!(received(b"\x09\x00\x00\x00/w", true), too_late);
    for said in [&b""[..], b"\x01\x00", b"\x09\x00\x00\x00/w"] {
        assert_eq!(received(said, false), DoorCallError::Gone);
    }
    let too_large = DoorCallError::Garbled("the arguments are too large");
    let header = (MOST_BYTES as u32 + 1).to_le_bytes();
    assert_eq!(received(&header, true), too_large);
    assert_eq!(received(&[0xff; 4], true), too_large);
    let no_streams =
        DoorCallError::Garbled("the three standard streams do not come with the request");
    assert_eq!(received(b"\x03\x00\x00\x00/\0a", true), no_streams);
}

#[test]
fn a_door_that_closes_does_not_wait_for_the_rest() {
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let closing = Waker::new().unwrap();
    closing.wake();
    let call = DoorCall::receive(ours.as_fd(), &closing, Duration::from_secs(600));
    assert_eq!(call.unwrap_err(), DoorCallError::Gone);
}
