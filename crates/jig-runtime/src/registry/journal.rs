//! [`HandleJournal`]: a note on disk of the processes of live handles, for the case that jig is killed before it
//! can end them (S-067).
//!
//! Each process of jig that has handles has one [`Journal`]. Its records are lines of JSON: each process, and which
//! handles are gone.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use jig_files::{FoundJournal, Journal, JournalContent, JournalFolder, ProcessIdentity};
use jig_proto::HandleId;
use serde_json::{Value, json};

use super::leftover::Leftover;
use super::process;

#[cfg(test)]
mod tests;

/// The journal of this process in a directory, made when the first handle comes.
#[derive(Debug)]
pub(super) struct HandleJournal {
    directory: PathBuf,
    book: Mutex<JournalState>,
}

#[derive(Debug, Default)]
struct JournalState {
    file: Option<Journal>,
    /// By the numbers of their handles. An id may belong to another handle later.
    live: BTreeMap<u64, JournalHandle>,
    /// How many lines of the file say nothing any more.
    stale: usize,
    /// Whether the file lacks a line that could not be written.
    is_incomplete: bool,
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
        JournalFolder::make(directory)?;
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
        let line = json!({ "gone": number }).to_string();
        self.write(&mut book, &line);
    }

    /// Appends a line, or begins a new file if there is none, most of it is stale or it takes no more. If that cannot
    /// be done, the next line tries again.
    fn write(&self, book: &mut JournalState, line: &str) {
        let is_stale = book.stale > 2 * book.live.len() + ROOM;
        let is_good = !is_stale && !book.is_incomplete;
        if let Some(file) = book.file.as_mut().filter(|_| is_good)
            && file.append(line.as_bytes()).is_ok()
        {
            return;
        }
        let lines = book.live.iter();
        let lines = lines.map(|(number, noted)| noted.line(*number));
        let is_written = match &mut book.file {
            Some(file) => file.replace(lines).is_ok(),
            None => {
                let folder = JournalFolder::open(&self.directory);
                let name = Journal::random_name();
                book.file = folder.and_then(|folder| folder.create(&name, lines)).ok();
                book.file.is_some()
            }
        };
        book.is_incomplete = !is_written;
        if is_written {
            book.stale = 0;
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
        if let Some(file) = self.file.take() {
            file.remove();
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
        line.to_string()
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
    let journals =
        JournalFolder::open(directory).and_then(|folder| Ok(folder.journals()?.collect()));
    let journals: Vec<FoundJournal> = journals.unwrap_or_default();
    for handles in journals.iter().filter_map(take) {
        let now = SystemTime::now();
        found.extend(handles.into_iter().map(|noted| {
            let end = process::end(noted.process);
            let since = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(noted.since));
            let age = since.and_then(|since| now.duration_since(since).ok());
            Leftover {
                id: noted.id,
                tool: noted.tool,
                age: age.unwrap_or_default(),
                was_alive: end.was_alive,
                has_ended: end.has_ended,
            }
        }));
    }
    found
}

/// Removes a journal that was left behind; returns the handles in it. `None` if its writer lives, or if another jig
/// takes it just now.
fn take(journal: &FoundJournal) -> Option<Vec<JournalHandle>> {
    // Another user must not choose which processes root ends.
    if !journal.is_ours() || !journal.lock() {
        return None;
    }
    let content = journal.content().ok()?;
    if journal.is_writer_alive(&content) {
        return None;
    }
    journal.remove();
    Some(parse(&content))
}

/// The handles that were live; those of an earlier boot are not.
fn parse(content: &JournalContent) -> Vec<JournalHandle> {
    let mut handles = BTreeMap::new();
    let lines = content.records();
    for line in lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok()) {
        if let Some(gone) = line.get("gone").and_then(Value::as_u64) {
            handles.remove(&gone);
        } else if let Some((number, mut noted)) = JournalHandle::read(&line) {
            if !content.is_of_this_machine() {
                // Numbers of an earlier boot mean nothing now.
                noted.process.started = u64::MAX;
            }
            handles.insert(number, noted);
        }
    }
    handles.into_values().collect()
}

fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

/// How many stale lines a file may have beyond twice the live ones before it is written anew.
const ROOM: usize = 128;
