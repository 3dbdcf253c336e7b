use proptest::prelude::*;

use super::GatewayBody;
use crate::programs::gateway::head::Framing;

/// Passes the pieces through; what comes out, and whether the body has ended.
fn pass(framing: Framing, pieces: &[&[u8]]) -> Result<(Vec<u8>, bool), String> {
    let mut body = GatewayBody::new(framing);
    let mut out = Vec::new();
    for piece in pieces {
        body.pass(piece, &mut out)
            .map_err(|error| error.to_string())?;
    }
    Ok((out, matches!(body, GatewayBody::Done)))
}

#[test]
fn a_body_ends_where_its_length_says() {
    let check = |framing, pieces: &[&[u8]], expected: &str, done: bool| {
        let passed = pass(framing, pieces).unwrap();
        assert_eq!(passed, (expected.as_bytes().to_vec(), done));
    };
    check(Framing::None, &[b"GET"], "", true);
    check(Framing::Length(0), &[b"GET"], "", true);
    check(Framing::Length(5), &[b"he", b"llo", b"GET"], "hello", true);
    check(Framing::Length(5), &[b"helloGET"], "hello", true);
    check(Framing::Length(5), &[b"hell"], "hell", false);
    check(Framing::Length(u64::MAX), &[b"x"], "x", false);
}

#[test]
fn chunks_are_written_anew() {
    let check = |input: &str, expected: &str, done: bool| {
        let passed = pass(Framing::Chunked, &[input.as_bytes()]).unwrap();
        assert_eq!(passed, (expected.as_bytes().to_vec(), done), "{input:?}");
    };
    check("5\r\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n", true);
    check(
        "05 ;a=b;c\r\nhello\r\n000;x\r\n\r\n",
        "5\r\nhello\r\n0\r\n\r\n",
        true,
    );
    check(
        "1\r\na\r\nB\r\n0123456789a\r\n0\r\nT: x\r\n\r\nGET",
        "1\r\na\r\nb\r\n0123456789a\r\n0\r\n\r\n",
        true,
    );
    check("5\r\nhel", "3\r\nhel\r\n", false);
    check("0\r\n", "", false);
    check("", "", false);
}

#[test]
fn what_comes_behind_the_last_chunk_has_an_end() {
    let trailers = format!("0\r\n{}", "X: y\r\n".repeat(10_000));
    assert!(pass(Framing::Chunked, &[trailers.as_bytes()]).is_err());
    let line = format!("0\r\n{}", "x".repeat(100_000));
    assert!(pass(Framing::Chunked, &[line.as_bytes()]).is_err());
    let extension = format!("1;{}", "x".repeat(100_000));
    assert!(pass(Framing::Chunked, &[extension.as_bytes()]).is_err());
}

proptest! {
    #[test]
    fn how_a_body_is_cut_into_pieces_changes_nothing_of_it(
        content in proptest::collection::vec(any::<u8>(), 0..200),
        size in 1_usize..40,
        cut in 1_usize..50,
    ) {
        let mut chunked = Vec::new();
        for chunk in content.chunks(size) {
            chunked.extend(format!("{:X};e\r\n", chunk.len()).into_bytes());
            chunked.extend_from_slice(chunk);
            chunked.extend(b"\r\n");
        }
        chunked.extend(b"0\r\nT: x\r\n\r\nGET /smuggled");
        let pieces: Vec<&[u8]> = chunked.chunks(cut).collect();
        let (out, done) = pass(Framing::Chunked, &pieces).unwrap();
        prop_assert!(done);
        prop_assert_eq!(decode(&out), content);
    }

    #[test]
    fn no_bytes_break_it(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        if let Ok((out, _)) = pass(Framing::Chunked, &[&bytes]) {
            // What comes out is never much more than what went in.
            prop_assert!(out.len() <= bytes.len() * 7 + 5);
        }
    }
}

/// Reads chunks in the plainest way.
fn decode(mut chunks: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    loop {
        let end = chunks.windows(2).position(|pair| pair == b"\r\n").unwrap();
        let size = std::str::from_utf8(&chunks[..end]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        chunks = &chunks[end + 2..];
        content.extend_from_slice(&chunks[..size]);
        assert_eq!(chunks[size..size + 2], *b"\r\n");
        chunks = &chunks[size + 2..];
        if size == 0 {
            assert_eq!(chunks, b"");
            return content;
        }
    }
}
