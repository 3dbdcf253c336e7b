//! [`Service`]: what clients are served with, by the options of the command line.

use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use camino::{Utf8Path, Utf8PathBuf};
use jig_broker::{Broker, BrokerParts, Llm, OnAuditFailure};
use jig_config::{SandboxLimits, Tool};
use jig_engine::{Engine, Prepared};
use jig_files::{DiskFiles, FilesLookup, ProjectFiles};
use jig_policy::{Capability, FsRule, Origin, Policy, Workspace};
use jig_project::{Environment, Project, locate};
use jig_proto::{ProjectPath, hint, visible_words};
use jig_runtime::fsproxy::{Advice, Manager, ManagerOptions, Names};
use jig_station::proxies::Registration;
use serde_json::json;

use super::allowed::{Allowed, DISK};
use crate::args::{Global, ProxyArgs};
use crate::cmd::call;
use crate::cmd::run::remedy;
use crate::foreground;
use crate::output::Output;

/// A manager with its policy, and the engine that confines a command of it.
pub(super) struct Service {
    pub(super) manager: Manager,
    /// Its tool, [`tool`](Self::tool), may read its own code and nothing else.
    pub(super) engine: Engine,
    pub(super) tool: String,
    pub(super) limits: SandboxLimits,
    /// Whether a part of the command's code lies in the workspace.
    pub(super) code_is_inside: bool,
    root: Utf8PathBuf,
    /// Where the relative paths of clients begin.
    place: Utf8PathBuf,
    /// Whether the rules of a tool decide.
    is_named: bool,
    /// The options that let a file be written.
    how_to_write: &'static str,
    command: Vec<String>,
}

