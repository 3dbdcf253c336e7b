//! Opening and describing what is in a directory, by its descriptor and a name, without following a link.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use jig_proto::ProjectPath;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, XattrFlags};
use rustix::io::Errno;

use super::change::{FileStamp, FileTime, PathKind};
use crate::disk::{open_child_dir, open_entries, open_regular};

/// What is at a name, if anything.
pub(super) fn look(parent: BorrowedFd<'_>, name: &CStr) -> Result<Option<Stat>, Errno> {
    match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn what(stat: &Stat) -> PathKind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => PathKind::File,
        FileType::Directory => PathKind::Directory,
        FileType::Symlink => PathKind::Symlink,
        _ => PathKind::Other,
    }
}

/// Whether it stands for something that was removed: overlayfs makes a device that there cannot be.
pub(super) fn is_whiteout(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice && stat.st_rdev == 0
}

/// The permissions and the three bits above them.
pub(super) fn mode(stat: &Stat) -> u32 {
    stat.st_mode & 0o7777
}

pub(super) fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

pub(super) fn modified(stat: &Stat) -> FileTime {
    FileTime(stat.st_mtime, stat.st_mtime_nsec as i64)
}

/// When anything of it was last changed, which nobody can set.
pub(super) fn changed(stat: &Stat) -> FileTime {
    FileTime(stat.st_ctime, stat.st_ctime_nsec as i64)
}

pub(super) fn seen(stat: &Stat) -> FileStamp {
    FileStamp {
        device: stat.st_dev,
        inode: stat.st_ino,
        // The size of a directory says nothing.
        size: match what(stat) {
            PathKind::Directory => 0,
            _ => stat.st_size,
        },
        modified: match what(stat) {
            PathKind::Directory => FileTime::default(),
            _ => modified(stat),
        },
    }
}

/// The names in a directory, sorted. Not more than `most`.
pub(super) fn names(directory: BorrowedFd<'_>, most: usize) -> Result<Vec<CString>, Errno> {
    let mut names = Vec::new();
    for entry in open_entries(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        if names.len() >= most {
            return Err(Errno::TOOBIG);
        }
        names.push(name.to_owned());
    }
    names.sort_unstable();
    Ok(names)
}

/// Opens a directory to read it.
pub(super) fn directory(parent: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    let bare = open_child_dir(parent, name)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(&bare, ".", flags, Mode::empty())
}

/// Opens a regular file to read it.
pub(super) fn file(parent: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    let file = open_regular(parent, name, OFlags::RDONLY)?;
    // It was one before it was opened; now it is known to be.
    match what(&rustix::fs::fstat(&file)?) {
        PathKind::File => Ok(file),
        _ => Err(Errno::LOOP),
    }
}

/// As [`directory`], in a layer: one that a tool has closed is open while it is used.
pub(super) fn own_directory(parent: BorrowedFd<'_>, name: &CStr) -> Result<LayerDirectory, Errno> {
    let lifted = LiftedPermissions::of(parent, name, Mode::RWXU)?;
    let fd = directory(parent, name)?;
    Ok(LayerDirectory {
        fd,
        _lifted: lifted,
    })
}

/// As [`file()`], in a layer: one that a tool has closed is opened all the same.
pub(super) fn own_file(parent: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    match file(parent, name) {
        Err(Errno::ACCESS) => {
            let _lifted = LiftedPermissions::of(parent, name, Mode::RUSR)?;
            file(parent, name)
        }
        result => result,
    }
}

/// An open directory of a layer, and what was lifted for that.
#[derive(Debug)]
pub(super) struct LayerDirectory {
    fd: OwnedFd,
    _lifted: Option<LiftedPermissions>,
}

impl AsFd for LayerDirectory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// The directories of a layer down to that of a path, all of them open.
#[derive(Debug)]
pub(super) struct OwnDirectories {
    root: OwnedFd,
    below: Vec<LayerDirectory>,
}

impl AsFd for OwnDirectories {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.below.last().map_or(self.root.as_fd(), AsFd::as_fd)
    }
}

impl Drop for OwnDirectories {
    fn drop(&mut self) {
        // What lies deeper can only be closed while those above it are open.
        while self.below.pop().is_some() {}
    }
}

/// Opens the directory of a layer that a path is in.
pub(super) fn own_directories(
    root: BorrowedFd<'_>,
    path: &ProjectPath,
) -> Result<OwnDirectories, Errno> {
    let mut directories = OwnDirectories {
        root: directory(root, c".")?,
        below: Vec::new(),
    };
    for name in path.parent().unwrap_or_default().components() {
        let name = CString::new(name).map_err(|_| Errno::INVAL)?;
        let next = own_directory(directories.as_fd(), &name)?;
        directories.below.push(next);
    }
    Ok(directories)
}

/// Permissions that something of a layer has for the moment: those that a tool gave it are its last word
/// about it, and come back.
#[derive(Debug)]
struct LiftedPermissions {
    held: OwnedFd,
    before: Mode,
}

