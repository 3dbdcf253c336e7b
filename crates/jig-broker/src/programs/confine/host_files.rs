//! What stands on the host: the few questions that building a profile asks about it.
//!
//! Nothing here is run, and nothing but regular files is read, up to a bound: a pipe or a device under a
//! name that we look at must not hold us.

#![expect(
    clippy::disallowed_methods,
    reason = "programs and toolchains lie outside of any workspace, which is all that jig-files knows"
)]

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use camino::Utf8Path;
use jig_policy::{DiskLookup, Workspace};
use jig_proto::ProjectPath;
use rustix::fs::{self, FileType, Mode, OFlags};

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HostFileType {
    /// A regular file; whether anybody may run it.
    File { executable: bool },
    /// A directory.
    Directory,
    /// A symbolic link, with its target as it is stored.
    Link(PathBuf),
    /// A device, a pipe, a socket.
    Other,
}

/// What stands at `path`, with links followed.
pub(super) fn stands(path: &Path) -> Option<HostFileType> {
    fs::stat(path).ok().map(|stat| of(&stat))
}

/// What stands at `path` itself.
pub(super) fn stands_itself(path: &Path) -> Option<HostFileType> {
    #[cfg(test)]
    super::testing::count_step();
    let stat = fs::lstat(path).ok()?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Symlink => {
            let target = fs::readlink(path, Vec::new()).ok()?;
            Some(HostFileType::Link(
                OsString::from_vec(target.into_bytes()).into(),
            ))
        }
        _ => Some(of(&stat)),
    }
}

fn of(stat: &fs::Stat) -> HostFileType {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => HostFileType::File {
            executable: stat.st_mode & 0o111 != 0,
        },
        FileType::Directory => HostFileType::Directory,
        _ => HostFileType::Other,
    }
}

pub(super) fn is_directory(path: &Path) -> bool {
    stands(path) == Some(HostFileType::Directory)
}

pub(super) fn is_file(path: &Path) -> bool {
    matches!(stands(path), Some(HostFileType::File { .. }))
}

/// Whether something belongs to this user and their first group, so that a layer can take its place.
pub(super) fn is_ours(path: &Path) -> bool {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    fs::stat(path).is_ok_and(|stat| (stat.st_uid, stat.st_gid) == (user.as_raw(), group.as_raw()))
}

/// Whether both paths lead to one and the same file.
pub(super) fn is_same_file(one: &Path, other: &Path) -> bool {
    match (fs::stat(one), fs::stat(other)) {
        (Ok(one), Ok(other)) => (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino),
        _ => false,
    }
}

/// Whether something of that name stands there, if only a link to nothing.
pub(super) fn exists_itself(path: &Path) -> bool {
    fs::lstat(path).is_ok()
}

/// The path without links, if it leads anywhere.
pub(super) fn canonical(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok()
}

/// The path without links, or why there is none.
pub(super) fn canonical_or(path: &Path) -> std::io::Result<PathBuf> {
    std::fs::canonicalize(path)
}

/// A link that is not followed: a program may have left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlantedLink {
    /// The link.
    pub(super) link: PathBuf,
    /// Where the path leads by it.
    pub(super) to: PathBuf,
}

/// The path without links, if it leads anywhere. A link is an error that lies in a canonical folder of `changeable`: programs
/// may put links there.
pub(super) fn canonical_beyond(
    path: &Path,
    changeable: &[PathBuf],
) -> Result<Option<PathBuf>, PlantedLink> {
    let Some(text) = path.to_str() else {
        return Ok(canonical(path));
    };
    let machine = Workspace::new("/", DiskLookup::new("/"));
    let (found, links) = machine.resolve_by_links(text);
    let found = found.ok().filter(jig_policy::ResolvedPath::exists);
    let on_disk = |path: &ProjectPath| path.under(Utf8Path::new("/")).into_std_path_buf();
    let found = found.map(|found| on_disk(found.path()));
    let mut links = links.iter().map(on_disk);
    let is_planted = |link: &PathBuf| {
        let folder = link.parent().unwrap_or(Path::new("/"));
        changeable.iter().any(|place| folder.starts_with(place))
    };
    match links.find(is_planted) {
        Some(link) => Err(PlantedLink {
            link,
            to: found.unwrap_or_else(|| path.to_owned()),
        }),
        None => Ok(found),
    }
}

