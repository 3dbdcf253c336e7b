//! From a tool and a call to a [`Plan`].

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jig_broker::{Broker, BrokerParts, OnAuditFailure, ProcessSettings, RequestLimits};
use jig_config::{Command, Input, RuntimeKind, Tool};
use jig_files::FilesLookup;
use jig_policy::{Guards, Policy, Workspace};
use jig_proto::vfs::{Capabilities, ToolInput};
use jig_proto::{Action, Context};
use jig_runtime::{
    CommandLine, CommandWord, Delivery, Plan, RunLimits, Size, StartError, Timing, command_shown,
};
use jig_sandbox::minimal_environment;
use serde_json::{Map, Value};

use crate::calls::call::{Call, CallError};
use crate::engine::{Engine, gets_answers_at_start};
use crate::programs::confinement::{Commands, tree_limits};
use crate::questions::audit::CONFIGURED;

impl Engine {
    /// Compiles the policy, and puts everything together that running needs. `instead` is a command to
    /// start in place of the tool's own.
    pub(crate) fn plan(
        &self,
        tool: &Tool,
        mut call: Call,
        action: Action,
        instead: Option<&Command>,
    ) -> Result<Plan, CallError> {
        if tool.on_server().is_some() {
            return self.served_plan(tool, call);
        }
        let root = self.files.display_root().to_owned();
        let rules = self.rules(tool)?;
        let warnings = self.unenforced(tool, &rules.policy, Commands::HeldByName)?;
        let component = self.planned_component(tool, &mut call)?;
        let remark = known_from_the_start(tool, &call.answers);
        let input = tool_input(tool, call.arguments, call.answers);
        let command = match tool.runtime {
            RuntimeKind::Vfs | RuntimeKind::Stdio => {
                Some(self.command(tool, instead.or(tool.command.as_ref()))?)
            }
            _ => None,
        };
        // A program works in a directory of the host; one in memory has another path there. A component sees
        // only what is mounted.
        let mount = component.as_ref().and_then(|one| one.mounts.first());
        let root = match (&command, tool.runtime) {
            (Some(command), RuntimeKind::Stdio) => command.view.path().to_owned(),
            _ => mount.map_or(root, |mount| mount.guest.clone().into()),
        };
        let context = Context::new(root, action).with_access(rules.access);
        let mut parts = self.broker_parts(tool, call.id, Arc::clone(&rules.policy));
        parts.handle = call.handle.map(|handle| handle.to_string());
        parts.process.env = minimal_environment(Path::new(NO_HOME));
        let broker = Broker::new(parts);
        Ok(Plan {
            name: tool.name.to_string(),
            implementation: tool.implementation().map(str::to_owned),
            command,
            component,
            delivery: match tool.input {
                Input::Argv => Delivery::Arguments,
                Input::Stdin => Delivery::Stdin,
                Input::File => Delivery::File,
            },
            methods: rules.methods,
            offer: offer(),
            timing: self.timing_of(tool),
            message_limit: message_limit(tool),
            limits: RunLimits {
                time: tool.sandbox.limits.time,
                output: tool.sandbox.limits.output,
                tree: tree_limits(tool),
            },
            terminal: tool.terminal.map(|(rows, cols)| Size::new(rows, cols)),
            // A second run would need a second layer: one whose changes go to a layer is watched at once.
            observe: tool.sandbox.observe || (tool.repeatable && tool.overlay.is_some()),
            repeatable: tool.repeatable,
            max_result: self.most(tool),
            warnings,
            remark,
            tracer: call.tracer,
            ..Plan::new(input, context, broker)
        })
    }

    /// No components are run here.
    #[cfg(not(feature = "wasm-tools"))]
    fn planned_component(
        &self,
        _: &Tool,
        _: &mut Call,
    ) -> Result<Option<jig_runtime::Component>, CallError> {
        Ok(None)
    }

