//! Servers over HTTP that are played here, response by response.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::{calling, limits, within};
use crate::client::check::Era;
use crate::client::connection::{CallEvent, ElicitationAnswer, Upstream, UpstreamError};

/// A request that came.
#[derive(Debug, Clone)]
struct Request {
    verb: String,
    headers: HashMap<String, String>,
    body: Value,
}

impl Request {
    fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// What is answered.
struct Response {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
    /// Whether the stream stays open behind the body.
    is_open: bool,
}

fn status(status: u16) -> Response {
    Response {
        status,
        headers: Vec::new(),
        body: String::new(),
        is_open: false,
    }
}

fn json(request: &Request, result: Value) -> Response {
    let message = json!({"jsonrpc": "2.0", "id": request.body["id"], "result": result});
    Response {
        headers: vec![("content-type", "application/json".to_owned())],
        body: message.to_string(),
        ..status(200)
    }
}

fn events(body: String) -> Response {
    Response {
        headers: vec![("content-type", "text/event-stream".to_owned())],
        body,
        ..status(200)
    }
}

/// A server whose every response is made of its request.
struct Site {
    url: String,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Site {
    async fn new(respond: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!(
            "http://{}/mcp?key=hunter2",
            listener.local_addr().expect("an address")
        );
        let seen = Arc::<Mutex<Vec<Request>>>::default();
        let log = Arc::clone(&seen);
        let respond = Arc::new(respond);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (log, respond) = (Arc::clone(&log), Arc::clone(&respond));
                tokio::spawn(async move {
                    let mut stream = BufReader::new(stream);
                    if let Some(request) = read(&mut stream).await {
                        log.lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .push(request.clone());
                        write(&mut stream, respond(&request)).await;
                    }
                });
            }
        });
        Self { url, seen }
    }

    fn seen(&self) -> Vec<Request> {
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn seen_of(&self, method: &str) -> Vec<Request> {
        let mut seen = self.seen();
        seen.retain(|request| request.method() == method);
        seen
    }

    async fn connect(&self, era: Option<Era>) -> Result<Arc<Upstream>, UpstreamError> {
        let headers = [("Authorization".to_owned(), "Bearer hunter2".to_owned())];
        within(Upstream::over_http(&self.url, &headers, &limits(era))).await
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let verb = line.split(' ').next()?.to_owned();
    let mut headers = HashMap::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = headers
        .get("content-length")
        .and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await.ok()?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Some(Request {
        verb,
        headers,
        body,
    })
}

async fn write(stream: &mut BufReader<TcpStream>, response: Response) {
    let mut text = format!("HTTP/1.1 {} x\r\nconnection: close\r\n", response.status);
    if !response.is_open {
        text.push_str(&format!("content-length: {}\r\n", response.body.len()));
    }
    for (name, value) in response.headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text.push_str(&response.body);
    // A client may have gone.
    let _ = stream.write_all(text.as_bytes()).await;
    if response.is_open {
        let _ = stream.read_to_end(&mut Vec::new()).await;
    }
}

/// What a server of 2025 with one session says to anything but a call.
fn older(request: &Request, session: &str) -> Response {
    match (request.verb.as_str(), request.method()) {
        ("POST", "server/discover") => status(400),
        ("POST", "initialize") => {
            let said = json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}});
            let mut response = json(request, said);
            response
                .headers
                .push(("mcp-session-id", session.to_owned()));
            response
        }
        ("POST", method) if method.starts_with("notifications/") => status(202),
        ("POST", "tools/list") => json(
            request,
            json!({"tools": [{"name": "a", "inputSchema": {}}]}),
        ),
        ("POST", "") => status(202),
        _ => status(405),
    }
}

#[tokio::test]
async fn a_session_of_2025_is_named_in_every_request_and_ended() {
    let site = Site::new(|request| match request.method() {
        "tools/call" => json(request, json!({"n": 1})),
        _ => older(request, "s1"),
    });
    let site = site.await;
    let upstream = site.connect(None).await.expect("it begins");
    assert_eq!(upstream.era(), Era::Handshake);
    upstream.definitions(None).await.expect("a list");
    let result = calling(&upstream, "a", 1).result().await;
    assert_eq!(result.expect("a result")["n"], 1);
    upstream.close().await;
    let seen = site.seen();
    assert!(
        seen.iter()
            .all(|request| request.header("authorization") == Some("Bearer hunter2"))
    );
    for request in &seen {
        let has_begun = !matches!(request.method(), "server/discover" | "initialize");
        assert_eq!(
            request.header("mcp-session-id").is_some(),
            has_begun,
            "{request:?}"
        );
        let version = match request.method() {
            "server/discover" => Some("2026-07-28"),
            "initialize" => None,
            _ => Some("2025-06-18"),
        };
        assert_eq!(
            request.header("mcp-protocol-version"),
            version,
            "{request:?}"
        );
    }
    assert!(seen.iter().any(|request| request.verb == "DELETE"));
}

