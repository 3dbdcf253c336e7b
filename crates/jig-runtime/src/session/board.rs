//! [`SessionBoard`]: where the owner of a tool publishes what there is to know about it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Instant;

use jig_broker::{AuditNote, Broker, CancelToken, RunRecord, Secrets};
use jig_proto::{Block, Content, Question, StateName, ToolError, ToolState};
use jig_pty::{Input, Log, Screen, Settle, Transcript};
use jig_sandbox::{Child, Status as Confinement};
use serde_json::Value;

use super::orders::{InputPurpose, WakerSlot};
use super::output::TranscriptLook;
use super::{ApplyError, AskedBy, OutputLook, PaintedScreen, SessionOutput, Update};
use crate::call_record;
use crate::{Plan, ReachedLimit};

/// What input a running tool takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputKind {
    /// None: only questions are answered.
    Answers,
    /// What a console can be given.
    Console,
    /// Any value: the tool reads it itself.
    Values,
}

/// What a board is made of.
#[derive(Debug)]
pub(crate) struct BoardSetup {
    pub(crate) confinement: Option<Confinement>,
    /// Where what the tool says is kept, for a session that is stateful or has a terminal.
    pub(crate) transcript: Option<Transcript>,
    pub(crate) takes: InputKind,
    /// The secrets that are left out of what is shown.
    pub(crate) secrets: Secrets,
    /// The call in the log, if its start is there.
    pub(crate) record: Option<RunRecord>,
}

impl BoardSetup {
    /// The board of a session that keeps what its tool says, if the plan wants that.
    pub(crate) fn of(plan: &Plan, confinement: Option<Confinement>) -> Self {
        Self {
            confinement,
            transcript: plan.stateful.then(|| Transcript::Log(Log::new(KEPT_BYTES))),
            takes: match plan.stateful && plan.takes_input {
                true => InputKind::Values,
                false => InputKind::Answers,
            },
            secrets: plan.broker.secrets().clone(),
            record: None,
        }
    }

    /// The same for a call whose start is in the log.
    pub(crate) fn recorded(mut self, record: Option<RunRecord>) -> Self {
        self.record = record;
        if let Some(record) = &mut self.record {
            record.started();
        }
        self
    }

    /// The same for a program on pipes or a terminal of its own.
    pub(crate) fn of_console(plan: &Plan, confinement: Option<Confinement>) -> Self {
        let mut setup = Self::of(plan, confinement);
        if plan.stateful {
            setup.takes = InputKind::Console;
        }
        if let Some(size) = plan.terminal {
            setup.transcript = Some(Transcript::Screen(Screen::new(size, SCROLLBACK)));
        }
        setup
    }
}

/// Where the owner of a tool publishes its state and what it says.
#[derive(Debug)]
pub(crate) struct SessionBoard {
    post: Mutex<SessionBoardState>,
    /// The state has changed.
    changed: Condvar,
    /// There is output, or the state has changed. Most of those who wait do not wait for output: a tool
    /// that prints without end must not wake them each time.
    news: Condvar,
    /// How many threads want to look. A tool that prints without end would otherwise have the board for
    /// itself: a mutex goes to whoever comes first, and that is whoever just had it.
    looking: AtomicUsize,
    takes: InputKind,
    secrets: Secrets,
    /// Who is told of every change of the state.
    hook: Mutex<Option<StatusHook>>,
    /// The call in the log, until it ends.
    record: Mutex<Option<RunRecord>>,
}

/// Somebody who is told of changes.
struct StatusHook(Arc<dyn Fn(StateName) + Send + Sync>);

impl fmt::Debug for StatusHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}