    /// The component of a call, if the tool is one, with what it is to see of the workspace.
    #[cfg(feature = "wasm-tools")]
    fn planned_component(
        &self,
        tool: &Tool,
        call: &mut Call,
    ) -> Result<Option<jig_runtime::Component>, CallError> {
        let mut component = self.component(tool)?;
        if let Some(component) = &mut component
            && crate::tools::knowledge::is_learn(tool)
        {
            let most = self.most(tool);
            let mount = crate::tools::knowledge::prepare(&self.config, &mut call.arguments, most);
            let mut mount = mount.map_err(|error| CallError::Knowledge(error.to_string()))?;
            // What a component reaches must lie below its mount after all links, so the mount must too.
            if let Ok(place) = self.files.locate(&mount.path) {
                mount.path = place.path().clone();
            }
            component.mounts.push(mount);
        }
        Ok(component)
    }

    /// What stands above the rules of a tool in this workspace.
    pub fn guards(&self, tool: &Tool) -> Guards {
        self.config.guards(tool, self.files.display_root())
    }

    /// The rules of a tool, compiled for the workspace as it is now.
    ///
    /// # Errors
    ///
    /// If a rule cannot be compiled any more, because the workspace has changed.
    pub fn policy(&self, tool: &Tool) -> Result<Policy, CallError> {
        let files = FilesLookup(Arc::clone(&self.files));
        let workspace = Workspace::new(self.files.display_root().to_owned(), files);
        let policy = self.config.policy(tool, &workspace);
        policy.map_err(|errors| CallError::Policy {
            tool: tool.name.to_string(),
            errors,
        })
    }

    /// The same for a call: the paths that the tool may not change are looked for when it is about to change something.
    pub(crate) fn policy_of_call(&self, tool: &Tool) -> Result<Policy, CallError> {
        let files = FilesLookup(Arc::clone(&self.files));
        let workspace = Workspace::new(self.files.display_root().to_owned(), files);
        let policy = self.config.policy_of_call(tool, &workspace);
        policy.map_err(|errors| CallError::Policy {
            tool: tool.name.to_string(),
            errors,
        })
    }

    /// The command that a call would start, for the one who decides about it; `None` if it starts none, or none that
    /// can be filled in.
    pub(crate) fn shown_command(
        &self,
        tool: &Tool,
        call: &Call,
        is_spawned: bool,
    ) -> Option<String> {
        let is_program = matches!(tool.runtime, RuntimeKind::Vfs | RuntimeKind::Stdio);
        let command = tool.command.as_ref().filter(|_| is_program)?;
        let input = tool_input(tool, call.arguments.clone(), call.answers.clone());
        let rules = self.rules(tool).ok()?;
        let context = Context::new(self.files.display_root().to_owned(), Action::Run);
        let context = context.with_access(rules.access);
        let program = CommandWord::parse(&command.program);
        let args: Vec<CommandWord> = command.args.iter().map(CommandWord::parse).collect();
        let call = (&input, &context);
        command_shown(&program, &args, command.shell, call, is_spawned).ok()
    }

    /// The door through which one call of a tool reaches the world.
    pub(crate) fn broker(&self, tool: &Tool, id: Option<String>, policy: Arc<Policy>) -> Broker {
        let mut parts = self.broker_parts(tool, id, policy);
        parts.process.env = minimal_environment(Path::new(NO_HOME));
        Broker::new(parts)
    }

    /// What a broker is made of, except for the environment of the programs that it starts.
    pub(crate) fn broker_parts(
        &self,
        tool: &Tool,
        id: Option<String>,
        policy: Arc<Policy>,
    ) -> BrokerParts {
        let id = id.unwrap_or_else(|| self.new_id('w'));
        let files = Arc::clone(&self.files);
        BrokerParts {
            env: self.env.clone(),
            limits: self.limits_of(tool),
            http: self.http.clone(),
            process: ProcessSettings {
                confine: self.confinement(tool),
                ..ProcessSettings::default()
            },
            audit: Arc::clone(&self.audit),
            // What cannot be written down is not done.
            on_audit_failure: OnAuditFailure::Refuse,
            approvals: Arc::clone(&self.approvals),
            table: tool.is_server().then(|| tool.table()),
            person: self.person,
            ..BrokerParts::new(tool.label(), id, files, policy)
        }
    }

