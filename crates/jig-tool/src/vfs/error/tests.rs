use std::io;

use jig_proto::ToolError;
use jig_proto::vfs::{ErrorKind, ErrorReply};

use super::HostError;
use crate::vfs::RequestError;

fn check(error: impl Into<HostError>, expected: &str, transient: bool) {
    let tool_error = ToolError::from(error.into());
    assert_eq!(tool_error.message, expected);
    assert_eq!(tool_error.transient, transient);
}

#[test]
fn v131_a_denial_keeps_its_explanation_on_the_way_to_the_caller() {
    let denied = || ErrorReply::denied_by_rule("write on `a`", "`.` read-only (jig.toml:3)");
    check(
        denied(),
        "access denied: write on `a`\nrule: `.` read-only (jig.toml:3)",
        false,
    );
    check(
        denied().with_hint("add `write = true`"),
        "access denied: write on `a`\nrule: `.` read-only (jig.toml:3)\nhint: add `write = true`",
        false,
    );
    // What the sentence says is not said twice.
    check(
        ErrorReply::denied_by_rule("write on `a`, by jig.toml:3", "jig.toml:3"),
        "access denied: write on `a`, by jig.toml:3",
        false,
    );
    check(
        ErrorReply::timeout("the request"),
        "the request took too long",
        true,
    );
}

#[test]
fn a_lost_connection_keeps_its_cause() {
    let lost = RequestError::Disconnected(io::Error::other("the cable is cut"));
    let error = ToolError::from(HostError::from(lost));
    assert_eq!(error.message, "the connection to the host is lost");
    assert_eq!(error.trace, ["the cable is cut"]);
}

#[test]
fn kinds_have_names() {
    let is = |kind, predicate: fn(&HostError) -> bool| predicate(&HostError::new(kind, ""));
    for kind in ErrorKind::ALL {
        assert_eq!(is(kind, HostError::is_denied), kind.code() == -32001);
        assert_eq!(
            is(kind, HostError::is_not_found),
            kind == ErrorKind::NotFound
        );
        assert_eq!(
            is(kind, HostError::is_already_there),
            kind == ErrorKind::AlreadyExists
        );
        assert_eq!(is(kind, HostError::is_dir), kind == ErrorKind::IsDir);
        assert_eq!(is(kind, HostError::is_stale), kind == ErrorKind::Stale);
        assert_eq!(
            is(kind, HostError::is_too_large),
            kind == ErrorKind::TooLarge
        );
        assert_eq!(
            is(kind, HostError::is_cancelled),
            kind == ErrorKind::Cancelled
        );
    }
}

#[test]
fn a_denial_says_what_was_wanted_and_what_is_granted() {
    let reply = ErrorReply::uncovered("read on `a`")
        .with_wanted("read", "a")
        .with_grants(vec!["read on `src`".to_owned()]);
    let refused = HostError::from(reply).refused.unwrap();
    assert_eq!(
        (refused.operation.as_str(), refused.target.as_str()),
        ("read", "a")
    );
    assert_eq!(refused.grants, ["read on `src`"]);
    assert_eq!(HostError::from(ErrorReply::not_found("a")).refused, None);
}
