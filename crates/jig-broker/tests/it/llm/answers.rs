//! What is sent, and what comes back when all is well.

use std::sync::atomic::Ordering;
use std::time::Duration;

use jig_broker::{AuditDecision, Broker, Chat, LlmError, OnAuditFailure, TokenField};
use jig_proto::fsproxy::{LlmMessage, LlmRole};
use jig_testkit::provider::Answer;
use serde_json::json;

use crate::llm::world::{World, ask, hear, question, streamed};

#[test]
fn an_answer_in_one_piece() {
    let world = World::new().always(
        Answer::text("Four of them.")
            .usage(12, 8, 3)
            .model("big-model-2026"),
    );
    let broker = world.broker();
    let chat = Chat {
        temperature: Some(0.5),
        max_tokens: Some(50),
        messages: vec![
            LlmMessage::new(LlmRole::System, "Be brief."),
            LlmMessage::new(LlmRole::User, "How many\n\"sides\"?"),
            LlmMessage::new(LlmRole::Assistant, "Of what?"),
            LlmMessage::new(LlmRole::User, "A square."),
        ],
        ..question("")
    };
    let (pieces, reply) = hear(&broker, &chat);
    let reply = reply.unwrap();
    assert_eq!(reply.content, "Four of them.");
    assert_eq!(reply.model, "big-model-2026");
    assert_eq!(reply.finish_reason, "stop");
    let usage = reply.usage;
    assert_eq!(
        (usage.input_tokens, usage.cached_tokens, usage.output_tokens),
        (12, 8, 3)
    );
    assert_eq!(usage.weighted, 4.0 + 8.0 * 0.25 + 3.0 * 4.0);
    assert!(pieces.is_empty(), "nobody asked for pieces: {pieces:?}");

    let requests = world.provider.requests();
    assert_eq!(requests.len(), 1);
    let request = &requests[0];
    assert_eq!(
        (request.method.as_str(), request.path.as_str()),
        ("POST", "/v1/chat/completions")
    );
    assert_eq!(
        request.header("authorization"),
        Some("Bearer sk-hunter22-9f8e")
    );
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("accept-encoding"), Some("identity"));
    assert_eq!(
        request.json(),
        json!({
            "model": "big-model",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "How many\n\"sides\"?"},
                {"role": "assistant", "content": "Of what?"},
                {"role": "user", "content": "A square."},
            ],
            "max_tokens": 50,
            "temperature": 0.5,
            "stream": false,
        })
    );
}

#[test]
fn an_answer_in_pieces() {
    let world = World::new().always(Answer::text("one two three").usage(9, 0, 3));
    let broker = world.broker();
    let (pieces, reply) = hear(&broker, &streamed("count"));
    let reply = reply.unwrap();
    assert_eq!(pieces, ["one ", "two ", "three"]);
    assert_eq!(reply.content, "one two three");
    assert_eq!(reply.finish_reason, "stop");
    assert_eq!(reply.usage.weighted, 21.0);
    let body = world.provider.requests()[0].json();
    assert_eq!(body["stream"], true);
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
}

/// The first piece arrives while the provider still holds the last one back.
#[test]
fn a_stream_is_delivered_while_it_comes() {
    let world = World::new();
    // The role and the first word; the rest never comes.
    let first = r#"data: {"choices":[{"index":0,"delta":{"content":"early"}}]}"#;
    let first = format!("{first}\n\n");
    let length = first.len();
    world.provider.always(
        Answer::body("text/event-stream", format!("{first}{first}"))
            .chunked()
            .hanging_after(length),
    );
    let cancel = jig_broker::CancelToken::new();
    let giving_up = cancel.clone();
    let mut heard = String::new();
    let result = world.broker().chat(&streamed("x"), &cancel, &mut |text| {
        heard.push_str(text);
        giving_up.cancel();
    });
    assert_eq!(
        (heard.as_str(), result),
        ("early", Err(LlmError::Cancelled))
    );
}

