//! [`ToolState`]: where a tool stands, and what it shows there.

use std::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::fields::{FieldPath, FromValue, ObjectFields, deserialize_from_value};
use crate::{Content, FieldError, Outcome, Question, ToolError, Warnings};

/// Where a tool stands.
///
/// Written as `{"type": "running", "content"?}`, `{"type": "waiting", "content"?, "question"}` and
/// `{"type": "stopped", "content"?, "result"}` or `{…, "error"}`. Read by
/// [`ToolState::read`](crate::ToolState::read), which accepts more.
///
/// Exhaustive: whoever drives a tool must have an answer to each of the three states.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolState {
    /// The tool works, or waits for input that is not an answer.
    Running {
        /// What it has shown since it was last looked at.
        content: Content,
    },
    /// The tool does not go on before its question is answered.
    Waiting {
        /// What it shows beside the question.
        content: Content,
        /// The question; there is never more than one.
        question: Question,
    },
    /// The tool is done, for good.
    Stopped {
        /// What it showed last, apart from its result.
        content: Content,
        /// What it returns.
        result: Result<Content, ToolError>,
    },
}

/// The name of a state, without what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
// Exhaustive, as `ToolState` is.
pub enum StateName {
    /// [`ToolState::Running`].
    Running,
    /// [`ToolState::Waiting`].
    Waiting,
    /// [`ToolState::Stopped`].
    Stopped,
}

impl ToolState {
    /// A running tool that shows `content`.
    pub fn running(content: impl Into<Content>) -> Self {
        Self::Running {
            content: content.into(),
        }
    }

    /// A tool that waits for the answer to `question`.
    pub fn waiting(question: Question) -> Self {
        Self::Waiting {
            content: Content::EMPTY,
            question,
        }
    }

    /// A tool that succeeded.
    pub fn succeeded(result: impl Into<Content>) -> Self {
        Self::Stopped {
            content: Content::EMPTY,
            result: Ok(result.into()),
        }
    }

    /// A tool that failed.
    pub fn failed(error: ToolError) -> Self {
        Self::Stopped {
            content: Content::EMPTY,
            result: Err(error),
        }
    }

    /// The same; but a tool whose result holds a question waits for the answer (V-027).
    #[must_use]
    pub fn asking(self) -> Self {
        match self {
            Self::Stopped {
                content,
                result: Ok(result),
            } => match result.into_question() {
                Ok((beside, question)) => Self::Waiting {
                    content: content.followed_by(beside),
                    question,
                },
                Err(result) => Self::Stopped {
                    content,
                    result: Ok(result),
                },
            },
            other => other,
        }
    }

    /// The name of the state.
    pub fn status(&self) -> StateName {
        match self {
            Self::Running { .. } => StateName::Running,
            Self::Waiting { .. } => StateName::Waiting,
            Self::Stopped { .. } => StateName::Stopped,
        }
    }

    /// What the tool shows; for a stopped tool, what it showed beside its result.
    pub fn content(&self) -> &Content {
        match self {
            Self::Running { content }
            | Self::Waiting { content, .. }
            | Self::Stopped { content, .. } => content,
        }
    }

    /// Reads the fields of a state whose name is already known.
    pub(crate) fn from_fields(
        status: StateName,
        mut fields: ObjectFields<'_>,
        warnings: &mut Warnings,
    ) -> Result<Self, FieldError> {
        let content = Content::take(&mut fields, "content", warnings)?;
        Ok(match status {
            StateName::Running => Self::Running { content },
            StateName::Waiting => Self::Waiting {
                content,
                question: fields.required("question", "an object with `id` and `text`")?,
            },
            StateName::Stopped => read_stopped(content, fields, warnings)?,
        })
    }

    /// Writes the fields beside the name.
    pub(crate) fn write_fields<M: SerializeMap>(
        &self,
        map: &mut M,
        form: ContentForm,
    ) -> Result<(), M::Error> {
        let show = |content| FormedContent { content, form };
        if !self.content().is_empty() {
            map.serialize_entry("content", &show(self.content()))?;
        }
        match self {
            Self::Running { .. } => Ok(()),
            Self::Waiting { question, .. } => map.serialize_entry("question", question),
            Self::Stopped { result, .. } => match result {
                Ok(result) => map.serialize_entry("result", &show(result)),
                Err(error) => map.serialize_entry("error", error),
            },
        }
    }
}

