//! Connections that programs make by themselves: what is known of them, and what rules on hosts
//! say about it.
//!
//! A program behind a gateway names no URL. What the gateway sees is the host (from the address that
//! it handed out), the port and, once the program speaks, the path of plain HTTP or that it is TLS.

use std::collections::HashMap;
use std::fmt;

use crate::Verdict;
use crate::decision::{Decision, Reason, Rule};
use crate::host::normalize_host;
use crate::index::{Index, IndexEntry, IndexHit, SEED, absorb};
use crate::net::{Authority, CompiledNetRule, NetTable, NetTarget, NetView, web_port};
use crate::policy::{Policy, RuleKind};
use crate::rules::DeclaredNetRule;
use crate::suggest::{Suggestion, suggested};
use crate::target::Target;

/// What is known of a connection that a program makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connection<'a> {
    /// The name that was looked up, or the address that was connected to, in any spelling.
    pub host: &'a str,
    /// The port.
    pub port: u16,
    /// What the program says on it.
    pub speaks: SpokenProtocol<'a>,
}

/// What a program says on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpokenProtocol<'a> {
    /// A plain HTTP request.
    Http {
        /// Its method.
        method: &'a str,
        /// Its path and query, as they go over the wire.
        path: &'a str,
    },
    /// TLS, whatever is inside.
    Tls,
    /// Something else.
    Other,
    /// Nothing was said yet.
    Unknown,
}

/// A connection that can be judged and permitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionTarget {
    /// The name that was looked up, or the address that was connected to.
    pub host: String,
    /// The port.
    pub port: u16,
    /// What the program says on it.
    pub speaks: OwnedSpeaks,
}

/// What a program says on a connection, kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnedSpeaks {
    /// A plain HTTP request.
    Http {
        /// Its method.
        method: String,
        /// Its path and query, as they go over the wire.
        path: String,
    },
    /// TLS, whatever is inside.
    Tls,
    /// Something else.
    Other,
    /// Nothing was said yet.
    Unknown,
}

impl ConnectionTarget {
    /// The connection, borrowed.
    pub fn connection(&self) -> Connection<'_> {
        Connection {
            host: &self.host,
            port: self.port,
            speaks: match &self.speaks {
                OwnedSpeaks::Http { method, path } => SpokenProtocol::Http { method, path },
                OwnedSpeaks::Tls => SpokenProtocol::Tls,
                OwnedSpeaks::Other => SpokenProtocol::Other,
                OwnedSpeaks::Unknown => SpokenProtocol::Unknown,
            },
        }
    }
}

impl From<Connection<'_>> for ConnectionTarget {
    fn from(connection: Connection<'_>) -> Self {
        Self {
            host: connection.host.to_owned(),
            port: connection.port,
            speaks: match connection.speaks {
                SpokenProtocol::Http { method, path } => OwnedSpeaks::Http {
                    method: method.to_owned(),
                    path: path.to_owned(),
                },
                SpokenProtocol::Tls => OwnedSpeaks::Tls,
                SpokenProtocol::Other => OwnedSpeaks::Other,
                SpokenProtocol::Unknown => OwnedSpeaks::Unknown,
            },
        }
    }
}

/// The URL of plain HTTP, host and port of all else.
impl fmt::Display for ConnectionTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (host, port) = (self.host.as_str(), self.port);
        match &self.speaks {
            OwnedSpeaks::Http { method, path } => {
                let target = NetTarget::on_the_wire(host, port, (method, path));
                write!(f, "{target}")
            }
            OwnedSpeaks::Tls | OwnedSpeaks::Other | OwnedSpeaks::Unknown => {
                write!(f, "{}", Authority { host, port })
            }
        }
    }
}

impl Target for ConnectionTarget {
    fn decide<'p>(&self, policy: &'p Policy) -> Decision<'p> {
        policy.decide_connection(&self.connection())
    }

    fn operation(&self) -> &'static str {
        "connect"
    }

    fn resource(&self) -> RuleKind {
        RuleKind::Net
    }

    fn suggestion(&self, policy: &Policy) -> Option<Suggestion> {
        Suggestion::of_net(needed_rules(policy, &self.connection())?)
    }

    fn why(&self, policy: &Policy, decision: &Decision<'_>) -> String {
        match (&self.speaks, normalize_host(&self.host)) {
            (OwnedSpeaks::Http { method, path }, Ok(host)) => {
                NetTarget::on_the_wire(&host, self.port, (method, path)).why(policy, decision)
            }
            _ => decision.why(self.operation()),
        }
    }
}

