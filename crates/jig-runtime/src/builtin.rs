//! The builtin runtime: code of jig's own, on the SDK that every tool uses.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::thread;

use jig_broker::{Judged, Unapproved};
use jig_proto::vfs::{ErrorReply, Init, Reply, Request};
use jig_proto::{Content, ToolError, ToolState};
use jig_tool::vfs::{Host, Notification, RequestError, Transport};
use serde_json::Value;

use crate::session::{AskedBy, Board, Order, Orders};
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
        let board = Board::new(None);
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
        ..Init::new(plan.input.clone())
    };
    let door = InProcess {
        plan,
        board: Arc::clone(board),
        orders,
        cancelled: false,
        questions: 0,
    };
    // A mistake in our own code must end this call and nothing else.
    let result = catch_unwind(AssertUnwindSafe(|| match Host::over(init, door) {
        Ok(mut host) => tool(name, &mut host)
            .unwrap_or_else(|| Err(ToolError::new(format!("there is no code for `{name}`")))),
        Err(error) => Err(ToolError::new(error.to_string())),
    }));
    let result = result.unwrap_or_else(|_| Err(ToolError::new("the tool failed by a bug in jig")));
    board.stopped(result);
}

/// The way of a tool inside jig to its broker.
struct InProcess {
    plan: Plan,
    board: Arc<Board>,
    orders: Receiver<Order>,
    cancelled: bool,
    /// How many questions the policy had: each has an id of its own.
    questions: u64,
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
                // Nothing is asked: there is nothing to answer.
                Ok(Order::Apply(..) | Order::Decline(..)) => {}
                Err(TryRecvError::Empty) => return,
            }
        }
    }

    /// Blocks until the question that is shown has been answered.
    fn answer(&mut self) -> Result<Result<Value, Unapproved>, RequestError> {
        loop {
            match self.orders.recv() {
                Ok(Order::Apply(seen, input)) if self.board.shows(seen) => return Ok(Ok(input)),
                Ok(Order::Decline(seen, why)) if self.board.shows(seen) => return Ok(Err(why)),
                // An answer to an earlier question.
                Ok(Order::Apply(..) | Order::Decline(..)) => {}
                Ok(Order::Cancel | Order::Abort) | Err(_) => {
                    self.cancelled = true;
                    return Err(RequestError::Cancelled);
                }
            }
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
            let answer = self.answer()?;
            self.board.running(Content::EMPTY);
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
                ToolState::Running { content } => self.board.running(content.clone()),
                ToolState::Waiting { content, question } => {
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
        match self.answer()? {
            Ok(input) => {
                self.board.running(Content::EMPTY);
                Ok(input)
            }
            Err(_) => Err(RequestError::Refused(ErrorReply::approval_unavailable(
                "nobody answers the question",
            ))),
        }
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled
    }
}
