//! [`ChangeLayer`] where there is overlayfs.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{AtFlags, FlockOperation, Gid, Mode, OFlags, Uid};
use rustix::io::Errno;

use super::apply::LayerApply;
use super::change::{ApplyReport, Change, ChangeKind, Diff, DiffLimits, FileTime, PathKind};
use super::diff::{self, DiffSide};
use super::walk::LayerWalk;
use super::{entries, remove};
use crate::disk::{DiskRoot, Leftovers, default_state, random_name};
use crate::journal::make_private_directories;

/// What a program changes in a directory, apart from that directory.
///
/// It is discarded when it is dropped. What a killed process leaves is removed by [`ChangeLayer::sweep`].
#[derive(Debug)]
pub struct ChangeLayer {
    home: OwnedFd,
    name: String,
    /// Locked for as long as the layer is in use.
    directory: OwnedFd,
    path: PathBuf,
    upper: PathBuf,
    work: PathBuf,
    lower: DiskRoot,
    /// When it was made, by the clock of the file system.
    made: FileTime,
    is_gone: bool,
}

impl ChangeLayer {
    /// Makes an empty layer over the directory `lower`.
    ///
    /// It is made below `state`, a directory of the user's own that is made if it is missing, in a
    /// directory that is open to nobody else. The two must not lie in each other, and the program must not be able to reach `state`.
    pub fn create(state: &Path, lower: &Path) -> io::Result<Self> {
        let lower = DiskRoot::open(utf8(lower)?, false)?;
        let (home, home_path) = home(state, true)?;
        if home_path.starts_with(lower.canonical()) || lower.canonical().starts_with(&home_path) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "a layer over `{}` cannot be kept in `{home_path}`, of which one lies in the other",
                    lower.canonical()
                ),
            ));
        }
        let (name, directory) = make_locked(home.as_fd())?;
        let path = home_path.join(&name).into_std_path_buf();
        let made = entries::changed(&rustix::fs::fstat(&directory)?);
        let layer = Self {
            home,
            name,
            directory,
            upper: path.join(UPPER),
            work: path.join(WORK),
            path,
            lower,
            made,
            is_gone: false,
        };
        for part in [UPPER, WORK] {
            rustix::fs::mkdirat(&layer.directory, part, Mode::RWXU)?;
        }
        layer.look_like_lower()?;
        Ok(layer)
    }

    /// Where the changes are.
    pub fn upper(&self) -> &Path {
        &self.upper
    }

    /// A directory that overlayfs needs for itself.
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// The directory that it lies on, without symbolic links.
    pub fn lower(&self) -> &Path {
        self.lower.canonical().as_std_path()
    }

    /// All that differs, sorted by path. To be asked when the program has ended.
    pub fn changes(&self) -> io::Result<Vec<Change>> {
        let lower = entries::directory(self.lower.fd(), c".")?;
        LayerWalk::changes(self.open_upper()?.as_fd(), lower.as_fd(), self.made)
    }

    /// How the content of something differs.
    pub fn diff(&self, change: &Change, limits: DiffLimits) -> io::Result<Diff> {
        if change.unfit.is_some() || !change.content {
            return Ok(Diff::Nothing);
        }
        let before = match change.was {
            Some(PathKind::File | PathKind::Symlink) => before(&self.lower, change, limits.size)?,
            _ => DiffSide::Nothing,
        };
        let after = match change.kind {
            ChangeKind::Deleted => DiffSide::Nothing,
            _ => after(self.open_upper()?.as_fd(), change, limits.size)?,
        };
        Ok(diff::between(change, before, after, limits))
    }

    /// Does to the lower directory what the program did to the layer, as far as `allow` says yes. What
    /// somebody else has changed since the layer was made is left alone and told.
    ///
    /// Each file is complete before it gets its name. No link is followed, neither one in the layer nor
    /// one in the directory. Pipes, sockets and devices are not made.
    pub fn apply(self, allow: &dyn Fn(&Change) -> bool) -> io::Result<ApplyReport> {
        self.apply_some(false, allow)
    }

    /// As [`apply`](Self::apply), also over what somebody else has changed.
    pub fn apply_over_conflicts(self, allow: &dyn Fn(&Change) -> bool) -> io::Result<ApplyReport> {
        self.apply_some(true, allow)
    }

    fn apply_some(
        mut self,
        also_conflicts: bool,
        allow: &dyn Fn(&Change) -> bool,
    ) -> io::Result<ApplyReport> {
        let changes = self.changes()?;
        let leftovers = Leftovers::open(&self.lower, default_state());
        let apply = LayerApply {
            upper: &DiskRoot::open(utf8(&self.upper)?, false)?,
            lower: &self.lower,
            leftovers: &leftovers,
        };
        let mut applied = apply.all(changes, also_conflicts, allow);
        let is_only_copy = applied.failed.iter().any(|one| one.change.unfit.is_none());
        if is_only_copy || !applied.conflicts.is_empty() {
            applied.kept = self.keep();
        } else {
            self.remove()?;
        }
        Ok(applied)
    }

    /// Removes the layer. Nothing of it was ever in the lower directory.
    pub fn discard(mut self) -> io::Result<()> {
        self.remove()
    }

    /// Removes the layers below `state` that killed processes have left, and those that were kept for a
    /// week. How many there were.
    pub fn sweep(state: &Path) -> io::Result<usize> {
        let (home, _) = match home(state, false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            result => result?,
        };
        let mut count = 0;
        for name in entries::names(home.as_fd(), MOST_LAYERS)? {
            let Ok(directory) = entries::directory(home.as_fd(), &name) else {
                continue;
            };
            // Whoever holds the lock is alive.
            if rustix::fs::flock(&directory, FlockOperation::NonBlockingLockExclusive).is_err() {
                continue;
            }
            let is_kept = name.to_bytes().ends_with(KEPT.as_bytes());
            if is_kept && age(&entries::changed(&rustix::fs::fstat(&directory)?)) < KEPT_SECONDS {
                continue;
            }
            let removed = remove::all_within(directory.as_fd())
                .and_then(|()| rustix::fs::unlinkat(&home, name.as_c_str(), AtFlags::REMOVEDIR));
            count += usize::from(removed.is_ok());
        }
        Ok(count)
    }

    fn open_upper(&self) -> io::Result<OwnedFd> {
        Ok(entries::directory(self.directory.as_fd(), c"upper")?)
    }

    /// The program sees the layer's permissions where it looks at the directory itself.
    fn look_like_lower(&self) -> io::Result<()> {
        let upper = self.open_upper()?;
        let wanted = rustix::fs::fstat(self.lower.fd())?;
        let group = Some(Gid::from_raw(wanted.st_gid));
        // Only root may give directories away; somebody else keeps at least the group if they are in it.
        if rustix::fs::fchown(&upper, Some(Uid::from_raw(wanted.st_uid)), group).is_err() {
            let _ = rustix::fs::fchown(&upper, None, group);
        }
        let lower = entries::directory(self.lower.fd(), c".")?;
        if let Ok(attributes) = entries::attributes(lower.as_fd()) {
            entries::set_attributes(upper.as_fd(), &attributes)?;
        }
        rustix::fs::fchmod(&upper, Mode::from_raw_mode(entries::mode(&wanted)))?;
        rustix::fs::futimens(&upper, &entries::times(entries::modified(&wanted)))?;
        Ok(())
    }

    fn remove(&mut self) -> io::Result<()> {
        if self.is_gone {
            return Ok(());
        }
        remove::all_within(self.directory.as_fd())?;
        rustix::fs::unlinkat(&self.home, self.name.as_str(), AtFlags::REMOVEDIR)?;
        self.is_gone = true;
        Ok(())
    }

    /// Keeps what could not be applied, under a name that a sweep leaves alone for a while.
    fn keep(&mut self) -> Option<PathBuf> {
        // What overlayfs needed for itself is of no use to anybody.
        if let Ok(work) = entries::directory(self.directory.as_fd(), c"work") {
            let _ = remove::all_within(work.as_fd());
            let _ = rustix::fs::unlinkat(&self.directory, WORK, AtFlags::REMOVEDIR);
        }
        let name = format!("{}{KEPT}", self.name);
        rustix::fs::renameat(&self.home, self.name.as_str(), &self.home, name.as_str()).ok()?;
        self.is_gone = true;
        Some(self.path.with_file_name(name).join(UPPER))
    }
}

