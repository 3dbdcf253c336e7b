//! [`Place`]: where a path leads, held by a handle.

use std::time::SystemTime;

use bytes::Bytes;
use jig_policy::Resolved;
use jig_proto::ProjectPath;

use crate::FilesError;
#[cfg(unix)]
use crate::disk::Handle;
use crate::memory::Node;

/// Where a path led when it was located.
///
/// It holds what stands there by a handle that was not opened for reading or writing, and the
/// canonical path for a policy to judge. Nothing in it changes afterwards; an operation that finds
/// something else at the path says [`FilesError::Changed`].
#[derive(Debug)]
pub struct Place {
    resolved: Resolved,
    kind: Kind,
    size: u64,
    executable: bool,
    modified: Option<SystemTime>,
    /// Which backend located it.
    owner: u64,
    pub(crate) held: Held,
}

/// What a backend needs to act on a place.
#[derive(Debug)]
pub(crate) enum Held {
    /// Nothing stands there, or there is no backend that could hold it.
    Nothing,
    #[cfg(unix)]
    Disk(Handle),
    /// What stands there, and the content that a file had.
    Memory(Node, Bytes),
}

impl Place {
    pub(crate) fn new(owner: u64, resolved: Resolved, kind: Kind, held: Held) -> Self {
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
    pub fn resolved(&self) -> &Resolved {
        &self.resolved
    }

    /// The canonical path.
    pub fn path(&self) -> &ProjectPath {
        self.resolved.path()
    }

    /// What stood there.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Whether anything stood there.
    pub fn exists(&self) -> bool {
        self.kind != Kind::Missing
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
            Kind::File => Ok(()),
            Kind::Directory => Err(FilesError::IsDirectory { path }),
            Kind::Other | Kind::Link(_) => Err(FilesError::NotAFile { path }),
            Kind::Missing => Err(FilesError::NotFound { path }),
        }
    }

    /// Checks that a directory stands there.
    pub(crate) fn expect_directory(&self) -> Result<(), FilesError> {
        let path = self.path().clone();
        match self.kind {
            Kind::Directory => Ok(()),
            Kind::Missing => Err(FilesError::NotFound { path }),
            Kind::File | Kind::Other | Kind::Link(_) => Err(FilesError::NotADirectory { path }),
        }
    }
}

/// What stands at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
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
