//! News, as clients of both eras get them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::ServiceExt as _;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::io::{ReadHalf, WriteHalf, split};
use tokio::time::timeout;

use super::QUIET;
use crate::caller::Caller;
use crate::methods::server_handler::{ConnectionCaller, McpConnection};
use crate::shared::SharedServer;
use crate::testing;

/// A client that speaks JSON by hand.
struct Client {
    from: BufReader<ReadHalf<DuplexStream>>,
    to: WriteHalf<DuplexStream>,
    caller: Arc<Caller>,
}

impl Client {
    async fn connect(shared: &Arc<SharedServer>) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let caller = testing::caller();
        let connection = McpConnection::new(
            Arc::clone(shared),
            ConnectionCaller::One(Arc::clone(&caller)),
        );
        tokio::spawn(async move {
            let running = connection.serve(theirs).await.expect("it begins");
            let _ = running.waiting().await;
        });
        let (from, to) = split(ours);
        Self {
            from: BufReader::new(from),
            to,
            caller,
        }
    }

    /// One of the older clients, which has said that it is there.
    async fn older(shared: &Arc<SharedServer>) -> Self {
        let mut client = Self::connect(shared).await;
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
        });
        client.ask("initialize", params).await;
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        client.send(ready).await;
        // Notifications are handled beside requests: the first change must not come before it is waited for.
        while client.caller.tail.listeners() == 0 {
            tokio::task::yield_now().await;
        }
        client
    }

    async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.to.write_all(line.as_bytes()).await.expect("written");
    }

    async fn receive(&mut self) -> Value {
        let mut line = String::new();
        let read = timeout(LIMIT, self.from.read_line(&mut line)).await;
        read.expect("in time").expect("read");
        serde_json::from_str(&line).expect("JSON")
    }

    /// Asks, and waits for the answer.
    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }))
            .await;
        loop {
            let message = self.receive().await;
            if message["id"] == 7 {
                return message;
            }
        }
    }

    /// The next notifications: their methods, and what they are about.
    async fn told(&mut self, count: usize) -> Vec<(String, String)> {
        let mut told = Vec::new();
        while told.len() < count {
            let message = self.receive().await;
            let method = message["method"].as_str().expect("a notification");
            let about = message["params"]["uri"].as_str().unwrap_or_default();
            told.push((method.to_owned(), about.to_owned()));
        }
        told
    }
}

fn news(told: &[(&str, &str)]) -> Vec<(String, String)> {
    let told = told.iter();
    told.map(|&(kind, about)| (format!("notifications/{kind}"), about.to_owned()))
        .collect()
}

/// What the audit log of a client gets by one call.
async fn read_file(client: &mut Client) {
    let params = json!({ "name": "fs_read_file", "arguments": { "path": "a.txt" } });
    let answer = client.ask("tools/call", params).await;
    assert_eq!(answer["result"]["isError"], json!(false), "{answer}");
}

