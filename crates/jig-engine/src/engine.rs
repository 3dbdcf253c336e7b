//! [`Engine`]: from a call to its result.

pub(crate) mod llm;
pub(crate) mod shared_by_turns;
pub(crate) mod turn;

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use jig_broker::{
    Approvals, AuditSink, ConfineError, DnsResolver, HostEnv, HttpSettings, NullSink, Person,
    RequestLimits,
};
use jig_config::{Config, Tool, ToolSource};
use jig_files::ProjectFiles;
use jig_proto::{Action, Notice, ToolError};
use jig_runtime::{
    Handles, Plan, Runtime as _, Session, StartError, StdioRuntime, Timing, VfsRuntime,
};
use jig_sandbox::SpawnError;
use serde_json::{Map, Value};

use crate::calls::call::{Call, CallError};
use crate::engine::shared_by_turns::EngineCommon;
use crate::engine::turn::Turn;
use crate::planning::arguments::complete;
use crate::programs::confinement::Confinement;
use crate::questions::asker::Asker;
use crate::questions::inquiry::RememberedAnswers;
use crate::results::reply::Reply;
use crate::results::size_limit::{MAX_BINARY, MAX_RESULT, bound_error, without_large};
use crate::servers::ToolServers;
use crate::tools::predefined;

/// Runs the tools of one workspace, for one turn.
///
/// It can be shared between threads: calls run beside each other. What somebody approves for the turn
/// is remembered as long as the engine lives.
#[derive(Debug)]
pub struct Engine {
    pub(crate) config: Arc<Config>,
    pub(crate) files: Arc<dyn ProjectFiles>,
    pub(crate) approvals: Arc<Approvals>,
    /// What engines for other turns have in common with this one.
    pub(crate) common: Arc<EngineCommon>,
    /// What was said about the confinement of tools, each with the tool's name.
    warned: Mutex<HashSet<(String, String)>>,
    /// Answers that hold for the rest of the turn.
    pub(crate) remembered: Arc<RememberedAnswers>,
    /// The running tools that callers drive themselves.
    pub handles: Arc<Handles>,
    /// The variables that rules decide about. Default: none.
    pub env: HostEnv,
    /// How much one request of a tool may take.
    pub limits: RequestLimits,
    /// How servers are reached. Default: names are resolved as the configuration says.
    pub http: HttpSettings,
    /// How long a tool may take for what.
    pub timing: Timing,
    /// Where decisions are written. Default: nowhere.
    pub audit: Arc<dyn AuditSink>,
    /// The jig program, which runs the predefined tools as subprocesses where the configuration
    /// wants that: it is started with `__tool NAME`. Default: none.
    pub program: Option<PathBuf>,
    /// What confining programs needs to know of the host.
    pub confine: Confinement,
    /// Whether programs run without any confinement. Default: no. A configuration cannot say so, only
    /// whoever starts jig.
    pub unconfined: bool,
    /// The most text of a result, in bytes, for a tool that has no threshold of its own. Default:
    /// 256 KiB.
    pub max_result: usize,
    /// How messages name the person who is asked. Default: as somebody else than the reader.
    pub person: Person,
    /// The MCP servers whose tools are among those of the configuration. Default: none, and those tools cannot
    /// be called.
    pub servers: Option<Arc<dyn ToolServers>>,
    /// How components are run, and where their compiled code is kept. Default: in memory only.
    #[cfg(feature = "wasm-tools")]
    pub wasm: jig_wasm::Settings,
}

/// A tool that runs.
#[derive(Debug)]
pub struct StartedTool {
    /// The running tool.
    pub session: Session,
    tool: String,
}

