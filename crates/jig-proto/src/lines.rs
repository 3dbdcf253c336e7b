//! [`LineBuffer`]: bytes as they arrive become lines, and what follows a line as raw bytes. [`LineReader`] is fed by a
//! stream.
//!
//! Whatever in jig cuts a stream into lines of bounded length does it with one of these.

mod reader;

use std::borrow::Cow;
use std::mem;

pub use reader::LineReader;

/// Cuts a stream into lines, holding no more than one of them.
///
/// A line ends with `\n` or `\r\n`; lines of nothing but whitespace are passed over, unless
/// [`keeping_blank_lines`](Self::keeping_blank_lines) asks for them. What lies within one chunk of input is borrowed from it; only a line that spans chunks is put together
/// here. A line over the limit is reported once, the rest of it is dropped as it arrives, and the
/// next line is read as if nothing had happened. At no time does the buffer hold more than the
/// limit, whatever the peer sends.
///
/// ```
/// use jig_proto::lines::{Frame, LineBuffer};
///
/// let mut buffer = LineBuffer::new(16 * 1024 * 1024);
/// let mut lines = Vec::new();
/// for chunk in [&b"{\"id\":1}\n{\"i"[..], b"d\":2}\r\n"] {
///     let mut input = chunk;
///     while let Some(frame) = buffer.next(&mut input) {
///         if let Frame::Line(line) = frame {
///             lines.push(line.to_vec());
///         }
///     }
/// }
/// assert_eq!(lines, [b"{\"id\":1}", b"{\"id\":2}"]);
/// ```
#[derive(Debug)]
pub struct LineBuffer {
    /// What has arrived of the current line or blob; at most `limit` bytes and a `\r`.
    partial: Vec<u8>,
    /// Whether `partial` was handed out by the last call, so that it can go.
    is_handed_out: bool,
    expects: ExpectedFrame,
    limit: usize,
    keeps_blank_lines: bool,
}