impl NetTable {
    pub(crate) fn decide_connection(&self, connection: &Connection<'_>) -> Decision<'_> {
        if self.rules().is_empty() {
            return Decision::uncovered(Reason::DefaultWithholds(RuleKind::Net), None);
        }
        let Ok(host) = normalize_host(connection.host) else {
            return Decision::uncovered(Reason::NoRule, None);
        };
        let port = connection.port;
        if let SpokenProtocol::Http { method, path } = connection.speaks {
            return self.decide(&NetTarget::on_the_wire(&host, port, (method, path)));
        }
        let on_host = self.on_host(&host);
        if on_host.is_empty() {
            return Decision::uncovered(Reason::NoRule, None);
        }
        match connection.speaks {
            SpokenProtocol::Tls => self.decide_tls(on_host, &host, port),
            _ => self.decide_other(on_host, &host, port),
        }
    }

    fn decide_tls(&self, on_host: OnHost, host: &str, port: u16) -> Decision<'_> {
        if on_host.has(OnHost::REQUESTS)
            && let Some(hit) = self.hidden_under_tls(on_host, host, port)
        {
            return Decision::deny(Reason::PathUnderTls, self.rule(hit));
        }
        let readings = self.readings_of_tls(on_host, host, port);
        let denial = readings.iter().find(|reading| reading.denies());
        let allowing = readings
            .iter()
            .find(|reading| reading.decision.is_allowed());
        match denial.or(allowing) {
            Some(reading) => reading.decision,
            None => Decision::uncovered(Reason::NoRule, None),
        }
    }

    /// The rule that would have to look into a TLS connection. There is none below a host on which another rule
    /// decides about all of them.
    fn hidden_under_tls(&self, on_host: OnHost, host: &str, port: u16) -> Option<IndexHit> {
        let find = |key, host| self.connections.find(key, host, port);
        for host in self.host_keys(host) {
            let hidden = find(NetRuleKey::RequestUnderTls, host);
            if hidden.is_some() {
                return hidden;
            }
            let of_https =
                || !on_host.has(OnHost::WSS) && find(NetRuleKey::AllHttps, host).is_some();
            if find(NetRuleKey::AllTls, host).is_some() || of_https() {
                return None;
            }
        }
        None
    }

    /// What the rules say of all that a TLS connection can be.
    fn readings_of_tls(&self, on_host: OnHost, host: &str, port: u16) -> [TlsAlternative<'_>; 3] {
        let web = |scheme| {
            self.decide_view(NetView {
                scheme,
                host,
                port,
                segments: &[],
                method: None,
            })
        };
        // Without a rule that names it, `wss` is what `https` is.
        let wss = match on_host.has(OnHost::WSS) {
            true => web("wss"),
            false => Decision::uncovered(Reason::NoRule, None),
        };
        [
            (web("https"), true),
            (wss, false),
            (self.decide_other(on_host, host, port), false),
        ]
        .map(|(decision, is_main)| TlsAlternative { decision, is_main })
    }

    fn decide_other(&self, on_host: OnHost, host: &str, port: u16) -> Decision<'_> {
        if !on_host.has(OnHost::REQUESTS) && !on_host.has(OnHost::OTHER) {
            return Decision::uncovered(Reason::NoRule, None);
        }
        for host in self.host_keys(host) {
            if let Some(hit) = self.connections.find(NetRuleKey::RequestUnseen, host, port) {
                return Decision::deny(Reason::PathUnseen, self.rule(hit));
            }
            let hit = self.connections.find(NetRuleKey::Other, host, port);
            if hit.is_some() {
                return self.decide_by(hit);
            }
        }
        Decision::uncovered(Reason::NoRule, None)
    }

    pub(crate) fn speaks_of_host(&self, host: &str) -> bool {
        normalize_host(host).is_ok_and(|host| self.on_host(&host).has(OnHost::ALLOWED))
    }

    /// What all the rules that speak of a host are about.
    fn on_host(&self, host: &str) -> OnHost {
        let found = self.host_keys(host);
        found.fold(OnHost::default(), |all, host| {
            OnHost(all.0 | self.connections.on_host(host).0)
        })
    }

    fn rule(&self, hit: IndexHit) -> Option<Rule<'_>> {
        self.rules().get(hit.value as usize).map(Rule::Net)
    }
}

