//! `jig mcp` on its standard streams: what it does for a client, what it does to one that misbehaves, and what
//! it leaves behind.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use jig_testkit::{until, until_some};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value as Json, json};

use super::Workspace;
use super::mcp_client::{Client, PATIENCE, text};

/// A tool that says its process id in a file, and then sleeps: a program that nobody ends by itself.
const SLEEPER: &str = r#"
[tools.sleeper]
source = "local"
runtime = "stdio"
command = "sh -c 'echo $$ > pid; sleep 600 & echo $! > child; wait'"
run = "unattended"
description = "Sleeps"
"#;

/// Metadata that every request of 2026-07-28 carries.
pub(crate) fn meta() -> Json {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

#[test]
fn without_configuration_it_serves_the_predefined_tools() {
    let workspace = Workspace::new();
    workspace.write("a.txt", "hello\n");
    let mut client = Client::connect(&workspace, json!({}));
    let tools = client.request("tools/list", json!({}));
    let names: Vec<&str> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"fs_read_file"), "{names:?}");
    let result = client.call("fs_read_file", json!({ "path": "a.txt" }));
    assert_eq!(text(&result), "hello\n");
    // Writing asks, and this client cannot be asked.
    let result = client.call("fs_create_file", json!({ "path": "b.txt", "content": "" }));
    assert_eq!(result["isError"], true, "{result}");
    assert!(!workspace.root.join("b.txt").exists());
    let (status, stderr) = client.close();
    assert_eq!((status.code(), &*stderr), (Some(0), ""));
}

#[test]
fn the_newer_protocol_needs_no_beginning() {
    let workspace = Workspace::new();
    workspace.write("a.txt", "hello\n");
    let mut client = Client::start(&workspace, &[]);
    let about = client.request("server/discover", json!({ "_meta": meta() }));
    let versions = about["result"]["supportedVersions"].to_string();
    assert!(
        versions.contains("2026-07-28") && versions.contains("2025-11-25"),
        "{about}"
    );
    let params =
        json!({ "_meta": meta(), "name": "fs_read_file", "arguments": { "path": "a.txt" } });
    let answer = client.request("tools/call", params);
    assert_eq!(text(&answer["result"]), "hello\n");
    assert_eq!(client.close().0.code(), Some(0));
}

/// Node gives sockets to the programs that it starts, not pipes.
#[test]
fn sockets_are_as_good_as_pipes() {
    let workspace = Workspace::new();
    workspace.write("a.txt", "hello\n");
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut command = workspace.jig(&["mcp"]);
    let theirs = OwnedFd::from(theirs);
    command.stdin(theirs.try_clone().unwrap()).stdout(theirs);
    let mut child = command.spawn().unwrap();
    drop(command);
    let stream = (ours.try_clone().unwrap(), ours);
    let answers = by_hand(
        stream.0,
        &[
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "_meta": meta(), "name": "fs_read_file", "arguments": { "path": "a.txt" },
        } }),
        ],
    );
    assert_eq!(text(&answers[0]["result"]), "hello\n");
    stream.1.shutdown(std::net::Shutdown::Both).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

fn by_hand(stream: UnixStream, messages: &[Json]) -> Vec<Json> {
    use std::io::{BufRead, BufReader, Write};
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let mut stream = stream;
    messages
        .iter()
        .map(|message| {
            writeln!(stream, "{message}").unwrap();
            serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap()
        })
        .collect()
}

