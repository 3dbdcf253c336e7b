//! [`HostError`]: why the host did not do what a tool asked, and [`ConnectError`].

use std::error::Error;
use std::fmt;
use std::io;

use jig_proto::ToolError;
use jig_proto::vfs::tool::BadHostLine;
use jig_proto::vfs::{ErrorKind, ErrorReply, Method};

use super::RequestError;

/// Why the host did not do what a tool asked.
///
/// As text it is one sentence, which already names the path or the address;
/// [`HostError::explain`] has all of it. With `?` in a tool it becomes a [`ToolError`] that keeps
/// the explanation, so that whoever called the tool learns what would allow it.
#[derive(Debug)]
#[non_exhaustive]
pub struct HostError {
    /// What happened. If the host can't be asked at all, this is [`ErrorKind::Internal`].
    pub kind: ErrorKind,
    /// What was not done, and why.
    pub message: String,
    /// The path that it is about.
    pub path: Option<String>,
    /// The rule that decided, with its place.
    pub rule: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// Whether the same request may succeed later, with nothing changed by the tool.
    pub retryable: bool,
    /// What was wanted, of a denial.
    pub refused: Option<Box<RefusedOperation>>,
    /// Boxed once more, since every answer of the host has room for an error.
    source: Option<Box<Box<dyn Error + Send + Sync>>>,
}

/// What was wanted and refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefusedOperation {
    /// A capability, or another word such as `reach` or `run`.
    pub operation: String,
    /// On what it was wanted: a path of the workspace, an address, a program.
    pub target: String,
    /// What is granted instead, the first few.
    pub grants: Vec<String>,
}

impl HostError {
    /// An error of this kind, with nothing but a sentence.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        ErrorReply::new(kind, message).into()
    }

    /// The error with what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Whether access was denied: by a rule, for want of one, or by a person.
    pub fn is_denied(&self) -> bool {
        self.kind.is_denial()
    }

    /// Whether there is nothing at the path.
    pub fn is_not_found(&self) -> bool {
        self.kind == ErrorKind::NotFound
    }

    /// Whether there is something already where something new was to be.
    pub fn is_already_there(&self) -> bool {
        self.kind == ErrorKind::AlreadyExists
    }

    /// Whether the path is a directory where a file is needed.
    pub fn is_dir(&self) -> bool {
        self.kind == ErrorKind::IsDir
    }

    /// Whether the file is another version than the request is about.
    pub fn is_stale(&self) -> bool {
        self.kind == ErrorKind::Stale
    }

    /// Whether the content exceeds a limit.
    pub fn is_too_large(&self) -> bool {
        self.kind == ErrorKind::TooLarge
    }

    /// Whether the request, or the whole call, was given up.
    pub fn is_cancelled(&self) -> bool {
        self.kind == ErrorKind::Cancelled
    }

    /// The sentence, the rule that decided and what to do about it, on lines of their own.
    pub fn explain(&self) -> String {
        let mut text = self.message.clone();
        for (label, detail) in [("rule", &self.rule), ("hint", &self.hint)] {
            // A host may have said it in the sentence as well.
            if let Some(detail) = detail
                && !self.message.contains(detail.as_str())
            {
                match detail.trim_end() {
                    // Rules to be pasted stand on lines of their own.
                    rules if rules.contains('\n') => {
                        text.push_str(&format!("\n{label}: this would allow it:\n\n{rules}"));
                    }
                    detail => text.push_str(&format!("\n{label}: {detail}")),
                }
            }
        }
        text
    }

    pub(super) fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "the host cancelled the call")
    }

    /// The transport gave an answer of another method.
    pub(super) fn other_form(method: Method) -> Self {
        let message = format!("the host's answer to `{method}` is of another form");
        Self::new(ErrorKind::Internal, message)
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for HostError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| &**source as _)
    }
}

impl From<ErrorReply> for HostError {
    fn from(reply: ErrorReply) -> Self {
        let message = reply.message;
        let data = *reply.data;
        Self {
            kind: data.kind,
            message,
            path: data.path,
            rule: data.rule,
            hint: data.hint,
            retryable: data.retryable,
            refused: data.operation.zip(data.target).map(|(operation, target)| {
                Box::new(RefusedOperation {
                    operation,
                    target,
                    grants: data.grants,
                })
            }),
            source: None,
        }
    }
}

impl From<RequestError> for HostError {
    fn from(error: RequestError) -> Self {
        let message = error.to_string();
        let source: Box<dyn Error + Send + Sync> = match error {
            RequestError::Refused(reply) => return reply.into(),
            RequestError::Cancelled => return Self::cancelled(),
            RequestError::Disconnected(source) => source.into(),
            RequestError::Misunderstood(source) => source,
        };
        Self {
            source: Some(Box::new(source)),
            ..Self::new(ErrorKind::Internal, message)
        }
    }
}

impl From<HostError> for ToolError {
    fn from(error: HostError) -> Self {
        let mut trace = Vec::new();
        let mut cause = error.source();
        while let Some(next) = cause {
            trace.push(next.to_string());
            cause = next.source();
        }
        Self {
            trace,
            transient: error.retryable,
            ..Self::new(error.explain())
        }
    }
}

/// Why a tool can't begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// Standard input ended before the host said anything.
    #[error(
        "no host is there: this program is a tool for jig, which starts it with `runtime = \"vfs\"`"
    )]
    NoHost,
    /// Standard input or output does not work.
    #[error("the connection to the host failed")]
    Io(#[from] io::Error),
    /// The first line can't be read.
    #[error("the first line of the host can't be read")]
    Line(#[from] BadHostLine),
    /// The first line is not `init`.
    #[error("the first line of the host is not `init`")]
    NotInit,
    /// The host speaks only versions that we don't.
    #[error("the host speaks version {theirs} of the protocol, this tool version {ours}")]
    Version {
        /// The version that the host has chosen.
        theirs: String,
        /// Ours.
        ours: &'static str,
    },
    /// The host offered something and did not take the answer.
    #[error("the host could not be told what this tool can do")]
    Ready(#[source] HostError),
}

#[cfg(test)]
mod tests;
