//! What the words of a failed program name: [`read`].
//!
//! A program that was refused something nearly always says what, in one of a few forms: `cat: /x: Permission
//! denied`, `ENOENT: no such file or directory, open '/x'`, `Could not resolve host: x`. What is read here is a guess
//! about what the program wanted. Whether that was refused is for the profile and the policy to say.
//!
//! The words are the program's own, so they may be hostile. Only their end is read, line by line, each line a fixed
//! number of times, and only a few things are named.

mod files;
mod hosts;

use std::net::SocketAddr;

/// Something that a program says it could not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MissingWish {
    /// One of these paths or programs, as the program wrote them; the likeliest comes first.
    File {
        candidates: Vec<String>,
        wanted: WantedAccess,
    },
    /// The address of a host by this name.
    Host(String),
    /// The address of a host that it does not name.
    SomeHost,
    /// A connection to this address.
    Address(SocketAddr),
}

/// What a program wanted of a file, as far as its words tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WantedAccess {
    /// It is there for the program, and something about it was refused.
    Something,
    /// It was not found. It may have been a program that was looked for by its name.
    Found,
    /// To make or to change it.
    Changed,
    /// To remove it.
    Removed,
}

/// What the end of a program's words names, in the order in which it is said; each thing once.
pub(super) fn read(said: &str) -> Vec<MissingWish> {
    let start = said.ceil_char_boundary(said.len().saturating_sub(LOOKED_AT));
    let lines: Vec<&str> = said[start..].lines().map(shortened).collect();
    let mut wishes = Vec::new();
    // From the end: what a program failed for comes last, and there may be too many.
    for at in (0..lines.len()).rev() {
        if wishes.len() >= MOST {
            break;
        }
        let lower = lines[at].to_ascii_lowercase();
        let around = LineInContext { lines: &lines, at };
        let found = files::named(&around, &lower).or_else(|| hosts::named(&around, &lower));
        for wish in found.into_iter().flatten().rev() {
            if !wishes.contains(&wish) {
                wishes.push(wish);
            }
        }
    }
    wishes.reverse();
    wishes
}

/// A line among the others.
struct LineInContext<'a> {
    lines: &'a [&'a str],
    at: usize,
}

impl<'a> LineInContext<'a> {
    fn line(&self) -> &'a str {
        self.lines[self.at]
    }

    /// The lines just before, the nearest first: some programs tell what failed, and below it why.
    fn before(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let first = self.at.saturating_sub(NEAR);
        self.lines[first..self.at].iter().rev().copied()
    }

    /// The lines just before and after.
    fn near(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let last = self.lines.len().min(self.at + 1 + NEAR);
        self.before()
            .chain(self.lines[self.at + 1..last].iter().copied())
    }
}

/// Texts in quotes, in their order. An apostrophe inside of a word is none.
fn quoted(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    let mut before = None;
    while let Some(open) = rest.chars().next() {
        let after = &rest[open.len_utf8()..];
        let close = QUOTES.iter().find(|(quote, _)| *quote == open);
        let is_opening = !before.is_some_and(char::is_alphanumeric);
        before = Some(open);
        rest = after;
        if let Some((_, close)) = close
            && is_opening
            && let Some(end) = after.find(*close)
        {
            if (1..=LONGEST_NAME).contains(&end) && found.len() < MOST_QUOTED {
                found.push(&after[..end]);
            }
            before = Some(*close);
            rest = &after[end + close.len_utf8()..];
        }
    }
    found
}

/// The beginning of a line that is too long.
fn shortened(line: &str) -> &str {
    &line[..line.floor_char_boundary(LONGEST_LINE)]
}

const QUOTES: [(char, char); 5] = [('\'', '\''), ('"', '"'), ('`', '`'), ('‘', '’'), ('“', '”')];

/// How much of what a program said is looked at, from its end: what it failed for comes last.
const LOOKED_AT: usize = 16 * 1024;

/// How much of a line is looked at.
const LONGEST_LINE: usize = 2048;

/// The longest name that is looked for. Paths can be longer, and hardly ever are.
const LONGEST_NAME: usize = 512;

/// How many things are named at most. For each, the host's own files are looked at.
const MOST: usize = 24;

/// How many texts in quotes are taken from one line.
const MOST_QUOTED: usize = 8;

/// How many lines before and after one belong to it.
const NEAR: usize = 4;

#[cfg(test)]
mod tests;
