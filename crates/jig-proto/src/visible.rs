//! Foreign text, before a person or a model is shown it: [`visible_line`] and its kin.
//!
//! A tool chooses names, paths, arguments and words. Shown as they are, they could steer a terminal, hide a part of
//! themselves, or make one thing look like another: the question that a person answers would not be the one that is
//! asked. There is one table of the characters that do so, [`DECEPTIVE`], and one way to show them: `\u{202e}`, with the
//! usual `\n`, `\r` and `\t`. Where
//! text stands in a language that has escapes of its own, such as JSON, TOML or a shell, [`is_deceptive`] says what
//! is escaped, and the language says how.
//!
//! Letters of all languages, accents and emoji stay what they are. Two things that are ordinary in a few texts do
//! not: the joiners U+200C and U+200D, which some languages and some emoji use, are escaped, too.

use std::fmt::Write as _;

#[cfg(test)]
mod tests;

/// Characters that a reader does not see as themselves, all for one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deceptive {
    /// The first of them.
    pub first: char,
    /// The last of them.
    pub last: char,
    /// What they do.
    pub why: &'static str,
}

/// All characters that are escaped, in order.
pub const DECEPTIVE: &[Deceptive] = &[
    row('\0', '\u{1f}', "controls: a terminal obeys them"),
    row('\u{7f}', '\u{9f}', "delete, and the controls of eight bits"),
    row('\u{ad}', '\u{ad}', "soft hyphen: not seen inside a line"),
    row('\u{34f}', '\u{34f}', "grapheme joiner: never seen"),
    row('\u{61c}', '\u{61c}', "Arabic letter mark: turns text round"),
    row(
        '\u{115f}',
        '\u{1160}',
        "Hangul fillers: letters without a shape",
    ),
    row('\u{17b4}', '\u{17b5}', "Khmer vowels without a shape"),
    row(
        '\u{180b}',
        '\u{180f}',
        "Mongolian selectors and vowel separator: not seen",
    ),
    row(
        '\u{200b}',
        '\u{200f}',
        "zero-width space, joiners and direction marks",
    ),
    row(
        '\u{2028}',
        '\u{2029}',
        "line ends that are none for most programs",
    ),
    row(
        '\u{202a}',
        '\u{202e}',
        "embeddings and overrides: turn text round",
    ),
    row(
        '\u{2060}',
        '\u{206f}',
        "word joiner, operators without a shape, isolates",
    ),
    row(
        '\u{3164}',
        '\u{3164}',
        "Hangul filler: a letter without a shape",
    ),
    // `visible_line` and its kin leave the one after an emoji.
    row(
        '\u{fe00}',
        '\u{fe0f}',
        "variation selectors: not seen, and can carry text",
    ),
    row('\u{feff}', '\u{feff}', "byte order mark: not seen"),
    row('\u{ffa0}', '\u{ffa0}', "Hangul filler of half width"),
    row(
        '\u{fff0}',
        '\u{fffb}',
        "interlinear annotation, and what is not seen beside it",
    ),
    row('\u{13430}', '\u{1345f}', "controls of hieroglyphs"),
    row('\u{1bca0}', '\u{1bca3}', "controls of shorthand"),
    row('\u{1d173}', '\u{1d17a}', "controls of musical notes"),
    row(
        '\u{e0000}',
        '\u{e0fff}',
        "tags and more selectors: not seen, and can carry text",
    ),
];

const fn row(first: char, last: char, why: &'static str) -> Deceptive {
    Deceptive { first, last, why }
}

/// Whether a reader does not see the character as itself.
pub fn is_deceptive(c: char) -> bool {
    // Most are neither.
    if (' '..='~').contains(&c) {
        return false;
    }
    let after = DECEPTIVE.partition_point(|row| row.first <= c);
    after
        .checked_sub(1)
        .is_some_and(|index| c <= DECEPTIVE[index].last)
}

/// The text on one line, exactly: line ends and tabs are escaped, too. For names, paths and targets.
pub fn visible_line(text: &str) -> String {
    shown(text, usize::MAX, |_| None)
}

