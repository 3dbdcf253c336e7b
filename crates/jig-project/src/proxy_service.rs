//! [`ProxyService`]: what the clients of a proxy are served with: the files, the rules on them, and the engine that confines
//! a command which asks for them.

mod named_paths;

use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use camino::{Utf8Path, Utf8PathBuf};
use jig_broker::{Broker, BrokerParts, Llm, OnAuditFailure};
use jig_config::{SandboxLimits, Tool};
use jig_engine::{Engine, PreparedCommand};
use jig_files::{DiskFiles, FilesLookup, ProjectFiles};
use jig_policy::{Capability, DeclaredFsRule, Policy, RuleOrigin, Workspace};
use jig_proto::{ProjectPath, hint};
use jig_runtime::fsproxy::{Advice, ClientPaths, Manager, ManagerOptions};
use serde_json::json;

use self::named_paths::{AllowedPaths, DISK};
use crate::{CommandEnvironment, Project, Selection, engines, locate};

/// What somebody wants of a proxy.
#[derive(Debug, Clone, Default)]
pub struct ProxyOptions {
    /// The workspace; the one around the current folder without it.
    pub root: Option<Utf8PathBuf>,
    /// The settings that count besides.
    pub selection: Selection,
    /// A file whose one tool has the rules.
    pub policy: Option<Utf8PathBuf>,
    /// The tool that has the rules.
    pub tool: Option<String>,
    /// With [`output`](Self::output), the only paths that are real: these may be read.
    pub input: Vec<Utf8PathBuf>,
    /// These may be written.
    pub output: Vec<Utf8PathBuf>,
    /// The command's own code, which it may read by itself.
    pub code: Vec<Utf8PathBuf>,
    /// Whether mistakes in requests are forgiven.
    pub lenient: bool,
    /// Whether clients may ask the language model.
    pub llm: bool,
}

/// A manager with its policy, and the engine that confines a command of it.
pub struct ProxyService {
    /// It serves the clients.
    pub manager: Manager,
    /// Its tool, [`tool`](Self::tool), may read its own code and nothing else.
    pub engine: Engine,
    /// The tool whose rules apply.
    pub tool: String,
    /// What a command is held to.
    pub limits: SandboxLimits,
    /// Whether a part of the command's code lies in the workspace.
    pub code_is_inside: bool,
    /// The workspace.
    pub root: Utf8PathBuf,
    /// Where the relative paths of clients begin.
    pub place: Utf8PathBuf,
    /// Whether the rules of a tool decide.
    pub is_named: bool,
    /// The options that let a file be written.
    pub how_to_write: &'static str,
    code: Vec<Utf8PathBuf>,
}

impl ProxyService {
    /// Loads the configuration and opens the files. `settings` are those on holding the command, for a tool that this
    /// table of the configuration declares.
    pub fn new(
        options: &ProxyOptions,
        settings: impl FnOnce(&str) -> Vec<String>,
    ) -> anyhow::Result<Self> {
        let mut selection = options.selection.clone();
        let given = options.root.as_deref().or(selection.workspace.as_deref());
        let root = locate::root(given)?;
        selection.files.extend(options.policy.iter().cloned());
        let named = named_tool(options, &root, &selection)?;
        let is_made_up = named.is_none();
        let mut sets = Vec::new();
        if is_made_up {
            let key = |key: &str| format!("tools.{}.{key}", json!(NAME));
            // As a tool that asks for every file: the workspace, read-only, where nothing is declared.
            sets.push(format!("{}=\"local\"", key("source")));
            sets.push(format!("{}=\"vfs\"", key("runtime")));
            sets.push(format!("{}=\"true\"", key("command")));
        }
        let tool = named.unwrap_or_else(|| NAME.to_owned());
        sets.extend(settings(&format!("tools.{}", json!(tool))));
        let project = Project::load_at(root.clone(), &selection, &sets)?;
        if is_made_up {
            project.made_up(
                &tool,
                hint!("rename it, or name it as the one that applies: --tool jig-proxy"),
            )?;
        }
        let place = match is_listed(options) {
            true => Utf8PathBuf::from(DISK),
            false => root.clone(),
        };
        let served = ServedFiles::new(options, &project, project.tool(&tool)?)?;

        let code = CommandCodeRules::find(&options.code, &root)?;
        let code_is_inside = !code.inside.is_empty();
        let project = code.confine(project, &tool, &sets, &selection)?;
        let engine = engines::for_a_person(&project, &CommandEnvironment::of_this_process())?;
        let llm = match options.llm {
            true => Some(model(&engine)?),
            false => None,
        };
        let broker = Broker::new(BrokerParts {
            env: engine.env.clone(),
            audit: Arc::clone(&engine.audit),
            on_audit_failure: OnAuditFailure::Refuse,
            llm,
            ..BrokerParts::new(
                tool.as_str(),
                format!("proxy-{}", std::process::id()),
                served.files,
                Arc::new(served.policy),
            )
        });
        let limits = project.tool(&tool)?.sandbox.limits;
        let size = |declared: Option<u64>| declared.and_then(|size| usize::try_from(size).ok());
        let usual = ManagerOptions::default();
        let manager = ManagerOptions {
            lenient: options.lenient,
            names: served.names,
            advice: served.advice,
            max_frame: size(limits.protocol.frame).unwrap_or(usual.max_frame),
            max_read: size(limits.protocol.chunk).unwrap_or(usual.max_read),
            ..usual
        };
        Ok(Self {
            manager: Manager::new(broker, manager),
            limits,
            engine,
            tool,
            code_is_inside,
            place,
            is_named: !is_made_up,
            how_to_write: match is_listed(options) {
                true => "-o",
                // What is listed is all that there is, so what could be read is listed, too.
                false => "-i . -o",
            },
            root,
            code: options.code.clone(),
        })
    }

