//! What a tool can talk to besides itself: the steps of [`Network::Gateway`].
//!
//! In a network namespace of its own all that a tool can reach is itself, so its connections are made to
//! end there: at sockets that the keeper makes in that namespace and that the host serves. Addresses that
//! stand for names are made addresses of that namespace, and all others still lead nowhere.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use super::landlock;
use super::refusal::ProfileError;
use super::skeleton::{needed, optional};
use crate::profile::{
    Enforce, GATEWAY_V4, GatewayProfile, NAMES_V4, NAMES_V6, Network, PROXY_PORT, Profile,
};
use crate::sys::linux::order::{OrderStep, ServedSocket, StepAction};

/// The addresses that stand for names. Every tool with a network of its own gets them, so that keepers that
/// were made ahead of time serve tools with and without a gateway: on its own they lead nowhere.
///
/// IPv6 may be missing. IPv4 is not: without it the sockets of a gateway cannot be made.
pub(super) fn names() -> [OrderStep; 2] {
    let local = |network: IpAddr, prefix| optional(StepAction::Local { network, prefix });
    [
        local(NAMES_V4.0.into(), NAMES_V4.1),
        local(NAMES_V6.0.into(), NAMES_V6.1),
    ]
}

/// The steps of a call, in namespaces.
pub(super) fn steps(network: &Network) -> Vec<OrderStep> {
    let Network::Gateway(gateway) = network else {
        return Vec::new();
    };
    let mut steps: Vec<OrderStep> = addresses(gateway)
        .into_iter()
        .map(|address| {
            let act = StepAction::Local {
                network: address,
                prefix: if address.is_ipv4() { 32 } else { 128 },
            };
            // A namespace without IPv6 goes without.
            OrderStep {
                act,
                optional: address.is_ipv6(),
            }
        })
        .collect();
    let lookups =
        [GATEWAY_V4, Ipv4Addr::LOCALHOST].map(|at| ServedSocket::Datagrams(at, LOOKUPS_PORT));
    let ports = gateway.ports.iter().chain(&gateway.explained);
    let ports = ports.chain([&LOOKUPS_PORT, &PROXY_PORT]);
    let ports: BTreeSet<u16> = ports.copied().filter(|port| *port != 0).collect();
    let sockets = lookups
        .into_iter()
        .chain(ports.into_iter().map(ServedSocket::Streams));
    steps.push(needed(StepAction::Sockets(sockets.collect())));
    steps
}

/// The steps without namespaces: Landlock filters the ports, where it can. Nobody can tell the addresses, so
/// that this is refused unless less than what was asked for will do. Where no rule allows a host there is nothing
/// to tell apart: the filter refuses all sockets of the network.
pub(super) fn bare(profile: &Profile, abi: u32) -> Result<Vec<OrderStep>, ProfileError> {
    let Some(gateway) = opened(&profile.network) else {
        return Ok(Vec::new());
    };
    if profile.enforce == Enforce::Required {
        return Err(ProfileError::NoNames);
    }
    if !landlock::knows_ports(abi) {
        return Ok(Vec::new());
    }
    let ports: BTreeSet<u16> = gateway.ports.iter().copied().collect();
    let allow = |port| {
        needed(StepAction::AllowPort {
            port,
            rights: landlock::CONNECT_TCP,
        })
    };
    Ok(ports.into_iter().map(allow).collect())
}

/// Whether the filter must let sockets of the network through. Where a gateway is wanted and neither it nor
/// a filter of ports can be had, there is no network.
pub(super) fn is_hosts(network: &Network, own_network: bool, abi: u32) -> bool {
    match network {
        Network::None => false,
        Network::Host => true,
        Network::Gateway(_) => {
            opened(network).is_some() && !own_network && landlock::knows_ports(abi)
        }
    }
}

/// The gateway, if rules open a way through it.
pub(super) fn opened(network: &Network) -> Option<&GatewayProfile> {
    match network {
        Network::Gateway(gateway) if !gateway.ports.is_empty() => Some(gateway),
        Network::Gateway(_) | Network::None | Network::Host => None,
    }
}

/// Those that are not the namespace's own anyway, and that a connection can be made to.
fn addresses(gateway: &GatewayProfile) -> BTreeSet<IpAddr> {
    let addresses = gateway.addresses.iter().map(IpAddr::to_canonical);
    addresses
        .filter(|one| !one.is_loopback() && !one.is_unspecified() && !one.is_multicast())
        .filter(|one| *one != IpAddr::V4(Ipv4Addr::BROADCAST))
        .collect()
}

/// The port that names are asked for on.
const LOOKUPS_PORT: u16 = 53;
