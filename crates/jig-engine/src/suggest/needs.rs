//! [`WorkspaceNeeds`]: what a command has to be allowed in the workspace, path by path.
//!
//! A right is needed where the sandbox asks for it: making and removing a name is done to the directory that
//! it is in, all else to the path itself.

use std::collections::{BTreeMap, BTreeSet};

use jig_files::PathKind;
use jig_policy::{Capability, ProtectionLevel, Sensitive};
use jig_proto::ProjectPath;
use jig_sandbox::{ObservedAccess, ObservedTarget, Rights};

use super::Learner;
use super::evidence::Evidence;
use super::group::PathEvidence;
use super::host_files::HostEntryKind;
use super::proposal::WithheldAccess;

/// What is needed where, and what is not given.
#[derive(Debug, Default)]
pub(super) struct WorkspaceNeeds {
    /// The places of each capability.
    pub(super) places: BTreeMap<Capability, PathEvidence>,
    /// Directories that were asked about, and nothing else.
    pub(super) glimpsed: PathEvidence,
    /// Directories that have to be there before the command runs.
    pub(super) make: BTreeSet<ProjectPath>,
    /// What is not proposed, by what it is.
    pub(super) withheld: BTreeMap<String, WithheldAccess>,
    /// Names that were removed, or that something else took: no rule can be held at one of them.
    replaced: BTreeSet<ProjectPath>,
    /// New files that stayed, what was done with them, and by whom.
    kept: Vec<(ProjectPath, Rights, Evidence)>,
}

/// What all runs of a learner needed in the workspace.
pub(super) fn of(learner: &Learner, rules: &ProposalGuards<'_>) -> WorkspaceNeeds {
    let mut needs = WorkspaceNeeds::default();
    for seen in learner.runs.iter().flat_map(|run| &run.observation.seen) {
        let ObservedTarget::Path(path) = &seen.target else {
            continue;
        };
        if let Some(path) = learner.ground.relative(path) {
            needs.take(learner, rules, &path, seen);
        }
    }
    needs.settle(learner);
    needs
}

/// What stands above proposals: the lists of sensitive and of protected paths, and the user's own denials.
pub(super) struct ProposalGuards<'a> {
    pub(super) sensitive: &'a Sensitive,
    pub(super) all: &'a jig_policy::Guards,
    pub(super) tool: &'a jig_config::Tool,
}

impl ProposalGuards<'_> {
    /// Why nothing is proposed at a path.
    fn withholds(&self, path: &ProjectPath) -> Option<WithheldAccess> {
        let rules = self.tool.access.fs.iter();
        let mut rules = rules.filter_map(|rule| {
            let at = ProjectPath::normalize(&rule.path).ok()?;
            path.starts_with(&at).then_some((at, rule))
        });
        if let Some(found) = self.sensitive.find(path) {
            // A rule that is as deep as the sensitive part names it: somebody has decided already.
            if rules.any(|(at, rule)| at.depth() >= found.depth && !rule.capabilities.is_empty()) {
                return None;
            }
            let names: Vec<&str> = path.components().take(found.depth).collect();
            return Some(WithheldAccess::sensitive_inside(
                &names.join("/"),
                found.pattern,
            ));
        }
        let deepest = rules.max_by_key(|(at, _)| at.depth());
        let (at, rule) = deepest.filter(|(_, rule)| rule.capabilities.is_empty())?;
        Some(WithheldAccess::denied(&at.to_string(), &rule.origin))
    }

    /// Why no change is proposed at a path.
    fn keeps(&self, path: &ProjectPath) -> Option<WithheldAccess> {
        let (guard, depth) = self.all.protection(path)?;
        let is_named = guard.level == ProtectionLevel::Named;
        let names: Vec<&str> = path.components().take(depth).collect();
        Some(WithheldAccess::protected(
            &names.join("/"),
            &guard.what,
            is_named,
        ))
    }
}

