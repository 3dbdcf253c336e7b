//! LLM_CHAT and LLM_QUOTA with a provider.

use std::fs::File;
use std::io::Read as _;
use std::net::Shutdown;

use jig_runtime::fsproxy::{ClientOptions, ParentStreams};
use jig_testkit::provider::{Answer, Gate, Provider};
use serde_json::{Value, json};

use crate::fsproxy_text::world::{Text, World, in_llm_context, pipe};

fn chat(flag: bool, streams: [u64; 3], files: &str, prompt: &str) -> String {
    let [stdin, stdout, stderr] = streams;
    let (count, length) = (files.len(), prompt.len());
    format!("LLM_CHAT {flag} {stdin} {stdout} {stderr} {count} {length}\n{files}{prompt}")
}

/// The status of the quota and the completion.
#[track_caller]
fn answer(client: &mut Text) -> (String, Value) {
    let line = client.line();
    let rest = line.strip_prefix("OK ").unwrap_or_else(|| panic!("{line}"));
    let (size, status) = rest.split_once(' ').unwrap();
    let json = client.bytes(size.parse().unwrap());
    (status.to_owned(), serde_json::from_slice(&json).unwrap())
}

fn sent(provider: &Provider) -> Value {
    provider.requests().pop().unwrap().json()
}

#[test]
fn f070_f071_f077_a_chat_is_answered_with_a_completion() {
    let provider = Provider::start();
    provider.always(Answer::text("Analysis complete…").usage(15, 4, 8));
    let world = World::with_llm(&provider.url(), |settings| settings.quota = Some(5000.0));
    let mut client = world.text();
    client.check(
        "OPEN scratch.csv w true\nWRITE 3 4\n1,2\nCLOSE 3\n",
        "OK 3\nOK 4\nOK\n",
    );
    let files = "data/notes.txt\nscratch.csv\n";
    client.send(chat(true, [0, 1, 2], files, "Analyze\nthis: ä"));
    let (status, completion) = answer(&mut client);
    // 11 + 4 × 0.25 + 8 × 4.
    assert_eq!(status, "44.0/5000 weighted tokens");
    assert_eq!(completion["object"], "chat.completion");
    assert_eq!(completion["model"], "test-model");
    let message = json!({ "role": "assistant", "content": "Analysis complete…" });
    assert_eq!(completion["choices"][0]["message"], message);
    assert_eq!(completion["choices"][0]["finish_reason"], "stop");
    assert_eq!(completion["usage"]["prompt_tokens"], 15);
    assert_eq!(completion["usage"]["completion_tokens"], 8);
    let expected = "[file data/notes.txt, 18 bytes]\nremember the milk\n\n\
                    [file scratch.csv, 4 bytes]\n1,2\n\n\
                    Analyze\nthis: ä";
    assert_eq!(sent(&provider)["messages"][0]["content"], expected);
    //
    let quota = "OK 44.0/5000 weighted tokens (0.9% used, 4956.0 remaining)\n";
    client.check("LLM_QUOTA\n", quota);
    // The size is that of the bytes: the next answer begins where it says.
    client.send(format!(
        "{}LLM_QUOTA\n",
        chat(false, [0, 1, 2], "", "again")
    ));
    let (status, _) = answer(&mut client);
    assert_eq!(status, "88.0/5000 weighted tokens");
    client.expect("OK 88.0/5000 weighted tokens (1.8% used, 4912.0 remaining)\n");
    drop(client);
    world.is_left();
}

#[test]
fn f072_the_flag_decides_about_the_model() {
    let provider = Provider::start();
    let world = World::with_llm(&provider.url(), |_| {});
    let check = |attached: bool, flag: bool, model: &str| {
        let options = ClientOptions {
            top_level: attached,
            ..in_llm_context()
        };
        let mut client = Text(world.connect(options).1);
        client.send(chat(flag, [0, 1, 2], "", "x"));
        // Without a quota there is no limit to tell.
        assert!(
            answer(&mut client)
                .0
                .ends_with("/unlimited weighted tokens")
        );
        assert_eq!(sent(&provider)["model"], model);
    };
    check(true, true, "large");
    check(true, false, "small");
    check(false, true, "small");
}

