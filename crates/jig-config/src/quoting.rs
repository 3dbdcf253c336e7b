//! Names in messages: quoting what the user wrote, and guessing what was meant.

use jig_proto::{is_deceptive, visible_line};

/// `text` in backticks, on one line, at most [`MAX_QUOTED`] characters long.
///
/// What is quoted comes from files that anybody may have written: control characters would let
/// them paint over the terminal.
pub(crate) fn quote(text: &str) -> String {
    format!("`{}`", clean(text))
}

/// The same where somebody decides by it, and the end matters as much as the beginning.
pub(crate) fn quote_whole(text: &str) -> String {
    format!("`{}`", clean_whole(text))
}

/// `text` without control characters, shortened.
pub(crate) fn clean(text: &str) -> String {
    clean_to(text, MAX_QUOTED)
}

/// The same where somebody decides by it.
pub(crate) fn clean_whole(text: &str) -> String {
    clean_to(text, MAX_DECIDED)
}

fn clean_to(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", visible_line(&text[..end])),
        None => visible_line(text),
    }
}

/// The candidate that was probably meant by `name`.
pub(crate) fn closest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // The distance is quadratic in the length, and no key is that long.
    if name.len() > MAX_QUOTED {
        return None;
    }
    let wanted = fold(name);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate.len() > MAX_QUOTED {
            continue;
        }
        let other = fold(candidate);
        // `str` for `string` is far by letters, but an abbreviation is no accident.
        let distance = if wanted.len() >= 3 && other.starts_with(&wanted) {
            1
        } else {
            strsim::damerau_levenshtein(&wanted, &other)
        };
        let limit = (wanted.chars().count().max(other.chars().count()) / 3).max(1);
        let shares = wanted.chars().any(|one| other.contains(one));
        if distance <= limit && shares && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn fold(name: &str) -> String {
    name.to_lowercase().replace('-', "_")
}

/// A dotted key as it is written in TOML: quoted where it must be.
pub(crate) fn dotted(path: &[String]) -> String {
    let mut text = String::new();
    for step in path {
        if step.starts_with('[') {
            text.push_str(step);
            continue;
        }
        if !text.is_empty() {
            text.push('.');
        }
        text.push_str(&key(step));
    }
    text
}

/// One key as it is written in TOML.
pub(crate) fn key(name: &str) -> String {
    let bare = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if bare {
        name.to_owned()
    } else if name.contains('\'') || name.contains(is_deceptive) {
        crate::show::basic_string(name)
    } else {
        format!("'{name}'")
    }
}

/// How much of a text is repeated in a message.
const MAX_QUOTED: usize = 80;

/// The longest quoted text by which somebody decides, in characters: a script that a command names may be long, but
/// not without end.
const MAX_DECIDED: usize = 4000;

#[cfg(test)]
mod tests;
