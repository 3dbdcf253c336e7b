use std::borrow::Cow;

use super::{Frame, LineBuffer};

/// What a buffer with this limit makes of these chunks, in words.
fn frames(limit: usize, chunks: &[&[u8]]) -> Vec<String> {
    let mut buffer = LineBuffer::new(limit);
    let mut found = Vec::new();
    for chunk in chunks {
        let mut input = *chunk;
        while let Some(frame) = buffer.next(&mut input) {
            found.push(words(&frame));
        }
        assert!(input.is_empty());
        assert!(
            buffer.memory() <= limit + 1,
            "{} > {limit}",
            buffer.memory()
        );
    }
    while let Some(frame) = buffer.finish() {
        found.push(words(&frame));
    }
    found
}

fn words(frame: &Frame<'_>) -> String {
    match frame {
        Frame::Line(line) => String::from_utf8_lossy(line).into_owned(),
        Frame::LineTooLong => "<too long>".to_owned(),
        Frame::Blob(bytes) => format!("<blob {}>", String::from_utf8_lossy(bytes)),
        Frame::BlobDropped => "<dropped>".to_owned(),
        Frame::BlobCut => "<cut>".to_owned(),
    }
}

/// Checks the input as a whole, byte by byte, and split in two at every byte.
fn check(limit: usize, input: &[u8], expected: &[&str]) {
    assert_eq!(frames(limit, &[input]), expected);
    let bytes: Vec<&[u8]> = input.chunks(1).collect();
    assert_eq!(frames(limit, &bytes), expected, "byte by byte");
    for split in 0..=input.len() {
        let (head, tail) = input.split_at(split);
        assert_eq!(frames(limit, &[head, tail]), expected, "split at {split}");
    }
}

#[test]
fn v014_v190_lines_end_with_newline() {
    check(99, b"", &[]);
    check(99, b"a\n", &["a"]);
    check(99, b"a\nb\n", &["a", "b"]);
    check(99, b"a\r\nb\n", &["a", "b"]);
    check(
        99,
        b"{\"a\": \"\xc3\xa9\"}\n{}\n",
        &["{\"a\": \"é\"}", "{}"],
    );
    // Only one `\r` belongs to the end; inside a line it is content.
    check(99, b"a\r\r\n\rb\n", &["a\r", "\rb"]);
    check(99, b"a\0b\n", &["a\0b"]);
}

#[test]
fn v190_blank_lines_are_passed_over() {
    check(99, b"\n\r\n\n  \t\n \r\n", &[]);
    check(99, b"\n\na\n\r\n\nb\n\n", &["a", "b"]);
    check(99, b" a \n", &[" a "]);
}

#[test]
fn blank_lines_are_kept_for_who_wants_them() {
    for chunks in [
        &[b"\n \r\na\n\n".as_slice()][..],
        &[b"\n ", b"\r\na", b"\n\n"],
    ] {
        let mut buffer = LineBuffer::new(9).keeping_blank_lines();
        let mut found = Vec::new();
        for chunk in chunks {
            let mut input = *chunk;
            while let Some(frame) = buffer.next(&mut input) {
                found.push(words(&frame));
            }
        }
        assert_eq!(found, ["", " ", "a", ""]);
    }
}

#[test]
fn v190_the_last_line_may_lack_its_end() {
    check(99, b"a\nb", &["a", "b"]);
    check(99, b"a\n{\"half", &["a", "{\"half"]);
    check(99, b"a\n  ", &["a"]);
    check(99, b"b\r", &["b"]);
    check(3, b"a\nabcde", &["a", "<too long>"]);
}

#[test]
fn x64_a_line_over_the_limit_is_reported_once() {
    check(3, b"abc\n", &["abc"]);
    check(3, b"abc\r\n", &["abc"]);
    check(3, b"abcd\n", &["<too long>"]);
    check(3, b"abcd\r\n", &["<too long>"]);
    check(3, b"abc\rd\n", &["<too long>"]);
    check(3, b"abcdefghijkl\nb\n", &["<too long>", "b"]);
    check(
        3,
        b"abcdef\nabcdef\nb\nabcd\n",
        &["<too long>", "<too long>", "b", "<too long>"],
    );
    check(0, b"a\n\nb\n", &["<too long>", "<too long>"]);
}

