//! [`FilesView`]: a directory in which subprocesses see the files.

use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use jig_proto::ProjectPath;

#[cfg(unix)]
use crate::memory::TreeCopy;

/// A directory in which subprocesses see the files.
///
/// For files on disk it is their root, and costs nothing. Otherwise it is a private copy, and what
/// was changed in it is brought back by [`sync_back`](Self::sync_back) and at the end.
#[derive(Debug)]
pub struct FilesView {
    path: Utf8PathBuf,
    #[cfg(unix)]
    copy: Option<Box<TreeCopy>>,
}

impl FilesView {
    #[cfg(unix)]
    pub(crate) fn direct(path: Utf8PathBuf) -> Self {
        Self { path, copy: None }
    }

    #[cfg(unix)]
    pub(crate) fn copy(copy: TreeCopy) -> Self {
        Self {
            path: copy.path().to_owned(),
            copy: Some(Box::new(copy)),
        }
    }

    /// The absolute path of the directory.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Brings back what was changed in the directory since it was made or last synced.
    ///
    /// A path that was changed on both sides is a conflict: the files keep their version, the
    /// directory keeps the other, and the report names it. Nothing is lost on either side.
    pub fn sync_back(&mut self) -> SyncReport {
        #[cfg(unix)]
        if let Some(copy) = &mut self.copy {
            return copy.sync_back();
        }
        SyncReport::default()
    }

    /// Syncs for the last time and removes the directory, unless the report has problems: then the
    /// directory stays and the report says where.
    ///
    /// A view that is dropped does the same; a report with problems is then given by
    /// [`MemoryFiles::take_reports`](crate::MemoryFiles::take_reports).
    pub fn close(self) -> SyncReport {
        #[cfg(unix)]
        if let Some(copy) = self.copy {
            return copy.close();
        }
        SyncReport::default()
    }
}

/// What was brought back from a view.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyncReport {
    /// Files, directories and links that are new.
    pub created: Vec<ProjectPath>,
    /// Files and links with new content or another executable bit.
    pub changed: Vec<ProjectPath>,
    /// What is gone.
    pub deleted: Vec<ProjectPath>,
    /// What has another name, old name first. Of a directory that was moved only itself is named.
    pub renamed: Vec<(ProjectPath, ProjectPath)>,
    /// What was changed on both sides and was therefore not brought back.
    pub conflicts: Vec<Conflict>,
    /// What could not be read, with the reason.
    pub failed: Vec<(ProjectPath, String)>,
    /// Pipes, sockets, devices and names that are not UTF-8, which the files cannot hold; the latter
    /// under the name of their directory.
    pub left_out: Vec<ProjectPath>,
    /// The directory, if it was kept at the end because of a problem.
    pub kept: Option<Utf8PathBuf>,
}

impl SyncReport {
    /// Whether everything that was changed is back.
    pub fn is_complete(&self) -> bool {
        self.conflicts.is_empty() && self.failed.is_empty()
    }
}

impl fmt::Display for SyncReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} created, {} changed, {} deleted, {} renamed, {} conflicts, {} failed",
            self.created.len(),
            self.changed.len(),
            self.deleted.len(),
            self.renamed.len(),
            self.conflicts.len(),
            self.failed.len()
        )
    }
}

/// A path that was changed on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The path.
    pub path: ProjectPath,
    /// Whether it is gone from the directory, so that keeping the files' version undoes a removal.
    pub deleted_in_view: bool,
    /// Whether it is gone from the files, so that the only version is the one in the directory.
    pub deleted_in_files: bool,
}