/// One of the things that a TLS connection can be.
struct TlsAlternative<'p> {
    decision: Decision<'p>,
    /// Whether it is what TLS mostly is.
    is_main: bool,
}

impl TlsAlternative<'_> {
    /// Whether the connection is refused for this reading alone. A rule that names no scheme speaks
    /// of them all; what it denies, one that names the scheme may allow. A rule that names `wss`, say,
    /// can only be held by refusing the connection that may be one.
    fn denies(&self) -> bool {
        let names_scheme = match self.decision.rule {
            Some(Rule::Net(rule)) => rule.scheme.is_some(),
            _ => false,
        };
        self.decision.verdict == Verdict::Deny
            && (self.is_main || names_scheme && matches!(self.decision.reason, Reason::Withheld))
    }
}

/// What decides about connections of which no URL is known, by host and port.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConnectionTable {
    index: Index,
}

impl ConnectionTable {
    pub(crate) fn compile(rules: &[CompiledNetRule]) -> Self {
        // The last entry of a key counts, so the most specific rules go last.
        let mut ranked: Vec<(u32, &CompiledNetRule)> = (0..).zip(rules).collect();
        ranked.sort_by_key(|(_, rule)| rule.specificity());
        let mut hosts: HashMap<&str, OnHost> = HashMap::with_capacity(rules.len());
        for rule in rules {
            let on_host = hosts.entry(rule.host_key()).or_default();
            on_host.0 |= OnHost::of(rule).0;
        }
        let entry = |key: NetRuleKey, host: &str, port: u16, value: u32, bits: u8| IndexEntry {
            hash: key.hash(host, port),
            key: key.bytes(host, port),
            value,
            bits,
        };
        let on_hosts = hosts
            .iter()
            .map(|(host, on_host)| entry(NetRuleKey::Host, host, 0, 0, on_host.0));
        let on_ports = ranked.into_iter().flat_map(|(value, rule)| {
            let allow = u8::from(rule.allow());
            keys_of(rule).map(move |(key, port)| entry(key, rule.host_key(), port, value, allow))
        });
        Self {
            index: Index::build(on_hosts.chain(on_ports)),
        }
    }

    fn on_host(&self, host: &str) -> OnHost {
        let hit = self.find(NetRuleKey::Host, host, 0);
        OnHost(hit.map_or(0, |hit| hit.bits))
    }

    fn find(&self, key: NetRuleKey, host: &str, port: u16) -> Option<IndexHit> {
        self.index
            .find(key.hash(host, port), |bytes| key.is(bytes, host, port))
    }
}

/// What the rules on a host are about, so that most of them need no other look.
#[derive(Debug, Clone, Copy, Default)]
struct OnHost(u8);

impl OnHost {
    /// Some rule is on the host.
    const RULE: u8 = 1;
    /// Some rule allows something.
    const ALLOWED: u8 = 2;
    /// Some rule looks at paths or methods.
    const REQUESTS: u8 = 4;
    /// Some rule names the scheme `wss`.
    const WSS: u8 = 8;
    /// Some rule speaks of what is neither HTTP nor TLS.
    const OTHER: u8 = 16;

    fn of(rule: &CompiledNetRule) -> Self {
        let bits = [
            (true, Self::RULE),
            (rule.allow(), Self::ALLOWED),
            (rule.looks_at_requests(), Self::REQUESTS),
            (rule.scheme.as_deref() == Some("wss"), Self::WSS),
            (is_on_other(rule), Self::OTHER),
        ];
        let held = bits.iter().filter(|(holds, _)| *holds);
        Self(held.fold(0, |all, (_, bit)| all | bit))
    }

    fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }

    fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// What is looked up by host and port.
#[derive(Debug, Clone, Copy)]
enum NetRuleKey {
    /// What there is on the host; the port plays no part.
    Host,
    /// The rule on what is neither HTTP nor TLS.
    Other,
    /// A rule on paths or methods that TLS hides.
    RequestUnderTls,
    /// A rule on paths or methods that only HTTP shows.
    RequestUnseen,
    /// A rule on all that TLS can be.
    AllTls,
    /// A rule on all `https`.
    AllHttps,
}

impl NetRuleKey {
    fn hash(self, host: &str, port: u16) -> u64 {
        absorb(absorb(SEED, &self.head(port)), host.as_bytes())
    }

    fn bytes(self, host: &str, port: u16) -> Vec<u8> {
        [self.head(port).as_slice(), host.as_bytes()].concat()
    }

