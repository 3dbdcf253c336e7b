//! [`InProcess`]: the way of a tool that runs inside this process to its broker, and back to its callers.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use jig_broker::{Broker, CancelToken, JudgedRequest, RunRecord, Unapproved, Work};
use jig_proto::vfs::{ErrorReply, Init, VfsReply, VfsRequest};
use jig_proto::{Content, Question, StateName, ToolError, ToolState};
use jig_tool::vfs::{Notification, RequestError, Transport};
use serde_json::{Map, Value};

use crate::callers_thread::{self, BorrowedThread};
use crate::denials;
use crate::session::{
    ApplyOrder, AskedBy, BoardSetup, InputPurpose, Orders, SessionBoard, SessionOrder,
};
use crate::{LentThread, Plan, Session, StartError, workers};

/// Runs a tool inside this process; what `tool` returns is how it ended. It has a thread of its own, unless the plan
/// lends it one.
///
/// # Errors
///
/// If there is no thread to be had.
pub fn in_process(
    mut plan: Plan,
    tool: impl FnOnce(InProcess) -> Result<Content, ToolError> + Send + 'static,
) -> Result<Session, StartError> {
    let lent = plan.thread.take();
    let (session, mut door) = without_thread(plan)?;
    let begin = move |lent: Option<Arc<dyn LentThread>>| {
        door.lent = lent.map(BorrowedThread::new);
        let board = Arc::clone(&door.seat.board);
        board.stopped(run(tool, door));
    };
    match lent {
        Some(thread) => {
            let lent = Arc::clone(&thread);
            thread.run(Box::new(move || begin(Some(lent))));
        }
        None => workers::spawn(move || begin(None))?,
    }
    Ok(session)
}

/// A tool inside this process that needs no thread of its own: whoever has the door does its work, and
/// [ends](InProcess::end) it.
///
/// # Errors
///
/// If its start cannot be written to the log.
pub fn without_thread(plan: Plan) -> Result<(Session, InProcess), StartError> {
    let record = plan.record_inside()?;
    let (door, orders) = InProcess::new(plan, QuestionAudience::Somebody, record);
    let session = Session::new(Arc::clone(&door.seat.board), orders);
    if door.plan().given_up {
        session.cancel();
    }
    Ok((session, door))
}

/// Runs a tool on the thread of the caller, who waits for it: nothing is handed from thread to thread.
///
/// Nobody watches it. What no rule covers is refused, a question of the tool finds nobody who answers it, and
/// only its limits end it.
///
/// # Errors
///
/// As the tool ends.
pub fn in_this_thread(
    plan: Plan,
    tool: impl FnOnce(InProcess) -> Result<Content, ToolError>,
) -> Result<Content, ToolError> {
    let (door, _orders) = InProcess::new(plan, QuestionAudience::Nobody, None);
    run(tool, door)
}

fn run(
    tool: impl FnOnce(InProcess) -> Result<Content, ToolError>,
    door: InProcess,
) -> Result<Content, ToolError> {
    let (seat, unanswered) = (Arc::clone(&door.seat), Arc::clone(&door.unanswered));
    // A mistake in our own code must end this call and nothing else.
    let result = catch_unwind(AssertUnwindSafe(|| tool(door)));
    let result = result.unwrap_or_else(|_| Err(ToolError::new("the tool failed by a bug in jig")));
    seat.ended(&unanswered, result)
}

/// What became of a question that a tool can go on without. Exhaustive: there is nothing else.
#[derive(Debug, Clone, PartialEq)]
pub enum OptionalAnswer {
    /// Its answer.
    Answered(Value),
    /// Nobody can answer, somebody said no, or it took too long.
    Unanswered,
    /// Somebody put it away, the call was given up, or whoever asked is gone.
    GivenUp,
}

/// What somebody said to a question.
type QuestionResult = Result<Value, Unapproved>;

