//! What is offered for the spellings of other programs exists.

use std::collections::HashSet;

use super::*;
use crate::shape::ROOT;

/// Follows every shape from the root, each table once, with the tables above it.
fn each_table(
    shape: &'static ValueShape,
    above: &mut Vec<&'static TableShape>,
    seen: &mut HashSet<&'static str>,
    visit: &mut impl FnMut(&'static TableShape, &[&'static TableShape]),
) {
    match shape {
        ValueShape::List(list) => each_table(&list.item, above, seen, visit),
        ValueShape::Any(shapes) => {
            for shape in *shapes {
                each_table(shape, above, seen, visit);
            }
        }
        ValueShape::Map(map) => {
            each_table(&map.value, above, seen, visit);
            for (_, shape) in map.special {
                each_table(shape, above, seen, visit);
            }
        }
        ValueShape::Table(table) if seen.insert(table.what) => {
            visit(table, above);
            above.push(table);
            for key in table.keys {
                each_table(&key.shape, above, seen, visit);
            }
            above.pop();
        }
        _ => {}
    }
}

/// Whether a dotted key can stand in the table.
fn has(table: &TableShape, path: &str) -> bool {
    let mut steps = path.split('.');
    let first = steps.next().and_then(|name| table.key(name));
    let mut shape = first.map(|key| &key.shape);
    for step in steps {
        shape = shape.and_then(|shape| shape.child(step));
    }
    shape.is_some()
}

/// Whoever writes the key that `write …` names is not told of it again.
#[test]
fn what_is_to_be_written_instead_is_a_key() {
    let mut offered = 0;
    let mut look = |table: &'static TableShape, above: &[&'static TableShape]| {
        for (spelling, instead) in table.foreign {
            assert!(
                table.key(spelling).is_none(),
                "`{spelling}` is a key of {}",
                table.what
            );
            let written = instead.strip_prefix("write `").unwrap_or_default();
            let key = written.split(['`', ' ']).next().unwrap_or_default();
            let is_key = |one: char| one.is_ascii_lowercase() || one == '_' || one == '.';
            let is_of_another_table = instead.ends_with(" a tool");
            if key.is_empty() || !key.chars().all(is_key) || is_of_another_table {
                continue;
            }
            offered += 1;
            let there = above.iter().copied().chain([table]);
            assert!(
                there.into_iter().any(|table| has(table, key)),
                "`{spelling}` of {}: there is no `{key}`",
                table.what
            );
        }
    };
    each_table(&ROOT, &mut Vec::new(), &mut HashSet::new(), &mut look);
    assert!(offered > 100, "{offered}");
}
