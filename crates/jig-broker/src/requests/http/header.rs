//! Headers of a request, and the variables in them.

use jig_proto::vfs::{ErrorKind, ErrorReply, Header};
use ureq::http::header::{HeaderName, HeaderValue};

use crate::host_env::HostEnv;

/// A header as the tool wrote it, taken apart.
#[derive(Debug)]
pub(super) struct HeaderTemplate {
    name: HeaderName,
    parts: Vec<HeaderPart>,
}

#[derive(Debug)]
enum HeaderPart {
    Text(String),
    Variable(String),
}

/// A header as it is sent.
#[derive(Clone)]
pub(super) struct FilledHeader {
    pub(super) name: HeaderName,
    pub(super) value: HeaderValue,
    secrets: Vec<String>,
}

/// Reads the headers of a request.
pub(super) fn read(headers: &[Header<'_>]) -> Result<Vec<HeaderTemplate>, String> {
    if headers.len() > MAX_HEADERS {
        return Err(format!("there are more than {MAX_HEADERS} headers"));
    }
    let size: usize = headers
        .iter()
        .map(|one| one.name.len() + one.value.len())
        .sum();
    if size > MAX_BYTES {
        return Err(format!("the headers have more than {MAX_BYTES} bytes"));
    }
    headers.iter().map(HeaderTemplate::read).collect()
}

impl HeaderTemplate {
    fn read(header: &Header<'_>) -> Result<Self, String> {
        let shown = jig_proto::visible_line(&header.name);
        let name = HeaderName::from_bytes(header.name.as_bytes())
            .map_err(|_| format!("`{shown}` is not the name of a header"))?;
        let lower = name.as_str();
        if OURS.contains(&lower) || OUR_PREFIXES.iter().any(|one| lower.starts_with(one)) {
            return Err(format!("the header `{shown}` is set by the host"));
        }
        // Also where it would be replaced later: a line end here is an attempt at a second header.
        if header.value.contains(['\r', '\n', '\0']) {
            return Err(format!("the value of `{shown}` holds a line end"));
        }
        HeaderValue::from_str(&header.value)
            .or_else(|_| HeaderValue::from_bytes(header.value.as_bytes()))
            .map_err(|_| format!("the value of `{shown}` holds a control character"))?;
        let parts = parts(&header.value).map_err(|why| format!("the value of `{shown}` {why}"))?;
        Ok(Self { name, parts })
    }

    /// The variables that it names, in order.
    pub(super) fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            HeaderPart::Variable(name) => Some(name.as_str()),
            HeaderPart::Text(_) => None,
        })
    }

    /// Puts the values in. The caller has made sure that each may be used.
    pub(super) fn fill(&self, env: &HostEnv) -> Result<FilledHeader, ErrorReply> {
        let mut text = String::new();
        let mut secrets = Vec::new();
        for part in &self.parts {
            match part {
                HeaderPart::Text(more) => text.push_str(more),
                HeaderPart::Variable(name) => {
                    let Some(value) = env.get(name) else {
                        return Err(ErrorReply::new(
                            ErrorKind::NotFound,
                            format!("the variable `{name}` is not set; nothing was sent"),
                        ));
                    };
                    if value.chars().any(char::is_control) {
                        return Err(ErrorReply::new(
                            ErrorKind::InvalidParams,
                            format!("the value of `{name}` cannot stand in a header"),
                        ));
                    }
                    text.push_str(value);
                    secrets.push(value.to_owned());
                }
            }
        }
        let mut value = HeaderValue::from_bytes(text.as_bytes()).map_err(|_| {
            let message = format!("the header `{}` cannot be sent", self.name);
            ErrorReply::new(ErrorKind::InvalidParams, message)
        })?;
        value.set_sensitive(!secrets.is_empty());
        Ok(FilledHeader {
            name: self.name.clone(),
            value,
            secrets,
        })
    }
}

impl FilledHeader {
    /// The values that were put in.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &str> {
        self.secrets.iter().map(String::as_str)
    }

    /// Whether it must not be sent to another host than the one that it was meant for.
    pub(super) fn is_private(&self) -> bool {
        !self.secrets.is_empty() || CREDENTIALS.contains(&self.name.as_str())
    }
}

impl std::fmt::Debug for FilledHeader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Filled({})", self.name)
    }
}

/// Splits a value at `${NAME}`. A `$` without a brace is just that.
fn parts(value: &str) -> Result<Vec<HeaderPart>, &'static str> {
    let mut parts = Vec::new();
    let mut rest = value;
    while let Some(start) = rest.find("${") {
        let (text, after) = (&rest[..start], &rest[start + 2..]);
        let end = after.find('}').ok_or("has a `${` without its `}`")?;
        let name = &after[..end];
        let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            return Err("has something other than the name of a variable in `${…}`");
        }
        if !text.is_empty() {
            parts.push(HeaderPart::Text(text.to_owned()));
        }
        parts.push(HeaderPart::Variable(name.to_owned()));
        rest = &after[end + 1..];
    }
    if !rest.is_empty() {
        parts.push(HeaderPart::Text(rest.to_owned()));
    }
    Ok(parts)
}

/// Headers that decide where a request goes, how long it is or what its answer looks like. A tool
/// that could set them would reach another host behind the one that was judged, smuggle a second
/// request, or get an answer in which no secret can be found.
const OURS: [&str; 16] = [
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
    "x-original-url",
    "x-rewrite-url",
];

const OUR_PREFIXES: [&str; 2] = ["proxy-", "sec-"];

/// What is dropped with the secrets when a redirect leads to another host.
const CREDENTIALS: [&str; 3] = ["authorization", "cookie", "cookie2"];

/// Servers accept about a hundred; more only serve to exhaust somebody.
const MAX_HEADERS: usize = 100;

/// As much as most servers accept.
const MAX_BYTES: usize = 64 * 1024;

#[cfg(test)]
mod tests;
