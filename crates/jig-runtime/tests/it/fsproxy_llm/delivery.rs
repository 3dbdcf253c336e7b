//! Where the text of an answer goes.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, Instant};

use jig_runtime::fsproxy::{ClientOptions, ManagerOptions, ParentStreams};
use jig_testkit::provider::{Answer, Provider};
use serde_json::{Value, json};

use crate::fsproxy_llm::world::{Framed, LONG, World, in_llm_context, pipe, until};

#[test]
fn f073_the_text_goes_to_the_handle_for_it() {
    let provider = Provider::start();
    provider.always(Answer::text("fourty two äöü"));
    let world = World::with_llm(&provider.url(), |_| {});
    let mut client = world.framed();
    // Real and virtual, streamed and not; behind what is there already.
    for (number, path) in ["out/answer", "answer"].into_iter().enumerate() {
        for stream in [false, true] {
            let path = format!("{path}{number}{stream}");
            let stdout = client.open(&path, "a");
            let params =
                json!({ "prompt": "x", "stdout": stdout, "stderr": stdout, "stream": stream });
            for _ in 0..2 {
                let reply = client.ask("LLMCMD", params.clone()).unwrap();
                assert_eq!(reply["written"], 17);
                assert_eq!(reply.get("content"), None);
                assert_eq!(reply["usage"]["output_tokens"], 5);
            }
            assert_eq!(client.named(&path), "fourty two äöüfourty two äöü");
            let sent = provider.requests().pop().unwrap();
            assert_eq!(sent.wants_stream(), stream);
        }
    }
    assert_eq!(
        world.content("out/answer0true").unwrap(),
        "fourty two äöüfourty two äöü".as_bytes()
    );
}

#[test]
fn f073_standard_output_is_the_parents() {
    let provider = Provider::start();
    provider.always(Answer::text("to the screen"));
    let world = World::with_llm(&provider.url(), |_| {});
    // Nobody's: the text is in the answer.
    let params = json!({ "prompt": "x", "stdin": 0, "stdout": 1, "stderr": 2 });
    let reply = world.framed().ask("LLMCMD", params.clone()).unwrap();
    assert_eq!(reply["content"], "to the screen");

    let (screen, stdout) = pipe();
    let (errors, stderr) = pipe();
    let options = streams(Some(stdout), Some(stderr));
    let mut client = Framed(world.connect(options).1);
    let reply = client.ask("LLMCMD", params.clone()).unwrap();
    assert_eq!(
        (&reply["written"], reply.get("content")),
        (&json!(13), None)
    );
    // What goes wrong is a line on standard error.
    provider.script([Answer::error(500, "over\n\u{1b}[31mloaded")]);
    let (_, message) = client.ask("LLMCMD", params).unwrap_err();
    drop(client);
    world.is_left();
    assert_eq!(all(screen), "to the screen");
    let errors = all(errors);
    assert_eq!(errors, format!("llm: {message}\n"));
    assert!(!errors.contains('\u{1b}'));
}

/// Not only in the answer: whoever reads the handle for errors sees why there is no text.
#[test]
fn f073_errors_go_to_the_handle_for_them() {
    let provider = Provider::start();
    let world = World::with_llm(&provider.url(), |settings| settings.quota = Some(1.0));
    let mut client = world.framed();
    let stderr = client.open("errors", "a");
    let mut check = |params: Value| {
        let (_, message) = client.ask("LLMCMD", params).unwrap_err();
        message
    };
    let first = check(json!({ "prompt": "x", "stderr": stderr }));
    assert_eq!(first, "quota exceeded: cannot make LLM call");
    let second = check(json!({ "prompt": "x", "stderr": stderr, "paths": ["missing"] }));
    assert_eq!(
        client.named("errors"),
        format!("llm: {first}\nllm: {second}\n")
    );
    assert!(provider.requests().is_empty());
}

/// The pieces are there while the provider still holds the rest back.
#[test]
fn f053_a_stream_is_delivered_while_it_comes() {
    let (url, provider) = held_in_the_middle();
    let world = World::with_llm(&url, |settings| settings.quota = Some(5000.0));
    let mut client = world.framed();
    let stdout = client.open("answer", "w");
    client.send(
        "LLMCMD",
        json!({ "prompt": "x", "stdout": stdout, "stream": true }),
    );
    // Another client of the tree sees the same file.
    let mut reader = world.framed();
    let mut seen = String::new();
    let deadline = Instant::now() + LONG;
    while seen != "first " {
        assert!(Instant::now() < deadline, "{seen}");
        if let Ok(opened) = reader.ask("open", json!({ "path": "answer", "mode": "r" })) {
            let handle = opened["handle"].as_u64().unwrap();
            seen = reader.content(handle);
            reader.ask("close", json!({ "h": handle })).unwrap();
        }
    }
    let quota = reader.ask("QUOTA", json!({})).unwrap();
    assert!(quota["reserved"].as_f64().unwrap() > 0.0);
    assert_eq!(quota["used"], 0.0);
    // Now the rest.
    drop(provider);
    let reply = client.answer().unwrap();
    assert_eq!(reply["written"], 12);
    assert_eq!(reader.named("answer"), "first second");
    assert_eq!(reply["quota"]["used"], 7.0);
}

