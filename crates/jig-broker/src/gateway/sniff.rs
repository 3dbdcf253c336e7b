//! What a connection speaks, by its first bytes.

use memchr::{memchr, memmem};

/// What a connection speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speech {
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
pub(super) fn speech(bytes: &[u8]) -> Option<Speech> {
    match bytes {
        [] | [0x16] => return None,
        [0x16, 3, ..] => return Some(Speech::Tls),
        _ => {}
    }
    // Servers pass over empty lines before a request.
    let start = bytes.iter().position(|byte| !b"\r\n \t".contains(byte));
    let Some(start) = start else {
        return (bytes.len() > MAX_BLANK).then_some(Speech::Other);
    };
    let bytes = &bytes[start..];
    let is_method = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_');
    let method = bytes.iter().take_while(|byte| is_method(byte)).count();
    match bytes.get(method) {
        _ if method > MAX_METHOD => return Some(Speech::Other),
        None => return None,
        Some(b' ' | b'\t') if method > 0 => {}
        Some(_) => return Some(Speech::Other),
    }
    let Some(end) = memchr(b'\n', bytes) else {
        // A request that long is refused as one.
        return (bytes.len() > MAX_LINE).then_some(Speech::Http);
    };
    let line = &bytes[..end];
    let version = memmem::rfind(line, b"HTTP/").map(|at| &line[at..]);
    Some(match version {
        Some(version) if version.starts_with(b"HTTP/2") => Speech::Http2,
        Some(_) => Speech::Http,
        None => Speech::Other,
    })
}

/// The longest method. The longest registered one has 17 letters.
const MAX_METHOD: usize = 32;

/// How many blank bytes may come first.
const MAX_BLANK: usize = 64;

/// The longest first line that is waited for.
const MAX_LINE: usize = super::head::MAX_HEAD;

#[cfg(test)]
mod tests;
