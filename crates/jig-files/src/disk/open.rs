//! Files that are open: the file that was located, by a descriptor of its own.
//!
//! A file that stands there is opened from its bare handle, so nothing that takes its name meanwhile is
//! opened, emptied or written. `O_TRUNC` is never used: where a file can only be opened by its name, it
//! would empty what was put there before anybody can see that it is another one.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use jig_proto::ProjectPath;
use rustix::fs::{OFlags, Stat};
use rustix::io::Errno;

use super::root::ObjectIdentity;
use super::write::{NEW_FILE, drop_special_bits, regular_at};
use super::{DiskFiles, handle_of};
use crate::{FilesError, OpenOptions, Place, PlaceKind};

impl DiskFiles {
    pub(super) fn open_place(
        &self,
        place: &Place,
        options: &OpenOptions,
    ) -> Result<DiskFile, FilesError> {
        let path = place.path();
        match place.kind() {
            PlaceKind::Missing if options.create => self.create_open(path, options),
            _ if options.create && options.exclusive => {
                Err(FilesError::AlreadyExists { path: path.clone() })
            }
            _ => {
                place.expect_file()?;
                match options.changes() {
                    true => self.open_to_change(place, options),
                    false => {
                        let handle = handle_of(place)?;
                        let (fd, stat) = self.root.reopen(path, handle, OFlags::RDONLY)?;
                        Ok(DiskFile::new(fd, &stat))
                    }
                }
            }
        }
    }

    fn create_open(
        &self,
        path: &ProjectPath,
        options: &OpenOptions,
    ) -> Result<DiskFile, FilesError> {
        let fail = |error| FilesError::from_io(path, error);
        let (parent, name) = self.root.open_parent(path)?;
        // With `EXCL` a link at the end is not followed, also one that dangles.
        let new = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let flags = access(options) | new | OFlags::NOCTTY | OFlags::CLOEXEC;
        match rustix::fs::openat(&parent, name, flags, NEW_FILE) {
            Ok(fd) => {
                let stat = rustix::fs::fstat(&fd).map_err(fail)?;
                Ok(DiskFile::new(fd, &stat))
            }
            // It was judged as something new; now it would be an update.
            Err(Errno::EXIST) if !options.exclusive => {
                Err(FilesError::Changed { path: path.clone() })
            }
            Err(error) => Err(fail(error)),
        }
    }

    fn open_to_change(&self, place: &Place, options: &OpenOptions) -> Result<DiskFile, FilesError> {
        let path = place.path();
        let _alone = self.alone_with(path);
        let fail = |error| FilesError::from_io(path, error);
        let (parent, name) = self.root.open_parent(path)?;
        let handle = handle_of(place)?;
        let (fd, stat) = self.root.reopen(path, handle, access(options))?;
        // A file that was moved since may be where nobody judged.
        let now = regular_at(&parent, name);
        if now.is_none_or(|now| ObjectIdentity::of(&now) != ObjectIdentity::of(&stat)) {
            return Err(FilesError::Changed { path: path.clone() });
        }
        // Its other names may lie where nobody judged, too.
        if stat.st_nlink > 1 {
            let source = match options.truncate {
                true => None,
                false => Some(self.root.reopen(path, handle, OFlags::RDONLY)?.0),
            };
            let (fd, stat) =
                self.own_copy(&parent, path, &stat, source.as_ref(), access(options))?;
            return Ok(DiskFile::new(fd, &stat));
        }
        drop_special_bits(&fd, &stat);
        if options.truncate {
            rustix::fs::ftruncate(&fd, 0).map_err(fail)?;
        }
        Ok(DiskFile::new(fd, &stat))
    }
}

/// How the descriptor is opened. One that empties a file must be able to write.
fn access(options: &OpenOptions) -> OFlags {
    match (options.read, options.changes()) {
        (_, false) => OFlags::RDONLY,
        (false, true) => OFlags::WRONLY,
        (true, true) => OFlags::RDWR,
    }
}

/// A file that is open.
#[derive(Debug)]
pub(crate) struct DiskFile {
    fd: OwnedFd,
    id: ObjectIdentity,
}

impl DiskFile {
    fn new(fd: OwnedFd, stat: &Stat) -> Self {
        Self {
            fd,
            id: ObjectIdentity::of(stat),
        }
    }

