//! The directory of the cache, and the file of its key.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{self, AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::{CacheDirs, CacheKey};

/// The directory, checked and held open: it is not found by its name again.
pub(super) struct CacheFolder {
    code: OwnedFd,
    pub(super) key: CacheKey,
}

impl fmt::Debug for CacheFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Folder")
    }
}

impl CacheFolder {
    /// Opens the directory and the key, and makes what is missing.
    pub(super) fn open(dirs: &CacheDirs) -> Result<Self, String> {
        let told = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
        let code = own_directory(&dirs.code, ANYTHING).map_err(|error| told(&dirs.code, error))?;
        let key = own_key(&dirs.key).map_err(|error| told(&dirs.key, error))?;
        Ok(Self { code, key })
    }

    /// A whole file, if it is ours alone and no larger than `most`.
    pub(super) fn read(&self, name: &str, most: u64) -> Option<Vec<u8>> {
        let (file, stat) = self.entry(name, most)?;
        let bytes = read_whole(&file, size(&stat)).ok()?;
        // What is used stays.
        let now = fs::Timestamps {
            last_access: NOW,
            last_modification: NOW,
        };
        let _ = fs::futimens(&file, &now);
        Some(bytes)
    }

    pub(super) fn has(&self, name: &str, most: u64) -> bool {
        self.entry(name, most).is_some()
    }

    fn entry(&self, name: &str, most: u64) -> Option<(OwnedFd, Stat)> {
        // A FIFO must not keep us waiting, and a link leads to what the directory does not protect.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = fs::openat(&self.code, name, flags, Mode::empty()).ok()?;
        let stat = fs::fstat(&file).ok()?;
        (is_own_file(&stat) && size(&stat) <= most).then_some((file, stat))
    }

    /// Puts a file in its place at once: nobody sees a half of it.
    pub(super) fn write(&self, name: &str, parts: &[&[u8]]) -> io::Result<()> {
        let temporary = self.fresh_file(parts)?;
        fs::renameat(&self.code, &temporary, &self.code, name).map_err(|error| {
            let _ = fs::unlinkat(&self.code, &temporary, AtFlags::empty());
            error.into()
        })
    }

    fn fresh_file(&self, parts: &[&[u8]]) -> io::Result<String> {
        let name = fresh_name()?;
        write_new(&self.code, &name, parts)?;
        Ok(name)
    }

    /// Removes what is too much, the oldest first, and what writers left that died.
    pub(super) fn prune(&self, most: u64) {
        let Ok(entries) = Dir::read_from(&self.code) else {
            return;
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.unwrap_or(Duration::ZERO).as_secs();
        let mut files = Vec::new();
        for entry in entries.flatten().take(MAX_ENTRIES) {
            let name = entry.file_name();
            let Ok(stat) = fs::statat(&self.code, name, AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
                continue;
            }
            let changed = u64::try_from(stat.st_mtime).unwrap_or(0);
            if !is_our_name(name.to_bytes()) {
                continue;
            }
            let is_left = name.to_bytes().starts_with(TEMPORARY.as_bytes())
                && changed.saturating_add(ABANDONED.as_secs()) < now;
            if is_left {
                let _ = fs::unlinkat(&self.code, name, AtFlags::empty());
            } else {
                files.push((changed, size(&stat), name.to_owned()));
            }
        }
        files.sort();
        let mut total: u64 = files.iter().map(|(_, size, _)| *size).sum();
        for (_, size, name) in files {
            if total <= most {
                break;
            }
            let _ = fs::unlinkat(&self.code, &*name, AtFlags::empty());
            total = total.saturating_sub(size);
        }
    }
}

/// Whether anything was ever kept.
pub(super) fn is_there(dirs: &CacheDirs) -> bool {
    fs::stat(&dirs.code).is_ok() && fs::stat(&dirs.key).is_ok()
}

/// A directory that belongs to the user, and of which others have nothing of `others`. Those
/// above it are made if they are missing; whatever they are, a link among them is the user's affair.
fn own_directory(path: &Path, others: Mode) -> io::Result<OwnedFd> {
    let mut missing = Vec::new();
    for ancestor in path.ancestors() {
        match fs::mkdir(ancestor, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => break,
            Err(Errno::NOENT) if !ancestor.as_os_str().is_empty() => missing.push(ancestor),
            Err(error) => return Err(error.into()),
        }
    }
    for ancestor in missing.into_iter().rev() {
        match fs::mkdir(ancestor, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = fs::open(path, flags, Mode::empty())?;
    let stat = fs::fstat(&directory)?;
    let mode = Mode::from_raw_mode(stat.st_mode);
    match is_ours(&stat) && !mode.intersects(others) {
        true => Ok(directory),
        false => Err(io::Error::other("the directory is not the user's own")),
    }
}

/// The key, which is made if there is none.
fn own_key(path: &Path) -> io::Result<CacheKey> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::other("the key has no name"));
    };
    let folder = own_directory(parent, WRITING)?;
    let name = Path::new(name);
    if let Some(key) = read_key(&folder, name)? {
        return Ok(key);
    }
    let mut fresh = [0; 32];
    fill_random(&mut fresh)?;
    let temporary = fresh_name()?;
    let file = write_new(&folder, &temporary, &[&fresh])?;
    // A key that a crash has left empty would not be replaced.
    fs::fsync(&file)?;
    // Whoever comes second takes the key of the first, or they would not read each other's entries.
    if put_first(&folder, &temporary, name).is_err() {
        let _ = fs::unlinkat(&folder, &temporary, AtFlags::empty());
    }
    read_key(&folder, name)?.ok_or_else(|| io::Error::other("the key cannot be made"))
}

