//! [`Content`]: what a tool shows, as a list of typed blocks.

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::fields::{FieldPath, FromValue, ObjectFields};
use crate::render;
use crate::{FieldError, Question, Resource, Warnings, WithWarnings};

/// The output of a tool: blocks, in order.
///
/// On the wire a string stands for one text block, and content that is one plain text block is
/// written as a string. A lone text block without text is no content at all, as `""` is, so that
/// "nothing" has one form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Content(Vec<Block>);

/// One part of a tool's output.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Block {
    /// Text that is passed on as it is.
    Text(Text),
    /// Content with an identity.
    Resource(Resource),
    /// A question; what precedes it is its context.
    Question(Question),
    /// A block of MCP as its server sent it: an image, audio, a link, a resource, or text with more than text.
    /// It is passed on unread. No tool of ours can send one.
    Foreign(Value),
    /// What a result of an MCP server says as JSON beside its text. It is no text, and shown as none.
    Structured(Value),
    /// What a result of an MCP server says about itself (`_meta`), passed on unread and never shown.
    Meta(Map<String, Value>),
}

/// A block of text, formatted by the tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// The text.
    pub text: String,
    /// Its MIME type, if the tool says so.
    pub mime_type: Option<String>,
    /// Annotations as in MCP, passed on unread.
    pub annotations: Option<Value>,
}

impl Content {
    /// Content without any block.
    pub const EMPTY: Content = Content(Vec::new());

    /// One block of plain text; none if `text` is empty.
    pub fn text(text: impl Into<String>) -> Self {
        Self::from(vec![Block::text(text)])
    }

    /// The blocks, in order.
    pub fn blocks(&self) -> &[Block] {
        &self.0
    }

    pub(crate) fn blocks_mut(&mut self) -> &mut [Block] {
        &mut self.0
    }

    /// The blocks, in order.
    pub fn into_blocks(self) -> Vec<Block> {
        self.0
    }

    /// Whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The blocks of this content, then those of `other`.
    #[must_use]
    pub fn followed_by(mut self, other: Content) -> Self {
        self.0.extend(other.0);
        Self::from(self.0)
    }

    /// The content as plain text for an assistant.
    ///
    /// Text is passed on; a resource is shown as the tool formatted it, else in a code fence with
    /// the language of its MIME type; a binary resource is named, with its size; a question is its
    /// text. Of a server's block the text is shown, or its kind. JSON beside the text is not shown, unless
    /// there is nothing else. Every block starts on its own line.
    pub fn to_text(&self) -> String {
        render::to_text(&self.0)
    }

    /// The first question among the blocks, and the blocks that are none: what the tool shows beside it (V-027).
    /// There is one question at a time; the tool asks again for what else it needs.
    ///
    /// # Errors
    ///
    /// If there is no question: the content as it was.
    pub fn into_question(self) -> Result<(Content, Question), Content> {
        let is_question = |block: &Block| matches!(block, Block::Question(_));
        if !self.0.iter().any(is_question) {
            return Err(self);
        }
        let mut first = None;
        let mut others = Vec::new();
        for block in self.0 {
            match block {
                Block::Question(question) => drop(first.get_or_insert(question)),
                other => others.push(other),
            }
        }
        match first {
            Some(question) => Ok((Self::from(others), question)),
            None => Err(Self::from(others)),
        }
    }

    /// Reads content from JSON: a string, a list of blocks, or `null` for none.
    ///
    /// A malformed block is skipped and reported among the warnings.
    ///
    /// # Errors
    ///
    /// If the value is none of the three.
    pub fn read(value: Value) -> Result<WithWarnings<Self>, FieldError> {
        let mut warnings = Warnings::default();
        let value = Self::read_at(value, FieldPath::Root, &mut warnings)?;
        Ok(WithWarnings { value, warnings })
    }