/// The way of a tool inside this process to its broker, and to whoever called it.
///
/// It belongs to the thread that runs the tool. As a [`Transport`] it serves a tool on the SDK; a runtime that
/// hosts foreign code asks it for more: [`permitted`](Self::permitted) for work of its own kind,
/// [`give_up`](Self::give_up) now and then while the code runs, [`sleep`](Self::sleep) while it waits.
#[derive(Debug)]
pub struct InProcess {
    seat: Arc<InProcessCall>,
    orders: Receiver<SessionOrder>,
    asked: QuestionAudience,
    /// The thread on which it runs, if that is somebody else's.
    lent: Option<BorrowedThread>,
    cancelled: bool,
    /// That a question of the tool is not answered, which ends it.
    unanswered: Arc<OnceLock<ToolError>>,
    /// How long it has waited for answers and input.
    waited: Duration,
    /// How many questions the policy had: each has an id of its own.
    questions: u64,
    /// The tool's own question.
    question: Option<(Content, Question)>,
    /// Answers that came while the tool did something else.
    early: VecDeque<SessionOrder>,
    /// What was answered to questions for which the tool is run again.
    answers: Map<String, Value>,
    /// What the tool was given and has not taken yet. Whoever gives it more than can wait is refused before
    /// it comes here.
    inputs: VecDeque<ApplyOrder>,
}

/// What is still needed when the tool has returned.
#[derive(Debug)]
struct InProcessCall {
    plan: Plan,
    board: Arc<SessionBoard>,
}

/// Who can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QuestionAudience {
    Somebody,
    Nobody,
}

impl InProcessCall {
    /// Ends what belongs to a tool that has returned, and says how it ended.
    fn ended(
        &self,
        unanswered: &OnceLock<ToolError>,
        result: Result<Content, ToolError>,
    ) -> Result<Content, ToolError> {
        // Whatever the tool makes of it: this is why it could not go on.
        let mut result = unanswered.get().cloned().map_or(result, Err);
        let broker = &self.plan.broker;
        if let Err(error) = &mut result {
            denials::add_refusals(error, broker);
        }
        // With the tool ends what it had started.
        broker.end_processes();
        self.plan.record_silent(&result);
        self.plan.close_log(&self.board);
        result
    }
}

impl InProcess {
    fn new(plan: Plan, asked: QuestionAudience, record: Option<RunRecord>) -> (Self, Orders) {
        let board = SessionBoard::new(BoardSetup::of(&plan, None).recorded(record));
        board.set_broker(plan.broker.clone());
        let (orders, received) = Orders::new(None);
        let door = Self {
            seat: Arc::new(InProcessCall { plan, board }),
            orders: received,
            asked,
            lent: None,
            cancelled: false,
            unanswered: Arc::default(),
            waited: Duration::ZERO,
            questions: 0,
            question: None,
            early: VecDeque::new(),
            answers: Map::new(),
            inputs: VecDeque::new(),
        };
        (door, orders)
    }

    /// The call.
    pub fn plan(&self) -> &Plan {
        &self.seat.plan
    }

    /// Ends a tool that has no thread. What comes later is not heard.
    pub fn end(&mut self, result: Result<Content, ToolError>) {
        let result = self.seat.ended(&self.unanswered, result);
        self.seat.board.stopped(result);
    }

    /// The call, as a mediated tool is told of it, with what was [asked](Self::ask) and answered so far.
    pub fn init(&self) -> Init {
        let mut input = self.seat.plan.input.clone();
        input.answers.extend(self.answers.clone());
        Init {
            context: Some(self.seat.plan.context.clone()),
            capabilities: self.seat.plan.offer,
            stateful: self.seat.plan.stateful,
            ..Init::new(input)
        }
    }

    /// Whether the call has been given up by now. It waits for nothing.
    pub fn give_up(&mut self) -> bool {
        self.look_at_orders();
        self.cancelled
    }

