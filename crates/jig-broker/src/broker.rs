//! [`Broker`]: the door.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use jig_files::ProjectFiles;
use jig_policy::{Capability, FileTarget, Policy, ResolvedPath, Target as _, Verdict, toml_key};
use jig_proto::vfs::{ErrorReply, VfsRequest};
use jig_proto::{Denial, ProjectPath};

use crate::audit::{AuditDecision, AuditEntry, AuditSink, NullSink, OnAuditFailure};
use crate::denial;
use crate::host_env::HostEnv;
use crate::limits::RequestLimits;
use crate::llm::Llm;
use crate::network::http_settings::HttpSettings;
use crate::programs::explain::MAX_DENIALS;
use crate::requests::approvals::{ApprovalKey, Approvals};
use crate::requests::fs::{CopiedBytes, MoveWanted, NameAct, NameWanted, OpenRequest};
use crate::requests::inquiry::{Inquiry, Person};
use crate::requests::judge::Judge;
use crate::requests::kinds::BrokerRequest;
use crate::requests::process::{ProcessSettings, Processes};
use crate::requests::work::{AuditRecord, JudgedRequest, PermittedJob, Work};
use crate::scrub::Secrets;

/// All that a broker is made of.
#[derive(Debug, Clone)]
pub struct BrokerParts {
    /// The name of the tool.
    pub tool: String,
    /// The table of the configuration in which its rules stand, by its dotted name, for the rules that
    /// denials offer. Default: `tools.NAME`.
    pub table: Option<String>,
    /// The id of the call, for the audit log.
    pub call: String,
    /// The handle of the call, if it has one.
    pub handle: Option<String>,
    /// The files of the workspace.
    pub files: Arc<dyn ProjectFiles>,
    /// What the tool may do.
    pub policy: Arc<Policy>,
    /// The variables that rules decide about. Default: none.
    pub env: HostEnv,
    /// How much one request may take.
    pub limits: RequestLimits,
    /// How servers are reached.
    pub http: HttpSettings,
    /// How programs are run.
    pub process: ProcessSettings,
    /// The provider of language models. Default: none.
    pub llm: Option<Llm>,
    /// Where decisions are written. Default: nowhere.
    pub audit: Arc<dyn AuditSink>,
    /// What happens when that fails. Default: it is reported.
    pub on_audit_failure: OnAuditFailure,
    /// What was approved in this turn. Default: nothing.
    pub approvals: Arc<Approvals>,
    /// The values that must not reach the tool; those resolved here are added. Default: none.
    pub secrets: Secrets,
    /// How messages name the person who is asked. Default: as somebody else.
    pub person: Person,
}

impl BrokerParts {
    /// Parts with the defaults of everything else.
    pub fn new(
        tool: impl Into<String>,
        call: impl Into<String>,
        files: Arc<dyn ProjectFiles>,
        policy: Arc<Policy>,
    ) -> Self {
        Self {
            tool: tool.into(),
            table: None,
            call: call.into(),
            handle: None,
            files,
            policy,
            env: HostEnv::default(),
            limits: RequestLimits::default(),
            http: HttpSettings::default(),
            process: ProcessSettings::default(),
            llm: None,
            audit: Arc::new(NullSink),
            on_audit_failure: OnAuditFailure::default(),
            approvals: Arc::new(Approvals::new()),
            secrets: Secrets::new(),
            person: Person::default(),
        }
    }
}

/// The door through which all that one call of a tool asks for has to go.
///
/// [`judge`](Self::judge) decides, [`Work::perform`] acts; both block. It can be shared by the
/// thread that reads a tool's requests and those that do the longer ones; clones are the same door.
#[derive(Debug, Clone)]
pub struct Broker {
    pub(crate) inner: Arc<BrokerCore>,
    /// The directory that this door leads to; the workspace if there is none.
    beneath: Option<Arc<ProjectPath>>,
    /// Held for its end.
    _tenure: Arc<BrokerGuard>,
}

/// Ends the programs that stay when the last clone of a broker goes. Their threads know the inside of the
/// broker, and must not keep it in office.
#[derive(Debug)]
struct BrokerGuard(Arc<BrokerCore>);

impl Drop for BrokerGuard {
    fn drop(&mut self) {
        self.0.processes.end(self.0.limits.process_grace);
    }
}

