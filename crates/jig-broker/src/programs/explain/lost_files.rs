//! [`lost_files`]: what a program wrote where nothing stays.

use std::path::{Component, Path, PathBuf};

use jig_sandbox::{Observation, ObservedTarget, Profile, Rights};

/// The files that a program wrote into its private home and did not remove itself, without those that are hidden, and
/// without those in a directory of the host that is shown there. Each path begins with the home.
pub(crate) fn lost_files(
    observation: &Observation,
    home: &Path,
    profile: &Profile,
) -> Vec<PathBuf> {
    let at_home = observation.seen.iter().filter_map(|access| {
        let ObservedTarget::Path(path) = &access.target else {
            return None;
        };
        let below = path.strip_prefix(home).ok()?;
        let mut names = below.components();
        let is_plain = |name| matches!(name, Component::Normal(name) if !name.as_encoded_bytes().starts_with(b"."));
        (names.next().is_some() && below.components().all(is_plain)).then_some((path, access.wanted))
    });
    let at_home: Vec<(&PathBuf, Rights)> = at_home.collect();
    let is_removed = |path: &PathBuf| {
        let mut all = at_home.iter();
        all.any(|(other, wanted)| *other == path && wanted.has(Rights::DELETE))
    };
    let is_shown = |path: &PathBuf| {
        let mut rules = profile.paths.iter();
        rules.any(|rule| rule.path.starts_with(home) && path.starts_with(&rule.path))
    };
    let mut lost: Vec<PathBuf> = Vec::new();
    for (path, wanted) in &at_home {
        let is_written = wanted.has_any(Rights::CREATE.with(Rights::UPDATE));
        if is_written && !lost.contains(path) && !is_removed(path) && !is_shown(path) {
            lost.push((*path).clone());
        }
        if lost.len() == MOST_LOST {
            break;
        }
    }
    lost
}

/// How many are told. A program can make any number.
const MOST_LOST: usize = 20;

#[cfg(test)]
mod tests;
