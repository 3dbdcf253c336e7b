//! A call with `subjects`: their text (W-052).

use std::collections::HashSet;

use crate::arguments::Arguments;
use crate::listing::sorted;
use crate::near::near;
use crate::pattern::Pattern;
use crate::subject::{Content, Subject};
use crate::text::{quote, size};
use crate::walk::{Found, walk};

/// The text of the subjects that are asked for: of one alone, of several each with its name around it.
pub(crate) fn load(arguments: &Arguments) -> Result<String, String> {
    let patterns: Vec<Pattern> = arguments
        .subjects
        .iter()
        .map(|one| Pattern::new(one))
        .collect();
    let is_wild = patterns.iter().any(Pattern::is_wild);
    let found = walk(arguments, &patterns, is_wild)?;
    let mut chosen: Vec<&Subject> = Vec::new();
    let mut taken = HashSet::new();
    let mut notes = Vec::new();
    let mut unknown = Vec::new();
    for pattern in &patterns {
        let matching = asked_by(pattern, &found);
        if matching.is_empty() {
            unknown.push(pattern);
        }
        let fresh = matching.into_iter().filter(|one| taken.insert(&one.path));
        chosen.extend(fresh);
    }
    if chosen.is_empty() {
        return Err(nothing_matches(arguments, &unknown, &found));
    }
    for pattern in unknown.iter().take(MOST_UNKNOWN) {
        notes.push(format!("no subject matches {}", quote(pattern.text())));
    }
    if let Some(more @ 1..) = chosen.len().checked_sub(MOST_SUBJECTS) {
        chosen.truncate(MOST_SUBJECTS);
        notes.push(format!("{more} more subjects match: narrow the pattern"));
    }
    if is_wild && !found.is_complete {
        notes.push(
            "the topic holds more files than can be looked at: some may be missing here".to_owned(),
        );
    }
    let alone = chosen.len() == 1 && unknown.is_empty();
    let gathered = gather(
        &chosen,
        arguments.most().saturating_sub(RESERVED),
        &mut notes,
    );
    let mut text = String::new();
    for (subject, content) in &gathered {
        match alone {
            true => text.push_str(content),
            false => wrap(&mut text, &label(subject, &chosen), content),
        }
    }
    for note in notes {
        let gap = if text.is_empty() || text.ends_with("\n\n") {
            ""
        } else {
            "\n"
        };
        let end = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        text.push_str(&format!("{end}{gap}[{note}]\n"));
    }
    Ok(text)
}

/// The subjects that a pattern asks for, by name. An exact name means a hidden subject only if there is no
/// other of that name.
fn asked_by<'f>(pattern: &Pattern, found: &'f Found) -> Vec<&'f Subject> {
    let asked = found
        .subjects
        .iter()
        .filter(|subject| subject.is_asked_by(pattern));
    let mut asked: Vec<&Subject> = asked.collect();
    if asked.iter().any(|subject| !subject.is_hidden) {
        asked.retain(|subject| !subject.is_hidden);
    }
    asked
}

/// Reads subjects, as many as fit into `most` bytes. What is left out is noted.
pub(crate) fn gather<'s>(
    subjects: &[&'s Subject],
    most: usize,
    notes: &mut Vec<String>,
) -> Vec<(&'s Subject, String)> {
    let mut gathered = Vec::new();
    let mut left_out: Vec<String> = Vec::new();
    let mut left = most;
    for subject in subjects {
        let named = quote(&subject.name);
        // The first is cut if need be; of the others the whole, or nothing.
        let is_first = gathered.is_empty();
        let length = match subject.size() {
            Ok(length) => usize::try_from(length).unwrap_or(usize::MAX),
            Err(error) => {
                notes.push(format!("{named} cannot be read: {error}"));
                continue;
            }
        };
        // A binary file takes no room, and it takes little to see that it is one.
        let fits = length <= left.saturating_sub(AROUND);
        let limit = if fits || is_first {
            left.saturating_sub(AROUND)
        } else {
            0
        };
        match subject.read(limit) {
            Err(error) => notes.push(format!("{named} cannot be read: {error}")),
            Ok(Content::Binary(length)) => notes.push(format!(
                "{named} ({}, {}) is binary and was not loaded",
                quote(&subject.path),
                size(length)
            )),
            Ok(Content::Text { .. }) if !fits && !is_first => left_out.push(named),
            Ok(Content::Text { text, cut }) => {
                if let Some(length) = cut {
                    let shown = u64::try_from(limit).unwrap_or(u64::MAX);
                    notes.push(format!(
                        "only the first {} of {named} are shown, of {}",
                        size(shown),
                        size(length)
                    ));
                }
                if text.is_empty() {
                    notes.push(format!("{named} is empty"));
                }
                left = left.saturating_sub(text.len() + AROUND);
                gathered.push((*subject, text));
            }
        }
    }
    if !left_out.is_empty() {
        let more = left_out.len().saturating_sub(MOST_LEFT_OUT);
        left_out.truncate(MOST_LEFT_OUT);
        let and_more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        notes.push(format!(
            "left out, because the answer would be too long: {}{and_more}; load them apart",
            left_out.join(", ")
        ));
    }
    notes.truncate(MOST_NOTES);
    gathered
}

