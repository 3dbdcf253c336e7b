//! [`ToolName`].

use std::borrow::Borrow;
use std::fmt;

use serde::Serialize;

/// The name of a tool: 1 to 64 letters, digits, `_`, `-` and `.`.
///
/// Model providers refuse tools with other names, and one refused tool fails a whole request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct ToolName(String);

impl ToolName {
    /// How long a name may be, as model providers limit it.
    pub const MAX_LENGTH: usize = 64;

    /// Checks `name`.
    pub fn new(name: impl Into<String>) -> Result<Self, ToolNameError> {
        let name = name.into();
        if name.is_empty() {
            return Err(ToolNameError::Empty);
        }
        let fits = |one: char| one.is_ascii_alphanumeric() || "_.-".contains(one);
        if let Some(bad) = name.chars().find(|one| !fits(*one)) {
            return Err(ToolNameError::Character(bad));
        }
        if name.len() > Self::MAX_LENGTH {
            return Err(ToolNameError::TooLong(name.len()));
        }
        Ok(Self(name))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for ToolName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a text is not the name of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolNameError {
    /// There is no text.
    #[error("the name is empty")]
    Empty,
    /// A character that no provider takes.
    #[error("{0:?} can't be part of a tool's name")]
    Character(char),
    /// More characters than providers take.
    #[error("the name has {0} characters, {max} are allowed", max = ToolName::MAX_LENGTH)]
    TooLong(usize),
}
