//! The rules once more, as plainly as they can be written: every rule is looked at for every
//! target, one after the other. No hashing, no index, no order of evaluation that saves work.
//!
//! Where the document on access grants is silent or was settled differently, the comment says so.

pub(crate) mod connections;
pub(crate) mod links;
pub(crate) mod tree;

use jig_policy::{
    Capability, Decision, EnvUse, FileCapabilities, GuardKind, GuardLevel, GuardLine, MovedEntry,
    ProtectionLevel, Reason, Verdict,
};
use jig_policy::{DeclaredCommandRule, DeclaredEnvRule, DeclaredNetRule};

use self::tree::Names;

/// An answer in a form that can be compared: verdict, kind of reason, origin of the rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) verdict: Verdict,
    pub(crate) reason: &'static str,
    pub(crate) rule: Option<String>,
}

impl Answer {
    fn new(verdict: Verdict, reason: &'static str, rule: Option<String>) -> Self {
        Self {
            verdict,
            reason,
            rule,
        }
    }

    /// What the crate answered, in the same form.
    pub(crate) fn of(decision: &Decision<'_>) -> Self {
        Self {
            verdict: decision.verdict,
            reason: reason_name(&decision.reason),
            rule: decision.rule.map(|rule| rule.origin().to_string()),
        }
    }

    /// Two questions of which both must be allowed. What is denied stays denied even if somebody
    /// approves the rest, so a denial comes before what is only uncovered.
    fn and(self, other: Self) -> Self {
        let worst = [Verdict::Deny, Verdict::Uncovered]
            .into_iter()
            .find(|bad| self.verdict == *bad || other.verdict == *bad);
        if worst == Some(self.verdict) {
            self
        } else {
            other
        }
    }
}

