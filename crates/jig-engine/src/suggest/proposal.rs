//! [`Proposal`]: the rules that a command needs, and what is left to a person.

use jig_broker::Preset;
use jig_config::{AddedFs, AddedSystem, Additions};
use jig_policy::{Capability, FileCapabilities, RuleOrigin, toml_string};
use jig_proto::ProjectPath;

use super::Learner;
use super::evidence::{self, Evidence};
use super::needs::{self, ProposalGuards};
use super::{outside, rules};

/// The rules that a command needs, in a fixed order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proposal {
    /// Rules on files of the workspace.
    pub fs: Vec<ProposedRule>,
    /// Directories of the workspace that have to be made before the command runs under these rules: a confined
    /// program makes nothing where it may not change anything.
    pub make: Vec<ProjectPath>,
    /// Paths outside the workspace.
    pub system: Vec<ProposedPath>,
    /// Toolchains.
    pub presets: Vec<ProposedPreset>,
    /// What the command wanted and is not proposed.
    pub withheld: Vec<WithheldAccess>,
    /// How many of the things that it asked for could not be noted.
    pub lost: u64,
}

/// A rule on files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedRule {
    /// The path and all below it.
    pub path: ProjectPath,
    /// What is granted.
    pub capabilities: FileCapabilities,
    /// Who used which capability there. Empty if the rule only takes away what one above it grants.
    pub evidence: Vec<(Capability, Evidence)>,
}

/// A path outside the workspace, which can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedPath {
    /// Absolute, or starting with `~/`.
    pub path: String,
    /// Whether programs there may be run.
    pub execute: bool,
    /// Who used it.
    pub evidence: Evidence,
}

/// A toolchain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedPreset {
    /// Which.
    pub preset: Preset,
    /// Who used it.
    pub evidence: Evidence,
}

/// Something that a command wanted and that only a person can give it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithheldAccess {
    /// What it is, such as `.env` or `example.com`.
    pub what: String,
    /// Why it is not proposed, as a clause.
    pub why: String,
    /// What to do if it is needed all the same.
    pub advice: String,
    /// Who wanted it.
    pub evidence: Evidence,
}

impl Proposal {
    /// The rules as additions to a configuration.
    pub fn additions(&self) -> Additions {
        let fs = self.fs.iter().map(|rule| AddedFs {
            path: rule.path.to_string(),
            capabilities: rule.capabilities,
            comment: self.comment(rule),
        });
        let system = self.system.iter().map(|added| AddedSystem {
            path: added.path.clone(),
            write: false,
            execute: added.execute,
            comment: vec![format!("used {}", added.evidence.told())],
        });
        let presets = self.presets.iter().filter_map(|added| {
            let words = jig_config::Preset::ALL.iter().copied();
            words
                .clone()
                .find(|word| word.name() == added.preset.name())
        });
        Additions {
            fs: fs.collect(),
            system: system.collect(),
            presets: presets.collect(),
            ..Additions::default()
        }
    }

    /// Whether it grants the same as another, whatever was seen.
    pub fn grants_as(&self, other: &Proposal) -> bool {
        let bare = |proposal: &Proposal| {
            let mut additions = proposal.additions();
            additions
                .fs
                .iter_mut()
                .for_each(|rule| rule.comment.clear());
            additions
                .system
                .iter_mut()
                .for_each(|path| path.comment.clear());
            (additions, proposal.make.clone())
        };
        bare(self) == bare(other)
    }

    fn comment(&self, rule: &ProposedRule) -> Vec<String> {
        let mut comment = evidence::lines(&rule.evidence);
        if rule.evidence.is_empty() {
            comment.push(match rule.path.is_root() {
                true => "nothing of the workspace was used".to_owned(),
                false => "less than around it: nothing was changed here".to_owned(),
            });
        }
        if self.make.contains(&rule.path) {
            comment.push("it has to exist: the command cannot make it".to_owned());
        }
        comment
    }
}

impl WithheldAccess {
    pub(super) fn new(what: &str, why: String, advice: String) -> Self {
        Self {
            what: what.to_owned(),
            why,
            advice,
            evidence: Evidence::default(),
        }
    }

    pub(super) fn sensitive_inside(path: &str, pattern: &str) -> Self {
        Self::new(
            path,
            format!("it is on the list of sensitive paths (`{pattern}`)"),
            format!(
                "if it is meant, add a rule that names it: `{{ path = {}, read = true }}`",
                toml_string(path)
            ),
        )
    }

    pub(super) fn denied(path: &str, origin: &RuleOrigin) -> Self {
        Self::new(
            path,
            format!("a rule denies it ({origin})"),
            "if it is meant, change that rule".to_owned(),
        )
    }

    pub(super) fn protected(path: &str, what: &str, can_be_named: bool) -> Self {
        let advice = match can_be_named {
            true if path.starts_with(".git") => {
                "if it is meant, add `sandbox.presets = [\"git\"]`".to_owned()
            }
            true => format!(
                "if it is meant, add a rule that names it: `{{ path = {}, write = true }}`",
                toml_string(path)
            ),
            false => "no rule can allow that".to_owned(),
        };
        Self::new(path, format!("changing it changes {what}"), advice)
    }
}

/// What was learned, as a proposal.
pub(super) fn of(learner: &Learner) -> Proposal {
    let guards = &learner.guards;
    let standing = ProposalGuards {
        sensitive: &guards.sensitive,
        all: guards,
        tool: &learner.tool,
    };
    let mut needs = needs::of(learner, &standing);
    let (presets, system) = outside::of(learner, &guards.sensitive, &mut needs);
    let mut make: Vec<ProjectPath> = needs.make.iter().cloned().collect();
    let withheld = std::mem::take(&mut needs.withheld).into_values();
    let observations = learner.runs.iter().map(|run| &run.observation);
    let mut fs = rules::of(learner, &needs);
    // What has no rule of its own is made by the command, as the rule around it allows.
    make.retain(|path| fs.iter().any(|rule| rule.path == *path));
    if fs.is_empty() && learner.tool.access.fs.is_empty() {
        // Without any rule the whole workspace would be open.
        fs.push(ProposedRule {
            path: ProjectPath::root(),
            capabilities: FileCapabilities::NONE,
            evidence: Vec::new(),
        });
    }
    Proposal {
        fs,
        make,
        system,
        presets,
        withheld: withheld.collect(),
        lost: observations.map(|seen| seen.lost + seen.unread).sum(),
    }
}

/// The end of a warning about a path as a clause of its own.
pub fn warning_clause(warning: &str) -> String {
    let beginnings = [
        ("and with it ", "it opens "),
        ("which ", "it "),
        ("in ", "it lies in "),
    ];
    let mut told = beginnings.iter().filter_map(|(old, new)| {
        let rest = warning.strip_prefix(old)?;
        Some(format!("{new}{rest}"))
    });
    told.next().unwrap_or_else(|| format!("it is {warning}"))
}
