//! Clients that come back with the answer: `input_required`, and attacks on it.

use std::sync::Arc;

use jig_engine::{Answer, Turn};
use serde_json::{Value, json};

use super::{Client, decided, forms, is_error, until, whole_text};
use crate::caller::Caller;
use crate::testing::{caller, server};

const TOOL: &str = "fs_create_file";

/// What is created; the tool fails if it is there already, so that a second run shows.
fn arguments() -> Value {
    json!({ "path": "new", "content": "one" })
}

/// Calls the tool and returns the state with which it is parked, and the name of its question.
async fn park(client: &mut Client) -> (Value, String) {
    let response = client.call(TOOL, arguments()).await;
    let result = &response["result"];
    assert_eq!(result["resultType"], "input_required", "{response}");
    let requests = result["inputRequests"].as_object().unwrap();
    assert_eq!(requests.len(), 1);
    let (key, request) = requests.iter().next().unwrap();
    assert_eq!(request["method"], "elicitation/create");
    (result["requestState"].clone(), key.clone())
}

fn answers(key: &str, decision: &str) -> Value {
    json!({ key: decided(decision) })
}

#[tokio::test]
async fn the_retry_delivers_the_answer_and_the_state_is_used_up() {
    let (shared, caller) = (server(&[], &[]), caller());
    let mut client = Client::modern(&shared, &caller, forms());
    let (state, key) = park(&mut client).await;
    assert_eq!(caller.in_flight.len(), 1, "it is parked, not ended");
    let yes = answers(&key, "allow once");
    let response = client.retry(TOOL, arguments(), &state, yes.clone()).await;
    assert_eq!(response["result"]["resultType"], "complete", "{response}");
    assert!(!is_error(&response), "{response}");
    let again = client.retry(TOOL, arguments(), &state, yes).await;
    assert_eq!(again["error"]["code"], -32602, "{again}");
    assert_eq!(caller.in_flight.len(), 0);
}