#[tokio::test]
async fn a_session_that_was_forgotten_is_made_anew_and_the_call_sent_again() {
    let made = Arc::new(Mutex::new(0));
    let site = Site::new(move |request| {
        let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
        match request.method() {
            "initialize" => {
                *made += 1;
                older(request, &format!("s{made}"))
            }
            "tools/call" if request.header("mcp-session-id") == Some("s1") => status(404),
            "tools/call" => json(request, json!({"n": 1})),
            _ => older(request, ""),
        }
    });
    let site = site.await;
    let upstream = site.connect(Some(Era::Handshake)).await.expect("it begins");
    let result = calling(&upstream, "a", 1).result().await;
    assert_eq!(result.expect("a result")["n"], 1);
    assert_eq!(site.seen_of("initialize").len(), 2);
    assert_eq!(site.seen_of("tools/call").len(), 2);
}

#[tokio::test]
async fn a_server_that_forgets_every_session_is_not_asked_for_ever() {
    let site = Site::new(|request| match request.method() {
        "tools/call" => status(404),
        _ => older(request, "s"),
    });
    let site = site.await;
    let upstream = site.connect(Some(Era::Handshake)).await.expect("it begins");
    let result = calling(&upstream, "a", 1).result().await;
    assert!(
        matches!(result, Err(UpstreamError::Unreachable { .. })),
        "{result:?}"
    );
    assert_eq!(site.seen_of("tools/call").len(), 2);
}

#[tokio::test]
async fn a_stream_carries_a_question_and_then_the_answer() {
    let (asked, answered) = tokio::sync::watch::channel(Value::Null);
    let site = Site::new(move |request| match request.method() {
        "tools/call" => {
            let schema = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}});
            let params = json!({"message": "Sure?", "requestedSchema": schema});
            let question = json!({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": params});
            let mut response = events(format!("data: {question}\n\n"));
            response.is_open = true;
            asked.send_replace(request.body["id"].clone());
            response
        }
        // On the stream of the connection, the answer to the call comes as well.
        "" if request.verb == "POST" => {
            asked.send_replace(request.body.clone());
            status(202)
        }
        _ => older(request, "s"),
    });
    let site = site.await;
    let upstream = site.connect(Some(Era::Handshake)).await.expect("it begins");
    // Of two callers, the one on whose stream the question comes is asked.
    let mut answered = answered;
    let mut first = calling(&upstream, "a", 1);
    let mut second = calling(&upstream, "a", 2);
    for call in [&mut first, &mut second] {
        let CallEvent::Ask { answer, .. } = call.event().await else {
            panic!("no question");
        };
        answer
            .send(ElicitationAnswer::Given(true.into()))
            .expect("it waits");
    }
    within(answered.wait_for(|value| value["result"]["action"] == "accept"))
        .await
        .expect("an answer");
    first.give_up().await;
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_taken_up_where_it_was() {
    let site = Site::new(|request| match (request.verb.as_str(), request.method()) {
        ("POST", "tools/call") => {
            events(format!("id: {}\nretry: 10\ndata: \n\n", request.body["id"]))
        }
        ("GET", _) => match request.header("last-event-id") {
            Some(id) => events(format!(
                "id: x\ndata: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"n\":1}}}}\n\n"
            )),
            None => status(405),
        },
        _ => older(request, "s"),
    });
    let site = site.await;
    let upstream = site.connect(Some(Era::Handshake)).await.expect("it begins");
    let result = calling(&upstream, "a", 1).result().await;
    assert_eq!(result.expect("a result")["n"], 1);
    // The call itself is never repeated.
    assert_eq!(site.seen_of("tools/call").len(), 1);
}

#[tokio::test]
async fn a_stream_that_breaks_off_for_good_is_an_error() {
    for body in ["", "data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n"] {
        let site = Site::new(move |request| match request.method() {
            "tools/call" => events(body.to_owned()),
            _ => older(request, "s"),
        });
        let site = site.await;
        let upstream = site.connect(Some(Era::Handshake)).await.expect("it begins");
        let result = calling(&upstream, "a", 1).result().await;
        assert!(
            matches!(result, Err(UpstreamError::Unreachable { .. })),
            "{result:?}"
        );
        assert_eq!(site.seen_of("tools/call").len(), 1);
    }
}

