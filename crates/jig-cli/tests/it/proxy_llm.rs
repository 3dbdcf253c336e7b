//! `jig proxy --llm`: the model of the configuration, asked by jig, with a key that nobody else sees.

use jig_testkit::provider::{Answer, Provider};
use serde_json::{Value as Json, json};

use super::proxy_client::Foreign;
use super::workspace_user::{Desk, Ran, for_each_user};

/// What says which model is asked, and where.
fn settings(provider: &Provider) -> Vec<String> {
    let sets = [
        format!("llm.base_url={}", provider.url()),
        "llm.model=large".to_owned(),
        "llm.internal_model=small".to_owned(),
        "llm.key_env=PROVIDER_KEY".to_owned(),
        "llm.quota=1000".to_owned(),
    ];
    sets.iter().map(|set| format!("--set={set}")).collect()
}

const KEY: &str = "sk-test-0123456789abcdef";

/// F-072, F-076, F-093, F-096: the command asks, jig calls, and the key stays in jig.
#[test]
fn the_command_asks_a_model() {
    for_each_user(|desk| {
        let provider = Provider::start();
        provider.always(Answer::text("two words").usage(10, 0, 5));
        desk.workspace.write("in.txt", "the content");
        let sets = settings(&provider);
        let mut options = vec!["--llm", "-i", "in.txt", "-o", "out.txt"];
        options.extend(sets.iter().map(String::as_str));
        let script = format!(
            "
first = proxy.ask('LLMCMD', prompt='say two words')
handle = proxy.open('in.txt', 'r')
output = proxy.open('out.txt', 'w')
second = proxy.ask('LLMCMD', prompt='again', files=[handle], stdout=output, stream=True)
quota = proxy.ask('QUOTA')
seen = [key for key, value in os.environ.items() if {KEY:?} in value]
tell([first['content'], second.get('content'), second['written'], quota, seen])"
        );
        let mut jig = desk.proxy(&options, &script);
        let ran = Ran::of(jig.env("PROVIDER_KEY", KEY).output().unwrap());
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
        let told: Json = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(told[0], "two words");
        assert_eq!((&told[1], &told[2]), (&Json::Null, &json!(9)));
        assert_eq!(told[4], json!([]));
        assert!(!ran.out.contains(KEY), "{ran:?}");
        assert_eq!(desk.read("out.txt"), "two words");

        let requests = provider.requests();
        assert_eq!(requests.len(), 2);
        for request in &requests {
            let key = format!("Bearer {KEY}");
            assert_eq!(request.header("authorization"), Some(key.as_str()));
            assert_eq!(request.json()["model"], "large");
        }
        assert!(requests[1].json().to_string().contains("the content"));
        // Twice 10 + 4 × 5 of 1000.
        assert!(told[3].to_string().contains("60"), "{}", told[3]);
    });
}

/// One level deeper the other model is asked, and only with the right to.
#[test]
fn nested_commands_ask_the_internal_model() {
    for_each_user(|desk| {
        let provider = Provider::start();
        let sets = settings(&provider);
        let mut options = vec!["--llm"];
        options.extend(sets.iter().map(String::as_str));
        let script = "tell([code(lambda: proxy.ask('LLMCMD', prompt='hi')['content']), \
                      code(lambda: 'quota' if proxy.ask('QUOTA') else '')])";
        let told = |inner: &[&str]| {
            let mut jig = desk.nested(&options, &[inner], script);
            let ran = Ran::of(jig.env("PROVIDER_KEY", KEY).output().unwrap());
            assert_eq!(ran.code, Some(0), "{ran:?}");
            serde_json::from_str::<Json>(&ran.out).unwrap()
        };
        assert_eq!(told(&["--llm"]), json!(["Hello.", "quota"]));
        assert_eq!(told(&[]), json!(["E_PERM", "E_PERM"]));
        let requests = provider.requests();
        assert_eq!(requests.len(), 1);
        assert_eq!(requests[0].json()["model"], "small");
    });
}

/// without `--llm` there is no model, whatever the configuration says.
#[test]
fn without_the_option_there_is_no_model() {
    let desk = Desk::new();
    let provider = Provider::start();
    let sets = settings(&provider);
    let options: Vec<&str> = sets.iter().map(String::as_str).collect();
    let script = "tell([code(proxy.ask, 'QUOTA'), code(lambda: proxy.ask('LLMCMD', prompt='hi'))])";
    let unsupported = "E_UNSUPPORTED";
    assert_eq!(
        desk.told_by(&options, script),
        json!([unsupported, unsupported])
    );
    assert!(provider.requests().is_empty());
}

/// F-070, F-077: the same for a client of the text protocol.
#[test]
fn a_legacy_client_asks_a_model() {
    let desk = Desk::new();
    let provider = Provider::start();
    let mut sets = settings(&provider);
    // Without a key, as local providers are.
    sets.retain(|set| !set.contains("key_env"));
    let mut options = vec!["--llm"];
    options.extend(sets.iter().map(String::as_str));
    let mut client = Foreign::new(&desk, &options);
    client.send(b"LLM_CHAT true 0 1 2 0 2\nhi");
    assert_eq!(client.receive(3), b"OK ");
    let (status, rest, notes) = client.end();
    assert_eq!((status.code(), notes.as_str()), (Some(0), ""));
    let (head, body) = rest.split_once('\n').unwrap();
    assert!(head.ends_with("30.0/1000 weighted tokens"), "{head}");
    let body: Json = serde_json::from_str(body).unwrap();
    assert_eq!(body["choices"][0]["message"]["content"], "Hello.");
    assert_eq!(provider.requests()[0].header("authorization"), None);
}
