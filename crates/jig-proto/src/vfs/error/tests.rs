use serde_json::{Value, json};

use super::{ErrorKind, ErrorReply, WireError};
use crate::text::read_object;
use crate::vfs::write::ObjectWriter;

fn written(error: &ErrorReply) -> String {
    let mut out = Vec::new();
    error.write(ObjectWriter::open(&mut out));
    String::from_utf8(out).unwrap()
}

fn read(json: &Value) -> ErrorReply {
    let text = json.to_string();
    let wire: WireError<'_> = read_object(&text).unwrap();
    wire.into()
}

#[test]
fn v150_to_v158_x58_every_kind_has_its_code() {
    let check = |code: i64, names: &[&str]| {
        let of_code = ErrorKind::ALL
            .into_iter()
            .filter(|kind| kind.code() == code);
        let found: Vec<&str> = of_code.map(ErrorKind::name).collect();
        assert_eq!(found, names, "{code}");
    };
    check(-32600, &["invalid_request", "line_too_long"]);
    check(-32601, &["method_not_found"]);
    check(
        -32602,
        &[
            "invalid_params",
            "is_dir",
            "not_dir",
            "no_match",
            "ambiguous",
            "unknown_process",
            "process_ended",
        ],
    );
    check(-32603, &["internal"]);
    check(
        -32001,
        &[
            "denied_by_rule",
            "uncovered",
            "approval_denied",
            "approval_unavailable",
            "approval_timeout",
            "escape",
            "protected",
            "sensitive",
        ],
    );
    check(-32002, &["not_found"]);
    check(-32003, &["already_exists", "stale"]);
    check(-32004, &["timeout"]);
    check(-32005, &["cancelled"]);
    check(-32006, &["too_large"]);
    let counted = [2, 1, 7, 1, 8, 1, 2, 1, 1, 1];
    assert_eq!(counted.iter().sum::<usize>(), ErrorKind::ALL.len());
}

#[test]
fn every_constructor_writes_its_kind_and_sentence() {
    use crate::vfs::Method;

    let check = |error: ErrorReply, kind: ErrorKind, message: &str| {
        assert_eq!(
            (error.kind(), error.code()),
            (kind, kind.code()),
            "{message}"
        );
        assert_eq!(error.to_string(), message);
        let json: Value = serde_json::from_str(&written(&error)).unwrap();
        assert_eq!(json["data"]["kind"], kind.name());
        assert_eq!(read(&json), error);
    };
    use ErrorKind as Kind;
    use ErrorReply as Error;
    check(
        Error::invalid_request("it is a list"),
        Kind::InvalidRequest,
        "invalid request: it is a list",
    );
    check(
        Error::line_too_long(16),
        Kind::LineTooLong,
        "invalid request: the line is longer than 16 bytes",
    );
    check(
        Error::method_not_found("fs.chmod"),
        Kind::MethodNotFound,
        "there is no method \"fs.chmod\"",
    );
    check(
        Error::method_not_found("http_get"),
        Kind::MethodNotFound,
        "there is no method \"http_get\": it is called `http.get`",
    );
    check(
        Error::invalid_params(Method::FsRead, "missing field `path`"),
        Kind::InvalidParams,
        "invalid parameters of `fs.read`: missing field `path`",
    );
    check(Error::is_dir("src"), Kind::IsDir, "\"src\" is a directory");
    check(
        Error::not_dir("a"),
        Kind::NotDir,
        "\"a\" is not a directory",
    );
    check(
        Error::no_match("a", 2),
        Kind::NoMatch,
        "\"a\" does not hold the text `old` of edit 2",
    );
    check(
        Error::ambiguous("a", 2, 3),
        Kind::Ambiguous,
        "\"a\" holds the text `old` of edit 2 3 times",
    );
    check(
        Error::internal("the disk is full"),
        Kind::Internal,
        "the host failed: the disk is full",
    );
    check(
        Error::denied_by_rule("read of \"x\"", "access.fs[1]"),
        Kind::DeniedByRule,
        "access denied: read of \"x\"",
    );
    check(Error::uncovered("x"), Kind::Uncovered, "access denied: x");
    check(
        Error::approval_denied("x"),
        Kind::ApprovalDenied,
        "access denied: x",
    );
    check(
        Error::approval_unavailable("x"),
        Kind::ApprovalUnavailable,
        "access denied: x",
    );
    check(
        Error::approval_timeout("x"),
        Kind::ApprovalTimeout,
        "access denied: x",
    );
    check(
        Error::escape("../x"),
        Kind::Escape,
        "access denied: path \"../x\" leads out of the workspace",
    );
    check(
        Error::protected("jig.toml"),
        Kind::Protected,
        "access denied: path \"jig.toml\" is never open to a tool",
    );
    check(
        Error::sensitive(".env"),
        Kind::Sensitive,
        "access denied: path \".env\" is sensitive, and no rule names it",
    );
    check(
        Error::not_found("a"),
        Kind::NotFound,
        "\"a\" does not exist",
    );
    check(
        Error::already_exists("a"),
        Kind::AlreadyExists,
        "\"a\" already exists",
    );
    check(Error::stale("a"), Kind::Stale, "\"a\" has changed");
    check(
        Error::timeout("the request"),
        Kind::Timeout,
        "the request took too long",
    );
    check(
        Error::cancelled(),
        Kind::Cancelled,
        "the request was cancelled",
    );
    check(
        Error::too_large("\"a\"", 11, 10),
        Kind::TooLarge,
        "\"a\" has 11 bytes; the limit is 10",
    );
}

