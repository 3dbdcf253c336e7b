//! A copy of the tree on disk, and what is brought back from it.
//!
//! The three versions of every path are compared: as it was when the copy was made, as it is in the
//! copy, and as it is in memory. Contents are compared, not times: a tool can write a file twice
//! within one tick of the clock.

#![expect(
    clippy::disallowed_methods,
    reason = "the copy is a private directory that this module makes, fills and removes"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, symlink};
use std::sync::Arc;

use bytes::Bytes;
use camino::{Utf8Path, Utf8PathBuf};
use jig_proto::ProjectPath;

use super::tree::{MemoryNodeContent, Trunk, lock};
use super::{MemoryNode, SharedTrunk};
use crate::disk::{self, DiskFiles};
use crate::{Conflict, FilesError, PlaceKind, ProjectFiles, SyncReport};

/// A private directory with the content of a tree.
#[derive(Debug)]
pub(crate) struct TreeCopy {
    path: Utf8PathBuf,
    /// The root's name in absolute links of the tree.
    root: Utf8PathBuf,
    shared: Arc<SharedTrunk>,
    disk: DiskFiles,
    /// The tree as both sides last agreed on it.
    base: BTreeMap<ProjectPath, CopyVersion>,
    closed: bool,
}

/// One side's version of a path.
#[derive(Debug, Clone)]
struct CopyVersion {
    item: CopyItem,
    /// What it is on disk, to recognise it under another name.
    id: Option<disk::ObjectIdentity>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum CopyItem {
    File { content: Bytes, executable: bool },
    Link(String),
    Directory,
}

impl CopyVersion {
    /// Whether both are directories or neither is.
    fn is_like(&self, other: &Self) -> bool {
        (self.item == CopyItem::Directory) == (other.item == CopyItem::Directory)
    }
}

impl TreeCopy {
    /// Writes the tree to a new directory that only this user can enter.
    pub(crate) fn make(root: &Utf8Path, shared: Arc<SharedTrunk>) -> Result<Self, FilesError> {
        let fail = |error| FilesError::from_io(&ProjectPath::root(), error);
        let path = make_private().map_err(fail)?;
        let filled = (|| {
            let items = items_of(&shared.read());
            fill(&path, root, &items)?;
            Ok((items, DiskFiles::open(&path)?))
        })();
        let (items, disk) = match filled {
            Ok(filled) => filled,
            Err(error) => {
                let _ = std::fs::remove_dir_all(&path);
                return Err(fail(error));
            }
        };
        let mut copy = Self {
            path,
            root: root.to_owned(),
            shared,
            disk,
            base: BTreeMap::new(),
            closed: false,
        };
        for (path, item) in items {
            let id = copy.disk.locate_entry(&path).ok();
            let id = id.and_then(|place| disk::identity(&place));
            copy.base.insert(path, CopyVersion { item, id });
        }
        Ok(copy)
    }

    pub(crate) fn path(&self) -> &Utf8Path {
        &self.path
    }

    pub(crate) fn close(mut self) -> SyncReport {
        self.finish()
    }

    fn finish(&mut self) -> SyncReport {
        self.closed = true;
        let mut report = self.sync_back();
        if !report.is_complete() {
            report.kept = Some(self.path.clone());
        } else if let Err(error) = std::fs::remove_dir_all(&self.path) {
            report.failed.push((ProjectPath::root(), error.to_string()));
            report.kept = Some(self.path.clone());
        }
        report
    }

