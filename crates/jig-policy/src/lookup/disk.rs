//! [`Lookup`] on the operating system's files.

#![expect(
    clippy::disallowed_methods,
    reason = "resolution for the SDK and for rules asks the disk; acting on files stays with jig-files"
)]

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use jig_proto::ProjectPath;

use super::{Lookup, LookupEntry};

/// A directory of the operating system as a [`Lookup`].
///
/// It answers what is true at this moment. A host that goes on to open files judges the handle that
/// it opened instead; this is for rules, which are resolved once, and for tools that check
/// themselves.
#[derive(Debug, Clone)]
pub struct DiskLookup {
    root: Utf8PathBuf,
}

impl DiskLookup {
    /// Looks things up below `root`, which must be absolute.
    pub fn new(root: impl Into<Utf8PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The root with every symbolic link on the way to it resolved.
    pub fn canonical_root(&self) -> io::Result<Utf8PathBuf> {
        self.root.canonicalize_utf8()
    }

    /// The root as it was given.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }
}

impl Lookup for DiskLookup {
    fn entry(&self, path: &ProjectPath) -> io::Result<LookupEntry> {
        let name = path.file_name().unwrap_or_default();
        let path = path.under(&self.root);
        let means_missing = |error: &io::Error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => true,
            // A name that is too long cannot exist. A path that is too long can: directories are
            // made one in the other, and links reach far down. Then it is not known what is there.
            io::ErrorKind::InvalidFilename => name.len() > NAME_MAX,
            _ => false,
        };
        let metadata = match path.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(error) if means_missing(&error) => return Ok(LookupEntry::Missing),
            Err(error) => return Err(error),
        };
        if metadata.is_dir() {
            return Ok(LookupEntry::Directory);
        }
        if !metadata.is_symlink() {
            return Ok(LookupEntry::File);
        }
        let target = match path.as_std_path().read_link() {
            Ok(target) => target,
            // The link was replaced between the two questions; what is there now is not a link.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                return Ok(LookupEntry::File);
            }
            Err(error) if means_missing(&error) => return Ok(LookupEntry::Missing),
            Err(error) => return Err(error),
        };
        match target.into_os_string().into_string() {
            Ok(target) => Ok(LookupEntry::Link(target)),
            Err(_) => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the target of the symbolic link is not UTF-8",
            )),
        }
    }
}

/// The longest name, in bytes, that a file has on any file system we know of.
const NAME_MAX: usize = 255;
