//! What the events of an answer say, taken piece by piece.

use super::{EVENT_LIMITS, EventParser, LlmError, take_events};

fn taken<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<String>, LlmError> {
    let mut parser = EventParser::new(EVENT_LIMITS);
    let mut said = Vec::new();
    for piece in pieces {
        take_events(&mut parser, piece, |data| {
            said.push(data.to_owned());
            Ok(())
        })?;
    }
    Ok(said)
}

#[test]
fn an_event_without_data_says_nothing() {
    let stream = b": alive\n\nid: 7\n\ndata: one\n\ndata\n\n";
    assert_eq!(taken([&stream[..]]).unwrap(), ["one", ""]);
    assert_eq!(taken(stream.chunks(1)).unwrap(), ["one", ""]);
}

#[test]
fn what_is_too_long_or_not_text_is_an_error() {
    let check = |bytes: &[u8], expected: &str| {
        let error = taken(bytes.chunks(4096)).unwrap_err();
        assert_eq!(error, LlmError::bad(expected));
    };
    let (line, event) = (EVENT_LIMITS.line, EVENT_LIMITS.event);
    check(
        &vec![b'x'; line + 1],
        "a line of its event stream is too long",
    );
    let mut comments = vec![b':'; line - 1];
    comments.extend_from_slice(b"\n\ndata: \xff\n\n");
    check(&comments, "its event stream is not UTF-8");
    let data = [b"data: ".as_slice(), &[b'x'; 100_000], b"\n"].concat();
    check(
        &data.repeat(event / 100_000 + 1),
        "an event of its stream is too long",
    );
    // Without a byte too many it is one.
    let fits = [b"data:".as_slice(), &vec![b'x'; line - 5], b"\n\n"].concat();
    assert_eq!(taken([fits.as_slice()]).unwrap()[0].len(), line - 5);
}

#[test]
fn an_error_of_whoever_listens_ends_it() {
    let mut parser = EventParser::new(EVENT_LIMITS);
    let mut count = 0;
    let result = take_events(&mut parser, b"data: 1\n\ndata: 2\n\n", |_| {
        count += 1;
        Err(LlmError::Timeout)
    });
    assert_eq!((result, count), (Err(LlmError::Timeout), 1));
}
