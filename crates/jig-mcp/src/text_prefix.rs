//! [`cut()`]: the beginning of a text that may be of any length.

/// The longest part from the start that has at most `limit` bytes.
pub(crate) fn cut(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}
