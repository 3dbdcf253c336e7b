//! [`ErrorReply`]: why a request was not done.

use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::fields::quoted;
use crate::text::{or_default, read_object};
use crate::vfs::Method;
use crate::vfs::write::ObjectWriter;

/// The answer to a request that was not done.
///
/// On the wire `{"code", "message", "data": {"kind", "path"?, "operation"?, "target"?, "rule"?, "grants"?,
/// "hint"?, "retryable"}}`. The message is for people and may change; programs read [`ErrorData::kind`]. All of it is seen by the
/// tool and by the model behind it: nothing here may name what a tool must not know, such as paths
/// of the host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ErrorReply {
    code: i64,
    /// What was not done, and why, in one sentence.
    pub message: String,
    /// The same for programs.
    pub data: Box<ErrorData>,
}

/// What a program can act on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorData {
    /// What happened.
    pub kind: ErrorKind,
    /// The path that it is about, as the tool wrote it.
    pub path: Option<String>,
    /// What was wanted and refused, such as `read` or `connect`.
    pub operation: Option<String>,
    /// On what it was wanted: a path of the workspace, an address, a program.
    pub target: Option<String>,
    /// The rule that decided, with its place.
    pub rule: Option<String>,
    /// What is granted instead, the first few.
    pub grants: Vec<String>,
    /// What to do about it, such as the smallest rule that would allow it.
    pub hint: Option<String>,
    /// Whether the same request may succeed later, with nothing changed by the tool.
    pub retryable: bool,
}

/// What kept a request from being done. Each kind has one code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// `invalid_request` (-32600): the line is not a request.
    InvalidRequest,
    /// `line_too_long` (-32600): the line exceeds the limit on messages.
    LineTooLong,
    /// `method_not_found` (-32601): there is no such method.
    MethodNotFound,
    /// `invalid_params` (-32602): a parameter is missing or malformed.
    InvalidParams,
    /// `is_dir` (-32602): a directory where a file is needed.
    IsDir,
    /// `not_dir` (-32602): a file where a directory is needed.
    NotDir,
    /// `no_match` (-32602): a patch replaces text that the file does not hold.
    NoMatch,
    /// `ambiguous` (-32602): a patch replaces text that the file holds more than once.
    Ambiguous,
    /// `unknown_process` (-32602): the tool has started no program of this number, or has stopped it.
    UnknownProcess,
    /// `process_ended` (-32602): input for a program that has ended.
    ProcessEnded,
    /// `internal` (-32603): the host failed.
    Internal,
    /// `denied_by_rule` (-32001): a rule says no.
    DeniedByRule,
    /// `uncovered` (-32001): no rule says yes, and nobody is asked.
    Uncovered,
    /// `approval_denied` (-32001): someone was asked and said no.
    ApprovalDenied,
    /// `approval_unavailable` (-32001): nobody can be asked.
    ApprovalUnavailable,
    /// `approval_timeout` (-32001): someone was asked and did not answer in time.
    ApprovalTimeout,
    /// `escape` (-32001): the path leads out of the workspace.
    Escape,
    /// `protected` (-32001): no rule can open this to a tool.
    Protected,
    /// `sensitive` (-32001): the path needs a rule that names it.
    Sensitive,
    /// `not_found` (-32002): there is no such file or resource.
    NotFound,
    /// `already_exists` (-32003): there is something where something new was to be.
    AlreadyExists,
    /// `stale` (-32003): the file is not the version that the request is about.
    Stale,
    /// `timeout` (-32004): it took too long.
    Timeout,
    /// `cancelled` (-32005): the tool, the host or the user gave it up.
    Cancelled,
    /// `too_large` (-32006): the content exceeds a limit.
    TooLarge,
}

impl ErrorKind {
    /// Every kind, by code.
    pub const ALL: [ErrorKind; 25] = [
        ErrorKind::InvalidRequest,
        ErrorKind::LineTooLong,
        ErrorKind::MethodNotFound,
        ErrorKind::InvalidParams,
        ErrorKind::IsDir,
        ErrorKind::NotDir,
        ErrorKind::NoMatch,
        ErrorKind::Ambiguous,
        ErrorKind::UnknownProcess,
        ErrorKind::ProcessEnded,
        ErrorKind::Internal,
        ErrorKind::DeniedByRule,
        ErrorKind::Uncovered,
        ErrorKind::ApprovalDenied,
        ErrorKind::ApprovalUnavailable,
        ErrorKind::ApprovalTimeout,
        ErrorKind::Escape,
        ErrorKind::Protected,
        ErrorKind::Sensitive,
        ErrorKind::NotFound,
        ErrorKind::AlreadyExists,
        ErrorKind::Stale,
        ErrorKind::Timeout,
        ErrorKind::Cancelled,
        ErrorKind::TooLarge,
    ];

