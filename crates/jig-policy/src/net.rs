//! Rules on hosts and URLs, compiled, and the targets that they are compared with.

use std::fmt;

use percent_encoding::{CONTROLS, percent_decode_str, utf8_percent_encode};
use url::Url;

use crate::connection::ConnectionTable;
use crate::decision::{Decision, Reason, Rule};
use crate::host::{Wildcards, check_method, keys, keys_among, normalize_host, normalize_pattern};
use crate::index::{Index, IndexEntry, IndexHit, Levels, SEED, absorb};
use crate::policy::{RuleError, RuleErrorKind, RuleKind};
use crate::rules::{DeclaredNetRule, RuleOrigin};

/// A rule with its host, scheme, path and methods in normal form.
#[derive(Debug, Clone)]
pub struct CompiledNetRule {
    pub(crate) declared: DeclaredNetRule,
    pub(crate) host: String,
    pub(crate) scheme: Option<String>,
    pub(crate) segments: Vec<String>,
    /// In upper case; empty if it is about all of them.
    pub(crate) methods: Vec<String>,
}

impl CompiledNetRule {
    /// The host in ASCII, lower case; `*.example.com` for all names below one, `*` for all names.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether the rule is on this host, which is in normal form.
    pub fn speaks_of(&self, host: &str) -> bool {
        keys(host).any(|key| key == self.host_key())
    }

    /// A host that the rule is on: of many a name that no other rule is likely to be on.
    pub fn example_host(&self) -> String {
        match self.host.strip_prefix('*') {
            None => self.host.clone(),
            Some(domain) => format!(
                "any-name{}",
                if domain.is_empty() {
                    ".example"
                } else {
                    domain
                }
            ),
        }
    }

    /// The host as it is looked up; see [`crate::host`].
    pub(crate) fn host_key(&self) -> &str {
        crate::host::key_of(&self.host)
    }

    /// Whether the rule looks at what only the request itself tells: its path or its method.
    pub fn looks_at_requests(&self) -> bool {
        !self.segments.is_empty() || !self.methods.is_empty()
    }

    /// Whether it allows what it matches.
    pub fn allow(&self) -> bool {
        self.declared.allow
    }

    /// Where it was declared.
    pub fn origin(&self) -> &RuleOrigin {
        &self.declared.origin
    }

    /// The rule as it was declared.
    pub fn declared(&self) -> &DeclaredNetRule {
        &self.declared
    }

    /// The scheme, the port, the methods and each path segment count one.
    pub fn specificity(&self) -> usize {
        usize::from(self.scheme.is_some())
            + usize::from(self.declared.port.is_some())
            + usize::from(!self.methods.is_empty())
            + self.segments.len()
    }

    /// What ranks rules that match the same target: an exact host before `*.domain`, a longer domain before
    /// a shorter one, any before `*`; then [`CompiledNetRule::specificity`].
    pub(crate) fn rank(&self) -> (usize, usize) {
        (crate::host::rank_of(&self.host), self.specificity())
    }

    /// The ports that it speaks of: its own, that of its scheme, or those of the web.
    pub fn ports(&self) -> impl Iterator<Item = u16> + use<> {
        let ports = match (self.declared.port, &self.scheme) {
            (Some(port), _) => [Some(port), None],
            (None, Some(scheme)) => [default_port(scheme), None],
            (None, None) => [web_port("http"), web_port("https")],
        };
        ports.into_iter().flatten()
    }

    /// Whether the rule speaks of `target`.
    pub fn matches(&self, target: &NetTarget) -> bool {
        let is_of = |method: &String| self.methods.contains(method);
        self.matches_but_for_method(target)
            && (self.methods.is_empty() || target.method.as_ref().is_some_and(is_of))
    }

    /// Whether the rule speaks of `target`, whatever methods it is on.
    pub(crate) fn matches_but_for_method(&self, target: &NetTarget) -> bool {
        self.speaks_of(&target.host)
            && self
                .scheme
                .as_deref()
                .is_none_or(|scheme| scheme == target.scheme)
            && match self.declared.port {
                Some(port) => port == target.port,
                None => target.view().is_default_port(self.scheme.is_some()),
            }
            && target.segments.starts_with(&self.segments)
    }

