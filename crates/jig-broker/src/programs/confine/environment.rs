//! The environment of a confined program: a small set of its own, and what rules grant of the host's.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jig_policy::{EnvUse, Policy, Rule};
use jig_sandbox::{ProgramEnvironment, Rights, minimal_environment};

use super::shown_paths::ShownRules;
use crate::host_env::HostEnv;

#[cfg(test)]
mod tests;

/// What an environment is made from.
pub(super) struct EnvironmentSources<'a> {
    pub(super) policy: &'a Policy,
    pub(super) variables: &'a HostEnv,
    /// The home of the confined program.
    pub(super) home: &'a Path,
    /// The canonical root of the workspace.
    pub(super) root: &'a Path,
    /// The directories of the host's search path, as they stand there and without links.
    pub(super) search_path: &'a [(PathBuf, PathBuf)],
}

/// Puts the environment together. `first` are directories in which programs are looked for before all
/// others, `unlisted` those in which none are looked for, `presets` further variables.
pub(super) fn environment(
    sources: &EnvironmentSources<'_>,
    shown: &ShownRules,
    first: Vec<PathBuf>,
    unlisted: &[PathBuf],
    presets: Vec<(&'static str, OsString)>,
) -> ProgramEnvironment {
    let mut env = minimal_environment(sources.home);
    env.insert("PATH".into(), search_path(sources, shown, first, unlisted));
    for (name, value) in presets {
        env.insert(name.into(), value);
    }
    for (name, value) in sources.variables.iter() {
        let decision = sources.policy.decide_env(EnvUse::Read, name);
        let exact = matches!(decision.rule, Some(Rule::Env(rule)) if !rule.is_prefix());
        // A prefix speaks of many variables at once, and nobody who writes it means those that the sandbox
        // has set.
        let is_own = env.contains_key(&OsString::from(name));
        if decision.is_allowed() && (exact || !is_own) && !value.contains('\0') {
            env.insert(name.into(), value.into());
        }
    }
    env
}

/// The host's search path as far as the program can see it, without anything of the workspace, after those
/// of `first` that are not on it.
fn search_path(
    sources: &EnvironmentSources<'_>,
    shown: &ShownRules,
    first: Vec<PathBuf>,
    unlisted: &[PathBuf],
) -> OsString {
    let seen = Rights::READ.with(Rights::EXECUTE);
    let hosts = sources.search_path.iter().map(|(entry, canonical)| {
        // A link that cannot be seen leads nowhere in the sandbox.
        let is_seen = shown.rights(entry).has(Rights::READ);
        let entry = if is_seen { entry } else { canonical };
        (canonical.clone(), entry.clone())
    });
    let hosts = hosts.filter(|(canonical, _)| {
        !canonical.starts_with(sources.root) && shown.rights(canonical).has(seen)
    });
    let hosts: Vec<(PathBuf, PathBuf)> = hosts.collect();
    // The order is the host's, where it has one.
    let is_new = |entry: &PathBuf| !hosts.iter().any(|(canonical, _)| canonical == entry);
    let mut kept: Vec<PathBuf> = Vec::new();
    let entries = first.into_iter().filter(is_new);
    let listed = hosts
        .iter()
        .filter(|(canonical, _)| !unlisted.contains(canonical));
    let entries = entries.filter(|entry| !unlisted.contains(entry));
    for entry in entries.chain(listed.map(|(_, entry)| entry.clone())) {
        if !kept.contains(&entry) {
            kept.push(entry);
        }
    }
    std::env::join_paths(kept).unwrap_or_default()
}
