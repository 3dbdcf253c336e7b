//! Results of servers: cut, and held to what the tool declares.

use std::borrow::Cow;
use std::sync::Arc;

use jig_config::Tool;
use jig_proto::{Block, Content};
use jsonschema::Validator;
use serde_json::Value;

use super::schemas;
use crate::calls::call::CallError;
use crate::engine::Engine;
use crate::results::declared_output::{OutputError, fits, object};
use crate::results::size_limit::bound;

impl Engine {
    /// The result of a server's tool, cut to `most` bytes of text, and checked if it is declared.
    pub(crate) fn fitting_served(
        &self,
        tool: &Tool,
        content: Content,
        most: usize,
    ) -> Result<Content, CallError> {
        let mut blocks = content.blocks().iter();
        let structured = blocks.find(|block| matches!(block, Block::Structured(_)));
        // What a server says as text may be all that there is to check.
        let checked = structured.or(content.blocks().first());
        let bytes = checked.map_or(0, Block::text_bytes);
        if bytes > most && tool.output.is_some() {
            return Err(output_error(tool, OutputError::TooLarge { bytes, most }));
        }
        self.checked_served(tool, &content)?;
        Ok(bound(content, most))
    }

    /// Checks the result of a server's tool, if the server or the configuration declares what it looks like.
    pub(crate) fn checked_served(&self, tool: &Tool, content: &Content) -> Result<(), CallError> {
        let validator = self.served_output(tool);
        let validator = validator.map_err(|error| output_error(tool, error))?;
        let Some(validator) = validator else {
            return Ok(());
        };
        let value = said(content).map_err(|error| output_error(tool, error))?;
        // A server chooses both the schema and the result: what would take long is its own affair.
        let is_quick = |schema: &Value| schemas::is_quick(schema, &value);
        if tool.origin("output").is_none() && !tool.output.as_ref().is_some_and(is_quick) {
            return Ok(());
        }
        fits(&validator, &value).map_err(|error| output_error(tool, error))
    }

    /// What a server said as JSON. Where its tool declares what that looks like, and it only said it as text,
    /// that is read: clients that were told of the schema refuse a result without it.
    pub(crate) fn served_structured(&self, tool: &Tool, content: &Content) -> Option<Value> {
        match tool.output {
            Some(_) => said(content).ok().map(Cow::into_owned),
            None => content.structured().cloned(),
        }
    }

    /// Whether the schema that a server declares for the results of a tool can be used. A client that is told of
    /// one that cannot may refuse all tools for it.
    pub fn is_output_usable(&self, tool: &Tool) -> bool {
        matches!(self.served_output(tool), Ok(Some(_)))
    }

    /// What results are held to. A schema of the configuration must be right; one of a server that cannot be
    /// used here is the server's affair.
    fn served_output(&self, tool: &Tool) -> Result<Option<Arc<Validator>>, OutputError> {
        let Some(schema) = &tool.output else {
            return Ok(None);
        };
        if tool.origin("output").is_some() {
            return self.common.outputs.validator(tool, schema).map(Some);
        }
        let defined = self.defined(tool);
        Ok(defined.and_then(|defined| defined.output().cloned()))
    }
}

/// The JSON of a result: what stands beside its text, or else its text.
fn said(content: &Content) -> Result<Cow<'_, Value>, OutputError> {
    match content.structured() {
        Some(value) => Ok(Cow::Borrowed(value)),
        None => object(content).map(Cow::Owned),
    }
}

fn output_error(tool: &Tool, error: OutputError) -> CallError {
    CallError::Output {
        tool: tool.name.to_string(),
        error,
        discarded: false,
    }
}
