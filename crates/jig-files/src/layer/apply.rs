//! [`LayerApply`]: doing what a layer says to the directory that it lies on.
//!
//! Every change acts on a name in a directory. That directory is opened at its path beneath the root,
//! without following any link, and the name must still stand for what was compared. Files and links get
//! their name when they are complete. First everything is removed that is to go, what lies deeper before
//! what it lies in; then all is made, in the other order; permissions of directories come last, because
//! they may forbid what was to be done.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use jig_proto::ProjectPath;
use rustix::fs::{AtFlags, Gid, Mode, OFlags, SeekFrom, Stat, Uid};
use rustix::io::Errno;

use super::change::{ApplyReport, Change, ChangeKind, FailedChange, PathKind};
use super::entries;
use crate::disk::{DiskRoot, Leftovers, write_all};

/// The two trees.
pub(super) struct LayerApply<'a> {
    pub(super) upper: &'a DiskRoot,
    pub(super) lower: &'a DiskRoot,
    pub(super) leftovers: &'a Leftovers,
}

impl LayerApply<'_> {
    /// Does what can be done and says what became of each.
    pub(super) fn all(
        &self,
        changes: Vec<Change>,
        also_conflicts: bool,
        allow: &dyn Fn(&Change) -> bool,
    ) -> ApplyReport {
        let mut applied = ApplyReport::default();
        let mut wanted: Vec<Change> = Vec::new();
        // Directories that are not made, and whether that is for a conflict. Nothing can be made in them.
        let mut unmade: HashMap<ProjectPath, bool> = HashMap::new();
        for change in changes {
            let parent = change.path.parent().and_then(|parent| unmade.get(&parent));
            let is_conflict = match parent {
                Some(is_conflict) => Some(*is_conflict),
                None if change.unfit.is_some() => None,
                None if !allow(&change) => Some(false),
                None if change.conflict && !also_conflicts => Some(true),
                None => None,
            };
            if let Some(is_conflict) = is_conflict
                && makes_directory(&change)
            {
                unmade.insert(change.path.clone(), is_conflict);
            }
            match (is_conflict, change.unfit) {
                (Some(true), _) => applied.conflicts.push(change),
                (Some(false), _) => applied.refused.push(change),
                (None, Some(unfit)) => applied.failed.push(FailedChange {
                    why: unfit.to_string(),
                    change,
                }),
                (None, None) => wanted.push(change),
            }
        }
        let mut results: Vec<io::Result<()>> = wanted.iter().map(|_| Ok(())).collect();
        for (change, result) in wanted.iter().zip(&mut results).rev() {
            *result = self.remove(change);
        }
        for (change, result) in wanted.iter().zip(&mut results) {
            if result.is_ok() {
                *result = self.make(change);
            }
        }
        for (change, result) in wanted.iter().zip(&mut results).rev() {
            if result.is_ok() {
                *result = self.finish(change);
            }
        }
        for (change, result) in wanted.into_iter().zip(results) {
            match result {
                Ok(()) => applied.done.push(change),
                Err(error) => applied.failed.push(FailedChange {
                    why: in_words(&error),
                    change,
                }),
            }
        }
        applied
    }

    /// Removes what is gone, and what cannot be replaced in one step.
    fn remove(&self, change: &Change) -> io::Result<()> {
        let is_directory = change.was == Some(PathKind::Directory);
        let makes_room = change.kind == ChangeKind::Retyped
            && (is_directory || change.what == PathKind::Directory);
        if change.kind != ChangeKind::Deleted && !makes_room {
            return Ok(());
        }
        let flags = match is_directory {
            true => AtFlags::REMOVEDIR,
            false => AtFlags::empty(),
        };
        self.in_parent(change, |parent, name| {
            expect_same(parent, name, change)?;
            Ok(rustix::fs::unlinkat(parent, name, flags)?)
        })
    }

    fn make(&self, change: &Change) -> io::Result<()> {
        if change.kind == ChangeKind::Deleted {
            return Ok(());
        }
        match change.what {
            PathKind::Directory if change.kind == ChangeKind::Modified => Ok(()),
            PathKind::Directory => self.in_parent(change, |parent, name| {
                // Open for what is to be made in it; the rest comes at the end.
                Ok(rustix::fs::mkdirat(parent, name, Mode::RWXU)?)
            }),
            PathKind::File if !change.content && !change.attributes => self.set_in_place(change),
            PathKind::File => self.put(change, |parent, temporary| {
                self.copy(change, parent, temporary)
            }),
            PathKind::Symlink => self.put(change, |parent, temporary| {
                let above = self.above(change)?;
                let target = entries::link_target(above.as_fd(), &above.name)?;
                Ok(rustix::fs::symlinkat(&target, parent, temporary)?)
            }),
            PathKind::Other => Err(Errno::INVAL.into()),
        }
    }

    /// The permissions, attributes and times of a directory.
    fn finish(&self, change: &Change) -> io::Result<()> {
        if change.what != PathKind::Directory || change.kind == ChangeKind::Deleted {
            return Ok(());
        }
        let (stat, attributes) = match change.path.parent() {
            None => {
                let wanted = entries::directory(self.upper.fd(), c".")?;
                let stat = rustix::fs::fstat(&wanted)?;
                (stat, entries::attributes(wanted.as_fd())?)
            }
            Some(_) => {
                let above = self.above(change)?;
                // Before it is opened, which may change its permissions for the moment.
                let stat = entries::look(above.as_fd(), &above.name)?.ok_or(Errno::NOENT)?;
                let wanted = entries::own_directory(above.as_fd(), &above.name)?;
                (stat, entries::attributes(wanted.as_fd())?)
            }
        };
        let there = self.lower.open_dir(&change.path)?;
        let there = entries::directory(there.as_fd(), c".")?;
        keep_owner(there.as_fd(), &stat)?;
        entries::set_attributes(there.as_fd(), &attributes)?;
        // A program that runs as whoever owns it makes no sense for a directory.
        let mode = entries::mode(&stat) & 0o3777;
        rustix::fs::fchmod(&there, Mode::from_raw_mode(mode))?;
        if change.kind != ChangeKind::Modified {
            rustix::fs::futimens(&there, &entries::times(entries::modified(&stat)))?;
        }
        Ok(())
    }

    /// Permissions and times of a file whose content stays.
    fn set_in_place(&self, change: &Change) -> io::Result<()> {
        let above = self.above(change)?;
        let stat = entries::look(above.as_fd(), &above.name)?.ok_or(Errno::NOENT)?;
        self.in_parent(change, |parent, name| {
            expect_same(parent, name, change)?;
            let held = entries::hold(parent, name)?;
            let there = rustix::fs::fstat(&held)?;
            if Some(entries::seen(&there)) != change.seen {
                return Err(changed_meanwhile());
            }
            if change.mode.is_some() {
                entries::set_mode(held.as_fd(), file_mode(&stat, Some(&there)))?;
            }
            if change.time {
                entries::set_modified(held.as_fd(), entries::modified(&stat))?;
            }
            Ok(())
        })
    }

    /// Makes something under a temporary name and then gives it its own.
    fn put(
        &self,
        change: &Change,
        make: impl Fn(BorrowedFd<'_>, &str) -> io::Result<()>,
    ) -> io::Result<()> {
        let directory = change.path.parent().unwrap_or_default();
        self.in_parent(change, |parent, name| {
            let temporary = self.leftovers.name_in(&directory);
            let put = make(parent, &temporary).and_then(|()| {
                // Of what was there in another form, room has been made.
                match change.was.filter(|was| *was != PathKind::Directory) {
                    Some(_) => {
                        expect_same(parent, name, change)?;
                        Ok(rustix::fs::renameat(parent, &temporary, parent, name)?)
                    }
                    None => Ok(give_free_name(parent, &temporary, name)?),
                }
            });
            if put.is_err() {
                let _ = rustix::fs::unlinkat(parent, &temporary, AtFlags::empty());
            }
            put
        })
    }

    /// Copies a file of the layer, with all that belongs to it.
    fn copy(&self, change: &Change, parent: BorrowedFd<'_>, temporary: &str) -> io::Result<()> {
        let above = self.above(change)?;
        // Before it is opened, which may change its permissions for the moment.
        let stat = entries::look(above.as_fd(), &above.name)?.ok_or(Errno::NOENT)?;
        let from = entries::own_file(above.as_fd(), &above.name)?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        let flags = flags | OFlags::NOFOLLOW;
        let private = Mode::RUSR | Mode::WUSR;
        let to = rustix::fs::openat(parent, temporary, flags, private)?;
        if rustix::fs::ioctl_ficlone(&to, &from).is_err() {
            copy_content(from.as_fd(), to.as_fd(), entries::size(&stat))?;
        }
        keep_owner(to.as_fd(), &stat)?;
        entries::set_attributes(to.as_fd(), &entries::attributes(from.as_fd())?)?;
        let there = match change.was {
            Some(PathKind::File) => rustix::fs::statat(
                parent,
                change.path.file_name().unwrap_or_default(),
                AtFlags::SYMLINK_NOFOLLOW,
            )
            .ok(),
            _ => None,
        };
        rustix::fs::fchmod(&to, file_mode(&stat, there.as_ref()))?;
        rustix::fs::futimens(&to, &entries::times(entries::modified(&stat)))?;
        Ok(())
    }

    /// The directory of the layer that a change is in, and its name there.
    fn above(&self, change: &Change) -> io::Result<LayerParent> {
        Ok(LayerParent {
            directories: entries::own_directories(self.upper.fd(), &change.path)?,
            name: c_name(&change.path)?,
        })
    }

    /// Acts on a name in the directory of the host that a change is in. One of our own that forbids it is
    /// opened for the moment: the tool has done the same.
    fn in_parent(
        &self,
        change: &Change,
        act: impl Fn(BorrowedFd<'_>, &CStr) -> io::Result<()>,
    ) -> io::Result<()> {
        let parent = change.path.parent().ok_or(Errno::BUSY)?;
        let name = c_name(&change.path)?;
        let parent = self.lower.open_dir(&parent)?;
        match act(parent.as_fd(), &name) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let before = Mode::from_raw_mode(entries::mode(&rustix::fs::fstat(&parent)?));
                if before.contains(Mode::RWXU) {
                    return Err(error);
                }
                if entries::set_mode(parent.as_fd(), before | Mode::RWXU).is_err() {
                    return Err(error);
                }
                let result = act(parent.as_fd(), &name);
                entries::set_mode(parent.as_fd(), before)?;
                result
            }
            result => result,
        }
    }
}