    /// The JSON-RPC code.
    pub const fn code(self) -> i64 {
        match self {
            Self::InvalidRequest | Self::LineTooLong => -32600,
            Self::MethodNotFound => -32601,
            Self::InvalidParams
            | Self::IsDir
            | Self::NotDir
            | Self::NoMatch
            | Self::Ambiguous
            | Self::UnknownProcess
            | Self::ProcessEnded => -32602,
            Self::Internal => -32603,
            Self::DeniedByRule
            | Self::Uncovered
            | Self::ApprovalDenied
            | Self::ApprovalUnavailable
            | Self::ApprovalTimeout
            | Self::Escape
            | Self::Protected
            | Self::Sensitive => -32001,
            Self::NotFound => -32002,
            Self::AlreadyExists | Self::Stale => -32003,
            Self::Timeout => -32004,
            Self::Cancelled => -32005,
            Self::TooLarge => -32006,
        }
    }

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::LineTooLong => "line_too_long",
            Self::MethodNotFound => "method_not_found",
            Self::InvalidParams => "invalid_params",
            Self::IsDir => "is_dir",
            Self::NotDir => "not_dir",
            Self::NoMatch => "no_match",
            Self::Ambiguous => "ambiguous",
            Self::UnknownProcess => "unknown_process",
            Self::ProcessEnded => "process_ended",
            Self::Internal => "internal",
            Self::DeniedByRule => "denied_by_rule",
            Self::Uncovered => "uncovered",
            Self::ApprovalDenied => "approval_denied",
            Self::ApprovalUnavailable => "approval_unavailable",
            Self::ApprovalTimeout => "approval_timeout",
            Self::Escape => "escape",
            Self::Protected => "protected",
            Self::Sensitive => "sensitive",
            Self::NotFound => "not_found",
            Self::AlreadyExists => "already_exists",
            Self::Stale => "stale",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::TooLarge => "too_large",
        }
    }

    /// Whether access was denied, for whatever reason.
    pub const fn is_denial(self) -> bool {
        self.code() == Self::DeniedByRule.code()
    }

    /// Whether such a request may succeed later as it is, unless the error says otherwise.
    const fn is_retryable(self) -> bool {
        matches!(self, Self::ApprovalTimeout | Self::Timeout)
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The plainest kind of a code, for a host that sends none: it says no more than the code does.
    fn of_code(code: i64) -> Self {
        match code {
            // `ALL` starts with a more particular reason for this code.
            -32001 => Self::Uncovered,
            // JSON that can't be parsed, for a host that keeps to JSON-RPC here.
            -32700 => Self::InvalidRequest,
            code => Self::ALL
                .into_iter()
                .find(|kind| kind.code() == code)
                .unwrap_or(Self::Internal),
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl ErrorReply {
    /// An error of this kind, with its code and nothing but a sentence.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            code: kind.code(),
            message: message.into(),
            data: Box::new(ErrorData {
                kind,
                path: None,
                operation: None,
                target: None,
                rule: None,
                grants: Vec::new(),
                hint: None,
                retryable: kind.is_retryable(),
            }),
        }
    }

    /// The JSON-RPC code. It is the kind's own, unless a peer sent another.
    pub fn code(&self) -> i64 {
        self.code
    }

    /// What happened.
    pub fn kind(&self) -> ErrorKind {
        self.data.kind
    }

    /// The error with the path that it is about.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.data.path = Some(path.into());
        self
    }

    /// The error with what was wanted, and on what.
    #[must_use]
    pub fn with_wanted(mut self, operation: impl Into<String>, target: impl Into<String>) -> Self {
        self.data.operation = Some(operation.into());
        self.data.target = Some(target.into());
        self
    }

    /// The error with what is granted instead.
    #[must_use]
    pub fn with_grants(mut self, grants: Vec<String>) -> Self {
        self.data.grants = grants;
        self
    }

    /// The error with the rule that decided.
    #[must_use]
    pub fn with_rule(mut self, rule: impl Into<String>) -> Self {
        self.data.rule = Some(rule.into());
        self
    }

    /// The error with what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.data.hint = Some(hint.into());
        self
    }

    /// The error, said to be worth a retry or not.
    #[must_use]
    pub fn with_retryable(mut self, retryable: bool) -> Self {
        self.data.retryable = retryable;
        self
    }

    /// The line is not a request; `why` says what is wrong with it.
    pub fn invalid_request(why: impl fmt::Display) -> Self {
        Self::new(ErrorKind::InvalidRequest, format!("invalid request: {why}"))
    }

    /// The line is longer than `limit` bytes and was dropped.
    pub fn line_too_long(limit: usize) -> Self {
        let message = format!("invalid request: the line is longer than {limit} bytes");
        Self::new(ErrorKind::LineTooLong, message).with_hint(crate::hint!(
            "send large content in parts, with `fs.append`"
        ))
    }

    /// There is no method `name`. The message gives the name that was meant, if one is close.
    pub fn method_not_found(name: &str) -> Self {
        let name_shown = quoted(name);
        let message = match Method::meant_by(name) {
            Some(meant) => format!("there is no method {name_shown}: it is called `{meant}`"),
            None => format!("there is no method {name_shown}"),
        };
        Self::new(ErrorKind::MethodNotFound, message)
    }

    /// A parameter of `method` is missing or malformed; `why` says which.
    pub fn invalid_params(method: Method, why: impl fmt::Display) -> Self {
        let message = format!("invalid parameters of `{method}`: {why}");
        Self::new(ErrorKind::InvalidParams, message)
    }

    /// `path` is a directory, and the request needs a file.
    pub fn is_dir(path: &str) -> Self {
        Self::about(ErrorKind::IsDir, path, "is a directory")
    }

    /// `path` is a file, and the request needs a directory.
    pub fn not_dir(path: &str) -> Self {
        Self::about(ErrorKind::NotDir, path, "is not a directory")
    }

    /// The host failed; `what` must be fit for the eyes of a tool.
    pub fn internal(what: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Internal, format!("the host failed: {what}"))
    }

    /// Access is denied for a reason of this kind, which should be one of the denials; `why` names
    /// the capability and the target.
    pub fn denied(kind: ErrorKind, why: impl fmt::Display) -> Self {
        debug_assert!(kind.is_denial(), "{kind} is not a denial");
        Self::new(kind, format!("access denied: {why}"))
    }

    /// A rule says no.
    pub fn denied_by_rule(why: impl fmt::Display, rule: impl Into<String>) -> Self {
        Self::denied(ErrorKind::DeniedByRule, why).with_rule(rule)
    }

    /// No rule says yes, and nobody is asked.
    pub fn uncovered(why: impl fmt::Display) -> Self {
        Self::denied(ErrorKind::Uncovered, why)
    }

    /// Someone was asked and said no.
    pub fn approval_denied(why: impl fmt::Display) -> Self {
        Self::denied(ErrorKind::ApprovalDenied, why)
    }

    /// Nobody can be asked.
    pub fn approval_unavailable(why: impl fmt::Display) -> Self {
        Self::denied(ErrorKind::ApprovalUnavailable, why)
    }

    /// Someone was asked and did not answer in time.
    pub fn approval_timeout(why: impl fmt::Display) -> Self {
        Self::denied(ErrorKind::ApprovalTimeout, why)
    }

    /// `path` leads out of the workspace: it is absolute, has `..` in it, or a link takes it there.
    pub fn escape(path: &str) -> Self {
        let why = format!("path {} leads out of the workspace", quoted(path));
        Self::denied(ErrorKind::Escape, why).with_path(path)
    }

    /// `path` is closed to tools, whatever the rules say.
    pub fn protected(path: &str) -> Self {
        let why = format!("path {} is never open to a tool", quoted(path));
        Self::denied(ErrorKind::Protected, why).with_path(path)
    }

    /// `path` is one that tends to hold secrets, and no rule names it.
    pub fn sensitive(path: &str) -> Self {
        let why = format!("path {} is sensitive, and no rule names it", quoted(path));
        Self::denied(ErrorKind::Sensitive, why).with_path(path)
    }

    /// There is nothing at `path`.
    pub fn not_found(path: &str) -> Self {
        Self::about(ErrorKind::NotFound, path, "does not exist")
    }

    /// There is something at `path` already.
    pub fn already_exists(path: &str) -> Self {
        Self::about(ErrorKind::AlreadyExists, path, "already exists")
    }

    /// `path` is not the version that `if_match` names.
    pub fn stale(path: &str) -> Self {
        Self::about(ErrorKind::Stale, path, "has changed").with_hint(crate::hint!(
            "read it again, and send the new `etag` as `if_match`"
        ))
    }

    /// The text that a patch replaces is not in the file.
    pub fn no_match(path: &str, edit: usize) -> Self {
        let what = format!("does not hold the text `old` of edit {edit}");
        Self::about(ErrorKind::NoMatch, path, &what)
    }

    /// The text that a patch replaces is in the file so many times.
    pub fn ambiguous(path: &str, edit: usize, times: usize) -> Self {
        let what = format!("holds the text `old` of edit {edit} {times} times");
        Self::about(ErrorKind::Ambiguous, path, &what).with_hint(crate::hint!(
            "give more of the text around it, or `\"all\": true`"
        ))
    }

    /// The tool has no program of this number.
    pub fn unknown_process(process: u64) -> Self {
        let message = format!("there is no process {process}");
        Self::new(ErrorKind::UnknownProcess, message).with_hint(crate::hint!(
            "`process.start` says the number; after `process.stop` it means nothing"
        ))
    }

    /// The program can't be written to, since it has ended.
    pub fn process_ended(process: u64) -> Self {
        let message = format!("process {process} has ended");
        Self::new(ErrorKind::ProcessEnded, message).with_hint(crate::hint!(
            "`process.read` still says what it printed and how it ended"
        ))
    }

    /// `what` took too long.
    pub fn timeout(what: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Timeout, format!("{what} took too long"))
    }

    /// The request was given up.
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "the request was cancelled")
    }

    /// `what` has `size` bytes, which is more than `limit`.
    pub fn too_large(what: impl fmt::Display, size: u64, limit: u64) -> Self {
        let message = format!("{what} has {size} bytes; the limit is {limit}");
        Self::new(ErrorKind::TooLarge, message)
    }

    fn about(kind: ErrorKind, path: &str, what: &str) -> Self {
        Self::new(kind, format!("{} {what}", quoted(path))).with_path(path)
    }

    pub(super) fn write(&self, mut object: ObjectWriter<'_>) {
        object.put("code", &self.code);
        object.put("message", &self.message);
        let mut data = object.object("data");
        data.put("kind", self.data.kind.name());
        data.put_some("path", self.data.path.as_ref());
        data.put_some("operation", self.data.operation.as_ref());
        data.put_some("target", self.data.target.as_ref());
        data.put_some("rule", self.data.rule.as_ref());
        if !self.data.grants.is_empty() {
            data.put("grants", &self.data.grants);
        }
        data.put_some("hint", self.data.hint.as_ref());
        data.put("retryable", &self.data.retryable);
        data.close();
        object.close();
    }
}

