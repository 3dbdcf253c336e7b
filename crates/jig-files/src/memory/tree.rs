//! The tree itself: cheap to copy as a whole, changed under one lock.

use std::collections::BTreeMap;
use std::io;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, RwLockReadGuard, RwLockWriteGuard};
use std::time::SystemTime;

use bytes::Bytes;
use jig_policy::{Lookup, LookupEntry};
use jig_proto::ProjectPath;

use super::{FileCell, SharedTrunk};
use crate::located_path::PlaceHandle;
use crate::{FilesError, Place};

/// Something in the tree. A file that is replaced is another node with another number, so a node that
/// was seen stays what it was, but for the content of a file: whoever has the file open changes that in
/// its cell.
#[derive(Debug, Clone)]
pub(crate) struct MemoryNode {
    pub(super) id: u64,
    /// When it was made.
    pub(super) since: SystemTime,
    pub(super) body: MemoryNodeContent,
}

#[derive(Debug, Clone)]
pub(super) enum MemoryNodeContent {
    File {
        cell: Arc<FileCell>,
        executable: bool,
    },
    Link(Arc<str>),
    Directory(Branch),
}

/// The children of a directory. Copies share them until one of them is changed.
#[derive(Debug, Clone, Default)]
pub(super) struct Branch(Arc<BTreeMap<String, MemoryNode>>);

/// The whole tree, and the number of the next node.
#[derive(Debug, Default)]
pub(super) struct Trunk {
    pub(super) root: Branch,
    next: u64,
}

impl MemoryNode {
    pub(super) fn is_directory(&self) -> bool {
        matches!(self.body, MemoryNodeContent::Directory(_))
    }

    /// Whether it is the same with all that is below it. Whoever changes something below a branch
    /// that is held elsewhere gets a copy of that branch.
    pub(super) fn is_unchanged(&self, seen: &MemoryNode) -> bool {
        match (&self.body, &seen.body) {
            (MemoryNodeContent::Directory(now), MemoryNodeContent::Directory(seen)) => {
                Arc::ptr_eq(&now.0, &seen.0)
            }
            _ => self.id == seen.id,
        }
    }

    /// Calls `act` for this node and all below it, parents first.
    pub(super) fn visit<E>(
        &self,
        path: &ProjectPath,
        act: &mut impl FnMut(&ProjectPath, &MemoryNode) -> Result<(), E>,
    ) -> Result<(), E> {
        act(path, self)?;
        match &self.body {
            MemoryNodeContent::Directory(children) => children.visit(path, act),
            _ => Ok(()),
        }
    }

    /// As `rename` of the operating system has it.
    pub(super) fn expect_can_replace(
        &self,
        there: &MemoryNode,
        path: &ProjectPath,
    ) -> Result<(), FilesError> {
        let path = path.clone();
        match (&self.body, &there.body) {
            (MemoryNodeContent::Directory(_), MemoryNodeContent::Directory(children))
                if !children.is_empty() =>
            {
                Err(FilesError::NotEmpty { path })
            }
            (MemoryNodeContent::Directory(_), MemoryNodeContent::Directory(_)) => Ok(()),
            (MemoryNodeContent::Directory(_), _) => Err(FilesError::NotADirectory { path }),
            (_, MemoryNodeContent::Directory(_)) => Err(FilesError::IsDirectory { path }),
            _ => Ok(()),
        }
    }
}

impl MemoryNodeContent {
    /// A file with this content.
    pub(super) fn file(content: impl Into<Bytes>, executable: bool) -> Self {
        Self::File {
            cell: Arc::new(FileCell::new(content.into())),
            executable,
        }
    }
}

impl Branch {
    /// What stands at a canonical path; links are not followed.
    pub(super) fn find(&self, path: &ProjectPath) -> Option<MemoryNode> {
        let mut here = MemoryNode {
            id: 0,
            // The tree knows no time of its own.
            since: SystemTime::UNIX_EPOCH,
            body: MemoryNodeContent::Directory(self.clone()),
        };
        for name in path.components() {
            let MemoryNodeContent::Directory(children) = &here.body else {
                return None;
            };
            here = children.get(name)?.clone();
        }
        Some(here)
    }

