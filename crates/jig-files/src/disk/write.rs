//! Writing: the new content is complete before it gets the file's name.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use jig_proto::ProjectPath;
use rustix::fs::{Access, AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;

use super::leftovers::write_all;
use super::root::{ObjectIdentity, open_regular, rename_to_free};
use super::{DiskFiles, handle_of};
use crate::{ContentHash, FilesError, Place, PlaceKind, WriteOptions};

impl DiskFiles {
    pub(super) fn write_file(
        &self,
        place: &Place,
        content: &[u8],
        options: &WriteOptions,
    ) -> Result<bool, FilesError> {
        let path = place.path();
        let _alone = self.alone_with(path);
        match place.kind() {
            PlaceKind::Missing => self.create(path, content, options).map(|()| true),
            _ if options.exclusive => Err(FilesError::AlreadyExists { path: path.clone() }),
            _ => {
                place.expect_file()?;
                self.replace(path, content, options).map(|()| false)
            }
        }
    }

    fn create(
        &self,
        path: &ProjectPath,
        content: &[u8],
        options: &WriteOptions,
    ) -> Result<(), FilesError> {
        if options.if_match.is_some() {
            return Err(FilesError::Stale { path: path.clone() });
        }
        let (parent, name) = if options.parents {
            self.root.make_parent(path)?
        } else {
            self.root.open_parent(path)?
        };
        let directory = parent_of(path);
        let staged = self.stage(&parent, &directory, content, None, options.durable);
        step();
        let done = staged.and_then(|staged| staged.create(parent.as_fd(), name));
        step();
        match done.and_then(|()| sync_directory(&parent, options.durable)) {
            Ok(()) => Ok(()),
            // It was judged as something new; now it would be an update.
            Err(Errno::EXIST) if !options.exclusive => {
                Err(FilesError::Changed { path: path.clone() })
            }
            Err(error) => Err(FilesError::from_io(path, error)),
        }
    }

    fn replace(
        &self,
        path: &ProjectPath,
        content: &[u8],
        options: &WriteOptions,
    ) -> Result<(), FilesError> {
        let fail = |error| FilesError::from_io(path, error);
        let changed = || FilesError::Changed { path: path.clone() };
        let (parent, name) = self.root.open_parent(path)?;
        let old = regular_at(&parent, name).ok_or_else(changed)?;
        // Renaming over a file asks only the directory; a file that may not be written stays.
        rustix::fs::accessat(&parent, name, Access::WRITE_OK, AtFlags::EACCESS).map_err(fail)?;
        if let Some(wanted) = options.if_match {
            let (found, seen) = hash_at(&parent, name).map_err(fail)?;
            if found != wanted || !unchanged(&seen, &old) {
                return Err(FilesError::Stale { path: path.clone() });
            }
        }
        let staged = self
            .stage(
                &parent,
                &parent_of(path),
                content,
                Some(&old),
                options.durable,
            )
            .map_err(fail)?;
        let now = regular_at(&parent, name).ok_or_else(changed)?;
        if options.if_match.is_some() && !unchanged(&now, &old) {
            return Err(FilesError::Stale { path: path.clone() });
        }
        let temporary = || self.leftovers.name_in(&parent_of(path));
        staged
            .replace(parent.as_fd(), name, temporary)
            .and_then(|()| sync_directory(&parent, options.durable))
            .map_err(fail)
    }

    /// Writes the content to a file that has no name yet, or only a temporary one.
    fn stage<'a>(
        &'a self,
        parent: &'a OwnedFd,
        directory: &ProjectPath,
        content: &[u8],
        old: Option<&Stat>,
        durable: bool,
    ) -> Result<StagedFile<'a>, Errno> {
        // Until it is complete, a file that replaces another can be read by nobody else.
        let mode = if old.is_some() { PRIVATE } else { NEW_FILE };
        let staged = match self.nameless(parent, mode) {
            Some(staged) => staged?,
            None => {
                let name = self.leftovers.name_in(directory);
                let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
                let flags = flags | OFlags::NOFOLLOW;
                let fd = rustix::fs::openat(parent, name.as_str(), flags, mode)?;
                StagedFile {
                    fd,
                    parent: parent.as_fd(),
                    name: Some(name),
                    descriptors: None,
                }
            }
        };
        step();
        write_all(staged.fd.as_fd(), content)?;
        step();
        if let Some(old) = old {
            keep_attributes(&staged.fd, old)?;
            step();
        }
        if durable {
            rustix::fs::fsync(&staged.fd)?;
        }
        Ok(staged)
    }

    /// A file without a name, which vanishes with the process; `None` where there are none.
    #[cfg(target_os = "linux")]
    fn nameless<'a>(
        &'a self,
        parent: &'a OwnedFd,
        mode: Mode,
    ) -> Option<Result<StagedFile<'a>, Errno>> {
        let descriptors = self.root.descriptors()?;
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        match rustix::fs::openat(parent, ".", flags, mode) {
            Ok(fd) => Some(Ok(StagedFile {
                fd,
                parent: parent.as_fd(),
                name: None,
                descriptors: Some(descriptors),
            })),
            // Not every file system has them, and each says so in its own way.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => None,
            Err(error) => Some(Err(error)),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn nameless<'a>(&'a self, _: &'a OwnedFd, _: Mode) -> Option<Result<StagedFile<'a>, Errno>> {
        None
    }

    pub(super) fn append_file(
        &self,
        place: &Place,
        content: &[u8],
        options: &WriteOptions,
    ) -> Result<bool, FilesError> {
        if !place.exists() || options.exclusive {
            return self.write_file(place, content, options);
        }
        place.expect_file()?;
        let path = place.path();
        let _alone = self.alone_with(path);
        let fail = |error| FilesError::from_io(path, error);
        let (parent, name) = self.root.open_parent(path)?;
        let (file, stat) =
            self.root
                .reopen(path, handle_of(place)?, OFlags::WRONLY | OFlags::APPEND)?;
        // A file that lost its name to another one would take the addition with it.
        let now = regular_at(&parent, name);
        if now.is_none_or(|now| ObjectIdentity::of(&now) != ObjectIdentity::of(&stat)) {
            return Err(FilesError::Changed { path: path.clone() });
        }
        if let Some(wanted) = options.if_match
            && hash_at(&parent, name).map_err(fail)?.0 != wanted
        {
            return Err(FilesError::Stale { path: path.clone() });
        }
        // Its other names may lie where nobody judged: give this one a file of its own.
        let (file, stat) = match stat.st_nlink > 1 {
            true => {
                let flags = OFlags::WRONLY | OFlags::APPEND;
                let (source, _) = self.root.reopen(path, handle_of(place)?, OFlags::RDONLY)?;
                self.own_copy(&parent, path, &stat, Some(&source), flags)?
            }
            false => (file, stat),
        };
        drop_special_bits(&file, &stat);
        let added = write_all(file.as_fd(), content);
        let synced = added.and_then(|()| match options.durable {
            true => rustix::fs::fsync(&file),
            false => Ok(()),
        });
        if let Err(error) = synced {
            take_back(&file, &stat, content.len());
            return Err(fail(error));
        }
        Ok(false)
    }

    /// Gives a name of a file that has several a file of its own, with the content of `source` or
    /// none, and opens that.
    pub(super) fn own_copy(
        &self,
        parent: &OwnedFd,
        path: &ProjectPath,
        old: &Stat,
        source: Option<&OwnedFd>,
        flags: OFlags,
    ) -> Result<(OwnedFd, Stat), FilesError> {
        let fail = |error| FilesError::from_io(path, error);
        let changed = || FilesError::Changed { path: path.clone() };
        let size = u64::try_from(old.st_size).unwrap_or(0);
        if source.is_some() && size > MAX_COPY {
            return Err(FilesError::TooLarge {
                path: path.clone(),
                limit: MAX_COPY,
                size,
            });
        }
        let name = path.file_name().unwrap_or_default();
        let directory = parent_of(path);
        let staged = self.stage(parent, &directory, &[], Some(old), false);
        let staged = staged.map_err(fail)?;
        if let Some(source) = source {
            copy_all(source, &staged.fd).map_err(fail)?;
        }
        let own = ObjectIdentity::of(&rustix::fs::fstat(&staged.fd).map_err(fail)?);
        let now = regular_at(parent, name).ok_or_else(changed)?;
        if ObjectIdentity::of(&now) != ObjectIdentity::of(old) {
            return Err(changed());
        }
        let temporary = || self.leftovers.name_in(&directory);
        let replaced = staged.replace(parent.as_fd(), name, temporary);
        replaced.map_err(fail)?;
        let file = open_regular(parent.as_fd(), name, flags).map_err(fail)?;
        let stat = rustix::fs::fstat(&file).map_err(fail)?;
        match ObjectIdentity::of(&stat) == own {
            true => Ok((file, stat)),
            false => Err(changed()),
        }
    }
}