    /// How long a tool may take for what: as its configuration says, else as this engine does.
    fn timing_of(&self, tool: &Tool) -> Timing {
        let declared = &tool.sandbox.limits.protocol;
        Timing {
            // A clock cannot show every time.
            silence: declared.silence.unwrap_or(self.timing.silence).min(NEVER),
            response: declared.response.unwrap_or(self.timing.response),
            cancel_grace: declared.cancel_grace.unwrap_or(self.timing.cancel_grace),
            kill_grace: declared.kill_grace.unwrap_or(self.timing.kill_grace),
        }
    }

    /// How much one request of a tool may take, in the same way.
    fn limits_of(&self, tool: &Tool) -> RequestLimits {
        let declared = &tool.sandbox.limits.protocol;
        RequestLimits {
            file_bytes: declared.file.unwrap_or(self.limits.file_bytes),
            http_time: declared.http_time.unwrap_or(self.limits.http_time),
            process_time: declared.program_time.unwrap_or(self.limits.process_time),
            ..self.limits
        }
    }

    /// What a tool that is a program is started as.
    fn command(&self, tool: &Tool, command: Option<&Command>) -> Result<CommandLine, CallError> {
        let view = Arc::new(self.files.materialize()?);
        let home = PathBuf::from(NO_HOME);
        let Some(command) = command else {
            let name = tool.implementation().unwrap_or(tool.name.as_str());
            let program = self.program.as_ref();
            let program = program.ok_or_else(|| self.not_started(tool, StartError::NoCommand))?;
            let program = program.to_string_lossy();
            return Ok(CommandLine::literal(program, ["__tool", name], view, home));
        };
        Ok(CommandLine {
            program: CommandWord::parse(&command.program),
            args: command.args.iter().map(CommandWord::parse).collect(),
            shell: command.shell,
            view,
            home,
            names_files: true,
        })
    }
}

/// The most bytes of one message of a tool.
fn message_limit(tool: &Tool) -> usize {
    let declared = tool.sandbox.limits.protocol.message;
    let declared = declared.and_then(|bytes| usize::try_from(bytes).ok());
    declared.unwrap_or(Plan::MESSAGE_BYTES)
}

/// What a tool is told of a call.
fn tool_input(
    tool: &Tool,
    arguments: Map<String, Value>,
    mut answers: Map<String, Value>,
) -> ToolInput {
    for (id, question) in &tool.questions {
        if let Some(answer) = &question.answer {
            answers.entry(id.clone()).or_insert_with(|| answer.clone());
        }
    }
    ToolInput {
        name: tool.source.tool().unwrap_or(tool.name.as_str()).to_owned(),
        arguments,
        answers,
        options: tool.options.clone(),
    }
}

/// Which answers a program has from its start on, and by whom, as the log says it. Other tools ask for each, and it
/// is noted then.
fn known_from_the_start(tool: &Tool, given: &Map<String, Value>) -> String {
    if !gets_answers_at_start(tool) {
        return String::new();
    }
    let configured = tool.questions.iter();
    let configured =
        configured.filter(|(id, known)| known.answer.is_some() && !given.contains_key(id.as_str()));
    let configured: Vec<&str> = configured.map(|(id, _)| id.as_str()).collect();
    let given: Vec<&str> = given.keys().map(String::as_str).collect();
    let told = [
        (given, "the caller, now or earlier in this turn"),
        (configured, CONFIGURED),
    ];
    let told = told.into_iter().filter(|(ids, _)| !ids.is_empty());
    let told: Vec<String> = told
        .map(|(ids, by)| format!("`{}` answered by {by}", ids.join("`, `")))
        .collect();
    told.join("; ")
}

/// What every tool is offered beyond the plain protocol.
fn offer() -> Capabilities {
    Capabilities {
        concurrency: std::num::NonZeroU32::new(MAX_IN_FLIGHT),
        pending: true,
        pages: true,
        ranges: true,
        etag: true,
        blobs: true,
        fd_pass: true,
    }
}

/// How many requests a tool may have open at once. Each that takes long holds a thread of the host.
const MAX_IN_FLIGHT: u32 = 32;

/// As good as never: ten years.
const NEVER: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// What a tool that is not confined sees as its home: nothing. What lies in the real one is not its
/// business.
pub(crate) const NO_HOME: &str = "/nonexistent";
