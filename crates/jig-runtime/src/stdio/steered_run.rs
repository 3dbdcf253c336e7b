//! [`LiveRun`]: one run of a program that is looked at and steered while it runs, on pipes or on a terminal.

use std::io;
use std::time::{Duration, Instant};

use jig_broker::Refusals;
use jig_proto::{Denial, ToolError, ToolState};
use jig_pty::{Console, Input, OutputSource, Signal};
use jig_sandbox::{Exit, Interest, poll};

use super::bounded_output::StdioOutput;
use super::driver::StdioDriver;
use super::outcome::{ended, outcome, printed_state};
use super::remarks;
use super::result_cleaner::OutputCleaner;
use super::result_output::WholeOutput;
use super::run::{EarlyEndReason, RunEnd, StdioRun, limited};
use super::stream_text::StreamCleaner;
use crate::launch::{LaunchedProgram, message};
use crate::pipes::{ProgramStream, with_buffer};
use crate::session::{ApplyOrder, InputPurpose, SessionOrder};
use crate::{ApplyError, Delivery};

pub(super) struct LiveRun<'d> {
    run: StdioRun<'d>,
    console: Console,
    /// What of the call has not been given to the program yet.
    opening: String,
    /// What it says on each stream, on the way to those who look.
    output: StreamCleaner,
    errors: StreamCleaner,
    /// Its output as long as that may be a result.
    whole: WholeOutput,
    /// How many bytes it printed.
    printed: u64,
    /// What its gateway refuses.
    refusals: Option<Refusals>,
    /// When it is next looked whether it listens where nobody can reach it, and how long after that.
    look_at: Option<(Instant, Duration)>,
    /// When it counts as quiet, and what it said is looked at for what it was refused.
    quiet_at: Option<Instant>,
}

impl<'d> LiveRun<'d> {
    pub(super) fn new(driver: &'d StdioDriver, launched: LaunchedProgram) -> io::Result<Self> {
        let LaunchedProgram {
            mut program,
            terminal,
            ..
        } = launched;
        let streams = std::mem::take(&mut program.streams);
        let console = match terminal {
            Some(pty) => Console::terminal(pty),
            None => Console::piped(streams.stdin, streams.stdout, streams.stderr)?,
        };
        let secrets = driver.plan.broker.secrets();
        Ok(Self {
            refusals: program.refusals(),
            look_at: driver
                .plan
                .stateful
                .then(|| (Instant::now() + FIRST_LOOK, FIRST_LOOK * 2)),
            run: StdioRun::new(driver, program),
            console,
            opening: String::new(),
            output: StreamCleaner::new(secrets),
            errors: StreamCleaner::new(secrets),
            whole: WholeOutput::new(driver.plan.max_result),
            printed: 0,
            quiet_at: None,
        })
    }

    /// Watches the program until it has ended, and says what it came to.
    pub(super) fn run(mut self) -> ToolState {
        let exit = self.until_exit();
        let (ending, reached) = self.run.ended(exit);
        self.run.driver.board.reached(&reached);
        if !self.run.driver.plan.stateful {
            self.end_speech();
        }
        let state = match (&ending, self.run.driver.plan.stateful) {
            (RunEnd::Exited(exit), true) => self.told(*exit),
            (_, true) => None,
            (_, false) => Some(self.result(&ending)),
        };
        if state.is_none() {
            self.show_whole();
        }
        self.end_speech();
        let name = &self.run.driver.plan.name;
        let state = match (state, ending) {
            (Some(state), _) => state,
            (None, RunEnd::Failed(error)) => ToolState::failed(error),
            (None, RunEnd::Limited(reached)) => {
                let error = ToolError::new(format!("`{name}` {reached}"));
                limited(error, reached)
            }
            (None, RunEnd::Exited(exit @ Exit::Exited { code: 0 })) => {
                ToolState::succeeded(exit.to_string())
            }
            (None, RunEnd::Exited(exit)) => {
                ToolState::failed(ToolError::new(format!("`{name}` {exit}")))
            }
        };
        let said = self.last_words();
        self.run.close(state, &reached, &said)
    }

