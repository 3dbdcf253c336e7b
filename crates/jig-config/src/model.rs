//! [`Config`] and [`Tool`]: the configuration after all layers are merged and checked.

mod access_spelling;
mod build;
mod command;
mod definition;
mod limits;
mod llm;
mod log;
mod mcp;
mod name;
mod network;
mod output;
mod parameter;
mod rules;
mod run;
mod server;
mod settings;
mod source;
mod stateful;
mod topic;

use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use indexmap::IndexMap;
use jig_policy::{DeclaredAccess, DeclaredFsRule, DefaultAccess};
use jig_proto::{Actions, ProjectPath};
use serde_json::{Map, Value as Json};

use crate::loading::acceptance::{HeldBack, WorkspaceContent};
use crate::origin::{Layer, Origin};
use crate::shape::keys;
use crate::shape::quantity::Amount;
use crate::value::ConfigNode;

pub(crate) use access_spelling::declared as declared_in_sandbox;
pub(crate) use build::{ConfigSections, SharedSettings, build};
pub use command::{Command, CommandSyntaxError};
pub(crate) use command::{Syntax, is_template, shell_syntax};
pub use definition::{Definition, DefinitionError};
pub use limits::{ProtocolLimits, SandboxLimits};
pub use llm::{LlmConfig, LlmKey, LlmTokenField, LlmWeights};
pub(crate) use llm::{check_layer as check_llm, check_quota};
pub use log::LogSettings;
pub(crate) use log::check_workspace as check_log;
pub use mcp::McpConfig;
pub(crate) use mcp::check_workspace as check_mcp;
pub use name::{ToolName, ToolNameError};
pub use network::NetworkSettings;
pub(crate) use network::parse_resolver;
pub use parameter::{Parameter, ParameterType};
pub(crate) use rules::{RulePlace, RulePlaces};
pub(crate) use run::{NO_MATCH, parse_pointer};
pub use run::{PathMeaning, RunCondition, RunDecision, RunModes, RunRule, RunRules, RunTest};
pub use server::{
    DefinitionMode, FillError, FilledError, Server, ServerReach, ServerSettingText, ServerUrlError,
    looks_secret, server_url,
};
pub(crate) use server::{MergedServers, hide_lines, masked, merge_servers, read_servers};
pub use settings::{
    AllowToggle, AskWay, Enable, Enforce, FormatMode, Input, OnUncovered, OverlayMode, Preset,
    QuestionSettings, QuestionTarget, ResultMode, RunMode, Sandbox, SystemPath,
};
pub use source::{RuntimeKind, SourceError, ToolSource};
pub use stateful::NoticeSettings;
pub use topic::Topic;
pub(crate) use topic::read_topics;

/// The final configuration of a workspace.
#[derive(Debug, Clone)]
pub struct Config {
    /// The tools by name: jig's predefined ones first, then in the order in which the layers
    /// mention them.
    pub tools: IndexMap<ToolName, Tool>,
    /// The files in which jig looked, lowest layer first, also those that don't exist: a tool
    /// that could create one would widen its own access.
    pub files: Vec<ConfigFile>,
    /// The folders in which the files of a pattern in `extends` lie: a new file there would be configuration.
    pub folders: Vec<ConfigFolder>,
    /// Where jig keeps its state, if that is known.
    pub state: Option<Utf8PathBuf>,
    /// What all tools share of the network.
    pub network: NetworkSettings,
    /// The log of what tools did.
    pub log: LogSettings,
    /// The LLM that processes behind a file proxy may ask; `None` if no layer has `[llm]`.
    pub llm: Option<LlmConfig>,
    /// The topics of the knowledge base by name, in the order in which the layers mention them, also
    /// those that are switched off.
    pub topics: IndexMap<String, Topic>,
    /// How the tools are served over MCP.
    pub mcp: McpConfig,
    /// The MCP servers whose tools are jig's, too, in the order in which the layers mention them, also those that
    /// are switched off.
    pub servers: IndexMap<String, Arc<Server>>,
    /// What the files of the workspace say.
    pub content: Arc<WorkspaceContent>,
    /// What the files of the workspace allow and nobody has accepted: it is not in force. `None` if there is nothing.
    pub held_back: Option<Arc<HeldBack>>,
    /// The folders of the person's configuration, whether they exist or not.
    pub(crate) own_folders: Vec<Utf8PathBuf>,
    /// The root of the workspace.
    pub(crate) workspace: Utf8PathBuf,
    /// The rules on files of `[tools.'*']`: those of `jig run` without flags.
    pub(crate) shared_rules: Vec<DeclaredFsRule>,
    /// `[network]` as it was written.
    pub(crate) network_values: Option<ConfigNode>,
    /// `[log]` as it was written.
    pub(crate) log_values: Option<ConfigNode>,
}

