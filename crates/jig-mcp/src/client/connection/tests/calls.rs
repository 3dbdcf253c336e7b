//! Calls: results as they come, questions, progress, cancellation.

use serde_json::{Value, json};

use super::{newer, older, within};
use crate::client::connection::{CallEvent, ElicitationAnswer, Strays, UpstreamError};

#[tokio::test]
async fn a_result_comes_back_with_all_that_the_server_said() {
    let (mut server, upstream) = older().await;
    let result = json!({
        "content": [
            {"type": "text", "text": "a", "_meta": {"x": 1}, "unheard": [1, {"of": null}]},
            {"type": "hologram", "depth": 3},
        ],
        "structuredContent": {"b": 1.5, "a": [true]},
        "isError": true,
        "something": {"else": 1},
    });
    let call = super::calling(&upstream, "echo", 1);
    let request = server.expect("tools/call").await;
    assert_eq!(request["params"]["name"], "echo");
    assert_eq!(request["params"]["arguments"], json!({"a": 1}));
    server.answer(&request, result.clone()).await;
    assert_eq!(call.result().await.expect("a result"), result);
}

#[tokio::test]
async fn an_error_is_told_in_the_servers_words_made_printable() {
    let (mut server, upstream) = older().await;
    let call = super::calling(&upstream, "echo", 1);
    let request = server.expect("tools/call").await;
    let error = json!({"code": -32602, "message": "bad\u{1b}[31m\nthing"});
    server
        .say(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
        .await;
    match call.result().await {
        Err(UpstreamError::Refused { code, message, .. }) => {
            assert_eq!(code, -32602);
            assert!(
                !message.contains('\u{1b}') && !message.contains('\n'),
                "{message:?}"
            );
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn answers_find_their_calls_in_any_order() {
    let (mut server, upstream) = older().await;
    let first = super::calling(&upstream, "first", 1);
    let a = server.expect("tools/call").await;
    let second = super::calling(&upstream, "second", 2);
    let b = server.expect("tools/call").await;
    server.answer(&b, json!({"n": 2})).await;
    assert_eq!(second.result().await.expect("a result")["n"], 2);
    // Some servers make text of numbers.
    let id = a["id"].to_string();
    server
        .say(json!({"jsonrpc": "2.0", "id": id, "result": {"n": 1}}))
        .await;
    assert_eq!(first.result().await.expect("a result")["n"], 1);
}

#[tokio::test]
async fn a_call_that_is_given_up_is_cancelled_at_the_server() {
    for is_newer in [false, true] {
        let (mut server, upstream) = if is_newer {
            newer().await
        } else {
            older().await
        };
        let call = super::calling(&upstream, "slow", 1);
        let request = server.expect("tools/call").await;
        call.give_up().await;
        let cancelled = server.expect("notifications/cancelled").await;
        assert_eq!(cancelled["params"]["requestId"], request["id"]);
        // An answer that comes too late disturbs nobody.
        server.answer(&request, json!({})).await;
        let call = super::calling(&upstream, "quick", 1);
        let request = server.expect("tools/call").await;
        server.answer(&request, json!({"n": 1})).await;
        assert_eq!(call.result().await.expect("a result")["n"], 1);
    }
}

#[tokio::test]
async fn progress_is_told_to_its_call() {
    let (mut server, upstream) = older().await;
    let mut call = super::calling(&upstream, "slow", 1);
    let request = server.expect("tools/call").await;
    let token = &request["params"]["_meta"]["progressToken"];
    assert!(token.is_u64());
    let params =
        json!({"progressToken": token, "progress": 3, "total": 10, "message": "half\n\u{7}way"});
    let stray = json!({"progressToken": 99_999, "progress": 1});
    for params in [stray, params] {
        server
            .say(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))
            .await;
    }
    match call.event().await {
        CallEvent::Progress(text) => assert_eq!(text, "half \\u{7}way (3/10)"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_ping_is_answered_and_all_else_is_not_offered() {
    let (mut server, _upstream) = older().await;
    for (method, has_result) in [
        ("ping", true),
        ("roots/list", false),
        ("sampling/createMessage", false),
        ("nothing/known", false),
    ] {
        server
            .say(json!({"jsonrpc": "2.0", "id": "q", "method": method}))
            .await;
        let answer = server.read().await.expect("an answer");
        assert_eq!(answer["id"], "q");
        assert_eq!(answer.get("result").is_some(), has_result, "{answer}");
        assert_eq!(
            answer.pointer("/error/code").is_some(),
            !has_result,
            "{answer}"
        );
    }
}

fn elicitation(id: &str, text: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let params = json!({"message": text, "requestedSchema": schema});
    json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params})
}

#[tokio::test]
async fn a_question_of_2025_goes_to_the_only_call() {
    let (mut server, upstream) = older().await;
    let mut call = super::calling(&upstream, "ask", 1);
    let request = server.expect("tools/call").await;
    server.say(elicitation("e1", "Who?")).await;
    let CallEvent::Ask { question, answer } = call.event().await else {
        panic!("no question");
    };
    assert_eq!((&*question.id, &*question.text), ("name", "Who?"));
    answer
        .send(ElicitationAnswer::Given("me".into()))
        .expect("it waits");
    let answer = server.read().await.expect("an answer");
    assert_eq!(answer["id"], "e1");
    assert_eq!(
        answer["result"],
        json!({"action": "accept", "content": {"name": "me"}})
    );
    server.answer(&request, json!({})).await;
    call.result().await.expect("a result");
}

/// Who calls at the same time, and whether somebody is asked.
#[tokio::test]
async fn a_question_that_could_be_anybodys_is_declined() {
    for (callers, is_asked) in [(&[][..], false), (&[1, 1][..], true), (&[1, 2][..], false)] {
        let (mut server, upstream) = older().await;
        let mut calls = Vec::new();
        for caller in callers {
            calls.push(super::calling(&upstream, "ask", *caller));
            server.expect("tools/call").await;
        }
        server.say(elicitation("e", "Who?")).await;
        if is_asked {
            let event = calls[0].event().await;
            let CallEvent::Ask { answer, .. } = event else {
                panic!("no question");
            };
            drop(answer);
        }
        let answer = server.read().await.expect("an answer");
        let action = if is_asked { "cancel" } else { "decline" };
        assert_eq!(answer["result"]["action"], action, "{callers:?}");
    }
}

#[tokio::test]
async fn a_question_that_the_server_takes_back_is_withdrawn_without_an_answer() {
    let (mut server, upstream) = older().await;
    let mut call = super::calling(&upstream, "ask", 1);
    server.expect("tools/call").await;
    server.say(elicitation("e", "Who?")).await;
    let CallEvent::Ask { mut answer, .. } = call.event().await else {
        panic!("no question");
    };
    let params = json!({"requestId": "e"});
    server
        .say(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
        .await;
    within(answer.closed()).await;
    server
        .say(json!({"jsonrpc": "2.0", "id": 5, "method": "ping"}))
        .await;
    assert_eq!(server.read().await.expect("an answer")["id"], 5);
}

#[tokio::test]
async fn questions_of_one_call_come_one_after_the_other_and_not_without_end() {
    let (mut server, upstream) = older().await;
    let mut call = super::calling(&upstream, "ask", 1);
    server.expect("tools/call").await;
    for number in 0..9 {
        server.say(elicitation(&format!("e{number}"), "Who?")).await;
    }
    let declined = server.read().await.expect("an answer");
    assert_eq!(
        (&declined["id"], &declined["result"]["action"]),
        (&json!("e8"), &json!("decline"))
    );
    for _ in 0..8 {
        let CallEvent::Ask { answer, .. } = call.event().await else {
            panic!("no question");
        };
        assert!(call.events.try_recv().is_err(), "one at a time");
        answer.send(ElicitationAnswer::Declined).expect("it waits");
        let answer = server.read().await.expect("an answer");
        assert_eq!(answer["result"]["action"], "decline");
    }
}

#[tokio::test]
async fn a_question_of_2026_ends_the_request_and_its_answer_makes_a_new_one() {
    let (mut server, upstream) = newer().await;
    let mut call = super::calling(&upstream, "ask", 1);
    let first = server.expect("tools/call").await;
    let params = elicitation("", "Who?")["params"].clone();
    let state = "opaque \u{1} text";
    server
        .answer(
            &first,
            json!({
                "resultType": "input_required",
                "inputRequests": {"who": {"method": "elicitation/create", "params": params}},
                "requestState": state,
            }),
        )
        .await;
    let CallEvent::Ask { answer, .. } = call.event().await else {
        panic!("no question");
    };
    answer
        .send(ElicitationAnswer::Given("me".into()))
        .expect("it waits");
    let second = server.expect("tools/call").await;
    assert_ne!(first["id"], second["id"]);
    assert_eq!(second["params"]["arguments"], first["params"]["arguments"]);
    assert_eq!(second["params"]["requestState"], state);
    let answers = json!({"who": {"action": "accept", "content": {"name": "me"}}});
    assert_eq!(second["params"]["inputResponses"], answers);
    // Another question, without a state: none is sent back.
    server
        .answer(
            &second,
            json!({
                "resultType": "input_required",
                "inputRequests": {"again": {"method": "elicitation/create", "params": params}},
            }),
        )
        .await;
    let CallEvent::Ask { answer, .. } = call.event().await else {
        panic!("no question");
    };
    answer.send(ElicitationAnswer::Declined).expect("it waits");
    let third = server.expect("tools/call").await;
    assert!(third["params"].get("requestState").is_none());
    assert_eq!(
        third["params"]["inputResponses"],
        json!({"again": {"action": "decline"}})
    );
    server.answer(&third, json!({"content": []})).await;
    assert_eq!(
        call.result().await.expect("a result"),
        json!({"content": []})
    );
}

#[tokio::test]
async fn what_is_not_offered_cannot_be_asked_for_in_2026_either() {
    let (mut server, upstream) = newer().await;
    let call = super::calling(&upstream, "ask", 1);
    let request = server.expect("tools/call").await;
    server
        .answer(
            &request,
            json!({
                "resultType": "input_required",
                "inputRequests": {"s": {"method": "sampling/createMessage", "params": {}}},
            }),
        )
        .await;
    match call.result().await {
        Err(UpstreamError::Unable(why)) => assert!(why.contains("sampling/createMessage"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_page_is_not_opened_but_its_address_is_told() {
    let (mut server, upstream) = older().await;
    let mut call = super::calling(&upstream, "ask", 1);
    server.expect("tools/call").await;
    let params = json!({"mode": "url", "url": "https://example.com/x", "message": "Log in", "elicitationId": "1"});
    server
        .say(json!({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": params}))
        .await;
    let answer = server.read().await.expect("an answer");
    assert_eq!(answer["error"]["code"], -32602);
    match call.event().await {
        CallEvent::Progress(text) => assert!(text.contains("https://example.com/x"), "{text}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_list_that_changed_is_told_once_for_many() {
    let (mut server, upstream) = older().await;
    let mut changed = upstream.changed();
    for _ in 0..100 {
        server
            .say(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
            .await;
    }
    within(changed.changed()).await.expect("it is there");
    assert!(*changed.borrow_and_update() <= 2);
}

#[tokio::test]
async fn a_server_of_2026_is_asked_to_tell_changes_of_its_list() {
    let (mut server, ends) = super::server();
    let limits = super::limits(None);
    let (upstream, ()) = tokio::join!(
        crate::client::connection::Upstream::over_pipes(
            ends.stdin,
            ends.stdout,
            &limits,
            Strays::default()
        ),
        server.begin_newer(json!({"tools": {"listChanged": true}})),
    );
    let upstream = upstream.expect("it begins");
    let mut changed = upstream.changed();
    let listen = server.expect("subscriptions/listen").await;
    assert_eq!(
        listen["params"]["notifications"],
        json!({"toolsListChanged": true})
    );
    server
        .say(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
        .await;
    within(changed.changed()).await.expect("it is there");
}
