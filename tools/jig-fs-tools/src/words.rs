//! How results and errors name things.

use std::borrow::Cow;
use std::fmt::Write as _;

use jig_tool::{Hint, ToolError};

/// A path or another text in backticks, on one line and not too long: it may come from a model or
/// from a file name, and must not look like anything else.
pub(crate) fn quoted(text: &str) -> String {
    let mut shown = String::from("`");
    for (index, character) in text.chars().enumerate() {
        if index == QUOTED_CHARS {
            shown.push('…');
            break;
        }
        match character {
            control if control.is_control() => {
                let _ = write!(shown, "{}", control.escape_default());
            }
            other => shown.push(other),
        }
    }
    shown.push('`');
    shown
}

/// A path as it is, unless it would not stay on its line: a file name may hold line ends, and what
/// follows one must not pass for another path.
pub(crate) fn one_line(path: &str) -> Cow<'_, str> {
    if path.contains(char::is_control) {
        return Cow::Owned(path.escape_debug().to_string());
    }
    Cow::Borrowed(path)
}

/// `1 line`, `2 lines`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// The longest beginning of `text` that has at most `most` bytes.
pub(crate) fn beginning(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// An error with what the caller can do about it.
pub(crate) fn error(message: impl Into<String>, hint: Hint) -> ToolError {
    ToolError::new(format!("{}\n{hint}", message.into()))
}

/// How much of a text is repeated in a sentence.
const QUOTED_CHARS: usize = 200;
