//! The builtin runtime: code of jig's own, on the SDK that every tool uses.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use jig_broker::{Judged, Unapproved};
use jig_proto::vfs::{ErrorReply, Init, Reply, Request};
use jig_proto::{Content, Question, ToolError, ToolState};
use jig_tool::vfs::{Host, Notification, RequestError, Transport};
use serde_json::Value;

use crate::denials;
use crate::session::{Applied, AskedBy, Board, Given, Order, Orders, Setup};
use crate::{Plan, Runtime, Session, StartError};

/// The code of the tools that are part of jig: does the call of the host with the tool of this name;
/// `None` if there is none.
pub type Builtin = fn(&str, &mut Host) -> Option<Result<Content, ToolError>>;

/// Runs tools inside this process, on the broker of their plan.
///
/// The code is ours: it is not confined, and one that hangs cannot be killed. What it does still
/// goes through the broker, request by request.
#[derive(Debug, Clone, Copy)]
pub struct BuiltinRuntime {
    /// The names of the tools.
    pub names: &'static [&'static str],
    /// Their code.
    pub run: Builtin,
}

impl Runtime for BuiltinRuntime {
    fn start(&self, plan: Plan) -> Result<Session, StartError> {
        let name = plan
            .implementation
            .as_ref()
            .unwrap_or(&plan.input.name)
            .clone();
        if !self.names.contains(&name.as_str()) {
            return Err(StartError::UnknownBuiltin(name));
        }
        let tool = self.run;
        let board = Board::new(Setup::of(&plan, None));
        board.set_broker(plan.broker.clone());
        let (orders, received) = Orders::new(None);
        let posts = Arc::clone(&board);
        thread::Builder::new()
            .name("jig-builtin".to_owned())
            .spawn(move || run(tool, &name, plan, &posts, received))?;
        Ok(Session::new(board, orders))
    }
}

fn run(tool: Builtin, name: &str, plan: Plan, board: &Arc<Board>, orders: Receiver<Order>) {
    let init = Init {
        context: Some(plan.context.clone()),
        capabilities: plan.offer,
        stateful: plan.stateful,
        ..Init::new(plan.input.clone())
    };
    let broker = plan.broker.clone();
    let door = InProcess {
        plan,
        board: Arc::clone(board),
        orders,
        cancelled: false,
        questions: 0,
        question: None,
        early: VecDeque::new(),
        inputs: VecDeque::new(),
    };
    // A mistake in our own code must end this call and nothing else.
    let result = catch_unwind(AssertUnwindSafe(|| match Host::over(init, door) {
        Ok(mut host) => tool(name, &mut host)
            .unwrap_or_else(|| Err(ToolError::new(format!("there is no code for `{name}`")))),
        Err(error) => Err(ToolError::new(error.to_string())),
    }));
    let mut result =
        result.unwrap_or_else(|_| Err(ToolError::new("the tool failed by a bug in jig")));
    if let Err(error) = &mut result {
        denials::add_refusals(error, &broker);
    }
    // With the tool ends what it had started.
    broker.end_processes();
    board.stopped(result);
}

/// What somebody said to a question.
type Answered = Result<Value, Unapproved>;

/// The way of a tool inside jig to its broker.
struct InProcess {
    plan: Plan,
    board: Arc<Board>,
    orders: Receiver<Order>,
    cancelled: bool,
    /// How many questions the policy had: each has an id of its own.
    questions: u64,
    /// The tool's own question.
    question: Option<(Content, Question)>,
    /// Answers that came while the tool did something else.
    early: VecDeque<Order>,
    /// What the tool was given and has not taken yet. Whoever gives it more than can wait is refused before
    /// it comes here.
    inputs: VecDeque<Applied>,
}

impl InProcess {
    /// Takes orders that need no answer from here.
    fn look_at_orders(&mut self) {
        loop {
            match self.orders.try_recv() {
                Ok(Order::Cancel | Order::Abort) | Err(TryRecvError::Disconnected) => {
                    self.cancelled = true;
                    return;
                }
                Ok(Order::Apply(applied)) if applied.given == Given::Input => {
                    self.inputs.push_back(applied);
                }
                // The answer to a question of the tool, which it has not asked for yet.
                Ok(answer) if self.question.is_some() => self.early.push_back(answer),
                // Nothing is asked: there is nothing to answer.
                Ok(_) => {}
                Err(TryRecvError::Empty) => return,
            }
        }
    }

