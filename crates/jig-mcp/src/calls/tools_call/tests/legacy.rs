//! Clients that are asked by `elicitation/create`.

use std::sync::Arc;

use jig_engine::Answer;
use serde_json::json;

use super::{Client, decided, forms, is_error, until, whole_text};
use crate::testing::{caller, server};

#[tokio::test]
async fn an_answer_holds_once_or_for_the_turn() {
    let (shared, caller) = (server(&[], &[]), caller());
    let mut client = Client::legacy(&shared, &caller, forms()).await;
    // The path, what is answered, and whether the client is asked at all.
    let cases = [
        ("a", Some("allow once")),
        ("b", Some("allow once")),
        ("c", Some("allow for this turn")),
        ("d", None),
    ];
    for (path, decision) in cases {
        let arguments = json!({ "path": path, "content": "new" });
        let params = json!({ "name": "fs_create_file", "arguments": arguments });
        let id = client.request("tools/call", params).await;
        if let Some(decision) = decision {
            let asked = client.incoming("elicitation/create").await;
            let message = asked["params"]["message"].as_str().unwrap();
            assert!(message.contains("fs_create_file") && message.contains(path));
            client.answer(&asked, decided(decision)).await;
        }
        let response = client.response(id).await;
        assert!(!is_error(&response), "{path}: {response}");
    }
    assert!(client.inbox.is_empty(), "{:?}", client.inbox);
}

#[tokio::test]
async fn a_no_ends_the_call_with_its_reason() {
    let (shared, caller) = (server(&[], &[]), caller());
    let mut client = Client::legacy(&shared, &caller, forms()).await;
    let cases = [
        (
            json!({ "action": "accept", "content": { "decision": "deny", "reason": "not\u{1b}[2J now" } }),
            "denied in the form of the client",
        ),
        (
            json!({ "action": "decline" }),
            "the client declined the question",
        ),
        (
            json!({ "action": "cancel" }),
            "the client closed the question",
        ),
        // What does not fit is asked for again, once.
        (json!({ "action": "accept" }), "could not be used"),
        (decided("sudo"), "could not be used"),
        (
            json!({ "action": "accept", "content": { "answer": true } }),
            "could not be used",
        ),
    ];
    for (answer, told) in cases {
        let arguments = json!({ "path": "new", "content": "" });
        let params = json!({ "name": "fs_create_file", "arguments": arguments });
        let id = client.request("tools/call", params).await;
        let asked = client.incoming("elicitation/create").await;
        client.answer(&asked, answer.clone()).await;
        if told == "could not be used" {
            let again = client.incoming("elicitation/create").await;
            assert_ne!(again["id"], asked["id"]);
            assert!(again["params"]["message"].as_str().unwrap().len() > 40);
            client.answer(&again, answer.clone()).await;
        }
        let response = client.response(id).await;
        assert!(is_error(&response), "{answer}: {response}");
        assert!(whole_text(&response).contains(told), "{answer}: {response}");
    }
    let read = client.call("fs_read_file", json!({ "path": "new" })).await;
    assert!(is_error(&read), "nothing was written: {read}");
}

/// Whoever is asked whether a tool may run sees what would be started, and nothing that passes for something else.
#[tokio::test]
async fn the_command_is_shown_before_it_runs() {
    let tool = "tools.t={source='local',command='echo -n {{tool.arguments.x}}',parameters.x.type='string'}";
    let (shared, caller) = (server(&[tool], &[]), caller());
    let mut client = Client::legacy(&shared, &caller, forms()).await;
    let params = json!({ "name": "t", "arguments": { "x": "a\n$ rm b" } });
    let id = client.request("tools/call", params).await;
    let asked = client.incoming("elicitation/create").await;
    let message = asked["params"]["message"].as_str().unwrap();
    let mut lines = message.lines();
    assert_eq!(
        lines.find(|line| line.starts_with("$ ")),
        Some("$ echo -n $'a\\n$ rm b'"),
        "{message}"
    );
    client.answer(&asked, decided("deny")).await;
    assert!(is_error(&client.response(id).await));
}

#[tokio::test]
async fn whoever_answers_first_wins_and_the_client_is_told() {
    let (shared, caller) = (server(&[], &[]), caller());
    let mut client = Client::legacy(&shared, &caller, forms()).await;
    let arguments = json!({ "path": "new", "content": "" });
    let params = json!({ "name": "fs_create_file", "arguments": arguments });
    let id = client.request("tools/call", params).await;
    let asked = client.incoming("elicitation/create").await;
    let question = "q_1".parse().unwrap();
    shared
        .questions
        .answer(&question, Answer::Given(true.into()), "a person elsewhere")
        .unwrap();
    assert!(!is_error(&client.response(id).await));
    let told = client.incoming("notifications/cancelled").await;
    assert_eq!(told["params"]["requestId"], asked["id"]);
    // Too late.
    client.answer(&asked, decided("deny")).await;
    let read = client.call("fs_read_file", json!({ "path": "new" })).await;
    assert!(!is_error(&read), "{read}");
}

#[tokio::test]
async fn where_nobody_can_be_asked_a_person_can_allow_the_next_try() {
    let (shared, caller) = (server(&[], &[]), caller());
    let mut client = Client::legacy(&shared, &caller, json!({})).await;
    let arguments = json!({ "path": "new", "content": "" });
    let response = client.call("fs_create_file", arguments.clone()).await;
    assert!(is_error(&response));
    assert!(
        whole_text(&response).contains("jig approve q_1"),
        "{response}"
    );
    let question = "q_1".parse().unwrap();
    let allow = Answer::Given(true.into());
    shared
        .questions
        .answer(&question, allow, "a person")
        .unwrap();
    // For exactly this, and once.
    let other = json!({ "path": "other", "content": "" });
    for (arguments, is_refused) in [(&other, true), (&arguments, false), (&arguments, true)] {
        let response = client.call("fs_create_file", arguments.clone()).await;
        assert_eq!(is_error(&response), is_refused, "{arguments}: {response}");
    }
}

