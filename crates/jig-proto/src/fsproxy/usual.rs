//! The usual spelling of the messages that carry content, read in one pass.
//!
//! Nearly every message of a busy connection is a `read`, a `write`, or an answer to one, with its
//! members in the order of the protocol's examples. A string in it is found with the instructions
//! that search memory, and nothing is looked at twice. Whatever is not exactly of this form is `None`
//! here, which says nothing about it: the full reader decides. What both read is the same, and builds
//! with debug assertions check that for every message.

use std::borrow::Cow;

use crate::fsproxy::{Data, MAX_ID, MAX_READ, Op, ProxyRequest, ReadParams, WriteParams};

/// A `read`, `write` or `close`.
pub(super) fn request(frame: &[u8]) -> Option<ProxyRequest<'_>> {
    let mut cursor = MessageCursor { rest: frame };
    cursor.byte(b'{')?;
    cursor.key("id")?;
    let id = cursor.id()?;
    cursor.byte(b',')?;
    cursor.key("op")?;
    let op = cursor.string()?;
    cursor.byte(b',')?;
    cursor.key("params")?;
    cursor.byte(b'{')?;
    cursor.key("h")?;
    let handle = cursor.number()?;
    let op = match op {
        "read" => {
            let max = match cursor.byte(b',') {
                Some(()) => cursor.key("max").and_then(|()| cursor.number())?,
                None => MAX_READ as u64,
            };
            Op::Read(ReadParams { handle, max })
        }
        "write" => {
            cursor.byte(b',')?;
            cursor.key("data")?;
            let data = Data::from_text(cursor.string()?);
            let last = match cursor.byte(b',') {
                Some(()) => cursor.key("final").and_then(|()| cursor.flag())?,
                None => false,
            };
            Op::Write(WriteParams { handle, data, last })
        }
        "close" => Op::Close { handle },
        _ => return None,
    };
    cursor.byte(b'}')?;
    cursor.byte(b'}')?;
    cursor.end()?;
    Some(ProxyRequest {
        id: Cow::Borrowed(id),
        op,
    })
}

/// The id of a success, and its result, which is that of `read` or `write`.
pub(super) fn success(frame: &[u8]) -> Option<(&str, &str)> {
    let mut cursor = MessageCursor { rest: frame };
    cursor.byte(b'{')?;
    cursor.key("id")?;
    let id = cursor.id()?;
    cursor.byte(b',')?;
    cursor.key("ok")?;
    if !cursor.flag()? {
        return None;
    }
    cursor.byte(b',')?;
    cursor.key("result")?;
    cursor.spaces();
    let from = cursor.rest;
    cursor.byte(b'{')?;
    if cursor.key("data").is_some() {
        cursor.data()?;
    } else {
        cursor.key("written")?;
        cursor.number()?;
        cursor.byte(b'}')?;
    }
    let result = &from[..from.len() - cursor.rest.len()];
    cursor.byte(b'}')?;
    cursor.end()?;
    Some((id, str::from_utf8(result).ok()?))
}

/// The data of a result, and whether the file has ended.
pub(super) fn data(result: &str) -> Option<(&str, bool)> {
    let mut cursor = MessageCursor {
        rest: result.as_bytes(),
    };
    cursor.byte(b'{')?;
    cursor.key("data")?;
    let found = cursor.data()?;
    cursor.end()?;
    Some(found)
}

/// Whether a text needs no escapes in JSON.
pub(super) fn is_plain(text: &str) -> bool {
    // Without an early end, so that the compiler looks at many bytes at once.
    let is_escaped = |byte: &u8| *byte < b' ' || *byte == b'"' || *byte == b'\\';
    !text
        .as_bytes()
        .iter()
        .fold(false, |found, byte| found | is_escaped(byte))
}

/// What is left of a message. Spaces between its parts, which some clients write, are passed over.
struct MessageCursor<'a> {
    rest: &'a [u8],
}

impl<'a> MessageCursor<'a> {
    fn spaces(&mut self) {
        while let [b' ', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    fn byte(&mut self, expected: u8) -> Option<()> {
        self.spaces();
        let (first, rest) = self.rest.split_first()?;
        if *first != expected {
            return None;
        }
        self.rest = rest;
        Some(())
    }

    /// A key and its colon; nothing is taken if it is another key.
    fn key(&mut self, key: &str) -> Option<()> {
        self.spaces();
        let rest = self.rest.strip_prefix(b"\"")?;
        let rest = rest.strip_prefix(key.as_bytes())?;
        let mut after = Self {
            rest: rest.strip_prefix(b"\"")?,
        };
        after.byte(b':')?;
        *self = after;
        Some(())
    }

    /// A string without escapes.
    fn string(&mut self) -> Option<&'a str> {
        self.byte(b'"')?;
        let end = memchr::memchr2(b'"', b'\\', self.rest)?;
        let (content, rest) = self.rest.split_at(end);
        self.rest = rest.strip_prefix(b"\"")?;
        str::from_utf8(content).ok().filter(|text| is_plain(text))
    }

    fn id(&mut self) -> Option<&'a str> {
        self.string().filter(|id| id.len() + QUOTES <= MAX_ID)
    }

    /// A whole number without sign.
    fn number(&mut self) -> Option<u64> {
        self.spaces();
        let length = self.rest.iter().take_while(|byte| byte.is_ascii_digit());
        let (digits, rest) = self.rest.split_at(length.count());
        if digits.len() > 1 && digits[0] == b'0' {
            return None;
        }
        self.rest = rest;
        str::from_utf8(digits).ok()?.parse().ok()
    }

    fn flag(&mut self) -> Option<bool> {
        self.spaces();
        let (flag, rest) = match self.rest {
            [b't', b'r', b'u', b'e', rest @ ..] => (true, rest),
            [b'f', b'a', b'l', b's', b'e', rest @ ..] => (false, rest),
            _ => return None,
        };
        self.rest = rest;
        Some(flag)
    }

    /// The rest of a result with data, from the value of `data` to its end.
    fn data(&mut self) -> Option<(&'a str, bool)> {
        let data = self.string()?;
        self.byte(b',')?;
        self.key("eof")?;
        let eof = self.flag()?;
        self.byte(b'}')?;
        Some((data, eof))
    }

    fn end(&mut self) -> Option<()> {
        self.spaces();
        self.rest.is_empty().then_some(())
    }
}

/// An id is measured as it is written.
const QUOTES: usize = 2;

#[cfg(test)]
mod tests;
