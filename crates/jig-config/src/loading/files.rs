//! Reading a file of configuration: the one place in which this crate reads from the disk.
//!
//! A file is opened once, without waiting for a FIFO's writer, and everything is asked of that
//! descriptor, so that it can't be swapped between the check and the read.

mod without_links;

use camino::{Utf8Path, Utf8PathBuf};
use jig_proto::{Hint, hint};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::problem::Problem;
use crate::quoting::{clean, quote};

pub(crate) use without_links::{
    FolderEntry, FolderFileError, entries, entries_without_links, read_without_links,
};

/// How large a file may be. A configuration is a few kilobytes; without a limit a file of a
/// cloned repository could fill the memory of every program that only wanted to list tools.
pub(crate) const MAX_FILE_BYTES: usize = 4 * 1024 * 1024;

/// The text of the file at `path`, and where the file that was opened lies; `None` if there is none. `shown` is its
/// name in messages.
pub(crate) fn read(
    path: &Utf8Path,
    shown: &str,
) -> Result<Option<(String, Option<Utf8PathBuf>)>, Box<Problem>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = match rustix::fs::open(path.as_std_path(), flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(error) => return Err(cannot_open(shown, error)),
    };
    let text = text_of(&file, shown)?;
    Ok(Some((text, opened_path(&file))))
}

/// The text of an open file.
fn text_of(file: &OwnedFd, shown: &str) -> Result<String, Box<Problem>> {
    let bytes = read_regular(file, shown)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let before = &error.as_bytes()[..at];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let reason =
            format!("is not valid UTF-8: the first bad byte is at offset {at}, in line {line}");
        let help = hint!("save the file as UTF-8, or remove the byte in line {line}");
        unusable(shown, &reason, help)
    })
}

fn read_regular(file: &OwnedFd, shown: &str) -> Result<Vec<u8>, Box<Problem>> {
    let stat = rustix::fs::fstat(file).map_err(|error| cannot_open(shown, error))?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    if kind != FileType::RegularFile {
        return Err(not_regular(shown, kind));
    }
    let size = usize::try_from(stat.st_size).unwrap_or(usize::MAX);
    if size > MAX_FILE_BYTES {
        return Err(too_large(shown));
    }
    // The size may have grown since, so the read itself is bounded too.
    let mut bytes = Vec::with_capacity(size + 1);
    let mut chunk = [0; 16 * 1024];
    loop {
        match rustix::io::read(file.as_fd(), &mut chunk) {
            Ok(0) => return Ok(bytes),
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
            Err(Errno::INTR) => {}
            Err(error) => return Err(cannot_open(shown, error)),
        }
        if bytes.len() > MAX_FILE_BYTES {
            return Err(too_large(shown));
        }
    }
}

/// The names in a directory, at most [`MAX_NAMES`]; none if it can't be read.
pub(crate) fn names_in(path: &Utf8Path) -> Vec<String> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let Ok(directory) = rustix::fs::open(path.as_std_path(), flags, Mode::empty()) else {
        return Vec::new();
    };
    let Ok(entries) = rustix::fs::Dir::read_from(&directory) else {
        return Vec::new();
    };
    let names = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let name = entry.file_name().to_str().ok()?;
        (name != "." && name != "..").then(|| name.to_owned())
    });
    names.take(MAX_NAMES).collect()
}

/// Whether something of that name exists; a symbolic link counts, wherever it points.
pub(crate) fn exists(path: &Utf8Path) -> bool {
    let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
    rustix::fs::statat(rustix::fs::CWD, path.as_std_path(), flags).is_ok()
}

/// What a path leads to, through all links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConfigPathKind {
    /// A regular file.
    File,
    /// A directory.
    Folder,
    /// Nothing, something else, or what nobody may look at.
    Nothing,
}

/// Looks where the path leads.
pub(crate) fn found(path: &Utf8Path) -> ConfigPathKind {
    let found = rustix::fs::stat(path.as_std_path());
    match found.map(|found| FileType::from_raw_mode(found.st_mode)) {
        Ok(FileType::RegularFile) => ConfigPathKind::File,
        Ok(FileType::Directory) => ConfigPathKind::Folder,
        _ => ConfigPathKind::Nothing,
    }
}

/// Whether the path leads to a file that somebody may run.
pub(crate) fn is_program(path: &Utf8Path) -> bool {
    rustix::fs::stat(path.as_std_path()).is_ok_and(|found| {
        FileType::from_raw_mode(found.st_mode) == FileType::RegularFile
            && found.st_mode & 0o111 != 0
    })
}

/// The first bytes of a regular file.
pub(crate) fn head(path: &Utf8Path, most: usize) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = rustix::fs::open(path.as_std_path(), flags, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(&file).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut bytes = vec![0; most];
    let count = rustix::io::read(file.as_fd(), &mut bytes[..]).ok()?;
    bytes.truncate(count);
    Some(bytes)
}

