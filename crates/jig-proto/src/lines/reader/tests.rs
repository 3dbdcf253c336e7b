use std::io::Cursor;

use super::*;

/// A stream of pieces: each read gives one, and an empty one is a moment in which there is nothing.
struct Pieces(Vec<&'static [u8]>);

impl Read for Pieces {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Some(piece) = (!self.0.is_empty()).then(|| self.0.remove(0)) else {
            return Ok(0);
        };
        if piece.is_empty() {
            return Err(ErrorKind::WouldBlock.into());
        }
        into[..piece.len()].copy_from_slice(piece);
        Ok(piece.len())
    }
}

#[test]
fn lines_are_bounded_and_the_next_one_is_read() {
    let endless = "x".repeat(20_000);
    for (input, expected) in [
        ("", vec![]),
        ("a\nb\r\n\n", vec!["a", "b", ""]),
        // What is not ended by a line end never came.
        ("a\nb", vec!["a"]),
        ("0123456789\nb\n", vec!["0123456789", "b"]),
        ("0123456789a\nb\n", vec!["<InvalidData>", "b"]),
        (endless.as_str(), vec!["<InvalidData>"]),
    ] {
        let mut lines = LineReader::new(Cursor::new(input), 10);
        let mut found = Vec::new();
        loop {
            match lines.next_line() {
                Ok(Some(line)) => found.push(String::from_utf8(line).unwrap()),
                Ok(None) => break,
                Err(error) => found.push(format!("<{:?}>", error.kind())),
            }
        }
        assert_eq!(found, expected, "{input:.20}");
    }
}

#[test]
fn a_stream_that_has_nothing_for_now_loses_nothing() {
    let mut lines = LineReader::new(Pieces(vec![b"ha", b"", b"lf\nand", b""]), 10);
    assert_eq!(lines.next_line().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(lines.next_line().unwrap().unwrap(), b"half");
    assert!(lines.buffered_line().unwrap().is_none());
    assert_eq!(lines.next_line().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert!(lines.next_line().unwrap().is_none());
}

#[test]
fn the_rest_is_all_that_is_no_line_yet() {
    let mut lines = LineReader::new(Pieces(vec![b"fi", b"rst\nsecond\nthi", b"never read"]), 10);
    assert_eq!(lines.next_line().unwrap().unwrap(), b"first");
    assert_eq!(lines.into_rest(), b"second\nthi");
    let mut lines = LineReader::new(Pieces(vec![b"first\nse", b"cond"]), 10);
    assert_eq!(lines.next_line().unwrap().unwrap(), b"first");
    assert!(lines.buffered_line().unwrap().is_none());
    assert!(lines.fill().unwrap() && lines.buffered_line().unwrap().is_none());
    assert_eq!(lines.into_rest(), b"second");
}
