//! [`ToolError`]: what a tool reports when it failed.

use serde::Serialize;
use serde_json::Value;

use crate::FieldError;
use crate::fields::{At, Fields, FromValue, deserialize_from_value};

/// A failure, in the tool's own words.
///
/// On the wire `{"message", "trace", "transient"}`; the last two may be absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolError {
    /// What went wrong.
    pub message: String,
    /// The chain of causes, outermost first.
    pub trace: Vec<String>,
    /// Whether the same call may succeed later, so that it is worth a retry.
    pub transient: bool,
}

impl ToolError {
    /// A lasting error without causes.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            trace: Vec::new(),
            transient: false,
        }
    }

    pub(crate) fn from_fields(mut fields: Fields<'_>) -> Result<Self, FieldError> {
        Ok(Self {
            message: fields.required("message", "a string")?,
            trace: fields.or_default("trace")?,
            transient: fields.or_default("transient")?,
        })
    }
}

impl FromValue for ToolError {
    fn from_value(value: Value, at: At<'_>) -> Result<Self, FieldError> {
        Fields::open(value, at, "an object with `message`").and_then(Self::from_fields)
    }
}

deserialize_from_value!(ToolError);

#[cfg(test)]
mod tests;
