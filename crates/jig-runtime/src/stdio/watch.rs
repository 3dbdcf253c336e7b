//! [`Watch`]: one run of a program, from its start to what it left behind.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use jig_broker::{Intruder, Judged, Unapproved};
use jig_proto::vfs::{FsWrite, Request};
use jig_proto::{Content, ToolError, ToolState};
use jig_sandbox::{Child, Exit, Interest, Limits, poll};

use super::clean::Cleaner;
use super::driver::{ABORTED, CANCELLED, Driver};
use super::outcome::{by_a_shell, ended, outcome};
use super::printed::Printed;
use crate::launch::{Held, Launched, message};
use crate::limits::SIGXFSZ;
use crate::pipes::Pipes;
use crate::session::Order;
use crate::{Delivery, Reached};

pub(super) struct Watch<'d> {
    driver: &'d Driver,
    child: Child,
    held: Option<Held>,
    limits: Limits,
    printed: Printed,
    started: Instant,
    /// Why the run was ended before its time.
    cut: Option<Cut>,
    /// When it is killed, once it was asked to end.
    kill_at: Option<Instant>,
    /// When something was last shown to whoever watches.
    shown: Option<Instant>,
}

/// Why a run was ended before its time.
#[derive(Debug, Clone, Copy)]
enum Cut {
    Cancelled,
    Aborted,
    Reached(Reached),
}

impl<'d> Watch<'d> {
    pub(super) fn new(driver: &'d Driver, run: Launched) -> Self {
        Self {
            driver,
            child: run.child,
            limits: run.held.limits,
            held: Some(run.held),
            printed: Printed::default(),
            started: Instant::now(),
            cut: None,
            kill_at: None,
            shown: None,
        }
    }

    /// Watches the program until it has ended, and says what it came to.
    pub(super) fn run(mut self) -> ToolState {
        let exit = self.until_exit();
        // The whole tree is gone before anybody hears of the end.
        self.child.kill();
        let exit = exit.and_then(|_| self.child.wait());
        let mut reached = self.reached();
        // The sandbox sees how the program itself ended, not one that it ran.
        if let Ok(exit) = exit
            && by_a_shell(exit) == Some(SIGXFSZ)
        {
            let limit = self.limits.file_size.map(Reached::FileSize);
            reached.extend(limit.filter(|limit| !reached.contains(limit)));
        }
        self.driver.board.reached(&reached);
        self.trace_received();
        let name = &self.driver.plan.name;
        let state = match (self.cut, exit) {
            (Some(Cut::Cancelled), _) => ToolState::failed(ToolError::new(CANCELLED)),
            (Some(Cut::Aborted), _) => ToolState::failed(ToolError::new(ABORTED)),
            (Some(Cut::Reached(reached)), _) => self.limited(reached),
            (None, Err(error)) => {
                let what = format!("`{name}` cannot be watched: {error}");
                ToolState::failed(ToolError::new(what))
            }
            (None, Ok(exit)) => match Reached::deadly(&reached, exit) {
                Some(reached) => self.limited(reached),
                None => {
                    let most = self.driver.plan.max_result;
                    let remark = |remark| self.driver.board.warn([remark]);
                    outcome(name, &self.printed, exit, most, remark)
                }
            },
        };
        let state = self.with_survived(state, &reached);
        let left = self.held.take().map(Held::finish).unwrap_or_default();
        match left.is_empty() {
            true => state,
            false => self.with_intruders(state, &left),
        }
    }