#[test]
fn f073_f078_streams_are_handles() {
    let provider = Provider::start();
    provider.always(Answer::text("result"));
    let world = World::with_llm(&provider.url(), |_| {});
    let mut client = world.text();
    client.check("OPEN in w true\nWRITE 3 5\ninput", "OK 3\nOK 5\n");
    client.check(
        "OPEN in r true\nOPEN result w+ true\nOPEN errors a true\n",
        "OK 4\nOK 5\nOK 6\n",
    );
    client.send(chat(true, [4, 5, 6], "", "x"));
    let (_, completion) = answer(&mut client);
    assert_eq!(completion["choices"][0]["message"]["content"], "result");
    assert_eq!(
        sent(&provider)["messages"][0]["content"],
        "[stdin, 5 bytes]\ninput\n\nx"
    );
    client.check("OPEN result r true\nREAD 7 100\n", "OK 7\nOK 6\nresult");
    provider.script([Answer::error(400, "no\nway")]);
    let error = "OpenAI API call failed: the provider answered 400: no way";
    client.check(chat(true, [4, 5, 6], "", "x"), format!("ERROR {error}\n"));
    let size = error.len() + 6;
    let expected = format!("OK 8\nOK {size}\nllm: {error}\n");
    client.check("OPEN errors r true\nREAD 8 1000\n", expected);
    // Handles that are not open, of another client, or not for this.
    let mut owner = world.text();
    owner.check("OPEN theirs w true\n", "OK 9\n");
    for streams in [[5000, 1, 2], [0, 5000, 2], [0, 1, 5000]] {
        client.check(chat(true, streams, "", "x"), "ERROR fd not found: 5000\n");
    }
    for streams in [[9, 1, 2], [0, 9, 2], [0, 1, 9]] {
        client.check(chat(true, streams, "", "x"), "ERROR fd not found: 9\n");
    }
    for streams in [[3, 1, 2], [0, 4, 2], [0, 1, 4], [0, 0, 2]] {
        client.send(chat(true, streams, "", "x"));
        let line = client.line();
        assert!(
            line.starts_with("ERROR ") && line.contains("handle"),
            "{line}"
        );
    }
    assert_eq!(provider.requests().len(), 2);
}

#[test]
fn f073_standard_streams_are_the_parents() {
    let provider = Provider::start();
    provider.always(Answer::text("printed"));
    let world = World::with_llm(&provider.url(), |_| {});
    let (stdin, keyboard) = pipe();
    let (screen, stdout) = pipe();
    let options = ClientOptions {
        streams: ParentStreams {
            stdin: Some(stdin.into()),
            stdout: Some(stdout.into()),
            stderr: None,
        },
        ..in_llm_context()
    };
    let mut client = Text(world.connect(options).1);
    drop(keyboard);
    client.send(chat(true, [0, 1, 2], "", "x"));
    let (_, completion) = answer(&mut client);
    assert_eq!(completion["choices"][0]["message"]["content"], "printed");
    drop(client);
    world.is_left();
    let mut printed = String::new();
    File::from(screen).read_to_string(&mut printed).unwrap();
    assert_eq!(printed, "printed");
}

