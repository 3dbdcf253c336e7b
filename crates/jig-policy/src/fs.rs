//! Rules on files, compiled: the most specific one for a path in one pass over its components.

mod follow;
mod guarded;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use jig_proto::ProjectPath;

use self::follow::LinkJudge;
pub(crate) use self::guarded::Guarded;
use self::guarded::LazyGuarded;
use crate::decision::{Decision, Reason, Rule};
use crate::guard::{GuardKind, GuardLines, Protected, ProtectionLevel};
use crate::index::{Index, IndexEntry, IndexHit, Levels, SEED, absorb};
use crate::lookup::Lookup;
use crate::planter::{Planters, UnfollowedLink};
use crate::policy::{RuleError, RuleErrorKind, RuleKind};
use crate::resolve::{ResolveError, ResolvedPath, RulePath, Workspace};
use crate::rules::{DeclaredFsRule, RuleOrigin};
use crate::sensitive::{Sensitive, SensitiveBelow};
use crate::{Capability, DefaultAccess, FileCapabilities};

/// A rule with its path in canonical form.
#[derive(Debug, Clone)]
pub struct CompiledFsRule {
    pub(crate) declared: DeclaredFsRule,
    path: ProjectPath,
    /// The text of the path in normal form. Only this names a guarded path.
    named: ProjectPath,
    granted: FileCapabilities,
    unfollowed: Option<Box<UnfollowedLink>>,
    is_default: bool,
    /// The rule before it at the same path: what this one does not follow its link with, that one decides.
    overruled: u32,
}

impl CompiledFsRule {
    /// The canonical path, to which targets are compared.
    pub fn path(&self) -> &ProjectPath {
        &self.path
    }

    /// The path as it was written.
    pub fn written(&self) -> &str {
        &self.declared.path
    }

    /// What the rule grants there.
    pub fn capabilities(&self) -> FileCapabilities {
        self.granted
    }

    /// What the rule grants by its text and not at its canonical path, because a link leads there.
    pub fn unfollowed(&self) -> Option<&UnfollowedLink> {
        self.unfollowed.as_deref()
    }

    /// Whether the rule decides nothing about `capability`, because a link leads to its canonical path.
    pub(crate) fn passes_over(&self, capability: Capability) -> bool {
        let unfollowed = self.unfollowed.as_ref();
        unfollowed.is_some_and(|link| link.capabilities.has(capability))
    }

    fn withholds(&self, capability: Capability) -> bool {
        !self.granted.has(capability) && !self.passes_over(capability)
    }

    /// Where it was declared.
    pub fn origin(&self) -> &RuleOrigin {
        &self.declared.origin
    }

    /// Whether nobody declared it: it is the default of the tool's runtime.
    pub fn is_default(&self) -> bool {
        self.is_default
    }
}

#[derive(Debug, Clone)]
pub(crate) struct FsTable {
    rules: Vec<CompiledFsRule>,
    sensitive: Sensitive,
    /// Path to the last rule there; the bits are its capabilities.
    by_path: Index,
    rule_levels: Levels,
    /// Path to what is withheld strictly below it, in `below`.
    above: Index,
    below: Vec<PathRestrictions>,
    guarded: Arc<LazyGuarded>,
}

/// What is withheld below a path: numbers of a rule.
#[derive(Debug, Clone, Copy)]
struct PathRestrictions {
    undeletable: u32,
    uncreatable: u32,
}

const NONE: u32 = u32::MAX;

