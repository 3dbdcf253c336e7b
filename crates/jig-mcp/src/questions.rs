//! [`Questions`]: the board on which questions wait for whoever answers first.
//!
//! A call that has to ask puts its question there ([`Questions::put`]) and waits ([`StandingQuestion::wait`]). Whoever
//! answers by [`Questions::answer`], the client, `jig approve`, an editor, comes first or is told that
//! somebody else did. Where nobody can be asked, the question is kept for a while as *refused*
//! ([`Questions::refused`]): a person may still allow it, once or for the turn, and the next call that is
//! exactly the same is answered by that ([`Questions::allowed`]), also if it is made to another server of the workspace.
//!
//! People and programs elsewhere come by [`Questions::serve`], in lines of JSON. The board decides nothing:
//! it never answers by itself but "nobody is there", and what was answered for a turn is remembered by the
//! engine.

mod ask_socket;
mod asked;
mod decisions;
pub(crate) mod forms;
mod kept;
pub(crate) mod sampling;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use jig_broker::{CancelHook, CancelToken};
use jig_engine::{Answer, Ask};

pub use self::ask_socket::PROTOCOL;
use self::asked::{BoardQuestion, Fingerprint};
pub(crate) use self::asked::{CallIdentity, LONGEST_CONTEXT, QuestionTopic};
use self::kept::{KeptQuestions, KeptTimes};
use crate::client::servers::{ForgetfulMemory, Memory};

/// The questions of a server that wait for a person, and those that nobody could be asked.
#[derive(Debug)]
pub struct Questions {
    board: Mutex<QuestionBoard>,
    /// Something happened that watchers are told.
    happened: Condvar,
    /// What outlives this server.
    kept: KeptQuestions,
    times: KeptTimes,
}

/// What a question is called: `q_1`, `q_2`, ….
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionId(u64);

/// Why a question cannot be answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Unanswerable {
    /// Somebody was faster.
    #[error("`{id}` was answered already, by {by}")]
    AlreadyAnswered { id: QuestionId, by: String },
    /// Whoever asked does not want to know any more.
    #[error(
        "`{0}` is not asked any more: the call that asked it has ended, or too much time has passed"
    )]
    Gone(QuestionId),
    /// There never was one, or it was long ago.
    #[error("there is no question `{0}`")]
    Unknown(QuestionId),
}

#[derive(Debug, Default)]
struct QuestionBoard {
    open: BTreeMap<u64, OpenQuestion>,
    refused: BTreeMap<u64, UnaskedQuestion>,
    /// Answers to those refused questions that end with this server, for the next call that asks the same.
    given: VecDeque<GivenAnswer>,
    /// What became of the latest questions that are on the board no more.
    settled: VecDeque<SettledQuestion>,
    /// Who is told what happens.
    watchers: usize,
    /// The latest events, for the watchers: each knows the number of the last one that it has seen.
    events: VecDeque<BoardEvent>,
    /// The number of the last event.
    happened: u64,
}

/// A question that somebody waits for.
#[derive(Debug)]
struct OpenQuestion {
    asked: Arc<BoardQuestion>,
    slot: Arc<AnswerSlot>,
    /// Nobody but watchers can answer it.
    needs_watcher: bool,
}

/// A question that nobody could be asked.
#[derive(Debug)]
struct UnaskedQuestion {
    asked: Arc<BoardQuestion>,
    /// When that was noticed last.
    since: Instant,
}

/// Where the answer to one question is put.
#[derive(Debug, Default)]
struct AnswerSlot {
    answer: Mutex<Option<Answer>>,
    ready: Condvar,
    /// Who gave it.
    by: OnceLock<String>,
    /// Is told the answer by whoever gives it.
    then: AnswerHook,
}

/// What is done with an answer, once.
#[derive(Default)]
struct AnswerHook(Mutex<Option<AnswerFunction>>);

/// Is told an answer.
type AnswerFunction = Box<dyn FnOnce(Answer) + Send>;

impl AnswerHook {
    fn new(then: impl FnOnce(Answer) + Send + 'static) -> Self {
        Self(Mutex::new(Some(Box::new(then))))
    }

    fn call(&self, answer: &Answer) {
        let then = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(then) = then {
            then(answer.clone());
        }
    }
}

impl fmt::Debug for AnswerHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}

