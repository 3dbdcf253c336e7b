//! Moves something out of a workspace, for good: by a rename where that is possible, else by a copy and a
//! removal if it is small, else to another name beside its own, under which it means nothing. Whoever made it
//! decides how large and how deep it is, so nothing here may depend on that.
//!
//! Other tools may be at work in the same workspace. So every step goes through open directories and
//! follows no link: what is moved is what stands at the name, never what it leads to.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use jig_files::{make_private_directories, write_all};
use rustix::fs::{self, AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::{Errno, Result};

#[cfg(test)]
mod tests;

/// Moves `path`, relative to `root`, into a new place in `state`, and gives that.
pub(super) fn move_away(root: &Path, path: &Path, state: &Path) -> Result<PathBuf> {
    let (above, name) = parent(root, path)?;
    let mut place = state.join("removed").join(stamp());
    let made = make_private_directories(&place);
    made.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    place.push(flat(path));
    let target = fs::open(place.parent().unwrap_or(state), DIRECTORY, Mode::empty())?;
    let new = place.file_name().unwrap_or(&name).to_owned();
    let rename = || fs::renameat_with(&above, &name, &target, &new, fs::RenameFlags::NOREPLACE);
    let mut renamed = rename();
    let mut _opened = None;
    if matches!(renamed, Err(Errno::ACCESS | Errno::PERM)) {
        _opened = Some(OpenedForMove::open(&above, &name));
        renamed = rename();
    }
    match renamed {
        Err(Errno::XDEV) => {
            _opened.get_or_insert_with(|| OpenedForMove::open(&above, &name));
            let kept = across(above.as_fd(), &name, target.as_fd(), &new)?;
            Ok(kept.map_or(place, |kept| root.join(path).with_file_name(kept)))
        }
        renamed => renamed.map(|()| place),
    }
}

/// A directory that its owner has closed to changes, and that is open while something is moved out of it.
struct OpenedForMove<'a> {
    directory: &'a OwnedFd,
    mode: Option<Mode>,
}

impl<'a> OpenedForMove<'a> {
    /// Opens `directory`, and `name` in it if that is a directory: what it lies in can only be changed then.
    fn open(directory: &'a OwnedFd, name: &OsStr) -> Self {
        let mut opened = Self {
            directory,
            mode: None,
        };
        if let Ok(stat) = fs::fstat(directory) {
            let mode = Mode::from_raw_mode(stat.st_mode);
            if !mode.contains(Mode::RWXU) && fs::fchmod(directory, mode | Mode::RWXU).is_ok() {
                opened.mode = Some(mode);
            }
        }
        let stat = fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
        if stat.is_ok_and(|stat| !Mode::from_raw_mode(stat.st_mode).contains(Mode::RWXU)) {
            // If it is none, or not ours, there is nothing to open.
            let _ = open_name(directory.as_fd(), name);
        }
        opened
    }
}

impl Drop for OpenedForMove<'_> {
    fn drop(&mut self) {
        if let Some(mode) = self.mode {
            let _ = fs::fchmod(self.directory, mode);
        }
    }
}

/// Moves something to another file system, or gives the name under which it was kept beside its own.
fn across(
    above: BorrowedFd<'_>,
    name: &OsStr,
    target: BorrowedFd<'_>,
    new: &OsStr,
) -> Result<Option<OsString>> {
    let copied = copy(above, name, target, new, &mut CopyBudget::new(), 0);
    if copied.is_ok() && remove(above, name, 0).is_ok() {
        return Ok(None);
    }
    if copied.is_err() {
        // It is ours, and as small as the budget.
        let _ = remove(target, new, 0);
    }
    let plain = name.to_string_lossy();
    let kept = OsString::from(format!(
        "removed-by-jig-{}-{}",
        stamp(),
        plain
            .trim_start_matches('.')
            .chars()
            .take(50)
            .collect::<String>()
    ));
    fs::renameat_with(above, name, above, &kept, fs::RenameFlags::NOREPLACE)?;
    Ok(Some(kept))
}

/// How much may be copied.
struct CopyBudget {
    bytes: u64,
    entries: usize,
}

impl CopyBudget {
    fn new() -> Self {
        Self {
            bytes: 4 << 20,
            entries: 1000,
        }
    }

    fn take(&mut self, stat: &fs::Stat) -> Result<()> {
        let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
        self.bytes = self.bytes.checked_sub(size).ok_or(Errno::FBIG)?;
        self.entries = self.entries.checked_sub(1).ok_or(Errno::FBIG)?;
        Ok(())
    }
}

