//! How jig connects to a server at a URL.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use rustls::{ClientConfig, RootCertStore};

use crate::client::connection::UpstreamError;

/// A URL to which a request may go: encrypted, or of this machine.
pub(super) fn url(text: &str) -> Result<Url, UpstreamError> {
    // The error of the parser does not repeat the text, which may hold a secret.
    let url = Url::parse(text)
        .map_err(|error| UpstreamError::Unable(format!("its URL is none: {error}")))?;
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        "http" => Err(UpstreamError::Unable(
            "its URL begins with `http`, which is only for servers on this machine: anybody on the way can read and change what is said".to_owned(),
        )),
        _ => Err(UpstreamError::Unable(
            "its URL begins with neither `https` nor `http`".to_owned(),
        )),
    }
}

/// Where a URL leads, for messages: without its user and its query, and without a path that may hold a key.
///
/// It is told as `text`, from which the URL was read, has it, or not at all: whoever takes secrets out of messages knows
/// them as they were written, and a URL may spell them differently.
pub(super) fn place(text: &str, url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let host = match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    if host.is_empty() || !text.contains(&host) {
        return "the server".to_owned();
    }
    let path = url.path();
    let path = match text.contains(path) && path.split('/').all(is_plain) {
        true => path,
        false => "/…",
    };
    format!("{}://{host}{path}", url.scheme())
}

/// Whether a part of a path is a word such as `mcp` or `v2`, and no key.
fn is_plain(part: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte == b'-' || byte == b'_';
    let is_version = part.len() <= 3 && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_version || (part.len() <= LONGEST_PLAIN && part.bytes().all(is_word))
}

/// Longer ones are no words.
const LONGEST_PLAIN: usize = 15;

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let is_name = host == "localhost" || host.ends_with(".localhost");
    is_name
        || address
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// What connects: to where it is told and nowhere else.
pub(super) fn client(url: &Url) -> Result<Client, UpstreamError> {
    let failed = |error: &dyn std::fmt::Display| {
        UpstreamError::Unable(format!("cannot prepare a connection: {error}"))
    };
    let mut roots = RootCertStore::empty();
    if url.scheme() == "https" {
        // What of the machine's certificates cannot be read is not trusted; that is all.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let tls = tls.map_err(|error| failed(&error))?;
    let tls = tls.with_root_certificates(roots).with_no_client_auth();
    Client::builder()
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .redirect(Policy::none())
        .referer(false)
        .connect_timeout(CONNECT)
        .user_agent(concat!("jig/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| failed(&error))
}

/// The headers of the configuration, none of which is shown in any log.
pub(super) fn headers(pairs: &[(String, String)]) -> Result<HeaderMap, UpstreamError> {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let unable = |what: &str| {
            let name = crate::client::connection::message::words(name);
            UpstreamError::Unable(format!("the header `{name}` {what}"))
        };
        let parsed = HeaderName::from_bytes(name.as_bytes());
        let parsed = parsed.map_err(|_| unable("has no name that a header can have"))?;
        if OURS.contains(&parsed.as_str()) || parsed.as_str().starts_with("mcp-param-") {
            return Err(unable("is set by jig itself"));
        }
        let value = HeaderValue::from_str(value);
        let mut value = value.map_err(|_| unable("has a value that no header can have"))?;
        value.set_sensitive(true);
        headers.append(parsed, value);
    }
    Ok(headers)
}

/// The headers that belong to the protocol, or to the connection.
const OURS: [&str; 12] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
    "upgrade",
];

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests;
