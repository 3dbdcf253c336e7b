//! [`StdioDriver`]: the one thread that owns a program, run after run, and is the truth about it.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use jig_broker::ProgramReach;
use jig_proto::vfs::ToolInput;
use jig_proto::{Content, ToolError, ToolState};
use jig_pty::Pty;
use jig_sandbox::{Stdio, Waker};

use super::printing_run::StdioWatch;
use super::result_cleaner::OutputCleaner;
use super::steered_run::LiveRun;
use crate::denials;
use crate::launch::{self, LaunchedProgram};
use crate::rerun;
use crate::session::{ApplyOrder, AskedBy, SessionBoard, SessionOrder};
use crate::{Delivery, Plan, StartError};

/// Starts the program for a call, watched if `observe` or the plan says so.
pub(super) fn launch(
    plan: &Plan,
    input: &ToolInput,
    observe: bool,
) -> Result<LaunchedProgram, StartError> {
    let pty = plan.terminal.map(Pty::open).transpose()?;
    let (pty, theirs) = pty.unzip();
    let observe = observe || plan.observe;
    let mut launched = launch::launch(plan, input, ProgramReach::Workspace, observe, |request| {
        if plan.delivery == Delivery::Stdin || plan.stateful {
            request.stdin = Stdio::Piped;
        }
        if theirs.is_some() && !names_terminal(plan) {
            request.env.insert("TERM".into(), TERMINAL.into());
        }
        request.terminal = theirs;
    })?;
    launched.terminal = pty;
    Ok(launched)
}

/// Whether a rule hands on what the host says about its terminal.
fn names_terminal(plan: &Plan) -> bool {
    let mut rules = plan.context.access.iter().flat_map(|access| &access.env);
    rules.any(|rule| rule.read && rule.name == "TERM")
}

pub(super) struct StdioDriver {
    pub(super) plan: Plan,
    /// The call, with all answers so far.
    pub(super) input: ToolInput,
    pub(super) board: Arc<SessionBoard>,
    pub(super) orders: Receiver<SessionOrder>,
    pub(super) waker: Waker,
}

impl StdioDriver {
    /// Drives the tool until it has stopped.
    pub(super) fn run(mut self, first: LaunchedProgram) {
        let result = self.drive(first);
        self.plan.close_log(&self.board);
        // What the tool left in its directory is brought back before anybody hears of the end.
        self.plan.command = None;
        self.board.stopped(result);
    }

    /// Runs the program, and runs it again after each answer, until it has a result.
    fn drive(&mut self, first: LaunchedProgram) -> Result<Content, ToolError> {
        let mut run = first;
        let mut answered = None;
        for _ in 0..rerun::MAX_RUNS {
            self.board.warn(run.warnings.iter().cloned());
            let unwatched = |error: io::Error| {
                let name = &self.plan.name;
                ToolError::new(format!("`{name}` cannot be watched: {error}"))
            };
            let state = if self.plan.stateful || run.terminal.is_some() {
                let live = LiveRun::new(self, run).map_err(unwatched)?;
                self.has_started(answered.take());
                live.run()
            } else if self.plan.repeatable && !run.program.is_observed() {
                self.repeated(run, answered.take()).map_err(unwatched)?
            } else {
                let watch = StdioWatch::new(self, run).map_err(unwatched)?;
                self.has_started(answered.take());
                watch.run().0
            };
            let state = OutputCleaner(self.plan.broker.secrets().scrubber()).state(state);
            let (content, question) = match state {
                ToolState::Waiting { content, question } => (content, question),
                ToolState::Stopped { result, .. } => return result,
                ToolState::Running { content } => return Ok(content),
            };
            self.board.waiting(content, question.clone(), AskedBy::Tool);
            let answer = rerun::answer(&self.orders, &self.board, &question)?;
            self.input.answers.insert(question.id, answer.input.clone());
            answered = Some(answer);
            run = launch(&self.plan, &self.input, false)
                .map_err(|error| rerun::not_started(&self.plan.name, &error))?;
        }
        Err(rerun::asked_too_often(&self.plan.name))
    }

    /// Runs the program and, if it failed, once more with somebody watching, to learn what it was refused.
    /// Nothing else of the second run counts.
    fn repeated(
        &self,
        first: LaunchedProgram,
        answered: Option<ApplyOrder>,
    ) -> io::Result<ToolState> {
        let watch = StdioWatch::new(self, first)?;
        self.has_started(answered);
        let (mut state, given_up) = watch.run();
        let ToolState::Stopped {
            result: Err(error), ..
        } = &mut state
        else {
            return Ok(state);
        };
        if given_up || !self.plan.overlays.is_empty() {
            return Ok(state);
        }
        // What cannot be started or watched a second time has nothing to tell.
        if let Ok(again) = launch(&self.plan, &self.input, true)
            && again.program.is_observed()
            && let Ok(watch) = StdioWatch::silent(self, again)
        {
            let (second, _) = watch.run();
            if let ToolState::Stopped {
                result: Err(second),
                ..
            } = second
            {
                // What was seen is worth more than what was guessed.
                if second.denials.iter().any(|denial| !denial.guessed) {
                    error.denials.retain(|denial| !denial.guessed);
                }
                denials::add(error, second.denials);
            }
        }
        Ok(state)
    }

    /// Tells that the program runs; again, if there was an answer.
    fn has_started(&self, answered: Option<ApplyOrder>) {
        if self.plan.stateful {
            // It may run for days: what was decided for its start is written down now.
            self.plan.broker.flush_audit();
        }
        if let Some(answered) = answered {
            self.board.running(Content::EMPTY);
            answered.reply(Ok(()));
        }
    }
}

/// What a program is told about its terminal: what the screen understands.
const TERMINAL: &str = "xterm-256color";
