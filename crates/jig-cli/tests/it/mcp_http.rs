//! `jig mcp --http`: what callers get, what belongs to whom, and when it ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdout, Stdio};

use jig_testkit::until;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value as Json, json};

use super::Workspace;
use super::mcp_client::{PATIENCE, text};
use super::mcp_stdio::meta;

pub(crate) const ALICE: &str = "alice-has-a-long-secret";
pub(crate) const BOB: &str = "bob-has-another-secret";

/// A running `jig mcp --http`, with the tokens [`ALICE`] and [`BOB`]. It does not outlive the test.
pub(crate) struct Server {
    child: Child,
    _stdout: BufReader<ChildStdout>,
    pub(crate) address: SocketAddr,
}

impl Server {
    pub(crate) fn start(workspace: &Workspace, args: &[&str]) -> Self {
        let file = workspace.home.join("tokens");
        std::fs::write(&file, format!("# ours\n{ALICE}\n\n{BOB}\n")).unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        let fixed = [
            "mcp",
            "--http",
            "127.0.0.1:0",
            "--json",
            "--token-file",
            file.as_str(),
        ];
        let mut command = workspace.jig(&[&fixed, args].concat());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let told: Json = serde_json::from_str(&line).unwrap();
        // Tokens of a file are never shown.
        assert_eq!(told["token"], Json::Null);
        let url = told["url"].as_str().unwrap();
        let address = url.strip_prefix("http://").unwrap();
        let address = address.strip_suffix("/mcp").unwrap().parse().unwrap();
        Self {
            child,
            _stdout: stdout,
            address,
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends a request as it is written, and reads the whole answer.
    pub(crate) fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server that has said no closes before it has read all.
        let _ = stream.write_all(request);
        Answer::read(stream)
    }

    /// Sends a request with a method, headers and a body.
    pub(crate) fn send(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        self.raw(&request(self.address, method, headers, body))
    }

    /// A message of the newer protocol, with a token.
    pub(crate) fn request(&self, token: &str, method: &str, mut params: Json) -> Json {
        params["_meta"] = meta();
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let token = format!("Bearer {token}");
        let mut headers = vec![
            ("Authorization", &*token),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", method),
        ];
        if !name.is_empty() {
            headers.push(("Mcp-Name", &name));
        }
        let answer = self.send("POST", &headers, &body.to_string());
        answer.message()
    }

    pub(crate) fn call(&self, token: &str, tool: &str, arguments: Json) -> Json {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.request(token, "tools/call", params);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// Opens a session as clients before 2026-07-28 do.
    pub(crate) fn open(&self, token: &str) -> String {
        let token = format!("Bearer {token}");
        let answer = self.send("POST", &[("Authorization", &token)], &initialize());
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.header("mcp-session-id").unwrap().to_owned()
    }

    /// Whether a session can be used with a token.
    pub(crate) fn knows(&self, token: &str, session: &str) -> u16 {
        let token = format!("Bearer {token}");
        let headers = [("Authorization", &*token), ("Mcp-Session-Id", session)];
        let message = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        self.send("POST", &headers, message).status
    }

    /// Ends it as a supervisor does, and tells how that was.
    pub(crate) fn stop(mut self) -> Option<i32> {
        let pid = Pid::from_raw(self.pid().cast_signed()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        jig_testkit::ended(&mut self.child).code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn initialize() -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    } })
    .to_string()
}

/// A request, as bytes. A header that is given replaces the usual one.
pub(crate) fn request(
    address: SocketAddr,
    method: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Vec<u8> {
    let mut text = format!("{method} /mcp HTTP/1.1\r\n");
    let host = address.to_string();
    let length = body.len().to_string();
    let usual = [
        ("Host", &*host),
        ("Accept", "application/json, text/event-stream"),
        ("Content-Type", "application/json"),
        ("Content-Length", &*length),
        ("Connection", "close"),
    ];
    let is_given = |name: &str| {
        headers
            .iter()
            .any(|(given, _)| given.eq_ignore_ascii_case(name))
    };
    let usual = usual.iter().filter(|(name, _)| !is_given(name));
    for (name, value) in usual.chain(headers) {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text.push_str(body);
    text.into_bytes()
}

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Answer {
    /// Reads until the server closes. Status 0: it closed without a word.
    pub(crate) fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        // A connection that is reset was closed, too; what came before counts.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Self {
            status: status.unwrap_or(0),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self
            .head
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(':'));
        let mut named = lines.filter(|(given, _)| given.eq_ignore_ascii_case(name));
        named.next().map(|(_, value)| value.trim())
    }

    /// The message of the body, which may be a stream of events.
    pub(crate) fn message(&self) -> Json {
        if let Ok(message) = serde_json::from_str(&self.body) {
            return message;
        }
        let data = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "));
        let mut messages = data.filter_map(|line| serde_json::from_str::<Json>(line).ok());
        let answer = messages.find(|message| message.get("id").is_some());
        answer.unwrap_or_else(|| panic!("no message in {self:?}"))
    }
}

const SLEEPER: &str = r#"
[tools.sleeper]
source = "local"
runtime = "stdio"
command = "sh -c 'touch started; sleep 600'"
run = "unattended"
description = "Sleeps"
stateful = true
"#;

/// For how long the tool of one test sleeps, and of no other that runs.
fn marker(number: u32) -> String {
    format!("{number}{:07}", std::process::id())
}

/// How many processes sleep for a time that only our tool sleeps for.
fn asleep(marker: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines
        .filter(|line| *line == format!("sleep\0{marker}\0").as_bytes())
        .count()
}

fn is_asleep(marker: &str) -> bool {
    asleep(marker) > 0
}

#[test]
fn both_eras_work() {
    let workspace = Workspace::new();
    workspace.write("a.txt", "hello\n");
    let server = Server::start(&workspace, &[]);
    let result = server.call(ALICE, "fs_read_file", json!({ "path": "a.txt" }));
    assert_eq!(text(&result), "hello\n");

    let session = server.open(ALICE);
    assert_eq!(server.knows(ALICE, &session), 202);
    let token = format!("Bearer {ALICE}");
    let headers = [("Authorization", &*token), ("Mcp-Session-Id", &*session)];
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "fs_read_file", "arguments": { "path": "a.txt" },
    } });
    let answer = server.send("POST", &headers, &call.to_string());
    assert_eq!(text(&answer.message()["result"]), "hello\n");
    let answer = server.send("DELETE", &headers, "");
    assert!(answer.status < 300, "{answer:?}");
    assert_eq!(server.knows(ALICE, &session), 404);
    assert_eq!(server.stop(), Some(0));
}

