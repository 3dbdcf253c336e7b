//! [`HttpServer`]: many clients, over Streamable HTTP.
//!
//! A connection is judged in this order, before rmcp sees anything of it: [`connections`] bounds how many there
//! are, [`access`] looks at `Host`, `Origin` and the token, and the body is read here, within limits.
//! [`sessions`] holds each session of the older protocols to the token that opened it.

mod access;
mod connections;
mod sessions;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use rmcp::model::{ErrorData, JsonRpcError};
use rmcp::transport::StreamableHttpServerConfig;
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::net::TcpListener;

pub use self::access::{BadHost, BadOrigin, BadTokens, CallerTokens, HttpAccess};
use self::access::{HttpAdmission, HttpCaller, ListenerAccess};
use self::connections::{ConnectionPlace, HttpConnections};
use self::sessions::Sessions;
use crate::configuration::{reload, server_acceptance};
use crate::methods::server_handler::{ConnectionCaller, McpConnection};
use crate::shared::SharedServer;
use crate::transports::ending::{ServeError, ServerStop, end_all_turns, end_idle_turns};

/// A server that listens, and serves nobody yet.
pub struct HttpServer {
    runtime: tokio::runtime::Runtime,
    listener: TcpListener,
    address: SocketAddr,
    access: HttpAccess,
}

impl HttpServer {
    /// Listens at an address; port 0 is any that is free.
    ///
    /// # Errors
    ///
    /// If the address cannot be listened at, or anybody could use it from another machine.
    pub fn listen(address: SocketAddr, access: HttpAccess) -> Result<Self, ServeError> {
        if access.is_of_anybody() && !address.ip().is_loopback() {
            let address = address.to_string();
            return Err(ServeError::Unguarded { address });
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .enable_all()
            .build()
            .map_err(ServeError::Start)?;
        let failed = |source| ServeError::Listen {
            address: address.to_string(),
            source,
        };
        let listener = runtime.block_on(TcpListener::bind(address));
        let listener = listener.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self {
            runtime,
            listener,
            address,
            access,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address that clients are given.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Serves until `stop` says so. When this returns, all turns have ended: no tool runs any more.
    ///
    /// # Errors
    ///
    /// If serving cannot begin.
    pub fn serve(self, shared: &Arc<SharedServer>, stop: &ServerStop) -> Result<(), ServeError> {
        let _reloading = reload::watch(shared).map_err(ServeError::Start)?;
        server_acceptance::begin(shared, self.runtime.handle());
        let stopping = stop.stopping();
        let access = self.access.at(self.address);
        let service = Arc::new(HttpService::new(shared, access, &stopping.token));
        let connections = Arc::new(HttpConnections::new(shared.options.connections));
        self.runtime.spawn(end_idle_turns(Arc::clone(shared)));
        let sessions = Arc::clone(&service.sessions);
        self.runtime
            .spawn(sessions.end_with_turns(Arc::clone(shared)));
        self.runtime.block_on(connections::accept(
            &self.listener,
            &connections,
            &service,
            &stopping.token,
        ));
        // Nobody else can connect while the last ones are served.
        drop(self.listener);
        end_all_turns(shared, stop);
        self.runtime.block_on(connections.end(LAST_ANSWERS));
        self.runtime.shutdown_background();
        Ok(())
    }
}

type McpHttpAnswer = Response<BoxBody<Bytes, Infallible>>;

/// What answers requests.
struct HttpService {
    shared: Arc<SharedServer>,
    access: ListenerAccess,
    sessions: Arc<Sessions>,
    mcp: StreamableHttpService<McpConnection, LocalSessionManager>,
}

impl HttpService {
    fn new(
        shared: &Arc<SharedServer>,
        access: ListenerAccess,
        stopping: &tokio_util::sync::CancellationToken,
    ) -> Self {
        let sessions = Arc::new(Sessions::new(shared.options.connections));
        let mut config = StreamableHttpServerConfig::default()
            .with_max_request_body_bytes(MAX_BODY)
            .with_cancellation_token(stopping.child_token())
            .with_sse_keep_alive(Some(KEEP_ALIVE))
            // A stream only for those who get more than an answer.
            .with_json_response(true)
            .enforce_origin_validation()
            .with_allowed_origins(access.origins());
        config = match access.hosts() {
            Some(hosts) => config.with_allowed_hosts(hosts),
            None => config.disable_allowed_hosts(),
        };
        let connection = McpConnection::new(Arc::clone(shared), ConnectionCaller::Bearer);
        let mcp = StreamableHttpService::new(
            move || Ok(connection.clone()),
            Arc::clone(sessions.manager()),
            config,
        );
        Self {
            shared: Arc::clone(shared),
            access,
            sessions,
            mcp,
        }
    }

    /// Answers one request.
    async fn answer(&self, request: Request<Incoming>, watched: &ConnectionPlace) -> McpHttpAnswer {
        let caller = match self.access.judge(&request) {
            HttpAdmission::Caller(caller) => caller,
            HttpAdmission::Answered(answer) => return answer,
        };
        if !watched.admit() {
            return refusal(StatusCode::SERVICE_UNAVAILABLE, "too many connections");
        }
        let origin = self.access.allowed_origin(request.headers());
        let mut answer = self.served(caller, request).await;
        if let Some(origin) = origin {
            access::share(&mut answer, origin);
        }
        answer
    }

    /// Has rmcp answer a request of a caller.
    async fn served(&self, caller: HttpCaller, request: Request<Incoming>) -> McpHttpAnswer {
        let (mut parts, body) = request.into_parts();
        let body = match read(&parts.headers, body).await {
            Ok(body) => body,
            Err(answer) => return *answer,
        };
        let callers = &self.shared.callers;
        let visit = callers.enter(&caller.name, caller.key, || self.shared.loader.turn());
        if !self.sessions.allow(&parts.headers, visit.caller()) {
            return refusal(StatusCode::NOT_FOUND, "there is no such session");
        }
        parts.extensions.insert(Arc::clone(visit.caller()));
        let is_json = parts
            .headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|value| value.starts_with("application/json"));
        let knows_priming = parts
            .headers
            .get("mcp-protocol-version")
            .and_then(|value| value.to_str().ok())
            .is_some_and(|version| version >= FIRST_WITH_PRIMING);
        let request = Request::from_parts(parts, Full::new(body.clone()));
        let answer = self.mcp.handle(request).await;
        self.sessions.note(answer.headers(), visit.caller()).await;
        if is_json && answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            return not_a_message(&body);
        }
        answer.map(|body| {
            CallerBody {
                body,
                may_prime: !knows_priming,
                _visit: visit,
            }
            .boxed()
        })
    }
}

/// The body of a request, if it is not too long and comes in time.
async fn read(headers: &http::HeaderMap, body: Incoming) -> Result<Bytes, Box<McpHttpAnswer>> {
    let refused = |status, text: &str| Err(Box::new(refusal(status, text)));
    let too_large = || {
        let limit = MAX_BODY / 1024 / 1024;
        let text = format!("the body of a request is at most {limit} MiB");
        refused(StatusCode::PAYLOAD_TOO_LARGE, &text)
    };
    let announced = headers
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > MAX_BODY as u64) {
        return too_large();
    }
    let collected = Limited::new(body, MAX_BODY).collect();
    match tokio::time::timeout(BODY_TIME, collected).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => too_large(),
        Ok(Err(_)) => refused(StatusCode::BAD_REQUEST, "the body did not come whole"),
        Err(_) => refused(StatusCode::REQUEST_TIMEOUT, "the body did not come in time"),
    }
}

