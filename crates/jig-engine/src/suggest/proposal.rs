//! [`Proposal`]: the rules that a command needs, and what is left to a person.

use std::collections::{BTreeMap, BTreeSet};

use jig_broker::Preset;
use jig_config::{AddedFs, AddedSystem, Additions};
use jig_policy::{Capabilities, Capability, FsRule, Origin};
use jig_proto::ProjectPath;

use super::Learner;
use super::evidence::{self, Evidence};
use super::ground::Kind;
use super::group::{self, Grouping, Places, Used};
use super::needs::{self, Needs, Standing};
use super::outside;

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
    pub withheld: Vec<Withheld>,
    /// How many of the things that it asked for could not be noted.
    pub lost: u64,
}

/// A rule on files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedRule {
    /// The path and all below it.
    pub path: ProjectPath,
    /// What is granted.
    pub capabilities: Capabilities,
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
pub struct Withheld {
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

impl Withheld {
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
                "if it is meant, add a rule that names it: `{{ path = \"{path}\", read = true }}`"
            ),
        )
    }

    pub(super) fn denied(path: &str, origin: &Origin) -> Self {
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
                "if it is meant, add a rule that names it: `{{ path = \"{path}\", write = true }}`"
            ),
            false => "no rule can allow that".to_owned(),
        };
        Self::new(path, format!("changing it changes {what}"), advice)
    }
}