impl LiftedPermissions {
    /// `None` if it has them anyway.
    fn of(parent: BorrowedFd<'_>, name: &CStr, needed: Mode) -> Result<Option<Self>, Errno> {
        let held = hold(parent, name)?;
        let stat = rustix::fs::fstat(&held)?;
        let before = Mode::from_raw_mode(mode(&stat));
        if before.contains(needed) || what(&stat) == PathKind::Symlink {
            return Ok(None);
        }
        set_mode(held.as_fd(), before | needed)?;
        Ok(Some(Self { held, before }))
    }
}

impl Drop for LiftedPermissions {
    fn drop(&mut self) {
        let _ = set_mode(self.held.as_fd(), self.before);
    }
}

/// A bare handle of what is at a name.
pub(super) fn hold(parent: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(parent, name, flags, Mode::empty())
}

/// Sets the permissions of what a bare handle holds. Its link in `/proc` leads to the thing itself.
pub(super) fn set_mode(held: BorrowedFd<'_>, mode: Mode) -> Result<(), Errno> {
    rustix::fs::chmodat(rustix::fs::CWD, link(held), mode, AtFlags::empty())
}

/// Sets the time of the last modification of what a bare handle holds.
pub(super) fn set_modified(held: BorrowedFd<'_>, moment: FileTime) -> Result<(), Errno> {
    let times = times(moment);
    rustix::fs::utimensat(rustix::fs::CWD, link(held), &times, AtFlags::empty())
}

/// A time of the last modification; that of the last access stays.
pub(super) fn times(moment: FileTime) -> rustix::fs::Timestamps {
    rustix::fs::Timestamps {
        last_access: rustix::fs::Timespec {
            tv_sec: 0,
            tv_nsec: rustix::fs::UTIME_OMIT,
        },
        last_modification: rustix::fs::Timespec {
            tv_sec: moment.0,
            tv_nsec: moment.1,
        },
    }
}

fn link(held: BorrowedFd<'_>) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", held.as_raw_fd())
}

/// Where a link leads.
pub(super) fn link_target(parent: BorrowedFd<'_>, name: &CStr) -> Result<CString, Errno> {
    rustix::fs::readlinkat(parent, name, Vec::new())
}

/// The extended attributes of the user, and lists of who has access. Those of overlayfs are none of a
/// tool's: it escapes what a tool sets under such a name.
pub(super) type ExtendedAttributes = BTreeMap<CString, Vec<u8>>;

/// The extended attributes of an open file or directory. A file system without them has none.
pub(super) fn attributes(fd: BorrowedFd<'_>) -> Result<ExtendedAttributes, Errno> {
    let mut attributes = ExtendedAttributes::new();
    match rustix::fs::flistxattr_query(fd) {
        Ok(0) | Err(Errno::NOTSUP) => return Ok(attributes),
        result => result?,
    };
    let mut list = vec![0; MOST_OF_ATTRIBUTES];
    let length = rustix::fs::flistxattr(fd, &mut list[..])?;
    for name in list[..length].split_inclusive(|byte| *byte == 0) {
        let Ok(name) = CStr::from_bytes_with_nul(name) else {
            continue;
        };
        if !is_of_files(name.to_bytes()) {
            continue;
        }
        if let Some(value) = attribute(fd, name)? {
            attributes.insert(name.to_owned(), value);
        }
    }
    Ok(attributes)
}

fn is_of_files(name: &[u8]) -> bool {
    let is_list = ACCESS_LISTS.contains(&name);
    is_list || name.starts_with(b"user.") && !name.starts_with(OWN_ATTRIBUTES)
}

/// One extended attribute, if it is there.
pub(super) fn attribute(fd: BorrowedFd<'_>, name: &CStr) -> Result<Option<Vec<u8>>, Errno> {
    let mut value = vec![0; MOST_OF_ATTRIBUTES];
    match rustix::fs::fgetxattr(fd, name, &mut value[..]) {
        Ok(length) => {
            value.truncate(length);
            Ok(Some(value))
        }
        Err(Errno::NODATA | Errno::NOTSUP) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes the attributes of a file those. What is of other kinds stays.
pub(super) fn set_attributes(fd: BorrowedFd<'_>, wanted: &ExtendedAttributes) -> Result<(), Errno> {
    let there = attributes(fd)?;
    for name in there.keys().filter(|name| !wanted.contains_key(*name)) {
        rustix::fs::fremovexattr(fd, name.as_c_str())?;
    }
    for (name, value) in wanted {
        if there.get(name) != Some(value) {
            rustix::fs::fsetxattr(fd, name.as_c_str(), value, XattrFlags::empty())?;
        }
    }
    Ok(())
}

/// Whether a directory of a layer shows nothing of the one below.
pub(super) fn is_opaque(directory: BorrowedFd<'_>) -> Result<bool, Errno> {
    Ok(attribute(directory, c"user.overlay.opaque")?.as_deref() == Some(b"y"))
}

/// Without them the permissions of a group would mean more than they did.
const ACCESS_LISTS: [&[u8]; 2] = [b"system.posix_acl_access", b"system.posix_acl_default"];

/// What overlayfs notes for itself.
const OWN_ATTRIBUTES: &[u8] = b"user.overlay.";

/// The kernel lets neither a list of names nor a value be longer.
const MOST_OF_ATTRIBUTES: usize = 64 << 10;
