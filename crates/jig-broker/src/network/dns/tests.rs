use std::net::IpAddr;

use proptest::prelude::*;

use super::query::{DnsQueryError, DnsResponseCode, read_query, write_answer, write_refusal};
use super::{DnsAnswer, KIND_A, KIND_AAAA, read_answer, write_query};

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// A message from its header's words and the bytes behind it.
fn message(words: [u16; 6], rest: &[&[u8]]) -> Vec<u8> {
    let head: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    [head.as_slice(), &rest.concat()].concat()
}

const A_TEST: &[u8] = b"\x01a\x04test\0";
const KIND_A_IN: &[u8] = b"\0\x01\0\x01";

#[test]
fn questions_are_read_as_they_were_written() {
    let check = |name: &str, kind: u16| {
        let query = read_query(&write_query(0xbeef, name, kind).unwrap()).unwrap();
        assert_eq!(query.id, 0xbeef);
        assert!(query.recursion);
        assert_eq!(query.question.name, name.trim_end_matches('.'));
        assert_eq!(query.question.kind, kind);
    };
    check("a.test", KIND_A);
    check("a.test.", KIND_AAAA);
    check("", KIND_A);
    check("Mixed-Case_1.TEST", KIND_A);
    check(&"a".repeat(63), KIND_A);
    let longest = [
        &"a".repeat(63),
        "b",
        &"c".repeat(62),
        &"d".repeat(63),
        &"e".repeat(59),
    ]
    .join(".");
    assert_eq!(longest.len(), 252);
    check(&longest, KIND_A);
    for name in [
        "a..test",
        ".a",
        &"a".repeat(64),
        &format!("{longest}.f"),
        "a\\.test",
    ] {
        assert_eq!(write_query(1, name, KIND_A), None, "{name}");
    }
}

#[test]
fn what_is_no_question_is_told_or_ignored() {
    let check = |words: [u16; 6], rest: &[&[u8]], expected: Result<(), DnsQueryError>| {
        let read = read_query(&message(words, rest)).map(|_| ());
        assert_eq!(read, expected, "{words:?} {rest:?}");
    };
    let wrong = |code| Err(DnsQueryError::Answered { id: 5, code });
    check([5, 0x0100, 1, 0, 0, 0], &[A_TEST, KIND_A_IN], Ok(()));
    check(
        [5, 0x8000, 1, 0, 0, 0],
        &[A_TEST, KIND_A_IN],
        Err(DnsQueryError::Ignored),
    );
    check(
        [5, 0x2800, 1, 0, 0, 0],
        &[A_TEST, KIND_A_IN],
        wrong(DnsResponseCode::NotImplemented),
    );
    check([5, 0, 0, 0, 0, 0], &[], wrong(DnsResponseCode::Malformed));
    check(
        [5, 0, 2, 0, 0, 0],
        &[A_TEST, KIND_A_IN],
        wrong(DnsResponseCode::Malformed),
    );
    check(
        [5, 0, 1, 0, 0, 0],
        &[A_TEST],
        wrong(DnsResponseCode::Malformed),
    );
    check(
        [5, 0, 1, 0, 0, 0],
        &[b"\x05abc"],
        wrong(DnsResponseCode::Malformed),
    );
    check(
        [5, 0, 1, 0, 0, 0],
        &[b"\xc0\x0c", KIND_A_IN],
        wrong(DnsResponseCode::Malformed),
    );
    check(
        [5, 0, 1, 0, 0, 0],
        &[b"\xc0\x00", KIND_A_IN],
        wrong(DnsResponseCode::Malformed),
    );
    check(
        [5, 0, 1, 0, 0, 0],
        &[b"\x40a", KIND_A_IN],
        wrong(DnsResponseCode::Malformed),
    );
    check(
        [5, 0, 1, 0, 0, 0],
        &[A_TEST, b"\0\x01\0\x03"],
        wrong(DnsResponseCode::Refused),
    );
    check([5, 0, 1, 9, 9, 9], &[A_TEST, KIND_A_IN], Ok(()));
    assert_eq!(read_query(b"\0\x05\0\0\0"), Err(DnsQueryError::Ignored));
    let label = [[63].as_slice(), &[b'a'; 63]].concat();
    let endless = label.repeat(4);
    check(
        [5, 0, 1, 0, 0, 0],
        &[&endless, b"\0", KIND_A_IN],
        wrong(DnsResponseCode::Malformed),
    );
}