/// An answer to a refused question that ends with this server.
#[derive(Debug)]
struct GivenAnswer {
    fingerprint: Fingerprint,
    caller: String,
    answer: Answer,
    by: String,
    since: Instant,
}

#[derive(Debug, Clone)]
struct SettledQuestion {
    number: u64,
    how: QuestionEnd,
}

/// How a question left the board.
#[derive(Debug, Clone, PartialEq, Eq)]
enum QuestionEnd {
    Answered { by: String, decision: &'static str },
    Gone,
}

/// What watchers are told: the rest is looked up when they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BoardEvent {
    Open(u64),
    Refused(u64),
    Settled(u64),
}

impl Questions {
    /// An empty board, which remembers what was refused for as long as this process lives.
    pub(crate) fn new() -> Self {
        Self::keeping(Arc::new(ForgetfulMemory::default()), KEPT)
    }

    /// A board on which nothing waits. What is refused there, and the answers to that, are kept in the memory of the
    /// workspace.
    pub(crate) fn remembering(memory: Arc<dyn Memory>) -> Self {
        Self::keeping(memory, KEPT)
    }

    /// The board of a workspace without a server: what its servers have left there.
    pub fn left_in(memory: Arc<dyn Memory>) -> Arc<Self> {
        let questions = Self::remembering(memory);
        let left = questions.kept.refused().into_iter();
        let left = left.map(|(asked, since)| {
            let asked = Arc::new(asked);
            (asked.number, UnaskedQuestion { asked, since })
        });
        questions.board().refused = left.collect();
        Arc::new(questions)
    }

    /// An empty board that keeps refusals, and answers to them, for so long.
    fn keeping(memory: Arc<dyn Memory>, times: KeptTimes) -> Self {
        Self {
            board: Mutex::default(),
            happened: Condvar::new(),
            kept: KeptQuestions::new(memory, times),
            times,
        }
    }

    /// What somebody answered before to exactly this question of this call, after it was refused, and who.
    /// The answer is used up by this.
    pub(crate) fn allowed(
        &self,
        call: &CallIdentity<'_>,
        ask: &Ask<'_>,
    ) -> Option<(Answer, String)> {
        let fingerprint = Fingerprint::of(call, ask);
        if call.outlives_server(QuestionTopic::of(ask.about)) {
            return self.kept.take(&fingerprint);
        }
        let mut board = self.board();
        let mut given = board.given.iter();
        let place = given.position(|given| given.fingerprint == fingerprint)?;
        let given = board.given.remove(place)?;
        Some((given.answer, given.by))
    }

    /// Puts a question of a call on the board, where it stays until it is answered or given up.
    pub(crate) fn put(
        self: &Arc<Self>,
        call: &CallIdentity<'_>,
        ask: &Ask<'_>,
    ) -> StandingQuestion {
        self.place(false, |number| BoardQuestion::new(number, call, ask))
    }

    /// The same for a question that nobody but those at the ask socket can answer; `None` if nobody is
    /// there. When the last of them goes, it is refused: the wait ends with [`Answer::Unavailable`], and the
    /// question can still be allowed for the next call.
    pub(crate) fn put_to_watchers(
        self: &Arc<Self>,
        call: &CallIdentity<'_>,
        ask: &Ask<'_>,
    ) -> Option<StandingQuestion> {
        self.has_listeners()
            .then(|| self.place(true, |number| BoardQuestion::new(number, call, ask)))
    }

    /// Asks whether a configuration comes into force.
    pub(crate) fn put_config(self: &Arc<Self>, text: &str, context: String) -> StandingQuestion {
        let asked = |number| BoardQuestion::of_host(number, QuestionTopic::Config, text, context);
        self.place(false, asked)
    }

    /// Asks whether a server may be started, or its tools be what they are now. `then` is told the answer, and
    /// must return at once.
    pub(crate) fn put_server(
        self: &Arc<Self>,
        topic: QuestionTopic,
        text: &str,
        context: String,
        then: impl FnOnce(Answer) + Send + 'static,
    ) -> StandingQuestion {
        let slot = AnswerSlot {
            then: AnswerHook::new(then),
            ..AnswerSlot::default()
        };
        let asked = |number| BoardQuestion::of_host(number, topic, text, context);
        self.place_in(slot, false, asked)
    }

    fn place(
        self: &Arc<Self>,
        needs_watcher: bool,
        asked: impl FnOnce(u64) -> BoardQuestion,
    ) -> StandingQuestion {
        self.place_in(AnswerSlot::default(), needs_watcher, asked)
    }

