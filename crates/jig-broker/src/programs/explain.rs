//! Explains what a confined program was refused, and how to allow it: [`BrokerCore::explained`].
//!
//! The kernel tells a program that something failed, and tells nobody why. What the program asked for was
//! seen, and what its profile gives is known: what is between the two was refused. What it asked for and
//! does not exist on the host either is no denial; what exists and is not shown is never told as missing.
//!
//! Nothing here decides: the kernel has decided already. Nothing of the host is opened; names are looked up.

#[cfg(unix)]
mod addresses;
#[cfg(unix)]
mod context;
#[cfg(unix)]
mod error_text;
#[cfg(unix)]
mod guesses;
#[cfg(unix)]
mod host_denial;
mod limit;
#[cfg(unix)]
mod listening_ports;
mod lost_files;
#[cfg(unix)]
mod missing;
#[cfg(unix)]
mod port_in_text;
#[cfg(unix)]
mod profile_rights;
#[cfg(unix)]
mod refused_name;
#[cfg(unix)]
mod sandbox_toml;
mod variables;
#[cfg(unix)]
mod workspace_denial;

use std::collections::HashSet;
use std::path::PathBuf;

use camino::Utf8Path;
use jiff::Timestamp;
use jig_proto::Denial;
use jig_proto::visible_line_to;
use jig_sandbox::{NameSupervisor, Observation};

use crate::audit::{AuditDecision, AuditEntry};
use crate::broker::{Broker, BrokerCore};
use crate::programs::confine::Confined;
use crate::programs::gateway::{LOOK_UP, lookup_refused};

pub(crate) use limit::of_tree;
pub use limit::{limit_denial, limit_denial_in};
#[cfg(unix)]
pub(crate) use listening_ports::listening_ports;
pub(crate) use lost_files::lost_files;

#[cfg(test)]
#[cfg(unix)]
mod tests;

/// What a program made in the directories that are its own, so far as it was seen: whatever the host has at the
/// same paths, it is not what the program finds there.
#[derive(Debug, Default)]
pub struct MadePaths(HashSet<PathBuf>);

#[cfg(unix)]
impl MadePaths {
    fn contains(&self, path: &std::path::Path) -> bool {
        self.0.contains(path)
    }

    /// A program can make any number of things. What is forgotten is told as hidden if the host has it too,
    /// which is wrong at worst and allows nothing.
    fn insert(&mut self, path: PathBuf) {
        if self.0.len() < MOST_MADE {
            self.0.insert(path);
        }
    }
}

/// The words of a program: the last ones that it said, and those that it was started with, which may tell the port of
/// a host.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProgramWords<'a> {
    pub(crate) said: &'a str,
    pub(crate) command: &'a str,
}

impl ProgramWords<'_> {
    /// The port that the words name with a host, unless a rule on the host covers it anyway.
    #[cfg(unix)]
    fn port_of(&self, host: &str) -> Option<u16> {
        port_in_text::port_of(self.said, host).or_else(|| port_in_text::port_of(self.command, host))
    }

    #[cfg(not(unix))]
    fn port_of(&self, _: &str) -> Option<u16> {
        None
    }
}

impl Broker {
    /// Leaves a line in the audit log for each of these denials, as `sandbox.read` and the like. Those of a
    /// gateway have theirs already.
    pub fn audit_denials(&self, denials: &[Denial]) {
        for denial in denials {
            self.inner.audit_denial(denial);
        }
    }
}

impl BrokerCore {
    /// What an observed program was refused, as far as its sandbox tells: what it wanted and its profile
    /// does not give. The most telling come first; at most [`MAX_DENIALS`] are told.
    ///
    /// `confined` is what it ran with, `root` where the files of the workspace are for programs, and `made` what the
    /// program has made in the parts of its observation before this one.
    pub(crate) fn explained(
        &self,
        observation: &Observation,
        confined: &Confined,
        root: &Utf8Path,
        made: &mut MadePaths,
    ) -> Vec<Denial> {
        let denials = self.explain(observation, confined, root, made).into_iter();
        denials.map(|denial| self.clean(denial)).collect()
    }

