//! `jig:tool/vfs`: messages as lines are, also wrong ones.

use std::time::Duration;

use jig_broker::Unapproved;
use jig_proto::{StateName, ToolState};
use jig_runtime::AskedBy;
use serde_json::{Value, json};

use crate::common::{LIMIT, On, Tried, until};
use crate::host::{answer, answers};

fn workspace() -> Tried {
    Tried::memory("hosted")
        .file("a.txt", "hello\nworld\n")
        .file("src/b.txt", "hello again\n")
}

fn request(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
}

fn ready() -> Value {
    json!(["notify", {
        "jsonrpc": "2.0",
        "method": "ready",
        "params": {"capabilities": {"blobs": {}, "etag": {}}},
    }])
}

#[test]
fn the_protocol_is_spoken_by_messages() {
    let check = |call: Value, expected: Value| {
        let (line, _) = answer(workspace(), &json!(["message", call]));
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line["id"], 7);
        assert_eq!(line["result"], expected, "{call}");
    };
    check(
        request("fs.read", json!({"path": "src/b.txt"})),
        json!({"content": "hello again\n", "size": 12}),
    );
    check(
        request("fs.exists", json!({"path": "nothing"})),
        json!({"exists": false}),
    );
    check(
        request(
            "fs.grep",
            json!({"pattern": "^hello", "paths": ["src", "a.txt"]}),
        ),
        json!({"matches": [
            {"path": "a.txt", "lines": [
                {"line_number": 1, "content": "hello", "is_match": true},
            ]},
            {"path": "src/b.txt", "lines": [
                {"line_number": 1, "content": "hello again", "is_match": true},
            ]},
        ]}),
    );
    check(
        request("fs.write", json!({"path": "new", "content": "x"})),
        json!({}),
    );
}

/// What is wrong is answered as the driver of mediated programs answers it; nothing is done.
#[test]
fn what_is_no_request_is_refused() {
    let check = |call: Value, kind: &str, message: &str| {
        let (line, done) = answer(workspace(), &call);
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line["error"]["data"]["kind"], kind, "{call}: {line}");
        let said = line["error"]["message"].as_str().unwrap();
        assert!(said.contains(message), "{call}: {said}");
        assert_eq!(done.decisions(), Vec::<String>::new());
    };
    check(
        json!(["message", ""]),
        "invalid_request",
        "not a JSON object",
    );
    check(
        json!(["message", "{"]),
        "invalid_request",
        "not a JSON object",
    );
    check(json!(["message", "[]"]), "invalid_request", "list");
    check(
        json!(["message", {"id": 1, "method": "fs.read"}]),
        "invalid_request",
        "`jsonrpc` must be",
    );
    check(
        json!(["message", request("read", json!({"path": "a.txt"}))]),
        "method_not_found",
        "it is called `fs.read`",
    );
    check(
        json!(["message", request("fs.read", json!({}))]),
        "invalid_params",
        "missing field `path`",
    );
    check(
        json!(["message", {"jsonrpc": "2.0", "method": "fs.read", "params": {"path": "a.txt"}}]),
        "invalid_request",
        "without an `id`",
    );
    check(
        json!(["message", {"jsonrpc": "2.0", "method": "state", "params": {"type": "running"}}]),
        "invalid_request",
        "goes to `notify`",
    );
    check(
        json!([
            "message",
            request("fs.write", json!({"path": "n", "content": "x"})),
            "bytes"
        ]),
        "invalid_request",
        "no `blob` says so",
    );
    check(
        json!(["long-message", 16 * 1024 * 1024 + 1]),
        "line_too_long",
        "longer than 16777216 bytes",
    );
}

#[test]
fn content_goes_beside_the_message_once_that_is_agreed() {
    let write = |length: u64| {
        json!({
            "jsonrpc": "2.0", "id": 7, "method": "fs.write", "params": {"path": "new"},
            "blob": length,
        })
    };
    let read = request("fs.read", json!({"path": "new", "blob": true}));
    let calls = json!([
        // Not agreed upon: `blob` is a field like any other, and the content is missing.
        ["message", write(3), "abc"],
        ready(),
        ["message", write(4), "abc"],
        ["message", write(3)],
        [
            "long-blob",
            request("fs.write", json!({"path": "big"})),
            16 * 1024 * 1024 + 1
        ],
        ["message", write(3), "abc"],
        ["message", read],
    ]);
    let (lines, done) = answers(workspace(), &calls);
    assert!(lines[0].contains("missing field `content`"), "{}", lines[0]);
    assert!(lines[2].contains("`blob` says 4 bytes"), "{}", lines[2]);
    assert!(lines[3].contains("`blob` says 3 bytes"), "{}", lines[3]);
    assert!(lines[4].contains("line_too_long"), "{}", lines[4]);
    assert!(lines[5].contains("\"etag\""), "{}", lines[5]);
    assert!(
        lines[6].ends_with(" + \"abc\"") && lines[6].contains("\"blob\":3"),
        "{}",
        lines[6]
    );
    assert_eq!(done.read("new").unwrap(), b"abc");
    assert_eq!(done.read("big"), None);
}

