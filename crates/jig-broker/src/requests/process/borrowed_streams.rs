//! A permitted program with the standard streams of somebody else, who waits for it.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use camino::Utf8Path;
use jig_proto::vfs::ErrorReply;
use jig_proto::visible_line_to;
use jig_sandbox::Stdio;

use super::end_report::ProgramEndReport;
use super::run::{ProcessJob, not_started, unenforced};
use crate::broker::BrokerCore;
use crate::denial::MAX_TARGET;
use crate::programs::confine::{Confined, Intruder};
use crate::programs::running::RunningProgram;
use crate::requests::work::AuditRecord;

/// What a program is started with besides its command line.
#[derive(Debug)]
pub(crate) struct ProgramStartSettings {
    /// Standard input, output and error.
    pub(crate) streams: [OwnedFd; 3],
    /// Where somebody wants it to start. Outside of the workspace there is no such place for it.
    pub(crate) cwd: PathBuf,
}

/// A program that was started.
#[derive(Debug)]
pub(crate) struct StartedProgram {
    pub(crate) program: RunningProgram,
    inner: Arc<BrokerCore>,
    record: AuditRecord,
}

impl StartedProgram {
    /// Looks at what the program left behind, and writes the audit line: what the caller should know, and
    /// what was moved away.
    pub(crate) fn finish(self, outcome: &str, failed: bool) -> (Vec<String>, Vec<Intruder>) {
        let Self {
            program,
            inner,
            mut record,
        } = self;
        let mut ended = ProgramEndReport::of(program, &inner, failed, &mut record);
        record.finish(outcome);
        let intruders = std::mem::take(&mut ended.intruders);
        (ended.words(), intruders)
    }
}

impl ProcessJob {
    /// Starts the program in the workspace at `root`.
    pub(crate) fn start(
        self,
        inner: &Arc<BrokerCore>,
        root: &Utf8Path,
        given: ProgramStartSettings,
        mut record: AuditRecord,
    ) -> Result<StartedProgram, ErrorReply> {
        let shown = visible_line_to(&self.program().to_string(), MAX_TARGET);
        let started = self
            .program_start(inner, root, &shown)
            .and_then(|mut start| {
                let has_workspace = start.sandbox().is_none_or(Confined::sees_workspace);
                let request = &mut start.request;
                if has_workspace && given.cwd.starts_with(&request.cwd) {
                    request.cwd = given.cwd;
                }
                let [stdin, stdout, stderr] = given.streams.map(Stdio::Given);
                (request.stdin, request.stdout, request.stderr) = (stdin, stdout, stderr);
                let program = inner.start(start);
                program.map_err(|error| not_started(&error, &shown, root))
            });
        match started {
            Ok(program) => {
                record.note(unenforced(&program));
                Ok(StartedProgram {
                    program,
                    inner: Arc::clone(inner),
                    record,
                })
            }
            Err(error) => {
                record.fail(&error);
                Err(inner.scrub_error(error))
            }
        }
    }
}
