//! [`Journal`]: what a process writes down so that a later one can clean up after it, if it is killed.
//!
//! A journal is a file of lines. The first line names the process that writes it; each further line is a record, whose
//! meaning only the caller knows. The files lie in a [`JournalFolder`] that belongs to the user alone. A later process
//! asks for [`JournalFolder::journals`], leaves alone those whose writer [is alive](FoundJournal::is_writer_alive),
//! cleans up what the others name, and removes them.
//!
//! # What a journal promises
//!
//! A file gets its name when its first records are complete, and takes the place of its predecessor in the same
//! step. A record that is appended later is one write: if the process is killed in it, the line has no end, and
//! readers pass it over. Nothing is synced: a journal outlives the process, not the machine.
//!
//! Both sides hold the same bound, [`MOST_JOURNAL_BYTES`]: a writer that wants more gets an error and can refuse its
//! work, and no reader takes the beginning of a long journal for all of it.
//!
//! # Who is alive
//!
//! A writer is known by its number, the time at which it started, the boot of the machine and its namespace of process
//! numbers. Where these cannot be compared, as on systems without `/proc` or between containers, the lock counts
//! that a writer holds on its file as long as it lives.

mod process_identity;

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::OnceLock;

use rustix::fs::{self, AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::disk::{open_entries, random_name, write_all};

pub use process_identity::{ProcessIdentity, ProcessStat};

/// A directory of journals.
#[derive(Debug)]
pub struct JournalFolder {
    directory: OwnedFd,
}

/// A journal that this process writes.
///
/// Dropping it leaves the file: [`remove`](Self::remove) says that there is nothing to clean up any more.
#[derive(Debug)]
pub struct Journal {
    directory: OwnedFd,
    name: String,
    /// Locked for as long as it is open.
    file: OwnedFd,
    /// How many bytes the file was given when it was made.
    first_bytes: u64,
    /// Whether the last append failed, so that the file may end within a line.
    is_torn: bool,
}

/// A journal that lies in a folder, of whichever process.
#[derive(Debug)]
pub struct FoundJournal {
    directory: OwnedFd,
    name: String,
    file: OwnedFd,
    is_ours: bool,
}

/// What stands in a journal.
#[derive(Debug)]
pub struct JournalContent {
    bytes: Vec<u8>,
    writer: JournalWriter,
}

/// The process that writes a journal, as its first line names it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct JournalWriter {
    pid: u32,
    started: Option<u64>,
    /// The boot of the machine and the namespace of process numbers.
    machine: Option<String>,
}

impl JournalFolder {
    /// Opens the folder at `path`, and makes it with those above it if it is missing.
    ///
    /// # Errors
    ///
    /// If it cannot be made, or belongs to another user and this one is not root.
    pub fn make(path: &Path) -> io::Result<Self> {
        make_private_directories(path)?;
        let folder = Self::open(path)?;
        fs::fchmod(&folder.directory, Mode::RWXU)?;
        Ok(folder)
    }

    /// Opens the folder at `path`.
    ///
    /// # Errors
    ///
    /// If it is missing, is a link, belongs to another user, or another user may write to it.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        Self::of(fs::open(path, flags, Mode::empty())?)
    }

    /// The folder that an open directory is.
    ///
    /// # Errors
    ///
    /// If it belongs to another user, or another user may write to it.
    pub fn of(directory: OwnedFd) -> io::Result<Self> {
        let stat = fs::fstat(&directory)?;
        if !is_within_reach(&stat)
            || Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH)
        {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(Self { directory })
    }

    /// Makes a journal with these records, under a name of [`Journal::random_name`].
    ///
    /// # Errors
    ///
    /// Those of the disk; [`io::ErrorKind::InvalidInput`] if a record has a line feed in it or `name` is not such a
    /// name; [`io::ErrorKind::FileTooLarge`] if it would be longer than [`MOST_JOURNAL_BYTES`].
    pub fn create<R: AsRef<[u8]>>(
        &self,
        name: &str,
        records: impl IntoIterator<Item = R>,
    ) -> io::Result<Journal> {
        if !is_journal_name(name) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let content = content(records)?;
        Ok(Journal {
            directory: self.directory.try_clone()?,
            name: name.to_owned(),
            file: put(self.directory.as_fd(), name, &content)?,
            first_bytes: content.len() as u64,
            is_torn: false,
        })
    }

    /// The journals in the folder, in no order. What was left of one that was never complete is removed.
    ///
    /// What is no journal is passed over: a link, a pipe, a strange name, and the file of another user, except for root.
    ///
    /// # Errors
    ///
    /// If the folder cannot be listed.
    pub fn journals(&self) -> io::Result<impl Iterator<Item = FoundJournal>> {
        let mut names = Vec::new();
        for entry in open_entries(self.directory.as_fd())? {
            let entry = entry?;
            match entry.file_name().to_str() {
                Ok(name) if is_journal_name(name) => names.push(name.to_owned()),
                Ok(name) if name.strip_suffix(NEW).is_some_and(is_journal_name) => {
                    self.remove_unfinished(entry.file_name());
                }
                _ => {}
            }
        }
        let found = names.into_iter().filter_map(|name| {
            let directory = self.directory.as_fd();
            let (file, is_ours) = open_journal(directory, &name, OFlags::RDONLY).ok()?;
            Some(FoundJournal {
                directory: self.directory.try_clone().ok()?,
                name,
                file,
                is_ours,
            })
        });
        Ok(found)
    }

    /// Removes a file whose writer was killed before it was complete. One that is still being written is locked, or its
    /// writer sees that it is gone and begins again.
    fn remove_unfinished(&self, name: &CStr) {
        let file = fs::openat(&self.directory, name, READ | OFlags::RDONLY, Mode::empty());
        if file.is_ok_and(|file| fs::flock(&file, TRY_LOCK).is_ok()) {
            let _ = fs::unlinkat(&self.directory, name, AtFlags::empty());
        }
    }
}

