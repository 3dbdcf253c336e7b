use serde_json::json;

use super::{NoticeSettings, actions_of};
use crate::model::Parameter;

#[test]
fn s_082_nothing_said_is_both_notices() {
    let both = NoticeSettings {
        stopped: true,
        waiting: true,
    };
    assert_eq!(NoticeSettings::read(None), both);
}

/// Which parameters are the `action` of the protocol, and which the tool's own.
#[test]
fn s_056_x_21_parameters_named_action() {
    let check = |values: serde_json::Value, expected: Option<&str>| {
        let parameter = Parameter {
            values: values.as_array().cloned().unwrap_or_default(),
            ..Parameter::default()
        };
        let found = actions_of(&parameter).map(|actions| actions.to_string());
        assert_eq!(found.as_deref(), expected, "{values}");
    };
    check(json!(["spawn"]), Some("spawn"));
    check(
        json!(["abort", "spawn", "fetch"]),
        Some("spawn, fetch, abort"),
    );
    check(
        json!(["spawn", "fetch", "apply", "abort"]),
        Some("spawn, fetch, apply, abort"),
    );
    // Any value, a choice of others, without `spawn`, or not of names alone.
    check(json!([]), None);
    check(json!(["create", "next", "prev"]), None);
    check(json!(["spawn", "fetch", "pause"]), None);
    check(json!(["fetch", "abort"]), None);
    check(json!(["spawn", 1]), None);
    check(json!(["Spawn"]), None);
}
