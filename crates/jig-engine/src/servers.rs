//! [`ToolServers`]: whoever reaches the MCP servers behind jig, and what the engine asks of it.
//!
//! A tool of the runtime `mcp` is code of somebody else on a server that is already confined, or far away. Its
//! call needs no policy, no program and no broker of its own: it is a session without a thread, which whoever reaches the
//! servers brings to its end. What the engine adds is what it adds to every call:
//! questions, checks, limits and the line in the log.
//!
//! A server that is a program is started by [`Engine::start_server`] ([`program`]).

mod acceptance;
mod definitions;
pub(crate) mod program;
mod schemas;
mod served_call;
mod tool_results;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use jig_broker::{AuditDecision, AuditNote, Broker, BrokerParts, CancelToken};
use jig_config::{Definition, Server, Tool};
use jig_files::FilesLookup;
use jig_policy::{DeclaredAccess, DefaultAccess, Guards, Policy, Workspace};
use jig_proto::vfs::ToolInput;
use jig_proto::{Action, Context, HandleId, ToolError};
use jig_runtime::{Plan, Session, without_thread};
use serde_json::{Map, Value};

use crate::calls::call::{Call, CallError};
use crate::engine::Engine;

pub use acceptance::{HeldOffer, Unaccepted};
pub(crate) use definitions::CompiledDefinitions;
pub use served_call::ServedCall;

/// The MCP servers behind jig.
///
/// The engine knows them only by this: who implements it starts servers, speaks with them, and remembers what
/// somebody accepted. It is used by several threads at once.
pub trait ToolServers: fmt::Debug + Send + Sync {
    /// Begins a call, which [ends](ServedCall::end) as the tool or its server does; what it was refused is among the
    /// denials. It waits for nothing: who drives the call does not, before this returns.
    ///
    /// The door of `served` tells progress, puts the server's questions, and says when the call is given up.
    fn call(self: Arc<Self>, call: ServerCall, served: ServedCall);

    /// Why a person must be asked before this tool may be called: its server or its definition is not
    /// accepted. It starts the server if it has to, until `cancel` says to give up; it is quick when nothing is
    /// held and the server runs.
    ///
    /// # Errors
    ///
    /// If the server cannot be started.
    fn held(
        &self,
        server: &str,
        tool: &str,
        cancel: Option<&CancelToken>,
    ) -> Result<Option<HeldOffer>, ToolError>;

    /// Keeps that a person accepted what was held.
    ///
    /// # Errors
    ///
    /// If it cannot be kept, or if what is held is another thing by now.
    fn accept(&self, held: &HeldOffer) -> Result<(), String>;
}

/// One call of a server's tool.
#[derive(Debug, Clone)]
pub struct ServerCall {
    /// The server.
    pub server: Arc<Server>,
    /// The tool's name there.
    pub tool: String,
    /// The arguments, as the caller gave them.
    pub arguments: Map<String, Value>,
    /// What the caller knows of the tool, if that is known.
    pub definition: Option<Arc<Definition>>,
    /// About how many bytes of a result are passed on, so that no more need be kept.
    pub max_result: usize,
    /// Who calls: the same number is the same turn.
    pub caller: u64,
}

/// Where a tool is.
struct ServerTool<'e> {
    server: &'e Arc<Server>,
    /// The tool's name there.
    named: &'e str,
    /// Who reaches it.
    servers: &'e Arc<dyn ToolServers>,
}

impl Engine {
    /// A plan that holds no more than the call: whatever the tool may do is its server's affair.
    pub(crate) fn served_plan(&self, tool: &Tool, call: Call) -> Result<Plan, CallError> {
        let broker = self.served_broker(tool, call.id, call.handle)?;
        let input = ToolInput {
            name: tool.name.to_string(),
            arguments: call.arguments,
            ..ToolInput::default()
        };
        let root = self.files.display_root().to_owned();
        Ok(Plan {
            timing: self.timing,
            max_result: self.most(tool),
            takes_input: false,
            ..Plan::new(input, Context::new(root, Action::Run), broker)
        })
    }

