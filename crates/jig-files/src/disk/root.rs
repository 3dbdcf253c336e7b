//! [`DiskRoot`]: the directory that everything happens beneath, and how paths are opened below it.
//!
//! [`DiskRoot::locate`] asks the kernel to resolve a path without links in one call, which nearly always
//! works; whatever it declines goes to the walk in [`super::walk`]. Nothing here opens a file for
//! reading or writing except [`DiskRoot::reopen`], and that only what is known to be a regular file.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use jig_policy::ResolvedPath;
use jig_proto::ProjectPath;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::path::Arg;

use super::walk::{DiskWalk, WalkEntry};
use crate::{FilesError, PlaceKind, lookup};

/// The root of a workspace on disk.
#[derive(Debug)]
pub(crate) struct DiskRoot {
    fd: OwnedFd,
    /// The root as it was given, and with links resolved: both are what an absolute link may say.
    given: Utf8PathBuf,
    canonical: Utf8PathBuf,
    /// Whether the kernel resolves beneath a directory; switched off when it says that it cannot.
    in_kernel: AtomicBool,
    portable: bool,
    /// `/proc/self/fd`, through which a bare handle is opened for reading.
    #[cfg(target_os = "linux")]
    descriptors: Option<OwnedFd>,
}

/// An object of the file system, held without being opened for reading or writing.
#[derive(Debug)]
pub(crate) struct ObjectHandle {
    pub(super) id: ObjectIdentity,
    pub(super) at: ObjectLocation,
}

#[derive(Debug)]
pub(super) enum ObjectLocation {
    /// The root, whose descriptor the backend keeps.
    Root,
    /// A directory, by its own descriptor.
    Directory(OwnedFd),
    /// Something else, by its own descriptor (O_PATH).
    #[cfg(target_os = "linux")]
    Object(OwnedFd),
    /// Something else, by its directory and its name, where there are no bare handles. The identity
    /// tells whether it is still there.
    Name { parent: OwnedFd, name: String },
}

/// What makes an object of the file system the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ObjectIdentity {
    device: i128,
    inode: i128,
    /// A number is used again when nothing holds the object any more, which without a bare handle
    /// can happen under our eyes; at least a link is then not taken for a file.
    kind: FileType,
}

impl ObjectIdentity {
    pub(super) fn of(stat: &Stat) -> Self {
        // The types differ between systems; this one holds them all.
        Self {
            device: i128::from(stat.st_dev),
            inode: i128::from(stat.st_ino),
            kind: FileType::from_raw_mode(stat.st_mode),
        }
    }
}

/// Where a path led.
pub(super) struct LocatedObject {
    pub(super) resolved: ResolvedPath,
    pub(super) kind: PlaceKind,
    /// The handle and its state, unless nothing is there.
    pub(super) held: Option<(ObjectHandle, Stat)>,
}

impl LocatedObject {
    fn nothing(resolved: ResolvedPath) -> Self {
        Self {
            resolved,
            kind: PlaceKind::Missing,
            held: None,
        }
    }
}

