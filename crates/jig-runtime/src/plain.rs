//! Text of a program, made fit for people and models.
//!
//! Programs colour their output, draw bars and move the cursor, and a hostile one forges what a person
//! sees or makes a terminal answer. None of that is content.

#[cfg(test)]
mod tests;

/// The text without terminal sequences and control characters, except for newlines and tabs. A carriage
/// return, which draws over a line, begins a new one.
pub(crate) fn plain(text: &str) -> String {
    let is_clean = |byte: u8| matches!(byte, b'\n' | b'\t' | b' '..=b'~');
    if text.bytes().all(is_clean) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' | '\t' => out.push(c),
            '\r' => {
                // Of `\r\n` the second says it already.
                while rest.next_if_eq(&'\r').is_some() {}
                if rest.peek().is_some_and(|next| *next != '\n') {
                    out.push('\n');
                }
            }
            '\u{1b}' => skip_sequence(&mut rest),
            // The same in one character.
            '\u{9b}' => skip_control_sequence(&mut rest),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => skip_string(&mut rest),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// The bytes as text: what is no UTF-8 is replaced.
pub(crate) fn plain_bytes(bytes: &[u8]) -> String {
    plain(&String::from_utf8_lossy(bytes))
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Skips what follows an escape character.
fn skip_sequence(rest: &mut Rest<'_>) {
    match rest.peek() {
        Some('[') => {
            rest.next();
            skip_control_sequence(rest);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            rest.next();
            skip_string(rest);
        }
        // Intermediate characters and a final one: `ESC ( B`.
        Some(' '..='~') => {
            while rest.next_if(|c| matches!(c, ' '..='/')).is_some() {}
            rest.next_if(|c| matches!(c, '0'..='~'));
        }
        _ => {}
    }
}

/// Skips parameters and the final character: `31m`.
fn skip_control_sequence(rest: &mut Rest<'_>) {
    while rest.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    rest.next_if(|c| matches!(c, '@'..='~'));
}

/// Skips a string up to its end: a bell or `ESC \`. One that is never closed ends with its line, so that
/// a stray byte does not take the rest of the output with it.
fn skip_string(rest: &mut Rest<'_>) {
    while let Some(c) = rest.next_if(|c| *c != '\n') {
        match c {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' if rest.next_if_eq(&'\\').is_some() => return,
            _ => {}
        }
    }
}
