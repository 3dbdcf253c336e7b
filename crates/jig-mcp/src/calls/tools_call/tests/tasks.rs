//! The Tasks extension.

use std::sync::Arc;

use jig_engine::Turn;
use serde_json::{Value, json};

use super::{Client, PATIENCE, decided, forms, is_error};
use crate::caller::Caller;
use crate::testing::{caller, server};

/// A client that knows tasks, and shows forms.
pub(super) fn knows_tasks() -> Value {
    json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

/// Asks about a task until it stands as wanted.
pub(super) async fn until_status(client: &mut Client, id: &Value, wanted: &str) -> Value {
    let deadline = std::time::Instant::now() + PATIENCE;
    loop {
        let task = client.ask("tasks/get", json!({ "taskId": id })).await;
        if task["result"]["status"] == wanted {
            return task;
        }
        assert!(std::time::Instant::now() < deadline, "{task}");
        super::moment().await;
    }
}

/// A stateful tool of jig that asks before it runs, and then writes.
const STATEFUL: &[&str] = &["tools.fs_create_file.stateful=['spawn','fetch','abort']"];

#[tokio::test]
async fn a_stateful_tool_that_runs_to_its_end_is_a_task() {
    let (shared, caller) = (server(STATEFUL, &[]), caller());
    let mut client = Client::modern(&shared, &caller, knows_tasks());
    let arguments = json!({ "path": "new", "content": "" });
    let created = client.call("fs_create_file", arguments.clone()).await;
    let result = &created["result"];
    assert_eq!(result["resultType"], "task", "{created}");
    assert_eq!(result["status"], "working");
    assert!(result["ttlMs"].as_u64().is_some_and(|ttl| ttl > 0));
    assert!(
        result["pollIntervalMs"]
            .as_u64()
            .is_some_and(|poll| poll > 0)
    );
    let id = result["taskId"].clone();
    assert!(id.as_str().unwrap().len() >= 32, "nobody can guess it");

    let waiting = until_status(&mut client, &id, "input_required").await;
    let requests = waiting["result"]["inputRequests"].as_object().unwrap();
    let (key, request) = requests.iter().next().unwrap();
    assert_eq!(request["method"], "elicitation/create");
    // What answers nothing is not looked at.
    let nothing = json!({ "taskId": id, "inputResponses": { "unknown": { "ignored": true } } });
    let done = client.ask("tasks/update", nothing).await;
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    let yes = json!({ "taskId": id, "inputResponses": { key: decided("allow once") } });
    let done = client.ask("tasks/update", yes).await;
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    // The answer counts at once.
    let after = client.ask("tasks/get", json!({ "taskId": id })).await;
    assert_ne!(after["result"]["status"], "input_required", "{after}");

    let over = until_status(&mut client, &id, "completed").await;
    assert_ne!(over["result"]["result"]["isError"], true, "{over}");
    // It is kept, and cancelling it is no error.
    let done = client.ask("tasks/cancel", json!({ "taskId": id })).await;
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    until_status(&mut client, &id, "completed").await;

    // A command to a handle is none.
    let mut spawn = arguments;
    spawn["action"] = "spawn".into();
    let response = client.call("fs_create_file", spawn).await;
    assert_ne!(response["result"]["resultType"], "task", "{response}");
}

#[tokio::test]
async fn a_tool_that_fails_is_completed_and_a_denial_is_told() {
    let (shared, caller) = (server(STATEFUL, &[("new/file", "old")]), caller());
    let mut client = Client::modern(&shared, &caller, knows_tasks());
    // The first fails because a folder stands there.
    for decision in ["allow once", "deny"] {
        let arguments = json!({ "path": "new", "content": "" });
        let created = client.call("fs_create_file", arguments).await;
        let id = created["result"]["taskId"].clone();
        let waiting = until_status(&mut client, &id, "input_required").await;
        let requests = waiting["result"]["inputRequests"].as_object().unwrap();
        let key = requests.keys().next().unwrap();
        let answer = json!({ "taskId": id, "inputResponses": { key: decided(decision) } });
        client.ask("tasks/update", answer).await;
        let over = until_status(&mut client, &id, "completed").await;
        assert_eq!(over["result"]["result"]["isError"], true, "{over}");
    }
}

#[tokio::test]
async fn a_task_is_its_callers_alone() {
    let (shared, caller) = (server(STATEFUL, &[]), caller());
    let mut client = Client::modern(&shared, &caller, knows_tasks());
    let stranger = Arc::new(Caller::new("stranger", [0; 32], Turn::default()));
    let mut foreign = Client::modern(&shared, &stranger, knows_tasks());
    let arguments = json!({ "path": "new", "content": "" });
    let created = client.call("fs_create_file", arguments).await;
    let id = created["result"]["taskId"].clone();
    for (method, params) in [
        ("tasks/get", json!({ "taskId": id })),
        ("tasks/cancel", json!({ "taskId": id })),
        (
            "tasks/update",
            json!({ "taskId": id, "inputResponses": {} }),
        ),
    ] {
        let response = foreign.ask(method, params).await;
        assert_eq!(response["error"]["code"], -32602, "{method}: {response}");
    }
    let unknown = client
        .ask("tasks/get", json!({ "taskId": "nothing" }))
        .await;
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    until_status(&mut client, &id, "input_required").await;
}

#[tokio::test]
async fn a_client_that_knows_no_tasks_gets_none() {
    let (shared, caller) = (server(STATEFUL, &[]), caller());
    let mut client = Client::modern(&shared, &caller, forms());
    let arguments = json!({ "path": "new", "content": "" });
    let response = client.call("fs_create_file", arguments).await;
    assert_eq!(
        response["result"]["resultType"], "input_required",
        "{response}"
    );
    let refused = client.ask("tasks/get", json!({ "taskId": "any" })).await;
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
}

#[tokio::test]
async fn a_call_that_is_cancelled_as_a_task_is_cancelled() {
    let (shared, caller) = (server(STATEFUL, &[]), caller());
    let mut client = Client::modern(&shared, &caller, knows_tasks());
    let arguments = json!({ "path": "new", "content": "" });
    let created = client.call("fs_create_file", arguments).await;
    let id = created["result"]["taskId"].clone();
    until_status(&mut client, &id, "input_required").await;
    client.ask("tasks/cancel", json!({ "taskId": id })).await;
    until_status(&mut client, &id, "cancelled").await;
    let read = client.call("fs_read_file", json!({ "path": "new" })).await;
    assert!(is_error(&read), "nothing was written: {read}");
}

/// Clients name the extension in their older handshake, too, and cannot read a task then.
#[tokio::test]
async fn an_older_client_gets_a_result_whatever_it_names() {
    let (shared, caller) = (server(STATEFUL, &[]), caller());
    let mut client = Client::legacy(&shared, &caller, knows_tasks()).await;
    let arguments = json!({ "path": "new", "content": "" });
    let params = json!({ "name": "fs_create_file", "arguments": arguments });
    let id = client.request("tools/call", params).await;
    let asked = client.incoming("elicitation/create").await;
    client.answer(&asked, decided("allow once")).await;
    let response = client.response(id).await;
    assert!(response["result"]["content"].is_array(), "{response}");
    assert_eq!(response["result"].get("taskId"), None, "{response}");
}
