//! [`SensitiveListing`]: what of a directory matters to the walk, and how long that can be relied on.

use std::ffi::{CStr, OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{self, Access, AtFlags, FileType, Stat};

#[cfg(test)]
mod tests;

/// What of a directory matters: the directories in it, and names that may be sensitive.
#[derive(Debug, Default)]
pub(super) struct SensitiveListing {
    /// Which directory, and as of when; `None` if a change could go unnoticed.
    pub(super) identity: Option<DirectoryIdentity>,
    pub(super) directories: Vec<OsString>,
    pub(super) sensitive: Vec<(OsString, SensitiveKind)>,
}

/// What stands at a name that may be sensitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SensitiveKind {
    Link,
    Other,
}

/// A directory as it was at one time: a name that comes or goes changes its times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DirectoryIdentity {
    device: i128,
    inode: u64,
    changed: (i128, i128),
    modified: (i128, i128),
}

impl DirectoryIdentity {
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev.into(),
            inode: stat.st_ino,
            changed: (stat.st_ctime.into(), stat.st_ctime_nsec.into()),
            modified: (stat.st_mtime.into(), stat.st_mtime_nsec.into()),
        }
    }

    /// Whether the directory was left alone for so long that a later change must show in its times, which
    /// many file systems only count in hundredths of a second.
    fn is_settled(&self) -> bool {
        let now = jiff::Timestamp::now().as_nanosecond();
        let (seconds, nanoseconds) = self.changed.max(self.modified);
        let last = seconds * 1_000_000_000 + nanoseconds;
        now - last > SETTLED
    }
}

/// Reads a directory. `wanted` says which names that are no directories matter.
pub(super) fn read(
    directory: &OwnedFd,
    buffer: &mut Vec<u8>,
    wanted: impl Fn(&[u8]) -> bool,
) -> rustix::io::Result<SensitiveListing> {
    // The times come first: what changes while it is read then shows at the next walk.
    let stat = fs::fstat(directory)?;
    let identity = DirectoryIdentity::of(&stat);
    if stat.st_mode & EVERYBODY != EVERYBODY {
        // Names can be listed without being able to reach what they stand for.
        fs::accessat(directory, ".", Access::EXEC_OK, AtFlags::EACCESS)?;
    }
    let mut listing = SensitiveListing {
        identity: identity.is_settled().then_some(identity),
        directories: Vec::new(),
        sensitive: Vec::new(),
    };
    each(directory, buffer, |name, kind| {
        let kind = match kind {
            FileType::Unknown => kind_of(directory.as_fd(), name),
            kind => kind,
        };
        let raw = OsStr::from_bytes(name.to_bytes());
        if kind == FileType::Directory {
            listing.directories.push(raw.to_owned());
        } else if wanted(name.to_bytes()) {
            let kind = match kind {
                FileType::Symlink => SensitiveKind::Link,
                _ => SensitiveKind::Other,
            };
            listing.sensitive.push((raw.to_owned(), kind));
        }
    });
    Ok(listing)
}

/// Calls `found` for each name. What is read before an error counts.
#[cfg(target_os = "linux")]
fn each(directory: &OwnedFd, buffer: &mut Vec<u8>, mut found: impl FnMut(&CStr, FileType)) {
    let mut entries = fs::RawDir::new(directory, buffer.spare_capacity_mut());
    while let Some(Ok(entry)) = entries.next() {
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            found(entry.file_name(), entry.file_type());
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn each(directory: &OwnedFd, _buffer: &mut Vec<u8>, mut found: impl FnMut(&CStr, FileType)) {
    let Ok(entries) = fs::Dir::read_from(directory) else {
        return;
    };
    for entry in entries.map_while(Result::ok) {
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            found(entry.file_name(), entry.file_type());
        }
    }
}

fn kind_of(directory: BorrowedFd<'_>, name: &CStr) -> FileType {
    let stat = fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
    stat.map_or(FileType::Unknown, |stat| {
        FileType::from_raw_mode(stat.st_mode)
    })
}

/// The bits of a mode that let everybody go through a directory.
const EVERYBODY: u32 = 0o111;

/// Some file systems count in steps of two seconds; those that matter in hundredths. In nanoseconds.
const SETTLED: i128 = 2_100_000_000;
