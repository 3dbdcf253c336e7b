//! [`ConfigNode`]: a TOML value in which every part knows where it was written.

use indexmap::IndexMap;
use serde_json::{Map, Number, Value as Json};

use crate::origin::{Layer, Origin};

/// A value and its place.
#[derive(Debug, Clone)]
pub(crate) struct ConfigNode {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

/// What can be written in TOML.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    /// Kept as written; JSON has no dates.
    Date(String),
    List(Vec<ConfigNode>),
    Table(TableEntries),
}

/// The entries of a table, in the order in which they were written.
pub(crate) type TableEntries = IndexMap<String, TableEntry>;

/// A key with its value.
#[derive(Debug, Clone)]
pub(crate) struct TableEntry {
    /// Where the key was written. For a table it points at the header's own segment.
    pub(crate) key: Origin,
    pub(crate) node: ConfigNode,
}

/// The kinds of values, as messages name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TomlValueKind {
    Bool,
    Int,
    Float,
    Text,
    Date,
    List,
    Table,
}

impl TomlValueKind {
    /// With an article, as in "expected a string".
    pub(crate) fn noun(self) -> &'static str {
        match self {
            TomlValueKind::Bool => "a boolean",
            TomlValueKind::Int => "an integer",
            TomlValueKind::Float => "a float",
            TomlValueKind::Text => "a string",
            TomlValueKind::Date => "a date",
            TomlValueKind::List => "a list",
            TomlValueKind::Table => "a table",
        }
    }
}

impl Value {
    /// A number, with a fraction or without.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            // No number of a configuration is so large that this makes a difference.
            Value::Int(value) => Some(*value as f64),
            Value::Float(value) => Some(*value),
            _ => None,
        }
    }
}

impl ConfigNode {
    pub(crate) fn kind(&self) -> TomlValueKind {
        match self.value {
            Value::Bool(_) => TomlValueKind::Bool,
            Value::Int(_) => TomlValueKind::Int,
            Value::Float(_) => TomlValueKind::Float,
            Value::Text(_) => TomlValueKind::Text,
            Value::Date(_) => TomlValueKind::Date,
            Value::List(_) => TomlValueKind::List,
            Value::Table(_) => TomlValueKind::Table,
        }
    }

    pub(crate) fn table(&self) -> Option<&TableEntries> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> Option<&[ConfigNode]> {
        match &self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn int(&self) -> Option<i64> {
        match self.value {
            Value::Int(value) => Some(value),
            _ => None,
        }
    }

    /// The value below a key of a table.
    pub(crate) fn get(&self, key: &str) -> Option<&ConfigNode> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// The entry of a table.
    pub(crate) fn entry(&self, key: &str) -> Option<&TableEntry> {
        self.table()?.get(key)
    }

    /// The value below a dotted path of keys and list indexes.
    pub(crate) fn find(&self, path: &[&str]) -> Option<&ConfigNode> {
        path.iter().try_fold(self, |node, step| match &node.value {
            Value::Table(table) => table.get(*step).map(|entry| &entry.node),
            Value::List(items) => items.get(step.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// Whether jig itself wrote all of it.
    pub(crate) fn is_built_in(&self) -> bool {
        let parts_are = match &self.value {
            Value::Table(table) => table.values().all(|entry| entry.node.is_built_in()),
            Value::List(items) => items.iter().all(ConfigNode::is_built_in),
            _ => true,
        };
        parts_are && self.origin.layer() == Layer::BuiltIn
    }

    /// The strings of a list; other items are left out.
    pub(crate) fn texts(&self) -> Vec<String> {
        let items = self.list().unwrap_or_default();
        items
            .iter()
            .filter_map(ConfigNode::text)
            .map(str::to_owned)
            .collect()
    }

    /// The value without its places.
    pub(crate) fn to_json(&self) -> Json {
        match &self.value {
            Value::Bool(value) => Json::Bool(*value),
            Value::Int(value) => Json::Number((*value).into()),
            // TOML has infinities and NaN, JSON has not.
            Value::Float(value) => Number::from_f64(*value).map_or(Json::Null, Json::Number),
            Value::Text(value) | Value::Date(value) => Json::String(value.clone()),
            Value::List(items) => items.iter().map(ConfigNode::to_json).collect(),
            Value::Table(_) => Json::Object(self.to_json_map()),
        }
    }

    /// The entries of a table without their places; empty for other values.
    pub(crate) fn to_json_map(&self) -> Map<String, Json> {
        let entries = self.table().into_iter().flatten();
        entries
            .map(|(key, entry)| (key.clone(), entry.node.to_json()))
            .collect()
    }
}

/// Whether two values say the same; where they were written does not matter.
pub(crate) fn same(left: &ConfigNode, right: &ConfigNode) -> bool {
    match (&left.value, &right.value) {
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Value::Text(a), Value::Text(b)) | (Value::Date(a), Value::Date(b)) => a == b,
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Table(a), Value::Table(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, entry)| {
                    b.get(key)
                        .is_some_and(|other| same(&entry.node, &other.node))
                })
        }
        _ => false,
    }
}
