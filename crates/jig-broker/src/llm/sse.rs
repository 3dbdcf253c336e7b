//! Server-sent events, as far as an answer needs them: the data of each event.
//!
//! Bytes come as the network cuts them. Nothing is kept beyond one line and one event, and both are bounded: a
//! server that never ends a line would otherwise fill the memory of the host.

use memchr::memchr2;

use super::error::LlmError;

/// Cuts a stream into events.
#[derive(Debug, Default)]
pub(super) struct EventParser {
    /// The line that has not ended.
    line: Vec<u8>,
    /// The data of the event that has not ended; `None` if it has no data yet.
    data: Option<Vec<u8>>,
    /// Whether the last byte was a carriage return, whose line feed may follow in the next piece.
    after_return: bool,
    /// Whether the first line is over, before which a byte order mark may stand.
    begun: bool,
}

impl EventParser {
    /// Takes a piece, and hands over the data of each event that ends in it.
    ///
    /// An event that the stream's end cuts off is never handed over.
    pub(super) fn push(
        &mut self,
        mut piece: &[u8],
        each: &mut impl FnMut(&str) -> Result<(), LlmError>,
    ) -> Result<(), LlmError> {
        if std::mem::take(&mut self.after_return) && !piece.is_empty() {
            piece = piece.strip_prefix(b"\n").unwrap_or(piece);
        }
        while let Some(end) = memchr2(b'\n', b'\r', piece) {
            self.extend_line(&piece[..end])?;
            let is_return = piece[end] == b'\r';
            piece = &piece[end + 1..];
            if is_return {
                match piece.first() {
                    Some(b'\n') => piece = &piece[1..],
                    Some(_) => {}
                    None => self.after_return = true,
                }
            }
            self.end_line(each)?;
        }
        self.extend_line(piece)
    }

    fn extend_line(&mut self, part: &[u8]) -> Result<(), LlmError> {
        if self.line.len() + part.len() > MAX_LINE {
            return Err(LlmError::bad("a line of its event stream is too long"));
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn end_line(
        &mut self,
        each: &mut impl FnMut(&str) -> Result<(), LlmError>,
    ) -> Result<(), LlmError> {
        let mut line = self.line.as_slice();
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            self.line.clear();
            let Some(data) = self.data.take() else {
                return Ok(());
            };
            let data = str::from_utf8(&data)
                .map_err(|_| LlmError::bad("its event stream is not UTF-8"))?;
            return each(data);
        }
        if let Some(value) = data_of(line) {
            let data = match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data
                }
                none => none.insert(Vec::new()),
            };
            if data.len() + value.len() > MAX_EVENT {
                return Err(LlmError::bad("an event of its stream is too long"));
            }
            data.extend_from_slice(value);
        }
        self.line.clear();
        Ok(())
    }
}

/// The value of a `data` field; `None` of a comment and of any other field.
fn data_of(line: &[u8]) -> Option<&[u8]> {
    let value = line.strip_prefix(b"data")?;
    if value.is_empty() {
        return Some(value);
    }
    let value = value.strip_prefix(b":")?;
    Some(value.strip_prefix(b" ").unwrap_or(value))
}

/// The longest line. A piece of an answer has a few hundred bytes.
const MAX_LINE: usize = 1024 * 1024;

/// The longest event.
const MAX_EVENT: usize = 2 * 1024 * 1024;

#[cfg(test)]
mod tests;
