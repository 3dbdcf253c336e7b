//! [`Call`]: one request to run a tool, and why it may fail.

use std::sync::Arc;

use jig_broker::CancelToken;
use jig_config::Tool;
use jig_proto::{
    HandleId, Hint, Outcome, SchemaError, ToolCommandError, ToolError, hint, visible_line,
};
use jig_runtime::{HandleError, LentThread, StartError, TemplateError, Tracer};
use serde_json::{Map, Value, json};

use crate::planning::arguments::ArgumentErrors;

/// One request to run a tool.
#[derive(Debug, Clone)]
pub struct Call {
    /// The tool.
    pub tool: String,
    /// Its arguments, as the caller gave them.
    pub arguments: Map<String, Value>,
    /// Answers to questions that are known in advance, by the id of the question.
    pub answers: Map<String, Value>,
    /// The id of the call in the audit log; one is made if there is none.
    pub id: Option<String>,
    /// The handle that the call is about to have, for the audit log; the engine sets it.
    pub handle: Option<HandleId>,
    /// Who is shown the exchange with a tool that is a program.
    pub tracer: Option<Arc<dyn Tracer>>,
    /// What cancels the call while it runs. A command to a handle that is cancelled returns at once; the
    /// handle lives on, unless the call was to spawn it.
    pub cancel: Option<CancelToken>,
    /// What ends the tool at once, if cancelling takes too long.
    pub kill: Option<CancelToken>,
    /// Whether a person has [agreed](crate::Engine::agree) to a `spawn` elsewhere, and is who sees what the tool says:
    /// nobody is asked whether it runs, nor whether to pass on what it said by then. Default: no.
    pub agreed: bool,
    /// The thread of the caller, on which the tool begins if [it may](crate::Engine::begins_on_callers_thread). Default:
    /// none, and it has a thread of its own.
    pub callers_thread: Option<Arc<dyn LentThread>>,
}

impl Call {
    /// A call with these arguments; anything but an object means none.
    pub fn new(tool: impl Into<String>, arguments: Value) -> Self {
        let arguments = match arguments {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        };
        Self {
            tool: tool.into(),
            arguments,
            answers: Map::new(),
            id: None,
            handle: None,
            tracer: None,
            cancel: None,
            kill: None,
            agreed: false,
            callers_thread: None,
        }
    }
}

