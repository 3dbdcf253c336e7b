//! [`Destination`]: where a connection leads, and what the policy says of that.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use jig_policy::{ConnectionTarget, OwnedSpeaks, Permit, Target as _, Verdict};
use jig_proto::Denial;

use super::denials::CONNECT;
use super::dial::{Undialled, dial};
use super::names::Meaning;
use super::wire::Wire;
use super::{Shared, host};

/// Where a connection leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Destination {
    /// The names under which rules may speak of it. The first is the one that is shown.
    hosts: Vec<String>,
    pub(super) port: u16,
    /// The address that the program itself used, if it stands for no name.
    address: Option<IpAddr>,
}

impl Destination {
    /// Where an address of the program's network leads; `None` if nowhere.
    pub(super) fn of(meaning: Meaning, address: IpAddr, port: u16) -> Option<Self> {
        let hosts = match meaning {
            Meaning::Name(name) => return Some(Self::named(name, port)),
            Meaning::Gateway | Meaning::Nothing => return None,
            // The machine itself has a name that rules may use for these two, not for all of its addresses.
            Meaning::Itself if address == Ipv4Addr::LOCALHOST || address == Ipv6Addr::LOCALHOST => {
                vec![LOCALHOST.to_owned(), host::literal(address)]
            }
            Meaning::Itself => vec![host::literal(address)],
        };
        Some(Self {
            hosts,
            port,
            address: Some(address),
        })
    }

    /// Where a host in its normal form leads that a program names to the proxy.
    pub(super) fn asked_for(shared: &Shared, host: String, port: u16) -> Option<Self> {
        match host.parse() {
            Ok(address) => Self::of(shared.names.meaning(address), address, port),
            Err(_) => Some(Self::named(host, port)),
        }
    }

    pub(super) fn named(host: String, port: u16) -> Self {
        Self {
            hosts: vec![host],
            port,
            address: None,
        }
    }

    /// The name that is shown.
    pub(super) fn host(&self) -> &str {
        self.hosts.first().map_or("", String::as_str)
    }

    /// Whether a name in its normal form is one of this destination.
    pub(super) fn is_called(&self, name: &str) -> bool {
        let is_local = self.hosts.iter().any(|host| host::is_localhost(host));
        self.hosts.iter().any(|host| host == name) || (is_local && host::is_localhost(name))
    }

    /// Whether only its name says which server is meant: behind one address there may be many.
    pub(super) fn is_name(&self) -> bool {
        self.address.is_none() && !host::is_localhost(self.host())
    }

    pub(super) fn target(&self, host: &str, speaks: OwnedSpeaks) -> ConnectionTarget {
        ConnectionTarget {
            host: host.to_owned(),
            port: self.port,
            speaks,
        }
    }

    /// Whether the policy would allow it, with nothing kept or logged.
    pub(super) fn would_allow(&self, shared: &Shared, speaks: &OwnedSpeaks) -> bool {
        let policy = &shared.inner.policy;
        let verdicts = self
            .hosts
            .iter()
            .map(|host| self.target(host, speaks.clone()).decide(policy).verdict);
        let verdicts: Vec<Verdict> = verdicts.collect();
        verdicts.contains(&Verdict::Allow) && !verdicts.contains(&Verdict::Deny)
    }

    /// The policy's permit, or the denial, which is kept and logged.
    pub(super) fn permit(
        &self,
        shared: &Shared,
        speaks: &OwnedSpeaks,
    ) -> Result<Permit<ConnectionTarget>, Box<Denial>> {
        if shared.inner.refuses_all() {
            let why = "the audit log cannot be written";
            return Err(shared.refuse_because(Denial::new(CONNECT, self.to_string(), why)));
        }
        let mut permitted = None;
        let mut refused = None;
        for host in &self.hosts {
            match shared
                .inner
                .policy
                .permit(self.target(host, speaks.clone()))
            {
                Ok(permit) => permitted = permitted.or(Some(permit)),
                // A rule that denies one of its names denies it.
                Err(denied) if denied.refusal.verdict == Verdict::Deny => {
                    return Err(shared.refuse(&denied));
                }
                Err(uncovered) => refused = refused.or(Some(uncovered)),
            }
        }
        match (permitted, refused) {
            (Some(permit), _) => Ok(permit),
            (None, Some(uncovered)) => Err(shared.refuse(&uncovered)),
            (None, None) => {
                let denial = Denial::new(CONNECT, self.to_string(), "it has no host");
                Err(shared.refuse_because(denial))
            }
        }
    }

    /// Connects, with the permit.
    pub(super) fn dial<'g>(
        &self,
        shared: &'g Shared,
        permit: Permit<ConnectionTarget>,
    ) -> Result<Wire<'g>, Undialled> {
        dial(shared, permit, self.address)
    }
}

/// Host and port.
impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host() {
            host if host.contains(':') => write!(f, "[{host}]:{}", self.port),
            host => write!(f, "{host}:{}", self.port),
        }
    }
}

const LOCALHOST: &str = "localhost";
