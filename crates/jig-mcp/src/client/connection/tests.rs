//! Connections to servers that are played here, line by line, and to servers of rmcp.

mod begin;
mod calls;
mod hostile;
mod http;
mod lists;
mod peers;
mod tasks;

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;
use tokio::task::JoinHandle;

use super::{
    CallEvent, Strays, Upstream, UpstreamCall, UpstreamError, UpstreamLimits, UpstreamResult,
};
use crate::client::check::Era;

/// A server, played by a test.
struct Server {
    reads: BufReader<pipe::Receiver>,
    writes: pipe::Sender,
}

/// What a client needs to talk to it.
struct Ends {
    stdin: OwnedFd,
    stdout: OwnedFd,
}

fn server() -> (Server, Ends) {
    let (client_reads, server_writes) = std::io::pipe().expect("a pipe");
    let (server_reads, client_writes) = std::io::pipe().expect("a pipe");
    let reads = pipe::Receiver::from_owned_fd(server_reads.into()).expect("a pipe");
    let writes = pipe::Sender::from_owned_fd(server_writes.into()).expect("a pipe");
    let server = Server {
        reads: BufReader::new(reads),
        writes,
    };
    let ends = Ends {
        stdin: client_writes.into(),
        stdout: client_reads.into(),
    };
    (server, ends)
}

impl Server {
    /// The next message of the client; nothing at its end.
    async fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = within(self.reads.read_line(&mut line))
            .await
            .expect("a line");
        (read > 0).then(|| serde_json::from_str(&line).expect("JSON"))
    }

    /// The next message, which has this method.
    async fn expect(&mut self, method: &str) -> Value {
        let message = self.read().await.expect("a message");
        assert_eq!(message["method"], method, "{message}");
        message
    }

    async fn say(&mut self, message: Value) {
        self.raw(format!("{message}\n").as_bytes()).await;
    }

    async fn raw(&mut self, bytes: &[u8]) {
        within(self.writes.write_all(bytes))
            .await
            .expect("somebody reads");
    }

    async fn answer(&mut self, request: &Value, result: Value) {
        let id = &request["id"];
        self.say(json!({"jsonrpc": "2.0", "id": id, "result": result}))
            .await;
    }

    async fn refuse(&mut self, request: &Value, code: i64) {
        let id = &request["id"];
        let error = json!({"code": code, "message": "no such thing"});
        self.say(json!({"jsonrpc": "2.0", "id": id, "error": error}))
            .await;
    }

    /// Begins as a server of 2025 does.
    async fn begin_older(&mut self, capabilities: Value) {
        let discover = self.expect("server/discover").await;
        self.refuse(&discover, -32601).await;
        self.initialize(capabilities).await;
    }

    async fn initialize(&mut self, capabilities: Value) {
        let initialize = self.expect("initialize").await;
        let said = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "serverInfo": {"name": "played", "version": "1"},
        });
        self.answer(&initialize, said).await;
        self.expect("notifications/initialized").await;
    }

    /// Begins as a server of 2026 does.
    async fn begin_newer(&mut self, capabilities: Value) {
        let discover = self.expect("server/discover").await;
        let said = json!({
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "supportedVersions": ["2026-07-28"], "capabilities": capabilities,
        });
        self.answer(&discover, said).await;
    }
}

/// A connection in the older era.
async fn older() -> (Server, Arc<Upstream>) {
    let (mut server, ends) = server();
    let limits = limits(None);
    let (upstream, ()) = tokio::join!(
        Upstream::over_pipes(ends.stdin, ends.stdout, &limits, Strays::default()),
        server.begin_older(json!({"tools": {"listChanged": true}})),
    );
    (server, upstream.expect("it begins"))
}

/// A connection in the newer era.
async fn newer() -> (Server, Arc<Upstream>) {
    let (mut server, ends) = server();
    let limits = limits(None);
    let (upstream, ()) = tokio::join!(
        Upstream::over_pipes(ends.stdin, ends.stdout, &limits, Strays::default()),
        server.begin_newer(json!({"tools": {}})),
    );
    (server, upstream.expect("it begins"))
}

fn limits(era: Option<Era>) -> UpstreamLimits {
    UpstreamLimits {
        start: PATIENCE,
        era,
    }
}

/// A call that runs by itself.
struct Calling {
    result: JoinHandle<Result<Value, UpstreamError>>,
    events: tokio::sync::mpsc::UnboundedReceiver<CallEvent>,
}

fn calling(upstream: &Arc<Upstream>, name: &str, caller: u64) -> Calling {
    let (sender, events) = tokio::sync::mpsc::unbounded_channel();
    let call = UpstreamCall {
        name: name.to_owned(),
        arguments: Map::from_iter([("a".to_owned(), json!(1))]),
        caller,
        events: sender,
    };
    let upstream = Arc::clone(upstream);
    Calling {
        result: tokio::spawn(
            async move { upstream.call(call).await.map(UpstreamResult::into_value) },
        ),
        events,
    }
}

impl Calling {
    async fn result(self) -> Result<Value, UpstreamError> {
        within(self.result).await.expect("no panic")
    }

    async fn give_up(self) {
        self.result.abort();
        let ended = within(self.result).await.expect_err("no result");
        assert!(ended.is_cancelled(), "{ended}");
    }

    async fn event(&mut self) -> CallEvent {
        within(self.events.recv()).await.expect("an event")
    }
}

async fn within<F: Future>(future: F) -> F::Output {
    let done = tokio::time::timeout(PATIENCE, future).await;
    done.expect("it happens before long")
}

/// Longer than anything takes on a machine that has other things to do.
const PATIENCE: Duration = Duration::from_secs(60);
