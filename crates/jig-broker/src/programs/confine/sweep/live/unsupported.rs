//! [`WatchedDirectories`] where no way is known to have directories watched: none ever is.

use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

use super::super::SweptProgram;

/// No directories.
#[derive(Debug, Default)]
pub(super) struct WatchedDirectories;

/// Nothing.
#[derive(Debug, Default)]
pub(super) struct DirectoryNews {
    pub(super) places: Vec<NewPlace>,
    pub(super) is_lost: bool,
}

/// A name that has come into being.
#[derive(Debug)]
pub(super) struct NewPlace {
    pub(super) path: PathBuf,
    pub(super) is_directory: bool,
}

impl WatchedDirectories {
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    pub(super) fn add_all(&mut self, _swept: &SweptProgram) -> bool {
        false
    }

    pub(super) fn add(&mut self, _swept: &SweptProgram, _path: &Path) -> bool {
        false
    }

    pub(super) fn news(&mut self) -> DirectoryNews {
        DirectoryNews::default()
    }

    pub(super) fn keep(&mut self, _roots: &[PathBuf]) {}
}