/// Reads the three spellings of a stopped tool: `result` or `error`; `result` as `{"Ok": …}` or
/// `{"Err": …}`; `content` as the result, with or without `error`.
fn read_stopped(
    content: Content,
    mut fields: ObjectFields<'_>,
    warnings: &mut Warnings,
) -> Result<ToolState, FieldError> {
    let at = fields.at();
    let error: Option<ToolError> = fields.optional("error")?;
    let Some(result) = fields.take("result") else {
        let (content, result) = match error {
            Some(error) => (content, Err(error)),
            None => (Content::EMPTY, Ok(content)),
        };
        return Ok(ToolState::Stopped { content, result });
    };
    let result_at = FieldPath::Key(&at, "result");
    if error.is_some() {
        return Err(FieldError::unexpected(
            result_at,
            "nothing beside `error`",
            &result,
        ));
    }
    let result = match result {
        Value::Object(members) => read_ok_or_err(members, result_at, warnings)?,
        other => Ok(Content::read_at(other, result_at, warnings)?),
    };
    Ok(ToolState::Stopped { content, result })
}

fn read_ok_or_err(
    members: serde_json::Map<String, Value>,
    at: FieldPath<'_>,
    warnings: &mut Warnings,
) -> Result<Result<Content, ToolError>, FieldError> {
    let expected = "a string, a list of blocks, or either `Ok` or `Err`";
    let mut all = members.into_iter();
    match (all.next(), all.next()) {
        (Some((key, value)), None) if key == "Ok" => {
            Content::read_at(value, FieldPath::Key(&at, "Ok"), warnings).map(Ok)
        }
        (Some((key, value)), None) if key == "Err" => {
            ToolError::from_value(value, FieldPath::Key(&at, "Err")).map(Err)
        }
        _ => Err(FieldError::Unexpected {
            at: at.to_string(),
            expected,
            found: "another object".to_owned(),
        }),
    }
}

impl Serialize for ToolState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", &self.status())?;
        self.write_fields(&mut map, ContentForm::Blocks)?;
        map.end()
    }
}

/// How the content of a state is written.
#[derive(Clone, Copy)]
pub(crate) enum ContentForm {
    /// As it is, for programs.
    Blocks,
    /// As plain text, for an assistant.
    Text,
}

struct FormedContent<'a> {
    content: &'a Content,
    form: ContentForm,
}

impl Serialize for FormedContent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.form {
            ContentForm::Blocks => self.content.serialize(serializer),
            ContentForm::Text => serializer.serialize_str(&self.content.to_text()),
        }
    }
}

impl From<Outcome> for ToolState {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Success { content } => Self::succeeded(content),
            Outcome::Error(error) => Self::failed(error),
            Outcome::NeedsInput { question } => Self::waiting(question),
        }
    }
}

impl StateName {
    /// Whether a tool in this state may report `next`.
    ///
    /// A running tool may report more output, ask, or stop. A waiting one goes on when it is
    /// answered, or stops; it cannot ask again before that, because it has one question at most.
    /// A stopped tool says nothing more.
    pub fn can_become(self, next: StateName) -> bool {
        match self {
            StateName::Running => true,
            StateName::Waiting => matches!(next, StateName::Running | StateName::Stopped),
            StateName::Stopped => false,
        }
    }

    /// The name, as on the wire.
    pub fn name(self) -> &'static str {
        match self {
            StateName::Running => "running",
            StateName::Waiting => "waiting",
            StateName::Stopped => "stopped",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::Running, Self::Waiting, Self::Stopped]
            .into_iter()
            .find(|status| status.name() == name)
    }
}

impl fmt::Display for StateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromValue for StateName {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        value
            .as_str()
            .and_then(Self::from_name)
            .ok_or_else(|| FieldError::unexpected(at, "`running`, `waiting` or `stopped`", &value))
    }
}

deserialize_from_value!(StateName);

#[cfg(test)]
mod tests;