/// An error as it is read. Only the code must be there; a kind that is missing or new to us becomes
/// the plainest of its code, so that an older tool understands a newer host.
#[derive(Deserialize)]
pub(super) struct WireError<'a> {
    code: i64,
    #[serde(default, deserialize_with = "or_default")]
    message: String,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

/// JSON-RPC lets a host put anything into `data`: what is not of this form is not ours, and is
/// ignored as a whole.
#[derive(Deserialize, Default)]
struct WireData {
    kind: Option<String>,
    path: Option<String>,
    operation: Option<String>,
    target: Option<String>,
    rule: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    grants: Vec<String>,
    hint: Option<String>,
    retryable: Option<bool>,
}

impl From<WireError<'_>> for ErrorReply {
    fn from(wire: WireError<'_>) -> Self {
        let data: WireData = wire
            .data
            .and_then(|raw| read_object(raw.get()).ok())
            .unwrap_or_default();
        let kind = data.kind.as_deref().and_then(ErrorKind::parse);
        let kind = kind.unwrap_or_else(|| ErrorKind::of_code(wire.code));
        Self {
            code: wire.code,
            message: wire.message,
            data: Box::new(ErrorData {
                kind,
                path: data.path,
                operation: data.operation,
                target: data.target,
                rule: data.rule,
                grants: data.grants,
                hint: data.hint,
                retryable: data.retryable.unwrap_or_else(|| kind.is_retryable()),
            }),
        }
    }
}

#[cfg(test)]
mod tests;
