//! [`stateful_schema`]: the schema that the arguments of a stateful tool are validated with.
//!
//! It is meant for our own validation. Most model providers refuse a root `oneOf`, so what is
//! published to them has another form.

use serde_json::{Map, Value, json};

use crate::{Actions, ToolAction};

/// The schema of a tool with `actions`, whose own parameters are those of `spawn`.
///
/// The result is an object with one variant per action in `oneOf`. Definitions and descriptions of
/// `spawn` move to the root, so that references such as `#/$defs/x` keep their meaning; all else of
/// it stays in the variant. If `spawn` allows no other properties, the optional `id` that a caller
/// may choose is added to it. For a one-shot tool the schema is `spawn` itself.
///
/// # Errors
///
/// If `spawn` is not the schema of an object, or has a parameter `action` or `id`.
pub fn stateful_schema(
    spawn: &Map<String, Value>,
    actions: Actions,
) -> Result<Map<String, Value>, SchemaError> {
    if actions.is_one_shot() {
        return Ok(spawn.clone());
    }
    let mut root = Map::new();
    root.insert("type".to_owned(), json!("object"));
    for key in ROOT_KEYS {
        if let Some(value) = spawn.get(key) {
            root.insert(key.to_owned(), value.clone());
        }
    }
    let mut variants = Vec::new();
    for action in actions.iter() {
        variants.push(match action {
            ToolAction::Spawn => Value::Object(spawn_variant(spawn)?),
            ToolAction::Fetch | ToolAction::Abort => json!({
                "properties": {"action": {"const": action.name()}, "id": {"type": "string"}},
                "required": ["action", "id"],
            }),
            ToolAction::Apply => json!({
                "properties": {
                    "action": {"const": action.name()},
                    "id": {"type": "string"},
                    "input": {},
                },
                "required": ["action", "id", "input"],
            }),
        });
    }
    root.insert("oneOf".to_owned(), Value::Array(variants));
    Ok(root)
}

fn spawn_variant(spawn: &Map<String, Value>) -> Result<Map<String, Value>, SchemaError> {
    if spawn.get("type").is_some_and(|kind| kind != "object") {
        return Err(SchemaError::NotAnObject);
    }
    let mut properties = Map::new();
    properties.insert("action".to_owned(), json!({"const": "spawn"}));
    match spawn.get("properties") {
        Some(Value::Object(own)) => {
            if let Some(name) = ["action", "id"]
                .into_iter()
                .find(|name| own.contains_key(*name))
            {
                return Err(SchemaError::Reserved { name });
            }
            properties.extend(own.clone());
        }
        Some(_) => return Err(SchemaError::Properties),
        None => {}
    }
    if spawn.get("additionalProperties") == Some(&Value::Bool(false)) {
        properties.insert("id".to_owned(), json!({"type": "string"}));
    }
    let mut required = vec![json!("action")];
    match spawn.get("required") {
        Some(Value::Array(own)) => required.extend(own.iter().cloned()),
        Some(_) => return Err(SchemaError::Required),
        None => {}
    }
    let mut variant = Map::new();
    variant.insert("properties".to_owned(), Value::Object(properties));
    variant.insert("required".to_owned(), Value::Array(required));
    for (key, value) in spawn {
        let moved = ROOT_KEYS.contains(&key.as_str());
        if !moved && !matches!(key.as_str(), "type" | "properties" | "required") {
            variant.insert(key.clone(), value.clone());
        }
    }
    Ok(variant)
}

/// Why a schema can't be that of `spawn`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The `type` is not `object`.
    #[error("the parameters of a tool must be of type `object`")]
    NotAnObject,
    /// `properties` is not an object.
    #[error("`properties` must be an object")]
    Properties,
    /// `required` is not a list.
    #[error("`required` must be a list")]
    Required,
    /// A parameter has a name that the protocol needs.
    #[error("a stateful tool can't have a parameter `{name}`: the protocol uses this name")]
    Reserved {
        /// The name.
        name: &'static str,
    },
}

/// What describes the whole tool, or is referred to from the root.
const ROOT_KEYS: [&str; 5] = ["$schema", "title", "description", "$defs", "definitions"];

#[cfg(test)]
mod tests;