impl Drop for ChangeLayer {
    fn drop(&mut self) {
        // What cannot be removed now is removed by a sweep.
        let _ = self.remove();
    }
}

/// The directory of all layers, which must be open to nobody else, and its path without links.
fn home(state: &Path, make: bool) -> io::Result<(OwnedFd, Utf8PathBuf)> {
    if make {
        make_private_directories(state)?;
    }
    let state = DiskRoot::open(utf8(state)?, false)?;
    if make {
        match rustix::fs::mkdirat(state.fd(), HOME, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let home = entries::directory(state.fd(), c"layers")?;
    let stat = rustix::fs::fstat(&home)?;
    if stat.st_uid != rustix::process::geteuid().as_raw() || entries::mode(&stat) & 0o077 != 0 {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("`{}/{HOME}` is not the user's alone", state.canonical()),
        ));
    }
    Ok((home, state.canonical().join(HOME)))
}

/// Makes a directory with a new name and locks it before anybody can take it for abandoned.
fn make_locked(home: BorrowedFd<'_>) -> io::Result<(String, OwnedFd)> {
    for _ in 0..ATTEMPTS {
        let name = random_name();
        rustix::fs::mkdirat(home, name.as_str(), Mode::RWXU)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(directory) = rustix::fs::openat(home, name.as_str(), flags, Mode::empty()) else {
            continue;
        };
        // A sweep may have locked it, found nothing and removed it just before.
        if rustix::fs::flock(&directory, FlockOperation::NonBlockingLockExclusive).is_ok()
            && rustix::fs::fstat(&directory)?.st_nlink > 0
        {
            return Ok((name, directory));
        }
    }
    Err(Errno::WOULDBLOCK.into())
}