/// Each line is answered as said, and the one after it works.
#[test]
fn garbage_is_answered_and_the_next_line_is_read() {
    let workspace = Workspace::new();
    let mut client = Client::connect(&workspace, json!({}));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_arguments = format!(
        r#"{{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{{"name":"fs_read_file","arguments":{{"path":{deep}}}}}}}"#
    );
    let cases: &[(&[u8], i64, Json)] = &[
        (b"garbage", -32700, Json::Null),
        (b"{\"jsonrpc\":\"2.0\",", -32700, Json::Null),
        (b"\xff\xfe\x00\x01", -32700, Json::Null),
        (b"17", -32600, Json::Null),
        (b"[]", -32600, Json::Null),
        (
            br#"[{"jsonrpc":"2.0","id":5,"method":"ping"}]"#,
            -32600,
            Json::Null,
        ),
        (br#"{"id":7}"#, -32600, json!(7)),
        (
            br#"{"jsonrpc":"1.0","id":"x","method":"ping"}"#,
            -32600,
            json!("x"),
        ),
        (deep.as_bytes(), -32700, Json::Null),
        (deep_arguments.as_bytes(), -32700, Json::Null),
        (
            br#"{"jsonrpc":"2.0","id":9,"method":"no/such"}"#,
            -32601,
            json!(9),
        ),
    ];
    for (line, code, id) in cases {
        let shown = String::from_utf8_lossy(&line[..line.len().min(60)]).into_owned();
        client.send_raw(&[line, &b"\n"[..]].concat());
        let answer = client.receive();
        assert_eq!(answer["error"]["code"], *code, "{shown}: {answer}");
        assert_eq!(answer["id"], *id, "{shown}: {answer}");
        let pong = client.request("ping", json!({}));
        assert_eq!(pong["result"], json!({}), "after {shown}");
    }
    // What asks for nothing gets nothing.
    for line in ["", "   ", "\r", r#"{"jsonrpc":"2.0","method":"no/such"}"#] {
        client.send_raw(format!("{line}\n").as_bytes());
        assert_eq!(client.request("ping", json!({}))["result"], json!({}));
        assert!(client.aside.is_empty(), "{line:?}: {:?}", client.aside);
    }
    let (status, stderr) = client.close();
    assert_eq!((status.code(), &*stderr), (Some(0), ""));
}

#[test]
fn what_comes_before_the_first_request_ends_nothing() {
    let workspace = Workspace::new();
    let mut client = Client::start(&workspace, &[]);
    for line in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":3,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":""}}"#,
    ] {
        client.send_raw(format!("{line}\n").as_bytes());
    }
    let answer = client.initialize(json!({}));
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(client.close().0.code(), Some(0));
}

#[test]
fn a_line_of_20_megabytes_is_refused_and_not_kept() {
    let workspace = Workspace::new();
    let mut client = Client::connect(&workspace, json!({}));
    let before = resident(client.pid());
    let piece = vec![b'x'; 1024 * 1024];
    for _ in 0..3 {
        client.send_raw(b"\"");
        for _ in 0..20 {
            client.send_raw(&piece);
        }
        client.send_raw(b"\"\n");
        let answer = client.receive();
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
        assert!(
            answer["error"]["message"]
                .as_str()
                .unwrap()
                .contains("16 MiB")
        );
    }
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
    let grown = resident(client.pid()).saturating_sub(before);
    assert!(grown < 40 * 1024 * 1024, "{grown} bytes more");
    assert_eq!(client.close().0.code(), Some(0));
}

/// The resident memory of a process, in bytes.
pub(crate) fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes * 1024
}