#[derive(Debug)]
pub(crate) struct SessionBoardState {
    number: u64,
    state: ToolState,
    asker: Option<AskedBy>,
    /// The number of the last question.
    asked: u64,
    /// What is cancelled when the question that is open is asked no more.
    asking: Option<CancelToken>,
    transcript: Option<Transcript>,
    /// When the output last changed.
    said: Instant,
    /// Whether the line end of what was told last is ours: content is passed on as it came (S-023).
    is_closed_by_us: bool,
    /// How many wait for output. Waking nobody costs a system call.
    listening: usize,
    confinement: Option<Confinement>,
    warnings: Vec<String>,
    /// What is to be said about it while it runs.
    notes: Vec<String>,
    /// What the tool last said about its progress, each with the number of its update: a state that takes its
    /// place must not hide it from whoever drives the call.
    progress: VecDeque<(u64, String)>,
    reached: Vec<ReachedLimit>,
    exit_code: Option<i32>,
    child: Weak<Child>,
    /// What gives up the request that a tool inside jig is in the middle of.
    current: Option<CancelToken>,
    /// The door of a tool that may have programs started which stay, as long as it runs.
    broker: Option<Broker>,
    /// Whether the call was given up.
    given_up: bool,
    /// What wakes the owner of the tool, as long as that runs.
    waker: Option<WakerSlot>,
}

impl SessionBoardState {
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    fn update(&self) -> Update {
        Update {
            number: self.number,
            state: self.state.clone(),
            asker: self.asker,
        }
    }

    fn seq(&self) -> u64 {
        match &self.transcript {
            Some(transcript) => transcript.seq(),
            None => self.number,
        }
    }

    /// Keeps what a state that is about to be published says about progress.
    fn keep_progress(&mut self, state: &ToolState) {
        let ToolState::Running { content } = state else {
            return;
        };
        if content.is_empty() {
            return;
        }
        let mut text = content.to_text();
        text.truncate(text.floor_char_boundary(LONGEST_PROGRESS));
        if self.progress.len() == MOST_PROGRESS {
            self.progress.pop_front();
        }
        self.progress.push_back((self.number, text));
    }

    /// Whether there is a question that came after the update number `seen`, or the end.
    fn has_halted(&self, seen: u64) -> bool {
        match self.state.status() {
            StateName::Stopped => true,
            StateName::Waiting => self.number > seen,
            StateName::Running => false,
        }
    }
}

impl SessionBoard {
    pub(crate) fn new(setup: BoardSetup) -> Arc<Self> {
        let BoardSetup {
            confinement,
            transcript,
            takes,
            secrets,
            record,
        } = setup;
        Arc::new(Self {
            post: Mutex::new(SessionBoardState {
                number: 1,
                state: ToolState::running(Content::EMPTY),
                asker: None,
                asked: 0,
                asking: None,
                transcript,
                said: Instant::now(),
                is_closed_by_us: false,
                listening: 0,
                confinement,
                warnings: Vec::new(),
                notes: Vec::new(),
                progress: VecDeque::new(),
                reached: Vec::new(),
                exit_code: None,
                child: Weak::new(),
                current: None,
                broker: None,
                given_up: false,
                waker: None,
            }),
            changed: Condvar::new(),
            news: Condvar::new(),
            looking: AtomicUsize::new(0),
            takes,
            secrets,
            hook: Mutex::new(None),
            record: Mutex::new(record),
        })
    }

    /// Notes what is to be said about the confinement of the tool. Each thing is said once.
    pub(crate) fn warn(&self, warnings: impl IntoIterator<Item = String>) {
        let mut post = self.lock();
        for warning in warnings {
            if !post.warnings.contains(&warning) {
                post.warnings.push(warning);
            }
        }
    }

    /// Notes what those who look at the tool should know. Each thing is said once, and not too many: a tool may be
    /// what makes them.
    pub(crate) fn note(&self, note: String) {
        let mut post = self.lock();
        if post.notes.len() < MOST_NOTES && !post.notes.contains(&note) {
            post.notes.push(note);
        }
    }

    /// Notes limits that the tool came up against.
    pub(crate) fn reached(&self, reached: &[ReachedLimit]) {
        self.lock().reached.extend_from_slice(reached);
    }

    /// Notes the processes of the tool, so that others can ask what they use.
    pub(crate) fn set_child(&self, child: &Arc<Child>) {
        self.lock().child = Arc::downgrade(child);
    }

