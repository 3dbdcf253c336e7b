use serde_json::{Value, json};

use super::ToolError;

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
