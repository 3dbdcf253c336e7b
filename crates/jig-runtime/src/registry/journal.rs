//! [`HandleJournal`]: a note on disk of the processes of live handles, for the case that jig is killed before it
//! can end them (S-067).
//!
//! Each process of jig that has handles has one file, which it keeps locked: a file whose lock is free was
//! left behind. It holds lines of JSON: who wrote it, each process, and which handles are gone. A line is
//! one write, so that a file ends with a whole line or, at worst, with a part of one, which is ignored.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use jig_proto::HandleId;
use rustix::fs::{self, AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use serde_json::{Value, json};

use super::leftover::Leftover;
use super::process::{self, ProcessIdentity};

#[cfg(test)]
mod tests;

/// The file of this process in a directory, made when the first handle comes.
#[derive(Debug)]
pub(super) struct HandleJournal {
    directory: PathBuf,
    book: Mutex<JournalState>,
}

#[derive(Debug, Default)]
struct JournalState {
    file: Option<(PathBuf, OwnedFd)>,
    /// By the numbers of their handles. An id may belong to another handle later.
    live: BTreeMap<u64, JournalHandle>,
    /// How many lines of the file say nothing any more.
    stale: usize,
}

/// A handle, as it stands in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct JournalHandle {
    id: String,
    tool: String,
    process: ProcessIdentity,
    /// Seconds since 1970.
    since: u64,
}

impl HandleJournal {
    pub(super) fn in_directory(directory: &Path) -> io::Result<Self> {
        make_directories(directory)?;
        Ok(Self {
            directory: directory.to_owned(),
            book: Mutex::default(),
        })
    }

    /// Notes the process of a handle, in place of one that it had before.
    pub(super) fn add(&self, number: u64, id: &HandleId, tool: &str, pid: u32) {
        let Some(process) = ProcessIdentity::find(pid) else {
            return;
        };
        let mut book = self.lock();
        let known = book.live.get(&number);
        if known.is_some_and(|noted| noted.process == process) {
            return;
        }
        let noted = JournalHandle {
            id: id.to_string(),
            tool: tool.to_owned(),
            process,
            since: seconds(SystemTime::now()),
        };
        let line = noted.line(number);
        if book.live.insert(number, noted).is_some() {
            book.stale += 1;
        }
        self.write(&mut book, &line);
    }

    /// Notes that a handle is gone. With the last one goes the file.
    pub(super) fn remove(&self, number: u64) {
        let mut book = self.lock();
        if book.live.remove(&number).is_none() {
            return;
        }
        if book.live.is_empty() {
            book.close();
            return;
        }
        book.stale += 2;
        let line = format!("{}\n", json!({ "gone": number }));
        self.write(&mut book, &line);
    }

    /// Appends a line, or begins a new file if there is none or most of it is stale. If that cannot be
    /// done, the next line tries again.
    fn write(&self, book: &mut JournalState, line: &str) {
        let is_stale = book.stale > 2 * book.live.len() + ROOM;
        if let Some((_, file)) = book.file.as_ref().filter(|_| !is_stale) {
            if write_all(file, line.as_bytes()).is_err() {
                // Half a line may be there.
                book.close();
            }
            return;
        }
        let lines = book.live.iter();
        let lines = lines.map(|(number, noted)| noted.line(*number));
        let whole = std::iter::once(header()).chain(lines).collect::<String>();
        let made = self.make(&whole).ok();
        // The old file is removed when the new one is complete: a process is noted twice for a moment, and
        // never not at all.
        book.close();
        book.file = made;
    }

    /// Makes a file that is locked.
    fn make(&self, content: &str) -> Result<(PathBuf, OwnedFd), Errno> {
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("{PREFIX}{}-{number}{SUFFIX}", std::process::id());
            let path = self.directory.join(name);
            let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
            let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            let file = match fs::open(&path, flags, Mode::RUSR | Mode::WUSR) {
                // An earlier process of this number left it.
                Err(Errno::EXIST) => continue,
                opened => opened?,
            };
            fs::flock(&file, FlockOperation::LockExclusive)?;
            // Somebody who looked for leftovers may have had the lock first, and have removed the file.
            if fs::fstat(&file)?.st_nlink == 0 {
                continue;
            }
            let written = write_all(&file, content.as_bytes());
            if let Err(error) = written {
                let _ = fs::unlink(&path);
                return Err(error);
            }
            return Ok((path, file));
        }
    }

    fn lock(&self) -> MutexGuard<'_, JournalState> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for HandleJournal {
    fn drop(&mut self) {
        // Sessions abort their tools when they are dropped.
        self.lock().close();
    }
}

impl JournalState {
    fn close(&mut self) {
        if let Some((path, file)) = self.file.take() {
            // It is removed while it is locked. One that stays is swept by the next jig.
            let _ = fs::unlink(&path);
            drop(file);
        }
        self.stale = 0;
    }
}

impl JournalHandle {
    fn line(&self, number: u64) -> String {
        let Self {
            id,
            tool,
            process: ProcessIdentity { pid, started },
            since,
        } = self;
        let line = json!({
            "handle": number, "id": id, "tool": tool, "pid": pid, "started": started, "since": since,
        });
        format!("{line}\n")
    }

