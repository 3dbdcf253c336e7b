//! A permitted program, run.

use std::io::{self, PipeReader, Read};
use std::sync::Arc;
use std::time::Instant;

use jig_files::View;
use jig_policy::{CommandTarget, Permit, Program};
use jig_proto::vfs::{ErrorKind, ErrorReply, Method, ProcessReply, Reply};
use jig_sandbox::{
    BorrowedDescriptor, Child, Environment, Exit, Interest, Program as Executable, SpawnError,
    SpawnRequest, Waker, poll, set_nonblocking, spawn,
};

use super::output::Output;
use super::relocate;
use crate::approvals::ApprovalKey;
use crate::broker::Inner;
use crate::cancel::CancelToken;
use crate::denial::MAX_TARGET;
use crate::fs;
use crate::judge::Judge;
use crate::visible::visible;

/// A permitted run of a program.
#[derive(Debug)]
pub(crate) struct ProcessJob {
    permit: Permit<CommandTarget>,
    env: Environment,
    once: Vec<ApprovalKey>,
}

impl ProcessJob {
    pub(super) fn new(
        permit: Permit<CommandTarget>,
        env: Environment,
        once: Vec<ApprovalKey>,
    ) -> Self {
        Self { permit, env, once }
    }

    pub(crate) fn run(
        self,
        inner: &Arc<Inner>,
        cancel: &CancelToken,
    ) -> Result<Reply<'static>, ErrorReply> {
        let view = inner.files.materialize();
        let view = view.map_err(|error| fs::error_reply(&error, "."))?;
        let shown = visible(&self.permit.target().program.to_string(), MAX_TARGET);
        let request = self.request(inner, &view)?;
        let child = spawn(request).map_err(|error| not_started(&error, &shown))?;
        let result = watch(inner, child, cancel, &shown);
        // A copy brings its changes back, also those of a program that was ended.
        let report = view.close();
        let mut reply = result?;
        if !report.is_complete() {
            reply.stderr.to_mut().push_str(&format!(
                "\njig: not all changes could be brought back: {report}"
            ));
        }
        Ok(Reply::Process(reply))
    }

    fn request(self, inner: &Arc<Inner>, view: &View) -> Result<SpawnRequest, ErrorReply> {
        let CommandTarget { program, args } = self.permit.into_target();
        let program = match program {
            Program::Name(name) => Executable::parse(name),
            Program::File(file) => {
                // Between judging and now the path may have become a link to somewhere else.
                let shown = file.path().to_string();
                let now =
                    relocate(inner, &file).map_err(|error| fs::error_reply(&error, &shown))?;
                if now.path() != file.path() {
                    let target = CommandTarget {
                        program: Program::File(now.clone()),
                        args: args.clone(),
                    };
                    let mut judge = Judge::new(inner, Method::ProcessRun, &self.once);
                    if judge.permit(target, Some(&shown))?.is_none() {
                        return Err(ErrorReply::stale(&shown));
                    }
                }
                Executable::parse(now.path().under(view.path()).into_string())
            }
        };
        let program = program.map_err(|_| {
            let why = "`program` is not the name of a program";
            ErrorReply::invalid_params(Method::ProcessRun, why)
        })?;
        let mut request = SpawnRequest::new(program, view.path().as_std_path());
        request.args = args.into_iter().map(Into::into).collect();
        request.env = self.env;
        request.limits = inner.process.limits;
        request.containment = inner.process.containment;
        Ok(request)
    }
}

/// Reads what the program prints until it ends, its time is over, it prints too much or the request
/// is given up.
fn watch(
    inner: &Inner,
    mut child: Child,
    cancel: &CancelToken,
    shown: &str,
) -> Result<ProcessReply<'static>, ErrorReply> {
    let failed = |_: io::Error| ErrorReply::internal("a program could not be watched");
    let waker = Waker::new().map_err(failed)?;
    let wake = waker.clone();
    let _hook = cancel.on_cancel(move || wake.wake());
    let deadline = Instant::now() + inner.limits.process_time;
    let new_output = || Output::new(inner.secrets.scrubber(), inner.limits.process_output_bytes);
    let mut streams = [
        (child.stdout.take(), new_output()),
        (child.stderr.take(), new_output()),
    ];
    for pipe in streams.iter().filter_map(|(pipe, _)| pipe.as_ref()) {
        set_nonblocking(descriptor(pipe), true).map_err(failed)?;
    }
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
        let mut interests = vec![Interest::Exited(&child), Interest::Woken(&waker)];
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
fn drain(pipe: &mut Option<PipeReader>, output: &mut Output, buffer: &mut [u8], most: usize) {
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
fn not_started(error: &SpawnError, shown: &str) -> ErrorReply {
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

/// How much is read at once.
const PIECE: usize = 64 * 1024;

/// How much is read from one stream before the other and the clock are looked at again. A program
/// that prints without end must not keep us from them.
const ROUND: usize = 1024 * 1024;