    fn until_exit(&mut self) -> io::Result<Exit> {
        let mut pipes = Pipes::take_from(&mut self.child)?;
        if self.driver.plan.delivery == Delivery::Stdin {
            let line = message(&self.driver.plan, &self.driver.input);
            self.trace_sent(&line);
            *pipes.out() = line;
        }
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            pipes.flush();
            if pipes.unwritten() == 0 {
                // All is said: whoever still reads finds the end.
                pipes.stdin = None;
            }
            self.step_down();
            let exited = self.wait(&pipes)?;
            if self.driver.waker.clear() {
                self.take_orders();
            }
            if exited && let Some(exit) = self.child.try_wait()? {
                // Whoever kept the pipes open is gone too; if not, it is not waited for.
                let most = self.driver.plan.limits.output;
                self.printed.drain(&mut pipes, &mut buffer, most);
                self.check_output();
                return Ok(exit);
            }
            self.printed.read(&mut pipes, &mut buffer);
            self.check_output();
            self.show_news();
        }
    }

    /// Waits until there is something to do. Says whether the program has ended.
    fn wait(&self, pipes: &Pipes) -> io::Result<bool> {
        let mut interests = vec![
            Interest::Exited(&self.child),
            Interest::Woken(&self.driver.waker),
        ];
        let readers = [&pipes.stdout, &pipes.stderr].into_iter().flatten();
        interests.extend(readers.map(|pipe| Interest::Readable(pipe.as_fd())));
        if let Some(stdin) = pipes.stdin.as_ref().filter(|_| pipes.unwritten() > 0) {
            interests.push(Interest::Writable(stdin.as_fd()));
        }
        let now = Instant::now();
        let limit = self.deadline().map(|at| at.saturating_duration_since(now));
        let ready = poll(&interests, limit)?;
        Ok(ready.contains(0))
    }

    fn deadline(&self) -> Option<Instant> {
        let over = match self.cut {
            None => self.time_over(),
            Some(_) => self.kill_at,
        };
        let news = self.printed.has_news().then(|| self.next_news());
        [over, news].into_iter().flatten().min()
    }

    fn time_over(&self) -> Option<Instant> {
        self.started.checked_add(self.driver.plan.limits.time?)
    }

    /// Takes the steps whose time has come: asking to end, then killing.
    fn step_down(&mut self) {
        let now = Instant::now();
        if self.cut.is_none()
            && let Some(time) = self.driver.plan.limits.time
            && self.time_over().is_some_and(|over| over <= now)
        {
            self.end(Cut::Reached(Reached::Time(time)));
        }
        if self.kill_at.is_some_and(|at| at <= now) {
            self.kill_at = None;
            self.child.kill();
        }
    }

    /// Asks the program to end, and sets the time at which it is killed.
    fn end(&mut self, cut: Cut) {
        if self.cut.is_none() {
            self.cut = Some(cut);
            self.child.terminate();
            self.kill_at = Some(Instant::now() + self.driver.plan.timing.kill_grace);
        }
    }

    fn take_orders(&mut self) {
        while let Ok(order) = self.driver.orders.try_recv() {
            match order {
                Order::Cancel => self.end(Cut::Cancelled),
                Order::Abort => {
                    self.cut.get_or_insert(Cut::Aborted);
                    self.child.kill();
                }
                // Nothing is asked: there is nothing to answer.
                Order::Apply(..) | Order::Decline(..) => {}
            }
        }
    }

    /// A program that prints without end is not asked: it would go on meanwhile.
    fn check_output(&mut self) {
        if let Some(most) = self.driver.plan.limits.output
            && self.cut.is_none()
            && self.printed.total() > most
        {
            self.cut = Some(Cut::Reached(Reached::Output(most)));
            self.child.kill();
        }
    }

    /// Shows what was printed as errors: that is where programs tell how far they are (J-018).
    fn show_news(&mut self) {
        let now = Instant::now();
        if self.cut.is_none()
            && self.printed.has_news()
            && self.next_news() <= now
            && let Some(news) = self.printed.take_news()
        {
            self.shown = Some(now);
            let cleaner = Cleaner(self.driver.plan.broker.secrets().scrubber());
            let news = Content::text(cleaner.text(&news));
            self.driver.board.running(news);
        }
    }

    fn next_news(&self) -> Instant {
        self.shown.map_or(self.started, |shown| shown + NEWS_EVERY)
    }

    /// Every limit that the run came up against.
    fn reached(&self) -> Vec<Reached> {
        let tree = Reached::by(&self.child, &self.limits);
        let ours = match self.cut {
            Some(Cut::Reached(reached)) => Some(reached),
            _ => None,
        };
        ours.into_iter().chain(tree).collect()
    }

    fn limited(&self, reached: Reached) -> ToolState {
        let name = &self.driver.plan.name;
        let mut error = ended(format!("`{name}` {reached}"), &self.printed);
        error
            .trace
            .push(format!("`{}` sets the limit", reached.key()));
        ToolState::failed(error)
    }

    /// An error tells also of limits that the program survived: they may be its reason.
    fn with_survived(&self, state: ToolState, reached: &[Reached]) -> ToolState {
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
        let request = Request::FsWrite(FsWrite::new(intruder.path.to_str()?, ""));
        let refused = match self.driver.plan.broker.judge(&request) {
            Judged::Refused(error) => error,
            Judged::Uncovered(inquiry) => inquiry.deny(Unapproved::Unavailable),
            Judged::Ready(_) => return None,
        };
        refused.data.hint
    }

    fn trace_sent(&self, line: &[u8]) {
        if let Some(tracer) = &self.driver.plan.tracer {
            tracer.sent(line.trim_ascii_end());
        }
    }

    fn trace_received(&self) {
        if let Some(tracer) = &self.driver.plan.tracer {
            for line in self
                .printed
                .output()
                .trim_ascii_end()
                .split(|byte| *byte == b'\n')
            {
                tracer.received(line);
            }
        }
    }
}

/// How much is read at once: as much as a pipe holds.
const BUFFER_BYTES: usize = 64 * 1024;

/// How often progress is shown. A program can print a million lines a second.
const NEWS_EVERY: Duration = Duration::from_millis(100);
