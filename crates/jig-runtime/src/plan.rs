//! [`Plan`]: a call after everything about it is settled.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jig_broker::Broker;
use jig_proto::vfs::{Capabilities, Method, ToolInput};
use jig_proto::{Context, ProjectPath};
use jig_pty::Size;
use jig_sandbox::Overlay;

use crate::{CommandLine, RunLimits};

/// All that running a tool needs. Immutable: a call is decided before it starts.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The name by which callers know the tool.
    pub name: String,
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
    /// What runs, for a tool that is a component.
    pub component: Option<Component>,
    /// How the call reaches a tool that prints its result.
    pub delivery: Delivery,
    /// The methods that the policy leaves open.
    pub methods: Vec<Method>,
    /// What the tool is offered beyond the plain protocol.
    pub offer: Capabilities,
    /// How long things may take.
    pub timing: Timing,
    /// What one run of a program may take.
    pub limits: RunLimits,
    /// The most bytes of one message in either direction.
    pub message_limit: usize,
    /// About how many bytes of a result are passed on, so that no more is prepared.
    pub max_result: usize,
    /// Whether this call is a spawn: the tool takes input while it runs, and what it says is kept to be
    /// looked at. Such a tool usually runs for long: limits of time and output are set only where somebody
    /// declared them.
    pub stateful: bool,
    /// Whether a tool inside this process takes input while it runs, and not only answers, if it is stateful.
    /// Default: yes.
    pub takes_input: bool,
    /// The size of the terminal on which a tool of the stdio runtime runs, if it has one.
    pub terminal: Option<Size>,
    /// Layers into which a tool of the stdio runtime has its changes go.
    pub overlays: Vec<Overlay>,
    /// Whether what a program asks the kernel for is watched, so that a failed call tells what it was
    /// refused.
    pub observe: bool,
    /// Whether running the program twice does no harm: a call of the stdio runtime that failed is then run
    /// once more, watched, to learn what it was refused. Not with overlays, into which the second run would
    /// write too.
    pub repeatable: bool,
    /// What the caller should know before the tool does anything.
    pub warnings: Vec<String>,
    /// What the log says about its start, besides its arguments. Default: nothing.
    pub remark: String,
    /// Who is shown every line of the exchange.
    pub tracer: Option<Arc<dyn Tracer>>,
    /// Whether the call was given up before it began: a tool inside this process then makes no request. Default: no.
    pub given_up: bool,
    /// The thread of whoever starts a tool inside this process, if the tool may begin there. Default: none, and it
    /// gets a thread of its own.
    pub thread: Option<Arc<dyn LentThread>>,
}

impl Plan {
    /// The most bytes of one message, unless a plan says otherwise: 16 MiB.
    pub const MESSAGE_BYTES: usize = 16 * 1024 * 1024;

    /// A plan for a call that names no program, offers nothing beyond the plain protocol and keeps the
    /// default limits.
    pub fn new(input: ToolInput, context: Context, broker: Broker) -> Self {
        Self {
            name: input.name.clone(),
            implementation: None,
            input,
            broker,
            context,
            command: None,
            component: None,
            delivery: Delivery::Arguments,
            methods: Vec::new(),
            offer: Capabilities::PLAIN,
            timing: Timing::default(),
            limits: RunLimits::default(),
            message_limit: Self::MESSAGE_BYTES,
            max_result: MAX_RESULT,
            stateful: false,
            takes_input: true,
            terminal: None,
            overlays: Vec::new(),
            observe: false,
            repeatable: false,
            warnings: Vec::new(),
            remark: String::new(),
            tracer: None,
            given_up: false,
            thread: None,
        }
    }
}

/// A tool that is a Wasm component, and what it sees of the workspace.
#[derive(Debug, Clone)]
pub struct Component {
    /// The component as messages name it: its path, or the name of a tool of jig's own.
    pub shown: String,
    /// Where its bytes are.
    pub source: ComponentSource,
    /// The directories that it sees. The first is where it works, and the root of its context.
    pub mounts: Vec<Mount>,
}

/// Where the bytes of a component are.
#[derive(Debug, Clone)]
pub enum ComponentSource {
    /// In jig itself.
    Embedded(&'static [u8]),
    /// In memory.
    Bytes(Bytes),
    /// In an open file. One and the same file is read only once; that another stands at its path, or that its
    /// content is another, is noticed.
    #[expect(
        clippy::disallowed_types,
        reason = "the file was opened by whoever owns files, and is only handed on"
    )]
    File(Arc<std::fs::File>),
}

/// A directory of the workspace that a component sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Where it sees it: `/workspace`, for example.
    pub guest: String,
    /// The directory.
    pub path: ProjectPath,
    /// Whether the component may change what is there, as far as its rules allow that.
    pub writable: bool,
}

/// How a call reaches a tool that prints its result. Not `non_exhaustive`: a runtime must know all ways.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Delivery {
    /// In the words of its command.
    #[default]
    Arguments,
    /// As a line of JSON on standard input, `{"context": …, "tool": …}`.
    Stdin,
    /// As the same JSON in a file of its own, which `JIG_INPUT` and `{{input.file}}` name.
    File,
}

/// How long a tool may take for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Silence after which a tool counts as hung. It runs only while the host owes the tool nothing
    /// and nobody is asked. A tool that prints its result may be silent for as long as it runs.
    pub silence: Duration,
    /// How long a tool of the VFS protocol waits for an answer before it may give its request up. It is told so;
    /// the host does nothing about it.
    pub response: Duration,
    /// From asking a tool to end, or from its last message, to SIGTERM. A tool that takes no messages
    /// gets the signal at once.
    pub cancel_grace: Duration,
    /// From SIGTERM to SIGKILL.
    pub kill_grace: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            silence: Duration::from_secs(60),
            response: Duration::from_secs(30),
            cancel_grace: Duration::from_secs(5),
            kill_grace: Duration::from_secs(5),
        }
    }
}

/// A thread that has other work to do, and on which a tool may begin. The tool gives it back before it waits, also for
/// work that may take long.
pub trait LentThread: std::fmt::Debug + Send + Sync {
    /// Runs `tool` there, as soon as whoever starts it waits for it.
    fn run(&self, tool: Box<dyn FnOnce() + Send>);

    /// Calls `wait`, which may take as long as it likes, and has another thread do this one's other work meanwhile.
    fn wait(&self, wait: &mut dyn FnMut());
}

/// Somebody who is shown the exchange with a tool, line by line.
pub trait Tracer: std::fmt::Debug + Send + Sync {
    /// A line that went to the tool.
    fn sent(&self, line: &[u8]);
    /// A line that came from the tool.
    fn received(&self, line: &[u8]);
}

/// How much of a result is passed on, unless a plan says otherwise.
const MAX_RESULT: usize = 256 * 1024;
