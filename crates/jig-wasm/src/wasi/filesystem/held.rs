//! What a guest holds: directories and files.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use jig_broker::OpenFile;
use jig_proto::ProjectPath;
use jig_runtime::Mount;
use rustix::process::{Resource, getrlimit};

use super::code::Failure;
use crate::bindings::wasi::filesystem::types::ErrorCode;
use crate::guest::Guest;
use crate::limits::Ended;

/// An open file or directory of a guest.
#[derive(Debug)]
pub enum Descriptor {
    /// A directory.
    Directory(Directory),
    /// A file.
    File(File),
}

impl Descriptor {
    pub(super) fn directory(&self) -> Result<&Directory, ErrorCode> {
        match self {
            Self::Directory(directory) => Ok(directory),
            Self::File(_) => Err(ErrorCode::NotDirectory),
        }
    }

    pub(super) fn file(&self) -> Result<&File, ErrorCode> {
        match self {
            Self::File(file) => Ok(file),
            Self::Directory(_) => Err(ErrorCode::IsDirectory),
        }
    }
}

/// A directory that a guest holds.
///
/// It is a name: what another directory that takes its place holds is found by it, and judged as what it is.
#[derive(Debug, Clone)]
pub struct Directory {
    /// Where it is, without links.
    pub(super) path: ProjectPath,
    /// Which of the guest's mounts it is in.
    pub(super) mount: usize,
    /// Whether anything can be changed by way of it, as far as the rules allow that.
    pub(super) mutable: bool,
}

impl Directory {
    /// The directory that a mount is.
    pub(super) fn of_mount(mounts: &[Mount], mount: usize) -> Self {
        Self {
            path: mounts[mount].path.clone(),
            mount,
            mutable: mounts[mount].writable,
        }
    }

    /// The path as requests have it.
    pub(super) fn wire(&self) -> &str {
        match self.path.is_root() {
            true => ".",
            false => self.path.as_str(),
        }
    }
}

/// A file that a guest holds.
#[derive(Debug)]
pub struct File {
    pub(super) open: Arc<Opened>,
    /// Whether it was opened for reading.
    pub(super) read: bool,
    /// Whether it was opened for writing.
    pub(super) write: bool,
    /// Whether each write waits for the disk.
    pub(super) sync: bool,
}

impl File {
    /// The file, if it was opened for reading.
    pub(super) fn readable(&self) -> Result<&Arc<Opened>, ErrorCode> {
        match self.read {
            true => Ok(&self.open),
            false => Err(ErrorCode::BadDescriptor),
        }
    }

    /// The file, if it was opened for writing.
    pub(super) fn writable(&self) -> Result<&Arc<Opened>, ErrorCode> {
        match self.write {
            true => Ok(&self.open),
            false => Err(ErrorCode::BadDescriptor),
        }
    }
}

/// A file that the broker has opened. Streams share it with the descriptor that they were made of.
#[derive(Debug)]
pub(super) struct Opened {
    file: OpenFile,
    _counted: Arc<()>,
}

impl Deref for Opened {
    type Target = OpenFile;

    fn deref(&self) -> &OpenFile {
        &self.file
    }
}

/// What is known of the files and directories that a guest holds, all together.
#[derive(Debug, Default)]
pub(crate) struct OpenFiles {
    /// Each open file has a copy.
    counter: Arc<()>,
    /// Each listing has a copy.
    pub(super) listings: Arc<()>,
    /// What the guest was told last.
    pub(super) told: Option<Told>,
}

/// What a guest was told about a path.
///
/// Libraries ask for the hash of whatever they look at, as a second question. The hash is that of the canonical
/// path, which was judged at the first: there is nothing left to be asked.
#[derive(Debug)]
pub(super) struct Told {
    base: ProjectPath,
    text: String,
    follow: bool,
    canonical: ProjectPath,
}

impl Told {
    /// A look at a path.
    pub(super) fn looked(
        base: ProjectPath,
        text: String,
        follow: bool,
        canonical: ProjectPath,
    ) -> Self {
        Self {
            base,
            text,
            follow,
            canonical,
        }
    }

    /// An entry of a directory.
    pub(super) fn listed(directory: ProjectPath, name: String) -> Self {
        let own = ProjectPath::normalize(&name).unwrap_or_default();
        let canonical = directory.join(&own);
        Self::looked(directory, name, false, canonical)
    }

    /// Whether it was about this.
    pub(super) fn is_about(&self, base: &ProjectPath, text: &str, follow: bool) -> bool {
        self.follow == follow && self.text == text && self.base == *base
    }

    /// The canonical path.
    pub(super) fn canonical(&self) -> &ProjectPath {
        &self.canonical
    }
}

impl Guest {
    /// Whether one more file may be opened. A file on disk takes a descriptor of ours, and those that this
    /// process can have are for all calls together.
    pub(super) fn expect_room(&self) -> Result<(), Failure> {
        let most = self.meter.descriptors.min(share_of_descriptors());
        let held = Arc::strong_count(&self.files.counter) as u64 - 1;
        match held < most {
            true => Ok(()),
            false => Err(Failure::Ended(Ended::Descriptors(most).into())),
        }
    }

    /// An open file, counted.
    pub(super) fn counted(&self, file: OpenFile) -> Arc<Opened> {
        Arc::new(Opened {
            file,
            _counted: Arc::clone(&self.files.counter),
        })
    }
}

/// How many of the descriptors that this process can have one guest may take: a quarter.
fn share_of_descriptors() -> u64 {
    static SHARE: OnceLock<u64> = OnceLock::new();
    *SHARE.get_or_init(|| {
        let most = getrlimit(Resource::Nofile).current;
        most.map_or(u64::MAX, |most| (most / 4).max(1))
    })
}