    /// Notes the code that the program has exited with.
    pub(crate) fn set_exit_code(&self, code: Option<i32>) {
        self.lock().exit_code = code;
    }

    /// Notes the door of a tool that may have programs started which stay.
    pub(crate) fn set_broker(&self, broker: Broker) {
        self.lock().broker = Some(broker);
    }

    pub(crate) fn running(&self, content: Content) {
        self.publish(ToolState::running(content), None);
    }

    pub(crate) fn waiting(&self, content: Content, question: Question, asker: AskedBy) {
        self.publish(ToolState::Waiting { content, question }, Some(asker));
    }

    pub(crate) fn stopped(&self, result: Result<Content, ToolError>) {
        // Whoever hears of the end finds it in the log.
        if let Some(record) = self.record().take() {
            let (given_up, code) = {
                let post = self.lock();
                (post.given_up, post.exit_code)
            };
            let how = match code {
                Some(code) => format!("it exited with code {code}"),
                None => "it ended".to_owned(),
            };
            let outcome = call_record::outcome(&result, given_up);
            if let Err(error) = record.end(outcome, how) {
                self.warn([format!(
                    "how it ended is not in the log, which cannot be written: {error}"
                )]);
            }
        }
        let content = Content::EMPTY;
        self.publish(ToolState::Stopped { content, result }, None);
    }

    /// Writes a line about the call, if its start is in the log.
    pub(super) fn write_note(&self, note: AuditNote) {
        if let Some(record) = &*self.record() {
            record.note(note);
        }
    }

    fn record(&self) -> MutexGuard<'_, Option<RunRecord>> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what a tool tells about where it stands to what is kept of its output, on lines of its own.
    pub(crate) fn tell(&self, content: &Content) {
        if content.is_empty() {
            return;
        }
        let mut text = self.secrets.scrub_text(content.to_text());
        let is_open = !text.ends_with('\n');
        if is_open {
            text.push('\n');
        }
        let mut post = self.lock();
        if let Some(transcript) = &mut post.transcript {
            transcript.push(text.as_bytes());
            post.is_closed_by_us = is_open;
            self.has_said(&mut post);
        }
    }

    /// Changes what is kept of the output, and wakes whoever waits for more.
    ///
    /// It is called with small pieces: the board is not free meanwhile.
    pub(crate) fn say<R>(&self, change: impl FnOnce(&mut Transcript) -> R) -> Option<R> {
        for _ in 0..POLITE_ROUNDS {
            if self.looking.load(Ordering::Relaxed) == 0 {
                break;
            }
            thread::yield_now();
        }
        let mut post = self.lock();
        let transcript = post.transcript.as_mut()?;
        let before = transcript.seq();
        let result = change(transcript);
        if transcript.seq() != before {
            self.has_said(&mut post);
        }
        Some(result)
    }

    fn has_said(&self, post: &mut SessionBoardState) {
        post.said = Instant::now();
        if post.listening > 0 {
            self.news.notify_all();
        }
    }

    /// Whether the question of the update with this number is the one that is asked now.
    pub(crate) fn asks(&self, number: u64) -> bool {
        let post = self.lock();
        post.state.status() == StateName::Waiting && post.number == number
    }

    /// Cancelled when the question of the update with this number is asked no more; it may be already.
    pub(super) fn asking(&self, number: u64) -> CancelToken {
        let mut post = self.lock();
        if post.state.status() == StateName::Waiting && post.number == number {
            return post.asking.get_or_insert_default().clone();
        }
        drop(post);
        let token = CancelToken::new();
        token.cancel();
        token
    }

    /// Notes which request a tool inside jig is in the middle of; gives it up if the call already is.
    pub(crate) fn set_current(&self, token: Option<CancelToken>) {
        let mut post = self.lock();
        if let Some(token) = token.as_ref().filter(|_| post.given_up) {
            token.cancel();
        }
        post.current = token;
    }

    pub(super) fn give_up(&self) {
        let mut post = self.lock();
        post.given_up = true;
        let token = post.current.take();
        drop(post);
        if let Some(token) = token {
            token.cancel();
        }
    }

