//! What the policy says about one request, with the rule that decided and the reason.

use std::fmt;

use crate::command::CompiledCommandRule;
use crate::env::CompiledEnvRule;
use crate::fs::CompiledFsRule;
use crate::guard::Protected;
use crate::net::CompiledNetRule;
use crate::planter::UnfollowedLink;
use crate::policy::RuleKind;
use crate::rules::RuleOrigin;

/// The three answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// A rule, or the default, grants it.
    Allow,
    /// A rule says no, or nothing could ever allow it.
    Deny,
    /// No rule speaks of it. Somebody may be asked; where nobody can be, it is denied.
    Uncovered,
}

impl Verdict {
    /// The word used in output and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Deny => "deny",
            Verdict::Uncovered => "uncovered",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A verdict, the rule behind it and why.
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct Decision<'p> {
    /// The answer.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason<'p>,
    /// The rule that decided, or that would have, were it not for the reason.
    pub rule: Option<Rule<'p>>,
}

impl<'p> Decision<'p> {
    pub(crate) fn allow(rule: Rule<'p>) -> Self {
        Self {
            verdict: Verdict::Allow,
            reason: Reason::Granted,
            rule: Some(rule),
        }
    }

    pub(crate) fn deny(reason: Reason<'p>, rule: Option<Rule<'p>>) -> Self {
        Self {
            verdict: Verdict::Deny,
            reason,
            rule,
        }
    }

    pub(crate) fn uncovered(reason: Reason<'p>, rule: Option<Rule<'p>>) -> Self {
        Self {
            verdict: Verdict::Uncovered,
            reason,
            rule,
        }
    }

    /// The answer to two questions of which both must be allowed. A denial comes before what is
    /// only uncovered: somebody may approve the latter, and must not approve the former with it.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self.verdict, other.verdict) {
            (Verdict::Deny, _) => self,
            (_, Verdict::Deny) => other,
            (Verdict::Uncovered, _) => self,
            (Verdict::Allow, _) => other,
        }
    }

    /// Whether the answer is [`Verdict::Allow`].
    pub fn is_allowed(&self) -> bool {
        self.verdict == Verdict::Allow
    }
}

/// Why a decision came out as it did.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Reason<'p> {
    /// The rule grants it.
    Granted,
    /// The rule matches and does not grant it.
    Withheld,
    /// Nothing is declared for this resource, and the runtime's default does not grant it.
    DefaultWithholds(RuleKind),
    /// Rules are declared for this resource, and none matches.
    NoRule,
    /// A rule would grant it, did it follow the link on its path.
    NotFollowed(&'p UnfollowedLink),
    /// A link would be put at the path of a rule, which would then reach elsewhere.
    LinkAtRule,
    /// The path is on the list of sensitive paths (the pattern), and the rule is too broad.
    Sensitive(&'p str),
    /// Moving or removing the path would move or remove a sensitive one below it.
    SensitiveBelow(&'p str),
    /// Nothing may change the path; what it is.
    Protected(&'p str),
    /// Only a rule that names the path may change it; what it is.
    NamedOnly(&'p str),
    /// Moving or removing the path would move or remove a protected one below it.
    ProtectedBelow(&'p Protected),
    /// A rule on something below the path withholds the capability there.
    RestrictedBelow,
    /// The variable makes programs run code (what it does), and the rule is only on a prefix.
    ExactNameOnly(&'p str),
    /// The program is listed, but not with these arguments.
    Arguments,
    /// The URL's path can be read in two ways, and a rule on paths has to decide.
    AmbiguousPath,
    /// A rule on paths or methods would have to decide on a TLS connection, and TLS hides them. No rule can
    /// be added that helps: the one with the path or methods has to go.
    PathUnderTls,
    /// A rule on paths or methods would have to decide on a connection that speaks no HTTP.
    PathUnseen,
}

/// A rule of any resource.
#[derive(Debug, Clone, Copy)]
pub enum Rule<'p> {
    /// A rule on files.
    Fs(&'p CompiledFsRule),
    /// A rule on hosts.
    Net(&'p CompiledNetRule),
    /// A rule on variables.
    Env(&'p CompiledEnvRule),
    /// A rule on programs.
    Command(&'p CompiledCommandRule),
}

impl<'p> Rule<'p> {
    /// Where it was declared.
    pub fn origin(self) -> &'p RuleOrigin {
        match self {
            Rule::Fs(rule) => &rule.declared.origin,
            Rule::Net(rule) => &rule.declared.origin,
            Rule::Env(rule) => &rule.declared.origin,
            Rule::Command(rule) => &rule.declared.origin,
        }
    }

    /// Whether it is a default that nobody declared.
    pub fn is_default(self) -> bool {
        match self {
            Rule::Fs(rule) => rule.is_default(),
            Rule::Net(_) | Rule::Env(_) | Rule::Command(_) => false,
        }
    }
}

/// The rule in one line: what it is on, and what it grants.
impl fmt::Display for Rule<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Fs(rule) => write!(f, "{} on `{}`", rule.capabilities(), rule.written()),
            Rule::Net(rule) => write!(f, "{rule}"),
            Rule::Env(rule) => write!(f, "{rule}"),
            Rule::Command(rule) => write!(f, "{rule}"),
        }
    }
}
