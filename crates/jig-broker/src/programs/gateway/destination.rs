//! [`Destination`]: where a connection leads, and what the policy says of that.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use jig_policy::{
    CompiledNetRule, ConnectionTarget, NetTarget, OwnedSpeaks, Permit, Target, Verdict,
};
use jig_proto::Denial;

use super::denials::CONNECT;
use super::dial::{ConnectFailure, DialTarget, dial};
use super::names::AddressMeaning;
use super::wire::GatewayConnection;
use super::{GatewayState, host_name};

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
    pub(super) fn of(meaning: AddressMeaning, address: IpAddr, port: u16) -> Option<Self> {
        let hosts = match meaning {
            AddressMeaning::Name(name) => return Some(Self::named(name, port)),
            AddressMeaning::Gateway | AddressMeaning::Nothing => return None,
            // The machine itself has a name that rules may use for these two, not for all of its addresses.
            AddressMeaning::Itself
                if address == Ipv4Addr::LOCALHOST || address == Ipv6Addr::LOCALHOST =>
            {
                vec![LOCALHOST.to_owned(), host_name::literal(address)]
            }
            AddressMeaning::Itself => vec![host_name::literal(address)],
        };
        Some(Self {
            hosts,
            port,
            address: Some(address),
        })
    }

    /// Where a host in its normal form leads that a program names to the proxy.
    pub(super) fn asked_for(shared: &GatewayState, host: String, port: u16) -> Option<Self> {
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
        let is_local = self.hosts.iter().any(|host| host_name::is_localhost(host));
        self.hosts.iter().any(|host| host == name) || (is_local && host_name::is_localhost(name))
    }

    /// The same under one more name, by which the program calls it.
    ///
    /// All names below `localhost` are the machine itself, and rules may speak of each.
    pub(super) fn also_called(&self, name: &str) -> Self {
        let mut named = self.clone();
        if self.is_called(name) && !self.hosts.iter().any(|host| host == name) {
            named.hosts.push(name.to_owned());
        }
        named
    }

    /// Whether only its name says which server is meant: behind one address there may be many.
    pub(super) fn is_name(&self) -> bool {
        self.address.is_none() && !host_name::is_localhost(self.host())
    }

    /// Whether a rule speaks of one of its names.
    pub(super) fn is_spoken_of(&self, rule: &CompiledNetRule) -> bool {
        self.is_called(rule.host()) || self.hosts.iter().any(|host| rule.speaks_of(host))
    }

    pub(super) fn target(&self, host: &str, speaks: OwnedSpeaks) -> ConnectionTarget {
        ConnectionTarget {
            host: host.to_owned(),
            port: self.port,
            speaks,
        }
    }

    /// Whether the policy would allow it, with nothing kept or logged.
    pub(super) fn would_allow(&self, shared: &GatewayState, speaks: &OwnedSpeaks) -> bool {
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
        shared: &GatewayState,
        speaks: &OwnedSpeaks,
    ) -> Result<Permit<ConnectionTarget>, Box<Denial>> {
        let targets = self
            .hosts
            .iter()
            .map(|host| self.target(host, speaks.clone()));
        self.permit_one(shared, targets)
    }

    /// The same for a web socket on a path.
    pub(super) fn permit_web_socket(
        &self,
        shared: &GatewayState,
        path: &str,
    ) -> Result<Permit<NetTarget>, Box<Denial>> {
        let mut targets = Vec::new();
        for host in &self.hosts {
            let named = Self::named(host.clone(), self.port);
            let url = format!("ws://{named}{path}");
            let target = NetTarget::parse(&url).map_err(|error| {
                let why = format!("the request cannot be judged: {error}");
                shared.refuse_because(Denial::new(CONNECT, url, why))
            })?;
            targets.push(target);
        }
        self.permit_one(shared, targets)
    }

    /// The permit for one of its names, if no rule denies another.
    fn permit_one<T: Target>(
        &self,
        shared: &GatewayState,
        targets: impl IntoIterator<Item = T>,
    ) -> Result<Permit<T>, Box<Denial>> {
        if shared.inner.refuses_all() {
            let why = "the audit log cannot be written";
            return Err(shared.refuse_because(Denial::new(CONNECT, self.to_string(), why)));
        }
        let mut permitted = None;
        let mut refused = None;
        for target in targets {
            match shared.inner.policy.permit(target) {
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
        shared: &'g GatewayState,
        permit: Permit<impl DialTarget>,
    ) -> Result<GatewayConnection<'g>, ConnectFailure> {
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
