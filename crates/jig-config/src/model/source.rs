//! [`ToolSource`] and [`RuntimeKind`]: where a tool's definition comes from, and how it runs.

use std::fmt;
use std::str::FromStr;

/// Where the definition of a tool comes from (J-021).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolSource {
    /// This configuration.
    Local {
        /// The name that the tool itself is told, if it is another one.
        tool: Option<String>,
    },
    /// jig itself.
    Builtin {
        /// Its name in jig, if it is another one.
        tool: Option<String>,
    },
    /// An MCP server.
    Mcp {
        /// The server's name in the configuration.
        server: String,
        /// Its name on the server, if it is another one.
        tool: Option<String>,
    },
}

impl ToolSource {
    /// The kind: `local`, `builtin` or `mcp`.
    pub fn kind(&self) -> &'static str {
        match self {
            ToolSource::Local { .. } => "local",
            ToolSource::Builtin { .. } => "builtin",
            ToolSource::Mcp { .. } => "mcp",
        }
    }

    /// The tool's name at its source, if it is another one than in the configuration.
    pub fn tool(&self) -> Option<&str> {
        match self {
            ToolSource::Local { tool }
            | ToolSource::Builtin { tool }
            | ToolSource::Mcp { tool, .. } => tool.as_deref(),
        }
    }

    /// Whether the definition stands in this configuration.
    pub fn is_local(&self) -> bool {
        matches!(self, ToolSource::Local { .. })
    }
}

/// `local[.NAME]`, `builtin[.NAME]` or `mcp.SERVER[.TOOL]`.
impl FromStr for ToolSource {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        let (kind, rest) = match text.split_once('.') {
            Some((kind, rest)) => (kind, Some(rest)),
            None => (text, None),
        };
        if rest.is_some_and(|rest| rest.split('.').any(str::is_empty)) {
            return Err(SourceError::EmptyName);
        }
        let tool = rest.map(str::to_owned);
        match (kind, rest) {
            ("local", _) => Ok(ToolSource::Local { tool }),
            ("builtin", _) => Ok(ToolSource::Builtin { tool }),
            ("mcp", None) => Err(SourceError::NoServer),
            ("mcp", Some(rest)) => {
                // A tool's name may hold dots, a server's may not.
                let (server, tool) = match rest.split_once('.') {
                    Some((server, tool)) => (server, Some(tool)),
                    None => (rest, None),
                };
                Ok(ToolSource::Mcp {
                    server: server.to_owned(),
                    tool: tool.map(str::to_owned),
                })
            }
            _ => Err(SourceError::Kind),
        }
    }
}

impl fmt::Display for ToolSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())?;
        if let ToolSource::Mcp { server, .. } = self {
            write!(f, ".{server}")?;
        }
        match self.tool() {
            Some(tool) => write!(f, ".{tool}"),
            None => Ok(()),
        }
    }
}

/// Why a text names no source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// Neither `local`, `builtin` nor `mcp`.
    #[error("a source is `local`, `builtin` or `mcp.SERVER`")]
    Kind,
    /// `mcp` alone.
    #[error("`mcp` needs the name of the server")]
    NoServer,
    /// Two dots in a row, or one at the end.
    #[error("a name between the dots is empty")]
    EmptyName,
}

/// How a tool runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RuntimeKind {
    /// A subprocess that the operating system confines.
    Stdio,
    /// A subprocess that asks jig for everything it needs.
    Vfs,
    /// A Wasm component.
    Wasm,
    /// A server that speaks MCP.
    Mcp,
    /// Code inside jig.
    Builtin,
}

impl RuntimeKind {
    /// The name, as in configuration.
    pub fn name(self) -> &'static str {
        match self {
            RuntimeKind::Stdio => "stdio",
            RuntimeKind::Vfs => "vfs",
            RuntimeKind::Wasm => "wasm",
            RuntimeKind::Mcp => "mcp",
            RuntimeKind::Builtin => "builtin",
        }
    }
}

impl fmt::Display for RuntimeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
