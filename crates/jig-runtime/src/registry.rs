//! [`Handles`]: the running tools that callers name and drive themselves.
//!
//! A handle is reserved before its tool is started, filled with the session, and then fetched from,
//! applied to and aborted until its end was told. What a caller has been told is kept here, so that a
//! look shows what is new; the session keeps what there is.
//!
//! # What counts as told
//!
//! Output counts as told when it was in a report, or when a report said that it was left out and how to
//! get it. So a plain fetch moves on in every case. One with `after_seq` pages through what is kept: it
//! moves on too, if it begins where something was told already, and never back. The views `screen` and
//! `all` move on only if all that is new is in what they show; otherwise the next plain fetch shows it.
//! A report that shows no output at all, for `max_bytes` 0, tells the state alone.
//! A notice tells that a tool has stopped or waits, and neither its result nor its question: an answer
//! counts only after a report that showed the question.
//!
//! # Locks
//!
//! One lock guards the table of handles, for moments: nobody waits, settles, ends a session or writes a
//! file under it. Each handle has another for what was told, held while a report is put together. It
//! may be held when the table is locked, not the other way round.

mod entry;
mod error;
mod info;
#[cfg(target_os = "linux")]
mod journal;
#[cfg(not(target_os = "linux"))]
#[path = "registry/no_journal.rs"]
mod journal;
mod leftover;
mod options;
#[cfg(target_os = "linux")]
mod process;
mod report_output;
mod reserved_id;
mod table;
#[cfg(test)]
mod tests;
mod wakeups;

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jig_broker::{CancelToken, Unapproved};
use jig_proto::{Fetch, HandleId, HandleReport, Notice, StateName, ToolError};
use serde_json::Value;

pub use entry::PendingQuestion;
use entry::{HandleEntry, InputAddressee, LastReport, ReportMode};
use error::HandleEnd;
pub use error::{HandleError, UnknownHandles};
pub use info::{HandleCounts, HandleInfo};
use journal::HandleJournal;
pub use journal::leftovers;
pub use leftover::Leftover;
pub use options::{HandleLimits, HandleNumbers, HandleOptions, NoticeOptions};
pub use reserved_id::ReservedHandle;
use table::HandleTable;
use wakeups::ChangeCounter;

use crate::session::{ApplyError, Session, Update};

/// The running tools of one turn.
///
/// It is shared by everybody who may drive them, from any thread. Dropping it aborts them all;
/// [`end`](Self::end) gives them time.
#[derive(Debug, Default)]
pub struct Handles {
    shared: Arc<RegistryState>,
}

#[derive(Debug, Default)]
struct RegistryState {
    table: Mutex<HandleTable>,
    /// Moves on when a tool begins to wait or stops.
    news: Arc<ChangeCounter>,
    limits: HandleLimits,
    journal: Option<HandleJournal>,
}

/// How many of some handles are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Await {
    /// Until one is ready.
    Any,
    /// Until all are ready.
    All,
}

impl Handles {
    /// Without handles, within these limits.
    pub fn new(limits: HandleLimits) -> Self {
        Self {
            shared: Arc::new(RegistryState {
                limits,
                ..RegistryState::default()
            }),
        }
    }

    /// Notes the processes of live handles in a file below `directory`, so that [`leftovers`] finds them
    /// if this process is killed. There is no file while there is no handle.
    ///
    /// What cannot be written is not noted: a full disk keeps no tool from running.
    ///
    /// # Errors
    ///
    /// If the directory is not there and cannot be made.
    pub fn with_journal(limits: HandleLimits, directory: &Path) -> io::Result<Self> {
        Ok(Self {
            shared: Arc::new(RegistryState {
                limits,
                journal: Some(HandleJournal::in_directory(directory)?),
                ..RegistryState::default()
            }),
        })
    }

    /// Counts the ids of handles together with the other turns that do so, so that they rise for a whole process
    /// (S-061).
    pub fn count_with(&self, numbers: &HandleNumbers) {
        self.shared.lock().count_with(numbers);
    }

