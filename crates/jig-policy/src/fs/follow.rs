//! How far rules on files follow the links on their paths.

use jig_proto::ProjectPath;

use super::{Guarded, PathPrefixes};
use crate::guard::{Protected, ProtectionLevel};
use crate::lookup::Lookup;
use crate::planter::{Planter, Planters, UnfollowedBecause, UnfollowedLink};
use crate::resolve::{RulePath, Workspace};
use crate::rules::DeclaredFsRule;
use crate::sensitive::Sensitive;
use crate::{Capability, FileCapabilities};

/// What is known to judge the links on the paths of rules.
pub(super) struct LinkJudge<'a> {
    sensitive: &'a Sensitive,
    guarded: &'a Guarded,
    /// The tool itself, and then the others.
    planters: Vec<PlanterReach<'a>>,
}

impl<'a> LinkJudge<'a> {
    /// `rules` are those of the tool itself, each with its path.
    pub(super) fn new<L: Lookup>(
        rules: &[(&DeclaredFsRule, &RulePath)],
        sensitive: &'a Sensitive,
        guarded: &'a Guarded,
        workspace: &Workspace<L>,
    ) -> Self {
        let own = rules.iter().flat_map(|(rule, path)| {
            ReachRule::of(path, rule.capabilities, !path.links.is_empty())
        });
        let own = PlanterReach {
            planter: None,
            rules: own.collect(),
        };
        let others = match guarded.planters() {
            Planters::These(others) => others.as_slice(),
            // Then no rule has links on its path.
            Planters::Anyone => &[],
        };
        let others = others
            .iter()
            .map(|planter| PlanterReach::of(planter, workspace));
        Self {
            sensitive,
            guarded,
            planters: std::iter::once(own).chain(others).collect(),
        }
    }

    /// What of a rule does not reach the place to which its path leads.
    pub(super) fn unfollowed(
        &self,
        path: &RulePath,
        capabilities: FileCapabilities,
    ) -> Option<UnfollowedLink> {
        let link = path.links.first()?;
        let found = |capabilities, why| UnfollowedLink {
            capabilities,
            link: link.clone(),
            real: path.real.clone(),
            why,
        };
        let mut withheld = FileCapabilities::NONE;
        let mut why = None;
        for capability in capabilities.iter() {
            let because = self.unnamed(path, capability).or_else(|| {
                let mut planters = self.planters.iter();
                planters.find_map(|planter| self.gain(planter, path, capability))
            });
            if let Some(because) = because {
                withheld = withheld.with(capability.into());
                why.get_or_insert(because);
            }
        }
        why.map(|why| found(withheld, why))
    }

    /// The guarded path to which the links lead and that the rule does not name.
    fn unnamed(&self, path: &RulePath, capability: Capability) -> Option<UnfollowedBecause> {
        let unnamed = |depth: usize| {
            let guarded = first(&path.real, depth);
            (!path.written.starts_with(&guarded)).then_some(guarded)
        };
        let sensitive = self.sensitive.find(&path.real);
        let sensitive = sensitive.and_then(|found| unnamed(found.depth));
        let protected = || {
            let (guard, depth) = self.guard(&path.real, capability)?;
            // A person's own link under the name of the guard is named by that name.
            let other_name = self.guarded.other_name(&guard.path);
            let is_named = other_name.is_some_and(|name| path.written.starts_with(name));
            unnamed(depth).filter(|_| !is_named)
        };
        sensitive.or_else(protected).map(UnfollowedBecause::Guarded)
    }

    /// Whether `planter` could have left one of the links, and would gain by it.
    fn gain(
        &self,
        planter: &PlanterReach<'_>,
        path: &RulePath,
        capability: Capability,
    ) -> Option<UnfollowedBecause> {
        if !path.links.iter().any(|link| self.may_plant(planter, link)) {
            return None;
        }
        // Who can read a program can put a copy of it where the link is.
        let needed = match capability {
            Capability::Execute => Capability::Read,
            other => other,
        };
        let holds = self.holds(planter, needed, &path.real);
        (!holds).then(|| UnfollowedBecause::Planter {
            name: planter.name(),
            lacks: needed,
        })
    }

    /// Whether a planter may make or replace `link`: by a rule on something above it, however narrow the rules
    /// in between are. A rule on that very path lets nobody put a link there: see
    /// [`Policy::decide_move`](crate::Policy::decide_move).
    fn may_plant(&self, planter: &PlanterReach<'_>, link: &ProjectPath) -> bool {
        let sensitive = self.sensitive.find(link).map_or(0, |found| found.depth);
        let protected = self.guard(link, Capability::Create);
        let protected = protected.filter(|(guard, _)| !planter.is_exempt(guard));
        let protected = protected.map_or(0, |(guard, depth)| match guard.level {
            ProtectionLevel::Never => usize::MAX,
            ProtectionLevel::Named => depth,
        });
        let guarded = sensitive.max(protected);
        planter.rules.iter().any(|rule| {
            !(rule.capabilities & FileCapabilities::WRITE).is_empty()
                && *link != rule.path
                && link.starts_with(&rule.path)
                && rule.path.depth() >= guarded
        })
    }

