//! The last lines of a caller's audit log.

use std::io;
use std::sync::{Arc, Mutex};

use jig_broker::{AuditDecision, AuditEntry, AuditSink};
use jig_engine::{Call, Nobody};
use serde_json::{Value, json};

use super::AuditTail;
use crate::testing;

#[derive(Debug, Default)]
struct Log(Mutex<Vec<String>>);

impl AuditSink for Log {
    fn record(&self, entry: &AuditEntry) -> io::Result<()> {
        self.0.lock().expect("nobody panics").push(entry.to_line());
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }
}

fn entry(target: String) -> AuditEntry {
    let time = json!("2026-01-01T00:00:00.000Z");
    let entry = json!({ "time": time, "tool": "t", "target": target, "decision": "allow" });
    serde_json::from_value(entry).expect("an entry")
}

#[test]
fn the_last_lines_are_kept_and_all_are_passed_on() {
    let (tail, log) = (Arc::new(AuditTail::default()), Arc::new(Log::default()));
    let sink = tail.before(log.clone());
    let mut changes = tail.changes();
    for number in 0..AuditTail::LENGTH + 5 {
        let entry = entry(format!("{number}"));
        sink.record(&entry).expect("recorded");
    }
    assert!(changes.has_changed().expect("the tail lives"));
    assert_eq!(*changes.borrow_and_update(), 205);
    let all = log.0.lock().expect("nobody panics").clone();
    assert_eq!(all.len(), 205);
    assert_eq!(tail.text(), all[5..].concat());
    // What the real log says comes back.
    assert!(sink.flush().is_err());
}

#[test]
fn a_tool_that_asks_for_long_names_does_not_fill_the_memory() {
    let tail = Arc::new(AuditTail::default());
    let sink = tail.before(Arc::new(Log::default()));
    let long = entry("ü".repeat(1 << 14));
    for _ in 0..AuditTail::LENGTH {
        sink.record(&long).expect("recorded");
    }
    assert!(tail.text().len() <= AuditTail::LENGTH * jig_broker::MAX_LINE);
    assert_eq!(tail.text().lines().count(), AuditTail::LENGTH);
}

#[test]
fn each_caller_sees_what_its_own_tools_asked_for() {
    let shared = testing::server(&[], &[("a.txt", "a")]);
    let (one, other) = (testing::caller(), testing::caller());
    let call = Call::new("fs_read_file", json!({ "path": "a.txt" }));
    one.engine(&shared)
        .call(call, &mut Nobody)
        .expect("it may be read");
    let text = one.tail.text();
    let line: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    assert_eq!(line["tool"], "fs_read_file");
    assert_eq!(line["target"], "a.txt");
    assert_eq!(line["decision"], AuditDecision::Allow.name());
    assert_eq!(other.tail.text(), "");
}