/// Content that is complete and waits for its name.
struct StagedFile<'a> {
    fd: OwnedFd,
    parent: BorrowedFd<'a>,
    /// The temporary name, if it has one; it is removed when this is dropped.
    name: Option<String>,
    descriptors: Option<BorrowedFd<'a>>,
}

impl StagedFile<'_> {
    /// Gives it a name at which nothing stands.
    fn create(mut self, parent: BorrowedFd<'_>, name: &str) -> Result<(), Errno> {
        let Some(temporary) = &self.name else {
            return self.link(parent, name);
        };
        match rename_to_free(parent, temporary, parent, name) {
            Ok(()) => {
                self.name = None;
                Ok(())
            }
            // A second name fails in the same way if the first is taken, everywhere.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                let flags = AtFlags::empty();
                rustix::fs::linkat(parent, temporary.as_str(), parent, name, flags)
            }
            Err(error) => Err(error),
        }
    }

    /// Gives it the name of a file that stands there.
    fn replace(
        mut self,
        parent: BorrowedFd<'_>,
        name: &str,
        temporary: impl Fn() -> String,
    ) -> Result<(), Errno> {
        if self.name.is_none() {
            let temporary = temporary();
            self.link(parent, &temporary)?;
            step();
            self.name = Some(temporary);
        }
        let Some(temporary) = &self.name else {
            return Err(Errno::NOENT);
        };
        rustix::fs::renameat(parent, temporary.as_str(), parent, name)?;
        step();
        self.name = None;
        Ok(())
    }

    fn link(&self, parent: BorrowedFd<'_>, name: &str) -> Result<(), Errno> {
        let Some(descriptors) = self.descriptors else {
            return Err(Errno::NOSYS);
        };
        let own = rustix::path::DecInt::from_fd(&self.fd);
        rustix::fs::linkat(descriptors, own, parent, name, AtFlags::SYMLINK_FOLLOW)
    }
}