    #[cfg(unix)]
    fn explain(
        &self,
        observation: &Observation,
        confined: &Confined,
        root: &Utf8Path,
        made: &mut MadePaths,
    ) -> Vec<Denial> {
        let Some(around) = context::RunSurroundings::of(self, confined, root) else {
            return Vec::new();
        };
        let missing = missing::find(&around, observation, made);
        let mut told = told_of(&around, missing);
        told.extend(addresses::denials(&around, observation));
        in_order(told)
    }

    /// What a supervisor refused to make since it was last asked. All of it is in the log then.
    #[cfg(unix)]
    pub(crate) fn refused_names(
        &self,
        supervisor: Option<&NameSupervisor>,
        confined: Option<&Confined>,
        root: &Utf8Path,
    ) -> Vec<Denial> {
        let refused = supervisor.map(NameSupervisor::take).unwrap_or_default();
        let (Some(confined), false) = (confined, refused.names.is_empty()) else {
            return Vec::new();
        };
        let Some(around) = context::RunSurroundings::of(self, confined, root) else {
            return Vec::new();
        };
        let names = refused.names.iter().take(MAX_DENIALS);
        let denials = names.map(|name| self.clean(refused_name::denial(&around, confined, name)));
        let denials: Vec<Denial> = denials.collect();
        denials.iter().for_each(|one| self.audit_denial(one));
        denials
    }

    #[cfg(not(unix))]
    pub(crate) fn refused_names(
        &self,
        _: Option<&NameSupervisor>,
        _: Option<&Confined>,
        _: &Utf8Path,
    ) -> Vec<Denial> {
        Vec::new()
    }

    /// What a failed program that nobody watched was refused, judging by what it said: the files, programs and hosts
    /// that its last words name, and that its profile and its rules withhold. Each is marked as guessed; at most
    /// [`MAX_GUESSED`] are told, and none that is among those which are `known`.
    ///
    /// Nothing here decides. A tool can learn in this way whether the host has something at a path, and whether
    /// somebody listens on a port of its loopback, of few in one call.
    #[cfg(unix)]
    pub(crate) fn guessed(
        &self,
        words: ProgramWords<'_>,
        confined: &Confined,
        root: &Utf8Path,
        known: &[Denial],
    ) -> Vec<Denial> {
        let Some(around) = context::RunSurroundings::of(self, confined, root) else {
            return Vec::new();
        };
        let guesses = guesses::of(&around, confined, words);
        let mut told = told_of(&around, guesses.missing);
        told.extend(addresses::denials(&around, &guesses.addresses));
        told.extend(guesses.hosts);
        let denials = in_order(told).into_iter();
        let denials = denials.map(|denial| Denial {
            guessed: true,
            // How often it is said does not tell how often it was wanted.
            count: 1,
            ..self.clean(denial)
        });
        // Whoever serves the lookups of the sandbox knows which host it was.
        let is_named = known.iter().any(|known| known.operation == LOOK_UP);
        let is_news = |denial: &Denial| {
            known.iter().all(|known| known.target != denial.target)
                && !(is_named && denial.target == guesses::SOME_HOST)
        };
        denials.filter(is_news).take(MAX_GUESSED).collect()
    }

    #[cfg(not(unix))]
    pub(crate) fn guessed(
        &self,
        _: ProgramWords<'_>,
        _: &Confined,
        _: &Utf8Path,
        _: &[Denial],
    ) -> Vec<Denial> {
        Vec::new()
    }

    #[cfg(not(unix))]
    fn explain(
        &self,
        _: &Observation,
        _: &Confined,
        _: &Utf8Path,
        _: &mut MadePaths,
    ) -> Vec<Denial> {
        Vec::new()
    }