    /// Kills the programs that the tool has had started and that stay.
    pub(super) fn kill_processes(&self) {
        let broker = self.lock().broker.clone();
        if let Some(broker) = broker {
            broker.kill_processes();
        }
    }

    /// What is meant with something that was given to the update of the number `seen`.
    pub(super) fn given(&self, seen: u64, input: &Value) -> Result<InputPurpose, ApplyError> {
        let post = self.look();
        match post.state.status() {
            StateName::Stopped => return Err(ApplyError::NotRunning),
            StateName::Waiting if post.number == seen => return Ok(InputPurpose::Answer(seen)),
            StateName::Waiting => return Err(ApplyError::Changed),
            StateName::Running if post.asked == seen => return Err(ApplyError::Changed),
            StateName::Running => {}
        }
        drop(post);
        match self.takes {
            InputKind::Answers => return Err(ApplyError::NotTaken),
            InputKind::Values => {}
            InputKind::Console => drop(Input::read(input)?),
        }
        Ok(InputPurpose::Input)
    }

    pub(super) fn input_has_come(&self) {
        let broker = self.lock().broker.clone();
        if let Some(broker) = broker {
            broker.input_has_come();
        }
    }

    fn publish(&self, state: ToolState, asker: Option<AskedBy>) {
        let mut post = self.lock();
        // The same question again is not news: it would be asked twice.
        if asker.is_some() && post.asker == asker && post.state == state {
            return;
        }
        let status = state.status();
        if !post.state.status().can_become(status) {
            match post.state.status() {
                // Stopped is final: what comes late is not news.
                StateName::Stopped => return,
                // One question takes the place of another. In between the tool ran, for nobody to see (S-027).
                _ => post.number += 1,
            }
        }
        // It may say something else besides, and ask the same.
        let is_asked_still =
            asker.is_some() && post.asker == asker && question(&post.state) == question(&state);
        let asking = post.asking.take_if(|_| !is_asked_still);
        post.number += 1;
        post.keep_progress(&state);
        post.state = state;
        post.asker = asker;
        if asker.is_some() {
            post.asked = post.number;
        }
        // Whoever keeps a session that has stopped need not keep all that it worked with.
        let (broker, waker) = match status {
            StateName::Stopped => (post.broker.take(), post.waker.take()),
            _ => (None, None),
        };
        self.changed.notify_all();
        if post.listening > 0 {
            self.news.notify_all();
        }
        drop(post);
        if let Some(asking) = asking {
            asking.cancel();
        }
        drop(broker);
        if let Some(waker) = waker {
            let mut waker = waker.lock().unwrap_or_else(PoisonError::into_inner);
            *waker = None;
        }
        let hook = self.hook.lock().unwrap_or_else(PoisonError::into_inner);
        let hook = hook.as_ref().map(|hook| Arc::clone(&hook.0));
        if let Some(hook) = hook {
            hook(status);
        }
    }

    fn lock(&self) -> MutexGuard<'_, SessionBoardState> {
        self.post.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same, for whoever looks from outside.
    fn look(&self) -> MutexGuard<'_, SessionBoardState> {
        self.looking.fetch_add(1, Ordering::Relaxed);
        let post = self.lock();
        self.looking.fetch_sub(1, Ordering::Relaxed);
        post
    }
}

/// What a [`Session`](super::Session) asks.
impl SessionBoard {
    pub(super) fn update(&self) -> Update {
        self.look().update()
    }

    pub(super) fn status(&self) -> StateName {
        self.look().state.status()
    }

    /// Whether the tool runs, and has said nothing about its progress.
    pub(super) fn is_quiet(&self) -> bool {
        let post = self.look();
        post.state.status() == StateName::Running && post.progress.is_empty()
    }

    /// Has the waker dropped when the tool has stopped.
    pub(super) fn keep_waker(&self, waker: WakerSlot) {
        let mut post = self.lock();
        if post.state.status() != StateName::Stopped {
            post.waker = Some(waker);
            return;
        }
        drop(post);
        let mut waker = waker.lock().unwrap_or_else(PoisonError::into_inner);
        *waker = None;
    }