/// What is said to a body that is no message, as JSON-RPC has it.
fn not_a_message(body: &[u8]) -> McpHttpAnswer {
    let error = match serde_json::from_slice::<serde_json::Value>(body) {
        Err(error) => ErrorData::parse_error(format!("the body is no JSON: {error}"), None),
        Ok(serde_json::Value::Array(_)) => {
            ErrorData::invalid_request("messages come one in each request, not as a batch", None)
        }
        Ok(_) => ErrorData::invalid_request(
            "the body is no request, notification or response of JSON-RPC 2.0",
            None,
        ),
    };
    let error = serde_json::to_vec(&JsonRpcError::new(None, error)).unwrap_or_default();
    let mut answer = Response::new(Full::new(Bytes::from(error)).boxed());
    *answer.status_mut() = StatusCode::BAD_REQUEST;
    let json = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(CONTENT_TYPE, json);
    answer
}

/// Says no in words, and closes: whoever is refused holds no connection.
fn refusal(status: StatusCode, text: impl Into<String>) -> McpHttpAnswer {
    let mut text = text.into();
    text.push('\n');
    let mut answer = Response::new(Full::new(Bytes::from(text)).boxed());
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    headers.insert(CONTENT_TYPE, plain);
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

/// A body that keeps its caller's turn from ending until it was sent or nobody wants it any more.
struct CallerBody {
    body: BoxBody<Bytes, Infallible>,
    /// Whether it may still begin with an event without data, which the client would take for a broken message.
    may_prime: bool,
    _visit: crate::caller::CallerPresence,
}

impl Body for CallerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> {
        let body = self.get_mut();
        loop {
            let polled = std::pin::Pin::new(&mut body.body).poll_frame(context);
            let std::task::Poll::Ready(Some(Ok(frame))) = &polled else {
                return polled;
            };
            let is_priming = body.may_prime && frame.data_ref().is_some_and(is_priming);
            body.may_prime = false;
            if !is_priming {
                return polled;
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}

/// Whether this is an event that only says where a stream can be taken up again.
fn is_priming(event: &Bytes) -> bool {
    let lines = || {
        event
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
    };
    let is_without_data = |line: &[u8]| match line.strip_prefix(b"data:") {
        Some(data) => data.trim_ascii().is_empty(),
        None => line.starts_with(b"id:") || line.starts_with(b"retry:"),
    };
    lines().next().is_some() && lines().all(is_without_data)
}

/// The first version of the protocol in which a stream begins with an event without data.
const FIRST_WITH_PRIMING: &str = "2025-11-25";

/// Where requests go.
const PATH: &str = "/mcp";

/// How many threads serve. Tools run on others.
const WORKERS: usize = 2;

/// The largest body. Without a limit a client could make jig hold whatever it sends.
const MAX_BODY: usize = 16 * 1024 * 1024;

/// How long a body may take. Without a limit slow senders would use up the connections of others.
const BODY_TIME: Duration = Duration::from_secs(30);

/// How often something is said on a stream that has nothing to tell, so that nobody in between closes it.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// How long the last answers may take once all turns have ended.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests;
