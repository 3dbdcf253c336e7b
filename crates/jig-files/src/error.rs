//! [`FilesError`]: what can go wrong with a file, in words that a tool may see.

use std::io;

use jig_policy::{ResolveError, ResolveReason};
use jig_proto::ProjectPath;

use crate::edits::EditProblem;

/// Why an operation on files was not done.
///
/// Every variant that concerns a path names it relative to the workspace; no message holds a path of
/// the host. Unless a variant says otherwise, nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilesError {
    /// Nothing stands at the path, or a directory above it is missing.
    #[error("no such file or directory: `{path}`")]
    NotFound {
        /// The path.
        path: ProjectPath,
    },
    /// The path leads out of the workspace, or through a link that dangles or loops.
    #[error("`{path}` leads out of the workspace")]
    Escape {
        /// The path as it was asked for.
        path: ProjectPath,
        /// How it leaves.
        #[source]
        why: ResolveReason,
    },
    /// A directory stands where a file is needed.
    #[error("`{path}` is a directory")]
    IsDirectory {
        /// The directory.
        path: ProjectPath,
    },
    /// Something that is no directory stands where one is needed.
    #[error("`{path}` is not a directory, or a part of it is not")]
    NotADirectory {
        /// The path.
        path: ProjectPath,
    },
    /// A pipe, socket, device or bare link stands where a file is needed, and was not opened, or a part of
    /// `/proc`, of which nothing was read.
    #[error("`{path}` is not a regular file")]
    NotAFile {
        /// The path.
        path: ProjectPath,
    },
    /// Something stands where nothing may.
    #[error("`{path}` already exists")]
    AlreadyExists {
        /// The path.
        path: ProjectPath,
    },
    /// The directory that would be replaced or removed holds something.
    #[error("the directory `{path}` is not empty")]
    NotEmpty {
        /// The directory.
        path: ProjectPath,
    },
    /// What stands at the path is no longer what was located. Locate it again, judge it again and
    /// then try again.
    #[error("`{path}` was changed by somebody else in the meantime")]
    Changed {
        /// The path.
        path: ProjectPath,
    },
    /// The content is not the one that the caller has seen (`if_match`).
    #[error("the content of `{path}` is not the expected one")]
    Stale {
        /// The file.
        path: ProjectPath,
    },
    /// The file is larger than the caller accepts. Ranged reads can fetch parts of it.
    #[error("`{path}` has {size} bytes, the limit is {limit}")]
    TooLarge {
        /// The file.
        path: ProjectPath,
        /// The limit in bytes.
        limit: u64,
        /// The size in bytes.
        size: u64,
    },
    /// What would be written makes the file longer than one can be here.
    #[error("`{path}` would be longer than {limit} bytes")]
    TooLong {
        /// The file.
        path: ProjectPath,
        /// The limit in bytes.
        limit: u64,
    },
    /// The file is open, but not for this.
    #[error("`{path}` was not opened for {access}")]
    NotOpened {
        /// The file.
        path: ProjectPath,
        /// What it was not opened for: `reading` or `writing`.
        access: &'static str,
    },
    /// The disk, a quota or a file-size limit is exhausted. The old content stands.
    #[error("no space is left to write `{path}`")]
    NoSpace {
        /// The file.
        path: ProjectPath,
    },
    /// The operating system refuses.
    #[error("the operating system denies access to `{path}`")]
    PermissionDenied {
        /// The path.
        path: ProjectPath,
    },
    /// The files cannot be written at all.
    #[error("`{path}` cannot be changed: the files are read-only")]
    ReadOnly {
        /// The path.
        path: ProjectPath,
    },
    /// A directory would be moved into itself.
    #[error("`{path}` cannot be moved into itself")]
    IntoItself {
        /// The directory.
        path: ProjectPath,
    },
    /// The caller's filter said no to a part of what would be removed.
    #[error("`{path}` may not be removed")]
    Refused {
        /// The first path that was refused.
        path: ProjectPath,
    },
    /// A name below the path is not UTF-8, so no rule can be compared with it.
    #[error("a name in `{path}` is not UTF-8")]
    NotUtf8Name {
        /// The directory with the name, or the link with the target.
        path: ProjectPath,
    },
    /// A name is longer than any file's can be.
    #[error("a name in the path is too long")]
    NameTooLong {
        /// The path.
        path: ProjectPath,
    },
    /// Directories are nested more deeply than a recursive operation goes.
    #[error("`{path}` is nested too deeply")]
    TooDeep {
        /// The directory at which it was given up.
        path: ProjectPath,
    },
    /// An edit of a patch cannot be applied. The file is as it was.
    #[error("edit {number} cannot be applied to `{path}`")]
    Edit {
        /// The file.
        path: ProjectPath,
        /// Which edit, counted from 1.
        number: usize,
        /// What is wrong with it.
        #[source]
        problem: EditProblem,
    },
    /// The search pattern is no regular expression, or one that is too large.
    #[error("the pattern cannot be used: {message}")]
    Pattern {
        /// What the regular-expression parser says.
        message: String,
    },
    /// The place belongs to other files than those that it was handed to: a bug of the caller.
    #[error("the place `{path}` was located by another backend")]
    ForeignPlace {
        /// The path.
        path: ProjectPath,
    },
    /// There are no files here, or none that a subprocess could see.
    #[error("there is no directory that a subprocess could use")]
    NoDirectory,
    /// The operating system failed in another way.
    #[error("`{path}` cannot be used")]
    Io {
        /// The path.
        path: ProjectPath,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl FilesError {
    /// Sorts an error of the operating system about `path`.
    pub(crate) fn from_io(path: &ProjectPath, error: impl Into<io::Error>) -> Self {
        let source = error.into();
        let path = path.clone();
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound { path },
            io::ErrorKind::NotADirectory => Self::NotADirectory { path },
            io::ErrorKind::IsADirectory => Self::IsDirectory { path },
            io::ErrorKind::AlreadyExists => Self::AlreadyExists { path },
            io::ErrorKind::DirectoryNotEmpty => Self::NotEmpty { path },
            io::ErrorKind::PermissionDenied => Self::PermissionDenied { path },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            io::ErrorKind::InvalidFilename => Self::NameTooLong { path },
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Self::NoSpace { path },
            _ if is_loop(&source) => Self::Changed { path },
            _ => Self::Io { path, source },
        }
    }

    pub(crate) fn from_resolve(path: &ProjectPath, error: ResolveError) -> Self {
        match error.reason {
            ResolveReason::Lookup(source) if source.kind() == io::ErrorKind::InvalidData => {
                Self::NotUtf8Name { path: path.clone() }
            }
            ResolveReason::Lookup(source) => Self::from_io(path, source),
            why => Self::Escape {
                path: path.clone(),
                why,
            },
        }
    }
}

/// Nothing here follows links, so this says that there is one where there was none before.
#[cfg(unix)]
fn is_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_loop(_: &io::Error) -> bool {
    false
}