/// A directory of the layer, and a name in it.
struct LayerParent {
    directories: entries::OwnDirectories,
    name: CString,
}

impl AsFd for LayerParent {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.directories.as_fd()
    }
}

fn makes_directory(change: &Change) -> bool {
    change.what == PathKind::Directory
        && matches!(change.kind, ChangeKind::Created | ChangeKind::Retyped)
}

fn c_name(path: &ProjectPath) -> io::Result<CString> {
    let name = path.file_name().ok_or(Errno::ISDIR)?;
    Ok(CString::new(name).map_err(|_| Errno::INVAL)?)
}

/// Checks that a name stands for what was compared.
fn expect_same(parent: BorrowedFd<'_>, name: &CStr, change: &Change) -> io::Result<()> {
    let now = entries::look(parent, name)?;
    if now.as_ref().map(entries::seen) == change.seen {
        return Ok(());
    }
    Err(changed_meanwhile())
}

fn changed_meanwhile() -> io::Error {
    io::Error::other("it was changed by somebody else in the meantime")
}

/// Gives something a name at which nothing stands.
fn give_free_name(parent: BorrowedFd<'_>, temporary: &str, name: &CStr) -> Result<(), Errno> {
    let flags = rustix::fs::RenameFlags::NOREPLACE;
    match rustix::fs::renameat_with(parent, temporary, parent, name, flags) {
        // A file system that cannot promise it: look first, which a racing writer can defeat.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => match entries::look(parent, name)? {
            None => rustix::fs::renameat(parent, temporary, parent, name),
            Some(_) => Err(Errno::EXIST),
        },
        result => result,
    }
}