    fn compile(declared: &DeclaredNetRule) -> Result<Self, NetRuleError> {
        let host = normalize_pattern(&declared.host)?;
        let scheme = match &declared.scheme {
            Some(scheme) => Some(normalize_scheme(scheme)?),
            None => None,
        };
        if let Some(scheme) = &scheme
            && declared.port.is_none()
            && default_port(scheme).is_none()
        {
            return Err(NetRuleError::NoDefaultPort(scheme.clone()));
        }
        if declared.port == Some(0) {
            return Err(NetRuleError::PortZero);
        }
        let segments = match &declared.path_prefix {
            Some(prefix) => normalize_prefix(prefix)?,
            None => Vec::new(),
        };
        let methods = match &declared.methods {
            Some(methods) => normalize_methods(methods, scheme.as_deref())?,
            None => Vec::new(),
        };
        Ok(Self {
            declared: declared.clone(),
            host,
            scheme,
            segments,
            methods,
        })
    }

    /// What the rule is found by: one place for each of its methods.
    fn places(&self) -> impl Iterator<Item = KeyPlace<'_>> {
        let methods = self.methods.iter().map(|method| Some(method.as_str()));
        let any = self.methods.is_empty().then_some(None);
        methods.chain(any).map(|method| KeyPlace {
            host: self.host_key(),
            scheme: self.scheme.as_deref(),
            port: self.declared.port,
            method,
        })
    }
}

impl fmt::Display for CompiledNetRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.declared.allow {
            "allow `"
        } else {
            "deny `"
        })?;
        if !self.methods.is_empty() {
            write!(f, "{} ", self.methods.join(","))?;
        }
        if let Some(scheme) = &self.scheme {
            write!(f, "{scheme}://")?;
        }
        f.write_str(&self.declared.host)?;
        if let Some(port) = self.declared.port {
            write!(f, ":{port}")?;
        }
        if let Some(prefix) = &self.declared.path_prefix {
            f.write_str(prefix)?;
        }
        f.write_str("`")
    }
}

/// A URL in the form in which rules are compared with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetTarget {
    text: String,
    scheme: String,
    host: String,
    port: u16,
    segments: Vec<String>,
    ambiguous: bool,
    /// In upper case; none for what is no request of HTTP.
    method: Option<String>,
}

impl NetTarget {
    /// Reads a URL. Its user name, password, query and fragment play no part. To ask for a URL of the web is to
    /// ask for it with `GET`; see [`NetTarget::with_method`].
    pub fn parse(url: &str) -> Result<Self, NetTargetError> {
        let parsed = Url::parse(url).map_err(NetTargetError::Url)?;
        Self::from_url(&parsed)
    }

    /// The same from a URL that is parsed already.
    pub fn from_url(url: &Url) -> Result<Self, NetTargetError> {
        let host = url.host_str().filter(|host| !host.is_empty());
        let host = host.ok_or_else(|| NetTargetError::NoHost(url.scheme().to_owned()))?;
        // Hosts of schemes that browsers don't know are left as they are by the parser.
        let host = normalize_host(host).map_err(NetTargetError::Host)?;
        let scheme = url.scheme().to_owned();
        let port = match url.port().or_else(|| default_port(&scheme)) {
            Some(port) => port,
            None => return Err(NetTargetError::NoPort(scheme)),
        };
        let (segments, ambiguous) = path_segments(url.path());
        let method = web_port(&scheme).map(|_| "GET".to_owned());
        Ok(Self {
            text: without_credentials(url),
            scheme,
            host,
            port,
            segments,
            ambiguous,
            method,
        })
    }

    /// The same URL, asked for with another method. What is no URL of the web has none.
    #[must_use]
    pub fn with_method(mut self, method: &str) -> Self {
        if let Some(own) = &mut self.method {
            *own = method.to_ascii_uppercase();
        }
        self
    }