    fn place_in(
        self: &Arc<Self>,
        slot: AnswerSlot,
        needs_watcher: bool,
        asked: impl FnOnce(u64) -> BoardQuestion,
    ) -> StandingQuestion {
        let number = self.kept.number();
        let mut board = self.board();
        let asked = Arc::new(asked(number));
        let slot = Arc::new(slot);
        let open = OpenQuestion {
            asked: Arc::clone(&asked),
            slot: Arc::clone(&slot),
            needs_watcher,
        };
        // A configuration is asked about one at a time, and so is each server: there is always room for them.
        let is_full = board.open.len() >= MOST_OPEN && asked.caller.is_some();
        // The last watcher may have gone just before.
        if is_full || (needs_watcher && board.watchers == 0) {
            self.refuse(&mut board, Arc::clone(&asked));
            slot.put(Answer::Unavailable);
        } else {
            board.open.insert(number, open);
            self.tell(&mut board, BoardEvent::Open(number));
        }
        StandingQuestion {
            questions: Arc::clone(self),
            asked,
            slot,
        }
    }

    /// Notes a question that nobody can be asked, so that a person can allow it for the next call. The same
    /// question again keeps its name.
    pub(crate) fn refused(&self, call: &CallIdentity<'_>, ask: &Ask<'_>) -> QuestionId {
        let asked = BoardQuestion::new(0, call, ask);
        let mut board = self.board();
        let same = board
            .refused
            .values_mut()
            .find(|known| known.asked.fingerprint == asked.fingerprint);
        if let Some(same) = same {
            same.since = Instant::now();
            let asked = Arc::clone(&same.asked);
            self.keep(&asked);
            return asked.id();
        }
        let number = match asked.outlives_server {
            true => self.kept.refuse(&asked),
            false => self.kept.number(),
        };
        self.note_refused(&mut board, Arc::new(BoardQuestion { number, ..asked }));
        QuestionId(number)
    }

    /// Puts an open question among the refused ones: nobody waits for it any more.
    fn refuse(&self, board: &mut QuestionBoard, asked: Arc<BoardQuestion>) {
        self.keep(&asked);
        self.note_refused(board, asked);
    }

    /// Remembers a refused question for later servers.
    fn keep(&self, asked: &BoardQuestion) {
        if asked.outlives_server {
            self.kept.refuse(asked);
        }
    }

    fn note_refused(&self, board: &mut QuestionBoard, asked: Arc<BoardQuestion>) {
        // The same, asked before under another name: the newest one counts.
        self.forget_refused(board, |known| {
            known.asked.fingerprint == asked.fingerprint && known.asked.caller.is_some()
        });
        while board.refused.len() >= MOST_REFUSED {
            let Some((number, _)) = board.refused.pop_first() else {
                break;
            };
            self.kept.forget(number);
            self.settle(board, number, QuestionEnd::Gone);
        }
        let number = asked.number;
        let since = Instant::now();
        board
            .refused
            .insert(number, UnaskedQuestion { asked, since });
        self.tell(board, BoardEvent::Refused(number));
    }

    /// Answers a question. The first answer counts; `by` tells people whose that was.
    ///
    /// # Errors
    ///
    /// If somebody else was first, if the question is not asked any more, or if there never was one.
    pub(crate) fn answer(
        &self,
        id: &QuestionId,
        answer: Answer,
        by: &str,
    ) -> Result<(), Unanswerable> {
        let mut board = self.board();
        let number = id.0;
        let how = QuestionEnd::Answered {
            by: by.to_owned(),
            decision: decisions::name(&answer),
        };
        if let Some(open) = board.open.remove(&number) {
            self.settle(&mut board, number, how);
            let _ = open.slot.by.set(by.to_owned());
            open.slot.put(answer);
            return Ok(());
        }
        if let Some(UnaskedQuestion { asked, .. }) = board.refused.remove(&number) {
            if asked.outlives_server {
                let answered = self.kept.answer(*id, answer, by);
                let how = answered.as_ref().map_or(QuestionEnd::Gone, |()| how);
                self.settle(&mut board, number, how);
                return answered;
            }
            self.settle(&mut board, number, how);
            if board.given.len() >= MOST_GIVEN {
                board.given.pop_front();
            }
            board.given.push_back(GivenAnswer {
                fingerprint: asked.fingerprint,
                caller: asked.caller.clone().unwrap_or_default(),
                answer,
                by: by.to_owned(),
                since: Instant::now(),
            });
            return Ok(());
        }
        Err(self.unanswerable(&board, *id))
    }