    /// Waits until this time, or for ever; what the tool is given meanwhile is kept for it. Says whether the
    /// call was given up before.
    pub fn sleep(&mut self, until: Option<Instant>) -> bool {
        while !self.give_up() {
            let order = match until {
                None => self
                    .wait(|| self.orders.recv())
                    .map_err(|_| RecvTimeoutError::Disconnected),
                Some(until) => self.wait(|| {
                    let left = until.saturating_duration_since(Instant::now());
                    self.orders.recv_timeout(left)
                }),
            };
            match order {
                Ok(order) => self.keep(order),
                Err(RecvTimeoutError::Timeout) => return self.cancelled,
                Err(RecvTimeoutError::Disconnected) => self.cancelled = true,
            }
        }
        true
    }

    /// How long the tool has waited for somebody so far, all in all: that is not its time.
    pub fn waited(&self) -> Duration {
        self.waited
    }

    /// Puts a question of a tool that is run again with the answer, and blocks until it is answered.
    ///
    /// # Errors
    ///
    /// If nobody answers it, or the call is given up.
    pub fn ask(&mut self, question: Question) -> Result<Value, ToolError> {
        let (id, text) = (question.id.clone(), question.text.clone());
        let answer = match self.asked {
            QuestionAudience::Nobody => Ok(Some(Err(Unapproved::Unavailable))),
            QuestionAudience::Somebody => {
                self.seat
                    .board
                    .waiting(Content::EMPTY, question, AskedBy::Tool);
                self.answer(None)
            }
        };
        match answer {
            Ok(Some(Ok(answer))) => {
                self.seat.board.running(Content::EMPTY);
                self.answers.insert(id, answer.clone());
                Ok(answer)
            }
            Ok(Some(Err(why))) => Err(not_answered(&text, why)),
            Ok(None) | Err(_) => Err(ToolError::new("the call was cancelled")),
        }
    }

    /// Puts a question of a tool that can go on without an answer, and blocks until something has become of it.
    ///
    /// `is_wanted` is looked at now and then while the question is open: once it says no, because whoever
    /// asked is gone, the question is withdrawn.
    pub fn put(&mut self, question: Question, is_wanted: &dyn Fn() -> bool) -> OptionalAnswer {
        if self.give_up() {
            return OptionalAnswer::GivenUp;
        }
        if self.asked == QuestionAudience::Nobody {
            return OptionalAnswer::Unanswered;
        }
        self.seat
            .board
            .waiting(Content::EMPTY, question, AskedBy::Tool);
        let put = loop {
            // A limit that no clock can show does not occur.
            let look_again = Instant::now().checked_add(LOOK_AGAIN);
            match self.answer(look_again) {
                Ok(Some(Ok(answer))) => break OptionalAnswer::Answered(answer),
                Ok(Some(Err(Unapproved::Dismissed))) => break OptionalAnswer::GivenUp,
                Ok(Some(Err(_))) => break OptionalAnswer::Unanswered,
                Ok(None) if is_wanted() => {}
                Ok(None) | Err(_) => break OptionalAnswer::GivenUp,
            }
        };
        self.seat.board.running(Content::EMPTY);
        put
    }

    /// Tells how far the tool is: it is shown to whoever watches the call, and kept as the output of a handle.
    pub fn tell(&mut self, content: Content) {
        self.seat.board.tell(&content);
        self.running(content);
    }

    /// Notes something that is told when the call has ended: unlike what [`tell`](Self::tell) says, nothing that
    /// comes after it can take its place.
    pub fn remark(&mut self, text: String) {
        self.seat.board.note(text);
    }

    /// Has `token` cancelled as soon as the call is given up, at once if it already is, until
    /// [`no_cancel`](Self::no_cancel): for work that waits for something else than its orders.
    pub fn cancel_by(&mut self, token: &CancelToken) {
        self.seat.board.set_current(Some(token.clone()));
    }