    /// What a plain HTTP request asks for. `host` is in normal form; `path` is the path and query as
    /// they go over the wire, where nobody resolves `..` before the server does, so that one with
    /// dots can be read in two ways.
    pub(crate) fn on_the_wire(host: &str, port: u16, (method, path): (&str, &str)) -> Self {
        let (on_paths, query) = match path.split_once('?') {
            Some((on_paths, query)) => (on_paths, Some(query)),
            None => (path, None),
        };
        let (segments, ambiguous) = path_segments(on_paths);
        let odd = !on_paths.is_empty() && !on_paths.starts_with('/')
            || on_paths.contains(|c: char| c == '#' || c.is_ascii_control() || c == ' ');
        let mut text = match (host.contains(':'), web_port("http") == Some(port)) {
            (false, true) => format!("http://{host}"),
            (true, true) => format!("http://[{host}]"),
            (_, false) => format!("http://{}", Authority { host, port }),
        };
        text.push_str(if on_paths.starts_with('/') { "" } else { "/" });
        text.extend(utf8_percent_encode(on_paths, CONTROLS));
        if let Some(query) = query {
            text.push('?');
            text.extend(utf8_percent_encode(query, CONTROLS));
        }
        Self {
            text,
            scheme: "http".to_owned(),
            host: host.to_owned(),
            port,
            segments,
            ambiguous: ambiguous || odd,
            method: Some(method.to_ascii_uppercase()),
        }
    }

    /// The host in ASCII, lower case, without brackets or a final dot.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The scheme.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The port, the scheme's own if the URL names none.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The decoded segments of the path, without empty ones.
    pub fn segments(&self) -> &[String] {
        &self.segments
    }

    /// Whether servers may disagree about which segments the path has: an encoded slash or dot
    /// segment, a backslash, parameters after a `;`, or bytes that are no text.
    pub fn is_ambiguous(&self) -> bool {
        self.ambiguous
    }

    /// The method in upper case, if it is a request of HTTP.
    pub fn method(&self) -> Option<&str> {
        self.method.as_deref()
    }

    fn view(&self) -> NetView<'_> {
        NetView {
            scheme: &self.scheme,
            host: &self.host,
            port: self.port,
            segments: &self.segments,
            method: self.method.as_deref(),
        }
    }
}

impl fmt::Display for NetTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What rules are compared with, borrowed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NetView<'a> {
    pub(crate) scheme: &'a str,
    pub(crate) host: &'a str,
    pub(crate) port: u16,
    pub(crate) segments: &'a [String],
    /// The method, if it is known.
    pub(crate) method: Option<&'a str>,
}

impl NetView<'_> {
    /// Whether the port is the one that the scheme stands for. Unless a rule names the scheme, only
    /// the web's schemes count: a rule on a host alone opens 80 and 443, not ssh.
    fn is_default_port(self, scheme_named: bool) -> bool {
        let known = if scheme_named {
            default_port(self.scheme)
        } else {
            web_port(self.scheme)
        };
        known == Some(self.port)
    }
}

/// A host and a port as they stand in a URL.
pub(crate) struct Authority<'a> {
    pub(crate) host: &'a str,
    pub(crate) port: u16,
}

impl fmt::Display for Authority<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct NetTable {
    rules: Vec<CompiledNetRule>,
    index: Index,
    /// The numbers of path segments that occur, by whether scheme, port and methods are given.
    levels: [Levels; SHAPES],
    /// Which hosts besides exact ones rules are on.
    wildcards: Wildcards,
    /// Hosts for which some rule looks at paths.
    path_hosts: Index,
    /// What is known of connections that name no URL.
    pub(crate) connections: ConnectionTable,
}