    pub(crate) fn read_at(
        &self,
        path: &ProjectPath,
        offset: u64,
        most: usize,
    ) -> Result<Bytes, FilesError> {
        // To the system what ends past that is a mistake; to a reader there is nothing there.
        let room = MAX_OFFSET.saturating_sub(offset);
        let most = usize::try_from(room).map_or(most, |room| room.min(most));
        if most == 0 {
            return Ok(Bytes::new());
        }
        let mut content = Vec::new();
        content
            .try_reserve_exact(most)
            .map_err(|_| FilesError::from_io(path, Errno::NOMEM))?;
        loop {
            let spare = rustix::buffer::spare_capacity(&mut content);
            match rustix::io::pread(&self.fd, spare, offset) {
                Ok(_) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(FilesError::from_io(path, error)),
            }
        }
        // The allocator may have given more room than was asked for.
        content.truncate(most);
        Ok(content.into())
    }

    pub(crate) fn write_at(
        &self,
        path: &ProjectPath,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), FilesError> {
        let end = offset.saturating_add(bytes.len() as u64);
        within(path, end)?;
        write_pieces(path, bytes, |done, rest| {
            rustix::io::pwrite(&self.fd, rest, offset.saturating_add(done as u64))
        })
    }

    pub(crate) fn append(&self, path: &ProjectPath, bytes: &[u8]) -> Result<(), FilesError> {
        write_pieces(path, bytes, |_, rest| self.append_some(rest))
    }

    /// Appends in one step, so that those who append at the same time do not overwrite each other.
    #[cfg(target_os = "linux")]
    fn append_some(&self, bytes: &[u8]) -> Result<usize, Errno> {
        use rustix::io::ReadWriteFlags;
        let pieces = [std::io::IoSlice::new(bytes)];
        match rustix::io::pwritev2(&self.fd, &pieces, 0, ReadWriteFlags::APPEND) {
            // An old kernel, or a file system that does not know it.
            Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::INVAL) => self.append_at_end(bytes),
            result => result,
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn append_some(&self, bytes: &[u8]) -> Result<usize, Errno> {
        self.append_at_end(bytes)
    }

    fn append_at_end(&self, bytes: &[u8]) -> Result<usize, Errno> {
        let size = rustix::fs::fstat(&self.fd)?.st_size;
        rustix::io::pwrite(&self.fd, bytes, u64::try_from(size).unwrap_or(0))
    }

    pub(crate) fn set_size(&self, path: &ProjectPath, size: u64) -> Result<(), FilesError> {
        within(path, size)?;
        rustix::fs::ftruncate(&self.fd, size).map_err(|error| FilesError::from_io(path, error))
    }

    pub(crate) fn state(
        &self,
        path: &ProjectPath,
    ) -> Result<(u64, Option<SystemTime>), FilesError> {
        let stat = rustix::fs::fstat(&self.fd).map_err(|error| FilesError::from_io(path, error))?;
        Ok((u64::try_from(stat.st_size).unwrap_or(0), modified(&stat)))
    }

    pub(crate) fn sync(&self, path: &ProjectPath) -> Result<(), FilesError> {
        match rustix::fs::fsync(self.fd.as_fd()) {
            // There are files that cannot be synced, and nothing of them waits.
            Ok(()) | Err(Errno::INVAL) => Ok(()),
            Err(error) => Err(FilesError::from_io(path, error)),
        }
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// When something was last changed.
pub(super) fn modified(stat: &Stat) -> Option<SystemTime> {
    let part = Duration::from_nanos(u64::try_from(i128::from(stat.st_mtime_nsec)).ok()?);
    let seconds = i64::try_from(i128::from(stat.st_mtime)).ok()?;
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let epoch = SystemTime::UNIX_EPOCH;
    match seconds < 0 {
        true => epoch.checked_sub(whole)?.checked_add(part),
        false => epoch.checked_add(whole)?.checked_add(part),
    }
}

/// Writes until nothing is left; `write` is told how much was written before.
fn write_pieces(
    path: &ProjectPath,
    bytes: &[u8],
    write: impl Fn(usize, &[u8]) -> Result<usize, Errno>,
) -> Result<(), FilesError> {
    let mut done = 0;
    while done < bytes.len() {
        match write(done, &bytes[done..]) {
            Ok(0) => return Err(FilesError::from_io(path, Errno::NOSPC)),
            Ok(written) => done += written,
            Err(Errno::INTR) => {}
            Err(error) => return Err(FilesError::from_io(path, error)),
        }
    }
    Ok(())
}

/// Checks that a file can have this size.
fn within(path: &ProjectPath, size: u64) -> Result<(), FilesError> {
    if size <= MAX_OFFSET {
        return Ok(());
    }
    Err(FilesError::TooLong {
        path: path.clone(),
        limit: MAX_OFFSET,
    })
}

/// Sizes are signed numbers to the operating system.
const MAX_OFFSET: u64 = i64::MAX as u64;