impl FsTable {
    /// Compiles rules. Where the protected paths lead is found by `guarded`, when a decision first needs it.
    pub(crate) fn compile<L: Lookup>(
        declared: &[DeclaredFsRule],
        default: DefaultAccess,
        sensitive: Sensitive,
        guarded: impl FnOnce() -> Guarded + Send + 'static,
        workspace: &Workspace<L>,
        errors: &mut Vec<RuleError>,
    ) -> Self {
        let guarded: LazyGuarded = LazyLock::new(Box::new(guarded));
        let mut resolved = Vec::with_capacity(declared.len());
        for (index, rule) in declared.iter().enumerate() {
            match rule_path(rule, &guarded, workspace) {
                Ok(path) => resolved.push((rule, path)),
                Err(error) => errors.push(RuleError {
                    resource: RuleKind::Fs,
                    index,
                    origin: rule.origin.clone(),
                    kind: RuleErrorKind::Path(error),
                }),
            }
        }
        let mut rules = compiled(&resolved, &sensitive, &guarded, workspace);
        if declared.is_empty() {
            rules.push(default_rule(default));
        }
        let mut last: HashMap<ProjectPath, u32> = HashMap::new();
        for (number, rule) in (0_u32..).zip(&mut rules) {
            let before = last.insert(rule.path.clone(), number);
            rule.overruled = before.unwrap_or(NONE);
        }
        let mut rule_levels = Levels::default();
        let by_path = Index::build((0_u32..).zip(&rules).map(|(value, rule)| {
            rule_levels.insert(rule.path.depth());
            entry(&rule.path, value, rule.capabilities().bits())
        }));
        let mut table = Self {
            rules,
            sensitive,
            by_path,
            rule_levels,
            above: Index::default(),
            below: Vec::new(),
            guarded: Arc::new(guarded),
        };
        table.find_ancestors();
        table
    }

    /// Notes, for every path above one where a rule withholds something, that it is.
    fn find_ancestors(&mut self) {
        let mut below: HashMap<String, PathRestrictions> = HashMap::new();
        let mut note = |path: &ProjectPath, set: &dyn Fn(&mut PathRestrictions)| {
            for above in ancestors(path.as_str()) {
                let nothing = PathRestrictions {
                    undeletable: NONE,
                    uncreatable: NONE,
                };
                set(below.entry(above.to_owned()).or_insert(nothing));
            }
        };
        for (number, rule) in (0_u32..).zip(&self.rules) {
            if self.counts(rule, Capability::Delete) && rule.withholds(Capability::Delete) {
                note(&rule.path, &|below| below.undeletable = number);
            }
            if self.counts(rule, Capability::Create) && rule.withholds(Capability::Create) {
                note(&rule.path, &|below| below.uncreatable = number);
            }
        }
        let below: Vec<(String, PathRestrictions)> = below.into_iter().collect();
        self.above = Index::build((0_u32..).zip(&below).map(|(value, (path, _))| IndexEntry {
            hash: hash_of(path),
            key: path.clone().into_bytes(),
            value,
            bits: 0,
        }));
        self.below = below.into_iter().map(|(_, below)| below).collect();
    }

    pub(crate) fn rules(&self) -> &[CompiledFsRule] {
        &self.rules
    }

    pub(crate) fn protected(&self) -> &[Protected] {
        self.guarded.protected()
    }

    /// The strongest protection that a path has or lies in.
    pub(crate) fn protection(&self, path: &ProjectPath) -> Option<&Protected> {
        let found = self.guarded.on_the_way(&PathPrefixes::of(path.as_str()));
        found.map(|(guard, _)| guard)
    }

    /// What is protected at any depth.
    pub(crate) fn guard_lines(&self) -> GuardLines {
        self.guarded.lines()
    }

    pub(crate) fn sensitive(&self) -> &Sensitive {
        &self.sensitive
    }

    /// The rules at exactly this path, the last one first.
    fn rules_at(&self, path: &ProjectPath) -> impl Iterator<Item = &CompiledFsRule> {
        let prefixes = PathPrefixes::of(path.as_str());
        let hit = prefixes.find(&self.by_path, prefixes.count() - 1);
        let mut next = hit.and_then(|hit| self.rules.get(hit.value as usize));
        std::iter::from_fn(move || {
            let rule = next?;
            next = self.rules.get(rule.overruled as usize);
            Some(rule)
        })
    }