/// A provider that sends a first word, and the rest when the returned value is dropped.
fn held_in_the_middle() -> (String, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let control = TcpListener::bind("127.0.0.1:0").unwrap();
    let held = TcpStream::connect(control.local_addr().unwrap()).unwrap();
    thread::spawn(move || {
        let (mut held, _) = control.accept().unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let word = |word: &str| {
            format!(
                "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{word}\"}}}}]}}\n\n"
            )
        };
        read_request(&mut stream);
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
        stream
            .write_all(format!("{head}{}", word("first ")).as_bytes())
            .unwrap();
        // The end of it is the sign to go on.
        let _ = held.read(&mut [0]);
        let usage =
            "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\n";
        let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
        let rest = format!("{}{end}{usage}data: [DONE]\n\n", word("second"));
        stream.write_all(rest.as_bytes()).unwrap();
    });
    (format!("http://{address}/v1"), held)
}

fn read_request(stream: &mut TcpStream) {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    while !request.ends_with(b"}") {
        let count = stream.read(&mut buffer).unwrap();
        assert!(count > 0);
        request.extend_from_slice(&buffer[..count]);
    }
}

/// A client that goes away, or is ended, takes its call with it: at the provider too, and within a second.
#[test]
fn f087_a_call_ends_with_its_client() {
    for in_lines in [false, true] {
        for by_end in [false, true] {
            // A busy machine may take its time, but not always.
            let mut times = (0..5).map(|_| time_to_the_end(in_lines, by_end));
            assert!(times.any(|time| time < Duration::from_secs(1)));
        }
    }
}

/// How long it takes until the provider sees the end of a call whose client is gone.
fn time_to_the_end(in_lines: bool, by_end: bool) -> Duration {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let world = World::with_llm(&url, |settings| settings.quota = Some(5000.0));
    let _witness = world.framed();
    let (handle, socket) = world.connect(in_llm_context());
    let mut client = Framed(socket);
    match in_lines {
        true => client.0.write_all(b"LLM_CHAT true 0 1 2 0 1\nx").unwrap(),
        false => client.send("LLMCMD", json!({ "prompt": "x" })),
    }
    let (mut stream, _) = listener.accept().unwrap();
    read_request(&mut stream);
    let start = Instant::now();
    match by_end {
        true => handle.end(),
        false => drop(client),
    }
    // The connection of the call is closed, one way or the other.
    stream.set_read_timeout(Some(LONG)).unwrap();
    match stream.read(&mut [0; 10]) {
        Ok(count) => assert_eq!(count, 0),
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
    }
    let time = start.elapsed();
    until("the client is gone", || world.manager.clients().len() == 1);
    // It was sent, so it counts, and nothing stays reserved.
    let quota = || world.manager.quota().unwrap();
    until("the reservation is settled", || quota().reserved == 0.0);
    assert!(quota().used > 0.0);
    time
}

/// Clients that die at any moment of a call leave no record, no reservation and no thread.
#[test]
fn f083_f088_clients_that_die_during_calls_leave_nothing() {
    let provider = Provider::start();
    provider.always(Answer::text("a few words").hanging_after(300));
    let world = World::with_llm(&provider.url(), |settings| settings.quota = Some(0.0));
    for number in 0..40 {
        let (handle, socket) = world.connect(in_llm_context());
        let mut client = Framed(socket);
        let stdout = client.open(&format!("answer{number}"), "w");
        let params = json!({ "prompt": "x", "stdout": stdout, "stream": number % 2 == 0 });
        client.send("LLMCMD", params);
        match number % 4 {
            // Nothing says how far the call is by now.
            0 => drop(client),
            1 => handle.end(),
            _ => {
                until("it is sent, or over", || {
                    provider.requests().len() > number / 8
                });
                client.0.shutdown(Shutdown::Both).unwrap();
            }
        }
    }
    world.is_left();
    until("nothing stays reserved", || {
        world.manager.quota().unwrap().reserved == 0.0
    });
    until("nobody watches any more", || {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap();
        let names = tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")));
        !names.flatten().any(|name| name.starts_with("jig-proxy"))
    });
}

