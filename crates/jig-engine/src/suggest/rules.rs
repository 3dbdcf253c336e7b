//! From what is needed where to rules: few, readable, and such that the kernel can hold them.

use std::collections::{BTreeMap, BTreeSet};

use jig_policy::{Capability, DeclaredFsRule, FileCapabilities};
use jig_proto::ProjectPath;

use super::Learner;
use super::evidence::Evidence;
use super::group::{self, Grouping, PathEvidence, UsedEntries};
use super::host_files::HostEntryKind;
use super::needs::WorkspaceNeeds;
use super::proposal::ProposedRule;

/// The rules on files, outer ones first.
pub(super) fn of(learner: &Learner, needs: &WorkspaceNeeds) -> Vec<ProposedRule> {
    let mut width = learner.width;
    loop {
        let rules = ProposalRules::new(learner, needs, width).rules();
        // Nobody reads a thousand rules, and a program must not be able to make us propose them.
        if rules.len() <= MOST_RULES || width == 0 {
            return added(&learner.tool.access.fs, rules);
        }
        width /= 2;
    }
}

/// The needs of a command while they become rules.
struct ProposalRules<'a> {
    learner: &'a Learner,
    needs: &'a WorkspaceNeeds,
    /// The entries of the workspace's own directory.
    top: Vec<ProjectPath>,
    /// What is done to names in that directory. It reaches all below it, and is taken back there.
    around: BTreeMap<Capability, Evidence>,
    /// All else, gathered.
    places: BTreeMap<Capability, PathEvidence>,
}

impl<'a> ProposalRules<'a> {
    fn new(learner: &'a Learner, needs: &'a WorkspaceNeeds, width: usize) -> Self {
        let top = learner.ground.top();
        let mut places = needs.places.clone();
        let mut around = BTreeMap::new();
        for one in FileCapabilities::WRITE.iter() {
            let own = places.get_mut(&one).and_then(|places| places.remove(ROOT));
            around.extend(own.map(|evidence| (one, evidence)));
        }
        let places = places.into_iter();
        let places = places.map(|(one, places)| (one, gathered(one, places, width, top.len())));
        let mut ruling = Self {
            learner,
            needs,
            around,
            places: places.collect(),
            top,
        };
        ruling.show_glimpsed();
        ruling
    }

    /// Shows directories that were asked about and of which nothing else can be seen.
    fn show_glimpsed(&mut self) {
        let glimpsed = self.needs.glimpsed.iter();
        for (path, evidence) in glimpsed.filter(|(path, _)| !path.is_empty()) {
            let is_seen = self.places.values().any(|places| {
                let mut below = places.range(path.clone()..).map(|(below, _)| below);
                group::covers(places, path) || below.next().is_some_and(|it| it.starts_with(path))
            });
            if !is_seen {
                let read = self.places.entry(Capability::Read).or_default();
                read.insert(path.clone(), evidence.clone());
            }
        }
    }

    fn rules(&self) -> Vec<ProposedRule> {
        let mut granted: BTreeMap<Vec<String>, FileCapabilities> = BTreeMap::new();
        for path in self.paths() {
            let above = above(&granted, &path).map(|(_, granted)| *granted);
            let needed = self.needed(&path);
            let needed = above.map_or(needed, |above| holdable(needed, above));
            if above != Some(needed) {
                granted.insert(path, needed);
            }
        }
        let mut evidence = self.evidence(&granted);
        let rules = granted.into_iter().filter_map(|(names, capabilities)| {
            let path = match names.is_empty() {
                true => ProjectPath::root(),
                false => ProjectPath::normalize(&names.join("/")).ok()?,
            };
            let evidence = evidence.remove(&names).unwrap_or_default();
            Some(ProposedRule {
                path,
                capabilities,
                evidence: evidence.into_iter().collect(),
            })
        });
        rules.collect()
    }

    /// Where there may be rules, outer paths first.
    fn paths(&self) -> BTreeSet<Vec<String>> {
        let places = self.places.values();
        let mut paths: BTreeSet<Vec<String>> =
            places.flat_map(|places| places.keys().cloned()).collect();
        if self.around.is_empty() {
            return paths;
        }
        paths.insert(Vec::new());
        // To make a name is not to change others, but what removes can also replace.
        let mut ways = self.around.keys();
        let changes_others = self.learner.whole || ways.any(|one| *one != Capability::Create);
        let kept = self.top.iter().filter(|path| {
            let is_directory = self.learner.ground.inside(path) == Some(HostEntryKind::Directory);
            let is_sensitive = self.learner.guards.sensitive.find(path).is_some();
            (is_directory || changes_others) && !is_sensitive && !self.needs.is_replaced(path)
        });
        paths.extend(kept.take(MOST_KEPT).map(|path| vec![path.to_string()]));
        paths
    }