    /// Takes an id for a tool that is about to be started: the caller's own, which no live handle may
    /// have, or the next of `h_1`, `h_2`, … that is free (S-061).
    ///
    /// # Errors
    ///
    /// If the id is taken, too many handles are live, or the turn has ended.
    pub fn reserve(
        &self,
        id: Option<HandleId>,
        tool: &str,
        options: HandleOptions,
    ) -> Result<ReservedHandle, HandleError> {
        let limit = self.shared.limits.live;
        let id = self.shared.lock().reserve(id, tool, limit)?;
        Ok(ReservedHandle {
            shared: Arc::clone(&self.shared),
            id,
            tool: tool.to_owned(),
            options,
            is_filled: false,
        })
    }

    /// Waits until what a tool says after its start has come to rest, and tells it (S-024).
    ///
    /// If `cancel` is cancelled the report is made at once, and nothing in it counts as told.
    ///
    /// # Errors
    ///
    /// If there is no such handle.
    pub fn settle(
        &self,
        id: &HandleId,
        cancel: Option<&CancelToken>,
    ) -> Result<HandleReport, HandleError> {
        let entry = self.entry(id)?;
        self.shared.note_process(&entry);
        let (seen, seq) = entry.last_event();
        entry.settle(seen, seq, cancel);
        Ok(self.shared.tell(&entry, &Fetch::default(), cancel))
    }

    /// Waits until what a tool does now has come to rest, without telling anything. `None` if there is
    /// no such handle.
    pub fn settled(&self, id: &HandleId) -> Option<Update> {
        let entry = self.entry(id).ok()?;
        let (seen, seq) = entry.last_event();
        Some(entry.settle(seen, seq, None))
    }

    /// Tells where a tool stands, and the output that `fetch` asks for.
    ///
    /// A handle whose end was told, with all output, is gone. With `wait`, new output, a question and
    /// the end are waited for; not if a question is open, because without an answer nothing happens. If
    /// `cancel` is cancelled the report is made at once, and nothing in it counts as told.
    ///
    /// # Errors
    ///
    /// If there is no such handle, or it is that of another tool.
    pub fn fetch(
        &self,
        tool: &str,
        id: &HandleId,
        fetch: &Fetch,
        cancel: Option<&CancelToken>,
    ) -> Result<HandleReport, HandleError> {
        let entry = self.entry_of(tool, id)?;
        if let Some(limit) = fetch.wait {
            entry.wait_news(fetch.after_seq, limit, cancel);
        }
        Ok(self.shared.tell(&entry, fetch, cancel))
    }

    /// Answers the question of a tool that waits (S-034), or gives input to one that runs (S-033); tells
    /// what the tool makes of it.
    ///
    /// # Errors
    ///
    /// If there is no such handle, it is that of another tool, it has stopped (the error holds its last
    /// report), it takes no such input, or it waits for what only a person may decide.
    pub fn apply(
        &self,
        tool: &str,
        id: &HandleId,
        input: Value,
        fetch: &Fetch,
        cancel: Option<&CancelToken>,
    ) -> Result<HandleReport, HandleError> {
        let entry = self.entry_of(tool, id)?;
        let session = &entry.session;
        // Output that comes between here and the input is taken for an answer to it. That is harmless:
        // it is told all the same.
        let seq = session.seq();
        let (number, applied) = match entry.addressee() {
            InputAddressee::Policy => return Err(HandleError::PolicyAsks { id: id.clone() }),
            InputAddressee::Question(number) => (
                number,
                entry.answer(number, || session.apply(number, input)),
            ),
            InputAddressee::Tool(number) => (number, session.apply(number, input)),
            InputAddressee::Unread => return Err(HandleError::Asks { id: id.clone() }),
            InputAddressee::Nobody => return Err(HandleError::Answered { id: id.clone() }),
        };
        match applied {
            Ok(()) => entry.note_answered(number),
            Err(ApplyError::NotRunning) => {
                session.wait(number, Some(END_IS_NEAR));
                return Err(HandleError::Stopped {
                    id: id.clone(),
                    report: Box::new(self.shared.tell(&entry, fetch, cancel)),
                });
            }
            Err(ApplyError::Changed) => return Err(HandleError::Answered { id: id.clone() }),
            Err(why) => {
                let id = id.clone();
                return Err(HandleError::Input { id, why });
            }
        }
        entry.settle(number, seq, cancel);
        if let Some(limit) = fetch.wait {
            entry.wait_news(fetch.after_seq, limit, cancel);
        }
        Ok(self.shared.tell(&entry, fetch, cancel))
    }

