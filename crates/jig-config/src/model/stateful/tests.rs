use jig_proto::ToolAction;
use serde_json::json;

use super::{Notices, RunModes, actions_of};
use crate::model::{Parameter, RunMode};

#[test]
fn s_080_modes_by_action() {
    let modes = RunModes {
        spawn: RunMode::Edit,
        fetch: RunMode::Skip,
        apply: RunMode::Ask,
        abort: RunMode::Unattended,
    };
    let found = ToolAction::ALL.map(|action| modes.of(action));
    let expected = [modes.spawn, modes.fetch, modes.apply, modes.abort];
    assert_eq!(found, expected);
    assert_eq!(modes.to_string(), "edit, fetch: skip, apply: ask");
    let plain = RunModes::of_spawn(RunMode::Ask);
    assert_eq!(plain.to_string(), "ask");
    for action in [ToolAction::Fetch, ToolAction::Apply, ToolAction::Abort] {
        assert_eq!(plain.of(action), RunMode::Unattended);
    }
}

#[test]
fn s_082_nothing_said_is_both_notices() {
    let both = Notices {
        stopped: true,
        waiting: true,
    };
    assert_eq!(Notices::read(None), both);
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
