//! Writing frames. Every function appends one whole frame to `out`; what is large is encoded where it
//! belongs.
//!
//! None of them knows the reader's limit of a frame: it is the caller who splits what is large.

use serde::Serialize;

use crate::fsproxy::frames::PREFIX;
use crate::fsproxy::{FrameRefusal, Op, ProxyAnswer, ProxyError, usual};

/// Appends a request.
///
/// # Panics
///
/// If the frame exceeds 4 GiB; so do all others here.
pub fn write_request(out: &mut Vec<u8>, id: &str, op: &Op<'_>) {
    let frame = FrameWriter::begin(out);
    frame.out.extend_from_slice(b"{\"id\":");
    push_json(frame.out, id);
    frame.out.extend_from_slice(b",\"op\":\"");
    frame.out.extend_from_slice(op.name().as_bytes());
    frame.out.push(b'"');
    push_params(frame.out, op);
    frame.out.push(b'}');
    frame.end();
}

fn push_params(out: &mut Vec<u8>, op: &Op<'_>) {
    match op {
        Op::Open(open) => {
            out.extend_from_slice(b",\"params\":{\"path\":");
            push_json(out, &open.path);
            out.extend_from_slice(b",\"mode\":\"");
            out.extend_from_slice(open.mode.text().as_bytes());
            out.push(b'"');
            if let Some(is_top_level) = open.is_top_level {
                out.extend_from_slice(b",\"is_top_level\":");
                push_json(out, &is_top_level);
            }
            out.push(b'}');
        }
        Op::Read(read) => {
            out.extend_from_slice(b",\"params\":{\"h\":");
            push_json(out, &read.handle);
            out.extend_from_slice(b",\"max\":");
            push_json(out, &read.max);
            out.push(b'}');
        }
        Op::Write(write) => {
            out.extend_from_slice(b",\"params\":{\"h\":");
            push_json(out, &write.handle);
            out.extend_from_slice(b",\"data\":");
            push_base64(out, write.data.text());
            out.extend_from_slice(b",\"final\":");
            push_json(out, &write.last);
            out.push(b'}');
        }
        Op::Close { handle } => {
            out.extend_from_slice(b",\"params\":{\"h\":");
            push_json(out, handle);
            out.push(b'}');
        }
        Op::List(list) => {
            out.extend_from_slice(b",\"params\":{\"path\":");
            push_json(out, &list.path);
            if let Some(after) = &list.after {
                out.extend_from_slice(b",\"after\":");
                push_json(out, after);
            }
            out.push(b'}');
        }
        Op::Quota => {}
        Op::LlmCmd(command) => {
            out.extend_from_slice(b",\"params\":");
            push_json(out, command);
        }
    }
}

/// Appends the answer to `open`.
pub fn write_handle(out: &mut Vec<u8>, id: &str, handle: u64) {
    let frame = FrameWriter::answer(out, id);
    frame.out.extend_from_slice(b",\"result\":{\"handle\":");
    push_json(frame.out, &handle);
    frame.out.extend_from_slice(b"}}");
    frame.end();
}

/// Appends the answer to `read`.
pub fn write_data(out: &mut Vec<u8>, id: &str, data: &[u8], eof: bool) {
    out.reserve(base64_simd::STANDARD.encoded_length(data.len()) + id.len() + AROUND_DATA);
    let frame = FrameWriter::answer(out, id);
    frame.out.extend_from_slice(b",\"result\":{\"data\":\"");
    base64_simd::STANDARD.encode_append(data, frame.out);
    frame.out.extend_from_slice(match eof {
        true => b"\",\"eof\":true}}",
        false => b"\",\"eof\":false}}",
    });
    frame.end();
}

/// Appends the answer to `write`: so many bytes were written.
pub fn write_written(out: &mut Vec<u8>, id: &str, count: u64) {
    let frame = FrameWriter::answer(out, id);
    frame.out.extend_from_slice(b",\"result\":{\"written\":");
    push_json(frame.out, &count);
    frame.out.extend_from_slice(b"}}");
    frame.end();
}