impl Service {
    pub(super) fn new(args: &ProxyArgs, global: &Global) -> anyhow::Result<Self> {
        let given = args.root.as_deref().or(global.workspace.as_deref());
        let root = locate::root(given)?;
        let mut global = global.clone();
        global.config.extend(args.policy.iter().cloned());
        let named = named_tool(args, &root, &global)?;
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
        sets.extend(foreground::settings(
            &args.hold,
            &format!("tools.{}", json!(tool)),
        ));
        let project = Project::load_at(root.clone(), &global.selection(), &sets)?;
        if is_made_up {
            project.made_up(
                &tool,
                hint!("rename it, or name it as the one that applies: --tool jig-proxy"),
            )?;
        }
        let place = match is_listed(args) {
            true => Utf8PathBuf::from(DISK),
            false => root.clone(),
        };
        let served = Served::new(args, &project, project.tool(&tool)?)?;

        let code = Code::find(&args.code, &root)?;
        let code_is_inside = !code.inside.is_empty();
        let project = code.confine(project, &tool, &sets, &global)?;
        let engine = call::engine(&project)?;
        let llm = match args.llm {
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
        let options = ManagerOptions {
            lenient: args.lenient,
            names: served.names,
            advice: served.advice,
            max_frame: size(limits.protocol.frame).unwrap_or(usual.max_frame),
            max_read: size(limits.protocol.chunk).unwrap_or(usual.max_read),
            ..usual
        };
        Ok(Self {
            manager: Manager::new(broker, options),
            limits,
            engine,
            tool,
            code_is_inside,
            place,
            is_named: !is_made_up,
            how_to_write: match is_listed(args) {
                true => "-o",
                // What is listed is all that there is, so what could be read is listed, too.
                false => "-i . -o",
            },
            root,
            command: args.command.clone(),
        })
    }

    /// Lets `jig ps` see what is open, until the registration is dropped. Without it clients are served all
    /// the same.
    pub(super) fn publish(&self, out: &mut Output) -> Option<Registration> {
        let manager = self.manager.clone();
        let command = self.command.clone();
        let snapshot = move || {
            let mut tables = json!({
                "clients": manager.clients(),
                "files": manager.files(),
                "quota": manager.quota(),
            });
            if !command.is_empty() {
                tables["command"] = json!(command);
            }
            tables
        };
        let env = Environment::of_this_process();
        match Registration::publish(&self.root, &env, Arc::new(snapshot)) {
            Ok(registration) => Some(registration),
            Err(error) => {
                out.note(&format!("note: `jig ps` will not show this: {error:#}"));
                None
            }
        }
    }

    /// Writes what waits for the log.
    pub(super) fn close_log(&self, out: &mut Output) {
        if let Err(error) = self.engine.audit.flush() {
            out.note(&format!(
                "jig: not all that was done is in the log, which cannot be written: {error}"
            ));
        }
    }

    /// Says which files of the workspace, or below the current folder, were only in memory: whoever wrote them
    /// may have meant real ones. Names elsewhere are made up on purpose.
    pub(super) fn tell_virtual(&self, out: &mut Output) {
        let current = locate::current().unwrap_or_default();
        for name in self.manager.virtual_files() {
            let path = self.place.join(&name);
            let shown = path.strip_prefix(&current).unwrap_or(&path);
            if path.starts_with(&self.root) || path.starts_with(&current) {
                // The name is a client's: it must neither begin a line of its own nor be run when it is pasted.
                let plain = visible_words(shown.as_str());
                let is_plain = plain == shown.as_str();
                let shown = plain;
                let how = match self.is_named {
                    true => format!("a rule of the tool that lets it create `{shown}` keeps it"),
                    false if is_plain => {
                        let word = remedy::quoted(&shown);
                        format!("to keep it, add: {} {word}", self.how_to_write)
                    }
                    false => "write to a name without control characters to keep it".to_owned(),
                };
                out.note(&format!(
                    "jig: `{shown}` was only in memory and is gone; {how}"
                ));
            }
        }
    }

    /// Where the command starts, if that is not where its sandbox says: in the current folder, if parts of
    /// its code lie there, which are named from there.
    pub(super) fn folder(&self, args: &ProxyArgs, prepared: &Prepared) -> Option<Utf8PathBuf> {
        let current = locate::current().ok()?;
        let is_seen = |path: &Utf8PathBuf| {
            let real = locate::resolved(&current.join(path));
            real.is_ok_and(|real| real.starts_with(&current))
        };
        let is_inside = self.code_is_inside && current.starts_with(&prepared.root);
        (is_inside && args.code.iter().any(is_seen)).then_some(current)
    }
}

/// Whether exactly the paths of `-i` and `-o` are real.
fn is_listed(args: &ProxyArgs) -> bool {
    !(args.input.is_empty() && args.output.is_empty())
}

/// The files of clients, and the rules on them.
struct Served {
    files: Arc<dyn ProjectFiles>,
    policy: Policy,
    names: Names,
    /// How more is allowed, if not by rules.
    advice: Option<Advice>,
}

impl Served {
    fn new(args: &ProxyArgs, project: &Project, tool: &Tool) -> anyhow::Result<Self> {
        let current = locate::current()?;
        let is_listed = is_listed(args);
        let place = match is_listed {
            true => Utf8Path::new(DISK),
            false => &project.root,
        };
        let files = DiskFiles::open(place).with_context(|| format!("cannot open `{place}`"))?;
        let files: Arc<dyn ProjectFiles> = Arc::new(files);
        let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(&files)));
        if is_listed {
            let allowed = Allowed::find(&args.input, &args.output, &current)?;
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
            names: Names::new(&project.root, inside.unwrap_or_default()),
            // What is listed is all that there is, so the folder that could be read is listed, too.
            advice: (args.tool.is_none() && args.policy.is_none()).then(|| Advice {
                read: "-i . -i".to_owned(),
                write: "-i . -o".to_owned(),
            }),
            files,
        })
    }
}

/// The command's own code, which it may read by itself.
struct Code {
    inside: Vec<FsRule>,
    /// As TOML.
    outside: Vec<String>,
}

impl Code {
    fn find(paths: &[Utf8PathBuf], root: &Utf8Path) -> anyhow::Result<Self> {
        let current = locate::current()?;
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        for path in paths {
            let real = locate::resolved(&current.join(path))
                .with_context(|| format!("there is no code at `{path}` (--code)"))?;
            match real.strip_prefix(root) {
                Ok(below) => inside.push(FsRule {
                    path: match below.as_str() {
                        "" => ".".to_owned(),
                        below => below.to_owned(),
                    },
                    capabilities: [Capability::Read, Capability::Execute]
                        .into_iter()
                        .collect(),
                    origin: Origin::named(format!("--code {path}")),
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
        global: &Global,
    ) -> anyhow::Result<Project> {
        if !self.outside.is_empty() {
            let system = format!("tools.{}.sandbox.system", json!(tool));
            let more = format!("{system}=[{}]", self.outside.join(","));
            let sets = [sets, &[more]].concat();
            project = Project::load_at(project.root, &global.selection(), &sets)?;
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
    args: &ProxyArgs,
    root: &Utf8Path,
    global: &Global,
) -> anyhow::Result<Option<String>> {
    if let Some(policy) = &args.policy
        && let Err(error) = locate::resolved(policy)
    {
        return Err(anyhow!(error).context(format!("cannot read the policy `{policy}`")));
    }
    let load = || Project::load_at(root.to_owned(), &global.selection(), &[]);
    match (&args.tool, &args.policy) {
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
