//! [`Plan`]: a call after everything about it is settled.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jig_broker::Broker;
use jig_files::View;
use jig_proto::Context;
use jig_proto::vfs::{Capabilities, Method, ToolInput};

/// All that running a tool needs. Immutable: a call is decided before it starts.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The name of the code inside jig that runs, if it is not that of the tool.
    pub implementation: Option<String>,
    /// The call: name, arguments, known answers, options.
    pub input: ToolInput,
    /// The door through which the tool reaches the world.
    pub broker: Broker,
    /// Where the tool works and what it may do, as it is told.
    pub context: Context,
    /// What is started, for a tool that is a program.
    pub command: Option<CommandLine>,
    /// The methods that the policy leaves open.
    pub methods: Vec<Method>,
    /// What the tool is offered beyond the plain protocol.
    pub offer: Capabilities,
    /// How long things may take.
    pub timing: Timing,
    /// The most bytes of one message in either direction.
    pub message_limit: usize,
    /// Whether the tool takes input while it runs.
    pub stateful: bool,
    /// Who is shown every line of the exchange.
    pub tracer: Option<Arc<dyn Tracer>>,
}

/// A program with its arguments, ready to be started.
#[derive(Debug, Clone)]
pub struct CommandLine {
    /// An absolute path, or a name to be found on the search path of the sandbox.
    pub program: String,
    /// The arguments, without the program's own name.
    pub args: Vec<String>,
    /// The directory in which it starts: the files of the workspace, as programs see them.
    pub view: Arc<View>,
    /// What it sees as the home directory.
    pub home: PathBuf,
}

/// How long a tool may take for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Silence after which a tool counts as hung. It runs only while the host owes the tool nothing
    /// and nobody is asked.
    pub silence: Duration,
    /// From asking a tool to end, or from its last message, to SIGTERM.
    pub cancel_grace: Duration,
    /// From SIGTERM to SIGKILL.
    pub kill_grace: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            silence: Duration::from_secs(60),
            cancel_grace: Duration::from_secs(5),
            kill_grace: Duration::from_secs(5),
        }
    }
}

/// Somebody who is shown the exchange with a tool, line by line.
pub trait Tracer: std::fmt::Debug + Send + Sync {
    /// A line that went to the tool.
    fn sent(&self, line: &[u8]);
    /// A line that came from the tool.
    fn received(&self, line: &[u8]);
}
