//! Temporary names, and how those that a killed process left behind are found again.
//!
//! A file is replaced by giving the new content a temporary name beside it and renaming that. On
//! Linux the temporary name exists only between two system calls; elsewhere while the content is
//! written. A process that is killed just then leaves it behind.
//!
//! Looking through the whole tree at every start would cost too much. Instead a process notes, once
//! per directory and before the first temporary name there, the directory's path in a [`Journal`] in
//! a private directory outside the workspace, named by a random number that is also part of its
//! temporary names. Whoever opens the same root next finds the journals of dead writers, removes exactly the names of those writers from
//! exactly those directories, and drops the journals. A live writer is never disturbed, numbers of
//! processes that are used again do not matter, and a journal that somebody forged can only name
//! files that look like ours.
//!
//! Without a private directory writes work all the same. Temporary names are left out of listings
//! and searches, and one that a listing meets an hour after its last change is removed.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use camino::Utf8PathBuf;
use jig_proto::ProjectPath;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::root::{DIRECTORY, DiskRoot, ObjectIdentity, open_entries};
use crate::journal::{Journal, JournalFolder, NAME_LENGTH};

/// The temporary names of one process on one root.
#[derive(Debug)]
pub(crate) struct Leftovers {
    writer: String,
    count: AtomicU64,
    journal: Mutex<LeftoverJournal>,
}

#[derive(Debug)]
struct LeftoverJournal {
    home: JournalHome,
    /// Made when the first directory is noted.
    file: Option<Journal>,
    noted: HashSet<ProjectPath>,
}

/// Where the journals of a root are.
#[derive(Debug)]
struct JournalHome {
    state: Option<Utf8PathBuf>,
    key: String,
}

impl Leftovers {
    /// Removes what dead writers left in `root`, as far as journals in `state` know.
    pub(crate) fn open(root: &DiskRoot, state: Option<Utf8PathBuf>) -> Self {
        let home = JournalHome::of(root, state);
        if let Ok(folder) = home.open(false) {
            // A sweep that fails is tried again by the next start.
            let _ = sweep(root, &folder);
            home.remove_if_empty();
        }
        Self {
            writer: random_name(),
            count: AtomicU64::new(0),
            journal: Mutex::new(LeftoverJournal {
                home,
                file: None,
                noted: HashSet::new(),
            }),
        }
    }

    /// A temporary name in `directory`, which is noted first.
    pub(crate) fn name_in(&self, directory: &ProjectPath) -> String {
        let mut journal = match self.journal.lock() {
            Ok(journal) => journal,
            Err(poisoned) => poisoned.into_inner(),
        };
        if !journal.noted.contains(directory) {
            // Without a note the name would only be found by a listing: no reason not to write.
            let _ = journal.note(&self.writer, directory);
            journal.noted.insert(directory.clone());
        }
        drop(journal);
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        format!("{PREFIX}{}-{count:x}", self.writer)
    }

    /// Whether a listing leaves a name out, and removes it if it is old.
    pub(super) fn conceals(&self, directory: BorrowedFd<'_>, name: &[u8]) -> bool {
        if !is_temporary(name) {
            return false;
        }
        if let Ok(stat) = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            let now = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| i128::from(since.as_secs()));
            let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
            if regular && now - i128::from(stat.st_mtime) > ABANDONED_SECONDS {
                let _ = rustix::fs::unlinkat(directory, name, AtFlags::empty());
            }
        }
        true
    }
}

impl Drop for Leftovers {
    fn drop(&mut self) {
        let journal = match self.journal.get_mut() {
            Ok(journal) => journal,
            Err(poisoned) => poisoned.into_inner(),
        };
        if let Some(file) = journal.file.take() {
            file.remove();
            journal.home.remove_if_empty();
        }
    }
}

impl LeftoverJournal {
    fn note(&mut self, writer: &str, path: &ProjectPath) -> io::Result<()> {
        let record = escape(path);
        if let Some(file) = &mut self.file {
            return file.append(record.as_bytes());
        }
        for _ in 0..ATTEMPTS {
            match self.home.open(true)?.create(writer, [&record]) {
                // Another process removed the directory as empty just before.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                made => {
                    self.file = Some(made?);
                    return Ok(());
                }
            }
        }
        Err(io::ErrorKind::WouldBlock.into())
    }
}

impl JournalHome {
    fn of(root: &DiskRoot, state: Option<Utf8PathBuf>) -> Self {
        let id = rustix::fs::fstat(root.fd()).map(|stat| ObjectIdentity::of(&stat));
        let key = blake3::hash(format!("{id:?} {}", root.canonical()).as_bytes());
        Self {
            state,
            key: key.to_hex()[..32].to_owned(),
        }
    }

