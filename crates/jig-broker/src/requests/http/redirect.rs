//! Where a server sends us, and what goes along.

use jig_policy::{NetTarget, Permit};
use jig_proto::vfs::{ErrorKind, ErrorReply};
use ureq::http::Method as Verb;
use url::Url;

use super::exchange::HttpAnswer;
use super::{HttpHop, check_url, read_url};

/// How a request changes on its way to the next URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RedirectedRequest {
    /// It becomes a `GET` without a body.
    becomes_get: bool,
    /// It goes to another scheme, host or port.
    leaves: bool,
}

/// The next URL and how the request changes; `None` if the answer is the last one.
pub(super) fn next(
    hop: &HttpHop,
    answer: &HttpAnswer,
) -> Option<Result<(Url, RedirectedRequest), ErrorReply>> {
    let becomes_get = match answer.status {
        303 => true,
        301 | 302 => hop.verb == Verb::POST,
        307 | 308 => false,
        _ => return None,
    };
    let location = answer.location.as_deref()?;
    Some(follow(&hop.url, location).map(|url| {
        let redirected = RedirectedRequest {
            becomes_get,
            leaves: url.origin() != hop.url.origin(),
        };
        (url, redirected)
    }))
}

fn follow(from: &Url, location: &[u8]) -> Result<Url, ErrorReply> {
    let failed = || {
        let message = "the server redirects to something that is not a URL of the web";
        ErrorReply::new(ErrorKind::Internal, message)
    };
    let location = std::str::from_utf8(location).map_err(|_| failed())?;
    let url = from.join(location).map_err(|_| failed())?;
    check_url(&url).map_err(|_| failed())?;
    read_url(url.as_str()).map_err(|_| failed())
}

impl RedirectedRequest {
    /// The method of the next request.
    pub(super) fn verb(self, hop: &HttpHop) -> Verb {
        match self.becomes_get {
            true => Verb::GET,
            false => hop.verb.clone(),
        }
    }

    /// The next request. What is meant for one host alone does not go to another, and does not come
    /// back either when that one leads back to the first.
    pub(super) fn into_hop(self, hop: HttpHop, target: Permit<NetTarget>, url: Url) -> HttpHop {
        let verb = self.verb(&hop);
        let keeps_body = !self.becomes_get;
        let headers = hop.headers.into_iter().filter(|header| {
            let about_body = header.name.as_str().starts_with("content-");
            (keeps_body || !about_body) && !(self.leaves && header.is_private())
        });
        HttpHop {
            target,
            url,
            verb,
            headers: headers.collect(),
            body: if keeps_body { hop.body } else { Vec::new() },
        }
    }
}
