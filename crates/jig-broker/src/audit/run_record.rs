//! [`RunRecord`]: the two lines of the audit log about a run, at its start and at its end.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use super::note::AuditNote;
use crate::broker::BrokerCore;
use crate::{AuditDecision, AuditEntry, Broker};

/// A run that is in the log. Whoever runs something says how it [ended](Self::end); a record that is dropped
/// says that nobody knows.
#[must_use]
pub struct RunRecord {
    inner: Arc<BrokerCore>,
    /// `None` once the end is written.
    entry: Option<AuditEntry>,
    begun: Instant,
    has_started: bool,
}

impl Broker {
    /// Writes that a run begins, before it does. `operation` says what kind of run it is, `target` what runs,
    /// and `reason` what else there is to know.
    ///
    /// # Errors
    ///
    /// If the line cannot be written, or if lines before it could not: then nothing may run.
    pub fn record_run(
        &self,
        operation: &'static str,
        target: impl Into<String>,
        reason: impl Into<String>,
    ) -> io::Result<RunRecord> {
        let inner = &self.inner;
        let note = AuditNote::new(operation, target, AuditDecision::Allow, reason);
        let entry = AuditEntry {
            handle: inner.handle.clone(),
            ..note.into_entry(inner.tool.as_str(), inner.call.as_str())
        };
        let written = inner.try_audit(entry.clone());
        let record = RunRecord {
            inner: Arc::clone(inner),
            entry: Some(entry),
            begun: Instant::now(),
            has_started: false,
        };
        // If it fails, the record goes: should the line reach the log later, one follows that says that
        // nothing was started.
        written.and_then(|()| self.check_log())?;
        Ok(record)
    }

    /// Writes the lines that wait.
    ///
    /// # Errors
    ///
    /// If the log cannot be written: what is done next would not be in it.
    pub fn check_log(&self) -> io::Result<()> {
        self.inner.flush()
    }

    /// Whether there is a line about this call.
    pub fn is_in_log(&self) -> bool {
        self.inner.is_in_log()
    }
}

impl RunRecord {
    /// Notes that what the record is about runs. One that goes before says that it was not started.
    pub fn started(&mut self) {
        self.has_started = true;
    }

    /// Writes a line about something that happened in the run.
    pub fn note(&self, note: AuditNote) {
        let Some(of) = &self.entry else {
            return;
        };
        self.inner.audit(AuditEntry {
            handle: of.handle.clone(),
            ..note.into_entry(of.tool.as_str(), of.call.as_str())
        });
    }

    /// Writes how the run ended: `outcome` in one word (`ok`, `error`, `cancelled`), `how` in a few.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn end(mut self, outcome: &str, how: impl fmt::Display) -> io::Result<()> {
        self.close(outcome, &how.to_string())
    }

    fn close(&mut self, outcome: &str, how: &str) -> io::Result<()> {
        let Some(mut entry) = self.entry.take() else {
            return Ok(());
        };
        entry.end(outcome, self.begun.elapsed());
        entry.reason = how.to_owned();
        self.inner.try_audit(entry)?;
        self.inner.flush()
    }
}

impl Drop for RunRecord {
    fn drop(&mut self) {
        let (outcome, how) = match self.has_started {
            true => ("abandoned", "it was given up"),
            false => ("not_started", "it was not started"),
        };
        // Whoever dropped it cannot be told; the sink keeps the line, and says so next time.
        let _ = self.close(outcome, how);
    }
}

impl fmt::Debug for RunRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunRecord").finish_non_exhaustive()
    }
}
