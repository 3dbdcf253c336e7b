//! [`Notice`]: news of a handle that nobody asked about.

use std::fmt;

use serde::Serialize;

use crate::{HandleId, StateName};

/// A handle that has stopped, or has begun to wait, since its caller was last told about it.
///
/// Written as `{"id", "tool", "state", "dropped"?}`; as text, a sentence for an assistant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// The handle.
    pub id: HandleId,
    /// Its tool.
    pub tool: String,
    /// Where it stands now.
    pub state: StateName,
    /// Whether its result is gone, because too many of them waited to be fetched.
    #[serde(skip_serializing_if = "is_kept")]
    pub dropped: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields so")]
fn is_kept(dropped: &bool) -> bool {
    !dropped
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            id,
            tool,
            state,
            dropped,
        } = self;
        match state {
            StateName::Running => write!(f, "`{id}` of the tool `{tool}` runs"),
            StateName::Waiting => write!(
                f,
                "`{id}` of the tool `{tool}` waits for an answer; fetch it to see its question"
            ),
            StateName::Stopped if *dropped => write!(
                f,
                "`{id}` of the tool `{tool}` has stopped, and its result was dropped: too many \
                 results waited to be fetched"
            ),
            StateName::Stopped => write!(
                f,
                "`{id}` of the tool `{tool}` has stopped; fetch it to see its result"
            ),
        }
    }
}

#[cfg(test)]
mod tests;