    pub(crate) fn read_at(
        value: Value,
        at: FieldPath<'_>,
        warnings: &mut Warnings,
    ) -> Result<Self, FieldError> {
        match value {
            Value::Null => Ok(Self::EMPTY),
            Value::String(text) => Ok(Self::text(text)),
            Value::Array(elements) => {
                let mut blocks = Vec::new();
                for (index, element) in elements.into_iter().enumerate() {
                    match Block::from_value(element, FieldPath::Index(&at, index)) {
                        Ok(block) => blocks.push(block),
                        Err(skipped) => warnings.add(skipped),
                    }
                }
                Ok(Self::from(blocks))
            }
            other => Err(FieldError::unexpected(
                at,
                "a string or a list of blocks",
                &other,
            )),
        }
    }

    /// The content of the field `key`; none if it is absent.
    pub(crate) fn take(
        fields: &mut ObjectFields<'_>,
        key: &str,
        warnings: &mut Warnings,
    ) -> Result<Self, FieldError> {
        let at = fields.at();
        let value = fields.take(key).unwrap_or_default();
        Self::read_at(value, FieldPath::Key(&at, key), warnings)
    }

    /// Serializes as a list even if the content is one plain text.
    pub(crate) fn as_list(&self) -> impl Serialize {
        &self.0
    }
}

impl From<Vec<Block>> for Content {
    fn from(blocks: Vec<Block>) -> Self {
        match blocks.as_slice() {
            [Block::Text(text)] if *text == Text::default() => Self::EMPTY,
            _ => Self(blocks),
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl FromIterator<Block> for Content {
    fn from_iter<I: IntoIterator<Item = Block>>(blocks: I) -> Self {
        Self::from(Vec::from_iter(blocks))
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [] => serializer.serialize_str(""),
            [
                Block::Text(Text {
                    text,
                    mime_type: None,
                    annotations: None,
                }),
            ] => serializer.serialize_str(text),
            blocks => {
                let mut list = serializer.serialize_seq(Some(blocks.len()))?;
                for block in blocks {
                    list.serialize_element(block)?;
                }
                list.end()
            }
        }
    }
}

impl Block {
    /// A block of plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(Text {
            text: text.into(),
            ..Text::default()
        })
    }
}

impl FromValue for Block {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        let mut fields = ObjectFields::open(value, at, "a block")?;
        let kind: String = fields.required("type", KINDS)?;
        match kind.as_str() {
            "text" => Ok(Self::Text(Text {
                text: fields.required("text", "a string")?,
                mime_type: fields.optional("mimeType")?,
                annotations: fields.take("annotations"),
            })),
            "resource" => Resource::from_fields(fields).map(Self::Resource),
            "question" => {
                // The question is nested, as a resource is; one that lies flat is read as well.
                let question = match fields.optional("question")? {
                    Some(question) => question,
                    None => Question::from_fields(fields)?,
                };
                Ok(Self::Question(question))
            }
            _ => {
                let at = FieldPath::Key(&at, "type");
                Err(FieldError::unexpected(at, KINDS, &Value::String(kind)))
            }
        }
    }
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Self::Foreign(block) = self {
            return block.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Text(text) => {
                map.serialize_entry("type", "text")?;
                map.serialize_entry("text", &text.text)?;
                entry_if_some(&mut map, "mimeType", text.mime_type.as_ref())?;
                entry_if_some(&mut map, "annotations", text.annotations.as_ref())?;
            }
            Self::Resource(resource) => {
                map.serialize_entry("type", "resource")?;
                resource.write(&mut map)?;
            }
            Self::Question(question) => {
                map.serialize_entry("type", "question")?;
                map.serialize_entry("question", question)?;
            }
            // Written above: it is an object already.
            Self::Foreign(_) => {}
            Self::Structured(value) => {
                map.serialize_entry("type", "structured")?;
                map.serialize_entry("value", value)?;
            }
            Self::Meta(meta) => {
                map.serialize_entry("type", "meta")?;
                map.serialize_entry("_meta", meta)?;
            }
        }
        map.end()
    }
}

pub(crate) fn entry_if_some<M: SerializeMap, T: Serialize>(
    map: &mut M,
    key: &'static str,
    value: Option<&T>,
) -> Result<(), M::Error> {
    match value {
        Some(value) => map.serialize_entry(key, value),
        None => Ok(()),
    }
}

const KINDS: &str = "`text`, `resource` or `question`";

#[cfg(test)]
mod tests;