/// The absolute directories of a search path that exist, as they stand there and without links.
pub(super) fn search_path(path: &std::ffi::OsStr) -> Vec<(PathBuf, PathBuf)> {
    let entries = std::env::split_paths(path).filter(|entry| entry.is_absolute());
    entries
        .filter_map(|entry| canonical(&entry).map(|canonical| (entry, canonical)))
        .collect()
}

/// The links that `path` goes through at its end, each by the canonical path of its own place, and where
/// they lead to.
pub(super) fn hops(path: &Path) -> Option<(Vec<PathBuf>, PathBuf)> {
    let mut links = Vec::new();
    let mut here = path.to_owned();
    for _ in 0..MOST_LINKS {
        let place = canonical(here.parent()?)?.join(here.file_name()?);
        match stands_itself(&place)? {
            HostFileType::Link(target) => {
                here = place.parent()?.join(target);
                links.push(place);
            }
            _ => return Some((links, canonical(&place)?)),
        }
    }
    None
}

/// The first bytes of a regular file, at most `most` of them.
pub(super) fn head(path: &Path, most: usize) -> Option<Vec<u8>> {
    let path = canonical(path)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = fs::open(&path, flags, Mode::empty()).ok()?;
    let stat = fs::fstat(&file).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut content = Vec::new();
    let mut piece = [0; 4096];
    while content.len() < most {
        let room = piece.len().min(most - content.len());
        match rustix::io::read(&file, &mut piece[..room]) {
            Ok(0) => break,
            Ok(length) => content.extend_from_slice(&piece[..length]),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    Some(content)
}

/// A small text file; `None` if it is none.
pub(super) fn text(path: &Path) -> Option<String> {
    let content = head(path, LONGEST_TEXT + 1)?;
    if content.len() > LONGEST_TEXT {
        return None;
    }
    String::from_utf8(content).ok()
}

/// A file or directory, as everybody may use it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HostFileAccess {
    pub(super) path: PathBuf,
    pub(super) is_directory: bool,
    /// Whether everybody may read the file, or list and enter the directory.
    pub(super) open_to_all: bool,
}

/// The files and directories in a directory, with what everybody may do with them. Links are left out, and the kernel
/// is not asked about them: in `/etc` most names are links. `left` counts down every name; `None` if it is used up.
pub(super) fn permitted(directory: &Path, left: &mut usize) -> Option<Vec<HostFileAccess>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        *left = left.checked_sub(1)?;
        let is_wanted = |kind: std::fs::FileType| kind.is_file() || kind.is_dir();
        if !entry.file_type().is_ok_and(is_wanted) {
            continue;
        }
        // Asked by the directory's descriptor.
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        let needed = match metadata.is_dir() {
            true => 0o005,
            false => 0o004,
        };
        found.push(HostFileAccess {
            path: entry.path(),
            is_directory: metadata.is_dir(),
            open_to_all: metadata.mode() & needed == needed,
        });
    }
    Some(found)
}

/// The names in a directory, sorted; of a very large one only so many.
pub(super) fn names(path: &Path) -> Vec<OsString> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut names: Vec<OsString> = entries
        .map(|entry| entry.file_name())
        .take(MOST_NAMES)
        .collect();
    names.sort();
    names
}

/// As many links as Linux follows in one path.
const MOST_LINKS: usize = 40;

/// Far above any version file or git configuration. Nobody can make us hold more of one.
const LONGEST_TEXT: usize = 256 * 1024;

/// Only small directories are listed here.
const MOST_NAMES: usize = 10_000;