    fn read(line: &Value) -> Option<(u64, Self)> {
        let number = |key| line.get(key)?.as_u64();
        let text = |key| Some(line.get(key)?.as_str()?.to_owned());
        let noted = Self {
            id: text("id")?,
            tool: text("tool")?,
            process: ProcessIdentity {
                pid: i32::try_from(number("pid")?).ok()?,
                started: number("started")?,
            },
            since: number("since")?,
        };
        Some((number("handle")?, noted))
    }
}

/// Ends what tools left running when the jig that had them as handles was killed, and says what there was.
///
/// `directory` is that of [`Handles::with_journal`](super::Handles::with_journal). The files of processes
/// that live are left alone; the others are removed. No other process is hit, also if one has the number of
/// a tool's process by now.
pub fn leftovers(directory: &Path) -> Vec<Leftover> {
    let mut found = Vec::new();
    for path in journals(directory) {
        // What cannot be read is not ours to judge.
        if let Ok(Some(handles)) = take(&path) {
            let now = SystemTime::now();
            found.extend(handles.into_iter().map(|noted| {
                let end = noted.process.end();
                let since = SystemTime::UNIX_EPOCH + Duration::from_secs(noted.since);
                Leftover {
                    id: noted.id,
                    tool: noted.tool,
                    age: now.duration_since(since).unwrap_or_default(),
                    was_alive: end.was_alive,
                    has_ended: end.has_ended,
                }
            }));
        }
    }
    found
}

fn journals(directory: &Path) -> Vec<PathBuf> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the directory is jig's own, not a part of a workspace"
    )]
    let Ok(entries) = std::fs::read_dir(directory) else {
        return Vec::new();
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names
        .filter(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX))
        .collect();
    names.sort();
    names.into_iter().map(|name| directory.join(name)).collect()
}

/// Removes a journal that was left behind; returns the handles in it. `None` if its owner lives.
fn take(path: &Path) -> io::Result<Option<Vec<JournalHandle>>> {
    // A pipe with that name would otherwise block here.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = fs::open(path, flags, Mode::empty())?;
    let stat = fs::fstat(&file)?;
    let is_ours = stat.st_uid == rustix::process::geteuid().as_raw();
    if !is_ours || FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Ok(None);
    }
    match fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => return Ok(None),
        locked => locked?,
    }
    // Another jig may have taken it between the two steps.
    match fs::statat(fs::CWD, path, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(now) if (now.st_dev, now.st_ino) == (stat.st_dev, stat.st_ino) => {}
        _ => return Ok(None),
    }
    let content = process::read_bounded(&file, LONGEST)?;
    let (owner, handles) = parse(&content);
    // Where locks do not work, the lock of a process that lives is free too.
    if owner.is_some_and(|owner| owner.is_alive()) {
        return Ok(None);
    }
    fs::unlink(path)?;
    Ok(Some(handles))
}

/// The process that wrote a journal, and the handles that were live; those of an earlier boot are not.
fn parse(content: &[u8]) -> (Option<ProcessIdentity>, Vec<JournalHandle>) {
    let lines = content.split(|byte| *byte == b'\n');
    let mut lines = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let Some(header) = lines.next() else {
        return (None, Vec::new());
    };
    let is_this_boot = header.get("boot").and_then(Value::as_str) == process::boot().as_deref();
    let number = |key| header.get(key).and_then(Value::as_u64);
    let owner = number("pid").zip(number("started"));
    let owner = owner.and_then(|(pid, started)| {
        let pid = i32::try_from(pid).ok()?;
        Some(ProcessIdentity { pid, started })
    });
    let mut handles = BTreeMap::new();
    for line in lines {
        if let Some(gone) = line.get("gone").and_then(Value::as_u64) {
            handles.remove(&gone);
        } else if let Some((number, mut noted)) = JournalHandle::read(&line) {
            if !is_this_boot {
                // Numbers of an earlier boot mean nothing now.
                noted.process.started = u64::MAX;
            }
            handles.insert(number, noted);
        }
    }
    let handles = handles.into_values().collect();
    (owner.filter(|_| is_this_boot), handles)
}

fn header() -> String {
    let process = ProcessIdentity::find(std::process::id());
    let line = json!({
        "pid": std::process::id(),
        "started": process.map(|process| process.started),
        "boot": process::boot(),
    });
    format!("{line}\n")
}

fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

/// Makes a directory with those above it, for its owner alone.
fn make_directories(directory: &Path) -> Result<(), Errno> {
    match (fs::mkdir(directory, Mode::RWXU), directory.parent()) {
        (Ok(()) | Err(Errno::EXIST), _) => Ok(()),
        (Err(Errno::NOENT), Some(parent)) => {
            make_directories(parent)?;
            match fs::mkdir(directory, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => Ok(()),
                Err(error) => Err(error),
            }
        }
        (Err(error), _) => Err(error),
    }
}

fn write_all(file: &OwnedFd, mut content: &[u8]) -> Result<(), Errno> {
    while !content.is_empty() {
        match rustix::io::write(file, content) {
            Ok(length) => content = &content[length..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

static NEXT: AtomicU64 = AtomicU64::new(0);

const PREFIX: &str = "handles-";
const SUFFIX: &str = ".jsonl";

/// How many stale lines a file may have beyond twice the live ones before it is written anew.
const ROOM: usize = 128;

/// More than a journal ever is: some thousand lines.
const LONGEST: usize = 16 << 20;