    /// Names the port in the rules that are offered for hosts which a program looked up, where its words tell it.
    pub(crate) fn name_ports(&self, denials: &mut [Denial], words: ProgramWords<'_>) {
        let lookups = denials.iter_mut();
        for denial in lookups.filter(|denial| denial.operation == LOOK_UP) {
            let port = words.port_of(&denial.target);
            let refused = port.and_then(|port| lookup_refused(self, &denial.target, port));
            if let Some(refused) = refused {
                let refused = self.clean(refused);
                denial.hint = refused.hint;
                denial.advice = refused.advice;
            }
        }
    }

    /// The denial without secrets, of bounded size, and fit for a terminal. A program chooses the names that
    /// it asks for.
    pub(crate) fn clean(&self, mut denial: Denial) -> Denial {
        let clean = |text: &mut String| {
            let scrubbed = self.secrets.scrub_text(std::mem::take(text));
            *text = visible_line_to(&scrubbed, Denial::MAX_TEXT);
        };
        clean(&mut denial.target);
        clean(&mut denial.why);
        denial.rule.iter_mut().for_each(clean);
        denial.advice.iter_mut().for_each(clean);
        denial.grants.iter_mut().for_each(clean);
        // A rule with a secret in it is none that could be pasted.
        let scrubbed = denial
            .hint
            .clone()
            .map(|hint| self.secrets.scrub_text(hint));
        if scrubbed != denial.hint {
            denial.hint = None;
        }
        denial.bounded()
    }

    /// The line of a denial in the audit log.
    pub(crate) fn audit_denial(&self, denial: &Denial) {
        self.audit(AuditEntry {
            time: Timestamp::now(),
            tool: self.tool.clone(),
            call: self.call.clone(),
            handle: self.handle.clone(),
            operation: format!("sandbox.{}", denial.operation),
            target: denial.target.clone(),
            decision: AuditDecision::Deny,
            reason: match denial.guessed {
                true => format!("{} ({})", denial.why, Denial::GUESSED),
                false => denial.why.clone(),
            },
            rule: denial.rule.clone(),
            origin: None,
            hint: denial.hint.clone(),
            outcome: None,
            duration_us: None,
        });
    }
}

/// What is to be said of things that were not given.
#[cfg(unix)]
fn told_of(
    around: &context::RunSurroundings<'_>,
    missing: Vec<missing::MissingAccess>,
) -> Vec<(missing::MissingWeight, Denial)> {
    let mut missing = missing::grouped(around, missing, MAX_DENIALS);
    // To find out what would help takes a while, so that is done only for what is told.
    missing.sort_by_key(|one| one.weight);
    missing.truncate(MAX_DENIALS);
    let mut told = Vec::new();
    for one in missing {
        let denial = match &one.at {
            missing::MissingPlace::Workspace(path) => workspace_denial::denial(around, &one, path),
            missing::MissingPlace::Host(path) => host_denial::denial(around, &one, path),
            missing::MissingPlace::Program(name, path) => host_denial::program(around, name, path),
            missing::MissingPlace::Socket(path) => host_denial::socket(around, path),
        };
        let count = one.count;
        told.push((one.weight, Denial { count, ..denial }));
    }
    told
}

/// The most telling first, each once.
#[cfg(unix)]
fn in_order(mut told: Vec<(missing::MissingWeight, Denial)>) -> Vec<Denial> {
    told.sort_by_key(|(weight, _)| *weight);
    let mut denials: Vec<Denial> = Vec::new();
    for (_, denial) in told {
        let same = denials.iter_mut().find(|other| other.is_same(&denial));
        if let Some(other) = same {
            other.count = other.count.saturating_add(denial.count);
        } else if denials.len() < MAX_DENIALS {
            denials.push(denial);
        }
    }
    denials
}

/// How much is remembered of what a program that stays has made.
#[cfg(unix)]
const MOST_MADE: usize = 20_000;

/// The most denials that are told of one run. A program can want thousands of things, and a model pays for
/// each word.
pub const MAX_DENIALS: usize = 20;

/// The most denials that are guessed of one run. A tool can say what it likes, and must not have a list of paths looked
/// up on the host.
pub const MAX_GUESSED: usize = 5;
