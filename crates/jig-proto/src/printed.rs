//! [`read_printed`]: what a tool wrote to its standard output, if it was a state.
//!
//! A tool may print a state, an older outcome, or a list of content blocks; everything else, also
//! JSON, is plain text that belongs to the assistant as it is. The answer "not a state" is
//! therefore no failure. It keeps its reason, because "said `stopped` but with a broken error" is
//! worth a line in the log and "printed a table" is not.

use serde_json::Value;

use crate::fields::{FieldPath, ObjectFields};
use crate::json::{self, JsonError, JsonLimits};
use crate::outcome::OutcomeType;
use crate::{FieldError, Outcome, Response, StateName, ToolState, Warnings, WithWarnings};

/// Why what a tool sent is not a state.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotAState {
    /// It does not start like a JSON object.
    #[error("the text is not a JSON object")]
    NotAnObject,
    /// It starts like a JSON object but can't be read as JSON.
    #[error("the text can't be read as JSON")]
    Json(#[source] JsonError),
    /// It is an object of another kind: no `type` that we know, no list of blocks.
    #[error("the object has none of the types of a state")]
    OtherObject,
    /// It says that it is a state, an outcome or a response, but is malformed.
    #[error("the state is malformed")]
    Malformed(#[source] FieldError),
}

/// Reads what a tool printed.
///
/// Recognised by `type`: `running` (also spelled `spawned`), `waiting`, `stopped`, and `success`,
/// `error`, `needs_input`; without `type`, a [`Response`] by its list of blocks. A result with a
/// question among its blocks is that question. Whitespace around it is ignored.
///
/// # Errors
///
/// The reason why the text is to be taken as plain text.
pub fn read_printed(
    stdout: &[u8],
    limits: &JsonLimits,
) -> Result<WithWarnings<ToolState>, NotAState> {
    // Most tools print plain text, and a lot of it: one look is enough to see that.
    if stdout.trim_ascii_start().first() != Some(&b'{') {
        return Err(NotAState::NotAnObject);
    }
    let read = ToolState::read(json::value(stdout, limits).map_err(NotAState::Json)?)?;
    Ok(WithWarnings {
        value: read.value.asking(),
        ..read
    })
}

impl ToolState {
    /// Reads a state from JSON, in every form that [`read_printed`] knows.
    ///
    /// # Errors
    ///
    /// The reason why the value is not a state.
    pub fn read(value: Value) -> Result<WithWarnings<Self>, NotAState> {
        let Value::Object(members) = &value else {
            return Err(NotAState::NotAnObject);
        };
        let Some(name) = members.get("type") else {
            return read_response(value);
        };
        let name = name.as_str().unwrap_or("");
        let mut warnings = Warnings::default();
        let status = match name {
            // The documents list it among the types and define no such state.
            "spawned" => Some(StateName::Running),
            name => StateName::from_name(name),
        };
        let read = if let Some(status) = status {
            open(value).and_then(|fields| Self::from_fields(status, fields, &mut warnings))
        } else if let Some(kind) = OutcomeType::from_name(name) {
            open(value)
                .and_then(|fields| Outcome::from_fields(kind, fields, &mut warnings))
                .map(Self::from)
        } else {
            return Err(NotAState::OtherObject);
        };
        let value = read.map_err(NotAState::Malformed)?;
        Ok(WithWarnings { value, warnings })
    }
}

fn open(value: Value) -> Result<ObjectFields<'static>, FieldError> {
    ObjectFields::open(value, FieldPath::Root, "an object")
}

/// Reads an object without `type`, if it is unmistakably a response.
///
/// A program may well print `{"content": [1, 2]}` of its own: unless a block can be read, or the
/// object says so by other means, it is data, and dropping "malformed blocks" would lose it.
fn read_response(value: Value) -> Result<WithWarnings<ToolState>, NotAState> {
    if !value.get("content").is_some_and(Value::is_array) {
        return Err(NotAState::OtherObject);
    }
    let marked = value.get("isError").is_some() || value.get("_meta").is_some();
    let WithWarnings {
        value: response,
        mut warnings,
    } = Response::read(value).map_err(NotAState::Malformed)?;
    let lost_all = response.content.is_empty() && !warnings.is_empty();
    if lost_all || (response.content.is_empty() && !marked) {
        return Err(NotAState::OtherObject);
    }
    let value = response
        .into_state(&mut warnings)
        .map_err(NotAState::Malformed)?;
    Ok(WithWarnings { value, warnings })
}

#[cfg(test)]
mod tests;