impl NetTable {
    pub(crate) fn compile(declared: &[DeclaredNetRule], errors: &mut Vec<RuleError>) -> Self {
        let mut rules = Vec::with_capacity(declared.len());
        for (index, rule) in declared.iter().enumerate() {
            match CompiledNetRule::compile(rule) {
                Ok(compiled) => rules.push(compiled),
                Err(error) => errors.push(RuleError {
                    resource: RuleKind::Net,
                    index,
                    origin: rule.origin.clone(),
                    kind: RuleErrorKind::Net(error),
                }),
            }
        }
        let mut levels = [Levels::default(); SHAPES];
        let wildcards = Wildcards::of(&rules);
        let places = (0_u32..)
            .zip(&rules)
            .flat_map(|(value, rule)| rule.places().map(move |place| (value, rule, place)));
        let index = Index::build(places.map(|(value, rule, place)| {
            levels[place.shape()].insert(rule.segments.len());
            IndexEntry {
                hash: place.hash(&rule.segments),
                key: place.key(&rule.segments),
                value,
                bits: u8::from(rule.declared.allow),
            }
        }));
        let with_paths = rules.iter().filter(|rule| !rule.segments.is_empty());
        let path_hosts = Index::build(with_paths.map(|rule| IndexEntry {
            hash: absorb(SEED, rule.host_key().as_bytes()),
            key: rule.host_key().as_bytes().to_vec(),
            value: 0,
            bits: 0,
        }));
        let connections = ConnectionTable::compile(&rules);
        Self {
            rules,
            index,
            levels,
            wildcards,
            path_hosts,
            connections,
        }
    }

    pub(crate) fn rules(&self) -> &[CompiledNetRule] {
        &self.rules
    }

    pub(crate) fn decide(&self, target: &NetTarget) -> Decision<'_> {
        if self.rules.is_empty() {
            return Decision::uncovered(Reason::DefaultWithholds(RuleKind::Net), None);
        }
        if target.ambiguous && self.looks_at_paths(target) {
            return Decision::deny(Reason::AmbiguousPath, None);
        }
        self.decide_view(target.view())
    }

    /// The decision by the rules that match, without a look at how the path is written.
    pub(crate) fn decide_view(&self, view: NetView<'_>) -> Decision<'_> {
        self.decide_by(self.winner(view))
    }

    /// What the rule behind a hit says, whose bits tell whether it allows.
    pub(crate) fn decide_by(&self, hit: Option<IndexHit>) -> Decision<'_> {
        let Some(hit) = hit else {
            return Decision::uncovered(Reason::NoRule, None);
        };
        let rule = self.rules.get(hit.value as usize).map(Rule::Net);
        match rule {
            Some(rule) if hit.bits != 0 => Decision::allow(rule),
            rule => Decision::deny(Reason::Withheld, rule),
        }
    }

    /// The keys under which rules may speak of a host, the most specific first, but for those that no rule has.
    pub(crate) fn host_keys<'h>(&self, host: &'h str) -> impl Iterator<Item = &'h str> + use<'h> {
        keys_among(host, self.wildcards)
    }

    fn looks_at_paths(&self, target: &NetTarget) -> bool {
        self.host_keys(&target.host).any(|host| {
            let hash = absorb(SEED, host.as_bytes());
            let found = self.path_hosts.find(hash, |key| key == host.as_bytes());
            found.is_some()
        })
    }

    /// The rule on the most specific host; of several the most specific, of equals the last.
    fn winner(&self, target: NetView<'_>) -> Option<IndexHit> {
        self.host_keys(target.host)
            .find_map(|host| self.winner_on(host, target))
    }

    /// The most specific of the rules on one key of a host; of several equally specific ones the last.
    pub(crate) fn winner_on(&self, host: &str, target: NetView<'_>) -> Option<IndexHit> {
        let mut best: Option<(usize, IndexHit)> = None;
        for (number, levels) in self.levels.iter().enumerate() {
            let [with_scheme, with_port, with_method] = [1, 2, 4].map(|bit| number & bit != 0);
            if levels.is_empty()
                || (!with_port && !target.is_default_port(with_scheme))
                || (with_method && target.method.is_none())
            {
                continue;
            }
            let place = KeyPlace {
                host,
                scheme: with_scheme.then_some(target.scheme),
                port: with_port.then_some(target.port),
                method: target.method.filter(|_| with_method),
            };
            let named = [with_scheme, with_port, with_method].into_iter();
            let named = named.map(usize::from).sum::<usize>();
            let mut state = place.hash(&[]);
            for count in 0..=target.segments.len() {
                if count > 0 {
                    state = absorb(state, target.segments[count - 1].as_bytes());
                }
                if !levels.may_hold(count) {
                    continue;
                }
                let segments = &target.segments[..count];
                let hit = self.index.find(state, |key| place.is_key(key, segments));
                if let Some(hit) = hit {
                    let specificity = named + count;
                    let better = best.is_none_or(|(other, earlier)| {
                        (other, earlier.value) < (specificity, hit.value)
                    });
                    if better {
                        best = Some((specificity, hit));
                    }
                }
            }
        }
        best.map(|(_, hit)| hit)
    }
}

