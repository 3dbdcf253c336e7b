//! Who may ask, and where there is nobody to ask.

use jig_runtime::fsproxy::ClientOptions;
use serde_json::{Value, json};

use crate::fsproxy_llm::world::{Framed, World, in_llm_context};

#[track_caller]
fn refused(answer: Result<Value, (String, String)>, code: &str, text: &str) {
    assert_eq!(answer.unwrap_err(), (code.to_owned(), text.to_owned()));
}

#[test]
fn f050_f051_x31_without_a_provider_both_are_unsupported() {
    let world = World::new();
    for options in [in_llm_context(), ClientOptions::default()] {
        let mut client = Framed(world.connect(options).1);
        let prompt = json!({ "prompt": "hello" });
        refused(
            client.ask("LLMCMD", prompt),
            "E_UNSUPPORTED",
            "LLM not available",
        );
        refused(
            client.ask("QUOTA", json!({})),
            "E_UNSUPPORTED",
            "LLM not available",
        );
    }
}

#[test]
fn f096_only_clients_in_an_llm_context_may_ask() {
    let url = "http://127.0.0.1:9/v1";
    let world = World::with_llm(url, |settings| settings.quota = Some(5000.0));
    let mut outside = Framed(world.connect(ClientOptions::default()).1);
    refused(
        outside.ask("QUOTA", json!({})),
        "E_PERM",
        "LLM quota access denied",
    );
    let prompt = json!({ "prompt": "hello" });
    refused(outside.ask("LLMCMD", prompt), "E_PERM", "LLM access denied");
    let quota = world.framed().ask("QUOTA", json!({})).unwrap();
    assert_eq!(quota["limit"], 5000.0);
    assert_eq!(quota["remaining"], 5000.0);
    // The same whether or not there is a quota: who may not ask learns nothing.
    let world = World::with_llm(url, |_| {});
    let mut outside = Framed(world.connect(ClientOptions::default()).1);
    refused(
        outside.ask("QUOTA", json!({})),
        "E_PERM",
        "LLM quota access denied",
    );
}

#[test]
fn x31_quota_is_told_where_there_is_one() {
    let url = "http://127.0.0.1:9/v1";
    let world = World::with_llm(url, |_| {});
    let answer = world.framed().ask("QUOTA", json!({}));
    refused(answer, "E_UNSUPPORTED", "LLM quota not configured");
    // Zero is unlimited, and that is told.
    let world = World::with_llm(url, |settings| settings.quota = Some(0.0));
    let quota = world.framed().ask("QUOTA", json!({})).unwrap();
    assert_eq!(quota["limit"], 0.0);
    assert_eq!(quota.get("remaining").unwrap_or(&Value::Null), &Value::Null);
}

#[test]
fn f091_what_makes_no_sense_is_refused_before_anything_is_sent() {
    // Nothing listens there: whatever is sent fails with another error.
    let world = World::with_llm("http://127.0.0.1:9/v1", |_| {});
    let mut client = world.framed();
    let mut check = |params: Value, code: &str| {
        let answer = client.ask("LLMCMD", params.clone());
        assert_eq!(answer.unwrap_err().0, code, "{params}");
    };
    check(json!({}), "E_ARG");
    check(json!({ "prompt": "" }), "E_ARG");
    check(json!({ "prompt": 7 }), "E_ARG");
    check(json!({ "messages": "hello" }), "E_ARG");
    check(
        json!({ "messages": [{ "role": "root", "content": "x" }] }),
        "E_ARG",
    );
    check(json!({ "prompt": "x", "stream": true }), "E_ARG");
    check(json!({ "prompt": "x", "temperature": -1 }), "E_ARG");
    check(json!({ "prompt": "x", "temperature": 1e300 }), "E_ARG");
    check(json!({ "prompt": "x", "max_tokens": 0 }), "E_ARG");
    check(json!({ "prompt": "x", "max_tokens": -1 }), "E_ARG");
    check(json!({ "prompt": "x", "files": [-1] }), "E_ARG");
    check(json!({ "prompt": "x", "stdin": 3.5 }), "E_ARG");
    check(json!({ "prompt": "x", "paths": vec!["a"; 257] }), "E_RANGE");
    check(json!({ "prompt": "x" }), "E_IO");
}
