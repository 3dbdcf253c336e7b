//! A permitted program, run.

use std::io::{self, PipeReader, Read};
use std::sync::Arc;
use std::time::Instant;

use camino::Utf8Path;
use jig_policy::{CommandProgram, CommandTarget, Permit, ResolvedPath};
use jig_proto::vfs::{ErrorKind, ErrorReply, Method, ProcessReply, VfsReply};
use jig_proto::visible_line_to;
use jig_sandbox::{
    BorrowedDescriptor, Exit, Interest, Program as Executable, SpawnError, SpawnRequest, Waker,
    poll, set_nonblocking,
};

use super::end_report::ProgramEndReport;
use super::output::ProgramOutput;
use super::{plain_environment, relocate};
use crate::broker::BrokerCore;
use crate::cancel::CancelToken;
use crate::denial::MAX_TARGET;
use crate::programs::confine::{
    CommandedProgram, ConfineError, Confined, Discover, Intruder, ProgramReach,
};
use crate::programs::running::{ProgramStart, ProgramStartError, RunningProgram};
use crate::requests::approvals::ApprovalKey;
use crate::requests::fs;
use crate::requests::judge::Judge;
use crate::requests::work::AuditRecord;

/// A permitted run of a program.
#[derive(Debug)]
pub(crate) struct ProcessJob {
    /// What was asked for: a run, or a start.
    pub(super) method: Method,
    pub(super) permit: Permit<CommandTarget>,
    /// The host's variables that it gets.
    pub(super) forwarded: Vec<(String, String)>,
    pub(super) once: Vec<ApprovalKey>,
    /// The directory in which it starts, if not in that of the workspace.
    pub(super) cwd: Option<ResolvedPath>,
}

impl ProcessJob {
    pub(crate) fn run(
        self,
        inner: &Arc<BrokerCore>,
        cancel: &CancelToken,
        record: &mut AuditRecord,
    ) -> Result<VfsReply<'static>, ErrorReply> {
        let view = inner.files.materialize();
        let view = view.map_err(|error| fs::error_reply(&error, "."))?;
        let shown = visible_line_to(&self.permit.target().program.to_string(), MAX_TARGET);
        let root = view.path();
        let start = self.program_start(inner, root, &shown)?;
        let program = inner.start(start);
        let mut program = program.map_err(|error| not_started(&error, &shown, root))?;
        record.note(unenforced(&program));
        let result = watch(inner, &mut program, cancel, &shown);
        let failed = !matches!(&result, Ok(ProcessReply { exit_code: 0, .. }));
        let failed = failed && !cancel.is_cancelled();
        let mut ended = ProgramEndReport::of(program, inner, failed, record);
        // A copy brings its changes back, also those of a program that was ended.
        let report = view.close();
        if !report.is_complete() {
            let note = format!("not all changes could be brought back: {report}");
            ended.notes.push(note);
        }
        match result {
            Ok(mut reply) => {
                for note in ended.words() {
                    reply.stderr.to_mut().push_str(&format!("\njig: {note}"));
                }
                Ok(VfsReply::Process(reply))
            }
            Err(mut error) => {
                let hints = ended
                    .denials
                    .iter()
                    .filter_map(|denial| denial.hint.clone());
                error.data.hint = error
                    .data
                    .hint
                    .or(hints.reduce(|all, hint| all + "\n" + &hint));
                let denials = ended.denials.iter().map(|denial| &denial.why);
                for note in denials.chain(&ended.notes) {
                    error.message.push_str(&format!("; {note}"));
                }
                Err(error)
            }
        }
    }

    /// The program that may be run.
    #[cfg(unix)]
    pub(super) fn program(&self) -> &CommandProgram {
        &self.permit.target().program
    }

    /// What to start in the workspace at `root`.
    pub(super) fn program_start(
        self,
        inner: &Arc<BrokerCore>,
        root: &Utf8Path,
        shown: &str,
    ) -> Result<ProgramStart, ErrorReply> {
        let CommandTarget { program, args } = self.permit.into_target();
        let program = match program {
            CommandProgram::Name(name) => name,
            CommandProgram::File(file) => {
                // Between judging and now the path may have become a link to somewhere else.
                let shown = file.path().to_string();
                let now =
                    relocate(inner, &file).map_err(|error| fs::error_reply(&error, &shown))?;
                if now.path() != file.path() {
                    let target = CommandTarget {
                        program: CommandProgram::File(now.clone()),
                        args: args.clone(),
                    };
                    let mut judge = Judge::new(inner, self.method, &self.once);
                    if judge.permit(target, Some(&shown))?.is_none() {
                        return Err(ErrorReply::stale(&shown));
                    }
                }
                now.path().under(root).into_string()
            }
        };
        let executable = Executable::parse(program.as_str()).map_err(|_| {
            let why = "`program` is not the name of a program";
            ErrorReply::invalid_params(self.method, why)
        })?;
        let mut start = match &inner.process.confine {
            Some(_) => {
                let command = CommandedProgram {
                    program: program.into(),
                    discover: Discover::OfProgram,
                    ..CommandedProgram::default()
                };
                let confined = inner.confine(&command, root, ProgramReach::Workspace);
                let confined = confined.map_err(|error| not_confined(&error, shown))?;
                ProgramStart::confined(confined, root)
            }
            None => {
                let mut request = SpawnRequest::new(executable, root.as_std_path());
                request.env = plain_environment(inner);
                request.limits = inner.process.limits;
                request.containment = inner.process.containment;
                ProgramStart::unconfined(request, root)
            }
        };
        let has_workspace = start.sandbox().is_none_or(Confined::sees_workspace);
        let request = &mut start.request;
        request.args = args.into_iter().map(Into::into).collect();
        for (name, value) in self.forwarded {
            request.env.insert(name.into(), value.into());
        }
        if let Some(cwd) = self.cwd {
            let now = relocate(inner, &cwd);
            let text = cwd.path().to_string();
            let now = now.map_err(|error| fs::error_reply(&error, &text))?;
            // By now the path may be a link to somewhere else, of which nobody was asked.
            if now.path() != cwd.path() {
                return Err(ErrorReply::stale(&text));
            }
            if !has_workspace {
                return Err(ErrorReply::not_found(&text));
            }
            request.cwd = now.path().under(root).into();
        }
        Ok(start)
    }
}