pub(crate) fn reason_name(reason: &Reason<'_>) -> &'static str {
    match reason {
        Reason::Granted => "granted",
        Reason::Withheld => "withheld",
        Reason::DefaultWithholds(_) => "default withholds",
        Reason::NoRule => "no rule",
        Reason::NotFollowed(_) => "not followed",
        Reason::LinkAtRule => "link at rule",
        Reason::Sensitive(_) => "sensitive",
        Reason::SensitiveBelow(_) => "sensitive below",
        Reason::Protected(_) => "protected",
        Reason::NamedOnly(_) => "named only",
        Reason::ProtectedBelow(_) => "protected below",
        Reason::RestrictedBelow => "restricted below",
        Reason::ExactNameOnly(_) => "exact name only",
        Reason::Arguments => "arguments",
        Reason::AmbiguousPath => "ambiguous path",
        Reason::PathUnderTls => "path under TLS",
        Reason::PathUnseen => "path unseen",
        _ => "unknown",
    }
}

/// Rules on files with canonical paths, and what stands above them.
pub(crate) struct Files {
    pub(crate) rules: Vec<FilesRule>,
    pub(crate) protected: Vec<(Names, ProtectionLevel)>,
    pub(crate) patterns: Vec<PlainPattern>,
    /// The lines of the table that protect at any depth.
    pub(crate) lines: Vec<PlainLine>,
}

/// A pattern as plain names, and whether it holds at the root only.
pub(crate) struct PlainPattern {
    anchored: bool,
    globs: Vec<String>,
}

impl PlainPattern {
    pub(crate) fn of(pattern: &str) -> Self {
        let globs = pattern.trim_start_matches('/').split('/');
        let globs = globs.filter(|name| !name.is_empty() && *name != "**");
        Self {
            anchored: pattern.starts_with('/') && !pattern.starts_with("/**/"),
            globs: globs.map(plain).collect(),
        }
    }

    /// Whether these names end with the pattern.
    fn ends(&self, names: &[String]) -> bool {
        let above = names.len().checked_sub(self.globs.len());
        above.is_some_and(|above| {
            (!self.anchored || above == 0) && all_match(&self.globs, &names[above..])
        })
    }

    /// The parts of the pattern that would lie below a path with these names.
    fn below(&self, names: &[String]) -> Vec<&[String]> {
        let counts = (1..self.globs.len()).filter(|count| {
            let above = names.len().checked_sub(*count);
            above.is_some_and(|above| {
                (!self.anchored || above == 0) && all_match(&self.globs[..*count], &names[above..])
            })
        });
        counts.map(|count| &self.globs[count..]).collect()
    }
}

/// A line of the table.
pub(crate) struct PlainLine {
    line: GuardLine,
    pattern: PlainPattern,
}

impl PlainLine {
    pub(crate) fn of(line: &GuardLine) -> Self {
        Self {
            line: *line,
            pattern: PlainPattern::of(line.pattern()),
        }
    }

    /// Whether these names end with what the line is about.
    fn ends(&self, names: &[String]) -> bool {
        let above = names.len().saturating_sub(self.pattern.globs.len());
        self.pattern.ends(names) && self.counts_in(&names[..above])
    }

    fn counts_in(&self, names: &[String]) -> bool {
        self.line.kind().holds_in_packages() || !names.iter().any(|name| name == "node_modules")
    }
}

#[derive(Debug, Clone)]
pub(crate) struct FilesRule {
    pub(crate) path: Names,
    /// The path as it is written.
    pub(crate) written: Names,
    pub(crate) capabilities: FileCapabilities,
    /// What it does not decide, because a link leads to `path`.
    pub(crate) passed: FileCapabilities,
    pub(crate) origin: String,
    pub(crate) is_default: bool,
}

impl Files {
    /// The rule with the most components; of several at one path the last (G-021, G-039). One that follows no
    /// link is none.
    pub(crate) fn winner(&self, capability: Capability, path: &Names) -> Option<&FilesRule> {
        let mut best: Option<&FilesRule> = None;
        let deciding = |rule: &&FilesRule| !rule.passed.has(capability);
        let matching = self.rules.iter().filter(|rule| path.is_within(&rule.path));
        for rule in matching.filter(deciding) {
            if best.is_none_or(|best| rule.path.len() >= best.path.len()) {
                best = Some(rule);
            }
        }
        best
    }

    pub(crate) fn decide(&self, capability: Capability, path: &Names) -> Answer {
        let mut own = self.decide_alone(capability, path);
        // A `.git` makes a repository of a folder: its name has to be in a rule.
        let named = self.names(path);
        let mut lines = self.lines.iter();
        if matches!(capability, Capability::Create | Capability::Update)
            && own.verdict == Verdict::Allow
            && lines.any(|line| line.line.only_itself() && line.ends(&plain_names(path)))
            && !named
        {
            own = Answer::new(Verdict::Uncovered, "named only", own.rule);
        }
        if capability == Capability::Delete
            && let Some(below) = self.below(path, capability)
        {
            return own.and(below);
        }
        own
    }

    pub(crate) fn decide_move(
        &self,
        from: &Names,
        to: &Names,
        to_exists: bool,
        entry: MovedEntry,
    ) -> Answer {
        let mut rules = self.rules.iter().filter(|rule| !rule.is_default);
        if entry == MovedEntry::Link && rules.any(|rule| rule.written == *to) {
            return Answer::new(Verdict::Deny, "link at rule", None);
        }
        let wanted = if to_exists {
            Capability::Update
        } else {
            Capability::Create
        };
        let both = self
            .decide(Capability::Delete, from)
            .and(self.decide(wanted, to));
        match self.below(to, Capability::Create) {
            Some(below) if entry == MovedEntry::Directory => both.and(below),
            _ => both,
        }
    }

    /// The answer for the path itself, whatever lies below it.
    fn decide_alone(&self, capability: Capability, path: &Names) -> Answer {
        let writes = matches!(
            capability,
            Capability::Create | Capability::Update | Capability::Delete
        );
        let obeyed = self.obeyed(path);
        let guards: Vec<_> = self
            .protected
            .iter()
            .chain(&obeyed)
            .filter(|(guarded, _)| writes && path.is_within(guarded))
            .collect();
        if guards
            .iter()
            .any(|(_, level)| *level == ProtectionLevel::Never)
        {
            return Answer::new(Verdict::Deny, "protected", None);
        }
        // What would decide if rules followed every link.
        let mut passed: Option<&FilesRule> = None;
        for rule in self.rules.iter().filter(|rule| path.is_within(&rule.path)) {
            if passed.is_none_or(|best| rule.path.len() >= best.path.len()) {
                passed = Some(rule);
            }
        }
        let passed = passed.filter(|rule| rule.passed.has(capability));
        let Some(rule) = self.winner(capability, path) else {
            return match passed {
                None => Answer::new(Verdict::Uncovered, "no rule", None),
                Some(rule) => {
                    let origin = Some(rule.origin.clone());
                    Answer::new(Verdict::Uncovered, "not followed", origin)
                }
            };
        };
        let origin = Some(rule.origin.clone());
        if !rule.capabilities.has(capability) {
            let why = |why| match passed.is_some_and(|one| one.path.len() >= rule.path.len()) {
                true => "not followed",
                false => why,
            };
            return if rule.is_default {
                Answer::new(Verdict::Uncovered, why("default withholds"), origin)
            } else {
                Answer::new(Verdict::Deny, why("withheld"), origin)
            };
        }
        // Every part of the path that is sensitive must be named by the rule.
        if (1..=path.len())
            .any(|count| rule.path.len() < count && self.is_sensitive(&path.first(count)))
        {
            return Answer::new(Verdict::Uncovered, "sensitive", origin);
        }
        if guards
            .iter()
            .any(|(guarded, _)| rule.path.len() < guarded.len())
        {
            return Answer::new(Verdict::Uncovered, "named only", origin);
        }
        Answer::new(Verdict::Allow, "granted", origin)
    }

    /// What the table guards from changes and `path` is or lies in.
    pub(crate) fn obeyed(&self, path: &Names) -> Vec<(Names, ProtectionLevel)> {
        let names = plain_names(path);
        let mut found = Vec::new();
        for line in self.lines.iter().filter(|line| !line.line.only_itself()) {
            let level = match line.line.level() {
                GuardLevel::Sensitive => continue,
                GuardLevel::Named => ProtectionLevel::Named,
                GuardLevel::Never => ProtectionLevel::Never,
            };
            let ends = (1..=path.len()).filter(|count| line.ends(&names[..*count]));
            found.extend(ends.map(|count| (path.first(count), level)));
        }
        found
    }

    /// Whether a path is what git obeys in a repository.
    pub(crate) fn is_of_git(&self, path: &Names) -> bool {
        let names = plain_names(path);
        let mut lines = self.lines.iter();
        lines.any(|line| line.line.kind() == GuardKind::Git && line.ends(&names))
    }

    /// Whether something that the table guards from changes could lie below `path`, by the last names of it.
    fn holds_obeyed(&self, path: &Names) -> bool {
        let names = plain_names(path);
        self.lines.iter().any(|line| {
            line.line.level() != GuardLevel::Sensitive
                && !line.line.only_itself()
                && !line.pattern.below(&names).is_empty()
                && line.counts_in(&names)
        })
    }

    /// What stands against removing or bringing in everything below `path` at once.
    fn below(&self, path: &Names, capability: Capability) -> Option<Answer> {
        let strictly_below = |other: &Names| other != path && other.is_within(path);
        let mut guarded = self.protected.iter().map(|(guarded, _)| guarded);
        if guarded.any(strictly_below) || self.holds_obeyed(path) {
            return Some(Answer::new(Verdict::Deny, "protected below", None));
        }
        let restricting = self.rules.iter().enumerate().rev().find(|(number, rule)| {
            let overruled = self.rules[number + 1..]
                .iter()
                .any(|later| later.path == rule.path && !later.passed.has(capability));
            strictly_below(&rule.path)
                && !overruled
                && !rule.passed.has(capability)
                && !rule.capabilities.has(capability)
        });
        if let Some((_, rule)) = restricting {
            let origin = Some(rule.origin.clone());
            return Some(Answer::new(Verdict::Deny, "restricted below", origin));
        }
        let open = self.patterns.iter().any(|pattern| {
            sensitive_names_below(pattern, path)
                .into_iter()
                .any(|below| !below.is_some_and(|below| self.names(&below)))
        });
        open.then(|| Answer::new(Verdict::Uncovered, "sensitive below", None))
    }

    /// Whether no rule could ever allow this: the path is never to be changed, or, where all that
    /// is below comes along, something protected or without a name that a rule could give is there.
    pub(crate) fn is_hopeless(&self, capability: Capability, path: &Names, whole: bool) -> bool {
        let writes = !matches!(capability, Capability::Read | Capability::Execute);
        let obeyed = self.obeyed(path);
        let never = self
            .protected
            .iter()
            .chain(&obeyed)
            .any(|(guarded, level)| {
                writes && *level == ProtectionLevel::Never && path.is_within(guarded)
            });
        let protected_below = self
            .protected
            .iter()
            .any(|(guarded, _)| guarded != path && guarded.is_within(path));
        let nameless_below = self
            .patterns
            .iter()
            .any(|pattern| sensitive_names_below(pattern, path).contains(&None));
        never || (whole && (protected_below || self.holds_obeyed(path) || nameless_below))
    }

    /// Whether some rule names exactly this path: it is there, and says so.
    fn names(&self, path: &Names) -> bool {
        let mut rules = self.rules.iter();
        rules.any(|rule| rule.path == *path && rule.written.is_within(path))
    }

    /// Whether a pattern ends exactly at this path.
    pub(crate) fn is_sensitive(&self, path: &Names) -> bool {
        let names = plain_names(path);
        self.patterns.iter().any(|pattern| pattern.ends(&names))
    }
}

fn plain_names(path: &Names) -> Vec<String> {
    path.0.iter().map(|name| plain(name)).collect()
}

/// A name as the loosest file system compares it.
fn plain(name: &str) -> String {
    let lower = name.to_lowercase().replace('ſ', "s");
    lower.trim_end_matches([' ', '.']).to_owned()
}

/// The sensitive paths that `pattern` puts below `path`; `None` for one that has a `*` in the part
/// below, which no rule can name.
fn sensitive_names_below(pattern: &PlainPattern, path: &Names) -> Vec<Option<Names>> {
    let found = pattern.below(&plain_names(path)).into_iter().map(|below| {
        let literal = !below.iter().any(|name| name.contains('*'));
        literal.then(|| path.followed_by(below))
    });
    found.collect()
}

fn all_match(globs: &[String], names: &[String]) -> bool {
    globs.len() == names.len() && globs.iter().zip(names).all(|(glob, name)| fits(glob, name))
}

/// `*` is tried against nothing, then against one more character.
fn fits(glob: &str, name: &str) -> bool {
    let mut rest = glob.chars();
    match rest.next() {
        None => name.is_empty(),
        Some('*') => {
            fits(rest.as_str(), name) || {
                let mut name = name.chars();
                name.next().is_some() && fits(glob, name.as_str())
            }
        }
        Some(c) => name
            .strip_prefix(c)
            .is_some_and(|name| fits(rest.as_str(), name)),
    }
}

/// A URL taken apart.
#[derive(Debug, Clone)]
pub(crate) struct PlainUrl {
    pub(crate) scheme: String,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) segments: Vec<String>,
    pub(crate) ambiguous: bool,
    /// `None` for what has none, or whose is not seen.
    pub(crate) method: Option<String>,
}