    /// The table of the configuration that declares the tool under whose rules the command runs.
    pub fn table(&self) -> String {
        let tool = self.engine.config().labelled(&self.tool);
        tool.map(|tool| tool.table()).unwrap_or_default()
    }

    /// Where the command starts, if that is not where its sandbox says: in the current folder, if parts of
    /// its code lie there, which are named from there.
    pub fn folder(&self, prepared: &PreparedCommand) -> Option<Utf8PathBuf> {
        let current = locate::current().ok()?;
        let is_seen = |path: &Utf8PathBuf| {
            let real = locate::resolved(&current.join(path));
            real.is_ok_and(|real| real.starts_with(&current))
        };
        let is_inside = self.code_is_inside && current.starts_with(&prepared.root);
        (is_inside && self.code.iter().any(is_seen)).then_some(current)
    }
}

/// Whether exactly the paths of `-i` and `-o` are real.
fn is_listed(options: &ProxyOptions) -> bool {
    !(options.input.is_empty() && options.output.is_empty())
}

/// The files of clients, and the rules on them.
struct ServedFiles {
    files: Arc<dyn ProjectFiles>,
    policy: Policy,
    names: ClientPaths,
    /// How more is allowed, if not by rules.
    advice: Option<Advice>,
}

impl ServedFiles {
    fn new(options: &ProxyOptions, project: &Project, tool: &Tool) -> anyhow::Result<Self> {
        let current = locate::current()?;
        let is_listed = is_listed(options);
        let place = match is_listed {
            true => Utf8Path::new(DISK),
            false => &project.root,
        };
        let files = DiskFiles::open(place).with_context(|| format!("cannot open `{place}`"))?;
        let files: Arc<dyn ProjectFiles> = Arc::new(files);
        let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(&files)));
        if is_listed {
            let allowed = AllowedPaths::find(&options.input, &options.output, &current)?;
            let guards = project.config().guards(tool, Utf8Path::new(DISK));
            return Ok(Self {
                policy: allowed.policy(guards, &project.root, &workspace)?,
                names: allowed.names(&current)?,
                advice: Some(Advice {
                    read: "-i".to_owned(),
                    write: "-o".to_owned(),
                }),
                files,
            });
        }
        let policy = project.config().policy(tool, &workspace)?;
        // From elsewhere, paths begin at the workspace.
        let inside = current.strip_prefix(&project.root).ok();
        let inside = inside.and_then(|inside| ProjectPath::normalize(inside.as_str()).ok());
        Ok(Self {
            policy,
            names: ClientPaths::new(&project.root, inside.unwrap_or_default()),
            // What is listed is all that there is, so the folder that could be read is listed, too.
            advice: (options.tool.is_none() && options.policy.is_none()).then(|| Advice {
                read: "-i . -i".to_owned(),
                write: "-i . -o".to_owned(),
            }),
            files,
        })
    }
}

