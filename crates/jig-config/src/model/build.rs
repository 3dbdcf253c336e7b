//! From merged trees to [`Config`], with the checks that only a whole tool can pass.

mod access;
mod command;
mod programs;
mod server;
mod settings;
mod source;

use std::sync::Arc;

use camino::Utf8PathBuf;
use indexmap::IndexMap;
use jig_policy::{DeclaredFsRule, DefaultAccess};
use jig_proto::{Hint, hint};
use serde_json::{Map, Value as Json};

use super::command::Command;
use super::settings::{FormatMode, Input, OnUncovered, ResultMode, RunMode};
use super::stateful::{self, NoticeSettings, Stateful};
use super::{
    Config, ConfigFile, ConfigFolder, LlmConfig, LogSettings, McpConfig, NetworkSettings,
    Parameter, RunModes, RuntimeKind, Server, Tool, ToolName, ToolSource, Topic, output, run,
};
use crate::loading::load::MergedTool;
use crate::loading::sources::Sources;
use crate::origin::Layer;
use crate::problem::Problem;
use crate::quoting::{dotted, quote};
use crate::shape::keys;
use crate::shape::quantity::Amount;
use crate::value::ConfigNode;

pub(crate) use server::{SharedSettings, policy_of_server, template_of_server};

/// What came out of the merged trees. The configuration counts only without errors.
pub(crate) struct BuiltConfig {
    pub(crate) config: Config,
    pub(crate) errors: Vec<Problem>,
    pub(crate) warnings: Vec<Problem>,
}

/// What stands beside the tools, already read.
pub(crate) struct ConfigSections {
    pub(crate) network: Option<ConfigNode>,
    pub(crate) log: Option<ConfigNode>,
    pub(crate) topics: IndexMap<String, Topic>,
    pub(crate) llm: Option<LlmConfig>,
    pub(crate) mcp: McpConfig,
    pub(crate) servers: IndexMap<String, Arc<Server>>,
    /// The rules on files of `[tools.'*']`.
    pub(crate) shared_rules: Vec<DeclaredFsRule>,
    /// The names of all servers, also of those that something is wrong with.
    pub(crate) server_names: Vec<String>,
    pub(crate) files: Vec<ConfigFile>,
    pub(crate) folders: Vec<ConfigFolder>,
}

/// Builds all tools; what is wrong with each is collected.
pub(crate) fn build(
    sources: &Sources,
    merged: IndexMap<String, MergedTool>,
    beside: ConfigSections,
) -> BuiltConfig {
    let is_remote = |server: &&Arc<Server>| server.policy().is_none();
    let remote = beside.servers.values().filter(is_remote);
    let remote: Vec<String> = remote.map(|server| server.name.clone()).collect();
    let mut built = BuiltConfig {
        config: Config {
            tools: IndexMap::with_capacity(merged.len()),
            files: beside.files,
            folders: beside.folders,
            state: sources.state.clone(),
            own_folders: sources.own_folders(),
            workspace: sources.workspace.clone(),
            network: NetworkSettings::read(beside.network.as_ref()),
            network_values: beside.network,
            log: LogSettings::read(beside.log.as_ref()),
            log_values: beside.log,
            topics: beside.topics,
            llm: beside.llm,
            mcp: beside.mcp,
            servers: beside.servers,
            shared_rules: beside.shared_rules,
            content: Arc::default(),
            held_back: None,
        },
        errors: Vec::new(),
        warnings: Vec::new(),
    };
    let defined: Vec<&str> = merged
        .iter()
        .filter(|(_, tool)| tool.node.get("source").is_some())
        .map(|(name, _)| name.as_str())
        .collect();
    for (name, merged) in &merged {
        let Ok(name) = ToolName::new(name.as_str()) else {
            continue;
        };
        let mut builder = ToolBuilder::new(name, merged);
        builder.defined = &defined;
        builder.servers = &beside.server_names;
        builder.remote = &remote;
        let tool = builder.tool();
        built.errors.append(&mut builder.errors);
        built.warnings.append(&mut builder.warnings);
        if let Some(mut tool) = tool {
            // A tool whose server is switched off is not there either.
            let server = built.config.server_of(&tool);
            tool.enable.on &= server.is_none_or(|server| server.enable);
            built.config.tools.insert(tool.name.clone(), tool);
        }
    }
    crate::policy::check_rules(sources, &built.config, &mut built.errors);
    crate::system_paths::check(sources, &built.config, &mut built.errors);
    if built.errors.is_empty() && sources.lint {
        crate::lint::lint(sources, &built.config, &mut built.warnings);
    }
    built
}

