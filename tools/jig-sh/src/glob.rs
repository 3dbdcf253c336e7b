//! `*`, `?` and `[…]` in words: the names that they stand for.

use jig_tool::proxy::Client;
use regex::Regex;

use crate::stream::CommandFailure;
use crate::syntax::{ShellWord, WordPiece};

/// The words that a word stands for: itself, unless there are files that match it.
pub(crate) fn expand(
    client: &Client,
    word: &ShellWord,
    status: u8,
) -> Result<Vec<String>, CommandFailure> {
    let is_special =
        |piece: &WordPiece| matches!(piece, WordPiece::Bare(text) if text.contains(SPECIAL));
    if !word.0.iter().any(is_special) {
        return Ok(vec![word.text(status)]);
    }
    let mut found = vec![match word.text(status).starts_with('/') {
        true => "/".to_owned(),
        false => String::new(),
    }];
    for (number, component) in components(word, status).iter().enumerate() {
        let mut next = Vec::new();
        for folder in &found {
            match component {
                GlobPart::Name(name) => next.push(join(folder, name)),
                GlobPart::Pattern { regex, dots } => {
                    let names = matching(client, folder, regex, *dots);
                    next.extend(names.map(|name| join(folder, &name)));
                }
            }
            if next.len() > MOST {
                return Err(CommandFailure::Said(format!(
                    "`{}` stands for more than {MOST} files",
                    word.text(status)
                )));
            }
        }
        // A name after the last pattern may be missing: then nothing of it matches.
        if number > 0 && matches!(component, GlobPart::Name(_)) {
            next.retain(|path| exists(client, path));
        }
        found = next;
    }
    match found.is_empty() {
        true => Ok(vec![word.text(status)]),
        false => Ok(found),
    }
}

/// A part of a path.
enum GlobPart {
    Name(String),
    Pattern {
        regex: Regex,
        /// Whether it speaks of names that begin with a dot.
        dots: bool,
    },
}

fn components(word: &ShellWord, status: u8) -> Vec<GlobPart> {
    // Each character, and whether it may stand for others.
    let mut chars = Vec::new();
    for piece in &word.0 {
        match piece {
            WordPiece::Bare(text) => chars.extend(text.chars().map(|c| (c, true))),
            WordPiece::Quoted(text) => chars.extend(text.chars().map(|c| (c, false))),
            WordPiece::Status => chars.extend(status.to_string().chars().map(|c| (c, false))),
        }
    }
    let parts = chars
        .split(|(c, _)| *c == '/')
        .filter(|part| !part.is_empty());
    parts.map(component).collect()
}

fn component(part: &[(char, bool)]) -> GlobPart {
    let name = || part.iter().map(|(c, _)| *c).collect();
    if !part.iter().any(|(c, bare)| *bare && SPECIAL.contains(c)) {
        return GlobPart::Name(name());
    }
    let mut regex = String::from("^(?s:");
    let mut rest = part;
    while let [(c, bare), after @ ..] = rest {
        rest = after;
        match c {
            '*' if *bare => regex.push_str(".*"),
            '?' if *bare => regex.push('.'),
            '[' if *bare => match set(after) {
                Some((set, length)) => {
                    regex.push_str(&set);
                    rest = &after[length..];
                }
                None => regex.push_str(r"\["),
            },
            c => regex.push_str(&regex::escape(&c.to_string())),
        }
    }
    regex.push_str(")$");
    let dots = part.first().is_some_and(|(c, _)| *c == '.');
    match Regex::new(&regex) {
        Ok(regex) => GlobPart::Pattern { regex, dots },
        Err(_) => GlobPart::Name(name()),
    }
}

/// The set that begins after a `[`, as a regex, and how many characters it takes.
fn set(after: &[(char, bool)]) -> Option<(String, usize)> {
    let negated = matches!(after.first(), Some(('!' | '^', true)));
    let start = usize::from(negated);
    // A `]` at the beginning is one of the set.
    let end = after.iter().skip(start + 1).position(|(c, _)| *c == ']')? + start + 1;
    let mut set = String::from(if negated { "[^" } else { "[" });
    for (c, bare) in &after[start..end] {
        match c {
            '-' if *bare => set.push('-'),
            c if c.is_alphanumeric() => set.push(*c),
            c => set.extend(['\\', *c]),
        }
    }
    set.push(']');
    Some((set, end + 1))
}

fn matching(
    client: &Client,
    folder: &str,
    regex: &Regex,
    dots: bool,
) -> impl Iterator<Item = String> + use<> {
    let folder = if folder.is_empty() { "." } else { folder };
    // What cannot be listed holds nothing that matches, as in other shells.
    let mut names: Vec<String> = client
        .list(folder)
        .unwrap_or_default()
        .into_iter()
        .map(|entry| entry.name)
        .filter(|name| (dots || !name.starts_with('.')) && regex.is_match(name))
        .collect();
    names.sort();
    names.into_iter()
}

fn exists(client: &Client, path: &str) -> bool {
    let (folder, name) = match path.rsplit_once('/') {
        Some(("", name)) => ("/", name),
        Some(both) => both,
        None => (".", path),
    };
    client
        .list(folder)
        .is_ok_and(|entries| entries.iter().any(|entry| entry.name == name))
}

fn join(folder: &str, name: &str) -> String {
    match folder.is_empty() || folder.ends_with('/') {
        true => format!("{folder}{name}"),
        false => format!("{folder}/{name}"),
    }
}

const SPECIAL: [char; 3] = ['*', '?', '['];

/// The most files that a word stands for.
const MOST: usize = 10_000;