/// The last word by message has room for more than a text, and counts more than what `run` returns.
#[test]
fn the_last_word_may_be_a_message() {
    let told = |notification: Value| {
        let calls = json!([
            ["notify", notification],
            ["message", request("fs.read", json!({"path": "a.txt"}))]
        ]);
        workspace().arguments(json!({ "calls": calls })).run()
    };
    let done = told(
        json!({"jsonrpc": "2.0", "method": "result", "params": {"content": [
            {"type": "text", "text": "one"},
            {"type": "resource", "resource": {"uri": "file:///x", "text": "two", "mimeType": "text/x-rust"}},
        ]}}),
    );
    assert_eq!(done.text(), "one\n```rs\ntwo\n```");
    // Whoever has said it has nothing more to ask.
    assert_eq!(done.decisions(), Vec::<String>::new());
    let done = told(json!({"jsonrpc": "2.0", "method": "error", "params": {
        "message": "no", "trace": ["because"], "transient": true,
    }}));
    let error = done.error();
    assert_eq!((error.message.as_str(), error.transient), ("no", true));
    assert_eq!(error.trace, ["because"]);
    let done = told(json!({"jsonrpc": "2.0", "method": "result", "params": 7}));
    assert_eq!(
        done.error().message,
        "the tool sent a `result` that cannot be read"
    );
    // What is no notification is passed over.
    for other in [
        json!("x"),
        json!({}),
        request("fs.delete", json!({"path": "a.txt"})),
    ] {
        let done = told(other);
        assert_eq!(done.decisions(), ["fs.read a.txt allow"]);
        assert!(done.read("a.txt").is_some());
    }
}

/// V-027: as in every runtime, a question among the blocks of a result is asked, and the guest is run again with the
/// answer. What stands beside the question is shown with it.
#[test]
fn v027_a_question_in_a_result_is_asked() {
    let result = json!({"jsonrpc": "2.0", "method": "result", "params": {"content": [
        {"type": "text", "text": "About you."},
        {"type": "question", "id": "name", "text": "Who?", "schema": {"type": "string"}},
    ]}});
    let tried = || {
        let calls = json!([["notify", result]]);
        let answered = json!([["exists", "a.txt"]]);
        workspace().arguments(json!({ "calls": calls, "answered": answered }))
    };
    let (session, _) = tried().start();
    let asked = until(&session, StateName::Waiting);
    assert_eq!(asked.asker, Some(AskedBy::Tool));
    let ToolState::Waiting { question, .. } = asked.state else {
        panic!("{asked:?}");
    };
    assert_eq!(
        (question.id.as_str(), question.text.as_str()),
        ("name", "Who?")
    );
    assert_eq!(question.context.as_deref(), Some("About you."));
    drop(session);
    let done = tried().answer("Ada").run();
    assert_eq!(done.text(), "{\"name\":\"Ada\"}\ntrue");
    assert_eq!(done.asked.len(), 1);
    let expected = "the tool asks `Who?`, and nobody can answer";
    assert_eq!(tried().run().error().message, expected);
}

#[test]
fn a_question_waits_and_is_answered() {
    let question = json!({"jsonrpc": "2.0", "method": "state", "params": {
        "type": "waiting", "content": "so far",
        "question": {"id": "sure", "text": "Sure?", "answer_type": "boolean"},
    }});
    let calls = json!([
        ["notify", question],
        ["wait", "sure"],
        ["wait", "sure"],
        ["wait", "other", 1]
    ]);
    let (lines, done) = answers(workspace().answer(true), &calls);
    assert_eq!(lines[1], "true");
    assert!(
        lines[2].contains("the question `sure` is not open"),
        "{}",
        lines[2]
    );
    assert!(lines[3].contains("without a limit"), "{}", lines[3]);
    assert_eq!(done.asked.len(), 1);
    assert_eq!(done.asked[0].1, "Sure?");
    // Without an answer it cannot go on.
    let done = workspace().arguments(json!({ "calls": calls })).run();
    let expected = "the tool asks `Sure?`, and nobody can answer";
    assert_eq!(done.error().message, expected);
}