impl Engine {
    /// An engine for the tools of `config` on `files`.
    pub fn new(config: Arc<Config>, files: Arc<dyn ProjectFiles>) -> Self {
        let mut http = HttpSettings::default();
        if let Some(server) = config.network.resolver {
            http.resolver = Arc::new(DnsResolver::new(server));
        }
        Self {
            config,
            files,
            approvals: Arc::new(Approvals::new()),
            common: Arc::default(),
            warned: Mutex::new(HashSet::new()),
            remembered: Arc::default(),
            handles: Arc::new(Handles::default()),
            env: HostEnv::default(),
            limits: RequestLimits::default(),
            http,
            timing: Timing::default(),
            audit: Arc::new(NullSink),
            program: None,
            confine: Confinement::default(),
            unconfined: false,
            max_result: MAX_RESULT,
            person: Person::default(),
            servers: None,
            #[cfg(feature = "wasm-tools")]
            wasm: jig_wasm::Settings::default(),
        }
    }

    /// The same engine for another turn: what that turn remembers and holds is its own, all else is shared
    /// with this one, also what was compiled already. Settings that are changed afterwards, here or there,
    /// are not.
    ///
    /// It costs little: a server makes one for each of its callers.
    pub fn for_turn(&self, turn: &Turn) -> Self {
        let mut engine = Self {
            config: Arc::clone(&self.config),
            files: Arc::clone(&self.files),
            approvals: Arc::clone(&self.approvals),
            common: Arc::clone(&self.common),
            warned: Mutex::default(),
            remembered: Arc::clone(&self.remembered),
            handles: Arc::clone(&self.handles),
            env: self.env.clone(),
            limits: self.limits,
            http: self.http.clone(),
            timing: self.timing,
            audit: Arc::clone(&self.audit),
            program: self.program.clone(),
            confine: self.confine.clone(),
            unconfined: self.unconfined,
            max_result: self.max_result,
            person: self.person,
            servers: self.servers.clone(),
            #[cfg(feature = "wasm-tools")]
            wasm: self.wasm.clone(),
        };
        engine.join(turn);
        engine
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Does what a call asks for: [begins](Self::begin) it, and brings it to its end.
    pub fn call(&self, call: Call, asker: &mut dyn Asker) -> Result<Reply, CallError> {
        self.begin(call, asker)?.finish(asker)
    }

    /// Starts a tool whose arguments are settled, without asking anybody.
    pub fn start(&self, call: Call) -> Result<StartedTool, CallError> {
        let tool = &*self.whole_tool(&call.tool)?;
        let arguments = self.arguments(tool, call.arguments.clone())?;
        let plan = self.plan(tool, Call { arguments, ..call }, Action::Run, None)?;
        self.start_plan(tool, plan)
    }

    /// Has the tool's runtime start a plan.
    pub(crate) fn start_plan(&self, tool: &Tool, plan: Plan) -> Result<StartedTool, CallError> {
        let session = match tool.runtime {
            #[cfg(feature = "wasm-tools")]
            _ if plan.component.is_some() => self.components()?.start(plan),
            jig_config::RuntimeKind::Builtin => predefined::RUNTIME.start(plan),
            jig_config::RuntimeKind::Vfs => VfsRuntime.start(plan),
            jig_config::RuntimeKind::Stdio => StdioRuntime.start(plan),
            jig_config::RuntimeKind::Mcp => Ok(self.start_served(tool, plan)?),
            other => {
                return Err(CallError::Runtime {
                    tool: tool.name.to_string(),
                    runtime: other.name().to_owned(),
                });
            }
        };
        Ok(StartedTool {
            session: session.map_err(|error| self.not_started(tool, error))?,
            tool: tool.name.to_string(),
        })
    }

    /// What has become of handles since their caller last heard of them: to be told with the next
    /// response, whatever that is about. Each thing is told once.
    pub fn notices(&self) -> Vec<Notice> {
        self.handles.notices()
    }

    /// Ends the turn: every handle is asked to end, and killed if it does not in time. Afterwards nothing
    /// can be spawned, by this engine or another that shares its handles.
    pub fn end_turn(&self) {
        self.handles.end(self.timing.cancel_grace);
    }

    pub(crate) fn tool(&self, name: &str) -> Result<&Tool, CallError> {
        let tool = self.config.tool(name);
        let tool = tool.ok_or_else(|| CallError::UnknownTool(name.to_owned()))?;
        if !tool.enable.on {
            return Err(CallError::Disabled(name.to_owned()));
        }
        Ok(tool)
    }

    /// A tool that may be called, with what it says about itself.
    pub(crate) fn whole_tool(&self, name: &str) -> Result<Cow<'_, Tool>, CallError> {
        self.described(self.tool(name)?)
    }

