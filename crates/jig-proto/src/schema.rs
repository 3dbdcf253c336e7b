//! [`stateful_schema`]: the schema that the arguments of a stateful tool are validated with.
//!
//! It is meant for our own validation. Most model providers refuse a root `oneOf`, so what is
//! [`published()`] to them has another form.

use serde_json::{Map, Value, json};

use crate::{Actions, ToolAction, View};

mod published;
mod root;

pub use published::{Published, SchemaForm, SchemaFormError, published};

/// The schema of a tool with `actions`, whose own parameters are those of `spawn`.
///
/// The result is an object with one variant per action in `oneOf`. Definitions and descriptions of
/// `spawn` move to the root, so that references such as `#/$defs/x` keep their meaning; all else of
/// it stays in the variant, which also has the optional `id` that a caller may choose. The arguments
/// of [`Fetch`](crate::Fetch) are optional in `fetch` and `apply`. For a one-shot tool the schema is
/// `spawn` itself.
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
        variants.push(Value::Object(match action {
            ToolAction::Spawn => spawn_variant(spawn)?,
            other => handle_variant(other),
        }));
    }
    root.insert("oneOf".to_owned(), Value::Array(variants));
    Ok(root)
}

/// The variant of an action on a handle.
fn handle_variant(action: ToolAction) -> Map<String, Value> {
    let mut properties = Map::new();
    properties.insert("action".to_owned(), json!({"const": action.name()}));
    properties.insert("id".to_owned(), json!({"type": "string"}));
    let mut required = vec!["action", "id"];
    if action == ToolAction::Apply {
        properties.insert("input".to_owned(), json!({}));
        required.push("input");
    }
    if matches!(action, ToolAction::Fetch | ToolAction::Apply) {
        properties.extend(fetch_properties());
    }
    let mut variant = Map::new();
    variant.insert("properties".to_owned(), Value::Object(properties));
    variant.insert("required".to_owned(), json!(required));
    variant
}

/// The arguments of [`Fetch`](crate::Fetch).
/// The parameters besides `action` that every published stateful tool has, whatever its own are: those that a
/// handle is named, given and looked at with.
pub const HANDLE_PARAMETERS: [&str; 6] =
    ["id", "input", "view", "after_seq", "max_bytes", "wait_ms"];

fn fetch_properties() -> Map<String, Value> {
    let views = View::ALL.map(View::name);
    let number = || json!({"type": "integer", "minimum": 0});
    let properties = [
        ("view", json!({"type": "string", "enum": views})),
        ("after_seq", number()),
        ("max_bytes", number()),
        ("wait_ms", number()),
    ];
    let own = |(name, schema): (&str, Value)| (name.to_owned(), schema);
    properties.into_iter().map(own).collect()
}

fn spawn_variant(spawn: &Map<String, Value>) -> Result<Map<String, Value>, SchemaError> {
    let own = own_parameters(spawn)?;
    let mut properties = Map::new();
    properties.insert("action".to_owned(), json!({"const": "spawn"}));
    properties.extend(own.properties.clone());
    properties.insert("id".to_owned(), json!({"type": "string"}));
    let mut required = vec![json!("action")];
    required.extend(own.required.iter().cloned());
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

/// The parameters of a tool, out of the schema of its `spawn`.
struct OwnParameters<'s> {
    properties: Map<String, Value>,
    required: &'s [Value],
}

fn own_parameters(spawn: &Map<String, Value>) -> Result<OwnParameters<'_>, SchemaError> {
    if spawn.get("type").is_some_and(|kind| kind != "object") {
        return Err(SchemaError::NotAnObject);
    }
    let properties = match spawn.get("properties") {
        Some(Value::Object(own)) => own.clone(),
        Some(_) => return Err(SchemaError::Properties),
        None => Map::new(),
    };
    let taken = |name: &&str| properties.contains_key(*name);
    if let Some(name) = ["action", "id"].into_iter().find(taken) {
        return Err(SchemaError::Reserved { name });
    }
    let required = match spawn.get("required") {
        Some(Value::Array(own)) => own.as_slice(),
        Some(_) => return Err(SchemaError::Required),
        None => &[],
    };
    Ok(OwnParameters {
        properties,
        required,
    })
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