impl Journal {
    /// A name for a journal that no other has: sixteen hexadecimal digits.
    pub fn random_name() -> String {
        random_name()
    }

    /// The name of the file in its folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Appends a record.
    ///
    /// # Errors
    ///
    /// As [`JournalFolder::create`]. The record is not there then, or has no end and is passed over.
    pub fn append(&mut self, record: &[u8]) -> io::Result<()> {
        let begin: &[u8] = if self.is_torn { b"\n" } else { b"" };
        let appended = append(self.file.as_fd(), begin, [record]);
        self.is_torn = appended.is_err();
        appended
    }

    /// Puts a new file with these records in the place of the old one, in one step.
    ///
    /// # Errors
    ///
    /// As [`JournalFolder::create`]. The old file is as it was then.
    pub fn replace<R: AsRef<[u8]>>(
        &mut self,
        records: impl IntoIterator<Item = R>,
    ) -> io::Result<()> {
        let content = content(records)?;
        self.file = put(self.directory.as_fd(), &self.name, &content)?;
        self.first_bytes = content.len() as u64;
        self.is_torn = false;
        Ok(())
    }

    /// The records that were appended since the file was made, by whichever process.
    ///
    /// # Errors
    ///
    /// Those of the disk; [`io::ErrorKind::FileTooLarge`] if the file is longer than [`MOST_JOURNAL_BYTES`].
    pub fn appended(&self) -> io::Result<Vec<Vec<u8>>> {
        let bytes = read_at_most(self.file.as_fd(), self.first_bytes, MOST_JOURNAL_BYTES)?;
        Ok(whole_lines(&bytes).map(<[u8]>::to_vec).collect())
    }

    /// Removes the file. One that cannot be removed is found by the next process.
    pub fn remove(self) {
        // It is still locked: nobody takes it for abandoned in between.
        let _ = fs::unlinkat(&self.directory, self.name.as_str(), AtFlags::empty());
    }
}

impl FoundJournal {
    /// The name of the file in its folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it belongs to the user who runs this process. Root also finds the journals of the user whose folder it
    /// is, and must not do in its own name whatever these say.
    pub fn is_ours(&self) -> bool {
        self.is_ours
    }

    /// What stands in it now.
    ///
    /// # Errors
    ///
    /// Those of the disk; [`io::ErrorKind::FileTooLarge`] if it is longer than [`MOST_JOURNAL_BYTES`], which no writer makes it.
    pub fn content(&self) -> io::Result<JournalContent> {
        let bytes = read_at_most(self.file.as_fd(), 0, MOST_JOURNAL_BYTES)?;
        let header = whole_lines(&bytes).next();
        let writer = header.and_then(JournalWriter::parse).unwrap_or_default();
        Ok(JournalContent { bytes, writer })
    }

    /// Whether the process that writes it is alive, as far as that can be told.
    pub fn is_writer_alive(&self, content: &JournalContent) -> bool {
        match content.writer.is_alive() {
            Some(is_alive) => is_alive,
            // A lock of our own on this descriptor would count as free.
            None => !self.lock(),
        }
    }

    /// Locks it, so that no other process cleans up at the same time. False if somebody holds the lock: the writer, or
    /// another one who cleans up; or if the file has been removed or replaced.
    pub fn lock(&self) -> bool {
        let Ok(stat) = fs::fstat(&self.file) else {
            return false;
        };
        let is_locked = fs::flock(&self.file, TRY_LOCK).is_ok();
        let now = || {
            fs::statat(
                &self.directory,
                self.name.as_str(),
                AtFlags::SYMLINK_NOFOLLOW,
            )
        };
        is_locked && now().is_ok_and(|now| (now.st_dev, now.st_ino) == (stat.st_dev, stat.st_ino))
    }

