//! `wasi:http` on the broker.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use jig_broker::{HttpSettings, Resolver};
use jig_proto::StateName;
use serde_json::{Value, json};

use crate::common::{Tried, until};
use crate::wasi::{hostile, said, told};

/// A server on the loopback. It ends with the test.
struct Server {
    port: u16,
    requests: Receiver<String>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, requests) = channel();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if serve(stream, &sender).is_none() {
                    return;
                }
            }
        });
        Self { port, requests }
    }

    fn authority(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn rules(&self) -> String {
        let port = self.port;
        format!("net = [{{ host = \"127.0.0.1\", port = {port}, allow = true }}]")
    }

    /// A call that asks this server, which rules allow.
    fn call(&self, arguments: Value) -> Tried {
        self.ask("http", arguments).rules(&self.rules())
    }

    fn ask(&self, action: &str, mut arguments: Value) -> Tried {
        arguments["authority"] = json!(self.authority());
        hostile(action, arguments)
    }

    /// The request that came: its head in lower case and its body.
    fn request(&self) -> Option<String> {
        self.requests.try_recv().ok()
    }
}

/// Answers one request; `None` if nobody listens any more.
fn serve(stream: TcpStream, requests: &Sender<String>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return Some(());
        }
    }
    let head = head.to_ascii_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8_lossy(&body);
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let (status, location, answer) = match path.as_str() {
        "/missing" => ("404 Not Found", "", "nothing here".to_owned()),
        "/large" => ("200 OK", "", "x".repeat(3 << 20)),
        "/away" => (
            "302 Found",
            "Location: http://192.0.2.1/\r\n",
            String::new(),
        ),
        "/round" => ("302 Found", "Location: /round\r\n", String::new()),
        "/echo" => ("200 OK", "", head.clone() + &body),
        _ => ("200 OK", "", format!("hello, {path}")),
    };
    let mut stream = stream;
    let size = answer.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\n{location}X-From: server\r\nContent-Length: {size}\r\n\
         Connection: close\r\n\r\n{answer}"
    );
    requests.send(head + &body).ok()?;
    // Whoever asked may be gone.
    let _ = stream.write_all(answer.as_bytes());
    Some(())
}

#[test]
fn a_guest_reaches_what_rules_allow() {
    let server = Server::start();
    let done = server.call(json!({"path": "/a?b=c"})).run();
    let told = told(&done);
    assert_eq!(told["status"], 200);
    assert_eq!(told["body"], "hello, /a?b=c");
    assert_eq!(told["immutable"], true);
    let request = server.request().unwrap();
    assert!(request.starts_with("get /a?b=c http/1.1\r\n"), "{request}");
    let expected = format!("http.get http://127.0.0.1:{}/a?… allow", server.port);
    assert_eq!(done.decisions(), [expected]);
}

#[test]
fn a_status_that_is_no_success_is_an_answer() {
    let server = Server::start();
    let told = told(&server.call(json!({"path": "/missing"})).run());
    assert_eq!(
        (&told["status"], &told["body"]),
        (&json!(404), &json!("nothing here"))
    );
}

#[test]
fn w022_what_no_rule_allows_is_denied_and_not_sent() {
    let server = Server::start();
    let denied = |rules: &str, path: &str| {
        let done = server.ask("http", json!({"path": path})).rules(rules).run();
        let error = done.error();
        assert!(error.message.contains("HttpRequestDenied"), "{error:?}");
        let [denial] = &error.denials[..] else {
            panic!("{:?}", error.denials);
        };
        assert!(denial.target.contains("127.0.0.1"), "{denial:?}");
        assert!(denial.hint.is_some(), "{denial:?}");
        let decisions = done.decisions();
        assert!(
            decisions.iter().all(|line| !line.ends_with("allow")),
            "{decisions:?}"
        );
    };
    denied("", "/");
    denied("net = [{ host = \"example.com\", allow = true }]", "/");
    denied(
        "net = [{ host = \"127.0.0.1\", port = 1, allow = true }]",
        "/",
    );
    let port = server.port;
    let narrow = format!(
        "net = [{{ host = \"127.0.0.1\", port = {port}, path_prefix = \"/v1\", allow = true }}]"
    );
    denied(&narrow, "/v2");
    denied(&narrow, "/v1/../v2");
    assert_eq!(server.request(), None);
}

