use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use super::*;

fn put(outbox: &mut Outbox, place: u64, text: &str) {
    outbox.answer(place, |out| out.extend_from_slice(text.as_bytes()));
}

#[test]
fn answers_leave_in_the_order_of_their_places() {
    for order in [
        [0, 1, 2, 3],
        [3, 2, 1, 0],
        [1, 0, 3, 2],
        [2, 3, 0, 1],
        [0, 3, 1, 2],
    ] {
        let mut outbox = Outbox::default();
        // Not from the beginning: numbers go on.
        let early = outbox.take_place();
        put(&mut outbox, early, "");
        let places: Vec<u64> = (0..4).map(|_| outbox.take_place()).collect();
        for index in order {
            put(&mut outbox, places[index], &index.to_string());
        }
        assert_eq!(outbox.bytes, b"0123", "{order:?}");
        assert!(outbox.places.is_empty());
    }
}

#[test]
fn a_place_is_filled_once() {
    let mut outbox = Outbox::default();
    let (first, second) = (outbox.take_place(), outbox.take_place());
    put(&mut outbox, second, "b");
    put(&mut outbox, second, "again");
    put(&mut outbox, first, "a");
    put(&mut outbox, first, "again");
    put(&mut outbox, second + 1, "nobody's");
    assert_eq!(outbox.bytes, b"ab");
}

#[test]
fn nothing_is_left_of_what_was_cleared() {
    let mut outbox = Outbox::default();
    let (first, second) = (outbox.take_place(), outbox.take_place());
    put(&mut outbox, second, "b");
    outbox.clear();
    put(&mut outbox, first, "late");
    put(&mut outbox, second, "late");
    assert!(outbox.is_idle());
    let next = outbox.take_place();
    put(&mut outbox, next, "c");
    assert_eq!(outbox.bytes, b"c");
}

#[test]
fn it_is_full_with_many_places_or_many_bytes() {
    let mut outbox = Outbox::default();
    let places: Vec<u64> = (0..MAX_PLACES).map(|_| outbox.take_place()).collect();
    assert!(outbox.is_full());
    put(&mut outbox, places[0], "x");
    assert!(!outbox.is_full());

    let mut outbox = Outbox::default();
    let place = outbox.take_place();
    put(&mut outbox, place, &"x".repeat(MAX_UNSENT));
    assert!(outbox.is_full());
    // A part of it is sent, as much as the socket takes.
    let (ours, _theirs) = UnixStream::pair().unwrap();
    assert!(!outbox.flush(ours.as_fd()).unwrap());
    assert!(!outbox.is_full());
    assert!(!outbox.is_idle());
}
