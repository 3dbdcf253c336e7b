//! [`clean`]: what a server says about its tools, without what it was told in confidence. [`clean_question`]: the
//! same for what it asks.

use jig_broker::Scrubber;
use jig_proto::Question;
use serde_json::{Map, Value};

/// Whether arguments are still called what the server calls them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(super) enum ArgumentNames {
    /// All of them.
    Same,
    /// Not all: the server would not know what they are.
    Changed,
}

/// Takes secrets out of every text in a value, also out of names in it. Numbers stay: no secret is told from one.
///
/// Words that every description has stay as well, should a secret be one of them: whoever reads them learns
/// nothing, and without them it would be no description any more. Names lose only what can be a key.
pub(super) fn clean(value: &mut Value, secrets: &Scrubber) -> ArgumentNames {
    match value {
        Value::String(text) => {
            clean_text(text, secrets);
            ArgumentNames::Same
        }
        Value::Array(items) => all(items.iter_mut().map(|item| clean(item, secrets))),
        Value::Object(members) => clean_members(members, secrets, MemberKind::Other),
        Value::Null | Value::Bool(_) | Value::Number(_) => ArgumentNames::Same,
    }
}

/// Takes secrets out of a question. Returns whether an answer still means to the server what it means to whoever
/// gives it: a choice without its secret is none that the server knows.
#[must_use]
pub(crate) fn clean_question(question: &mut Question, secrets: &Scrubber) -> bool {
    clean_text(&mut question.text, secrets);
    if let Some(context) = &mut question.context {
        clean_text(context, secrets);
    }
    question.id = clean_name(std::mem::take(&mut question.id), secrets);
    question.default = question
        .default
        .take()
        .filter(|default| is_clean(default, secrets));
    forget_defaults(&mut question.schema, secrets);
    let said = question.schema.clone();
    let _ = clean(&mut question.schema, secrets);
    said == question.schema || without_prose(said) == without_prose(question.schema.clone())
}

fn is_clean(value: &Value, secrets: &Scrubber) -> bool {
    let mut shown = value.clone();
    let _ = clean(&mut shown, secrets);
    shown == *value
}

/// Removes defaults that hold a secret. Where nobody says anything, the server gets what it said itself.
fn forget_defaults(schema: &mut Value, secrets: &Scrubber) {
    match schema {
        Value::Object(members) => {
            // A field may have that name as well, and is described by an object.
            members.retain(|name, value| {
                name != "default" || value.is_object() || is_clean(value, secrets)
            });
            for value in members.values_mut() {
                forget_defaults(value, secrets);
            }
        }
        Value::Array(items) => {
            for item in items {
                forget_defaults(item, secrets);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A schema without what is only there to be read.
fn without_prose(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(members) => {
            members.retain(|name, value| value.is_object() || !PROSE.contains(&name.as_str()));
            for value in members.values_mut() {
                *value = without_prose(value.take());
            }
        }
        Value::Array(items) => {
            for item in items {
                *item = without_prose(item.take());
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    schema
}

/// Members of a schema that no answer is measured by.
const PROSE: [&str; 4] = ["$comment", "description", "enumNames", "title"];

/// What the members of an object are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MemberKind {
    Properties,
    Other,
}

fn clean_members(
    members: &mut Map<String, Value>,
    secrets: &Scrubber,
    of: MemberKind,
) -> ArgumentNames {
    let mut names = ArgumentNames::Same;
    for (name, mut value) in std::mem::take(members) {
        let inner = match (&mut value, name.as_str()) {
            // Here these are names of arguments, and no words of JSON Schema.
            (value, _) if of == MemberKind::Properties => clean(value, secrets),
            (Value::Object(members), "properties") => {
                clean_members(members, secrets, MemberKind::Properties)
            }
            (value, "required" | "dependentRequired") => clean_names(value, secrets),
            (value, _) => clean(value, secrets),
        };
        let shown = clean_name(name.clone(), secrets);
        let is_same = of == MemberKind::Other || shown == name;
        if inner == ArgumentNames::Changed || !is_same {
            names = ArgumentNames::Changed;
        }
        // Of two that are the same without their secrets the first counts.
        members.entry(shown).or_insert(value);
    }
    names
}

/// The same for a value whose texts are all names of arguments.
fn clean_names(value: &mut Value, secrets: &Scrubber) -> ArgumentNames {
    match value {
        Value::String(name) => *name = clean_name(std::mem::take(name), secrets),
        Value::Array(items) => return all(items.iter_mut().map(|item| clean_names(item, secrets))),
        Value::Object(members) => {
            for (name, mut value) in std::mem::take(members) {
                let _ = clean_names(&mut value, secrets);
                members.entry(clean_name(name, secrets)).or_insert(value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    ArgumentNames::Same
}

fn all(names: impl Iterator<Item = ArgumentNames>) -> ArgumentNames {
    // All of them are cleaned, whatever the first comes to.
    names.fold(ArgumentNames::Same, |before, names| match before {
        ArgumentNames::Same => names,
        ArgumentNames::Changed => before,
    })
}

fn clean_text(text: &mut String, secrets: &Scrubber) {
    if !PLAIN.contains(&text.as_str()) {
        *text = secrets.text(std::mem::take(text));
    }
}

fn clean_name(name: String, secrets: &Scrubber) -> String {
    let bytes = name.as_bytes();
    let masked = secrets.masked(bytes, 0..bytes.len());
    let mut pairs = bytes.iter().copied().zip(masked);
    let mut has_key = false;
    while !has_key && let Some(first) = pairs.by_ref().find(is_masked) {
        let rest = pairs.by_ref().take_while(is_masked);
        let found: Vec<u8> = std::iter::once(first)
            .chain(rest)
            .map(|(byte, _)| byte)
            .collect();
        has_key = can_be_key(&found);
    }
    match has_key && !PLAIN.contains(&name.as_str()) {
        true => secrets.text(name),
        false => name,
    }
}

fn is_masked((_, masked): &(u8, u8)) -> bool {
    *masked == b'*'
}

/// Whether a secret can be one that a machine has made. Others are words, which are names of arguments as well.
fn can_be_key(secret: &[u8]) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_lowercase() || *byte == b'_';
    secret.len() >= SHORTEST_KEY && !secret.iter().all(is_word)
}

/// Shorter ones nobody gives out.
const SHORTEST_KEY: usize = 8;

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
