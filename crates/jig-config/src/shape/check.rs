//! Checking a tree against its [`ValueShape`]: names, types, words, required keys.
//!
//! Everything that is wrong with a tree is collected. A tree without problems can be read without
//! further checks of its shape.

use std::fmt::Display;

use jig_proto::{Hint, hint};

use crate::problem::Problem;
use crate::quoting::{clean, closest, dotted, quote};
use crate::shape::{
    ListMerge, ListShape, MapShape, ShapeWord, TableKey, TableShape, TextComplaint, ValueShape,
    WRAPPED, either,
};
use crate::value::{ConfigNode, TomlValueKind, Value};

/// Checks `node`, which is found at `path`.
pub(crate) fn check(
    shape: &ValueShape,
    node: &ConfigNode,
    path: &mut Vec<String>,
    problems: &mut Vec<Problem>,
) {
    let Some(shape) = shape.for_kind(node.kind()) else {
        problems.push(wrong_kind(shape, node, path));
        return;
    };
    match (shape, &node.value) {
        (ValueShape::Int { min, max }, Value::Int(value)) if !(min..=max).contains(&value) => {
            problems.push(out_of_range(value, min, max, node, path));
        }
        (ValueShape::Number { min, max }, value) => {
            let number = value.number().unwrap_or(f64::NAN);
            // Neither infinity nor what is no number at all lies in a range.
            if !(min..=max).contains(&&number) {
                problems.push(out_of_range(&number, min, max, node, path));
            }
        }
        (ValueShape::Text(rule), Value::Text(text)) => {
            if let Err(complaint) = (rule.check)(text) {
                problems.push(invalid(text, complaint, node, path));
            }
        }
        (ValueShape::Word(words), Value::Text(text)) => {
            check_word(words, text, node, path, problems)
        }
        (ValueShape::Quantity(quantity), value) => {
            if let Err(complaint) = quantity.read(value) {
                let written = match value {
                    Value::Text(text) => text.clone(),
                    Value::Int(number) => number.to_string(),
                    _ => last(path).to_owned(),
                };
                problems.push(invalid(&written, complaint, node, path));
            }
        }
        (ValueShape::List(list), Value::List(items)) => check_items(list, items, path, problems),
        (ValueShape::List(list), Value::Table(_)) => check_wrapped(list, node, path, problems),
        (ValueShape::Table(table), Value::Table(_)) => check_table(table, node, path, problems),
        (ValueShape::Map(map), Value::Table(_)) => check_map(map, node, path, problems),
        _ => {}
    }
}

fn out_of_range(
    value: &dyn Display,
    min: &dyn Display,
    max: &dyn Display,
    node: &ConfigNode,
    path: &[String],
) -> Problem {
    Problem::error(
        format!("{} is {value}, out of range", quote(last(path))),
        hint!("write a number between {min} and {max}"),
    )
    .at(&node.origin, "")
    .key(dotted(path))
}

fn invalid(written: &str, complaint: TextComplaint, node: &ConfigNode, path: &[String]) -> Problem {
    Problem::error(
        format!(
            "{} is no valid {}: {}",
            quote(written),
            quote_key(path),
            complaint.reason
        ),
        complaint.help,
    )
    .at(&node.origin, "")
    .key(dotted(path))
}

fn check_table(
    table: &TableShape,
    node: &ConfigNode,
    path: &mut Vec<String>,
    problems: &mut Vec<Problem>,
) {
    let entries = node.table().into_iter().flatten();
    for (name, entry) in entries {
        path.push(name.clone());
        match table.key(name) {
            Some(key) => check(&key.shape, &entry.node, path, problems),
            None => {
                let problem = Problem::error(
                    format!("{} is no key of {}", quote(name), table.what),
                    instead_of(table, name),
                );
                let problem = problem.at(&entry.key, "unknown key").key(dotted(path));
                problems.push(match names_a_secret(name) {
                    true => problem.without_text(),
                    false => problem,
                });
            }
        }
        path.pop();
    }
    for key in table.keys.iter().filter(|key| key.required) {
        if node.get(key.name).is_none() {
            problems.push(missing(table, key, node, path));
        }
    }
}