#[test]
fn answers_are_read_as_they_were_written() {
    let check = |kind: u16, addresses: &[&str]| {
        let addresses: Vec<IpAddr> = addresses.iter().map(|text| address(text)).collect();
        let query = read_query(&write_query(7, "A.test", kind).unwrap()).unwrap();
        let answer = write_answer(&query, DnsResponseCode::Fine, &addresses, 60);
        let said = read_answer(&answer, 7, "a.test", kind);
        assert_eq!(said, Some(DnsAnswer::Addresses(addresses)));
        assert_eq!(read_answer(&answer, 8, "a.test", kind), None);
        assert_eq!(read_answer(&answer, 7, "b.test", kind), None);
        assert_eq!(read_answer(&answer, 7, "a.test", kind + 1), None);
    };
    check(KIND_A, &["192.0.2.1"]);
    check(KIND_A, &["192.0.2.1", "192.0.2.2"]);
    check(KIND_AAAA, &["2001:db8::1"]);
    check(KIND_AAAA, &[]);
    let query = read_query(&write_query(7, "a.test", KIND_A).unwrap()).unwrap();
    let answer = write_answer(&query, DnsResponseCode::NoSuchName, &[], 0);
    assert_eq!(
        read_answer(&answer, 7, "a.test", KIND_A),
        Some(DnsAnswer::NoSuchName)
    );
    assert_eq!(
        write_refusal(7, DnsResponseCode::Refused),
        [0, 7, 0x80, 0x85, 0, 0, 0, 0, 0, 0, 0, 0]
    );
}

#[test]
fn extensions_are_answered_with_extensions() {
    let option = b"\0\0\x29\x04\xd0\0\0\0\0\0\0";
    let extended = message([1, 0x0100, 1, 0, 0, 1], &[A_TEST, KIND_A_IN, option]);
    let answer = write_answer(
        &read_query(&extended).unwrap(),
        DnsResponseCode::NoSuchName,
        &[],
        0,
    );
    assert!(answer.ends_with(option), "{answer:?}");
    assert_eq!(answer[10..12], [0, 1]);
    let plain = message([1, 0x0100, 1, 0, 0, 0], &[A_TEST, KIND_A_IN]);
    let answer = write_answer(
        &read_query(&plain).unwrap(),
        DnsResponseCode::NoSuchName,
        &[],
        0,
    );
    assert_eq!(answer[10..12], [0, 0]);
}

