use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::FdFlags;

use super::*;

#[test]
fn what_is_typed_is_read_and_what_is_printed_too() {
    let (pty, program) = Pty::open(Size::default()).unwrap();
    let mut buffer = [0; 100];
    let nothing = pty.read(&mut buffer).unwrap_err();
    assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);

    pty.write(b"typed\r").unwrap();
    let count = rustix::io::read(&program, &mut buffer).unwrap();
    assert_eq!(&buffer[..count], b"typed\n");
    rustix::io::write(&program, b"printed\n").unwrap();
    // The terminal shows what is typed, and ends lines as terminals do.
    assert_eq!(read_until(&pty, "printed\r\n"), "typed\r\nprinted\r\n");

    drop(program);
    assert_eq!(pty.read(&mut buffer).unwrap(), 0, "the end");
}

#[test]
fn only_the_hosts_end_is_non_blocking_and_both_are_closed_on_exec() {
    let (pty, program) = Pty::open(Size::default()).unwrap();
    let flags = |end: BorrowedFd<'_>| rustix::fs::fcntl_getfl(end).unwrap();
    assert!(flags(pty.as_fd()).contains(OFlags::NONBLOCK));
    assert!(!flags(program.as_fd()).contains(OFlags::NONBLOCK));
    for end in [pty.as_fd(), program.as_fd()] {
        let flags = rustix::io::fcntl_getfd(end).unwrap();
        assert!(flags.contains(FdFlags::CLOEXEC));
    }
}

#[test]
fn both_ends_know_the_size() {
    let (pty, program) = Pty::open(Size::new(40, 120)).unwrap();
    assert_eq!(pty.size().unwrap(), Size::new(40, 120));
    let size = tcgetwinsize(&program).unwrap();
    assert_eq!((size.ws_row, size.ws_col), (40, 120));
    pty.resize(Size::new(10, 20)).unwrap();
    let size = tcgetwinsize(&program).unwrap();
    assert_eq!((size.ws_row, size.ws_col), (10, 20));
    // A size outside the borders, set field by field.
    pty.resize(Size {
        rows: 0,
        cols: 9_999,
    })
    .unwrap();
    assert_eq!(pty.size().unwrap(), Size::new(1, 1_000));
}

#[test]
fn backspace_takes_a_whole_character() {
    let (pty, program) = Pty::open(Size::default()).unwrap();
    pty.write("a界\x7fb\r".as_bytes()).unwrap();
    let mut buffer = [0; 100];
    let count = rustix::io::read(&program, &mut buffer).unwrap();
    assert_eq!(&buffer[..count], b"ab\n");
}

fn read_until(pty: &Pty, end: &str) -> String {
    let deadline = Instant::now() + Duration::from_secs(30);
    let mut text = String::new();
    let mut buffer = [0; 100];
    while !text.ends_with(end) {
        assert!(Instant::now() < deadline, "only {text:?} came");
        match pty.read(&mut buffer) {
            Ok(count) => text.push_str(std::str::from_utf8(&buffer[..count]).unwrap()),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
        }
    }
    text
}
