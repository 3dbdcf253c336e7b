//! The one door between a tool and the world.
//!
//! A tool reads files, reaches servers and runs programs only through a [`Broker`]. A request goes
//! one way: [`Broker::judge`] asks the policy, which gives a permit; [`Work::perform`] uses the
//! permit up, removes [`Secrets`] from what goes back and leaves a line in the audit log. What no
//! rule covers becomes an [`Inquiry`], a plain value: nothing here calls upward to ask somebody.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jig_broker::{Broker, BrokerParts, JudgedRequest, Unapproved};
//! use jig_files::{FilesLookup, MemoryFiles, ProjectFiles};
//! use jig_policy::{DeclaredAccess, DefaultAccess, Guards, Policy, Workspace};
//! use jig_proto::vfs::{ErrorKind, FsPath, FsWrite, VfsReply, VfsRequest};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let files: Arc<dyn ProjectFiles> = Arc::new(MemoryFiles::new());
//! let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(&files)));
//! let policy = Policy::compile(
//!     &DeclaredAccess::default(),
//!     DefaultAccess::READ_ONLY,
//!     &Guards::default(),
//!     &workspace,
//! )?;
//! let broker = Broker::new(BrokerParts::new("lister", "c1", files, Arc::new(policy)));
//!
//! let JudgedRequest::Ready(work) = broker.judge(&VfsRequest::FsExists(FsPath::new("a.txt"))) else {
//!     panic!("the default lets a tool read");
//! };
//! assert_eq!(work.perform()?, VfsReply::Exists(false));
//!
//! let write = VfsRequest::FsWrite(FsWrite::new("a.txt", "hello"));
//! let JudgedRequest::Uncovered(inquiry) = broker.judge(&write) else {
//!     panic!("nothing speaks of writing");
//! };
//! assert_eq!(inquiry.text(), "Allow `lister` to create `a.txt`?");
//! let denied = inquiry.deny(Unapproved::Unavailable);
//! assert_eq!(denied.kind(), ErrorKind::ApprovalUnavailable);
//! # Ok(())
//! # }
//! ```
//!
//! Every error that leaves here is fit for the eyes of a tool and of the model behind it: no path of
//! the host, no error number, no secret. This crate knows no transport and reads no configuration;
//! the variables that rules decide about are handed in as [`HostEnv`].
//!
//! A runtime that hosts foreign code asks for more than the protocol has: [`Broker::judge_open`] opens a file
//! that is then read and written in parts ([`OpenFile`]), [`Broker::judge_look`] tells what stands at a path,
//! and [`Broker::beneath`] is the same door to one directory. They are judged, asked about and written down
//! as the requests that they stand for.
//!
//! A program can also stay: `process.start` is judged as `process.run` is, and what follows is input and
//! output of a program that was allowed. None outlives its broker ([`Broker::end_processes`]).
//!
//! A confined program talks to servers by itself. Where its sandbox has a gateway, its lookups and connections
//! end at the gateway of its [`RunningProgram`], under the same rules and the same judge of addresses as `http.*`.
//!
//! A tool may also ask a language model, if its broker has an [`Llm`]: [`Broker::chat`] is the only place that has
//! the key, and counts what is used against a quota before anything is sent.
//!
//! What a policy means to the operating system is also made here: [`Broker::confine`] turns it into a
//! profile of the sandbox and an environment, for the tool's own program and for those that it has run.
//!
//! What it does not promise: a file that is replaced between the check of `if_match` and the removal
//! of `fs.delete` is removed; a file that was opened may be written by whoever opened it also after it was moved
//! to where that would be denied; a program of the workspace is found again by its path when it starts;
//! scrubbing does not hold against a program that is given a value and changes it.
//!
//! The folders are the three jobs and what they share: `requests`; `programs`, with their confinement, network, door
//! and explanations; `llm`. `network` is how a host is reached, `audit` the log.

mod audit;
mod broker;
mod cancel;
mod denial;
mod host_env;
mod limits;
mod llm;
mod network;
mod programs;
mod requests;
mod scrub;

pub use audit::{
    AuditDecision, AuditEntry, AuditFilter, AuditNote, AuditSink, MAX_LINE, NullSink,
    OnAuditFailure, RunRecord,
};
#[cfg(unix)]
pub use audit::{AuditReader, FileSink, FileSinkOptions};
pub use broker::{Broker, BrokerParts};
pub use cancel::{CancelHook, CancelToken};
pub use host_env::HostEnv;
pub use limits::RequestLimits;
pub use llm::{Chat, ChatReply, Llm, LlmError, LlmSettings, LlmSettingsError, TokenField, Weights};
pub use network::{DnsResolver, HttpSettings, Resolver, SystemResolver};
pub use programs::{
    CommandedProgram, ConfineError, ConfineSettings, Confined, Discover, Door, FoundPreset,
    Gateway, Intruder, IntruderReport, MAX_DENIALS, MAX_GUESSED, MadePaths, Preset, ProgramEnd,
    ProgramEnding, ProgramNews, ProgramReach, ProgramStart, ProgramStartError, ProgramStreams,
    Refusals, RunningProgram, Suspect, SystemAccess, limit_denial, limit_denial_in,
    unreached_ports,
};
#[cfg(unix)]
pub use programs::{RunningCalls, pending};
pub use requests::{
    ApprovalRequest, ApprovalScope, Approvals, Inquiry, JudgedRequest, ListedName, OpenFile,
    OpenRequest, PathStat, Person, ProcessSettings, Unapproved, Work,
};
pub use scrub::{MIN_SECRET, REDACTED, ScrubStream, Scrubber, Secrets};