/// The owner that it has in the layer, where that may be given. Elsewhere it is whoever applies it.
fn keep_owner(fd: BorrowedFd<'_>, wanted: &Stat) -> Result<(), Errno> {
    let there = rustix::fs::fstat(fd)?;
    if (there.st_uid, there.st_gid) != (wanted.st_uid, wanted.st_gid) {
        let group = Some(Gid::from_raw(wanted.st_gid));
        if rustix::fs::fchown(fd, Some(Uid::from_raw(wanted.st_uid)), group).is_err() {
            let _ = rustix::fs::fchown(fd, None, group);
        }
    }
    Ok(())
}

/// Permissions of the layer. A file that runs as whoever owns it stays one, and none becomes one.
fn file_mode(wanted: &Stat, there: Option<&Stat>) -> Mode {
    let kept = there.map_or(0, |there| entries::mode(there) & 0o6000);
    Mode::from_raw_mode(entries::mode(wanted) & (0o1777 | kept))
}

/// Copies what a file holds and leaves its holes: a tool can make one that is larger than the disk.
fn copy_content(from: BorrowedFd<'_>, to: BorrowedFd<'_>, size: u64) -> io::Result<()> {
    let mut buffer = vec![0; PIECE];
    let mut at = 0;
    while at < size {
        let start = match rustix::fs::seek(from, SeekFrom::Data(at)) {
            Ok(start) => start,
            // Nothing but a hole is left.
            Err(Errno::NXIO) => break,
            Err(Errno::INVAL) => at,
            Err(error) => return Err(error.into()),
        };
        let end = match rustix::fs::seek(from, SeekFrom::Hole(start)) {
            Ok(end) => end,
            Err(Errno::INVAL) => size,
            Err(error) => return Err(error.into()),
        };
        at = start;
        rustix::fs::seek(to, SeekFrom::Start(start))?;
        while at < end {
            let wanted = usize::try_from(end - at).map_or(PIECE, |left| left.min(PIECE));
            match rustix::io::pread(from, &mut buffer[..wanted], at) {
                Ok(0) => return Ok(rustix::fs::ftruncate(to, size)?),
                Ok(count) => {
                    write_all(to, &buffer[..count])?;
                    at += count as u64;
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(rustix::fs::ftruncate(to, size)?)
}

fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::DirectoryNotEmpty => "it is not empty".to_owned(),
        io::ErrorKind::PermissionDenied => "the operating system denies access".to_owned(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "no space is left".to_owned(),
        io::ErrorKind::NotFound => "its directory is missing".to_owned(),
        io::ErrorKind::AlreadyExists => "somebody else has made it in the meantime".to_owned(),
        _ => error.to_string(),
    }
}

const PIECE: usize = 256 << 10;
