//! [`Pump`]: the thread of a program that stays.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jig_files::FilesView;
use jig_proto::vfs::{ErrorKind, ErrorReply, Method};
use jig_pty::{Console, OutputSource, SendError, Signal, Transcript};
use jig_sandbox::{Exit, Interest, poll};
use rustix::process::Signal as Number;

use super::process::{StayInput, StayingProgram};
use crate::broker::BrokerCore;
use crate::programs::running::RunningProgram;
use crate::requests::process::end_report::ProgramEndReport;
use crate::requests::work::AuditRecord;
use crate::scrub::ScrubStream;

/// Owns a program: gives it its input, takes its output, ends it when it is told to, and clears up after it.
///
/// It waits for all of that at once and never for a tool: what nobody reads is kept as far as there is room
/// for it, and then given up.
#[derive(Debug)]
pub(super) struct Pump {
    pub(super) inner: Arc<BrokerCore>,
    pub(super) process: Arc<StayingProgram>,
    /// Take the secrets out of output and errors, each for itself.
    pub(super) streams: [ScrubStream; 2],
    pub(super) program: RunningProgram,
    pub(super) console: Console,
    pub(super) view: FilesView,
    /// The line that tells how it ended.
    pub(super) record: AuditRecord,
}

impl Pump {
    /// Runs the program to its end.
    pub(super) fn run(self) {
        let process = Arc::clone(&self.process);
        // A mistake of ours must not leave anybody waiting for ever. The program has been killed then.
        let exit = catch_unwind(AssertUnwindSafe(|| self.drive())).unwrap_or(None);
        process.ended(exit);
    }

    fn drive(mut self) -> Option<Exit> {
        let mut buffer = vec![0; PIECE];
        let exit = self.watch(&mut buffer).ok();
        let was_asked = self.process.kill_at().is_some();
        self.process.refuse_input();
        if exit.is_some() {
            self.drain(&mut buffer);
        }
        let Self {
            inner,
            process,
            streams,
            program,
            console,
            view,
            mut record,
        } = self;
        let mut rest = Vec::new();
        for stream in streams {
            stream.finish(&mut rest);
        }
        process.with_transcript(|transcript| transcript.push(&rest));
        let failed = exit.is_some_and(|exit| exit != Exit::Exited { code: 0 });
        drop(console);
        record.note(Some(match exit {
            Some(exit) => format!("it {exit}"),
            None => "it could not be watched".to_owned(),
        }));
        let mut ended = ProgramEndReport::of(program, &inner, failed && !was_asked, &mut record);
        // A copy brings its changes back before the tool hears of the end.
        let report = view.close();
        if !report.is_complete() {
            let note = format!("not all changes could be brought back: {report}");
            ended.notes.push(note);
        }
        record.end(ENDED);
        for note in ended.words() {
            process.with_transcript(|transcript| match transcript {
                Transcript::Screen(screen) => {
                    let note = note.replace('\n', "\r\n");
                    screen.feed(format!("\r\njig: {note}\r\n").as_bytes());
                }
                Transcript::Log(log) => log.push(format!("\njig: {note}\n").as_bytes()),
            });
        }
        exit
    }

    /// Serves the program until it has ended.
    fn watch(&mut self, buffer: &mut [u8]) -> io::Result<Exit> {
        let mut asked: Option<Instant> = None;
        let mut rest: Option<Instant> = None;
        loop {
            // Before anything is looked at: what comes later wakes again.
            self.process.waker().clear();
            self.deliver();
            let kill_in = self.end_if_told(&mut asked);
            if let Some(exit) = self.program.child().try_wait()? {
                return Ok(exit);
            }
            let resting = rest.map(|until| until.saturating_duration_since(Instant::now()));
            let resting = resting.filter(|left| !left.is_zero());
            let mut interests = vec![
                Interest::Exited(self.program.child()),
                Interest::Woken(self.process.waker()),
            ];
            interests.extend(self.console.writer().map(Interest::Writable));
            if resting.is_none() {
                interests.extend(self.console.readers().map(Interest::Readable));
            }
            let limit = [kill_in, resting].into_iter().flatten().min();
            poll(&interests, limit)?;
            self.console.flush();
            if resting.is_none() {
                let start = Instant::now();
                let taken = self.take(buffer);
                // A program that prints without end gets half of a processor to be read by, not all of it.
                rest = (taken >= FLOOD).then(|| Instant::now() + start.elapsed());
            }
        }
    }

