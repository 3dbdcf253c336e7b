//! Tools on the SDK, as a component: `guests/tools` has the `fs_*` tools.

use jig_config::{Config, Sources};
use jig_proto::Action;
use serde_json::{Value, json};

use crate::common::{Done, On, RUNTIME, Tried};

fn call(tool: &str, arguments: Value, tried: Tried) -> Done {
    tried.implementation(tool).arguments(arguments).run()
}

fn workspace(on: On) -> Tried {
    Tried::on(on, "tools")
        .file("a.txt", "one\ntwo\n")
        .file("src/b.rs", "fn two() {}\n")
}

/// W-017: one component, several tools.
#[test]
fn w017_the_tools_are_told_apart_by_name() {
    for on in On::ALL {
        let done = call("fs_read_file", json!({"path": "a.txt"}), workspace(on));
        assert!(done.text().contains("one\ntwo\n"), "{}", done.text());
        let done = call("fs_grep_files", json!({"pattern": "two"}), workspace(on));
        assert!(done.text().contains("src/b.rs"), "{}", done.text());
        let done = call(
            "fs_move_file",
            json!({"from": "a.txt", "to": "c/d.txt"}),
            workspace(on),
        );
        assert_eq!(done.read("c/d.txt").unwrap(), b"one\ntwo\n");
        let done = call("other", json!({}), workspace(on));
        let message = &done.error().message;
        assert!(
            message.starts_with("there is no tool `other` in this component"),
            "{message}"
        );
    }
}

/// A question goes through the protocol, in the midst of the one run.
#[test]
fn a_tool_asks_and_goes_on() {
    let change = json!({"path": "a.txt", "patterns": [{"old": "two", "new": "2"}]});
    let done = call(
        "fs_modify_file",
        change.clone(),
        workspace(On::Memory).answer(true),
    );
    assert_eq!(done.asked.len(), 1);
    assert_eq!(done.read("a.txt").unwrap(), b"one\n2\n");
    let done = call("fs_modify_file", change.clone(), workspace(On::Memory));
    assert!(done.result.is_err());
    assert_eq!(done.read("a.txt").unwrap(), b"one\ntwo\n");
    // An answer that is known is not asked for.
    let tried = workspace(On::Memory).known(json!({"apply_changes": true}));
    let done = call("fs_modify_file", change, tried);
    assert_eq!(done.asked.len(), 0);
    assert_eq!(done.read("a.txt").unwrap(), b"one\n2\n");
}

/// the tool knows the workspace by the guest's name for it; whoever calls may use theirs.
#[test]
fn x42_absolute_paths_are_understood() {
    for on in On::ALL {
        let tried = workspace(on);
        let outer = tried.files().display_root().join("a.txt");
        let done = call("fs_read_file", json!({ "path": outer }), tried);
        assert!(done.text().contains("one"), "{}", done.text());
        assert_eq!(done.decisions(), ["fs.read a.txt allow"]);
        let inner = json!({"path": "/workspace/src/../a.txt"});
        let done = call("fs_read_file", inner, workspace(on));
        assert!(done.text().contains("one"), "{}", done.text());
        let done = call(
            "fs_read_file",
            json!({"path": "/workspaces/a.txt"}),
            workspace(on),
        );
        assert!(done.error().message.contains("leads out of the workspace"));
    }
}

#[test]
fn the_call_is_shown_and_not_made() {
    let tried = workspace(On::Memory).action(Action::FormatArguments);
    let done = call("fs_delete_file", json!({"path": "a.txt"}), tried);
    assert!(done.text().contains("a.txt"));
    assert!(done.read("a.txt").is_some());
}

#[test]
fn a_denial_reaches_the_caller_with_its_explanation() {
    let tried = workspace(On::Memory).rules("fs = [{ path = \"src\", read = true }]");
    let done = call("fs_read_file", json!({"path": "a.txt"}), tried);
    let message = &done.error().message;
    assert!(message.contains("[[tools.tool.access.fs]]"), "{message}");
}

/// The component describes the tools as the built-in configuration declares them.
#[test]
fn the_descriptions_are_those_of_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let root = camino::Utf8Path::from_path(folder.path()).unwrap();
    let config: Config = jig_config::load(&Sources::new(root)).unwrap().config;
    let tried = workspace(On::Memory);
    let described = RUNTIME.describe(&tried.component()).unwrap().unwrap();
    let names: Vec<&str> = described.iter().map(|tool| tool.name.as_str()).collect();
    let declared = config.tools.keys().map(|name| name.as_str());
    let declared: Vec<&str> = declared.filter(|name| name.starts_with("fs_")).collect();
    assert_eq!(names, declared);
    for tool in described {
        let declared = config.tool(&tool.name).unwrap();
        assert_eq!(Some(&tool.description), declared.description.as_ref());
        let schema = Value::Object(tool.parameters);
        assert_eq!(schema, declared.input_schema(), "{}", tool.name);
    }
}
