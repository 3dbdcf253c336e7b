//! The hosts of rules: exact ones, all names below a domain, all names.
//!
//! A rule is found by a key: the host itself, `.example.com` for `*.example.com`, `*` for all names. A target
//! has several such keys, each of which is a part of its own text.

use std::iter;
use std::net::IpAddr;

use url::Host;

use crate::index::Levels;
use crate::net::{CompiledNetRule, NetRuleError};

/// Brings a host to the one form in which hosts are compared.
pub(crate) fn normalize_host(host: &str) -> Result<String, NetRuleError> {
    let bad = || NetRuleError::Host(host.to_owned());
    if host.is_empty() {
        return Err(NetRuleError::EmptyHost);
    }
    if host.contains('*') {
        return Err(NetRuleError::Wildcard(host.to_owned()));
    }
    let parsed = if host.contains(':') && !host.starts_with('[') {
        // An IPv6 address may be written without the brackets that a URL needs.
        Host::parse(&format!("[{host}]"))
    } else {
        Host::parse(host)
    };
    match parsed.map_err(|_| bad())? {
        Host::Domain(name) => {
            let name = name.strip_suffix('.').unwrap_or(&name);
            if name.split('.').any(str::is_empty) {
                return Err(bad());
            }
            Ok(name.to_ascii_lowercase())
        }
        Host::Ipv4(address) => Ok(address.to_string()),
        Host::Ipv6(address) => Ok(address.to_string()),
    }
}

/// Brings the host of a rule to its one form: a host, `*.example.com` or `*`.
pub(crate) fn normalize_pattern(host: &str) -> Result<String, NetRuleError> {
    if host == EVERY_NAME {
        return Ok(host.to_owned());
    }
    let Some(domain) = host.strip_prefix("*.") else {
        return normalize_host(host);
    };
    let wildcard = |_| NetRuleError::Wildcard(host.to_owned());
    let domain = normalize_host(domain).map_err(wildcard)?;
    match domain.parse::<IpAddr>() {
        Ok(_) => Err(NetRuleError::Wildcard(host.to_owned())),
        Err(_) => Ok(format!("*.{domain}")),
    }
}

/// What a rule on a host in its one form is found by.
pub(crate) fn key_of(host: &str) -> &str {
    match host.strip_prefix('*') {
        Some("") | None => host,
        Some(suffix) => suffix,
    }
}

/// How specific a host in its one form is: of two that speak of one name, the greater.
pub(crate) fn rank_of(host: &str) -> usize {
    match host.strip_prefix('*') {
        None => usize::MAX,
        Some(suffix) => suffix.len(),
    }
}

/// A method as rules are compared with it. What `CONNECT` would reach is not what a URL says.
pub(crate) fn check_method(method: &str) -> Result<String, NetRuleError> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let upper = method.to_ascii_uppercase();
    if method.is_empty() || !method.chars().all(is_token) || upper == "CONNECT" || upper == "*" {
        return Err(NetRuleError::Method(method.to_owned()));
    }
    Ok(upper)
}

/// Whether a rule can be on this: a host, `*.example.com` or `*`.
pub fn is_rule_host(host: &str) -> bool {
    normalize_pattern(host).is_ok()
}

/// Whether two hosts, as rules name them, have a name in common.
pub fn hosts_overlap(one: &str, other: &str) -> bool {
    let (Ok(one), Ok(other)) = (normalize_pattern(one), normalize_pattern(other)) else {
        return one == other;
    };
    let speaks_of = |pattern: &str, host: &str| match host.strip_prefix('*') {
        None => keys(host).any(|key| key == key_of(pattern)),
        Some(suffix) => pattern == EVERY_NAME || suffix.ends_with(key_of(pattern)),
    };
    speaks_of(&one, &other) || speaks_of(&other, &one)
}

/// Which rules there are that are not on one host.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wildcards {
    /// The numbers of labels of the domains.
    domains: Levels,
    every_name: bool,
}

impl Wildcards {
    /// Whatever there may be.
    const ANY: Self = Self {
        domains: Levels::ALL,
        every_name: true,
    };

    pub(crate) fn of(rules: &[CompiledNetRule]) -> Self {
        let mut found = Self::default();
        for rule in rules {
            let key = rule.host_key();
            found.every_name |= key == EVERY_NAME;
            if key.starts_with('.') {
                found.domains.insert(labels(key));
            }
        }
        found
    }
}

/// All keys under which rules may speak of a host in normal form, the most specific first.
pub(crate) fn keys(host: &str) -> impl Iterator<Item = &str> {
    keys_among(host, Wildcards::ANY)
}

/// Those of the keys that some rule may have.
///
/// `*` speaks of names: not of addresses, which need a rule of their own, nor of `localhost`, which is one.
pub(crate) fn keys_among(host: &str, wildcards: Wildcards) -> impl Iterator<Item = &str> {
    let has_any = wildcards.every_name || !wildcards.domains.is_empty();
    let is_name = has_any && host.parse::<IpAddr>().is_err();
    let suffixes = host.match_indices('.').map(|(at, _)| &host[at..]);
    let domains =
        suffixes.filter(move |suffix| is_name && wildcards.domains.may_hold(labels(suffix)));
    let is_local = || host == "localhost" || host.ends_with(".localhost");
    let every = (is_name && wildcards.every_name && !is_local()).then_some(EVERY_NAME);
    iter::once(host).chain(domains).chain(every)
}

/// The names that a suffix such as `.example.com` has.
fn labels(suffix: &str) -> usize {
    suffix.bytes().filter(|byte| *byte == b'.').count()
}

/// The host of a rule on every name.
const EVERY_NAME: &str = "*";
