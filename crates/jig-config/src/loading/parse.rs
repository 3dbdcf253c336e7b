//! TOML text to [`ConfigNode`]s, with all syntax errors of a text at once.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use jig_proto::{Hint, hint};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::origin::{ConfigText, Origin};
use crate::problem::Problem;
use crate::quoting::quote;
use crate::value::{ConfigNode, TableEntries, TableEntry, Value};

/// Parses a whole text. With syntax errors there is no tree: what the parser recovered would
/// only produce errors about errors.
pub(crate) fn parse(text: &Arc<ConfigText>) -> Result<ConfigNode, Vec<Problem>> {
    let (document, errors) = DeTable::parse_recoverable(&text.content);
    if !errors.is_empty() {
        return Err(syntax_errors(text, &errors));
    }
    let mut problems = Vec::new();
    let span = document.span();
    let value = Value::Table(table(text, document.into_inner(), 0, &mut problems));
    if problems.is_empty() {
        Ok(ConfigNode {
            value,
            origin: Origin::new(text, span),
        })
    } else {
        Err(problems)
    }
}

/// Converts a parsed value; its spans count from `offset` in `text`.
pub(crate) fn convert(
    text: &Arc<ConfigText>,
    value: Spanned<DeValue<'_>>,
    offset: usize,
    problems: &mut Vec<Problem>,
) -> ConfigNode {
    let origin = Origin::new(text, shift(value.span(), offset));
    let value = match value.into_inner() {
        DeValue::String(value) => Value::Text(value.into_owned()),
        DeValue::Boolean(value) => Value::Bool(value),
        DeValue::Datetime(value) => Value::Date(value.to_string()),
        DeValue::Integer(value) => match i64::from_str_radix(value.as_str(), value.radix()) {
            Ok(value) => Value::Int(value),
            Err(_) => {
                problems.push(
                    Problem::error(
                        format!("the number {} is too large", quote(value.as_str())),
                        hint!("write a number between {} and {}", i64::MIN, i64::MAX),
                    )
                    .at(&origin, ""),
                );
                Value::Int(0)
            }
        },
        DeValue::Float(value) => {
            // The parser accepts only what parses, and `1e999` is infinite then.
            Value::Float(value.as_str().parse().unwrap_or(f64::NAN))
        }
        DeValue::Array(items) => Value::List(
            items
                .into_iter()
                .map(|item| convert(text, item, offset, problems))
                .collect(),
        ),
        DeValue::Table(entries) => Value::Table(table(text, entries, offset, problems)),
    };
    ConfigNode { value, origin }
}

fn table(
    text: &Arc<ConfigText>,
    entries: DeTable<'_>,
    offset: usize,
    problems: &mut Vec<Problem>,
) -> TableEntries {
    let entry = |(key, value): (Spanned<DeString<'_>>, Spanned<DeValue<'_>>)| {
        let origin = Origin::new(text, shift(key.span(), offset));
        let node = convert(text, value, offset, problems);
        (
            key.into_inner().into_owned(),
            TableEntry { key: origin, node },
        )
    };
    entries.into_iter().map(entry).collect()
}

fn shift(span: Range<usize>, offset: usize) -> Range<usize> {
    span.start + offset..span.end + offset
}

/// One problem per line: the parser often stumbles several times over one mistake, and its first
/// complaint is the best.
fn syntax_errors(text: &Arc<ConfigText>, errors: &[toml::de::Error]) -> Vec<Problem> {
    let mut lines = HashSet::new();
    let mut found: Vec<(Origin, &str)> = Vec::new();
    for error in errors {
        let origin = Origin::new(text, error.span().unwrap_or(0..0));
        if lines.insert(origin.line()) {
            found.push((origin, error.message()));
        }
    }
    found.sort_by_key(|(origin, _)| origin.span().start);
    let mut problems = Vec::new();
    let mut repeated_table = None;
    for (origin, message) in found {
        let duplicate = message == DUPLICATE;
        // Below a header that was already there, its keys are repetitions too.
        if duplicate && repeated_table.is_some_and(|table| same_section(text, table, &origin)) {
            continue;
        }
        if duplicate && line(text, &origin).starts_with('[') {
            repeated_table = Some(origin.span().start);
        }
        let problem = syntax_error(text, &origin, message);
        let first = duplicate.then(|| first_mention(text, &origin)).flatten();
        problems.push(match first {
            Some(first) => problem.and(&first, "first set here"),
            None => problem,
        });
    }
    problems
}

fn line<'a>(text: &'a ConfigText, origin: &Origin) -> &'a str {
    text.content[text.line_at(origin.span().start)].trim()
}

/// Whether no header stands between a byte and a later place.
fn same_section(text: &ConfigText, start: usize, origin: &Origin) -> bool {
    let between = &text.content[start..origin.span().start];
    !between
        .lines()
        .skip(1)
        .any(|line| line.trim_start().starts_with('['))
}

