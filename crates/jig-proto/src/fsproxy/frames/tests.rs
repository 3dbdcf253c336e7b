use super::{FrameBuffer, FrameTooLong, PREFIX};
use crate::fsproxy::MAX_FRAME;

/// A frame of these bytes.
fn frame(content: &[u8]) -> Vec<u8> {
    let mut frame = u32::try_from(content.len()).unwrap().to_be_bytes().to_vec();
    frame.extend_from_slice(content);
    frame
}

/// Reads the chunks into a buffer as a socket would, and takes every frame.
fn frames(limit: usize, chunks: &[&[u8]]) -> (Vec<Vec<u8>>, Option<FrameTooLong>, bool) {
    let mut buffer = FrameBuffer::new(limit);
    let mut found = Vec::new();
    for chunk in chunks {
        let mut chunk = *chunk;
        while !chunk.is_empty() {
            let space = buffer.space();
            assert!(!space.is_empty());
            let count = space.len().min(chunk.len());
            space[..count].copy_from_slice(&chunk[..count]);
            buffer.filled(count);
            chunk = &chunk[count..];
            loop {
                match buffer.next() {
                    Ok(Some(frame)) => found.push(frame.to_vec()),
                    Ok(None) => break,
                    Err(error) => return (found, Some(error), false),
                }
            }
            assert!(buffer.memory() <= limit + PREFIX, "{}", buffer.memory());
        }
    }
    (found, None, buffer.is_empty())
}

/// Checks the input as a whole, byte by byte, and split in two at every byte.
fn check(limit: usize, input: &[u8], expected: &[&[u8]], error: Option<FrameTooLong>, ends: bool) {
    let expected: Vec<Vec<u8>> = expected.iter().map(|frame| frame.to_vec()).collect();
    let expected = (expected, error, ends);
    assert_eq!(frames(limit, &[input]), expected);
    let bytes: Vec<&[u8]> = input.chunks(1).collect();
    assert_eq!(frames(limit, &bytes), expected, "byte by byte");
    for split in 0..=input.len() {
        let (head, tail) = input.split_at(split);
        assert_eq!(frames(limit, &[head, tail]), expected, "split at {split}");
    }
}

#[test]
fn f001_length_and_content() {
    check(99, b"", &[], None, true);
    check(99, b"\0\0\0\x02{}", &[b"{}"], None, true);
    check(99, b"\0\0\0\0", &[b""], None, true);
    let stream = [frame(b"{}"), frame(b"[1,2]"), frame(&[b'x'; 99])].concat();
    check(99, &stream, &[b"{}", b"[1,2]", &[b'x'; 99]], None, true);
    // Stopped in the middle of a length, and of a frame.
    check(99, b"\0\0\0\x02{}\0\0", &[b"{}"], None, false);
    check(99, b"\0\0\0\x02{", &[], None, false);
}

#[test]
fn x35_what_is_announced_above_the_limit_ends_the_stream() {
    let too_long = |length| Some(FrameTooLong { length, limit: 99 });
    check(99, b"\0\0\0\x64", &[], too_long(100), false);
    check(
        99,
        b"\0\0\0\x02{}\0\0\0\x64xxx",
        &[b"{}"],
        too_long(100),
        false,
    );
    check(99, b"\xff\xff\xff\xff", &[], too_long(u32::MAX), false);
    // An HTTP request is a very long frame.
    check(99, b"GET / HTTP/1.1\r\n", &[], too_long(0x4745_5420), false);
}

#[test]
fn x35_the_error_stays() {
    let mut buffer = FrameBuffer::new(99);
    buffer.space()[..5].copy_from_slice(b"\x7f\xff\xff\xff{");
    buffer.filled(5);
    let error = buffer.next().unwrap_err();
    assert_eq!(
        error.to_string(),
        "a frame of 2147483647 bytes was announced; the limit is 99"
    );
    assert_eq!(buffer.next(), Err(error));
}

#[test]
fn x35_a_promise_of_4_gib_allocates_nothing() {
    let mut buffer = FrameBuffer::new(MAX_FRAME);
    buffer.space()[..4].copy_from_slice(&u32::MAX.to_be_bytes());
    buffer.filled(4);
    let before = buffer.memory();
    assert!(buffer.next().is_err());
    buffer.space();
    assert_eq!(buffer.memory(), before);
    assert!(before <= 8 * 1024, "{before}");
}

#[test]
fn x35_a_promise_within_the_limit_allocates_nothing_either() {
    let mut buffer = FrameBuffer::new(MAX_FRAME);
    let length = u32::try_from(MAX_FRAME).unwrap();
    buffer.space()[..4].copy_from_slice(&length.to_be_bytes());
    buffer.filled(4);
    assert_eq!(buffer.next(), Ok(None));
    buffer.space();
    assert!(buffer.memory() <= 8 * 1024, "{}", buffer.memory());
}

#[test]
fn x35_memory_follows_what_arrives_and_is_given_back() {
    let content = vec![b' '; MAX_FRAME];
    let stream = frame(&content);
    let mut buffer = FrameBuffer::new(MAX_FRAME);
    let mut sent = 0;
    while sent < stream.len() {
        let space = buffer.space();
        let count = space.len().min(1000).min(stream.len() - sent);
        space[..count].copy_from_slice(&stream[sent..sent + count]);
        buffer.filled(count);
        sent += count;
        assert!(buffer.memory() <= (2 * sent).max(8 * 1024), "after {sent}");
        assert!(buffer.memory() <= MAX_FRAME + PREFIX);
        if sent < stream.len() {
            assert_eq!(buffer.next(), Ok(None));
        }
    }
    assert_eq!(buffer.next(), Ok(Some(content.as_slice())));
    buffer.space();
    assert!(buffer.memory() <= 64 * 1024, "{}", buffer.memory());
}

#[test]
fn a_busy_stream_is_read_in_larger_pieces() {
    let mut buffer = FrameBuffer::new(MAX_FRAME);
    for _ in 0..8 {
        let space = buffer.space();
        let count = space.len();
        space.fill(0);
        buffer.filled(count);
        while let Ok(Some(_)) = buffer.next() {}
    }
    assert_eq!(buffer.space().len(), 64 * 1024);
}

#[test]
fn x27_another_reader_takes_over() {
    let mut buffer = FrameBuffer::new(99);
    assert_eq!(buffer.first(), None);
    buffer.space()[..8].copy_from_slice(b"CLOSE 3\n");
    buffer.filled(8);
    assert_eq!(buffer.first(), Some(b'C'));
    assert!(!buffer.is_empty());
    assert_eq!(buffer.into_rest(), b"CLOSE 3\n");
}

#[test]
#[should_panic(expected = "more bytes were filled than there was space")]
fn more_than_the_space_cannot_have_come() {
    let mut buffer = FrameBuffer::new(99);
    let space = buffer.space().len();
    buffer.filled(space + 1);
}