/// Whether the path leads to a directory.
pub(crate) fn is_directory(path: &Utf8Path) -> bool {
    found(path) == ConfigPathKind::Folder
}

/// The path without symbolic links, as the kernel knows it. What is missing counts where it would come into being: below
/// the real place of the nearest folder that exists, also behind links that lead to nothing yet. `None` where the kernel
/// can't be asked.
pub(crate) fn real_path(path: &Utf8Path) -> Option<Utf8PathBuf> {
    real_path_by(path, MAX_LINKS)
}

fn real_path_by(path: &Utf8Path, links: usize) -> Option<Utf8PathBuf> {
    if let Some(real) = kernel_path(path) {
        return Some(real);
    }
    let above = real_path_by(path.parent()?, links)?;
    let Some(name) = path.file_name() else {
        // `..` of what is missing: a `mkdir` of what was written would make it so.
        return above.parent().map(Utf8Path::to_owned);
    };
    let place = above.join(name);
    let target = rustix::fs::readlink(place.as_std_path(), Vec::new());
    let target = target.ok().and_then(|target| target.into_string().ok());
    match target {
        Some(target) if links > 0 => real_path_by(&above.join(target), links - 1),
        _ => Some(place),
    }
}

#[cfg(target_os = "linux")]
fn kernel_path(path: &Utf8Path) -> Option<Utf8PathBuf> {
    use rustix::fs::{CWD, ResolveFlags};

    let flags = OFlags::PATH | OFlags::CLOEXEC;
    // Where no link is met, the path is what the kernel would tell. That is asked for in every call of a tool, and
    // telling takes longer than finding out that it is not needed.
    if is_plain(path)
        && rustix::fs::openat2(
            CWD,
            path.as_std_path(),
            flags,
            Mode::empty(),
            ResolveFlags::NO_SYMLINKS,
        )
        .is_ok()
    {
        return Some(path.to_owned());
    }
    opened_path(&rustix::fs::open(path.as_std_path(), flags, Mode::empty()).ok()?)
}

/// Where an open file lies.
#[cfg(target_os = "linux")]
fn opened_path(file: &OwnedFd) -> Option<Utf8PathBuf> {
    use rustix::fd::AsRawFd as _;

    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    let real = rustix::fs::readlink(link, Vec::new()).ok()?;
    real.into_string().ok().map(Utf8PathBuf::from)
}

/// Whether a path is written as the kernel writes it: from the root, without steps that lead nowhere or back.
#[cfg(target_os = "linux")]
fn is_plain(path: &Utf8Path) -> bool {
    let mut steps = path.as_str().split('/');
    path.as_str() == "/"
        || (steps.next() == Some("") && steps.all(|step| !matches!(step, "" | "." | "..")))
}

#[cfg(not(target_os = "linux"))]
fn kernel_path(_: &Utf8Path) -> Option<Utf8PathBuf> {
    None
}

#[cfg(not(target_os = "linux"))]
fn opened_path(_: &OwnedFd) -> Option<Utf8PathBuf> {
    None
}

/// As many links as Linux follows in one path.
const MAX_LINKS: usize = 40;

/// How many names of a directory are looked at; a directory with millions of files must not make a
/// hint expensive.
pub(crate) const MAX_NAMES: usize = 1000;

fn cannot_open(shown: &str, error: Errno) -> Box<Problem> {
    let help = match error {
        Errno::LOOP => hint!("remove one of the links, or put a regular file in its place"),
        Errno::ACCESS | Errno::PERM => {
            hint!("make it readable for you, `chmod u+r {shown}`, or remove it")
        }
        Errno::NAMETOOLONG => hint!("give the file a shorter path"),
        _ => hint!("make the file readable, or remove it"),
    };
    let reason = match error {
        Errno::LOOP => "its symbolic links go in a circle".to_owned(),
        Errno::ACCESS | Errno::PERM => "you may not read it".to_owned(),
        error => std::io::Error::from(error).to_string(),
    };
    unusable(shown, &format!("can't be opened: {reason}"), help)
}

fn not_regular(shown: &str, kind: FileType) -> Box<Problem> {
    let what = match kind {
        FileType::Directory => "a directory",
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "not a regular file",
    };
    let reason = format!("is {what}, and configuration is read from regular files only");
    unusable(
        shown,
        &reason,
        hint!("put a TOML file in its place, or remove it"),
    )
}

fn too_large(shown: &str) -> Box<Problem> {
    let limit = MAX_FILE_BYTES / (1024 * 1024);
    let reason = format!("is larger than {limit} MiB, the limit for a file of configuration");
    let help = hint!(
        "remove what does not belong there, or split it into several files given by `--config`"
    );
    unusable(shown, &reason, help)
}

fn unusable(shown: &str, reason: &str, help: Hint) -> Box<Problem> {
    Box::new(Problem::error(format!("{} {reason}", quote(shown)), help).in_file(clean(shown)))
}