impl PlainUrl {
    /// The parser is the one that the document names (G-070, G-072); all else is done here.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let url = url::Url::parse(text).ok()?;
        let host = plain_host(url.host_str()?)?;
        let port = url
            .port()
            .or_else(|| ports_of(url.scheme()).map(|(port, _)| port))?;
        let (segments, ambiguous) = segments(url.path());
        let web = ports_of(url.scheme()).is_some_and(|(_, web)| web);
        Some(Self {
            scheme: url.scheme().to_owned(),
            host,
            port,
            segments,
            ambiguous,
            method: web.then(|| "GET".to_owned()),
        })
    }

    pub(crate) fn with_method(mut self, method: &str) -> Self {
        self.method = self.method.map(|_| method.to_uppercase());
        self
    }

    pub(crate) fn matches(&self, rule: &DeclaredNetRule) -> bool {
        let scheme = rule.scheme.as_ref().map(|scheme| scheme.to_lowercase());
        let port_fits = match (rule.port, ports_of(&self.scheme)) {
            (Some(port), _) => port == self.port,
            // A rule on a host alone is about the web: it does not open ssh (settled so; the
            // document would let any scheme on its own port through).
            (None, Some((own, web))) => own == self.port && (web || scheme.is_some()),
            (None, None) => false,
        };
        let prefix = prefix_segments(rule);
        let methods = rule
            .methods
            .iter()
            .flatten()
            .map(|method| method.to_uppercase());
        let mut methods = methods.collect::<Vec<_>>().into_iter();
        rank_of_host(rule, &self.host).is_some()
            && (rule.methods.is_none() || methods.any(|method| Some(method) == self.method))
            && scheme.is_none_or(|scheme| scheme == self.scheme)
            && port_fits
            && self.segments.len() >= prefix.len()
            && self.segments[..prefix.len()] == prefix
    }
}

