//! Server-sent events, as WHATWG has them, read piece by piece.
//!
//! Bytes come as the network cuts them. A server may never end a line or an event, so both are bounded by
//! [`EventLimits`].
//!
//! ```
//! use jig_proto::sse::{EventLimits, EventParser};
//!
//! let mut parser = EventParser::new(EventLimits { line: 1024, event: 1024 });
//! parser.feed(b"id: 7\ndata: hel")?;
//! assert_eq!(parser.next()?, None);
//! parser.feed(b"lo\n\n")?;
//! let event = parser.next()?.expect("it has ended");
//! assert_eq!(event.data.as_deref(), Some(&b"hello"[..]));
//! assert_eq!(event.id.as_deref(), Some("7"));
//! # Ok::<(), jig_proto::sse::EventTooLong>(())
//! ```

use std::time::Duration;

/// How long what a server sends may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventLimits {
    /// The longest line, in bytes.
    pub line: usize,
    /// The longest data of an event, in bytes.
    pub event: usize,
}

/// Makes events of bytes: [`feed`](Self::feed) a piece, and take events with [`next`](Self::next) until there is none.
///
/// An event that the end of the stream cuts off never happened. After an error nothing that comes can be trusted.
#[derive(Debug)]
pub struct EventParser {
    limits: EventLimits,
    buffer: Vec<u8>,
    /// How far the buffer was taken.
    start: usize,
    /// Up to where there is no end of a line, so that a line in many pieces is not looked through for each.
    searched: usize,
    /// Whether the last line ended with a carriage return, to which a line feed may belong.
    is_after_return: bool,
    has_begun: bool,
    event: ServerEvent,
}

/// An event.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ServerEvent {
    /// What it says; `None` if it has no field `data`.
    pub data: Option<Vec<u8>>,
    /// Where to go on after it.
    pub id: Option<String>,
    /// How long to wait before going on.
    pub retry: Option<Duration>,
}

/// A line or an event is longer than allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EventTooLong {
    /// A line is.
    #[error("a line of the event stream is too long")]
    Line,
    /// An event is.
    #[error("an event of the stream is too long")]
    Event,
}

impl EventParser {
    /// A parser for the beginning of a stream.
    pub fn new(limits: EventLimits) -> Self {
        Self {
            limits,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            is_after_return: false,
            has_begun: false,
            event: ServerEvent::default(),
        }
    }

    /// Takes bytes in.
    ///
    /// # Errors
    ///
    /// If what has not become an event is longer than an event and what may stand around its data.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), EventTooLong> {
        self.buffer.drain(..self.start);
        self.searched = self.searched.saturating_sub(self.start);
        self.start = 0;
        let held = self.buffer.len() + self.event.data.as_ref().map_or(0, Vec::len);
        if held + bytes.len() > self.limits.event.saturating_add(SLACK) {
            return Err(EventTooLong::Event);
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// The next event, if all of it is there. One without data is an event, too, if it says where to go on.
    ///
    /// # Errors
    ///
    /// If a line or the event is longer than allowed.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator would go on after an error, and end where more may come"
    )]
    pub fn next(&mut self) -> Result<Option<ServerEvent>, EventTooLong> {
        while let Some((start, end)) = self.line()? {
            let line = &self.buffer[start..end];
            if !line.is_empty() {
                self.event.add(line, self.limits.event)?;
            } else if self.event != ServerEvent::default() {
                return Ok(Some(std::mem::take(&mut self.event)));
            }
        }
        Ok(None)
    }

    /// Where the next line begins and ends, if its end is there.
    fn line(&mut self) -> Result<Option<(usize, usize)>, EventTooLong> {
        if self.is_after_return && self.start < self.buffer.len() {
            self.is_after_return = false;
            if self.buffer[self.start] == b'\n' {
                self.start += 1;
            }
        }
        let from = self.searched.max(self.start);
        let found = memchr::memchr2(b'\n', b'\r', &self.buffer[from..]);
        let end = found.map_or(self.buffer.len(), |length| from + length);
        self.searched = end;
        if end - self.start > self.limits.line {
            return Err(EventTooLong::Line);
        }
        if found.is_none() {
            return Ok(None);
        }
        self.is_after_return = self.buffer[end] == b'\r';
        let mut start = std::mem::replace(&mut self.start, end + 1);
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        if is_first && self.buffer[start..end].starts_with(BYTE_ORDER_MARK) {
            start += BYTE_ORDER_MARK.len();
        }
        Ok(Some((start, end)))
    }
}

impl ServerEvent {
    /// Adds a field, with at most `most` bytes of data.
    fn add(&mut self, line: &[u8], most: usize) -> Result<(), EventTooLong> {
        let (name, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                let data = match &mut self.data {
                    Some(data) => {
                        data.push(b'\n');
                        data
                    }
                    none => none.insert(Vec::new()),
                };
                if data.len() + value.len() > most {
                    return Err(EventTooLong::Event);
                }
                data.extend_from_slice(value);
            }
            b"id" => {
                let id = std::str::from_utf8(value).ok();
                let id = id.filter(|id| id.len() <= LONGEST_ID && !id.contains('\0'));
                self.id = id.map(str::to_owned).or_else(|| self.id.take());
            }
            b"retry" => {
                let text = std::str::from_utf8(value).ok();
                let wait = text.and_then(|text| text.parse().ok());
                let wait = wait.map(Duration::from_millis);
                self.retry = wait.or(self.retry);
            }
            // Comments keep a connection alive; kinds of events mean nothing here.
            _ => {}
        }
        Ok(())
    }
}

/// What stands around the data of an event.
const SLACK: usize = 64 << 10;

/// How long the name of an event may be: it is sent back in a header.
const LONGEST_ID: usize = 4096;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[cfg(test)]
mod tests;
