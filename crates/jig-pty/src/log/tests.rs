use proptest::prelude::*;

use super::*;

fn log(capacity: usize, bytes: &[u8]) -> Log {
    let mut log = Log::new(capacity);
    log.push(bytes);
    log
}

#[test]
fn since_gives_what_came_after() {
    let check = |after: u64, max: usize, cut: CutSide, text: &str, seq: u64, left: u64| {
        let piece = log(100, b"hello world").since(after, max, cut);
        let expected = TranscriptPiece {
            text: text.to_owned(),
            seq,
            lost: 0,
            left,
        };
        assert_eq!(piece, expected, "{after} {max} {cut:?}");
    };
    check(0, 100, CutSide::Front, "hello world", 11, 0);
    check(6, 100, CutSide::Front, "world", 11, 0);
    check(11, 100, CutSide::Front, "", 11, 0);
    check(99, 100, CutSide::Front, "", 11, 0);
    check(0, 5, CutSide::Front, "world", 11, 6);
    check(0, 5, CutSide::Back, "hello", 5, 6);
    check(5, 3, CutSide::Back, " wo", 8, 3);
    check(0, 0, CutSide::Front, "", 11, 11);
    check(0, 0, CutSide::Back, "", 0, 11);
}

#[test]
fn old_bytes_are_given_up_and_counted() {
    let mut log = log(10, b"0123456789");
    log.push(b"abc");
    assert_eq!(log.seq(), 13);
    let piece = log.since(0, 100, CutSide::Front);
    assert_eq!((piece.text.as_str(), piece.lost), ("3456789abc", 3));
    let piece = log.since(2, 100, CutSide::Back);
    assert_eq!((piece.text.as_str(), piece.lost), ("3456789abc", 1));
    assert_eq!(log.since(5, 100, CutSide::Front).lost, 0);
    // More at once than is kept.
    log.push(&[b'x'; 35]);
    let piece = log.since(13, 100, CutSide::Front);
    assert_eq!((piece.text.len(), piece.lost, piece.seq), (10, 25, 48));
}

#[test]
fn a_character_is_never_cut_in_two() {
    // Three bytes each.
    let check = |pushes: &[&[u8]], after: u64, max: usize, cut: CutSide, text: &str, seq: u64| {
        let mut log = Log::new(100);
        for push in pushes {
            log.push(push);
        }
        let piece = log.since(after, max, cut);
        assert_eq!((piece.text.as_str(), piece.seq), (text, seq), "{pushes:?}");
    };
    check(&["界面".as_bytes()], 0, 5, CutSide::Back, "界", 3);
    check(&["界面".as_bytes()], 0, 5, CutSide::Front, "面", 6);
    check(&["界面".as_bytes()], 0, 2, CutSide::Back, "", 0);
    check(&["界面".as_bytes()], 0, 2, CutSide::Front, "", 6);
    // The rest has not come yet.
    check(&[b"a\xe7\x95"], 0, 100, CutSide::Front, "a", 1);
    check(&[b"a\xe7\x95", b"\x8c"], 1, 100, CutSide::Front, "界", 4);
    check(&[b"\xf0\x9f\xa7"], 0, 100, CutSide::Back, "", 0);
    // Nothing can make these whole.
    check(&[b"a\xff"], 0, 100, CutSide::Front, "a\u{fffd}", 2);
    check(&[b"\xe7\x95x"], 0, 100, CutSide::Front, "\u{fffd}x", 3);
    check(&[b"\x80\x80\x80\x80"], 0, 3, CutSide::Back, "\u{fffd}", 1);
    check(&[b"\xff\xff\xff\xff"], 0, 3, CutSide::Front, "\u{fffd}", 4);
}

#[test]
fn a_character_that_the_capacity_cuts_is_lost() {
    let log = log(4, "界面".as_bytes());
    let piece = log.since(0, 100, CutSide::Front);
    assert_eq!((piece.text.as_str(), piece.lost), ("面", 3));
}

#[test]
fn at_the_end_even_half_a_character_is_shown() {
    let mut log = log(100, b"a\xe7\x95");
    assert_eq!(log.since(0, 100, CutSide::Front).text, "a");
    log.finish();
    let piece = log.since(0, 100, CutSide::Front);
    assert_eq!((piece.text.as_str(), piece.seq), ("a\u{fffd}", 3));
}

#[test]
fn the_last_piece_begins_with_a_line() {
    let check = |max: usize, text: &str, left: u64| {
        let piece = log(100, b"one\ntwo\nthree\n").last(max);
        assert_eq!((piece.text.as_str(), piece.left), (text, left), "{max}");
    };
    check(100, "one\ntwo\nthree\n", 0);
    check(14, "one\ntwo\nthree\n", 0);
    check(12, "two\nthree\n", 4);
    check(7, "three\n", 8);
    check(3, "ee\n", 11);
}

proptest! {
    /// Read piece by piece, in pages of any size, it is the text of all bytes.
    #[test]
    fn pages_are_the_whole_text(
        pushes in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..10),
        max in 4_usize..20,
    ) {
        let mut log = Log::new(1_000);
        let mut all = Vec::new();
        let mut text = String::new();
        let mut at = 0;
        for (index, push) in pushes.iter().enumerate() {
            log.push(push);
            all.extend_from_slice(push);
            if index + 1 == pushes.len() {
                log.finish();
            }
            loop {
                let piece = log.since(at, max, CutSide::Back);
                prop_assert!(piece.text.len() <= max);
                prop_assert_eq!(piece.lost, 0);
                text.push_str(&piece.text);
                prop_assert!(piece.seq > at || piece.left == 0);
                at = piece.seq;
                if piece.left == 0 {
                    break;
                }
            }
        }
        prop_assert_eq!(text, String::from_utf8_lossy(&all));
    }

    /// The newest is the end of the text, whatever is left out.
    #[test]
    fn the_newest_is_the_end_of_the_text(
        bytes in prop::collection::vec(any::<u8>(), 0..60),
        max in 0_usize..80,
    ) {
        let mut log = log(1_000, &bytes);
        log.finish();
        let piece = log.since(0, max, CutSide::Front);
        let whole = String::from_utf8_lossy(&bytes);
        prop_assert!(piece.text.len() <= max);
        prop_assert_eq!(piece.left == 0, piece.text.len() == whole.len());
        // Bytes that are no text may be grouped differently where they are cut.
        if std::str::from_utf8(&bytes).is_ok() {
            prop_assert!(whole.ends_with(&piece.text));
            prop_assert_eq!(piece.text.len() as u64 + piece.left, whole.len() as u64);
        }
    }
}