    /// Whether anybody is connected who is told of questions.
    pub(crate) fn has_listeners(&self) -> bool {
        self.board().watchers > 0
    }

    /// Answers what calls ask about servers, and what was refused of it, where it was accepted meanwhile: `is_accepted`
    /// says so for a tool.
    pub(crate) fn accepted(&self, is_accepted: impl Fn(&str) -> bool) {
        let is_over = |asked: &BoardQuestion| {
            let is_about = matches!(
                asked.topic,
                QuestionTopic::Server | QuestionTopic::Definition
            );
            is_about && asked.tool.as_deref().is_some_and(&is_accepted)
        };
        let open: Vec<Arc<BoardQuestion>> = {
            let board = self.board();
            let open = board.open.values().map(|open| &open.asked);
            let refused = board.refused.values().map(|refused| &refused.asked);
            let of_servers = |asked: &&Arc<BoardQuestion>| {
                matches!(
                    asked.topic,
                    QuestionTopic::Server | QuestionTopic::Definition
                )
            };
            open.chain(refused).filter(of_servers).cloned().collect()
        };
        // Whether it was accepted is looked up without the board: that may read a file.
        for asked in open.into_iter().filter(|asked| is_over(asked)) {
            let mut board = self.board();
            let how = QuestionEnd::Answered {
                by: ELSEWHERE.to_owned(),
                decision: "accept",
            };
            if let Some(open) = board.open.remove(&asked.number) {
                self.settle(&mut board, asked.number, how);
                // Neither yes nor no: what was shown here may not be what was accepted there.
                open.slot.put(Answer::Given(serde_json::Value::Null));
            } else if board.refused.remove(&asked.number).is_some() {
                self.settle(&mut board, asked.number, how);
            }
        }
    }

    /// Puts an open question among the refused ones, because the one who was asked put it away without deciding: the
    /// call that waits is answered, and a person can still allow the next one.
    pub(crate) fn put_away(&self, id: &QuestionId, answer: Answer, by: &str) {
        let mut board = self.board();
        if let Some(open) = board.open.remove(&id.0) {
            self.refuse(&mut board, open.asked);
            let _ = open.slot.by.set(by.to_owned());
            open.slot.put(answer);
        }
    }

    /// Whether a question is among the refused ones.
    pub(crate) fn is_refused(&self, id: &QuestionId) -> bool {
        self.board().refused.contains_key(&id.0)
    }

    /// Gives up whatever a caller waits for whose turn has ended, and what can be asked only in that turn. Other refused
    /// questions stay: a person may come back later than the agent goes.
    pub(crate) fn forget(&self, caller: &str) {
        let mut board = self.board();
        let is_theirs = |asked: &BoardQuestion| asked.caller.as_deref() == Some(caller);
        let open = board.open.iter().filter(|(_, open)| is_theirs(&open.asked));
        let open: Vec<u64> = open.map(|(number, _)| *number).collect();
        for number in open {
            if let Some(open) = board.open.remove(&number) {
                open.slot.put(Answer::Cancel);
                self.settle(&mut board, number, QuestionEnd::Gone);
            }
        }
        self.forget_refused(&mut board, |refused| {
            is_theirs(&refused.asked) && !refused.asked.outlives_server
        });
        board.given.retain(|given| given.caller != caller);
    }

    /// Takes a question off the board that its asker waits for no more. `false` if it was answered just
    /// before.
    fn withdraw(&self, asked: &Arc<BoardQuestion>, then: LeftQuestionFate) -> bool {
        let mut board = self.board();
        if board.open.remove(&asked.number).is_none() {
            return false;
        }
        match then {
            LeftQuestionFate::Forget => self.settle(&mut board, asked.number, QuestionEnd::Gone),
            LeftQuestionFate::Refuse => self.refuse(&mut board, Arc::clone(asked)),
        }
        true
    }

