//! [`DiskFiles`]: a directory of the operating system.
//!
//! Reads act on the handle that was located. Changes act on a name in its directory: the directory
//! is opened at the canonical path that was judged, without following any link, and then it is
//! checked that the name still stands for what was located. So neither a swapped directory nor a
//! link that appeared in between leads a change anywhere else.
//!
//! A file that is replaced keeps its permissions and, where that is allowed, its owner; extended
//! attributes and access-control lists are not carried over.
//!
//! Two things the kernel does not let us see: a second mount of the same directory inside the
//! workspace, and, on file systems that ignore case, that two spellings are one file. Both give one
//! file two canonical paths.

mod leftovers;
mod list;
mod open;
mod remove;
mod root;
mod search;
mod walk;
mod write;

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use bytes::Bytes;
use camino::{Utf8Path, Utf8PathBuf};
use jig_proto::ProjectPath;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

#[cfg(target_os = "linux")]
pub(crate) use root::open_regular;

pub use leftovers::write_all;
pub(crate) use leftovers::{Leftovers, default_state, random_name};
pub(crate) use open::DiskFile;
pub(crate) use root::{DiskRoot, ObjectHandle, ObjectIdentity, open_child_dir, open_entries};

use crate::files::sealed;
use crate::grep::{GrepQuery, Matches};
use crate::handle::Backing;
use crate::located_path::PlaceHandle;
use crate::{
    FileHandle, FilesError, FilesView, Filter, Listing, OpenOptions, Place, PlaceKind,
    ProjectFiles, RenameOptions, WriteOptions,
};
use root::{LocatedObject, NEW_DIRECTORY};

/// The files below a directory of the operating system.
#[derive(Debug)]
pub struct DiskFiles {
    number: u64,
    root: DiskRoot,
    leftovers: Leftovers,
    /// Writers of one file take turns, so that "replace if it is still this" means what it says. A
    /// path is mapped to one of a few locks.
    turns: [Mutex<()>; TURNS],
    hasher: RandomState,
}

/// How a directory is opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiskOptions {
    /// Where to note which directories hold temporary names, so that the next start can remove
    /// those of a process that was killed. It is made if only
    /// its last component is missing; it must belong to the user alone, and should outlive the
    /// process and lie outside the workspace. Default: `jig-files-UID` in the system's temporary directory.
    pub state: Option<Utf8PathBuf>,
    /// Use only what every Unix has: no `openat2`, no bare handles, no nameless files. Default: no.
    ///
    /// It is as safe but slower, and serves to test on Linux what other systems use.
    pub portable: bool,
}

impl DiskFiles {
    /// Opens a directory and removes temporary files that writers left who were killed.
    pub fn open(root: impl AsRef<Utf8Path>) -> io::Result<Self> {
        Self::with_options(root, &DiskOptions::default())
    }

