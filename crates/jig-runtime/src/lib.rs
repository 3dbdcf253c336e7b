//! How tools run.
//!
//! A [`Runtime`] turns a [`Plan`] into a [`Session`]: [`VfsRuntime`] starts a program that asks for
//! everything over its standard streams, [`BuiltinRuntime`] runs code of jig's own. Both lead every
//! request through the plan's broker, so that the same tool gives the same results under either. A
//! one-shot call is a session that is driven to its end.
//!
//! This crate reads no configuration and prints nothing.

mod builtin;
mod plan;
mod session;
mod vfs;

pub use builtin::{Builtin, BuiltinRuntime};
pub use plan::{CommandLine, Plan, Timing, Tracer};
pub use session::{AskedBy, NotRunning, Session, Update};
pub use vfs::VfsRuntime;

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
    /// The program could not be started.
    #[error("the program of the tool could not be started")]
    Spawn(#[from] jig_sandbox::SpawnError),
    /// The operating system refused something that a session needs.
    #[error("the session could not be set up")]
    Setup(#[from] std::io::Error),
}
