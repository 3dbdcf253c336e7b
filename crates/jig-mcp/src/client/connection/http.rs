//! [`HttpUpstream`]: a server at a URL, over Streamable HTTP.
//!
//! Every request is a POST whose response is one message or a stream of them. Nothing is followed to another
//! place, no proxy of the environment is used, and what a response may hold is bounded. In the older era there
//! is a session, which is made anew when the server has forgotten it, and a stream that can be taken up again
//! where it broke off.

mod client;
pub(super) mod headers;
mod stream;

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use reqwest::{Client, Response, Url};
use serde_json::{Map, Value};

pub(super) use self::stream::listen;
use super::UpstreamError;
use super::handshake;
use super::message::{self, ServerErrorReply, ServerMessage, some_words, words};
use super::upstream_connection::{MessageUse, UpstreamConnection};

/// A server at a URL.
#[derive(Debug)]
pub(super) struct HttpUpstream {
    client: Client,
    url: Url,
    /// The URL for messages.
    place: String,
    /// The headers of the configuration.
    headers: HeaderMap,
    session: Mutex<UpstreamSession>,
    /// One at a time makes a new session.
    renewal: tokio::sync::Mutex<()>,
}

/// What the older era keeps between requests.
#[derive(Debug, Clone, Default)]
struct UpstreamSession {
    id: Option<HeaderValue>,
    version: Option<HeaderValue>,
    /// Counts the sessions.
    number: u64,
}

impl HttpUpstream {
    /// Nothing is sent yet.
    pub(super) fn new(url: &str, headers: &[(String, String)]) -> Result<Self, UpstreamError> {
        let text = url;
        let url = client::url(text)?;
        Ok(Self {
            client: client::client(&url)?,
            place: client::place(text, &url),
            url,
            headers: client::headers(headers)?,
            session: Mutex::default(),
            renewal: tokio::sync::Mutex::default(),
        })
    }

    /// Sends a request, and takes in what comes in response, until the answer is there.
    ///
    /// # Errors
    ///
    /// If there will be no answer.
    pub(super) async fn request(
        &self,
        wire: &Arc<UpstreamConnection>,
        id: u64,
        method: &'static str,
        params: &Map<String, Value>,
    ) -> Result<(), UpstreamError> {
        let body = message::request(id, method, params);
        let mut is_renewed = false;
        loop {
            let session = match method {
                // It makes one.
                "initialize" => UpstreamSession::default(),
                _ => self.session(),
            };
            let request = self.client.post(self.url.clone());
            let request = request.headers(self.headers_for(wire, method, params, &session));
            let response = request
                .body(body.clone())
                .send()
                .await
                .map_err(unreachable)?;
            let status = response.status();
            if status == StatusCode::NOT_FOUND && session.id.is_some() {
                // The server has forgotten the session, and has done nothing.
                if std::mem::replace(&mut is_renewed, true) {
                    return Err(UpstreamError::unreachable(FORGETS));
                }
                self.renew(wire, session.number).await?;
                continue;
            }
            if method == "initialize" && status.is_success() {
                self.begun(&response);
            }
            return self.response(wire, id, method, response).await;
        }
    }