    pub(super) fn set_hook(&self, hook: Arc<dyn Fn(StateName) + Send + Sync>) {
        let mut place = self.hook.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Some(StatusHook(hook));
    }

    pub(super) fn seq(&self) -> u64 {
        self.look().seq()
    }

    pub(super) fn output(&self, look: &OutputLook) -> SessionOutput {
        let scrubber = self.secrets.scrubber();
        let post = self.look();
        let Some(transcript) = &post.transcript else {
            return told(&post, look);
        };
        let found = TranscriptLook::of(transcript, look, scrubber.is_some());
        let (is_closed_by_us, seq) = (post.is_closed_by_us, post.seq());
        // Looking for secrets takes its time, and the tool goes on meanwhile.
        drop(post);
        let mut output = found.clean(scrubber.as_ref());
        if is_closed_by_us && output.seq == seq && output.text.ends_with('\n') {
            output.text.pop();
        }
        output
    }

    pub(super) fn painted(&self) -> Option<PaintedScreen> {
        let scrubber = self.secrets.scrubber();
        let post = self.look();
        PaintedScreen::of(post.transcript.as_ref()?, scrubber.as_ref())
    }

    pub(super) fn weight(&self) -> usize {
        let post = self.look();
        let screen = post.transcript.as_ref().and_then(Transcript::terminal);
        let cells = screen.map_or(0, |facts| {
            usize::from(facts.size.rows) * usize::from(facts.size.cols)
        });
        let text = post.transcript.as_ref().map(|kept| kept.all(usize::MAX));
        let said = match &post.state {
            ToolState::Running { content } => content.to_text().len(),
            ToolState::Waiting { content, question } => {
                content.to_text().len() + question.text.len()
            }
            ToolState::Stopped { content, result } => {
                let result = match result {
                    Ok(result) => weight_of(result),
                    Err(error) => {
                        let trace: usize = error.trace.iter().map(String::len).sum();
                        let denials = error.denials.iter().map(|denial| denial.to_string().len());
                        let carried = weight_of(&error.content);
                        error.message.len() + trace + denials.sum::<usize>() + carried
                    }
                };
                content.to_text().len() + result
            }
        };
        said + text.map_or(0, |text| text.text.len()) + cells * CELL_BYTES
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self.look().transcript, Some(Transcript::Screen(_)))
    }

    pub(super) fn exit_code(&self) -> Option<i32> {
        self.look().exit_code
    }

    pub(super) fn child(&self) -> Option<Arc<Child>> {
        self.look().child.upgrade()
    }

    pub(super) fn confinement(&self) -> Option<Confinement> {
        self.look().confinement.clone()
    }

    pub(super) fn all_reached(&self) -> Vec<ReachedLimit> {
        self.look().reached.clone()
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        self.look().warnings.clone()
    }

    pub(super) fn notes_after(&self, count: usize) -> Vec<String> {
        self.look().notes.iter().skip(count).cloned().collect()
    }

    pub(super) fn progress(&self, after: u64, until: u64) -> Vec<String> {
        let post = self.look();
        let wanted = post
            .progress
            .iter()
            .filter(|(number, _)| *number > after && *number <= until);
        wanted.map(|(_, text)| text.clone()).collect()
    }

    /// Waits until `is_over` holds of what is posted, or the tool has stopped.
    pub(super) fn wait(
        &self,
        deadline: Option<Instant>,
        is_over: impl Fn(&SessionBoardState) -> bool,
    ) -> Update {
        let mut post = self.look();
        loop {
            let has_stopped = post.state.status() == StateName::Stopped;
            if has_stopped || is_over(&post) || is_past(deadline) {
                return post.update();
            }
            post = wait_for(&self.changed, post, deadline);
        }
    }

    pub(super) fn wait_news(&self, seen: u64, seq: u64, deadline: Option<Instant>) -> Update {
        let mut post = self.look();
        loop {
            if post.has_halted(seen) || post.seq() > seq || is_past(deadline) {
                return post.update();
            }
            post = self.listen(post, deadline);
        }
    }

    pub(super) fn settle(&self, seen: u64, seq: u64, settle: &Settle) -> Update {
        let mut settle = settle.clone();
        let mut post = self.look();
        let mut last = seq;
        settle.begin(Instant::now(), seq);
        loop {
            if post.has_halted(seen) {
                return post.update();
            }
            let now = Instant::now();
            if post.seq() > last {
                last = post.seq();
                settle.observe(post.said, last);
            }
            if settle.is_settled(now) {
                return post.update();
            }
            let deadline = now.checked_add(settle.deadline(now));
            // The first word is waited for. What comes after it is looked at when it might have been the
            // last: a tool that prints a million lines must not wake anybody for each.
            post = match last > seq {
                true => wait_for(&self.changed, post, deadline),
                false => self.listen(post, deadline),
            };
        }
    }

    fn listen<'p>(
        &self,
        mut post: MutexGuard<'p, SessionBoardState>,
        deadline: Option<Instant>,
    ) -> MutexGuard<'p, SessionBoardState> {
        post.listening += 1;
        let mut post = wait_for(&self.news, post, deadline);
        post.listening -= 1;
        post
    }
}