impl Broker {
    /// A broker for one call.
    pub fn new(parts: BrokerParts) -> Self {
        // Whatever way the key would come back, from a file or from a provider that repeats it, it does not.
        if let Some(key) = parts.llm.as_ref().and_then(Llm::key) {
            parts.secrets.remember(key);
        }
        let table = parts.table;
        let inner = Arc::new(BrokerCore {
            table: table.unwrap_or_else(|| format!("tools.{}", toml_key(&parts.tool))),
            tool: parts.tool,
            call: parts.call,
            handle: parts.handle,
            files: parts.files,
            policy: parts.policy,
            env: parts.env,
            limits: parts.limits,
            http: parts.http,
            process: parts.process,
            llm: parts.llm,
            processes: Processes::default(),
            sink: parts.audit,
            on_audit_failure: parts.on_audit_failure,
            is_in_log: AtomicBool::new(false),
            audit_failed: AtomicBool::new(false),
            audit_failure: Mutex::new(None),
            approvals: parts.approvals,
            secrets: parts.secrets,
            person: parts.person,
            copies: CopiedBytes::default(),
            refused: Mutex::new(Vec::new()),
        });
        Self {
            _tenure: Arc::new(BrokerGuard(Arc::clone(&inner))),
            beneath: None,
            inner,
        }
    }

    /// The same door, but to the files in a directory only: what is elsewhere, also behind a link, is
    /// [`Escape`](jig_proto::vfs::ErrorKind::Escape), whatever the rules say, and nobody is asked. Paths
    /// are still relative to the workspace.
    ///
    /// It narrows the files that requests name; a program sees what its sandbox shows. It takes the place
    /// of a directory that was given before.
    pub fn beneath(&self, directory: &ProjectPath) -> Self {
        Self {
            beneath: (!directory.is_root()).then(|| Arc::new(directory.clone())),
            ..self.clone()
        }
    }

    /// Judges a request. Nothing is read, changed, sent or run by that; only names are looked up.
    pub fn judge(&self, request: &VfsRequest<'_>) -> JudgedRequest {
        self.judge_with(request, &[])
    }

    /// Judges a file that is to be opened; [`Work::open`] then opens it.
    ///
    /// It stands for the `fs.read` or `fs.write` that it replaces, also in the audit log: one line for
    /// the open, none for what is read and written afterwards.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use jig_broker::{Broker, BrokerParts, JudgedRequest, OpenRequest};
    /// # use jig_files::{FilesLookup, MemoryFiles, ProjectFiles};
    /// # use jig_policy::{DeclaredAccess, DefaultAccess, Guards, Policy, Workspace};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let files: Arc<dyn ProjectFiles> = Arc::new(MemoryFiles::new());
    /// # let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(&files)));
    /// # let access = DefaultAccess::READ_WRITE;
    /// # let policy = Policy::compile(&DeclaredAccess::default(), access, &Guards::default(), &workspace)?;
    /// # let broker = Broker::new(BrokerParts::new("editor", "c1", files, Arc::new(policy)));
    /// let new = OpenRequest {
    ///     read: true,
    ///     write: true,
    ///     create: true,
    ///     ..OpenRequest::new("notes.txt")
    /// };
    /// let JudgedRequest::Ready(work) = broker.judge_open(&new) else {
    ///     panic!("the tool may write here");
    /// };
    /// let file = work.open()?;
    /// file.write_at(0, b"hello")?;
    /// file.append(b" world")?;
    /// assert_eq!(file.read_at(6, 100)?, "world");
    /// # Ok(())
    /// # }
    /// ```
    pub fn judge_open(&self, open: &OpenRequest<'_>) -> JudgedRequest {
        self.judge_with(open, &[])
    }

    /// Judges a look at what stands at a path, as `fs.metadata` is judged; [`Work::look`] then tells it.
    /// Without `follow`, a link at the end is told as itself.
    pub fn judge_look(&self, path: &str, follow: bool) -> JudgedRequest {
        self.judge_name(path, NameAct::Look { follow })
    }

    /// Judges an `fs.mkdir` as `mkdir` of an operating system does it: the directory above must exist, and
    /// nothing may stand there, not even a link. [`Work::perform`] does it.
    pub fn judge_make_dir(&self, path: &str) -> JudgedRequest {
        self.judge_name(path, NameAct::MakeDir)
    }

    /// Judges an `fs.delete` as `rmdir` of an operating system does it: of a directory that is empty.
    /// [`Work::perform`] does it; if something is in it, that is
    /// [`AlreadyExists`](jig_proto::vfs::ErrorKind::AlreadyExists).
    pub fn judge_remove_dir(&self, path: &str) -> JudgedRequest {
        self.judge_name(path, NameAct::RemoveDir)
    }