/// Opens the directory above a path, without following a link.
pub(super) fn parent(root: &Path, path: &Path) -> Result<(OwnedFd, OsString)> {
    let mut directory = fs::open(root, DIRECTORY, Mode::empty())?;
    let mut names: Vec<&OsStr> = path.iter().collect();
    let name = names.pop().ok_or(Errno::INVAL)?.to_owned();
    for name in names {
        directory = fs::openat(&directory, name, DIRECTORY, Mode::empty())?;
    }
    Ok((directory, name))
}

/// Lets the owner of a directory look into it again.
pub(super) fn open_up(root: &Path, path: &Path) -> Result<()> {
    let (above, name) = parent(root, path)?;
    open_name(above.as_fd(), &name)
}

fn open_name(above: BorrowedFd<'_>, name: &OsStr) -> Result<()> {
    // Without following a link: the mode of what it leads to is not ours to change.
    let stat = fs::statat(above, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Err(Errno::NOTDIR);
    }
    let mode = Mode::from_raw_mode(stat.st_mode) | Mode::RWXU;
    fs::chmodat(above, name, mode, AtFlags::SYMLINK_NOFOLLOW).or_else(|error| match error {
        // Older kernels cannot change the mode of a name only: they take it by an open handle.
        Errno::OPNOTSUPP | Errno::NOSYS => {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let handle = fs::openat(above, name, flags, Mode::empty())?;
            let number = std::os::fd::AsRawFd::as_raw_fd(&handle);
            fs::chmod(format!("/proc/self/fd/{number}"), mode)
        }
        error => Err(error),
    })
}

/// The time of the removal, as a name that sorts.
fn stamp() -> String {
    let now = jiff::Timestamp::now();
    now.strftime("%Y-%m-%dT%H-%M-%S.%9fZ").to_string()
}

/// A path as one name, still readable.
fn flat(path: &Path) -> OsString {
    let names: Vec<&OsStr> = path.iter().collect();
    let flat = names.join(OsStr::new("%"));
    match flat.len() < 200 {
        true => flat,
        false => path.file_name().unwrap_or(&flat).to_owned(),
    }
}

fn copy(
    from: BorrowedFd<'_>,
    name: &OsStr,
    to: BorrowedFd<'_>,
    new: &OsStr,
    budget: &mut CopyBudget,
    depth: usize,
) -> Result<()> {
    if depth > DEEPEST {
        return Err(Errno::LOOP);
    }
    let stat = fs::statat(from, name, AtFlags::SYMLINK_NOFOLLOW)?;
    budget.take(&stat)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let source = fs::openat(from, name, flags, Mode::empty())?;
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let target = fs::openat(to, new, flags, Mode::RUSR | Mode::WUSR)?;
            // Not on the stack, of which every level of directories takes its part.
            let mut piece = vec![0; 65536];
            // No more than it had when it was looked at: somebody may still be writing to it.
            let mut left = u64::try_from(stat.st_size).unwrap_or_default();
            loop {
                match rustix::io::read(&source, &mut piece[..]) {
                    Ok(0) => return Ok(()),
                    Ok(length) if length as u64 > left => return Err(Errno::FBIG),
                    Ok(length) => {
                        left -= length as u64;
                        write_all(target.as_fd(), &piece[..length])?;
                    }
                    Err(Errno::INTR) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        FileType::Symlink => {
            let target = fs::readlinkat(from, name, Vec::new())?;
            fs::symlinkat(target, to, new)
        }
        FileType::Directory => {
            let source = fs::openat(from, name, DIRECTORY, Mode::empty())?;
            fs::mkdirat(to, new, Mode::RWXU)?;
            let target = fs::openat(to, new, DIRECTORY, Mode::empty())?;
            for name in names(&source)? {
                copy(
                    source.as_fd(),
                    &name,
                    target.as_fd(),
                    &name,
                    budget,
                    depth + 1,
                )?;
            }
            Ok(())
        }
        // A pipe or socket holds nothing that could be lost.
        _ => Ok(()),
    }
}

fn remove(above: BorrowedFd<'_>, name: &OsStr, depth: usize) -> Result<()> {
    let stat = fs::statat(above, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return fs::unlinkat(above, name, AtFlags::empty());
    }
    if depth > DEEPEST {
        return Err(Errno::LOOP);
    }
    let directory = fs::openat(above, name, DIRECTORY, Mode::empty())?;
    for name in names(&directory)? {
        remove(directory.as_fd(), &name, depth + 1)?;
    }
    fs::unlinkat(above, name, AtFlags::REMOVEDIR)
}

fn names(directory: &OwnedFd) -> Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            names.push(OsStr::from_bytes(name).to_owned());
        }
    }
    Ok(names)
}

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// A tool can nest directories as deep as it likes; one descriptor is open for each level.
const DEEPEST: usize = 32;
