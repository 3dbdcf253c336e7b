//! Whether a change makes a repository of git of a folder by its shape, or changes what git obeys in such a one.

use jig_files::{Place, PlaceKind};
use jig_policy::{BareRepository, Capability, GitPart, ResolvedPath};
use jig_proto::ProjectPath;

use crate::broker::BrokerCore;

/// The path of a place as it is judged for a capability.
pub(super) fn target(inner: &BrokerCore, place: &Place, wanted: Capability) -> ResolvedPath {
    let resolved = place.resolved().clone();
    let changes = matches!(wanted, Capability::Create | Capability::Update);
    if !changes || !inner.policy.guard_lines().has_git() {
        return resolved;
    }
    match repository(inner, resolved.path()) {
        Some(names) => resolved.in_repository(names),
        None => resolved,
    }
}

/// How many components of a path make up the folder that is such a repository, or becomes one with it.
fn repository(inner: &BrokerCore, path: &ProjectPath) -> Option<usize> {
    let names: Vec<&str> = path.components().collect();
    let stands = |names: &[&str], name: &str| {
        let path = names.iter().chain([&name]).copied().collect::<Vec<_>>();
        let path = ProjectPath::normalize(&path.join("/")).ok()?;
        let place = inner.files.locate_entry(&path).ok()?;
        place.exists().then(|| place.kind().clone())
    };
    for (number, name) in names.iter().enumerate() {
        let folder = &names[..number];
        if name.eq_ignore_ascii_case(".git") {
            // A `.git` that is there is judged by the names in it. One that is not comes into being with the path.
            let is_last = number + 1 == names.len();
            let is_there = stands(folder, name) == Some(PlaceKind::Directory);
            return (!is_last && !is_there).then_some(number);
        }
        let Some(part) = GitPart::of(name) else {
            continue;
        };
        let has = |name: &str| stands(folder, name).is_some();
        if BareRepository::is_completed_by(name, has)
            || (part == GitPart::Obeyed && BareRepository::is(has))
        {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests;