#[test]
fn other_names_are_followed_and_records_of_others_are_not_taken() {
    let record = |name: &[u8], kind: u16, data: &[u8]| {
        let length = data.len() as u16;
        let words = [
            kind.to_be_bytes(),
            1_u16.to_be_bytes(),
            [0, 0],
            [0, 60],
            length.to_be_bytes(),
        ];
        [name, &words.concat(), data].concat()
    };
    let b_test = b"\x01b\xc0\x0e";
    let check = |records: &[Vec<u8>], expected: &[&str]| {
        let count = records.len() as u16;
        let records = records.concat();
        let answer = message([9, 0x8180, 1, count, 0, 0], &[A_TEST, KIND_A_IN, &records]);
        let expected: Vec<IpAddr> = expected.iter().map(|text| address(text)).collect();
        let said = read_answer(&answer, 9, "a.test", KIND_A);
        assert_eq!(said, Some(DnsAnswer::Addresses(expected)));
    };
    check(
        &[
            record(b"\xc0\x0c", 5, b_test),
            record(b_test, KIND_A, &[192, 0, 2, 9]),
        ],
        &["192.0.2.9"],
    );
    check(&[record(b"\x04evil\0", KIND_A, &[192, 0, 2, 66])], &[]);
    check(
        &[
            record(b"\xc0\x0c", 16, b"text"),
            record(b"\xc0\x0c", KIND_A, &[1, 2, 3, 4]),
        ],
        &["1.2.3.4"],
    );
    // A name that stands for itself.
    check(
        &[
            record(b"\xc0\x0c", 5, b"\xc0\x0c"),
            record(b"\xc0\x0c", KIND_A, &[1, 2, 3, 4]),
        ],
        &["1.2.3.4"],
    );
    let many: Vec<Vec<u8>> = (0..200)
        .map(|n| record(b"\xc0\x0c", KIND_A, &[1, 1, 1, n]))
        .collect();
    let answer = message(
        [9, 0x8180, 1, 200, 0, 0],
        &[A_TEST, KIND_A_IN, &many.concat()],
    );
    match read_answer(&answer, 9, "a.test", KIND_A) {
        Some(DnsAnswer::Addresses(addresses)) => assert_eq!(addresses.len(), 64),
        other => panic!("{other:?}"),
    }
    // An address of the wrong length, and an answer that breaks off.
    for record in [
        record(b"\xc0\x0c", KIND_A, &[1, 2, 3]),
        b"\xc0\x0c\0\x01".to_vec(),
    ] {
        let answer = message([9, 0x8180, 1, 1, 0, 0], &[A_TEST, KIND_A_IN, &record]);
        assert_eq!(
            read_answer(&answer, 9, "a.test", KIND_A),
            Some(DnsAnswer::Failed)
        );
    }
    let truncated = message([9, 0x8380, 1, 0, 0, 0], &[A_TEST, KIND_A_IN]);
    assert_eq!(
        read_answer(&truncated, 9, "a.test", KIND_A),
        Some(DnsAnswer::Truncated)
    );
    let failed = message([9, 0x8182, 1, 0, 0, 0], &[A_TEST, KIND_A_IN]);
    assert_eq!(
        read_answer(&failed, 9, "a.test", KIND_A),
        Some(DnsAnswer::Failed)
    );
}

#[test]
fn pointers_only_lead_back() {
    // Behind the question: a name that points at itself, at what comes later, and into the header.
    for name in [b"\xc0\x18", b"\xc0\x30", b"\xc0\x02"] {
        let record = [
            name.as_slice(),
            b"\0\x01\0\x01\0\0\0\0\0\x04\x01\x02\x03\x04",
        ]
        .concat();
        let answer = message([9, 0x8180, 1, 1, 0, 0], &[A_TEST, KIND_A_IN, &record]);
        assert_eq!(
            read_answer(&answer, 9, "a.test", KIND_A),
            Some(DnsAnswer::Failed),
            "{name:?}"
        );
    }
}

proptest! {
    #[test]
    fn no_bytes_break_the_readers(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let _ = read_query(&bytes);
        let _ = read_answer(&bytes, 9, "a.test", KIND_A);
    }

    #[test]
    fn no_change_of_a_message_breaks_the_readers(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
        count in 0_u16..6,
    ) {
        let record = b"\xc0\x0c\0\x05\0\x01\0\0\0\0\0\x04\x01b\xc0\x0e".as_slice();
        let records = record.repeat(count.into());
        let mut bytes = message([9, 0x8180, 1, count, 0, 0], &[A_TEST, KIND_A_IN, &records]);
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        let _ = read_query(&bytes);
        if let Some(DnsAnswer::Addresses(addresses)) = read_answer(&bytes, 9, "a.test", KIND_A) {
            prop_assert!(addresses.len() <= 64);
        }
    }
}