    pub(crate) fn sync_back(&mut self) -> SyncReport {
        let mut report = SyncReport::default();
        let mut copy = BTreeMap::new();
        self.scan(&ProjectPath::root(), &mut copy, &mut report, 0);
        let shared = Arc::clone(&self.shared);
        let mut trunk = shared.write();
        let memory = items_of(&trunk);
        let mut apply = Vec::new();
        let paths: BTreeSet<_> = self.base.keys().chain(copy.keys()).cloned().collect();
        for path in paths {
            // What could not be read is not therefore gone.
            if report.failed.iter().any(|(lost, _)| path.starts_with(lost)) {
                continue;
            }
            let before = self.base.get(&path).map(|version| &version.item);
            let there = copy.get(&path).map(|version| &version.item);
            let here = memory.get(&path);
            if there == before || there == here {
                continue;
            }
            if here != before {
                report.conflicts.push(Conflict {
                    deleted_in_view: there.is_none(),
                    deleted_in_files: here.is_none(),
                    path,
                });
                continue;
            }
            apply.push(path);
        }
        let applied = self.apply(&mut trunk, apply, &copy, &mut report);
        // Conflicts are not agreed on: they stay conflicts until one side gives way.
        for path in applied {
            match copy.remove(&path) {
                Some(version) => self.base.insert(path, version),
                None => self.base.remove(&path),
            };
        }
        report
    }

    /// Brings changes into the tree: removals from below, then the rest from above.
    fn apply(
        &self,
        trunk: &mut Trunk,
        paths: Vec<ProjectPath>,
        copy: &BTreeMap<ProjectPath, CopyVersion>,
        report: &mut SyncReport,
    ) -> Vec<ProjectPath> {
        let renamed = self.renames(&paths, copy);
        let mut applied = Vec::new();
        let (gone, rest): (Vec<_>, Vec<_>) = paths
            .into_iter()
            .partition(|path| !copy.contains_key(path) || self.changes_kind(path, copy));
        for path in gone.iter().rev() {
            let done = remove(trunk, path);
            match (done, copy.contains_key(path)) {
                (true, false) if renamed.values().all(|old| old != path) => {
                    report.deleted.push(path.clone());
                }
                (true, _) => {}
                (false, there) => report.conflicts.push(Conflict {
                    path: path.clone(),
                    deleted_in_view: !there,
                    deleted_in_files: false,
                }),
            }
            if done && !copy.contains_key(path) {
                applied.push(path.clone());
            }
        }
        let stays = |path: &ProjectPath| report.conflicts.iter().any(|c| c.path == *path);
        let again = gone
            .into_iter()
            .filter(|path| copy.contains_key(path) && !stays(path));
        let mut rest: Vec<_> = rest.into_iter().chain(again).collect();
        rest.sort_unstable();
        for path in rest {
            let Some(version) = copy.get(&path) else {
                continue;
            };
            if let Err(error) = insert(trunk, &path, &version.item) {
                report.failed.push((path, error.to_string()));
                continue;
            }
            let before = self.base.get(renamed.get(&path).unwrap_or(&path));
            match before.map(|before| &before.item) {
                None => report.created.push(path.clone()),
                Some(before) if *before != version.item => report.changed.push(path.clone()),
                Some(_) => {}
            }
            applied.push(path);
        }
        report.deleted.sort_unstable();
        report
            .conflicts
            .sort_unstable_by(|a, b| a.path.cmp(&b.path));
        report.renamed = topmost(&renamed);
        applied
    }

    fn changes_kind(&self, path: &ProjectPath, copy: &BTreeMap<ProjectPath, CopyVersion>) -> bool {
        match (self.base.get(path), copy.get(path)) {
            (Some(before), Some(there)) => !before.is_like(there),
            _ => false,
        }
    }