/// What a caller has spawned is nothing to another one.
#[test]
fn handles_belong_to_a_token() {
    let workspace = Workspace::with(&SLEEPER.replace("600", &marker(100011)));
    let server = Server::start(&workspace, &[]);
    let result = server.call(ALICE, "sleeper", json!({ "action": "spawn", "id": "mine" }));
    assert_ne!(result["isError"], true, "{result}");
    let fetch = json!({ "action": "fetch", "id": "mine" });
    let result = server.call(BOB, "sleeper", fetch.clone());
    assert_eq!(result["isError"], true, "{result}");
    let result = server.call(BOB, "sleeper", json!({ "action": "abort", "id": "mine" }));
    assert_eq!(result["isError"], true, "{result}");
    let result = server.call(ALICE, "sleeper", fetch);
    assert_ne!(result["isError"], true, "{result}");
    until("asleep", || is_asleep(&marker(100011)));
    assert_eq!(server.stop(), Some(0));
    until("gone", || !is_asleep(&marker(100011)));
}

/// Whoever learned the id of a session cannot use it with a token of their own.
#[test]
fn a_session_belongs_to_the_token_that_opened_it() {
    let workspace = Workspace::new();
    let server = Server::start(&workspace, &[]);
    let session = server.open(ALICE);
    let bob = format!("Bearer {BOB}");
    let headers = [("Authorization", &*bob), ("Mcp-Session-Id", &*session)];
    for (method, body) in [
        ("POST", r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#),
        (
            "POST",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        ),
        ("GET", ""),
        ("DELETE", ""),
    ] {
        let answer = server.send(method, &headers, body);
        assert_eq!(answer.status, 404, "{method}: {answer:?}");
    }
    assert_eq!(
        server.knows(ALICE, &session),
        202,
        "it was closed by another"
    );
}

/// A client that opens one session after the other loses its oldest, and hurts nobody else.
#[test]
fn sessions_are_bounded() {
    let workspace = Workspace::new();
    let server = Server::start(&workspace, &["--max-connections", "128"]);
    let other = server.open(BOB);
    let sessions: Vec<String> = (0..300).map(|_| server.open(ALICE)).collect();
    assert_eq!(server.knows(BOB, &other), 202);
    let open = sessions
        .iter()
        .filter(|session| server.knows(ALICE, session) == 202)
        .count();
    assert_eq!(open, 128);
    assert_eq!(server.knows(ALICE, &sessions[0]), 404);
    assert_eq!(server.knows(ALICE, &sessions[299]), 202);
}

/// Whoever looks after the server needs no token for that, and learns nothing else. A page that has its own name lead
/// here learns not even that.
#[test]
fn the_server_says_that_it_serves() {
    let workspace = Workspace::new();
    let server = Server::start(&workspace, &[]);
    let answer = server.raw(&plain(&server.address.to_string(), "/healthz"));
    assert_eq!((answer.status, &*answer.body), (200, "ok\n"));
    let other = server.raw(&plain("evil.test", "/healthz"));
    assert_eq!(other.status, 403, "{other:?}");
    let other = server.raw(&plain(&server.address.to_string(), "/other"));
    assert_eq!(other.status, 404, "{other:?}");
}

fn plain(host: &str, path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").into_bytes()
}

/// A proxy in front has a name of its own, under which clients know the server. Other names stay refused, and a name
/// is no token.
#[test]
fn a_proxy_has_a_name_that_is_allowed() {
    let workspace = Workspace::new();
    let allowed = [
        "--allow-host",
        "jig.test",
        "--allow-host",
        "other.test:8443",
    ];
    let server = Server::start(&workspace, &allowed);
    let check = |host: &str, status: u16| {
        let answer = server.raw(&plain(host, "/mcp"));
        assert_eq!(answer.status, status, "{host}: {answer:?}");
    };
    let own = server.address.to_string();
    for host in ["jig.test", "JIG.test:443", "other.test:8443", &own] {
        check(host, 401);
    }
    for host in [
        "other.test",
        "other.test:80",
        "jig.test.evil",
        "a@jig.test",
        "evil.test",
    ] {
        check(host, 403);
    }
    let token = format!("Bearer {ALICE}");
    let body = initialize();
    let named = format!(
        "POST /mcp HTTP/1.1\r\nHost: jig.test\r\nAuthorization: {token}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    assert_eq!(server.raw(named.as_bytes()).status, 200);
}

/// Five hundred clients with one token, each of which keeps a stream open to be told what is new, are served, and so is
/// the next one.
#[test]
fn five_hundred_clients_are_served() {
    let workspace = Workspace::new();
    let server = Server::start(&workspace, &[]);
    let token = format!("Bearer {ALICE}");
    let mut held = Vec::new();
    for _ in 0..500 {
        let session = server.open(ALICE);
        let headers = [
            ("Authorization", &*token),
            ("Mcp-Session-Id", &*session),
            ("MCP-Protocol-Version", "2025-06-18"),
            ("Connection", "keep-alive"),
        ];
        let mut stream = server.connect();
        stream
            .write_all(&request(server.address, "GET", &headers, ""))
            .unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        held.push((session, stream));
    }
    for (session, _) in &held {
        assert_eq!(server.knows(ALICE, session), 202);
    }
    let result = server.call(BOB, "fs_list_files", json!({}));
    assert_ne!(result["isError"], true, "{result}");
}

/// A token that is not used for a while has no turn any more: what it spawned ends, its sessions, too.
#[test]
fn a_turn_ends_when_its_caller_is_idle() {
    let config = format!(
        "[mcp]\nidle = \"1s\"\n{}",
        SLEEPER.replace("600", &marker(100012))
    );
    let workspace = Workspace::with(&config);
    let server = Server::start(&workspace, &[]);
    let session = server.open(ALICE);
    let result = server.call(ALICE, "sleeper", json!({ "action": "spawn", "id": "mine" }));
    assert_ne!(result["isError"], true, "{result}");
    until("asleep", || workspace.root.join("started").exists());
    until("gone", || !is_asleep(&marker(100012)));
    // And then another one begins.
    assert_eq!(server.knows(ALICE, &session), 404);
    let result = server.call(ALICE, "sleeper", json!({ "action": "fetch", "id": "mine" }));
    assert_eq!(result["isError"], true, "{result}");
}

/// While something is read from a stream, its caller is there.
#[test]
fn an_open_stream_keeps_a_turn() {
    let config = format!(
        "[mcp]\nidle = \"3s\"\n{}",
        SLEEPER.replace("600", &marker(100013))
    );
    let workspace = Workspace::with(&config);
    let server = Server::start(&workspace, &[]);
    let session = server.open(ALICE);
    assert_eq!(server.knows(ALICE, &session), 202);
    let token = format!("Bearer {ALICE}");
    let headers = [("Authorization", &*token), ("Mcp-Session-Id", &*session)];
    let mut stream = server.connect();
    stream
        .write_all(&request(server.address, "GET", &headers, ""))
        .unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    server.call(ALICE, "sleeper", json!({ "action": "spawn", "id": "mine" }));
    until("asleep", || is_asleep(&marker(100013)));
    // Another turn, begun later and idle for as long, ends meanwhile.
    let result = server.call(BOB, "sleeper", json!({ "action": "spawn", "id": "other" }));
    assert_ne!(result["isError"], true, "{result}");
    until("both asleep", || asleep(&marker(100013)) == 2);
    until("one asleep", || asleep(&marker(100013)) == 1);
    let result = server.call(ALICE, "sleeper", json!({ "action": "fetch", "id": "mine" }));
    assert_ne!(result["isError"], true, "{result}");
    drop(stream);
    until("gone", || !is_asleep(&marker(100013)));
}

/// Told to end, it ends what runs and what is read.
#[test]
fn it_ends_with_all_that_it_runs() {
    let workspace = Workspace::with(&SLEEPER.replace("600", &marker(100014)));
    let server = Server::start(&workspace, &[]);
    let session = server.open(ALICE);
    server.knows(ALICE, &session);
    let token = format!("Bearer {ALICE}");
    let headers = [("Authorization", &*token), ("Mcp-Session-Id", &*session)];
    let mut listening = server.connect();
    listening
        .write_all(&request(server.address, "GET", &headers, ""))
        .unwrap();
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "sleeper", "arguments": {},
    } });
    let mut calling = server.connect();
    calling
        .write_all(&request(
            server.address,
            "POST",
            &headers,
            &call.to_string(),
        ))
        .unwrap();
    until("asleep", || is_asleep(&marker(100014)));
    assert_eq!(server.stop(), Some(0));
    until("gone", || !is_asleep(&marker(100014)));
}
