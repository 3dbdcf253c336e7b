//! Requests as the policy judges them.

use std::fmt;

use crate::command::CommandProgram;
use crate::decision::{Decision, Reason};
use crate::env::EnvUse;
use crate::net::NetTarget;
use crate::policy::{Policy, RuleKind};
use crate::resolve::ResolvedPath;
use crate::suggest::Suggestion;
use crate::{Capability, Verdict};

/// Something that a tool asks for and a policy can judge. Only this crate implements it, so the
/// list of what can be permitted is closed.
pub trait Target: fmt::Display + sealed::Sealed {
    /// The policy's answer.
    fn decide<'p>(&self, policy: &'p Policy) -> Decision<'p>;

    /// What is asked for, in one word: a capability, `reach`, `connect`, `header` or
    /// `run`.
    fn operation(&self) -> &'static str;

    /// The resource whose rules decide.
    fn resource(&self) -> RuleKind;

    /// The smallest addition to the rules under which the answer would be allow, if there is one.
    fn suggestion(&self, policy: &Policy) -> Option<Suggestion>;

    /// The reason for a decision about it, in one sentence fragment. It may walk over all rules.
    fn why(&self, _policy: &Policy, decision: &Decision<'_>) -> String {
        decision.why(self.operation())
    }
}

/// One capability on one file or directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileTarget {
    /// What is asked for.
    pub capability: Capability,
    /// Where.
    pub path: ResolvedPath,
}

/// Moving a file or a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveTarget {
    /// What is moved.
    pub from: ResolvedPath,
    /// Where to.
    pub to: ResolvedPath,
    /// What kind of thing is moved.
    pub entry: MovedEntry,
}

/// What is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MovedEntry {
    /// A file, or anything else that holds nothing.
    File,
    /// A directory, with all that is in it.
    Directory,
    /// A symbolic link.
    Link,
}

/// One use of one variable of the host's environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvTarget {
    /// What is asked for.
    pub wanted: EnvUse,
    /// The variable.
    pub name: String,
}

/// One run of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandTarget {
    /// The program.
    pub program: CommandProgram,
    /// Its arguments, without the program's own name.
    pub args: Vec<String>,
}

impl Target for FileTarget {
    fn decide<'p>(&self, policy: &'p Policy) -> Decision<'p> {
        policy.decide_fs(self.capability, &self.path)
    }

    fn operation(&self) -> &'static str {
        self.capability.name()
    }

    fn resource(&self) -> RuleKind {
        RuleKind::Fs
    }

    fn suggestion(&self, policy: &Policy) -> Option<Suggestion> {
        Suggestion::for_file(policy, self.capability, &self.path)
    }
}

impl Target for MoveTarget {
    fn decide<'p>(&self, policy: &'p Policy) -> Decision<'p> {
        policy.decide_move(&self.from, &self.to, self.entry)
    }

    fn operation(&self) -> &'static str {
        "move"
    }

    fn resource(&self) -> RuleKind {
        RuleKind::Fs
    }

    fn suggestion(&self, policy: &Policy) -> Option<Suggestion> {
        Suggestion::for_move(policy, &self.from, &self.to, self.entry)
    }
}

impl Target for NetTarget {
    fn decide<'p>(&self, policy: &'p Policy) -> Decision<'p> {
        policy.decide_net(self)
    }

    fn operation(&self) -> &'static str {
        "reach"
    }

    fn resource(&self) -> RuleKind {
        RuleKind::Net
    }

    fn suggestion(&self, policy: &Policy) -> Option<Suggestion> {
        Suggestion::for_url(policy, self)
    }

    fn why(&self, policy: &Policy, decision: &Decision<'_>) -> String {
        let method = self
            .method()
            .filter(|_| policy.has_rule_on_other_method(self));
        match (&decision.reason, method) {
            (Reason::NoRule, Some(method)) => {
                format!("no rule matches `{method}`, only other methods")
            }
            _ => decision.why(self.operation()),
        }
    }
}

