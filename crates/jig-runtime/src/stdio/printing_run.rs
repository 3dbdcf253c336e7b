//! [`StdioWatch`]: one run of a program that prints its result, from its start to what it left behind.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use jig_broker::Refusals;
use jig_proto::{Content, ToolState};
use jig_sandbox::{Exit, Interest, poll};

use super::bounded_output::StdioOutput;
use super::driver::StdioDriver;
use super::outcome::{ended, outcome};
use super::result_cleaner::OutputCleaner;
use super::run::{EarlyEndReason, RunEnd, StdioRun, limited};
use crate::launch::{LaunchedProgram, message};
use crate::pipes::{ToolPipes, with_buffer};
use crate::session::SessionOrder;
use crate::{ApplyError, Delivery};

pub(super) struct StdioWatch<'d> {
    run: StdioRun<'d>,
    pipes: ToolPipes,
    printed: StdioOutput,
    /// When something was last shown to whoever watches.
    shown: Option<Instant>,
    /// Whether nobody is told of this run.
    silent: bool,
    /// What its gateway refuses.
    refusals: Option<Refusals>,
}

impl<'d> StdioWatch<'d> {
    pub(super) fn new(driver: &'d StdioDriver, launched: LaunchedProgram) -> io::Result<Self> {
        let mut program = launched.program;
        let pipes = ToolPipes::new(std::mem::take(&mut program.streams))?;
        Ok(Self {
            refusals: program.refusals(),
            run: StdioRun::new(driver, program),
            pipes,
            printed: StdioOutput::default(),
            shown: None,
            silent: false,
        })
    }

    /// The same for a run of which nobody is told: only what it came to counts.
    pub(super) fn silent(driver: &'d StdioDriver, launched: LaunchedProgram) -> io::Result<Self> {
        let mut watch = Self::new(driver, launched)?;
        watch.silent = true;
        Ok(watch)
    }

    /// Watches the program until it has ended, and says what it came to, and whether somebody gave the call
    /// up meanwhile.
    pub(super) fn run(mut self) -> (ToolState, bool) {
        let exit = self.until_exit();
        let (ending, reached) = self.run.ended(exit);
        if !self.silent {
            self.run.driver.board.reached(&reached);
            self.run.trace_received(self.printed.output());
        }
        let plan = &self.run.driver.plan;
        let state = match ending {
            RunEnd::Failed(error) => ToolState::failed(error),
            RunEnd::Limited(reached) => {
                let error = ended(format!("`{}` {reached}", plan.name), &self.printed);
                limited(error, reached)
            }
            RunEnd::Exited(exit) => {
                if let (Exit::Exited { code }, false) = (exit, self.silent) {
                    self.run.driver.board.set_exit_code(Some(code));
                }
                let remark = |remark| {
                    if !self.silent {
                        self.run.driver.board.warn([remark]);
                    }
                };
                outcome(&plan.name, &self.printed, exit, plan.max_result, remark)
            }
        };
        let given_up = matches!(
            self.run.cut,
            Some(EarlyEndReason::Cancelled | EarlyEndReason::Aborted)
        );
        let said = self.printed.last_words();
        (self.run.close(state, &reached, &said), given_up)
    }

    fn until_exit(&mut self) -> io::Result<Exit> {
        let driver = self.run.driver;
        if driver.plan.delivery == Delivery::Stdin {
            let line = message(&driver.plan, &driver.input);
            if !self.silent {
                self.run.trace_sent(&line);
            }
            *self.pipes.out() = line;
        }
        loop {
            self.pipes.flush();
            if self.pipes.unwritten() == 0 {
                // All is said: whoever still reads finds the end.
                self.pipes.stdin = None;
            }
            self.run.step_down();
            let exited = self.wait()?;
            if driver.waker.clear() {
                self.take_orders();
            }
            self.tell_refusals();
            let pipes = &mut self.pipes;
            if exited && let Some(exit) = self.run.child.try_wait()? {
                // Whoever kept the pipes open is gone too; if not, it is not waited for.
                let most = driver.plan.limits.output;
                with_buffer(|buffer| self.printed.drain(pipes, buffer, most));
                self.run.check_output(self.printed.total());
                return Ok(exit);
            }
            with_buffer(|buffer| self.printed.read(pipes, buffer));
            self.run.check_output(self.printed.total());
            self.show_news();
        }
    }

    /// Waits until there is something to do. Says whether the program has ended.
    fn wait(&self) -> io::Result<bool> {
        let pipes = &self.pipes;
        let mut interests = vec![
            Interest::Exited(&self.run.child),
            Interest::Woken(&self.run.driver.waker),
        ];
        let readers = [&pipes.stdout, &pipes.stderr].into_iter().flatten();
        interests.extend(readers.map(|pipe| Interest::Readable(pipe.as_fd())));
        if let Some(stdin) = pipes.stdin.as_ref().filter(|_| pipes.unwritten() > 0) {
            interests.push(Interest::Writable(stdin.as_fd()));
        }
        let refusals = self.refusals.as_ref();
        interests.extend(refusals.map(|refusals| Interest::Woken(refusals.waker())));
        let news = self.printed.has_news().then(|| self.next_news());
        let deadline = [self.run.deadline(), news].into_iter().flatten().min();
        let now = Instant::now();
        let limit = deadline.map(|at| at.saturating_duration_since(now));
        let ready = poll(&interests, limit)?;
        Ok(ready.contains(0))
    }

    /// Shows at once which hosts it is refused: many programs try again for minutes before they give up.
    fn tell_refusals(&mut self) {
        for denial in self.refusals.iter_mut().flat_map(Refusals::take) {
            if !self.silent && self.run.cut.is_none() {
                let news = format!("jig: refused: {denial}");
                self.run.driver.board.running(Content::text(news));
            }
        }
    }

    fn take_orders(&mut self) {
        while let Ok(order) = self.run.driver.orders.try_recv() {
            match order {
                SessionOrder::Cancel => self.run.end(EarlyEndReason::Cancelled),
                SessionOrder::Abort => self.run.kill(EarlyEndReason::Aborted),
                // Nothing is asked: there is nothing to answer.
                SessionOrder::Apply(applied) => applied.reply(Err(ApplyError::NotTaken)),
                SessionOrder::Decline(..) => {}
            }
        }
    }

    /// Shows what was printed as errors: that is where programs tell how far they are (J-018).
    fn show_news(&mut self) {
        let now = Instant::now();
        if self.run.cut.is_none()
            && !self.silent
            && self.printed.has_news()
            && self.next_news() <= now
            && let Some(news) = self.printed.take_news()
        {
            self.shown = Some(now);
            let driver = self.run.driver;
            let cleaner = OutputCleaner(driver.plan.broker.secrets().scrubber());
            let news = Content::text(cleaner.text(&news));
            driver.board.running(news);
        }
    }

    fn next_news(&self) -> Instant {
        self.shown
            .map_or(self.run.started, |shown| shown + NEWS_EVERY)
    }
}

/// How often progress is shown. A program can print a million lines a second.
const NEWS_EVERY: Duration = Duration::from_millis(100);
