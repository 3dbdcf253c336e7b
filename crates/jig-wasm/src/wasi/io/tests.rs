use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;

use super::stream::{MOST, StreamClosed};
use super::*;

/// Takes so many bytes, and fails then.
struct Cup {
    room: usize,
    taken: Arc<Mutex<Vec<u8>>>,
}

impl GuestSink for Cup {
    fn write(&mut self, bytes: &[u8]) -> Result<(), IoError> {
        if bytes.len() > self.room {
            return Err(IoError {
                message: "full".to_owned(),
                code: None,
            });
        }
        self.room -= bytes.len();
        self.taken.lock().unwrap().extend_from_slice(bytes);
        Ok(())
    }
}

fn cup(room: usize) -> (OutputStream, Arc<Mutex<Vec<u8>>>) {
    let taken = Arc::default();
    let cup = Cup {
        room,
        taken: Arc::clone(&taken),
    };
    (OutputStream::new(cup), taken)
}

#[test]
fn a_read_gives_no_more_than_is_asked_for_and_never_what_a_guest_could_name() {
    let check = |has: usize, most: u64, expected: usize| {
        let mut stream = InputStream::new(Bytes::from(vec![7; has]));
        assert_eq!(stream.read(most).unwrap().len(), expected);
    };
    check(10, 0, 0);
    check(10, 3, 3);
    check(10, 10, 10);
    check(10, 11, 10);
    check(10, u64::MAX, 10);
    check(3 * MOST, u64::MAX, MOST);
}

#[test]
fn a_stream_that_has_ended_is_closed() {
    let mut stream = InputStream::new(Bytes::from_static(b"ab"));
    assert_eq!(stream.read(9).unwrap().as_ref(), b"ab");
    // It is not known to have ended until somebody looks.
    assert!(stream.read(0).unwrap().is_empty());
    assert!(matches!(stream.read(1), Err(StreamClosed::Before)));
    assert!(matches!(stream.read(0), Err(StreamClosed::Before)));
}

#[test]
fn writing_needs_a_permit_for_so_many_bytes() {
    let (mut stream, _) = cup(usize::MAX);
    assert!(stream.spend(0).is_ok());
    assert!(stream.spend(1).is_err(), "nobody has asked");
    assert_eq!(stream.permit().unwrap(), MOST as u64);
    assert!(stream.spend(MOST as u64 - 1).is_ok());
    assert!(stream.spend(2).is_err(), "one is left");
    assert!(stream.spend(1).is_ok());
    assert!(stream.spend(1).is_err(), "it is used up");
    stream.permit().unwrap();
    assert!(stream.spend(u64::MAX).is_err());
}

#[test]
fn a_failed_stream_says_why_once_and_is_closed() {
    let (mut stream, taken) = cup(3);
    assert!(stream.write(b"abc").is_ok());
    assert!(stream.write(b"").is_ok());
    match stream.write(b"d") {
        Err(StreamClosed::By(error)) => assert_eq!(error.message, "full"),
        other => panic!("{other:?}"),
    }
    assert!(matches!(stream.write(b""), Err(StreamClosed::Before)));
    assert!(matches!(stream.flush(), Err(StreamClosed::Before)));
    assert!(matches!(stream.permit(), Err(StreamClosed::Before)));
    assert!(matches!(stream.write_zeroes(0), Err(StreamClosed::Before)));
    assert_eq!(*taken.lock().unwrap(), b"abc");
}

#[test]
fn zeroes_are_written_in_pieces() {
    let (mut stream, taken) = cup(usize::MAX);
    stream.write_zeroes(10_000).unwrap();
    assert_eq!(*taken.lock().unwrap(), vec![0; 10_000]);
}

#[test]
fn what_is_ready_when() {
    let now = Instant::now();
    let later = now + Duration::from_secs(1);
    let set = |value| Pollable::Once(Arc::new(AtomicBool::new(value)));
    let check = |pollable: Pollable, expected: bool, due: Option<Instant>| {
        assert_eq!(pollable.is_ready(now), expected, "{pollable:?}");
        assert_eq!(pollable.due(), due, "{pollable:?}");
    };
    check(Pollable::Ready, true, None);
    check(Pollable::At(now), true, Some(now));
    check(Pollable::At(later), false, Some(later));
    check(set(false), false, None);
    check(set(true), true, None);
    check(Pollable::Never, false, None);
}