    /// Ends what [`cancel_by`](Self::cancel_by) began.
    pub fn no_cancel(&mut self) {
        self.seat.board.set_current(None);
    }

    /// Says where the tool stands, for whoever watches the call.
    pub fn running(&mut self, content: Content) {
        if self.question.is_none() {
            self.seat.board.running(content);
        }
    }

    /// Waits by `wait` for something else than orders. If the thread is lent, it is given back meanwhile.
    fn wait<T>(&self, wait: impl FnMut() -> T) -> T {
        callers_thread::wait(self.lent.as_ref(), wait)
    }

    /// Takes orders that need no answer from here.
    fn look_at_orders(&mut self) {
        while !self.cancelled {
            let order = self.orders.try_recv();
            match order {
                Ok(order) => self.keep(order),
                Err(TryRecvError::Disconnected) => self.cancelled = true,
                Err(TryRecvError::Empty) => return,
            }
        }
    }

    /// Takes an order that nobody waits for.
    fn keep(&mut self, order: SessionOrder) {
        match order {
            SessionOrder::Cancel | SessionOrder::Abort => self.cancelled = true,
            SessionOrder::Apply(applied) if applied.given == InputPurpose::Input => {
                self.inputs.push_back(applied);
            }
            // The answer to a question of the tool, which it has not asked for yet.
            answer if self.question.is_some() => self.early.push_back(answer),
            // Nothing is asked: there is nothing to answer.
            _ => {}
        }
    }

    /// The next order, if it comes before the deadline.
    fn order(&mut self, deadline: Option<Instant>) -> Result<Option<SessionOrder>, RequestError> {
        // Nobody may be left who gives one.
        if self.cancelled {
            return Err(RequestError::Cancelled);
        }
        if let Some(order) = self.early.pop_front() {
            return Ok(Some(order));
        }
        let order = match deadline {
            None => self
                .wait(|| self.orders.recv())
                .map_err(|_| RecvTimeoutError::Disconnected),
            Some(deadline) => self.wait(|| {
                let left = deadline.saturating_duration_since(Instant::now());
                self.orders.recv_timeout(left)
            }),
        };
        match order {
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Ok(SessionOrder::Cancel | SessionOrder::Abort)
            | Err(RecvTimeoutError::Disconnected) => {
                self.cancelled = true;
                Err(RequestError::Cancelled)
            }
            Ok(order) => Ok(Some(order)),
        }
    }

    /// Blocks until the question that is shown has been answered.
    fn answer(
        &mut self,
        deadline: Option<Instant>,
    ) -> Result<Option<QuestionResult>, RequestError> {
        let asked = Instant::now();
        let answer = self.next_answer(deadline);
        self.waited += asked.elapsed();
        answer
    }

