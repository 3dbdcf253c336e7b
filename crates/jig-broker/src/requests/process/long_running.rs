//! Programs that stay: `process.start`, `process.read`, `process.write` and `process.stop`.
//!
//! A start is judged as `process.run` is; what follows is about a program that was allowed, and decides
//! nothing. Each has a thread that gives it its input and takes its output ([`thread`]), and all end with
//! their broker ([`processes`]).

mod process;
mod processes;
mod thread;

use std::io;
use std::sync::Arc;

use jig_proto::vfs::{
    ErrorReply, Method, ProcessRead, ProcessRun, ProcessStart, ProcessStop, ProcessWrite,
    StartedProcess, TerminalSize, VfsReply,
};
use jig_proto::{Fetch, Hint, hint};
use jig_pty::{Console, Input, Log, Pty, Screen, Size, Transcript};
use jig_sandbox::{SpawnRequest, Stdio};

use self::process::{StayLook, StayingProgram};
pub(crate) use self::processes::Processes;
use self::thread::Pump;
use super::judge_run;
use super::run::{ProcessJob, not_started, unenforced};
use crate::broker::BrokerCore;
use crate::cancel::CancelToken;
use crate::denial::MAX_TARGET;
use crate::requests::fs;
use crate::requests::judge::Judge;
use crate::requests::work::AuditRecord;
use jig_proto::visible_line_to;

/// What is to be done about a program that stays.
#[derive(Debug)]
pub(crate) enum StayJob {
    Start(Box<StartJob>),
    Read(Arc<StayingProgram>, ProcessRead),
    Write(Arc<StayingProgram>, Vec<Input>),
    Stop(Arc<StayingProgram>),
}

/// A permitted start.
#[derive(Debug)]
pub(crate) struct StartJob {
    program: ProcessJob,
    terminal: Option<Size>,
}

/// Judges `process.start`.
pub(crate) fn judge_start(
    judge: &mut Judge<'_>,
    start: &ProcessStart<'_>,
) -> Result<Option<StayJob>, ErrorReply> {
    let run = ProcessRun {
        program: start.program.clone(),
        args: start.args.clone(),
        envs: start.envs.clone(),
        cwd: start.cwd.clone(),
    };
    let program = judge_run(judge, &run)?;
    let terminal = start.terminal;
    let terminal = terminal.map(|TerminalSize { rows, cols }| Size::new(rows, cols));
    Ok(program.map(|program| StayJob::Start(Box::new(StartJob { program, terminal }))))
}

/// Looks the program of a `process.read` up.
pub(crate) fn judge_read(inner: &BrokerCore, read: &ProcessRead) -> Result<StayJob, ErrorReply> {
    let process = inner.processes.find(read.process)?;
    Ok(StayJob::Read(process, read.clone()))
}

/// Looks the program of a `process.write` up, and reads the input.
pub(crate) fn judge_write(inner: &BrokerCore, write: &ProcessWrite) -> Result<StayJob, ErrorReply> {
    let process = inner.processes.find(write.process)?;
    let input = Input::read(&write.input).map_err(|error| {
        ErrorReply::invalid_params(Method::ProcessWrite, error).with_hint(forms())
    })?;
    Ok(StayJob::Write(process, input))
}

/// Looks the program of a `process.stop` up.
pub(crate) fn judge_stop(inner: &BrokerCore, stop: ProcessStop) -> Result<StayJob, ErrorReply> {
    Ok(StayJob::Stop(inner.processes.find(stop.process)?))
}

impl StayJob {
    /// Whether it is done without waiting for a program or for time to pass. Input is: two requests of
    /// it must not overtake each other on their way.
    pub(crate) fn is_quick(&self) -> bool {
        match self {
            Self::Start(_) | Self::Stop(_) => false,
            Self::Read(_, read) => !waits(read),
            Self::Write(..) => true,
        }
    }

    /// Whether the policy was asked about it.
    pub(crate) fn is_decided(&self) -> bool {
        matches!(self, Self::Start(_))
    }

    pub(crate) fn run(
        self,
        inner: &Arc<BrokerCore>,
        cancel: &CancelToken,
        record: &mut AuditRecord,
    ) -> Result<VfsReply<'static>, ErrorReply> {
        match self {
            Self::Start(job) => job.run(inner, cancel, record).map(VfsReply::Started),
            Self::Read(process, read) => read_output(inner, &process, &read, cancel),
            Self::Write(process, input) => process.write(input).map(|()| VfsReply::DONE),
            Self::Stop(process) => stop(inner, &process, cancel),
        }
    }
}

