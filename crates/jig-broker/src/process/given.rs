//! A permitted program with the standard streams of somebody else, who waits for it.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use camino::Utf8Path;
use jig_proto::vfs::ErrorReply;
use jig_sandbox::{Child, Stdio, spawn};

use super::attendance::Attendance;
use super::run::{ProcessJob, not_started, unenforced};
use crate::broker::Inner;
use crate::confine::Intruder;
use crate::denial::MAX_TARGET;
use crate::visible::visible;
use crate::work::Record;

/// What a program is started with besides its command line.
#[derive(Debug)]
pub(crate) struct Given {
    /// Standard input, output and error.
    pub(crate) streams: [OwnedFd; 3],
    /// Where somebody wants it to start. Outside of the workspace there is no such place for it.
    pub(crate) cwd: PathBuf,
}

/// A program that was started.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) child: Child,
    inner: Arc<Inner>,
    attendance: Attendance,
    record: Record,
}

impl Started {
    /// Looks at what the program left behind, and writes the audit line: what the caller should know, and
    /// what was moved away.
    pub(crate) fn finish(self, outcome: &str, failed: bool) -> (Vec<String>, Vec<Intruder>) {
        let Self {
            child,
            inner,
            attendance,
            mut record,
        } = self;
        let mut ended = attendance.end(&inner, child, failed, &mut record);
        record.finish(outcome);
        let intruders = std::mem::take(&mut ended.intruders);
        (ended.words(), intruders)
    }
}

impl ProcessJob {
    /// Starts the program in the workspace at `root`.
    pub(crate) fn start(
        self,
        inner: &Arc<Inner>,
        root: &Utf8Path,
        given: Given,
        mut record: Record,
    ) -> Result<Started, ErrorReply> {
        let shown = visible(&self.program().to_string(), MAX_TARGET);
        let prepared = self.request(inner, root, &shown).and_then(|prepared| {
            let (mut request, confined) = prepared;
            let has_workspace = confined
                .as_ref()
                .is_none_or(|confined| confined.cwd != confined.home);
            if has_workspace && given.cwd.starts_with(&request.cwd) {
                request.cwd = given.cwd;
            }
            let [stdin, stdout, stderr] = given.streams.map(Stdio::Given);
            (request.stdin, request.stdout, request.stderr) = (stdin, stdout, stderr);
            let mut child = spawn(request).map_err(|error| not_started(&error, &shown, root))?;
            let attendance = Attendance::begin(inner, &mut child, confined, root)?;
            Ok((child, attendance))
        });
        match prepared {
            Ok((child, attendance)) => {
                record.note(unenforced(inner, &child));
                Ok(Started {
                    child,
                    inner: Arc::clone(inner),
                    attendance,
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
