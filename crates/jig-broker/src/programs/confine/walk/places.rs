//! A walk over single places of a workspace: what has just come into being there, and all below it.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use jig_policy::Policy;
use rustix::fs::{self, AtFlags, FileType};
use rustix::io::Errno;

use super::{
    LISTING_BUFFER, LOCKED, LONGEST, MOST_DIRECTORIES, WalkFindings, WalkedDirectory,
    WorkspaceWalk, at, open_below,
};
use crate::programs::confine::listing::{SensitiveKind, SensitiveListing};
use crate::programs::confine::move_away;

/// What a look is about.
#[derive(Debug, Clone, Copy)]
pub(in crate::programs::confine) enum WalkScope<'a> {
    /// The whole workspace.
    Everything,
    /// What came into being at these paths, relative to the workspace.
    Places(&'a BTreeSet<PathBuf>),
}

impl WalkScope<'_> {
    /// Whether something at `path` may have changed.
    pub(in crate::programs::confine) fn touches(self, path: &Path) -> bool {
        match self {
            Self::Everything => true,
            Self::Places(places) => {
                // Names that begin with the same ones stand beside each other.
                let mut after = places.range(path.to_owned()..);
                after.next().is_some_and(|place| place.starts_with(path))
                    || path.ancestors().any(|above| places.contains(above))
            }
        }
    }
}

/// Walks over what stands at `places`, relative to the workspace at `root`. Directories that cannot be looked into are
/// opened, all but those of `closed`; all of them stay closed if that is `None`.
pub(in crate::programs::confine) fn walk_places(
    policy: &Policy,
    root: &Path,
    places: &BTreeSet<PathBuf>,
    closed: Option<&BTreeSet<PathBuf>>,
) -> rustix::io::Result<WalkFindings> {
    let mut walk = WorkspaceWalk::new(policy, root, closed)?;
    let mut visited = 0;
    for place in places {
        let (Some(above), Some(name)) = (place.parent(), place.file_name()) else {
            continue;
        };
        let Some(listing) = walk.standing(above, name) else {
            continue;
        };
        let mut node = WalkedDirectory::default();
        walk.take(&mut node, above, listing);
        let mut left = VecDeque::new();
        walk.report(&mut node, above.to_owned(), &mut left);
        while let Some((node, path)) = left.pop_front() {
            if visited == MOST_DIRECTORIES || path.as_os_str().len() > LONGEST {
                walk.found.unseen.push(path);
            } else {
                visited += 1;
                walk.directory(node, path, &mut left);
            }
        }
    }
    walk.buffer.shrink_to(LISTING_BUFFER);
    Ok(walk.found)
}

impl WorkspaceWalk<'_> {
    /// What of the directory `above` matters, if `name` is all that is new in it; `None` if it is gone.
    fn standing(&self, above: &Path, name: &OsStr) -> Option<SensitiveListing> {
        let directory = match open_below(self.root.as_fd(), at(above)) {
            Err(LOCKED | Errno::PERM) => {
                self.open_above(above);
                open_below(self.root.as_fd(), at(above))
            }
            opened => opened,
        };
        let directory = directory.ok()?;
        let kind = |name: &OsStr| {
            let stat = fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            Some(FileType::from_raw_mode(stat.st_mode))
        };
        let mut listing = SensitiveListing::default();
        // What makes a bare repository are several names beside each other.
        for name in [name, OsStr::new("HEAD")] {
            match kind(name) {
                Some(FileType::Directory) => listing.directories.push(name.to_owned()),
                Some(kind) if self.endings.may_be(name.as_bytes()) => {
                    let kind = match kind {
                        FileType::Symlink => SensitiveKind::Link,
                        _ => SensitiveKind::Other,
                    };
                    listing.sensitive.push((name.to_owned(), kind));
                }
                _ => {}
            }
            if name == "HEAD" {
                break;
            }
        }
        Some(listing)
    }

    /// Opens the directories on the way to a path, all but those that stay closed.
    fn open_above(&self, path: &Path) {
        let above: Vec<&Path> = path.ancestors().collect();
        for path in above.into_iter().rev() {
            if path.as_os_str().is_empty()
                || self.stay_closed.is_none_or(|closed| closed.contains(path))
            {
                continue;
            }
            if matches!(
                open_below(self.root.as_fd(), at(path)),
                Err(LOCKED | Errno::PERM)
            ) && move_away::open_up(self.path, path).is_err()
            {
                return;
            }
        }
    }
}