    /// One more who is told what happens, until the guard goes.
    fn watcher(&self) -> BoardWatcher<'_> {
        let mut board = self.board();
        board.watchers += 1;
        let open = board.open.keys().map(|number| BoardEvent::Open(*number));
        let refused = board
            .refused
            .keys()
            .map(|number| BoardEvent::Refused(*number));
        BoardWatcher {
            questions: self,
            backlog: open.chain(refused).collect(),
            seen: board.happened,
        }
    }

    fn settle(&self, board: &mut QuestionBoard, number: u64, how: QuestionEnd) {
        while board.settled.len() >= MOST_SETTLED {
            board.settled.pop_front();
        }
        board.settled.push_back(SettledQuestion { number, how });
        self.tell(board, BoardEvent::Settled(number));
    }

    fn tell(&self, board: &mut QuestionBoard, event: BoardEvent) {
        while board.events.len() >= MOST_EVENTS {
            board.events.pop_front();
        }
        board.events.push_back(event);
        board.happened += 1;
        self.happened.notify_all();
    }

    /// The board, without what is too old.
    fn board(&self) -> MutexGuard<'_, QuestionBoard> {
        // Nothing that is done with the board can panic halfway.
        let mut board = self.board.lock().unwrap_or_else(PoisonError::into_inner);
        let times = self.times;
        // Answers are kept in the order in which they came.
        let is_old = |given: &GivenAnswer| given.since.elapsed() >= times.given;
        while board.given.front().is_some_and(is_old) {
            board.given.pop_front();
        }
        self.forget_refused(&mut board, |refused| {
            refused.since.elapsed() >= times.refused
        });
        board
    }

    fn forget_refused(
        &self,
        board: &mut QuestionBoard,
        is_over: impl Fn(&UnaskedQuestion) -> bool,
    ) {
        let over = board.refused.iter().filter(|(_, refused)| is_over(refused));
        let over: Vec<u64> = over.map(|(number, _)| *number).collect();
        for number in over {
            board.refused.remove(&number);
            self.settle(board, number, QuestionEnd::Gone);
        }
    }
}

impl Questions {
    fn unanswerable(&self, board: &QuestionBoard, id: QuestionId) -> Unanswerable {
        let mut settled = board.settled.iter();
        let settled = settled.find(|settled| settled.number == id.0);
        match settled.map(|settled| &settled.how) {
            Some(QuestionEnd::Answered { by, .. }) => {
                Unanswerable::AlreadyAnswered { id, by: by.clone() }
            }
            Some(QuestionEnd::Gone) => Unanswerable::Gone(id),
            None if self.kept.was_asked(id.0) => Unanswerable::Gone(id),
            None => Unanswerable::Unknown(id),
        }
    }
}

impl QuestionBoard {
    /// A question that is there, and its state.
    fn find(&self, number: u64) -> Option<(&Arc<BoardQuestion>, &'static str)> {
        let open = self.open.get(&number).map(|open| (&open.asked, WAITING));
        let refused = || self.refused.get(&number);
        open.or_else(|| refused().map(|refused| (&refused.asked, REFUSED)))
    }
}

