//! F-095: providers that do not answer as they should.
//!
//! Each case also says what it costs: nothing if the provider refused the call, and the whole reservation if it
//! took it, or may have.

use std::thread;
use std::time::Duration;

use jig_broker::{CancelToken, Chat, LlmError, LlmSettings};
use jig_testkit::provider::{Answer, Provider};
use serde_json::json;

use crate::llm::world::{World, ask, hear, most, question, streamed, used};

/// What a call costs.
#[derive(Debug, Clone, Copy)]
enum Cost {
    Nothing,
    All,
    Exactly(f64),
}

fn check_with(
    settings: impl FnOnce(&mut LlmSettings),
    name: &str,
    answer: Answer,
    chat: &Chat,
    expected: &str,
    cost: Cost,
) {
    let world = World::new().with(|s| s.retries = 0).with(settings);
    world.provider.always(answer);
    let broker = world.broker();
    let error = ask(&broker, chat).unwrap_err();
    assert_eq!(error.to_string(), expected, "{name}");
    let cost = match cost {
        Cost::Nothing => 0.0,
        Cost::All => most("x", 100),
        Cost::Exactly(cost) => cost,
    };
    assert_eq!(used(&broker), cost, "{name}");
    assert_eq!(world.provider.requests().len(), 1, "{name}");
}

fn check(name: &str, answer: Answer, chat: &Chat, expected: &str, cost: Cost) {
    check_with(|_| {}, name, answer, chat, expected, cost);
}

fn bad(why: &str) -> String {
    format!("the provider's answer cannot be used: {why}")
}

