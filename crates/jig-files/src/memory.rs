//! [`MemoryFiles`]: a tree that exists only in memory, for tests and for hosts without a disk.
//!
//! It means what the disk means, link by link: paths are resolved by the same algorithm.

#[cfg(unix)]
mod disk_copy;
mod file_content;
mod search;
mod tree;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::SystemTime;

use bytes::Bytes;
use camino::{Utf8Path, Utf8PathBuf};
use jig_policy::{ResolvedPath, Workspace};
use jig_proto::ProjectPath;

#[cfg(unix)]
pub(crate) use disk_copy::TreeCopy;
pub(crate) use file_content::FileCell;
pub(crate) use tree::MemoryNode;

use crate::files::sealed;
use crate::grep::{self, GrepQuery, Matches};
use crate::handle::Backing;
use crate::located_path::PlaceHandle;
use crate::{
    ContentHash, DirEntry, DirEntryKind, FileHandle, FilesError, FilesView, Filter, Listing,
    OpenOptions, Place, PlaceKind, ProjectFiles, RenameOptions, SyncReport, WriteOptions, lookup,
};
use tree::{Branch, MemoryNodeContent, Trunk};

/// Files in memory: bytes with an executable bit, directories and symbolic links.
///
/// Reading shares the content instead of copying it. A `Place` keeps the content that it was located
/// with, whatever is written afterwards; a [`FileHandle`] shows what the file holds at the moment.
#[derive(Debug)]
pub struct MemoryFiles {
    number: u64,
    root: Utf8PathBuf,
    started: SystemTime,
    shared: Arc<SharedTrunk>,
}

#[derive(Debug, Default)]
pub(crate) struct SharedTrunk {
    trunk: RwLock<Trunk>,
    reports: Mutex<Vec<SyncReport>>,
}

impl Default for MemoryFiles {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryFiles {
    /// An empty tree whose root is called `/workspace`.
    pub fn new() -> Self {
        Self::with_root("/workspace")
    }

    /// An empty tree. Absolute links that begin with `root` lead into it.
    pub fn with_root(root: impl Into<Utf8PathBuf>) -> Self {
        Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            root: root.into(),
            started: SystemTime::now(),
            shared: Arc::default(),
        }
    }

    /// Puts a symbolic link at a path, with the directories above it. What stood there is replaced,
    /// unless it is a directory.
    pub fn put_link(&self, path: &ProjectPath, target: &str) -> Result<(), FilesError> {
        self.put(path, MemoryNodeContent::Link(target.into()))
    }

    /// Puts a file at a path, with the directories above it. What stood there is replaced, unless it
    /// is a directory.
    pub fn put_file(
        &self,
        path: &ProjectPath,
        content: impl Into<Bytes>,
        executable: bool,
    ) -> Result<(), FilesError> {
        self.put(path, MemoryNodeContent::file(content, executable))
    }

    /// What came out of views that were dropped without being closed and that could not bring
    /// everything back. Each report is given once.
    pub fn take_reports(&self) -> Vec<SyncReport> {
        std::mem::take(&mut *tree::lock(&self.shared.reports))
    }

    fn put(&self, path: &ProjectPath, body: MemoryNodeContent) -> Result<(), FilesError> {
        let mut trunk = self.shared.write();
        let node = trunk.node(body);
        let (parent, name) = trunk.parent(path, true)?;
        if parent.get(name).is_some_and(MemoryNode::is_directory) {
            return Err(FilesError::IsDirectory { path: path.clone() });
        }
        parent.insert(name.to_owned(), node);
        Ok(())
    }

    fn snapshot(&self) -> Branch {
        self.shared.read().root.clone()
    }