    fn next_answer(
        &mut self,
        deadline: Option<Instant>,
    ) -> Result<Option<QuestionResult>, RequestError> {
        while let Some(order) = self.order(deadline)? {
            match order {
                SessionOrder::Apply(applied) => match applied.given {
                    InputPurpose::Answer(number) if self.seat.board.asks(number) => {
                        return Ok(Some(Ok(applied.input)));
                    }
                    // An answer to an earlier question.
                    InputPurpose::Answer(_) => {}
                    // It came before the question. It is no answer, and waits until input is asked for.
                    InputPurpose::Input => self.inputs.push_back(applied),
                },
                SessionOrder::Decline(number, why) if self.seat.board.asks(number) => {
                    return Ok(Some(Err(why)));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Blocks until there is input.
    fn input(&mut self, deadline: Option<Instant>) -> Result<Option<Value>, RequestError> {
        let asked = Instant::now();
        let input = self.next_input(deadline);
        // Nobody gives input to a call that runs to its end: waiting for it is the tool's own time.
        if self.seat.plan.stateful {
            self.waited += asked.elapsed();
        }
        input
    }

    fn next_input(&mut self, deadline: Option<Instant>) -> Result<Option<Value>, RequestError> {
        loop {
            if let Some(applied) = self.inputs.pop_front() {
                return Ok(Some(applied.input));
            }
            match self.order(deadline)? {
                Some(SessionOrder::Apply(applied)) if applied.given == InputPurpose::Input => {
                    self.inputs.push_back(applied);
                }
                // Nothing is asked: there is nothing to answer.
                Some(_) => {}
                None => return Ok(None),
            }
        }
    }

    /// Blocks until the tool is given what it waits for: the answer to its question, or input.
    fn given(&mut self, deadline: Option<Instant>) -> Result<Option<Value>, RequestError> {
        if self.cancelled {
            return Err(RequestError::Cancelled);
        }
        let Some(text) = self
            .question
            .as_ref()
            .map(|(_, question)| question.text.clone())
        else {
            return match self.asked {
                QuestionAudience::Somebody => self.input(deadline),
                QuestionAudience::Nobody => {
                    self.cancelled = true;
                    Err(RequestError::Cancelled)
                }
            };
        };
        let answer = match self.asked {
            QuestionAudience::Somebody => self.answer(deadline)?,
            QuestionAudience::Nobody => Some(Err(Unapproved::Unavailable)),
        };
        let Some(answer) = answer else {
            return Ok(None);
        };
        self.question = None;
        match answer {
            Ok(input) => {
                self.seat.board.running(Content::EMPTY);
                Ok(Some(input))
            }
            Err(why) => {
                // A tool that asks cannot go on without an answer, wherever it runs.
                let _ = self.unanswered.set(not_answered(&text, why));
                self.cancelled = true;
                Err(RequestError::Cancelled)
            }
        }
    }

    /// Has something judged, and asks about it until it is decided: what it takes to do it.
    ///
    /// # Errors
    ///
    /// If it is refused, or the call is given up meanwhile.
    pub fn permitted(
        &mut self,
        judge: impl FnOnce(&Broker) -> JudgedRequest,
    ) -> Result<Work, RequestError> {
        let mut judged = judge(&self.seat.plan.broker);
        loop {
            let inquiry = match judged {
                JudgedRequest::Ready(work) => return Ok(work),
                JudgedRequest::Refused(error) => return Err(RequestError::Refused(error)),
                JudgedRequest::Uncovered(inquiry) => inquiry,
            };
            if self.asked == QuestionAudience::Nobody {
                let refused = inquiry.deny(Unapproved::Unavailable);
                return Err(RequestError::Refused(refused));
            }
            self.questions += 1;
            let question = inquiry.question(format!("access-{}", self.questions));
            self.seat
                .board
                .waiting(Content::EMPTY, question, AskedBy::Policy);
            let answer = self.answer(None)?.ok_or(RequestError::Cancelled)?;
            // The tool's own question, if it has put one, was only put off.
            match self.question.clone() {
                Some((content, question)) => {
                    self.seat.board.waiting(content, question, AskedBy::Tool)
                }
                None => self.seat.board.running(Content::EMPTY),
            }
            judged = match answer {
                Ok(input) => inquiry.answer(input.as_str().unwrap_or_default()),
                Err(why) => JudgedRequest::Refused(inquiry.deny(why)),
            };
        }
    }

    /// Does what was permitted, for no longer than `limit`; it ends early, too, when the call is given up. Time
    /// over is the answer [`ErrorReply::cancelled`].
    ///
    /// # Errors
    ///
    /// If it fails, or the call is given up meanwhile.
    pub fn perform(
        &mut self,
        work: Work,
        limit: Option<Duration>,
    ) -> Result<VfsReply<'static>, RequestError> {
        let token = work.cancel_token();
        self.seat.board.set_current(Some(token.clone()));
        let result = match limit {
            // What is quick is done before a clock could be set.
            Some(limit) if !work.is_quick() => thread::scope(|scope| {
                let (done, over) = channel::<()>();
                let clock = thread::Builder::new().spawn_scoped(scope, move || {
                    if over.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                        token.cancel();
                    }
                });
                // Without a clock nothing would end it in time.
                if clock.is_err() {
                    return Err(ErrorReply::internal("there is no thread to be had"));
                }
                let result = work.perform();
                drop(done);
                result
            }),
            _ => {
                let is_overdue = self.lent.as_ref().is_some_and(BorrowedThread::is_overdue);
                match is_overdue || !work.is_quick() {
                    true => {
                        let mut work = Some(work);
                        let done = self.wait(|| work.take().map(Work::perform));
                        done.unwrap_or_else(|| Err(ErrorReply::internal("it was not done")))
                    }
                    false => work.perform(),
                }
            }
        };
        self.seat.board.set_current(None);
        match self.give_up() {
            true => Err(RequestError::Cancelled),
            false => result.map_err(RequestError::Refused),
        }
    }
}

impl Transport for InProcess {
    fn request(&mut self, request: &VfsRequest<'_>) -> Result<VfsReply<'static>, RequestError> {
        self.look_at_orders();
        if self.cancelled {
            return Err(RequestError::Cancelled);
        }
        let work = self.permitted(|broker| broker.judge(request));
        let answer = work.and_then(|work| self.perform(work, None));
        self.seat.plan.broker.flush_audit();
        answer
    }

    fn notify(&mut self, notification: &Notification<'_>) -> Result<(), RequestError> {
        if let Notification::State(state) = notification {
            match state {
                ToolState::Running { content } => {
                    self.seat.board.tell(content);
                    // Only an answer ends the waiting (S-027).
                    if self.question.is_none() {
                        self.seat.board.running(content.clone());
                    }
                }
                ToolState::Waiting { content, question } => {
                    if let Some((_, open)) = &self.question
                        && let Some(refused) = refused_question(open, question)
                    {
                        return Err(RequestError::Refused(refused));
                    }
                    self.question = Some((content.clone(), question.clone()));
                    self.seat.board.tell(content);
                    self.seat
                        .board
                        .waiting(content.clone(), question.clone(), AskedBy::Tool);
                }
                // The end is told by returning.
                ToolState::Stopped { .. } => {}
            }
        }
        Ok(())
    }

    fn wait_apply(&mut self) -> Result<Value, RequestError> {
        // Without a limit it comes, or the call ends.
        self.given(None)?.ok_or(RequestError::Cancelled)
    }

    fn wait_answer(&mut self, question: &str) -> Result<Value, RequestError> {
        match &self.question {
            Some((_, open)) if open.id == question => self.wait_apply(),
            _ => Err(RequestError::question_not_open(question)),
        }
    }

    fn wait_apply_for(&mut self, limit: Duration) -> Result<Option<Value>, RequestError> {
        // A limit that no clock can show is none.
        self.given(Instant::now().checked_add(limit))
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled
    }
}

/// That a question of the tool is not answered.
pub(crate) fn not_answered(question: &str, why: Unapproved) -> ToolError {
    let reason = match why {
        Unapproved::Denied | Unapproved::Dismissed => "the question was not answered",
        Unapproved::Unavailable => "nobody can answer",
        Unapproved::TimedOut => "nobody answered in time",
    };
    ToolError::new(format!("the tool asks `{question}`, and {reason}"))
}

/// That a tool asks something else while its question is open: one that waits cannot begin to wait (S-027).
pub(crate) fn refused_question(open: &Question, asked: &Question) -> Option<ErrorReply> {
    let is_other = !StateName::Waiting.can_become(StateName::Waiting) && open != asked;
    is_other.then(|| {
        ErrorReply::invalid_request(format!(
            "the question `{}` is not asked: `{}` is open, and there is one at a time",
            asked.id, open.id
        ))
    })
}

/// How often it is looked whether whoever asked a question is still there.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
