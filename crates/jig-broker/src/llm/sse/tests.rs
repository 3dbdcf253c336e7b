//! Events, however the network cuts them.

use proptest::prelude::*;

use super::{EventParser, MAX_EVENT, MAX_LINE};
use crate::llm::LlmError;

fn parse<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<String>, LlmError> {
    let mut parser = EventParser::default();
    let mut events = Vec::new();
    for piece in pieces {
        parser.push(piece, &mut |data| {
            events.push(data.to_owned());
            Ok(())
        })?;
    }
    Ok(events)
}

const CASES: &[(&str, &[&str])] = &[
    ("", &[]),
    ("data: one\n\n", &["one"]),
    ("data: one\r\n\r\n", &["one"]),
    ("data: one\r\rdata: two\r\r", &["one", "two"]),
    ("data: one\r\n\ndata: two\n\r\n", &["one", "two"]),
    ("\u{feff}data: one\n\n", &["one"]),
    ("data:one\n\n", &["one"]),
    ("data:  one\n\n", &[" one"]),
    ("data: a\ndata: b\n\n", &["a\nb"]),
    ("data\n\n", &[""]),
    ("data:\ndata:\n\n", &["\n"]),
    (": a comment\n\n", &[]),
    (
        ": a comment\ndata: one\n: another\nevent: x\nid: 7\nretry: 1\n\n",
        &["one"],
    ),
    ("database: no\ndata one\n\n", &[]),
    ("\n\n\ndata: one\n\n\n\n", &["one"]),
    // The end cuts an event off: it never happened.
    ("data: one\n\ndata: two", &["one"]),
    ("data: one\n\ndata: two\n", &["one"]),
    ("data: ä€𝄞\n\n", &["ä€𝄞"]),
    ("data: [DONE]\n\n", &["[DONE]"]),
];

#[test]
fn events_are_cut_as_the_standard_says() {
    for (text, expected) in CASES {
        assert_eq!(parse([text.as_bytes()]).unwrap(), *expected, "{text:?}");
        let bytes = text.as_bytes().chunks(1);
        assert_eq!(parse(bytes).unwrap(), *expected, "{text:?} by bytes");
        for cut in 0..text.len() {
            let (a, b) = text.as_bytes().split_at(cut);
            let got = parse([a, b"", b]).unwrap();
            assert_eq!(got, *expected, "{text:?} cut at {cut}");
        }
    }
}

#[test]
fn what_is_too_long_or_not_text_is_an_error() {
    let check = |bytes: &[u8], expected: &str| {
        let error = parse(bytes.chunks(4096)).unwrap_err();
        assert_eq!(error, LlmError::bad(expected));
    };
    let long = vec![b'x'; MAX_LINE + 1];
    check(&long, "a line of its event stream is too long");
    let mut comments = vec![b':'; MAX_LINE - 1];
    comments.extend_from_slice(b"\n\ndata: \xff\n\n");
    check(&comments, "its event stream is not UTF-8");
    let line = [b"data: ".as_slice(), &[b'x'; 100_000], b"\n"].concat();
    check(
        &line.repeat(MAX_EVENT / 100_000 + 1),
        "an event of its stream is too long",
    );
    // Without a byte too many it is one.
    let fits = [
        b"data:".as_slice(),
        &vec![b'x'; MAX_LINE - 5],
        b"\n\n".as_slice(),
    ]
    .concat();
    assert_eq!(parse([fits.as_slice()]).unwrap()[0].len(), MAX_LINE - 5);
}

#[test]
fn an_error_of_whoever_listens_ends_it() {
    let mut parser = EventParser::default();
    let mut count = 0;
    let result = parser.push(b"data: 1\n\ndata: 2\n\n", &mut |_| {
        count += 1;
        Err(LlmError::Timeout)
    });
    assert_eq!((result, count), (Err(LlmError::Timeout), 1));
}

proptest! {
    /// Any bytes, cut anywhere, give what they give in one piece.
    #[test]
    fn cuts_make_no_difference(
        text in prop::collection::vec(
            prop::sample::select(vec!["data: ", "data", ":", "\n", "\r", "\r\n", "x", "ä", " ", "\u{feff}", "[DONE]"]),
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
        prop_assert_eq!(parse(pieces), parse([bytes]));
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse([bytes.as_slice()]);
    }
}
