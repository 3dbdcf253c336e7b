//! [`Response`]: content blocks in the envelope that MCP gives to the result of a tool.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::fields::{FieldPath, FromValue, ObjectFields};
use crate::{Block, Content, FieldError, StateName, ToolError, ToolState, Warnings, WithWarnings};

/// What a tool answers, as `{"content": […], "isError"?, "_meta"?}`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Response {
    /// The blocks; for an error, its message.
    pub content: Content,
    /// Whether the tool failed.
    pub is_error: bool,
    /// Where a stateful tool stands: `_meta."computer.jp/status"`. `None` means that it is done,
    /// or that it asks, if there is a question among the blocks.
    pub status: Option<StateName>,
    /// More about the error: `_meta."computer.jp/error"`.
    pub error: Option<ErrorDetails>,
    /// What else is in `_meta`, passed on unread.
    pub meta: Map<String, Value>,
}

/// What a [`Response`] says about an error beside its message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ErrorDetails {
    /// Whether the same call may succeed later.
    pub transient: bool,
    /// The chain of causes, outermost first.
    pub trace: Vec<String>,
}

impl Response {
    /// The key of [`Response::status`] in `_meta`.
    pub const STATUS_KEY: &'static str = "computer.jp/status";
    /// The key of [`Response::error`] in `_meta`.
    pub const ERROR_KEY: &'static str = "computer.jp/error";

    /// Reads a response from JSON; `content` may also be a string.
    ///
    /// A malformed block is skipped and reported among the warnings.
    ///
    /// # Errors
    ///
    /// If the value is not an object with `content`, or one of the other fields is malformed.
    pub fn read(value: Value) -> Result<WithWarnings<Self>, FieldError> {
        let mut warnings = Warnings::default();
        let mut fields = ObjectFields::open(value, FieldPath::Root, "an object with `content`")?;
        let content_at = FieldPath::Key(&FieldPath::Root, "content");
        let content = fields.required("content", "a string or a list of blocks")?;
        let content = Content::read_at(content, content_at, &mut warnings)?;
        let is_error = fields.or_default("isError")?;
        let mut response = Self {
            content,
            is_error,
            ..Self::default()
        };
        if let Some(meta) = fields.take("_meta") {
            response.read_meta(meta)?;
        }
        Ok(WithWarnings {
            value: response,
            warnings,
        })
    }

    fn read_meta(&mut self, meta: Value) -> Result<(), FieldError> {
        let at = FieldPath::Key(&FieldPath::Root, "_meta");
        let Value::Object(mut meta) = meta else {
            return Err(FieldError::unexpected(at, "an object", &meta));
        };
        let mut take = |key| meta.shift_remove(key).filter(|value| !value.is_null());
        if let Some(status) = take(Self::STATUS_KEY) {
            let at = FieldPath::Key(&at, Self::STATUS_KEY);
            self.status = Some(StateName::from_value(status, at)?);
        }
        if let Some(details) = take(Self::ERROR_KEY) {
            let at = FieldPath::Key(&at, Self::ERROR_KEY);
            let mut details = ObjectFields::open(details, at, "an object")?;
            self.error = Some(ErrorDetails {
                transient: details.or_default("transient")?,
                trace: details.or_default("trace")?,
            });
        }
        self.meta = meta;
        Ok(())
    }

    /// How a call ended whose last word this is.
    ///
    /// # Errors
    ///
    /// If it says that the tool failed.
    pub fn into_result(self) -> Result<Content, ToolError> {
        if !self.is_error {
            return Ok(self.content);
        }
        let details = self.error.unwrap_or_default();
        Err(ToolError {
            trace: details.trace,
            transient: details.transient,
            ..ToolError::new(self.content.to_text())
        })
    }

    /// The state that the response stands for.
    ///
    /// A handle has one pending question at most: the first one is taken, and any other is dropped
    /// and reported. The tool asks again for what it still needs.
    pub(crate) fn into_state(self, warnings: &mut Warnings) -> Result<ToolState, FieldError> {
        if self.is_error {
            return Ok(ToolState::Stopped {
                content: Content::EMPTY,
                result: self.into_result(),
            });
        }
        let asks = |block: &Block| matches!(block, Block::Question(_));
        let status = self.status.unwrap_or_else(|| {
            if self.content.blocks().iter().any(asks) {
                StateName::Waiting
            } else {
                StateName::Stopped
            }
        });
        match status {
            StateName::Running => Ok(ToolState::running(self.content)),
            StateName::Stopped => Ok(ToolState::succeeded(self.content)),
            StateName::Waiting => take_question(self.content, warnings),
        }
    }
}

fn take_question(content: Content, warnings: &mut Warnings) -> Result<ToolState, FieldError> {
    let content_at = FieldPath::Key(&FieldPath::Root, "content");
    let mut first = None;
    let mut others = Vec::new();
    for (index, block) in content.into_blocks().into_iter().enumerate() {
        match block {
            Block::Question(question) if first.is_none() => first = Some(question),
            Block::Question(question) => warnings.add(FieldError::unexpected(
                FieldPath::Index(&content_at, index),
                "one question at a time",
                &Value::String(question.text),
            )),
            other => others.push(other),
        }
    }
    match first {
        Some(question) => Ok(ToolState::Waiting {
            content: Content::from(others),
            question,
        }),
        None => Err(FieldError::missing(
            content_at,
            "a block of type `question`, because the status is `waiting`",
        )),
    }
}

/// The response that stands for a state; what a stopped tool showed last precedes its result.
impl From<ToolState> for Response {
    fn from(state: ToolState) -> Self {
        let status = Some(state.status());
        match state {
            ToolState::Running { content } => Self {
                content,
                status,
                ..Self::default()
            },
            ToolState::Waiting { content, question } => {
                let question = Content::from(vec![Block::Question(question)]);
                Self {
                    content: content.followed_by(question),
                    status,
                    ..Self::default()
                }
            }
            ToolState::Stopped { content, result } => match result {
                Ok(result) => Self {
                    content: content.followed_by(result),
                    status,
                    ..Self::default()
                },
                Err(error) => Self {
                    content: content.followed_by(Content::text(error.explain())),
                    is_error: true,
                    status,
                    error: Some(ErrorDetails {
                        transient: error.transient,
                        trace: error.trace,
                    }),
                    meta: Map::new(),
                },
            },
        }
    }
}

impl Serialize for Response {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("content", &self.content.as_list())?;
        if self.is_error {
            map.serialize_entry("isError", &true)?;
        }
        if self.status.is_some() || self.error.is_some() || !self.meta.is_empty() {
            map.serialize_entry("_meta", &ResponseMeta(self))?;
        }
        map.end()
    }
}

struct ResponseMeta<'a>(&'a Response);

impl Serialize for ResponseMeta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(status) = &self.0.status {
            map.serialize_entry(Response::STATUS_KEY, status)?;
        }
        if let Some(error) = &self.0.error {
            map.serialize_entry(Response::ERROR_KEY, error)?;
        }
        let ours = [Response::STATUS_KEY, Response::ERROR_KEY];
        for (key, value) in &self.0.meta {
            if !ours.contains(&key.as_str()) {
                map.serialize_entry(key, value)?;
            }
        }
        map.end()
    }
}

#[cfg(test)]
mod tests;
