//! [`TomlList`]: a list of tables or values, in either of the ways in which TOML writes one.

use jig_proto::visible_line;
use toml_edit::{Array, ArrayOfTables, InlineTable, Item, RawString, Table, TableLike, Value};

use super::{EditError, EditTable};

/// A list.
pub(super) enum TomlList<'a> {
    /// `[[key]]`, again and again.
    Tables(&'a mut ArrayOfTables),
    /// `key = […]`
    Values(&'a mut Array),
}

/// How a list is written where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListStyle {
    /// Each item as a table with a header, where there can be one.
    AsTables,
    /// Between brackets, one item on a line.
    OnLines,
    /// Between brackets, on one line.
    OnOne,
}

impl<'a> EditTable<'a> {
    /// The list below a key, made if there is none.
    pub(super) fn list(self, key: &str, written: ListStyle) -> Result<TomlList<'a>, EditError> {
        let shape = || EditError::Shape(key.to_owned());
        if !self.table.contains_key(key) {
            let item = match written {
                ListStyle::AsTables if !self.is_closed => Item::ArrayOfTables(ArrayOfTables::new()),
                ListStyle::OnLines if !self.is_closed => {
                    let mut array = Array::new();
                    array.set_trailing("\n");
                    array.set_trailing_comma(true);
                    toml_edit::value(array)
                }
                _ => toml_edit::value(Array::new()),
            };
            self.table.insert(key, item);
        }
        let item = self.table.get_mut(key).ok_or_else(shape)?;
        // A list may say how it is laid over those of lower layers; then its items stand one level deeper.
        let item = match item.is_table_like() {
            true => {
                let table = item.as_table_like_mut().ok_or_else(shape)?;
                table.get_mut("value").ok_or_else(shape)?
            }
            false => item,
        };
        match item {
            Item::ArrayOfTables(tables) => Ok(TomlList::Tables(tables)),
            Item::Value(Value::Array(array)) => Ok(TomlList::Values(array)),
            _ => Err(shape()),
        }
    }
}

impl TomlList<'_> {
    /// The last item that is a table and of this kind.
    pub(super) fn last_where(
        &mut self,
        wanted: impl Fn(&dyn TableLike) -> bool,
    ) -> Option<&mut dyn TableLike> {
        match self {
            TomlList::Tables(tables) => {
                let mut found = None;
                for table in tables.iter_mut() {
                    if wanted(table) {
                        found = Some(table as &mut dyn TableLike);
                    }
                }
                found
            }
            TomlList::Values(array) => {
                let mut found = None;
                for value in array.iter_mut() {
                    if let Value::InlineTable(table) = value
                        && wanted(table)
                    {
                        found = Some(table as &mut dyn TableLike);
                    }
                }
                found
            }
        }
    }

    /// Adds a table at the end, with a comment above it where there is a line for one.
    pub(super) fn push(&mut self, pairs: Vec<(&str, Value)>, comment: &[String]) {
        match self {
            TomlList::Tables(tables) => {
                let mut table = Table::new();
                for (key, value) in pairs {
                    table.insert(key, Item::Value(value));
                }
                table
                    .decor_mut()
                    .set_prefix(format!("\n{}", lines(comment, "")));
                tables.push(table);
            }
            TomlList::Values(array) => {
                let table: InlineTable = pairs.into_iter().collect();
                push_value(array, Value::InlineTable(table), comment);
            }
        }
    }
}

/// Adds a value at the end of an array, on a line of its own if the others have theirs.
pub(super) fn push_value(array: &mut Array, mut value: Value, comment: &[String]) {
    let text = |raw: &RawString| raw.as_str().unwrap_or_default().to_owned();
    let last = array.iter().last();
    let before = last.and_then(|last| last.decor().prefix().map(text));
    let on_lines = match &before {
        Some(before) => before.contains('\n'),
        None => text(array.trailing()).contains('\n'),
    };
    if on_lines {
        let indent = before
            .as_deref()
            .and_then(|before| before.rsplit('\n').next());
        let indent = indent.unwrap_or("    ").to_owned();
        let comment = lines(comment, &indent);
        let decor = value.decor_mut();
        decor.set_prefix(format!("\n{comment}{indent}"));
        decor.set_suffix("");
        // A comment behind the last item ends only with its line, which a comma must not be on.
        if let Some(last) = array.iter_mut().last()
            && let Some(suffix) = last.decor().suffix().map(text)
            && suffix.trim().is_empty()
        {
            last.decor_mut().set_suffix("");
        }
        if !text(array.trailing()).contains('\n') {
            array.set_trailing("\n");
        }
        array.set_trailing_comma(true);
    } else {
        let first = array.is_empty();
        value.decor_mut().set_prefix(if first { "" } else { " " });
    }
    array.push_formatted(value);
}

/// Comment lines. What comes from outside, such as the name of a program, stays on its line.
fn lines(comment: &[String], indent: &str) -> String {
    let clean = |line: &String| format!("{indent}# {}\n", visible_line(line));
    comment.iter().map(clean).collect()
}
