//! Schemas of servers: compiled where that is safe, and what does not fit them in our words.
//!
//! A schema comes from a server, and what is checked with it may come from there as well. One that would take
//! long is not used: its server checks its arguments itself.

use jig_config::Definition;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};

use crate::planning::arguments::{ArgumentErrors, kind_of};
use crate::results::declared_output::shortened;

/// A schema, ready for use; `None` if it cannot be used here.
///
/// It stands for itself: nothing is fetched. Patterns are those of the crate `regex`, which takes linear time.
pub(super) fn compile(schema: &Value) -> Option<Validator> {
    if !is_tame(schema) {
        return None;
    }
    let patterns = PatternOptions::regex()
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES);
    let options = jsonschema::options()
        .offline()
        .with_pattern_options(patterns);
    options.build(schema).ok()
}

/// Whether checking with a schema takes a time that depends on what is checked, and hardly on the schema.
///
/// A handful of definitions that refer to each other can stand for any number of checks, or for one that never
/// ends. So all references are followed, and what they stand for is counted. What refers to itself is refused,
/// and so is whatever would make a reference mean something else than it says here.
fn is_tame(schema: &Value) -> bool {
    let old = schema["$schema"].as_str();
    !old.is_some_and(|old| old.contains("draft-04")) && values(schema).is_some()
}

/// How many values a schema stands for; `None` for one that is refused.
fn values(schema: &Value) -> Option<usize> {
    let mut walk = SchemaWalk {
        root: schema,
        left: MOST_VALUES,
        open: Vec::new(),
    };
    walk.visit(schema)?;
    Some(MOST_VALUES - walk.left)
}

/// Whether checking this value with this schema takes moments, however both were made: in the worst case each part
/// of the one is held against each part of the other.
pub(super) fn is_quick(schema: &Value, value: &Value) -> bool {
    values(schema).is_some_and(|values| is_shorter(value, MOST_CHECKS / values.max(1)))
}

struct SchemaWalk<'s> {
    root: &'s Value,
    /// How many values it may still stand for.
    left: usize,
    /// The references that are being followed.
    open: Vec<&'s str>,
}

impl<'s> SchemaWalk<'s> {
    /// `None` if it is refused.
    fn visit(&mut self, value: &'s Value) -> Option<()> {
        self.spend(1)?;
        match value {
            Value::Array(all) => all.iter().try_for_each(|one| self.visit(one)),
            Value::Object(members) => members
                .iter()
                .try_for_each(|(key, value)| self.member(key, value)),
            _ => Some(()),
        }
    }

    fn member(&mut self, key: &str, value: &'s Value) -> Option<()> {
        match (key, value) {
            ("$ref", Value::String(reference)) => self.follow(reference),
            (
                "$dynamicRef" | "$recursiveRef" | "$id" | "$anchor" | "$dynamicAnchor",
                Value::String(_),
            ) => None,
            ("pattern", Value::String(_)) => self.spend(PATTERN),
            ("patternProperties", Value::Object(patterns)) => {
                self.spend(PATTERN.checked_mul(patterns.len())?)?;
                self.visit(value)
            }
            _ => self.visit(value),
        }
    }

    fn follow(&mut self, reference: &'s str) -> Option<()> {
        if self.open.contains(&reference) || self.open.len() >= MOST_OPEN {
            return None;
        }
        let target = self.root.pointer(reference.strip_prefix('#')?)?;
        self.open.push(reference);
        let followed = self.visit(target);
        self.open.pop();
        followed
    }

    fn spend(&mut self, values: usize) -> Option<()> {
        self.left = self.left.checked_sub(values)?;
        Some(())
    }
}

/// The arguments without those that are `null` and may be left out, but not be `null`: clients in a strict mode send
/// every parameter.
fn without_nulls(schema: &Value, mut arguments: Map<String, Value>) -> Map<String, Value> {
    let is_required = |name: &str| {
        let required = schema["required"].as_array();
        required.is_some_and(|all| all.iter().any(|one| one == name))
    };
    arguments.retain(|name, value| {
        let own = schema["properties"].get(name);
        let may_be_null = own.is_none_or(|own| allows_null(own, schema, 0));
        !value.is_null() || is_required(name) || may_be_null
    });
    arguments
}