/// The same, at most `limit` bytes of it or one character more, and then `…`.
pub fn visible_line_to(text: &str, limit: usize) -> String {
    shown(text, limit, |_| None)
}

/// The text on one line, with a space for every line end and tab. For sentences.
pub fn visible_words(text: &str) -> String {
    shown(text, usize::MAX, |c| {
        matches!(c, '\n' | '\r' | '\t').then_some(' ')
    })
}

/// The text with its line ends and tabs. For what has lines: contents, diffs, arguments.
pub fn visible_lines(text: &str) -> String {
    shown(text, usize::MAX, |c| matches!(c, '\n' | '\t').then_some(c))
}

/// Lines that hold colours of ours: as [`visible_lines`], but sequences that only choose colours stay.
///
/// It is the last guard before a terminal. Foreign text is made visible before it is put between colours: here it
/// could still choose its own.
pub fn visible_painted(text: &str) -> String {
    let mut painted = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let (before, from) = rest.split_at(at);
        painted.push_str(&visible_lines(before));
        let length = colour(from).unwrap_or(0);
        painted.push_str(&from[..length]);
        if length == 0 {
            painted.extend('\u{1b}'.escape_unicode());
        }
        rest = &from[length.max(1)..];
    }
    painted.push_str(&visible_lines(rest));
    painted
}

/// How long the sequence is with which the text begins, if that only chooses colours.
fn colour(text: &str) -> Option<usize> {
    let choice = text.strip_prefix("\u{1b}[")?;
    let end = choice.find(|c: char| !matches!(c, '0'..='9' | ';'))?;
    choice[end..].starts_with('m').then_some(end + 3)
}

/// JSON with what is deceptive in its texts escaped as JSON does it: it says the same, and can be looked at.
pub fn visible_json(json: String) -> String {
    if !json.contains(|c| is_deceptive(c) && c != '\n') {
        return json;
    }
    let mut shown = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        // Between values there are line ends; in texts there are none.
        if !is_deceptive(c) || c == '\n' {
            shown.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string does not fail.
            let _ = write!(shown, "\\u{unit:04x}");
        }
    }
    shown
}

/// The text with what is deceptive in it escaped, except where `instead` has something else.
fn shown(text: &str, limit: usize, instead: impl Fn(char) -> Option<char>) -> String {
    let mut shown = String::with_capacity(text.len().min(limit) + 4);
    let (mut before, mut marks) = (None, 0);
    for c in text.chars() {
        if shown.len() >= limit {
            shown.push('…');
            break;
        }
        marks = if is_mark(c) { marks + 1 } else { 0 };
        let is_style = c == EMOJI_STYLE && before.is_some_and(is_emoji);
        if let Some(other) = instead(c) {
            shown.push(other);
        } else if is_deceptive(c) && !is_style || marks > MOST_MARKS {
            push_escaped(&mut shown, c);
        } else {
            shown.push(c);
        }
        before = Some(c);
    }
    shown
}

fn push_escaped(text: &mut String, c: char) {
    match c {
        '\n' | '\r' | '\t' => text.extend(c.escape_default()),
        c => text.extend(c.escape_unicode()),
    }
}

/// Marks that can be put on every letter, one over the other.
fn is_mark(c: char) -> bool {
    matches!(
        c,
        '\u{300}'..='\u{36f}'
            | '\u{483}'..='\u{489}'
            | '\u{1ab0}'..='\u{1aff}'
            | '\u{1dc0}'..='\u{1dff}'
            | '\u{20d0}'..='\u{20ff}'
            | '\u{fe20}'..='\u{fe2f}'
    )
}

/// Symbols that the selector makes an emoji of.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

/// The selector that makes a symbol an emoji.
const EMOJI_STYLE: char = '\u{fe0f}';

/// How many marks in a row are left. No language needs more on a letter, and a heap of them is painted over the lines
/// around it.
const MOST_MARKS: usize = 4;
