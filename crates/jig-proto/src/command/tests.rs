use serde_json::{Map, Value, json};

use super::{Invocation, ToolCommand};
use crate::{Actions, ActionsError, Fetch, HandleId, ToolAction};

fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is not an object"),
    }
}

fn parse(args: Value, actions: &[&str]) -> Result<Invocation, String> {
    let actions = Actions::from_names(actions.iter().copied()).unwrap();
    Invocation::parse(map(args), actions).map_err(|error| error.to_string())
}

const GIT: &[&str] = &["spawn", "fetch", "apply", "abort"];
const CARGO_CHECK: &[&str] = &["spawn", "fetch", "abort"];

#[test]
fn s030_s032_commands() {
    let check = |args: Value, expected: ToolCommand| {
        assert_eq!(args["action"], expected.action().name());
        assert_eq!(parse(args, GIT).unwrap(), Invocation::Command(expected));
    };
    let h_1 = || HandleId::numbered(1);
    check(
        json!({"action": "spawn", "command": "stage", "args": ["--patch"]}),
        ToolCommand::Spawn {
            id: None,
            args: map(json!({"command": "stage", "args": ["--patch"]})),
        },
    );
    check(
        json!({"action": "spawn", "id": "mine", "command": "log"}),
        ToolCommand::Spawn {
            id: Some("mine".parse().unwrap()),
            args: map(json!({"command": "log"})),
        },
    );
    check(
        json!({"action": "spawn", "id": null}),
        ToolCommand::Spawn {
            id: None,
            args: Map::new(),
        },
    );
    check(
        json!({"action": "fetch", "id": "h_1"}),
        ToolCommand::Fetch {
            id: h_1(),
            fetch: Fetch::default(),
        },
    );
    check(
        json!({"action": "abort", "id": "h_1", "why": 1}),
        ToolCommand::Abort { id: h_1() },
    );
    for input in [json!("y"), json!(true), json!(null), json!({"a": [1]})] {
        check(
            json!({"action": "apply", "id": "h_1", "input": input}),
            ToolCommand::Apply {
                id: h_1(),
                input,
                fetch: Fetch::default(),
            },
        );
    }
}

#[test]
fn s031_x21_without_declared_actions_or_without_action_a_call_is_one_shot() {
    let check = |args: Value, actions: &[&str]| {
        let expected = Invocation::OneShot {
            args: map(args.clone()),
        };
        assert_eq!(parse(args, actions).unwrap(), expected);
    };
    // A one-shot tool with a parameter `action` of its own, even if it is called `spawn`.
    check(json!({"action": "create", "id": 7}), &[]);
    check(json!({"action": "spawn"}), &[]);
    check(json!({"action": 1}), &[]);
    check(json!({"package": "a", "id": "x"}), CARGO_CHECK);
    check(json!({}), GIT);
}

/// Clients in a strict mode send every parameter, and `null` for those that they leave out.
#[test]
fn s031_an_action_that_is_null_is_none() {
    let expected = Invocation::OneShot {
        args: map(json!({"command": "log", "id": null})),
    };
    let found = parse(
        json!({"action": null, "command": "log", "id": null}),
        CARGO_CHECK,
    );
    assert_eq!(found.unwrap(), expected);
}

#[test]
fn s038_what_is_not_declared_or_not_complete_is_refused() {
    let check =
        |args: Value, expected: &str| assert_eq!(parse(args, CARGO_CHECK).unwrap_err(), expected);
    check(
        json!({"action": "apply", "id": "h_1", "input": "y"}),
        "\"apply\" is not an action of this tool; its actions are: spawn, fetch, abort",
    );
    check(
        json!({"action": "Spawn"}),
        "\"Spawn\" is not an action of this tool; its actions are: spawn, fetch, abort",
    );
    check(
        json!({"action": "a\u{1b}[2J"}),
        "\"a\\u{1b}[2J\" is not an action of this tool; its actions are: spawn, fetch, abort",
    );
    check(
        json!({"action": false}),
        "`action` must be one of these strings: spawn, fetch, abort",
    );
    check(
        json!({"action": "fetch"}),
        "`fetch` needs the argument `id`",
    );
    check(
        json!({"action": "abort", "id": null}),
        "`abort` needs the argument `id`",
    );
    check(
        json!({"action": "fetch", "id": 1}),
        "`id` must be a string, such as `h_1`",
    );
    check(
        json!({"action": "fetch", "id": ""}),
        "`id` is not a handle id",
    );
    check(
        json!({"action": "spawn", "id": "a b"}),
        "`id` is not a handle id",
    );
    let error = parse(json!({"action": "apply", "id": "h_1"}), GIT).unwrap_err();
    assert_eq!(error, "`apply` needs the argument `input`");
}

#[test]
fn s037_action_sets() {
    let names = |names: &[&str]| Actions::from_names(names.iter().copied());
    assert_eq!(names(&[]), Ok(Actions::NONE));
    assert_eq!(names(GIT), Ok(Actions::ALL));
    assert_eq!(
        names(&["fetch", "spawn", "fetch"]).unwrap().to_string(),
        "spawn, fetch"
    );
    assert_eq!(names(&["fetch"]), Err(ActionsError::NoSpawn));
    assert_eq!(
        names(&["spawn", "kill"]).unwrap_err().to_string(),
        "\"kill\" is not an action (there are `spawn`, `fetch`, `apply` and `abort`)",
    );
    let background = names(&["spawn", "fetch"]).unwrap();
    assert!(background.has(ToolAction::Fetch) && !background.has(ToolAction::Abort));
    assert_eq!(Actions::NONE.to_string(), "none");
}