/// Appends an answer without a result, which is that of `close`.
pub fn write_done(out: &mut Vec<u8>, id: &str) {
    let frame = FrameWriter::answer(out, id);
    frame.out.push(b'}');
    frame.end();
}

/// Appends an answer with a result of any form, which should be an object.
///
/// What JSON cannot express becomes an `E_IO`.
pub fn write_result<T: Serialize>(out: &mut Vec<u8>, id: &str, result: &T) {
    let before = out.len();
    let frame = FrameWriter::answer(out, id);
    frame.out.extend_from_slice(b",\"result\":");
    if serde_json::to_writer(&mut *frame.out, result).is_ok() {
        frame.out.push(b'}');
        frame.end();
        return;
    }
    out.truncate(before);
    write_error(out, id, &ProxyError::io("the result is not valid JSON"));
}

/// Appends the answer to a request that was not done.
pub fn write_error(out: &mut Vec<u8>, id: &str, error: &ProxyError) {
    let frame = FrameWriter::begin(out);
    frame.out.extend_from_slice(b"{\"id\":");
    push_json(frame.out, id);
    frame.push_error(error);
}

/// Appends the answer to a frame that was not a request. An id that is no string goes back as it came.
pub fn write_refusal(out: &mut Vec<u8>, refusal: &FrameRefusal) {
    let frame = FrameWriter::begin(out);
    frame.out.extend_from_slice(b"{\"id\":");
    if refusal.is_json {
        frame.out.extend_from_slice(refusal.id.as_bytes());
    } else {
        push_json(frame.out, &refusal.id);
    }
    frame.push_error(&refusal.error);
}

/// Appends an answer of somebody else under another id; its result is not looked at.
pub fn write_answer(out: &mut Vec<u8>, id: &str, answer: &ProxyAnswer<'_>) {
    let frame = FrameWriter::answer(out, id);
    if let Some(result) = answer.raw() {
        frame.out.extend_from_slice(b",\"result\":");
        frame.out.extend_from_slice(result.as_bytes());
    }
    frame.out.push(b'}');
    frame.end();
}

/// A frame that is being written; its length is put in at the end.
#[must_use]
struct FrameWriter<'o> {
    out: &'o mut Vec<u8>,
    start: usize,
}

impl<'o> FrameWriter<'o> {
    fn begin(out: &'o mut Vec<u8>) -> Self {
        let start = out.len();
        out.extend_from_slice(&[0; PREFIX]);
        Self { out, start }
    }

    /// An answer of success up to its result.
    fn answer(out: &'o mut Vec<u8>, id: &str) -> Self {
        let frame = Self::begin(out);
        frame.out.extend_from_slice(b"{\"id\":");
        push_json(frame.out, id);
        frame.out.extend_from_slice(b",\"ok\":true");
        frame
    }

    /// The rest of an answer of failure.
    fn push_error(self, error: &ProxyError) {
        self.out.extend_from_slice(b",\"ok\":false,\"error\":");
        push_json(self.out, error);
        self.out.push(b'}');
        self.end();
    }

    fn end(self) {
        let length = self.out.len() - self.start - PREFIX;
        let length = u32::try_from(length).expect("a frame is shorter than 4 GiB");
        self.out[self.start..self.start + PREFIX].copy_from_slice(&length.to_be_bytes());
    }
}

/// Appends a long text that is base64, and so has nothing to escape; whatever else it is, it is written
/// as a string.
fn push_base64(out: &mut Vec<u8>, text: &str) {
    if !usual::is_plain(text) {
        return push_json(out, text);
    }
    out.reserve(text.len() + AROUND_DATA);
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
}

fn push_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    // Memory takes everything, and the types of this module have no maps with keys that are not
    // strings, which is all that JSON could refuse.
    serde_json::to_writer(out, value).expect("our own types can be written as JSON");
}

/// What a message with data has besides its id and its data.
const AROUND_DATA: usize = 64;

#[cfg(test)]
mod tests;
