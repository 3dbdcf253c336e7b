//! [`FileSink`]: the log as a file that only grows.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use camino::Utf8Path;
use jig_files::make_private_directories;
use rustix::fs::{self, AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::{AuditEntry, AuditSink, LOG_NAME};

/// Appends lines to `audit.jsonl` in a directory.
///
/// Each entry is one write to a file opened for appending, so that several processes can share a
/// log. When the file has grown to its limit it becomes `audit.jsonl.1`, the one before that
/// `audit.jsonl.2`, and so on; the oldest goes. Only the owner can read or write them.
#[derive(Debug)]
pub struct FileSink {
    directory: OwnedFd,
    options: FileSinkOptions,
    current: Mutex<CurrentAuditFile>,
}

/// The file that is written.
#[derive(Debug)]
struct CurrentAuditFile {
    file: OwnedFd,
    /// How much may be written before the size is looked at again.
    unchecked: u64,
    /// Lines that are not written yet.
    waiting: Vec<u8>,
}

/// How large a log gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSinkOptions {
    /// The size at which a file is put aside, in bytes. Default: 16 MiB.
    pub max_bytes: u64,
    /// How many files are kept besides the one that is written. Default: 4.
    pub keep: u32,
    /// Whether entries may wait until [`flush`](AuditSink::flush), so that no request waits for the
    /// disk. What waits when the process is killed is lost. Default: no.
    pub buffered: bool,
}

impl Default for FileSinkOptions {
    fn default() -> Self {
        Self {
            max_bytes: 16 * 1024 * 1024,
            keep: 4,
            buffered: false,
        }
    }
}

impl FileSink {
    /// Opens the log in `directory`, which is made if it is missing, for its owner alone, with the
    /// directories above it.
    ///
    /// # Errors
    ///
    /// If the directory cannot be made or opened, or if something other than a file has the name of
    /// the log: a link is not followed, since whoever can make one could redirect the log.
    pub fn open(directory: &Utf8Path, options: FileSinkOptions) -> io::Result<Self> {
        make_private_directories(directory.as_std_path())?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = fs::open(directory.as_std_path(), flags, Mode::empty())?;
        let current = open_log(directory.as_fd())?;
        Ok(Self {
            directory,
            options,
            current: Mutex::new(CurrentAuditFile {
                file: current,
                unchecked: 0,
                waiting: Vec::new(),
            }),
        })
    }

    fn current(&self) -> MutexGuard<'_, CurrentAuditFile> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts the full file aside, unless another process has done so already, and opens the next.
    fn rotate(&self, current: &mut OwnedFd) -> io::Result<()> {
        // The directory itself is the lock: there is no lock file to be left behind.
        fs::flock(&self.directory, FlockOperation::LockExclusive)?;
        let rotated = self.rotate_locked(current);
        fs::flock(&self.directory, FlockOperation::Unlock)?;
        rotated
    }

    fn rotate_locked(&self, current: &mut OwnedFd) -> io::Result<()> {
        let ours = fs::fstat(&*current)?;
        let named = fs::statat(&self.directory, LOG_NAME, AtFlags::SYMLINK_NOFOLLOW);
        let still_named =
            named.is_ok_and(|named| (named.st_dev, named.st_ino) == (ours.st_dev, ours.st_ino));
        if still_named {
            for number in (1..self.options.keep).rev() {
                self.rename(&older(number), &older(number + 1))?;
            }
            if self.options.keep > 0 {
                self.rename(LOG_NAME, &older(1))?;
            } else {
                fs::unlinkat(&self.directory, LOG_NAME, AtFlags::empty())?;
            }
        }
        *current = open_log(self.directory.as_fd())?;
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        match fs::renameat(&self.directory, from, &self.directory, to) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl FileSink {
    /// Writes the lines that wait. Those that cannot be written go on waiting.
    fn write(&self, current: &mut CurrentAuditFile) -> io::Result<()> {
        let length = current.waiting.len() as u64;
        if current.unchecked < length {
            // Also true for a file that another process has put aside: it was full by then.
            let size = u64::try_from(fs::fstat(&current.file)?.st_size).unwrap_or(0);
            if size >= self.options.max_bytes {
                self.rotate(&mut current.file)?;
            }
            current.unchecked = self.options.max_bytes / CHECKS;
        }
        current.unchecked = current.unchecked.saturating_sub(length);
        let (file, lines) = (&current.file, &current.waiting);
        let written = rustix::io::retry_on_intr(|| rustix::io::write(file, lines))?;
        current.waiting.drain(..written);
        match current.waiting.is_empty() {
            true => Ok(()),
            false => Err(io::ErrorKind::StorageFull.into()),
        }
    }
}

impl AuditSink for FileSink {
    fn record(&self, entry: &AuditEntry) -> io::Result<()> {
        let line = entry.to_line();
        let mut current = self.current();
        if current.waiting.len() >= MAX_KEPT {
            // What could not be written so far is tried again, and stays if it still cannot.
            self.write(&mut current)?;
        }
        current.waiting.extend_from_slice(line.as_bytes());
        if self.options.buffered && current.waiting.len() < MAX_WAITING {
            return Ok(());
        }
        self.write(&mut current)
    }

    fn flush(&self) -> io::Result<()> {
        let mut current = self.current();
        match current.waiting.is_empty() {
            true => Ok(()),
            false => self.write(&mut current),
        }
    }
}

impl Drop for FileSink {
    fn drop(&mut self) {
        // Nobody is left to hear of a failure.
        let _ = self.flush();
    }
}

fn open_log(directory: impl AsFd) -> io::Result<OwnedFd> {
    let flags = OFlags::WRONLY
        | OFlags::APPEND
        | OFlags::CREATE
        | OFlags::NOFOLLOW
        | OFlags::NONBLOCK
        | OFlags::CLOEXEC;
    let owner = Mode::RUSR | Mode::WUSR;
    let file = fs::openat(directory, LOG_NAME, flags, owner)?;
    let stat = fs::fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("the audit log is not a regular file"));
    }
    if Mode::from_raw_mode(stat.st_mode) != owner {
        fs::fchmod(&file, owner)?;
    }
    Ok(file)
}

/// How often the size is looked at while a file fills. A process may write so much more into a file
/// that is full: one part in this many.
const CHECKS: u64 = 256;

/// The name of the file that was put aside `number` rotations ago.
pub(super) fn older(number: u32) -> String {
    format!("{LOG_NAME}.{number}")
}

/// How much waits at the most for a log that cannot be written. Nothing new is taken then: a tool could fill
/// the memory otherwise.
const MAX_KEPT: usize = 1024 * 1024;

/// How much waits at the most before it is written without being asked for.
const MAX_WAITING: usize = 32 * 1024;