    /// Whether a rule is the one that counts at its path: of those that decide about the capability, the last.
    pub(crate) fn counts(&self, rule: &CompiledFsRule, capability: Capability) -> bool {
        let mut deciding = self
            .rules_at(&rule.path)
            .filter(|rule| !rule.passes_over(capability));
        deciding
            .next()
            .is_some_and(|other| std::ptr::eq(other, rule))
    }

    /// Whether a rule names exactly this path.
    fn is_named(&self, path: &ProjectPath) -> bool {
        self.rules_at(path).any(|rule| rule.named.starts_with(path))
    }

    pub(crate) fn decide(&self, capability: Capability, path: &ProjectPath) -> Decision<'_> {
        let own = self.decide_itself(capability, path);
        if capability == Capability::Delete
            && let Some(pinned) = self.pinned(path, capability)
        {
            return own.and(pinned);
        }
        own
    }

    /// What is granted, unless it makes a repository of a folder, or changes what git obeys in one, by its shape.
    pub(crate) fn in_repository<'p>(
        &'p self,
        decision: Decision<'p>,
        capability: Capability,
        target: &ResolvedPath,
    ) -> Decision<'p> {
        let Some(folder) = target.repository() else {
            return decision;
        };
        let named = match decision.rule {
            Some(Rule::Fs(rule)) => rule.path.depth() > folder && rule.named.depth() > folder,
            _ => false,
        };
        let changes = matches!(capability, Capability::Create | Capability::Update);
        match changes && decision.is_allowed() && !named && self.guard_lines().has_git() {
            true => Decision::uncovered(Reason::NamedOnly(GuardKind::Git.what()), decision.rule),
            false => decision,
        }
    }

    /// The answer for the path itself, whatever is declared below it.
    pub(crate) fn decide_itself(&self, capability: Capability, path: &ProjectPath) -> Decision<'_> {
        let decision = self.decide_alone(capability, path);
        if matches!(capability, Capability::Create | Capability::Update)
            && decision.is_allowed()
            && let Some(guard) = self.guarded.lines().itself(path.as_str())
            && !self.is_named(path)
        {
            return Decision::uncovered(Reason::NamedOnly(&guard.what), decision.rule);
        }
        decision
    }

    /// The answer for the path and, if nothing else is declared there, for what is below it.
    pub(crate) fn decide_alone(&self, capability: Capability, path: &ProjectPath) -> Decision<'_> {
        let prefixes = PathPrefixes::of(path.as_str());
        let guard = if FileCapabilities::WRITE.has(capability) {
            self.guarded.on_the_way(&prefixes)
        } else {
            None
        };
        if let Some((guard, _)) = guard
            && guard.level == ProtectionLevel::Never
        {
            return Decision::deny(Reason::Protected(&guard.what), None);
        }
        let mut passed = None;
        let Some((rule, granted, depth)) = self.winner(capability, &prefixes, &mut passed) else {
            return match passed {
                None => Decision::uncovered(Reason::NoRule, None),
                Some((rule, link)) => {
                    Decision::uncovered(Reason::NotFollowed(link), Some(Rule::Fs(rule)))
                }
            };
        };
        if !granted.has(capability) {
            let withheld = withheld(Rule::Fs(rule));
            return match passed {
                None => withheld,
                Some((_, link)) => Decision {
                    reason: Reason::NotFollowed(link),
                    ..withheld
                },
            };
        }
        if let Some(found) = self.sensitive.find(path)
            && depth < found.depth
        {
            return Decision::uncovered(Reason::Sensitive(found.pattern), Some(Rule::Fs(rule)));
        }
        if let Some((guard, guard_depth)) = guard
            && depth < guard_depth
        {
            return Decision::uncovered(Reason::NamedOnly(&guard.what), Some(Rule::Fs(rule)));
        }
        Decision::allow(Rule::Fs(rule))
    }

    /// Why `path` may not be moved away, removed whole, or come into being whole: something below
    /// it is restricted, and would be reached under another name or be brought in from elsewhere.
    ///
    /// A protection is told before a rule that withholds: no rule lifts it, so to name only what
    /// stands in the way beside it would suggest that lifting that is enough.
    pub(crate) fn pinned(&self, path: &ProjectPath, by: Capability) -> Option<Decision<'_>> {
        let prefixes = PathPrefixes::of(path.as_str());
        if let Some(guard) = self.guarded.below(path, &prefixes) {
            return Some(Decision::deny(Reason::ProtectedBelow(guard), None));
        }
        let hit = prefixes.find(&self.above, prefixes.count() - 1);
        let below = hit.and_then(|hit| self.below.get(hit.value as usize));
        let withholding = below.and_then(|below| {
            let number = match by {
                Capability::Delete => below.undeletable,
                _ => below.uncreatable,
            };
            self.rules.get(number as usize)
        });
        if let Some(rule) = withholding {
            return Some(Decision::deny(
                Reason::RestrictedBelow,
                Some(Rule::Fs(rule)),
            ));
        }
        let open = self.unnamed_below(path).next()?;
        Some(Decision::uncovered(
            Reason::SensitiveBelow(open.pattern),
            None,
        ))
    }

    /// The sensitive paths below `path` that no rule names. A rule on `path` itself is not enough:
    /// what it does not cover in place would be open after moving `path` away, or before moving it
    /// back.
    pub(crate) fn unnamed_below(
        &self,
        path: &ProjectPath,
    ) -> impl Iterator<Item = SensitiveBelow<'_>> {
        self.sensitive.find_below(path).filter(|below| {
            let path = below.path.as_ref();
            !path.is_some_and(|path| self.is_named(path))
        })
    }

    /// The most specific rule, what it grants and its depth: the deepest one on the way. `passed` becomes the first
    /// one that would have decided, did it follow its link.
    fn winner<'t>(
        &'t self,
        capability: Capability,
        prefixes: &PathPrefixes<'_>,
        passed: &mut Option<(&'t CompiledFsRule, &'t UnfollowedLink)>,
    ) -> Option<(&'t CompiledFsRule, FileCapabilities, usize)> {
        for depth in (0..prefixes.count()).rev() {
            if !self.rule_levels.may_hold(depth) {
                continue;
            }
            let Some(hit) = prefixes.find(&self.by_path, depth) else {
                continue;
            };
            let mut found = self.rules.get(hit.value as usize);
            while let Some(rule) = found {
                match &rule.unfollowed {
                    Some(link) if link.capabilities.has(capability) => {
                        passed.get_or_insert((rule, link));
                        found = self.rules.get(rule.overruled as usize);
                    }
                    _ => return Some((rule, rule.granted, depth)),
                }
            }
        }
        None
    }

    /// Whether somebody wrote a rule with exactly this path.
    pub(crate) fn is_rule_itself(&self, path: &ProjectPath) -> bool {
        let mut rules = self.rules.iter();
        rules.any(|rule| !rule.is_default && rule.named == *path)
    }
}

