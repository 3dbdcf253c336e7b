//! Requests to servers.
//!
//! A URL is judged by the policy before anything is sent, and so is every address that its host
//! resolves to and every redirect. The connection goes to an address that was judged; nothing is
//! resolved twice. The client is blocking, since a tool's request is one exchange on one thread: it
//! needs no runtime, no pool and no cookies, and takes no proxy from the environment.

mod exchange;
mod header;
mod redirect;

use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use jig_policy::{EnvTarget, EnvUse, NetTarget, Permit};
use jig_proto::vfs::{
    ErrorKind, ErrorReply, Header, HttpGet, HttpPost, HttpReply, Method, VfsReply,
};
use ureq::http::Method as Verb;
use url::{Host, Url};

use self::exchange::HttpAnswer;
use self::header::{FilledHeader, HeaderTemplate};
use crate::audit::AuditDecision;
use crate::broker::BrokerCore;
use crate::cancel::CancelToken;
use crate::requests::approvals::ApprovalKey;
use crate::requests::fs::payload;
use crate::requests::judge::Judge;

/// A permitted request to a server.
#[derive(Debug)]
pub(crate) struct HttpJob {
    method: Method,
    hop: HttpHop,
    /// What was approved for this request, for redirects within the same scheme, host and port.
    once: Vec<ApprovalKey>,
    _variables: Vec<Permit<EnvTarget>>,
}

/// One request that goes over the wire; a redirect makes another.
#[derive(Debug)]
struct HttpHop {
    target: Permit<NetTarget>,
    url: Url,
    verb: Verb,
    headers: Vec<FilledHeader>,
    body: Vec<u8>,
}

type HttpJudgement = Result<Option<HttpJob>, ErrorReply>;

/// Judges `http.get`.
pub(crate) fn judge_get(judge: &mut Judge<'_>, get: &HttpGet<'_>) -> HttpJudgement {
    let parts = (Method::HttpGet, Verb::GET);
    judge_request(judge, parts, &get.url, &get.headers, &[])
}

/// Judges `http.post`.
pub(crate) fn judge_post(judge: &mut Judge<'_>, post: &HttpPost<'_>) -> HttpJudgement {
    let parts = (Method::HttpPost, Verb::POST);
    judge_request(judge, parts, &post.url, &post.headers, post.body.as_bytes())
}

fn judge_request(
    judge: &mut Judge<'_>,
    (method, verb): (Method, Verb),
    url: &str,
    headers: &[Header<'_>],
    body: &[u8],
) -> HttpJudgement {
    let invalid = |why: String| ErrorReply::invalid_params(method, why);
    let url = read_url(url).map_err(invalid)?;
    let templates = header::read(headers).map_err(invalid)?;
    let target = NetTarget::from_url(&url).map_err(|error| invalid(error.to_string()))?;
    let target = target.with_method(verb.as_str());
    let target = judge.permit(target, None)?;
    let mut variables = Vec::new();
    for name in templates.iter().flat_map(HeaderTemplate::variables) {
        let wanted = EnvTarget {
            wanted: EnvUse::Header,
            name: name.to_owned(),
        };
        variables.extend(judge.permit(wanted, None)?);
        judge.extend_target(&format!(" (header ${{{name}}})"));
    }
    let Some(target) = target.filter(|_| !judge.must_ask()) else {
        return Ok(None);
    };
    // Only now: whether a variable is set is told only to those who may use it.
    let inner = judge.inner;
    let headers = templates.iter().map(|template| template.fill(&inner.env));
    let headers = headers.collect::<Result<Vec<FilledHeader>, ErrorReply>>()?;
    for value in headers.iter().flat_map(FilledHeader::secrets) {
        inner.secrets.remember(value);
    }
    let hop = HttpHop {
        target,
        url,
        verb,
        headers,
        body: body.to_vec(),
    };
    Ok(Some(HttpJob {
        method,
        hop,
        once: judge.once().to_vec(),
        _variables: variables,
    }))
}

impl HttpJob {
    pub(crate) fn run(
        self,
        inner: &Arc<BrokerCore>,
        cancel: &CancelToken,
    ) -> Result<VfsReply<'static>, ErrorReply> {
        let deadline = Instant::now() + inner.limits.http_time;
        let mut hop = self.hop;
        for _ in 0..=inner.limits.http_redirects {
            let answer = exchange::run(inner, &hop, deadline, cancel)?;
            let Some(next) = redirect::next(&hop, &answer) else {
                return finish(inner, answer);
            };
            let (url, redirected) = next?;
            let verb = redirected.verb(&hop);
            let target = judge_redirect(inner, (self.method, &verb), &self.once, &url)?;
            hop = redirected.into_hop(hop, target, url);
        }
        let limit = inner.limits.http_redirects;
        Err(ErrorReply::new(
            ErrorKind::TooLarge,
            format!("there are more than {limit} redirects"),
        ))
    }
}