/// What is not enforced on a child, where that is tolerated.
pub(super) fn unenforced(program: &RunningProgram) -> Option<String> {
    let gaps = program.gaps();
    (!gaps.is_empty()).then(|| format!("not all is enforced ({})", gaps.join(", ")))
}

/// Notes what was moved away in the log, and gives what a tool is told about it: not where the host keeps it.
/// A program can make any number of such files, so only the first few are named.
pub(super) fn told(intruders: &[Intruder], record: &mut AuditRecord) -> Vec<String> {
    let mut told = Vec::new();
    for intruder in intruders.iter().take(MOST_INTRUDERS) {
        record.note(Some(intruder.to_string()));
        let path = visible_line_to(&intruder.path.to_string_lossy(), MAX_TARGET);
        let reason = &intruder.reason;
        told.push(match intruder.moved_to {
            Some(_) => format!("`{path}` may not be made and was moved away: {reason}"),
            None => format!("`{path}` may not be made: {reason}"),
        });
    }
    let more = intruders.len().saturating_sub(MOST_INTRUDERS);
    if more > 0 {
        record.note(Some(format!("{more} more appeared and were moved away")));
        told.push(format!("{more} more may not be made either"));
    }
    told
}

/// Why a program could not be confined, without the search path and the directories of the host.
fn not_confined(error: &ConfineError, shown: &str) -> ErrorReply {
    let (kind, why) = match error {
        ConfineError::ProgramNotFound { .. } => (ErrorKind::NotFound, "was not found".to_owned()),
        ConfineError::ProgramLeaves { .. } => (
            ErrorKind::Escape,
            "is a link that leaves the workspace".to_owned(),
        ),
        ConfineError::PresetNotInstalled { preset, .. } => (
            ErrorKind::Internal,
            format!(
                "cannot be confined by the host: the preset `{preset}` finds nothing installed"
            ),
        ),
        _ => (
            ErrorKind::Internal,
            "cannot be confined by the host".to_owned(),
        ),
    };
    ErrorReply::new(kind, format!("the program `{shown}` {why}"))
}