/// Where the path of a rule leads.
fn rule_path<L: Lookup>(
    rule: &DeclaredFsRule,
    guarded: &LazyGuarded,
    workspace: &Workspace<L>,
) -> Result<RulePath, ResolveError> {
    let found = workspace.resolve_rule(&rule.path);
    let met_links = match &found {
        Ok(path) => !path.links.is_empty(),
        Err(error) => error.reason.is_of_the_tree(),
    };
    // The guards are looked for only where they are needed.
    if met_links && matches!(guarded.planters(), Planters::Anyone) {
        return workspace.written_rule(&rule.path).map(RulePath::direct);
    }
    found
}

/// Compiles rules of which the paths are known. Links on them are looked at only if there are any.
fn compiled<L: Lookup>(
    resolved: &[(&DeclaredFsRule, RulePath)],
    sensitive: &Sensitive,
    guarded: &LazyGuarded,
    workspace: &Workspace<L>,
) -> Vec<CompiledFsRule> {
    let judge = resolved.iter().any(|(_, path)| !path.links.is_empty());
    let judge = judge.then(|| {
        let rules: Vec<(&DeclaredFsRule, &RulePath)> =
            resolved.iter().map(|(rule, path)| (*rule, path)).collect();
        LinkJudge::new(&rules, sensitive, guarded, workspace)
    });
    let compile = |(rule, path): &(&DeclaredFsRule, RulePath)| {
        let declared = rule.capabilities;
        let unfollowed = judge
            .as_ref()
            .and_then(|judge| judge.unfollowed(path, declared));
        let kept = unfollowed
            .as_ref()
            .map_or(FileCapabilities::NONE, |link| link.capabilities);
        CompiledFsRule {
            declared: (*rule).clone(),
            path: path.real.clone(),
            named: path.written.clone(),
            granted: declared - kept,
            unfollowed: unfollowed.map(Box::new),
            is_default: false,
            overruled: NONE,
        }
    };
    resolved.iter().map(compile).collect()
}

