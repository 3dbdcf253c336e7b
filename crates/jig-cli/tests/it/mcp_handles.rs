//! What an agent gets wrong with the tools that stay, and what it does about it.

use serde_json::json;

use super::follow::follow;
use super::mcp_client::{Client, text};
use super::workspace_user::Desk;

/// It names a handle that does not exist, and one of another tool.
#[test]
fn handles_that_are_not_the_tools_own() {
    let tool = |name: &str| {
        format!(
            "[tools.{name}]\nsource = 'local'\ncommand = 'cat'\nrun = 'unattended'\nstateful = true\n"
        )
    };
    let desk = Desk::with(&(tool("one") + &tool("two")));
    let mut client = Client::connect(&desk.workspace, json!({}));
    let fetch = json!({ "action": "fetch", "id": "h_1" });

    let none = text(&client.call("one", fetch.clone()));
    let spawned = client.call("one", json!({ "action": "spawn" }));
    assert_ne!(spawned["isError"], true, "{spawned}");
    let fetched = client.call("one", fetch.clone());
    assert_ne!(fetched["isError"], true, "{fetched}");
    follow(
        "no handle is live; `spawn` starts one",
        &none,
        &text(&fetched),
    );

    let other = text(&client.call("two", fetch));
    assert!(other.contains("call `one` with `id` `h_1`"), "{other}");
    follow("call `{tool}` with `id` `{id}`", &other, &text(&fetched));
}

/// It leaves out what a tool needs. What that is stands in the list of the tools.
#[test]
fn arguments_that_are_missing() {
    let desk = Desk::with(
        "[tools.greet]\nsource = 'local'\ncommand = 'echo hello {{tool.arguments.name}}'\nrun = 'unattended'\n\
         parameters.name = { type = 'string', required = true, description = 'Who is greeted' }\n",
    );
    let mut client = Client::connect(&desk.workspace, json!({}));
    let missing = text(&client.call("greet", json!({})));
    let listed = client.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let greet = tools.iter().find(|tool| tool["name"] == "greet").unwrap();
    let needed = greet["inputSchema"]["required"][0].as_str().unwrap();
    let greeted = client.call("greet", json!({ needed: "you" }));
    assert!(text(&greeted).contains("hello you"), "{greeted}");
    follow(
        "the description of the tool `{tool}` says what it takes",
        &missing,
        &text(&greeted),
    );
}

/// Its tool's program is not found: the answer says what is to be written in the configuration.
#[test]
fn programs_that_are_not_found() {
    for (wrong, right, hint) in [
        (
            "greets",
            "./greets",
            "for the file of the workspace write `./{}` in `command`",
        ),
        (
            "no-such-program",
            "sh greets",
            "install the program, correct its name in `command`, or name it by its path",
        ),
    ] {
        let tool = |command: &str| {
            format!("[tools.greet]\nsource = 'local'\ncommand = '{command}'\nrun = 'unattended'\n")
        };
        let desk = Desk::with(&tool(wrong));
        desk.workspace.write("greets", "#!/bin/sh\necho hello\n");
        let greet = || {
            let mut client = Client::connect(&desk.workspace, json!({}));
            text(&client.call("greet", json!({})))
        };
        let missing = greet();
        desk.workspace.write("jig.toml", tool(right));
        let program = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(desk.path("greets"), program).unwrap();
        let greeted = greet();
        assert!(greeted.contains("hello"), "{greeted}");
        follow(hint, &missing, &greeted);
    }
}
