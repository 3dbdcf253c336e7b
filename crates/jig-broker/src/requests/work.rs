//! [`Work`]: a permitted request, ready to be done.

#[cfg(unix)]
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;
use std::time::Instant;

#[cfg(target_os = "linux")]
use camino::Utf8Path;
use jiff::Timestamp;
#[cfg(unix)]
use jig_proto::vfs::DescriptorReply;
use jig_proto::vfs::{ErrorReply, Method, VfsReply};

use crate::audit::{AuditDecision, AuditEntry};
use crate::broker::BrokerCore;
use crate::cancel::CancelToken;
use crate::denial;
use crate::requests::fs::{FsJob, ListedName, OpenFile, OpenJob, PathStat};
use crate::requests::http::HttpJob;
use crate::requests::inquiry::Inquiry;
use crate::requests::judge::DecisionNote;
use crate::requests::process::{ProcessJob, StayJob};
#[cfg(target_os = "linux")]
use crate::requests::process::{ProgramStartSettings, StartedProgram};

/// What became of a request when it was judged.
///
/// Exhaustive: whoever asks must have an answer to each.
#[derive(Debug)]
#[must_use]
pub enum JudgedRequest {
    /// It may be done.
    Ready(Work),
    /// Nothing speaks of it: somebody may be asked.
    Uncovered(Inquiry),
    /// It may not or cannot be done; this is the answer.
    Refused(ErrorReply),
}

/// A permitted request. It holds all that doing it needs, and can be moved to another thread.
///
/// Dropping it without [`perform`](Self::perform) does nothing but leave a line in the audit log.
#[derive(Debug)]
#[must_use]
pub struct Work(Box<BrokerTask>);

#[derive(Debug)]
struct BrokerTask {
    inner: Arc<BrokerCore>,
    method: Method,
    job: PermittedJob,
    record: AuditRecord,
    cancel: CancelToken,
}

/// What is to be done, with the permits for it.
#[derive(Debug)]
pub(crate) enum PermittedJob {
    Fs(FsJob),
    Open(OpenJob),
    Http(HttpJob),
    Process(ProcessJob),
    Stay(StayJob),
}

impl Work {
    pub(crate) fn new(
        inner: &Arc<BrokerCore>,
        method: Method,
        job: PermittedJob,
        record: AuditRecord,
    ) -> Self {
        Self(Box::new(BrokerTask {
            inner: Arc::clone(inner),
            method,
            job,
            record,
            cancel: CancelToken::new(),
        }))
    }

    /// The method of the request.
    pub fn method(&self) -> Method {
        self.0.method
    }

    /// Whether it is done in microseconds, so that the thread that reads requests may do it itself.
    pub fn is_quick(&self) -> bool {
        match &self.0.job {
            PermittedJob::Fs(job) => job.is_quick(),
            PermittedJob::Open(_) => true,
            PermittedJob::Http(_) | PermittedJob::Process(_) => false,
            PermittedJob::Stay(job) => job.is_quick(),
        }
    }

    /// What gives the request up while it runs. The answer is then
    /// [`ErrorReply::cancelled`], unless it was done before.
    pub fn cancel_token(&self) -> CancelToken {
        self.0.cancel.clone()
    }

    /// Has the file that an `fs.read` with `fd` asks for handed over, instead of reading it.
    ///
    /// `hand_over` gets the file, opened for reading only, and says whether it reached the tool. If
    /// there is nothing to hand over, or it does not reach the tool, the work comes back, and its
    /// [`perform`](Self::perform) gives the content or says what is wrong. There is nothing to hand
    /// over if only a part is wanted, if the call knows secrets, which could not be taken out, or if
    /// the files have no descriptors.
    #[cfg(unix)]
    pub fn hand_over(
        self,
        hand_over: impl FnOnce(BorrowedFd<'_>) -> bool,
    ) -> Result<VfsReply<'static>, Self> {
        let PermittedJob::Fs(job) = &self.0.job else {
            return Err(self);
        };
        let Some((file, size)) = job.open(&self.0.inner) else {
            return Err(self);
        };
        if self.0.cancel.is_cancelled() || !hand_over(file.as_fd()) {
            return Err(self);
        }
        self.0.record.finish("ok");
        Ok(VfsReply::Descriptor(DescriptorReply { size, etag: None }))
    }

