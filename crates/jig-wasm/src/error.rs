//! [`ComponentError`]: why a component cannot run.

use std::io;

/// Why a component cannot run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ComponentError {
    /// Its bytes are not there.
    #[error("Wasm binary not found: {0}")]
    NotFound(String),
    /// Its bytes cannot be read.
    #[error("Wasm binary cannot be read: {shown}: {why}")]
    Unreadable {
        /// The component as messages name it.
        shown: String,
        /// Why not.
        why: String,
    },
    /// It is no component, or one that this engine does not know how to run.
    #[error("Failed to compile Wasm component: {0}")]
    Compile(String),
    /// It asks for something that there is not, or is no tool.
    #[error("Failed to instantiate Wasm component: {0}")]
    Instantiate(String),
    /// It ended in the middle of something.
    #[error("Wasm tool trapped: {0}")]
    Trapped(String),
    /// What it says of its tools cannot be used.
    #[error("Wasm component describes its tools wrongly: {0}")]
    Describe(String),
    /// The call was given up before the component was ready.
    #[error("the call was cancelled")]
    Cancelled,
}

impl ComponentError {
    pub(crate) fn unreadable(shown: &str, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound(shown.to_owned()),
            _ => Self::Unreadable {
                shown: shown.to_owned(),
                why: error.to_string(),
            },
        }
    }
}