    /// Takes what is still there when the program has ended. All writers are gone, so the end comes at once;
    /// the limit is for what this machine could not hold together.
    fn drain(&mut self, buffer: &mut [u8]) {
        let until = Instant::now() + DRAIN;
        loop {
            self.take(buffer);
            let left = until.saturating_duration_since(Instant::now());
            if self.console.is_ended() || left.is_zero() {
                return;
            }
            let readers: Vec<_> = self.console.readers().map(Interest::Readable).collect();
            if poll(&readers, Some(left)).is_err() {
                return;
            }
        }
    }

    /// Takes the output that is there, bounded; how much it was.
    fn take(&mut self, buffer: &mut [u8]) -> usize {
        let Self {
            process,
            streams: [output, errors],
            console,
            ..
        } = self;
        let mut taken = 0;
        let mut clean = Vec::new();
        let mut answers = Vec::new();
        console.read(buffer, &mut |source, bytes| {
            taken += bytes.len();
            clean.clear();
            match source {
                OutputSource::Output => output.push(bytes, &mut clean),
                OutputSource::Errors => errors.push(bytes, &mut clean),
            }
            process.with_transcript(|transcript| {
                transcript.push(&clean);
                if let Some(screen) = transcript.screen_mut() {
                    answers.extend(screen.answers());
                }
            });
        });
        if !answers.is_empty() {
            console.write_answers(&answers);
        }
        if taken > 0 {
            process.wake_readers();
        }
        taken
    }

    /// Gives the program what was written to it.
    fn deliver(&mut self) {
        for StayInput { input, reply } in self.process.take_letters() {
            let Self {
                process, console, ..
            } = self;
            let sent = process.with_transcript(|transcript| {
                let sent = console.send(&input, transcript.screen())?;
                if let (Some(size), Some(screen)) = (sent.resized, transcript.screen_mut()) {
                    screen.resize(size);
                }
                Ok(sent)
            });
            let result = sent.map(|sent| {
                for signal in sent.signals {
                    self.program.child().signal(number(signal).as_raw());
                }
            });
            self.process.wake_readers();
            // Whoever wrote waits for this.
            let _ = reply.send(result.map_err(|error| unsent(&error)));
        }
    }

    /// Asks the program to end, or kills it, if it should end; how long until the next look at the clock.
    /// `asked` is when it was last asked.
    fn end_if_told(&self, asked: &mut Option<Instant>) -> Option<Duration> {
        let at = self.process.kill_at()?;
        let left = at.saturating_duration_since(Instant::now());
        if left.is_zero() {
            self.program.child().kill();
            return Some(AGAIN);
        }
        let on_terminal = |transcript: &mut Transcript| transcript.screen().is_some();
        let on_terminal = self.process.with_transcript(on_terminal);
        let is_first = asked.is_none();
        if is_first || (on_terminal && asked.is_some_and(|last| last.elapsed() >= AGAIN)) {
            if on_terminal {
                // As a terminal that is closed says it: an interactive shell does not end by `SIGTERM`. Said
                // again, because a shell that is just about to wait for input notices it with the next signal
                // only.
                self.program.child().signal(Number::HUP.as_raw());
            }
            if is_first {
                self.program.child().terminate();
            }
            // One that was stopped hears of it only when it goes on.
            self.program.child().signal(Number::CONT.as_raw());
            *asked = Some(Instant::now());
        }
        Some(if on_terminal { left.min(AGAIN) } else { left })
    }
}

fn number(signal: Signal) -> Number {
    match signal {
        Signal::Interrupt => Number::INT,
        Signal::Quit => Number::QUIT,
        Signal::Suspend => Number::TSTP,
    }
}

/// Why input was not taken.
fn unsent(error: &SendError) -> ErrorReply {
    let why = error.to_string();
    match error {
        SendError::Full { .. } => ErrorReply::new(ErrorKind::TooLarge, why).with_retryable(true),
        SendError::Ended => ErrorReply::new(ErrorKind::ProcessEnded, why),
        _ => ErrorReply::invalid_params(Method::ProcessWrite, why).with_hint(super::forms()),
    }
}

/// How much is read at once. Every program that stays has that much memory for it.
const PIECE: usize = 16 * 1024;

/// From how much on output counts as a flood, in bytes for one look at it.
const FLOOD: usize = 128 * 1024;

/// How long the end of the output is waited for when the program has ended.
const DRAIN: Duration = Duration::from_secs(1);

/// How often a program is killed that does not go away, or asked on its terminal.
const AGAIN: Duration = Duration::from_secs(1);

/// What the audit log says of a program that stayed, when it has ended.
const ENDED: &str = "ended";
