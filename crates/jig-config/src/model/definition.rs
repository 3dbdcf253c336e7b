//! [`Definition`]: a tool as its MCP server describes it.

mod added_tools;
mod names;

use std::fmt::Write as _;

use serde_json::{Map, Value as Json, json};

/// A tool as its MCP server describes it, within bounds.
///
/// What a server says about its own tools is a claim. Nothing here loosens what a configuration says.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// Its name on the server.
    pub name: String,
    /// What people know it by.
    pub title: Option<String>,
    /// What the model is told about it.
    pub description: Option<String>,
    /// The JSON Schema of its arguments, an object.
    pub input: Json,
    /// The JSON Schema of its result, an object.
    pub output: Option<Json>,
    /// What the server says that it does: hints.
    pub annotations: Option<Json>,
    /// All other fields.
    pub rest: Map<String, Json>,
}

/// Why a value is no definition of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// It is no object.
    #[error("a tool is described by something else than an object")]
    NoObject,
    /// It has no name, or one of something else than text.
    #[error("a tool has no name")]
    NoName,
    /// The name is empty or too long.
    #[error("the name of a tool has {0} characters, between 1 and {max} are allowed", max = Definition::MAX_NAME)]
    Name(usize),
    /// A field holds something else than it must.
    #[error("`{0}` of a tool is not what it must be")]
    Field(&'static str),
    /// Values in values, too many deep.
    #[error("the description of a tool is nested more than {max} deep", max = Definition::MAX_DEPTH)]
    Depth,
}

impl Definition {
    /// The longest name, in characters. What is longer serves no reader, and every message repeats it.
    pub const MAX_NAME: usize = 256;
    /// How deep values may lie in each other. Whatever walks through a schema does so by recursion.
    pub const MAX_DEPTH: usize = 64;

    /// Reads the description of a tool as `tools/list` has it.
    ///
    /// # Errors
    ///
    /// If it has no usable name, if a field is of the wrong kind, or if it is nested too deep. How large it
    /// may be is for the reader of the message to say.
    pub fn from_json(value: Json) -> Result<Self, DefinitionError> {
        if !is_within(&value, Self::MAX_DEPTH) {
            return Err(DefinitionError::Depth);
        }
        let Json::Object(mut fields) = value else {
            return Err(DefinitionError::NoObject);
        };
        let Some(Json::String(name)) = fields.remove("name") else {
            return Err(DefinitionError::NoName);
        };
        let length = name.chars().count();
        if !(1..=Self::MAX_NAME).contains(&length) {
            return Err(DefinitionError::Name(length));
        }
        let mut text = |field: &'static str| match fields.remove(field) {
            None | Some(Json::Null) => Ok(None),
            Some(Json::String(text)) => Ok(Some(text)),
            Some(_) => Err(DefinitionError::Field(field)),
        };
        let title = text("title")?;
        let description = text("description")?;
        let mut object = |field: &'static str| match fields.remove(field) {
            None | Some(Json::Null) => Ok(None),
            Some(object @ Json::Object(_)) => Ok(Some(object)),
            Some(_) => Err(DefinitionError::Field(field)),
        };
        let input = object("inputSchema")?;
        Ok(Self {
            name,
            title,
            description,
            input: input.unwrap_or_else(|| json!({ "type": "object" })),
            output: object("outputSchema")?,
            annotations: object("annotations")?,
            rest: fields,
        })
    }

    /// The same as `tools/list` has it.
    pub fn to_json(&self) -> Json {
        let mut fields = self.rest.clone();
        let mut insert = |field: &str, value: Option<Json>| {
            if let Some(value) = value {
                fields.insert(field.to_owned(), value);
            }
        };
        insert("name", Some(self.name.clone().into()));
        insert("title", self.title.clone().map(Json::from));
        insert("description", self.description.clone().map(Json::from));
        insert("inputSchema", Some(self.input.clone()));
        insert("outputSchema", self.output.clone());
        insert("annotations", self.annotations.clone());
        Json::Object(fields)
    }

    /// The hash of all that the server says about the tool, in hexadecimal digits: the same for the same
    /// description, in whatever order its fields come.
    pub fn hash(&self) -> String {
        hash_of(&self.to_json())
    }
}

/// The hash of a value, whatever the order of its keys.
pub(crate) fn hash_of(value: &Json) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// Writes a value with the keys of every object in the order of their bytes and without white space.
fn write_canonical(value: &Json, text: &mut String) {
    match value {
        Json::Object(fields) => {
            let mut fields: Vec<(&String, &Json)> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            text.push('{');
            for (index, (name, value)) in fields.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                let _ = write!(text, "{}:", Json::String(name.clone()));
                write_canonical(value, text);
            }
            text.push('}');
        }
        Json::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_canonical(item, text);
            }
            text.push(']');
        }
        other => {
            let _ = write!(text, "{other}");
        }
    }
}

/// Whether no value lies more than `depth` others deep.
fn is_within(value: &Json, depth: usize) -> bool {
    let Some(below) = depth.checked_sub(1) else {
        return false;
    };
    match value {
        Json::Object(fields) => fields.values().all(|value| is_within(value, below)),
        Json::Array(items) => items.iter().all(|item| is_within(item, below)),
        _ => true,
    }
}

#[cfg(test)]
mod tests;
