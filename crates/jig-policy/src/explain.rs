//! Why a decision came out as it did: the rules that lost, and everything in words.
//!
//! Nothing here is on the way of a decision; it walks over all rules and may take its time.

use crate::command::CommandProgram;
use crate::decision::{Decision, Reason, Rule};
use crate::env::EnvUse;
use crate::net::{CompiledNetRule, NetTarget};
use crate::policy::{Policy, RuleKind};
use crate::resolve::ResolvedPath;
use crate::{Capability, FileCapabilities};

/// A rule that matches a target and did not decide.
#[derive(Debug, Clone, Copy)]
pub struct Loser<'p> {
    /// The rule.
    pub rule: Rule<'p>,
    /// Why another one decided.
    pub why: LostBecause,
}

/// Why a matching rule did not decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LostBecause {
    /// Another rule is more specific.
    LessSpecific,
    /// Another rule is as specific and was declared later.
    DeclaredEarlier,
    /// It would reach the target only by a link on its path, which it does not follow.
    LinkNotFollowed,
}

impl LostBecause {
    /// The reason in words.
    pub fn words(self) -> &'static str {
        match self {
            LostBecause::LessSpecific => "less specific",
            LostBecause::DeclaredEarlier => "as specific, but declared earlier",
            LostBecause::LinkNotFollowed => "reaches this only by a link, which it does not follow",
        }
    }
}

impl Policy {
    /// The rules that match a path and did not decide, the closest first; at the end those that would reach it only
    /// by a link.
    pub fn losers_fs(&self, capability: Capability, target: &ResolvedPath) -> Vec<Loser<'_>> {
        let (passed, matching): (Vec<_>, Vec<_>) = self
            .fs_rules()
            .iter()
            .filter(|rule| target.path().starts_with(rule.path()))
            .partition(|rule| rule.passes_over(capability));
        let matching = matching.into_iter();
        let mut losers = rank(matching.map(|rule| (rule.path().depth(), Rule::Fs(rule))));
        losers.extend(passed.into_iter().map(|rule| Loser {
            rule: Rule::Fs(rule),
            why: LostBecause::LinkNotFollowed,
        }));
        losers
    }

    /// The rules that match a URL and did not decide, the closest first.
    pub fn losers_net(&self, target: &NetTarget) -> Vec<Loser<'_>> {
        let matching = self.net_rules().iter().filter(|rule| rule.matches(target));
        rank(matching.map(|rule| (rule.rank(), Rule::Net(rule))))
    }

    /// Whether a rule would match a request if it had another method.
    pub(crate) fn has_rule_on_other_method(&self, target: &NetTarget) -> bool {
        let is_other =
            |rule: &CompiledNetRule| rule.matches_but_for_method(target) && !rule.matches(target);
        target.method().is_some() && self.net_rules().iter().any(is_other)
    }

    /// The rules that match a variable and did not decide, the closest first.
    pub fn losers_env(&self, name: &str) -> Vec<Loser<'_>> {
        let matching = self.env_rules().iter().filter(|rule| rule.matches(name));
        rank(matching.map(|rule| (rule.specificity(), Rule::Env(rule))))
    }

    /// The rules that name a program and did not decide: earlier ones for the same program.
    pub fn losers_command(&self, program: &CommandProgram) -> Vec<Loser<'_>> {
        let rules = self.command_rules().unwrap_or_default();
        let matching = rules
            .iter()
            .filter(|rule| rule.program().key() == program.key());
        rank(matching.map(|rule| (0, Rule::Command(rule))))
    }

    /// What is granted on a kind of resource, in words, each grant with its origin; the first
    /// twenty of them, and then how many more there are.
    pub fn grants(&self, resource: RuleKind) -> Vec<String> {
        let rules = self.granting(resource);
        let more = rules.len().saturating_sub(MAX_GRANTS);
        let mut lines: Vec<String> = rules
            .iter()
            .take(MAX_GRANTS)
            .map(|rule| format!("{rule} ({})", rule.origin()))
            .collect();
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        lines
    }

    fn granting(&self, resource: RuleKind) -> Vec<Rule<'_>> {
        let all: Vec<(bool, Rule<'_>)> = match resource {
            RuleKind::Fs => {
                let rules = self.fs_rules().iter();
                rules
                    .map(|rule| (!rule.capabilities().is_empty(), Rule::Fs(rule)))
                    .collect()
            }
            RuleKind::Net => {
                let rules = self.net_rules().iter();
                rules.map(|rule| (rule.allow(), Rule::Net(rule))).collect()
            }
            RuleKind::Env => {
                let rules = self.env_rules().iter();
                rules
                    .map(|rule| (rule.grants(EnvUse::Header), Rule::Env(rule)))
                    .collect()
            }
            RuleKind::Commands => {
                let rules = self.command_rules().unwrap_or_default().iter();
                rules.map(|rule| (true, Rule::Command(rule))).collect()
            }
        };
        let granting = all.into_iter().filter(|(grants, _)| *grants);
        granting.map(|(_, rule)| rule).collect()
    }
}