    fn is(self, bytes: &[u8], host: &str, port: u16) -> bool {
        bytes.strip_prefix(&self.head(port)) == Some(host.as_bytes())
    }

    fn head(self, port: u16) -> [u8; 3] {
        let [low, high] = port.to_le_bytes();
        [self as u8, low, high]
    }
}

/// Whether a rule speaks of what is neither HTTP nor TLS: by a port, or by a scheme that is not of the web.
fn is_on_other(rule: &CompiledNetRule) -> bool {
    match rule.scheme.as_deref() {
        None => rule.declared.port.is_some(),
        Some(scheme) => web_port(scheme).is_none(),
    }
}

/// All under which a rule is found.
fn keys_of(rule: &CompiledNetRule) -> impl Iterator<Item = (NetRuleKey, u16)> {
    let on_requests = rule.looks_at_requests();
    let names_scheme = rule.scheme.is_some();
    let https = rule.scheme.as_deref() == Some("https");
    let plain = matches!(rule.scheme.as_deref(), Some("http" | "ws"));
    let both = rule.scheme.is_none() && rule.declared.port.is_none();
    let on_other = is_on_other(rule);
    let on_ports = rule.ports().flat_map(move |port| {
        // Without scheme and port it is about the web, of which only 443 is TLS.
        let plain = plain || both && port == HTTP_PORT;
        [
            (on_other && !on_requests).then_some((NetRuleKey::Other, port)),
            (on_requests && !plain).then_some((NetRuleKey::RequestUnderTls, port)),
            on_requests.then_some((NetRuleKey::RequestUnseen, port)),
            (!on_requests && !plain && !names_scheme).then_some((NetRuleKey::AllTls, port)),
            (!on_requests && https).then_some((NetRuleKey::AllHttps, port)),
        ]
    });
    on_ports.flatten()
}

/// The rules to add for a connection that is refused; `None` if none would help.
fn needed_rules(policy: &Policy, connection: &Connection<'_>) -> Option<Vec<DeclaredNetRule>> {
    let decision = policy.decide_connection(connection);
    let host = normalize_host(connection.host).ok()?;
    let port = connection.port;
    let hidden = matches!(decision.reason, Reason::PathUnderTls | Reason::PathUnseen);
    if decision.is_allowed() || hidden || port == 0 {
        return None;
    }
    if let SpokenProtocol::Http { method, path } = connection.speaks {
        let target = NetTarget::on_the_wire(&host, port, (method, path));
        let mut rules = Suggestion::for_url(policy, &target)?.rules().net.clone();
        let looks_inside =
            |rule: &&mut DeclaredNetRule| rule.path_prefix.is_some() || rule.methods.is_some();
        for rule in rules.iter_mut().filter(looks_inside) {
            // On a path of any scheme, the rule would take TLS to this host away.
            rule.scheme = Some("http".to_owned());
        }
        return Some(rules);
    }
    let is_tls = connection.speaks == SpokenProtocol::Tls;
    let mut denying: Vec<&CompiledNetRule> = Vec::new();
    if is_tls {
        let on_host = policy.net.on_host(&host);
        let readings = policy.net.readings_of_tls(on_host, &host, port);
        let denials = readings.iter().filter(|reading| reading.denies());
        denying.extend(denials.filter_map(|reading| net_rule(&reading.decision)));
    } else {
        denying.extend(net_rule(&decision));
    }
    let rule = |scheme: Option<String>, port: Option<u16>| DeclaredNetRule {
        host: host.clone(),
        scheme,
        port,
        path_prefix: None,
        methods: None,
        allow: true,
        origin: suggested(),
    };
    if denying.is_empty() {
        return Some(vec![match (is_tls, port) {
            (true, HTTPS_PORT) => rule(None, None),
            (false, SSH_PORT) => rule(Some("ssh".to_owned()), None),
            _ => rule(None, Some(port)),
        }]);
    }
    // As specific as what denies, and declared later.
    let opposed = denying
        .into_iter()
        .map(|denying| rule(denying.scheme.clone(), denying.declared.port));
    Some(opposed.collect())
}

fn net_rule<'p>(decision: &Decision<'p>) -> Option<&'p CompiledNetRule> {
    match decision.rule {
        Some(Rule::Net(rule)) => Some(rule),
        _ => None,
    }
}

const SSH_PORT: u16 = 22;
const HTTP_PORT: u16 = 80;
const HTTPS_PORT: u16 = 443;

#[cfg(test)]
mod tests;