#[tokio::test]
async fn a_client_that_cannot_ask_after_all_is_one_that_cannot() {
    let (shared, caller) = (server(&[], &[]), caller());
    let mut client = Client::legacy(&shared, &caller, forms()).await;
    let arguments = json!({ "path": "new", "content": "" });
    let params = json!({ "name": "fs_create_file", "arguments": arguments });
    let id = client.request("tools/call", params).await;
    let asked = client.incoming("elicitation/create").await;
    let error = json!({ "code": -32601, "message": "no forms here" });
    let message = json!({ "jsonrpc": "2.0", "id": asked["id"], "error": error });
    client.send(&message).await;
    let response = client.response(id).await;
    assert!(is_error(&response));
    assert!(
        whole_text(&response).contains("jig approve q_"),
        "{response}"
    );
}

#[tokio::test]
async fn a_question_that_nobody_answers_ends_the_call() {
    let shared = server(&["mcp.approval_wait='1s'"], &[]);
    let caller = caller();
    let mut client = Client::legacy(&shared, &caller, forms()).await;
    let arguments = json!({ "path": "new", "content": "" });
    let params = json!({ "name": "fs_create_file", "arguments": arguments });
    let id = client.request("tools/call", params).await;
    let asked = client.incoming("elicitation/create").await;
    let response = client.response(id).await;
    assert!(is_error(&response));
    let told = whole_text(&response);
    assert!(
        told.contains("in time") && told.contains("jig approve q_1"),
        "{told}"
    );
    let cancelled = client.incoming("notifications/cancelled").await;
    assert_eq!(cancelled["params"]["requestId"], asked["id"]);
}

#[tokio::test]
async fn a_client_that_goes_away_leaves_nothing_behind() {
    let (shared, caller) = (server(&[], &[]), caller());
    let mut client = Client::legacy(&shared, &caller, forms()).await;
    let arguments = json!({ "path": "new", "content": "" });
    let params = json!({ "name": "fs_create_file", "arguments": arguments });
    client.request("tools/call", params).await;
    client.incoming("elicitation/create").await;
    assert_eq!(caller.in_flight.len(), 1);
    client.vanish();
    let watched = Arc::clone(&caller);
    until("the call ends", move || watched.in_flight.len() == 0).await;
    // Nobody can say yes to it any more.
    let question = "q_1".parse().unwrap();
    let late = shared
        .questions
        .answer(&question, Answer::Given(true.into()), "late");
    assert!(late.is_err());
}

#[tokio::test]
async fn a_cancelled_request_ends_its_call_and_its_question() {
    let (shared, caller) = (server(&[], &[]), caller());
    let mut client = Client::legacy(&shared, &caller, forms()).await;
    let arguments = json!({ "path": "new", "content": "" });
    let params = json!({ "name": "fs_create_file", "arguments": arguments });
    let id = client.request("tools/call", params).await;
    let asked = client.incoming("elicitation/create").await;
    let cancel = json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": { "requestId": id },
    });
    client.send(&cancel).await;
    let watched = Arc::clone(&caller);
    until("the call ends", move || watched.in_flight.len() == 0).await;
    client.answer(&asked, decided("allow once")).await;
    let read = client.call("fs_read_file", json!({ "path": "new" })).await;
    assert!(is_error(&read), "nothing was written: {read}");
}

#[tokio::test]
async fn what_is_no_tool_is_an_error_and_what_does_not_fit_is_a_result() {
    let (shared, caller) = (server(&[], &[]), caller());
    let mut client = Client::legacy(&shared, &caller, forms()).await;
    for name in ["nothing", "", "fs_read_file\u{1b}[2J"] {
        let response = client.call(name, json!({})).await;
        assert_eq!(response["error"]["code"], -32602, "{response}");
        assert!(!response.to_string().contains("\u{1b}"));
    }
    let cases = [
        (json!({}), "`path`"),
        (json!({ "path": 7 }), "`path`"),
        (json!({ "path": "x", "colour": "red" }), "`colour`"),
    ];
    for (arguments, named) in cases {
        let response = client.call("fs_read_file", arguments.clone()).await;
        assert!(is_error(&response), "{response}");
        assert!(
            whole_text(&response).contains(named),
            "{arguments}: {response}"
        );
    }
}

/// A call that cannot be read is one with wrong parameters, and no method that there is not.
#[tokio::test]
async fn a_malformed_call_has_wrong_parameters() {
    let (shared, caller) = (server(&[], &[]), caller());
    let mut client = Client::legacy(&shared, &caller, forms()).await;
    let cases = [
        ("tools/call", json!({ "arguments": {} }), -32602),
        ("tools/call", json!({ "name": 7 }), -32602),
        (
            "tools/call",
            json!({ "name": "fs_list_files", "arguments": [1] }),
            -32602,
        ),
        ("resources/read", json!({}), -32602),
        ("tools/make", json!({ "name": "fs_list_files" }), -32601),
    ];
    for (method, params, code) in cases {
        let id = client.request(method, params.clone()).await;
        let response = client.response(id).await;
        assert_eq!(
            response["error"]["code"], code,
            "{method} {params}: {response}"
        );
    }
}
