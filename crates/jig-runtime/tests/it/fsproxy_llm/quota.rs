//! One quota for the whole tree, over the wire.

use std::thread;

use jig_testkit::provider::{Answer, Gate, Provider};
use serde_json::json;

use crate::fsproxy_llm::world::{World, until};

/// Many calls at once against a limit for a few of them: no more than those are sent, because each is reserved
/// before it is. Of the others nothing reaches the provider.
#[test]
fn f094_parallel_calls_cannot_overshoot() {
    const CALLS: usize = 64;
    const FIT: usize = 10;
    let provider = Provider::start();
    let gate = Gate::new();
    provider.always(Answer::text("done").usage(8, 4, 3).held(&gate));
    let most = cost_of_one(&provider, &gate);
    assert_eq!(provider.requests().len(), 1);

    let gate = Gate::new();
    provider.always(Answer::text("done").usage(8, 4, 3).held(&gate));
    let limit = most * FIT as f64;
    let world = World::with_llm(&provider.url(), |settings| settings.quota = Some(limit));
    // Half of them speak lines.
    let calls = (0..CALLS).map(|number| {
        let (mut framed, mut text) = (world.framed(), world.text());
        thread::spawn(move || match number % 2 {
            0 => {
                let reply = framed.ask("LLMCMD", json!({ "prompt": PROMPT }));
                reply
                    .map(|reply| assert_eq!(reply["content"], "done"))
                    .is_ok()
            }
            _ => {
                let length = PROMPT.len();
                text.send(format!("LLM_CHAT true 0 1 2 0 {length}\n{PROMPT}"));
                match text.line() {
                    line if line == "ERROR quota exceeded: cannot make LLM call" => false,
                    line => {
                        assert!(line.starts_with("OK "), "{line}");
                        true
                    }
                }
            }
        })
    });
    let calls: Vec<_> = calls.collect();
    // Every call is decided while the provider holds all replies back.
    let finished = || calls.iter().filter(|call| call.is_finished()).count();
    until("all others are refused", || finished() == CALLS - FIT);
    assert_eq!(provider.wait_for_requests(1 + FIT).len(), 1 + FIT);
    let quota = world.manager.quota().unwrap();
    assert_eq!((quota.used, quota.reserved), (0.0, limit));
    gate.open();
    let answered = calls.into_iter().map(|call| call.join().unwrap());
    assert_eq!(answered.filter(|is_answered| *is_answered).count(), FIT);
    assert_eq!(provider.requests().len(), 1 + FIT);
    // Four fresh tokens, four cached ones and three of output, ten times.
    let quota = world.framed().ask("QUOTA", json!({})).unwrap();
    assert_eq!(quota["used"], 170.0);
    assert_eq!(quota["reserved"], 0.0);
    assert_eq!(quota["calls"], FIT);
    assert_eq!(quota["input_tokens"], 80);
    assert_eq!(quota["cached_tokens"], 40);
    assert_eq!(quota["output_tokens"], 30);
}

/// The most that a call with the prompt can cost, which is what is reserved while it runs.
fn cost_of_one(provider: &Provider, gate: &Gate) -> f64 {
    let world = World::with_llm(&provider.url(), |settings| settings.quota = Some(0.0));
    let mut client = world.framed();
    client.send("LLMCMD", json!({ "prompt": PROMPT }));
    provider.wait_for_requests(1);
    let most = world.manager.quota().unwrap().reserved;
    gate.open();
    client.answer().unwrap();
    most
}

const PROMPT: &str = "What is left?";

/// The quota belongs to the tree: what one client used is gone for all others.
#[test]
fn f052_the_quota_is_shared_by_the_tree() {
    let provider = Provider::start();
    provider.always(Answer::text("done").usage(100, 0, 100));
    let world = World::with_llm(&provider.url(), |settings| {
        settings.quota = Some(1000.0);
        settings.max_tokens = 120;
    });
    let mut first = world.framed();
    let mut second = world.framed();
    first.ask("LLMCMD", json!({ "prompt": "x" })).unwrap();
    assert_eq!(second.ask("QUOTA", json!({})).unwrap()["used"], 500.0);
    second.ask("LLMCMD", json!({ "prompt": "x" })).unwrap();
    let refused = first.ask("LLMCMD", json!({ "prompt": "x" })).unwrap_err();
    let expected = "quota exceeded: cannot make LLM call";
    assert_eq!(refused, ("E_RANGE".to_owned(), expected.to_owned()));
    assert_eq!(provider.requests().len(), 2);
    let status = "OK 1000.0/1000 weighted tokens (100.0% used, 0.0 remaining)\n";
    world.text().check("LLM_QUOTA\n", status);
    // A call that the provider refuses costs nothing.
    let world = World::with_llm(&provider.url(), |settings| settings.quota = Some(1000.0));
    provider.script([Answer::error(500, "overloaded")]);
    let mut client = world.framed();
    client.ask("LLMCMD", json!({ "prompt": "x" })).unwrap_err();
    let quota = client.ask("QUOTA", json!({})).unwrap();
    assert_eq!(
        (&quota["used"], &quota["reserved"]),
        (&json!(0.0), &json!(0.0))
    );
}
