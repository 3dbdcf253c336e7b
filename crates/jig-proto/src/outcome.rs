//! [`Outcome`]: the older way for a one-shot tool to say how it ended.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::content::Content;
use crate::fields::ObjectFields;
use crate::{FieldError, Question, ToolError, Warnings};

/// How a one-shot tool ended.
///
/// Written as `{"type": "success", "content"}`, `{"type": "error", "message", "trace",
/// "transient"}` and `{"type": "needs_input", "question"}`. A [`ToolState`](crate::ToolState) says
/// the same and more; what a tool printed is read as one, whichever it used.
///
/// Exhaustive: the form is frozen, new things are said by states.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The tool did what it was asked to.
    Success {
        /// Its result.
        content: Content,
    },
    /// The tool failed.
    Error(ToolError),
    /// The tool must be called again, with an answer.
    NeedsInput {
        /// What it wants to know.
        question: Question,
    },
}

/// The `type` of an [`Outcome`].
#[derive(Debug, Clone, Copy)]
pub(crate) enum OutcomeType {
    Success,
    Error,
    NeedsInput,
}

impl OutcomeType {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "success" => Some(Self::Success),
            "error" => Some(Self::Error),
            "needs_input" => Some(Self::NeedsInput),
            _ => None,
        }
    }
}

impl Outcome {
    /// Reads the fields of an outcome whose type is already known.
    pub(crate) fn from_fields(
        kind: OutcomeType,
        mut fields: ObjectFields<'_>,
        warnings: &mut Warnings,
    ) -> Result<Self, FieldError> {
        match kind {
            OutcomeType::Success => Ok(Self::Success {
                content: Content::take(&mut fields, "content", warnings)?,
            }),
            OutcomeType::Error => ToolError::from_fields(fields).map(Self::Error),
            OutcomeType::NeedsInput => Ok(Self::NeedsInput {
                question: fields.required("question", "an object with `id` and `text`")?,
            }),
        }
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Success { content } => {
                map.serialize_entry("type", "success")?;
                map.serialize_entry("content", content)?;
            }
            Self::Error(error) => {
                map.serialize_entry("type", "error")?;
                map.serialize_entry("message", &error.message)?;
                map.serialize_entry("trace", &error.trace)?;
                map.serialize_entry("transient", &error.transient)?;
                if !error.denials.is_empty() {
                    map.serialize_entry("denials", &error.denials)?;
                }
            }
            Self::NeedsInput { question } => {
                map.serialize_entry("type", "needs_input")?;
                map.serialize_entry("question", question)?;
            }
        }
        map.end()
    }
}

#[cfg(test)]
mod tests;
