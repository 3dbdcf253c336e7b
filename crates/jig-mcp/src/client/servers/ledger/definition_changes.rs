//! [`changed`]: what became of a definition, as a person reads it.

use jig_config::Definition;
use jig_proto::visible_lines;
use serde_json::Value;

use crate::text_prefix::cut;

/// What is different between the definition that was accepted and the one that there is now; all of it, if none
/// was. Printable, and at most [`LONGEST`] bytes long. Lines that went begin with `-`, lines that came with `+`.
pub(super) fn changed(accepted: Option<&Definition>, now: &Definition) -> String {
    let mut text = String::new();
    let none = [const { String::new() }; 6];
    let old = accepted.map_or(none, parts);
    for ((name, old), new) in NAMES.iter().zip(old).zip(parts(now)) {
        if old != new {
            part(&mut text, name, &old, &new);
        }
    }
    if text.len() > LONGEST {
        let hidden = text.len() - LONGEST;
        text = format!("{}\n… and {hidden} bytes more", cut(&text, LONGEST));
    }
    visible_lines(&text)
}

/// What a definition says, part by part, as text.
fn parts(definition: &Definition) -> [String; 6] {
    let Definition {
        title,
        description,
        input,
        output,
        annotations,
        rest,
        ..
    } = definition;
    let pretty = |value: Option<&Value>| {
        let text = value.map(serde_json::to_string_pretty);
        text.and_then(Result::ok).unwrap_or_default()
    };
    let rest = (!rest.is_empty()).then(|| Value::Object(rest.clone()));
    [
        title.clone().unwrap_or_default(),
        description.clone().unwrap_or_default(),
        pretty(Some(input)),
        pretty(output.as_ref()),
        pretty(annotations.as_ref()),
        pretty(rest.as_ref()),
    ]
}

/// Adds what is different between two texts: what both begin and end with is left out, but for a line or two.
fn part(text: &mut String, name: &str, old: &str, new: &str) {
    let (old, new) = (lines(old), lines(new));
    let before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - before;
    let ends = old.iter().rev().zip(new.iter().rev());
    let after = ends.take(rest).take_while(|(a, b)| a == b).count();
    text.push_str(&format!("@@ {name} @@\n"));
    let around = |text: &mut String, lines: &[&str]| {
        for line in lines {
            text.push_str(&format!("  {line}\n"));
        }
    };
    around(text, &old[before.saturating_sub(CONTEXT)..before]);
    for (sign, lines, end) in [
        ("-", &old, old.len() - after),
        ("+", &new, new.len() - after),
    ] {
        let lines = &lines[before..end];
        for line in lines.iter().take(MOST_LINES) {
            text.push_str(&format!("{sign} {line}\n"));
        }
        if let Some(more) = lines.len().checked_sub(MOST_LINES).filter(|more| *more > 0) {
            text.push_str(&format!("{sign} … and {more} lines more\n"));
        }
    }
    let end = old.len() - after;
    around(text, &old[end..(end + CONTEXT).min(old.len())]);
}

/// The lines of a text. One that is long is several: else what changed in it could stand far to the right.
fn lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    for mut line in text.lines() {
        while line.len() > LONGEST_LINE {
            let head = cut(line, LONGEST_LINE);
            lines.push(head);
            line = &line[head.len()..];
        }
        lines.push(line);
    }
    lines
}

/// What the parts are called.
const NAMES: [&str; 6] = [
    "title",
    "description",
    "parameters",
    "result",
    "hints",
    "other",
];

/// Lines that are shown around a change.
const CONTEXT: usize = 2;

/// The longest line, in bytes.
const LONGEST_LINE: usize = 120;

/// The most lines of a part that are shown as gone, or as new.
const MOST_LINES: usize = 300;

/// The longest text, in bytes: a server chooses what it says. The board shows twice that.
pub(super) const LONGEST: usize = 32 << 10;

#[cfg(test)]
mod tests;
