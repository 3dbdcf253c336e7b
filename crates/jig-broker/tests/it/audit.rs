//! Every decision leaves one line.

use std::sync::atomic::Ordering;

use jig_broker::{ApprovalScope, AuditDecision, Broker, JudgedRequest, OnAuditFailure};
use jig_proto::vfs::ErrorKind;

use crate::world::{World, ask, delete, kind, read, write};

fn lines(world: &World) -> Vec<(String, String, AuditDecision, Option<String>)> {
    let entries = world.log.entries().into_iter();
    entries
        .map(|entry| (entry.operation, entry.target, entry.decision, entry.outcome))
        .collect()
}

fn line(
    operation: &str,
    target: &str,
    decision: AuditDecision,
    outcome: Option<&str>,
) -> (String, String, AuditDecision, Option<String>) {
    (
        operation.to_owned(),
        target.to_owned(),
        decision,
        outcome.map(str::to_owned),
    )
}

#[test]
fn every_way_a_request_can_end_is_one_line() {
    let world = World::in_memory()
        .with("a", "content-of-a")
        .with("secret", "s")
        .allow(".", "r")
        .allow("out", "c")
        .allow("secret", "");
    let broker = world.broker();
    let _ = ask(&broker, &read("a"));
    let _ = ask(&broker, &read("none"));
    let _ = ask(&broker, &read("secret"));
    let _ = ask(&broker, &read("../x"));
    let _ = ask(&broker, &read("a\0"));
    let _ = ask(&broker, &write("out/x", "content-of-x"));
    drop(broker.judge(&read("a")));
    assert_eq!(
        lines(&world),
        [
            line("fs.read", "a", AuditDecision::Allow, Some("ok")),
            line("fs.read", "none", AuditDecision::Allow, Some("not_found")),
            line("fs.read", "secret", AuditDecision::Deny, None),
            line("fs.read", "../x", AuditDecision::Deny, None),
            line("fs.write", "out/x", AuditDecision::Allow, Some("ok")),
            line("fs.read", "a", AuditDecision::Allow, Some("abandoned")),
        ]
    );
    let entries = world.log.entries();
    assert_eq!(entries[0].rule.as_deref(), Some("read on `.`"));
    assert_eq!(entries[0].origin.as_deref(), Some("jig.toml:1"));
    assert_eq!(
        (entries[0].tool.as_str(), entries[0].call.as_str()),
        ("editor", "c1")
    );
    assert!(entries[0].duration_us.is_some());
    assert!(!format!("{entries:?}").contains("content-of"));
}

#[test]
fn an_approval_is_two_lines() {
    let world = World::in_memory();
    let JudgedRequest::Uncovered(inquiry) = world.broker().judge(&write("a", "x")) else {
        panic!("nothing covers it");
    };
    let JudgedRequest::Ready(work) = inquiry.approve(ApprovalScope::Once) else {
        panic!("it was approved");
    };
    assert!(work.perform().is_ok());
    let _ = world.ask(&delete("a", false));
    assert_eq!(
        lines(&world),
        [
            line("fs.write", "a", AuditDecision::Uncovered, None),
            line("fs.write", "a", AuditDecision::Allow, Some("ok")),
            line("fs.delete", "a", AuditDecision::Uncovered, None),
            line("fs.delete", "a", AuditDecision::Deny, None),
        ]
    );
    let entries = world.log.entries();
    assert!(
        entries[1].reason.starts_with("approved once"),
        "{}",
        entries[1].reason
    );
}

#[test]
fn a_log_that_cannot_be_written_is_reported_once_or_closes_the_door() {
    let world = World::in_memory().with("a", "a");
    world.log.fails.store(true, Ordering::SeqCst);
    let broker = world.broker();
    assert!(ask(&broker, &read("a")).is_ok());
    assert!(ask(&broker, &read("a")).is_ok());
    assert!(broker.take_audit_failure().is_some());
    assert!(broker.take_audit_failure().is_none());

    let mut parts = world.parts();
    parts.on_audit_failure = OnAuditFailure::Refuse;
    let broker = Broker::new(parts);
    assert!(ask(&broker, &read("a")).is_ok());
    assert_eq!(kind(ask(&broker, &read("a"))), Err(ErrorKind::Internal));
}
