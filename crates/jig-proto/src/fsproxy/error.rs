//! [`ProxyError`]: why a request was not done.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::text::WireText;

/// What kind of error it is, for programs.
///
/// Exhaustive: this is the protocol's set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProxyErrorCode {
    /// `E_ARG`: a parameter is missing or invalid.
    Arg,
    /// `E_NOENT`: there is nothing at the path. Never said of a handle, see [`ProxyErrorCode::Closed`].
    NoEnt,
    /// `E_PERM`: a rule, or the mode of the handle, does not allow it.
    Perm,
    /// `E_IO`: it was tried and failed.
    Io,
    /// `E_CLOSED`: the handle is not open, or not the client's.
    Closed,
    /// `E_UNSUPPORTED`: there is no such operation here.
    Unsupported,
    /// `E_RANGE`: a size or a limit is exceeded.
    Range,
}

impl ProxyErrorCode {
    /// All codes, in the order of the protocol's table.
    pub const ALL: [ProxyErrorCode; 7] = [
        ProxyErrorCode::Arg,
        ProxyErrorCode::NoEnt,
        ProxyErrorCode::Perm,
        ProxyErrorCode::Io,
        ProxyErrorCode::Closed,
        ProxyErrorCode::Unsupported,
        ProxyErrorCode::Range,
    ];

    /// The code as it is written, such as `E_ARG`.
    pub fn name(self) -> &'static str {
        match self {
            ProxyErrorCode::Arg => "E_ARG",
            ProxyErrorCode::NoEnt => "E_NOENT",
            ProxyErrorCode::Perm => "E_PERM",
            ProxyErrorCode::Io => "E_IO",
            ProxyErrorCode::Closed => "E_CLOSED",
            ProxyErrorCode::Unsupported => "E_UNSUPPORTED",
            ProxyErrorCode::Range => "E_RANGE",
        }
    }

    /// The code of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }
}

/// As [`ProxyErrorCode::name`].
impl fmt::Display for ProxyErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// As [`ProxyErrorCode::name`].
impl Serialize for ProxyErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A code that is new to us is `E_IO`: it failed, and the message says why.
impl<'de> Deserialize<'de> for ProxyErrorCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let WireText(name) = WireText::deserialize(deserializer)?;
        Ok(Self::parse(&name).unwrap_or(ProxyErrorCode::Io))
    }
}

/// Why a request was not done: a code for programs and a sentence for people.
///
/// On the wire `{"code":"E_ARG","message":"missing path"}`. A client sees all of it: the message
/// names nothing that it must not know, such as paths of the host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{code}: {message}")]
pub struct ProxyError {
    /// What kind of error it is.
    pub code: ProxyErrorCode,
    /// What is wrong, in one line.
    pub message: String,
}

impl ProxyError {
    /// An error of this kind.
    pub fn new(code: ProxyErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// `E_ARG`.
    pub fn arg(message: impl Into<String>) -> Self {
        Self::new(ProxyErrorCode::Arg, message)
    }

    /// `E_NOENT`.
    pub fn no_ent(message: impl Into<String>) -> Self {
        Self::new(ProxyErrorCode::NoEnt, message)
    }

    /// `E_PERM`.
    pub fn perm(message: impl Into<String>) -> Self {
        Self::new(ProxyErrorCode::Perm, message)
    }

    /// `E_IO`.
    pub fn io(message: impl Into<String>) -> Self {
        Self::new(ProxyErrorCode::Io, message)
    }

    /// `E_CLOSED`: the client has no open handle of this number.
    pub fn closed(handle: u64) -> Self {
        Self::new(
            ProxyErrorCode::Closed,
            format!("handle {handle} is not open"),
        )
    }

    /// `E_UNSUPPORTED`.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ProxyErrorCode::Unsupported, message)
    }

    /// `E_RANGE`.
    pub fn range(message: impl Into<String>) -> Self {
        Self::new(ProxyErrorCode::Range, message)
    }
}

#[cfg(test)]
mod tests;