/// Where rules are found, but for the segments of their paths.
#[derive(Debug, Clone, Copy)]
struct KeyPlace<'a> {
    host: &'a str,
    scheme: Option<&'a str>,
    port: Option<u16>,
    method: Option<&'a str>,
}

impl KeyPlace<'_> {
    fn shape(self) -> usize {
        usize::from(self.scheme.is_some())
            | usize::from(self.port.is_some()) << 1
            | usize::from(self.method.is_some()) << 2
    }

    fn head(self, count: usize) -> [u8; 12] {
        let mut head = [0; 12];
        head[0] = self.shape() as u8;
        head[1..3].copy_from_slice(&self.port.unwrap_or(0).to_le_bytes());
        head[4..].copy_from_slice(&(count as u64).to_le_bytes());
        head
    }

    fn hash(self, segments: &[String]) -> u64 {
        let state = absorb(SEED, self.host.as_bytes());
        let state = absorb(state, self.scheme.unwrap_or("").as_bytes());
        let state = absorb(state, &self.port.unwrap_or(0).to_le_bytes());
        let start = match self.method {
            Some(method) => absorb(state, method.as_bytes()),
            None => state,
        };
        let absorbed = |state, segment: &String| absorb(state, segment.as_bytes());
        segments.iter().fold(start, absorbed)
    }

    /// The rule's side of [`KeyPlace::is_key`].
    fn key(self, segments: &[String]) -> Vec<u8> {
        let mut key = self.head(segments.len()).to_vec();
        key.extend(self.host.as_bytes());
        let segments = segments.iter().map(String::as_str);
        for part in self.scheme.into_iter().chain(self.method).chain(segments) {
            key.push(0);
            key.extend(part.as_bytes());
        }
        key
    }

    /// Whether a rule with this key is at this place, with these segments.
    ///
    /// The parts are separated by NUL, which a rule cannot hold; the count before them keeps a target
    /// that does hold one from passing for more segments than it has.
    fn is_key(self, key: &[u8], segments: &[String]) -> bool {
        let rest = key.strip_prefix(self.head(segments.len()).as_slice());
        let mut rest = rest.and_then(|rest| rest.strip_prefix(self.host.as_bytes()));
        let segments = segments.iter().map(String::as_str);
        for part in self.scheme.into_iter().chain(self.method).chain(segments) {
            rest = rest
                .and_then(|rest| rest.strip_prefix(&[0]))
                .and_then(|rest| rest.strip_prefix(part.as_bytes()));
        }
        rest.is_some_and(<[u8]>::is_empty)
    }
}

/// Whether scheme, port and methods are given.
const SHAPES: usize = 8;

/// The URL as it is shown: a password in it is nobody's business.
fn without_credentials(url: &Url) -> String {
    let mut shown = url.clone();
    // Both fail only for URLs that cannot have credentials.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.to_string()
}

fn normalize_scheme(scheme: &str) -> Result<String, NetRuleError> {
    let valid = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    if !valid {
        return Err(NetRuleError::Scheme(scheme.to_owned()));
    }
    Ok(scheme.to_ascii_lowercase())
}

fn normalize_methods(
    methods: &[String],
    scheme: Option<&str>,
) -> Result<Vec<String>, NetRuleError> {
    if methods.is_empty() {
        return Err(NetRuleError::NoMethods);
    }
    if let Some(scheme) = scheme.filter(|scheme| web_port(scheme).is_none()) {
        return Err(NetRuleError::MethodsOfScheme(scheme.to_owned()));
    }
    methods.iter().map(|method| check_method(method)).collect()
}