/// How well a rule's host fits a name: an exact one before a domain, a longer domain before a shorter one,
/// any before `*`. `None` if it speaks of another.
pub(crate) fn rank_of_host(rule: &DeclaredNetRule, host: &str) -> Option<usize> {
    let is_name = host.parse::<std::net::IpAddr>().is_err();
    let is_local = host == "localhost" || host.ends_with(".localhost");
    if rule.host == "*" {
        return (is_name && !is_local).then_some(0);
    }
    match rule.host.strip_prefix("*.") {
        Some(domain) => {
            let domain = plain_host(domain)?;
            let is_below = host
                .strip_suffix(&domain)
                .is_some_and(|rest| rest.ends_with('.'));
            (is_name && is_below).then_some(domain.len())
        }
        None => (plain_host(&rule.host)? == host).then_some(usize::MAX),
    }
}

fn prefix_segments(rule: &DeclaredNetRule) -> Vec<String> {
    let Some(prefix) = &rule.path_prefix else {
        return Vec::new();
    };
    let url = url::Url::parse(&format!("http://h{prefix}"));
    url.map(|url| segments(url.path()).0).unwrap_or_default()
}

/// The port of a scheme, and whether it is one of the web's.
fn ports_of(scheme: &str) -> Option<(u16, bool)> {
    let ports = [
        ("http", 80, true),
        ("ws", 80, true),
        ("https", 443, true),
        ("wss", 443, true),
        ("ftp", 21, false),
        ("ssh", 22, false),
        ("sftp", 22, false),
        ("git", 9418, false),
        ("postgres", 5432, false),
    ];
    let found = ports.iter().find(|(name, _, _)| *name == scheme)?;
    Some((found.1, found.2))
}

