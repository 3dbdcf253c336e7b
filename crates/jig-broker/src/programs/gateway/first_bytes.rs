//! What a connection speaks, by its first bytes.

use memchr::{memchr, memmem};

use super::head::is_token;

/// What a connection speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionProtocol {
    /// HTTP/1, or what servers may take for it.
    Http,
    /// TLS.
    Tls,
    /// HTTP/2 without TLS: requests that nobody could judge by their URL without taking part in it.
    Http2,
    /// Something else.
    Other,
}

/// What begins in this way; `None` if more bytes are needed to tell.
///
/// Whatever a lenient server could take for a request counts as one, so that it is judged as one.
pub(super) fn speech(bytes: &[u8]) -> Option<ConnectionProtocol> {
    match bytes {
        [] | [TLS] => return None,
        [TLS, 3, ..] => return Some(ConnectionProtocol::Tls),
        _ => {}
    }
    // Servers pass over empty lines before a request, some over any number of them.
    let start = bytes.iter().position(|byte| !b"\r\n \t".contains(byte));
    let Some(start) = start else {
        return (bytes.len() > MAX_BLANK).then_some(ConnectionProtocol::Http);
    };
    let bytes = &bytes[start..];
    // There are servers that take any word for a method.
    let method = bytes.iter().take_while(|byte| is_token(**byte)).count();
    match bytes.get(method) {
        Some(byte) if method > 0 && is_gap(*byte) => {}
        Some(_) => return Some(ConnectionProtocol::Other),
        // A word that long is refused as a request.
        None => return (bytes.len() > MAX_LINE).then_some(ConnectionProtocol::Http),
    }
    let Some(end) = memchr(b'\n', bytes) else {
        if bytes.iter().any(|byte| is_binary(*byte)) {
            return Some(ConnectionProtocol::Other);
        }
        return (bytes.len() > MAX_LINE).then_some(ConnectionProtocol::Http);
    };
    let line = &bytes[..end];
    let version = line
        .windows(VERSION.len())
        .rposition(|part| part.eq_ignore_ascii_case(VERSION));
    Some(match version {
        Some(at) if line[at + VERSION.len()..].starts_with(b"2") => ConnectionProtocol::Http2,
        Some(_) => ConnectionProtocol::Http,
        None if is_ancient(line) => ConnectionProtocol::Http,
        None => ConnectionProtocol::Other,
    })
}

/// Whether a beginning of which more is needed can only become TLS.
pub(super) fn is_secured(bytes: &[u8]) -> bool {
    bytes.first() == Some(&TLS)
}

/// What some server takes for the gap between two words.
fn is_gap(byte: u8) -> bool {
    matches!(byte, b'\t' | 0x0b | 0x0c | b'\r' | 0x1c..=b' ')
}

/// What no server takes for a part of a request, and what other protocols than that of the web are full of.
fn is_binary(byte: u8) -> bool {
    matches!(byte, 0..=8 | 0x0e..=0x1b | 0x7f)
}

/// A request as it was before there were versions: it names no host but in its URL.
fn is_ancient(line: &[u8]) -> bool {
    let Some((b"GET", rest)) = line.split_at_checked(3) else {
        return false;
    };
    let target = rest.trim_ascii();
    target.starts_with(b"/") || memmem::find(target, b"://").is_some()
}

/// The first byte of a TLS record that begins a handshake.
const TLS: u8 = 0x16;

/// How the version of a request begins.
const VERSION: &[u8] = b"HTTP/";

/// How many blank bytes may come first.
const MAX_BLANK: usize = 64;

/// The longest first line that is waited for.
const MAX_LINE: usize = super::head::MAX_HEAD;

#[cfg(test)]
mod tests;