/// How much memory a result takes, about.
fn weight_of(content: &Content) -> usize {
    let blocks = content.blocks().iter();
    let beside = blocks.map(|block| match block {
        Block::Structured(_) | Block::Meta(_) => block.text_bytes(),
        block => block.binary_bytes(),
    });
    content.to_text().len() + beside.sum::<usize>()
}

/// What there is to see of a tool that keeps no output: what its state tells.
fn told(post: &SessionBoardState, look: &OutputLook) -> SessionOutput {
    let (ToolState::Running { content }
    | ToolState::Waiting { content, .. }
    | ToolState::Stopped { content, .. }) = &post.state;
    let is_wanted = look.view != jig_proto::View::New || post.number > look.after;
    let mut text = match is_wanted {
        true => content.to_text(),
        false => String::new(),
    };
    let left = text.len() - text.floor_char_boundary(look.max);
    text.truncate(text.len() - left);
    SessionOutput {
        text,
        seq: post.number,
        lost: 0,
        left: left as u64,
        terminal: None,
    }
}

fn question(state: &ToolState) -> Option<&Question> {
    match state {
        ToolState::Waiting { question, .. } => Some(question),
        ToolState::Running { .. } | ToolState::Stopped { .. } => None,
    }
}

fn is_past(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| deadline <= Instant::now())
}

fn wait_for<'p>(
    condition: &Condvar,
    post: MutexGuard<'p, SessionBoardState>,
    deadline: Option<Instant>,
) -> MutexGuard<'p, SessionBoardState> {
    match deadline {
        None => {
            let waited = condition.wait(post);
            waited.unwrap_or_else(PoisonError::into_inner)
        }
        Some(deadline) => {
            let left = deadline.saturating_duration_since(Instant::now());
            let waited = condition.wait_timeout(post, left);
            waited.unwrap_or_else(PoisonError::into_inner).0
        }
    }
}

/// How many notes are kept.
const MOST_NOTES: usize = 50;

/// How many messages about progress are kept until somebody has seen them. A tool can send them without end.
const MOST_PROGRESS: usize = 32;

/// How much of one of them is kept.
const LONGEST_PROGRESS: usize = 4 * 1024;

/// How much of what a tool says is kept, without a terminal. A tool can print without end.
const KEPT_BYTES: usize = 256 * 1024;

/// How many lines above the screen are kept.
const SCROLLBACK: usize = 2000;

/// What a cell of a screen takes, about: there is one with the character and its colours for the usual
/// screen, and one for the screen that a program has taken for itself.
const CELL_BYTES: usize = 48;

/// How often the owner of a tool lets others go first.
const POLITE_ROUNDS: usize = 64;