#[test]
fn somebody_can_be_asked() {
    let server = Server::start();
    let tried = server.ask("http", json!({"path": "/"})).answer("once");
    let done = tried.run();
    assert_eq!(done.asked.len(), 1, "{:?}", done.asked);
    assert_eq!(told(&done)["status"], 200);
}

#[test]
fn a_body_is_sent_whole_whenever_it_is_written() {
    let server = Server::start();
    let text = "tea ".repeat(5000);
    for order in ["body_first", "handle_first"] {
        let arguments = json!({"method": "POST", "path": "/p", "body": text, "order": order});
        let told = told(&server.call(arguments).run());
        assert_eq!(told["status"], 200, "{order}");
        let request = server.request().unwrap();
        assert!(request.starts_with("post /p "), "{order}: {request}");
        assert!(request.ends_with(&text), "{order}");
    }
}

#[test]
fn a_request_that_nobody_waits_for_is_sent() {
    let server = Server::start();
    let done = server
        .call(json!({"path": "/p", "order": "fire_and_forget"}))
        .run();
    assert_eq!(done.text(), "sent");
    assert!(server.request().is_some());
}

#[test]
fn what_cannot_be_sent_says_why_and_is_not_sent() {
    let server = Server::start();
    let check = |arguments: Value, expected: &str| {
        let done = server.call(arguments.clone()).run();
        let said = said(&done);
        assert!(said.contains(expected), "{arguments}: {said}");
    };
    check(json!({"method": "PUT"}), "GET or POST: there is no PUT");
    check(json!({"method": "PURGE"}), "there is no PURGE");
    check(json!({"method": "a b"}), "the method");
    check(json!({"path": "nowhere"}), "the path");
    check(json!({"path": "/a\r\nX: y"}), "the path");
    check(json!({"scheme": "ftp"}), "not a scheme of the web");
    check(json!({"body": "a body"}), "GET is sent without a body");
    check(
        json!({"method": "POST", "order": "unfinished"}),
        "never finished",
    );
    check(
        json!({"method": "POST", "body": "12345", "headers": [["Content-Length", "4"]]}),
        "HttpRequestBodySize(Some(5))",
    );
    check(json!({"headers": [["Host", "evil.test"]]}), "Forbidden");
    check(
        json!({"headers": [["Transfer-Encoding", "chunked"]]}),
        "Forbidden",
    );
    check(json!({"headers": [["X", "a\r\nHost: b"]]}), "InvalidSyntax");
    assert_eq!(server.request(), None);
}

#[test]
fn headers_are_sent_and_may_name_variables_that_rules_open() {
    let server = Server::start();
    let headers = json!([
        ["X-Plain", "one"],
        ["Authorization", "Bearer ${API_TOKEN}"],
        ["Accept-Encoding", "gzip"],
        ["Content-Length", "2"],
    ]);
    let arguments = json!({"method": "POST", "path": "/echo", "body": "{}", "headers": headers});
    let rules = format!(
        "{}\nenv = [{{ name = \"API_TOKEN\", header = true, read = false }}]",
        server.rules()
    );
    let tried = server.ask("http", arguments.clone()).rules(&rules);
    let told = told(&tried.variable("API_TOKEN", "hunter22").run());
    let request = server.request().unwrap();
    assert!(request.contains("x-plain: one\r\n"), "{request}");
    assert!(
        request.contains("authorization: bearer hunter22\r\n"),
        "{request}"
    );
    assert!(!request.contains("gzip"), "{request}");
    // the server sends it back, and the guest does not see it.
    let body = told["body"].as_str().unwrap();
    assert!(
        body.contains("[REDACTED]") && !body.contains("hunter22"),
        "{body}"
    );

    let tried = server.ask("http", arguments).rules(&server.rules());
    let done = tried.variable("API_TOKEN", "hunter22").run();
    assert!(said(&done).contains("HttpRequestDenied"), "{}", said(&done));
    assert_eq!(server.request(), None);
}

