//! Server-sent events, as WHATWG has them, read piece by piece.

use std::time::Duration;

/// Makes events of bytes.
#[derive(Debug, Default)]
pub(super) struct Parser {
    buffer: Vec<u8>,
    /// How far the buffer was taken.
    start: usize,
    /// Up to where there is no end of a line, so that a line in many pieces is not looked through for each.
    searched: usize,
    /// Whether the last line ended with a carriage return, to which a line feed may belong.
    is_after_return: bool,
    has_begun: bool,
    event: Event,
}

/// An event.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Event {
    /// What it says.
    pub(super) data: Vec<u8>,
    /// Where to go on after it.
    pub(super) id: Option<String>,
    /// How long to wait before going on.
    pub(super) retry: Option<Duration>,
}

/// An event is longer than allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLong;

impl Parser {
    /// Takes bytes in.
    ///
    /// # Errors
    ///
    /// If what has not become an event has more than `limit` bytes.
    pub(super) fn feed(&mut self, bytes: &[u8], limit: usize) -> Result<(), TooLong> {
        self.buffer.drain(..self.start);
        self.searched = self.searched.saturating_sub(self.start);
        self.start = 0;
        let held = self.buffer.len() + self.event.data.len();
        if held + bytes.len() > limit + SLACK {
            return Err(TooLong);
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// The next event, if all of it is there. One without data is an event, too, if it says where to go on.
    pub(super) fn next(&mut self) -> Option<Event> {
        while let Some(line) = self.line() {
            if !line.is_empty() {
                self.field(&line);
            } else if self.event != Event::default() {
                let mut event = std::mem::take(&mut self.event);
                // Every line of data has ended with a line feed.
                event.data.pop();
                return Some(event);
            }
        }
        None
    }

    fn line(&mut self) -> Option<Vec<u8>> {
        if self.is_after_return && self.start < self.buffer.len() {
            self.is_after_return = false;
            if self.buffer[self.start] == b'\n' {
                self.start += 1;
            }
        }
        let from = self.searched.max(self.start);
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let Some(length) = self.buffer[from..].iter().position(is_end) else {
            self.searched = self.buffer.len();
            return None;
        };
        let end = from + length;
        self.is_after_return = self.buffer[end] == b'\r';
        let mut line = self.buffer[self.start..end].to_vec();
        self.start = end + 1;
        if !std::mem::replace(&mut self.has_begun, true) && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        Some(line)
    }

    fn field(&mut self, line: &[u8]) {
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                self.event.data.extend_from_slice(value);
                self.event.data.push(b'\n');
            }
            b"id" => {
                let id = std::str::from_utf8(value).ok();
                let id = id.filter(|id| id.len() <= LONGEST_ID && !id.contains('\0'));
                self.event.id = id.map(str::to_owned).or_else(|| self.event.id.take());
            }
            b"retry" => {
                let text = std::str::from_utf8(value).ok();
                let wait = text.and_then(|text| text.parse().ok());
                let wait = wait.map(Duration::from_millis);
                self.event.retry = wait.or(self.event.retry);
            }
            // Comments keep a connection alive; kinds of events mean nothing here.
            _ => {}
        }
    }
}

/// What stands around the data of an event.
const SLACK: usize = 64 << 10;

/// How long the name of an event may be: it is sent back in a header.
const LONGEST_ID: usize = 4096;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[cfg(test)]
mod tests;
