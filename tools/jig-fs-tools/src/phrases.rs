//! How results and errors name things.

use std::borrow::Cow;

use jig_tool::{Hint, ToolError, is_deceptive, visible_line};

/// A path or another text in backticks, on one line and not too long: it may come from a model or
/// from a file name, and must not look like anything else.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED_CHARS) {
        Some((end, _)) => format!("`{}…`", visible_line(&text[..end])),
        None => format!("`{}`", visible_line(text)),
    }
}

/// A path as it is, unless it would not stay on its line: a file name may hold line ends, and what
/// follows one must not pass for another path.
pub(crate) fn one_line(path: &str) -> Cow<'_, str> {
    if path.contains(is_deceptive) {
        return Cow::Owned(visible_line(path));
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