fn normalize_prefix(prefix: &str) -> Result<Vec<String>, NetRuleError> {
    if !prefix.starts_with('/') || prefix.contains(['?', '#']) {
        return Err(NetRuleError::PathPrefix(prefix.to_owned()));
    }
    // The same parser as for targets, so that dots and odd characters come out the same.
    let url = Url::parse(&format!("http://host{prefix}"))
        .map_err(|_| NetRuleError::PathPrefix(prefix.to_owned()))?;
    let (segments, ambiguous) = path_segments(url.path());
    if ambiguous {
        return Err(NetRuleError::PathPrefix(prefix.to_owned()));
    }
    Ok(segments)
}

/// The decoded, non-empty segments of a URL's path, and whether it can be read in another way.
///
/// `/%61dmin` and `//admin` are `/admin` to many servers, so they are to us.
fn path_segments(path: &str) -> (Vec<String>, bool) {
    let mut ambiguous = false;
    let mut segments = Vec::new();
    for segment in path.split('/') {
        let decoded = percent_decode_str(segment);
        // Bytes that are no text all look alike once they are decoded.
        ambiguous |= decoded.clone().decode_utf8().is_err();
        let decoded = decoded.decode_utf8_lossy();
        if decoded.is_empty() {
            continue;
        }
        ambiguous |= decoded.contains(['/', '\\', ';', '\0'])
            || decoded == "."
            || decoded == ".."
            || decoded.contains('%');
        segments.push(decoded.into_owned());
    }
    (segments, ambiguous)
}

/// The port that a scheme stands for, where there is one.
fn default_port(scheme: &str) -> Option<u16> {
    web_port(scheme).or(match scheme {
        "ftp" => Some(21),
        "ssh" | "sftp" => Some(22),
        "git" => Some(9418),
        "ldap" => Some(389),
        "ldaps" => Some(636),
        "imaps" => Some(993),
        "smtps" => Some(465),
        "postgres" | "postgresql" => Some(5432),
        "mysql" => Some(3306),
        "redis" => Some(6379),
        "amqp" => Some(5672),
        "nats" => Some(4222),
        _ => None,
    })
}

pub(crate) fn web_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" | "ws" => Some(80),
        "https" | "wss" => Some(443),
        _ => None,
    }
}

/// Why a net rule cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetRuleError {
    /// No host at all.
    #[error("`host` is empty")]
    EmptyHost,
    /// Not a host: perhaps a URL, or a host with a port.
    #[error("`{0}` is not a host")]
    Host(String),
    /// A `*` where hosts have none.
    #[error(
        "`{0}`: `*` stands alone for all names, or as `*.` before a domain for all names below it"
    )]
    Wildcard(String),
    /// A list of methods that is empty.
    #[error("`methods` is empty, so that the rule matches nothing")]
    NoMethods,
    /// Not a method, or one that cannot be allowed.
    #[error("`{0}` is not a method that a request can have")]
    Method(String),
    /// Methods of something that has none.
    #[error("`{0}` has no methods, only `http`, `https`, `ws` and `wss` have")]
    MethodsOfScheme(String),
    /// Not a scheme.
    #[error("`{0}` is not a URL scheme")]
    Scheme(String),
    /// A scheme whose port we don't know.
    #[error("scheme `{0}` has no known port")]
    NoDefaultPort(String),
    /// Port 0.
    #[error("port 0 cannot be connected to")]
    PortZero,
    /// Not a path that begins with `/`.
    #[error("`path_prefix` `{0}` is not a plain path that begins with `/`")]
    PathPrefix(String),
}

/// Why a text is no target for net rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetTargetError {
    /// It is not a URL.
    #[error("it is not a URL")]
    Url(#[source] url::ParseError),
    /// The URL names no host.
    #[error("a `{0}:` URL names no host")]
    NoHost(String),
    /// The host is not one.
    #[error(transparent)]
    Host(NetRuleError),
    /// Neither the URL nor its scheme names a port.
    #[error("scheme `{0}` has no known port, and the URL names none")]
    NoPort(String),
}

#[cfg(test)]
pub(crate) mod tests;