/// What was learned, as a proposal.
pub(super) fn of(learner: &Learner) -> Proposal {
    let guards = &learner.guards;
    let standing = Standing {
        sensitive: &guards.sensitive,
        protected: &guards.protected,
        tool: &learner.tool,
    };
    let mut needs = needs::of(learner, &standing);
    let (presets, system) = outside::of(learner, &guards.sensitive, &mut needs);
    let mut make = needs.make.clone();
    let withheld = std::mem::take(&mut needs.withheld).into_values();
    let observations = learner.runs.iter().map(|run| &run.observation);
    let mut fs = rules(learner, &needs);
    // What has no rule of its own is made by the command, as the rule around it allows.
    make.retain(|path| fs.iter().any(|rule| rule.path == *path));
    if fs.is_empty() && learner.tool.access.fs.is_empty() {
        // Without any rule the whole workspace would be open.
        fs.push(ProposedRule {
            path: ProjectPath::root(),
            capabilities: Capabilities::NONE,
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

/// The rules on files, outer ones first.
fn rules(learner: &Learner, needs: &Needs) -> Vec<ProposedRule> {
    let top = learner.ground.top();
    let mut places = needs.places.clone();
    // What is done to names in the workspace's own directory reaches all below it, and is taken back there.
    let mut around: BTreeMap<Capability, Evidence> = BTreeMap::new();
    for one in Capabilities::WRITE.iter() {
        let own = places.get_mut(&one).and_then(|places| places.remove(ROOT));
        around.extend(own.map(|evidence| (one, evidence)));
    }
    let mut places: BTreeMap<Capability, Places> = places
        .into_iter()
        .map(|(one, places)| (one, gathered(learner, one, places, top.len())))
        .collect();
    show_glimpsed(needs.glimpsed.clone(), &mut places);

    let mut paths: BTreeSet<Vec<String>> = BTreeSet::new();
    paths.extend(places.values().flat_map(|places| places.keys().cloned()));
    if !around.is_empty() {
        paths.insert(Vec::new());
        // To make a name is not to change others, but what removes can also replace.
        let changes_others = learner.whole || around.keys().any(|one| *one != Capability::Create);
        let kept = top.iter().filter(|path| {
            let is_directory = learner.ground.inside(path) == Some(Kind::Directory);
            let is_sensitive = learner.guards.sensitive.find(path).is_some();
            (is_directory || changes_others) && !is_sensitive && !needs.is_replaced(path)
        });
        paths.extend(kept.take(MOST_KEPT).map(|path| vec![path.to_string()]));
    }
    let own = |path: &[String]| -> Capabilities {
        let covered = places
            .iter()
            .filter(|(_, places)| group::covers(places, path));
        covered.map(|(one, _)| *one).collect()
    };
    let mut rules: Vec<(Vec<String>, Capabilities)> = Vec::new();
    for path in paths {
        let mut granted = own(&path);
        if path.is_empty() {
            granted = granted | around.keys().copied().collect();
        } else if !around.is_empty() {
            granted = granted | READ;
        }
        if granted.iter().any(|one| Capabilities::WRITE.has(one)) {
            // Whoever makes a file sees it.
            granted = granted | READ;
            // What can be removed and made anew can be changed.
            let replaces = granted.has(Capability::Create) && granted.has(Capability::Delete);
            if learner.whole || replaces {
                granted = granted | Capabilities::WRITE;
            }
        }
        let above = rules
            .iter()
            .rev()
            .find(|(above, _)| path.starts_with(above));
        let above = above.map(|(_, granted)| *granted);
        granted = above.map_or(granted, |above| holdable(granted, above));
        if above != Some(granted) {
            rules.push((path, granted));
        }
    }
    let mut evidence = vec![BTreeMap::new(); rules.len()];
    let of_around = around.iter().map(|(one, evidence)| (*one, ROOT, evidence));
    let of_places = places.iter().flat_map(|(one, places)| {
        let places = places.iter();
        places.map(|(path, evidence)| (*one, path.as_slice(), evidence))
    });
    for (one, path, seen) in of_around.chain(of_places) {
        // It is told at the rule that speaks of it, which may be one around it.
        let rule = rules.iter().rposition(|(above, _)| path.starts_with(above));
        if let Some(told) = rule.and_then(|rule| evidence.get_mut(rule)) {
            let told: &mut Evidence = told.entry(one).or_default();
            told.add(seen);
        }
    }
    let rules = rules.into_iter().zip(evidence);
    let rules = rules.filter_map(|((names, granted), evidence)| {
        let path = match names.is_empty() {
            true => ProjectPath::root(),
            false => ProjectPath::normalize(&names.join("/")).ok()?,
        };
        Some(ProposedRule {
            capabilities: granted,
            path,
            evidence: evidence.into_iter().collect(),
        })
    });
    added(&learner.tool.access.fs, rules)
}

/// The rules of a proposal that say something new beside those that there are. None takes away what one
/// around it grants.
fn added(old: &[FsRule], new: impl Iterator<Item = ProposedRule>) -> Vec<ProposedRule> {
    let old = old.iter().filter_map(|rule| {
        let path = ProjectPath::normalize(&rule.path).ok()?;
        Some((path, rule.capabilities))
    });
    let old: Vec<(ProjectPath, Capabilities)> = old.collect();
    let mut all = old.clone();
    let mut added = Vec::new();
    for mut rule in new {
        rule.capabilities = rule.capabilities | deepest(&old, &rule.path).unwrap_or_default();
        if deepest(&all, &rule.path) != Some(rule.capabilities) {
            all.push((rule.path.clone(), rule.capabilities));
            added.push(rule);
        }
    }
    added
}

/// What the deepest rule at or above a path grants; of several, the last.
fn deepest(rules: &[(ProjectPath, Capabilities)], path: &ProjectPath) -> Option<Capabilities> {
    let above = rules.iter().filter(|(at, _)| path.starts_with(at));
    let deepest = above.max_by_key(|(at, _)| at.depth());
    deepest.map(|(_, granted)| *granted)
}

fn gathered(learner: &Learner, one: Capability, places: Places, top: usize) -> Places {
    let may_be = |directory: &[String], used: Used| match (directory.is_empty(), one) {
        (false, _) => true,
        // The workspace as a whole, if most of it is read; for anything else only if its own entries are.
        (true, Capability::Read) => used.all * 2 >= top,
        (true, _) => used.directly > learner.width,
    };
    group::gathered(
        places,
        &Grouping {
            width: learner.width,
            may_be: &may_be,
        },
    )
}

/// What a rule has to grant inside another one, so that the kernel can hold it: it takes back all changes or
/// none, and reading only with everything else.
fn holdable(granted: Capabilities, above: Capabilities) -> Capabilities {
    if granted.is_empty() {
        return granted;
    }
    let changes = (granted & Capabilities::WRITE).is_empty();
    let kept = match changes {
        true => READ,
        false => READ | Capabilities::WRITE,
    };
    granted | (above & kept)
}

/// Shows directories that were asked about and of which nothing else can be seen.
fn show_glimpsed(glimpsed: Places, places: &mut BTreeMap<Capability, Places>) {
    for (path, evidence) in glimpsed.into_iter().filter(|(path, _)| !path.is_empty()) {
        let mut all = places.values();
        let is_seen = all.any(|places| {
            group::covers(places, &path) || places.keys().any(|below| below.starts_with(&path))
        });
        if !is_seen {
            places
                .entry(Capability::Read)
                .or_default()
                .insert(path, evidence);
        }
    }
}

/// How many entries of the workspace's own directory are kept from what can be done in it.
const MOST_KEPT: usize = 64;

const ROOT: &[String] = &[];

const READ: Capabilities = Capabilities::just(Capability::Read);