    /// The next order, if it comes before the deadline.
    fn order(&mut self, deadline: Option<Instant>) -> Result<Option<Order>, RequestError> {
        if let Some(order) = self.early.pop_front() {
            return Ok(Some(order));
        }
        let order = match deadline {
            None => self
                .orders
                .recv()
                .map_err(|_| RecvTimeoutError::Disconnected),
            Some(deadline) => {
                let left = deadline.saturating_duration_since(Instant::now());
                self.orders.recv_timeout(left)
            }
        };
        match order {
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Ok(Order::Cancel | Order::Abort) | Err(RecvTimeoutError::Disconnected) => {
                self.cancelled = true;
                Err(RequestError::Cancelled)
            }
            Ok(order) => Ok(Some(order)),
        }
    }

    /// Blocks until the question that is shown has been answered.
    fn answer(&mut self, deadline: Option<Instant>) -> Result<Option<Answered>, RequestError> {
        while let Some(order) = self.order(deadline)? {
            match order {
                Order::Apply(applied) => match applied.given {
                    Given::Answer(number) if self.board.asks(number) => {
                        return Ok(Some(Ok(applied.input)));
                    }
                    // An answer to an earlier question.
                    Given::Answer(_) => {}
                    // It came before the question. It is no answer, and waits until input is asked for.
                    Given::Input => self.inputs.push_back(applied),
                },
                Order::Decline(number, why) if self.board.asks(number) => {
                    return Ok(Some(Err(why)));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Blocks until there is input.
    fn input(&mut self, deadline: Option<Instant>) -> Result<Option<Value>, RequestError> {
        loop {
            if let Some(applied) = self.inputs.pop_front() {
                return Ok(Some(applied.input));
            }
            match self.order(deadline)? {
                Some(Order::Apply(applied)) if applied.given == Given::Input => {
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
        if self.question.is_none() {
            return self.input(deadline);
        }
        let Some(answer) = self.answer(deadline)? else {
            return Ok(None);
        };
        self.question = None;
        match answer {
            Ok(input) => {
                self.board.running(Content::EMPTY);
                Ok(Some(input))
            }
            Err(_) => Err(RequestError::Refused(ErrorReply::approval_unavailable(
                "nobody answers the question",
            ))),
        }
    }

    /// Does a request, or asks about it until it is decided.
    fn judged_request(&mut self, request: &Request<'_>) -> Result<Reply<'static>, RequestError> {
        let mut judged = self.plan.broker.judge(request);
        loop {
            let inquiry = match judged {
                Judged::Ready(work) => {
                    self.board.set_current(Some(work.cancel_token()));
                    let result = work.perform();
                    self.board.set_current(None);
                    self.look_at_orders();
                    return match self.cancelled {
                        true => Err(RequestError::Cancelled),
                        false => result.map_err(RequestError::Refused),
                    };
                }
                Judged::Refused(error) => return Err(RequestError::Refused(error)),
                Judged::Uncovered(inquiry) => inquiry,
            };
            self.questions += 1;
            let question = inquiry.question(format!("access-{}", self.questions));
            self.board
                .waiting(Content::EMPTY, question, AskedBy::Policy);
            let answer = self.answer(None)?.ok_or(RequestError::Cancelled)?;
            // The tool's own question, if it has put one, was only put off.
            match self.question.clone() {
                Some((content, question)) => self.board.waiting(content, question, AskedBy::Tool),
                None => self.board.running(Content::EMPTY),
            }
            judged = match answer {
                Ok(input) => inquiry.answer(input.as_str().unwrap_or_default()),
                Err(why) => Judged::Refused(inquiry.deny(why)),
            };
        }
    }
}

impl Transport for InProcess {
    fn request(&mut self, request: &Request<'_>) -> Result<Reply<'static>, RequestError> {
        self.look_at_orders();
        if self.cancelled {
            return Err(RequestError::Cancelled);
        }
        let answer = self.judged_request(request);
        self.plan.broker.flush_audit();
        answer
    }

    fn notify(&mut self, notification: &Notification<'_>) -> Result<(), RequestError> {
        if let Notification::State(state) = notification {
            match state {
                ToolState::Running { content } => {
                    self.board.tell(content);
                    // Only an answer ends the waiting (S-027).
                    if self.question.is_none() {
                        self.board.running(content.clone());
                    }
                }
                ToolState::Waiting { content, question } => {
                    self.question = Some((content.clone(), question.clone()));
                    self.board.tell(content);
                    self.board
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