impl DiskRoot {
    pub(crate) fn open(given: &Utf8Path, portable: bool) -> std::io::Result<Self> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the root itself is named by the user, not by a tool"
        )]
        let canonical = given.canonicalize_utf8()?;
        let fd = rustix::fs::open(canonical.as_str(), DIRECTORY, Mode::empty())?;
        Ok(Self {
            fd,
            given: given.to_owned(),
            canonical,
            in_kernel: AtomicBool::new(!portable),
            portable,
            #[cfg(target_os = "linux")]
            descriptors: if portable { None } else { linux::descriptors() },
        })
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub(super) fn given(&self) -> &Utf8Path {
        &self.given
    }

    pub(crate) fn canonical(&self) -> &Utf8Path {
        &self.canonical
    }

    pub(super) fn portable(&self) -> bool {
        self.portable
    }

    /// `/proc/self/fd`, where it can be used.
    #[cfg(target_os = "linux")]
    pub(super) fn descriptors(&self) -> Option<BorrowedFd<'_>> {
        self.descriptors.as_ref().map(AsFd::as_fd)
    }

    /// Finds where a path leads, following every link.
    pub(super) fn locate(&self, path: &ProjectPath) -> Result<LocatedObject, FilesError> {
        if path.is_root() {
            return self.locate_root();
        }
        if let Some((handle, stat)) = self.open_without_links(path) {
            let kind = kind_of(&stat);
            // A link at the end is opened as itself; the walk follows it.
            if let Some(kind) = kind {
                let resolved = ResolvedPath::from_handle(path.clone());
                let located = LocatedObject {
                    resolved,
                    kind,
                    held: Some((handle, stat)),
                };
                #[cfg(jig_racy_asserts)]
                self.cross_check(path, &located);
                return Ok(located);
            }
        }
        self.walk(path)
    }

    /// Finds where a path leads, following every link but one at the end.
    pub(super) fn locate_entry(&self, path: &ProjectPath) -> Result<LocatedObject, FilesError> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return self.locate_root();
        };
        let own = ProjectPath::normalize(name)
            .map_err(|_| FilesError::NotFound { path: path.clone() })?;
        // The root is open: there is nothing to find.
        let parent = match parent.is_root() {
            true => None,
            false => Some(self.locate(&parent)?),
        };
        let above = parent.as_ref().map(|parent| parent.resolved.path());
        let here = above.map_or(own.clone(), |above| above.join(&own));
        let held = parent
            .as_ref()
            .map(|parent| parent.held.as_ref().map(|(held, _)| &held.at));
        let directory = match held {
            None | Some(Some(ObjectLocation::Root)) => self.fd(),
            Some(Some(ObjectLocation::Directory(fd))) => fd.as_fd(),
            Some(_) => return Ok(LocatedObject::nothing(lookup::missing(&here)?)),
        };
        let found = WalkEntry::look(directory, name, self.portable)
            .map_err(|error| FilesError::from_io(path, error))?;
        let (kind, handle, stat) = match found {
            WalkEntry::Missing => return Ok(LocatedObject::nothing(lookup::missing(&here)?)),
            WalkEntry::Link { target, held, stat } => {
                let Ok(target) = String::from_utf8(target) else {
                    return Err(FilesError::NotUtf8Name { path: here });
                };
                (PlaceKind::Link(target), held, stat)
            }
            WalkEntry::Directory { fd, stat } => {
                (PlaceKind::Directory, ObjectLocation::Directory(fd), stat)
            }
            WalkEntry::Leaf { at, stat } => (kind_of(&stat).unwrap_or(PlaceKind::Other), at, stat),
        };
        let id = ObjectIdentity::of(&stat);
        Ok(LocatedObject {
            resolved: ResolvedPath::from_handle(here),
            kind,
            held: Some((ObjectHandle { id, at: handle }, stat)),
        })
    }

    fn locate_root(&self) -> Result<LocatedObject, FilesError> {
        let path = ProjectPath::root();
        let stat = rustix::fs::fstat(&self.fd).map_err(|e| FilesError::from_io(&path, e))?;
        let id = ObjectIdentity::of(&stat);
        Ok(LocatedObject {
            resolved: ResolvedPath::from_handle(path),
            kind: PlaceKind::Directory,
            held: Some((
                ObjectHandle {
                    id,
                    at: ObjectLocation::Root,
                },
                stat,
            )),
        })
    }

    /// Resolves a path component by component with the algorithm of `jig-policy`, on descriptors.
    pub(super) fn walk(&self, path: &ProjectPath) -> Result<LocatedObject, FilesError> {
        let (resolved, held) = DiskWalk::resolve(self, path)?;
        Ok(match held {
            None => LocatedObject::nothing(resolved),
            Some((at, stat)) => LocatedObject {
                resolved,
                kind: kind_of(&stat).unwrap_or(PlaceKind::Other),
                held: Some((
                    ObjectHandle {
                        id: ObjectIdentity::of(&stat),
                        at,
                    },
                    stat,
                )),
            },
        })
    }

    #[cfg(jig_racy_asserts)]
    fn cross_check(&self, path: &ProjectPath, quick: &LocatedObject) {
        match self.walk(path) {
            Ok(plain) => {
                assert_eq!(plain.resolved, quick.resolved, "two ways to locate {path}");
                let id = |located: &LocatedObject| located.held.as_ref().map(|held| held.0.id);
                assert_eq!(id(&plain), id(quick), "two ways to locate {path}");
            }
            Err(error) => panic!("two ways to locate {path}: {error}"),
        }
    }

    /// Opens the directory at a canonical path. That no link is followed on the way is what makes
    /// the path that was judged the path that is acted on.
    pub(crate) fn open_dir(&self, path: &ProjectPath) -> Result<OwnedFd, Errno> {
        if path.is_root() {
            return rustix::io::fcntl_dupfd_cloexec(&self.fd, 0);
        }
        match self.open_dir_in_kernel(path) {
            Some(result) => result,
            None => path
                .components()
                .try_fold(None, |above: Option<OwnedFd>, name| {
                    let above = above.as_ref().map_or(self.fd(), AsFd::as_fd);
                    open_child_dir(above, name).map(Some)
                })
                .and_then(|fd| fd.ok_or(Errno::NOENT)),
        }
    }

    /// Opens the directory above a canonical path.
    pub(super) fn open_parent<'p>(
        &self,
        path: &'p ProjectPath,
    ) -> Result<(OwnedFd, &'p str), FilesError> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(FilesError::IsDirectory { path: path.clone() });
        };
        let parent = self
            .open_dir(&parent)
            .map_err(|error| FilesError::from_io(path, error))?;
        Ok((parent, name))
    }

    /// Like [`open_parent`](Self::open_parent), and makes the directories that are missing.
    pub(super) fn make_parent<'p>(
        &self,
        path: &'p ProjectPath,
    ) -> Result<(OwnedFd, &'p str), FilesError> {
        match self.open_parent(path) {
            Err(FilesError::NotFound { .. }) => {}
            result => return result,
        }
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(FilesError::IsDirectory { path: path.clone() });
        };
        let mut fd: Option<OwnedFd> = None;
        for component in parent.components() {
            let above = fd.as_ref().map_or(self.fd(), AsFd::as_fd);
            let made = open_child_dir(above, component).or_else(|error| {
                if error != Errno::NOENT {
                    return Err(error);
                }
                match rustix::fs::mkdirat(above, component, NEW_DIRECTORY) {
                    // Somebody else made it at the same moment: whatever it is, it is opened
                    // without following a link.
                    Ok(()) | Err(Errno::EXIST) => open_child_dir(above, component),
                    Err(error) => Err(error),
                }
            });
            fd = Some(made.map_err(|error| FilesError::from_io(path, error))?);
        }
        match fd {
            Some(fd) => Ok((fd, name)),
            None => self.open_parent(path),
        }
    }

    /// Opens a regular file that was located, for reading or appending, and makes sure that it is
    /// the same one.
    pub(super) fn reopen(
        &self,
        path: &ProjectPath,
        handle: &ObjectHandle,
        flags: OFlags,
    ) -> Result<(OwnedFd, Stat), FilesError> {
        let fail = |error: Errno| FilesError::from_io(path, error);
        let opened = match &handle.at {
            ObjectLocation::Root | ObjectLocation::Directory(_) => {
                return Err(FilesError::IsDirectory { path: path.clone() });
            }
            #[cfg(target_os = "linux")]
            ObjectLocation::Object(fd) => match &self.descriptors {
                Some(descriptors) => linux::open_again(descriptors, fd, flags).map_err(fail)?,
                None => {
                    let (parent, name) = self.open_parent(path)?;
                    open_regular(parent.as_fd(), name, flags).map_err(fail)?
                }
            },
            ObjectLocation::Name { parent, name } => {
                match open_regular(parent.as_fd(), name, flags) {
                    Err(Errno::NOENT) => return Err(FilesError::Changed { path: path.clone() }),
                    result => result.map_err(fail)?,
                }
            }
        };
        let stat = rustix::fs::fstat(&opened).map_err(fail)?;
        if ObjectIdentity::of(&stat) != handle.id {
            return Err(FilesError::Changed { path: path.clone() });
        }
        // A workspace may be `/`. What lies in `/proc` is the memory and the variables of processes, ours
        // with its keys among them, and the settings of the kernel: wherever that is mounted, it is no file.
        if is_of_processes(&opened).map_err(fail)? {
            return Err(FilesError::NotAFile { path: path.clone() });
        }
        Ok((opened, stat))
    }

    #[cfg(target_os = "linux")]
    fn open_without_links(&self, path: &ProjectPath) -> Option<(ObjectHandle, Stat)> {
        if !self.in_kernel.load(Ordering::Relaxed) {
            return None;
        }
        let fd = self.beneath(path, OFlags::PATH | OFlags::NOFOLLOW).ok()?;
        let stat = rustix::fs::fstat(&fd).ok()?;
        let at = if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            ObjectLocation::Directory(fd)
        } else {
            ObjectLocation::Object(fd)
        };
        let id = ObjectIdentity::of(&stat);
        Some((ObjectHandle { id, at }, stat))
    }

    /// `None` when the kernel cannot tell: the walk can.
    #[cfg(target_os = "linux")]
    fn open_dir_in_kernel(&self, path: &ProjectPath) -> Option<Result<OwnedFd, Errno>> {
        if !self.in_kernel.load(Ordering::Relaxed) {
            return None;
        }
        match self.beneath(path, OFlags::PATH | OFlags::DIRECTORY) {
            Err(Errno::NOSYS | Errno::AGAIN | Errno::PERM | Errno::TOOBIG | Errno::INVAL) => None,
            result => Some(result),
        }
    }

    #[cfg(target_os = "linux")]
    fn beneath(&self, path: &ProjectPath, flags: OFlags) -> Result<OwnedFd, Errno> {
        use rustix::fs::ResolveFlags;
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let flags = flags | OFlags::CLOEXEC;
        let result = rustix::fs::openat2(&self.fd, path.as_str(), flags, Mode::empty(), resolve);
        if matches!(result, Err(Errno::NOSYS)) {
            self.in_kernel.store(false, Ordering::Relaxed);
        }
        result
    }

    #[cfg(not(target_os = "linux"))]
    fn open_without_links(&self, _: &ProjectPath) -> Option<(ObjectHandle, Stat)> {
        self.in_kernel.store(false, Ordering::Relaxed);
        None
    }

    #[cfg(not(target_os = "linux"))]
    fn open_dir_in_kernel(&self, _: &ProjectPath) -> Option<Result<OwnedFd, Errno>> {
        None
    }
}