#[tokio::test]
async fn a_state_is_good_for_its_own_call_only() {
    let (shared, caller) = (server(&[], &[]), caller());
    let mut client = Client::modern(&shared, &caller, forms());
    let stranger = Arc::new(Caller::new("stranger", [0; 32], Turn::default()));
    let mut foreign = Client::modern(&shared, &stranger, forms());
    let other_server = server(&[], &[]);
    let mut elsewhere = Client::modern(&other_server, &caller, forms());
    let (state, key) = park(&mut client).await;
    let yes = answers(&key, "allow once");
    let sealed = state.as_str().unwrap();
    let tampered = [
        String::new(),
        "x".to_owned(),
        format!("{sealed}-TAMPERED"),
        sealed.replacen("rs1.", "rs1.A", 1),
        sealed[..sealed.len() - 1].to_owned(),
        "rs1..".to_owned(),
        "A".repeat(1 << 20),
    ];
    for state in tampered {
        let state = Value::String(state);
        let response = client.retry(TOOL, arguments(), &state, yes.clone()).await;
        assert_eq!(response["error"]["code"], -32602, "{response}");
    }
    let other = json!({ "path": "other", "content": "one" });
    let response = client.retry(TOOL, other, &state, yes.clone()).await;
    assert_eq!(
        response["error"]["code"], -32602,
        "other arguments: {response}"
    );
    let response = client
        .retry("fs_delete_file", arguments(), &state, yes.clone())
        .await;
    assert_eq!(
        response["error"]["code"], -32602,
        "another tool: {response}"
    );
    for client in [&mut foreign, &mut elsewhere] {
        let response = client.retry(TOOL, arguments(), &state, yes.clone()).await;
        assert_eq!(
            response["error"]["code"], -32602,
            "another caller: {response}"
        );
    }
    // None of that has used it up, or answered anything.
    assert_eq!(caller.in_flight.len(), 1);
    // The order of members is not part of the call.
    let turned: Value = serde_json::from_str(r#"{"content": "one", "path": "new"}"#).unwrap();
    let response = client.retry(TOOL, turned, &state, yes).await;
    assert!(
        !is_error(&response) && response["result"].is_object(),
        "{response}"
    );
}

#[tokio::test]
async fn of_many_retries_at_once_one_wins() {
    let (shared, caller) = (server(&[], &[]), caller());
    let mut client = Client::modern(&shared, &caller, forms());
    let (state, key) = park(&mut client).await;
    let mut ids = Vec::new();
    for _ in 0..16 {
        let params = json!({
            "name": TOOL,
            "arguments": arguments(),
            "requestState": state,
            "inputResponses": answers(&key, "allow once"),
        });
        ids.push(client.request("tools/call", params).await);
    }
    let mut won = 0;
    for id in ids {
        let response = client.response(id).await;
        match response.get("result") {
            Some(_) => {
                assert!(!is_error(&response), "{response}");
                won += 1;
            }
            None => assert_eq!(response["error"]["code"], -32602, "{response}"),
        }
    }
    assert_eq!(won, 1);
}

#[tokio::test]
async fn a_retry_without_an_answer_is_asked_again() {
    let (shared, caller) = (server(&[], &[]), caller());
    let mut client = Client::modern(&shared, &caller, forms());
    let (mut state, key) = park(&mut client).await;
    for responses in [json!({}), json!({ "wrong": decided("allow once") })] {
        let response = client.retry(TOOL, arguments(), &state, responses).await;
        let result = &response["result"];
        assert_eq!(result["resultType"], "input_required", "{response}");
        assert_ne!(result["requestState"], state);
        let old = std::mem::replace(&mut state, result["requestState"].clone());
        let late = client.retry(TOOL, arguments(), &old, json!({})).await;
        assert_eq!(late["error"]["code"], -32602, "{late}");
    }
    let response = client
        .retry(TOOL, arguments(), &state, answers(&key, "deny"))
        .await;
    assert!(is_error(&response), "{response}");
}

#[tokio::test]
async fn answers_that_do_not_fit_are_asked_for_once_more() {
    let huge = "x".repeat(2 << 20);
    let cases = [
        json!(12345),
        Value::Null,
        json!({ "action": "accept", "content": 7 }),
        json!({ "action": "accept", "content": { "decision": huge } }),
        decided("allow everything"),
    ];
    for wrong in cases {
        let (shared, caller) = (server(&[], &[]), caller());
        let mut client = Client::modern(&shared, &caller, forms());
        let (state, key) = park(&mut client).await;
        let wrong = json!({ key: wrong });
        let again = client.retry(TOOL, arguments(), &state, wrong.clone()).await;
        let result = &again["result"];
        assert_eq!(result["resultType"], "input_required", "{again}");
        let state = &result["requestState"];
        let response = client.retry(TOOL, arguments(), state, wrong).await;
        assert!(is_error(&response), "{response}");
        assert!(
            whole_text(&response).contains("could not be used"),
            "{response}"
        );
    }
}

#[tokio::test]
async fn a_result_waits_for_the_retry_if_somebody_else_answered() {
    let (shared, caller) = (server(&[], &[]), caller());
    let mut client = Client::modern(&shared, &caller, forms());
    let (state, key) = park(&mut client).await;
    let question = "q_1".parse().unwrap();
    let allow = Answer::Given(true.into());
    shared
        .questions
        .answer(&question, allow, "a person")
        .unwrap();
    let watched = Arc::clone(&caller);
    until("the call ends", move || watched.in_flight.len() == 0).await;
    // What the client says now comes too late, and does no harm.
    let no = answers(&key, "deny");
    let response = client.retry(TOOL, arguments(), &state, no).await;
    assert!(
        !is_error(&response) && response["result"].is_object(),
        "{response}"
    );
}

#[tokio::test]
async fn nobody_waits_for_ever() {
    let shared = server(&["mcp.approval_wait='1s'"], &[]);
    let caller = caller();
    let mut client = Client::modern(&shared, &caller, forms());
    let (state, key) = park(&mut client).await;
    let watched = Arc::clone(&caller);
    until("the call ends", move || watched.in_flight.len() == 0).await;
    let late = client
        .retry(TOOL, arguments(), &state, answers(&key, "allow once"))
        .await;
    // Either the state has expired, or the call says why it ended.
    let is_over = late["error"]["code"] == -32602 || is_error(&late);
    assert!(is_over, "{late}");
    let read = client.call("fs_read_file", json!({ "path": "new" })).await;
    assert!(is_error(&read), "nothing was written: {read}");
}

#[tokio::test]
async fn an_approval_cannot_be_sent_along() {
    let (shared, caller) = (server(&[], &[]), caller());
    let mut client = Client::modern(&shared, &caller, forms());
    for key in ["run", "q_1", "decision"] {
        let params = json!({
            "name": TOOL,
            "arguments": arguments(),
            "inputResponses": answers(key, "allow for this turn"),
        });
        let response = client.ask("tools/call", params).await;
        assert_eq!(
            response["result"]["resultType"], "input_required",
            "{key}: {response}"
        );
    }
}

#[tokio::test]
async fn a_client_that_shows_no_forms_is_not_asked() {
    let shared = server(&[], &[]);
    for capabilities in [
        json!({}),
        json!({ "sampling": {} }),
        json!({ "elicitation": { "url": {} } }),
    ] {
        let mut client = Client::modern(&shared, &caller(), capabilities.clone());
        let response = client.call(TOOL, arguments()).await;
        assert!(is_error(&response), "{capabilities}: {response}");
        assert!(
            whole_text(&response).contains("jig approve q_1"),
            "{response}"
        );
    }
}
