//! Hosts and addresses that a line says could not be reached.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::{LineInContext, MissingWish};

/// What a line names, if it says that a host could not be found or reached. `lower` is the line in small letters.
pub(super) fn named(lines: &LineInContext<'_>, lower: &str) -> Option<Vec<MissingWish>> {
    if UNRESOLVED.iter().any(|reason| lower.contains(reason)) {
        let host = after_reason(lower)
            .or_else(|| of_address(lower))
            .or_else(|| {
                lines
                    .near()
                    .find_map(|line| of_address(&line.to_ascii_lowercase()))
            });
        return Some(vec![host.map_or(MissingWish::SomeHost, MissingWish::Host)]);
    }
    if UNREACHED.iter().any(|reason| lower.contains(reason)) {
        let address = address(lower)?;
        return Some(vec![MissingWish::Address(address)]);
    }
    None
}

/// The name that stands right behind the reason.
fn after_reason(lower: &str) -> Option<String> {
    BEFORE_NAME.iter().find_map(|reason| {
        let (_, rest) = lower.split_once(reason)?;
        let rest = rest.trim_start_matches(|c: char| ": '\"‘`(\\".contains(c));
        let end = rest.find(|c: char| !is_host_char(c)).unwrap_or(rest.len());
        let name = rest[..end].trim_end_matches('.');
        let follows = rest[end..].chars().next();
        // A word that is followed by others is part of a sentence.
        let is_alone = name.contains('.') || follows != Some(' ');
        (is_alone && is_host(name)).then(|| name.to_owned())
    })
}

/// The host of the first URL in a line, or what is given as `host='x'`.
fn of_address(lower: &str) -> Option<String> {
    let url = lower.split_once("://").map(|(_, rest)| rest);
    let given = lower.split_once("host=").map(|(_, rest)| rest);
    let rest = url.or(given)?.trim_start_matches(['\'', '"', '\\']);
    // What comes before an `@` is the name of a user, or worse.
    let authority = &rest[..rest
        .find(['/', '?', '#', '\'', '"', ' ', ')', '>'])
        .unwrap_or(rest.len())];
    let authority = authority.rsplit('@').next()?;
    let end = authority
        .find(|c: char| !is_host_char(c))
        .unwrap_or(authority.len());
    let name = authority[..end].trim_end_matches('.');
    is_host(name).then(|| name.to_owned())
}

/// An address with a port: `127.0.0.1:80`, `localhost:80`, `localhost port 80`, `(127.0.0.1), port 80`.
fn address(lower: &str) -> Option<SocketAddr> {
    let words = lower.split(|c: char| c.is_whitespace() || "(),;'\"<>[]".contains(c));
    let mut host: Option<IpAddr> = None;
    let mut awaits_port = false;
    for word in words.filter(|word| !word.is_empty()) {
        let word = word.rsplit("://").next().unwrap_or(word);
        let word = word
            .split('/')
            .next()
            .unwrap_or(word)
            .trim_end_matches(['.', ':']);
        if awaits_port && let (Some(ip), Ok(port)) = (host, word.parse::<u16>()) {
            return Some(SocketAddr::new(ip, port));
        }
        awaits_port = word == "port";
        if let Some((name, port)) = word.rsplit_once(':')
            && let (Some(ip), Ok(port)) = (ip(name), port.parse::<u16>())
        {
            return Some(SocketAddr::new(ip, port));
        }
        host = ip(word).or(host);
    }
    None
}

fn ip(name: &str) -> Option<IpAddr> {
    match name {
        "localhost" => Some(Ipv4Addr::LOCALHOST.into()),
        name => name.parse().ok(),
    }
}

fn is_host_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '.' || c == '_'
}

/// Whether a text can be the name of a host, and no address.
fn is_host(name: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
    };
    name.len() <= LONGEST_HOST
        && name.contains(|c: char| c.is_ascii_alphabetic())
        && name.split('.').all(is_label)
        && name != "localhost"
        && name.parse::<IpAddr>().is_err()
}

/// What programs say when they cannot look a name up.
const UNRESOLVED: [&str; 15] = [
    "could not resolve",
    "couldn't resolve host",
    "unable to resolve host",
    "failed to resolve",
    "failure resolving",
    "enotfound",
    "eai_again",
    "name resolution",
    "name or service not known",
    "nodename nor servname",
    "no such host",
    "failed to lookup address",
    "unknownhostexception",
    "bad address",
    "dns error",
];

/// Of these, those that are followed by the name.
const BEFORE_NAME: [&str; 13] = [
    "could not resolve hostname",
    "could not resolve host",
    "couldn't resolve host name (could not resolve host",
    "unable to resolve host address",
    "unable to resolve host",
    "failed to resolve",
    "failure resolving",
    "enotfound",
    "eai_again",
    "unknownhostexception",
    "bad address",
    "lookup address information for",
    "lookup",
];

/// What programs say when nobody answers at an address.
const UNREACHED: [&str; 8] = [
    "connection refused",
    "econnrefused",
    "failed to connect",
    "couldn't connect",
    "could not connect",
    "network is unreachable",
    "enetunreach",
    "no route to host",
];

/// The longest name of a host.
const LONGEST_HOST: usize = 253;