    /// Does it. Blocks until it is done, refused, over its time or cancelled.
    pub fn perform(self) -> Result<VfsReply<'static>, ErrorReply> {
        self.finish(|job, inner, cancel, record| match job {
            PermittedJob::Fs(job) => job.run(inner, cancel),
            PermittedJob::Open(_) => Err(ErrorReply::internal("a file is opened by another way")),
            PermittedJob::Http(job) => job.run(inner, cancel),
            PermittedJob::Process(job) => job.run(inner, cancel, record),
            PermittedJob::Stay(job) => job.run(inner, cancel, record),
        })
    }

    /// Opens the file of a [`judge_open`](crate::Broker::judge_open). Of anything else it is an error.
    pub fn open(self) -> Result<OpenFile, ErrorReply> {
        self.finish(|job, inner, _, _| match job {
            PermittedJob::Open(job) => job.run(inner),
            _ => Err(ErrorReply::internal("this is no file to open")),
        })
    }

    /// Tells what stands at the path of a [`judge_look`](crate::Broker::judge_look) or of an
    /// `fs.metadata`. Of anything else it is an error.
    pub fn look(self) -> Result<PathStat, ErrorReply> {
        self.finish(|job, inner, _, _| {
            let look = match &job {
                PermittedJob::Fs(job) => job.look(inner),
                _ => None,
            };
            look.unwrap_or_else(|| Err(ErrorReply::internal("this is nothing to look at")))
        })
    }

    /// All entries of the directory of an `fs.list_dir` that the tool may know of, with what the protocol
    /// does not tell: which of them are links. There are no pages. Of anything else it is an error.
    pub fn entries(self) -> Result<Vec<ListedName>, ErrorReply> {
        self.finish(|job, inner, _, _| {
            let entries = match &job {
                PermittedJob::Fs(job) => job.entries(inner),
                _ => None,
            };
            entries.unwrap_or_else(|| Err(ErrorReply::internal("this is no directory to list")))
        })
    }

    /// Does it by `act`, with the audit line and what else belongs to the end of a request.
    fn finish<T>(
        self,
        act: impl FnOnce(
            PermittedJob,
            &Arc<BrokerCore>,
            &CancelToken,
            &mut AuditRecord,
        ) -> Result<T, ErrorReply>,
    ) -> Result<T, ErrorReply> {
        let BrokerTask {
            inner,
            method,
            job,
            mut record,
            cancel,
        } = *self.0;
        let result = if cancel.is_cancelled() {
            Err(ErrorReply::cancelled())
        } else {
            act(job, &inner, &cancel, &mut record)
        };
        // Whatever failed because it was given up failed for that reason.
        let result = match result {
            Err(_) if cancel.is_cancelled() => Err(ErrorReply::cancelled()),
            other => other,
        };
        match result {
            Ok(done) => {
                record.finish("ok");
                Ok(done)
            }
            Err(error) => {
                let error = denial::completed(error, &inner.policy, method, record.target());
                record.fail(&error);
                let error = inner.scrub_error(error);
                inner.note_refusal(&error);
                Err(error)
            }
        }
    }
}

#[cfg(target_os = "linux")]
impl Work {
    /// Starts the program of a `process.run` in the workspace at `root` with somebody's own streams, instead
    /// of running it to its end.
    pub(crate) fn start_program(
        self,
        root: &Utf8Path,
        given: ProgramStartSettings,
    ) -> Result<StartedProgram, ErrorReply> {
        let BrokerTask {
            inner, job, record, ..
        } = *self.0;
        match job {
            PermittedJob::Process(job) => job.start(&inner, root, given, record),
            PermittedJob::Fs(_)
            | PermittedJob::Open(_)
            | PermittedJob::Http(_)
            | PermittedJob::Stay(_) => Err(ErrorReply::internal("this is no program to start")),
        }
    }
}

/// The audit line of a request, written when the request is over, however it ends.
#[derive(Debug)]
pub(crate) struct AuditRecord {
    inner: Arc<BrokerCore>,
    /// `None` once it is written.
    entry: Option<AuditEntry>,
    started: Instant,
}

impl AuditRecord {
    pub(crate) fn new(
        inner: &Arc<BrokerCore>,
        method: Method,
        decision: AuditDecision,
        time: Timestamp,
        note: Option<DecisionNote>,
    ) -> Self {
        let note = note.unwrap_or(DecisionNote {
            target: String::new(),
            reason: String::new(),
            rule: None,
            origin: None,
            hint: None,
        });
        Self {
            inner: Arc::clone(inner),
            entry: Some(AuditEntry {
                time,
                tool: inner.tool.clone(),
                call: inner.call.clone(),
                handle: inner.handle.clone(),
                operation: method.name().to_owned(),
                target: note.target,
                decision,
                reason: note.reason,
                rule: note.rule,
                origin: note.origin,
                hint: note.hint,
                outcome: None,
                duration_us: None,
            }),
            started: Instant::now(),
        }
    }

    /// The record of a request that decides nothing: it leaves no line.
    pub(crate) fn silent(inner: &Arc<BrokerCore>) -> Self {
        Self {
            inner: Arc::clone(inner),
            entry: None,
            started: Instant::now(),
        }
    }

    /// A second record, of the end of what was begun.
    #[cfg(unix)]
    pub(crate) fn of_the_end(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            entry: self.entry.clone(),
            started: self.started,
        }
    }

    /// What the line names as the target.
    fn target(&self) -> &str {
        self.entry.as_ref().map_or("", |entry| &entry.target)
    }

    /// Writes the line of what failed. If that is a denial, the line says what would allow it.
    pub(crate) fn fail(mut self, error: &ErrorReply) {
        if let (Some(entry), true) = (&mut self.entry, error.kind().is_denial()) {
            entry.hint.clone_from(&error.data.hint);
        }
        self.close(error.kind().name());
    }

    /// Adds something to what the line says.
    pub(crate) fn note(&mut self, note: Option<String>) {
        if let (Some(entry), Some(note)) = (&mut self.entry, note) {
            entry.reason.push_str(&format!("; {note}"));
        }
    }

    /// Writes the line of a request of which nothing was tried.
    pub(crate) fn write(mut self) {
        if let Some(entry) = self.entry.take() {
            self.inner.audit(entry);
        }
    }

    /// Writes the line of the end of what was begun, as of now.
    #[cfg(unix)]
    pub(crate) fn end(mut self, outcome: &str) {
        if let Some(entry) = &mut self.entry {
            entry.time = Timestamp::now();
        }
        self.close(outcome);
    }

    /// Writes the line with how it ended.
    pub(crate) fn finish(mut self, outcome: &str) {
        self.close(outcome);
    }

    fn close(&mut self, outcome: &str) {
        if let Some(mut entry) = self.entry.take() {
            entry.outcome = Some(outcome.to_owned());
            let taken = self.started.elapsed().as_micros();
            entry.duration_us = u64::try_from(taken).ok();
            self.inner.audit(entry);
        }
    }
}

impl Drop for AuditRecord {
    fn drop(&mut self) {
        self.close("abandoned");
    }
}