/// The predefined tool that a tool of this source and name would be.
pub(super) fn predefined<'a>(source: &'a ToolSource, name: &'a ToolName) -> Option<&'a str> {
    let ToolSource::Local { tool } = source else {
        return None;
    };
    let name = tool.as_deref().unwrap_or(name.as_str());
    PREDEFINED
        .iter()
        .any(|(one, _)| *one == name)
        .then_some(name)
}

struct ToolBuilder<'a> {
    name: ToolName,
    prefix: String,
    merged: &'a MergedTool,
    node: &'a ConfigNode,
    /// The tools that have a source.
    defined: &'a [&'a str],
    /// The servers that are declared.
    servers: &'a [String],
    /// Those of them that run elsewhere.
    remote: &'a [String],
    owner: SettingsOwner,
    errors: Vec<Problem>,
    warnings: Vec<Problem>,
}

/// Whose settings are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SettingsOwner {
    /// Those of a tool.
    Tool,
    /// Those of a server's entry.
    Server,
}

impl SettingsOwner {
    fn name(self) -> &'static str {
        match self {
            SettingsOwner::Tool => "tool",
            SettingsOwner::Server => "server",
        }
    }
}

impl<'a> ToolBuilder<'a> {
    fn new(name: ToolName, merged: &'a MergedTool) -> Self {
        Self {
            prefix: dotted(&["tools".to_owned(), name.to_string()]),
            name,
            merged,
            node: &merged.node,
            defined: &[],
            servers: &[],
            remote: &[],
            owner: SettingsOwner::Tool,
            errors: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

impl ToolBuilder<'_> {
    fn tool(&mut self) -> Option<Tool> {
        let source = self.source()?;
        let (runtime, command, wasm) = match &source {
            ToolSource::Local { .. } => self.local(&source)?,
            other => (self.foreign(other), None, None),
        };
        Some(self.finish(source, runtime, command, wasm))
    }

    /// The tool, of which it is known what runs.
    fn finish(
        &mut self,
        source: ToolSource,
        runtime: RuntimeKind,
        command: Option<Command>,
        wasm: Option<Utf8PathBuf>,
    ) -> Tool {
        if source.is_local() && runtime != RuntimeKind::Stdio {
            self.ignored(
                "input",
                &format!("a tool of runtime `{runtime}` gets its call by a protocol"),
                hint!("remove `input`"),
            );
        }
        self.only_of_programs(runtime);
        let own_command = command
            .as_ref()
            .filter(|_| self.owner == SettingsOwner::Tool);
        let (access, places) = self.access(&source);
        let Stateful {
            actions,
            parameters,
            terminal,
        } = self.stateful(&source, runtime);
        let overlay = self.overlay(runtime, actions.is_one_shot());
        let run = self.run(&source, runtime, &parameters);
        let by_run = match run.spawn.is_always(RunMode::Unattended) {
            true => FormatMode::Unattended,
            false => FormatMode::Ask,
        };
        if let Some(command) = own_command {
            self.templates(command, &parameters);
        }
        let output = self.output();
        let map = |key: &str| {
            self.node
                .get(key)
                .map_or_else(Map::new, ConfigNode::to_json_map)
        };
        let text = |key: &str| {
            self.node
                .get(key)
                .and_then(ConfigNode::text)
                .map(str::to_owned)
        };
        Tool {
            name: self.name.clone(),
            default_access: default_access(&source, &self.name, runtime, command.is_none()),
            source,
            runtime,
            enable: self.enable(),
            command,
            input: self.word("input", Input::parse).unwrap_or(Input::Argv),
            wasm,
            title: text("title"),
            summary: text("summary"),
            description: text("description"),
            examples: match self.node.get("examples") {
                Some(node) if node.list().is_some() => node.texts(),
                node => node
                    .and_then(ConfigNode::text)
                    .map(str::to_owned)
                    .into_iter()
                    .collect(),
            },
            parameters,
            output,
            actions,
            terminal,
            notices: NoticeSettings::read(self.node.get("notices")),
            repeatable: self.node.get("repeatable").and_then(ConfigNode::bool) == Some(true),
            overlay,
            run,
            result: self
                .word("result", ResultMode::parse)
                .unwrap_or(ResultMode::Unattended),
            size_threshold: match keys::TOOL.amount(self.node, "size_threshold") {
                Some(Amount::Of(bytes)) => Some(bytes),
                _ => None,
            },
            format: self.word("format", FormatMode::parse).unwrap_or(by_run),
            questions: self.questions(),
            options: map("options"),
            style: map("style"),
            on_uncovered: self
                .word("on_uncovered", OnUncovered::parse)
                .unwrap_or(OnUncovered::Ask),
            access,
            own_rules: self.merged.own_rules.is_some(),
            places,
            sandbox: self.sandbox(),
            values: Arc::clone(&self.merged.node),
            definition: None,
            server: None,
            is_added: false,
        }
    }

    fn stateful(&mut self, source: &ToolSource, runtime: RuntimeKind) -> Stateful {
        let reader = stateful::StatefulReader {
            name: &self.name,
            prefix: &self.prefix,
            node: self.node,
            source,
            runtime,
        };
        reader.read(&mut self.errors)
    }

    /// Whether somebody is asked, and the rules that say so.
    fn run(
        &mut self,
        source: &ToolSource,
        runtime: RuntimeKind,
        parameters: &IndexMap<String, Parameter>,
    ) -> RunModes {
        // A component and a server describe their own arguments, unless somebody did it for them.
        let describes_itself = matches!(runtime, RuntimeKind::Wasm | RuntimeKind::Mcp);
        let is_known = source.is_local() || matches!(source, ToolSource::Builtin { .. });
        let is_known = is_known && !(describes_itself && parameters.is_empty());
        let reader = run::RunReader {
            name: &self.name,
            prefix: &self.prefix,
            parameters: Some(parameters).filter(|_| is_known),
            shared: &self.merged.shared_arguments,
        };
        reader.read(self.node.get("run"), &mut self.errors)
    }

    fn output(&mut self) -> Option<Json> {
        let node = self.node.get("output")?;
        let key = format!("{}.output", self.prefix);
        output::check(node, &key, &mut self.errors);
        Some(node.to_json())
    }

    fn word<T>(&self, key: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        self.node
            .get(key)
            .and_then(ConfigNode::text)
            .and_then(parse)
    }

    /// The runtime of a local tool and what it runs.
    fn local(
        &mut self,
        source: &ToolSource,
    ) -> Option<(RuntimeKind, Option<Command>, Option<Utf8PathBuf>)> {
        let before = self.errors.len();
        let command = self.command();
        if self.errors.len() > before {
            return None;
        }
        let declared = self
            .node
            .get("wasm")
            .and_then(ConfigNode::text)
            .map(Utf8PathBuf::from);
        let by_command = command
            .as_ref()
            .map(|command| Utf8PathBuf::from(&command.program))
            .filter(|program| program.extension() == Some("wasm"));
        let explicit = self.node.get("runtime").and_then(ConfigNode::text);
        match (explicit, declared, by_command) {
            (Some("stdio" | "vfs" | "builtin"), Some(_), _) => {
                self.two_programs(
                    "runtime",
                    "wasm",
                    "the runtime is not `wasm`, but a component is given",
                    hint!("remove `wasm`, or write `runtime = \"wasm\"`"),
                );
                None
            }
            (Some("wasm") | None, Some(declared), Some(other))
                if normal(&declared) != normal(&other) =>
            {
                self.two_programs(
                    "wasm",
                    "command",
                    "two components are given for one tool",
                    hint!("keep `wasm` and remove `command`"),
                );
                None
            }
            (Some("wasm") | None, Some(wasm), other) => {
                if command.is_some() && other.is_none() {
                    self.ignored(
                        "command",
                        "the tool runs the component that `wasm` names",
                        hint!("remove `command`"),
                    );
                }
                Some((RuntimeKind::Wasm, None, Some(wasm)))
            }
            (Some("wasm") | None, None, Some(wasm)) => Some((RuntimeKind::Wasm, None, Some(wasm))),
            (Some("wasm"), None, None) => {
                self.nothing_to_run(
                    "it has the runtime `wasm` and no component",
                    hint!("add `wasm = \"tools/NAME.wasm\"`"),
                );
                None
            }
            (Some("builtin"), ..) => {
                if predefined(source, &self.name).is_none() {
                    let names: Vec<String> = PREDEFINED
                        .iter()
                        .map(|(name, _)| format!("`{name}`"))
                        .collect();
                    self.nothing_to_run("jig has no code for it",
                        hint!("remove `runtime = \"builtin\"` and add a `command`; jig's own tools are {}",
                            names.join(", ")));
                    return None;
                }
                if command.is_some() {
                    self.ignored(
                        "command",
                        "the tool's code is part of jig",
                        hint!("remove `command`, or write `runtime = \"stdio\"` to run it"),
                    );
                }
                Some((RuntimeKind::Builtin, None, None))
            }
            (runtime, None, _) => {
                let runtime = if runtime == Some("vfs") {
                    RuntimeKind::Vfs
                } else {
                    RuntimeKind::Stdio
                };
                let own_code =
                    runtime == RuntimeKind::Vfs && predefined(source, &self.name).is_some();
                if command.is_none() && !own_code {
                    self.nothing_to_run(
                        "it has neither `command` nor `wasm`",
                        hint!("add `command = \"PROGRAM ARGUMENTS\"` or `wasm = \"FILE.wasm\"`"),
                    );
                    return None;
                }
                Some((runtime, command, None))
            }
            // All words of `runtime` are handled above.
            (Some(_), Some(_), _) => None,
        }
    }

    fn command(&mut self) -> Option<Command> {
        let entry = self.node.entry("command")?;
        let node = &entry.node;
        if let Some(line) = node.text() {
            self.no_shell(entry, line);
            return Command::parse(line).ok();
        }
        if node.list().is_some() {
            return self.command_of_words(entry);
        }
        let Some(program) = node.get("program").and_then(ConfigNode::text) else {
            let problem = Problem::error(
                format!(
                    "the command of {} has no `program`",
                    quote(self.name.as_str())
                ),
                hint!("add `program = \"…\"` to it"),
            )
            .at(&entry.key, "")
            .key(format!("{}.command", self.prefix));
            self.errors.push(problem);
            return None;
        };
        let command = Command {
            program: program.to_owned(),
            args: node.get("args").map(ConfigNode::texts).unwrap_or_default(),
            shell: node
                .get("shell")
                .and_then(ConfigNode::bool)
                .unwrap_or(false),
        };
        self.can_run(entry, &command);
        Some(command)
    }

    /// The runtime of a tool that is defined elsewhere; what only local tools have is ignored.
    fn foreign(&mut self, source: &ToolSource) -> RuntimeKind {
        for key in ["runtime", "command", "input", "wasm"] {
            if self.node.get(key).is_some() {
                self.ignored(
                    key,
                    &format!("the tool's source is `{source}`, and only local tools have it"),
                    hint!("remove `{key}`, or write `source = \"local\"`"),
                );
            }
        }
        match source {
            ToolSource::Mcp { .. } => RuntimeKind::Mcp,
            _ => RuntimeKind::Builtin,
        }
    }

    fn nothing_to_run(&mut self, why: &str, help: Hint) {
        let runtime = self
            .node
            .get("runtime")
            .filter(|node| node.origin.layer() != Layer::BuiltIn);
        let problem = Problem::error(
            format!(
                "there is nothing to run for {}: {why}",
                quote(self.name.as_str())
            ),
            help,
        )
        .at(runtime.map_or(&self.node.origin, |node| &node.origin), "")
        .key(self.prefix.clone());
        self.errors.push(problem);
    }

    fn two_programs(&mut self, first: &str, second: &str, what: &str, help: Hint) {
        let (Some(one), Some(two)) = (self.node.entry(first), self.node.entry(second)) else {
            return;
        };
        let problem = Problem::error(format!("{}: {what}", quote(self.name.as_str())), help)
            .at(&two.node.origin, "")
            .and(&one.node.origin, "")
            .key(format!("{}.{second}", self.prefix));
        self.errors.push(problem);
    }

    fn ignored(&mut self, key: &str, why: &str, help: Hint) {
        let Some(entry) = self.node.entry(key) else {
            return;
        };
        let problem = Problem::warning(
            format!("`{key}` of {} is ignored: {why}", quote(self.name.as_str())),
            help,
        )
        .at(&entry.key, "")
        .key(format!("{}.{key}", self.prefix));
        self.warnings.push(problem);
    }
}

/// What a tool may do where nothing is declared.
fn default_access(
    source: &ToolSource,
    name: &ToolName,
    runtime: RuntimeKind,
    own_code: bool,
) -> DefaultAccess {
    let ours = own_code && matches!(runtime, RuntimeKind::Builtin | RuntimeKind::Vfs);
    let own = predefined(source, name).filter(|_| ours);
    if let Some((_, access)) = own.and_then(|own| PREDEFINED.iter().find(|(one, _)| *one == own)) {
        return *access;
    }
    match runtime {
        RuntimeKind::Stdio => DefaultAccess::STDIO,
        RuntimeKind::Vfs => DefaultAccess::VFS,
        RuntimeKind::Wasm => DefaultAccess::WASM,
        RuntimeKind::Builtin => DefaultAccess::BUILTIN,
        // What a server does is out of reach; what jig does for it is nothing.
        RuntimeKind::Mcp => DefaultAccess::NOTHING,
    }
}

/// Two spellings of one path are one path.
fn normal(path: &Utf8PathBuf) -> Option<jig_proto::ProjectPath> {
    jig_proto::ProjectPath::normalize(path.as_str()).ok()
}

/// The tools whose code is part of jig, with what they may do where nothing is declared.
const PREDEFINED: [(&str, DefaultAccess); 8] = [
    ("fs_read_file", DefaultAccess::READ_ONLY),
    ("fs_list_files", DefaultAccess::READ_ONLY),
    ("fs_grep_files", DefaultAccess::READ_ONLY),
    ("fs_create_file", DefaultAccess::READ_WRITE),
    ("fs_modify_file", DefaultAccess::READ_WRITE),
    ("fs_delete_file", DefaultAccess::READ_WRITE),
    ("fs_move_file", DefaultAccess::READ_WRITE),
    ("git", DefaultAccess::READ_WRITE),
];