    /// What is to be granted at a path, if nothing around it is considered.
    fn needed(&self, path: &[String]) -> FileCapabilities {
        let places = self.places.iter();
        let covering = places.filter(|(_, places)| group::covers(places, path));
        let mut needed: FileCapabilities = covering.map(|(one, _)| *one).collect();
        if path.is_empty() {
            needed = needed | self.around.keys().copied().collect();
        } else if !self.around.is_empty() {
            needed = needed | READ;
        }
        if !(needed & FileCapabilities::WRITE).is_empty() {
            // Whoever makes a file sees it.
            needed = needed | READ;
            // What can be removed and made anew can be changed.
            let replaces = needed.has(Capability::Create) && needed.has(Capability::Delete);
            if self.learner.whole || replaces {
                needed = needed | FileCapabilities::WRITE;
            }
        }
        needed
    }

    /// Who did what, by the rule that speaks of it, which may be one around it.
    fn evidence(
        &self,
        rules: &BTreeMap<Vec<String>, FileCapabilities>,
    ) -> BTreeMap<Vec<String>, BTreeMap<Capability, Evidence>> {
        let of_around = self.around.iter().map(|(one, seen)| (*one, ROOT, seen));
        let of_places = self.places.iter().flat_map(|(one, places)| {
            let places = places.iter();
            places.map(|(path, seen)| (*one, path.as_slice(), seen))
        });
        let mut evidence: BTreeMap<Vec<String>, BTreeMap<Capability, Evidence>> = BTreeMap::new();
        for (one, path, seen) in of_around.chain(of_places) {
            if let Some((rule, _)) = above(rules, path) {
                let told = evidence.entry(rule.to_vec()).or_default();
                told.entry(one).or_default().add(seen);
            }
        }
        evidence
    }
}

/// The deepest entry at or above a path.
fn above<'a, T>(
    all: &'a BTreeMap<Vec<String>, T>,
    path: &'a [String],
) -> Option<(&'a [String], &'a T)> {
    let mut above = (0..=path.len()).rev().map(|depth| &path[..depth]);
    above.find_map(|above| Some((above, all.get(above)?)))
}

/// The rules of a proposal that say something new beside those that there are. None takes away what one
/// around it grants.
fn added(old: &[DeclaredFsRule], new: Vec<ProposedRule>) -> Vec<ProposedRule> {
    let old = old.iter().filter_map(|rule| {
        let path = ProjectPath::normalize(&rule.path).ok()?;
        Some((path, rule.capabilities))
    });
    let old: Vec<(ProjectPath, FileCapabilities)> = old.collect();
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
fn deepest(
    rules: &[(ProjectPath, FileCapabilities)],
    path: &ProjectPath,
) -> Option<FileCapabilities> {
    let above = rules.iter().filter(|(at, _)| path.starts_with(at));
    let deepest = above.max_by_key(|(at, _)| at.depth());
    deepest.map(|(_, granted)| *granted)
}

/// Gathers the places of a capability. `top` is how many entries the workspace's own directory has.
fn gathered(one: Capability, places: PathEvidence, width: usize, top: usize) -> PathEvidence {
    let may_be = |directory: &[String], used: UsedEntries| match (directory.is_empty(), one) {
        (false, _) => true,
        // The workspace as a whole, if most of a large one is read: a few files are named. For anything else only if
        // its own entries are: there the kernel asks about the directory, so that naming them would not help.
        (true, Capability::Read) => used.all > MOST_NAMED && used.all * 2 >= top,
        (true, _) => used.directly > width,
    };
    group::gathered(
        places,
        &Grouping {
            width,
            may_be: &may_be,
        },
    )
}

/// What a rule has to grant inside another one, so that the kernel can hold it: it takes back all changes or
/// none, and reading only with everything else.
fn holdable(granted: FileCapabilities, above: FileCapabilities) -> FileCapabilities {
    if granted.is_empty() {
        return granted;
    }
    let changes = (granted & FileCapabilities::WRITE).is_empty();
    let kept = match changes {
        true => READ,
        false => READ | FileCapabilities::WRITE,
    };
    granted | (above & kept)
}

/// The most rules that are proposed before more is gathered.
const MOST_RULES: usize = 60;

/// How many entries of the workspace's own directory are named before all of the workspace is opened for reading.
const MOST_NAMED: usize = 30;

/// How many entries of the workspace's own directory are kept from what can be done in it.
const MOST_KEPT: usize = 64;

const ROOT: &[String] = &[];

const READ: FileCapabilities = FileCapabilities::just(Capability::Read);