/// Whether what stands behind an unknown key is probably nobody's business: messages end up in logs, and
/// before models.
fn names_a_secret(key: &str) -> bool {
    let key = key.to_lowercase();
    let words = ["key", "token", "secret", "password"];
    words.iter().any(|word| key.contains(word))
}

fn missing(table: &TableShape, key: &TableKey, node: &ConfigNode, path: &[String]) -> Problem {
    let example = match key.shape {
        ValueShape::List(_) | ValueShape::Free => "[…]",
        _ => "\"…\"",
    };
    Problem::error(
        format!("{} has no `{}`", table.what, key.name),
        hint!("add `{} = {example}`: {}", key.name, lower_first(key.doc)),
    )
    .at(&node.origin, format!("`{}` is missing here", key.name))
    .key(dotted(path))
}

/// What to write for a key that does not exist.
fn instead_of(table: &TableShape, name: &str) -> Hint {
    let foreign = table.foreign.iter().find(|(spelling, _)| *spelling == name);
    if let Some((_, instead)) = foreign {
        return hint!("{instead}");
    }
    if let Some(key) = closest(name, table.keys.iter().map(|key| key.name)) {
        return hint!("did you mean `{key}`?");
    }
    let close = closest(name, table.foreign.iter().map(|(spelling, _)| *spelling));
    if let Some((_, instead)) = table
        .foreign
        .iter()
        .find(|(spelling, _)| Some(*spelling) == close)
    {
        return hint!("{instead}");
    }
    let keys: Vec<String> = table
        .keys
        .iter()
        .map(|key| format!("`{}`", key.name))
        .collect();
    hint!("remove it; {} can have {}", table.what, either(&keys))
}

fn check_map(
    map: &MapShape,
    node: &ConfigNode,
    path: &mut Vec<String>,
    problems: &mut Vec<Problem>,
) {
    let entries = node.table().into_iter().flatten();
    for (name, entry) in entries {
        path.push(name.clone());
        match (map.name.check)(name) {
            Ok(()) => check(map.shape_of(name), &entry.node, path, problems),
            Err(complaint) => problems.push(
                Problem::error(
                    format!(
                        "{} is no valid name of {}: {}",
                        quote(name),
                        map.what,
                        complaint.reason
                    ),
                    complaint.help,
                )
                .at(&entry.key, "")
                .key(dotted(path)),
            ),
        }
        path.pop();
    }
}

fn check_items(
    list: &ListShape,
    items: &[ConfigNode],
    path: &mut Vec<String>,
    problems: &mut Vec<Problem>,
) {
    for (index, item) in items.iter().enumerate() {
        path.push(format!("[{index}]"));
        check(&list.item, item, path, problems);
        path.pop();
    }
}

fn check_wrapped(
    list: &ListShape,
    node: &ConfigNode,
    path: &mut Vec<String>,
    problems: &mut Vec<Problem>,
) {
    let known = |name: &String| WRAPPED.key(name).is_some();
    // `[access.fs]` for `[[access.fs]]` is the most likely slip of all.
    if !node.table().is_some_and(|table| table.keys().any(known)) {
        let name = quote_key(path);
        let help = match list.item.for_kind(TomlValueKind::Table) {
            Some(_) => hint!(
                "use two brackets for each rule, `[[{}]]`, or the form `{{ strategy = \"replace\", value = [{{ … }}] \
                 }}`",
                dotted(path)
            ),
            None => hint!("write `{} = [\"…\"]`", last(path)),
        };
        problems.push(
            Problem::error(format!("{name} is a list, and this is a table"), help)
                .at(&node.origin, "")
                .key(dotted(path)),
        );
        return;
    }
    check_table(&WRAPPED, node, path, problems);
    if let Some(value) = node.get("value") {
        path.push("value".to_owned());
        match value.list() {
            Some(items) => check_items(list, items, path, problems),
            None => problems.push(wrong_kind(&ValueShape::List(&PLAIN), value, path)),
        }
        path.pop();
    }
}

/// Stands for any list in messages about the `value` of a wrapped one.
static PLAIN: ListShape = ListShape {
    item: ValueShape::Free,
    merge: ListMerge::Replace,
};