    /// Takes in what a server says in response to a request.
    async fn response(
        &self,
        wire: &Arc<UpstreamConnection>,
        id: u64,
        method: &'static str,
        response: Response,
    ) -> Result<(), UpstreamError> {
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            // The answer comes on another stream.
            return Ok(());
        }
        if !status.is_success() {
            return refused(wire, id, method, response).await;
        }
        match kind(&response) {
            ResponseKind::Events => stream::follow(self, wire, id, response).await,
            ResponseKind::Json => {
                let body = body(response, message::LONGEST).await?;
                take(wire, &body, Some(id))?;
                match wire.is_waiting_for(id) {
                    true => Err(UpstreamError::Broken(format!(
                        "its response to `{method}` holds no answer to it"
                    ))),
                    false => Ok(()),
                }
            }
            ResponseKind::Other(named) => Err(UpstreamError::unreachable(format!(
                "it answers with content of type `{named}`, as no server of the protocol does"
            ))),
        }
    }

    /// Sends what gets no answer.
    pub(super) async fn send(&self, body: Vec<u8>) -> Result<(), UpstreamError> {
        let request = self.client.post(self.url.clone()).timeout(CONTROL);
        let request = request
            .headers(self.base_headers(&self.session()))
            .body(body);
        let response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        match status.is_success() {
            true => Ok(()),
            false => Err(UpstreamError::unreachable(format!(
                "it answers a notification with HTTP status {}",
                status.as_u16()
            ))),
        }
    }

    /// The error, with the place that cannot be reached.
    pub(super) fn named(&self, error: UpstreamError) -> UpstreamError {
        match error {
            UpstreamError::Unreachable { place, why } => UpstreamError::Unreachable {
                place: place.or_else(|| Some(self.place.clone())),
                why,
            },
            error => error,
        }
    }

    /// Ends the session, if there is one.
    pub(super) async fn end(&self) {
        let session = self.session();
        if session.id.is_some() {
            let request = self.client.delete(self.url.clone()).timeout(END);
            let request = request.headers(self.base_headers(&session));
            // A server may keep its sessions if it wants to.
            let _ = request.send().await;
        }
    }

    /// The version that was agreed on, which every request names from now on.
    pub(super) fn agreed(&self, version: &str) {
        let version = HeaderValue::from_str(version).ok();
        self.locked().version = version;
    }

    fn session(&self) -> UpstreamSession {
        self.locked().clone()
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, UpstreamSession> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session has begun.
    fn begun(&self, response: &Response) {
        let id = response.headers().get(SESSION).cloned();
        let mut session = self.locked();
        session.id = id.map(|mut id| {
            // Whoever knows it can speak for us.
            id.set_sensitive(true);
            id
        });
        session.version = None;
        session.number += 1;
    }

    /// Makes a new session in place of number `old`, unless somebody just has.
    fn renew<'a>(
        &'a self,
        wire: &'a Arc<UpstreamConnection>,
        old: u64,
    ) -> Pin<Box<dyn Future<Output = Result<(), UpstreamError>> + Send + 'a>> {
        Box::pin(async move {
            let _one = self.renewal.lock().await;
            if self.session().number == old {
                handshake::initialize(wire).await?;
            }
            Ok(())
        })
    }

    fn headers_for(
        &self,
        wire: &UpstreamConnection,
        method: &str,
        params: &Map<String, Value>,
        session: &UpstreamSession,
    ) -> HeaderMap {
        let mut headers = self.base_headers(session);
        if wire.is_stateless() || method == "server/discover" {
            headers.insert(VERSION, HeaderValue::from_static(handshake::NEWER));
            let tool = params.get("name").and_then(Value::as_str);
            let definition = tool.and_then(|tool| wire.known().of(tool));
            headers.extend(headers::of(method, params, definition.as_deref()));
        }
        headers
    }

    fn base_headers(&self, session: &UpstreamSession) -> HeaderMap {
        let mut headers = self.headers.clone();
        headers.insert(ACCEPT, HeaderValue::from_static(BOTH));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        if let Some(id) = &session.id {
            headers.insert(SESSION, id.clone());
        }
        if let Some(version) = &session.version {
            headers.insert(VERSION, version.clone());
        }
        headers
    }
}

/// What a response holds.
enum ResponseKind {
    Json,
    Events,
    Other(String),
}

fn kind(response: &Response) -> ResponseKind {
    let named = response.headers().get(CONTENT_TYPE);
    let named = named.map(|named| String::from_utf8_lossy(named.as_bytes()));
    let named = named.unwrap_or_default();
    let essence = named.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case(JSON) {
        ResponseKind::Json
    } else if essence.eq_ignore_ascii_case(EVENTS) {
        ResponseKind::Events
    } else {
        ResponseKind::Other(words(essence))
    }
}