    /// Opens a directory in a way other than the default.
    pub fn with_options(root: impl AsRef<Utf8Path>, options: &DiskOptions) -> io::Result<Self> {
        let root = DiskRoot::open(root.as_ref(), options.portable)?;
        let state = options.state.clone().or_else(default_state);
        Ok(Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            leftovers: Leftovers::open(&root, state),
            root,
            turns: std::array::from_fn(|_| Mutex::new(())),
            hasher: RandomState::new(),
        })
    }

    fn place(&self, located: LocatedObject) -> Place {
        let LocatedObject {
            resolved,
            kind,
            held,
        } = located;
        let Some((handle, stat)) = held else {
            return Place::new(
                self.number,
                resolved,
                PlaceKind::Missing,
                PlaceHandle::Nothing,
            );
        };
        let file = kind == PlaceKind::File;
        let place = Place::new(self.number, resolved, kind, PlaceHandle::Disk(handle));
        let place = place.with_modified(open::modified(&stat));
        if !file {
            return place;
        }
        let executable = Mode::from_raw_mode(stat.st_mode).contains(Mode::XUSR);
        place.with_file(u64::try_from(stat.st_size).unwrap_or(0), executable)
    }

    /// Keeps other writers of this process away from a path.
    fn alone_with(&self, path: &ProjectPath) -> MutexGuard<'_, ()> {
        let turn = self.hasher.hash_one(path) % TURNS as u64;
        match self.turns[turn as usize].lock() {
            Ok(guard) => guard,
            // Nothing is kept under the lock that a panic could have left half done.
            Err(poisoned) => poisoned.into_inner(),
        }
    }

    fn read_file(&self, place: &Place, limit: u64) -> Result<Vec<u8>, FilesError> {
        place.expect_file()?;
        let path = place.path();
        let too_large = |size| FilesError::TooLarge {
            path: path.clone(),
            limit,
            size,
        };
        if place.size() > limit {
            return Err(too_large(place.size()));
        }
        let (file, stat) = self.root.reopen(path, handle_of(place)?, OFlags::RDONLY)?;
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        if size > limit {
            return Err(too_large(size));
        }
        let content = read_up_to(&file, None, size, limit.saturating_add(1))
            .map_err(|error| FilesError::from_io(path, error))?;
        if content.len() as u64 > limit {
            return Err(too_large(content.len() as u64));
        }
        Ok(content)
    }
}

impl sealed::SealedFiles for DiskFiles {}

impl ProjectFiles for DiskFiles {
    fn locate(&self, path: &ProjectPath) -> Result<Place, FilesError> {
        Ok(self.place(self.root.locate(path)?))
    }

    fn locate_entry(&self, path: &ProjectPath) -> Result<Place, FilesError> {
        Ok(self.place(self.root.locate_entry(path)?))
    }

    fn is_local(&self) -> bool {
        root::is_local(self.root.fd(), self.root.canonical())
    }

    fn read(&self, place: &Place, limit: u64) -> Result<Bytes, FilesError> {
        place.check_owner(self.number)?;
        self.read_file(place, limit).map(Bytes::from)
    }

    fn read_range(&self, place: &Place, offset: u64, length: u64) -> Result<Bytes, FilesError> {
        place.check_owner(self.number)?;
        place.expect_file()?;
        let path = place.path();
        let (file, stat) = self.root.reopen(path, handle_of(place)?, OFlags::RDONLY)?;
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        let length = length.min(size.saturating_sub(offset));
        read_up_to(&file, Some(offset), length, length)
            .map(Bytes::from)
            .map_err(|error| FilesError::from_io(path, error))
    }

