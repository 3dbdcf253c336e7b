//! Servers of rmcp, which somebody else wrote: both eras, over pipes and over HTTP.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ElicitRequest,
    ElicitRequestParams, ErrorData, InputRequest, InputRequests, InputRequiredResult,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::{RoleServer, ServerHandler, serve_server};
use serde_json::{Value, json};
use tokio::net::unix::pipe;

use super::{PATIENCE, calling, limits, within};
use crate::client::check::Era;
use crate::client::connection::{CallEvent, ElicitationAnswer, Strays, Upstream};

/// Has a tool that gives back its arguments, and one that asks.
#[derive(Clone)]
struct Peer;

impl Peer {
    fn form() -> ElicitRequestParams {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
        ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: "Who?".to_owned(),
            requested_schema: serde_json::from_value(schema).expect("a form"),
        }
    }
}

impl ServerHandler for Peer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        ServerConfig::new(capabilities)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = ["echo", "ask"].map(|name| {
            let schema = json!({"type": "object"});
            let schema = schema.as_object().expect("an object").clone();
            Tool::new(name, "A tool.", Arc::new(schema))
        });
        Ok(ListToolsResult::with_all_items(tools.to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text =
            |text: String| Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into());
        if request.name == "echo" {
            return text(json!(request.arguments).to_string());
        }
        let is_newer = context
            .protocol_version()
            .is_some_and(|version| !version.has_initialize());
        match (is_newer, request.input_responses) {
            (false, _) => {
                let said = context.peer.create_elicitation(Self::form()).await;
                let said =
                    said.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
                text(json!(said.content).to_string())
            }
            (true, None) => {
                let form = InputRequest::Elicitation(ElicitRequest::new(Self::form()));
                let asked = InputRequests::from([("who".to_owned(), form)]);
                Ok(InputRequiredResult::new(Some(asked), Some("state".to_owned())).into())
            }
            (true, Some(answers)) => {
                assert_eq!(request.request_state.as_deref(), Some("state"));
                text(answers["who"]["content"].to_string())
            }
        }
    }
}

/// A connection over pipes to a server of rmcp.
async fn over_pipes(era: Option<Era>) -> Arc<Upstream> {
    let (client_reads, server_writes) = std::io::pipe().expect("a pipe");
    let (server_reads, client_writes) = std::io::pipe().expect("a pipe");
    let reads = pipe::Receiver::from_owned_fd(server_reads.into()).expect("a pipe");
    let writes = pipe::Sender::from_owned_fd(server_writes.into()).expect("a pipe");
    tokio::spawn(async move {
        let running = serve_server(Peer, (reads, writes))
            .await
            .expect("it begins");
        running.waiting().await
    });
    let limits = limits(era);
    let upstream = Upstream::over_pipes(
        client_writes.into(),
        client_reads.into(),
        &limits,
        Strays::default(),
    );
    within(upstream).await.expect("it begins")
}

/// A connection over HTTP to a server of rmcp.
async fn over_http(era: Option<Era>) -> Arc<Upstream> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    let service = StreamableHttpService::new(
        || Ok(Peer),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = service.clone();
            tokio::spawn(async move {
                let answer = service_fn(move |request| {
                    let service = service.clone();
                    async move { Ok::<_, std::convert::Infallible>(service.handle(request).await) }
                });
                // A client that goes is no failure.
                let _ = http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), answer)
                    .await;
            });
        }
    });
    within(Upstream::over_http(&url, &[], &limits(era)))
        .await
        .expect("it begins")
}

async fn check(upstream: Arc<Upstream>, era: Era) {
    assert_eq!(upstream.era(), era);
    let listed = within(upstream.definitions(None)).await.expect("a list");
    let names: Vec<&str> = listed
        .definitions
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(names, ["echo", "ask"]);
    let result = calling(&upstream, "echo", 1)
        .result()
        .await
        .expect("a result");
    assert_eq!(text(&result), "{\"a\":1}");
    let mut call = calling(&upstream, "ask", 1);
    let CallEvent::Ask { question, answer } = call.event().await else {
        panic!("no question");
    };
    assert_eq!(question.text, "Who?");
    answer
        .send(ElicitationAnswer::Given("me".into()))
        .expect("it waits");
    let result = call.result().await.expect("a result");
    assert_eq!(text(&result), "{\"name\":\"me\"}");
    upstream.close().await;
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().expect("a text")
}

#[tokio::test]
async fn a_peer_of_2026_over_pipes() {
    check(over_pipes(None).await, Era::Stateless).await;
}

#[tokio::test]
async fn a_peer_of_2025_over_pipes() {
    check(over_pipes(Some(Era::Handshake)).await, Era::Handshake).await;
}

#[tokio::test]
async fn a_peer_of_2026_over_http() {
    check(over_http(None).await, Era::Stateless).await;
}

#[tokio::test]
async fn a_peer_of_2025_over_http() {
    check(over_http(Some(Era::Handshake)).await, Era::Handshake).await;
}

/// The time of a call to a server on the same thread, the median of many: mostly that of the server. Printed to
/// be looked at; the limit only finds what waits for a timer.
#[tokio::test]
async fn a_call_is_quick() {
    let upstream = over_pipes(None).await;
    let mut times = Vec::new();
    for _ in 0..300 {
        let start = Instant::now();
        let call = calling(&upstream, "echo", 1);
        within(call.result)
            .await
            .expect("no panic")
            .expect("a result");
        times.push(start.elapsed());
    }
    times.sort();
    let median = times[times.len() / 2];
    eprintln!("a call takes {median:?}");
    assert!(
        median < Duration::from_millis(100).min(PATIENCE),
        "{median:?}"
    );
}