    /// Judges an `fs.rename` as `rename` of an operating system does it: what stands at the new name is
    /// replaced, and no directory is made above it. [`Work::perform`] does it.
    pub fn judge_rename(&self, from: &str, to: &str) -> JudgedRequest {
        let (from, to) = (from.to_owned(), to.to_owned());
        self.judge_with(&MoveWanted { from, to }, &[])
    }

    fn judge_name(&self, path: &str, act: NameAct) -> JudgedRequest {
        let path = path.to_owned();
        self.judge_with(&NameWanted { path, act }, &[])
    }

    /// Says that there is input for the tool. A `process.read` that waits returns at once, or, if none does,
    /// the next one that would: a tool can wait for a program and for input at the same time.
    pub fn input_has_come(&self) {
        self.inner.processes.input_has_come();
    }

    /// Ends the programs that the tool has started and that stay: they are asked, and killed if they have not
    /// ended after [`RequestLimits::process_grace`]. Returns when they are gone; none is started any more.
    ///
    /// Dropping the last clone of a broker does the same. A call of
    /// [`kill_processes`](Self::kill_processes) meanwhile shortens it.
    pub fn end_processes(&self) {
        self.inner.processes.end(self.inner.limits.process_grace);
    }

    /// The same, for a tool that is run again: it may start programs then.
    pub fn clear_processes(&self) {
        self.inner.processes.clear(self.inner.limits.process_grace);
    }

    /// Kills the programs that stay, without asking them first, as
    /// [`end_processes`](Self::end_processes) does it with asking.
    pub fn kill_processes(&self) {
        self.inner.processes.end(Duration::ZERO);
    }

    /// How much one request may take.
    pub fn limits(&self) -> &RequestLimits {
        &self.inner.limits
    }

    /// The values that do not reach the tool, for whoever sends it something past this door.
    pub fn secrets(&self) -> &Secrets {
        &self.inner.secrets
    }

    /// What the tool was refused so far, each once, the first few.
    pub fn refusals(&self) -> Vec<Denial> {
        let refused = self.inner.refused.lock();
        refused.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The same, and begins anew: for a program that stays, whose refusals are told as they come.
    pub fn take_refusals(&self) -> Vec<Denial> {
        let refused = self.inner.refused.lock();
        std::mem::take(&mut *refused.unwrap_or_else(PoisonError::into_inner))
    }

    /// Writes audit lines that wait in the sink. A failure is kept for
    /// [`take_audit_failure`](Self::take_audit_failure).
    pub fn flush_audit(&self) {
        let _ = self.inner.flush();
    }

    /// The first failure to write the audit log, once.
    pub fn take_audit_failure(&self) -> Option<io::Error> {
        let failure = self.inner.audit_failure.lock();
        failure.unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn judge_with(
        &self,
        wanted: &dyn BrokerRequest,
        once: &[ApprovalKey],
    ) -> JudgedRequest {
        let inner = &self.inner;
        if inner.refuses_all() {
            return JudgedRequest::Refused(ErrorReply::internal("the audit log cannot be written"));
        }
        let time = Timestamp::now();
        let method = wanted.method();
        let mut judge = Judge::new(inner, method, once).with_beneath(self.beneath.clone());
        let job = wanted.judge(&mut judge);
        match job {
            Ok(Some(job)) if !judge.must_ask() => {
                let record = match &job {
                    // What is done with a program that was allowed decides nothing.
                    PermittedJob::Stay(job) if !job.is_decided() => AuditRecord::silent(inner),
                    _ => judge.record(AuditDecision::Allow, time),
                };
                JudgedRequest::Ready(Work::new(inner, method, job, record))
            }
            Ok(_) => {
                judge.record(AuditDecision::Uncovered, time).write();
                let asks = judge.take_asks();
                JudgedRequest::Uncovered(Inquiry::new(self, wanted.keep(), asks, once.to_vec()))
            }
            Err(error) => {
                let path = error.data.path.clone().unwrap_or_default();
                let error = denial::completed(error, &inner.policy, method, &path);
                if error.kind().is_denial() {
                    if !judge.has_decided() {
                        judge.note(path, &error.message);
                    }
                    judge.record(AuditDecision::Deny, time).write();
                } else if judge.has_decided() {
                    let record = judge.record(AuditDecision::Allow, time);
                    record.finish(error.kind().name());
                }
                let error = inner.scrub_error(error);
                inner.note_refusal(&error);
                JudgedRequest::Refused(error)
            }
        }
    }
}

/// What the parts become.
pub(crate) struct BrokerCore {
    pub(crate) tool: String,
    /// The table of the configuration in which its rules stand.
    pub(crate) table: String,
    pub(crate) call: String,
    pub(crate) handle: Option<String>,
    pub(crate) files: Arc<dyn ProjectFiles>,
    pub(crate) policy: Arc<Policy>,
    pub(crate) env: HostEnv,
    pub(crate) limits: RequestLimits,
    pub(crate) http: HttpSettings,
    pub(crate) process: ProcessSettings,
    pub(crate) llm: Option<Llm>,
    pub(crate) processes: Processes,
    sink: Arc<dyn AuditSink>,
    on_audit_failure: OnAuditFailure,
    /// Whether there is a line about this call.
    is_in_log: AtomicBool,
    audit_failed: AtomicBool,
    audit_failure: Mutex<Option<io::Error>>,
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) secrets: Secrets,
    pub(crate) person: Person,
    /// How much of open files is kept without secrets.
    pub(crate) copies: CopiedBytes,
    /// What was refused so far.
    refused: Mutex<Vec<Denial>>,
}

impl BrokerCore {
    /// Keeps what was refused, for the result of the call. A tool can ask for any number of things.
    pub(crate) fn note_refusal(&self, error: &ErrorReply) {
        let Some(denial) = denial::of_reply(error) else {
            return;
        };
        let refused = self.refused.lock();
        let mut refused = refused.unwrap_or_else(PoisonError::into_inner);
        let denial = denial.bounded();
        if let Some(known) = refused.iter_mut().find(|known| known.is_same(&denial)) {
            known.count = known.count.saturating_add(1);
        } else if refused.len() < MAX_DENIALS {
            refused.push(denial);
        }
    }

