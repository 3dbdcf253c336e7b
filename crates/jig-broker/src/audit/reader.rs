//! [`AuditReader`]: the log read back.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use jig_proto::lines::{Frame, LineBuffer};
use rustix::fs::{self, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::file::older;
use super::{AuditEntry, AuditFilter, LOG_NAME};

/// Reads the entries of a log, the oldest first, and can wait for more.
///
/// Lines that are no entries are skipped and counted, so that a log that was cut off or written by
/// a later version can still be read.
#[derive(Debug)]
pub struct AuditReader {
    directory: OwnedFd,
    filter: AuditFilter,
    /// The file that is read now, and those after it.
    files: VecDeque<OwnedFd>,
    lines: LineBuffer,
    /// What was read and not yet used up, from `start` on.
    piece: Vec<u8>,
    start: usize,
    skipped: u64,
}

impl AuditReader {
    /// Opens the log in `directory`. A directory without a log is an empty log.
    pub fn open(directory: &Utf8Path, filter: AuditFilter) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = fs::open(directory.as_std_path(), flags, Mode::empty())?;
        let mut reader = Self {
            directory,
            filter,
            files: VecDeque::new(),
            lines: LineBuffer::new(MAX_READ_LINE),
            piece: Vec::new(),
            start: 0,
            skipped: 0,
        };
        reader.files = reader.newer_than(None)?;
        Ok(reader)
    }

    /// The next wanted entry; `None` at the end of what is there now. Calling it again later gives
    /// what was added since.
    pub fn next_entry(&mut self) -> io::Result<Option<AuditEntry>> {
        loop {
            while let Some(line) = self.take_line() {
                match serde_json::from_slice::<AuditEntry>(&line) {
                    Ok(entry) if self.filter.wants(&entry) => return Ok(Some(entry)),
                    Ok(_) => {}
                    Err(_) => self.skipped += u64::from(!line.trim_ascii().is_empty()),
                }
            }
            if self.fill()? == 0 && !self.next_file()? {
                return Ok(None);
            }
        }
    }

    /// The next wanted entry, waiting up to `patience` for it to be written.
    pub fn wait_for_entry(&mut self, patience: Duration) -> io::Result<Option<AuditEntry>> {
        let end = Instant::now() + patience;
        loop {
            if let Some(entry) = self.next_entry()? {
                return Ok(Some(entry));
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            thread::sleep(POLL.min(left));
        }
    }

    /// How many lines so far were no entries.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    fn take_line(&mut self) -> Option<Vec<u8>> {
        loop {
            let mut input = &self.piece[self.start..];
            let frame = self.lines.next(&mut input);
            self.start = self.piece.len() - input.len();
            match frame? {
                Frame::Line(line) => return Some(line.to_vec()),
                _ => self.skipped += 1,
            }
        }
    }

    /// Reads on. To be called when there is no line left.
    fn fill(&mut self) -> io::Result<usize> {
        let Some(file) = self.files.front() else {
            return Ok(0);
        };
        self.start = 0;
        self.piece.resize(PIECE, 0);
        let read = rustix::io::retry_on_intr(|| rustix::io::read(file, &mut self.piece[..]));
        self.piece.truncate(*read.as_ref().unwrap_or(&0));
        Ok(read?)
    }

    /// Goes on to the file that was begun after this one, if there is one.
    fn next_file(&mut self) -> io::Result<bool> {
        if self.files.len() < 2 {
            let newer = self.newer_than(self.files.front())?;
            if newer.is_empty() {
                return Ok(false);
            }
            self.files.extend(newer);
            // More may have come to the old one before it was put aside.
            if self.files.len() > 1 {
                return Ok(self.fill()? > 0 || self.leave_file());
            }
            return Ok(true);
        }
        Ok(self.leave_file())
    }

    fn leave_file(&mut self) -> bool {
        self.files.pop_front();
        // A line without its end was cut off by a crash.
        self.skipped += u64::from(self.lines.finish().is_some());
        self.lines = LineBuffer::new(MAX_READ_LINE);
        true
    }

    /// The files begun after `known`, the oldest first; all if it is not there any more.
    ///
    /// The lock keeps a rotation out: halfway through one, a name is missing between two others.
    fn newer_than(&self, known: Option<&OwnedFd>) -> io::Result<VecDeque<OwnedFd>> {
        fs::flock(&self.directory, FlockOperation::LockShared)?;
        let newer = self.newer_than_locked(known);
        fs::flock(&self.directory, FlockOperation::Unlock)?;
        newer
    }

    fn newer_than_locked(&self, known: Option<&OwnedFd>) -> io::Result<VecDeque<OwnedFd>> {
        let known = match known {
            Some(file) => Some(fs::fstat(file).map(|stat| (stat.st_dev, stat.st_ino))?),
            None => None,
        };
        let mut newer = VecDeque::new();
        let names = std::iter::once(LOG_NAME.to_owned()).chain((1..).map(older));
        for name in names {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let file = match fs::openat(&self.directory, &name, flags, Mode::empty()) {
                Ok(file) => file,
                // A process was killed in the middle of a rotation, before it began the next file.
                Err(Errno::NOENT) if name == LOG_NAME => continue,
                Err(Errno::NOENT) => break,
                Err(error) => return Err(error.into()),
            };
            let stat = fs::fstat(&file)?;
            if known == Some((stat.st_dev, stat.st_ino)) {
                break;
            }
            newer.push_front(file);
        }
        Ok(newer)
    }
}

/// How often a waiting reader looks again.
const POLL: Duration = Duration::from_millis(50);

/// How much is read at once.
const PIECE: usize = 64 * 1024;

/// Longer lines are skipped. The log is ours, but a damaged one must not fill the memory.
const MAX_READ_LINE: usize = 64 * 1024;