fn entry(path: &ProjectPath, value: u32, bits: u8) -> IndexEntry {
    IndexEntry {
        hash: hash_of(path.as_str()),
        key: path.as_str().as_bytes().to_vec(),
        value,
        bits,
    }
}

fn withheld(rule: Rule<'_>) -> Decision<'_> {
    if rule.is_default() {
        Decision::uncovered(Reason::DefaultWithholds(RuleKind::Fs), Some(rule))
    } else {
        Decision::deny(Reason::Withheld, Some(rule))
    }
}

fn default_rule(default: DefaultAccess) -> CompiledFsRule {
    CompiledFsRule {
        declared: DeclaredFsRule {
            path: ".".to_owned(),
            capabilities: default.fs,
            origin: RuleOrigin::named("default of the runtime"),
        },
        path: ProjectPath::root(),
        named: ProjectPath::root(),
        granted: default.fs,
        unfollowed: None,
        is_default: true,
        overruled: NONE,
    }
}

/// The paths strictly above `path`, down from its parent to the root.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = (!path.is_empty()).then_some(path);
    std::iter::from_fn(move || {
        let current = rest?;
        let above = &current[..current.rfind('/').unwrap_or(0)];
        rest = (!above.is_empty()).then_some(above);
        Some(above)
    })
}

fn hash_of(path: &str) -> u64 {
    path.split('/')
        .filter(|name| !name.is_empty())
        .fold(SEED, |state, name| absorb(state, name.as_bytes()))
}

/// Every prefix of a path with its hash: number 0 is the root, the last one the path itself.
struct PathPrefixes<'a> {
    path: &'a str,
    near: [(u64, u32); NEAR],
    far: Vec<(u64, u32)>,
    count: usize,
}

/// Paths up to this depth are handled without allocating.
const NEAR: usize = 24;

impl<'a> PathPrefixes<'a> {
    fn of(path: &'a str) -> Self {
        let mut prefixes = Self {
            path,
            near: [(SEED, 0); NEAR],
            far: Vec::new(),
            count: 1,
        };
        let (mut state, mut start) = (SEED, 0);
        while start < path.len() {
            let rest = &path.as_bytes()[start..];
            let len = rest
                .iter()
                .position(|byte| *byte == b'/')
                .unwrap_or(rest.len());
            state = absorb(state, &rest[..len]);
            prefixes.push((state, (start + len) as u32));
            start += len + 1;
        }
        prefixes
    }

    fn push(&mut self, prefix: (u64, u32)) {
        match self.near.get_mut(self.count) {
            Some(place) => *place = prefix,
            None => self.far.push(prefix),
        }
        self.count += 1;
    }

    fn count(&self) -> usize {
        self.count
    }

    /// What the index holds for the first `depth` components.
    #[inline]
    fn find(&self, index: &Index, depth: usize) -> Option<IndexHit> {
        let (hash, end) = match self.near.get(depth) {
            Some(near) => *near,
            None => *self.far.get(depth - NEAR)?,
        };
        let prefix = self.path.as_bytes().get(..end as usize)?;
        index.find(hash, |key| key == prefix)
    }
}

#[cfg(test)]
mod tests;