    /// Writes an entry, without the secrets that its texts may hold. A failure is kept, and told by
    /// [`Broker::take_audit_failure`].
    pub(crate) fn audit(&self, entry: AuditEntry) {
        let _ = self.try_audit(entry);
    }

    /// The same for whoever can say that it failed.
    pub(crate) fn try_audit(&self, mut entry: AuditEntry) -> io::Result<()> {
        if let Some(scrubber) = self.secrets.scrubber() {
            entry.target = scrubber.text(entry.target);
            entry.reason = scrubber.text(entry.reason);
            entry.hint = entry.hint.map(|hint| scrubber.text(hint));
        }
        entry.trace();
        self.is_in_log.store(true, Ordering::Relaxed);
        self.sink.record(&entry).inspect_err(|error| {
            self.audit_failed(io::Error::new(error.kind(), error.to_string()));
        })
    }

    /// Writes the lines that wait in the sink.
    pub(crate) fn flush(&self) -> io::Result<()> {
        self.sink.flush().inspect_err(|error| {
            self.audit_failed(io::Error::new(error.kind(), error.to_string()));
        })
    }

    /// Whether there is a line about this call.
    pub(crate) fn is_in_log(&self) -> bool {
        self.is_in_log.load(Ordering::Relaxed)
    }

    /// Whether everything is refused, because what is done could not be written down.
    pub(crate) fn refuses_all(&self) -> bool {
        self.on_audit_failure == OnAuditFailure::Refuse && self.audit_failed.load(Ordering::Relaxed)
    }

    fn audit_failed(&self, error: io::Error) {
        if !self.audit_failed.swap(true, Ordering::Relaxed) {
            let failure = self.audit_failure.lock();
            *failure.unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    }

    /// Whether somebody approved a capability on a path, for the turn or by one of `once`.
    pub(crate) fn is_approved(
        &self,
        capability: Capability,
        path: &ProjectPath,
        once: &[ApprovalKey],
    ) -> bool {
        let target = FileTarget {
            capability,
            path: ResolvedPath::from_handle(path.clone()),
        };
        // A denial can't be approved, also if the same path was uncovered before.
        if target.decide(&self.policy).verdict != Verdict::Uncovered {
            return false;
        }
        let key = ApprovalKey::of(&self.tool, &target);
        once.contains(&key) || self.approvals.has(&key)
    }

    /// The error without secrets: a server can put them into a redirect, a program into its name.
    pub(crate) fn scrub_error(&self, mut error: ErrorReply) -> ErrorReply {
        let Some(scrubber) = self.secrets.scrubber() else {
            return error;
        };
        error.message = scrubber.text(error.message);
        let data = &mut error.data;
        let texts = [
            &mut data.path,
            &mut data.target,
            &mut data.rule,
            &mut data.hint,
        ];
        for text in texts {
            *text = text.take().map(|text| scrubber.text(text));
        }
        for grant in &mut data.grants {
            *grant = scrubber.text(std::mem::take(grant));
        }
        error
    }
}

impl fmt::Debug for BrokerCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner")
            .field("tool", &self.tool)
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}
