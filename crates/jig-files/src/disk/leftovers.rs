//! Temporary names, and how those that a killed process left behind are found again.
//!
//! A file is replaced by giving the new content a temporary name beside it and renaming that. On
//! Linux the temporary name exists only between two system calls; elsewhere while the content is
//! written. A process that is killed just then leaves it behind.
//!
//! Looking through the whole tree at every start would cost too much. Instead a process notes, once
//! per directory and before the first temporary name there, the directory's path in a journal: a
//! file of its own in a private directory outside the workspace, named by a random number that is
//! also part of its temporary names, and locked while the process lives. Whoever opens the same root
//! next finds the journals that nobody holds, removes exactly the names of those writers from
//! exactly those directories, and drops the journals. A live writer is never disturbed, numbers of
//! processes that are used again do not matter, and a journal that somebody forged can only name
//! files that look like ours.
//!
//! Without a private directory writes work all the same. Temporary names are left out of listings
//! and searches, and one that a listing meets an hour after its last change is removed.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use camino::Utf8PathBuf;
use jig_proto::ProjectPath;
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::root::{DIRECTORY, DiskRoot, ObjectIdentity, open_entries};

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
    /// The directory of the journals of this root, and ours, once something was noted.
    open: Option<(OwnedFd, OwnedFd)>,
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
        if let Ok(directory) = home.open(false) {
            // A sweep that fails is tried again by the next start.
            let _ = sweep(root, directory.as_fd());
            home.remove_if_empty();
        }
        Self {
            writer: random_name(),
            count: AtomicU64::new(0),
            journal: Mutex::new(LeftoverJournal {
                home,
                open: None,
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
        if let Some((directory, _)) = &journal.open {
            let _ = rustix::fs::unlinkat(directory, self.writer.as_str(), AtFlags::empty());
            journal.home.remove_if_empty();
        }
    }
}

impl LeftoverJournal {
    fn note(&mut self, writer: &str, path: &ProjectPath) -> Result<(), Errno> {
        let (_, file) = match self.open.take() {
            Some(open) => self.open.insert(open),
            None => {
                let open = self.create(writer)?;
                self.open.insert(open)
            }
        };
        // A name may hold a line feed.
        let line = path.as_str().replace('\\', "\\\\").replace('\n', "\\n") + "\n";
        write_all(file.as_fd(), line.as_bytes())
    }

    /// Makes the journal and locks it before anybody can take it for abandoned.
    fn create(&self, writer: &str) -> Result<(OwnedFd, OwnedFd), Errno> {
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::APPEND | OFlags::CLOEXEC;
        let flags = flags | OFlags::NOFOLLOW;
        let mode = Mode::RUSR | Mode::WUSR;
        for _ in 0..ATTEMPTS {
            let directory = self.home.open(true)?;
            let file = match rustix::fs::openat(&directory, writer, flags, mode) {
                Ok(file) => file,
                // The directory was removed as empty just before.
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(error),
            };
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => continue,
                Err(error) => return Err(error),
            }
            // A sweep may have locked it, found nothing and removed it just before.
            if rustix::fs::fstat(&file)?.st_nlink > 0 {
                return Ok((directory, file));
            }
        }
        Err(Errno::WOULDBLOCK)
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
    fn open(&self, make: bool) -> Result<OwnedFd, Errno> {
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
            return Err(Errno::PERM);
        }
        if make {
            made(rustix::fs::mkdirat(&state, self.key.as_str(), Mode::RWXU))?;
        }
        rustix::fs::openat(&state, self.key.as_str(), flags, Mode::empty())
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

/// Writes everything.
pub(crate) fn write_all(fd: BorrowedFd<'_>, mut bytes: &[u8]) -> Result<(), Errno> {
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
fn sweep(root: &DiskRoot, directory: BorrowedFd<'_>) -> Result<(), Errno> {
    for entry in open_entries(directory)? {
        let entry = entry?;
        let Ok(writer) = entry.file_name().to_str() else {
            continue;
        };
        if writer.len() != WRITER_LENGTH || !writer.bytes().all(|b| b.is_ascii_hexdigit()) {
            continue;
        }
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let Ok(journal) = rustix::fs::openat(directory, writer, flags, Mode::empty()) else {
            continue;
        };
        if rustix::fs::flock(&journal, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        for path in noted_in(&journal)? {
            sweep_directory(root, &path, writer);
        }
        let _ = rustix::fs::unlinkat(directory, writer, AtFlags::empty());
    }
    Ok(())
}

fn noted_in(journal: &OwnedFd) -> Result<Vec<ProjectPath>, Errno> {
    let mut text = Vec::new();
    loop {
        text.reserve(4096);
        match rustix::io::read(journal, rustix::buffer::spare_capacity(&mut text)) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    let text = String::from_utf8_lossy(&text);
    Ok(text.lines().filter_map(unescape).collect())
}

fn unescape(line: &str) -> Option<ProjectPath> {
    let mut path = String::with_capacity(line.len());
    let mut rest = line.chars();
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

/// Hexadecimal digits of a writer's random number.
const WRITER_LENGTH: usize = 16;

/// How often a journal that a sweep snatched away is made again.
const ATTEMPTS: usize = 8;

/// A temporary name lives for the time of one write; after an hour its writer is gone or hopeless.
const ABANDONED_SECONDS: i128 = 3600;

#[cfg(test)]
mod tests;
