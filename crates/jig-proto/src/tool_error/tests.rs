use serde_json::{Value, json};

use super::ToolError;
use crate::{Denial, HandleReport, ToolState};

#[test]
fn v030_s022_trace_and_transient_have_defaults() {
    let check = |input: Value, message: &str, trace: &[&str], transient: bool| {
        let error: ToolError = serde_json::from_value(input).unwrap();
        assert_eq!(error.message, message);
        assert_eq!(error.trace, trace);
        assert_eq!(error.transient, transient);
        let written = serde_json::to_value(&error).unwrap();
        assert_eq!(
            written,
            json!({"message": message, "trace": trace, "transient": transient})
        );
    };
    let full = json!({"message": "Failed to parse input", "trace": ["..."], "transient": false});
    check(full, "Failed to parse input", &["..."], false);
    check(json!({"message": "m"}), "m", &[], false);
    check(
        json!({"message": "m", "trace": null, "transient": null}),
        "m",
        &[],
        false,
    );
    check(
        json!({"message": "m", "transient": true, "more": 1}),
        "m",
        &[],
        true,
    );
    check(json!({"message": ""}), "", &[], false);
}

#[test]
fn a_malformed_error_says_what_was_expected_and_where() {
    let check = |input: Value, expected: &str| {
        let error = serde_json::from_value::<ToolError>(input).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    check(json!({}), "`message` is missing: expected a string");
    check(
        json!({"message": 1}),
        "`message`: expected a string, found the number 1",
    );
    check(
        json!({"message": "m", "trace": "t"}),
        "`trace`: expected a list, found the string \"t\"",
    );
    check(
        json!({"message": "m", "trace": ["a", {}]}),
        "`trace[1]`: expected a string, found an object",
    );
    check(
        json!({"message": "m", "transient": "yes"}),
        "`transient`: expected `true` or `false`, found the string \"yes\"",
    );
    check(
        json!([]),
        "`$`: expected an object with `message`, found an empty list",
    );
}

#[test]
fn denials_are_told_by_jig_and_never_read_from_a_tool() {
    let mut error = ToolError::new("m");
    error
        .denials
        .push(Denial::new("read", "a", "no rule grants it"));
    let written = serde_json::to_value(&error).unwrap();
    assert_eq!(
        written["denials"],
        json!([{"operation": "read", "target": "a", "why": "no rule grants it"}])
    );
    let read: ToolError = serde_json::from_value(written).unwrap();
    assert_eq!(read, ToolError::new("m"));
    // Also not what is no denial at all.
    let odd = json!({"message": "m", "denials": 7});
    assert_eq!(
        serde_json::from_value::<ToolError>(odd).unwrap(),
        ToolError::new("m")
    );
    assert_eq!(error.explain(), "m\ndenied: read on `a`: no rule grants it");
}

#[test]
fn a_report_keeps_the_denials() {
    let mut error = ToolError::new("m");
    error
        .denials
        .push(Denial::new("read", "a", "no rule grants it"));
    let report = HandleReport::new("h_1".parse().unwrap(), ToolState::failed(error));
    let written = serde_json::to_value(&report).unwrap();
    assert_eq!(HandleReport::read(written.clone()).unwrap().value, report);
    let mut odd = written;
    odd["error"]["denials"] = json!([7]);
    let expected = "`error.denials[0]`: expected an object with `operation`, `target` and `why`, found the number 7";
    assert_eq!(HandleReport::read(odd).unwrap_err().to_string(), expected);
}