    pub(super) fn visit<E>(
        &self,
        path: &ProjectPath,
        act: &mut impl FnMut(&ProjectPath, &MemoryNode) -> Result<(), E>,
    ) -> Result<(), E> {
        for (name, node) in self.iter() {
            let own = ProjectPath::normalize(name).unwrap_or_default();
            node.visit(&path.join(&own), act)?;
        }
        Ok(())
    }
}

impl Deref for Branch {
    type Target = BTreeMap<String, MemoryNode>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Lookup for &Branch {
    fn entry(&self, path: &ProjectPath) -> io::Result<LookupEntry> {
        Ok(match self.find(path).map(|node| node.body) {
            None => LookupEntry::Missing,
            Some(MemoryNodeContent::File { .. }) => LookupEntry::File,
            Some(MemoryNodeContent::Directory(_)) => LookupEntry::Directory,
            Some(MemoryNodeContent::Link(target)) => LookupEntry::Link(target.to_string()),
        })
    }
}

impl Trunk {
    /// A new node.
    pub(super) fn node(&mut self, body: MemoryNodeContent) -> MemoryNode {
        self.next += 1;
        MemoryNode {
            id: self.next,
            since: SystemTime::now(),
            body,
        }
    }

    /// The children of the directory above a canonical path, to be changed, and the last name.
    pub(super) fn parent<'p>(
        &mut self,
        path: &'p ProjectPath,
        make: bool,
    ) -> Result<(&mut BTreeMap<String, MemoryNode>, &'p str), FilesError> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(FilesError::IsDirectory { path: path.clone() });
        };
        if path.components().any(|name| name.len() > MAX_NAME) {
            return Err(FilesError::NameTooLong { path: path.clone() });
        }
        let mut here = Arc::make_mut(&mut self.root.0);
        for name in parent.components() {
            if make && !here.contains_key(name) {
                self.next += 1;
                let made = MemoryNode {
                    id: self.next,
                    since: SystemTime::now(),
                    body: MemoryNodeContent::Directory(Branch::default()),
                };
                here.insert(name.to_owned(), made);
            }
            here = match here.get_mut(name).map(|node| &mut node.body) {
                None => return Err(FilesError::NotFound { path: path.clone() }),
                Some(MemoryNodeContent::Directory(children)) => Arc::make_mut(&mut children.0),
                Some(MemoryNodeContent::Link(_)) => {
                    return Err(FilesError::Changed { path: path.clone() });
                }
                Some(MemoryNodeContent::File { .. }) => {
                    return Err(FilesError::NotADirectory { path: path.clone() });
                }
            };
        }
        Ok((here, name))
    }

    /// Checks that what was located is what stands there now.
    pub(super) fn expect_same(&self, place: &Place) -> Result<(), FilesError> {
        let now = self.root.find(place.path()).map(|node| node.id);
        match &place.held {
            PlaceHandle::Memory(node, _) if now == Some(node.id) => Ok(()),
            _ => Err(FilesError::Changed {
                path: place.path().clone(),
            }),
        }
    }
}

impl SharedTrunk {
    // A panic under these locks can only come from a caller's filter, before anything is changed.
    pub(super) fn read(&self) -> RwLockReadGuard<'_, Trunk> {
        match self.trunk.read() {
            Ok(guard) => guard,
            Err(poisoned) => poisoned.into_inner(),
        }
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, Trunk> {
        match self.trunk.write() {
            Ok(guard) => guard,
            Err(poisoned) => poisoned.into_inner(),
        }
    }
}

pub(super) fn lock<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    match mutex.lock() {
        Ok(guard) => guard,
        Err(poisoned) => poisoned.into_inner(),
    }
}

/// As long as a name can be on nearly every disk, so that a tree can be written to one.
const MAX_NAME: usize = 255;
