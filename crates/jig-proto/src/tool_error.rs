//! [`ToolError`]: what a tool reports when it failed.

use serde::Serialize;
use serde_json::Value;

use crate::fields::{FieldPath, FromValue, ObjectFields, deserialize_from_value};
use crate::{Content, Denial, FieldError};

/// A failure, in the tool's own words, and what jig knows about it.
///
/// On the wire `{"message", "trace", "transient", "denials"}`; all but the first may be absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolError {
    /// What went wrong.
    pub message: String,
    /// The chain of causes, outermost first.
    pub trace: Vec<String>,
    /// Whether the same call may succeed later, so that it is worth a retry.
    pub transient: bool,
    /// What the tool was refused while it ran, as far as that is known: often why it failed.
    ///
    /// jig says so, never the tool: what a tool writes here is not read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denials: Vec<Denial>,
    /// What a server sent with its failure, as blocks; empty where the message says all.
    ///
    /// The message is their text, so this is neither written nor read: it is for whoever can pass blocks on.
    #[serde(skip)]
    pub content: Content,
}

impl ToolError {
    /// A lasting error without causes.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            trace: Vec::new(),
            transient: false,
            denials: Vec::new(),
            content: Content::EMPTY,
        }
    }

    /// A lasting error that is told by these blocks.
    pub fn of_content(content: Content) -> Self {
        let mut message = content.to_text();
        if message.is_empty() {
            message = "the tool failed, and said nothing about it".to_owned();
        }
        Self {
            content,
            ..Self::new(message)
        }
    }

    /// Shows every text of the error to `change`, as [`Content::visit_texts`] does. What jig itself knows of it,
    /// the denials, is not among them.
    pub fn visit_texts(&mut self, change: &mut dyn FnMut(&mut String)) {
        change(&mut self.message);
        self.trace.iter_mut().for_each(&mut *change);
        self.content.visit_texts(change);
    }

    /// The message and, below it, the text of each denial.
    pub fn explain(&self) -> String {
        let mut text = self.message.clone();
        for denial in &self.denials {
            text.push_str(&format!("\ndenied: {denial}"));
        }
        text
    }

    pub(crate) fn from_fields(mut fields: ObjectFields<'_>) -> Result<Self, FieldError> {
        Ok(Self {
            message: fields.required("message", "a string")?,
            trace: fields.or_default("trace")?,
            transient: fields.or_default("transient")?,
            // Who reads this may be reading a tool's output, and a tool that could put words into our
            // mouth would have people add the rules that it wants.
            denials: Vec::new(),
            content: Content::EMPTY,
        })
    }
}

impl FromValue for ToolError {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        ObjectFields::open(value, at, "an object with `message`").and_then(Self::from_fields)
    }
}

deserialize_from_value!(ToolError);

#[cfg(test)]
mod tests;
