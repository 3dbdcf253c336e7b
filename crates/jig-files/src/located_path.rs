//! [`Place`]: where a path leads, held by a handle.

use std::time::SystemTime;

use bytes::Bytes;
use jig_policy::ResolvedPath;
use jig_proto::ProjectPath;

use crate::FilesError;
#[cfg(unix)]
use crate::disk::ObjectHandle;
use crate::memory::MemoryNode;

/// Where a path led when it was located.
///
/// It holds what stands there by a handle that was not opened for reading or writing, and the
/// canonical path for a policy to judge. Nothing in it changes afterwards; an operation that finds
/// something else at the path says [`FilesError::Changed`].
#[derive(Debug)]
pub struct Place {
    resolved: ResolvedPath,
    kind: PlaceKind,
    size: u64,
    executable: bool,
    modified: Option<SystemTime>,
    /// Which backend located it.
    owner: u64,
    pub(crate) held: PlaceHandle,
}

/// What a backend needs to act on a place.
#[derive(Debug)]
pub(crate) enum PlaceHandle {
    /// Nothing stands there, or there is no backend that could hold it.
    Nothing,
    #[cfg(unix)]
    Disk(ObjectHandle),
    /// What stands there, and the content that a file had.
    Memory(MemoryNode, Bytes),
}

impl Place {
    pub(crate) fn new(
        owner: u64,
        resolved: ResolvedPath,
        kind: PlaceKind,
        held: PlaceHandle,
    ) -> Self {
        Self {
            resolved,
            kind,
            size: 0,
            executable: false,
            modified: None,
            owner,
            held,
        }
    }

    pub(crate) fn with_file(mut self, size: u64, executable: bool) -> Self {
        self.size = size;
        self.executable = executable;
        self
    }

    pub(crate) fn with_modified(mut self, modified: Option<SystemTime>) -> Self {
        self.modified = modified;
        self
    }

    /// The canonical path, for a policy to judge.
    pub fn resolved(&self) -> &ResolvedPath {
        &self.resolved
    }

    /// The canonical path.
    pub fn path(&self) -> &ProjectPath {
        self.resolved.path()
    }

    /// What stood there.
    pub fn kind(&self) -> &PlaceKind {
        &self.kind
    }

    /// Whether anything stood there.
    pub fn exists(&self) -> bool {
        self.kind != PlaceKind::Missing
    }

    /// The size of a file in bytes; 0 for everything else.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether a file may be executed by its owner.
    pub fn executable(&self) -> bool {
        self.executable
    }

    /// When what stood there was last changed, where that is known. In memory, a directory tells when it
    /// was made.
    pub fn modified(&self) -> Option<SystemTime> {
        self.modified
    }

    /// Checks that the place was located by the backend with this number.
    pub(crate) fn check_owner(&self, owner: u64) -> Result<(), FilesError> {
        if self.owner == owner {
            return Ok(());
        }
        Err(FilesError::ForeignPlace {
            path: self.path().clone(),
        })
    }

    /// Checks that a file stands there.
    pub(crate) fn expect_file(&self) -> Result<(), FilesError> {
        let path = self.path().clone();
        match self.kind {
            PlaceKind::File => Ok(()),
            PlaceKind::Directory => Err(FilesError::IsDirectory { path }),
            PlaceKind::Other | PlaceKind::Link(_) => Err(FilesError::NotAFile { path }),
            PlaceKind::Missing => Err(FilesError::NotFound { path }),
        }
    }

    /// Checks that a directory stands there.
    pub(crate) fn expect_directory(&self) -> Result<(), FilesError> {
        let path = self.path().clone();
        match self.kind {
            PlaceKind::Directory => Ok(()),
            PlaceKind::Missing => Err(FilesError::NotFound { path }),
            PlaceKind::File | PlaceKind::Other | PlaceKind::Link(_) => {
                Err(FilesError::NotADirectory { path })
            }
        }
    }
}

/// What stands at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceKind {
    /// Nothing.
    Missing,
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link with its target as it is stored. Only
    /// [`locate_entry`](crate::ProjectFiles::locate_entry) gives this: elsewhere links are followed.
    Link(String),
    /// A pipe, socket or device, which is never opened.
    Other,
}
