//! Which addresses a name may lead to.
//!
//! A name is allowed by a rule, but what it resolves to is decided by whoever owns the name. An
//! address that is not of the public internet is therefore used only if the policy allows a URL
//! that names that very address; and an address that a rule denies is not used under any name.
//! A URL that names an address, or `localhost`, has been judged as that already.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

use jig_policy::{ConnectionTarget, NetTarget, Policy, Suggestion, Target, Verdict};
use jig_proto::vfs::{ErrorKind, ErrorReply};
use url::{Host, Url};

/// How the addresses of a URL are found.
pub(crate) enum AddressLookup {
    /// The URL names them.
    Known(Vec<IpAddr>),
    /// This name must be resolved.
    Ask(String),
}

/// How the addresses of a URL's host are found.
pub(crate) fn route(url: &Url) -> AddressLookup {
    match url.host() {
        Some(Host::Ipv4(address)) => AddressLookup::Known(vec![address.into()]),
        Some(Host::Ipv6(address)) => AddressLookup::Known(vec![address.into()]),
        Some(Host::Domain(name)) => match loopback(name) {
            Some(both) => AddressLookup::Known(both.to_vec()),
            None => AddressLookup::Ask(name.to_owned()),
        },
        None => AddressLookup::Known(Vec::new()),
    }
}

/// The addresses of `localhost` and what is below it, which never depend on a resolver; `None` for any
/// other name.
pub(crate) fn loopback(name: &str) -> Option<[IpAddr; 2]> {
    let bare = name.strip_suffix('.').unwrap_or(name);
    let local = bare == "localhost" || bare.ends_with(".localhost");
    local.then_some([
        IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(Ipv6Addr::LOCALHOST),
    ])
}

/// Something on a host that is reached by one of the host's addresses.
pub(crate) trait HostTarget {
    /// The same, on a host that is named by an address.
    type At: Target;

    /// The same on the host with this address for a name; `None` if there is no such thing.
    fn at(&self, address: IpAddr) -> Option<Self::At>;
}

/// The query and what else plays no part may be lost.
impl HostTarget for NetTarget {
    type At = Self;

    fn at(&self, address: IpAddr) -> Option<Self> {
        let mut named = Url::parse(&self.to_string()).ok()?;
        named.set_ip_host(address).ok()?;
        let target = Self::from_url(&named).ok()?;
        // A rule on an address may tell methods apart, too.
        Some(match self.method() {
            Some(method) => target.with_method(method),
            None => target,
        })
    }
}

impl HostTarget for ConnectionTarget {
    type At = Self;

    fn at(&self, address: IpAddr) -> Option<Self> {
        Some(Self {
            host: address.to_string(),
            ..self.clone()
        })
    }
}

/// Why none of the addresses of a host is used: what is wrong with the first.
#[derive(Debug)]
pub(crate) struct UnfitAddress {
    kind: ErrorKind,
    /// Why, in a sentence that names the address.
    pub(crate) why: String,
    /// What would allow it.
    pub(crate) suggestion: Option<Box<Suggestion>>,
}

impl UnfitAddress {
    /// The answer to a tool that named the host in a URL.
    pub(crate) fn reply(self, host: &str, table: &str) -> ErrorReply {
        let reply = ErrorReply::denied(self.kind, format!("reach on `{host}`: {}", self.why));
        match self.suggestion {
            Some(suggestion) => {
                reply.with_hint(jig_proto::offered_rule(suggestion.to_toml_in(table)))
            }
            None => reply,
        }
    }
}

/// The addresses among `found` that may be connected to.
pub(crate) fn judged(
    policy: &Policy,
    wanted: &impl HostTarget,
    found: Vec<IpAddr>,
) -> Result<Vec<IpAddr>, UnfitAddress> {
    let mut kept: Vec<IpAddr> = Vec::new();
    let mut refusal = None;
    for address in found {
        let address = address.to_canonical();
        match judge_one(policy, wanted, address) {
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

fn judge_one(
    policy: &Policy,
    wanted: &impl HostTarget,
    address: IpAddr,
) -> Result<(), UnfitAddress> {
    let target = wanted.at(address);
    let verdict = target.as_ref().map(|target| target.decide(policy).verdict);
    if verdict == Some(Verdict::Allow) {
        return Ok(());
    }
    // What is translated on the way arrives at the address inside.
    if let Some(inside) = inside(address)
        && let Some(target) = wanted.at(inside)
        && target.decide(policy).verdict == Verdict::Deny
    {
        return Err(UnfitAddress {
            kind: ErrorKind::DeniedByRule,
            why: format!("it resolves to {address}, which is {inside}, which a rule denies"),
            suggestion: target.suggestion(policy).map(Box::new),
        });
    }
    let own = || is_own(address).then_some("an address of this machine");
    let special = special(address).or_else(own);
    let (kind, why) = match (verdict, special) {
        (Some(Verdict::Uncovered), None) => return Ok(()),
        (Some(Verdict::Deny), _) => (
            ErrorKind::DeniedByRule,
            format!("it resolves to {address}, which a rule denies"),
        ),
        (_, special) => (
            ErrorKind::Uncovered,
            format!(
                "it resolves to {address}, {}, and no rule names that address",
                special.unwrap_or("an address that cannot be judged")
            ),
        ),
    };
    Err(UnfitAddress {
        kind,
        why,
        suggestion: target.and_then(|target| target.suggestion(policy).map(Box::new)),
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
    if let Some(inside) = inside_v6(address) {
        return special_v4(inside);
    }
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some("an address of this machine"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("a loopback address"),
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

/// The IPv4 address that packets to an address are translated to on their way, if there is one.
fn inside(address: IpAddr) -> Option<IpAddr> {
    match address {
        IpAddr::V4(_) => None,
        IpAddr::V6(address) => inside_v6(address).map(IpAddr::V4),
    }
}

fn inside_v6(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => {
            let [a, b] = high.to_be_bytes();
            let [c, d] = low.to_be_bytes();
            Some(Ipv4Addr::new(a, b, c, d))
        }
        _ => None,
    }
}

/// Whether an address is one of this machine's, public though it may be: what listens there is often kept from
/// others by a firewall, which does not keep it from the machine itself.
///
/// One reaches one's own addresses from themselves. No packet is sent to find that out.
fn is_own(address: IpAddr) -> bool {
    let any: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let from = UdpSocket::bind((any, 0)).and_then(|socket| {
        socket.connect((address, ANY_PORT))?;
        socket.local_addr()
    });
    from.is_ok_and(|from| from.ip() == address)
}

/// A port that plays no part.
const ANY_PORT: u16 = 9;

/// How many addresses of a name are tried. A name can have thousands.
const MAX_ADDRESSES: usize = 8;

#[cfg(test)]
mod tests;