/// The command's own code, which it may read by itself.
struct CommandCodeRules {
    inside: Vec<DeclaredFsRule>,
    /// As TOML.
    outside: Vec<String>,
}

impl CommandCodeRules {
    fn find(paths: &[Utf8PathBuf], root: &Utf8Path) -> anyhow::Result<Self> {
        let current = locate::current()?;
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        for path in paths {
            let real = locate::resolved(&current.join(path))
                .with_context(|| format!("there is no code at `{path}` (--code)"))?;
            match real.strip_prefix(root) {
                Ok(below) => inside.push(DeclaredFsRule {
                    path: match below.as_str() {
                        "" => ".".to_owned(),
                        below => below.to_owned(),
                    },
                    capabilities: [Capability::Read, Capability::Execute]
                        .into_iter()
                        .collect(),
                    origin: RuleOrigin::named(format!("--code {path}")),
                }),
                Err(_) => outside.push(format!("{{path={},execute=true}}", json!(real))),
            }
        }
        Ok(Self { inside, outside })
    }

    /// The configuration under which the command is confined: in the workspace its tool may read the code and
    /// nothing else. Whatever its rules give, it gets over descriptor 3 only.
    fn confine(
        self,
        mut project: Project,
        tool: &str,
        sets: &[String],
        selection: &Selection,
    ) -> anyhow::Result<Project> {
        if !self.outside.is_empty() {
            let system = format!("tools.{}.sandbox.system", json!(tool));
            let more = format!("{system}=[{}]", self.outside.join(","));
            let sets = [sets, &[more]].concat();
            project = Project::load_at(project.root, selection, &sets)?;
        }
        if !self.inside.is_empty()
            && let Some(tool) = project.loaded.config.tools.get_mut(tool)
        {
            // Not by a setting: rules of several layers add up.
            tool.access.fs = self.inside;
        }
        Ok(project)
    }
}

/// The tool whose rules apply, if one was named, be it by a file that declares only one.
fn named_tool(
    options: &ProxyOptions,
    root: &Utf8Path,
    selection: &Selection,
) -> anyhow::Result<Option<String>> {
    if let Some(policy) = &options.policy
        && let Err(error) = locate::resolved(policy)
    {
        return Err(anyhow!(error).context(format!("cannot read the policy `{policy}`")));
    }
    let load = || Project::load_at(root.to_owned(), selection, &[]);
    match (&options.tool, &options.policy) {
        (None, None) => Ok(None),
        (Some(name), _) => Ok(Some(load()?.tool(name)?.name.to_string())),
        (None, Some(policy)) => declared(&load()?, policy).map(Some),
    }
}

/// The one tool that a file declares.
fn declared(project: &Project, policy: &Utf8Path) -> anyhow::Result<String> {
    let real = |path: &Utf8Path| locate::resolved(path).ok();
    let file = real(policy);
    let tools = project.config().tools.values();
    let declared: Vec<&str> = tools
        .filter(|tool| tool.declared_at().file().and_then(real) == file)
        .map(|tool| tool.name.as_str())
        .collect();
    match declared.as_slice() {
        [only] => Ok((*only).to_owned()),
        [] => {
            let hint = hint!(
                "it needs a [tools.NAME] with `access`; a tool that the workspace declares too is \
                        named with --tool"
            );
            Err(anyhow!(hint).context(format!("`{policy}` declares no tool of its own")))
        }
        several => {
            let hint = hint!("name the one whose rules apply: --tool {}", several[0]);
            let names = several.join("`, `");
            Err(anyhow!(hint).context(format!("`{policy}` declares several tools: `{names}`")))
        }
    }
}

/// The model of the configuration.
fn model(engine: &Engine) -> anyhow::Result<Llm> {
    engine.llm()?.ok_or_else(|| {
        let hint = hint!(
            "add it to your own configuration (~/.config/jig/config.toml): [llm] with model = \
                    \"…\"; the key stays in a variable, which `key_env` names"
        );
        anyhow!(hint).context("--llm needs a model, and the configuration has no [llm]")
    })
}

/// What a command or client without a tool is called among the tools.
const NAME: &str = "jig-proxy";
