//! [`check`]: what an agent sees of a server, told by a client that asks for all of it.

use std::io;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rmcp::model::{CallToolRequestParams, JsonObject, ProtocolVersion, Tool};
use rmcp::service::{ClientLifecycleMode, Peer, RoleClient, serve_client_with_lifecycle};
use serde::Serialize;

/// Which of the two ways of beginning a client takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// `initialize`: 2025-11-25 and before.
    Handshake,
    /// `server/discover`, and everything in every request: 2026-07-28.
    Stateless,
}

/// What an agent sees.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct AgentView {
    /// The version of the protocol that was agreed on.
    pub protocol: String,
    /// The name and the version of the server.
    pub server: String,
    /// The tools, in the order of the server.
    pub tools: Vec<AgentTool>,
    /// The addresses of resources.
    pub resources: Vec<String>,
    /// The patterns of addresses of more of them.
    pub templates: Vec<String>,
    /// The names of prompts.
    pub prompts: Vec<String>,
    /// The call that was tried, if one was.
    pub call: Option<AgentCall>,
}

/// What an agent sees of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AgentTool {
    /// What it is called.
    pub name: String,
    /// What people are shown.
    pub title: Option<String>,
    /// What it is said to do.
    pub description: Option<String>,
    /// Whether it changes nothing.
    pub read_only: bool,
    /// Whether it may destroy something.
    pub destructive: bool,
    /// Whether doing it twice is the same as doing it once.
    pub idempotent: bool,
    /// Whether it reaches beyond the workspace.
    pub open_world: bool,
    /// Whether its arguments are an object, as every model provider wants it.
    pub takes_object: bool,
    /// Whether it says what its result looks like.
    pub has_output: bool,
}

/// A call that was tried.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct AgentCall {
    /// The tool.
    pub tool: String,
    /// Why it did not work, in the words of the result.
    pub error: Option<String>,
    /// How long it took, in microseconds.
    pub micros: u64,
}

/// Why nothing could be seen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// No runtime to ask with.
    #[error("cannot start to talk to the server")]
    Start(#[source] io::Error),
    /// The server did not begin.
    #[error("the server did not begin to talk: {0}")]
    Begin(String),
    /// A request came to nothing.
    #[error("`{method}` failed: {reason}")]
    Request {
        /// What was asked.
        method: &'static str,
        /// What came of it.
        reason: String,
    },
    /// It took too long.
    #[error("the server did not answer within {0:?}")]
    Time(Duration),
}

/// Asks the server behind `stream` for all that it has, and calls the tool `call` with `arguments`, if there is such a
/// tool.
///
/// # Errors
///
/// If the server does not answer, or not as the protocol has it.
pub fn check(
    stream: UnixStream,
    era: Era,
    call: &str,
    arguments: JsonObject,
) -> Result<AgentView, CheckError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(CheckError::Start)?;
    runtime.block_on(async {
        stream.set_nonblocking(true).map_err(CheckError::Start)?;
        let stream = tokio::net::UnixStream::from_std(stream).map_err(CheckError::Start)?;
        let seen = tokio::time::timeout(LIMIT, seen(stream, era, call, arguments)).await;
        seen.map_err(|_| CheckError::Time(LIMIT))?
    })
}

async fn seen(
    stream: tokio::net::UnixStream,
    era: Era,
    call: &str,
    arguments: JsonObject,
) -> Result<AgentView, CheckError> {
    let lifecycle = match era {
        Era::Handshake => ClientLifecycleMode::Initialize,
        Era::Stateless => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
    };
    let client = serve_client_with_lifecycle((), stream, lifecycle).await;
    let mut client = client.map_err(|error| CheckError::Begin(error.to_string()))?;
    let about = client.peer_info();
    let server = about.as_ref().and_then(|about| about.server_info.clone());
    let protocol = about.map(|about| about.protocol_version.to_string());
    let tools = client.list_all_tools().await;
    let tools = tools.map_err(failed("tools/list"))?;
    let resources = client.list_all_resources().await;
    let resources = resources.map_err(failed("resources/list"))?;
    let templates = client.list_all_resource_templates().await;
    let templates = templates.map_err(failed("resources/templates/list"))?;
    let prompts = client.list_all_prompts().await;
    let prompts = prompts.map_err(failed("prompts/list"))?;
    let call = match tools.iter().any(|tool| tool.name == call) {
        true => Some(called(client.peer(), call, arguments).await?),
        false => None,
    };
    // That the server ends is seen by whoever started it.
    let _ = client.close().await;
    Ok(AgentView {
        protocol: protocol.unwrap_or_default(),
        server: server.map_or_else(String::new, |server| {
            format!("{} {}", server.name, server.version)
        }),
        tools: tools.iter().map(AgentTool::of).collect(),
        resources: resources.into_iter().map(|one| one.uri).collect(),
        templates: templates.into_iter().map(|one| one.uri_template).collect(),
        prompts: prompts.into_iter().map(|one| one.name).collect(),
        call,
    })
}

async fn called(
    client: &Peer<RoleClient>,
    tool: &str,
    arguments: JsonObject,
) -> Result<AgentCall, CheckError> {
    let mut request = CallToolRequestParams::new(tool.to_owned());
    request.arguments = Some(arguments);
    let start = Instant::now();
    let result = client.call_tool(request).await;
    let micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
    let result = result.map_err(failed("tools/call"))?;
    let text = || {
        let texts = result.content.iter().filter_map(|block| block.as_text());
        let texts: Vec<&str> = texts.map(|block| &*block.text).collect();
        texts.join("\n")
    };
    Ok(AgentCall {
        tool: tool.to_owned(),
        error: (result.is_error == Some(true)).then(text),
        micros,
    })
}

fn failed(method: &'static str) -> impl Fn(rmcp::ServiceError) -> CheckError {
    move |error| CheckError::Request {
        method,
        reason: error.to_string(),
    }
}

impl AgentTool {
    /// What is not said counts as the protocol has it: for the worse.
    fn of(tool: &Tool) -> Self {
        let hints = tool.annotations.clone().unwrap_or_default();
        let read_only = hints.read_only_hint.unwrap_or(false);
        let kind = tool.input_schema.get("type").and_then(|kind| kind.as_str());
        Self {
            name: tool.name.to_string(),
            title: tool.title.clone(),
            description: tool.description.as_ref().map(ToString::to_string),
            read_only,
            destructive: !read_only && hints.destructive_hint.unwrap_or(true),
            idempotent: read_only || hints.idempotent_hint.unwrap_or(false),
            open_world: hints.open_world_hint.unwrap_or(true),
            takes_object: kind == Some("object"),
            has_output: tool.output_schema.is_some(),
        }
    }
}

/// How long all of it may take. The first time, components are compiled.
const LIMIT: Duration = Duration::from_secs(120);
