//! [`StdioRun`]: one run of a program: how it is ended, and what its end means.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use jig_broker::{Intruder, JudgedRequest, ProgramEnd, ProgramEnding, RunningProgram, Unapproved};
use jig_proto::vfs::{FsWrite, VfsRequest};
use jig_proto::{Denial, ToolError, ToolState};
use jig_sandbox::{Child, Exit, ProcessLimits};

use super::driver::StdioDriver;
use super::outcome::by_a_shell;
use super::remarks;
use crate::ReachedLimit;
use crate::denials;
use crate::limits::SIGXFSZ;
use crate::rerun::{ABORTED, CANCELLED};

pub(super) struct StdioRun<'d> {
    pub(super) driver: &'d StdioDriver,
    pub(super) child: Arc<Child>,
    program: Option<RunningProgram>,
    limits: ProcessLimits,
    pub(super) started: Instant,
    /// Why the run was ended before its time.
    pub(super) cut: Option<EarlyEndReason>,
    /// When it is killed, once it was asked to end.
    kill_at: Option<Instant>,
    /// The ports on which it listened when its time was over, and nobody could reach it.
    pub(super) unreached: Vec<u16>,
}

/// Why a run was ended before its time.
#[derive(Debug, Clone, Copy)]
pub(super) enum EarlyEndReason {
    Cancelled,
    Aborted,
    Reached(ReachedLimit),
}

/// What the end of a run means.
pub(super) enum RunEnd {
    /// The program ended by itself.
    Exited(Exit),
    /// It was ended by a limit.
    Limited(ReachedLimit),
    /// It failed, whatever the program printed.
    Failed(ToolError),
}

impl<'d> StdioRun<'d> {
    pub(super) fn new(driver: &'d StdioDriver, program: RunningProgram) -> Self {
        let child = Arc::clone(program.child());
        driver.board.set_child(&child);
        Self {
            driver,
            child,
            limits: *program.limits(),
            program: Some(program),
            started: Instant::now(),
            cut: None,
            kill_at: None,
            unreached: Vec::new(),
        }
    }

    /// The ports on which it listens, and nobody can reach it.
    pub(super) fn look_for_unreached(&self) -> Vec<u16> {
        let program = self.program.as_ref();
        program.map_or_else(Vec::new, RunningProgram::unreached_ports)
    }

    /// What it has just been refused, by its own words.
    pub(super) fn look_for_refused(&mut self, said: &str) -> Vec<Denial> {
        let program = self.program.as_mut();
        program.map_or_else(Vec::new, |program| program.guess_meanwhile(said))
    }