#[test]
fn states_are_shown_and_input_is_taken() {
    let running = json!({"jsonrpc": "2.0", "method": "state", "params": {
        "type": "running", "content": "at work",
    }});
    let calls = json!([["wait", null, 1], ["notify", running], ["wait"]]);
    let tried = workspace().stateful().arguments(json!({ "calls": calls }));
    let (session, _) = tried.start();
    let mut seen = 0;
    loop {
        let update = session.wait(seen, Some(LIMIT));
        assert!(update.number > seen, "{update:?}");
        seen = update.number;
        if matches!(&update.state, ToolState::Running { content } if content.to_text() == "at work")
        {
            break;
        }
    }
    session.apply(seen, json!({"line": "go on"})).unwrap();
    let update = until(&session, StateName::Stopped);
    let ToolState::Stopped { result, .. } = update.state else {
        panic!("{update:?}");
    };
    assert_eq!(
        result.unwrap().to_text(),
        "nothing\ntold\n{\"line\":\"go on\"}"
    );
}

/// A guest that waits for input for ever is not in the way of whoever gives the call up.
#[test]
fn a_waiting_guest_can_be_cancelled() {
    for call in [json!(["wait"]), json!(["wait", null, 3_600_000])] {
        let tried = workspace().stateful().arguments(json!({ "calls": [call] }));
        let (session, _) = tried.start();
        session.cancel();
        let update = until(&session, StateName::Stopped);
        let ToolState::Stopped { result, .. } = update.state else {
            panic!("{update:?}");
        };
        let error = result.unwrap_err();
        assert!(error.message.contains("cancelled"), "{error:?}");
    }
}

/// Where nobody gives input, waiting for it is the guest's own time: it must not outlive its limit that way.
#[test]
fn waiting_for_input_that_nobody_gives_takes_the_time_of_the_guest() {
    let slices: Vec<Value> = (0..100).map(|_| json!(["wait", null, 50])).collect();
    for calls in [
        json!([["wait", null, 3_000]]),
        json!(slices),
        json!([["wait"]]),
    ] {
        let tried = workspace().limits(|limits| limits.time = Some(Duration::from_millis(200)));
        let done = tried.arguments(json!({ "calls": calls })).run();
        let error = done.error();
        assert!(error.message.contains("200"), "{calls}: {error:?}");
    }
    // Within its time it may.
    let tried = workspace().limits(|limits| limits.time = Some(LIMIT));
    let (line, _) = answer(tried, &json!(["wait", null, 1]));
    assert_eq!(line, "nothing");
}

/// A guest that asks about access can be told no by one who is not there.
#[test]
fn an_uncovered_request_waits_for_its_answer() {
    let tried = || workspace().rules("fs = [{ path = \"src\", read = true }]");
    let call = json!(["message", request("fs.read", json!({"path": "a.txt"}))]);
    let (line, _) = answer(tried().answer("once"), &call);
    assert!(line.contains("hello"), "{line}");
    let tried = tried().arguments(json!({ "calls": [call] }));
    let (session, _) = tried.start();
    let update = until(&session, StateName::Waiting);
    session
        .decline(update.number, Unapproved::TimedOut)
        .unwrap();
    let update = until(&session, StateName::Stopped);
    let ToolState::Stopped { result, .. } = update.state else {
        panic!("{update:?}");
    };
    assert!(result.unwrap().to_text().contains("approval_timeout"));
}

#[test]
fn init_tells_the_call() {
    for on in On::ALL {
        let tried = Tried::on(on, "hosted").options(json!({"depth": 3}));
        let (line, _) = answer(tried, &json!(["init"]));
        let init: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(init["method"], "init");
        let params = &init["params"];
        assert_eq!(params["tool"]["options"], json!({"depth": 3}));
        assert_eq!(params["tool"]["arguments"]["calls"], json!([["init"]]));
        assert_eq!(params["limits"]["message_bytes"], 16 * 1024 * 1024);
        assert_eq!(params["capabilities"]["fd_pass"], Value::Null);
    }
}