    /// New names, each with the old one: gone from there and come here.
    ///
    /// The system uses the number of a removed object again at once, so a number alone proves
    /// nothing: a file or link must also be what it was, unless it came along with its directory.
    fn renames(
        &self,
        paths: &[ProjectPath],
        copy: &BTreeMap<ProjectPath, CopyVersion>,
    ) -> BTreeMap<ProjectPath, ProjectPath> {
        let mut gone: BTreeMap<&ProjectPath, &CopyVersion> = paths
            .iter()
            .filter(|path| !copy.contains_key(*path))
            .filter_map(|path| Some((path, self.base.get(path)?)))
            .collect();
        let mut renamed: BTreeMap<ProjectPath, ProjectPath> = BTreeMap::new();
        // Sorted, so a directory comes before what is in it.
        for path in paths.iter().filter(|path| !self.base.contains_key(*path)) {
            let Some(now) = copy.get(path) else {
                continue;
            };
            let along = path
                .parent()
                .zip(path.file_name())
                .and_then(|(above, name)| {
                    Some(
                        renamed
                            .get(&above)?
                            .join(&ProjectPath::normalize(name).ok()?),
                    )
                });
            let along = along.filter(|old| gone.get(old).is_some_and(|before| before.is_like(now)));
            let same = |before: &CopyVersion| {
                before.id.is_some() && before.id == now.id && before.item == now.item
            };
            let old = along.or_else(|| {
                let found = gone.iter().find(|(_, before)| same(before));
                found.map(|(old, _)| (*old).clone())
            });
            if let Some(old) = old {
                gone.remove(&old);
                renamed.insert(path.clone(), old);
            }
        }
        renamed
    }

    /// Reads the copy. Processes that a tool left behind may still be at work in it, so it is read
    /// with the same care as any workspace.
    fn scan(
        &self,
        path: &ProjectPath,
        found: &mut BTreeMap<ProjectPath, CopyVersion>,
        report: &mut SyncReport,
        depth: usize,
    ) {
        let listing = match self.disk.locate_entry(path) {
            _ if depth > MAX_DEPTH => Err(FilesError::TooDeep { path: path.clone() }),
            Ok(place) => self.disk.list_dir(&place),
            Err(error) => Err(error),
        };
        let listing = match listing {
            Ok(listing) => listing,
            Err(error) => return report.failed.push((path.clone(), error.to_string())),
        };
        if listing.unnamed > 0 {
            report.left_out.push(path.clone());
        }
        for entry in listing.entries {
            let Ok(own) = ProjectPath::normalize(&entry.name) else {
                continue;
            };
            let child = path.join(&own);
            match self.version(&child) {
                Ok(Some(version)) => {
                    let directory = version.item == CopyItem::Directory;
                    found.insert(child.clone(), version);
                    if directory {
                        self.scan(&child, found, report, depth + 1);
                    }
                }
                Ok(None) => report.left_out.push(child),
                Err(FilesError::NotFound { .. }) => {}
                Err(error) => report.failed.push((child, error.to_string())),
            }
        }
    }