impl ObjectHandle {
    /// The descriptor of a directory.
    pub(super) fn directory<'a>(&'a self, root: &'a DiskRoot) -> Option<BorrowedFd<'a>> {
        match &self.at {
            ObjectLocation::Root => Some(root.fd()),
            ObjectLocation::Directory(fd) => Some(fd.as_fd()),
            _ => None,
        }
    }
}

/// What a state describes; `None` for a link.
pub(super) fn kind_of(stat: &Stat) -> Option<PlaceKind> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Some(PlaceKind::File),
        FileType::Directory => Some(PlaceKind::Directory),
        FileType::Symlink => None,
        _ => Some(PlaceKind::Other),
    }
}

/// Opens a directory in a directory, not following a link.
pub(crate) fn open_child_dir(
    above: BorrowedFd<'_>,
    name: impl Arg + Copy,
) -> Result<OwnedFd, Errno> {
    let flags = DIRECTORY | OFlags::NOFOLLOW;
    match rustix::fs::openat(above, name, flags, Mode::empty()) {
        // The same error stands for a file and for a link, which mean different things to callers.
        Err(Errno::NOTDIR) => {
            let there = rustix::fs::statat(above, name, AtFlags::SYMLINK_NOFOLLOW)?;
            match FileType::from_raw_mode(there.st_mode) {
                FileType::Symlink => Err(Errno::LOOP),
                _ => Err(Errno::NOTDIR),
            }
        }
        result => result,
    }
}