    /// A tool with what its component says about it: nothing, where no components are run.
    #[cfg(not(feature = "wasm-tools"))]
    pub fn described<'t>(&self, tool: &'t Tool) -> Result<Cow<'t, Tool>, CallError> {
        Ok(Cow::Borrowed(tool))
    }

    pub(crate) fn arguments(
        &self,
        tool: &Tool,
        given: Map<String, Value>,
    ) -> Result<Map<String, Value>, CallError> {
        if tool.on_server().is_some() {
            return self.served_arguments(tool, given);
        }
        complete(given, &tool.parameters).map_err(|errors| CallError::Arguments {
            tool: tool.name.to_string(),
            errors,
        })
    }

    pub(crate) fn not_started(&self, tool: &Tool, error: StartError) -> CallError {
        let hint = self
            .config
            .start_hint(tool)
            .filter(|_| is_of_program(&error));
        let tool = tool.name.to_string();
        match error {
            StartError::Template(error) => CallError::Template { tool, error },
            StartError::Log(error) => CallError::Log { tool, error },
            StartError::Spawn(SpawnError::Confinement { reason, .. }) => {
                CallError::Unconfinable { tool, reason }
            }
            error => CallError::Start { tool, hint, error },
        }
    }

    /// The most of a result of this tool that is passed on, in bytes.
    pub(crate) fn most(&self, tool: &Tool) -> usize {
        let own = tool.size_threshold;
        own.map_or(self.max_result, |own| {
            usize::try_from(own).unwrap_or(usize::MAX)
        })
    }

    /// The most binary data in a result of this tool that is passed on, in bytes of base64.
    pub(crate) fn most_binary(&self, tool: &Tool) -> usize {
        match tool.size_threshold {
            Some(_) => self.most(tool),
            None => MAX_BINARY,
        }
    }

    /// The error of a tool, cut as its results are.
    pub(crate) fn bounded(&self, tool: &Tool, mut error: ToolError) -> ToolError {
        error.content = without_large(error.content, self.most_binary(tool));
        bound_error(error, self.most(tool))
    }

    /// Tells the caller something about the confinement of a tool, once in a turn.
    pub(crate) fn warn(&self, tool: &Tool, warning: String, asker: &mut dyn Asker) {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.insert((tool.name.to_string(), warning.clone())) {
            drop(warned);
            asker.warning(tool.name.as_str(), &warning);
        }
    }
}

impl StartedTool {
    /// The name of the tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }
}

/// Whether the tool knows all answers from its start on: if it asks all the same, they did not satisfy it.
pub(crate) fn gets_answers_at_start(tool: &Tool) -> bool {
    use jig_config::RuntimeKind;
    matches!(tool.runtime, RuntimeKind::Stdio | RuntimeKind::Wasm)
}

/// Whether it is the builtin tool that waits for handles. Its code is here: it needs no session.
pub(crate) fn is_await(tool: &Tool) -> bool {
    match &tool.source {
        ToolSource::Builtin { tool: named } => {
            named.as_deref().unwrap_or(tool.name.as_str()) == AWAIT
        }
        _ => false,
    }
}

const AWAIT: &str = "await";

/// Whether a tool was not started because of its program itself.
fn is_of_program(error: &StartError) -> bool {
    matches!(
        error,
        StartError::Confine(ConfineError::ProgramNotFound { .. })
            | StartError::Spawn(
                SpawnError::NotFound { .. }
                    | SpawnError::NotExecutable { .. }
                    | SpawnError::MissingInterpreter { .. }
                    | SpawnError::ExecFormat { .. }
            )
    )
}
