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
    for (number, name) in names.iter().enumerate() {
        let folder = &names[..number];
        if GitPart::is_git(name) {
            // A `.git` that is there is judged by the names in it. One that is not comes into being with the path.
            let is_last = number + 1 == names.len();
            let is_there = stands(inner, folder, name) == Some(PlaceKind::Directory);
            if is_last || !is_there {
                return (!is_last).then_some(number);
            }
        }
        if BareRepository::is_kept_by_git(folder) {
            continue;
        }
        let Some(part) = GitPart::of(name) else {
            continue;
        };
        let has = |name: &str| stands(inner, folder, name).is_some();
        if BareRepository::is_completed_by(name, has)
            || (part == GitPart::Obeyed && BareRepository::is(has))
        {
            return Some(number);
        }
    }
    None
}

/// What a change adds to the shape of folders. Two tools that each add one of the last two parts at once are both
/// judged before there is a repository, so the folders are looked at once more when the change is made.
#[derive(Debug)]
pub(super) struct AddedParts {
    path: ProjectPath,
    /// How many components stood there when the change was judged.
    stood: usize,
}

impl AddedParts {
    /// What the change of a place adds, if it adds a part and git is guarded.
    pub(super) fn of(inner: &BrokerCore, place: &Place, judged: &ResolvedPath) -> Option<Self> {
        let path = place.path();
        let guards = !judged.is_in_repository() && inner.policy.guard_lines().has_git();
        if place.exists() || !guards || !path.components().any(BareRepository::has_part) {
            return None;
        }
        let names: Vec<&str> = path.components().collect();
        let stands = |(number, name)| stands(inner, &names[..number], name).is_some();
        let stood = names
            .iter()
            .copied()
            .enumerate()
            .take_while(|part| stands(*part));
        let stood = stood.count();
        Some(Self {
            path: path.clone(),
            stood,
        })
    }

    /// The part that made a folder a repository after all, and the path as it has to be judged now.
    pub(super) fn completing(&self, inner: &BrokerCore) -> Option<(ProjectPath, ResolvedPath)> {
        let names: Vec<&str> = self.path.components().collect();
        let new = names.iter().enumerate().skip(self.stood);
        let mut parts = new.filter(|(_, name)| BareRepository::has_part(name));
        let (number, _) = parts.find(|(number, _)| {
            let folder = &names[..*number];
            !BareRepository::is_kept_by_git(folder)
                && BareRepository::is(|name| stands(inner, folder, name).is_some())
        })?;
        let part = ProjectPath::normalize(&names[..=number].join("/")).ok()?;
        let judged = ResolvedPath::from_handle(self.path.clone()).in_repository(number);
        Some((part, judged))
    }
}

/// What stands in a folder under a name.
fn stands(inner: &BrokerCore, folder: &[&str], name: &str) -> Option<PlaceKind> {
    let path = folder.iter().chain([&name]).copied().collect::<Vec<_>>();
    let path = ProjectPath::normalize(&path.join("/")).ok()?;
    let place = inner.files.locate_entry(&path).ok()?;
    place.exists().then(|| place.kind().clone())
}

#[cfg(test)]
mod tests;