/// Judges where a server sends us. Nobody can be asked at this point; the tool can request the URL
/// itself, and is told so.
fn judge_redirect(
    inner: &Arc<BrokerCore>,
    (method, verb): (Method, &Verb),
    once: &[ApprovalKey],
    url: &Url,
) -> Result<Permit<NetTarget>, ErrorReply> {
    let failed = |error: &dyn std::fmt::Display| {
        let message = format!("the server redirects to a URL that cannot be used: {error}");
        ErrorReply::new(ErrorKind::Internal, message)
    };
    let target = NetTarget::from_url(url).map_err(|error| failed(&error))?;
    let target = target.with_method(verb.as_str());
    let mut judge = Judge::new(inner, method, once);
    let time = Timestamp::now();
    let mut denied = match judge.permit(target, None) {
        Ok(Some(permit)) => {
            judge.extend_target(" (redirect)");
            judge.record(AuditDecision::Allow, time).write();
            return Ok(permit);
        }
        Ok(None) => match judge.take_asks().into_iter().next() {
            Some(ask) => ask.reply,
            None => failed(&"it was not judged"),
        },
        Err(denied) => denied,
    };
    judge.extend_target(" (redirect)");
    judge.record(AuditDecision::Deny, time).write();
    denied.message.push_str("; the server redirected there");
    if denied.kind() == ErrorKind::Uncovered {
        let more = ", and nobody is asked for that: request it directly";
        denied.message.push_str(more);
    }
    Err(denied)
}

fn finish(inner: &BrokerCore, answer: HttpAnswer) -> Result<VfsReply<'static>, ErrorReply> {
    // A secret cannot be found in what is compressed.
    if answer.is_encoded() && inner.secrets.scrubber().is_some() {
        let message = "the server sent a compressed body, which cannot be searched for the \
                       secrets of this call";
        return Err(ErrorReply::new(ErrorKind::Internal, message));
    }
    Ok(VfsReply::Http(HttpReply {
        status: answer.status,
        body: payload(inner, answer.body),
    }))
}

/// Reads a URL as it will be judged and requested.
fn read_url(text: &str) -> Result<Url, String> {
    let mut url = Url::parse(text).map_err(|error| format!("`url` is not a URL: {error}"))?;
    check_url(&url)?;
    url.set_fragment(None);
    // The same host has one spelling: a rule on 127.0.0.1 is meant for `[::ffff:127.0.0.1]`, too.
    if let Some(Host::Ipv6(address)) = url.host()
        && let Some(address) = address.to_ipv4_mapped()
    {
        url.set_ip_host(address.into())
            .map_err(|()| "`url` has a host that cannot be used".to_owned())?;
    }
    Ok(url)
}

fn check_url(url: &Url) -> Result<(), String> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("`{}:` is not a scheme of the web", url.scheme()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("a URL must not carry credentials; send a header".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests;
