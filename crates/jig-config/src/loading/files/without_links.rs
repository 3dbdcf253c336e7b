//! Files and folders below the workspace, reached without symbolic links.
//!
//! Every step is taken from the handle of the one before and follows no link, so nothing can be swapped in between
//! that would lead elsewhere.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::{cannot_open, opened_path, text_of};
use crate::problem::Problem;

/// Why a file below the workspace was not read.
#[derive(Debug)]
pub(crate) enum FolderFileError {
    /// This is a link, relative to the workspace.
    Link(Utf8PathBuf),
    /// Anything else.
    Other(Box<Problem>),
}

/// What a name in a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FolderEntry {
    /// A regular file, or a link to one where links are followed.
    File,
    /// A folder.
    Folder,
    /// A link to a folder, where links are followed.
    LinkedFolder,
    /// A link, where none is followed.
    Link,
    /// Something else.
    Other,
}

/// The text of the file at `inside` below `root`, and where the file that was opened lies; `None` if there is none.
pub(crate) fn read_without_links(
    root: &Utf8Path,
    inside: &str,
    shown: &str,
) -> Result<Option<(String, Option<Utf8PathBuf>)>, FolderFileError> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = match open(root, Utf8Path::new(inside), flags) {
        Ok(file) => file,
        Err(FolderOpenError::Link(link)) => return Err(FolderFileError::Link(link)),
        Err(FolderOpenError::Errno(Errno::NOENT | Errno::NOTDIR)) => return Ok(None),
        Err(FolderOpenError::Errno(error)) => {
            return Err(FolderFileError::Other(cannot_open(shown, error)));
        }
    };
    let text = text_of(&file, shown).map_err(FolderFileError::Other)?;
    Ok(Some((text, opened_path(&file))))
}

/// The names in the folder at `inside` below `root`, sorted, with what they are; none if it can't be read. The error
/// is a link on the way, absolute.
pub(crate) fn entries_without_links(
    root: &Utf8Path,
    inside: &Utf8Path,
) -> Result<Vec<(String, FolderEntry)>, Utf8PathBuf> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    match open(root, inside, flags) {
        Ok(folder) => Ok(names(&folder, false)),
        Err(FolderOpenError::Link(link)) => Err(root.join(link)),
        Err(FolderOpenError::Errno(_)) => Ok(Vec::new()),
    }
}

/// The same in any folder, through links.
pub(crate) fn entries(folder: &Utf8Path) -> Result<Vec<(String, FolderEntry)>, Utf8PathBuf> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    match rustix::fs::open(folder.as_std_path(), flags, Mode::empty()) {
        Ok(folder) => Ok(names(&folder, true)),
        Err(_) => Ok(Vec::new()),
    }
}

enum FolderOpenError {
    Link(Utf8PathBuf),
    Errno(Errno),
}

/// Opens what lies at `inside` below `root`, which may itself be reached through links.
fn open(root: &Utf8Path, inside: &Utf8Path, flags: OFlags) -> Result<OwnedFd, FolderOpenError> {
    let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let root = rustix::fs::open(root.as_std_path(), folder, Mode::empty());
    let mut at = root.map_err(FolderOpenError::Errno)?;
    let mut passed = Utf8PathBuf::new();
    let mut steps = inside
        .components()
        .filter(|step| *step != Utf8Component::CurDir)
        .peekable();
    if steps.peek().is_none() {
        return rustix::fs::openat(at.as_fd(), ".", flags, Mode::empty())
            .map_err(FolderOpenError::Errno);
    }
    while let Some(step) = steps.next() {
        let Utf8Component::Normal(name) = step else {
            return Err(FolderOpenError::Errno(Errno::INVAL));
        };
        passed.push(name);
        let flags = match steps.peek() {
            Some(_) => folder,
            None => flags,
        };
        let opened = rustix::fs::openat(at.as_fd(), name, flags | OFlags::NOFOLLOW, Mode::empty());
        at = opened.map_err(|error| match is_link(at.as_fd(), name) {
            true => FolderOpenError::Link(passed.clone()),
            false => FolderOpenError::Errno(error),
        })?;
    }
    Ok(at)
}

/// Whether a name that could not be opened is a link: only what is said depends on it.
fn is_link(folder: BorrowedFd<'_>, name: &str) -> bool {
    kind(folder, name, AtFlags::SYMLINK_NOFOLLOW) == Some(FileType::Symlink)
}

fn kind(folder: BorrowedFd<'_>, name: &str, flags: AtFlags) -> Option<FileType> {
    let stat = rustix::fs::statat(folder, name, flags).ok()?;
    Some(FileType::from_raw_mode(stat.st_mode))
}

fn names(folder: &OwnedFd, follow: bool) -> Vec<(String, FolderEntry)> {
    let Ok(entries) = Dir::read_from(folder) else {
        return Vec::new();
    };
    let mut names = Vec::new();
    for entry in entries.take(MOST_NAMES) {
        let Ok(entry) = entry else { continue };
        let Ok(name) = entry.file_name().to_str() else {
            continue;
        };
        if matches!(name, "." | "..") {
            continue;
        }
        let found = match entry.file_type() {
            FileType::Unknown => kind(folder.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW),
            known => Some(known),
        };
        let entry = match found {
            Some(FileType::RegularFile) => FolderEntry::File,
            Some(FileType::Directory) => FolderEntry::Folder,
            Some(FileType::Symlink) if !follow => FolderEntry::Link,
            Some(FileType::Symlink) => match kind(folder.as_fd(), name, AtFlags::empty()) {
                Some(FileType::RegularFile) => FolderEntry::File,
                Some(FileType::Directory) => FolderEntry::LinkedFolder,
                _ => FolderEntry::Other,
            },
            _ => FolderEntry::Other,
        };
        names.push((name.to_owned(), entry));
    }
    names.sort();
    names
}

/// How many names of a folder are read at most; the walk that asks gives up long before.
const MOST_NAMES: usize = 100_000;