    /// Opens the directory. The one above must belong to us alone: in a shared temporary directory
    /// somebody else could have made it first.
    fn open(&self, make: bool) -> io::Result<JournalFolder> {
        let path = self.state.as_ref().ok_or(Errno::NOENT)?;
        if make {
            made(rustix::fs::mkdir(path.as_str(), Mode::RWXU))?;
        }
        let flags = DIRECTORY | OFlags::NOFOLLOW;
        let state = rustix::fs::open(path.as_str(), flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&state)?;
        let others = Mode::RWXG | Mode::RWXO;
        if stat.st_uid != rustix::process::geteuid().as_raw()
            || Mode::from_raw_mode(stat.st_mode).intersects(others)
        {
            return Err(Errno::PERM.into());
        }
        if make {
            made(rustix::fs::mkdirat(&state, self.key.as_str(), Mode::RWXU))?;
        }
        let folder = rustix::fs::openat(&state, self.key.as_str(), flags, Mode::empty())?;
        JournalFolder::of(folder)
    }

    fn remove_if_empty(&self) {
        if let Some(state) = &self.state {
            let _ = rustix::fs::rmdir(state.join(&self.key).as_str());
        }
    }
}

fn made(result: Result<(), Errno>) -> Result<(), Errno> {
    match result {
        Err(Errno::EXIST) => Ok(()),
        result => result,
    }
}

/// Whether a name is one of ours, of this process or of another.
pub(super) fn is_temporary(name: &[u8]) -> bool {
    let hex = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_hexdigit);
    let Some(rest) = name.strip_prefix(PREFIX.as_bytes()) else {
        return false;
    };
    rest.len() > WRITER_LENGTH + 1
        && hex(&rest[..WRITER_LENGTH])
        && rest[WRITER_LENGTH] == b'-'
        && hex(&rest[WRITER_LENGTH + 1..])
}

/// Writes all of `bytes` to an open file.
///
/// # Errors
///
/// Those of the disk. A part may have been written then.
pub fn write_all(fd: BorrowedFd<'_>, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match rustix::io::write(fd, bytes) {
            Ok(0) => return Err(Errno::NOSPC),
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Where journals live unless the embedder says otherwise.
pub(crate) fn default_state() -> Option<Utf8PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let directory = Utf8PathBuf::from_path_buf(std::env::temp_dir()).ok()?;
    Some(directory.join(format!("jig-files-{user}")))
}

/// Removes what the writers of abandoned journals left, then the journals.
fn sweep(root: &DiskRoot, folder: &JournalFolder) -> io::Result<()> {
    for journal in folder.journals()? {
        let Ok(content) = journal.content() else {
            continue;
        };
        if !journal.lock() || journal.is_writer_alive(&content) {
            continue;
        }
        for path in content.records().filter_map(unescape) {
            sweep_directory(root, &path, journal.name());
        }
        journal.remove();
    }
    Ok(())
}

/// A directory as a record. A name may hold a line feed, and the root has none.
fn escape(path: &ProjectPath) -> String {
    format!(
        "./{}",
        path.as_str().replace('\\', "\\\\").replace('\n', "\\n")
    )
}

fn unescape(record: &[u8]) -> Option<ProjectPath> {
    let record = std::str::from_utf8(record).ok()?.strip_prefix("./")?;
    let mut path = String::with_capacity(record.len());
    let mut rest = record.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' if rest.next()? == 'n' => path.push('\n'),
            '\\' => path.push('\\'),
            c => path.push(c),
        }
    }
    if path.is_empty() {
        return Some(ProjectPath::root());
    }
    ProjectPath::normalize(&path).ok()
}

fn sweep_directory(root: &DiskRoot, path: &ProjectPath, writer: &str) {
    let Ok(directory) = root.open_dir(path) else {
        return;
    };
    let Ok(entries) = open_entries(directory.as_fd()) else {
        return;
    };
    let prefix = format!("{PREFIX}{writer}-");
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_bytes().starts_with(prefix.as_bytes()) && is_temporary(name.to_bytes()) {
            let _ = rustix::fs::unlinkat(&directory, name, AtFlags::empty());
        }
    }
}

/// A name that nobody else has: the standard library's hash keys come from the system's randomness.
pub(crate) fn random_name() -> String {
    let random = RandomState::new().hash_one((std::process::id(), SystemTime::now()));
    format!("{random:016x}")
}

const PREFIX: &str = ".jig-tmp-";

/// Hexadecimal digits of a writer's random number, which is the name of its journal.
const WRITER_LENGTH: usize = NAME_LENGTH;

/// How often the directory is made again that a sweep snatched away.
const ATTEMPTS: usize = 8;

/// A temporary name lives for the time of one write; after an hour its writer is gone or hopeless.
const ABANDONED_SECONDS: i128 = 3600;

#[cfg(test)]
mod tests;
