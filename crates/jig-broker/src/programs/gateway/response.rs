//! The head of a server's answer, with the word that the connection ends after it.

use std::io;

use memchr::memchr;

/// Passes an answer on. Its head says that the connection is closed, whatever the server wrote; the
/// rest goes on as it is.
#[derive(Debug)]
pub(super) struct GatewayResponse {
    head: Vec<u8>,
    switch: ProtocolSwitch,
    state: ResponseState,
}

/// Whether the connection may become a web socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProtocolSwitch {
    /// The program did not ask for it.
    No,
    /// If the server agrees.
    Maybe,
    /// It must, because nothing else is allowed.
    Must,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResponseState {
    Head,
    Body,
    Switched,
}

impl GatewayResponse {
    pub(super) fn new(switch: ProtocolSwitch) -> Self {
        Self {
            head: Vec::new(),
            switch,
            state: ResponseState::Head,
        }
    }

    /// Whether the rest needs no reading.
    pub(super) fn is_plain(&self) -> bool {
        self.state != ResponseState::Head
    }

    /// Whether the server agreed to a web socket.
    pub(super) fn is_switched(&self) -> bool {
        self.state == ResponseState::Switched
    }

    pub(super) fn pass(&mut self, mut input: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        while self.state == ResponseState::Head && !input.is_empty() {
            let end = memchr(b'\n', input).map_or(input.len(), |end| end + 1);
            let (part, rest) = input.split_at(end);
            self.head.extend_from_slice(part);
            input = rest;
            if self.head.len() > MAX_HEAD {
                return Err(malformed("the head of the answer is too long"));
            }
            if self.head.ends_with(b"\n\r\n") || self.head.ends_with(b"\n\n") {
                let head = std::mem::take(&mut self.head);
                self.finish_head(&head, out)?;
            }
        }
        out.extend_from_slice(input);
        Ok(())
    }

    fn finish_head(&mut self, head: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        let status = status(head).ok_or_else(|| malformed("the answer is not HTTP/1"))?;
        match status {
            101 if self.switch != ProtocolSwitch::No => {
                out.extend_from_slice(head);
                self.state = ResponseState::Switched;
            }
            101 => return Err(malformed("the server changes the protocol unasked")),
            // The answer proper is still to come.
            100..=199 => out.extend_from_slice(head),
            _ if self.switch == ProtocolSwitch::Must => {
                return Err(malformed(
                    "the server does not agree to a web socket, and no rule allows plain HTTP",
                ));
            }
            _ => {
                write_closing(head, out);
                self.state = ResponseState::Body;
            }
        }
        Ok(())
    }
}

fn status(head: &[u8]) -> Option<u16> {
    let rest = head.strip_prefix(b"HTTP/1.")?;
    let digits = rest.get(2..5)?;
    let text = std::str::from_utf8(digits).ok()?;
    let status = text.parse().ok()?;
    (rest.first()?.is_ascii_digit() && rest.get(1) == Some(&b' ')).then_some(status)
}

/// Writes the head without what it says about the connection, and with our word on it.
fn write_closing(head: &[u8], out: &mut Vec<u8>) {
    let mut is_dropped = false;
    let mut lines = head.split_inclusive(|byte| *byte == b'\n');
    out.extend_from_slice(lines.next().unwrap_or_default());
    for line in lines {
        let is_end = line == b"\r\n" || line == b"\n";
        if is_end {
            out.extend(b"Connection: close\r\n");
        }
        let goes_on = line.starts_with(b" ") || line.starts_with(b"\t");
        if !goes_on {
            let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
            let name = name.trim_ascii();
            is_dropped = DROPPED
                .iter()
                .any(|dropped| name.eq_ignore_ascii_case(dropped));
        }
        if !is_dropped {
            out.extend_from_slice(line);
        }
    }
}

fn malformed(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

const DROPPED: [&[u8]; 4] = [
    b"connection",
    b"keep-alive",
    b"proxy-connection",
    b"upgrade",
];

/// The longest head of an answer. A server could send one that never ends.
const MAX_HEAD: usize = 256 * 1024;

#[cfg(test)]
mod tests;
