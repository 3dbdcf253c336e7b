//! [`HandleId`] and [`HandleReport`]: how callers name a running tool and what they are told.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::fields::{At, Fields, FromValue, deserialize_from_value};
use crate::state::ContentForm;
use crate::{FieldError, Read, Status, ToolState, Warnings};

/// The name of a handle: `h_1`, `h_2`, … or one that the caller chose.
///
/// Between 1 and 64 visible ASCII characters, so that it can stand in a log line or a terminal and
/// no two ids look alike. A caller may choose `h_7` as well: whoever hands out ids keeps them apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct HandleId(String);

impl HandleId {
    /// The longest id. Without it, ids are a place to keep data in the host's memory.
    pub const MAX_LENGTH: usize = 64;

    /// The id with this number: `h_1` for 1.
    pub fn numbered(number: u64) -> Self {
        Self(format!("h_{number}"))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for HandleId {
    type Err = HandleIdError;

    fn from_str(text: &str) -> Result<Self, HandleIdError> {
        if text.is_empty() {
            return Err(HandleIdError::Empty);
        }
        if text.len() > Self::MAX_LENGTH {
            return Err(HandleIdError::TooLong);
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(HandleIdError::NotPrintable);
        }
        Ok(Self(text.to_owned()))
    }
}

impl Borrow<str> for HandleId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HandleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromValue for HandleId {
    fn from_value(value: Value, at: At<'_>) -> Result<Self, FieldError> {
        value
            .as_str()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| FieldError::unexpected(at, "1 to 64 visible ASCII characters", &value))
    }
}

deserialize_from_value!(HandleId);

/// Why a text is not a [`HandleId`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandleIdError {
    /// The text is empty.
    #[error("a handle id can't be empty")]
    Empty,
    /// The text is longer than [`HandleId::MAX_LENGTH`].
    #[error("a handle id has at most {} characters", HandleId::MAX_LENGTH)]
    TooLong,
    /// The text holds a space, a control character or something outside ASCII.
    #[error("a handle id has only visible ASCII characters, without spaces")]
    NotPrintable,
}

/// What an assistant is told about a handle.
///
/// Written as `{"id", "state", "content"?, "question"? | "result"? | "error"?}`, with content and
/// result as plain text ([`Content::to_text`](crate::Content::to_text)). The name of the state is under `state` here and
/// under `type` in what a tool sends: the two are different layers and never mix.
#[derive(Debug, Clone, PartialEq)]
pub struct HandleReport {
    /// The handle.
    pub id: HandleId,
    /// Where its tool stands.
    pub state: ToolState,
}

impl HandleReport {
    /// Reads a report from JSON.
    ///
    /// # Errors
    ///
    /// If a field is missing or malformed.
    pub fn read(value: Value) -> Result<Read<Self>, FieldError> {
        let mut warnings = Warnings::default();
        let mut fields = Fields::open(value, At::Root, "an object with `id` and `state`")?;
        let id = fields.required("id", "a handle id")?;
        let status: Status = fields.required("state", "`running`, `waiting` or `stopped`")?;
        let state = ToolState::from_fields(status, fields, &mut warnings)?;
        Ok(Read {
            value: Self { id, state },
            warnings,
        })
    }
}

impl Serialize for HandleReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("state", &self.state.status())?;
        self.state.write_fields(&mut map, ContentForm::Text)?;
        map.end()
    }
}

/// The report as JSON text, which is how it is sent.
impl fmt::Display for HandleReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests;
