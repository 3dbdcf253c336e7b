//! Calls, and what the provider gets of them.

use jig_runtime::fsproxy::ClientOptions;
use jig_testkit::provider::{Answer, Gate, Provider};
use serde_json::{Value, json};

use crate::fsproxy_llm::world::{Framed, World, in_llm_context};

#[test]
fn f052_f053_a_prompt_is_answered_and_counted() {
    let provider = Provider::start();
    provider.always(Answer::text("four").usage(10, 4, 5));
    let world = World::with_llm(&provider.url(), |settings| settings.quota = Some(5000.0));
    let mut client = world.framed();
    let reply = client.ask("LLMCMD", json!({ "prompt": "2+2?" })).unwrap();
    assert_eq!(reply["content"], "four");
    assert_eq!(reply["model"], "test-model");
    assert_eq!(reply["finish_reason"], "stop");
    assert_eq!(reply.get("written"), None);
    // Six fresh tokens, four cached ones for a quarter each, and five of output for four each.
    let usage =
        json!({ "input_tokens": 10, "cached_tokens": 4, "output_tokens": 5, "weighted": 27.0 });
    assert_eq!(reply["usage"], usage);
    let quota = client.ask("QUOTA", json!({})).unwrap();
    assert_eq!(quota, reply["quota"]);
    assert_eq!(quota["used"], 27.0);
    assert_eq!(quota["reserved"], 0.0);
    assert_eq!(quota["remaining"], 4973.0);
    assert_eq!(quota["calls"], 1);
    let sent = sent(&provider);
    assert_eq!(sent.len(), 1);
    assert_eq!(
        sent[0]["messages"],
        json!([{ "role": "user", "content": "2+2?" }])
    );
    assert_eq!(sent[0]["stream"], false);
}

#[test]
fn f053_messages_come_first_and_the_rest_is_the_users() {
    let provider = Provider::start();
    let world = World::with_llm(&provider.url(), |_| {});
    let mut client = world.framed();
    let given = json!([
        { "role": "system", "content": "Be brief." },
        { "role": "user", "content": "Hello\u{1b}[31m" },
        { "role": "assistant", "content": "Hi.\n" },
    ]);
    let mut check = |params: Value, last: Option<&str>| {
        client.ask("LLMCMD", params).unwrap();
        let mut expected = given.clone();
        let last = last.map(|content| json!({ "role": "user", "content": content }));
        expected.as_array_mut().unwrap().extend(last);
        assert_eq!(sent(&provider).pop().unwrap()["messages"], expected);
    };
    check(json!({ "messages": given }), None);
    check(json!({ "messages": given, "prompt": "And?" }), Some("And?"));
    let params = json!({ "messages": given, "input": "one\ntwo" });
    check(params, Some("[input, 7 bytes]\none\ntwo\n\n"));
    let params = json!({ "messages": given, "input": "one\n", "prompt": "And?" });
    check(params, Some("[input, 4 bytes]\none\n\nAnd?"));
}

/// Control characters are text like any other: they reach the provider as they are, and change nothing else.
#[test]
fn prompts_are_sent_as_they_are() {
    let provider = Provider::start();
    let world = World::with_llm(&provider.url(), |_| {});
    for prompt in [
        "\0\u{1}\u{1b}]0;title\u{7}",
        "\r\nHost: elsewhere\r\n\r\n",
        "\"}],\"model\":\"huge\",\"x\":[{\"",
        "\u{202e}\u{feff}\u{fffd}\u{10ffff}",
    ] {
        let reply = world.framed().ask("LLMCMD", json!({ "prompt": prompt }));
        reply.unwrap();
        let sent = sent(&provider).pop().unwrap();
        assert_eq!(sent["messages"][0]["content"], prompt);
        assert_eq!(sent["model"], "large");
    }
    assert_eq!(provider.requests().len(), 4);
}