/// Gives a file its name, unless another has it.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn put_first(folder: &OwnedFd, temporary: &str, name: &Path) -> rustix::io::Result<()> {
    match fs::renameat_with(folder, temporary, folder, name, fs::RenameFlags::NOREPLACE) {
        // A file system that cannot do that.
        Err(Errno::INVAL | Errno::NOSYS) => fs::renameat(folder, temporary, folder, name),
        placed => placed,
    }
}

/// Gives a file its name. The worst that can come of it that another had it is to compile once more.
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn put_first(folder: &OwnedFd, temporary: &str, name: &Path) -> rustix::io::Result<()> {
    fs::renameat(folder, temporary, folder, name)
}

fn read_key(folder: &OwnedFd, name: &Path) -> io::Result<Option<CacheKey>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match fs::openat(folder, name, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let stat = fs::fstat(&file)?;
    let doubt = || io::Error::other("the key is not the user's own");
    if !is_own_file(&stat) {
        return Err(doubt());
    }
    let bytes = read_whole(&file, 32)?;
    let key = bytes.try_into().map_err(|_| doubt())?;
    Ok(Some(CacheKey(key)))
}

fn write_new(folder: &OwnedFd, name: &str, parts: &[&[u8]]) -> io::Result<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?;
    let written = parts.iter().try_for_each(|part| write_all(&file, part));
    if written.is_err() {
        let _ = fs::unlinkat(folder, name, AtFlags::empty());
    }
    written.map(|()| file)
}

fn write_all(file: &OwnedFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(file, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Up to `size` bytes and one more, by which a file that grows meanwhile is told.
fn read_whole(file: &OwnedFd, size: u64) -> io::Result<Vec<u8>> {
    let size = usize::try_from(size).map_err(io::Error::other)?;
    let mut bytes = vec![0; size + 1];
    let mut have = 0;
    while have < bytes.len() {
        match rustix::io::read(file, &mut bytes[have..]) {
            Ok(0) => break,
            Ok(count) => have += count,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    bytes.truncate(have);
    Ok(bytes)
}

/// Whether a file of this name is one of ours: an entry, or one that is being written.
fn is_our_name(name: &[u8]) -> bool {
    let is_entry = name.len() == 2 * blake3::OUT_LEN && name.iter().all(u8::is_ascii_hexdigit);
    is_entry || name.starts_with(TEMPORARY.as_bytes())
}

fn fresh_name() -> io::Result<String> {
    let mut random = [0; 16];
    fill_random(&mut random)?;
    let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{TEMPORARY}{digits}"))
}

fn fill_random(mut bytes: &mut [u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::rand::getrandom(&mut *bytes, rustix::rand::GetRandomFlags::empty()) {
            Ok(count) => bytes = &mut bytes[count..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// A plain file that only the user can read or change, under no other name.
fn is_own_file(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
        && is_ours(stat)
        && !Mode::from_raw_mode(stat.st_mode).intersects(ANYTHING)
        // None, if somebody has put another one in its place since it was opened.
        && i128::from(stat.st_nlink) <= 1
}

fn is_ours(stat: &Stat) -> bool {
    stat.st_uid == rustix::process::geteuid().as_raw()
}

fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

/// What others may have of a private file or directory: nothing of this.
const ANYTHING: Mode = Mode::RWXG.union(Mode::RWXO);

/// What others may have of the directory of the key, which may hold other things that they see: nothing of
/// this.
const WRITING: Mode = Mode::WGRP.union(Mode::WOTH);

/// With what the names of files begin that are being written.
const TEMPORARY: &str = ".new-";

/// After what time such a file is nobody's any more.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// How many files are looked at, at most: a directory that somebody filled must not keep us busy.
const MAX_ENTRIES: usize = 10_000;

const NOW: fs::Timespec = fs::Timespec {
    tv_sec: 0,
    tv_nsec: fs::UTIME_NOW,
};