/// What a subject is called among others: by its file if two have its name.
pub(crate) fn label(subject: &Subject, among: &[&Subject]) -> String {
    let same = among.iter().filter(|other| other.name == subject.name);
    match same.count() > 1 {
        true => subject.path.clone(),
        false => subject.name.clone(),
    }
}

fn wrap(text: &mut String, name: &str, content: &str) {
    let name: String = name.chars().flat_map(escaped).collect();
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&format!("<subject name=\"{name}\">\n{content}"));
    if !content.is_empty() && !content.ends_with('\n') {
        text.push('\n');
    }
    text.push_str("</subject>\n");
}

/// A character between quotes, on one line.
fn escaped(one: char) -> Vec<char> {
    match one {
        '&' => "&amp;".chars().collect(),
        '"' => "&quot;".chars().collect(),
        '<' => "&lt;".chars().collect(),
        one if one.is_control() => one.escape_default().collect(),
        one => vec![one],
    }
}

fn nothing_matches(arguments: &Arguments, unknown: &[&Pattern], found: &Found) -> String {
    let topic = quote(&arguments.title());
    let asked = unknown
        .iter()
        .take(MOST_UNKNOWN)
        .map(|pattern| quote(pattern.text()));
    let asked = asked.collect::<Vec<_>>().join(", ");
    // What was looked at for an exact name is not all that there is.
    let all = walk(arguments, &[], true);
    let (mut names, mut learned) = sorted(arguments, all.as_ref().unwrap_or(found));
    names.append(&mut learned);
    names.sort_unstable();
    let mut meant: Vec<&str> = Vec::new();
    for pattern in unknown.iter().take(MOST_UNKNOWN) {
        meant.extend(near(pattern.text(), &names));
    }
    meant.dedup();
    let listed = |names: &[&str]| {
        let names = names.iter().take(MOST_NAMED).map(|name| quote(name));
        names.collect::<Vec<_>>().join(", ")
    };
    let hint = match (meant.as_slice(), names.len()) {
        ([], 0) => "hint: the topic has no subjects yet".to_owned(),
        ([], count @ 1..=MOST_NAMED) => {
            format!("hint: the {count} subjects are {}", listed(&names))
        }
        ([], count) => format!(
            "hint: there are {count} subjects, the first are {}; without `subjects` all are listed",
            listed(&names)
        ),
        (meant, _) => format!("hint: did you mean {}?", listed(meant)),
    };
    format!("no subject of {topic} matches {asked}\n{hint}")
}

/// How many subjects one call loads: each is a file to open.
pub(crate) const MOST_SUBJECTS: usize = 1000;

/// How many names that match nothing are repeated.
const MOST_UNKNOWN: usize = 10;

/// How many subjects that there are instead are named.
const MOST_NAMED: usize = 20;

/// How many subjects that did not fit are named.
const MOST_LEFT_OUT: usize = 50;

/// How many things are noted.
const MOST_NOTES: usize = 50;

/// What is kept of the answer for notes.
const RESERVED: usize = 1024;

/// What the name around a subject takes.
const AROUND: usize = 64;
