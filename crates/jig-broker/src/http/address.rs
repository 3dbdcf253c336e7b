//! Which addresses a name may lead to.
//!
//! A name is allowed by a rule, but what it resolves to is decided by whoever owns the name. An
//! address that is not of the public internet is therefore used only if the policy allows a URL
//! that names that very address; and an address that a rule denies is not used under any name.
//! A URL that names an address, or `localhost`, has been judged as that already.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use jig_policy::{NetTarget, Policy, Target as _, Verdict};
use jig_proto::vfs::{ErrorKind, ErrorReply};
use url::{Host, Url};

/// How the addresses of a URL are found.
pub(super) enum Route {
    /// The URL names them.
    Known(Vec<IpAddr>),
    /// This name must be resolved.
    Ask(String),
}

/// How the addresses of a URL's host are found. `localhost` never depends on a resolver.
pub(super) fn route(url: &Url) -> Route {
    match url.host() {
        Some(Host::Ipv4(address)) => Route::Known(vec![address.into()]),
        Some(Host::Ipv6(address)) => Route::Known(vec![address.into()]),
        Some(Host::Domain(name)) => {
            let bare = name.strip_suffix('.').unwrap_or(name);
            if bare == "localhost" || bare.ends_with(".localhost") {
                let both = [
                    IpAddr::from(Ipv4Addr::LOCALHOST),
                    IpAddr::from(Ipv6Addr::LOCALHOST),
                ];
                return Route::Known(both.to_vec());
            }
            Route::Ask(name.to_owned())
        }
        None => Route::Known(Vec::new()),
    }
}

/// The addresses among `found` that may be connected to for `url`.
pub(super) fn judged(
    policy: &Policy,
    tool: &str,
    url: &Url,
    found: Vec<IpAddr>,
) -> Result<Vec<IpAddr>, ErrorReply> {
    let mut kept: Vec<IpAddr> = Vec::new();
    let mut refusal = None;
    for address in found {
        let address = address.to_canonical();
        match judge_one(policy, tool, url, address) {
            Ok(()) if kept.len() < MAX_ADDRESSES && !kept.contains(&address) => kept.push(address),
            Ok(()) => {}
            Err(refused) => refusal = refusal.or(Some(refused)),
        }
    }
    match refusal {
        Some(refused) if kept.is_empty() => Err(refused),
        _ => Ok(kept),
    }
}

fn judge_one(policy: &Policy, tool: &str, url: &Url, address: IpAddr) -> Result<(), ErrorReply> {
    let mut named = url.clone();
    let host = url.host_str().unwrap_or_default();
    let target = match named.set_ip_host(address) {
        Ok(()) => NetTarget::from_url(&named).ok(),
        Err(()) => None,
    };
    let verdict = target.as_ref().map(|target| target.decide(policy).verdict);
    let special = special(address);
    let (kind, why) = match (verdict, special) {
        (Some(Verdict::Allow), _) | (Some(Verdict::Uncovered), None) => return Ok(()),
        (Some(Verdict::Deny), _) => (
            ErrorKind::DeniedByRule,
            format!("reach on `{host}`: it resolves to {address}, which a rule denies"),
        ),
        (_, special) => (
            ErrorKind::Uncovered,
            format!(
                "reach on `{host}`: it resolves to {address}, {}, and no rule names that address",
                special.unwrap_or("an address that cannot be judged")
            ),
        ),
    };
    let reply = ErrorReply::denied(kind, why);
    let suggestion = target.and_then(|target| target.suggestion(policy));
    Err(match suggestion {
        Some(suggestion) => reply.with_hint(suggestion.to_toml(tool)),
        None => reply,
    })
}

/// What an address is, if it is not one of the public internet.
fn special(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

fn special_v4(address: Ipv4Addr) -> Option<&'static str> {
    let [a, b, c, _] = address.octets();
    Some(match (a, b, c) {
        (0, ..) => "an address of this machine",
        (127, ..) => "a loopback address",
        (10, ..) | (192, 168, _) | (172, 16..=31, _) => "a private address",
        (100, 64..=127, _) => "an address shared by a provider's customers",
        (169, 254, _) => "a link-local address, where clouds keep their metadata",
        (192, 0, 0) => "an address reserved for protocols",
        (192, 0, 2) | (198, 51, 100) | (203, 0, 113) => "an address for documentation",
        (192, 88, 99) => "an address of a relay",
        (198, 18..=19, _) => "an address for benchmarks",
        (224..=239, ..) => "a multicast address",
        (240..=255, ..) => "a reserved address",
        _ => return None,
    })
}

fn special_v6(address: Ipv6Addr) -> Option<&'static str> {
    let segments = address.segments();
    let embedded = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        special_v4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some("an address of this machine"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("a loopback address"),
        // Translated to IPv4 on the way: what counts is the address inside.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x2002, high, low, ..] => embedded(high, low),
        [0x2001, 0..=0x1ff, ..] => Some("an address reserved for protocols"),
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Some("an address for documentation"),
        [0x2000..=0x3fff, ..] => None,
        [0xfc00..=0xfdff, ..] => Some("a private address"),
        [0xfe80..=0xfebf, ..] => Some("a link-local address"),
        [0xff00..=0xffff, ..] => Some("a multicast address"),
        // Only 2000::/3 is given out; mapped addresses were turned into IPv4 before.
        _ => Some("a reserved address"),
    }
}

/// How many addresses of a name are tried. A name can have thousands.
const MAX_ADDRESSES: usize = 8;

#[cfg(test)]
mod tests;