#[test]
fn f072_the_level_decides_about_the_model() {
    let provider = Provider::start();
    let world = World::with_llm(&provider.url(), |_| {});
    let check = |attached: bool, says: Option<bool>, model: &str| {
        let options = ClientOptions {
            top_level: attached,
            ..in_llm_context()
        };
        let mut client = Framed(world.connect(options).1);
        let mut params = json!({ "prompt": "hello" });
        if let Some(says) = says {
            params["is_top_level"] = json!(says);
        }
        client.ask("LLMCMD", params).unwrap();
        assert_eq!(sent(&provider).pop().unwrap()["model"], model);
    };
    check(true, None, "large");
    check(true, Some(true), "large");
    check(true, Some(false), "small");
    check(false, None, "small");
    check(false, Some(false), "small");
    // Who was attached below the top cannot talk itself up.
    check(false, Some(true), "small");
}

#[test]
fn f075_the_answer_is_as_long_as_all_three_limits_allow() {
    let provider = Provider::start();
    let check = |quota: f64, asked: Option<u64>, expected: u64| {
        let world = World::with_llm(&provider.url(), |settings| {
            settings.quota = Some(quota);
            settings.max_tokens = 100;
        });
        let mut params = json!({ "prompt": "hello" });
        if let Some(asked) = asked {
            params["max_tokens"] = json!(asked);
        }
        world.framed().ask("LLMCMD", params).unwrap();
        let sent = sent(&provider).pop().unwrap();
        assert_eq!(sent["max_tokens"], expected);
    };
    check(0.0, None, 100);
    check(0.0, Some(7), 7);
    check(0.0, Some(1_000_000), 100);
    check(100_000.0, Some(50), 50);
    // The input of five letters takes at most 21 tokens, which leaves 79: 19 tokens of output.
    check(100.0, None, 19);
    check(100.0, Some(5), 5);
}

#[test]
fn f078_what_goes_wrong_at_the_provider_is_told() {
    let provider = Provider::start();
    let world = World::with_llm(&provider.url(), |settings| settings.quota = Some(5000.0));
    let mut client = world.framed();
    let mut check = |answer: Answer, text: &str| {
        provider.script([answer]);
        let (code, message) = client
            .ask("LLMCMD", json!({ "prompt": "hello" }))
            .unwrap_err();
        assert_eq!(code, "E_IO", "{message}");
        assert!(message.starts_with("OpenAI API call failed: "), "{message}");
        assert!(message.contains(text), "{message}");
        assert!(!message.contains(crate::fsproxy_llm::world::KEY) && !message.contains('\n'));
    };
    check(Answer::error(500, "overloaded"), "500");
    check(Answer::error(401, "no such key"), "401");
    check(Answer::error(400, "bad\n\u{1b}[31m words"), "400");
    check(
        Answer::body("application/json", "{\"choices\":[]}"),
        "cannot be used",
    );
    check(
        Answer::body("application/json", "nonsense"),
        "cannot be used",
    );
    // The connection still works.
    let reply = client.ask("LLMCMD", json!({ "prompt": "hello" })).unwrap();
    assert_eq!(reply["content"], "Hello.");
}

/// X-29: what was asked before a call is answered before it, what was asked after it afterwards.
#[test]
fn x29_requests_around_a_call_keep_their_order() {
    let provider = Provider::start();
    let gate = Gate::new();
    provider.always(Answer::text("late").held(&gate));
    let world = World::with_llm(&provider.url(), |settings| settings.quota = Some(5000.0));
    let mut client = world.framed();
    client.send("QUOTA", json!({}));
    client.send("LLMCMD", json!({ "prompt": "hello" }));
    client.send("open", json!({ "path": "data/notes.txt", "mode": "r" }));
    // The call is not over, and this one is answered.
    let before = client.answer().unwrap();
    assert_eq!(before["calls"], 0);
    provider.wait_for_requests(1);
    assert!(world.manager.files().is_empty());
    // Another client does not wait for this one.
    let other = world.framed().ask("QUOTA", json!({})).unwrap();
    assert!(other["reserved"].as_f64().unwrap() > 0.0);
    gate.open();
    assert_eq!(client.answer().unwrap()["content"], "late");
    assert_eq!(client.answer().unwrap()["handle"], 3);
}

/// The bodies that the provider got.
pub(crate) fn sent(provider: &Provider) -> Vec<Value> {
    let requests = provider.requests();
    requests.iter().map(|request| request.json()).collect()
}