impl Config {
    /// The tool of that name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name)
    }

    /// The topics of the knowledge base that are switched on.
    pub fn enabled_topics(&self) -> impl Iterator<Item = &Topic> {
        self.topics.values().filter(|topic| topic.enable)
    }
}

/// A place in which jig looks for configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    /// The path as it was opened, absolute.
    pub path: Utf8PathBuf,
    /// The layer that the file makes up.
    pub layer: Layer,
    /// Whether there was such a file.
    pub found: bool,
    /// Whether it is there because another file extends it.
    pub is_extended: bool,
    /// Where it really lies in the workspace, if it does: the path given may lead there through
    /// links.
    pub(crate) inside: Option<ProjectPath>,
}

/// Where a pattern in `extends` looks for files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFolder {
    /// The folder in which the pattern begins, absolute; it need not exist.
    pub path: Utf8PathBuf,
    /// The layer of the file that has the pattern.
    pub layer: Layer,
    /// The folders that were looked at, absolute: what changes in one of them may change the configuration.
    pub folders: Vec<Utf8PathBuf>,
    /// Where it really lies in the workspace, if it does.
    pub(crate) inside: Option<ProjectPath>,
}

/// One tool, with every setting resolved.
#[derive(Debug, Clone)]
pub struct Tool {
    /// The name by which it is called.
    pub name: ToolName,
    /// Where its definition comes from.
    pub source: ToolSource,
    /// How it runs.
    pub runtime: RuntimeKind,
    /// Whether it is offered, and how that can be changed.
    pub enable: Enable,
    /// What a local tool of runtime `stdio` or `vfs` starts. `None` for a predefined tool, whose
    /// code is part of jig.
    pub command: Option<Command>,
    /// How a call reaches a tool of runtime `stdio`.
    pub input: Input,
    /// The component that a tool of runtime `wasm` runs, relative to the workspace.
    pub wasm: Option<Utf8PathBuf>,
    /// What people know it by, if that is not its name.
    pub title: Option<String>,
    /// One line about the tool.
    pub summary: Option<String>,
    /// What the model is told about it.
    pub description: Option<String>,
    /// Examples of its use.
    pub examples: Vec<String>,
    /// Its own parameters by name, in the order in which they were declared: those of a plain call,
    /// and of `spawn`.
    pub parameters: IndexMap<String, Parameter>,
    /// The JSON Schema of its result, if it always returns an object of JSON; the root has the type
    /// `object`.
    pub output: Option<Json>,
    /// What can be done with it between calls; none for a tool that is only called.
    pub actions: Actions,
    /// The rows and columns of the terminal that a tool of runtime `stdio` runs on, if it does.
    pub terminal: Option<(u16, u16)>,
    /// What the model is told about it without asking, while it runs.
    pub notices: NoticeSettings,
    /// Whether running it twice does no harm, so that a call that failed is run again, watched, to
    /// say why.
    pub repeatable: bool,
    /// What becomes of what a tool of runtime `stdio` writes; `None` if it writes to the workspace
    /// itself.
    pub overlay: Option<OverlayMode>,
    /// Whether somebody is asked before it runs, by action.
    pub run: RunModes,
    /// Whether somebody is asked before the model gets its result.
    pub result: ResultMode,
    /// The most of a result that is passed on, in bytes; `None` if nobody said.
    pub size_threshold: Option<u64>,
    /// Whether somebody is asked before its arguments are formatted.
    pub format: FormatMode,
    /// How its questions are answered, by their id.
    pub questions: IndexMap<String, QuestionSettings>,
    /// Settings that reach the tool and stay invisible to the model.
    pub options: Map<String, Json>,
    /// How JP displays the tool; jig keeps it as it is.
    pub style: Map<String, Json>,
    /// What happens when no rule covers a request.
    pub on_uncovered: OnUncovered,
    /// The declared rules.
    pub access: DeclaredAccess,
    /// What holds for a resource without declared rules.
    pub default_access: DefaultAccess,
    /// How the operating system confines it.
    pub sandbox: Sandbox,
    /// What its MCP server says about it, once that is known: see
    /// [`with_definitions`](Config::with_definitions).
    pub definition: Option<Arc<Definition>>,
    /// The dotted key of the server whose program it stands for, if it is none of its tools.
    pub(crate) server: Option<String>,
    /// Whether no layer declares it: its server described it.
    pub(crate) is_added: bool,
    pub(crate) values: Arc<ConfigNode>,
    /// Whether the tool's own entries, not `'*'`, declare rules.
    pub(crate) own_rules: bool,
    pub(crate) places: RulePlaces,
}