#[test]
fn failures_have_their_codes() {
    let server = Server::start();
    let check = |path: &str, expected: &str| {
        let done = server.call(json!({"path": path})).run();
        assert!(said(&done).contains(expected), "{path}: {}", said(&done));
    };
    check("/away", "HttpRequestDenied");
    check("/round", "LoopDetected");
    // Nobody listens on a port that was just given back.
    let gone = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = gone.local_addr().unwrap().port();
    drop(gone);
    let rules = format!("net = [{{ host = \"127.0.0.1\", port = {port}, allow = true }}]");
    let authority = format!("127.0.0.1:{port}");
    let done = hostile("http", json!({"authority": authority}))
        .rules(&rules)
        .run();
    assert!(said(&done).contains("ConnectionRefused"), "{}", said(&done));
    // `invalid` is no name of anything (RFC 6761).
    let rules = "net = [{ host = \"nowhere.invalid\", scheme = \"http\", allow = true }]";
    let http = HttpSettings {
        resolver: Arc::new(NoNames),
        ..HttpSettings::default()
    };
    let done = hostile("http", json!({"authority": "nowhere.invalid"}))
        .rules(rules)
        .http(http)
        .run();
    assert!(said(&done).contains("DnsError"), "{}", said(&done));
}

/// Knows no name.
#[derive(Debug)]
struct NoNames;

impl Resolver for NoNames {
    fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// A server that takes what it is sent and says nothing.
fn silent() -> (TcpListener, Tried) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let rules = format!("net = [{{ host = \"127.0.0.1\", port = {port}, allow = true }}]");
    let authority = format!("127.0.0.1:{port}");
    let tried = hostile("http", json!({"authority": authority})).rules(&rules);
    (listener, tried)
}

#[test]
fn a_request_that_hangs_ends_when_the_call_is_given_up() {
    let (listener, tried) = silent();
    let (session, _) = tried.start();
    let (_stream, _) = listener.accept().unwrap();
    let began = Instant::now();
    session.cancel();
    let stopped = until(&session, StateName::Stopped);
    let said = format!("{:?}", stopped.state);
    assert!(said.contains("cancelled"), "{said}");
    assert!(began.elapsed() < HTTP_TIME, "{:?}", began.elapsed());
}

#[test]
fn a_request_that_hangs_ends_with_the_time_of_the_call() {
    let (_listener, tried) = silent();
    let began = Instant::now();
    let time = Duration::from_millis(300);
    let done = tried.limits(|limits| limits.time = Some(time)).run();
    assert!(
        said(&done).contains("ran longer than 300ms"),
        "{}",
        said(&done)
    );
    assert!(began.elapsed() < HTTP_TIME, "{:?}", began.elapsed());
}

/// How long the broker waits for a server.
const HTTP_TIME: Duration = Duration::from_secs(30);

#[test]
fn a_large_answer_is_read_in_pieces_and_can_be_skipped() {
    let server = Server::start();
    let told = told(
        &server
            .call(json!({"path": "/large", "skip": u64::MAX}))
            .run(),
    );
    // A skip takes no more at once than a read.
    assert_eq!(told["skipped"], 1 << 20);
    assert_eq!(told["body"].as_str().unwrap().len(), 2 << 20);
}

#[test]
fn a_guest_that_keeps_all_answers_does_not_fill_our_memory() {
    let server = Server::start();
    let done = server
        .ask("http_hoard", json!({"path": "/large", "count": 100}))
        .rules(&server.rules())
        .run();
    // 21 times 3 MiB are less than 64 MiB.
    let said = said(&done);
    assert!(
        said.starts_with("21: ") && said.contains("HttpResponseBodySize"),
        "{said}"
    );
}

#[test]
fn nothing_is_written_into_a_finished_body() {
    let server = Server::start();
    let done = server
        .ask("http_late_write", json!({}))
        .rules(&server.rules())
        .run();
    assert!(
        said(&done).contains("the body is finished"),
        "{}",
        said(&done)
    );
}