#[test]
fn f078_errors_of_a_chat_and_the_stream_goes_on() {
    let provider = Provider::start();
    let world = World::with_llm(&provider.url(), |settings| settings.quota = Some(40.0));
    let mut client = world.text();
    let too_long = "x".repeat(100);
    client.check(
        format!("{}LLM_QUOTA\n", chat(true, [0, 1, 2], "", &too_long)),
        "ERROR quota exceeded: cannot make LLM call\n\
         OK 0.0/40 weighted tokens (0.0% used, 40.0 remaining)\n",
    );
    for (files, word) in [
        ("data/secret.env", "data/secret.env"),
        ("missing", "missing"),
        ("data/binary.bin", "UTF-8"),
    ] {
        client.send(chat(true, [0, 1, 2], files, "x"));
        let line = client.line();
        assert!(line.starts_with("ERROR ") && line.contains(word), "{line}");
    }
    // A prompt that is none.
    client.check(
        chat(true, [0, 1, 2], "data/notes.txt", ""),
        "ERROR missing prompt or messages\n",
    );
    assert!(provider.requests().is_empty());
    client.check("CLOSE 3\n", "ERROR handle 3 is not open\n");
}

/// What was asked before a chat is answered before it, and what was asked after it waits.
#[test]
fn x29_commands_around_a_chat_keep_their_order() {
    let provider = Provider::start();
    let gate = Gate::new();
    provider.always(Answer::text("late").held(&gate));
    let world = World::with_llm(&provider.url(), |_| {});
    let mut client = world.text();
    let before = "OPEN data/notes.txt r true\n";
    client.send(format!(
        "{before}{}CLOSE 3\n",
        chat(true, [0, 1, 2], "", "x")
    ));
    client.expect("OK 3\n");
    provider.wait_for_requests(1);
    assert_eq!(world.manager.files().len(), 1);
    gate.open();
    assert_eq!(
        answer(&mut client).1["choices"][0]["message"]["content"],
        "late"
    );
    client.expect("OK\n");
}

/// Counts that lie. One that is too long waits for what it announced; one that is too short leaves bytes that are
/// read as a command; one that cuts a character in two makes no text.
#[test]
fn x55_counts_that_lie() {
    let provider = Provider::start();
    let world = World::with_llm(&provider.url(), |_| {});
    let mut client = world.text();
    client.send("LLM_CHAT true 0 1 2 0 20\nonly this");
    client.0.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.rest(), "ERROR failed to read prompt data\n");

    let mut client = world.text();
    client.send("LLM_CHAT true 0 1 2 0 4\nonlyXX this\n");
    answer(&mut client);
    client.expect("ERROR unknown command: XX\n");
    assert_eq!(sent(&provider)["messages"][0]["content"], "only");

    let asked = provider.requests().len();
    let mut client = world.text();
    client.check(
        "LLM_CHAT true 0 1 2 0 1\nä",
        "ERROR failed to read prompt data\n",
    );
    client.send("\n");
    assert!(client.line().starts_with("ERROR unknown command: "));
    client.check(
        "LLM_CHAT true 0 1 2 1 1\nä",
        "ERROR failed to read input files data\n",
    );
    client.check(
        b"LLM_CHAT true 0 1 2 0 2\n\xff\xfe",
        "ERROR failed to read prompt data\n",
    );
    client.check("CLOSE 9\n", "ERROR handle 9 is not open\n");
    assert_eq!(provider.requests().len(), asked);
}

/// What a provider says is inside the completion, whatever it is, and cannot begin an answer of its own.
#[test]
fn f095_an_answer_cannot_forge_another() {
    let provider = Provider::start();
    let said = "\nOK 5\nERROR no\n\u{1b}[31m\0\"}]}";
    let world = World::with_llm(&provider.url(), |_| {});
    let mut client = world.text();
    provider.script([Answer::text(said), Answer::error(500, "\nOK 3\nfine\r\nOK")]);
    client.send(format!("{}CLOSE 9\n", chat(true, [0, 1, 2], "", "x")));
    let (_, completion) = answer(&mut client);
    assert_eq!(completion["choices"][0]["message"]["content"], said);
    client.expect("ERROR handle 9 is not open\n");
    client.send(format!("{}CLOSE 9\n", chat(true, [0, 1, 2], "", "x")));
    assert!(client.line().starts_with("ERROR OpenAI API call failed: "));
    client.expect("ERROR handle 9 is not open\n");
}