/// Why a call came to nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// There is no such tool.
    #[error("there is no tool `{}`", visible_line(.0))]
    UnknownTool(String),
    /// The tool is switched off in the configuration.
    #[error("the tool `{0}` is switched off")]
    Disabled(String),
    /// The runtime of the tool is not part of this jig.
    #[error(
        "the runtime `{runtime}` of the tool `{tool}` cannot be run by this jig{}",
        crate::calls::call::how_to_get(.runtime)
    )]
    Runtime {
        /// The tool.
        tool: String,
        /// Its runtime.
        runtime: String,
    },
    /// The arguments don't fit; the words are those of JP (J-017).
    #[error(
        "Invalid arguments: {errors}\n{}", hint!("the description of the tool `{tool}` says what it takes")
    )]
    Arguments {
        /// The tool.
        tool: String,
        /// Every argument that does not fit, and why.
        errors: ArgumentErrors,
    },
    /// The rules of the tool cannot be compiled.
    #[error("invalid access policy for tool '{tool}'")]
    Policy {
        /// The tool.
        tool: String,
        /// What is wrong with the rules.
        #[source]
        errors: jig_config::ConfigErrors,
    },
    /// The command of the tool cannot be filled in.
    #[error("the command of the tool `{tool}` cannot be filled in")]
    Template {
        /// The tool.
        tool: String,
        /// What is wrong with it.
        #[source]
        error: TemplateError,
    },
    /// The workspace could not be made available.
    #[error("the workspace cannot be used")]
    Files(#[from] jig_files::FilesError),
    /// The parameters of a stateful tool cannot be published.
    #[error("the parameters of `{tool}` cannot be those of a stateful tool: {error}")]
    Schema {
        /// The tool.
        tool: String,
        /// Why not.
        error: SchemaError,
    },
    /// The arguments are not a command that the tool knows (S-038).
    #[error("`{tool}` cannot do that: {error}")]
    Command {
        /// The tool.
        tool: String,
        /// What is wrong with them.
        error: ToolCommandError,
    },
    /// The tool runs to its end when it is called, and cannot be spawned.
    #[error(
        "the tool `{0}` is not stateful: it cannot be spawned\n{hint}",
        hint = hint!("call it, or set `stateful = true` for it")
    )]
    NotStateful(String),
    /// A handle cannot do what was asked of it.
    #[error(transparent)]
    Handle(#[from] HandleError),
    /// Input was sent to a handle that waits for a person.
    #[error(
        "`{id}` was waiting for the answer of a person, which is not the assistant's to give; the \
         question was put to them, and the input was not used\n{}",
        hint!("fetch `{id}` to see what came of it")
    )]
    NotYours {
        /// The handle.
        id: HandleId,
    },
    /// The tool's server or its definition is not accepted, and so nothing was called.
    #[error(
        "{held}; {why}\n{}",
        hint!("`jig servers accept {}` shows what there is to accept, and accepts it", .held.server())
    )]
    Held {
        /// The tool.
        tool: String,
        /// What is not accepted.
        held: Box<crate::HeldOffer>,
        /// Why not.
        why: crate::Unaccepted,
    },
    /// The packages of a server were there, and are not any more.
    #[error("its packages were taken away while it was started; try again")]
    PackagesGone(String),
    /// Somebody was asked whether the tool may run, and said no.
    #[error("the run of `{tool}` was declined{}", because(.reason))]
    Declined {
        /// The tool.
        tool: String,
        /// Why, in the words of the one who was asked.
        reason: Option<String>,
    },
    /// The tool asks before it runs, and nobody can answer. How somebody could is for the caller to add, who
    /// knows whom it did not ask.
    #[error("`{0}` asks before it runs, and nobody can be asked here")]
    NobodyToAsk(String),
    /// The tool asks before it runs, and nobody answered in time.
    #[error("`{0}` asks before it runs, and nobody answered in time")]
    NobodyAnswered(String),
    /// The configuration says that the tool is not to be run.
    #[error("`{0}` is configured to be skipped")]
    Skipped(String),
    /// The result was held back.
    #[error("the result of `{0}` was not passed on")]
    ResultWithheld(String),
    /// The tool ran to its end, and its result is not what it declares in `output`.
    #[error(
        "`{tool}` ran, but its result is not what its `output` declares: {error}{}",
        if *.discarded { "; what it changed was discarded" } else { "" }
    )]
    Output {
        /// The tool.
        tool: String,
        /// What does not fit.
        error: crate::OutputError,
        /// Whether what it changed went to a layer, which is gone.
        discarded: bool,
    },
    /// The tool could not be started.
    #[error("the tool `{tool}` could not be started")]
    Start {
        /// The tool.
        tool: String,
        /// What to do about it, if that is known.
        hint: Option<Hint>,
        /// Why not.
        #[source]
        error: StartError,
    },
    /// The log cannot be written, and what is not in it does not run.
    #[error("`{tool}` was not run, because the log cannot be written: {error}")]
    Log {
        /// The tool.
        tool: String,
        /// Why it cannot be written.
        error: std::io::Error,
    },
    /// An MCP server could not be started or reached.
    #[error("the MCP server `{server}` could not be started: {why}")]
    Server {
        /// The server.
        server: String,
        /// Why not, in words, without a value that was filled in.
        why: String,
    },
    /// The tool cannot be confined as its rules demand, and was not started.
    #[error("the tool `{tool}` was not started: {reason}{}", way_out(.reason))]
    Unconfinable {
        /// The tool.
        tool: String,
        /// Which rule cannot be enforced, and why.
        reason: String,
    },
    /// The tool's changes go to a layer, which cannot be had or applied.
    #[error("the changes of `{tool}` cannot be kept apart: {why}")]
    Layer {
        /// The tool.
        tool: String,
        /// Why.
        why: String,
    },
    /// There is no component for a tool that is one, or it cannot be opened.
    #[error("the tool `{tool}` could not be started: {error}")]
    #[cfg(feature = "wasm-tools")]
    ComponentFile {
        /// The tool.
        tool: String,
        /// Why.
        error: crate::ComponentFileError,
    },
    /// The component of a tool cannot say what the tool is.
    #[error("the component of `{tool}` does not describe itself: {error}")]
    #[cfg(feature = "wasm-tools")]
    Component {
        /// The tool.
        tool: String,
        /// Why not.
        error: jig_wasm::ComponentError,
    },
    /// This machine runs no components.
    #[error("components cannot be run here")]
    #[cfg(feature = "wasm-tools")]
    Wasm(#[source] jig_wasm::EngineError),
    /// The topic of a call of `learn` is none.
    #[error("{0}")]
    Knowledge(String),
    /// The tool ran and failed.
    #[error("{}", .0.message)]
    Tool(ToolError),
}

impl CallError {
    /// What the model is told that made the call (J-015).
    ///
    /// Of a tool's error that may pass, its message and causes as JSON, since it may try again; of a
    /// lasting one, the outcome as the tool says it. All else in words.
    pub fn for_assistant(&self) -> String {
        let CallError::Tool(error) = self else {
            return self.to_string();
        };
        let mut told = if error.transient {
            let ToolError { message, trace, .. } = error;
            json!({ "message": message, "trace": trace })
        } else {
            // An error that jig found out itself may be JSON already (J-014).
            let found_out = error.message.starts_with('{');
            match serde_json::from_str(&error.message) {
                Ok(object @ Value::Object(_)) if found_out && !error.denials.is_empty() => object,
                _ if found_out => return error.message.clone(),
                _ => json!(Outcome::Error(error.clone())),
            }
        };
        // As the text that a person gets: it says in words what to do.
        if !error.denials.is_empty() {
            let denials: Vec<String> = error.denials.iter().map(ToString::to_string).collect();
            told["denials"] = json!(denials);
        }
        told.to_string()
    }
}

impl CallError {
    pub(crate) fn command(tool: &Tool, error: ToolCommandError) -> Self {
        Self::Command {
            tool: tool.name.to_string(),
            error,
        }
    }
}

/// What is missing for a runtime that this jig was built without.
fn how_to_get(runtime: &str) -> String {
    match runtime {
        "wasm" => {
            let hint = hint!("build jig with its default features");
            format!(": it was built without the feature `wasm-tools`\n{hint}")
        }
        "mcp" => ": nothing here reaches MCP servers".to_owned(),
        _ => String::new(),
    }
}

fn because(reason: &Option<String>) -> String {
    let reason = reason.as_ref().map(|reason| format!(": {reason}"));
    reason.unwrap_or_default()
}

/// What to do when something cannot be enforced, unless the reason says it already.
fn way_out(reason: &str) -> String {
    match reason.contains("jig doctor") {
        true => String::new(),
        false => {
            let hint = hint!(
                "`jig doctor` says what this machine can enforce; with `sandbox.enforce = \"best-effort\"` the \
                 tool runs with that"
            );
            format!("\n{hint}")
        }
    }
}
