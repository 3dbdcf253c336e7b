//! Laying one layer over another, as the [`ValueShape`] of a value says.
//!
//! Both trees have been checked. The result holds plain lists only: the wrapped form says how to
//! combine, and has then done its work.

use crate::shape::{ListMerge, ValueShape};
use crate::value::{ConfigNode, TableEntries, TableEntry, TomlValueKind, Value, same};

/// `above` laid over `below`.
pub(crate) fn merge(
    shape: &ValueShape,
    below: Option<ConfigNode>,
    above: ConfigNode,
) -> ConfigNode {
    let (below, above) = spelled_out(shape, below, above);
    match shape.for_kind(above.kind()) {
        Some(ValueShape::List(list)) if list.merge == ListMerge::Append => {
            merge_lists(below, above)
        }
        Some(fitting @ (ValueShape::Table(_) | ValueShape::Map(_) | ValueShape::FreeTable)) => {
            merge_tables(fitting, below, above)
        }
        _ => above,
    }
}

/// Both as tables if one of them is one and a bare value is short for a table, so that neither takes
/// away what only the other says.
fn spelled_out(
    shape: &ValueShape,
    below: Option<ConfigNode>,
    above: ConfigNode,
) -> (Option<ConfigNode>, ConfigNode) {
    let short = match shape.for_kind(TomlValueKind::Table) {
        Some(ValueShape::Table(table)) => table.short,
        _ => None,
    };
    let is_table = |node: &ConfigNode| node.kind() == TomlValueKind::Table;
    match (short, below) {
        (Some(key), Some(below)) if !is_table(&below) && is_table(&above) => {
            (Some(table_of(key, below)), above)
        }
        (Some(key), Some(below)) if is_table(&below) && !is_table(&above) => {
            (Some(below), table_of(key, above))
        }
        (_, below) => (below, above),
    }
}

/// A table in which `node` stands below `key`.
fn table_of(key: &str, node: ConfigNode) -> ConfigNode {
    let origin = node.origin.clone();
    let entry = TableEntry {
        key: origin.clone(),
        node,
    };
    ConfigNode {
        value: Value::Table(TableEntries::from_iter([(key.to_owned(), entry)])),
        origin,
    }
}

fn merge_tables(shape: &ValueShape, below: Option<ConfigNode>, above: ConfigNode) -> ConfigNode {
    let (mut merged, origin) = match below {
        Some(ConfigNode {
            value: Value::Table(table),
            origin,
        }) => (table, origin),
        // A scalar below is replaced as a whole.
        _ => (TableEntries::new(), above.origin.clone()),
    };
    let Value::Table(entries) = above.value else {
        return above;
    };
    for (name, entry) in entries {
        let child = match (shape, entry.node.kind()) {
            (ValueShape::FreeTable, TomlValueKind::Table) => Some(&ValueShape::FreeTable),
            _ => shape.child(&name),
        };
        let Some(child) = child else { continue };
        let Some(place) = merged.get_mut(&name) else {
            let node = merge(child, None, entry.node);
            merged.insert(name, TableEntry { node, ..entry });
            continue;
        };
        let below = std::mem::replace(&mut place.node.value, Value::Bool(false));
        let origin = place.node.origin.clone();
        let below = ConfigNode {
            value: below,
            origin,
        };
        place.node = merge(child, Some(below), entry.node);
        // A table goes on under its first key; any other value is now the later layer's.
        if place.node.kind() != TomlValueKind::Table {
            place.key = entry.key;
        }
    }
    ConfigNode {
        value: Value::Table(merged),
        origin,
    }
}

/// The ways to combine two lists.
enum ListMergeStrategy {
    Append,
    Prepend,
    Replace,
}

fn merge_lists(below: Option<ConfigNode>, above: ConfigNode) -> ConfigNode {
    let origin = above.origin.clone();
    let (strategy, dedup, above) = unwrap(above);
    let below = match below.map(|node| node.value) {
        Some(Value::List(items)) => items,
        _ => Vec::new(),
    };
    let mut items = match strategy {
        ListMergeStrategy::Append => [below, above].concat(),
        ListMergeStrategy::Prepend => [above, below].concat(),
        ListMergeStrategy::Replace => above,
    };
    if dedup {
        keep_last_of_equals(&mut items);
    }
    ConfigNode {
        value: Value::List(items),
        origin,
    }
}

fn unwrap(node: ConfigNode) -> (ListMergeStrategy, bool, Vec<ConfigNode>) {
    let strategy = node.get("strategy").and_then(ConfigNode::text);
    let flag = node
        .get("dedup")
        .and_then(ConfigNode::bool)
        .unwrap_or(false);
    let dedup = flag || strategy == Some("dedup");
    let strategy = match strategy {
        Some("prepend") => ListMergeStrategy::Prepend,
        Some("replace") => ListMergeStrategy::Replace,
        _ => ListMergeStrategy::Append,
    };
    let items = match node.value {
        Value::List(items) => items,
        Value::Table(mut table) => match table.swap_remove("value").map(|entry| entry.node.value) {
            Some(Value::List(items)) => items,
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    (strategy, dedup, items)
}

/// Of equal items the last stays, because the last of two rules on one path decides: dropping a
/// repetition must not change which one that is.
fn keep_last_of_equals(items: &mut Vec<ConfigNode>) {
    let mut kept: Vec<ConfigNode> = Vec::with_capacity(items.len());
    for item in items.drain(..).rev() {
        if !kept.iter().any(|other| same(other, &item)) {
            kept.push(item);
        }
    }
    kept.reverse();
    *items = kept;
}
