//! What went wrong with a server, in words for a person or a model.

use std::error::Error;
use std::fmt::Write as _;
use std::time::Duration;

use jig_proto::{Denial, visible_lines, visible_words};

use crate::text_prefix::cut;

/// An error and its causes, each on a line of its own.
pub(super) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(one) = cause {
        let one_text = one.to_string();
        // Some errors say in their own text what their cause says.
        if !text.contains(&one_text) {
            text.push('\n');
            text.push_str(&one_text);
        }
        cause = one.source();
    }
    bounded(&text)
}

/// What went wrong, and what the program last printed to standard error, if that is anything.
pub(super) fn with_last_words(why: &str, last_words: &str) -> String {
    let mut text = bounded(why);
    let said = last_words.trim_end();
    if !said.trim_start().is_empty() {
        let start = said.ceil_char_boundary(said.len().saturating_sub(LONGEST_LAST_WORDS));
        let said = visible_lines(&said[start..]);
        text.push_str("\nit last printed:");
        for line in said.lines() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n  {line}");
        }
    }
    text
}

/// What was refused, each with the rule that would allow it, to follow what went wrong. Also who only lists tools is
/// told, in the same words as who calls one.
pub(super) fn denied(denials: &[Denial]) -> String {
    let mut text = String::new();
    for denial in denials.iter().take(MOST_DENIALS) {
        // Writing to a string cannot fail.
        let _ = write!(text, "\ndenied: {denial}");
    }
    if let Some(more) = denials.len().checked_sub(MOST_DENIALS).filter(|it| *it > 0) {
        let _ = write!(text, "\nand {more} more, which `jig log` shows");
    }
    text
}

/// What the first result after a restart says.
pub(super) fn restarted(server: &str, why: &str) -> String {
    format!(
        "note: the MCP server `{server}` was started anew for this call, and remembers nothing of before: {why}"
    )
}

/// Words that may stand in a result: printable, and not too many.
pub(super) fn bounded(text: &str) -> String {
    let kept = cut(text, LONGEST);
    let mut shown = visible_lines(kept);
    if kept.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// A name that came from elsewhere, as it may stand in a sentence.
pub(super) fn name(text: &str) -> String {
    visible_words(cut(text, 256))
}

/// A time as a person says it.
pub(super) fn time(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        seconds if seconds < 120 => format!("{seconds} s"),
        seconds if seconds < 7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

/// The longest reason, in bytes. Part of it is a server's own words.
const LONGEST: usize = 4 << 10;

/// More denials than that are not told at once.
const MOST_DENIALS: usize = 3;

/// How much of what a program printed stands in a result. The end of it says why it ended.
const LONGEST_LAST_WORDS: usize = 1 << 10;

#[cfg(test)]
mod tests;
