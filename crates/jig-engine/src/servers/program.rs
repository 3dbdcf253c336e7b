//! [`Engine::start_server`]: an MCP server as a program in its sandbox.

mod command_value;
mod filled_texts;
mod packages;

use std::sync::Arc;

use jig_broker::{Broker, ConfineError};
use jig_config::{Server, ServerReach};
use jig_proto::vfs::ToolInput;
use jig_proto::{Action, Context, hint};
use jig_runtime::{CommandLine, Plan, RunLimits, ServerPlan, StartError};
use jig_sandbox::{SpawnError, minimal_environment};
use serde_json::Map;

use crate::calls::call::CallError;
use crate::engine::Engine;
use crate::planning::plan::NO_HOME;
use crate::programs::confinement::{Commands, tree_limits};

pub use filled_texts::FilledServer;
pub use jig_runtime::{ServerMark, ServerProcess};
pub use packages::{Downloading, NotDownloaded, Packages, PackagesAccess};

impl Engine {
    /// Starts the program of a server in its sandbox, under the rules of its own entry. The values of its
    /// variables are found, and the commands that print some are run, first.
    ///
    /// Whether the entry may be started at all, because somebody trusted wrote or accepted it, is for the caller
    /// to know. What its launcher has to download is [downloaded](Self::download_packages) before.
    ///
    /// # Errors
    ///
    /// If the server is not a program, a variable is missing, or the program cannot be confined or started. No
    /// error tells a value that was filled in.
    pub fn start_server(&self, server: &Server) -> Result<ServerProcess, CallError> {
        let ServerReach::Program { policy: tool, .. } = &server.reach else {
            return Err(CallError::Server {
                server: server.name.clone(),
                why: "it is reached by its URL, and not a program".to_owned(),
            });
        };
        let filled = self.fill_server(server)?;
        let policy = Arc::new(self.policy(tool)?);
        let warnings = self.unenforced(tool, &policy, Commands::HeldByName)?;
        let view = Arc::new(self.files.materialize()?);
        let mut parts = self.broker_parts(tool, None, Arc::clone(&policy));
        parts.process.env = minimal_environment(NO_HOME.as_ref());
        let packages = self.packages(server);
        let mut own = PackagesAccess::default();
        if let Some(packages) = &packages {
            // Without them it would look for others, with the registry or in the workspace.
            let found = self.packages_access(packages, &filled.env);
            own = found.ok_or_else(|| CallError::PackagesGone(server.name.clone()))?;
            if let Some(confine) = &mut parts.process.confine {
                self.admit(confine, packages.launcher(), &own);
            }
        }
        let mut env = own.env;
        env.extend(filled.env);
        let broker = Broker::new(parts);
        for secret in &filled.secrets {
            broker.secrets().remember(secret);
        }
        let mut words = filled.command.into_iter();
        let program = words.next().unwrap_or_default();
        let words = own.args.into_iter().chain(words);
        let command = CommandLine::literal(program, words, Arc::clone(&view), NO_HOME);
        let context = Context::new(view.path().to_owned(), Action::Run);
        let context = context.with_access(policy.to_wire());
        let input = ToolInput {
            name: server.name.clone(),
            arguments: Map::new(),
            answers: Map::new(),
            options: Map::new(),
        };
        let plan = Plan {
            name: server.name.clone(),
            command: Some(command),
            limits: RunLimits {
                // It runs until it is stopped, and what it prints is read as it comes.
                time: None,
                output: None,
                tree: tree_limits(tool),
            },
            observe: tool.sandbox.observe,
            warnings,
            ..Plan::new(input, context, broker.clone())
        };
        let started = ServerProcess::start(ServerPlan {
            plan,
            table: tool.table(),
            env,
        });
        started.map_err(|error| not_started(&server.name, &broker, &error))
    }
}

/// Whether there is no program of that name.
fn is_missing(error: &StartError) -> bool {
    matches!(
        error,
        StartError::Confine(ConfineError::ProgramNotFound { .. })
            | StartError::Spawn(SpawnError::NotFound { .. })
    )
}

/// Why a server was not started, without the values that were filled in: a program that is not found is
/// named as it was looked for.
fn not_started(server: &str, broker: &Broker, error: &StartError) -> CallError {
    let mut why = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        why = format!("{why}: {cause}");
        source = cause.source();
    }
    let mut why = broker.secrets().scrub_text(why);
    if is_missing(error) {
        let hint = hint!("install it, or write its whole path in `command`");
        why.push_str(&format!("\n{hint}"));
    }
    CallError::Server {
        server: server.to_owned(),
        why,
    }
}
