//! [`HttpRequest`]: what a tool asks of a server, through the host.

use std::borrow::Cow;

use jig_proto::vfs::{Header, HttpGet, HttpPost, HttpReply, Payload, VfsReply, VfsRequest};

use super::{Host, HostError};

/// An HTTP request, made by [`Host::http_get`] or [`Host::http_post`] and done by
/// [`HttpRequest::send`].
#[must_use = "nothing is sent before `send` is called"]
pub struct HttpRequest<'h, 'a> {
    host: &'h mut Host,
    url: Cow<'a, str>,
    headers: Vec<Header<'a>>,
    body: Option<Payload<'a>>,
}

impl Host {
    /// A request for what is at `url`.
    pub fn http_get<'a>(&mut self, url: impl Into<Cow<'a, str>>) -> HttpRequest<'_, 'a> {
        HttpRequest {
            host: self,
            url: url.into(),
            headers: Vec::new(),
            body: None,
        }
    }

    /// A request that sends `body` to `url`.
    pub fn http_post<'a>(
        &mut self,
        url: impl Into<Cow<'a, str>>,
        body: impl Into<Payload<'a>>,
    ) -> HttpRequest<'_, 'a> {
        HttpRequest {
            host: self,
            url: url.into(),
            headers: Vec::new(),
            body: Some(body.into()),
        }
    }
}

impl<'a> HttpRequest<'_, 'a> {
    /// Adds a header. In the value, `${VAR}` stands for a variable of the host, if the policy opens
    /// it to headers; the tool never sees what it holds.
    pub fn header(mut self, name: impl Into<Cow<'a, str>>, value: impl Into<Cow<'a, str>>) -> Self {
        self.headers.push(Header {
            name: name.into(),
            value: value.into(),
        });
        self
    }

    /// Sends it. A status that tells of an error is an answer like any other.
    ///
    /// # Errors
    ///
    /// If it may not be sent, or there was no answer.
    pub fn send(self) -> Result<HttpReply<'static>, HostError> {
        let Self {
            host,
            url,
            headers,
            body,
        } = self;
        let request = match body {
            None => VfsRequest::HttpGet(HttpGet { url, headers }),
            Some(body) => VfsRequest::HttpPost(HttpPost { url, headers, body }),
        };
        match host.request(&request)? {
            VfsReply::Http(reply) => Ok(reply),
            _ => Err(HostError::other_form(request.method())),
        }
    }
}