    /// The end of what it said, which tells why it failed.
    fn last_words(&self) -> String {
        let board = &self.run.driver.board;
        let all = board.say(|transcript| transcript.all(LAST_WORDS));
        all.map(|all| all.text).unwrap_or_default()
    }

    /// The state that a program printed as its whole output, if it did. It is not shown as output then.
    fn told(&self, exit: Exit) -> Option<ToolState> {
        if let Exit::Exited { code } = exit {
            self.run.driver.board.set_exit_code(Some(code));
        }
        let plan = &self.run.driver.plan;
        let remark = |remark| self.run.driver.board.warn([remark]);
        printed_state(&plan.name, self.whole.bytes()?, remark)
    }

    /// What a call that is not looked at while it runs comes to: all that stands on its terminal.
    fn result(&self, ending: &RunEnd) -> ToolState {
        let driver = self.run.driver;
        let plan = &driver.plan;
        let mut printed = StdioOutput::default();
        let state = self.whole.bytes();
        let remark = |remark| driver.board.warn([remark]);
        match state.filter(|whole| printed_state(&plan.name, whole, |_| {}).is_some()) {
            Some(whole) => printed.take(ProgramStream::Output, whole),
            None => {
                // Without secrets first, and then cut: no end may show half of one.
                let all = driver.board.say(|transcript| transcript.all(usize::MAX));
                let all = all.unwrap_or_default();
                let mut text = match plan.broker.secrets().scrubber() {
                    Some(scrubber) => scrubber.lines(all.text),
                    None => all.text,
                };
                let start = text.ceil_char_boundary(text.len().saturating_sub(plan.max_result));
                text.drain(..start);
                if all.lost > 0 || start > 0 {
                    text.insert_str(0, "[the beginning is not kept] ...\n");
                }
                printed.take(ProgramStream::Output, text.as_bytes());
            }
        }
        match ending {
            RunEnd::Failed(error) => ToolState::failed(error.clone()),
            RunEnd::Limited(reached) => {
                let error = ended(format!("`{}` {reached}", plan.name), &printed);
                limited(error, *reached)
            }
            RunEnd::Exited(exit) => {
                if let Exit::Exited { code } = exit {
                    driver.board.set_exit_code(Some(*code));
                }
                outcome(&plan.name, &printed, *exit, plan.max_result, remark)
            }
        }
    }

    fn until_exit(&mut self) -> io::Result<Exit> {
        let driver = self.run.driver;
        if driver.plan.delivery == Delivery::Stdin {
            let line = message(&driver.plan, &driver.input);
            self.run.trace_sent(&line);
            self.opening = String::from_utf8_lossy(&line).into_owned();
        }
        if driver.plan.terminal.is_some() && !driver.plan.stateful {
            // Nobody types here: who reads finds the end, as on a standard input that is empty.
            self.console.write_answers(&[END_OF_INPUT; ENDS_OF_INPUT]);
        }
        loop {
            self.console.flush();
            self.open();
            self.run.step_down();
            let exited = self.wait()?;
            if driver.waker.clear() {
                self.take_orders();
            }
            self.tell_refusals();
            self.tell_unreached();
            self.tell_denials();
            if exited && let Some(exit) = self.run.child.try_wait()? {
                self.drain();
                return Ok(exit);
            }
            self.read();
            if self.whole.is_overdue(Instant::now()) {
                self.show_whole();
            }
        }
    }

    /// Waits until there is something to do. Says whether the program has ended.
    fn wait(&self) -> io::Result<bool> {
        let mut interests = Vec::with_capacity(6);
        interests.extend([
            Interest::Exited(&self.run.child),
            Interest::Woken(&self.run.driver.waker),
        ]);
        interests.extend(self.console.readers().map(Interest::Readable));
        interests.extend(self.console.writer().map(Interest::Writable));
        let refusals = self.refusals.as_ref();
        interests.extend(refusals.map(|refusals| Interest::Woken(refusals.waker())));
        let look_at = self.look_at.map(|(at, _)| at);
        let deadlines = [
            self.run.deadline(),
            self.whole.due(),
            look_at,
            self.quiet_at,
        ];
        let now = Instant::now();
        let limit = deadlines.into_iter().flatten().min();
        let limit = limit.map(|at| at.saturating_duration_since(now));
        let ready = poll(&interests, limit)?;
        Ok(ready.contains(0))
    }