#[tokio::test]
async fn an_older_client_is_told_of_new_lists() {
    let shared = testing::server(&[], &[]);
    let mut client = Client::older(&shared).await;
    let answer = client
        .ask("resources/subscribe", json!({ "uri": "jig://config" }))
        .await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    testing::reconfigure(&shared, &["tools.fs_read_file.title=Read"]);
    let expected = news(&[
        ("tools/list_changed", ""),
        ("prompts/list_changed", ""),
        ("resources/list_changed", ""),
        ("resources/updated", "jig://config"),
    ]);
    assert_eq!(client.told(4).await, expected);
    let listed = client.ask("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().expect("tools");
    assert!(tools.iter().any(|tool| tool["title"] == "Read"));
    client
        .ask("resources/unsubscribe", json!({ "uri": "jig://config" }))
        .await;
    testing::reconfigure(&shared, &[]);
    assert_eq!(client.told(3).await, expected[..3]);
}

#[tokio::test]
async fn the_audit_log_is_told_of_now_and_then() {
    let shared = testing::server(&[], &[("a.txt", "a")]);
    let mut client = Client::older(&shared).await;
    client
        .ask("resources/subscribe", json!({ "uri": "jig://audit" }))
        .await;
    let began = Instant::now();
    let caller = Arc::clone(&client.caller);
    let sink = caller.tail.before(Arc::new(jig_broker::NullSink));
    let entry = json!({ "time": "2026-01-01T00:00:00.000Z", "tool": "t", "decision": "allow" });
    let entry = serde_json::from_value(entry).expect("an entry");
    sink.record(&entry).expect("recorded");
    let expected = news(&[("resources/updated", "jig://audit")]);
    assert_eq!(client.told(1).await, expected);
    for _ in 0..1000 {
        sink.record(&entry).expect("recorded");
    }
    assert_eq!(client.told(1).await, expected);
    assert!(began.elapsed() >= QUIET);
}

#[tokio::test]
async fn only_what_can_change_can_be_watched() {
    let shared = testing::server(&[], &[]);
    let mut client = Client::older(&shared).await;
    for uri in ["jig://nothing", "jig://output/0", "file:///etc/passwd", ""] {
        let answer = client
            .ask("resources/subscribe", json!({ "uri": uri }))
            .await;
        assert_eq!(answer["error"]["code"], -32002, "{answer}");
    }
    for uri in [
        "jig://audit",
        "jig://config",
        "jig://tool/fs_read_file/policy",
    ] {
        let answer = client
            .ask("resources/subscribe", json!({ "uri": uri }))
            .await;
        assert_eq!(answer["result"], json!({}), "{answer}");
    }
}

#[tokio::test]
async fn nothing_is_told_of_once_a_client_is_gone() {
    let shared = testing::server(&[], &[]);
    let client = Client::older(&shared).await;
    let tail = Arc::clone(&client.caller.tail);
    assert_eq!(tail.listeners(), 1);
    drop(client);
    let gone = async {
        while tail.listeners() > 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, gone).await.expect("it ends");
}

#[tokio::test]
async fn a_newer_client_hears_what_it_asked_for() {
    let shared = testing::server(&[], &[("a.txt", "a")]);
    let mut client = Client::connect(&shared).await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let wanted = json!({
        "toolsListChanged": true,
        "resourceSubscriptions": ["jig://audit", "jig://nothing", "jig://config"],
    });
    let params = json!({ "_meta": meta, "notifications": wanted });
    let listen =
        json!({ "jsonrpc": "2.0", "id": 3, "method": "subscriptions/listen", "params": params });
    client.send(listen).await;
    let acknowledged = client.receive().await;
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    let accepted = &acknowledged["params"]["notifications"];
    assert_eq!(
        *accepted,
        json!({ "toolsListChanged": true, "resourceSubscriptions": ["jig://audit", "jig://config"] })
    );
    testing::reconfigure(&shared, &["tools.fs_read_file.title=Read"]);
    let told = client.told(2).await;
    assert_eq!(
        told,
        news(&[
            ("tools/list_changed", ""),
            ("resources/updated", "jig://config")
        ])
    );
    let call = json!({ "_meta": meta, "name": "fs_read_file", "arguments": { "path": "a.txt" } });
    let call = json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": call });
    client.send(call).await;
    // The answer and the news may come in either order.
    let mut methods = Vec::new();
    while methods.len() < 2 {
        let message = client.receive().await;
        methods.push(
            message["params"]["uri"]
                .as_str()
                .unwrap_or("answer")
                .to_owned(),
        );
    }
    methods.sort_unstable();
    assert_eq!(methods, ["answer", "jig://audit"]);
}

#[tokio::test]
async fn a_call_is_told_of_to_whoever_watches_the_log() {
    let shared = testing::server(&[], &[("a.txt", "a")]);
    let mut client = Client::older(&shared).await;
    client
        .ask("resources/subscribe", json!({ "uri": "jig://audit" }))
        .await;
    read_file(&mut client).await;
    let read = client
        .ask("resources/read", json!({ "uri": "jig://audit" }))
        .await;
    let text = read["result"]["contents"][0]["text"]
        .as_str()
        .expect("text");
    assert!(text.contains("\"target\":\"a.txt\""), "{text}");
}

/// How long something may take on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);