/// Opens a directory again so that its entries can be read.
pub(crate) fn open_entries(directory: BorrowedFd<'_>) -> Result<rustix::fs::Dir, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::Dir::new(rustix::fs::openat(directory, ".", flags, Mode::empty())?)
}

/// Opens a regular file in a directory by its name. A link is not followed. A pipe is not opened
/// unless it replaces the file in this very moment, and then it does not block.
pub(crate) fn open_regular(
    above: BorrowedFd<'_>,
    name: impl Arg + Copy,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    let before = rustix::fs::statat(above, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(before.st_mode) != FileType::RegularFile {
        return Err(Errno::LOOP);
    }
    let guards = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::openat(above, name, flags | guards, Mode::empty())
}

/// Renames to a name at which nothing stands, in one step; `NOSYS`, `INVAL` or `NOTSUP` where the
/// system or the file system cannot promise that.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub(super) fn rename_to_free(
    old_parent: BorrowedFd<'_>,
    old_name: &str,
    new_parent: BorrowedFd<'_>,
    new_name: &str,
) -> Result<(), Errno> {
    let flags = rustix::fs::RenameFlags::NOREPLACE;
    rustix::fs::renameat_with(old_parent, old_name, new_parent, new_name, flags)
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub(super) fn rename_to_free(
    _: BorrowedFd<'_>,
    _: &str,
    _: BorrowedFd<'_>,
    _: &str,
) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;

    /// `/proc/self/fd`, if it is what it says.
    pub(super) fn descriptors() -> Option<OwnedFd> {
        let fd = rustix::fs::open("/proc/self/fd", DIRECTORY, Mode::empty()).ok()?;
        is_of_processes(&fd).ok()?.then_some(fd)
    }
    /// Opens the object behind a bare handle. The entry in `/proc` leads to the object itself, not
    /// to its path, so nothing can be put in its place.
    pub(super) fn open_again(
        descriptors: &OwnedFd,
        handle: &OwnedFd,
        flags: OFlags,
    ) -> Result<OwnedFd, Errno> {
        let name = rustix::path::DecInt::from_fd(handle);
        let guards = OFlags::NOCTTY | OFlags::CLOEXEC;
        rustix::fs::openat(descriptors, name, flags | guards, Mode::empty())
    }
}

