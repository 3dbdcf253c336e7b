//! [`ShownRules`]: the paths of a profile while it is put together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jig_sandbox::{PathRule, Rights, RuleSource};

use super::host_files::{self, HostFileType};

/// The rules so far. As in a finished profile, the deepest one at or above a path decides.
#[derive(Debug, Default)]
pub(super) struct ShownRules {
    rules: BTreeMap<PathBuf, (Rights, RuleSource)>,
    /// Paths at which the program has a directory of its own, so that nothing of the host is there.
    emptied: Vec<PathBuf>,
}

impl ShownRules {
    /// Adds a rule. It replaces an earlier one at the same path.
    pub(super) fn add(&mut self, path: impl Into<PathBuf>, rights: Rights, source: RuleSource) {
        self.rules.insert(path.into(), (rights, source));
    }

    /// Says that a directory of the program's own stands at a path, on which further rules can build.
    pub(super) fn empty(&mut self, path: &Path) {
        self.add(path, Rights::NONE, RuleSource::Guard);
        self.emptied.push(path.to_owned());
    }

    /// Adds rights to those that a canonical path has. Nothing happens if it has them.
    pub(super) fn widen(&mut self, path: &Path, rights: Rights, source: RuleSource) {
        let has = self.rights(path);
        if !has.has(rights) {
            self.add(path, has.with(rights), source);
        }
    }

    /// What may be done at a canonical path.
    pub(super) fn rights(&self, path: &Path) -> Rights {
        self.deepest(path)
            .map_or(Rights::NONE, |(rights, _)| *rights)
    }

    /// The deepest rule at or above a path. A tool can make paths of any depth, so not each step of one is looked up:
    /// the rule that is next to a path in their order lies at or above it, or below the step at which both part.
    fn deepest(&self, path: &Path) -> Option<&(Rights, RuleSource)> {
        let mut path = path.to_owned();
        loop {
            #[cfg(test)]
            super::testing::count_step();
            let (near, rule) = self.rules.range(..=path.clone()).next_back()?;
            if path.starts_with(near) {
                return Some(rule);
            }
            let both = path
                .iter()
                .zip(near)
                .take_while(|(one, other)| one == other);
            path = both.map(|(name, _)| name).collect();
        }
    }

    /// Whether there is a rule at exactly this path.
    #[cfg(test)]
    pub(super) fn has_rule_at(&self, path: &Path) -> bool {
        self.rules.contains_key(path)
    }

    /// Whether something at or below a path can be seen.
    pub(super) fn reaches_into(&self, path: &Path) -> bool {
        let below = self.rules.iter().filter(|(rule, _)| rule.starts_with(path));
        self.rights(path) != Rights::NONE
            || below
                .into_iter()
                .any(|(_, (rights, _))| *rights != Rights::NONE)
    }

    /// Whether a directory below `path` may be changed in some ways and not in others. What may be done in the
    /// directories above it is added to that, so these must not be open themselves (G-120).
    pub(super) fn divides_changes_below(&self, path: &Path) -> bool {
        self.rules.iter().any(|(rule, (rights, _))| {
            rule.starts_with(path)
                && rule != path
                && rights.has_any(Rights::WRITE)
                && !rights.has(Rights::WRITE)
                && host_files::stands_itself(rule) == Some(HostFileType::Directory)
        })
    }

    /// The rules, outer ones before those inside of them.
    pub(super) fn into_rules(self) -> Vec<PathRule> {
        let rules = self.rules.into_iter();
        let rules = rules
            .filter(|(path, (rights, _))| *rights != Rights::NONE || !self.emptied.contains(path));
        rules
            .map(|(path, (rights, source))| PathRule {
                path,
                rights,
                source,
            })
            .collect()
    }
}