    #[expect(
        clippy::disallowed_types,
        reason = "a descriptor that is passed on is a file of the operating system"
    )]
    fn open(&self, place: &Place) -> Result<Option<std::fs::File>, FilesError> {
        place.check_owner(self.number)?;
        place.expect_file()?;
        let (file, _) = self
            .root
            .reopen(place.path(), handle_of(place)?, OFlags::RDONLY)?;
        Ok(Some(file.into()))
    }

    fn open_file(&self, place: &Place, options: &OpenOptions) -> Result<FileHandle, FilesError> {
        place.check_owner(self.number)?;
        let file = self.open_place(place, options)?;
        Ok(FileHandle::new(place.path(), options, Backing::Disk(file)))
    }

    fn write(
        &self,
        place: &Place,
        content: &[u8],
        options: &WriteOptions,
    ) -> Result<bool, FilesError> {
        place.check_owner(self.number)?;
        self.write_file(place, content, options)
    }

    fn append(
        &self,
        place: &Place,
        content: &[u8],
        options: &WriteOptions,
    ) -> Result<bool, FilesError> {
        place.check_owner(self.number)?;
        self.append_file(place, content, options)
    }

    fn list_dir(&self, place: &Place) -> Result<Listing, FilesError> {
        place.check_owner(self.number)?;
        self.list(place)
    }

    fn make_dir(&self, place: &Place, parents: bool) -> Result<(), FilesError> {
        place.check_owner(self.number)?;
        let path = place.path();
        match place.kind() {
            PlaceKind::Missing => {}
            PlaceKind::Directory if parents => return Ok(()),
            _ => return Err(FilesError::AlreadyExists { path: path.clone() }),
        }
        let (parent, name) = if parents {
            self.root.make_parent(path)?
        } else {
            self.root.open_parent(path)?
        };
        match rustix::fs::mkdirat(&parent, name, NEW_DIRECTORY) {
            // Made by somebody else at the same moment: as good, if it is a directory.
            Err(Errno::EXIST) if parents && open_child_dir(as_fd(&parent), name).is_ok() => Ok(()),
            result => result.map_err(|error| FilesError::from_io(path, error)),
        }
    }

    fn delete(&self, place: &Place) -> Result<(), FilesError> {
        place.check_owner(self.number)?;
        self.delete_entry(place)
    }

    fn remove_dir(&self, place: &Place) -> Result<(), FilesError> {
        place.check_owner(self.number)?;
        self.remove_empty(place)
    }

    fn delete_tree(&self, place: &Place, may: &Filter<'_>) -> Result<u64, FilesError> {
        place.check_owner(self.number)?;
        self.delete_all(place, may)
    }

    fn rename(&self, from: &Place, to: &Place, options: &RenameOptions) -> Result<(), FilesError> {
        from.check_owner(self.number)?;
        to.check_owner(self.number)?;
        self.rename_entry(from, to, options)
    }

    fn grep(&self, query: &GrepQuery, may: &Filter<'_>) -> Result<Matches, FilesError> {
        self.search(query, may)
    }

    fn materialize(&self) -> Result<FilesView, FilesError> {
        Ok(FilesView::direct(self.root.canonical().to_owned()))
    }

    fn display_root(&self) -> &Utf8Path {
        self.root.given()
    }
}

/// The handle of something that exists.
fn handle_of(place: &Place) -> Result<&ObjectHandle, FilesError> {
    match &place.held {
        PlaceHandle::Disk(handle) => Ok(handle),
        _ => Err(FilesError::NotFound {
            path: place.path().clone(),
        }),
    }
}

/// What makes the object at a place the same one as another, if there is one.
pub(crate) fn identity(place: &Place) -> Option<ObjectIdentity> {
    handle_of(place).ok().map(|handle| handle.id)
}

fn as_fd(fd: &OwnedFd) -> std::os::fd::BorrowedFd<'_> {
    std::os::fd::AsFd::as_fd(fd)
}

/// Reads from the current position or from an offset until the end or until there are `most` bytes.
/// `size` is how many there should be; if they come, no further read asks for the end.
fn read_up_to(file: &OwnedFd, offset: Option<u64>, size: u64, most: u64) -> Result<Vec<u8>, Errno> {
    let mut content = Vec::new();
    // One byte more than the size: a read that does not fill it has seen the end.
    let mut room = size.saturating_add(1).min(most);
    while (content.len() as u64) < most {
        let wanted = usize::try_from(room).map_err(|_| Errno::NOMEM)?;
        content
            .try_reserve_exact(wanted)
            .map_err(|_| Errno::NOMEM)?;
        let asked = content.capacity() - content.len();
        let at = offset.map(|offset| offset.saturating_add(content.len() as u64));
        let spare = rustix::buffer::spare_capacity(&mut content);
        let read = match at {
            None => rustix::io::read(file, spare),
            Some(at) => rustix::io::pread(file, spare, at),
        };
        match read {
            Ok(0) => break,
            // Some file systems give less at a time, so that alone does not mean the end.
            Ok(read) if read < asked && content.len() as u64 == size => break,
            Ok(_) => room = (most.saturating_sub(content.len() as u64)).min(GROWTH),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    // The allocator may have given more room than was asked for.
    content.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok(content)
}

static NEXT: AtomicU64 = AtomicU64::new(1);

const TURNS: usize = 64;

/// By how much a buffer grows for a file that became longer while it was read.
const GROWTH: u64 = 256 * 1024;
