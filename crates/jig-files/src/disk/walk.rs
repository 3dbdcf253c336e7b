//! The walk: `jig-policy`'s algorithm over descriptors instead of paths.
//!
//! Every directory on the way stays open while the walk lasts, and each name is looked up in the
//! directory that was opened, never by a path from the root. So `..` in a link returns to the very
//! directory that was passed, also when it has been moved since, and swapping a directory with a
//! link changes what is found next but not where the walk stands.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use jig_policy::{Lookup, LookupEntry, ResolvedPath, Workspace};
use jig_proto::ProjectPath;
use rustix::fs::{AtFlags, FileType, Stat};
use rustix::io::Errno;

use super::root::{DiskRoot, ObjectLocation, open_child_dir};
use crate::FilesError;

/// One walk from the root.
pub(super) struct DiskWalk<'r> {
    root: &'r DiskRoot,
    state: RefCell<DiskWalkState>,
}

#[derive(Default)]
struct DiskWalkState {
    /// The directories from the root to where the walk stands, or beyond it after a `..`.
    passed: Vec<(OwnedFd, Stat)>,
    /// What stood at the end and is no directory.
    leaf: Option<(ObjectLocation, Stat)>,
}

impl<'r> DiskWalk<'r> {
    /// The canonical form of `path` and what is held there, if anything.
    pub(super) fn resolve(
        root: &'r DiskRoot,
        path: &ProjectPath,
    ) -> Result<(ResolvedPath, Option<(ObjectLocation, Stat)>), FilesError> {
        let walk = Self {
            root,
            state: RefCell::default(),
        };
        let workspace = Workspace::new(root.canonical(), walk);
        let resolved = workspace
            .resolve(path.as_str())
            .map_err(|error| FilesError::from_resolve(path, error))?;
        if !resolved.exists() {
            return Ok((resolved, None));
        }
        let mut state = workspace.lookup().state.take();
        if let Some(leaf) = state.leaf {
            return Ok((resolved, Some(leaf)));
        }
        let held = match resolved.path().depth() {
            0 => {
                let stat = rustix::fs::fstat(root.fd());
                (
                    ObjectLocation::Root,
                    stat.map_err(|e| FilesError::from_io(path, e))?,
                )
            }
            depth => {
                state.passed.truncate(depth);
                match state.passed.pop() {
                    Some((fd, stat)) => (ObjectLocation::Directory(fd), stat),
                    None => return Err(FilesError::Changed { path: path.clone() }),
                }
            }
        };
        Ok((resolved, Some(held)))
    }

    /// A link's target, in terms of the root's canonical path.
    fn translate(&self, target: String) -> String {
        match camino::Utf8Path::new(&target).strip_prefix(self.root.given()) {
            Ok(below) => format!("{}/{below}", self.root.canonical()),
            Err(_) => target,
        }
    }
}

impl Lookup for DiskWalk<'_> {
    fn entry(&self, path: &ProjectPath) -> io::Result<LookupEntry> {
        let Some(name) = path.file_name() else {
            return Ok(LookupEntry::Directory);
        };
        let state = &mut *self.state.borrow_mut();
        // The algorithm goes down one directory at a time, each of which it was told about here,
        // and up by dropping components: so the first ones of those passed are the parent's.
        state.passed.truncate(path.depth() - 1);
        let above = match state.passed.last() {
            Some((fd, _)) => fd.as_fd(),
            None => self.root.fd(),
        };
        Ok(match WalkEntry::look(above, name, self.root.portable())? {
            WalkEntry::Missing => LookupEntry::Missing,
            WalkEntry::Directory { fd, stat } => {
                state.passed.push((fd, stat));
                LookupEntry::Directory
            }
            WalkEntry::Leaf { at, stat } => {
                state.leaf = Some((at, stat));
                LookupEntry::File
            }
            WalkEntry::Link { target, .. } => match String::from_utf8(target) {
                Ok(target) => LookupEntry::Link(self.translate(target)),
                Err(_) => return Err(io::Error::from(io::ErrorKind::InvalidData)),
            },
        })
    }
}

/// What stands at a name of an open directory.
pub(super) enum WalkEntry {
    Missing,
    Directory {
        fd: OwnedFd,
        stat: Stat,
    },
    Link {
        target: Vec<u8>,
        held: ObjectLocation,
        stat: Stat,
    },
    Leaf {
        at: ObjectLocation,
        stat: Stat,
    },
}

impl WalkEntry {
    /// Looks a name up without following a link and without opening anything for reading.
    pub(super) fn look(above: BorrowedFd<'_>, name: &str, portable: bool) -> Result<Self, Errno> {
        let found = if portable {
            Self::by_name(above, name)
        } else {
            Self::by_handle(above, name)
        };
        match found {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG) => Ok(Self::Missing),
            found => found,
        }
    }

    #[cfg(target_os = "linux")]
    fn by_handle(above: BorrowedFd<'_>, name: &str) -> Result<Self, Errno> {
        use rustix::fs::{Mode, OFlags};
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(above, name, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&fd)?;
        Ok(match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Self::Directory { fd, stat },
            FileType::Symlink => Self::Link {
                // The target of the very link that was opened, whatever has its name by now.
                target: rustix::fs::readlinkat(&fd, "", Vec::new())?.into_bytes(),
                held: ObjectLocation::Object(fd),
                stat,
            },
            _ => Self::Leaf {
                at: ObjectLocation::Object(fd),
                stat,
            },
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn by_handle(above: BorrowedFd<'_>, name: &str) -> Result<Self, Errno> {
        Self::by_name(above, name)
    }

    /// For systems without bare handles: the name is asked what it is, and only a directory is
    /// opened. If it turned into something else in between, opening it fails.
    fn by_name(above: BorrowedFd<'_>, name: &str) -> Result<Self, Errno> {
        let stat = rustix::fs::statat(above, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let held = || -> Result<ObjectLocation, Errno> {
            Ok(ObjectLocation::Name {
                parent: rustix::io::fcntl_dupfd_cloexec(above, 0)?,
                name: name.to_owned(),
            })
        };
        Ok(match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                let fd = open_child_dir(above, name)?;
                let stat = rustix::fs::fstat(&fd)?;
                Self::Directory { fd, stat }
            }
            FileType::Symlink => Self::Link {
                target: rustix::fs::readlinkat(above, name, Vec::new())?.into_bytes(),
                held: held()?,
                stat,
            },
            _ => Self::Leaf { at: held()?, stat },
        })
    }
}