/// Whether everything below a directory is on this machine, as far as is known now: a file system that is reached over
/// the network, or that a program serves, may keep whoever asks it waiting.
#[cfg(target_os = "linux")]
pub(super) fn is_local(fd: BorrowedFd<'_>, path: &Utf8Path) -> bool {
    const LOCAL: [i128; 7] = [
        0xef53,      // ext2, ext3, ext4
        0x5846_5342, // xfs
        0x9123_683e, // btrfs
        0x0102_1994, // tmpfs
        0x794c_7630, // overlay
        0x2fc1_2fc1, // zfs
        0xf2f5_2010, // f2fs
    ];
    let is_local = |fd: BorrowedFd<'_>| {
        let system = rustix::fs::fstatfs(fd);
        system.is_ok_and(|system| LOCAL.contains(&i128::from(system.f_type)))
    };
    // What is mounted below could be anything, and to ask it could take long.
    is_local(fd)
        && mounts()
            .is_some_and(|mounts| !mounts.iter().any(|at| at.starts_with(path) && at != path))
}

/// Where something is mounted; `None` if that cannot be told.
#[cfg(target_os = "linux")]
fn mounts() -> Option<Vec<Utf8PathBuf>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open("/proc/self/mountinfo", flags, Mode::empty()).ok()?;
    let mut text = Vec::new();
    loop {
        let mut part = [0; 4096];
        match rustix::io::read(&file, &mut part) {
            Ok(0) => break,
            Ok(read) => text.extend_from_slice(&part[..read]),
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    let text = String::from_utf8(text).ok()?;
    let places = text.lines().map(|line| line.split(' ').nth(4));
    places
        .map(|place| {
            // As the kernel writes them: a space in a name would end the column.
            let place = place?.replace("\\040", " ").replace("\\011", "\t");
            Some(Utf8PathBuf::from(place.replace("\\134", "\\")))
        })
        .collect()
}

/// Elsewhere that is not known.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_local(_: BorrowedFd<'_>, _: &Utf8Path) -> bool {
    false
}

/// Whether something lies in the process file system, and not in what is mounted over it.
#[cfg(target_os = "linux")]
pub(super) fn is_of_processes(fd: &OwnedFd) -> Result<bool, Errno> {
    const PROC_SUPER_MAGIC: i128 = 0x9fa0;
    let system = rustix::fs::fstatfs(fd)?;
    Ok(i128::from(system.f_type) == PROC_SUPER_MAGIC)
}

/// Where this is built for there is none.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_of_processes(_: &OwnedFd) -> Result<bool, Errno> {
    Ok(false)
}

/// How a directory is held: as a bare handle where there are such.
#[cfg(target_os = "linux")]
pub(super) const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
pub(super) const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// The mode of a new directory, before the umask.
pub(super) const NEW_DIRECTORY: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO);
