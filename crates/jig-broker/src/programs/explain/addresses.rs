//! Addresses that a program connected to by itself. Names, and what is connected to by them, are told by the
//! gateway, which serves both.

use std::net::{IpAddr, SocketAddr};

use jig_policy::{ConnectionTarget, OwnedSpeaks, RuleKind};
use jig_proto::Denial;
use jig_sandbox::{NAMES_V4, NAMES_V6, Observation, ObservedTarget};

use super::context::RunSurroundings;
use super::listening_ports;
use super::missing::{MissingWeight, weight};
use crate::denial::{self, DenialContext};

/// What is to be said about the addresses.
pub(super) fn denials(
    around: &RunSurroundings<'_>,
    observation: &Observation,
) -> Vec<(MissingWeight, Denial)> {
    let mut listening = None;
    let mut told = Vec::new();
    for (order, seen) in observation.seen.iter().enumerate() {
        let ObservedTarget::Address(address) = &seen.target else {
            continue;
        };
        let ip = address.ip().to_canonical();
        if is_of_the_gateway(ip) || ip.is_unspecified() || address.port() == 0 {
            continue;
        }
        // What it connects to on its own loopback is its own affair, unless only the host has it.
        let is_hosts = || {
            let ports = listening.get_or_insert_with(listening_ports::ports);
            ports.contains(&address.port())
        };
        if ip.is_loopback() && !{ is_hosts }() {
            continue;
        }
        let weight = weight(jig_sandbox::Rights::WRITE, order);
        if let Some(denial) = refused(around, *address, ip) {
            told.push((
                weight,
                Denial {
                    count: seen.count,
                    ..denial
                },
            ));
        }
    }
    told
}

fn refused(around: &RunSurroundings<'_>, address: SocketAddr, ip: IpAddr) -> Option<Denial> {
    let host = match ip.is_loopback() {
        true => "localhost".to_owned(),
        false => ip.to_string(),
    };
    let speaks = match address.port() {
        80 => OwnedSpeaks::Http {
            method: "GET".to_owned(),
            path: "/".to_owned(),
        },
        443 => OwnedSpeaks::Tls,
        _ => OwnedSpeaks::Other,
    };
    let target = ConnectionTarget {
        host,
        port: address.port(),
        speaks,
    };
    let inner = around.inner;
    if is_named(around, ip, address.port()) {
        return None;
    }
    let refused = inner.policy.permit(target).err()?;
    let shown = match ip.is_loopback() {
        true => format!("localhost:{}", address.port()),
        false => SocketAddr::new(ip, address.port()).to_string(),
    };
    let mut told = denial::denial(
        &refused.refusal,
        &DenialContext {
            policy: &inner.policy,
            table: &inner.table,
            root: inner.files.display_root().as_str(),
            resource: RuleKind::Net,
            target: &shown,
        },
    );
    if ip.is_loopback() {
        told.why = format!(
            "a program on the host listens there, but the tool has a loopback of its own: {}",
            told.why
        );
    }
    Some(told)
}

/// Whether a rule on the address itself lets it through.
fn is_named(around: &RunSurroundings<'_>, ip: IpAddr, port: u16) -> bool {
    let named = ConnectionTarget {
        host: ip.to_string(),
        port,
        speaks: OwnedSpeaks::Other,
    };
    around.inner.policy.permit(named).is_ok()
}

/// Whether an address stands for a name, or for the gateway itself.
fn is_of_the_gateway(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            let (network, length) = NAMES_V4;
            let mask = u32::MAX << (32 - u32::from(length));
            u32::from(ip) & mask == u32::from(network) & mask
        }
        IpAddr::V6(ip) => {
            let (network, length) = NAMES_V6;
            let mask = u128::MAX << (128 - u32::from(length));
            u128::from(ip) & mask == u128::from(network) & mask
        }
    }
}