/// A client that asks and never reads must not make jig hold all the answers.
#[test]
fn a_client_that_does_not_read_is_not_read_from() {
    use std::io::Write;
    let workspace = Workspace::new();
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut command = workspace.jig(&["mcp"]);
    let theirs = OwnedFd::from(theirs);
    command.stdin(theirs.try_clone().unwrap()).stdout(theirs);
    let mut child = command.spawn().unwrap();
    drop(command);
    ours.set_write_timeout(Some(Duration::from_secs(3)))
        .unwrap();
    let mut stream = &ours;
    let request = format!(
        "{}\n",
        json!({ "jsonrpc": "2.0", "id": 0, "method": "tools/list", "params": { "_meta": meta() } })
    );
    let mut sent = 0_u64;
    let refused = loop {
        // Distinct ids, as a client has them.
        let line = request.replacen("\"id\":0", &format!("\"id\":{sent}"), 1);
        match stream.write_all(line.as_bytes()) {
            Ok(()) => sent += 1,
            Err(error) => break error,
        }
        assert!(sent < 100_000, "all was read");
    };
    assert!(
        matches!(
            refused.kind(),
            std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
        ),
        "{refused}"
    );
    let held = resident(child.id());
    assert!(
        held < 400 * 1024 * 1024,
        "{held} bytes after {sent} requests"
    );
    ours.shutdown(std::net::Shutdown::Both).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn half_a_message_and_then_nothing_is_an_end() {
    let workspace = Workspace::new();
    let mut client = Client::connect(&workspace, json!({}));
    client.send_raw(br#"{"jsonrpc":"2.0","id":9,"met"#);
    let (status, stderr) = client.close();
    assert_eq!((status.code(), &*stderr), (Some(0), ""));
    // Before anything was said, too.
    let client = Client::start(&workspace, &[]);
    assert_eq!(client.close().0.code(), Some(0));
}

/// A script that sends its requests and closes gets its answers.
#[test]
fn answers_come_after_the_end_of_the_input() {
    let workspace = Workspace::new();
    workspace.write("a.txt", "hello\n");
    let mut client = Client::connect(&workspace, json!({}));
    let params = json!({ "name": "fs_read_file", "arguments": { "path": "a.txt" } });
    let id = client.ask("tools/call", params);
    client.shut();
    let answer = client.answer(id);
    assert_eq!(text(&answer["result"]), "hello\n");
    assert_eq!(client.ended().0.code(), Some(0));
}

/// The process that a file of the workspace names, once it is there.
fn process(workspace: &Workspace, file: &str) -> Pid {
    until_some(&format!("there is a number in `{file}`"), || {
        let text = std::fs::read_to_string(workspace.root.join(file)).unwrap_or_default();
        text.trim().parse().ok().and_then(Pid::from_raw)
    })
}

/// How many processes sleep for a time that only our tool sleeps for.
fn sleepers(marker: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.starts_with("sleep ") && line.contains(marker))
        .collect()
}

fn gone(marker: &str) {
    until("no sleeper is left", || sleepers(marker).is_empty());
}

/// However the client or the server ends, no process of a tool stays.
#[test]
fn whatever_ends_the_server_ends_its_tools() {
    type End = fn(Client) -> Option<i32>;
    let ends: &[(&str, End)] = &[
        ("100001", |client| client.close().0.code()),
        ("100002", |mut client| {
            kill(&client, Signal::TERM);
            client.ended().0.code()
        }),
        ("100003", |mut client| {
            kill(&client, Signal::INT);
            client.ended().0.code()
        }),
        ("100004", |mut client| {
            kill(&client, Signal::KILL);
            client.ended().0.code()
        }),
        ("100005", |client| {
            // A client that is killed closes all at once.
            drop(client);
            Some(0)
        }),
    ];
    for (time, end) in ends {
        let workspace = Workspace::with(&SLEEPER.replace("600", time));
        let mut client = Client::connect(&workspace, json!({}));
        client.ask("tools/call", json!({ "name": "sleeper", "arguments": {} }));
        process(&workspace, "child");
        let marker = *time;
        until("it sleeps", || !sleepers(marker).is_empty());
        let code = end(client);
        match marker {
            "100004" => assert_eq!(code, None),
            _ => assert_eq!(code, Some(0), "{marker}"),
        }
        gone(marker);
    }
}

fn kill(client: &Client, signal: Signal) {
    let pid = Pid::from_raw(client.pid().cast_signed()).unwrap();
    test_kill_process(pid).unwrap();
    kill_process(pid, signal).unwrap();
}

/// A tool that was spawned runs on between calls, and ends with the turn.
#[test]
fn a_spawned_tool_ends_with_the_connection() {
    let config = format!("{SLEEPER}\nstateful = true\n").replace("600", "100006");
    let workspace = Workspace::with(&config);
    let mut client = Client::connect(&workspace, json!({}));
    let result = client.call("sleeper", json!({ "action": "spawn" }));
    assert_ne!(result["isError"], true, "{result}");
    process(&workspace, "child");
    until("it sleeps", || !sleepers("100006").is_empty());
    assert_eq!(client.close().0.code(), Some(0));
    gone("100006");
}

#[test]
fn the_log_holds_what_was_done() {
    let workspace = Workspace::new();
    workspace.write("a.txt", "hello\n");
    let mut client = Client::connect(&workspace, json!({}));
    client.call("fs_read_file", json!({ "path": "a.txt" }));
    assert_eq!(client.close().0.code(), Some(0));
    let log = workspace.run(&["log"]);
    assert!(
        log.contains("fs_read_file") && log.contains("a.txt"),
        "{log}"
    );
}

/// A read runs where the connection is served. When somebody has to be asked about it, that goes on serving:
/// the question gets out, and other calls are answered before it is.
#[test]
fn a_read_that_asks_holds_nothing_up() {
    let workspace = Workspace::new();
    workspace.write(".env", "SECRET=1\n");
    workspace.write("a.txt", "hello\n");
    let mut client = Client::connect(&workspace, json!({ "elicitation": {} }));
    let read = |path: &str| json!({ "name": "fs_read_file", "arguments": { "path": path } });
    let asking = client.ask("tools/call", read(".env"));
    let question = client.until(|message| message["method"] == "elicitation/create");
    let other = client.call("fs_read_file", json!({ "path": "a.txt" }));
    assert_eq!(text(&other), "hello\n");
    let result = json!({ "action": "accept", "content": { "decision": "allow once" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }));
    let answer = client.answer(asking);
    assert!(answer.to_string().contains("SECRET=1"), "{answer}");
    assert!(client.close().0.success());
}