fn plain_host(text: &str) -> Option<String> {
    if text.contains('*') {
        return None;
    }
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = bare.parse::<std::net::Ipv6Addr>() {
        return Some(address.to_string());
    }
    let host = url::Host::parse(text).ok()?.to_string().to_lowercase();
    let host = host.strip_suffix('.').map(str::to_owned).unwrap_or(host);
    host.split('.').all(|name| !name.is_empty()).then_some(host)
}

fn segments(path: &str) -> (Vec<String>, bool) {
    let mut all = Vec::new();
    let mut ambiguous = false;
    for written in path.split('/') {
        let bytes = percent_decoded(written.as_bytes());
        // Bytes that are no text cannot be told from others that are none.
        ambiguous |= std::str::from_utf8(&bytes).is_err();
        let name = String::from_utf8_lossy(&bytes).into_owned();
        ambiguous |= name == "." || name == "..";
        ambiguous |= ["/", "\\", ";", "%", "\0"]
            .iter()
            .any(|odd| name.contains(odd));
        if !name.is_empty() {
            all.push(name);
        }
    }
    (all, ambiguous)
}

fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let hex = |byte: u8| char::from(byte).to_digit(16);
    match text {
        [] => Vec::new(),
        [b'%', high, low, rest @ ..] if hex(*high).is_some() && hex(*low).is_some() => {
            let byte = hex(*high).unwrap_or(0) * 16 + hex(*low).unwrap_or(0);
            let mut all = vec![u8::try_from(byte).unwrap_or(0)];
            all.extend(percent_decoded(rest));
            all
        }
        [first, rest @ ..] => {
            let mut all = vec![*first];
            all.extend(percent_decoded(rest));
            all
        }
    }
}