/// All but the best: by specificity, then by the order of declaration, later first.
fn rank<'p, S: Ord + Copy>(matching: impl Iterator<Item = (S, Rule<'p>)>) -> Vec<Loser<'p>> {
    let mut all: Vec<(S, Rule<'p>)> = matching.collect();
    all.reverse();
    all.sort_by_key(|(specificity, _)| std::cmp::Reverse(*specificity));
    let Some((best, _)) = all.first().copied() else {
        return Vec::new();
    };
    let losers = all.into_iter().skip(1);
    losers
        .map(|(specificity, rule)| Loser {
            rule,
            why: if specificity < best {
                LostBecause::LessSpecific
            } else {
                LostBecause::DeclaredEarlier
            },
        })
        .collect()
}

impl Decision<'_> {
    /// The reason in one sentence fragment. `operation` is the word for what was asked.
    pub fn why(&self, operation: &str) -> String {
        match self.reason {
            Reason::Granted => match self.rule {
                Some(rule) if rule.is_default() => {
                    format!("this tool may {operation} files of the workspace by default")
                }
                Some(_) => "the rule grants it".to_owned(),
                None => "this tool may run any program by default".to_owned(),
            },
            Reason::Withheld => {
                format!("the most specific rule that matches does not grant `{operation}`")
            }
            Reason::DefaultWithholds(resource) => self.withheld_by_default(resource, operation),
            Reason::NoRule => "no rule matches".to_owned(),
            Reason::NotFollowed(link) => {
                format!("the rule on it reaches it only by a link: {link}")
            }
            Reason::LinkAtRule => {
                "a rule has this very path, and by a link there it would reach elsewhere".to_owned()
            }
            Reason::Sensitive(pattern) => format!(
                "it is a sensitive path (`{pattern}`), which only a rule that names it covers"
            ),
            Reason::SensitiveBelow(pattern) => {
                format!("it would take a sensitive path along (`{pattern}`)")
            }
            Reason::Protected(what) => format!("it is {what}, which no tool may change"),
            Reason::NamedOnly(what) => {
                format!("it belongs to {what}, which only a rule that names it opens to changes")
            }
            Reason::ProtectedBelow(guard) => {
                format!(
                    "it would take `{}` along: {}, which no tool may move",
                    guard.path, guard.what
                )
            }
            Reason::RestrictedBelow => {
                "a rule restricts something below it, which would be reached by another name"
                    .to_owned()
            }
            Reason::ExactNameOnly(does) => {
                format!("the variable {does}, so only a rule with its exact name grants it")
            }
            Reason::Arguments => "the program is listed, but not with these arguments".to_owned(),
            Reason::AmbiguousPath => {
                "servers can read this path in two ways, and a rule on paths has to decide"
                    .to_owned()
            }
            Reason::PathUnderTls => {
                "the path of a TLS connection cannot be seen, nor its method, and a rule with \
                 `path_prefix` or `methods` has to decide: `http.*` of a `vfs` tool can be judged by \
                 them, a program needs a rule without `path_prefix` and `methods`"
                    .to_owned()
            }
            Reason::PathUnseen => {
                "the connection speaks no HTTP, so it shows no path and no method, and a rule with \
                 `path_prefix` or `methods` on this port has to decide"
                    .to_owned()
            }
        }
    }

    /// What a tool without rules on this kind of resource may not do.
    fn withheld_by_default(&self, resource: RuleKind, operation: &str) -> String {
        let granted = match self.rule {
            Some(Rule::Fs(rule)) => rule.capabilities(),
            _ => FileCapabilities::NONE,
        };
        match resource {
            RuleKind::Fs if granted.is_empty() => "this tool has no access to files by default",
            RuleKind::Fs if granted == FileCapabilities::just(Capability::Read) => {
                "this tool may only read files by default"
            }
            RuleKind::Fs => return format!("this tool may not {operation} files by default"),
            RuleKind::Net => "this tool has no network access by default",
            RuleKind::Env => "this tool gets none of your environment variables by default",
            RuleKind::Commands => "this tool may not run programs by default",
        }
        .to_owned()
    }
}

/// A refusal is made for every denied request; a tool must not be able to make long ones at will.
const MAX_GRANTS: usize = 20;

#[cfg(test)]
mod tests;