/// The line that said the same before: the same header, or the same key below the same header.
/// A guess by the text, used only to show a second place.
fn first_mention(text: &Arc<ConfigText>, origin: &Origin) -> Option<Origin> {
    let wanted = line(text, origin);
    let key = text.content.get(origin.span())?;
    let header = wanted.starts_with('[');
    let mut end = text.line_at(origin.span().start).start;
    while end > 0 {
        let range = text.line_at(end - 1);
        let candidate = text.content[range.clone()].trim_start();
        let start = range.end - candidate.len();
        if header && candidate.trim_end() == wanted {
            return Some(Origin::new(text, start..start + wanted.len()));
        }
        let assigns = candidate.strip_prefix(key);
        if !header && assigns.is_some_and(|rest| rest.trim_start().starts_with('=')) {
            return Some(Origin::new(text, start..start + key.len()));
        }
        if !header && candidate.starts_with('[') {
            return None;
        }
        end = range.start;
    }
    None
}

/// The parser's complaint with what to do about it.
pub(crate) fn syntax_error(text: &Arc<ConfigText>, origin: &Origin, message: &str) -> Problem {
    let written = text.content.get(origin.span()).unwrap_or("");
    if let Some(problem) = without_quotes(text, origin, message) {
        return problem;
    }
    let (reason, expected) = match message.split_once(", expected ") {
        Some((reason, expected)) => (reason, Some(expected)),
        None => (message, None),
    };
    let (message, help) = match reason {
        DUPLICATE => (
            format!("the key {} is already set", quote(written)),
            hint!(
                "keep one of the two; tables are continued under one header, and each rule of a list has its own \
                 `[[…]]`"
            ),
        ),
        "string values must be quoted" if written.is_empty() => (
            "the value is missing".to_owned(),
            hint!("write a value after `=`, or remove the line"),
        ),
        "string values must be quoted" => match truth(written) {
            Some(help) => (format!("{} is not a value in TOML", quote(written)), help),
            None => (
                format!("{} is a string without quotes", quote(written)),
                hint!("put it in quotes: `\"{}\"`", crate::quoting::clean(written)),
            ),
        },
        "recursion limit" | "cannot recurse further; max recursion depth met" => (
            "the value is nested too deeply".to_owned(),
            hint!("use fewer levels"),
        ),
        "key with no value" => (
            "this key has no value".to_owned(),
            hint!("write `=` and a value after it"),
        ),
        reason => (
            format!("this is not TOML: {reason}"),
            match expected {
                Some("nothing") | None => hint!("remove it, or correct it"),
                Some(expected) => hint!("write {expected} here"),
            },
        ),
    };
    Problem::error(message, help).at(origin, "")
}

/// A value that is nothing but a string whose quotes are missing: `command = tools/x.sh`. The parser takes its first
/// letters for something else, and complains about that.
fn without_quotes(text: &Arc<ConfigText>, origin: &Origin, message: &str) -> Option<Problem> {
    if message == DUPLICATE || !text.layer.has_lines() {
        return None;
    }
    let range = text.line_at(origin.span().start);
    let line = &text.content[range.clone()];
    let (key, value) = line.split_once('=')?;
    let is_key = |one: char| one.is_ascii_alphanumeric() || "_-.'\"* ".contains(one);
    let key = key.trim();
    if key.is_empty() || !key.chars().all(is_key) {
        return None;
    }
    let start = range.start + line.len() - value.trim_start().len();
    let value = match value.split_once(" #") {
        Some((value, _)) => value.trim(),
        None => value.trim(),
    };
    let first = value.chars().next()?;
    let is_bare = first.is_alphabetic() || matches!(first, '/' | '.' | '~' | '$' | '_' | '@' | '*');
    // What begins as a number may be one that is written wrongly; with a letter in it, it is a text.
    let is_text = first.is_ascii_digit() && value.chars().any(char::is_alphabetic);
    let is_word = matches!(value, "true" | "false");
    let origin_of = |value: &str| Origin::new(text, start..start + value.len());
    if let Some(help) = truth(value).filter(|_| origin.span().start >= range.start) {
        let message = format!("{} is not a value in TOML", quote(value));
        return Some(Problem::error(message, help).at(&origin_of(value), ""));
    }
    let is_whole = !value.contains(['"', '\'', '[', ']', '{', '}']);
    if !(is_bare || is_text) || is_word || !is_whole || origin.span().start < range.start {
        return None;
    }
    if DeValue::parse(value).is_ok() {
        return None;
    }
    let shown = crate::quoting::clean(value);
    let problem = Problem::error(
        format!("{} is a string without quotes", quote(value)),
        hint!(
            "put it in quotes: `{} = {}`",
            crate::quoting::clean(key),
            crate::show::basic_string(&shown)
        ),
    );
    Some(problem.at(&origin_of(value), ""))
}

/// What TOML writes for the words that stand for true and false elsewhere.
fn truth(word: &str) -> Option<Hint> {
    match word {
        "yes" | "on" | "True" | "TRUE" => Some(hint!("write `true`")),
        "no" | "off" | "False" | "FALSE" => Some(hint!("write `false`")),
        _ => None,
    }
}

/// What the parser says about a key that is there twice.
const DUPLICATE: &str = "duplicate key";
