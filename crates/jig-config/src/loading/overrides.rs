//! Values from the environment (`JIG_CFG__…`) and from `--set`.

use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::sync::Arc;

use jig_proto::hint;
use toml::de::{DeTable, DeValue};

use crate::loading::parse::{convert, syntax_error};
use crate::origin::{ConfigText, Layer, Origin};
use crate::problem::Problem;
use crate::quoting::{clean, quote};
use crate::shape::{ROOT, ValueShape};
use crate::value::{ConfigNode, TableEntries, TableEntry, TomlValueKind, Value};

/// What a variable that sets a value starts with.
pub(crate) const PREFIX: &str = "JIG_CFG__";

/// The tree that a variable stands for; `None` if it is not one of ours.
///
/// `JIG_CFG__TOOLS__MY_TOOL__RUN=ask` sets `tools.my_tool.run`: two underscores separate keys, and
/// letters become lower case. A name that this can't spell is set by `--set` or in a file.
pub(crate) fn from_variable(
    name: &OsStr,
    value: &OsStr,
    problems: &mut Vec<Problem>,
) -> Option<ConfigNode> {
    let shown = name.to_string_lossy();
    let path = shown.strip_prefix(PREFIX)?;
    let (Some(_), Some(value)) = (name.to_str(), value.to_str()) else {
        problems.push(
            Problem::error(
                format!("the variable {} is not valid UTF-8", quote(&shown)),
                hint!("set it to UTF-8 text, or unset it"),
            )
            .in_file("the environment"),
        );
        return None;
    };
    let content = format!("{shown}={value}");
    let text = ConfigText::new(Layer::Environment, &*shown, None, content);
    let mut steps = Vec::new();
    let mut start = PREFIX.len();
    for step in path.split("__") {
        let span = start..start + step.len();
        start = span.end + 2;
        steps.push((step.to_lowercase(), span));
    }
    if steps.iter().any(|(step, _)| step.is_empty()) {
        problems.push(
            Problem::error(
                format!("the variable {} names no key", quote(&shown)),
                hint!(
                    "write the keys with two underscores between them: `JIG_CFG__TOOLS__NAME__RUN=unattended`"
                ),
            )
            .at(&Origin::new(&text, 0..shown.len()), ""),
        );
        return None;
    }
    tree(&text, &steps, shown.len() + 1, problems)
}

/// The tree that `--set KEY=VALUE` stands for. The key is dotted as in TOML; the value is TOML, or
/// else taken as a string.
pub(crate) fn from_set(assignment: &str, problems: &mut Vec<Problem>) -> Option<ConfigNode> {
    let text = ConfigText::new(Layer::Set, "--set", None, assignment.to_owned());
    let whole = Origin::new(&text, 0..assignment.len());
    let Some(equals) = find_equals(assignment) else {
        problems.push(
            Problem::error(
                format!("`--set {}` has no value", clean(assignment)),
                hint!("write `--set {}=VALUE`", clean(assignment.trim())),
            )
            .at(&whole, "there is no `=`"),
        );
        return None;
    };
    let Some(steps) = parse_key(&assignment[..equals]) else {
        problems.push(
            Problem::error(
                format!("{} is not a key", quote(&assignment[..equals])),
                hint!(
                    "write the keys with dots between them, in quotes where they hold other characters than letters, \
                     digits, `_` and `-`: `tools.\"my.tool\".run=ask`"
                ),
            )
            .at(&Origin::new(&text, 0..equals), ""),
        );
        return None;
    };
    tree(&text, &steps, equals + 1, problems)
}

/// The first `=` that is not inside quotes.
fn find_equals(text: &str) -> Option<usize> {
    let mut open: Option<char> = None;
    let mut escaped = false;
    for (at, one) in text.char_indices() {
        match (open, one) {
            _ if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(quote), one) if quote == one => open = None,
            (None, '"' | '\'') => open = Some(one),
            (None, '=') => return Some(at),
            _ => {}
        }
    }
    None
}

/// The steps of a dotted key with their places.
fn parse_key(key: &str) -> Option<Vec<(String, Range<usize>)>> {
    if key.contains(['\n', '\r', '#']) {
        return None;
    }
    let document = format!("{key}=0");
    let table = DeTable::parse(&document).ok()?;
    let mut steps = Vec::new();
    let mut rest = table.into_inner();
    loop {
        let mut entries = rest.into_iter();
        let (name, value) = entries.next()?;
        let span = name.span();
        steps.push((name.into_inner().into_owned(), span));
        match value.into_inner() {
            DeValue::Table(table) => rest = table,
            DeValue::Integer(_) => return Some(steps),
            _ => return None,
        }
    }
}

/// Tables along `steps`, with the value that starts at `value_start` at their end.
fn tree(
    text: &Arc<ConfigText>,
    steps: &[(String, Range<usize>)],
    value_start: usize,
    problems: &mut Vec<Problem>,
) -> Option<ConfigNode> {
    let shape = steps
        .iter()
        .try_fold(&ROOT, |shape, (step, _)| shape.child(step));
    let mut node = value(text, shape, value_start, problems)?;
    for (index, (step, span)) in steps.iter().enumerate().rev() {
        let key = Origin::new(text, span.clone());
        // A table is found at the key before it, the outermost one at its own first key.
        let (_, above) = &steps[index.saturating_sub(1)];
        let entry = TableEntry { key, node };
        node = ConfigNode {
            value: Value::Table(TableEntries::from_iter([(step.clone(), entry)])),
            origin: Origin::new(text, above.clone()),
        };
    }
    Some(node)
}

/// The value as TOML where that fits, else as a string where that fits. White space around it
/// does not count, unless it is in quotes.
fn value(
    text: &Arc<ConfigText>,
    shape: Option<&ValueShape>,
    start: usize,
    problems: &mut Vec<Problem>,
) -> Option<ConfigNode> {
    let raw = &text.content[start..];
    let start = start + (raw.len() - raw.trim_start().len());
    let raw = raw.trim();
    let fits = |kind| shape.is_none_or(|shape| shape.for_kind(kind).is_some());
    let string = || ConfigNode {
        value: Value::Text(raw.to_owned()),
        origin: Origin::new(text, start..start + raw.len()),
    };
    match DeValue::parse(raw) {
        Ok(parsed) => {
            let node = convert(text, parsed, start, problems);
            if !fits(node.kind()) && fits(TomlValueKind::Text) {
                return Some(string());
            }
            Some(node)
        }
        Err(_) if fits(TomlValueKind::Text) => Some(string()),
        // Something that begins as a list or a table was meant to be one.
        Err(error) if raw.starts_with(['[', '{', '"', '\'']) => {
            let span = error.span().unwrap_or(0..0);
            let origin = Origin::new(text, span.start + start..span.end + start);
            problems.push(syntax_error(text, &origin, error.message()));
            None
        }
        Err(_) => Some(string()),
    }
}

/// The pairs of an environment that belong to us, in a fixed order.
pub(crate) fn ours(pairs: &[(OsString, OsString)]) -> Vec<(&OsStr, &OsStr)> {
    let prefixed = |name: &OsStr| name.as_encoded_bytes().starts_with(PREFIX.as_bytes());
    let mut ours: Vec<(&OsStr, &OsStr)> = pairs
        .iter()
        .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
        .filter(|(name, _)| prefixed(name))
        .collect();
    ours.sort();
    ours
}
