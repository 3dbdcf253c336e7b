//! The audit log: one line of JSON per decision.
//!
//! A line says who asked for what, what was decided by which rule, and how it ended. It never holds
//! file contents, the query of a URL or a secret. [`FileSink`] writes lines, [`AuditReader`] reads
//! them back; nothing here prints. A [`AuditNote`] is a line about something that no rule is asked about, a
//! [`RunRecord`] the two lines about a run.

#[cfg(unix)]
mod file;
mod note;
#[cfg(unix)]
mod reader;
mod run_record;

use std::fmt;
use std::io;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

#[cfg(unix)]
pub use file::{FileSink, FileSinkOptions};
pub use note::AuditNote;
#[cfg(unix)]
pub use reader::AuditReader;
pub use run_record::RunRecord;

use jig_proto::visible_json;

/// One decision, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// When the request was judged, or what it began was over; in UTC, written with milliseconds.
    #[serde(with = "milliseconds")]
    pub time: Timestamp,
    /// The tool that asked.
    pub tool: String,
    /// The call in which it asked.
    #[serde(default)]
    pub call: String,
    /// The handle of the call, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// The method, such as `fs.read`.
    #[serde(default)]
    pub operation: String,
    /// On what: a path of the workspace, a URL without its query, a command line.
    #[serde(default)]
    pub target: String,
    /// The answer.
    pub decision: AuditDecision,
    /// Why, in words.
    #[serde(default)]
    pub reason: String,
    /// The rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Where that rule was declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The smallest rule that would allow what was refused, as TOML.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    // The last two are what a draft leaves open.
    /// How it ended: `ok`, the kind of the error, or `abandoned`. Absent if nothing was done. A program that
    /// stays has a second line when it is over: `ended`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// How long it took, in microseconds. In a second line: how long it was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_us: Option<u64>,
}

/// The answer to a request, as the log has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum AuditDecision {
    /// It was done, or tried.
    Allow,
    /// It was refused.
    Deny,
    /// No rule speaks of it; somebody is asked.
    Uncovered,
}

impl AuditDecision {
    /// The word in the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Uncovered => "uncovered",
        }
    }
}

impl fmt::Display for AuditDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl AuditEntry {
    /// The entry as one line, its line end included.
    ///
    /// Control characters are escaped as JSON does it, so that a name in it can neither forge a
    /// line nor move a terminal's cursor. Long texts are shortened: at most [`MAX_LINE`] bytes come
    /// out, so that a line is one write.
    pub fn to_line(&self) -> String {
        let line = self.json_line();
        // A line of that length has no text that is longer. That is nearly every one, and a request
        // waits for it.
        if line.len() <= MAX_TEXT {
            return line;
        }
        let mut entry = self.clone();
        let mut limit = MAX_TEXT;
        loop {
            entry.shorten(limit);
            let line = entry.json_line();
            if line.len() <= MAX_LINE || limit == 0 {
                return line;
            }
            limit /= 2;
        }
    }

    /// Tells whoever watches this process by `tracing`: refusals, runs and answers at the level `info`, permitted
    /// requests at `debug`.
    ///
    /// The log is for its owner; this may end up in a report of a bug. So it has no reason, because a reason can repeat
    /// arguments, and of the target only what `traced_target` leaves.
    pub fn trace(&self) {
        let is_request = self.decision == AuditDecision::Allow && self.operation.contains('.');
        if is_request && !self.operation.starts_with("ask.") && self.operation != "mcp.start" {
            tracing::debug!(
                tool = self.tool,
                operation = self.operation,
                on = self.traced_target(),
                rule = self.rule,
                origin = self.origin,
                outcome = self.outcome,
                duration_us = self.duration_us,
                "allowed"
            );
        } else {
            tracing::info!(
                tool = self.tool,
                operation = self.operation,
                on = self.traced_target(),
                decision = self.decision.name(),
                rule = self.rule,
                origin = self.origin,
                outcome = self.outcome,
                duration_us = self.duration_us,
                "decided"
            );
        }
    }