pub(crate) fn decide_net(rules: &[DeclaredNetRule], url: &PlainUrl) -> Answer {
    if rules.is_empty() {
        return Answer::new(Verdict::Uncovered, "default withholds", None);
    }
    let on_paths = rules
        .iter()
        .any(|rule| rank_of_host(rule, &url.host).is_some() && !prefix_segments(rule).is_empty());
    if url.ambiguous && on_paths {
        return Answer::new(Verdict::Deny, "ambiguous path", None);
    }
    // X-68, then G-078: scheme, port, methods and each segment count one; the last of the best wins.
    let mut best: Option<((Option<usize>, usize), &DeclaredNetRule)> = None;
    for rule in rules.iter().filter(|rule| url.matches(rule)) {
        let specificity = (rank_of_host(rule, &url.host), counted(rule));
        if best.is_none_or(|(other, _)| specificity >= other) {
            best = Some((specificity, rule));
        }
    }
    by_grant(best.map(|(_, rule)| (rule.allow, rule.origin.to_string())))
}

/// G-078.
fn counted(rule: &DeclaredNetRule) -> usize {
    usize::from(rule.scheme.is_some())
        + usize::from(rule.port.is_some())
        + usize::from(rule.methods.is_some())
        + prefix_segments(rule).len()
}

pub(crate) fn decide_env(rules: &[DeclaredEnvRule], wanted: EnvUse, name: &str) -> Answer {
    if rules.is_empty() {
        return Answer::new(Verdict::Uncovered, "default withholds", None);
    }
    let mut best: Option<((usize, bool), &DeclaredEnvRule)> = None;
    for rule in rules {
        let (literal, exact, matches) = match rule.name.strip_suffix('*') {
            Some(prefix) => (prefix, false, name.starts_with(prefix)),
            None => (rule.name.as_str(), true, name == rule.name),
        };
        let specificity = (literal.len(), exact);
        if matches && best.is_none_or(|(other, _)| specificity >= other) {
            best = Some((specificity, rule));
        }
    }
    // A prefix never hands over what makes programs run code.
    if let Some(((_, false), rule)) = best
        && rule.read
        && wanted == EnvUse::Read
        && runs_code(name)
    {
        let origin = Some(rule.origin.to_string());
        return Answer::new(Verdict::Uncovered, "exact name only", origin);
    }
    by_grant(best.map(|(_, rule)| {
        let granted = rule.read || (wanted == EnvUse::Header && rule.header);
        (granted, rule.origin.to_string())
    }))
}

/// Those of the random names that make programs run code, by the letter.
fn runs_code(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    ["LD_", "GIT_", "PYTHON"]
        .iter()
        .any(|prefix| upper.starts_with(prefix))
        || ["NODE_OPTIONS", "NODE_PATH", "ENV"].contains(&upper.as_str())
}

fn by_grant(winner: Option<(bool, String)>) -> Answer {
    match winner {
        None => Answer::new(Verdict::Uncovered, "no rule", None),
        Some((true, origin)) => Answer::new(Verdict::Allow, "granted", Some(origin)),
        Some((false, origin)) => Answer::new(Verdict::Deny, "withheld", Some(origin)),
    }
}

/// `program` names the program of a rule in the form in which `target` does.
pub(crate) fn decide_command(
    rules: Option<&[DeclaredCommandRule]>,
    default_any: bool,
    program: impl Fn(&DeclaredCommandRule) -> Option<String>,
    target: &str,
    execute: Option<Answer>,
    args: &[String],
) -> Answer {
    let listed = match rules {
        None if default_any => Answer::new(Verdict::Allow, "granted", None),
        None => Answer::new(Verdict::Uncovered, "default withholds", None),
        Some(rules) => {
            let last = rules
                .iter()
                .rfind(|rule| program(rule).as_deref() == Some(target));
            match last {
                None => Answer::new(Verdict::Uncovered, "no rule", None),
                Some(rule) if arguments_fit(rule, args) => {
                    Answer::new(Verdict::Allow, "granted", Some(rule.origin.to_string()))
                }
                Some(rule) => {
                    Answer::new(Verdict::Deny, "arguments", Some(rule.origin.to_string()))
                }
            }
        }
    };
    match execute {
        Some(execute) => execute.and(listed),
        None => listed,
    }
}

fn arguments_fit(rule: &DeclaredCommandRule, args: &[String]) -> bool {
    let Some(lists) = &rule.args else {
        return true;
    };
    lists.iter().any(|list| {
        let mut wanted = list.iter();
        let mut given = args.iter();
        loop {
            match (wanted.next(), given.next()) {
                (Some(rest), _) if rest == "**" => return true,
                (None, None) => return true,
                (Some(want), Some(got)) if want == got => {}
                _ => return false,
            }
        }
    })
}