/// A piece of the stream.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Frame<'a> {
    /// A line without its end.
    Line(&'a [u8]),
    /// A line that exceeds the limit. It is lost.
    LineTooLong,
    /// The raw bytes that were expected.
    Blob(Cow<'a, [u8]>),
    /// The raw bytes that were expected exceed the limit, or were not wanted. They are lost.
    BlobDropped,
    /// The stream ended before all of the expected bytes had arrived.
    BlobCut,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExpectedFrame {
    Line,
    /// The end of a line that was reported as too long.
    EndOfLine,
    Blob {
        length: usize,
    },
    /// The end of a blob that is not kept.
    EndOfBlob {
        remaining: u64,
    },
}

/// Where a frame lies.
enum FrameSearch<'a> {
    Input(&'a [u8]),
    Partial,
    TooLong,
}

impl LineBuffer {
    /// A buffer for lines, and for blobs, of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            partial: Vec::new(),
            is_handed_out: false,
            expects: ExpectedFrame::Line,
            limit,
            keeps_blank_lines: false,
        }
    }

    /// Hands out lines of nothing but whitespace, too: for who counts what a peer sends, or answers each line.
    #[must_use]
    pub fn keeping_blank_lines(self) -> Self {
        Self {
            keeps_blank_lines: true,
            ..self
        }
    }

    /// Takes the next frame, and `input` behind what was used of it.
    ///
    /// `None` means that all of `input` was used and more is needed.
    pub fn next<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Option<Frame<'a>> {
        self.release();
        match self.expects {
            ExpectedFrame::Blob { length } => self.next_blob(length, input),
            ExpectedFrame::EndOfBlob { remaining } => self.drop_blob(remaining, input),
            ExpectedFrame::Line | ExpectedFrame::EndOfLine => match self.next_line(input)? {
                FrameSearch::Input(line) => Some(Frame::Line(line)),
                FrameSearch::Partial => Some(Frame::Line(without_cr(&self.partial))),
                FrameSearch::TooLong => Some(Frame::LineTooLong),
            },
        }
    }

    /// Takes what remains when the stream has ended: a last line without end, or the news that a
    /// blob is incomplete.
    pub fn finish(&mut self) -> Option<Frame<'_>> {
        self.release();
        match mem::replace(&mut self.expects, ExpectedFrame::Line) {
            ExpectedFrame::Line if !is_blank(&self.partial) => {
                self.is_handed_out = true;
                Some(Frame::Line(without_cr(&self.partial)))
            }
            ExpectedFrame::Line | ExpectedFrame::EndOfLine => None,
            ExpectedFrame::Blob { .. } | ExpectedFrame::EndOfBlob { .. } => {
                self.is_handed_out = true;
                Some(Frame::BlobCut)
            }
        }
    }

    /// Takes the next `length` bytes as a blob, as the line that was just read announces.
    ///
    /// Longer than the limit, it is dropped as it arrives and then reported as such.
    pub fn expect_blob(&mut self, length: u64) {
        match usize::try_from(length) {
            Ok(length) if length <= self.limit => self.expects = ExpectedFrame::Blob { length },
            _ => self.skip_blob(length),
        }
    }

    /// Drops the next `length` bytes, because the line that announces them was refused.
    pub fn skip_blob(&mut self, length: u64) {
        self.expects = ExpectedFrame::EndOfBlob { remaining: length };
    }

    /// The beginning of a line whose end has not come.
    fn into_partial(mut self) -> Vec<u8> {
        self.release();
        self.partial
    }

    /// The bytes of memory that are held.
    pub fn memory(&self) -> usize {
        self.partial.capacity()
    }

    fn next_line<'a>(&mut self, input: &mut &'a [u8]) -> Option<FrameSearch<'a>> {
        loop {
            let Some(end) = memchr::memchr(b'\n', input) else {
                return self.keep_line(mem::take(input));
            };
            let (line, rest) = (&input[..end], &input[end + 1..]);
            *input = rest;
            if self.expects == ExpectedFrame::EndOfLine {
                self.expects = ExpectedFrame::Line;
            } else if self.is_too_long(line) {
                self.partial.clear();
                return Some(FrameSearch::TooLong);
            } else if self.partial.is_empty() {
                if self.keeps_blank_lines || !is_blank(line) {
                    return Some(FrameSearch::Input(without_cr(line)));
                }
            } else {
                self.grow(line, self.limit.saturating_add(1));
                self.is_handed_out = true;
                if self.keeps_blank_lines || !is_blank(&self.partial) {
                    return Some(FrameSearch::Partial);
                }
                self.release();
            }
        }
    }

    /// Keeps the beginning of a line, unless it is too long already.
    fn keep_line<'a>(&mut self, piece: &[u8]) -> Option<FrameSearch<'a>> {
        if self.expects == ExpectedFrame::EndOfLine {
            return None;
        }
        if self.is_too_long(piece) {
            self.partial = Vec::new();
            self.expects = ExpectedFrame::EndOfLine;
            return Some(FrameSearch::TooLong);
        }
        self.grow(piece, self.limit.saturating_add(1));
        None
    }

    /// Whether the line is over the limit when `piece` comes to it. A `\r` at its end may be part of
    /// the line's end, and so does not count.
    fn is_too_long(&self, piece: &[u8]) -> bool {
        let length = self.partial.len() + piece.len();
        let last = piece.last().or(self.partial.last());
        length - usize::from(last == Some(&b'\r')) > self.limit
    }

    fn next_blob<'i>(&mut self, length: usize, input: &mut &'i [u8]) -> Option<Frame<'i>> {
        let missing = length - self.partial.len();
        let Some((piece, rest)) = input.split_at_checked(missing) else {
            self.grow(mem::take(input), length);
            return None;
        };
        *input = rest;
        self.expects = ExpectedFrame::Line;
        if self.partial.is_empty() {
            return Some(Frame::Blob(Cow::Borrowed(piece)));
        }
        self.grow(piece, length);
        Some(Frame::Blob(Cow::Owned(mem::take(&mut self.partial))))
    }

    fn drop_blob<'a>(&mut self, remaining: u64, input: &mut &[u8]) -> Option<Frame<'a>> {
        let here = usize::try_from(remaining).map_or(input.len(), |all| all.min(input.len()));
        *input = &input[here..];
        let remaining = remaining - here as u64;
        if remaining > 0 {
            self.expects = ExpectedFrame::EndOfBlob { remaining };
            return None;
        }
        self.expects = ExpectedFrame::Line;
        Some(Frame::BlobDropped)
    }

    /// Appends, allocating at most `most` bytes: a vector left to itself may take twice the limit.
    fn grow(&mut self, piece: &[u8], most: usize) {
        let needed = self.partial.len() + piece.len();
        if needed > self.partial.capacity() {
            let doubled = self.partial.capacity().saturating_mul(2).min(most);
            self.partial
                .reserve_exact(needed.max(doubled) - self.partial.len());
        }
        self.partial.extend_from_slice(piece);
    }

    /// Forgets the line that was handed out, and gives back the memory of a large one.
    fn release(&mut self) {
        if mem::take(&mut self.is_handed_out) {
            self.partial.clear();
            self.partial.shrink_to(KEPT_BYTES);
        }
    }
}

fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii_start().is_empty()
}

/// How much memory is kept between lines. Without it, every idle connection would hold as much as
/// its longest line took.
const KEPT_BYTES: usize = 64 * 1024;

#[cfg(test)]
mod tests;
