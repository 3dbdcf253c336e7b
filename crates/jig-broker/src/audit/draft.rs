//! [`AuditDraft`]: a line that waits for its end.

use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use super::{AuditEntry, AuditSink, MAX_TEXT};

/// An entry about something that is under way, with its line written as far as it can be.
///
/// A caller waits for the end of what it is about, and for the line of that. While there is nothing to do but wait,
/// there is time to write most of it.
#[derive(Debug)]
pub struct AuditDraft {
    entry: AuditEntry,
    /// What stands between the time and the outcome; `None` if there is too much of it.
    middle: Option<String>,
}

impl AuditDraft {
    /// A draft of this entry. How it ends is not said yet.
    pub fn new(mut entry: AuditEntry) -> Self {
        entry.outcome = None;
        entry.duration_us = None;
        Self {
            middle: middle(&entry),
            entry,
        }
    }

    /// Notes how it ended, now, and how long it took, and hands it to a sink.
    ///
    /// # Errors
    ///
    /// As for [`AuditSink::record`].
    pub fn end(mut self, outcome: &str, took: Duration, sink: &dyn AuditSink) -> io::Result<()> {
        self.entry.end(outcome, took);
        match self.line() {
            Some(line) => sink.record_line(&self.entry, &line),
            None => sink.record(&self.entry),
        }
    }

    /// The line, if it is a plain one.
    pub(super) fn line(&self) -> Option<String> {
        let AuditEntry {
            time,
            outcome: Some(outcome),
            duration_us: Some(took),
            ..
        } = &self.entry
        else {
            return None;
        };
        let middle = self.middle.as_deref()?;
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b' ';
        if !outcome.bytes().all(is_word) {
            return None;
        }
        let mut line = String::with_capacity(middle.len() + outcome.len() + 96);
        line.push_str(BEGINNING);
        write!(line, "{time:.3}").ok()?;
        line.push_str(middle);
        line.push_str(",\"outcome\":\"");
        line.push_str(outcome);
        line.push_str("\",\"duration_us\":");
        write!(line, "{took}").ok()?;
        line.push_str("}\n");
        (line.len() <= MAX_TEXT).then_some(line)
    }
}

/// The line of an entry without its end, from behind the time.
fn middle(entry: &AuditEntry) -> Option<String> {
    let line = entry.json_line();
    if line.len() > MAX_TEXT {
        return None;
    }
    let line = line.strip_prefix(BEGINNING)?.strip_suffix("}\n")?;
    // No time has a quote in it.
    let end = line.find('"')?;
    Some(line[end..].to_owned())
}

/// How every line begins.
const BEGINNING: &str = "{\"time\":\"";
