//! [`Context`]: what a tool is told about the call besides its arguments.

use camino::Utf8PathBuf;
use serde::Serialize;
use serde_json::Value;

use crate::fields::{FieldPath, FromValue, ObjectFields, deserialize_from_value};
use crate::{Access, FieldError};

/// Where a tool works, why it was called, and what it may do.
///
/// Written with all five fields, because tools in the wild require the two ids; read without the
/// ids, without `access`, and with fields that we don't know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Context {
    /// The root of the workspace, as the tool sees it.
    pub root: Utf8PathBuf,
    /// Why the tool was called.
    pub action: Action,
    /// What the tool may do; `None` if it was not told, and not that it may do everything: the
    /// sandbox holds it either way.
    pub access: Option<Access>,
    workspace_id: NonEmptyId,
    conversation_id: NonEmptyId,
}

/// Why a tool was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Action {
    /// To do its work.
    Run,
    /// To show its arguments to a person who decides about the call; nothing is done.
    FormatArguments,
}

impl Context {
    /// A context without rules, with stand-ins for the two ids.
    pub fn new(root: impl Into<Utf8PathBuf>, action: Action) -> Self {
        Self {
            root: root.into(),
            action,
            access: None,
            workspace_id: NonEmptyId::default(),
            conversation_id: NonEmptyId::default(),
        }
    }

    /// The context with rules.
    #[must_use]
    pub fn with_access(self, access: Access) -> Self {
        Self {
            access: Some(access),
            ..self
        }
    }

    /// The context with these ids; for an empty one the stand-in is used.
    #[must_use]
    pub fn with_ids(
        self,
        workspace_id: impl Into<String>,
        conversation_id: impl Into<String>,
    ) -> Self {
        Self {
            workspace_id: NonEmptyId::new(workspace_id.into()),
            conversation_id: NonEmptyId::new(conversation_id.into()),
            ..self
        }
    }

    /// The id of the workspace; never empty.
    pub fn workspace_id(&self) -> &str {
        &self.workspace_id.0
    }

    /// The id of the conversation; never empty.
    pub fn conversation_id(&self) -> &str {
        &self.conversation_id.0
    }
}

impl FromValue for Context {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        let mut fields = ObjectFields::open(value, at, "an object with `root` and `action`")?;
        let root: String = fields.required("root", "a path")?;
        let action = fields.required("action", ACTIONS)?;
        let access = fields.optional("access")?;
        let context = Self::new(root, action).with_ids(
            fields.or_default::<String>("workspace_id")?,
            fields.or_default::<String>("conversation_id")?,
        );
        Ok(Self { access, ..context })
    }
}

impl FromValue for Action {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        match value.as_str() {
            Some("run") => Ok(Self::Run),
            Some("format_arguments") => Ok(Self::FormatArguments),
            _ => Err(FieldError::unexpected(at, ACTIONS, &value)),
        }
    }
}

deserialize_from_value!(Context, Action);

/// An id that is never empty, because some tools take an empty one for a missing one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
struct NonEmptyId(String);

impl NonEmptyId {
    fn new(text: String) -> Self {
        if text.is_empty() {
            Self::default()
        } else {
            Self(text)
        }
    }
}

impl Default for NonEmptyId {
    fn default() -> Self {
        Self("jig".to_owned())
    }
}

const ACTIONS: &str = "`run` or `format_arguments`";

#[cfg(test)]
mod tests;
