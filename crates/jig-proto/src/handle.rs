//! [`HandleId`] and [`HandleReport`]: how callers name a running tool and what they are told.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::fields::{FieldPath, FromValue, ObjectFields, deserialize_from_value};
use crate::state::ContentForm;
use crate::{FieldError, StateName, ToolState, Warnings, WithWarnings};

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
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        value
            .as_str()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| FieldError::unexpected(at, "1 to 64 visible ASCII characters", &value))
    }
}

deserialize_from_value!(HandleId, CutReport, TerminalReport);

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
/// Written as `{"id", "state", "content"?, "question"? | "result"? | "error"?}` and then the members of
/// [`Details`], with content and result as plain text
/// ([`Content::to_text`](crate::Content::to_text)). The name of the state is under `state` here and
/// under `type` in what a tool sends: the two are different layers and never mix.
#[derive(Debug, Clone, PartialEq)]
pub struct HandleReport {
    /// The handle.
    pub id: HandleId,
    /// Where its tool stands.
    pub state: ToolState,
    /// What else is known.
    pub details: Details,
}

/// What a report tells besides the state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Details {
    /// How far the output has been shown: what is new next time comes after it.
    pub seq: Option<u64>,
    /// What is missing in the output that is shown.
    pub cut: Option<CutReport>,
    /// The screen, for a tool on a terminal.
    pub terminal: Option<TerminalReport>,
    /// The code that the program of a stopped tool exited with.
    pub exit_code: Option<i32>,
    /// What jig has to say about the tool, a sentence each without a period: a host that it was refused, a port on
    /// which nobody can reach it. Each is told once.
    pub notes: Vec<String>,
}

/// What is missing in the output that is shown, and how to get it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CutReport {
    /// How many bytes.
    pub bytes: u64,
    /// How to get them, or that they are gone.
    pub hint: String,
}

/// The screen of a tool on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TerminalReport {
    /// Its height.
    pub rows: u16,
    /// Its width.
    pub cols: u16,
    /// The row and the column of the cursor, counted from 0 at the top left.
    pub cursor: [u16; 2],
    /// Whether a program that uses the whole screen has it: an editor, a pager.
    pub alternate: bool,
}

impl HandleReport {
    /// A report without details.
    pub fn new(id: HandleId, state: ToolState) -> Self {
        Self {
            id,
            state,
            details: Details::default(),
        }
    }

    /// Reads a report from JSON.
    ///
    /// # Errors
    ///
    /// If a field is missing or malformed.
    pub fn read(mut value: Value) -> Result<WithWarnings<Self>, FieldError> {
        let mut warnings = Warnings::default();
        // A report is jig's own word, and so are the denials in it.
        let denials = value
            .get_mut("error")
            .and_then(|error| error.get_mut("denials"));
        let denials = denials
            .map(Value::take)
            .filter(|denials| !denials.is_null());
        let mut fields =
            ObjectFields::open(value, FieldPath::Root, "an object with `id` and `state`")?;
        let id = fields.required("id", "a handle id")?;
        let status: StateName = fields.required("state", "`running`, `waiting` or `stopped`")?;
        let details = Details::take_from(&mut fields)?;
        let mut state = ToolState::from_fields(status, fields, &mut warnings)?;
        if let (
            Some(denials),
            ToolState::Stopped {
                result: Err(error), ..
            },
        ) = (denials, &mut state)
        {
            let at = FieldPath::Key(&FieldPath::Key(&FieldPath::Root, "error"), "denials");
            error.denials = FromValue::from_value(denials, at)?;
        }
        Ok(WithWarnings {
            value: Self { id, state, details },
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
        self.details.write_fields(&mut map)?;
        map.end()
    }
}

impl Details {
    fn take_from(fields: &mut ObjectFields<'_>) -> Result<Self, FieldError> {
        Ok(Self {
            seq: fields.optional("seq")?,
            cut: fields.optional("cut")?,
            terminal: fields.optional("terminal")?,
            exit_code: fields.optional("exit_code")?,
            notes: fields.or_default("notes")?,
        })
    }

    fn write_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let Self {
            seq,
            cut,
            terminal,
            exit_code,
            notes,
        } = self;
        if let Some(seq) = seq {
            map.serialize_entry("seq", seq)?;
        }
        if let Some(cut) = cut {
            map.serialize_entry("cut", cut)?;
        }
        if let Some(terminal) = terminal {
            map.serialize_entry("terminal", terminal)?;
        }
        if let Some(exit_code) = exit_code {
            map.serialize_entry("exit_code", exit_code)?;
        }
        if !notes.is_empty() {
            map.serialize_entry("notes", notes)?;
        }
        Ok(())
    }
}

impl FromValue for CutReport {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        let mut fields = ObjectFields::open(value, at, "an object with `bytes` and `hint`")?;
        Ok(Self {
            bytes: fields.required("bytes", "a number")?,
            hint: fields.required("hint", "a string")?,
        })
    }
}

impl FromValue for TerminalReport {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        let expected = "an object with `rows`, `cols`, `cursor` and `alternate`";
        let mut fields = ObjectFields::open(value, at, expected)?;
        let place = fields.at();
        let cursor: Vec<u16> = fields.required("cursor", "a row and a column")?;
        let cursor = <[u16; 2]>::try_from(cursor).map_err(|_| {
            FieldError::missing(FieldPath::Key(&place, "cursor"), "a row and a column")
        })?;
        Ok(Self {
            rows: fields.required("rows", "a number")?,
            cols: fields.required("cols", "a number")?,
            cursor,
            alternate: fields.required("alternate", "`true` or `false`")?,
        })
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
