//! [`Note`]: a line in the audit log about something that no rule is asked about.

use std::time::Duration;

use jiff::Timestamp;

use crate::{AuditDecision, AuditEntry, Broker};

/// Something that was done, or not, on behalf of a call, and that no rule is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What, such as `mcp.call`.
    pub operation: &'static str,
    /// On what.
    pub target: String,
    /// Whether it was done.
    pub decision: AuditDecision,
    /// Why, or what else there is to know about it.
    pub reason: String,
    /// Where what decided was declared. Default: nowhere.
    pub origin: Option<String>,
    /// How it ended. Default: nothing was done.
    pub outcome: Option<&'static str>,
    /// How long it took. Default: not known.
    pub duration: Option<Duration>,
}

impl Note {
    /// A note with these parts.
    pub fn new(
        operation: &'static str,
        target: impl Into<String>,
        decision: AuditDecision,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            operation,
            target: target.into(),
            decision,
            reason: reason.into(),
            origin: None,
            outcome: None,
            duration: None,
        }
    }
}

impl Broker {
    /// Writes a line to the log, with the call and its tool.
    pub fn note(&self, note: Note) {
        let inner = &self.inner;
        let micros = |took: Duration| u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        inner.audit(AuditEntry {
            time: Timestamp::now(),
            tool: inner.tool.clone(),
            call: inner.call.clone(),
            handle: inner.handle.clone(),
            operation: note.operation.to_owned(),
            target: note.target,
            decision: note.decision,
            reason: note.reason,
            rule: None,
            origin: note.origin,
            hint: None,
            outcome: note.outcome.map(str::to_owned),
            duration_us: note.duration.map(micros),
        });
    }
}