    /// Whether a planter has `capability` on `place` and on all that is below it, without the help of any link, and
    /// as far as the tool itself is let there.
    fn holds(
        &self,
        planter: &PlanterReach<'_>,
        capability: Capability,
        place: &ProjectPath,
    ) -> bool {
        let is_change = FileCapabilities::WRITE.has(capability);
        if let Some(other) = planter.planter {
            let known: Vec<&str> = self.sensitive.patterns().collect();
            let is_known = |pattern: &String| known.contains(&pattern.as_str());
            if !other.sensitive.iter().all(is_known) {
                return false;
            }
            let is_around = |own: &ProjectPath| own.starts_with(place) || place.starts_with(own);
            if is_change
                && (self.guarded.own().iter().any(is_around)
                    || (!self.guarded.lines().has_git() && !other.configures_git))
            {
                return false;
            }
        }
        let mut depth = None;
        // Of two at one place the later decides; here one behind a link comes last.
        let direct = planter.rules.iter().filter(|rule| !rule.by_link);
        let linked = planter.rules.iter().filter(|rule| rule.by_link);
        for rule in direct.chain(linked) {
            let grants = rule.capabilities.has(capability);
            // What it grants by a link is nothing of its own; what it withholds there is.
            if grants && rule.by_link {
                continue;
            }
            if place.starts_with(&rule.path) {
                let here = rule.path.depth();
                match depth {
                    Some((deepest, _)) if here < deepest => {}
                    _ => depth = Some((here, grants)),
                }
            } else if rule.path.starts_with(place) && !grants {
                return false;
            }
        }
        let Some((depth, true)) = depth else {
            return false;
        };
        let sensitive = self.sensitive.find(place).map_or(0, |found| found.depth);
        let protected = self.guard(place, capability).filter(|_| is_change);
        let protected = protected.map_or(0, |(_, depth)| depth);
        depth >= sensitive.max(protected)
    }

    fn guard(&self, path: &ProjectPath, capability: Capability) -> Option<(&Protected, usize)> {
        if !FileCapabilities::WRITE.has(capability) {
            return None;
        }
        let prefixes = PathPrefixes::of(path.as_str());
        self.guarded.on_the_way(&prefixes)
    }
}

/// A planter with the places of its rules.
struct PlanterReach<'a> {
    /// `None`: the tool whose rules are judged.
    planter: Option<&'a Planter>,
    rules: Vec<ReachRule>,
}

impl<'a> PlanterReach<'a> {
    fn of<L: Lookup>(planter: &'a Planter, workspace: &Workspace<L>) -> Self {
        let mut rules = Vec::new();
        if planter.rules.is_empty() {
            let everywhere = RulePath::direct(ProjectPath::root());
            rules.extend(ReachRule::of(&everywhere, planter.default, false));
        }
        for rule in &planter.rules {
            match workspace.resolve_rule(&rule.path) {
                Ok(path) => {
                    let by_link = !path.links.is_empty();
                    rules.extend(ReachRule::of(&path, rule.capabilities, by_link));
                }
                // It leads nowhere now. It may have led somewhere when a link was left.
                Err(_) => {
                    if let Ok(written) = workspace.written_rule(&rule.path) {
                        let path = RulePath::direct(written);
                        rules.extend(ReachRule::of(&path, rule.capabilities, true));
                    }
                }
            }
        }
        Self {
            planter: Some(planter),
            rules,
        }
    }

    fn name(&self) -> String {
        match self.planter {
            Some(planter) => planter.name.clone(),
            None => "the tool itself".to_owned(),
        }
    }

    fn is_exempt(&self, guard: &Protected) -> bool {
        self.planter.is_some_and(|planter| {
            planter.own.contains(&guard.path)
                || (planter.configures_git && Protected::is_of_git(&guard.what))
        })
    }
}

/// A rule of a planter at one place: as its path is written, or where that leads.
struct ReachRule {
    path: ProjectPath,
    capabilities: FileCapabilities,
    /// Whether there are links on the path as it is written.
    by_link: bool,
}

impl ReachRule {
    fn of(
        path: &RulePath,
        capabilities: FileCapabilities,
        by_link: bool,
    ) -> impl Iterator<Item = Self> {
        let rule = move |path: &ProjectPath| Self {
            path: path.clone(),
            capabilities,
            by_link,
        };
        let real = (path.real != path.written).then(|| rule(&path.real));
        std::iter::once(rule(&path.written)).chain(real)
    }
}

/// The first components of a path.
fn first(path: &ProjectPath, depth: usize) -> ProjectPath {
    let names: Vec<&str> = path.components().take(depth).collect();
    ProjectPath::normalize(&names.join("/")).unwrap_or_default()
}

#[cfg(test)]
mod tests;
