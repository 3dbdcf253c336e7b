//! Writing a file of configuration anew: the one place in which this crate writes to the disk.

use std::ffi::OsString;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Uid};
use rustix::io::Errno;

use crate::quoting::quote;

/// Why a file of configuration was not written. The old one stands as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// It is a symbolic link, which may lead out of the workspace.
    #[error("{} is a symbolic link, and is not written through: edit what it leads to", quote(.0.as_str()))]
    Link(Utf8PathBuf),
    /// It is neither missing nor a regular file.
    #[error("{} is not a regular file", quote(.0.as_str()))]
    NotAFile(Utf8PathBuf),
    /// Somebody else has written it.
    #[error("{} has changed since it was read: try again", quote(.0.as_str()))]
    Changed(Utf8PathBuf),
    /// The system refused.
    #[error("{} cannot be written", quote(.path.as_str()))]
    Io {
        /// The file.
        path: Utf8PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Puts `text` in place of a file whose text is `before`, or makes it where `before` is `None`.
pub(super) fn replace(path: &Utf8Path, before: Option<&str>, text: &str) -> Result<(), SaveError> {
    let failed = |error: Errno| SaveError::Io {
        path: path.to_owned(),
        source: error.into(),
    };
    let changed = || SaveError::Changed(path.to_owned());
    let folder = match path.parent().map(Utf8Path::as_str) {
        None | Some("") => ".",
        Some(parent) => parent,
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(folder, flags, Mode::empty()).map_err(failed)?;
    let name = path.file_name().ok_or_else(|| failed(Errno::INVAL))?;
    let stat = match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Some(stat),
        Err(Errno::NOENT) => None,
        Err(error) => return Err(failed(error)),
    };
    match stat.map(|stat| FileType::from_raw_mode(stat.st_mode)) {
        None | Some(FileType::RegularFile) => {}
        Some(FileType::Symlink) => return Err(SaveError::Link(path.to_owned())),
        Some(_) => return Err(SaveError::NotAFile(path.to_owned())),
    }
    let now = crate::loading::files::read(path, path.as_str()).map_err(|_| changed())?;
    if now.as_ref().map(|(text, _)| text.as_str()) != before {
        return Err(changed());
    }
    let temporary = temporary(name);
    let written = write_beside(&folder, &temporary, stat.as_ref(), text).and_then(|()| {
        let rename = || rustix::fs::renameat(&folder, &temporary, &folder, name);
        if before.is_some() {
            return rename();
        }
        // A file that came into being meanwhile is somebody else's.
        let flags = RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(&folder, &temporary, &folder, name, flags) {
            // Not every file system can do that.
            Err(Errno::INVAL | Errno::NOSYS) => rename(),
            done => done,
        }
    });
    written.map_err(|error| {
        let _ = rustix::fs::unlinkat(&folder, &temporary, AtFlags::empty());
        match error {
            Errno::EXIST if before.is_none() => changed(),
            error => failed(error),
        }
    })
}

/// Writes a new file with the mode and the owner of the one that it will replace.
fn write_beside(
    folder: &OwnedFd,
    name: &OsString,
    like: Option<&Stat>,
    text: &str,
) -> rustix::io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = like.map_or(NEW, |_| PRIVATE);
    let file = rustix::fs::openat(folder, name, flags, mode)?;
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        match rustix::io::write(&file, rest) {
            Ok(count) => rest = &rest[count..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    if let Some(like) = like {
        let own = rustix::fs::fstat(&file)?;
        if (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid) {
            // Before the mode: changing the owner takes bits away.
            let (user, group) = (Uid::from_raw(like.st_uid), Gid::from_raw(like.st_gid));
            rustix::fs::fchown(&file, Some(user), Some(group))?;
        }
        rustix::fs::fchmod(&file, Mode::from_raw_mode(like.st_mode & 0o7777))?;
    }
    rustix::fs::fsync(&file)
}

/// A name beside the file that nobody else uses.
fn temporary(name: &str) -> OsString {
    format!(".{name}.jig-{}", std::process::id()).into()
}

const NEW: Mode = Mode::from_raw_mode(0o666);
const PRIVATE: Mode = Mode::from_raw_mode(0o600);
