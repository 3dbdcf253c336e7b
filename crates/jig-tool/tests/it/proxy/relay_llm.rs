//! `LLMCMD` and `QUOTA` through a process in the middle.

use jig_tool::proxy::{ChildOptions, ChildStream, Relay};
use serde_json::{Value, json};

use crate::proxy::parent::{Peer, refused};

const OPTIONS: ChildOptions = ChildOptions {
    stdin: ChildStream::Null,
    stdout: ChildStream::Null,
    stderr: ChildStream::Null,
    llm: true,
};

/// A child that has handle 5 open.
fn start(options: ChildOptions) -> (Peer, Relay, Peer) {
    let (mut parent, client) = Peer::with_client();
    let relay = Relay::new(client).unwrap();
    let (_, child) = relay.attach(options).unwrap();
    let mut child = Peer::new(child);
    let params = json!({"path": "f", "mode": "rw"});
    child.send(&json!({"id": "o", "op": "open", "params": params}));
    let (id, _) = parent.request();
    parent.reply(&id, json!({"handle": 5}));
    child.next().unwrap();
    (parent, relay, child)
}

fn reply(content: Value, written: Value) -> Value {
    let usage = json!({"input_tokens": 1, "cached_tokens": 0, "output_tokens": 2, "weighted": 9.0});
    let quota = json!({"used": 9.0, "reserved": 0.0, "limit": 0.0, "calls": 1,
        "input_tokens": 1, "cached_tokens": 0, "output_tokens": 2});
    let mut reply = json!({"content": content, "written": written, "model": "m",
        "finish_reason": "stop", "usage": usage, "quota": quota});
    let members = reply.as_object_mut().unwrap();
    members.retain(|_, value| !value.is_null());
    reply
}

/// F-014: what a child names by 0, 1 and 2 is never named upward.
#[test]
fn commands_go_up_without_the_streams() {
    let check = |options: ChildOptions, sent: Value, passed_on: Value| {
        let (mut parent, _relay, mut child) = start(options);
        child.send(&json!({"id": "l", "op": "LLMCMD", "params": sent}));
        let (_, request) = parent.request();
        assert_eq!(
            request,
            json!({"op": "LLMCMD", "params": passed_on}),
            "{sent}"
        );
    };
    // Nested, whatever it says.
    check(
        OPTIONS,
        json!({"prompt": "x", "is_top_level": true}),
        json!({"prompt": "x", "is_top_level": false}),
    );
    // Its own handles go up as they are.
    check(
        OPTIONS,
        json!({"prompt": "x", "files": [5], "stdin": 5, "stdout": 5, "stderr": 5, "stream": true}),
        json!({"prompt": "x", "files": [5], "stdin": 5, "stdout": 5, "stderr": 5, "stream": true,
            "is_top_level": false}),
    );
    for options in [
        OPTIONS,
        ChildOptions {
            llm: true,
            ..ChildOptions::default()
        },
    ] {
        check(
            options,
            json!({"prompt": "x", "files": [0, 5], "stdin": 0, "stdout": 1, "stderr": 2,
                "stream": true, "paths": ["p"], "max_tokens": 9}),
            json!({"prompt": "x", "files": [5], "paths": ["p"], "max_tokens": 9,
                "is_top_level": false}),
        );
    }
    // A file of the relay in the place of a stream.
    let handles = ChildOptions {
        stdin: ChildStream::Handle(20),
        stdout: ChildStream::Handle(21),
        stderr: ChildStream::Handle(22),
        llm: true,
    };
    check(
        handles,
        json!({"prompt": "x", "files": [0], "stdin": 0, "stdout": 1, "stderr": 2, "stream": true}),
        json!({"prompt": "x", "files": [20], "stdin": 20, "stdout": 21, "stderr": 22,
            "stream": true, "is_top_level": false}),
    );
}

#[test]
fn handles_of_others_are_refused_before_anything_is_asked() {
    let (mut parent, _relay, mut child) = start(OPTIONS);
    let unknown = refused("E_CLOSED", "fd not found: 7");
    for params in [
        json!({"prompt": "x", "files": [5, 7]}),
        json!({"prompt": "x", "stdin": 7}),
        json!({"prompt": "x", "stdout": 7}),
        json!({"prompt": "x", "stderr": 7}),
    ] {
        assert_eq!(child.ask("LLMCMD", params.clone()), unknown, "{params}");
    }
    for params in [
        json!({"prompt": "x", "stdin": 1}),
        json!({"prompt": "x", "files": [2]}),
        json!({"prompt": "x", "stdout": 0}),
        json!({"prompt": "x", "stderr": 0}),
    ] {
        let answer = child.ask("LLMCMD", params.clone());
        assert_eq!(answer["error"]["code"], "E_PERM", "{params}");
    }
    child.send(&json!({"id": "q", "op": "QUOTA"}));
    assert_eq!(parent.request().1, json!({"op": "QUOTA"}));
}

/// An answer that is for a stream of this process is written here.
#[test]
fn an_answer_for_a_stream_is_counted_and_not_repeated() {
    let (mut parent, _relay, mut child) = start(OPTIONS);
    let params = json!({"prompt": "x", "stdout": 1});
    child.send(&json!({"id": "l", "op": "LLMCMD", "params": params}));
    child.send(&json!({"id": "r", "op": "read", "params": {"h": 0}}));
    let (id, _) = parent.request();
    parent.reply(&id, reply(json!("grüße"), json!(null)));
    let answer = child.next().unwrap();
    assert_eq!(answer["id"], "l");
    assert_eq!(answer["result"], reply(json!(null), json!(7)));
    assert_eq!(child.next().unwrap()["id"], "r");

    // Without one, it comes back as it is.
    child.send(&json!({"id": "l", "op": "LLMCMD", "params": {"prompt": "x"}}));
    let (id, _) = parent.request();
    parent.reply(&id, reply(json!("hi"), json!(null)));
    assert_eq!(
        child.next().unwrap()["result"],
        reply(json!("hi"), json!(null))
    );

    let params = json!({"prompt": "x", "stdout": 1, "stderr": 2});
    child.send(&json!({"id": "l", "op": "LLMCMD", "params": params}));
    let (id, _) = parent.request();
    parent.refuse(&id, "E_RANGE", "quota exceeded: cannot make LLM call");
    let error = &child.next().unwrap()["error"];
    assert_eq!(error["message"], "quota exceeded: cannot make LLM call");
}

/// A child that is gone while its question is asked is cleaned up at once, not when it is answered.
#[test]
fn a_child_that_is_gone_does_not_wait_for_its_answer() {
    let (mut parent, _relay, mut child) = start(OPTIONS);
    let params = json!({"prompt": "x", "stdout": 1});
    child.send(&json!({"id": "l", "op": "LLMCMD", "params": params}));
    let (id, _) = parent.request();
    drop(child);
    assert_eq!(
        parent.request().1,
        json!({"op": "close", "params": {"h": 5}})
    );
    parent.reply(&id, reply(json!("too late"), json!(null)));
}
