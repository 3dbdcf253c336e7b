//! What must hold for every stream of frames: [`run`].
//!
//! An input is three bytes that say how it is used, and a stream. The first byte chooses between a
//! stream as it is and lines that each become a frame, which lets a fuzzer change JSON without
//! counting its bytes; the second is the seed of the pieces in which the stream arrives; the third
//! chooses the limit of a frame.

use jig_proto::fsproxy::{
    Data, FrameBuffer, FrameRefusal, FrameTooLong, MAX_FRAME, MAX_READ, Op, ProxyAnswer,
    ProxyRequest, ProxyResponse, QuotaReport, read_request, read_response, write_answer,
    write_data, write_error, write_refusal, write_request,
};

use crate::splits::pieces;

/// Panics if anything is not as it must be.
pub(crate) fn run(input: &[u8]) {
    let [form, seed, limit, content @ ..] = input else {
        return;
    };
    let limit = [16, 256, 4096, MAX_FRAME][usize::from(limit % 4)];
    let framed;
    let stream = if form % 2 == 1 {
        framed = content
            .split(|byte| *byte == b'\n')
            .flat_map(frame)
            .collect();
        &framed
    } else {
        &content.to_vec()
    };

    let whole = frames(&[stream], limit);
    let in_pieces = frames(&pieces(stream, *seed), limit);
    assert_eq!(whole, in_pieces, "the pieces of a stream change its frames");
    for frame in &whole.0 {
        check_request(frame);
        check_response(frame);
    }
}

fn frame(content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).expect("inputs are short");
    [&length.to_be_bytes(), content].concat()
}

/// The frames of a stream, and how it ends.
fn frames(pieces: &[&[u8]], limit: usize) -> (Vec<Vec<u8>>, Result<bool, FrameTooLong>) {
    let mut buffer = FrameBuffer::new(limit);
    let mut found = Vec::new();
    for piece in pieces {
        let mut piece = *piece;
        while !piece.is_empty() {
            let space = buffer.space();
            assert!(!space.is_empty(), "there is no space");
            let count = space.len().min(piece.len());
            let (now, later) = piece.split_at(count);
            space[..count].copy_from_slice(now);
            buffer.filled(count);
            piece = later;
            loop {
                match buffer.next() {
                    Ok(Some(frame)) => {
                        assert!(frame.len() <= limit, "a frame exceeds the limit");
                        found.push(frame.to_vec());
                    }
                    Ok(None) => break,
                    Err(error) => return (found, Err(error)),
                }
            }
            assert!(buffer.memory() <= limit + 4, "the memory exceeds the limit");
        }
    }
    (found, Ok(buffer.is_empty()))
}

fn check_request(frame: &[u8]) {
    match read_request(frame) {
        Ok(request) => {
            let again = written(|out| write_request(out, &request.id, &request.op));
            assert_eq!(
                read_request(&again),
                Ok(request.clone()),
                "not the same request"
            );
            check_op(&request);
        }
        Err(refusal) => check_refusal(&refusal),
    }
}

fn check_op(request: &ProxyRequest<'_>) {
    match &request.op {
        Op::Read(read) => {
            let strict = read.chunk(MAX_READ, false);
            let lenient = read.chunk(MAX_READ, true);
            assert_eq!(strict.is_ok(), (1..=MAX_READ as u64).contains(&read.max));
            assert_eq!(lenient.is_ok(), read.max > 0);
            assert!(lenient.is_ok_and(|size| (1..=MAX_READ).contains(&size)) || read.max == 0);
        }
        Op::Write(write) => {
            let mut bytes = Vec::new();
            match write.data.decode_into(&mut bytes) {
                Ok(()) => assert_eq!(Data::encode(&bytes), write.data, "two spellings"),
                Err(_) => assert!(bytes.is_empty()),
            }
        }
        Op::Open(open) => assert!(!open.path.is_empty()),
        Op::List(list) => assert!(!list.path.is_empty()),
        Op::Close { .. } | Op::Quota | Op::LlmCmd(_) => {}
    }
}

/// Its answer is JSON, short, and has the same id or none.
fn check_refusal(refusal: &FrameRefusal) {
    let answer = written(|out| write_refusal(out, refusal));
    assert!(answer.len() < 8192, "a refusal of {} bytes", answer.len());
    let value: serde_json::Value = serde_json::from_slice(&answer).expect("answers are JSON");
    assert_eq!(value["ok"], false);
    match &value["id"] {
        serde_json::Value::String(id) => {
            assert_eq!(*id, refusal.id);
            let response = read_response(&answer).expect("answers are responses");
            assert_eq!(response.result, Err(refusal.error.clone()));
        }
        scalar => assert!(!scalar.is_array() && !scalar.is_object()),
    }
}

fn check_response(frame: &[u8]) {
    let Ok(response) = read_response(frame) else {
        return;
    };
    let again = written(|out| match &response.result {
        Ok(answer) => write_answer(out, &response.id, answer),
        Err(error) => write_error(out, &response.id, error),
    });
    assert_eq!(
        read_response(&again),
        Ok(response.clone()),
        "not the same response"
    );
    if let ProxyResponse {
        id,
        result: Ok(answer),
    } = &response
    {
        check_answer(id, answer);
    }
}

fn check_answer(id: &str, answer: &ProxyAnswer<'_>) {
    let mut bytes = Vec::new();
    match answer.data_into(&mut bytes) {
        Ok(eof) => {
            let again = written(|out| write_data(out, id, &bytes, eof));
            let response = read_response(&again).expect("answers are responses");
            let mut same = Vec::new();
            let answer = response.result.expect("it is a success");
            assert_eq!(answer.data_into(&mut same), Ok(eof));
            assert_eq!(same, bytes);
        }
        Err(_) => assert!(bytes.is_empty()),
    }
    // Whatever they say, they say it without a panic.
    let _ = (answer.handle(), answer.written());
    let _ = answer
        .value::<QuotaReport>()
        .map(|report| report.long_status());
}

/// The one frame that is written, without its length, which must be right.
fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    let content = out.split_off(4);
    let announced = u32::from_be_bytes(out.try_into().expect("there are four bytes of length"));
    assert_eq!(announced as usize, content.len(), "the length is wrong");
    content
}