    fn version(&self, path: &ProjectPath) -> Result<Option<CopyVersion>, FilesError> {
        let place = self.disk.locate_entry(path)?;
        let item = match place.kind() {
            PlaceKind::Missing => return Err(FilesError::NotFound { path: path.clone() }),
            PlaceKind::Other => return Ok(None),
            PlaceKind::Directory => CopyItem::Directory,
            PlaceKind::Link(target) => CopyItem::Link(moved(target, &self.path, &self.root)),
            PlaceKind::File => CopyItem::File {
                content: self.disk.read(&place, MAX_FILE)?,
                executable: place.executable(),
            },
        };
        let id = disk::identity(&place);
        Ok(Some(CopyVersion { item, id }))
    }
}

impl Drop for TreeCopy {
    fn drop(&mut self) {
        if self.closed {
            return;
        }
        let report = self.finish();
        if !report.is_complete() {
            lock(&self.shared.reports).push(report);
        }
    }
}

fn items_of(trunk: &Trunk) -> BTreeMap<ProjectPath, CopyItem> {
    let mut items = BTreeMap::new();
    let visited = trunk.root.visit(&ProjectPath::root(), &mut |path, node| {
        let item = match &node.body {
            MemoryNodeContent::Directory(_) => CopyItem::Directory,
            MemoryNodeContent::Link(target) => CopyItem::Link(target.to_string()),
            MemoryNodeContent::File { cell, executable } => CopyItem::File {
                content: cell.content(),
                executable: *executable,
            },
        };
        items.insert(path.clone(), item);
        Ok::<(), std::convert::Infallible>(())
    });
    match visited {
        Ok(()) => items,
    }
}

/// Writes everything into an empty directory that nobody else knows yet.
fn fill(
    directory: &Utf8Path,
    root: &Utf8Path,
    items: &BTreeMap<ProjectPath, CopyItem>,
) -> io::Result<()> {
    for (path, item) in items {
        let path = path.under(directory);
        match item {
            CopyItem::Directory => std::fs::create_dir(&path)?,
            CopyItem::Link(target) => symlink(moved(target, root, directory), &path)?,
            CopyItem::File {
                content,
                executable,
            } => {
                std::fs::write(&path, content)?;
                if *executable {
                    let mut permissions = std::fs::metadata(&path)?.permissions();
                    // Whoever may read it may run it.
                    permissions.set_mode(permissions.mode() | (permissions.mode() & 0o444) >> 2);
                    std::fs::set_permissions(&path, permissions)?;
                }
            }
        }
    }
    Ok(())
}

/// A link's target after its tree moved: an absolute one below `from` is below `to` then.
fn moved(target: &str, from: &Utf8Path, to: &Utf8Path) -> String {
    match Utf8Path::new(target).strip_prefix(from) {
        Ok(below) if below.as_str().is_empty() => to.to_string(),
        Ok(below) => to.join(below).to_string(),
        Err(_) => target.to_owned(),
    }
}

fn make_private() -> io::Result<Utf8PathBuf> {
    let above = std::env::temp_dir().canonicalize()?;
    let above = Utf8PathBuf::from_path_buf(above)
        .map_err(|_| io::Error::other("the temporary directory has a name that is not UTF-8"))?;
    let path = above.join(format!("jig-view-{}", disk::random_name()));
    #[expect(
        clippy::disallowed_types,
        reason = "the one way of the standard library to make a directory with a mode"
    )]
    std::fs::DirBuilder::new().mode(0o700).create(&path)?;
    Ok(path)
}

/// Removes a path that is not a directory with something in it.
fn remove(trunk: &mut Trunk, path: &ProjectPath) -> bool {
    let Ok((parent, name)) = trunk.parent(path, false) else {
        return true;
    };
    match parent.get(name).map(|node| &node.body) {
        Some(MemoryNodeContent::Directory(children)) if !children.is_empty() => false,
        _ => {
            parent.remove(name);
            true
        }
    }
}

fn insert(trunk: &mut Trunk, path: &ProjectPath, item: &CopyItem) -> Result<(), FilesError> {
    let body = match item {
        CopyItem::Directory => MemoryNodeContent::Directory(Default::default()),
        CopyItem::Link(target) => MemoryNodeContent::Link(target.as_str().into()),
        CopyItem::File {
            content,
            executable,
        } => MemoryNodeContent::file(content.clone(), *executable),
    };
    let node: MemoryNode = trunk.node(body);
    let (parent, name) = trunk.parent(path, true)?;
    match parent.get(name) {
        Some(there) if there.is_directory() => Err(FilesError::IsDirectory { path: path.clone() }),
        _ => {
            parent.insert(name.to_owned(), node);
            Ok(())
        }
    }
}

/// The renames without those that follow from the rename of a directory above.
fn topmost(renamed: &BTreeMap<ProjectPath, ProjectPath>) -> Vec<(ProjectPath, ProjectPath)> {
    let follows = |new: &ProjectPath, old: &ProjectPath| {
        let above = new.parent().zip(old.parent());
        above.is_some_and(|(new_above, old_above)| {
            renamed.get(&new_above) == Some(&old_above) && new.file_name() == old.file_name()
        })
    };
    renamed
        .iter()
        .filter(|(new, old)| !follows(new, old))
        .map(|(new, old)| (old.clone(), new.clone()))
        .collect()
}

/// What a tool leaves in the copy is read into memory: a file must not fill it.
const MAX_FILE: u64 = 256 * 1024 * 1024;

/// A tool can nest directories without end, and each level is a level of the host's stack.
const MAX_DEPTH: usize = 200;