    fn place(&self, resolved: ResolvedPath, node: Option<MemoryNode>) -> Place {
        let kind = match node.as_ref().map(|node| &node.body) {
            None => PlaceKind::Missing,
            Some(MemoryNodeContent::File { .. }) => PlaceKind::File,
            Some(MemoryNodeContent::Directory(_)) => PlaceKind::Directory,
            Some(MemoryNodeContent::Link(target)) => PlaceKind::Link(target.to_string()),
        };
        let Some(node) = node else {
            return Place::new(self.number, resolved, kind, PlaceHandle::Nothing);
        };
        let MemoryNodeContent::File { cell, executable } = &node.body else {
            let since = match resolved.path().is_root() {
                true => self.started,
                false => node.since,
            };
            let held = PlaceHandle::Memory(node, Bytes::new());
            return Place::new(self.number, resolved, kind, held).with_modified(Some(since));
        };
        let ((content, modified), executable) = (cell.now(), *executable);
        let size = content.len() as u64;
        Place::new(
            self.number,
            resolved,
            kind,
            PlaceHandle::Memory(node, content),
        )
        .with_file(size, executable)
        .with_modified(Some(modified))
    }

    fn resolve(&self, branch: &Branch, path: &ProjectPath) -> Result<ResolvedPath, FilesError> {
        if path.is_root() {
            return Ok(ResolvedPath::from_handle(path.clone()));
        }
        Workspace::new(self.root.clone(), branch)
            .resolve(path.as_str())
            .map_err(|error| FilesError::from_resolve(path, error))
    }

    fn content(&self, place: &Place) -> Result<Bytes, FilesError> {
        place.check_owner(self.number)?;
        place.expect_file()?;
        match &place.held {
            PlaceHandle::Memory(_, content) => Ok(content.clone()),
            _ => Err(FilesError::NotFound {
                path: place.path().clone(),
            }),
        }
    }

    /// Replaces a file's content by what `change` makes of it.
    fn store(
        &self,
        place: &Place,
        options: &WriteOptions,
        change: impl FnOnce(&[u8]) -> Bytes,
    ) -> Result<bool, FilesError> {
        place.check_owner(self.number)?;
        let path = place.path();
        let mut trunk = self.shared.write();
        if place.exists() {
            if options.exclusive {
                return Err(FilesError::AlreadyExists { path: path.clone() });
            }
            place.expect_file()?;
            let (parent, name) = trunk.parent(path, false)?;
            let Some(MemoryNode {
                body: MemoryNodeContent::File { cell, executable },
                ..
            }) = parent.get(name)
            else {
                return Err(FilesError::Changed { path: path.clone() });
            };
            let content = cell.content();
            if options
                .if_match
                .is_some_and(|wanted| wanted != ContentHash::of(&content))
            {
                return Err(FilesError::Stale { path: path.clone() });
            }
            let body = MemoryNodeContent::file(change(&content), *executable);
            let node = trunk.node(body);
            let (parent, name) = trunk.parent(path, false)?;
            parent.insert(name.to_owned(), node);
            return Ok(false);
        }
        if options.if_match.is_some() {
            return Err(FilesError::Stale { path: path.clone() });
        }
        let node = trunk.node(MemoryNodeContent::file(change(&[]), false));
        let (parent, name) = trunk.parent(path, options.parents)?;
        if parent.contains_key(name) {
            let path = path.clone();
            return Err(match options.exclusive {
                true => FilesError::AlreadyExists { path },
                false => FilesError::Changed { path },
            });
        }
        parent.insert(name.to_owned(), node);
        Ok(true)
    }

    /// Opens what stands at a place.
    fn cell(&self, place: &Place, options: &OpenOptions) -> Result<Arc<FileCell>, FilesError> {
        let path = place.path();
        if options.create && options.exclusive {
            return Err(FilesError::AlreadyExists { path: path.clone() });
        }
        place.expect_file()?;
        let PlaceHandle::Memory(
            MemoryNode {
                body: MemoryNodeContent::File { cell, .. },
                ..
            },
            _,
        ) = &place.held
        else {
            return Err(FilesError::NotFound { path: path.clone() });
        };
        if options.changes() {
            // Nobody takes its name away until it is open.
            let trunk = self.shared.read();
            trunk.expect_same(place)?;
            if options.truncate {
                cell.set_size(path, 0)?;
            }
        }
        Ok(Arc::clone(cell))
    }