/// What the host has at the path of a change.
fn before(root: &DiskRoot, change: &Change, limit: u64) -> io::Result<DiffSide> {
    let parent = root.open_dir(&change.path.parent().unwrap_or_default())?;
    let name = c_name(change)?;
    match entries::look(parent.as_fd(), &name)?
        .as_ref()
        .map(entries::what)
    {
        Some(PathKind::Symlink) => link(parent.as_fd(), &name),
        Some(PathKind::File) => DiffSide::of_file(entries::file(parent.as_fd(), &name)?, limit),
        _ => Ok(DiffSide::Nothing),
    }
}

/// What the layer has there.
fn after(upper: BorrowedFd<'_>, change: &Change, limit: u64) -> io::Result<DiffSide> {
    let parent = entries::own_directories(upper, &change.path)?;
    let name = c_name(change)?;
    match change.what {
        PathKind::Symlink => link(parent.as_fd(), &name),
        PathKind::File => DiffSide::of_file(entries::own_file(parent.as_fd(), &name)?, limit),
        _ => Ok(DiffSide::Nothing),
    }
}

/// Where a link leads, as a line.
fn link(parent: BorrowedFd<'_>, name: &CStr) -> io::Result<DiffSide> {
    let mut target = entries::link_target(parent, name)?.into_bytes();
    target.push(b'\n');
    Ok(DiffSide::Bytes(target))
}

fn c_name(change: &Change) -> Result<CString, Errno> {
    CString::new(change.path.file_name().unwrap_or_default()).map_err(|_| Errno::INVAL)
}

fn age(since: &FileTime) -> i64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(i64::MAX));
    now.saturating_sub(since.0)
}

fn utf8(path: &Path) -> io::Result<&Utf8Path> {
    Utf8Path::from_path(path).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("`{}` is not UTF-8", path.display()),
        )
    })
}

const HOME: &str = "layers";
const UPPER: &str = "upper";
const WORK: &str = "work";

/// What the names of layers end with that were kept.
const KEPT: &str = ".kept";

/// A week.
const KEPT_SECONDS: i64 = 7 * 24 * 3600;

/// How often a layer that a sweep snatched away is made again.
const ATTEMPTS: usize = 8;

/// More than so many are left to the next sweep's call.
const MOST_LAYERS: usize = 100_000;