/// Whoever does not read what is printed holds up its own call, and no other one; ending the client ends it.
#[test]
fn f087_a_screen_that_nobody_reads() {
    let provider = Provider::start();
    let text = "word ".repeat(40_000);
    provider.script([Answer::text(text.as_str())]);
    let world = World::with_llm(&provider.url(), |_| {});
    let (screen, stdout) = pipe();
    let (handle, socket) = world.connect(streams(Some(stdout), None));
    let mut client = Framed(socket);
    client.send(
        "LLMCMD",
        json!({ "prompt": "x", "stdout": 1, "stream": true }),
    );
    until("the pipe is full", || {
        world.manager.clients()[0].bytes_written > 50_000
    });
    let reply = world.framed().ask("LLMCMD", json!({ "prompt": "x" }));
    assert_eq!(reply.unwrap()["content"], "Hello.");
    handle.end();
    drop((client, handle));
    world.is_left();
    let printed = all(screen);
    assert!(text.starts_with(&printed) && printed.len() < text.len());
}

/// A client that has sent its last request still waits for the answer.
#[test]
fn f080_a_half_closed_connection_gets_its_answer() {
    let provider = Provider::start();
    let world = World::with_llm(&provider.url(), |_| {});
    let mut client = world.framed();
    client.send("LLMCMD", json!({ "prompt": "x" }));
    client.0.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.answer().unwrap()["content"], "Hello.");
    assert_eq!(client.0.read(&mut [0]).unwrap(), 0);
    world.is_left();
}

/// It is known when it has been paid for: the error says how to get it.
#[test]
fn an_answer_that_is_larger_than_a_frame_needs_a_handle() {
    let provider = Provider::start();
    let text = "x".repeat(5000);
    provider.always(Answer::text(text.as_str()));
    let options = ManagerOptions {
        max_frame: 4096,
        ..ManagerOptions::default()
    };
    let quota = |settings: &mut jig_broker::LlmSettings| settings.quota = Some(5000.0);
    let world = World::with_options(&provider.url(), quota, options);
    let mut client = world.framed();
    let refused = client.ask("LLMCMD", json!({ "prompt": "x" })).unwrap_err();
    let expected = "the answer is larger than a frame: give `stdout` a handle for it";
    assert_eq!(refused, ("E_RANGE".to_owned(), expected.to_owned()));
    assert_eq!(client.ask("QUOTA", json!({})).unwrap()["used"], 30.0);
    let stdout = client.open("answer", "w");
    let params = json!({ "prompt": "x", "stdout": stdout });
    assert_eq!(client.ask("LLMCMD", params).unwrap()["written"], 5000);
    assert_eq!(client.named("answer"), text);
}

/// Nobody pays for text that cannot be delivered: a full tree or a reader that has gone ends the call, although
/// the provider would go on.
#[test]
fn what_cannot_be_delivered_is_given_up() {
    let provider = Provider::start();
    let text = "0123456789 ".repeat(2000);
    provider.always(Answer::text(text).hanging_after(200_000));
    let options = ManagerOptions {
        virtual_bytes: 10_000,
        ..ManagerOptions::default()
    };
    let world = World::with_options(&provider.url(), |_| {}, options);
    let start = Instant::now();
    let mut client = world.framed();
    let stdout = client.open("answer", "w");
    let params = json!({ "prompt": "x", "stdout": stdout, "stream": true });
    let (code, message) = client.ask("LLMCMD", params).unwrap_err();
    assert_eq!(code, "E_RANGE", "{message}");
    // What was delivered until then stays.
    assert!(client.named("answer").starts_with("0123456789 "));

    let (screen, stdout) = pipe();
    drop(screen);
    let mut client = Framed(world.connect(streams(Some(stdout), None)).1);
    let params = json!({ "prompt": "x", "stdout": 1, "stream": true });
    let (code, message) = client.ask("LLMCMD", params).unwrap_err();
    assert_eq!(code, "E_IO", "{message}");
    assert!(message.contains("nobody reads it"), "{message}");
    assert!(start.elapsed() < LONG / 2, "the provider was waited for");
}

fn streams(stdout: Option<OwnedFd>, stderr: Option<OwnedFd>) -> ClientOptions {
    ClientOptions {
        streams: ParentStreams {
            stdin: None,
            stdout: stdout.map(Into::into),
            stderr: stderr.map(Into::into),
        },
        ..in_llm_context()
    }
}

fn all(end: OwnedFd) -> String {
    let mut text = String::new();
    File::from(end).read_to_string(&mut text).unwrap();
    text
}
