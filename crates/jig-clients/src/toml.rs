//! An entry in a file of TOML, which Codex has.

use serde_json::Value as Json;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value};

use super::entry::{ExistingEntry, ServerEntry, SettingsSyntaxError};

/// What stands at `servers.name`.
pub(crate) fn find(
    text: &str,
    servers: &str,
    entry: &ServerEntry,
) -> Result<ExistingEntry, SettingsSyntaxError> {
    let document = parse(text)?;
    let written = document
        .get(servers)
        .and_then(Item::as_table_like)
        .and_then(|servers| servers.get(&entry.name));
    let Some(written) = written else {
        return match document.get(servers) {
            Some(item) if !item.is_table_like() => {
                let at = item.span().map_or(0, |span| span.start);
                Err(SettingsSyntaxError::at(
                    text,
                    at,
                    format!("`{servers}` is not a table"),
                ))
            }
            _ => Ok(ExistingEntry::Missing),
        };
    };
    let value = value(text).and_then(|mut all| {
        let servers = all.get_mut(servers)?;
        Some(servers.get_mut(&entry.name)?.take())
    });
    let value = value.unwrap_or_default();
    Ok(match entry.is_within(&value) {
        true => ExistingEntry::Same,
        false => ExistingEntry::Other(shown(written, servers, &entry.name)),
    })
}

/// The text with the entry in it, in place of one that is there.
pub(crate) fn edit(
    text: &str,
    servers: &str,
    entry: &ServerEntry,
) -> Result<String, SettingsSyntaxError> {
    let mut document = parse(text)?;
    let present = document
        .get(servers)
        .and_then(Item::as_table_like)
        .is_some_and(|servers| servers.contains_key(&entry.name));
    if !present {
        // At the end, so that everything before it stays as it is.
        let added = appended(text, servers, entry);
        if value(&added).is_some() {
            return Ok(added);
        }
    }
    let parent = document.entry(servers).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    match parent {
        Item::Table(table) => {
            let mut fresh = table_of(&entry.value);
            if let Some(Item::Table(old)) = table.get(&entry.name) {
                *fresh.decor_mut() = old.decor().clone();
                fresh.set_position(old.position());
            }
            table.insert(&entry.name, Item::Table(fresh));
        }
        parent => match parent.as_table_like_mut() {
            Some(table) => {
                let inline = table_of(&entry.value).into_inline_table();
                table.insert(&entry.name, Item::Value(Value::InlineTable(inline)));
            }
            None => {
                return Err(SettingsSyntaxError::at(
                    text,
                    0,
                    format!("`{servers}` is not a table"),
                ));
            }
        },
    }
    Ok(document.to_string())
}

/// What a text says; `None` if it is not valid.
pub(crate) fn value(text: &str) -> Option<Json> {
    toml::from_str(text).ok()
}

fn parse(text: &str) -> Result<DocumentMut, SettingsSyntaxError> {
    text.parse::<DocumentMut>().map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        SettingsSyntaxError::at(text, at, error.message())
    })
}

/// The text with a table more at its end.
fn appended(text: &str, servers: &str, entry: &ServerEntry) -> String {
    let mut table = Table::new();
    table.set_implicit(true);
    table.insert(&entry.name, Item::Table(table_of(&entry.value)));
    let mut document = DocumentMut::new();
    document.insert(servers, Item::Table(table));
    let mut block = document.to_string();
    let newline = match text.contains("\r\n") {
        true => "\r\n",
        false => "\n",
    };
    if newline != "\n" {
        block = block.replace('\n', newline);
    }
    let between = match text {
        "" => String::new(),
        text if text.ends_with('\n') => newline.to_owned(),
        _ => newline.repeat(2),
    };
    format!("{text}{between}{block}")
}

/// An entry as it is written, under the name that it has.
fn shown(item: &Item, servers: &str, name: &str) -> String {
    let mut table = Table::new();
    table.set_implicit(true);
    table.insert(name, item.clone());
    let mut document = DocumentMut::new();
    document.insert(servers, Item::Table(table));
    document.to_string().trim().to_owned()
}

fn table_of(value: &Json) -> Table {
    let mut table = Table::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        if let Some(value) = value_of(value) {
            table.insert(key, Item::Value(value));
        }
    }
    table
}

/// A value as TOML has it, which knows no null.
fn value_of(value: &Json) -> Option<Value> {
    Some(match value {
        Json::Null => return None,
        Json::Bool(value) => (*value).into(),
        Json::Number(number) => match number.as_i64() {
            Some(number) => number.into(),
            None => number.as_f64()?.into(),
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => Value::Array(items.iter().filter_map(value_of).collect::<Array>()),
        Json::Object(members) => {
            let mut table = InlineTable::new();
            for (key, value) in members {
                table.insert(key, value_of(value)?);
            }
            Value::InlineTable(table)
        }
    })
}

#[cfg(test)]
mod tests;
