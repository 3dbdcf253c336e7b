//! `jp:host/http`, against a server on the loopback interface.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};

use serde_json::json;

use crate::common::Tried;
use crate::host::{answer, answers};

/// Answers so many requests with what they were, and gives them.
struct Server {
    port: u16,
    thread: JoinHandle<Vec<String>>,
}

impl Server {
    fn start(requests: usize) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let thread = thread::spawn(move || {
            let streams = listener.incoming().take(requests);
            streams.map(|stream| serve(stream.unwrap())).collect()
        });
        Self { port, thread }
    }

    fn rules(&self) -> String {
        format!(
            "net = [{{ host = \"127.0.0.1\", port = {}, allow = true }}]",
            self.port
        )
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn seen(self) -> Vec<String> {
        self.thread.join().unwrap()
    }
}

/// Reads a request to its end, and sends its first line and its body back, with all its headers.
fn serve(mut stream: TcpStream) -> String {
    let mut request = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let length = stream.read(&mut chunk).unwrap();
        request.extend_from_slice(&chunk[..length]);
        let text = String::from_utf8_lossy(&request).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            assert!(length > 0, "half a request");
            continue;
        };
        let lines = head.to_lowercase();
        let announced = lines
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let announced: usize = announced.map_or(0, |length| length.parse().unwrap());
        if body.len() >= announced {
            let echo = format!("{head}|{body}").replace("\r\n", ";");
            let length = echo.len();
            let answer = format!("HTTP/1.1 203 Fine\r\nContent-Length: {length}\r\n\r\n{echo}");
            stream.write_all(answer.as_bytes()).unwrap();
            return text;
        }
    }
}

#[test]
fn a_server_that_a_rule_allows_is_reached() {
    let server = Server::start(2);
    let (lines, done) = answers(
        Tried::memory("hosted").rules(&server.rules()),
        &json!([
            ["get", server.url("/a?q=1"), {"X-One": "1"}],
            ["post", server.url("/b"), {"Content-Type": "text/x"}, "data"],
        ]),
    );
    assert!(
        lines[0].starts_with("203 GET /a?q=1 HTTP/1.1;"),
        "{lines:?}"
    );
    assert!(lines[0].to_lowercase().contains(";x-one: 1|"), "{lines:?}");
    assert!(lines[1].starts_with("203 POST /b HTTP/1.1;"), "{lines:?}");
    assert!(lines[1].ends_with("|data"), "{lines:?}");
    let target = server.url("/a?…");
    assert_eq!(done.decisions()[0], format!("http.get {target} allow"));
    server.seen();
}

#[test]
fn w022_no_server_is_reached_without_a_rule() {
    let server = Server::start(1);
    let (line, done) = answer(
        Tried::memory("hosted"),
        &json!(["get", server.url("/"), {}]),
    );
    assert!(line.starts_with("error: access denied: "), "{line}");
    assert!(line.contains("[[tools.tool.access.net]]"), "{line}");
    let decisions = done.decisions();
    assert!(
        decisions.iter().all(|line| !line.ends_with("allow")),
        "{decisions:?}"
    );
    // It has heard nothing: the first request that it gets is ours.
    TcpStream::connect((Ipv4Addr::LOCALHOST, server.port))
        .unwrap()
        .write_all(b"GET /ours HTTP/1.1\r\n\r\n")
        .unwrap();
    assert!(server.seen()[0].starts_with("GET /ours "));
}

/// The value goes to the server and nowhere else, also if the server sends it back.
#[test]
fn a_variable_in_a_header_is_never_seen_by_the_guest() {
    let server = Server::start(1);
    let rules = format!(
        "{}\nenv = [{{ name = \"TOKEN\", header = true }}]",
        server.rules()
    );
    let (line, done) = answer(
        Tried::memory("hosted")
            .rules(&rules)
            .variable("TOKEN", "s3cret-value"),
        &json!(["get", server.url("/"), {"Authorization": "Bearer ${TOKEN}"}]),
    );
    assert!(line.starts_with("203 "), "{line}");
    assert!(!line.contains("s3cret"), "{line}");
    assert!(line.contains("Bearer [REDACTED]"), "{line}");
    let logged = format!("{:?}", done.audit);
    assert!(!logged.contains("s3cret"), "{logged}");
    let seen = server.seen();
    assert!(seen[0].contains("Bearer s3cret-value"), "{seen:?}");
}

#[test]
fn a_variable_that_no_rule_grants_is_not_sent() {
    let server = Server::start(1);
    let (line, _) = answer(
        Tried::memory("hosted")
            .rules(&server.rules())
            .variable("TOKEN", "s3cret-value"),
        &json!(["get", server.url("/"), {"Authorization": "Bearer ${TOKEN}"}]),
    );
    assert!(line.starts_with("error: access denied: "), "{line}");
    TcpStream::connect((Ipv4Addr::LOCALHOST, server.port))
        .unwrap()
        .write_all(b"GET /ours HTTP/1.1\r\n\r\n")
        .unwrap();
    assert!(server.seen()[0].starts_with("GET /ours "));
}
