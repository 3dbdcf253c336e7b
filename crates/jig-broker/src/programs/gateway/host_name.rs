//! Names of hosts in the one form in which they are compared.

use std::net::IpAddr;

use url::Host;

/// The name or address in ASCII, lower case, without brackets and final dot; `None` if it is no host.
///
/// What is read here goes on to a server as it was spelled, or is compared with what does. So it takes
/// only what has one reading: no escapes, no Unicode, nothing that separates the parts of a URL.
pub(super) fn normal(text: &str) -> Option<String> {
    let bare = match text.strip_prefix('[') {
        Some(rest) => return rest.strip_suffix(']')?.parse::<IpAddr>().ok().map(literal),
        None => text,
    };
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Some(literal(address));
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if !bare.bytes().all(plain) {
        return None;
    }
    match Host::parse(bare).ok()? {
        Host::Domain(name) => {
            let name = name.strip_suffix('.').unwrap_or(&name);
            let whole = name.split('.').all(|label| !label.is_empty());
            whole.then(|| name.to_ascii_lowercase())
        }
        // Digits in another spelling: servers do not agree on what they mean.
        Host::Ipv4(_) | Host::Ipv6(_) => None,
    }
}

/// A host with an optional port; `None` if it is not that.
pub(super) fn with_port(text: &str) -> Option<(String, Option<u16>)> {
    let end = match text.starts_with('[') {
        true => text.find(']')? + 1,
        false => text.find(':').unwrap_or(text.len()),
    };
    let (host, rest) = text.split_at(end);
    let port = match rest.strip_prefix(':') {
        None if rest.is_empty() => None,
        Some(digits) if (1..=5).contains(&digits.len()) => {
            let digits = digits
                .bytes()
                .all(|byte| byte.is_ascii_digit())
                .then_some(digits)?;
            Some(digits.parse().ok()?)
        }
        _ => return None,
    };
    Some((normal(host)?, port))
}

/// Whether the name is the machine's own, whatever a resolver says.
pub(super) fn is_localhost(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}

/// An address as a host.
pub(super) fn literal(address: IpAddr) -> String {
    address.to_canonical().to_string()
}

#[cfg(test)]
mod tests;
