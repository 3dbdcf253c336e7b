//! [`Guarded`]: the protected paths of a policy, found when a decision first needs them.

use std::collections::HashMap;
use std::sync::LazyLock;

use jig_proto::ProjectPath;

use super::{PathPrefixes, ancestors, entry, hash_of};
use crate::guard::{GuardLines, Guards, Protected};
use crate::index::{Index, IndexEntry, Levels};
use crate::lookup::Lookup;
use crate::planter::Planters;
use crate::resolve::Workspace;

/// The protected paths as a decision needs them.
#[derive(Debug)]
pub(crate) struct Guarded {
    protected: Vec<Protected>,
    /// Path to the strongest protection at exactly that path.
    at: Index,
    levels: Levels,
    /// Path to the last of what is protected strictly below it.
    above: Index,
    /// What is protected at any depth.
    lines: GuardLines,
    /// The names of protected paths that are links or lie behind one, by where they really are.
    other_names: HashMap<ProjectPath, ProjectPath>,
    /// What is protected from all others, and not from this tool.
    own: Vec<ProjectPath>,
    planters: Planters,
}

/// [`Guarded`], which finds out where the protected paths lead when it is first asked.
///
/// No decision about reading asks it. A decision about a change does, before the tool has changed anything by this
/// policy: what it finds is no older than what it would have found at the start.
pub(super) type LazyGuarded = LazyLock<Guarded, Box<dyn FnOnce() -> Guarded + Send>>;

impl Guarded {
    /// Finds what the guards protect in this workspace: the paths by their names, and where those lead.
    pub(crate) fn find<L: Lookup>(guards: Guards, workspace: &Workspace<L>) -> Self {
        let lines = guards.lines;
        let link = guards.git_link(workspace.lookup());
        let named = guards.protected.iter();
        // A configuration file may be a link: the name and what it leads to are both kept.
        let led_to = named.filter_map(|guard| {
            let resolved = workspace.resolve(guard.path.as_str()).ok()?;
            let led_to = Protected {
                path: resolved.path().clone(),
                ..guard.clone()
            };
            (led_to.path != guard.path).then(|| (led_to, guard.path.clone()))
        });
        let (led_to, names): (Vec<Protected>, Vec<ProjectPath>) = led_to.unzip();
        let real = led_to.iter().map(|guard| guard.path.clone());
        let other_names = real.zip(names).collect();
        let mut protected = guards.protected;
        protected.extend(link);
        protected.extend(led_to);
        Self {
            other_names,
            own: guards.own,
            planters: guards.planters,
            ..Self::build(protected, lines)
        }
    }

    fn build(protected: Vec<Protected>, lines: GuardLines) -> Self {
        let mut levels = Levels::default();
        let mut weakest_first: Vec<(u32, &Protected)> = (0..).zip(&protected).collect();
        weakest_first.sort_by_key(|(_, guard)| guard.level);
        let at = Index::build(weakest_first.into_iter().map(|(value, guard)| {
            levels.insert(guard.path.depth());
            entry(&guard.path, value, 0)
        }));
        let mut above: HashMap<&str, u32> = HashMap::new();
        for (number, guard) in (0_u32..).zip(&protected) {
            for path in ancestors(guard.path.as_str()) {
                above.insert(path, number);
            }
        }
        let above = Index::build(above.into_iter().map(|(path, value)| IndexEntry {
            hash: hash_of(path),
            key: path.as_bytes().to_vec(),
            value,
            bits: 0,
        }));
        Self {
            protected,
            at,
            levels,
            above,
            lines,
            other_names: HashMap::new(),
            own: Vec::new(),
            planters: Planters::default(),
        }
    }

    /// The name by which a protected path was found that lies behind a link.
    pub(super) fn other_name(&self, real: &ProjectPath) -> Option<&ProjectPath> {
        self.other_names.get(real)
    }

    /// What is protected from all others, and not from this tool.
    pub(super) fn own(&self) -> &[ProjectPath] {
        &self.own
    }

    /// Who else may leave links in the workspace.
    pub(super) fn planters(&self) -> &Planters {
        &self.planters
    }

    pub(super) fn protected(&self) -> &[Protected] {
        &self.protected
    }

    /// What is protected at any depth.
    pub(super) fn lines(&self) -> GuardLines {
        self.lines
    }

    /// The strongest protection on the way, with the depth of the path that has it.
    pub(super) fn on_the_way(&self, prefixes: &PathPrefixes<'_>) -> Option<(&Protected, usize)> {
        let mut strongest: Option<(&Protected, usize)> = None;
        for depth in 0..prefixes.count() {
            if self.levels.may_hold(depth)
                && let Some(hit) = prefixes.find(&self.at, depth)
                && let Some(guard) = self.protected.get(hit.value as usize)
                && strongest.is_none_or(|(other, _)| other.level <= guard.level)
            {
                strongest = Some((guard, depth));
            }
        }
        if let Some((guard, depth)) = self.lines.on_the_way(prefixes.path)
            && strongest.is_none_or(|(other, at)| (other.level, at) < (guard.level, depth))
        {
            strongest = Some((guard, depth));
        }
        strongest
    }

    /// What is protected strictly below a path.
    pub(super) fn below(
        &self,
        path: &ProjectPath,
        prefixes: &PathPrefixes<'_>,
    ) -> Option<&Protected> {
        let hit = prefixes.find(&self.above, prefixes.count() - 1);
        let protected = hit.and_then(|hit| self.protected.get(hit.value as usize));
        protected.or_else(|| self.lines.below(path.as_str()))
    }
}