fn check_word(
    words: &[ShapeWord],
    text: &str,
    node: &ConfigNode,
    path: &[String],
    problems: &mut Vec<Problem>,
) {
    if words.iter().any(|word| word.name == text) {
        return;
    }
    let names: Vec<String> = words
        .iter()
        .map(|word| format!("`\"{}\"`", word.name))
        .collect();
    let help = match closest(text, words.iter().map(|word| word.name)) {
        Some(word) => hint!(
            "did you mean `\"{word}\"`? the choices are {}",
            either(&names)
        ),
        None => hint!("write {}", either(&names)),
    };
    problems.push(
        Problem::error(
            match quote_key(path) {
                item if item.starts_with("item") => {
                    format!("{} is no choice for an {item}", quote(text))
                }
                key => format!("{} is no choice for {key}", quote(text)),
            },
            help,
        )
        .at(&node.origin, "")
        .key(dotted(path)),
    );
}

fn wrong_kind(shape: &ValueShape, node: &ConfigNode, path: &[String]) -> Problem {
    let fits = |kind| shape.for_kind(kind).is_some();
    let free_text = matches!(
        shape.for_kind(TomlValueKind::Text),
        Some(ValueShape::Text(_))
    );
    let name = last(path);
    let help = match &node.value {
        Value::Text(text) if fits(TomlValueKind::Bool) && (text == "true" || text == "false") => {
            hint!("remove the quotes: `{name} = {text}`")
        }
        Value::Text(text) if fits(TomlValueKind::Int) && text.parse::<i64>().is_ok() => {
            hint!("remove the quotes: `{name} = {text}`")
        }
        Value::Text(text) if fits(TomlValueKind::List) => {
            hint!("put it in brackets: `{}`", as_list(shape, &clean(text)))
        }
        Value::Int(value) if free_text => hint!("put it in quotes: `\"{value}\"`"),
        Value::Bool(value) if free_text => hint!("put it in quotes: `\"{value}\"`"),
        _ if matches!(shape, ValueShape::Bool) => {
            hint!("write `{name} = true` or `{name} = false`")
        }
        _ => hint!("write {}", shape.noun()),
    };
    Problem::error(
        format!(
            "{} is {}, not {}",
            quote_key(path),
            node.kind().noun(),
            kinds(shape)
        ),
        help,
    )
    .at(&node.origin, "")
    .key(dotted(path))
}

/// `text` as the only item of the list that was expected.
fn as_list(shape: &ValueShape, text: &str) -> String {
    let item = match shape.for_kind(TomlValueKind::List) {
        Some(ValueShape::List(list)) => list
            .item
            .for_kind(TomlValueKind::Text)
            .is_none()
            .then_some(&list.item),
        _ => None,
    };
    match item {
        Some(ValueShape::Table(table)) => {
            let key = table.keys.iter().find(|key| key.required);
            format!("[{{ {} = \"{text}\" }}]", key.map_or("…", |key| key.name))
        }
        _ => format!("[\"{text}\"]"),
    }
}

/// The kinds that fit: "a string or a table".
fn kinds(shape: &ValueShape) -> String {
    let all = [
        TomlValueKind::Bool,
        TomlValueKind::Int,
        TomlValueKind::Float,
        TomlValueKind::Text,
        TomlValueKind::Date,
        TomlValueKind::List,
        TomlValueKind::Table,
    ];
    let is_list = matches!(shape, ValueShape::List(_));
    let fitting: Vec<String> = all
        .into_iter()
        .filter(|kind| {
            shape.for_kind(*kind).is_some() && !(is_list && *kind == TomlValueKind::Table)
        })
        .map(|kind| kind.noun().to_owned())
        .collect();
    either(&fitting)
}

/// The last key of a path, without list indexes.
fn last(path: &[String]) -> &str {
    let key = path.iter().rev().find(|step| !step.starts_with('['));
    key.map_or("the configuration", String::as_str)
}

/// The last key, in backticks; an item of a list is named as such.
fn quote_key(path: &[String]) -> String {
    let item = path.last().is_some_and(|step| step.starts_with('['));
    let key = quote(last(path));
    if item { format!("item of {key}") } else { key }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.trim_end_matches('.').chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests;
