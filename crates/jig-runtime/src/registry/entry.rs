//! [`HandleEntry`]: one handle, and what its caller has been told about it.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use jig_broker::CancelToken;
use jig_proto::{
    Content, Details, Fetch, HandleId, HandleReport, Notice, Question, StateName, ToolError,
    ToolState, View,
};
use jig_pty::{CutSide, Settle};

use super::report_output::ReportOutput;
use super::{HandleInfo, HandleOptions};
use crate::session::{ApplyError, AskedBy, OutputLook, Session, Update};

/// One handle.
#[derive(Debug)]
pub(super) struct HandleEntry {
    /// A number that no other handle ever has, whatever its id.
    pub(super) number: u64,
    pub(super) id: HandleId,
    pub(super) tool: String,
    pub(super) options: HandleOptions,
    pub(super) session: Arc<Session>,
    pub(super) started: SystemTime,
    pub(super) since: Instant,
    /// What was told. Whoever builds a report holds it, so that nothing is told twice or not at all; a
    /// wait never does.
    told: Mutex<CallerPosition>,
    /// Whether the tool has begun to wait or has stopped since somebody last looked for notices.
    pub(super) has_news: AtomicBool,
    /// Whether the table knows that the tool has stopped.
    pub(super) is_noted: AtomicBool,
    result_was_told: AtomicBool,
    /// The process that stands in the journal; 0 for none.
    pub(super) noted_pid: AtomicU32,
}

/// How far the caller has been told.
#[derive(Debug)]
struct CallerPosition {
    /// The output up to here was shown, or was left out of what was shown.
    seq: u64,
    /// The number of the last update whose state was told.
    number: u64,
    /// That state.
    status: StateName,
    /// Whose question that was, if the tool waited.
    asked_by: Option<AskedBy>,
    /// The number of the last update of which there was a notice. That says where the tool stands, and not
    /// what it asks or has come to.
    noticed: u64,
    /// The number of the question that was answered last. The tool may not have noticed yet.
    answered: u64,
    /// The output up to here came before that answer.
    answered_at: u64,
    /// How many notes were told.
    notes: usize,
    /// What the tool's result is, whatever it says itself.
    verdict: Option<ToolError>,
}

/// What is done with a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReportMode {
    /// It reaches the caller: what is in it is not told again.
    Tell,
    /// It reaches the caller, and the handle ends with it.
    TellLast,
    /// It may reach nobody: all of it is told again.
    Peek,
}

/// A report, and whether the handle has nothing more to say.
#[derive(Debug)]
pub(super) struct LastReport {
    pub(super) report: HandleReport,
    pub(super) is_last: bool,
}

