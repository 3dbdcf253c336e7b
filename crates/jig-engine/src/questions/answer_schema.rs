//! [`fits`]: whether an answer matches the JSON Schema of its question.
//!
//! It knows the keywords that questions are made of: types, choices, lengths, ranges, the members of objects
//! and the items of arrays. What it does not know it lets pass: the tool that asked checks what it gets.

use serde_json::{Map, Value};

/// Whether `value` matches `schema`.
///
/// # Errors
///
/// What does not match, in words.
pub fn fits(schema: &Value, value: &Value) -> Result<(), String> {
    check(schema, value, "it", 0)
}

fn check(schema: &Value, value: &Value, at: &str, depth: usize) -> Result<(), String> {
    let schema = match schema {
        Value::Object(schema) if depth < DEEPEST => schema,
        Value::Bool(false) => return Err(format!("{at} cannot be answered")),
        _ => return Ok(()),
    };
    check_type(schema, value, at)?;
    check_choice(schema, value, at)?;
    match value {
        Value::String(text) => {
            let length = text.chars().count();
            check_range(schema, "minLength", "maxLength", length as f64, at, "long")
        }
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or(f64::NAN);
            check_range(schema, "minimum", "maximum", number, at, "large")
        }
        Value::Array(items) => {
            let count = items.len() as f64;
            check_range(schema, "minItems", "maxItems", count, at, "long")?;
            match schema.get("items") {
                Some(each) => items.iter().enumerate().try_for_each(|(index, item)| {
                    check(each, item, &format!("item {index} of {at}"), depth + 1)
                }),
                None => Ok(()),
            }
        }
        Value::Object(members) => check_members(schema, members, at, depth),
        Value::Null | Value::Bool(_) => Ok(()),
    }
}

fn check_type(schema: &Map<String, Value>, value: &Value, at: &str) -> Result<(), String> {
    let is_a = |kind: &Value| match kind.as_str() {
        Some("string") => value.is_string(),
        Some("number") => value.is_number(),
        // 3.0 is an integer to JSON Schema.
        Some("integer") => {
            value.is_i64()
                || value.is_u64()
                || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some("null") => value.is_null(),
        _ => true,
    };
    let kinds = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.as_slice(),
        Some(kind) => std::slice::from_ref(kind),
        None => return Ok(()),
    };
    if kinds.is_empty() || kinds.iter().any(is_a) {
        return Ok(());
    }
    let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
    Err(format!("{at} must be of type {}", kinds.join(" or ")))
}

fn check_choice(schema: &Map<String, Value>, value: &Value, at: &str) -> Result<(), String> {
    let plain = schema.get("enum").and_then(Value::as_array);
    let titled = |key: &str| {
        let options = schema.get(key).and_then(Value::as_array)?;
        let values: Option<Vec<&Value>> = options.iter().map(|one| one.get("const")).collect();
        values
    };
    let is_one_of = match plain {
        Some(options) => options.contains(value),
        None => match titled("oneOf").or_else(|| titled("anyOf")) {
            Some(options) => options.contains(&value),
            None => true,
        },
    };
    let is_const = schema.get("const").is_none_or(|only| only == value);
    match is_one_of && is_const {
        true => Ok(()),
        false => Err(format!("{at} must be one of the given choices")),
    }
}

fn check_range(
    schema: &Map<String, Value>,
    least: &str,
    most: &str,
    actual: f64,
    at: &str,
    word: &str,
) -> Result<(), String> {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    if let Some(least) = bound(least)
        && actual < least
    {
        return Err(format!("{at} must be at least {least} {word}"));
    }
    if let Some(most) = bound(most)
        && actual > most
    {
        return Err(format!("{at} must be at most {most} {word}"));
    }
    Ok(())
}

fn check_members(
    schema: &Map<String, Value>,
    members: &Map<String, Value>,
    at: &str,
    depth: usize,
) -> Result<(), String> {
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !members.contains_key(name) {
            return Err(format!("`{name}` is missing"));
        }
    }
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return Ok(());
    };
    for (name, member) in members {
        match properties.get(name) {
            Some(property) => check(property, member, &format!("`{name}`"), depth + 1)?,
            None if schema.get("additionalProperties") == Some(&Value::Bool(false)) => {
                return Err(format!("{at} has no member `{name}`"));
            }
            None => {}
        }
    }
    Ok(())
}

/// How deep an answer is compared. A tool writes the schema.
const DEEPEST: usize = 16;

#[cfg(test)]
mod tests;