    /// Creates an empty file where nothing stands.
    fn create_cell(
        &self,
        place: &Place,
        options: &OpenOptions,
    ) -> Result<Arc<FileCell>, FilesError> {
        let path = place.path();
        let cell = Arc::new(FileCell::new(Bytes::new()));
        let mut trunk = self.shared.write();
        let node = trunk.node(MemoryNodeContent::File {
            cell: Arc::clone(&cell),
            executable: false,
        });
        let (parent, name) = trunk.parent(path, false)?;
        if parent.contains_key(name) {
            let path = path.clone();
            return Err(match options.exclusive {
                true => FilesError::AlreadyExists { path },
                false => FilesError::Changed { path },
            });
        }
        parent.insert(name.to_owned(), node);
        Ok(cell)
    }
}

impl sealed::SealedFiles for MemoryFiles {}

impl ProjectFiles for MemoryFiles {
    fn locate(&self, path: &ProjectPath) -> Result<Place, FilesError> {
        let branch = self.snapshot();
        let resolved = self.resolve(&branch, path)?;
        let node = match resolved.exists() {
            true => branch.find(resolved.path()),
            false => None,
        };
        Ok(self.place(resolved, node))
    }

    fn locate_entry(&self, path: &ProjectPath) -> Result<Place, FilesError> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return self.locate(path);
        };
        let branch = self.snapshot();
        let parent = self.resolve(&branch, &parent)?;
        let own = ProjectPath::normalize(name)
            .map_err(|_| FilesError::NotFound { path: path.clone() })?;
        let here = parent.path().join(&own);
        match branch.find(&here) {
            Some(node) => Ok(self.place(ResolvedPath::from_handle(here), Some(node))),
            None => Ok(self.place(lookup::missing(&here)?, None)),
        }
    }

    fn read(&self, place: &Place, limit: u64) -> Result<Bytes, FilesError> {
        let content = self.content(place)?;
        if content.len() as u64 > limit {
            return Err(FilesError::TooLarge {
                path: place.path().clone(),
                limit,
                size: content.len() as u64,
            });
        }
        Ok(content)
    }

    fn read_range(&self, place: &Place, offset: u64, length: u64) -> Result<Bytes, FilesError> {
        let content = self.content(place)?;
        let size = content.len();
        let start = usize::try_from(offset).map_or(size, |offset| offset.min(size));
        let end =
            usize::try_from(length).map_or(size, |length| start.saturating_add(length).min(size));
        Ok(content.slice(start..end))
    }

    #[expect(
        clippy::disallowed_types,
        reason = "a descriptor that is passed on is a file of the operating system"
    )]
    fn open(&self, place: &Place) -> Result<Option<std::fs::File>, FilesError> {
        self.content(place).map(|_| None)
    }

    fn open_file(&self, place: &Place, options: &OpenOptions) -> Result<FileHandle, FilesError> {
        place.check_owner(self.number)?;
        let cell = match place.kind() {
            PlaceKind::Missing if options.create => self.create_cell(place, options)?,
            _ => self.cell(place, options)?,
        };
        let backing = Backing::Memory(cell);
        Ok(FileHandle::new(place.path(), options, backing))
    }

    fn write(
        &self,
        place: &Place,
        content: &[u8],
        options: &WriteOptions,
    ) -> Result<bool, FilesError> {
        self.store(place, options, |_| Bytes::copy_from_slice(content))
    }

    fn append(
        &self,
        place: &Place,
        content: &[u8],
        options: &WriteOptions,
    ) -> Result<bool, FilesError> {
        if !place.exists() || options.exclusive {
            return self.store(place, options, |_| Bytes::copy_from_slice(content));
        }
        place.check_owner(self.number)?;
        place.expect_file()?;
        let path = place.path();
        // Writers are kept apart, so that "append if it is still this" means what it says.
        let trunk = self.shared.write();
        let Some(MemoryNodeContent::File { cell, .. }) =
            trunk.root.find(path).map(|node| node.body)
        else {
            return Err(FilesError::Changed { path: path.clone() });
        };
        if options
            .if_match
            .is_some_and(|wanted| wanted != ContentHash::of(&cell.content()))
        {
            return Err(FilesError::Stale { path: path.clone() });
        }
        cell.append(path, content)?;
        Ok(false)
    }

    fn list_dir(&self, place: &Place) -> Result<Listing, FilesError> {
        place.check_owner(self.number)?;
        place.expect_directory()?;
        let PlaceHandle::Memory(
            MemoryNode {
                body: MemoryNodeContent::Directory(children),
                ..
            },
            _,
        ) = &place.held
        else {
            return Ok(Listing::default());
        };
        let branch = self.snapshot();
        let mut entries = Vec::with_capacity(children.len());
        for (name, node) in children.iter() {
            let mut leads_to = None;
            let kind = match &node.body {
                MemoryNodeContent::File { .. } => DirEntryKind::File,
                MemoryNodeContent::Directory(_) => DirEntryKind::Directory,
                MemoryNodeContent::Link(_) => {
                    let own = ProjectPath::normalize(name).unwrap_or_default();
                    match self.resolve(&branch, &place.path().join(&own)) {
                        Ok(resolved) => match branch.find(resolved.path()) {
                            None => DirEntryKind::BrokenLink,
                            Some(node) => {
                                leads_to = Some(resolved.path().clone());
                                match node.is_directory() {
                                    true => DirEntryKind::Directory,
                                    false => DirEntryKind::File,
                                }
                            }
                        },
                        Err(_) => DirEntryKind::BrokenLink,
                    }
                }
            };
            entries.push(DirEntry {
                name: name.clone(),
                kind,
                leads_to,
            });
        }
        Ok(Listing {
            entries,
            unnamed: 0,
        })
    }

    fn make_dir(&self, place: &Place, parents: bool) -> Result<(), FilesError> {
        place.check_owner(self.number)?;
        let path = place.path();
        match place.kind() {
            PlaceKind::Missing => {}
            PlaceKind::Directory if parents => return Ok(()),
            _ => return Err(FilesError::AlreadyExists { path: path.clone() }),
        }
        let mut trunk = self.shared.write();
        let node = trunk.node(MemoryNodeContent::Directory(Branch::default()));
        let (parent, name) = trunk.parent(path, parents)?;
        match parent.get(name) {
            None => parent.insert(name.to_owned(), node),
            Some(there) if parents && there.is_directory() => return Ok(()),
            Some(_) => return Err(FilesError::AlreadyExists { path: path.clone() }),
        };
        Ok(())
    }

    fn delete(&self, place: &Place) -> Result<(), FilesError> {
        place.check_owner(self.number)?;
        let path = place.path();
        match place.kind() {
            PlaceKind::Missing => return Err(FilesError::NotFound { path: path.clone() }),
            PlaceKind::Directory => return Err(FilesError::IsDirectory { path: path.clone() }),
            PlaceKind::File | PlaceKind::Link(_) | PlaceKind::Other => {}
        }
        let mut trunk = self.shared.write();
        trunk.expect_same(place)?;
        let (parent, name) = trunk.parent(path, false)?;
        parent.remove(name);
        Ok(())
    }

    fn remove_dir(&self, place: &Place) -> Result<(), FilesError> {
        place.check_owner(self.number)?;
        place.expect_directory()?;
        let path = place.path();
        let mut trunk = self.shared.write();
        trunk.expect_same(place)?;
        let (parent, name) = trunk.parent(path, false)?;
        match parent.get(name).map(|node| &node.body) {
            Some(MemoryNodeContent::Directory(children)) if !children.is_empty() => {
                Err(FilesError::NotEmpty { path: path.clone() })
            }
            _ => {
                parent.remove(name);
                Ok(())
            }
        }
    }

    fn delete_tree(&self, place: &Place, may: &Filter<'_>) -> Result<u64, FilesError> {
        place.check_owner(self.number)?;
        let path = place.path();
        if !place.exists() {
            return Err(FilesError::NotFound { path: path.clone() });
        }
        if path.is_root() {
            return Err(FilesError::Refused { path: path.clone() });
        }
        // The filter is asked without the lock, since it may look at the files itself.
        let seen = self.snapshot().find(path);
        let mut count = 0;
        if let Some(node) = &seen {
            node.visit(path, &mut |path, node| {
                count += 1;
                match may(path, node.is_directory()) {
                    true => Ok(()),
                    false => Err(FilesError::Refused { path: path.clone() }),
                }
            })?;
        }
        let mut trunk = self.shared.write();
        trunk.expect_same(place)?;
        // What was added since has not been asked about.
        if !trunk
            .root
            .find(path)
            .zip(seen)
            .is_some_and(|(now, seen)| now.is_unchanged(&seen))
        {
            return Err(FilesError::Changed { path: path.clone() });
        }
        let (parent, name) = trunk.parent(path, false)?;
        parent.remove(name);
        Ok(count)
    }

    fn rename(&self, from: &Place, to: &Place, options: &RenameOptions) -> Result<(), FilesError> {
        from.check_owner(self.number)?;
        to.check_owner(self.number)?;
        let path = to.path();
        if !from.exists() {
            return Err(FilesError::NotFound {
                path: from.path().clone(),
            });
        }
        if from.path().is_root() || (path.starts_with(from.path()) && path != from.path()) {
            return Err(FilesError::IntoItself {
                path: from.path().clone(),
            });
        }
        if to.exists() && !options.overwrite {
            return Err(FilesError::AlreadyExists { path: path.clone() });
        }
        // What is moved lies in the directory that it would replace.
        if from.path().starts_with(path) && path != from.path() {
            return Err(FilesError::NotEmpty { path: path.clone() });
        }
        let mut trunk = self.shared.write();
        trunk.expect_same(from)?;
        if to.exists() {
            trunk.expect_same(to)?;
        }
        let moved = trunk.root.find(from.path());
        let moved = moved.ok_or_else(|| FilesError::Changed {
            path: from.path().clone(),
        })?;
        let (parent, name) = trunk.parent(path, options.parents)?;
        match parent.get(name) {
            None => {}
            Some(_) if !to.exists() && options.overwrite => {
                return Err(FilesError::Changed { path: path.clone() });
            }
            Some(_) if !to.exists() => {
                return Err(FilesError::AlreadyExists { path: path.clone() });
            }
            Some(there) if there.id == moved.id => return Ok(()),
            Some(there) => moved.expect_can_replace(there, path)?,
        }
        parent.insert(name.to_owned(), moved);
        let (parent, name) = trunk.parent(from.path(), false)?;
        parent.remove(name);
        Ok(())
    }

    fn grep(&self, query: &GrepQuery, may: &Filter<'_>) -> Result<Matches, FilesError> {
        let tree = search::TreeSnapshot {
            files: self,
            branch: self.snapshot(),
        };
        grep::search(&tree, query, may)
    }

    #[cfg(unix)]
    fn materialize(&self) -> Result<FilesView, FilesError> {
        TreeCopy::make(&self.root, Arc::clone(&self.shared)).map(FilesView::copy)
    }

    #[cfg(not(unix))]
    fn materialize(&self) -> Result<FilesView, FilesError> {
        Err(FilesError::NoDirectory)
    }

    fn display_root(&self) -> &Utf8Path {
        &self.root
    }
}

/// Numbers apart from those of other backends, which count up from 1.
static NEXT: AtomicU64 = AtomicU64::new(1 << 32);