impl HandleEntry {
    pub(super) fn new(
        id: HandleId,
        tool: String,
        options: HandleOptions,
        session: Arc<Session>,
    ) -> Self {
        Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            id,
            tool,
            options,
            session,
            started: SystemTime::now(),
            since: Instant::now(),
            told: Mutex::new(CallerPosition {
                seq: 0,
                number: FIRST,
                status: StateName::Running,
                asked_by: None,
                noticed: FIRST,
                answered: 0,
                answered_at: 0,
                notes: 0,
                verdict: None,
            }),
            has_news: AtomicBool::new(false),
            is_noted: AtomicBool::new(false),
            result_was_told: AtomicBool::new(false),
            noted_pid: AtomicU32::new(0),
        }
    }

    /// Tells where the tool stands, and the output that `fetch` asks for.
    pub(super) fn report(&self, fetch: &Fetch, usual: usize, telling: ReportMode) -> LastReport {
        let mut told = self.lock();
        // The state comes first: what a tool printed before it stopped is then in the output.
        let update = self.session.state();
        let max = fetch.max_bytes.unwrap_or(usual);
        let shown = self.shown(&told, fetch, max);
        let state = told.state(&update, shown.text(telling == ReportMode::TellLast));
        let has_stopped = state.status() == StateName::Stopped;
        let notes = self.session.notes_after(told.notes);
        if telling != ReportMode::Peek {
            told.seq = told.seq.max(shown.told);
            told.advance(&update);
            told.notes += notes.len();
            self.result_was_told.fetch_or(has_stopped, Ordering::SeqCst);
        }
        let details = Details {
            seq: Some(shown.next),
            cut: shown.cut(telling == ReportMode::TellLast),
            terminal: shown.terminal,
            exit_code: has_stopped.then(|| self.session.exit_code()).flatten(),
            notes,
        };
        let report = HandleReport {
            id: self.id.clone(),
            state,
            details,
        };
        let is_last = match telling {
            ReportMode::Tell => has_stopped && shown.is_complete,
            ReportMode::TellLast => has_stopped,
            ReportMode::Peek => false,
        };
        LastReport { report, is_last }
    }

    /// The state alone, of a handle that was asked about beside others. Nothing counts as told.
    pub(super) fn brief(&self) -> HandleReport {
        let told = self.lock();
        let state = told.state(&self.session.state(), String::new());
        HandleReport::new(self.id.clone(), state)
    }

    fn shown(&self, told: &CallerPosition, fetch: &Fetch, max: usize) -> ReportOutput {
        let look = |view, after, max, cut| {
            let look = OutputLook {
                view,
                after,
                max,
                cut,
            };
            self.session.output(&look)
        };
        match (fetch.view, fetch.after_seq) {
            (View::New, None) => {
                let output = look(View::New, told.seq, max, CutSide::Front);
                ReportOutput::news(output, told.seq)
            }
            (View::New, Some(after)) => {
                let output = look(View::New, after, max, CutSide::Back);
                ReportOutput::page(output, after, told.seq)
            }
            (view, _) => {
                let output = look(view, 0, max, CutSide::Front);
                // What is new counts as told if it is all in what is shown.
                let room = output.text.len().saturating_add(1);
                let news = look(View::New, told.seq, room, CutSide::Back);
                match view {
                    View::All => ReportOutput::all(output, &news, told.seq),
                    _ => ReportOutput::screen(output, &news, told.seq),
                }
            }
        }
    }

    /// Waits for new output, a question or the end, at most for `limit`. What has come before, and was not
    /// told, ends the wait at once. So does a question that waits for its answer: without one nothing
    /// happens.
    pub(super) fn wait_news(
        &self,
        after: Option<u64>,
        limit: Duration,
        cancel: Option<&CancelToken>,
    ) {
        let (seen, seq) = {
            let told = self.lock();
            if told.open_question(&self.session.state()).is_some() {
                return;
            }
            (told.number, after.unwrap_or(told.seq))
        };
        let deadline = Instant::now().checked_add(limit);
        loop {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let is_over = left.is_some_and(|left| left.is_zero());
            if is_over || cancel.is_some_and(CancelToken::is_cancelled) {
                return;
            }
            let slice = match cancel {
                Some(_) => Some(left.map_or(SLICE, |left| left.min(SLICE))),
                None => left,
            };
            let update = self.session.wait_news(seen, seq, slice);
            let has_news = update.number > seen && update.state.status() != StateName::Running;
            if has_news || update.state.status() == StateName::Stopped || self.session.seq() > seq {
                return;
            }
        }
    }

    /// Waits until what the tool does now has come to rest. That takes seconds at most: a call that is
    /// given up meanwhile waits too.
    pub(super) fn settle(&self, seen: u64, seq: u64, cancel: Option<&CancelToken>) -> Update {
        match cancel.is_some_and(CancelToken::is_cancelled) {
            true => self.session.state(),
            false => self.session.settle(seen, seq, &Settle::default()),
        }
    }

    /// Since when the tool is watched: since the caller was last told something, or the last question was
    /// answered. The number of the update, and the place in the output.
    pub(super) fn last_event(&self) -> (u64, u64) {
        let told = self.lock();
        (
            told.number.max(told.answered),
            told.seq.max(told.answered_at),
        )
    }

    /// The question that waits for an answer, and the number of its update.
    pub(super) fn question(&self) -> Option<PendingQuestion> {
        let told = self.lock();
        told.open_question(&self.session.state())
    }

    /// To whom an input goes now.
    pub(super) fn addressee(&self) -> InputAddressee {
        let told = self.lock();
        let update = self.session.state();
        let open = told.open_question(&update);
        // Who was last told of a question answers that one, and no other.
        if told.asked_by == Some(AskedBy::Tool) && update.number != told.number {
            return InputAddressee::Nobody;
        }
        match open {
            Some(pending) if pending.asked_by == AskedBy::Policy => InputAddressee::Policy,
            Some(pending) if told.number == pending.number => {
                InputAddressee::Question(pending.number)
            }
            // The caller has not read the question, so this was not meant as its answer.
            Some(_) => InputAddressee::Unread,
            // The tool has not heard the answer yet, and would take this for another one.
            None if update.state.status() == StateName::Waiting => InputAddressee::Nobody,
            None => InputAddressee::Tool(update.number),
        }
    }

    /// Has `send` answer the open question of this number. Two callers cannot both answer one question,
    /// and nothing is locked while the answer is sent.
    pub(super) fn answer(
        &self,
        number: u64,
        send: impl FnOnce() -> Result<(), ApplyError>,
    ) -> Result<(), ApplyError> {
        let mut told = self.lock();
        let open = told.open_question(&self.session.state());
        if open.is_none_or(|open| open.number != number) {
            return Err(ApplyError::Changed);
        }
        let before = std::mem::replace(&mut told.answered, number);
        told.answered_at = self.session.seq();
        drop(told);
        let sent = send();
        if sent.is_err() {
            self.lock().answered = before;
        }
        sent
    }

    /// Notes that the caller itself has answered the question of this number: what it sends next is not
    /// meant for that.
    pub(super) fn note_answered(&self, number: u64) {
        let mut told = self.lock();
        if told.number == number {
            told.asked_by = None;
        }
    }

    /// Whether nothing more happens here without the caller: the tool has stopped, or asks.
    pub(super) fn is_ready(&self) -> bool {
        let told = self.lock();
        let update = self.session.state();
        update.state.status() == StateName::Stopped || told.open_question(&update).is_some()
    }

    /// Makes this the tool's result, whatever the tool says.
    pub(super) fn condemn(&self, error: ToolError) {
        self.lock().verdict = Some(error);
    }

    /// The notice that is due, once.
    pub(super) fn take_notice(&self) -> Option<Notice> {
        if !self.has_news.swap(false, Ordering::SeqCst) {
            return None;
        }
        let mut told = self.lock();
        let (number, notice) = self.due(&told)?;
        told.noticed = number;
        Some(notice)
    }

    fn due(&self, told: &CallerPosition) -> Option<(u64, Notice)> {
        let update = self.session.state();
        if update.number <= told.number.max(told.noticed) {
            return None;
        }
        let status = told.status_of(&update);
        let is_wanted = match status {
            StateName::Running => false,
            StateName::Waiting => self.options.notices.waiting,
            StateName::Stopped => self.options.notices.stopped,
        };
        is_wanted.then(|| (update.number, self.notice(status, false)))
    }

    pub(super) fn notice(&self, state: StateName, dropped: bool) -> Notice {
        Notice {
            id: self.id.clone(),
            tool: self.tool.clone(),
            state,
            dropped,
        }
    }

    pub(super) fn result_was_told(&self) -> bool {
        self.result_was_told.load(Ordering::SeqCst)
    }

    pub(super) fn info(&self) -> HandleInfo {
        let (status, question) = {
            let told = self.lock();
            let update = self.session.state();
            let question = told.open_question(&update);
            (
                told.status_of(&update),
                question.map(|open| open.question.text),
            )
        };
        HandleInfo {
            id: self.id.clone(),
            tool: self.tool.clone(),
            status,
            question,
            started: self.started,
            age: self.since.elapsed(),
            usage: self.session.usage(),
            pid: self.session.pid(),
            terminal: self.session.is_terminal(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, CallerPosition> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallerPosition {
    /// The state as it is told: with `text` for its content.
    fn state(&self, update: &Update, text: String) -> ToolState {
        let content = match text.is_empty() {
            true => Content::EMPTY,
            false => Content::text(text),
        };
        match &update.state {
            ToolState::Waiting { question, .. } if !self.is_answered(update) => {
                let question = question.clone();
                ToolState::Waiting { content, question }
            }
            ToolState::Running { .. } | ToolState::Waiting { .. } => ToolState::Running { content },
            ToolState::Stopped { result, .. } => {
                let result = match &self.verdict {
                    Some(error) => Err(error.clone()),
                    None => result.clone(),
                };
                ToolState::Stopped { content, result }
            }
        }
    }

    /// The status as it is told: a tool whose question was answered runs, also if it has not heard the
    /// answer yet (S-027: waiting becomes running by `apply`).
    fn status_of(&self, update: &Update) -> StateName {
        match update.state.status() {
            StateName::Waiting if self.is_answered(update) => StateName::Running,
            status => status,
        }
    }

    fn is_answered(&self, update: &Update) -> bool {
        update.number <= self.answered
    }

    fn open_question(&self, update: &Update) -> Option<PendingQuestion> {
        let ToolState::Waiting { question, .. } = &update.state else {
            return None;
        };
        (!self.is_answered(update)).then(|| PendingQuestion {
            number: update.number,
            question: question.clone(),
            asked_by: update.asker.unwrap_or(AskedBy::Tool),
        })
    }

    /// Notes that a state is told. What callers see is checked here: time does not run backwards, and no state
    /// follows one that cannot become it (S-027).
    fn advance(&mut self, update: &Update) {
        let status = self.status_of(update);
        let is_new = update.number != self.number;
        // A question that was told and is not the one that is open now: the tool ran in between.
        let stood = match self.status {
            StateName::Waiting if is_new => StateName::Running,
            stood => stood,
        };
        let is_told_again = !is_new && stood == status;
        let is_legal = update.number >= self.number && (is_told_again || stood.can_become(status));
        debug_assert!(
            is_legal,
            "{status:?} ({}) after {:?} ({})",
            update.number, self.status, self.number
        );
        if !is_legal {
            return;
        }
        self.number = update.number;
        self.status = status;
        self.asked_by = update.asker.filter(|_| status == StateName::Waiting);
    }
}

/// To whom an input goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputAddressee {
    /// It is the answer to the open question, which has this number.
    Question(u64),
    /// It would be the answer to a question of the policy.
    Policy,
    /// It goes to the tool, which ran when the update of this number was the newest, or has stopped.
    Tool(u64),
    /// The tool has a question that the caller has not been told.
    Unread,
    /// It was meant as the answer to a question that is not open any more.
    Nobody,
}

/// A question that waits for its answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PendingQuestion {
    /// The number of the update that asks: an answer names it, so that it is not taken for the answer to
    /// another question.
    pub number: u64,
    /// The question.
    pub question: Question,
    /// Whose it is.
    pub asked_by: AskedBy,
}

static NEXT: AtomicU64 = AtomicU64::new(1);

/// The number of a session's first update, which says that the tool runs.
const FIRST: u64 = 1;

/// How long somebody waits before looking whether the call was given up.
const SLICE: Duration = Duration::from_millis(50);