/// Whether `null` may fit a schema; what cannot be told here is for the server to say.
fn allows_null(schema: &Value, root: &Value, depth: usize) -> bool {
    let is_null = |kind: &Value| kind == "null";
    let types = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().any(is_null),
        Value::Null => true,
        kind => is_null(kind),
    };
    let values = schema["enum"].as_array();
    let values = values.is_none_or(|values| values.contains(&Value::Null));
    let choices = ["anyOf", "oneOf"]
        .into_iter()
        .all(|key| match &schema[key] {
            Value::Array(all) if depth < DEEPEST_CHOICE => {
                all.iter().any(|one| allows_null(one, root, depth + 1))
            }
            _ => true,
        });
    let referred = schema["$ref"].as_str().and_then(|at| at.strip_prefix('#'));
    let referred = referred.and_then(|at| root.pointer(at));
    let referred = referred
        .filter(|_| depth < DEEPEST_CHOICE)
        .is_none_or(|schema| allows_null(schema, root, depth + 1));
    types && values && choices && referred
}

/// How many choices within choices are looked at.
const DEEPEST_CHOICE: usize = 4;

/// Holds arguments against the schema of a definition.
pub(super) fn check(
    validator: &Validator,
    definition: &Definition,
    arguments: Map<String, Value>,
) -> Result<Map<String, Value>, ArgumentErrors> {
    let arguments = Value::Object(without_nulls(&definition.input, arguments));
    // What would take long is left to the server.
    if is_quick(&definition.input, &arguments) && !validator.is_valid(&arguments) {
        let words = |fault: ValidationError<'_>| shortened(words(&fault, &arguments, definition));
        // Whoever sends a million of wrong values is told of one: all faults are found before the first is told.
        let mut faults: Vec<String> = match is_short(&arguments) {
            true => validator
                .iter_errors(&arguments)
                .take(MOST_FAULTS)
                .map(words)
                .collect(),
            false => validator
                .validate(&arguments)
                .err()
                .map(words)
                .into_iter()
                .collect(),
        };
        faults.dedup();
        return Err(ArgumentErrors {
            problems: faults,
            missing: Vec::new(),
        });
    }
    match arguments {
        Value::Object(arguments) => Ok(arguments),
        _ => Ok(Map::new()),
    }
}

/// Whether arguments hold so few values that all of their faults can be looked at.
fn is_short(arguments: &Value) -> bool {
    is_shorter(arguments, SHORT)
}

/// Whether a value holds fewer than so many others, where a long text counts for many.
fn is_shorter(value: &Value, most: usize) -> bool {
    fn count(value: &Value, left: &mut usize) -> bool {
        let own = match value {
            Value::String(text) => 1 + text.len() / TEXT,
            Value::Object(members) => {
                1 + members.keys().map(|name| name.len() / TEXT).sum::<usize>()
            }
            _ => 1,
        };
        *left = left.saturating_sub(own);
        *left > 0
            && match value {
                Value::Array(all) => all.iter().all(|one| count(one, left)),
                Value::Object(members) => members.values().all(|one| count(one, left)),
                _ => true,
            }
    }
    count(value, &mut { most })
}

/// What does not fit, as the arguments of our own tools are told.
fn words(fault: &ValidationError<'_>, arguments: &Value, definition: &Definition) -> String {
    let pointer = fault.instance_path().to_string();
    let place = place(&pointer, arguments);
    let named = |name: &str| match place.as_str() {
        "" => name.to_owned(),
        place => format!("{place}.{name}"),
    };
    let subject = match place.as_str() {
        "" => "the arguments together".to_owned(),
        place => format!("`{place}`"),
    };
    let found = kind_of(fault.instance());
    match fault.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let about = match place.is_empty() {
                true => about(definition, name),
                false => String::new(),
            };
            format!("`{}` is missing{about}", named(name))
        }
        ValidationErrorKind::Type { kind } => {
            let wanted = match kind {
                TypeKind::Single(one) => one.to_string(),
                TypeKind::Multiple(all) => {
                    let all: Vec<String> = all.iter().map(|one| one.to_string()).collect();
                    all.join(" or ")
                }
            };
            format!("{subject} must be {wanted}, not {found}")
        }
        ValidationErrorKind::Enum { options } => {
            let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
            let options = options.iter().take(MOST_OPTIONS).map(ToString::to_string);
            let options: Vec<String> = options.collect();
            format!("{subject} must be one of {}", options.join(", "))
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let unexpected = unexpected.iter().take(MOST_FAULTS);
            let unexpected: Vec<String> = unexpected
                .map(|name| format!("`{}`", named(name)))
                .collect();
            let (are, known) = (unexpected.join(", "), known(definition, &place));
            let verb = if unexpected.len() == 1 { "is" } else { "are" };
            format!("{are} {verb} not known{known}")
        }
        // Without the value itself, which may be of any size.
        _ => {
            let what = fault.masked_with("it").to_string();
            let what = what.strip_prefix("it ").unwrap_or(&what);
            format!("{subject} {what}")
        }
    }
}