#[test]
fn forms_of_transport_make_no_difference() {
    let check = |name: &str, answer: Answer, chat: &Chat| {
        let world = World::new().always(answer);
        let reply = ask(&world.broker(), chat);
        assert_eq!(
            reply.map(|reply| reply.content),
            Ok("hi".to_owned()),
            "{name}"
        );
    };
    let whole = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#;
    let body = |kind: &str| Answer::body(kind, whole);
    check("by its length", body("application/json"), &question("x"));
    check(
        "in chunks",
        body("application/json").chunked(),
        &question("x"),
    );
    check(
        "with a character set",
        body("Application/JSON; charset=utf-8"),
        &question("x"),
    );
    let raw = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{whole}");
    check(
        "until the connection ends",
        Answer::raw(raw),
        &question("x"),
    );
    let raw = format!("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{whole}");
    check("in HTTP/1.0", Answer::raw(raw), &question("x"));
    check(
        "byte by byte",
        body("application/json").slowly(Duration::from_millis(1)),
        &question("x"),
    );
    check(
        "a stream byte by byte",
        Answer::text("hi").slowly(Duration::from_micros(200)),
        &streamed("x"),
    );
    // A provider that knows no streams.
    check("no stream", body("application/json"), &streamed("x"));
    let events = [
        r#"{"choices":[{"delta":{"content":"h"}}]}"#,
        r#"{"choices":[{"delta":{"content":"i"},"finish_reason":"stop"}]}"#,
    ];
    check("without an end", Answer::events(events), &streamed("x"));
    let strange = "\u{feff}: hello\r\n\r\nevent: x\r\ndata: {\"choices\":[{\"delta\":\rdata: \
                   {\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    check(
        "as the standard allows",
        Answer::body("text/event-stream", strange),
        &streamed("x"),
    );
}

#[test]
fn a_stream_that_is_not_one_is_delivered() {
    let whole = r#"{"choices":[{"message":{"content":"a b c"}}]}"#;
    let world = World::new().always(Answer::body("application/json", whole));
    let (pieces, reply) = hear(&world.broker(), &streamed("x"));
    // An end that a spelling of the key begins with comes by itself, when it is certain.
    assert_eq!(pieces.concat(), "a b c");
    assert_eq!(reply.unwrap().finish_reason, "unknown");
}

#[test]
fn f072_the_level_chooses_the_model() {
    let world = World::new();
    let broker = world.broker();
    for (is_top_level, expected) in [(true, "big-model"), (false, "small-model")] {
        let chat = Chat {
            is_top_level,
            ..question("x")
        };
        ask(&broker, &chat).unwrap();
        let body = world.provider.requests().pop().unwrap().json();
        assert_eq!(body["model"], expected);
    }
    let targets: Vec<String> = world.log.entries().into_iter().map(|e| e.target).collect();
    assert_eq!(
        targets,
        ["big-model at 127.0.0.1", "small-model at 127.0.0.1"]
    );
}

#[test]
fn newer_models_get_their_field() {
    let world = World::new().with(|s| s.token_field = TokenField::MaxCompletionTokens);
    ask(&world.broker(), &question("x")).unwrap();
    let body = world.provider.requests()[0].json();
    assert_eq!(body["max_completion_tokens"], 100);
    assert!(body.get("max_tokens").is_none(), "{body}");
}

#[test]
fn without_a_key_nothing_is_authorized() {
    let world = World::new().with(|s| s.key = None);
    ask(&world.broker(), &question("x")).unwrap();
    assert_eq!(world.provider.requests()[0].header("authorization"), None);
}

#[test]
fn x31_without_a_provider_there_is_no_llm() {
    let world = World::new();
    let broker = Broker::new(world.parts());
    assert!(broker.llm().is_none());
    let error = ask(&broker, &question("x")).unwrap_err();
    assert_eq!(error, LlmError::NotAvailable);
    assert_eq!(error.to_string(), "LLM not available");
}

