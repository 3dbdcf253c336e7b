//! How tools run.
//!
//! A [`Runtime`] turns a [`Plan`] into a [`Session`]: [`StdioRuntime`] starts a program that prints its
//! result, [`VfsRuntime`] one that asks for everything over its standard streams, [`BuiltinRuntime`] runs
//! code of jig's own; components run in jig-wasm, on [`in_process()`] as well. The last two lead every request through the plan's broker, so that the same tool
//! gives the same results under either; the first is held by the operating system to the same policy. A
//! one-shot call is a session that is driven to its end.
//!
//! A session whose plan is stateful is looked at and steered while it runs: [`Session::output`] shows what
//! the tool says, [`Session::apply`] gives it input or answers. A program of the stdio runtime can have a
//! terminal of its own. [`Handles`] names such sessions and keeps what their callers have been told.
//!
//! This crate reads no configuration and prints nothing.

mod builtin;
mod call_record;
mod callers_thread;
mod command;
mod denials;
#[cfg(unix)]
pub mod fsproxy;
mod in_process;
mod launch;
mod limits;
mod pipes;
mod plain_text;
mod plan;
mod registry;
mod rerun;
mod server;
mod session;
mod shell;
mod stdio;
mod template;
mod vfs;
mod workers;

pub use builtin::{Builtin, BuiltinRuntime};
pub use command::{CommandLine, CommandWord, command_shown};
pub use in_process::{InProcess, OptionalAnswer, in_process, in_this_thread, without_thread};
pub use jig_pty::{CutSide, Size};
pub use launch::unreached_in_words;
pub use limits::{ReachedLimit, RunLimits};
pub use plain_text::plain_bytes;
pub use plan::{Component, ComponentSource, Delivery, LentThread, Mount, Plan, Timing, Tracer};
pub use registry::{
    Await, HandleCounts, HandleError, HandleInfo, HandleLimits, HandleNumbers, HandleOptions,
    Handles, Leftover, NoticeOptions, PendingQuestion, ReservedHandle, UnknownHandles, leftovers,
};
pub use server::{ServerMark, ServerPlan, ServerProcess};
pub use session::{ApplyError, AskedBy, OutputLook, PaintedScreen, Session, SessionOutput, Update};
pub use stdio::{NO_OUTPUT, StdioRuntime};
pub use template::TemplateError;
pub use vfs::VfsRuntime;

use jig_broker::ProgramStartError;
use jig_proto::hint;
use jig_sandbox::{ArgumentSizes, SpawnError};

/// A way to run tools.
pub trait Runtime: Send + Sync {
    /// Starts a tool. When this returns, the tool runs.
    fn start(&self, plan: Plan) -> Result<Session, StartError>;
}

/// Why a tool could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The plan names no program.
    #[error("the tool has no command to start")]
    NoCommand,
    /// There is no such tool inside jig.
    #[error("there is no built-in tool `{0}`")]
    UnknownBuiltin(String),
    /// The words of the command cannot be filled in.
    #[error("the command of the tool cannot be filled in")]
    Template(#[from] TemplateError),
    /// The program cannot be confined.
    #[error(transparent)]
    Confine(jig_broker::ConfineError),
    /// The call does not fit into the arguments of a program.
    #[error(
        "the call is too large for the arguments of a program: {0}\n{hint}",
        hint = hint!("set `input = \"stdin\"` or `input = \"file\"` for the tool, and have it read the call there")
    )]
    TooLarge(ArgumentSizes),
    /// The call should be read from a terminal, which takes no long lines.
    #[error(
        "a tool on a terminal cannot read its call from standard input\n{}",
        hint!("set `input = \"argv\"` or `input = \"file\"` for the tool")
    )]
    CallOnTerminal,
    /// The program could not be started.
    #[error("the program of the tool could not be started")]
    Spawn(#[source] SpawnError),
    /// The log cannot be written, and what is not in it does not run.
    #[error("the log cannot be written, and nothing runs that would not be in it")]
    Log(#[source] std::io::Error),
    /// The operating system refused something that a session needs.
    #[error("the session could not be set up")]
    Setup(#[from] std::io::Error),
}

impl From<SpawnError> for StartError {
    fn from(error: SpawnError) -> Self {
        match error {
            SpawnError::TooLarge { sizes, .. } => StartError::TooLarge(sizes),
            error => StartError::Spawn(error),
        }
    }
}

impl From<ProgramStartError> for StartError {
    fn from(error: ProgramStartError) -> Self {
        match error {
            ProgramStartError::Spawn(error) => error.into(),
            ProgramStartError::Network(error) | ProgramStartError::Door(error) => {
                StartError::Setup(error)
            }
            error => StartError::Setup(std::io::Error::other(error)),
        }
    }
}