    /// Asks a tool to end, and kills it if it does not; tells what it said last. The handle is gone then.
    ///
    /// How long that takes is a matter of the tool's graces.
    ///
    /// # Errors
    ///
    /// If there is no such handle, it is that of another tool, or it does not end even when killed, as
    /// code inside jig may not.
    pub fn abort(&self, tool: &str, id: &HandleId) -> Result<HandleReport, HandleError> {
        let entry = self.entry_of(tool, id)?;
        entry.session.cancel();
        if !ends(&entry, Instant::now() + CANCELLED) {
            entry.session.abort();
            if !ends(&entry, Instant::now() + KILLED) {
                return Err(HandleError::StillRunning { id: id.clone() });
            }
        }
        let usual = self.shared.limits.max_bytes;
        let reported = entry.report(&Fetch::default(), usual, ReportMode::TellLast);
        self.shared.finish(&entry, HandleEnd::Aborted);
        Ok(reported.report)
    }

    /// Asks a tool to end, and does not wait for that. Nothing happens if there is no such handle.
    pub fn cancel(&self, id: &HandleId) {
        if let Ok(entry) = self.entry(id) {
            entry.session.cancel();
        }
    }

    /// Asks a tool to end, and makes `error` its result, whatever it says itself. Nothing happens if
    /// there is no such handle.
    pub fn fail(&self, id: &HandleId, error: ToolError) {
        if let Ok(entry) = self.entry(id) {
            entry.condemn(error);
            entry.session.cancel();
        }
    }

    /// The question that a handle waits for, the tool's or the policy's.
    pub fn question(&self, id: &HandleId) -> Option<PendingQuestion> {
        self.entry(id).ok()?.question()
    }

    /// Gives the answer of a person, also to a question of the policy.
    ///
    /// # Errors
    ///
    /// If there is no such handle, or this question is not open any more.
    pub fn answer(&self, id: &HandleId, number: u64, answer: Value) -> Result<(), HandleError> {
        self.put(id, number, |session| session.apply(number, answer))
    }

    /// Says that nobody answers a question, also one of the policy.
    ///
    /// # Errors
    ///
    /// If there is no such handle, or this question is not open any more.
    pub fn decline(&self, id: &HandleId, number: u64, why: Unapproved) -> Result<(), HandleError> {
        self.put(id, number, |session| session.decline(number, why))
    }

    fn put(
        &self,
        id: &HandleId,
        number: u64,
        send: impl FnOnce(&Session) -> Result<(), ApplyError>,
    ) -> Result<(), HandleError> {
        let entry = self.entry(id)?;
        match entry.answer(number, || send(&entry.session)) {
            Ok(()) => Ok(()),
            // It asks nothing any more either.
            Err(ApplyError::NotRunning | ApplyError::Changed) => {
                Err(HandleError::Answered { id: id.clone() })
            }
            Err(why) => {
                let id = id.clone();
                Err(HandleError::Input { id, why })
            }
        }
    }

    /// Waits as [`until`](Self::until) does, and then reports on each of the handles, in the order in
    /// which they were named. Those that are ready are told as a fetch does; of the others only the state
    /// is told, and none of their output. If `cancel` is cancelled, nothing counts as told.
    ///
    /// # Errors
    ///
    /// If one of the handles does not exist; the error names all that don't.
    pub fn wait(
        &self,
        ids: &[HandleId],
        mode: Await,
        timeout: Option<Duration>,
        cancel: Option<&CancelToken>,
    ) -> Result<Vec<HandleReport>, HandleError> {
        let entries = self.until_ready(ids, mode, timeout, cancel)?;
        // Those that ended with their turn are not in the table any more. They are told all the same.
        let reports = entries.iter().map(|entry| match entry.is_ready() {
            true => self.shared.tell(entry, &Fetch::default(), cancel),
            false => entry.brief(),
        });
        Ok(reports.collect())
    }