impl Target for EnvTarget {
    fn decide<'p>(&self, policy: &'p Policy) -> Decision<'p> {
        policy.decide_env(self.wanted, &self.name)
    }

    fn operation(&self) -> &'static str {
        match self.wanted {
            EnvUse::Read => "read",
            EnvUse::Header => "header",
        }
    }

    fn resource(&self) -> RuleKind {
        RuleKind::Env
    }

    fn suggestion(&self, policy: &Policy) -> Option<Suggestion> {
        Suggestion::for_variable(policy, self.wanted, &self.name)
    }
}

impl Target for CommandTarget {
    fn decide<'p>(&self, policy: &'p Policy) -> Decision<'p> {
        policy.decide_command(&self.program, &self.args)
    }

    fn operation(&self) -> &'static str {
        "run"
    }

    fn resource(&self) -> RuleKind {
        RuleKind::Commands
    }

    fn suggestion(&self, policy: &Policy) -> Option<Suggestion> {
        Suggestion::for_program(policy, &self.program, &self.args)
    }
}

impl fmt::Display for FileTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.path())
    }
}

impl fmt::Display for MoveTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.from.path(), self.to.path())
    }
}

impl fmt::Display for EnvTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Display for CommandTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.program)?;
        self.args.iter().try_for_each(|arg| write!(f, " {arg}"))
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::FileTarget {}
    impl Sealed for super::MoveTarget {}
    impl Sealed for super::NetTarget {}
    impl Sealed for crate::connection::ConnectionTarget {}
    impl Sealed for super::EnvTarget {}
    impl Sealed for super::CommandTarget {}
}

impl Policy {
    /// Judges a request. On allow the answer is a [`Permit`], which the action consumes; otherwise
    /// it is what the caller needs to explain the refusal or to ask somebody.
    pub fn permit<T: Target>(&self, target: T) -> Result<Permit<T>, Box<RefusedTarget<T>>> {
        let decision = target.decide(self);
        if decision.is_allowed() {
            return Ok(Permit { target });
        }
        let refusal = Refusal {
            verdict: decision.verdict,
            operation: target.operation(),
            target: target.to_string(),
            why: target.why(self, &decision),
            rule: decision.rule.map(|rule| RuleNote {
                text: rule.to_string(),
                origin: rule.origin().to_string(),
            }),
            grants: self.grants(target.resource()),
            suggestion: target.suggestion(self),
        };
        Err(Box::new(RefusedTarget { target, refusal }))
    }
}

/// Proof that a policy allowed a request.
///
/// Only a decision makes one, and whoever acts takes the target out of it, so that what was judged
/// is what is done.
#[derive(Debug)]
#[must_use]
pub struct Permit<T> {
    target: T,
}

impl<T> Permit<T> {
    /// What was permitted.
    pub fn target(&self) -> &T {
        &self.target
    }

    /// Uses the permit up.
    pub fn into_target(self) -> T {
        self.target
    }
}

/// A request that was not allowed.
#[derive(Debug)]
pub struct RefusedTarget<T> {
    target: T,
    /// What to tell people and programs.
    pub refusal: Refusal,
}

impl<T> RefusedTarget<T> {
    /// What was asked for.
    pub fn target(&self) -> &T {
        &self.target
    }

    /// Turns an uncovered request into a permit, because somebody who may was asked and said yes.
    /// What a rule denies stays denied.
    pub fn approve(self) -> Result<Permit<T>, Box<Refusal>> {
        match self.refusal.verdict {
            Verdict::Uncovered => Ok(Permit {
                target: self.target,
            }),
            Verdict::Allow | Verdict::Deny => Err(Box::new(self.refusal)),
        }
    }
}

/// A refusal in words: what was asked, which rule decided, what is granted, what would allow it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("access denied: {operation} on {target}")]
pub struct Refusal {
    /// Deny or uncovered.
    pub verdict: Verdict,
    /// The capability or operation.
    pub operation: &'static str,
    /// On what.
    pub target: String,
    /// One sentence with the reason.
    pub why: String,
    /// The rule that decided.
    pub rule: Option<RuleNote>,
    /// What is granted on this kind of resource, each with its origin.
    pub grants: Vec<String>,
    /// The smallest addition to the rules that would allow it.
    pub suggestion: Option<Suggestion>,
}

/// A rule as text, kept after the policy is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleNote {
    /// What it is on and what it grants.
    pub text: String,
    /// The file and line, option or default.
    pub origin: String,
}