impl Drop for StagedFile<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = rustix::fs::unlinkat(self.parent, name.as_str(), AtFlags::empty());
        }
    }
}

/// The state of a regular file, not following a link; `None` if there is no such file.
pub(super) fn regular_at(parent: &OwnedFd, name: &str) -> Option<Stat> {
    let stat = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then_some(stat)
}

fn hash_at(parent: &OwnedFd, name: &str) -> Result<(ContentHash, Stat), Errno> {
    let file = open_regular(parent.as_fd(), name, OFlags::RDONLY)?;
    let hash = ContentHash::of_pieces(|buffer| {
        loop {
            match rustix::io::read(&file, &mut *buffer) {
                Err(Errno::INTR) => {}
                result => return result,
            }
        }
    })?;
    Ok((hash, rustix::fs::fstat(&file)?))
}

/// Writes all of one file to another.
fn copy_all(from: &OwnedFd, to: &OwnedFd) -> Result<(), Errno> {
    let mut buffer = vec![0; PIECE];
    let mut copied = 0;
    loop {
        match rustix::io::read(from, &mut buffer) {
            Ok(0) => return Ok(()),
            // It grows while it is copied.
            Ok(read) if copied + read as u64 > MAX_COPY => return Err(Errno::FBIG),
            Ok(read) => {
                copied += read as u64;
                write_all(to.as_fd(), &buffer[..read])?;
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether nobody has written to the file between the two looks at it.
fn unchanged(now: &Stat, before: &Stat) -> bool {
    ObjectIdentity::of(now) == ObjectIdentity::of(before)
        && now.st_size == before.st_size
        && now.st_mtime == before.st_mtime
        && now.st_mtime_nsec == before.st_mtime_nsec
        && now.st_ctime == before.st_ctime
        && now.st_ctime_nsec == before.st_ctime_nsec
}

/// The new file gets the old one's permissions and, where that is allowed, its owner. Set-user-id
/// and set-group-id bits go, as they do when a file is written in place.
fn keep_attributes(fd: &OwnedFd, old: &Stat) -> Result<(), Errno> {
    let mut mode = Mode::from_raw_mode(old.st_mode) & (Mode::RWXU | Mode::RWXG | Mode::RWXO);
    let new = rustix::fs::fstat(fd)?;
    let group = Some(Gid::from_raw(old.st_gid));
    // Only root may give files away; somebody else keeps at least the group if they are in it.
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid)
        && rustix::fs::fchown(fd, Some(Uid::from_raw(old.st_uid)), group).is_err()
        && rustix::fs::fchown(fd, None, group).is_err()
    {
        // What the old group could do is not for a different one.
        mode.remove(Mode::RWXG);
    }
    rustix::fs::fchmod(fd, mode)
}

/// Takes the set-user-id and set-group-id bits from a file that is about to be written in place. The kernel does
/// that for everybody but root, for whom the program would go on running as its owner, with other content.
pub(super) fn drop_special_bits(fd: &OwnedFd, stat: &Stat) {
    let mode = Mode::from_raw_mode(stat.st_mode);
    if mode.intersects(Mode::SUID | Mode::SGID) {
        // Whoever may not do that is not root.
        let _ = rustix::fs::fchmod(fd, mode & (Mode::RWXU | Mode::RWXG | Mode::RWXO));
    }
}

/// Removes the part of a failed addition that was written, unless somebody else wrote behind it.
fn take_back(file: &OwnedFd, before: &Stat, added: usize) {
    let Ok(now) = rustix::fs::fstat(file) else {
        return;
    };
    let grown = i128::from(now.st_size) - i128::from(before.st_size);
    if grown > 0
        && grown < added as i128
        && let Ok(size) = u64::try_from(before.st_size)
    {
        let _ = rustix::fs::ftruncate(file, size);
    }
}

fn sync_directory(parent: &OwnedFd, durable: bool) -> Result<(), Errno> {
    if !durable {
        return Ok(());
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::fsync(rustix::fs::openat(parent, ".", flags, Mode::empty())?)
}

fn parent_of(path: &ProjectPath) -> ProjectPath {
    path.parent().unwrap_or_default()
}

/// The mode of a new file, before the umask.
pub(super) const NEW_FILE: Mode = Mode::RUSR
    .union(Mode::WUSR)
    .union(Mode::RGRP)
    .union(Mode::WGRP)
    .union(Mode::ROTH)
    .union(Mode::WOTH);

/// How much of a file is held at once while it is copied.
const PIECE: usize = 256 * 1024;

/// The largest file with several names of which one name gets a copy. Whoever made the file chose its size, and
/// nothing interrupts the copying.
const MAX_COPY: u64 = 1024 * 1024 * 1024;

const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

/// A moment at which a crash is tried out by the tests; nothing otherwise.
#[cfg(not(test))]
fn step() {}

#[cfg(test)]
use tests::step;

#[cfg(test)]
mod tests;
