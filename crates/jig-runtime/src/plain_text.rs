//! Text of a program, made fit for people and models.
//!
//! Programs colour their output, draw bars and move the cursor, and a hostile one forges what a person
//! sees or makes a terminal answer. None of that is content.

#[cfg(test)]
mod tests;

/// The text without terminal sequences and control characters, except for newlines and tabs. A carriage
/// return, which draws over a line, begins a new one.
pub(crate) fn plain(text: &str) -> String {
    if text.bytes().all(is_clean) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut inside = Inside::Text;
    for c in text.chars() {
        inside = inside.next(c, &mut out);
    }
    out
}

/// What a program printed, as plain text: control sequences are left out, and what is no UTF-8 is replaced.
pub fn plain_bytes(bytes: &[u8]) -> String {
    plain(&String::from_utf8_lossy(bytes))
}

/// The same for bytes that arrive in pieces, which may break sequences and characters in two.
#[derive(Debug, Default)]
pub(crate) struct PlainStream {
    inside: Inside,
    /// The beginning of a character whose rest has not come.
    begun: Vec<u8>,
}

impl PlainStream {
    /// Takes a piece and appends to `out` what is left of it.
    pub(crate) fn push(&mut self, piece: &[u8], out: &mut String) {
        if self.inside == Inside::Text
            && self.begun.is_empty()
            && piece.iter().copied().all(is_clean)
            && let Ok(text) = std::str::from_utf8(piece)
        {
            out.push_str(text);
            return;
        }
        let joined = [std::mem::take(&mut self.begun).as_slice(), piece].concat();
        let whole = joined.len() - unfinished(&joined);
        self.begun = joined[whole..].to_vec();
        self.take(&joined[..whole], out);
    }

    /// Appends what is left of a character that never came whole.
    pub(crate) fn finish(&mut self, out: &mut String) {
        let begun = std::mem::take(&mut self.begun);
        self.take(&begun, out);
    }

    fn take(&mut self, bytes: &[u8], out: &mut String) {
        for c in String::from_utf8_lossy(bytes).chars() {
            self.inside = self.inside.next(c, out);
        }
    }
}

/// How many bytes at the end begin a character that is not whole.
fn unfinished(bytes: &[u8]) -> usize {
    let longest = bytes.len().min(3);
    let is_begun = |length: &usize| {
        let tail = &bytes[bytes.len() - length..];
        let begins = tail[0] & 0b1100_0000 != 0b1000_0000;
        begins && std::str::from_utf8(tail).is_err_and(|error| error.error_len().is_none())
    };
    (1..=longest).find(is_begun).unwrap_or(0)
}

/// Where in a text somebody is who reads it character by character.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Inside {
    #[default]
    Text,
    /// After a carriage return.
    Return,
    /// After an escape character.
    Escape,
    /// In the intermediate characters of a sequence: `ESC ( B`.
    Intermediate,
    /// In the parameters of a control sequence: `ESC [ 31 m`.
    Parameters,
    /// In a string: up to a bell or `ESC \`. One that is never closed ends with its line, so that a stray
    /// byte does not take the rest of the output with it.
    String,
    /// After an escape character in a string.
    StringEscape,
}

impl Inside {
    /// Takes a character, and says what follows it.
    fn next(self, c: char, out: &mut String) -> Self {
        match (self, c) {
            // Of `\r\n` the second says it already.
            (Self::Return, '\r') => Self::Return,
            (Self::Return, '\n') => Self::Text.next(c, out),
            (Self::Return, c) => {
                out.push('\n');
                Self::Text.next(c, out)
            }
            (Self::Escape, '[') => Self::Parameters,
            (Self::Escape, ']' | 'P' | 'X' | '^' | '_') => Self::String,
            (Self::Escape | Self::Intermediate, ' '..='/') => Self::Intermediate,
            (Self::Escape | Self::Intermediate, '0'..='~') => Self::Text,
            (Self::Parameters, ' '..='?') => Self::Parameters,
            (Self::Parameters, '@'..='~') => Self::Text,
            (Self::String, '\u{7}' | '\u{9c}') | (Self::StringEscape, '\\') => Self::Text,
            (Self::String | Self::StringEscape, '\u{1b}') => Self::StringEscape,
            (Self::String | Self::StringEscape, '\n') => Self::Text.next(c, out),
            (Self::StringEscape, c) => Self::String.next(c, out),
            (Self::String, _) => Self::String,
            (_, '\n' | '\t') => {
                out.push(c);
                Self::Text
            }
            (_, '\r') => Self::Return,
            (_, '\u{1b}') => Self::Escape,
            // The same in one character.
            (_, '\u{9b}') => Self::Parameters,
            (_, '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}') => Self::String,
            (_, c) if c.is_control() => Self::Text,
            (_, c) => {
                out.push(c);
                Self::Text
            }
        }
    }
}

fn is_clean(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\t' | b' '..=b'~')
}
