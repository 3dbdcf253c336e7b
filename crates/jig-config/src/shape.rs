//! What a configuration may look like: one table from which checking, merging, overrides, "did you
//! mean" and the JSON Schema are all derived.
//!
//! The table itself is in [`keys`]; here are the words in which it is written. Nothing here knows
//! what a key means.

pub(crate) mod check;
pub(crate) mod keys;
pub(crate) mod quantity;
pub(crate) mod schema;
mod text;

use crate::shape::quantity::{Amount, AmountUnit, Quantity};
use crate::value::{ConfigNode, TomlValueKind};

pub(crate) use keys::ROOT;
pub(crate) use text::{TextComplaint, TextRule};

/// What a value may be.
#[derive(Debug)]
pub(crate) enum ValueShape {
    Bool,
    /// An integer within bounds, both included.
    Int {
        min: i64,
        max: i64,
    },
    /// A number, with a fraction or without, within bounds, both included.
    Number {
        min: f64,
        max: f64,
    },
    /// A string, with what makes one valid.
    Text(&'static TextRule),
    /// A string that is one of a few words.
    Word(&'static [ShapeWord]),
    /// A size, a time or a count.
    Quantity(&'static Quantity),
    List(&'static ListShape),
    Table(&'static TableShape),
    Map(&'static MapShape),
    /// Anything; a later layer replaces it as a whole.
    Free,
    /// A table of anything; layers are merged key by key.
    FreeTable,
    /// A table of anything; a later layer replaces it as a whole.
    Whole,
    /// One of several shapes, told apart by the kind of the value.
    Any(&'static [ValueShape]),
}

/// One word of a [`ValueShape::Word`].
#[derive(Debug)]
pub(crate) struct ShapeWord {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
}

/// A list of items of one shape.
#[derive(Debug)]
pub(crate) struct ListShape {
    pub(crate) item: ValueShape,
    pub(crate) merge: ListMerge,
}

/// What a later layer does to a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListMerge {
    /// The later list stands alone.
    Replace,
    /// The later items are appended, and the wrapped form `{ strategy, value, dedup }` says
    /// otherwise.
    Append,
}

/// A table with known keys.
#[derive(Debug)]
pub(crate) struct TableShape {
    /// What it describes, with an article, for messages; unique, also names the definition in the
    /// JSON Schema.
    pub(crate) what: &'static str,
    pub(crate) keys: &'static [TableKey],
    /// Spellings of other programs, and what to write instead.
    pub(crate) foreign: &'static [(&'static str, &'static str)],
    /// The key that a bare value in place of the table stands for. Layers are then merged key by key,
    /// whichever of the two forms each is written in.
    pub(crate) short: Option<&'static str>,
}

impl TableShape {
    pub(crate) fn key(&self, name: &str) -> Option<&'static TableKey> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// What the checked table `node` says for an amount.
    pub(crate) fn amount(&self, node: &ConfigNode, name: &str) -> Option<Amount> {
        match (
            self.key(name)?.shape.for_kind(TomlValueKind::Int)?,
            node.get(name)?,
        ) {
            (ValueShape::Quantity(quantity), node) => quantity.read(&node.value).ok(),
            _ => None,
        }
    }
}

/// A table whose keys are names that the user chooses.
#[derive(Debug)]
pub(crate) struct MapShape {
    /// What a name names, for messages: "a tool".
    pub(crate) what: &'static str,
    pub(crate) name: &'static TextRule,
    pub(crate) value: ValueShape,
    /// Names with a meaning and a shape of their own.
    pub(crate) special: &'static [(&'static str, ValueShape)],
}

impl MapShape {
    pub(crate) fn shape_of(&self, name: &str) -> &ValueShape {
        let special = self.special.iter().find(|(special, _)| *special == name);
        special.map_or(&self.value, |(_, shape)| shape)
    }
}

/// A key of a [`TableShape`].
#[derive(Debug)]
pub(crate) struct TableKey {
    pub(crate) name: &'static str,
    pub(crate) shape: ValueShape,
    /// A full sentence for the JSON Schema.
    pub(crate) doc: &'static str,
    /// The default as JSON, where there is a fixed one.
    pub(crate) default: Option<&'static str>,
    /// Whether a table without the key is incomplete, whatever other layers add.
    pub(crate) required: bool,
}

/// A [`TableKey`] with its optional parts. A macro and not a function, because only a literal may
/// refer to tables that are written in place.
macro_rules! key {
    ($name:literal, $shape:expr, $doc:literal) => {
        key!($name, $shape, $doc, None, false)
    };
    ($name:literal, $shape:expr, $doc:literal, default = $default:literal) => {
        key!($name, $shape, $doc, Some($default), false)
    };
    ($name:literal, $shape:expr, $doc:literal, required) => {
        key!($name, $shape, $doc, None, true)
    };
    ($name:literal, $shape:expr, $doc:literal, $default:expr, $required:literal) => {
        $crate::shape::TableKey {
            name: $name,
            shape: $shape,
            doc: $doc,
            default: $default,
            required: $required,
        }
    };
}

pub(crate) use key;

impl ValueShape {
    /// The shape for a value of `kind`; `None` if no such value fits.
    pub(crate) fn for_kind(&self, kind: TomlValueKind) -> Option<&ValueShape> {
        match self {
            ValueShape::Any(shapes) => shapes.iter().find_map(|shape| shape.for_kind(kind)),
            shape => shape.accepts(kind).then_some(shape),
        }
    }

    fn accepts(&self, kind: TomlValueKind) -> bool {
        match self {
            ValueShape::Bool => kind == TomlValueKind::Bool,
            ValueShape::Int { .. } => kind == TomlValueKind::Int,
            ValueShape::Number { .. } => matches!(kind, TomlValueKind::Int | TomlValueKind::Float),
            ValueShape::Text(_) | ValueShape::Word(_) => kind == TomlValueKind::Text,
            ValueShape::Quantity(quantity) => match kind {
                TomlValueKind::Int => true,
                TomlValueKind::Text => quantity.unit != AmountUnit::Count || quantity.liftable,
                TomlValueKind::Bool => quantity.liftable,
                _ => false,
            },
            ValueShape::List(list) => {
                kind == TomlValueKind::List
                    || (kind == TomlValueKind::Table && list.merge == ListMerge::Append)
            }
            ValueShape::Table(_)
            | ValueShape::Map(_)
            | ValueShape::FreeTable
            | ValueShape::Whole => kind == TomlValueKind::Table,
            ValueShape::Free => true,
            ValueShape::Any(shapes) => shapes.iter().any(|shape| shape.accepts(kind)),
        }
    }

    /// The shape of the value below `name`, for overrides that name a path.
    pub(crate) fn child(&self, name: &str) -> Option<&ValueShape> {
        match self {
            ValueShape::Table(table) => table.key(name).map(|key| &key.shape),
            ValueShape::Map(map) => Some(map.shape_of(name)),
            ValueShape::Free | ValueShape::FreeTable | ValueShape::Whole => Some(&ValueShape::Free),
            ValueShape::Any(shapes) => shapes.iter().find_map(|shape| shape.child(name)),
            _ => None,
        }
    }

    /// What is expected, with an article: "a string or a table".
    pub(crate) fn noun(&self) -> String {
        match self {
            ValueShape::Bool => "a boolean".to_owned(),
            ValueShape::Int { .. } => "an integer".to_owned(),
            ValueShape::Number { .. } => "a number".to_owned(),
            ValueShape::Text(_) => "a string".to_owned(),
            ValueShape::Word(words) => {
                let names = words.iter().map(|word| format!("`\"{}\"`", word.name));
                either(&names.collect::<Vec<_>>())
            }
            ValueShape::Quantity(quantity) => quantity.noun(),
            ValueShape::List(_) => "a list".to_owned(),
            ValueShape::Table(_)
            | ValueShape::Map(_)
            | ValueShape::FreeTable
            | ValueShape::Whole => "a table".to_owned(),
            ValueShape::Free => "any value".to_owned(),
            ValueShape::Any(shapes) => {
                either(&shapes.iter().map(ValueShape::noun).collect::<Vec<_>>())
            }
        }
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(crate) fn either(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// The wrapped form of a list that layers append to.
pub(crate) static WRAPPED: TableShape = TableShape {
    what: "a list with its merge strategy",
    keys: &[
        key!(
            "strategy",
            ValueShape::Word(&[
                ShapeWord {
                    name: "append",
                    doc: "After the items of lower layers.",
                },
                ShapeWord {
                    name: "prepend",
                    doc: "Before the items of lower layers.",
                },
                ShapeWord {
                    name: "replace",
                    doc: "Instead of the items of lower layers.",
                },
                ShapeWord {
                    name: "dedup",
                    doc: "After the items of lower layers; of equal items only the last is kept.",
                },
            ]),
            "How the items are combined with those of lower layers.",
            default = "\"append\""
        ),
        // The shape of the items depends on the list: checked there.
        key!("value", ValueShape::Free, "The items.", required),
        key!(
            "dedup",
            ValueShape::Bool,
            "Whether only the last of equal items is kept, whatever the strategy.",
            default = "false"
        ),
    ],
    foreign: &[
        ("values", "write `value`"),
        ("items", "write `value`"),
        ("merge", "write `strategy`"),
    ],
    short: None,
};
