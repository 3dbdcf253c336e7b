//! [`AuditTail`]: the last lines of one caller's audit log.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use jig_broker::{AuditEntry, AuditSink};
use tokio::sync::watch;

/// The last lines of one caller's audit log, for the caller to read.
///
/// It stands before the sink that writes the log ([`before`](Self::before)), so it holds what this caller's
/// tools asked for, and nothing of other callers.
pub(crate) struct AuditTail {
    lines: Mutex<VecDeque<TailEntry>>,
    /// How many entries there ever were.
    count: watch::Sender<u64>,
}

/// An entry. One that is no line yet becomes one when somebody reads it: a request waits for `record`.
#[expect(clippy::large_enum_variant, reason = "there are few")]
enum TailEntry {
    Entry(AuditEntry),
    /// The line of an entry with a long text, which is cut there.
    Line(String),
}

impl AuditTail {
    /// How many entries are kept.
    pub(crate) const LENGTH: usize = 200;

    /// A sink that keeps entries here, and passes them on to `next`.
    pub(crate) fn before(self: &Arc<Self>, next: Arc<dyn AuditSink>) -> Arc<dyn AuditSink> {
        Arc::new(TailSink {
            tail: Arc::clone(self),
            next,
        })
    }

    /// The entries as the log has them, one line of JSON each, oldest first.
    pub(crate) fn text(&self) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        for kept in &*lines {
            match kept {
                TailEntry::Entry(entry) => text.push_str(&entry.to_line()),
                TailEntry::Line(line) => text.push_str(line),
            }
        }
        text
    }

    /// Tells of every entry, by how many there were.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.count.subscribe()
    }

    /// How many wait for entries.
    #[cfg(test)]
    pub(crate) fn listeners(&self) -> usize {
        self.count.receiver_count()
    }

    fn keep(&self, entry: &AuditEntry) {
        // A tool chooses paths and URLs. Only what is short is kept as it is.
        self.push(match text_bytes(entry) <= MAX_PLAIN {
            true => TailEntry::Entry(entry.clone()),
            false => TailEntry::Line(entry.to_line()),
        });
    }

    fn push(&self, kept: TailEntry) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == Self::LENGTH {
            lines.pop_front();
        }
        lines.push_back(kept);
        drop(lines);
        self.count.send_modify(|count| *count += 1);
    }
}

impl Default for AuditTail {
    fn default() -> Self {
        Self {
            lines: Mutex::default(),
            count: watch::Sender::new(0),
        }
    }
}

/// The sink before another one.
struct TailSink {
    tail: Arc<AuditTail>,
    next: Arc<dyn AuditSink>,
}

impl AuditSink for TailSink {
    fn record(&self, entry: &AuditEntry) -> io::Result<()> {
        self.tail.keep(entry);
        self.next.record(entry)
    }

    fn flush(&self) -> io::Result<()> {
        self.next.flush()
    }
}

impl fmt::Debug for TailSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Before")
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

fn text_bytes(entry: &AuditEntry) -> usize {
    let texts = [
        Some(&entry.tool),
        Some(&entry.call),
        entry.handle.as_ref(),
        Some(&entry.operation),
        Some(&entry.target),
        Some(&entry.reason),
        entry.rule.as_ref(),
        entry.origin.as_ref(),
        entry.hint.as_ref(),
        entry.outcome.as_ref(),
    ];
    texts.into_iter().flatten().map(String::len).sum()
}

/// The most text of an entry that is kept as it is, in bytes.
const MAX_PLAIN: usize = 4 * 1024;

#[cfg(test)]
mod tests;
