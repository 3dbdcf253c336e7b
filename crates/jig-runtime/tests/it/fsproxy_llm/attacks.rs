//! Providers that cannot be trusted.

use jig_broker::REDACTED;
use jig_testkit::provider::{Answer, Provider};
use serde_json::json;

use crate::fsproxy_llm::calls::sent;
use crate::fsproxy_llm::world::{KEY, World};

/// A provider that repeats what must not be repeated: the key that it got, and secrets of the call.
#[test]
fn f093_secrets_do_not_come_back() {
    let provider = Provider::start();
    let world = World::with_llm(&provider.url(), |_| {});
    world.broker.secrets().remember("hunter2hunter2");
    let said = format!("your key is {KEY} and hunter2hunter2 is the word");
    let clean = format!("your key is {REDACTED} and {REDACTED} is the word");
    let mut client = world.framed();
    for stream in [false, true] {
        provider.script([Answer::text(said.as_str())]);
        let path = format!("answer{stream}");
        let stdout = client.open(&path, "w");
        let params = json!({ "prompt": "x", "stdout": stdout, "stream": stream });
        client.ask("LLMCMD", params).unwrap();
        assert_eq!(client.named(&path), clean);
    }
    provider.script([Answer::text(said.as_str()), Answer::error(400, &said)]);
    let reply = client.ask("LLMCMD", json!({ "prompt": "x" })).unwrap();
    assert_eq!(reply["content"], clean);
    let (_, message) = client.ask("LLMCMD", json!({ "prompt": "x" })).unwrap_err();
    assert!(message.contains(REDACTED), "{message}");
    assert!(
        !message.contains(KEY) && !message.contains("hunter2"),
        "{message}"
    );
    // Nor do they go there: what a tool has read elsewhere is none of the provider's business.
    let params = json!({ "prompt": "is it hunter2hunter2?" });
    client.ask("LLMCMD", params).unwrap();
    let prompt = &sent(&provider).pop().unwrap()["messages"][0]["content"];
    assert_eq!(prompt, &format!("is it {REDACTED}?"));
}

/// Text without end is given up, in both forms, wherever it should go.
#[test]
fn f095_an_endless_answer_ends() {
    let provider = Provider::start();
    let world = World::with_llm(&provider.url(), |_| {});
    let mut client = world.framed();
    let stdout = client.open("answer", "w");
    let piece = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"and so on \"}}]}\n\n";
    let object = "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"";
    let cases = [
        (Answer::endless("text/event-stream", piece, piece), true),
        (Answer::endless("text/event-stream", "data: ", "x"), true),
        (Answer::endless("text/event-stream", ": ", "x"), true),
        (
            Answer::endless("application/json", object, "and so on "),
            false,
        ),
    ];
    for (number, (answer, stream)) in cases.into_iter().enumerate() {
        provider.script([answer]);
        let params = json!({ "prompt": "x", "stdout": stdout, "stream": stream });
        let (code, message) = client.ask("LLMCMD", params).unwrap_err();
        assert_eq!(code, "E_IO", "{number}: {message}");
        assert!(
            message.starts_with("OpenAI API call failed: "),
            "{number}: {message}"
        );
    }
    // Nothing of it is kept, and the next one is answered.
    let reply = client.ask("LLMCMD", json!({ "prompt": "x" })).unwrap();
    assert_eq!(reply["content"], "Hello.");
}

/// Everything that an answer says about itself is checked, or made plain, or both.
#[test]
fn f095_odd_answers_do_not_reach_the_client_as_they_are() {
    let provider = Provider::start();
    let world = World::with_llm(&provider.url(), |settings| settings.quota = Some(1e9));
    let mut client = world.framed();
    let mut ask = || client.ask("LLMCMD", json!({ "prompt": "x" }));
    // Escapes are text in JSON; whoever prints them has to know. On lines of ours there are none.
    provider.script([Answer::text("\u{1b}[31mred\0\r\n")
        .model("m\u{1b}[2J")
        .finish_reason("s\ntop")]);
    match ask() {
        Ok(reply) => {
            assert_eq!(reply["content"], "\u{1b}[31mred\0\r\n");
            let model = reply["model"].as_str().unwrap();
            let reason = reply["finish_reason"].as_str().unwrap();
            assert!(
                !model.contains('\u{1b}') && !reason.contains('\n'),
                "{reply}"
            );
        }
        Err((code, _)) => assert_eq!(code, "E_IO"),
    }
    for usage in [
        json!({ "prompt_tokens": -5, "completion_tokens": 5 }),
        json!({ "prompt_tokens": 1e30, "completion_tokens": 5 }),
        json!({ "prompt_tokens": u64::MAX, "completion_tokens": u64::MAX }),
        json!({ "prompt_tokens": "many" }),
        json!([]),
    ] {
        provider.script([Answer::text("x").usage_json(Some(usage.clone()))]);
        let before = world.manager.quota().unwrap().used;
        let _ = ask();
        let quota = world.manager.quota().unwrap();
        assert!(
            quota.used > before && quota.used < before + 10_000.0,
            "{usage}"
        );
        assert_eq!(quota.reserved, 0.0, "{usage}");
    }
}
