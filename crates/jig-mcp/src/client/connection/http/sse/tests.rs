//! Streams of events, in pieces of every length.

use std::time::Duration;

use super::{Event, Parser, TooLong};

fn event(data: &str, id: Option<&str>, retry: Option<u64>) -> Event {
    Event {
        data: data.as_bytes().to_vec(),
        id: id.map(str::to_owned),
        retry: retry.map(Duration::from_millis),
    }
}

/// The events of a text, whatever pieces it comes in.
fn check(text: &str, expected: &[Event]) {
    for size in [1, 2, 3, 7, text.len().max(1)] {
        let mut parser = Parser::default();
        let mut events = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            parser.feed(piece, 1 << 20).expect("it is short");
            while let Some(event) = parser.next() {
                events.push(event);
            }
        }
        assert_eq!(events, expected, "{text:?} in pieces of {size}");
    }
}

#[test]
fn events() {
    check("data: a\n\n", &[event("a", None, None)]);
    check(
        "data: a\r\n\r\ndata:b\r\rdata: c\n\n",
        &[
            event("a", None, None),
            event("b", None, None),
            event("c", None, None),
        ],
    );
    check("data: a\ndata: b\ndata\n\n", &[event("a\nb\n", None, None)]);
    check(
        "id: 7\nretry: 500\ndata: \n\n",
        &[event("", Some("7"), Some(500))],
    );
    check("id: 7\n\n", &[event("", Some("7"), None)]);
    check("id\ndata: x\n\n", &[event("x", Some(""), None)]);
    check(
        ": a comment\n\n: another\n\nevent: message\ndata: {\"a\":1}\n\n",
        &[event("{\"a\":1}", None, None)],
    );
    check("\u{feff}data: a\n\n", &[event("a", None, None)]);
    check(
        "retry: soon\nid: a\u{0}b\ndata: x\n\n",
        &[event("x", None, None)],
    );
    check("data: not ended\n", &[]);
    check("data: not ended", &[]);
    check("\n\n\r\n\r\r", &[]);
}

#[test]
fn an_event_without_end_is_refused() {
    let mut parser = Parser::default();
    let line = [b'x'; 1000];
    let mut fed = Ok(());
    for _ in 0..1200 {
        fed = parser.feed(&line, 1 << 20);
        assert_eq!(parser.next(), None);
        if fed.is_err() {
            break;
        }
    }
    assert_eq!(fed, Err(TooLong));
    let mut parser = Parser::default();
    let mut fed = Ok(());
    for _ in 0..2000 {
        fed = parser
            .feed(b"data: ", 1 << 20)
            .and_then(|()| parser.feed(&line, 1 << 20));
        fed = fed.and_then(|()| parser.feed(b"\n", 1 << 20));
        assert_eq!(parser.next(), None);
        if fed.is_err() {
            break;
        }
    }
    assert_eq!(fed, Err(TooLong));
}
