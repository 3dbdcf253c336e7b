//! [`AuditNote`]: a line in the audit log about something that no rule is asked about.

use std::time::Duration;

use jiff::Timestamp;

use crate::{AuditDecision, AuditEntry, Broker};

/// Something that was done, or not, on behalf of a call, and that no rule is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditNote {
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

impl AuditNote {
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

    /// The line about a call of a tool, as of now.
    pub fn into_entry(self, tool: impl Into<String>, call: impl Into<String>) -> AuditEntry {
        let micros = |took: Duration| u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        AuditEntry {
            time: Timestamp::now(),
            tool: tool.into(),
            call: call.into(),
            handle: None,
            operation: self.operation.to_owned(),
            target: self.target,
            decision: self.decision,
            reason: self.reason,
            rule: None,
            origin: self.origin,
            hint: None,
            outcome: self.outcome.map(str::to_owned),
            duration_us: self.duration.map(micros),
        }
    }
}

impl Broker {
    /// Writes a line to the log, with the call and its tool.
    pub fn note(&self, note: AuditNote) {
        let inner = &self.inner;
        let handle = inner.handle.clone();
        inner.audit(AuditEntry {
            handle,
            ..note.into_entry(inner.tool.as_str(), inner.call.as_str())
        });
    }
}
