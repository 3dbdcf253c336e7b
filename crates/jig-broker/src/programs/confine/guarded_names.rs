//! The names that a supervised program may not make, as the sandbox compares them.
//!
//! Nothing is decided here: an entry says of a name what the policy says of it. The sweep looks for the same names, with
//! a supervisor and without one.

use std::path::{Path, PathBuf};

use jig_policy::{Capability, GuardPattern, PACKAGES, Policy};
use jig_proto::ProjectPath;
use jig_sandbox::{GuardVerdict, GuardedName};

use super::workspace_rules::ForbiddenPath;

#[cfg(test)]
mod tests;

/// Puts the entries together: of several that speak of a name, the first one counts.
#[derive(Debug, Default)]
pub(super) struct GuardedNames {
    /// Names that are forbidden wherever they lie.
    forbidden: Vec<GuardedName>,
    /// The entries for each directory.
    directories: Vec<GuardedDirectory>,
}

/// The entries about a directory and what is below it.
#[derive(Debug)]
struct GuardedDirectory {
    path: PathBuf,
    names: Vec<GuardedName>,
}

impl GuardedNames {
    /// Forbids names that are relative to `root`, unless they say where they are.
    pub(super) fn forbid(&mut self, root: &Path, forbidden: &[ForbiddenPath]) {
        for name in forbidden {
            let verdict = match name.link {
                // The link's target has entries of its own.
                Some(_) => GuardVerdict::RefusedItself,
                None => GuardVerdict::Refused,
            };
            let base = name.base.as_deref().unwrap_or(root);
            self.forbidden
                .push(exact(base, Path::new(name.path.as_str()), verdict));
        }
    }

    /// Guards what the policy guards in its workspace at `root`, as far as that lies below one of `places`. Where no rule
    /// lets anything come into being, there is nothing to guard.
    pub(super) fn add<'p>(
        &mut self,
        policy: &Policy,
        root: &Path,
        places: impl IntoIterator<Item = &'p PathBuf>,
    ) {
        let mut rules = policy.fs_rules().iter();
        if !rules.any(|rule| rule.capabilities().has(Capability::Create)) {
            return;
        }
        for place in places {
            let below = match place.strip_prefix(root).map(Path::to_str) {
                Ok(Some("")) => ProjectPath::root(),
                Ok(Some(below)) => match ProjectPath::normalize(below) {
                    Ok(below) => below,
                    Err(_) => continue,
                },
                // No rule can name it.
                Ok(None) | Err(_) => continue,
            };
            let mut names = named(policy, root, &below);
            names.extend(guarded(policy, root, &below));
            self.directories.push(GuardedDirectory {
                path: place.clone(),
                names,
            });
        }
    }

    /// The entries. In the directories of `own`, in which nothing of the host is changed, everything may come into being.
    pub(super) fn entries<'p>(
        self,
        own: impl IntoIterator<Item = &'p PathBuf>,
    ) -> Vec<GuardedName> {
        let Self {
            forbidden: mut entries,
            mut directories,
        } = self;
        for path in own {
            // An empty workspace of the program's own still shows files of the host.
            let is_guarded = directories.iter().any(|one| one.path == *path);
            if !is_guarded && directories.iter().any(|one| path.starts_with(&one.path)) {
                directories.push(GuardedDirectory {
                    path: path.clone(),
                    names: Vec::new(),
                });
            }
        }
        // The first entry counts, so the deepest directory comes first.
        directories.sort_by_key(|one| std::cmp::Reverse(one.path.iter().count()));
        while !directories.is_empty() {
            let one = directories.remove(0);
            entries.extend(one.names);
            let mut others = directories.iter();
            if others.any(|other| one.path.starts_with(&other.path))
                && let (Some(above), Some(name)) = (one.path.parent(), one.path.file_name())
            {
                entries.push(exact(above, Path::new(name), GuardVerdict::Free));
            }
        }
        entries
    }
}

/// The entries that free the guarded paths which a rule names below `place`. Guards inside such a path stay.
fn named(policy: &Policy, root: &Path, place: &ProjectPath) -> Vec<GuardedName> {
    let rules = policy.fs_rules().iter();
    let rules = rules.filter(|rule| rule.capabilities().has(Capability::Create));
    let named = rules.map(|rule| rule.path()).filter(|path| {
        !path.is_root()
            && path.starts_with(place)
            && policy.guard_patterns().any(|guard| guard.covers(path))
            && policy.can(Capability::Create, path)
    });
    let mut named: Vec<&ProjectPath> = named.collect();
    named.sort_by_key(|path| std::cmp::Reverse(path.depth()));
    named.dedup();
    let entries = named.into_iter().flat_map(|path| {
        let mut entries = guarded(policy, root, path);
        entries.push(exact(root, Path::new(path.as_str()), GuardVerdict::Free));
        entries
    });
    entries.collect()
}

/// What is guarded below a folder.
fn guarded(policy: &Policy, root: &Path, folder: &ProjectPath) -> Vec<GuardedName> {
    let base = match folder.is_root() {
        true => root.to_owned(),
        false => root.join(folder.as_str()),
    };
    let mut names = folder.components();
    let in_packages = names.any(|name| name.eq_ignore_ascii_case(PACKAGES));
    let entry = |guard: &GuardPattern<'_>, names: &[String], at_any_depth| GuardedName {
        base: base.clone(),
        pattern: names.iter().collect(),
        at_any_depth,
        verdict: match guard.only_itself {
            true => GuardVerdict::RefusedItself,
            false => GuardVerdict::Refused,
        },
        not_below: (!guard.holds_in_packages).then(|| PACKAGES.into()),
    };
    let mut entries = Vec::new();
    let guards = policy.guard_patterns();
    for guard in guards.filter(|guard| guard.holds_in_packages || !in_packages) {
        if !guard.is_at_top() || folder.is_root() {
            entries.push(entry(&guard, guard.names(), !guard.is_at_top()));
        }
        let below = guard.below(folder).into_iter();
        entries.extend(below.map(|names| entry(&guard, names, false)));
    }
    if policy.protects_repositories() {
        entries.push(GuardedName {
            at_any_depth: true,
            ..exact(&base, Path::new(""), GuardVerdict::BareRepository)
        });
    }
    entries
}

fn exact(base: &Path, pattern: &Path, verdict: GuardVerdict) -> GuardedName {
    GuardedName {
        base: base.to_owned(),
        pattern: pattern.to_owned(),
        at_any_depth: false,
        verdict,
        not_below: None,
    }
}
