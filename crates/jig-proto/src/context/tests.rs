use serde_json::{Value, json};

use super::{Action, Context};
use crate::Access;

#[test]
fn x14_j008_g100_contexts() {
    let check = |input: Value, expected: Context| {
        let context: Context = serde_json::from_value(input).unwrap();
        assert_eq!(context, expected);
        let written = serde_json::to_value(&context).unwrap();
        assert_eq!(serde_json::from_value::<Context>(written).unwrap(), context);
    };
    let run = || Context::new("/w", Action::Run);
    check(json!({"root": "/w", "action": "run"}), run());
    check(
        json!({"root": "/w", "action": "run", "access": null, "workspace_id": ""}),
        run(),
    );
    check(
        json!({"root": "/w", "action": "run", "later": {"a": 1}}),
        run(),
    );
    check(
        json!({"root": "/w", "action": "format_arguments", "access": {},
            "workspace_id": "ws", "conversation_id": "c"}),
        Context::new("/w", Action::FormatArguments)
            .with_access(Access::default())
            .with_ids("ws", "c"),
    );
}

#[test]
fn x14_both_ids_are_always_written_and_never_empty() {
    let check = |context: Context, expected: Value| {
        assert_eq!(
            serde_json::to_string(&context).unwrap(),
            expected.to_string()
        );
    };
    check(
        Context::new("/w", Action::Run),
        json!({"root": "/w", "action": "run", "access": null,
            "workspace_id": "jig", "conversation_id": "jig"}),
    );
    check(
        Context::new("/w", Action::FormatArguments)
            .with_access(Access::default())
            .with_ids("", "c"),
        json!({"root": "/w", "action": "format_arguments", "access": {"fs": [], "net": [], "env": []},
            "workspace_id": "jig", "conversation_id": "c"}),
    );
}

#[test]
fn a_malformed_context_says_what_was_expected_and_where() {
    let check = |input: Value, expected: &str| {
        assert_eq!(
            serde_json::from_value::<Context>(input)
                .unwrap_err()
                .to_string(),
            expected
        );
    };
    check(
        json!({"action": "run"}),
        "`root` is missing: expected a path",
    );
    check(
        json!({"root": "/w"}),
        "`action` is missing: expected `run` or `format_arguments`",
    );
    check(
        json!({"root": "/w", "action": "Run"}),
        "`action`: expected `run` or `format_arguments`, found the string \"Run\"",
    );
    check(
        json!({"root": "/w", "action": "run", "access": {"fs": [{"path": 1}]}}),
        "`access.fs[0].path`: expected a string, found the number 1",
    );
    check(
        json!("/w"),
        "`$`: expected an object with `root` and `action`, found the string \"/w\"",
    );
}
