//! Whole sessions, message by message, in both eras of the protocol.

mod legacy;
mod limits;
mod retry;
mod session;
mod tasks;
#[cfg(target_os = "linux")]
mod tools;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use rmcp::serve_server;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::time::timeout;

use crate::caller::Caller;
use crate::methods::server_handler::{ConnectionCaller, McpConnection};
use crate::shared::SharedServer;

/// A client that says exactly what a test wants.
struct Client {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    /// What came and nobody has asked for yet.
    inbox: VecDeque<Value>,
    last: i64,
    /// What every request says about its client, in the newer era.
    meta: Option<Value>,
    /// Whose calls end with the test: a parked one would keep its thread.
    caller: Option<Arc<Caller>>,
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(caller) = &self.caller {
            caller.in_flight.cancel_all();
        }
    }
}

impl Client {
    /// A client of 2025-11-25, connected.
    async fn legacy(shared: &Arc<SharedServer>, caller: &Arc<Caller>, capabilities: Value) -> Self {
        let mut client = Self::connect(shared, caller, None);
        let info = json!({ "name": "test", "version": "1" });
        let hello = client.request(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": capabilities,
                "clientInfo": info,
            }),
        );
        let hello = hello.await;
        assert_eq!(
            client.response(hello).await["result"]["serverInfo"]["name"],
            "jig"
        );
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        client.send(&ready).await;
        client
    }

    /// A client of 2026-07-28.
    fn modern(shared: &Arc<SharedServer>, caller: &Arc<Caller>, capabilities: Value) -> Self {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        Self::connect(shared, caller, Some(meta))
    }

    fn connect(shared: &Arc<SharedServer>, caller: &Arc<Caller>, meta: Option<Value>) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let connection = McpConnection::new(
            Arc::clone(shared),
            ConnectionCaller::One(Arc::clone(caller)),
        );
        let served = Arc::clone(caller);
        tokio::spawn(async move {
            if let Ok(running) = serve_server(connection, theirs).await {
                let _ = running.waiting().await;
            }
            // As the transport does it when a client has gone.
            served.in_flight.cancel_all();
        });
        let (reader, writer) = tokio::io::split(ours);
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
            inbox: VecDeque::new(),
            last: 0,
            meta,
            caller: Some(Arc::clone(caller)),
        }
    }

    /// Goes away without a word.
    fn vanish(mut self) {
        self.caller = None;
    }

    async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.writer.write_all(line.as_bytes()).await.unwrap();
    }

    /// Sends a request and returns its id.
    async fn request(&mut self, method: &str, mut params: Value) -> i64 {
        self.last += 1;
        if let Some(meta) = &self.meta {
            let mut meta = meta.clone();
            if let Some(own) = params.get("_meta").and_then(Value::as_object) {
                meta.as_object_mut().unwrap().extend(own.clone());
            }
            params["_meta"] = meta;
        }
        let id = self.last;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&message).await;
        id
    }

    /// The response to a request.
    async fn response(&mut self, id: i64) -> Value {
        let is_it = move |message: &Value| message.get("method").is_none() && message["id"] == id;
        self.receive(is_it).await
    }

    /// The next request or notification of the server with this method.
    async fn incoming(&mut self, method: &str) -> Value {
        let method = method.to_owned();
        self.receive(move |message| message["method"] == *method)
            .await
    }

    async fn receive(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(place) = self.inbox.iter().position(&is_it) {
            return self.inbox.remove(place).unwrap();
        }
        loop {
            let line = timeout(PATIENCE, self.lines.next_line()).await;
            let line = line.expect("a message in time").unwrap();
            let message: Value = serde_json::from_str(&line.expect("a connection")).unwrap();
            if is_it(&message) {
                return message;
            }
            self.inbox.push_back(message);
        }
    }

    /// Calls a method and waits for the response.
    async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params).await;
        self.response(id).await
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
        .await
    }

    /// Comes back to a parked call.
    async fn retry(
        &mut self,
        tool: &str,
        arguments: Value,
        state: &Value,
        responses: Value,
    ) -> Value {
        let params = json!({
            "name": tool,
            "arguments": arguments,
            "requestState": state,
            "inputResponses": responses,
        });
        self.ask("tools/call", params).await
    }

    /// Answers a request of the server.
    async fn answer(&mut self, request: &Value, result: Value) {
        let message = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
        self.send(&message).await;
    }
}

/// A client's answer to a question about a run or an access.
fn decided(decision: &str) -> Value {
    json!({ "action": "accept", "content": { "decision": decision } })
}

/// A client that shows forms.
fn forms() -> Value {
    json!({ "elicitation": {} })
}

/// The text of a result.
fn text(response: &Value) -> &str {
    let text = &response["result"]["content"][0]["text"];
    text.as_str()
        .unwrap_or_else(|| panic!("no text: {response}"))
}

/// All text of a result.
fn whole_text(response: &Value) -> String {
    let blocks = response["result"]["content"].as_array();
    let blocks = blocks.unwrap_or_else(|| panic!("no content: {response}"));
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|one| one["text"].as_str())
        .collect();
    texts.join("\n")
}

fn is_error(response: &Value) -> bool {
    response["result"]["isError"] == true
}

/// Lets others go on before something is looked at again.
async fn moment() {
    tokio::time::sleep(Duration::from_millis(5)).await;
}

/// Waits until something is so.
async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let waited = timeout(PATIENCE, async {
        while !is_so() {
            moment().await;
        }
    });
    waited.await.unwrap_or_else(|_| panic!("{what}"));
}

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
