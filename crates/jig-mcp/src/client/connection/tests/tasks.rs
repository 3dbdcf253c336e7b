//! Calls that become tasks.

use serde_json::{Value, json};

use super::{calling, limits, newer, server};
use crate::client::connection::{CallEvent, ElicitationAnswer, Strays, Upstream};

fn task(status: &str, more: Value) -> Value {
    let mut task = json!({
        "resultType": "complete", "taskId": "t1", "status": status, "createdAt": "", "lastUpdatedAt": "",
        "ttlMs": null, "pollIntervalMs": 20,
    });
    for (name, member) in more.as_object().expect("an object") {
        task[name] = member.clone();
    }
    task
}

#[tokio::test]
async fn a_task_of_2026_is_asked_about_until_it_has_ended() {
    let (mut server, upstream) = newer().await;
    let mut call = calling(&upstream, "long", 1);
    let request = server.expect("tools/call").await;
    server
        .answer(&request, task("working", json!({"resultType": "task"})))
        .await;
    let get = server.expect("tasks/get").await;
    assert_eq!(get["params"]["taskId"], "t1");
    server
        .answer(&get, task("working", json!({"statusMessage": "half way"})))
        .await;
    match call.event().await {
        CallEvent::Progress(text) => assert_eq!(text, "half way"),
        other => panic!("{other:?}"),
    }
    let schema = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}});
    let asked = json!({"q": {"method": "elicitation/create", "params": {"message": "Sure?", "requestedSchema": schema}}});
    let get = server.expect("tasks/get").await;
    server
        .answer(
            &get,
            task("input_required", json!({"inputRequests": asked})),
        )
        .await;
    let CallEvent::Ask { answer, .. } = call.event().await else {
        panic!("no question");
    };
    answer
        .send(ElicitationAnswer::Given(true.into()))
        .expect("it waits");
    let update = server.expect("tasks/update").await;
    let answers = json!({"q": {"action": "accept", "content": {"ok": true}}});
    assert_eq!(update["params"]["inputResponses"], answers);
    server
        .answer(&update, json!({"resultType": "complete"}))
        .await;
    // The question is still there, and is not asked again.
    let get = server.expect("tasks/get").await;
    server
        .answer(
            &get,
            task("input_required", json!({"inputRequests": asked})),
        )
        .await;
    let get = server.expect("tasks/get").await;
    let result = json!({"content": [], "unheard": 1});
    server
        .answer(&get, task("completed", json!({"result": result})))
        .await;
    assert_eq!(call.result().await.expect("a result"), result);
}

#[tokio::test]
async fn a_task_that_nobody_waits_for_is_cancelled() {
    let (mut server, upstream) = newer().await;
    let call = calling(&upstream, "long", 1);
    let request = server.expect("tools/call").await;
    server
        .answer(
            &request,
            task(
                "working",
                json!({"resultType": "task", "pollIntervalMs": 60_000}),
            ),
        )
        .await;
    // The next round trip shows that the answer was read.
    server
        .say(json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}))
        .await;
    server.read().await.expect("an answer");
    call.give_up().await;
    let mut message = server.read().await.expect("a message");
    while message["method"] != "tasks/cancel" {
        message = server.read().await.expect("a message");
    }
    assert_eq!(message["params"]["taskId"], "t1");
}

/// How a task ends, or what it says that no task says.
#[tokio::test]
async fn ends_of_tasks() {
    let error = json!({"code": -32000, "message": "out of paper"});
    for (state, words) in [
        (task("failed", json!({"error": error})), "out of paper"),
        (task("cancelled", json!({})), "cancelled the task"),
        (task("completed", json!({})), "without a result"),
        (task("asleep", json!({})), "asleep"),
        (task("input_required", json!({})), "asks nothing"),
        (json!({}), "state"),
    ] {
        let (mut server, upstream) = newer().await;
        let call = calling(&upstream, "long", 1);
        let request = server.expect("tools/call").await;
        server
            .answer(&request, task("working", json!({"resultType": "task"})))
            .await;
        let get = server.expect("tasks/get").await;
        server.answer(&get, state).await;
        let error = call.result().await.expect_err("no result");
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[tokio::test]
async fn a_tool_of_2025_that_has_to_be_a_task_is_one() {
    let (mut server, ends) = server();
    let limits = limits(None);
    let capabilities = json!({"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}});
    let (upstream, ()) = tokio::join!(
        Upstream::over_pipes(ends.stdin, ends.stdout, &limits, Strays::default()),
        server.begin_older(capabilities),
    );
    let upstream = upstream.expect("it begins");
    let (listed, ()) = tokio::join!(upstream.definitions(None), async {
        let list = server.expect("tools/list").await;
        let tools = json!([
            {"name": "long", "inputSchema": {}, "execution": {"taskSupport": "required"}},
            {"name": "short", "inputSchema": {}, "execution": {"taskSupport": "optional"}},
        ]);
        server.answer(&list, json!({"tools": tools})).await;
    });
    listed.expect("a list");
    let call = calling(&upstream, "short", 1);
    let request = server.expect("tools/call").await;
    assert!(request["params"].get("task").is_none());
    server.answer(&request, json!({"content": []})).await;
    call.result().await.expect("a result");
    let call = calling(&upstream, "long", 1);
    let request = server.expect("tools/call").await;
    assert!(request["params"]["task"].is_object());
    let made = json!({"taskId": "t", "status": "working", "pollInterval": 20});
    server.answer(&request, json!({"task": made})).await;
    let get = server.expect("tasks/get").await;
    server
        .answer(&get, json!({"taskId": "t", "status": "completed"}))
        .await;
    let result = server.expect("tasks/result").await;
    assert_eq!(result["params"]["taskId"], "t");
    server.answer(&result, json!({"content": [], "n": 1})).await;
    assert_eq!(call.result().await.expect("a result")["n"], 1);
}