/// The names that there are at the root, after a fault there.
fn known(definition: &Definition, place: &str) -> String {
    let properties = definition.input["properties"].as_object();
    match properties.filter(|_| place.is_empty()) {
        None => String::new(),
        Some(properties) if properties.is_empty() => "; there are none".to_owned(),
        Some(properties) => {
            let names = properties.keys().take(MOST_OPTIONS);
            let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
            format!("; there is {}", names.join(", "))
        }
    }
}

fn about(definition: &Definition, name: &str) -> String {
    let about = definition.input["properties"][name]["description"].as_str();
    let line = about
        .and_then(|about| about.lines().next())
        .unwrap_or_default();
    match line.trim_end_matches('.') {
        "" => String::new(),
        line => format!(" ({line})"),
    }
}

/// A JSON Pointer as people write it: `files[2].path`.
fn place(pointer: &str, arguments: &Value) -> String {
    let mut shown = String::new();
    let mut at = Some(arguments);
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        match at {
            Some(Value::Array(all)) => {
                at = step.parse().ok().and_then(|index: usize| all.get(index));
                shown.push_str(&format!("[{step}]"));
            }
            _ => {
                at = at.and_then(|value| value.get(&step));
                if !shown.is_empty() {
                    shown.push('.');
                }
                shown.push_str(&step);
            }
        }
    }
    shown
}

/// Strings that hold JSON of another type that the schema wants, as models like to send it, become that (J-017).
/// Only the arguments themselves are looked at.
pub(super) fn coerce(definition: &Definition, arguments: &mut Map<String, Value>) {
    let Some(properties) = definition.input["properties"].as_object() else {
        return;
    };
    for (name, value) in arguments {
        let (Value::String(text), Some(schema)) = (&*value, properties.get(name)) else {
            continue;
        };
        let types = match &schema["type"] {
            Value::Array(types) => types.as_slice(),
            one => std::slice::from_ref(one),
        };
        if types.iter().any(|kind| kind == "string") {
            continue;
        }
        let limits = jig_proto::json::JsonLimits::MESSAGE;
        let Ok(read) = jig_proto::json::value(text.as_bytes(), &limits) else {
            continue;
        };
        let mut types = types.iter().filter_map(Value::as_str);
        if types.any(|kind| is_a(&read, kind)) {
            *value = read;
        }
    }
}

fn is_a(value: &Value, kind: &str) -> bool {
    match kind {
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => false,
    }
}

/// How many values a schema may stand for, with every reference followed. Each may be a check, and is made for
/// each value that is checked.
const MOST_VALUES: usize = 20_000;

/// How often one of the values of a schema may be held against one of what is checked: a fraction of a second.
const MOST_CHECKS: usize = 10_000_000;

/// How many bytes of a text count for a value. A pattern reads all of them.
const TEXT: usize = 64;

/// What a pattern counts for.
const PATTERN: usize = 200;

/// How many references may lead from one to the next.
const MOST_OPEN: usize = 64;

/// The memory that one pattern may take, in bytes. Few signs can stand for a large machine.
const PATTERN_BYTES: usize = 128 * 1024;

/// How many faults are told. A caller corrects a few at a time.
const MOST_FAULTS: usize = 10;

/// How many values arguments may hold for all faults to be looked at.
const SHORT: usize = 1000;

/// How many names or values are told in one.
const MOST_OPTIONS: usize = 50;
