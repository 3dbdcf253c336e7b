//! Where a link that leads to nothing would lead.

use jig_files::{FilesError, PlaceKind, ProjectFiles};
use jig_policy::ResolveReason;
use jig_proto::ProjectPath;

/// The place in the workspace at which a path ends that goes through a dangling link; `None` if that is not what
/// is wrong, or cannot be told.
///
/// It is for the choice of an answer only: nothing is done there. `..` in the link is folded by its letters.
pub(super) fn end(
    files: &dyn ProjectFiles,
    path: &ProjectPath,
    error: &FilesError,
) -> Option<ProjectPath> {
    let FilesError::Escape {
        why: ResolveReason::Dangling,
        ..
    } = error
    else {
        return None;
    };
    let mut path = path.clone();
    for _ in 0..MAX_LINKS {
        path = followed(files, &path)?;
        if let Ok(place) = files.locate(&path) {
            return Some(place.path().clone());
        }
    }
    None
}

/// The path with its first link that leads nowhere replaced by the target of that.
fn followed(files: &dyn ProjectFiles, path: &ProjectPath) -> Option<ProjectPath> {
    let names: Vec<&str> = path.components().collect();
    for count in 1..=names.len() {
        let (link, rest) = names.split_at(count);
        let link = ProjectPath::normalize(&link.join("/")).ok()?;
        if files.locate(&link).is_ok() {
            continue;
        }
        let place = files.locate_entry(&link).ok()?;
        let PlaceKind::Link(target) = place.kind() else {
            return None;
        };
        let target = match target.strip_prefix(files.display_root().as_str()) {
            Some(below) => below.trim_start_matches('/').to_owned(),
            None if target.starts_with('/') => return None,
            None => format!("{}/{target}", place.path().parent()?.as_str()),
        };
        let whole = format!("{target}/{}", rest.join("/"));
        return ProjectPath::normalize(whole.trim_start_matches('/')).ok();
    }
    None
}

/// How many links that lead to each other are followed.
const MAX_LINKS: usize = 8;