impl AnswerSlot {
    /// The first answer stays.
    fn put(&self, answer: Answer) {
        let mut place = self.lock();
        let answer = place.get_or_insert(answer);
        self.then.call(answer);
        self.ready.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Option<Answer>> {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer, if one comes within the limit and before one of `ends` is cancelled.
    fn wait(self: &Arc<Self>, limit: Duration, ends: &[&CancelToken]) -> Option<Answer> {
        let hook = |end: &&CancelToken| {
            let slot = Arc::clone(self);
            // The lock makes sure that nobody is between looking and waiting.
            end.on_cancel(move || {
                let _place = slot.lock();
                slot.ready.notify_all();
            })
        };
        let _hooks: Vec<CancelHook> = ends.iter().map(hook).collect();
        let place = self.lock();
        let is_over = || ends.iter().any(|end| end.is_cancelled());
        let is_waiting = |place: &mut Option<Answer>| place.is_none() && !is_over();
        let waited = self.ready.wait_timeout_while(place, limit, is_waiting);
        let (place, _) = waited.unwrap_or_else(PoisonError::into_inner);
        place.clone()
    }
}

/// A question that stands on the board for as long as this is kept, or until it is answered.
#[derive(Debug)]
pub(crate) struct StandingQuestion {
    questions: Arc<Questions>,
    asked: Arc<BoardQuestion>,
    slot: Arc<AnswerSlot>,
}

impl StandingQuestion {
    /// What the question is called.
    pub(crate) fn id(&self) -> QuestionId {
        self.asked.id()
    }

    /// Waits for the answer. [`Answer::TimedOut`] if none came in time, [`Answer::Unavailable`] if nobody is
    /// left who could give one: in both cases a person can still allow it for the next call, under the same
    /// name. [`Answer::Cancel`] if the call was given up. With `gone`, nobody wants to know any more: the question
    /// leaves the board, and what is returned does not matter.
    pub(crate) fn wait(
        &self,
        limit: Duration,
        cancel: &CancelToken,
        gone: Option<&CancelToken>,
    ) -> Answer {
        let ends: Vec<&CancelToken> = gone.into_iter().chain([cancel]).collect();
        if let Some(answer) = self.slot.wait(limit, &ends) {
            return answer;
        }
        let is_gone = gone.is_some_and(CancelToken::is_cancelled);
        let (then, answer) = match (cancel.is_cancelled(), is_gone) {
            (true, _) => (LeftQuestionFate::Forget, Answer::Cancel),
            (false, true) => (LeftQuestionFate::Forget, Answer::Unavailable),
            (false, false) => (LeftQuestionFate::Refuse, Answer::TimedOut),
        };
        match self.questions.withdraw(&self.asked, then) {
            true => answer,
            // Somebody who was told that their answer counts is right.
            false => self.slot.lock().clone().unwrap_or(answer),
        }
    }

    /// Who answered.
    pub(crate) fn answered_by(&self) -> Option<&str> {
        self.slot.by.get().map(String::as_str)
    }

    /// Waits for the answer for so long. The question stays where it is.
    pub(crate) fn poll(&self, limit: Duration, cancel: &CancelToken) -> Option<Answer> {
        self.slot.wait(limit, &[cancel])
    }
}

impl Drop for StandingQuestion {
    fn drop(&mut self) {
        self.questions
            .withdraw(&self.asked, LeftQuestionFate::Forget);
    }
}

/// What becomes of a question that nobody waits for any more.
#[derive(Debug, Clone, Copy)]
enum LeftQuestionFate {
    Forget,
    Refuse,
}

/// Somebody who is told what happens.
#[derive(Debug)]
struct BoardWatcher<'a> {
    questions: &'a Questions,
    /// What was on the board already, and they have not been told yet.
    backlog: VecDeque<BoardEvent>,
    /// The number of the last event that they know.
    seen: u64,
}

impl Drop for BoardWatcher<'_> {
    fn drop(&mut self) {
        let questions = self.questions;
        let mut board = questions.board();
        board.watchers -= 1;
        if board.watchers > 0 {
            return;
        }
        // Nobody is left who could answer these. They are not parked until their time is up.
        let lonely = board.open.iter().filter(|(_, open)| open.needs_watcher);
        let lonely: Vec<u64> = lonely.map(|(number, _)| *number).collect();
        for number in lonely {
            if let Some(open) = board.open.remove(&number) {
                questions.refuse(&mut board, open.asked);
                open.slot.put(Answer::Unavailable);
            }
        }
    }
}

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "q_{}", self.0)
    }
}

/// A text that names no question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("questions are called `q_1`, `q_2`, …")]
pub struct NotAQuestionId;

impl FromStr for QuestionId {
    type Err = NotAQuestionId;

    fn from_str(text: &str) -> Result<Self, NotAQuestionId> {
        let digits = text.strip_prefix("q_").ok_or(NotAQuestionId)?;
        let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
        match digits.parse() {
            Ok(number) if is_plain => Ok(Self(number)),
            _ => Err(NotAQuestionId),
        }
    }
}

/// Who answered what was accepted by other means.
const ELSEWHERE: &str = "somebody elsewhere";

const WAITING: &str = "waiting";
const REFUSED: &str = "refused";

/// How long a refusal and an answer to one are kept: a person may come back on the next day, and what they allow
/// is for an agent that they start then.
const KEPT: KeptTimes = KeptTimes {
    refused: Duration::from_secs(24 * 60 * 60),
    given: Duration::from_secs(60 * 60),
};

/// Questions that wait at once. A call in flight has one at most; those are limited, too.
const MOST_OPEN: usize = 256;

/// Refusals that are kept. An agent that tries everything would fill the memory otherwise.
const MOST_REFUSED: usize = 256;

/// Answers to refusals that wait for the next call.
const MOST_GIVEN: usize = 256;

/// Questions of which it is known what became of them.
const MOST_SETTLED: usize = 512;

/// Events that are kept for watchers: one that falls further behind is dropped.
const MOST_EVENTS: usize = 2048;

#[cfg(test)]
mod tests;