impl WorkspaceNeeds {
    fn take(
        &mut self,
        learner: &Learner,
        rules: &ProposalGuards<'_>,
        path: &ProjectPath,
        seen: &ObservedAccess,
    ) {
        let here = learner.ground.inside(path);
        let mut rights = seen.wanted;
        let evidence = Evidence::of(seen);
        let changes = rights.has_any(Rights::WRITE);
        if let Some(withheld) = rules.withholds(path) {
            // What is not there was not missed.
            if here.is_some() || changes {
                self.withhold(withheld, &evidence);
            }
            return;
        }
        if changes && let Some(withheld) = rules.keeps(path) {
            self.withhold(withheld, &evidence);
            if here.is_none() {
                return;
            }
            rights = rights.without(Rights::WRITE);
        }
        match here {
            Some(kind) => self.take_old(path, kind, rights, seen.looked, &evidence),
            None => self.take_new(learner, path, rights, &evidence),
        }
    }

    /// Something that was there before the command ran.
    fn take_old(
        &mut self,
        path: &ProjectPath,
        kind: HostEntryKind,
        rights: Rights,
        looked: bool,
        evidence: &Evidence,
    ) {
        if rights.has(Rights::READ) {
            match kind {
                HostEntryKind::Directory if looked => note(&mut self.glimpsed, path, evidence),
                // Whoever lists the workspace sees there what rules show.
                HostEntryKind::Directory if path.is_root() => {}
                _ => self.need(Capability::Read, path, evidence),
            }
        }
        if rights.has(Rights::UPDATE) && !(kind == HostEntryKind::Directory && path.is_root()) {
            self.need(Capability::Update, path, evidence);
        }
        if rights.has(Rights::EXECUTE) {
            self.need(Capability::Read, path, evidence);
            self.need(Capability::Execute, path, evidence);
        }
        if let Some(parent) = path.parent() {
            for (right, one) in NAMES {
                if rights.has(right) {
                    self.need(one, &parent, evidence);
                    self.replaced.insert(path.clone());
                }
            }
        }
    }

    /// Something that came into being with the command, if it did.
    fn take_new(
        &mut self,
        learner: &Learner,
        path: &ProjectPath,
        rights: Rights,
        evidence: &Evidence,
    ) {
        let (top, old) = edge(learner, path);
        let stays = learner.created.get(&top).copied();
        if stays.is_none() && !rights.has_any(Rights::WRITE) {
            return;
        }
        let is_passing = stays.is_none() && old.is_root();
        if is_passing && !learner.counts_passing && learner.makes_directories() {
            return;
        }
        // A directory in the workspace's own: if it is there beforehand, nothing around it must be opened.
        let is_made = stays == Some(PathKind::Directory) && old.is_root() && learner.makes;
        if is_made && may_be_made(top.as_str()) {
            self.take_all(&top, rights, evidence);
            if rights.has(Rights::CREATE) && *path != top {
                // The next time it is there, and is changed.
                self.need(Capability::Update, &top, evidence);
            }
            self.make.insert(top);
            return;
        }
        // A file that gets another name each time cannot be named.
        let is_kept = top == *path && matches!(stays, Some(PathKind::File | PathKind::Symlink));
        if is_kept && !is_generated(path.file_name().unwrap_or_default()) {
            for (right, one) in NAMES {
                if rights.has(right) {
                    self.need(one, &old, evidence);
                }
            }
            self.kept.push((top, rights, evidence.clone()));
        } else {
            self.take_all(&old, rights, evidence);
        }
    }

