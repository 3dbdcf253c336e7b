//! Events, however the network cuts them.

use std::time::Duration;

use proptest::prelude::*;

use super::{EventLimits, EventParser, EventTooLong, SLACK, ServerEvent};

const LIMITS: EventLimits = EventLimits {
    line: 1 << 20,
    event: 2 << 20,
};

fn event(data: Option<&str>, id: Option<&str>, retry: Option<u64>) -> ServerEvent {
    ServerEvent {
        data: data.map(|data| data.as_bytes().to_vec()),
        id: id.map(str::to_owned),
        retry: retry.map(Duration::from_millis),
    }
}

fn parse<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
    limits: EventLimits,
) -> Result<Vec<ServerEvent>, EventTooLong> {
    let mut parser = EventParser::new(limits);
    let mut events = Vec::new();
    for piece in pieces {
        parser.feed(piece)?;
        while let Some(event) = parser.next()? {
            events.push(event);
        }
    }
    Ok(events)
}

/// The events of a text, whatever pieces it comes in.
fn check(text: &str, expected: &[ServerEvent]) {
    let bytes = text.as_bytes();
    for size in [1, 2, 3, 7, bytes.len().max(1)] {
        let events = parse(bytes.chunks(size), LIMITS);
        assert_eq!(
            events.as_deref(),
            Ok(expected),
            "{text:?} in pieces of {size}"
        );
    }
    for cut in 0..bytes.len() {
        let (a, b) = bytes.split_at(cut);
        let events = parse([a, b"", b], LIMITS);
        assert_eq!(events.as_deref(), Ok(expected), "{text:?} cut at {cut}");
    }
}

#[test]
fn the_data_of_events_is_cut_as_the_standard_says() {
    const CASES: &[(&str, &[&str])] = &[
        ("", &[]),
        ("data: one\n\n", &["one"]),
        ("data: one\r\n\r\n", &["one"]),
        ("data: one\r\rdata: two\r\r", &["one", "two"]),
        ("data: one\r\n\ndata: two\n\r\n", &["one", "two"]),
        ("data: a\r\n\r\ndata:b\r\rdata: c\n\n", &["a", "b", "c"]),
        ("\u{feff}data: one\n\n", &["one"]),
        ("data:one\n\n", &["one"]),
        ("data:  one\n\n", &[" one"]),
        ("data: a\ndata: b\n\n", &["a\nb"]),
        ("data: a\ndata: b\ndata\n\n", &["a\nb\n"]),
        ("data\n\n", &[""]),
        ("data:\ndata:\n\n", &["\n"]),
        (": a comment\n\n", &[]),
        (
            ": a comment\n\n: another\n\nevent: message\ndata: {\"a\":1}\n\n",
            &["{\"a\":1}"],
        ),
        (": a comment\ndata: one\n: another\nevent: x\n\n", &["one"]),
        ("database: no\ndata one\n\n", &[]),
        ("\n\n\ndata: one\n\n\n\n", &["one"]),
        ("\n\n\r\n\r\r", &[]),
        // The end cuts an event off: it never happened.
        ("data: one\n\ndata: two", &["one"]),
        ("data: one\n\ndata: two\n", &["one"]),
        ("data: not ended\n", &[]),
        ("data: not ended", &[]),
        ("data: ä€𝄞\n\n", &["ä€𝄞"]),
        ("data: [DONE]\n\n", &["[DONE]"]),
    ];
    for (text, expected) in CASES {
        let expected: Vec<_> = expected
            .iter()
            .map(|data| event(Some(data), None, None))
            .collect();
        check(text, &expected);
    }
}

#[test]
fn an_event_says_where_to_go_on_and_when() {
    check(
        "id: 7\nretry: 500\ndata: \n\n",
        &[event(Some(""), Some("7"), Some(500))],
    );
    check("id: 7\n\n", &[event(None, Some("7"), None)]);
    check("id\ndata: x\n\n", &[event(Some("x"), Some(""), None)]);
    check(
        "retry: soon\nid: a\u{0}b\ndata: x\n\n",
        &[event(Some("x"), None, None)],
    );
}

#[test]
fn a_line_without_end_is_refused() {
    let limits = EventLimits {
        line: 1000,
        event: 1 << 20,
    };
    let longest = [b'x'; 1000];
    assert_eq!(parse([&longest[..], b"\n"], limits), Ok(Vec::new()));
    assert_eq!(parse([&longest[..], b"x"], limits), Err(EventTooLong::Line));
    // Also if its end comes with it.
    assert_eq!(
        parse([&longest[..], b"x\n\n"], limits),
        Err(EventTooLong::Line)
    );
    // Those that were before do not count.
    let lines = [&b":\r\n"[..], &longest[..], b"\r\n", &longest[..]];
    assert_eq!(parse(lines, limits), Ok(Vec::new()));
}

#[test]
fn an_event_without_end_is_refused() {
    let limits = EventLimits {
        line: 1 << 20,
        event: 1 << 20,
    };
    let line = [b"data: ".as_slice(), &[b'x'; 1000], b"\n"].concat();
    let most = (1 << 20) / 1001;
    let mut pieces = vec![line.as_slice(); most];
    pieces.push(b"\n");
    let events = parse(pieces.iter().copied(), limits).expect("it is short enough");
    let length = events[0].data.as_ref().map(Vec::len);
    assert_eq!(length, Some(most * 1001 - 1));
    let pieces = std::iter::repeat_n(line.as_slice(), most + 1);
    assert_eq!(parse(pieces, limits), Err(EventTooLong::Event));
}

#[test]
fn what_is_held_is_bounded() {
    let limits = EventLimits {
        line: 1 << 20,
        event: 1 << 10,
    };
    let mut parser = EventParser::new(limits);
    let most = limits.event + SLACK;
    assert_eq!(parser.feed(&vec![b'x'; most]), Ok(()));
    assert_eq!(parser.next(), Ok(None));
    assert_eq!(parser.feed(b"x"), Err(EventTooLong::Event));
    let mut parser = EventParser::new(limits);
    assert_eq!(parser.feed(b"data: 1234\n"), Ok(()));
    assert_eq!(parser.next(), Ok(None));
    assert_eq!(
        parser.feed(&vec![b'x'; most - 3]),
        Err(EventTooLong::Event),
        "the data of the event counts"
    );
}

proptest! {
    /// Any bytes, cut anywhere, give what they give in one piece.
    #[test]
    fn cuts_make_no_difference(
        text in prop::collection::vec(
            prop::sample::select(vec!["data: ", "data", "id: ", ":", "\n", "\r", "\r\n", "x", "ä", " ", "\u{feff}", "[DONE]"]),
            0..40,
        ),
        cuts in prop::collection::vec(0..120_usize, 0..8),
    ) {
        let text = text.concat();
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.sort_unstable();
        let mut pieces = Vec::new();
        let mut start = 0;
        for cut in cuts {
            pieces.push(&bytes[start..cut]);
            start = cut;
        }
        pieces.push(&bytes[start..]);
        prop_assert_eq!(parse(pieces, LIMITS), parse([bytes], LIMITS));
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse([bytes.as_slice()], LIMITS);
    }
}