    /// Tells at once which hosts it is refused: many programs try again for minutes before they give up.
    fn tell_refusals(&mut self) {
        let refused: Vec<Denial> = self.refusals.iter_mut().flat_map(Refusals::take).collect();
        for denial in refused {
            self.note_denial(&denial);
        }
    }

    /// Tells that it listens where nobody can reach it, which is noticed soon after its start or never.
    fn tell_unreached(&mut self) {
        let Some((at, pause)) = self.look_at else {
            return;
        };
        let now = Instant::now();
        if now < at {
            return;
        }
        self.look_at = (pause <= LAST_LOOK).then_some((now + pause, pause * 2));
        let ports = self.run.look_for_unreached();
        if !ports.is_empty() {
            self.look_at = None;
            let driver = self.run.driver;
            let remark = remarks::unreached(&driver.plan.name, &ports);
            driver.board.note(remark.lines());
        }
    }

    /// Tells what a command in a shell, say, was refused: as soon as its words are out, and not at the end of the
    /// whole session.
    fn tell_denials(&mut self) {
        if self.quiet_at.is_none_or(|at| Instant::now() < at) {
            return;
        }
        self.quiet_at = None;
        let said = self.last_words();
        for denial in self.run.look_for_refused(&said) {
            self.note_denial(&denial);
        }
    }

    fn note_denial(&self, denial: &Denial) {
        let driver = self.run.driver;
        let cleaner = OutputCleaner(driver.plan.broker.secrets().scrubber());
        driver
            .board
            .note(cleaner.text(&format!("refused: {denial}")));
    }

    fn take_orders(&mut self) {
        while let Ok(order) = self.run.driver.orders.try_recv() {
            match order {
                SessionOrder::Cancel => self.run.end(EarlyEndReason::Cancelled),
                SessionOrder::Abort => self.run.kill(EarlyEndReason::Aborted),
                SessionOrder::Apply(applied) => {
                    let result = self.give(&applied);
                    applied.reply(result);
                }
                SessionOrder::Decline(..) => {}
            }
        }
    }

    /// Gives the program input.
    fn give(&mut self, applied: &ApplyOrder) -> Result<(), ApplyError> {
        let driver = self.run.driver;
        match applied.given {
            InputPurpose::Input if !driver.plan.stateful => return Err(ApplyError::NotTaken),
            InputPurpose::Input if self.run.cut.is_some() => return Err(ApplyError::NotRunning),
            InputPurpose::Input => {}
            // The question was that of an earlier run.
            InputPurpose::Answer(_) => return Err(ApplyError::Changed),
        }
        let input = Input::read(&applied.input)?;
        if !self.opening.is_empty() {
            let waiting = self.opening.len() + self.console.unwritten();
            return Err(jig_pty::SendError::Full { waiting }.into());
        }
        self.run.trace_sent(applied.input.to_string().as_bytes());
        let console = &mut self.console;
        let sent = driver.board.say(|transcript| {
            let sent = console.send(&input, transcript.screen())?;
            if let Some(size) = sent.resized
                && let Some(screen) = transcript.screen_mut()
            {
                screen.resize(size);
            }
            Ok::<_, ApplyError>(sent)
        });
        for signal in sent.transpose()?.into_iter().flat_map(|sent| sent.signals) {
            let signal = match signal {
                Signal::Interrupt => rustix::process::Signal::INT,
                Signal::Quit => rustix::process::Signal::QUIT,
                Signal::Suspend => rustix::process::Signal::TSTP,
            };
            self.run.child.signal(signal.as_raw());
        }
        Ok(())
    }

    /// Gives the program the next part of its call. A call can be longer than what waits for a program.
    fn open(&mut self) {
        while !self.opening.is_empty() && self.console.unwritten() == 0 {
            let end = self.opening.floor_char_boundary(OPENING_BYTES);
            let rest = self.opening.split_off(end);
            let part = std::mem::replace(&mut self.opening, rest);
            if self.console.send(&[Input::Text(part)], None).is_err() {
                // It reads no more. It may still do its work.
                self.opening = String::new();
            }
        }
    }

