//! Words of a component, made fit for people: names in it can hold anything.

use jig_proto::is_deceptive;
use jig_runtime::plain_bytes;

#[cfg(test)]
mod tests;

/// As much of a text as people read, without anything that a terminal would obey.
pub(crate) fn short(text: &str) -> String {
    plain(&text[..text.floor_char_boundary(MAX_TEXT)])
}

/// The text without terminal sequences and without characters that hide or reverse others. Lines and tabs stay.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = plain_bytes(text.as_bytes());
    plain.retain(|c| matches!(c, '\n' | '\t') || !is_deceptive(c));
    plain
}

/// The longest text of the engine that is passed on. It may quote names of the component, which can be as long
/// as that is.
const MAX_TEXT: usize = 2000;
