//! Results that a tool declares as JSON (`output`): read, and checked against their schema.
//!
//! A schema is compiled once. It stands for itself: a reference that leads out of it is never fetched, from
//! no server and no file, and is a mistake of the configuration instead.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jig_config::Tool;
use jig_proto::json::{self, JsonLimits};
use jig_proto::{Block, Content};
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use crate::calls::call::CallError;
use crate::engine::Engine;
use crate::results::size_limit::{bound, text_bytes, without_large};

impl Engine {
    /// The result of a tool as JSON, if the tool declares `output`.
    ///
    /// The first block of the result holds it, whole; a server sends it beside the blocks, whether the tool
    /// declares it or not. What [`call`](Self::call) returns has been checked; of
    /// a result that does not fit the schema this is `None`.
    pub fn structured(&self, tool: &Tool, content: &Content) -> Option<Value> {
        if tool.on_server().is_some() {
            return self.served_structured(tool, content);
        }
        let schema = declared(tool)?;
        self.common.outputs.read(tool, schema, content).ok()
    }

    /// The result of a tool, cut to `most` bytes of text, and checked if the tool declares what it looks like.
    pub(crate) fn fitting(
        &self,
        tool: &Tool,
        content: Content,
        most: usize,
    ) -> Result<Content, CallError> {
        let content = without_large(content, self.most_binary(tool));
        if tool.on_server().is_some() {
            return self.fitting_served(tool, content, most);
        }
        if declared(tool).is_none() {
            return Ok(bound(content, most));
        }
        let bytes = text_bytes(&content);
        if bytes > most {
            return Err(CallError::Output {
                tool: tool.name.to_string(),
                error: OutputError::TooLarge { bytes, most },
                discarded: false,
            });
        }
        self.checked(tool, &content)?;
        Ok(content)
    }

    /// Checks the result of a tool that declares what it looks like.
    pub(crate) fn checked(&self, tool: &Tool, content: &Content) -> Result<(), CallError> {
        if tool.on_server().is_some() {
            return self.checked_served(tool, content);
        }
        let Some(schema) = declared(tool) else {
            return Ok(());
        };
        let read = self.common.outputs.read(tool, schema, content);
        read.map(drop).map_err(|error| CallError::Output {
            tool: tool.name.to_string(),
            error,
            discarded: false,
        })
    }
}

fn declared(tool: &Tool) -> Option<&Value> {
    tool.output.as_ref()
}

/// The compiled schemas of results, by the name of the tool, each with the schema that it was made of.
#[derive(Debug, Default)]
pub(crate) struct ResultSchemas(Mutex<HashMap<String, (Value, Arc<Validator>)>>);

impl ResultSchemas {
    fn read(&self, tool: &Tool, schema: &Value, content: &Content) -> Result<Value, OutputError> {
        let value = object(content)?;
        let validator = self.validator(tool, schema)?;
        fits(&validator, &value)?;
        Ok(value)
    }

    pub(crate) fn validator(
        &self,
        tool: &Tool,
        schema: &Value,
    ) -> Result<Arc<Validator>, OutputError> {
        let mut compiled = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, validator)) = compiled.get(tool.name.as_str())
            && of == schema
        {
            return Ok(Arc::clone(validator));
        }
        let validator = Arc::new(compile(schema)?);
        let made = (schema.clone(), Arc::clone(&validator));
        compiled.insert(tool.name.to_string(), made);
        Ok(validator)
    }
}

/// Holds a result against its schema.
pub(crate) fn fits(validator: &Validator, value: &Value) -> Result<(), OutputError> {
    // Only the first thing that does not fit: a large result may hold any number of them.
    validator.validate(value).map_err(|error| {
        let at = error.instance_path().to_string();
        // Without the value itself, which is the tool's and may be of any size.
        let what = error.masked_with("it").to_string();
        OutputError::DoesNotFit {
            at: shortened(at),
            what: shortened(what),
        }
    })
}

/// Patterns are those of the crate `regex`, which takes linear time for what a tool prints.
fn compile(schema: &Value) -> Result<Validator, OutputError> {
    let options = jsonschema::draft202012::options()
        .offline()
        .with_pattern_options(PatternOptions::regex());
    let built = options.build(schema);
    built.map_err(|error| OutputError::Schema(shortened(error.to_string())))
}

/// The JSON of a result: all of its first block.
pub(crate) fn object(content: &Content) -> Result<Value, OutputError> {
    let text = match content.blocks().first() {
        Some(Block::Text(text)) => &text.text,
        Some(_) => return Err(OutputError::NotText),
        None => return Err(OutputError::Empty),
    };
    let read = json::value(text.as_bytes(), &JsonLimits::MESSAGE);
    let value = read.map_err(|error| OutputError::NotJson(shortened(error.to_string())))?;
    match value.is_object() {
        true => Ok(value),
        false => Err(OutputError::NotObject),
    }
}

/// Cuts what a tool can make as long as it likes.
pub(crate) fn shortened(mut text: String) -> String {
    if text.len() > MAX_TEXT {
        text.truncate(text.floor_char_boundary(MAX_TEXT));
        text.push('…');
    }
    text
}

/// Why a result is not what its tool declares.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The tool said nothing.
    #[error("it is empty, and should be a JSON object")]
    Empty,
    /// Its first block is no text.
    #[error("it begins with something else than text, and should be a JSON object")]
    NotText,
    /// The text is no JSON.
    #[error("it is not JSON: {0}")]
    NotJson(String),
    /// The JSON is no object.
    #[error("it is JSON, but not an object")]
    NotObject,
    /// It is too large to be passed on whole, and half of it would be something else.
    #[error("it has {bytes} bytes, and at most {most} are passed on")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The most that is passed on.
        most: usize,
    },
    /// The JSON does not fit the schema.
    #[error("{}{what}", place(at))]
    DoesNotFit {
        /// What of it, as a JSON Pointer; empty for all of it.
        at: String,
        /// What is wrong there.
        what: String,
    },
    /// The schema itself cannot be used.
    #[error("the schema in `output` cannot be used: {0}")]
    Schema(String),
}

fn place(at: &str) -> String {
    match at {
        "" => String::new(),
        at => format!("at `{at}`: "),
    }
}

/// The most of one text of an error, in bytes. Keys and values are the tool's: without a limit, an error could
/// be as large as a result.
const MAX_TEXT: usize = 500;

#[cfg(test)]
mod tests;