/// What a status that is no success means for a request.
async fn refused(
    wire: &Arc<UpstreamConnection>,
    id: u64,
    method: &'static str,
    response: Response,
) -> Result<(), UpstreamError> {
    let status = response.status();
    let number = status.as_u16();
    if status.is_redirection() {
        let place = response.headers().get(LOCATION);
        let place = place
            .and_then(|place| place.to_str().ok())
            .unwrap_or("nowhere");
        // What comes after it may be secret.
        let place = place.split(['?', '#']).next().unwrap_or_default();
        return Err(UpstreamError::unreachable(format!(
            "it redirects (HTTP status {number}) to `{}`, where jig does not follow: write the URL that is meant",
            words(place)
        )));
    }
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Err(UpstreamError::unreachable(format!(
            "it refuses access (HTTP status {number}): look at `headers` of its entry"
        )));
    }
    let body = body(response, LONGEST_REFUSAL).await.unwrap_or_default();
    let said = message::parse(&body).ok();
    let refusal = match said.and_then(ServerMessage::of) {
        Some(ServerMessage::Answer { answer, .. }) => answer.err(),
        _ => None,
    };
    // A server of the older era need not know how to say no to a method that it does not know.
    let is_no = status.is_client_error() || matches!(number, 500 | 501);
    let older = method == "server/discover" && is_no;
    let refusal = refusal.or_else(|| older.then(|| ServerErrorReply::status(number)));
    match refusal {
        Some(refusal) => {
            // On this stream it can be about nothing else, whatever it names.
            let answer = ServerMessage::Answer {
                id: Some(id),
                answer: Err(refusal),
            };
            wire.incoming(answer, Some(id));
            Ok(())
        }
        None => {
            let shown = some_words(String::from_utf8_lossy(&body).trim(), LONGEST_SHOWN);
            let shown = if shown.is_empty() {
                String::new()
            } else {
                format!(": {shown}")
            };
            Err(UpstreamError::unreachable(format!(
                "it answers with HTTP status {number}{shown}"
            )))
        }
    }
}

/// Takes in the messages of a body or an event.
fn take(
    wire: &Arc<UpstreamConnection>,
    body: &[u8],
    origin: Option<u64>,
) -> Result<MessageUse, UpstreamError> {
    let value = message::parse(body).map_err(|error| {
        UpstreamError::Broken(format!("it sent a message that cannot be read: {error}"))
    })?;
    let values = match value {
        Value::Array(values) => values,
        value => vec![value],
    };
    let mut sought = MessageUse::Noise;
    for value in values {
        let message = ServerMessage::of(value).ok_or_else(|| {
            UpstreamError::Broken("it sent JSON that is no message of the protocol".to_owned())
        })?;
        if wire.incoming(message, origin) == MessageUse::Answer {
            sought = MessageUse::Answer;
        }
    }
    Ok(sought)
}

/// All of a body, if it is not longer than `limit`.
async fn body(mut response: Response, limit: usize) -> Result<Vec<u8>, UpstreamError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
        if body.len() + chunk.len() > limit {
            return Err(UpstreamError::Broken(format!(
                "its response is longer than {limit} bytes"
            )));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Why a request failed, in the words of the innermost cause: those around it say that a request failed. None of them
/// has the URL, which may hold a secret.
fn unreachable(error: reqwest::Error) -> UpstreamError {
    let error = error.without_url();
    let mut innermost: &dyn std::error::Error = &error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    UpstreamError::unreachable(words(&innermost.to_string()))
}

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const BOTH: &str = "application/json, text/event-stream";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

const FORGETS: &str = "it forgets every session at once (HTTP status 404)";

/// How long a message that gets no answer may take.
const CONTROL: Duration = Duration::from_secs(30);

/// How long the end of a session may take.
const END: Duration = Duration::from_secs(2);

/// How much of a response that is no success is read.
const LONGEST_REFUSAL: usize = 64 << 10;

/// How much of it is shown.
const LONGEST_SHOWN: usize = 200;