    /// Waits until one or all of some handles are ready, at most for `timeout`, or until `cancel` is
    /// cancelled. Nothing is told.
    ///
    /// A handle is ready when its tool has stopped, and also when it waits for an answer: without one
    /// nothing more would happen, and whoever waits is the one to give it.
    ///
    /// # Errors
    ///
    /// If one of the handles does not exist; the error names all that don't. If the turn has ended
    /// meanwhile: the handles are gone with it, and nobody can fetch them any more.
    pub fn until(
        &self,
        ids: &[HandleId],
        mode: Await,
        timeout: Option<Duration>,
        cancel: Option<&CancelToken>,
    ) -> Result<(), HandleError> {
        self.until_ready(ids, mode, timeout, cancel)?;
        match self.shared.lock().is_over() {
            true => Err(HandleError::Over),
            false => Ok(()),
        }
    }

    fn until_ready(
        &self,
        ids: &[HandleId],
        mode: Await,
        timeout: Option<Duration>,
        cancel: Option<&CancelToken>,
    ) -> Result<Vec<Arc<HandleEntry>>, HandleError> {
        let mut known = HashSet::new();
        let once: Vec<&HandleId> = ids.iter().filter(|id| known.insert(*id)).collect();
        let entries = self.shared.lock().find_all(&once)?;
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let news = &self.shared.news;
        let woken = Arc::clone(news);
        let _hook = cancel.map(|cancel| cancel.on_cancel(move || woken.came()));
        loop {
            let seen = news.number();
            let (turn_is_over, gone) = {
                let table = self.shared.lock();
                let gone = entries.iter().map(|entry| !table.holds(entry));
                (table.is_over(), gone.collect::<Vec<_>>())
            };
            // One that is gone says nothing more, whether it has stopped or not.
            let mut ready = entries
                .iter()
                .zip(gone)
                .map(|(entry, is_gone)| is_gone || entry.is_ready());
            let mode = match turn_is_over {
                // All of them are about to stop.
                true => Await::All,
                false => mode,
            };
            let is_over = match mode {
                Await::Any => ready.any(|is_ready| is_ready) || entries.is_empty(),
                Await::All => ready.all(|is_ready| is_ready),
            };
            let is_cancelled = cancel.is_some_and(CancelToken::is_cancelled);
            if is_over || is_cancelled || !news.wait(seen, deadline) {
                return Ok(entries);
            }
        }
    }

    /// What callers should be told unasked: which tools have stopped or begun to wait since somebody was
    /// last told. Each is told once, here or by a report; one that a report has shown is not.
    ///
    /// There are few at a time: a response that is about something else must not drown in them. What is
    /// left is told the next time.
    pub fn notices(&self) -> Vec<Notice> {
        let (mut notices, mut entries) = {
            let mut table = self.shared.lock();
            // Every response asks, and most callers have no handle.
            if !table.has_news() {
                return Vec::new();
            }
            (table.take_dropped(MOST_NOTICES), table.entries())
        };
        entries.retain(|entry| entry.has_news.load(Ordering::SeqCst));
        entries.sort_by_key(|entry| entry.since);
        for entry in entries {
            if notices.len() >= MOST_NOTICES {
                break;
            }
            notices.extend(entry.take_notice());
        }
        notices
    }

    /// All handles, the oldest first, with what their processes use now.
    pub fn list(&self) -> Vec<HandleInfo> {
        let mut entries = self.shared.lock().entries();
        entries.sort_by_key(|entry| entry.since);
        entries.iter().map(|entry| entry.info()).collect()
    }

    /// The tool of a handle.
    pub fn tool(&self, id: &HandleId) -> Option<String> {
        Some(self.entry(id).ok()?.tool.clone())
    }

    /// The session behind a handle, for whoever wants to look over its shoulder.
    pub fn session(&self, id: &HandleId) -> Option<Arc<Session>> {
        Some(Arc::clone(&self.entry(id).ok()?.session))
    }

    /// How many handles there are.
    pub fn counts(&self) -> HandleCounts {
        self.shared.lock().counts()
    }

