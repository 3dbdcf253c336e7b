//! The body of a request, up to its exact end.

use std::io;

use super::head::Framing;

/// Passes a body on, and nothing that comes after it.
#[derive(Debug)]
pub(super) enum GatewayBody {
    /// So much is to come.
    Length(u64),
    /// It comes in chunks.
    Chunks(Chunks),
    /// All of it was there.
    Done,
}

/// Where in a chunked body we are.
#[derive(Debug)]
pub(super) enum Chunks {
    /// In the line that begins a chunk: what is there of it.
    Size(Vec<u8>),
    /// In a chunk, of which so much is to come.
    Data(u64),
    /// Behind a chunk, where a line ends: how much of that was there.
    End(usize),
    /// In the lines behind the last chunk: what is there of one, and how much there was of all.
    Trailer { line: Vec<u8>, seen: usize },
}

impl GatewayBody {
    pub(super) fn new(framing: Framing) -> Self {
        match framing {
            Framing::None | Framing::Length(0) => Self::Done,
            Framing::Length(length) => Self::Length(length),
            Framing::Chunked => Self::Chunks(Chunks::Size(Vec::new())),
        }
    }

    /// Puts behind `out` what of `input` belongs to the body, in a form that has one reading. What comes
    /// after the body is left out.
    pub(super) fn pass(&mut self, mut input: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        while !input.is_empty() {
            match self {
                Self::Done => return Ok(()),
                Self::Length(left) => {
                    let part = take(&mut input, *left);
                    out.extend_from_slice(part);
                    *left -= part.len() as u64;
                    if *left == 0 {
                        *self = Self::Done;
                    }
                }
                Self::Chunks(chunks) => {
                    if chunks.pass(&mut input, out)? {
                        *self = Self::Done;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Chunks {
    /// Takes one step; says whether the body has ended.
    fn pass(&mut self, input: &mut &[u8], out: &mut Vec<u8>) -> io::Result<bool> {
        match self {
            Self::Size(line) => {
                if take_line(input, line, MAX_SIZE_LINE)? {
                    *self = match size(line)? {
                        0 => Self::Trailer {
                            line: Vec::new(),
                            seen: 0,
                        },
                        size => Self::Data(size),
                    };
                }
            }
            Self::Data(left) => {
                let part = take(input, *left);
                // Chunks have no meaning beyond their content: what is there goes on as one.
                out.extend(format!("{:x}\r\n", part.len()).into_bytes());
                out.extend_from_slice(part);
                out.extend(b"\r\n");
                *left -= part.len() as u64;
                if *left == 0 {
                    *self = Self::End(0);
                }
            }
            Self::End(seen) => {
                let byte = take(input, 1);
                if byte.first() != b"\r\n".get(*seen) {
                    return Err(malformed("a chunk is longer than it says"));
                }
                *seen += 1;
                if *seen == 2 {
                    *self = Self::Size(Vec::new());
                }
            }
            Self::Trailer { line, seen } => {
                let before = input.len();
                let whole = take_line(input, line, MAX_TRAILER)?;
                *seen += before - input.len();
                if *seen > MAX_TRAILER {
                    return Err(malformed("too much comes behind the last chunk"));
                }
                if whole && line.is_empty() {
                    out.extend(b"0\r\n\r\n");
                    return Ok(true);
                }
                if whole {
                    // Headers that come late were not judged.
                    line.clear();
                }
            }
        }
        Ok(false)
    }
}

/// Takes at most `most` bytes.
fn take<'i>(input: &mut &'i [u8], most: u64) -> &'i [u8] {
    let count = usize::try_from(most).unwrap_or(usize::MAX).min(input.len());
    let (part, rest) = input.split_at(count);
    *input = rest;
    part
}

/// Takes bytes up to the end of a line, which is CR LF and left out; says whether it was there.
fn take_line(input: &mut &[u8], line: &mut Vec<u8>, most: usize) -> io::Result<bool> {
    while let Some((byte, rest)) = input.split_first() {
        *input = rest;
        match (byte, line.last()) {
            (b'\n', Some(b'\r')) => {
                line.pop();
                return Ok(true);
            }
            (b'\n', _) | (_, Some(b'\r')) => {
                return Err(malformed("a line does not end as it should"));
            }
            _ if line.len() >= most => return Err(malformed("a line is too long")),
            (byte, _) => line.push(*byte),
        }
    }
    Ok(false)
}

/// The size of a chunk. Extensions behind it are passed over.
fn size(line: &[u8]) -> io::Result<u64> {
    let digits = line
        .split(|byte| matches!(byte, b';' | b' ' | b'\t'))
        .next();
    let digits = digits.unwrap_or_default();
    let rest = line[digits.len()..].trim_ascii_start();
    let fine = (1..=15).contains(&digits.len())
        && digits.iter().all(u8::is_ascii_hexdigit)
        && (rest.is_empty() || rest.starts_with(b";"));
    let text = std::str::from_utf8(digits).ok().filter(|_| fine);
    let size = text.and_then(|text| u64::from_str_radix(text, 16).ok());
    size.ok_or_else(|| malformed("the size of a chunk is not a number"))
}

fn malformed(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// The longest line with the size of a chunk, extensions included.
const MAX_SIZE_LINE: usize = 1024;

/// The most that may come behind the last chunk.
const MAX_TRAILER: usize = 16 * 1024;

#[cfg(test)]
mod tests;