    /// A door that leads nowhere: what is written to the log goes through it.
    fn served_broker(
        &self,
        tool: &Tool,
        id: Option<String>,
        handle: Option<HandleId>,
    ) -> Result<Broker, CallError> {
        let id = id.unwrap_or_else(|| self.new_id('w'));
        let policy = match self.common.nothing.get() {
            Some(policy) => policy,
            None => {
                let policy = Arc::new(self.nothing(tool)?);
                self.common.nothing.get_or_init(|| policy)
            }
        };
        let files = Arc::clone(&self.files);
        Ok(Broker::new(BrokerParts {
            audit: Arc::clone(&self.audit),
            handle: handle.map(|handle| handle.to_string()),
            ..BrokerParts::new(tool.name.as_str(), id, files, Arc::clone(policy))
        }))
    }

    /// What is named in the log: `c` is a call that came through [`Engine::call`], `w` other work of jig, such as a
    /// program of `jig run`.
    pub(crate) fn new_id(&self, kind: char) -> String {
        let number = self.common.calls.fetch_add(1, Ordering::Relaxed) + 1;
        format!("{kind}{}-{number}", std::process::id())
    }

    /// The policy that grants nothing.
    fn nothing(&self, tool: &Tool) -> Result<Policy, CallError> {
        let root = self.files.display_root().to_owned();
        let files = FilesLookup(Arc::clone(&self.files));
        let workspace = Workspace::new(root, files);
        let (access, guards) = (DeclaredAccess::default(), Guards::default());
        let policy = Policy::compile(&access, DefaultAccess::NOTHING, &guards, &workspace);
        policy.map_err(|errors| CallError::Policy {
            tool: tool.name.to_string(),
            errors: tool.rule_errors(&errors),
        })
    }

    /// Starts the call of a server's tool.
    pub(crate) fn start_served(&self, tool: &Tool, mut plan: Plan) -> Result<Session, CallError> {
        let arguments = std::mem::take(&mut plan.input.arguments);
        let call = self.server_call(tool, arguments)?;
        let ServerTool {
            server,
            named,
            servers,
        } = self.reached(tool)?;
        let note = self.note(tool, server, named);
        let begun = without_thread(plan);
        let (session, door) = begun.map_err(|error| self.not_started(tool, error))?;
        Arc::clone(servers).call(call, ServedCall::new(door, note));
        Ok(session)
    }

    /// What a server is to be called for.
    fn server_call(
        &self,
        tool: &Tool,
        arguments: Map<String, Value>,
    ) -> Result<ServerCall, CallError> {
        let ServerTool { server, named, .. } = self.reached(tool)?;
        Ok(ServerCall {
            tool: named.to_owned(),
            arguments,
            definition: tool.definition.clone(),
            max_result: self.most(tool).max(self.most_binary(tool)),
            caller: Arc::as_ptr(&self.handles).addr() as u64,
            server: Arc::clone(server),
        })
    }

    /// Where a tool is, if it is on a server and somebody reaches servers.
    fn reached<'e>(&'e self, tool: &'e Tool) -> Result<ServerTool<'e>, CallError> {
        let cannot = || CallError::Runtime {
            tool: tool.name.to_string(),
            runtime: tool.runtime.name().to_owned(),
        };
        let (server, named) = tool.on_server().ok_or_else(cannot)?;
        let servers = self.servers.as_ref().ok_or_else(cannot)?;
        let server = self.config.servers.get(server).ok_or_else(cannot)?;
        Ok(ServerTool {
            server,
            named,
            servers,
        })
    }

    /// The line in the log about a call.
    fn note(&self, tool: &Tool, server: &Server, named: &str) -> AuditNote {
        let reason = match self.defined(tool) {
            Some(defined) => format!("definition {}", defined.hash()),
            None => "its definition is not known".to_owned(),
        };
        AuditNote {
            origin: Some(server.declared_at().to_string()),
            ..AuditNote::new(
                "mcp.call",
                format!("{}.{named}", server.name),
                AuditDecision::Allow,
                reason,
            )
        }
    }
}
