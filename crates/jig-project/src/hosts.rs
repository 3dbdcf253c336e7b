//! Hosts as a person types them, as in `--net`.

use anyhow::{anyhow, bail};
use jig_proto::hint;
use serde_json::json;

#[cfg(test)]
mod tests;

/// A host as somebody types it.
#[derive(Debug, PartialEq, Eq)]
pub struct TypedHost<'a> {
    /// Its name or address.
    pub host: &'a str,
    /// The protocol, if it was named.
    pub scheme: Option<&'a str>,
    /// The port, if it was named.
    pub port: Option<u16>,
    /// The beginning of the path of URLs, if not all are meant.
    pub path: Option<&'a str>,
}

/// The rule for `HOST`, `HOST:PORT`, `SCHEME://HOST[:PORT][/PATH]`, as TOML.
pub fn rule(text: &str) -> anyhow::Result<String> {
    let host = parse(text)?;
    let mut parts = vec![
        format!("host={}", json!(host.host)),
        "allow=true".to_owned(),
    ];
    if let Some(scheme) = host.scheme {
        parts.push(format!("scheme={}", json!(scheme)));
    }
    if let Some(port) = host.port {
        parts.push(format!("port={port}"));
    }
    if let Some(path) = host.path {
        parts.push(format!("path_prefix={}", json!(path)));
    }
    Ok(format!("{{{}}}", parts.join(",")))
}

/// Takes `HOST`, `HOST:PORT`, `SCHEME://HOST[:PORT][/PATH]` apart.
pub fn parse(text: &str) -> anyhow::Result<TypedHost<'_>> {
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, text),
    };
    let (place, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    if place.contains('@') {
        bail!(
            "`{text}` names a user: a rule is on a host, such as `--net {}`",
            after_user(place)
        );
    }
    let (host, port) = host_and_port(place).ok_or_else(|| {
        anyhow!(hint!("write HOST, HOST:PORT or SCHEME://HOST"))
            .context(format!("`{text}` is not a host"))
    })?;
    Ok(TypedHost {
        host,
        scheme,
        port,
        path: (!path.trim_matches('/').is_empty()).then_some(path),
    })
}

/// Splits `host:port`; an IPv6 address with a port is in brackets.
fn host_and_port(place: &str) -> Option<(&str, Option<u16>)> {
    let is_bare_address = place.matches(':').count() > 1 && !place.starts_with('[');
    if is_bare_address {
        return Some((place, None));
    }
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            (host, rest.strip_prefix(':'))
        }
        None => match place.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (place, None),
        },
    };
    let port = match port {
        Some(port) => Some(port.parse().ok()?),
        None => None,
    };
    (!host.is_empty()).then_some((host, port))
}

fn after_user(place: &str) -> &str {
    place.rsplit('@').next().unwrap_or(place)
}