    /// Appends records for its writer to read. If the writer is done by then, they are lost, as they may be.
    ///
    /// # Errors
    ///
    /// As [`JournalFolder::create`].
    pub fn append<R: AsRef<[u8]>>(&self, records: impl IntoIterator<Item = R>) -> io::Result<()> {
        let name = self.name.as_str();
        let how = OFlags::WRONLY | OFlags::APPEND;
        let (file, _) = open_journal(self.directory.as_fd(), name, how)?;
        // The last of its lines may have no end.
        append(file.as_fd(), b"\n", records)
    }

    /// Removes the file.
    pub fn remove(&self) {
        let _ = fs::unlinkat(&self.directory, self.name.as_str(), AtFlags::empty());
    }
}

impl JournalContent {
    /// The records. What is cut or empty is left out; whether one makes sense is the caller's to see.
    pub fn records(&self) -> impl Iterator<Item = &[u8]> {
        whole_lines(&self.bytes).skip(1)
    }

    /// The number of the process that wrote it; 0 if the file does not say so.
    pub fn pid(&self) -> u32 {
        self.writer.pid
    }

    /// Whether numbers of processes in it mean the same here and now: it was written in this boot of the machine and
    /// among the same processes.
    pub fn is_of_this_machine(&self) -> bool {
        self.writer.machine.is_some() && self.writer.machine.as_deref() == machine()
    }
}

impl JournalWriter {
    fn header() -> String {
        let identity = ProcessIdentity::find(std::process::id());
        let started = identity.map_or_else(String::new, |identity| identity.started.to_string());
        let machine = machine().unwrap_or_default();
        format!("{HEADER} {} {started} {machine}", std::process::id())
    }

    fn parse(header: &[u8]) -> Option<Self> {
        let mut words = std::str::from_utf8(header).ok()?.split(' ');
        if words.next() != Some(HEADER) {
            return None;
        }
        Some(Self {
            pid: words.next()?.parse().ok()?,
            started: words.next()?.parse().ok(),
            machine: words
                .next()
                .filter(|text| !text.is_empty())
                .map(str::to_owned),
        })
    }

    /// Whether it runs; `None` if its number may mean another process here.
    fn is_alive(&self) -> Option<bool> {
        if self.machine.is_none() || self.machine.as_deref() != machine() {
            return None;
        }
        let identity = ProcessIdentity {
            pid: i32::try_from(self.pid).ok()?,
            started: self.started?,
        };
        Some(identity.is_alive())
    }
}

/// Makes a directory with those above it, for its owner alone.
///
/// # Errors
///
/// If one of them cannot be made.
pub fn make_private_directories(directory: &Path) -> io::Result<()> {
    match (fs::mkdir(directory, Mode::RWXU), directory.parent()) {
        (Ok(()) | Err(Errno::EXIST), _) => Ok(()),
        (Err(Errno::NOENT), Some(above)) if !above.as_os_str().is_empty() => {
            make_private_directories(above)?;
            match fs::mkdir(directory, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => Ok(()),
                Err(error) => Err(error.into()),
            }
        }
        (Err(error), _) => Err(error.into()),
    }
}

/// A file's first content: who writes it, and its records.
fn content<R: AsRef<[u8]>>(records: impl IntoIterator<Item = R>) -> io::Result<Vec<u8>> {
    let mut content = JournalWriter::header().into_bytes();
    content.push(b'\n');
    add_lines(&mut content, records)?;
    has_room(0, &content)?;
    Ok(content)
}

fn add_lines<R: AsRef<[u8]>>(
    lines: &mut Vec<u8>,
    records: impl IntoIterator<Item = R>,
) -> io::Result<()> {
    for record in records {
        let record = record.as_ref();
        if memchr::memchr(b'\n', record).is_some() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        lines.extend_from_slice(record);
        lines.push(b'\n');
    }
    Ok(())
}

fn has_room(before: u64, added: &[u8]) -> io::Result<()> {
    match before.saturating_add(added.len() as u64) <= MOST_JOURNAL_BYTES {
        true => Ok(()),
        false => Err(too_long(MOST_JOURNAL_BYTES)),
    }
}

fn too_long(most: u64) -> io::Error {
    let text = format!("it is longer than {most} bytes");
    io::Error::new(io::ErrorKind::FileTooLarge, text)
}