impl StartJob {
    fn run(
        self,
        inner: &Arc<BrokerCore>,
        cancel: &CancelToken,
        record: &mut AuditRecord,
    ) -> Result<StartedProcess, ErrorReply> {
        let Self { program, terminal } = self;
        let place = inner.processes.reserve(inner.limits.processes)?;
        let view = inner.files.materialize();
        let view = view.map_err(|error| fs::error_reply(&error, "."))?;
        let root = view.path();
        let shown = visible_line_to(&program.program().to_string(), MAX_TARGET);
        let mut start = program.program_start(inner, root, &shown)?;
        let failed = |_| ErrorReply::internal("a terminal or a pipe could not be made");
        let pty = on_ends(&mut start.request, terminal).map_err(failed)?;
        let program = inner.start(start);
        let mut program = program.map_err(|error| not_started(&error, &shown, root))?;
        record.note(unenforced(&program));
        let streams = std::mem::take(&mut program.streams);
        let limits = &inner.limits;
        let (console, transcript) = match (pty, terminal) {
            (Some(pty), Some(size)) => (
                Console::terminal(pty),
                Transcript::Screen(Screen::new(size, limits.process_scrollback)),
            ),
            _ => (
                Console::piped(streams.stdin, streams.stdout, streams.stderr).map_err(failed)?,
                Transcript::Log(Log::new(limits.process_kept_bytes)),
            ),
        };
        if cancel.is_cancelled() {
            return Err(ErrorReply::cancelled());
        }
        let process = StayingProgram::new(place.number(), transcript).map_err(failed)?;
        let process = Arc::new(process);
        let pump = Pump {
            inner: Arc::clone(inner),
            process: Arc::clone(&process),
            streams: [inner.secrets.stream(), inner.secrets.stream()],
            program,
            console,
            view,
            record: record.of_the_end(),
        };
        place
            .fill(&process, pump)
            .map(|number| StartedProcess { process: number })
    }
}

/// Gives a program its ends: pipes, or a terminal, of which the host's end is returned.
fn on_ends(request: &mut SpawnRequest, terminal: Option<Size>) -> io::Result<Option<Pty>> {
    let Some(size) = terminal else {
        request.stdin = Stdio::Piped;
        return Ok(None);
    };
    let (pty, program) = Pty::open(size)?;
    request.terminal = Some(program);
    // What the screen understands, whatever terminal the host has.
    request.env.insert("TERM".into(), TERM.into());
    Ok(Some(pty))
}

fn waits(read: &ProcessRead) -> bool {
    read.settle || read.fetch.wait.is_some_and(|wait| !wait.is_zero())
}

fn read_output(
    inner: &BrokerCore,
    process: &Arc<StayingProgram>,
    read: &ProcessRead,
    cancel: &CancelToken,
) -> Result<VfsReply<'static>, ErrorReply> {
    let look = look(inner, &read.fetch);
    if waits(read) {
        let wait = read.fetch.wait.unwrap_or_default();
        let wait = wait.min(inner.limits.process_wait);
        let inputs = inner.processes.inputs();
        process.wait(&look, wait, read.settle, cancel, &inputs);
        inputs.take();
    }
    // What nobody gets must not count as told.
    if cancel.is_cancelled() {
        return Err(ErrorReply::cancelled());
    }
    Ok(VfsReply::Output(process.look(&look, &inner.secrets)))
}

fn stop(
    inner: &BrokerCore,
    process: &Arc<StayingProgram>,
    cancel: &CancelToken,
) -> Result<VfsReply<'static>, ErrorReply> {
    process.ask_to_end(inner.limits.process_grace);
    if !process.wait_for_end(cancel) {
        return Err(ErrorReply::cancelled());
    }
    inner.processes.forget(process);
    process.join();
    let look = look(inner, &Fetch::default());
    Ok(VfsReply::Output(process.look(&look, &inner.secrets)))
}

/// What of the output is looked at.
fn look(inner: &BrokerCore, fetch: &Fetch) -> StayLook {
    let most = inner.limits.process_kept_bytes;
    StayLook {
        view: fetch.view,
        after: fetch.after_seq,
        max: fetch.max_bytes.map_or(most, |max| max.min(most)),
    }
}

/// The forms of input, for those who wrote another.
fn forms() -> Hint {
    hint!(
        "`input` is text, or one of {{\"line\": \"ls\"}}, {{\"text\": \"y\"}}, {{\"keys\": [\"ctrl-c\", \"up\"]}}, \
         {{\"resize\": {{\"rows\": 40, \"cols\": 120}}}} and {{\"end\": true}}, or a list of these"
    )
}

/// The terminal whose sequences the screen understands.
const TERM: &str = "xterm-256color";