#[test]
fn f095_malformed_answers() {
    let json = |body: &str| Answer::body("application/json", body);
    let check = |name: &str, answer, why: &str, cost| {
        check(name, answer, &question("x"), &bad(why), cost);
    };
    let not_json = "it is not the JSON of an answer";
    check("no JSON", json("{\"choices\":["), not_json, Cost::All);
    check("nothing", json(""), not_json, Cost::All);
    check(
        "not UTF-8",
        Answer::body("application/json", b"{\"choices\":\"\xff\"}"),
        not_json,
        Cost::All,
    );
    check("nested", json(&"[".repeat(100_000)), not_json, Cost::All);
    check(
        "no choices",
        json("{\"choices\":[]}"),
        "it has no choice",
        Cost::All,
    );
    check(
        "content null",
        json(r#"{"choices":[{"message":{"content":null}}]}"#),
        "it has no text",
        Cost::All,
    );
    // The usage is true, whatever the answer is worth.
    check(
        "no choices, with usage",
        json(r#"{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}}"#),
        "it has no choice",
        Cost::Exactly(13.0),
    );
    let neither = "it is neither JSON nor an event stream";
    check(
        "HTML",
        Answer::body("text/html", "<html>"),
        neither,
        Cost::All,
    );
    check(
        "no type",
        Answer::raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
        neither,
        Cost::All,
    );
    check(
        "compressed",
        json("{}").header("Content-Encoding", "gzip"),
        "it is compressed",
        Cost::All,
    );
    let not_http = "it is not HTTP as it should be";
    check(
        "no HTTP",
        Answer::raw("SSH-2.0-OpenSSH_9.6\r\n\r\n"),
        not_http,
        Cost::All,
    );
    let long = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(1_000_000));
    check("a gigantic header", Answer::raw(long), not_http, Cost::All);
    check(
        "cut in the middle",
        Answer::text("hello").cut_after(20),
        "the connection ended in the middle of it",
        Cost::All,
    );
    check(
        "a bad chunk",
        Answer::raw(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n",
        ),
        "the connection ended in the middle of it",
        Cost::All,
    );
    check(
        "a gigantic body",
        Answer::endless("application/json", "{\"a\":\"", "xxxx"),
        "it is too long",
        Cost::All,
    );
}

#[test]
fn a_usage_that_cannot_be_true_costs_the_reservation() {
    for usage in [
        json!({"prompt_tokens": -5, "completion_tokens": 1}),
        json!({"prompt_tokens": 5, "completion_tokens": 1e18}),
        json!({"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 6}}),
    ] {
        for chat in [question("x"), streamed("x")] {
            check(
                &usage.to_string(),
                Answer::text("hi").usage_json(Some(usage.clone())),
                &chat,
                &bad("the usage that it reports is impossible"),
                Cost::All,
            );
        }
    }
}

/// Servers that report no usage are usable; they count with the most that they can have used.
#[test]
fn an_answer_without_usage_costs_the_reservation() {
    for chat in [question("x"), streamed("x")] {
        let world = World::new().always(Answer::text("hi").usage_json(None));
        let broker = world.broker();
        let usage = ask(&broker, &chat).unwrap().usage;
        assert_eq!((usage.input_tokens, usage.output_tokens), (17, 100));
        assert_eq!(usage.weighted, most("x", 100));
        assert_eq!(used(&broker), most("x", 100));
    }
}

#[test]
fn f095_malformed_streams() {
    let word = r#"{"choices":[{"delta":{"content":"word "}}]}"#;
    let check = |name: &str, answer, expected: &str| {
        check(name, answer, &streamed("x"), expected, Cost::All);
    };
    check(
        "an event without JSON",
        Answer::events([word, "{\"choi"]),
        &bad("an event of its stream is not the JSON of an answer"),
    );
    check(
        "ends too early",
        Answer::events([word]),
        &bad("its stream ended too early"),
    );
    check(
        "cut in the middle",
        Answer::events([word, word]).cut_after(60),
        &bad("the connection ended in the middle of it"),
    );
    check(
        "no events",
        Answer::body("text/event-stream", "hello\n\n"),
        &bad("its stream ended too early"),
    );
    check(
        "not UTF-8",
        Answer::body("text/event-stream", b"data: \xff\n\n"),
        &bad("its event stream is not UTF-8"),
    );
    check(
        "an error in the stream",
        Answer::events([
            word,
            r#"{"error":{"message":"The server is overloaded","type":"server_error"}}"#,
        ]),
        "the provider answered 200: The server is overloaded",
    );
    check(
        "a gigantic line",
        Answer::endless("text/event-stream", "data: ", "xxxx"),
        &bad("a line of its event stream is too long"),
    );
    check(
        "gigantic events",
        Answer::endless("text/event-stream", "", "data: xxxxxxxxxxxxxxxxxxxx\n"),
        &bad("an event of its stream is too long"),
    );
    let words = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n",
        "x".repeat(5000)
    );
    check(
        "a text without end",
        Answer::endless("text/event-stream", "", &words),
        &bad("its text is too long"),
    );
    check(
        "comments without end",
        Answer::endless("text/event-stream", "", &format!(":{}\n", "x".repeat(8000))),
        &bad("its stream is too long"),
    );
}

/// A stream that breaks has delivered what came before; it is not begun anew.
#[test]
fn text_that_was_delivered_is_never_delivered_again() {
    let word = r#"{"choices":[{"delta":{"content":"word "}}]}"#;
    let world = World::new().with(|s| s.retries = 5);
    let length = format!("data: {word}\n\n").len();
    world
        .provider
        .always(Answer::events([word, word]).cut_after(length));
    let (pieces, result) = hear(&world.broker(), &streamed("x"));
    assert!(result.is_err());
    assert_eq!(pieces, ["word "]);
    assert_eq!(world.provider.requests().len(), 1);
}

#[test]
fn refusals_say_why_and_cost_nothing() {
    let check = |status: u16, message: &str, expected: &str| {
        let expected = format!("the provider answered {status}: {expected}");
        let answer = Answer::error(status, message);
        check(message, answer, &question("x"), &expected, Cost::Nothing);
    };
    check(400, "max_tokens is too large", "max_tokens is too large");
    check(
        404,
        "The model `x` does not exist",
        "The model `x` does not exist",
    );
    check(422, "a\nb\u{1b}[31mc", "a b\\u{1b}[31mc");
    check(413, &"ä".repeat(1000), &"ä".repeat(150));
    check(400, "", "it gives no reason");
    // These may name the account, or a part of the key.
    let key = "it does not accept the key";
    check(401, "Incorrect API key provided: sk-hu**9f8e", key);
    check(403, "Project proj_123 has no access", key);
    let busy = "it has too many requests, or the account has no credit";
    check(429, "Rate limit reached for org-123", busy);
    check(500, "stack trace", "it has a problem of its own");
    check(418, "teapot", "it does not accept the request");
    check(201, "created", "it does not accept the request");
}

#[test]
fn a_refusal_may_have_any_body() {
    for body in ["<html>", "", "{\"error\":7}", "[]", "\"x\""] {
        check(
            body,
            Answer::body("text/html", body).status(400),
            &question("x"),
            "the provider answered 400: it does not accept the request",
            Cost::Nothing,
        );
    }
    check(
        "text only",
        Answer::body("application/json", r#"{"error":"no such thing"}"#).status(404),
        &question("x"),
        "the provider answered 404: no such thing",
        Cost::Nothing,
    );
    check(
        "without end",
        Answer::endless("application/json", "", "x").status(400),
        &question("x"),
        "the provider answered 400: it does not accept the request",
        Cost::Nothing,
    );
    check(
        "an error instead of an answer",
        Answer::body(
            "application/json",
            r#"{"error":{"message":"quota of the account"}}"#,
        ),
        &question("x"),
        "the provider answered 200: quota of the account",
        Cost::All,
    );
}

/// F-093: a redirect could take the key and the question anywhere.
#[test]
fn f093_no_redirect_is_followed() {
    let elsewhere = Provider::start();
    let location = format!("{}/chat/completions", elsewhere.url());
    for status in [301, 302, 303, 307, 308] {
        check(
            "a redirect",
            Answer::body("text/html", "")
                .status(status)
                .header("Location", &location),
            &question("x"),
            &format!(
                "the provider answered {status}: it redirects, and redirects are not followed"
            ),
            Cost::Nothing,
        );
    }
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn silence_ends_with_the_time() {
    let late = "the provider did not answer in time";
    // Long enough for a connection on a busy machine; so all of them wait at the same time.
    let short = |s: &mut LlmSettings| s.total_time = Duration::from_secs(3);
    let idle = |s: &mut LlmSettings| s.idle_time = Duration::from_millis(300);
    let word = r#"{"choices":[{"delta":{"content":"word "}}]}"#;
    let hanging = || Answer::events([word, word]).hanging_after(60);
    let head = || Answer::raw("HTTP/1.1 200 OK\r\nContent-").hanging_after(100);
    let body = || Answer::text("hello").hanging_after(20);
    // Slow is not silent, but it must come to an end.
    let slow = || Answer::text("a b c d").slowly(Duration::from_millis(20));
    // The provider has refused, and only its reasons are missing.
    let refused = || Answer::error(400, "reasons").hanging_after(3);
    let (whole, stream) = (&question("x"), &streamed("x"));
    let (all, nothing) = (Cost::All, Cost::Nothing);
    thread::scope(|scope| {
        scope.spawn(|| check_with(short, "before", Answer::silence(), whole, late, all));
        scope.spawn(|| check_with(short, "in the head", head(), whole, late, all));
        scope.spawn(|| check_with(idle, "in the body", body(), whole, late, all));
        scope.spawn(|| check_with(idle, "in the stream", hanging(), stream, late, all));
        scope.spawn(|| check_with(short, "all together", hanging(), stream, late, all));
        scope.spawn(|| check_with(short, "slowly", slow(), stream, late, all));
        scope.spawn(|| check_with(idle, "in a refusal", refused(), whole, late, nothing));
    });
}

/// Whoever is slow to take a piece is not the provider's fault.
#[test]
fn a_slow_listener_is_not_an_idle_provider() {
    let pieces = 200;
    let word = r#"{"choices":[{"delta":{"content":"word "}}]}"#;
    let stop = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    let events: Vec<&str> = [word; 200].into_iter().chain([stop]).collect();
    let world = World::new().with(|s| s.idle_time = Duration::from_millis(500));
    world.provider.always(Answer::events(events));
    let mut heard = 0;
    let reply = world
        .broker()
        .chat(&streamed("x"), &CancelToken::new(), &mut |_| {
            // More pieces come than wait for it meanwhile, so that nothing is read.
            if heard == 0 {
                jig_testkit::let_pass(Duration::from_millis(800));
            }
            heard += 1;
        });
    assert_eq!((reply.map(drop), heard), (Ok(()), pieces));
}

/// Bytes that come now and then keep a stream alive, also those that say nothing.
#[test]
fn a_slow_stream_is_not_an_idle_one() {
    let world = World::new().with(|s| s.idle_time = Duration::from_secs(20));
    let answer = Answer::text("a b").slowly(Duration::from_millis(1));
    world.provider.always(answer);
    let (pieces, reply) = hear(&world.broker(), &streamed("x"));
    assert_eq!((pieces.concat().as_str(), reply.is_ok()), ("a b", true));
}

#[test]
fn what_a_provider_calls_itself_is_bounded() {
    let world = World::new().always(
        Answer::text("hi")
            .model(&format!("m\u{1b}[31m{}", "x".repeat(10_000)))
            .finish_reason(&"st\nop".repeat(100)),
    );
    let reply = ask(&world.broker(), &question("x")).unwrap();
    assert!(
        reply.model.starts_with("m\\u{1b}[31mxxx"),
        "{}",
        reply.model
    );
    assert_eq!((reply.model.len(), reply.finish_reason.len()), (256, 64));
    assert!(!reply.finish_reason.contains('\n'));
    let world = World::new().always(Answer::text("hi").model("").finish_reason(""));
    let reply = ask(&world.broker(), &question("x")).unwrap();
    assert_eq!(reply.model, "big-model");
    assert_eq!(reply.finish_reason, "unknown");
}

#[test]
fn nobody_is_there() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let check = |url: String, expected: &str| {
        let world = World::new().with(|s| s.base_url = url.parse().unwrap());
        let broker = world.broker();
        let error = ask(&broker, &question("x")).unwrap_err();
        assert_eq!(error, LlmError::Unreachable(expected.to_owned()));
        assert_eq!(used(&broker), 0.0);
    };
    check(format!("http://{address}/v1"), "the connection was refused");
    check(
        "https://nowhere.test/v1".to_owned(),
        "its host was not found",
    );
}
