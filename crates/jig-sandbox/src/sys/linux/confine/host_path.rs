//! What lies at a path of the host: the one question that [`compile`](super::compile) asks.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

/// What lies at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HostPathState {
    /// Nothing.
    Missing,
    /// Perhaps something: this process may not look into a directory above it. The tool, whose directory it
    /// may be, could open it again.
    Hidden,
    Directory,
    /// Anything that is neither a directory nor a link, devices and sockets included.
    File,
    /// A symbolic link to this text.
    Link(PathBuf),
    /// A symbolic link lies on the way: the path is not canonical.
    BeyondLink,
}

/// Where paths are looked up.
pub(super) trait HostLookup {
    /// What the last name of `path` is, with links followed on the way to it.
    fn lookup(&mut self, path: &Path) -> HostPathState;

    /// Whether the file at `path` has other names, which may lie anywhere in the same file system.
    fn has_other_names(&mut self, path: &Path) -> bool;

    /// Which file the last name of `path` is, of all that this machine has.
    fn identity(&mut self, path: &Path) -> Option<FileIdentity>;

    /// The names in a directory; none if it cannot be listed, `None` if there are more than `most`.
    fn names(&mut self, directory: &Path, most: usize) -> Option<Vec<OsString>>;
}

/// The device and the number of a file.
pub(super) type FileIdentity = (u64, u64);

/// Finds out what lies at `path` without following any link.
pub(super) fn find(host: &mut dyn HostLookup, path: &Path) -> HostPathState {
    let above = path.ancestors().skip(1);
    let found = host.lookup(path);
    if matches!(found, HostPathState::Missing | HostPathState::Hidden) {
        return found;
    }
    for directory in above {
        if let HostPathState::Link(_) = host.lookup(directory) {
            return HostPathState::BeyondLink;
        }
    }
    found
}

/// The file system of this machine. It asks once for each path, as paths of a profile share theirs.
#[derive(Debug, Default)]
pub(super) struct Disk(HashMap<OsString, HostPathState>);

impl HostLookup for Disk {
    fn lookup(&mut self, path: &Path) -> HostPathState {
        if let Some(found) = self.0.get(path.as_os_str()) {
            return found.clone();
        }
        let found = match rustix::fs::lstat(path) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG) => HostPathState::Missing,
            Err(_) => HostPathState::Hidden,
            Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => HostPathState::Directory,
                FileType::Symlink => match rustix::fs::readlink(path, Vec::new()) {
                    Ok(to) => {
                        HostPathState::Link(PathBuf::from(OsString::from_vec(to.into_bytes())))
                    }
                    Err(_) => HostPathState::Hidden,
                },
                _ => HostPathState::File,
            },
        };
        self.0.insert(path.as_os_str().to_owned(), found.clone());
        found
    }

    fn has_other_names(&mut self, path: &Path) -> bool {
        rustix::fs::lstat(path).is_ok_and(|stat| stat.st_nlink > 1)
    }

    fn identity(&mut self, path: &Path) -> Option<FileIdentity> {
        let stat = rustix::fs::lstat(path).ok()?;
        Some((stat.st_dev, stat.st_ino))
    }

    fn names(&mut self, directory: &Path, most: usize) -> Option<Vec<OsString>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::open(directory, flags, Mode::empty());
        let Ok(listing) = opened.and_then(Dir::new) else {
            return Some(Vec::new());
        };
        let mut names = Vec::new();
        for entry in listing.map_while(Result::ok) {
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            if names.len() == most {
                return None;
            }
            names.push(OsString::from_vec(name.to_vec()));
        }
        // The kernel's order tells nothing, and changes.
        names.sort_unstable();
        Some(names)
    }
}

/// The directory that hides `path`: the last one on the way to it that can be seen.
pub(super) fn hiding<'p>(host: &mut dyn HostLookup, path: &'p Path) -> Option<&'p Path> {
    let mut above = path.ancestors().skip(1);
    above.find(|directory| host.lookup(directory) == HostPathState::Directory)
}