/// Reads what the program prints until it ends, its time is over, it prints too much or the request
/// is given up.
fn watch(
    inner: &BrokerCore,
    program: &mut RunningProgram,
    cancel: &CancelToken,
    shown: &str,
) -> Result<ProcessReply<'static>, ErrorReply> {
    let failed = |_: io::Error| ErrorReply::internal("a program could not be watched");
    let waker = Waker::new().map_err(failed)?;
    let wake = waker.clone();
    let _hook = cancel.on_cancel(move || wake.wake());
    let deadline = Instant::now() + inner.limits.process_time;
    let new_output = || ProgramOutput::new(&inner.secrets, inner.limits.process_output_bytes);
    let mut streams = [
        (program.streams.stdout.take(), new_output()),
        (program.streams.stderr.take(), new_output()),
    ];
    for pipe in streams.iter().filter_map(|(pipe, _)| pipe.as_ref()) {
        set_nonblocking(descriptor(pipe), true).map_err(failed)?;
    }
    let child = program.child();
    let mut buffer = vec![0; PIECE];
    let exit = loop {
        let stopped = if cancel.is_cancelled() {
            Some(ErrorReply::cancelled())
        } else if Instant::now() >= deadline {
            Some(ErrorReply::timeout(format!("`{shown}`")))
        } else if streams
            .iter()
            .map(|(_, output)| output.total())
            .sum::<u64>()
            > inner.limits.process_flood_bytes
        {
            let limit = inner.limits.process_flood_bytes;
            let message = format!("`{shown}` printed more than {limit} bytes and was ended");
            Some(ErrorReply::new(ErrorKind::TooLarge, message))
        } else {
            None
        };
        if let Some(stopped) = stopped {
            // Politely, then not. What it prints meanwhile is not read any more.
            if child.end(inner.limits.process_grace).is_err() {
                child.kill();
            }
            return Err(stopped);
        }
        if let Some(exit) = child.try_wait().map_err(failed)? {
            break exit;
        }
        let mut interests = vec![Interest::Exited(child), Interest::Woken(&waker)];
        let open = streams.iter().filter_map(|(pipe, _)| pipe.as_ref());
        interests.extend(open.map(|pipe| Interest::Readable(descriptor(pipe))));
        let left = deadline.saturating_duration_since(Instant::now());
        poll(&interests, Some(left)).map_err(failed)?;
        for (pipe, output) in &mut streams {
            drain(pipe, output, &mut buffer, ROUND);
        }
    };
    // All writers are gone, so this comes to an end; a pipe holds no more than the system's limit.
    for (pipe, output) in &mut streams {
        drain(pipe, output, &mut buffer, usize::MAX);
    }
    let [(_, stdout), (_, stderr)] = streams;
    let (stdout, stdout_cut) = stdout.finish();
    let (stderr, stderr_cut) = stderr.finish();
    Ok(ProcessReply {
        stdout: stdout.into(),
        stderr: stderr.into(),
        exit_code: match exit {
            Exit::Exited { code } => code,
            // As shells tell it.
            Exit::Killed { signal, .. } => 128 + signal,
        },
        truncated: stdout_cut || stderr_cut,
    })
}

#[cfg(unix)]
fn descriptor(pipe: &PipeReader) -> BorrowedDescriptor<'_> {
    std::os::fd::AsFd::as_fd(pipe)
}

#[cfg(windows)]
fn descriptor(pipe: &PipeReader) -> BorrowedDescriptor<'_> {
    std::os::windows::io::AsHandle::as_handle(pipe)
}

/// Reads what is there, at most about `most` bytes. A pipe that has come to its end is dropped.
fn drain(
    pipe: &mut Option<PipeReader>,
    output: &mut ProgramOutput,
    buffer: &mut [u8],
    most: usize,
) {
    let mut taken = 0;
    while let Some(reader) = pipe
        && taken < most
    {
        match reader.read(buffer) {
            Ok(0) => *pipe = None,
            Ok(length) => {
                output.push(&buffer[..length]);
                taken += length;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            Err(_) => *pipe = None,
        }
    }
}

/// Why a program did not start, without the search path and the directories of the host.
pub(super) fn not_started(error: &ProgramStartError, shown: &str, root: &Utf8Path) -> ErrorReply {
    let ProgramStartError::Spawn(error) = error else {
        return ErrorReply::internal("the network of a program could not be served");
    };
    if let SpawnError::Confinement { reason, .. } = error {
        let inside = reason.replace(&format!("`{root}/"), "`");
        let why = match inside.contains("`/") {
            true => "the host cannot confine it",
            false => &inside,
        };
        let message = format!("the program `{shown}` was not started: {why}");
        return ErrorReply::new(ErrorKind::Internal, message);
    }
    let (kind, why) = match error {
        SpawnError::NotFound { .. } => (ErrorKind::NotFound, "was not found"),
        SpawnError::NotExecutable { .. } => (ErrorKind::InvalidParams, "may not be executed"),
        SpawnError::MissingInterpreter { .. } => (
            ErrorKind::NotFound,
            "needs an interpreter that was not found",
        ),
        SpawnError::ExecFormat { .. } => (
            ErrorKind::InvalidParams,
            "is not a program that this machine can run",
        ),
        SpawnError::TooLarge { .. } => (ErrorKind::TooLarge, "got arguments that are too large"),
        SpawnError::Nul { .. } => (ErrorKind::InvalidParams, "got an argument with a NUL byte"),
        _ => (ErrorKind::Internal, "could not be started by the host"),
    };
    ErrorReply::new(kind, format!("the program `{shown}` {why}"))
}

/// How many files that may not be made a message names.
const MOST_INTRUDERS: usize = 10;

/// How much is read at once.
const PIECE: usize = 64 * 1024;

/// How much is read from one stream before the other and the clock are looked at again. A program
/// that prints without end must not keep us from them.
const ROUND: usize = 1024 * 1024;