#[test]
fn what_makes_no_sense_is_not_sent() {
    let world = World::new().with(|s| s.input_bytes = 1000);
    let broker = world.broker();
    let check = |chat: Chat, expected: &str| {
        let error = ask(&broker, &chat).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    let with = |temperature| Chat {
        temperature: Some(temperature),
        ..question("x")
    };
    check(Chat::new(Vec::new()), "there is no message");
    check(with(-0.1), "`temperature` must be from 0 to 2");
    check(with(2.1), "`temperature` must be from 0 to 2");
    check(with(f64::NAN), "`temperature` must be from 0 to 2");
    let none = Chat {
        max_tokens: Some(0),
        ..question("x")
    };
    check(none, "`max_tokens` must be at least 1");
    check(
        question(&"x".repeat(993)),
        "the input has 1001 bytes, and one call may send 1000",
    );
    // Any number of messages without a word is too much as well.
    let empty = vec![LlmMessage::new(LlmRole::User, ""); 126];
    check(
        Chat::new(empty),
        "the input has 1008 bytes, and one call may send 1000",
    );
    assert!(world.provider.requests().is_empty());
    assert_eq!(broker.llm().unwrap().quota().calls, 0);
    assert!(world.log.entries().is_empty());
}

#[test]
fn every_call_is_written_down_without_a_word_of_it() {
    let world = World::new();
    world.provider.script([
        Answer::text("the private answer").usage(12, 8, 3),
        Answer::error(400, "private words of the provider"),
    ]);
    let broker = world.broker();
    ask(&broker, &question("the private question")).unwrap();
    ask(&broker, &question("the private question")).unwrap_err();
    let too_much = Chat {
        max_tokens: Some(1),
        ..question(&"x".repeat(10_000))
    };
    assert_eq!(ask(&broker, &too_much), Err(LlmError::QuotaExceeded));
    let entries = world.log.entries();
    assert!(!format!("{entries:?}").contains("private"), "{entries:?}");
    let lines: Vec<_> = entries
        .iter()
        .map(|entry| {
            assert_eq!(entry.operation, "llm.chat");
            assert_eq!((entry.tool.as_str(), entry.call.as_str()), ("asker", "c1"));
            let outcome = entry.outcome.as_deref();
            (entry.decision, entry.reason.as_str(), outcome)
        })
        .collect();
    let configured = "the provider is configured";
    assert_eq!(
        lines,
        [
            (
                AuditDecision::Allow,
                configured,
                Some("ok: 12 input tokens (8 cached), 3 output tokens")
            ),
            (AuditDecision::Allow, configured, Some("refused")),
            (
                AuditDecision::Deny,
                "the quota does not cover the call: 18.0/10000 weighted tokens, 0 reserved",
                None
            ),
        ]
    );
    assert!(entries[0].duration_us.is_some() && entries[2].duration_us.is_none());
}

#[test]
fn what_cannot_be_written_down_is_not_done() {
    let world = World::new();
    let mut parts = world.parts();
    parts.llm = world.broker().llm().cloned();
    parts.on_audit_failure = OnAuditFailure::Refuse;
    let broker = Broker::new(parts);
    world.log.fails.store(true, Ordering::SeqCst);
    ask(&broker, &question("x")).unwrap();
    assert_eq!(ask(&broker, &question("x")), Err(LlmError::Unaudited));
    assert_eq!(world.provider.requests().len(), 1);
}

/// Several brokers of one client tree have one provider, and one quota.
#[test]
fn brokers_share_a_quota() {
    let world = World::new();
    let first = world.broker();
    let mut parts = world.parts();
    parts.llm = first.llm().cloned();
    let second = Broker::new(parts);
    ask(&first, &question("x")).unwrap();
    ask(&second, &question("x")).unwrap();
    for broker in [&first, &second] {
        let report = broker.llm().unwrap().quota();
        assert_eq!((report.used, report.calls), (60.0, 2));
    }
}
