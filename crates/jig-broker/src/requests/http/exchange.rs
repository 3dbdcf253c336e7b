//! One request and its answer over the wire.

use std::io::{self, Read};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use jig_proto::vfs::{ErrorKind, ErrorReply};
use ureq::Agent;
use ureq::config::Config;
use ureq::http::header::{CONTENT_ENCODING, LOCATION};
use ureq::http::{Method as Verb, Request, Response, Uri};
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver as AgentResolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use url::Url;

use super::{FilledHeader, HttpHop};
use crate::broker::BrokerCore;
use crate::cancel::CancelToken;
use crate::network::address::{self, AddressLookup};
use crate::network::http_settings::{HttpSettings, agent_config};
use crate::network::waiting::{ExchangeStop, waiting};

/// What a server answered.
#[derive(Debug)]
pub(super) struct HttpAnswer {
    pub(super) status: u16,
    pub(super) location: Option<Vec<u8>>,
    pub(super) body: Vec<u8>,
    encoded: bool,
}

impl HttpAnswer {
    /// Whether the body is compressed.
    pub(super) fn is_encoded(&self) -> bool {
        self.encoded
    }
}

/// Sends the request of a hop to an address that is judged here, and reads the answer.
///
/// It takes the hop with its permit, and no other way leads to a socket.
pub(super) fn run(
    inner: &Arc<BrokerCore>,
    hop: &HttpHop,
    deadline: Instant,
    cancel: &CancelToken,
) -> Result<HttpAnswer, ErrorReply> {
    let url = hop.url.clone();
    let host = hop.target.target().host().to_owned();
    let found = match address::route(&url) {
        AddressLookup::Known(addresses) => addresses,
        AddressLookup::Ask(name) => {
            let resolver = Arc::clone(&inner.http.resolver);
            let found = waiting(deadline, cancel, move || resolver.resolve(&name))
                .map_err(|stopped| stopped.reply(&host))?;
            let found = found.map_err(|_| unresolved(&host))?;
            address::judged(&inner.policy, hop.target.target(), found)
                .map_err(|unfit| unfit.reply(url.host_str().unwrap_or_default(), &inner.table))?
        }
    };
    let port = hop.target.target().port();
    let addresses: Vec<SocketAddr> = found
        .into_iter()
        .map(|address| SocketAddr::new(address, port))
        .collect();
    if addresses.is_empty() {
        return Err(unresolved(&host));
    }
    let agent = agent(&inner.http, &url, addresses, deadline);
    let request = request(hop)?;
    let limit = inner.limits.http_body_bytes;
    // A blocked read ends when its socket is shut down.
    let closer = agent.clone();
    let _hook = cancel.on_cancel(move || closer.clone().shutdown());
    let worker = agent.clone();
    let answer = waiting(deadline, cancel, move || send(&worker, request, limit));
    if answer.is_err() {
        agent.shutdown();
    }
    // A body that ends with its connection looks complete when the socket was shut down.
    if cancel.is_cancelled() {
        return Err(ErrorReply::cancelled());
    }
    answer
        .map_err(|stopped| stopped.reply(&host))?
        .map_err(|failure| failure.reply(&host, limit))
}

fn request(hop: &HttpHop) -> Result<Request<Vec<u8>>, ErrorReply> {
    let invalid = || ErrorReply::new(ErrorKind::InvalidParams, "the URL cannot be requested");
    let uri: Uri = hop.url.as_str().parse().map_err(|_| invalid())?;
    let mut request = Request::builder().method(hop.verb.clone()).uri(uri);
    for FilledHeader { name, value, .. } in &hop.headers {
        request = request.header(name, value);
    }
    request.body(hop.body.clone()).map_err(|_| invalid())
}

/// An agent for one exchange. It connects to these addresses and to nothing else: no redirect, no
/// proxy, no second look at the name.
fn agent(
    settings: &HttpSettings,
    url: &Url,
    addresses: Vec<SocketAddr>,
    deadline: Instant,
) -> Agent {
    let left = deadline.saturating_duration_since(Instant::now());
    Agent::with_parts(
        agent_config(settings, url, left, None),
        DefaultConnector::default(),
        JudgedAddresses(addresses),
    )
}

