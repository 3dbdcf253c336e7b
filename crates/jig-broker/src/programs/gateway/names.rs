//! [`GatewayNames`]: which name an address of the program's network stands for.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jig_sandbox::{GATEWAY_V4, GatewaySockets, NAMES_V4, NAMES_V6};
use rustix::net::AddressFamily;

/// The addresses of the program's network that mean something else than themselves.
///
/// A name gets its addresses when it is first looked up, and keeps them as long as the gateway is
/// there. Only names of hosts that some rule allows are put in: no more than rules, unless one is on `*` or a whole
/// domain, and then no more than there are addresses.
#[derive(Debug)]
pub(super) struct GatewayNames {
    plan: AddressPlan,
    known: Mutex<KnownNames>,
}

/// Where the addresses lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct AddressPlan {
    pub(super) v4: Ipv4Addr,
    /// Absent where the program has no IPv6.
    pub(super) v6: Option<Ipv6Addr>,
    /// Where the gateway itself answers.
    pub(super) gateway: Ipv4Addr,
}

impl AddressPlan {
    /// As the sandbox lays the network out that these sockets are in.
    pub(super) fn of(sockets: &GatewaySockets) -> Self {
        let is_v6 = |listener: &OwnedFd| {
            let name = rustix::net::getsockname(listener);
            name.is_ok_and(|name| name.address_family() == AddressFamily::INET6)
        };
        let has_v6 = sockets
            .listeners
            .iter()
            .any(|(_, listener)| is_v6(listener));
        Self {
            v4: NAMES_V4.0,
            v6: has_v6.then_some(NAMES_V6.0),
            gateway: GATEWAY_V4,
        }
    }
}

#[derive(Debug, Default)]
struct KnownNames {
    names: Vec<String>,
    places: HashMap<String, u32>,
}

impl GatewayNames {
    pub(super) fn new(plan: AddressPlan) -> Self {
        Self {
            plan,
            known: Mutex::default(),
        }
    }

    /// The addresses of a name in its normal form; `None` if there are no more.
    pub(super) fn addresses(&self, name: &str) -> Option<(Ipv4Addr, Option<Ipv6Addr>)> {
        let mut known = self.known();
        let place = match known.places.get(name) {
            Some(place) => *place,
            None => {
                let place = u32::try_from(known.names.len()).ok();
                let place = place.filter(|place| *place < MAX_NAMES)?;
                known.names.push(name.to_owned());
                known.places.insert(name.to_owned(), place);
                place
            }
        };
        let v4 = self.plan.v4.to_bits() + FIRST + place;
        let v6 = self.plan.v6;
        let v6 = v6.map(|v6| Ipv6Addr::from(v6.to_bits() + u128::from(FIRST + place)));
        Some((v4.into(), v6))
    }

    /// What an address stands for.
    pub(super) fn meaning(&self, address: IpAddr) -> AddressMeaning {
        let place = match address.to_canonical() {
            IpAddr::V4(address) if address == self.plan.gateway => return AddressMeaning::Gateway,
            IpAddr::V4(address) => {
                let place = address.to_bits().checked_sub(self.plan.v4.to_bits());
                place.filter(|place| *place < SPAN)
            }
            IpAddr::V6(address) => {
                let first = self.plan.v6.map(Ipv6Addr::to_bits);
                let place = first.and_then(|first| address.to_bits().checked_sub(first));
                // The whole network stands for names, also the part that is never used.
                let place = place.filter(|place| *place < 1 << 64);
                place.map(|place| u32::try_from(place).unwrap_or(u32::MAX))
            }
        };
        let Some(place) = place else {
            return AddressMeaning::Itself;
        };
        let place = place.checked_sub(FIRST);
        let known = self.known();
        match place.and_then(|place| known.names.get(place as usize)) {
            Some(name) => AddressMeaning::Name(name.clone()),
            None => AddressMeaning::Nothing,
        }
    }

    fn known(&self) -> MutexGuard<'_, KnownNames> {
        // A panic elsewhere can leave a name without a place at most.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an address of the program's network stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AddressMeaning {
    /// The gateway itself.
    Gateway,
    /// A name that was looked up.
    Name(String),
    /// It is kept for names, and no name has it.
    Nothing,
    /// The address that it is.
    Itself,
}

/// The addresses before the first name: the gateway's own, and some in reserve.
const FIRST: u32 = 16;

/// How many IPv4 addresses there are for names.
const SPAN: u32 = 1 << (32 - NAMES_V4.1);

const MAX_NAMES: u32 = SPAN - FIRST - 1;

#[cfg(test)]
mod tests;
