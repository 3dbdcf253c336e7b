//! [`FileHandle`]: a file that is open, to be read and written in parts.

use std::time::SystemTime;

use bytes::Bytes;
use jig_proto::ProjectPath;

use crate::FilesError;
#[cfg(unix)]
use crate::disk::DiskFile;
use crate::memory::FileCell;

/// How to open a file. Everything is off by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// Read it.
    pub read: bool,
    /// Write it in place.
    pub write: bool,
    /// Create it if the place is missing. The directories above it are not made.
    pub create: bool,
    /// Together with `create`: [`FilesError::AlreadyExists`] if anything stands there.
    pub exclusive: bool,
    /// Empty it, with or without `write`.
    pub truncate: bool,
}

impl OpenOptions {
    /// Whether the content of a file that stands there may change by this.
    pub fn changes(&self) -> bool {
        self.write || self.truncate
    }
}

/// A file that is open. It is the file and not its name: it stays open, and is the same, when the file
/// is renamed, replaced or removed. What is written is seen by everybody who reads the file.
///
/// Writing happens in place and is not atomic: who reads meanwhile sees a part of it, and a crash
/// leaves a part of it. [`ProjectFiles::write`](crate::ProjectFiles::write) replaces a file in one step.
#[derive(Debug)]
pub struct FileHandle {
    path: ProjectPath,
    read: bool,
    write: bool,
    backing: Backing,
}

#[derive(Debug)]
pub(crate) enum Backing {
    #[cfg(unix)]
    Disk(DiskFile),
    Memory(std::sync::Arc<FileCell>),
}

impl FileHandle {
    pub(crate) fn new(path: &ProjectPath, options: &OpenOptions, backing: Backing) -> Self {
        Self {
            path: path.clone(),
            read: options.read,
            write: options.write,
            backing,
        }
    }

    /// The canonical path at which it was opened.
    pub fn path(&self) -> &ProjectPath {
        &self.path
    }

    /// Reads up to `most` bytes from `offset`. There may be fewer at any time; at the end of the file
    /// and past it there are none.
    ///
    /// One read gives at most [`MAX_READ`](Self::MAX_READ) bytes.
    pub fn read_at(&self, offset: u64, most: usize) -> Result<Bytes, FilesError> {
        self.expect(self.read, "reading")?;
        let most = most.min(Self::MAX_READ);
        match &self.backing {
            #[cfg(unix)]
            Backing::Disk(file) => file.read_at(&self.path, offset, most),
            Backing::Memory(cell) => Ok(cell.read_at(offset, most)),
        }
    }

    /// Writes all of `bytes` at `offset`. A gap before it reads as zeros. If that fails, a part may have
    /// been written.
    pub fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<(), FilesError> {
        self.expect(self.write, "writing")?;
        // Not even a gap is made by writing nothing.
        if bytes.is_empty() {
            return Ok(());
        }
        match &self.backing {
            #[cfg(unix)]
            Backing::Disk(file) => file.write_at(&self.path, offset, bytes),
            Backing::Memory(cell) => cell.write_at(&self.path, offset, bytes),
        }
    }

    /// Writes all of `bytes` at the end, wherever that is by now. If that fails, a part may have been
    /// written.
    pub fn append(&self, bytes: &[u8]) -> Result<(), FilesError> {
        self.expect(self.write, "writing")?;
        match &self.backing {
            #[cfg(unix)]
            Backing::Disk(file) => file.append(&self.path, bytes),
            Backing::Memory(cell) => cell.append(&self.path, bytes),
        }
    }

    /// Cuts the file, or makes it longer with zeros.
    pub fn set_size(&self, size: u64) -> Result<(), FilesError> {
        self.expect(self.write, "writing")?;
        match &self.backing {
            #[cfg(unix)]
            Backing::Disk(file) => file.set_size(&self.path, size),
            Backing::Memory(cell) => cell.set_size(&self.path, size),
        }
    }

    /// The size in bytes, and when the content was last changed, where that is known.
    pub fn state(&self) -> Result<(u64, Option<SystemTime>), FilesError> {
        match &self.backing {
            #[cfg(unix)]
            Backing::Disk(file) => file.state(&self.path),
            Backing::Memory(cell) => {
                let (content, modified) = cell.now();
                Ok((content.len() as u64, Some(modified)))
            }
        }
    }

    /// Waits until what was written has reached the disk.
    pub fn sync(&self) -> Result<(), FilesError> {
        match &self.backing {
            #[cfg(unix)]
            Backing::Disk(file) => file.sync(&self.path),
            Backing::Memory(_) => Ok(()),
        }
    }

    /// Whether both are one file.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.backing, &other.backing) {
            #[cfg(unix)]
            (Backing::Disk(one), Backing::Disk(two)) => one.is_same(two),
            (Backing::Memory(one), Backing::Memory(two)) => std::sync::Arc::ptr_eq(one, two),
            #[cfg(unix)]
            _ => false,
        }
    }

    fn expect(&self, opened: bool, access: &'static str) -> Result<(), FilesError> {
        match opened {
            true => Ok(()),
            false => Err(FilesError::NotOpened {
                path: self.path.clone(),
                access,
            }),
        }
    }

    /// The most that one read gives. A tool says how much it wants, and the memory for it is the host's.
    pub const MAX_READ: usize = 1024 * 1024;
}