#[test]
fn data_is_for_programs() {
    let error = ErrorReply::denied_by_rule("read of \"x\"", "access.fs[1]")
        .with_path("x")
        .with_hint("add a rule")
        .with_retryable(true);
    assert_eq!(
        written(&error),
        r#"{"code":-32001,"message":"access denied: read of \"x\"","data":{"kind":"denied_by_rule","path":"x","rule":"access.fs[1]","hint":"add a rule","retryable":true}}"#
    );
    assert_eq!(
        written(&ErrorReply::cancelled()),
        r#"{"code":-32005,"message":"the request was cancelled","data":{"kind":"cancelled","retryable":false}}"#
    );
    let taught = ErrorReply::uncovered("read on `x`")
        .with_wanted("read", "x")
        .with_grants(vec!["read on `src`".to_owned()]);
    assert_eq!(
        written(&taught),
        r#"{"code":-32001,"message":"access denied: read on `x`","data":{"kind":"uncovered","operation":"read","target":"x","grants":["read on `src`"],"retryable":false}}"#
    );
    assert_eq!(
        read(&serde_json::from_str(&written(&taught)).unwrap()),
        taught
    );
    let retryable: Vec<&str> = ErrorKind::ALL
        .into_iter()
        .filter(|&kind| ErrorReply::new(kind, "").data.retryable)
        .map(ErrorKind::name)
        .collect();
    assert_eq!(retryable, ["approval_timeout", "timeout"]);
}

#[test]
fn errors_of_other_hosts_are_understood() {
    let check = |json: Value, code: i64, kind: ErrorKind| {
        let error = read(&json);
        assert_eq!((error.code(), error.kind()), (code, kind), "{json}");
    };
    check(
        json!({"code": -32001, "message": "no"}),
        -32001,
        ErrorKind::Uncovered,
    );
    check(json!({"code": -32002}), -32002, ErrorKind::NotFound);
    check(
        json!({"code": -32003, "message": null}),
        -32003,
        ErrorKind::AlreadyExists,
    );
    check(json!({"code": -32700}), -32700, ErrorKind::InvalidRequest);
    check(json!({"code": -1}), -1, ErrorKind::Internal);
    // Data that is not ours, and a kind that is not ours yet.
    for data in [
        json!("text"),
        json!([1]),
        json!({"kind": 7}),
        json!({"kind": "melted"}),
        json!(null),
    ] {
        check(
            json!({"code": -32004, "data": data}),
            -32004,
            ErrorKind::Timeout,
        );
    }
    let error = read(&json!({"code": -32003, "data": {"kind": "stale", "path": "a", "more": 1}}));
    assert_eq!(error.kind(), ErrorKind::Stale);
    assert_eq!(error.data.path.as_deref(), Some("a"));

    assert!(read_object::<WireError<'_>>(r#"{"message":"x"}"#).is_err());
    assert!(read_object::<WireError<'_>>(r#"{"code":"-32001"}"#).is_err());
    assert!(read_object::<WireError<'_>>(r#"[-32001,"x"]"#).is_err());
}

#[test]
fn x07_a_name_of_a_tool_is_shortened_and_escaped() {
    let error = ErrorReply::method_not_found(&format!("\u{1b}{}", "x".repeat(10_000)));
    assert!(error.message.len() < 300, "{}", error.message);
    assert!(!error.message.contains('\u{1b}'));
}