    /// Finds the places of what depends on all the rest.
    fn settle(&mut self, learner: &Learner) {
        let removes = self.places.get(&Capability::Delete).cloned();
        let removes = removes.unwrap_or_default();
        for (path, rights, evidence) in std::mem::take(&mut self.kept) {
            let parent = path.parent().unwrap_or_default();
            // A file that stays is named by itself, so that the others around it cannot be changed; but not
            // one that may have come to its name by a rename, which the next one replaces.
            let place = match removes.contains_key(names(&parent).as_slice()) {
                true => &parent,
                false => &path,
            };
            let rights = rights.with(Rights::CREATE).without(Rights::DELETE);
            self.take_all(place, rights, &evidence);
            // The next time it is there, and is changed.
            self.need(Capability::Update, place, &evidence);
            if learner.changes_around {
                self.need(Capability::Update, &parent, &evidence);
            }
        }
        for path in &self.replaced {
            let (own, mut around) = (names(path), names(path));
            around.pop();
            for places in self.places.values_mut() {
                if let Some(evidence) = places.remove(&own) {
                    places.entry(around.clone()).or_default().add(&evidence);
                }
            }
        }
    }

    /// Whether no rule can be held at a path, because something else takes its name.
    pub(super) fn is_replaced(&self, path: &ProjectPath) -> bool {
        self.replaced.contains(path)
    }

    /// Needs all of it at one place.
    fn take_all(&mut self, place: &ProjectPath, rights: Rights, evidence: &Evidence) {
        for (right, one) in PAIRS {
            let is_meant = right != Rights::UPDATE || !place.is_root();
            if rights.has(right) && is_meant {
                self.need(one, place, evidence);
            }
        }
        if rights.has(Rights::EXECUTE) {
            self.need(Capability::Read, place, evidence);
        }
    }

    fn need(&mut self, one: Capability, path: &ProjectPath, evidence: &Evidence) {
        note(self.places.entry(one).or_default(), path, evidence);
    }

    pub(super) fn withhold(&mut self, withheld: WithheldAccess, evidence: &Evidence) {
        let known = self.withheld.entry(withheld.what.clone());
        known.or_insert(withheld).evidence.add(evidence);
    }
}

/// Where the new begins above a path that was not there: the topmost new name, and the directory around it.
fn edge(learner: &Learner, path: &ProjectPath) -> (ProjectPath, ProjectPath) {
    let mut top = path.clone();
    while let Some(parent) = top.parent() {
        if parent.is_root() || learner.ground.inside(&parent).is_some() {
            return (top, parent);
        }
        top = parent;
    }
    (top, ProjectPath::root())
}

fn note(places: &mut PathEvidence, path: &ProjectPath, evidence: &Evidence) {
    places.entry(names(path)).or_default().add(evidence);
}

fn names(path: &ProjectPath) -> Vec<String> {
    path.components().map(str::to_owned).collect()
}

/// Whether a directory at the top of the workspace can be made for a command. An empty repository is none, a
/// name that the next run would not choose again helps nobody, and some names nobody should have to type.
fn may_be_made(name: &str) -> bool {
    name != ".git" && !is_generated(name) && !name.contains(char::is_control)
}

/// Whether a name looks as if the next run would choose another: it holds a number, or a hash.
fn is_generated(name: &str) -> bool {
    let longest = |is: fn(char) -> bool| {
        let runs = name.split(|c: char| !is(c));
        runs.map(str::len).max().unwrap_or(0)
    };
    let has_digit = name.contains(|c: char| c.is_ascii_digit());
    longest(|c| c.is_ascii_digit()) >= 4 || has_digit && longest(|c| c.is_ascii_hexdigit()) >= 8
}

/// What is done to the directory that a name is in.
const NAMES: [(Rights, Capability); 2] = [
    (Rights::CREATE, Capability::Create),
    (Rights::DELETE, Capability::Delete),
];

const PAIRS: [(Rights, Capability); 5] = [
    (Rights::READ, Capability::Read),
    (Rights::CREATE, Capability::Create),
    (Rights::UPDATE, Capability::Update),
    (Rights::DELETE, Capability::Delete),
    (Rights::EXECUTE, Capability::Execute),
];
