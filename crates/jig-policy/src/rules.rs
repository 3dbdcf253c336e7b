//! The rules as they were declared: plain data, each with its origin, not yet compiled.

use std::fmt;
use std::sync::Arc;

use crate::FileCapabilities;

/// The declared rules of one tool, in the order in which later rules win ties.
///
/// A list that is empty was not declared: that resource keeps the default of the tool's runtime.
/// One rule makes its resource, and only that one, default-deny.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeclaredAccess {
    /// Files of the workspace.
    pub fs: Vec<DeclaredFsRule>,
    /// Hosts and URLs.
    pub net: Vec<DeclaredNetRule>,
    /// Variables of the host's environment.
    pub env: Vec<DeclaredEnvRule>,
    /// Programs, by name. `Some` with no rule means that no program may be run.
    pub commands: Option<Vec<DeclaredCommandRule>>,
}

/// Capabilities at a path of the workspace and everything below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredFsRule {
    /// The path as written, relative to the workspace; literal, `.` is the workspace.
    pub path: String,
    /// What is granted; nothing at all is a denial.
    pub capabilities: FileCapabilities,
    /// Where the rule was declared.
    pub origin: RuleOrigin,
}

/// Whether a host, or a part of it, may be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredNetRule {
    /// The host as written: a name in Unicode or Punycode, an IPv4 or an IPv6 address; `*.example.com` for all
    /// names below one, `*` for all names.
    pub host: String,
    /// Only this scheme; any web scheme if absent.
    pub scheme: Option<String>,
    /// Only this port; the scheme's own if absent.
    pub port: Option<u16>,
    /// Only URLs whose path starts with these segments.
    pub path_prefix: Option<String>,
    /// Only requests with these methods.
    pub methods: Option<Vec<String>>,
    /// Whether matching requests are allowed.
    pub allow: bool,
    /// Where the rule was declared.
    pub origin: RuleOrigin,
}

/// Whether a variable of the host's environment may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredEnvRule {
    /// The name, or a prefix followed by one `*`.
    pub name: String,
    /// Whether the tool gets the value.
    pub read: bool,
    /// Whether the host may put the value into a request header (`${NAME}`) for the tool, which
    /// never sees it. A variable that may be read may also be used in this way.
    pub header: bool,
    /// Where the rule was declared.
    pub origin: RuleOrigin,
}

/// How a program may be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredCommandRule {
    /// The program's name on the search path, or a path inside the workspace.
    pub program: String,
    /// The argument lists that are allowed, any if `None`. A list matches the arguments exactly,
    /// or as their beginning when its last element is `**`.
    pub args: Option<Vec<Vec<String>>>,
    /// Variables of the host's environment that a run may be given, by exact name.
    pub envs: Vec<String>,
    /// Where the rule was declared.
    pub origin: RuleOrigin,
}

/// Where a rule comes from, for people: a file and line, an option, a default.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RuleOrigin {
    source: Arc<str>,
    line: Option<u32>,
}

impl RuleOrigin {
    /// A place without lines, such as `--set` or `built-in default`.
    pub fn named(source: impl Into<Arc<str>>) -> Self {
        Self {
            source: source.into(),
            line: None,
        }
    }

    /// A line of a file, counted from 1.
    pub fn line(source: impl Into<Arc<str>>, line: u32) -> Self {
        Self {
            source: source.into(),
            line: Some(line),
        }
    }

    /// The file, option or default.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The line, counted from 1, where there are lines.
    pub fn line_number(&self) -> Option<u32> {
        self.line
    }
}

impl fmt::Display for RuleOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.source),
            None => f.write_str(&self.source),
        }
    }
}