impl Tool {
    /// Where the value at a dotted path below the tool was written: `run`, `access.fs.0.path`.
    ///
    /// `None` for what nobody wrote: the default applies.
    pub fn origin(&self, path: &str) -> Option<&Origin> {
        let steps: Vec<&str> = path.split('.').collect();
        self.values.find(&steps).map(|node| &node.origin)
    }

    /// Where the tool was first mentioned.
    pub fn declared_at(&self) -> &Origin {
        &self.values.origin
    }

    /// The name of the predefined tool whose code in jig runs for this one.
    pub fn implementation(&self) -> Option<&str> {
        build::predefined(&self.source, &self.name)
            .filter(|_| self.command.is_none() && self.wasm.is_none())
    }

    /// The limit on time that somebody declared.
    ///
    /// `None` if there is none, and also if only the default holds: that is meant for calls, which
    /// end by themselves, and not for what is kept running.
    pub fn declared_time(&self) -> Option<Duration> {
        self.declared_limit("time").map(Duration::from_millis)
    }

    /// The limit on what is printed that somebody declared, in bytes; otherwise as for
    /// [`declared_time`](Self::declared_time).
    pub fn declared_output(&self) -> Option<u64> {
        self.declared_limit("output")
    }

    fn declared_limit(&self, name: &str) -> Option<u64> {
        let limits = self.values.find(&["sandbox", "limits"])?;
        match keys::LIMITS_TABLE.amount(limits, name)? {
            Amount::Of(amount) => Some(amount),
            Amount::Unlimited | Amount::Default => None,
        }
    }

    /// The JSON Schema of the tool's own arguments, closed to unknown ones (J-024): those of a plain
    /// call, and of `spawn` without what the protocol adds to it.
    ///
    /// A tool of an MCP server has the schema that the server gives it, once that is known, open or closed as it
    /// is; what the configuration says about one of its parameters stands over that.
    pub fn input_schema(&self) -> Json {
        match &self.definition {
            Some(definition) => parameter::described_schema(&definition.input, &self.parameters),
            None => parameter::input_schema(&self.parameters),
        }
    }
}

/// What of a path inside the workspace is shown to people; others are shown as they are.
pub(crate) fn shown_path<'a>(path: &'a Utf8Path, workspace: &Utf8Path) -> &'a Utf8Path {
    path.strip_prefix(workspace).unwrap_or(path)
}
