//! URIs: those of our resources, and those that tools write.

use std::fmt::Write as _;

/// A name as one segment of a URI.
pub(crate) fn segment(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~');
    encoded(name, is_plain)
}

/// The name that a segment of a URI stands for; `None` if it is not well formed.
pub(crate) fn name(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = rest.get(..2)?;
        let digits = std::str::from_utf8(digits).ok()?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

/// What a tool wrote as a URI, as one that clients take: they refuse all of a result for one that is none.
///
/// A path becomes that of a file, and characters that cannot stand in a URI are encoded.
pub(crate) fn valid(written: &str) -> String {
    let is_allowed = |c: char| {
        c.is_ascii_graphic() && !matches!(c, '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}')
    };
    let text = encoded(written, is_allowed);
    match has_scheme(&text) {
        true => text,
        false => format!("file:///{}", text.trim_start_matches('/')),
    }
}

fn has_scheme(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let is_valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    // A single letter is a drive.
    scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(is_valid)
        && !rest.is_empty()
}

fn encoded(text: &str, is_plain: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_plain(c) {
            out.push(c);
            continue;
        }
        let mut bytes = [0; 4];
        for byte in c.encode_utf8(&mut bytes).bytes() {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests;