    /// When something is to be done by [`step_down`](Self::step_down).
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.cut {
            None => self.time_over(),
            Some(_) => self.kill_at,
        }
    }

    fn time_over(&self) -> Option<Instant> {
        self.started.checked_add(self.driver.plan.limits.time?)
    }

    /// Takes the steps whose time has come: asking to end, then killing.
    pub(super) fn step_down(&mut self) {
        let now = Instant::now();
        if self.cut.is_none()
            && let Some(time) = self.driver.plan.limits.time
            && self.time_over().is_some_and(|over| over <= now)
        {
            self.end(EarlyEndReason::Reached(ReachedLimit::Time(time)));
        }
        if self.kill_at.is_some_and(|at| at <= now) {
            self.kill_at = None;
            self.child.kill();
        }
    }

    /// Asks the program to end, and sets the time at which it is killed.
    pub(super) fn end(&mut self, cut: EarlyEndReason) {
        if self.cut.is_none() {
            self.cut = Some(cut);
            if let EarlyEndReason::Reached(ReachedLimit::Time(_)) = cut {
                self.unreached = self.look_for_unreached();
            }
            if self.driver.plan.terminal.is_some() {
                // What closing a terminal does. A shell on one ignores the other signal.
                self.child.signal(rustix::process::Signal::HUP.as_raw());
            }
            self.child.terminate();
            if self.driver.plan.stateful {
                // Somebody may have stopped it, and then it hears nothing.
                self.child.signal(rustix::process::Signal::CONT.as_raw());
            }
            self.kill_at = Some(Instant::now() + self.driver.plan.timing.kill_grace);
        }
    }

    /// Kills the program.
    pub(super) fn kill(&mut self, cut: EarlyEndReason) {
        self.cut.get_or_insert(cut);
        self.child.kill();
    }

    /// A program that prints without end is not asked to end: it would go on meanwhile.
    pub(super) fn check_output(&mut self, printed: u64) {
        if let Some(most) = self.driver.plan.limits.output
            && self.cut.is_none()
            && printed > most
        {
            self.kill(EarlyEndReason::Reached(ReachedLimit::Output(most)));
        }
    }

    /// Ends the whole tree, which must have been watched to its end, and says what that means.
    pub(super) fn ended(&self, exit: io::Result<Exit>) -> (RunEnd, Vec<ReachedLimit>) {
        // The whole tree is gone before anybody hears of the end.
        self.child.kill();
        let exit = exit.and_then(|_| self.child.wait());
        let mut reached = self.reached();
        // The sandbox sees how the program itself ended, not one that it ran.
        if let Ok(exit) = exit
            && by_a_shell(exit) == Some(SIGXFSZ)
        {
            let limit = self.limits.file_size.map(ReachedLimit::FileSize);
            reached.extend(limit.filter(|limit| !reached.contains(limit)));
        }
        let failed = |what: &str| RunEnd::Failed(ToolError::new(what));
        let ended = match (self.cut, exit) {
            (Some(EarlyEndReason::Cancelled), _) => failed(CANCELLED),
            (Some(EarlyEndReason::Aborted), _) => failed(ABORTED),
            (Some(EarlyEndReason::Reached(reached)), _) => RunEnd::Limited(reached),
            (None, Err(error)) => {
                let name = &self.driver.plan.name;
                failed(&format!("`{name}` cannot be watched: {error}"))
            }
            (None, Ok(exit)) => match ReachedLimit::deadly(&reached, exit) {
                Some(reached) => RunEnd::Limited(reached),
                None => RunEnd::Exited(exit),
            },
        };
        (ended, reached)
    }

    /// Every limit that the run came up against.
    fn reached(&self) -> Vec<ReachedLimit> {
        let tree = ReachedLimit::by(&self.child, &self.limits);
        let ours = match self.cut {
            Some(EarlyEndReason::Reached(reached)) => Some(reached),
            _ => None,
        };
        ours.into_iter().chain(tree).collect()
    }

    /// Adds to the state what the run came up against, what it was refused, and what it left where nothing
    /// may be. `said` are the last words of the program, on whichever stream.
    pub(super) fn close(
        mut self,
        state: ToolState,
        reached: &[ReachedLimit],
        said: &str,
    ) -> ToolState {
        let mut state = with_survived(state, reached);
        let said = &with_own_error(said, &state);
        for remark in remarks::of(&self, &state, said) {
            match &mut state {
                ToolState::Stopped {
                    result: Err(error), ..
                } => error.trace.extend([remark.text, remark.hint.to_string()]),
                _ => self.driver.board.note(remark.lines()),
            }
        }
        let given_up = matches!(
            self.cut,
            Some(EarlyEndReason::Cancelled | EarlyEndReason::Aborted)
        );
        let failed = matches!(&state, ToolState::Stopped { result: Err(_), .. }) && !given_up;
        let plan = &self.driver.plan;
        let end = self.program.take().map(|program| {
            program.finish(match failed {
                true => ProgramEnding::Failed { said },
                false => ProgramEnding::Unexplained,
            })
        });
        let ProgramEnd {
            intruders,
            denials: refused,
            unwatched,
            ..
        } = end.unwrap_or_default();
        if let Some(unwatched) = unwatched {
            self.driver.board.note(unwatched);
        }
        let mut state = match intruders.is_empty() {
            true => state,
            false => self.with_intruders(state, &intruders),
        };
        if let ToolState::Stopped {
            result: Err(error), ..
        } = &mut state
            && !given_up
        {
            let mut reached = reached.to_vec();
            for told in ReachedLimit::told_by(said, &self.limits) {
                if !reached.contains(&told) {
                    reached.push(told);
                }
            }
            let limits = reached.iter().map(|reached| reached.denial(&plan.name));
            let limits: Vec<Denial> = limits.collect();
            plan.broker.audit_denials(&limits);
            denials::add(error, limits);
            denials::add(error, refused);
            let variables = plan.broker.explain_variables(said);
            plan.broker.audit_denials(&variables);
            denials::add(error, variables);
        }
        state
    }

    /// A tool that made what may not be there has failed, whatever it says.
    fn with_intruders(&self, state: ToolState, left: &[Intruder]) -> ToolState {
        let name = &self.driver.plan.name;
        let told: Vec<String> = left.iter().map(ToString::to_string).collect();
        let message = format!("`{name}` did what it may not: {}", told.join("; "));
        let mut error = ToolError::new(message);
        error
            .trace
            .extend(left.iter().filter_map(|one| self.hint(one)));
        match state {
            ToolState::Stopped { result, .. } => error.trace.push(match result {
                Ok(content) => format!("it said: {}", content.to_text()),
                Err(said) => format!("it failed: {}", said.message),
            }),
            ToolState::Waiting { question, .. } => {
                error.trace.push(format!("it asked: {}", question.text));
            }
            ToolState::Running { .. } => {}
        }
        ToolState::failed(error)
    }

    /// The rule that would allow it, in the words of the door that tools ask at. Asking there also
    /// leaves a line in the audit log.
    fn hint(&self, intruder: &Intruder) -> Option<String> {
        let request = VfsRequest::FsWrite(FsWrite::new(intruder.path.to_str()?, ""));
        let refused = match self.driver.plan.broker.judge(&request) {
            JudgedRequest::Refused(error) => error,
            JudgedRequest::Uncovered(inquiry) => inquiry.deny(Unapproved::Unavailable),
            JudgedRequest::Ready(_) => return None,
        };
        refused.data.hint
    }

    pub(super) fn trace_sent(&self, line: &[u8]) {
        if let Some(tracer) = &self.driver.plan.tracer {
            tracer.sent(line.trim_ascii_end());
        }
    }

    pub(super) fn trace_received(&self, output: &[u8]) {
        if let Some(tracer) = &self.driver.plan.tracer {
            for line in output.trim_ascii_end().split(|byte| *byte == b'\n') {
                tracer.received(line);
            }
        }
    }
}

/// The last words of a program, with the error that it told as its result.
fn with_own_error(said: &str, state: &ToolState) -> String {
    match state {
        ToolState::Stopped {
            result: Err(error), ..
            // What jig made of its output repeats that.
        } if !error.message.starts_with('{') => {
            [&[said.to_owned(), error.message.clone()][..], &error.trace]
                .concat()
                .join("\n")
        }
        _ => said.to_owned(),
    }
}

/// The error of a run that a limit has ended.
pub(super) fn limited(mut error: ToolError, reached: ReachedLimit) -> ToolState {
    let key = reached.key();
    error.trace.push(format!("`{key}` sets the limit"));
    ToolState::failed(error)
}

/// An error tells also of limits that the program survived: they may be its reason.
fn with_survived(state: ToolState, reached: &[ReachedLimit]) -> ToolState {
    let ToolState::Stopped {
        content,
        result: Err(mut error),
    } = state
    else {
        return state;
    };
    for reached in reached {
        let told = format!("it {reached} (`{}` sets the limit)", reached.key());
        if !error.message.contains(&reached.to_string()) {
            error.trace.push(told);
        }
    }
    ToolState::Stopped {
        content,
        result: Err(error),
    }
}