    /// The path of a request on files, the host of one on the network, the program of one on programs; nothing of
    /// others, whose targets may hold arguments.
    fn traced_target(&self) -> Option<&str> {
        let target = self.target.as_str();
        match self.operation.split_once('.')?.0 {
            "fs" => Some(target),
            "http" | "net" => {
                let start = target.find("://").map_or(0, |scheme| scheme + 3);
                let host = target[start..].split(['/', '?', '#', ' ']).next()?;
                host.rsplit('@').next()
            }
            "process" => target.split_whitespace().next(),
            _ => None,
        }
    }

    /// Notes how what the line is about ended, now, and how long it took.
    pub fn end(&mut self, outcome: &str, took: Duration) {
        self.time = Timestamp::now();
        self.outcome = Some(outcome.to_owned());
        self.duration_us = Some(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }

    fn json_line(&self) -> String {
        let mut line = visible_json(serde_json::to_string(self).unwrap_or_default());
        line.push('\n');
        line
    }

    fn shorten(&mut self, limit: usize) {
        let texts = [
            Some(&mut self.tool),
            Some(&mut self.call),
            self.handle.as_mut(),
            Some(&mut self.operation),
            Some(&mut self.target),
            Some(&mut self.reason),
            self.rule.as_mut(),
            self.origin.as_mut(),
            self.outcome.as_mut(),
        ];
        // Half a rule would be another rule.
        self.hint.take_if(|hint| hint.len() > limit);
        for text in texts.into_iter().flatten() {
            if text.len() > limit {
                text.truncate(text.floor_char_boundary(limit));
                text.push('…');
            }
        }
    }
}

/// Where entries go.
///
/// A sink is used by several threads at once and must be quick: a request waits for it.
pub trait AuditSink: fmt::Debug + Send + Sync {
    /// Takes one entry.
    fn record(&self, entry: &AuditEntry) -> io::Result<()>;

    /// Writes what was taken and is not written yet. Whoever runs a tool calls it while the tool is
    /// at work, and before the end.
    fn flush(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NullSink;

impl AuditSink for NullSink {
    fn record(&self, _: &AuditEntry) -> io::Result<()> {
        Ok(())
    }
}

/// What happens to a tool's requests once an entry could not be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnAuditFailure {
    /// They go on, and [`Broker::take_audit_failure`](crate::Broker::take_audit_failure) tells of
    /// the first failure.
    #[default]
    Report,
    /// Every later request is refused. What was under way when it happened is not undone.
    Refuse,
}

/// Which entries a reader wants; the default is all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Only those of this tool.
    pub tool: Option<String>,
    /// Only those of this call.
    pub call: Option<String>,
    /// Only those with this answer.
    pub decision: Option<AuditDecision>,
    /// Not those before.
    pub since: Option<Timestamp>,
    /// Not those at or after.
    pub until: Option<Timestamp>,
}

impl AuditFilter {
    /// Whether the entry is wanted.
    pub fn wants(&self, entry: &AuditEntry) -> bool {
        self.tool.as_ref().is_none_or(|tool| *tool == entry.tool)
            && self.call.as_ref().is_none_or(|call| *call == entry.call)
            && self
                .decision
                .is_none_or(|decision| decision == entry.decision)
            && self.since.is_none_or(|since| since <= entry.time)
            && self.until.is_none_or(|until| entry.time < until)
    }
}

mod milliseconds {
    use jiff::Timestamp;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{time:.3}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The longest line. A tool chooses paths, URLs and arguments: without a limit one request could
/// fill the disk, and a line that takes several writes could be torn by another process.
pub const MAX_LINE: usize = 8 * 1024;

/// The longest single text of an entry, before any further shortening.
const MAX_TEXT: usize = 4 * 1024;

/// The file that is written, in the directory of the log.
#[cfg(unix)]
const LOG_NAME: &str = "audit.jsonl";

#[cfg(test)]
mod tests;
