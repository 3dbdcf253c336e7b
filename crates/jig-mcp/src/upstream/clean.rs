//! [`clean`]: what a server says about its tools, without what it was told in confidence.

use jig_broker::Scrubber;
use serde_json::{Map, Value};

/// Takes secrets out of every text in a value, also out of names in it. Numbers stay: no secret is told from one.
///
/// Words that every description has stay as well, should a secret be one of them: whoever reads them learns
/// nothing, and without them it would be no description any more.
pub(super) fn clean(value: &mut Value, secrets: &Scrubber) {
    match value {
        Value::String(text) => clean_text(text, secrets),
        Value::Array(items) => items.iter_mut().for_each(|item| clean(item, secrets)),
        Value::Object(members) => clean_members(members, secrets),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn clean_members(members: &mut Map<String, Value>, secrets: &Scrubber) {
    for (mut name, mut value) in std::mem::take(members) {
        clean_text(&mut name, secrets);
        clean(&mut value, secrets);
        // Of two that are the same without their secrets the first counts.
        members.entry(name).or_insert(value);
    }
}

fn clean_text(text: &mut String, secrets: &Scrubber) {
    if !PLAIN.contains(&text.as_str()) {
        *text = secrets.text(std::mem::take(text));
    }
}

/// Words of the protocol and of JSON Schema, as far as they are long enough for a secret.
const PLAIN: [&str; 45] = [
    "$anchor",
    "$comment",
    "$defs",
    "$ref",
    "$schema",
    "_meta",
    "additionalProperties",
    "allOf",
    "annotations",
    "anyOf",
    "array",
    "boolean",
    "const",
    "default",
    "dependentRequired",
    "description",
    "destructiveHint",
    "else",
    "enum",
    "examples",
    "execution",
    "format",
    "icons",
    "idempotentHint",
    "inputSchema",
    "integer",
    "items",
    "maximum",
    "minimum",
    "name",
    "null",
    "number",
    "object",
    "oneOf",
    "openWorldHint",
    "outputSchema",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "readOnlyHint",
    "required",
    "string",
    "title",
    "type",
];

#[cfg(test)]
mod tests;