#[tokio::test]
async fn a_server_of_2026_gets_headers_and_leaves_out_tools_that_cannot_have_them() {
    let site = Site::new(|request| match request.method() {
        "server/discover" => json(
            request,
            json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}),
        ),
        "tools/list" => json(
            request,
            json!({"tools": [
                {"name": "a", "inputSchema": {"properties": {"a": {"type": "integer", "x-mcp-header": "A"}}}},
                {"name": "b", "inputSchema": {"properties": {"a": {"type": "number", "x-mcp-header": "A"}}}},
            ]}),
        ),
        _ => json(request, json!({"content": []})),
    });
    let site = site.await;
    let upstream = site.connect(None).await.expect("it begins");
    assert_eq!(upstream.era(), Era::Stateless);
    let listed = upstream.definitions(None).await.expect("a list");
    assert_eq!(listed.definitions.len(), 1);
    assert!(
        listed.notes[0].contains("`b` is left out"),
        "{:?}",
        listed.notes
    );
    calling(&upstream, "a", 1).result().await.expect("a result");
    let call = site.seen_of("tools/call").remove(0);
    assert_eq!(call.header("mcp-method"), Some("tools/call"));
    assert_eq!(call.header("mcp-name"), Some("a"));
    assert_eq!(call.header("mcp-param-a"), Some("1"));
    assert_eq!(call.header("mcp-protocol-version"), Some("2026-07-28"));
}

#[tokio::test]
async fn a_call_of_2026_that_is_given_up_closes_its_stream() {
    let site = Site::new(|request| match request.method() {
        "server/discover" => json(
            request,
            json!({"supportedVersions": ["2026-07-28"], "capabilities": {}}),
        ),
        _ => Response {
            is_open: true,
            ..events(": wait\n\n".to_owned())
        },
    });
    let site = site.await;
    let upstream = site.connect(None).await.expect("it begins");
    let call = calling(&upstream, "a", 1);
    within(async {
        while site.seen_of("tools/call").is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    call.give_up().await;
    assert!(site.seen_of("notifications/cancelled").is_empty());
}

/// What a server answers a call with, and the words that tell it.
#[tokio::test]
async fn responses_that_are_no_answers() {
    fn html() -> Response {
        let headers = vec![("content-type", "text/html".to_owned())];
        Response {
            headers,
            body: "<html>".to_owned(),
            ..status(200)
        }
    }
    fn body(text: String) -> Response {
        let headers = vec![("content-type", "application/json".to_owned())];
        Response {
            headers,
            body: text,
            ..status(200)
        }
    }
    fn moved() -> Response {
        let headers = vec![("location", "https://evil.example/steal?token=1".to_owned())];
        Response {
            headers,
            ..status(307)
        }
    }
    type Respond = fn() -> Response;
    let cases: [(Respond, &str); 10] = [
        (|| status(401), "refuses access"),
        (|| status(403), "refuses access"),
        (|| status(500), "HTTP status 500"),
        (
            || Response {
                body: "over\u{1b}loaded".to_owned(),
                ..status(503)
            },
            "503: over\\u{1b}loaded",
        ),
        (moved, "https://evil.example/steal`"),
        (html, "text/html"),
        (|| body("{".to_owned()), "cannot be read"),
        (|| body("{}".to_owned()), "no message"),
        (
            || body("{\"jsonrpc\":\"2.0\",\"method\":\"x\"}".to_owned()),
            "no answer",
        ),
        (
            || body(format!("\"{}\"", "x".repeat(17 << 20))),
            "longer than",
        ),
    ];
    for (respond, words) in cases {
        let site = Site::new(move |request| match request.method() {
            "tools/call" => respond(),
            _ => older(request, "s"),
        });
        let site = site.await;
        let upstream = site.connect(Some(Era::Handshake)).await.expect("it begins");
        let error = calling(&upstream, "a", 1)
            .result()
            .await
            .expect_err("no answer");
        let text = error.to_string();
        assert!(text.contains(words), "{text}");
        assert!(
            !text.contains("hunter2") && !text.contains("token=1"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn an_error_in_a_status_is_the_servers_answer() {
    let site = Site::new(|request| match request.method() {
        "tools/call" => {
            // It names another request, or none.
            let error = json!({"code": -32602, "message": "wrong"});
            let message = json!({"jsonrpc": "2.0", "id": "server-error", "error": error});
            let headers = vec![("content-type", "application/json".to_owned())];
            Response {
                headers,
                body: message.to_string(),
                ..status(400)
            }
        }
        _ => older(request, "s"),
    });
    let site = site.await;
    let upstream = site.connect(Some(Era::Handshake)).await.expect("it begins");
    let result = calling(&upstream, "a", 1).result().await;
    assert!(
        matches!(result, Err(UpstreamError::Refused { code: -32602, .. })),
        "{result:?}"
    );
}

#[tokio::test]
async fn nobody_there_is_told_with_the_place_alone() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let url = format!("http://{address}/mcp?key=hunter2");
    let error = within(Upstream::over_http(&url, &[], &limits(None)))
        .await
        .expect_err("nobody");
    assert!(
        matches!(error, UpstreamError::Unreachable { .. }),
        "{error:?}"
    );
    let told = format!("cannot reach http://{address}/mcp: Connection refused (os error 111)");
    assert_eq!(error.to_string(), told);
}
