//! `wasi:http/outgoing-handler`: requests become requests of the VFS protocol.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use jig_proto::vfs::{
    ErrorKind, ErrorReply, Header, HttpGet, HttpPost, HttpReply, Payload, VfsReply, VfsRequest,
};
use wasmtime::component::Resource;

use super::exchange::{AnswerBody, GuestRequestHead, WasiHttpAnswer, WasiHttpExchange};
use super::{FutureResponse, MAX_URL, OutgoingRequest, RequestOptions};
use crate::bindings::wasi::http::outgoing_handler;
use crate::bindings::wasi::http::types::{DnsErrorPayload, ErrorCode, Method, Scheme};
use crate::guest::Guest;

#[cfg(test)]
mod tests;

impl outgoing_handler::Host for Guest {
    fn handle(
        &mut self,
        request: Resource<OutgoingRequest>,
        options: Option<Resource<RequestOptions>>,
    ) -> wasmtime::Result<Result<Resource<FutureResponse>, ErrorCode>> {
        let mut request = self.table.delete(request)?;
        if let Some(options) = options {
            self.table.delete(options)?;
        }
        let prepared = match prepare(&request) {
            Ok(prepared) => prepared,
            Err(error) => return Ok(Err(error)),
        };
        let exchange = match request.exchange.take() {
            Some(exchange) => exchange,
            None => WasiHttpExchange::new(&self.http, false).ok_or_else(super::too_much)?,
        };
        exchange.hand_over(prepared);
        self.send_if_whole(&exchange)?;
        Ok(Ok(self.hold(FutureResponse(exchange))?))
    }
}

impl Guest {
    /// Sends a request of which everything is there.
    pub(super) fn send_if_whole(
        &mut self,
        exchange: &Arc<WasiHttpExchange>,
    ) -> wasmtime::Result<()> {
        let Some((request, body)) = exchange.take_whole() else {
            return Ok(());
        };
        let answer = self.send(request, body)?;
        exchange.answer(answer);
        Ok(())
    }

    fn send(
        &mut self,
        request: GuestRequestHead,
        body: Vec<u8>,
    ) -> wasmtime::Result<Result<WasiHttpAnswer, ErrorCode>> {
        let (url, headers) = (Cow::Owned(request.url), request.headers);
        let request = match request.is_post {
            true => VfsRequest::HttpPost(HttpPost {
                url,
                headers,
                body: Payload::of_bytes(body),
            }),
            false if !body.is_empty() => {
                return Ok(Err(internal("a GET is sent without a body")));
            }
            false => VfsRequest::HttpGet(HttpGet { url, headers }),
        };
        Ok(match self.ask(&request)? {
            Ok(VfsReply::Http(HttpReply { status, body })) => {
                let body = Bytes::from(body.into_bytes());
                let size = body.len() as u64;
                let body = AnswerBody::new(body, &self.http);
                let body = body.ok_or(ErrorCode::HttpResponseBodySize(Some(size)));
                body.map(|body| WasiHttpAnswer { status, body })
            }
            Ok(_) => Err(internal("the request was answered by something else")),
            Err(error) => Err(error_code(&error)),
        })
    }
}

/// The request as the broker takes it, or why it does not.
fn prepare(request: &OutgoingRequest) -> Result<GuestRequestHead, ErrorCode> {
    let is_post = match &request.method {
        Method::Get => false,
        Method::Post => true,
        Method::Other(name) if name == "GET" => false,
        Method::Other(name) if name == "POST" => true,
        other => {
            let name = name_of(other);
            return Err(internal(&format!(
                "requests are GET or POST: there is no {name} for a Wasm tool"
            )));
        }
    };
    let scheme = match &request.scheme {
        Some(Scheme::Http) => "http",
        Some(Scheme::Https) | None => "https",
        Some(Scheme::Other(name)) => name,
    };
    let Some(authority) = &request.authority else {
        return Err(ErrorCode::HttpRequestUriInvalid);
    };
    let path = request.path.as_deref().unwrap_or("/");
    let url = format!("{scheme}://{authority}{path}");
    if url.len() > MAX_URL {
        return Err(ErrorCode::HttpRequestUriTooLong);
    }
    let mut headers = Vec::new();
    for (name, value) in request.headers.iter() {
        if LEFT_OUT.iter().any(|one| name.eq_ignore_ascii_case(one)) {
            continue;
        }
        let Ok(value) = str::from_utf8(value) else {
            return Err(internal(&format!("the header `{name}` is not UTF-8")));
        };
        headers.push(Header {
            name: Cow::Owned(name.to_owned()),
            value: Cow::Owned(value.to_owned()),
        });
    }
    Ok(GuestRequestHead {
        is_post,
        url,
        headers,
    })
}

/// What the broker says, in the words of the interface. Where that has none, its own sentence.
fn error_code(error: &ErrorReply) -> ErrorCode {
    let message = error.message.as_str();
    match error.kind() {
        kind if kind.is_denial() => ErrorCode::HttpRequestDenied,
        ErrorKind::Timeout => ErrorCode::HttpResponseTimeout,
        ErrorKind::TooLarge if message.ends_with("redirects") => ErrorCode::LoopDetected,
        ErrorKind::TooLarge => ErrorCode::HttpResponseBodySize(None),
        // A name that is not found may be found later; a variable that is not set is no such thing.
        ErrorKind::NotFound if error.data.retryable => ErrorCode::DnsError(DnsErrorPayload {
            rcode: None,
            info_code: None,
        }),
        ErrorKind::Internal => {
            let known = FAILURES.iter().find(|(said, _)| message.ends_with(said));
            known.map_or_else(|| internal(message), |(_, code)| code.clone())
        }
        _ => internal(message),
    }
}

fn internal(message: &str) -> ErrorCode {
    ErrorCode::InternalError(Some(message.to_owned()))
}

fn name_of(method: &Method) -> &str {
    match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Delete => "DELETE",
        Method::Connect => "CONNECT",
        Method::Options => "OPTIONS",
        Method::Trace => "TRACE",
        Method::Patch => "PATCH",
        Method::Other(name) => name,
    }
}

/// How the broker's sentence about a failed connection ends, and which code that is.
const FAILURES: [(&str, ErrorCode); 5] = [
    ("the connection was refused", ErrorCode::ConnectionRefused),
    (
        "the server closed the connection too early",
        ErrorCode::ConnectionTerminated,
    ),
    (
        "the server cannot be reached",
        ErrorCode::DestinationUnavailable,
    ),
    (
        "the server's certificate is not valid",
        ErrorCode::TlsCertificateError,
    ),
    (
        "the server does not speak HTTP as it should",
        ErrorCode::HttpProtocolError,
    ),
];

/// Headers that a client sets without being asked, and the broker by itself.
const LEFT_OUT: [&str; 2] = ["accept-encoding", "content-length"];
