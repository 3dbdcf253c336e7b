//! What path resolution needs to know about a tree, and nothing more.

mod disk;

use std::io;

use jig_proto::ProjectPath;

pub use disk::DiskLookup;

/// A tree of files as path resolution sees it: one question about one name.
///
/// The path that is asked about has no symbolic link in its parent: the algorithm has already
/// resolved it. An implementation never follows a link at the last component.
pub trait Lookup {
    /// What stands at `path`.
    ///
    /// An error means that this could not be found out, for example for lack of permission; a name
    /// that is too long to exist is [`LookupEntry::Missing`].
    fn entry(&self, path: &ProjectPath) -> io::Result<LookupEntry>;
}

/// What stands at a path, not following a link there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookupEntry {
    /// Nothing.
    Missing,
    /// A directory.
    Directory,
    /// A file, or anything else that is neither directory nor link.
    File,
    /// A symbolic link with its target as it is stored.
    Link(String),
}