/// Gives the addresses that were judged, whatever is asked for.
#[derive(Debug)]
struct JudgedAddresses(Vec<SocketAddr>);

impl AgentResolver for JudgedAddresses {
    fn resolve(
        &self,
        _: &Uri,
        _: &Config,
        _: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let mut addresses = self.empty();
        for address in self.0.iter().take(16) {
            addresses.push(*address);
        }
        Ok(addresses)
    }
}

/// Why there is no answer.
#[derive(Debug)]
enum HttpFailure {
    Http(ureq::Error),
    Body(io::Error),
    TooLarge,
}

fn send(agent: &Agent, request: Request<Vec<u8>>, limit: u64) -> Result<HttpAnswer, HttpFailure> {
    let bodiless = request.method() == Verb::GET;
    let response = if bodiless {
        agent.run(request.map(|_| ()))
    } else {
        agent.run(request)
    };
    read(response.map_err(HttpFailure::Http)?, limit)
}

fn read(response: Response<ureq::Body>, limit: u64) -> Result<HttpAnswer, HttpFailure> {
    let (head, body) = response.into_parts();
    let location = head.headers.get(LOCATION);
    let encoded = head
        .headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"));
    let mut bytes = Vec::new();
    let mut reader = body.into_reader().take(limit.saturating_add(1));
    reader.read_to_end(&mut bytes).map_err(HttpFailure::Body)?;
    if bytes.len() as u64 > limit {
        return Err(HttpFailure::TooLarge);
    }
    Ok(HttpAnswer {
        status: head.status.as_u16(),
        location: location.map(|location| location.as_bytes().to_vec()),
        body: bytes,
        encoded,
    })
}

impl HttpFailure {
    /// The answer to the tool. Of what the system said only the sort is told.
    fn reply(self, host: &str, limit: u64) -> ErrorReply {
        let error = match self {
            Self::TooLarge => {
                let message = format!("the answer of `{host}` has more than {limit} bytes");
                return ErrorReply::new(ErrorKind::TooLarge, message);
            }
            Self::Body(error) => match error.downcast::<ureq::Error>() {
                Ok(error) => error,
                Err(error) => ureq::Error::Io(error),
            },
            Self::Http(error) => error,
        };
        let why = match &error {
            ureq::Error::Timeout(_) => {
                return ErrorReply::timeout(format!("the request to `{host}`"));
            }
            ureq::Error::Io(error) => match error.kind() {
                io::ErrorKind::TimedOut => {
                    return ErrorReply::timeout(format!("the request to `{host}`"));
                }
                io::ErrorKind::ConnectionRefused => "the connection was refused",
                io::ErrorKind::ConnectionReset
                | io::ErrorKind::ConnectionAborted
                | io::ErrorKind::BrokenPipe
                | io::ErrorKind::UnexpectedEof => "the server closed the connection too early",
                io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
                    "the server cannot be reached"
                }
                io::ErrorKind::InvalidData => "the server's certificate is not valid",
                _ => "the connection failed",
            },
            ureq::Error::Rustls(_) | ureq::Error::Tls(_) => "the server's certificate is not valid",
            ureq::Error::Protocol(_)
            | ureq::Error::Http(_)
            | ureq::Error::LargeResponseHeader(..) => "the server does not speak HTTP as it should",
            _ => "the connection failed",
        };
        let message = format!("the request to `{host}` failed: {why}");
        ErrorReply::new(ErrorKind::Internal, message).with_retryable(true)
    }
}

fn unresolved(host: &str) -> ErrorReply {
    let message = format!("the host `{host}` was not found");
    ErrorReply::new(ErrorKind::NotFound, message).with_retryable(true)
}

impl ExchangeStop {
    fn reply(&self, host: &str) -> ErrorReply {
        match self {
            Self::Cancelled => ErrorReply::cancelled(),
            Self::TimedOut => ErrorReply::timeout(format!("the request to `{host}`")),
            Self::Failed => ErrorReply::internal("a request could not be made"),
        }
    }
}