/// Puts a complete, locked file under a name, in the place of what may have that name.
fn put(directory: BorrowedFd<'_>, name: &str, content: &[u8]) -> io::Result<OwnedFd> {
    let new = format!("{name}{NEW}");
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
    for _ in 0..ATTEMPTS {
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = match fs::openat(directory, new.as_str(), flags, Mode::RUSR | Mode::WUSR) {
            Err(Errno::EXIST) => {
                // The name is ours alone: an attempt of ours failed before. Whoever had the lock then may remove it, too.
                let _ = fs::unlinkat(directory, new.as_str(), AtFlags::empty());
                continue;
            }
            opened => opened?,
        };
        // Somebody who looks for leftovers may take it for one until it is locked, and remove it.
        match fs::flock(&file, TRY_LOCK) {
            Err(Errno::WOULDBLOCK) => continue,
            // Where there are no locks, the identity of the process has to do.
            Err(Errno::NOTSUP | Errno::NOSYS | Errno::NOLCK) | Ok(()) => {}
            Err(error) => return Err(error.into()),
        }
        if fs::fstat(&file)?.st_nlink == 0 {
            continue;
        }
        let written = write_all(file.as_fd(), content);
        match written.and_then(|()| fs::renameat(directory, new.as_str(), directory, name)) {
            Ok(()) => return Ok(file),
            // The one who had the lock of an earlier attempt has removed this one instead.
            Err(Errno::NOENT) => {}
            Err(error) => {
                let _ = fs::unlinkat(directory, new.as_str(), AtFlags::empty());
                return Err(error.into());
            }
        }
    }
    Err(io::ErrorKind::WouldBlock.into())
}

fn append<R: AsRef<[u8]>>(
    file: BorrowedFd<'_>,
    begin: &[u8],
    records: impl IntoIterator<Item = R>,
) -> io::Result<()> {
    let mut lines = begin.to_vec();
    add_lines(&mut lines, records)?;
    let length = u64::try_from(fs::fstat(file)?.st_size).unwrap_or_default();
    has_room(length, &lines)?;
    Ok(write_all(file, &lines)?)
}

/// Opens a journal, and says whether it is ours; neither a link nor a pipe that stands there is followed or waited for.
fn open_journal(directory: BorrowedFd<'_>, name: &str, how: OFlags) -> io::Result<(OwnedFd, bool)> {
    let file = fs::openat(directory, name, READ | how, Mode::empty())?;
    let stat = fs::fstat(&file)?;
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    if !is_file || !is_within_reach(&stat) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok((file, stat.st_uid == rustix::process::geteuid().as_raw()))
}

/// Whether something belongs to this user, or this user is root, who also works in the folders of others.
fn is_within_reach(stat: &fs::Stat) -> bool {
    let user = rustix::process::geteuid();
    user.is_root() || stat.st_uid == user.as_raw()
}

/// Reads a file from a position to its end, if that is not more than `most` bytes from its beginning.
fn read_at_most(file: BorrowedFd<'_>, from: u64, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut piece = [0; 8192];
    loop {
        match rustix::io::pread(file, &mut piece, from + bytes.len() as u64) {
            Ok(0) => return Ok(bytes),
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if from + bytes.len() as u64 > most {
            return Err(too_long(most));
        }
    }
}

/// The lines that have an end and something in them.
fn whole_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = memchr::memrchr(b'\n', bytes).unwrap_or(0);
    let lines = bytes[..end].split(|byte| *byte == b'\n');
    lines.filter(|line| !line.is_empty())
}

fn is_journal_name(name: &str) -> bool {
    name.len() == NAME_LENGTH && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// What tells this boot of the machine, and this namespace of process numbers, from others.
fn machine() -> Option<&'static str> {
    static MACHINE: OnceLock<Option<String>> = OnceLock::new();
    let machine = MACHINE.get_or_init(|| {
        let boot = process_identity::kernel_text("/proc/sys/kernel/random/boot_id")?;
        let space = fs::readlink("/proc/self/ns/pid", Vec::new()).ok()?;
        Some(format!("{}/{}", boot.trim(), space.to_str().ok()?))
    });
    machine.as_deref()
}

/// The longest journal, in bytes. A tool can make a workspace with many names to note; without a bound it could fill
/// the memory of every jig that reads them.
pub const MOST_JOURNAL_BYTES: u64 = 256 << 20;

/// The first word of a journal.
const HEADER: &str = "jig-journal-1";

/// What a name ends with until the file is complete.
const NEW: &str = ".new";

/// Hexadecimal digits of a name.
pub(crate) const NAME_LENGTH: usize = 16;

/// How often a file is begun again that somebody took for a leftover.
const ATTEMPTS: usize = 8;

const READ: OFlags = OFlags::CLOEXEC
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK);

const TRY_LOCK: FlockOperation = FlockOperation::NonBlockingLockExclusive;

#[cfg(test)]
mod tests;