#[test]
fn x64_a_line_of_100_mb_takes_no_memory() {
    let mut buffer = LineBuffer::new(1 << 20);
    let chunk = vec![b'x'; 1 << 16];
    let mut reports = 0;
    for _ in 0..1_600 {
        let mut input = chunk.as_slice();
        while let Some(frame) = buffer.next(&mut input) {
            assert_eq!(frame, Frame::LineTooLong);
            reports += 1;
        }
        assert!(buffer.memory() <= (1 << 20) + 1, "{}", buffer.memory());
    }
    assert_eq!(reports, 1);
    assert_eq!(buffer.memory(), 0);
    let mut input = &b"xxx\n{}\n"[..];
    assert_eq!(buffer.next(&mut input), Some(Frame::Line(b"{}")));
}

#[test]
fn memory_is_given_back_after_a_long_line() {
    let mut buffer = LineBuffer::new(1 << 24);
    let long = vec![b'x'; 10 << 20];
    let mut input = long.as_slice();
    assert_eq!(buffer.next(&mut input), None);
    assert!(buffer.memory() >= 10 << 20);
    let mut input = &b"\nb\n"[..];
    assert!(matches!(buffer.next(&mut input), Some(Frame::Line(line)) if line.len() == 10 << 20));
    assert_eq!(buffer.next(&mut input), Some(Frame::Line(b"b")));
    assert!(buffer.memory() <= 64 * 1024, "{}", buffer.memory());
}

#[test]
fn a_line_within_a_chunk_is_borrowed_from_it() {
    let chunk = b"a\nbcd\n".to_vec();
    let mut buffer = LineBuffer::new(99);
    let mut input = chunk.as_slice();
    for start in [0, 2] {
        let Some(Frame::Line(line)) = buffer.next(&mut input) else {
            panic!("there is a line");
        };
        assert_eq!(line.as_ptr(), chunk[start..].as_ptr());
    }
    assert_eq!(buffer.memory(), 0);
}

/// Announces a blob after the first line, and checks at every split.
fn check_blob(limit: usize, length: u64, skip: bool, input: &[u8], expected: &[&str]) {
    let run = |chunks: &[&[u8]]| {
        let mut buffer = LineBuffer::new(limit);
        let mut found: Vec<String> = Vec::new();
        for chunk in chunks {
            let mut input = *chunk;
            while let Some(frame) = buffer.next(&mut input) {
                found.push(words(&frame));
                if found.len() == 1 && skip {
                    buffer.skip_blob(length);
                } else if found.len() == 1 {
                    buffer.expect_blob(length);
                }
            }
            assert!(buffer.memory() <= limit + 1);
        }
        while let Some(frame) = buffer.finish() {
            found.push(words(&frame));
        }
        found
    };
    assert_eq!(run(&[input]), expected);
    assert_eq!(
        run(&input.chunks(1).collect::<Vec<_>>()),
        expected,
        "byte by byte"
    );
    for split in 0..=input.len() {
        let (head, tail) = input.split_at(split);
        assert_eq!(run(&[head, tail]), expected, "split at {split}");
    }
}

#[test]
fn a_blob_follows_its_line() {
    check_blob(9, 3, false, b"a\n\n\nxb\n", &["a", "<blob \n\nx>", "b"]);
    check_blob(9, 0, false, b"a\nb\n", &["a", "<blob >", "b"]);
    check_blob(
        9,
        9,
        false,
        b"a\n123456789b\n",
        &["a", "<blob 123456789>", "b"],
    );
    check_blob(9, 3, false, b"a\r\nxyz\nb\n", &["a", "<blob xyz>", "b"]);
    check_blob(9, 3, false, b"a\nxy", &["a", "<cut>"]);
    check_blob(9, 10, false, b"a\n1234567890b\n", &["a", "<dropped>", "b"]);
    check_blob(9, u64::MAX, false, b"a\n1234567890b\n", &["a", "<cut>"]);
    check_blob(9, 3, true, b"a\n\n\nxb\n", &["a", "<dropped>", "b"]);
    check_blob(9, 0, true, b"a\nb\n", &["a", "<dropped>", "b"]);
}

#[test]
fn a_blob_within_a_chunk_is_borrowed_from_it() {
    let mut buffer = LineBuffer::new(99);
    let mut input = &b"a\nxyz"[..];
    assert_eq!(buffer.next(&mut input), Some(Frame::Line(b"a")));
    buffer.expect_blob(3);
    let blob = buffer.next(&mut input);
    assert!(
        matches!(blob, Some(Frame::Blob(Cow::Borrowed(b"xyz")))),
        "{blob:?}"
    );
}
