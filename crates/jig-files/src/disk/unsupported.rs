//! [`DiskFiles`] where the operating system has no way to open files beneath a directory that this
//! crate knows: it cannot be opened, and says so.

use std::io;

use bytes::Bytes;
use camino::{Utf8Path, Utf8PathBuf};
use jig_proto::ProjectPath;

use crate::files::sealed;
use crate::grep::{GrepQuery, Matches};
use crate::{
    FileHandle, FilesError, FilesView, Filter, Listing, OpenOptions, Place, ProjectFiles,
    RenameOptions, WriteOptions,
};

/// The files below a directory of the operating system, which cannot be served here. There is no
/// value of this type.
#[derive(Debug)]
pub enum DiskFiles {}

/// How a directory is opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiskOptions {
    /// Where journals are kept.
    pub state: Option<Utf8PathBuf>,
    /// Whether only portable means are used.
    pub portable: bool,
}

impl DiskFiles {
    /// Always an error of the kind `Unsupported`.
    pub fn open(root: impl AsRef<Utf8Path>) -> io::Result<Self> {
        Self::with_options(root, &DiskOptions::default())
    }

    /// Always an error of the kind `Unsupported`.
    pub fn with_options(_: impl AsRef<Utf8Path>, _: &DiskOptions) -> io::Result<Self> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "files on disk are not supported on this operating system",
        ))
    }
}

impl sealed::SealedFiles for DiskFiles {}

impl ProjectFiles for DiskFiles {
    fn locate(&self, _: &ProjectPath) -> Result<Place, FilesError> {
        match *self {}
    }

    fn locate_entry(&self, _: &ProjectPath) -> Result<Place, FilesError> {
        match *self {}
    }

    fn read(&self, _: &Place, _: u64) -> Result<Bytes, FilesError> {
        match *self {}
    }

    fn read_range(&self, _: &Place, _: u64, _: u64) -> Result<Bytes, FilesError> {
        match *self {}
    }

    #[expect(
        clippy::disallowed_types,
        reason = "a descriptor that is passed on is a file of the operating system"
    )]
    fn open(&self, _: &Place) -> Result<Option<std::fs::File>, FilesError> {
        match *self {}
    }

    fn open_file(&self, _: &Place, _: &OpenOptions) -> Result<FileHandle, FilesError> {
        match *self {}
    }

    fn write(&self, _: &Place, _: &[u8], _: &WriteOptions) -> Result<bool, FilesError> {
        match *self {}
    }

    fn append(&self, _: &Place, _: &[u8], _: &WriteOptions) -> Result<bool, FilesError> {
        match *self {}
    }

    fn list_dir(&self, _: &Place) -> Result<Listing, FilesError> {
        match *self {}
    }

    fn make_dir(&self, _: &Place, _: bool) -> Result<(), FilesError> {
        match *self {}
    }

    fn delete(&self, _: &Place) -> Result<(), FilesError> {
        match *self {}
    }

    fn remove_dir(&self, _: &Place) -> Result<(), FilesError> {
        match *self {}
    }

    fn delete_tree(&self, _: &Place, _: &Filter<'_>) -> Result<u64, FilesError> {
        match *self {}
    }

    fn rename(&self, _: &Place, _: &Place, _: &RenameOptions) -> Result<(), FilesError> {
        match *self {}
    }

    fn grep(&self, _: &GrepQuery, _: &Filter<'_>) -> Result<Matches, FilesError> {
        match *self {}
    }

    fn materialize(&self) -> Result<FilesView, FilesError> {
        match *self {}
    }

    fn display_root(&self) -> &Utf8Path {
        match *self {}
    }
}