    /// Ends the turn (S-063): every tool is asked to end at once, and killed if it has not after `grace`.
    /// When this returns all have ended, apart from code inside jig that hangs. Nothing can be started
    /// afterwards, and whoever waits for a handle is told that it has stopped.
    pub fn end(&self, grace: Duration) {
        self.shared.lock().close();
        let entries = self.shared.lock().entries();
        for entry in &entries {
            entry.session.cancel();
        }
        let deadline = Instant::now() + grace;
        let (ended, running): (Vec<_>, Vec<_>) =
            entries.iter().partition(|entry| ends(entry, deadline));
        for entry in &running {
            entry.session.abort();
        }
        let deadline = Instant::now() + KILLED;
        for entry in &running {
            ends(entry, deadline);
        }
        for entry in ended.into_iter().chain(running) {
            self.shared.finish(entry, HandleEnd::Turn);
        }
        // Also of those that have not stopped, nobody will hear more.
        self.shared.news.came();
    }

    fn entry(&self, id: &HandleId) -> Result<Arc<HandleEntry>, HandleError> {
        self.shared.lock().find(id)
    }

    fn entry_of(&self, tool: &str, id: &HandleId) -> Result<Arc<HandleEntry>, HandleError> {
        let entry = self.entry(id)?;
        if entry.tool != tool {
            return Err(HandleError::OtherTool {
                id: id.clone(),
                tool: entry.tool.clone(),
                asked: tool.to_owned(),
            });
        }
        Ok(entry)
    }
}

impl RegistryState {
    /// Tells where a handle stands. Its end is the end of the handle, unless there is more to show.
    fn tell(
        &self,
        entry: &Arc<HandleEntry>,
        fetch: &Fetch,
        cancel: Option<&CancelToken>,
    ) -> HandleReport {
        // A session may learn of its process a moment after it has started.
        self.note_process(entry);
        let telling = match cancel.is_some_and(CancelToken::is_cancelled) {
            true => ReportMode::Peek,
            false => ReportMode::Tell,
        };
        let LastReport { report, is_last } = entry.report(fetch, self.limits.max_bytes, telling);
        if is_last {
            self.finish(entry, HandleEnd::Told);
        }
        report
    }

    /// Removes a handle whose tool has stopped.
    fn finish(&self, entry: &Arc<HandleEntry>, ended: HandleEnd) {
        self.lock().remove(entry, ended);
        self.after_stop(entry);
    }

    /// Takes note that a tool has stopped.
    fn note_stopped(&self, entry: &Arc<HandleEntry>) {
        let weight = entry.session.weight();
        let dropped = self.lock().note_stopped(entry, weight, &self.limits);
        // Their sessions go here, where nothing is locked.
        drop(dropped);
        self.after_stop(entry);
    }

    fn after_stop(&self, entry: &HandleEntry) {
        if let Some(journal) = &self.journal {
            journal.remove(entry.number);
        }
    }

    /// Notes the process of a tool in the journal, if it is not there yet.
    fn note_process(&self, entry: &HandleEntry) {
        let Some(journal) = &self.journal else {
            return;
        };
        if let Some(pid) = entry.session.pid()
            && entry.noted_pid.swap(pid, Ordering::SeqCst) != pid
        {
            journal.add(entry.number, &entry.id, &entry.tool, pid);
            // It may have stopped, and have been removed, in between.
            if entry.session.state().state.status() == StateName::Stopped {
                journal.remove(entry.number);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HandleTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until a tool has stopped.
fn ends(entry: &HandleEntry, deadline: Instant) -> bool {
    let mut seen = 0;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let update = entry.session.wait(seen, Some(left));
        if update.state.status() == StateName::Stopped {
            return true;
        }
        if left.is_zero() {
            return false;
        }
        seen = update.number;
    }
}

/// How many notices are told at once. An assistant that started hundreds of tools would otherwise find
/// hundreds of them in a response that is about something else.
const MOST_NOTICES: usize = 32;

/// How long a tool that was asked to end is waited for. Its session kills it long before, as its graces
/// say.
const CANCELLED: Duration = Duration::from_secs(60);

/// How long a tool that was killed is waited for. Only code inside jig takes longer.
const KILLED: Duration = Duration::from_secs(10);

/// How long from the end of a tool to the news of it.
const END_IS_NEAR: Duration = Duration::from_secs(5);
