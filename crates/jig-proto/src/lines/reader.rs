//! [`LineReader`]: the lines of a stream.

use std::io::{self, ErrorKind, Read};

use super::{Frame, LineBuffer};

#[cfg(test)]
mod tests;

/// Reads lines of at most so many bytes. A last line without an end never came.
///
/// Blank lines are lines. A stream that has nothing for now, because it does not block or stops waiting, loses nothing:
/// what has come of a line is kept.
#[derive(Debug)]
pub struct LineReader<R> {
    stream: R,
    lines: LineBuffer,
    chunk: Box<[u8]>,
    /// What was read and is not cut yet lies in `start..end`.
    start: usize,
    end: usize,
}

impl<R: Read> LineReader<R> {
    /// Reads from `stream` lines of at most `limit` bytes.
    pub fn new(stream: R, limit: usize) -> Self {
        Self {
            stream,
            lines: LineBuffer::new(limit).keeping_blank_lines(),
            chunk: vec![0; CHUNK_BYTES].into_boxed_slice(),
            start: 0,
            end: 0,
        }
    }

    /// The next line, without its end; `None` at the end of the stream.
    ///
    /// # Errors
    ///
    /// Those of the stream; [`ErrorKind::InvalidData`] for a line that is too long. What follows it can be read.
    pub fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(line) = self.buffered_line()? {
                return Ok(Some(line.to_vec()));
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// The next line that has been read already.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidData`] for a line that is too long. What follows it can be read.
    pub fn buffered_line(&mut self) -> io::Result<Option<&[u8]>> {
        let mut input = &self.chunk[self.start..self.end];
        let frame = self.lines.next(&mut input);
        self.start = self.end - input.len();
        match frame {
            None => Ok(None),
            Some(Frame::Line(line)) => Ok(Some(line)),
            Some(_) => Err(io::Error::new(ErrorKind::InvalidData, "a line is too long")),
        }
    }

    /// Reads once more from the stream; says whether there was anything. To be called when no line is left that has
    /// been read already.
    ///
    /// # Errors
    ///
    /// Those of the stream.
    pub fn fill(&mut self) -> io::Result<bool> {
        loop {
            match self.stream.read(&mut self.chunk) {
                Ok(count) => {
                    (self.start, self.end) = (0, count);
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// What was read and is no line yet.
    pub fn into_rest(self) -> Vec<u8> {
        let mut rest = self.lines.into_partial();
        rest.extend_from_slice(&self.chunk[self.start..self.end]);
        rest
    }

    /// The stream, without what was read from it.
    pub fn into_stream(self) -> R {
        self.stream
    }
}

/// How much is read at once.
const CHUNK_BYTES: usize = 8192;