    /// Reads what is there and says it. Returns how many bytes there were.
    fn read(&mut self) -> u64 {
        let before = self.printed;
        let mut answers = Vec::new();
        let console = &mut self.console;
        let mut hearer = OutputReceiver {
            driver: self.run.driver,
            output: &mut self.output,
            errors: &mut self.errors,
            whole: &mut self.whole,
            printed: &mut self.printed,
            answers: &mut answers,
        };
        with_buffer(|buffer| console.read(buffer, &mut |from, bytes| hearer.hear(from, bytes)));
        if !answers.is_empty() {
            self.console.write_answers(&answers);
        }
        self.run.check_output(self.printed);
        if self.printed > before && self.run.driver.plan.stateful {
            self.quiet_at = Some(Instant::now() + QUIET);
        }
        self.printed - before
    }

    /// Reads what is left when the program has ended. Whoever kept the streams open is gone too; if not, it
    /// is not waited for.
    fn drain(&mut self) {
        for _ in 0..DRAIN_ROUNDS {
            if self.read() == 0 || self.run.cut.is_some() {
                return;
            }
        }
    }

    /// Shows the output that was held back because it might have been a result.
    fn show_whole(&mut self) {
        let driver = self.run.driver;
        if driver.plan.terminal.is_none() {
            self.output.say(&driver.board, self.whole.take_unshown());
        }
    }

    fn end_speech(&mut self) {
        let board = &self.run.driver.board;
        self.output.end(board);
        self.errors.end(board);
        board.say(jig_pty::Transcript::finish);
    }
}

/// Takes what a program prints.
struct OutputReceiver<'a> {
    driver: &'a StdioDriver,
    output: &'a mut StreamCleaner,
    errors: &'a mut StreamCleaner,
    whole: &'a mut WholeOutput,
    printed: &'a mut u64,
    answers: &'a mut Vec<u8>,
}

impl OutputReceiver<'_> {
    fn hear(&mut self, from: OutputSource, bytes: &[u8]) {
        *self.printed += bytes.len() as u64;
        let board = &self.driver.board;
        if let Some(tracer) = &self.driver.plan.tracer {
            tracer.received(bytes.trim_ascii_end());
        }
        if self.driver.plan.terminal.is_some() {
            if !self.whole.push(bytes) {
                self.whole.forget_other();
            }
            // In small pieces, so that others see the screen in between.
            for piece in self.output.scrubbed(bytes).chunks(SCREEN_BYTES) {
                let answers = board.say(|transcript| {
                    transcript.push(piece);
                    let screen = transcript.screen_mut();
                    screen.map(jig_pty::Screen::answers).unwrap_or_default()
                });
                self.answers.extend(answers.unwrap_or_default());
            }
            return;
        }
        match from {
            OutputSource::Errors => self.errors.say(board, bytes),
            OutputSource::Output => {
                if !self.whole.push(bytes) {
                    self.output.say(board, self.whole.take_unshown());
                    self.whole.forget_other();
                    self.output.say(board, bytes);
                } else if !self.whole.is_held() {
                    self.output.say(board, self.whole.take_unshown());
                }
            }
        }
    }
}

/// How much of a call is given to a program at once.
const OPENING_BYTES: usize = 256 * 1024;

/// How much a screen is fed while nobody else can see it.
const SCREEN_BYTES: usize = 8 * 1024;

/// How long a program prints nothing until what it said is looked at: less than a caller waits for output to settle,
/// so that the denial comes with it.
const QUIET: Duration = Duration::from_millis(40);

/// How much of the end of what it said is looked at to explain a failure.
const LAST_WORDS: usize = 16 * 1024;

/// How often what is left is read. A process that no sandbox holds could print for ever.
const DRAIN_ROUNDS: usize = 256;

/// When it is first looked whether a program listens, and how long the longest pause is until the last look.
const FIRST_LOOK: Duration = Duration::from_secs(1);
const LAST_LOOK: Duration = Duration::from_secs(60);

/// What ends the input of a terminal, and how often: each who reads takes one away.
const END_OF_INPUT: u8 = 4;
const ENDS_OF_INPUT: usize = 16;

/// How long output is held back that looks like a result, from its first byte.
pub(super) const HELD_FOR: Duration = Duration::from_millis(250);
