//! The MCP servers of a workspace, for the commands that use their tools.
//!
//! A command that needs none of them starts none: [`find`] looks at the name that it was given first, then at what
//! is known of the servers' tools, and starts a server only if the tool could be one that nobody has asked it
//! about yet.

use std::collections::HashMap;
use std::io::IsTerminal as _;
use std::sync::Arc;

use anyhow::{anyhow, bail};
use camino::Utf8Path;
use jig_config::{RuntimeKind, Server, Tool};
use jig_engine::{Answer, Ask, Asker, Engine, HeldOffer, ToolServers as _};
use jig_mcp::{DefinitionState, OfferedTools, ServerSelection, Servers};
use jig_proto::{hint, visible_line};
use serde_json::Value as Json;

use crate::accepted;
use crate::engines;
use crate::environment::CommandEnvironment;
use crate::project::Project;
use crate::stderr_remark::remark;

/// The servers of a workspace, ready to be asked.
pub struct WorkspaceServers {
    servers: Arc<Servers>,
    /// The engine of the configuration as it was written, from which servers are started.
    engine: Arc<Engine>,
}

impl WorkspaceServers {
    /// The servers of a project. Nothing is started.
    pub fn of(project: &Project, env: &CommandEnvironment) -> anyhow::Result<Self> {
        Self::with(new(&project.root, env), project, env)
    }

    /// The same with what is there already.
    pub fn with(
        servers: Arc<Servers>,
        project: &Project,
        env: &CommandEnvironment,
    ) -> anyhow::Result<Self> {
        // What a server does is written down as what a tool does.
        let engine = Arc::new(engines::with_log(project, env)?);
        servers.attach(Arc::clone(&engine));
        Ok(Self { servers, engine })
    }

    /// What the servers offer.
    pub fn offered(&self, which: ServerSelection) -> OfferedTools {
        self.servers.offered(&self.engine, which, &progress)
    }

    /// The engine from which they are started.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The servers themselves.
    pub fn servers(&self) -> &Arc<Servers> {
        &self.servers
    }

    /// Keeps that a person has accepted this.
    pub fn accept(&self, held: &HeldOffer) -> anyhow::Result<()> {
        let kept = self.servers.accept(held);
        kept.map_err(|why| anyhow!(why).context("what was accepted could not be kept"))
    }

    /// Ends what they started when the command is over, whatever its end is.
    pub fn ending(&self) -> ServersGuard {
        ServersGuard(Some(Arc::clone(&self.servers)))
    }

    /// Has the project use what they offer.
    pub fn give(&self, project: &mut Project, offered: &OfferedTools) {
        project.loaded.config = (*offered.config).clone();
        project.servers = Some(Arc::clone(&self.servers));
    }
}

/// When it goes, the servers that a command has started are ended.
#[must_use]
pub struct ServersGuard(Option<Arc<Servers>>);

impl Drop for ServersGuard {
    fn drop(&mut self) {
        if let Some(servers) = &self.0 {
            servers.stop_all();
        }
    }
}

/// The servers of the workspace at `root`. Nothing is started.
pub fn new(root: &Utf8Path, env: &CommandEnvironment) -> Arc<Servers> {
    Servers::new(accepted::of(root, env), Arc::new(reported))
}

/// Sees to it that the project has the tool of this name, if it is one of a server.
///
/// A server that waits for a person is not started before `asker` said yes; nobody but a person can. What is in the
/// way of the tool is an error, what is in the way of others is not.
pub fn find(
    project: &mut Project,
    name: &str,
    env: &CommandEnvironment,
    asker: &mut dyn Asker,
) -> anyhow::Result<ServersGuard> {
    let root = project.root.clone();
    let connections = find_on(|| new(&root, env), project, name, env, asker)?;
    Ok(connections.map_or(ServersGuard(None), |connections| connections.ending()))
}

/// The same with servers that are there already, or made when they are needed. `None` if they are not.
pub fn find_on(
    servers: impl FnOnce() -> Arc<Servers>,
    project: &mut Project,
    name: &str,
    env: &CommandEnvironment,
    asker: &mut dyn Asker,
) -> anyhow::Result<Option<WorkspaceServers>> {
    let candidates = candidates(project, name);
    let others = others(project, name);
    if candidates.is_empty() && others.is_empty() {
        return Ok(None);
    }
    let connections = WorkspaceServers::with(servers(), project, env)?;
    let mut offered = connections.offered(ServerSelection::Known);
    for server in &candidates {
        if is_known(&offered, name) {
            break;
        }
        if offered.waiting.contains(&server.name) {
            accept(&connections, server, asker)?;
        }
        offered = connections.offered(ServerSelection::One(server.name.clone()));
        let mut problems = offered.problems.iter();
        if let Some((_, why)) = problems.find(|(of, _)| *of == server.name) {
            bail!(why.clone());
        }
    }
    // The others are not asked: what is known of them says whether their tool is meant.
    let meant: Vec<Arc<Server>> = candidates.into_iter().chain(others).collect();
    if let Some(missing) = missing(&connections, &meant, &offered, name) {
        return Err(missing);
    }
    connections.give(project, &offered);
    Ok(Some(connections))
}

/// Why a tool that was looked for is not there, where that is known better than that there is none of its name.
fn missing(
    connections: &WorkspaceServers,
    candidates: &[Arc<Server>],
    offered: &OfferedTools,
    name: &str,
) -> Option<anyhow::Error> {
    let declared = offered.config.tool(name);
    if declared.is_some_and(|tool| tool.definition.is_some()) {
        return None;
    }
    for server in candidates {
        let told = connections.servers.told(server);
        let named = match declared.and_then(Tool::on_server) {
            Some((_, named)) => named,
            None => plain_name(server, name),
        };
        let known = told.tools.iter().find(|tool| tool.definition.name == named);
        let name = &server.name;
        match known.map(|tool| &tool.standing) {
            Some(DefinitionState::New(_)) => {
                let hint = hint!("`jig servers accept {name}` shows what it says, and asks");
                let held = format!(
                    "the tool `{named}` is new on the server `{name}`, and held until you accept it"
                );
                return Some(anyhow!(hint).context(held));
            }
            Some(DefinitionState::Gone) => {}
            Some(_) if declared.is_none() => return Some(elsewhere(server, offered, named)),
            Some(_) => {}
            None if declared.is_some() => {
                let names = told.tools.iter().map(|tool| tool.definition.name.as_str());
                let hint = match closest(named, names) {
                    Some(other) => {
                        hint!("did you mean `{other}`? `jig servers {name}` lists all")
                    }
                    None => hint!("`jig servers {name}` lists those that it has"),
                };
                return Some(
                    anyhow!(hint).context(format!("the server `{name}` has no tool `{named}`")),
                );
            }
            None => {}
        }
    }
    None
}

/// What the server calls a tool of this name, with its prefix or with the one that is usual.
fn plain_name<'n>(server: &Server, name: &'n str) -> &'n str {
    let plain = name.strip_prefix(&server.prefix);
    plain.or_else(|| usual_name(server, name)).unwrap_or(name)
}

/// The same for a name with the prefix that a server has whose entry names none.
fn usual_name<'n>(server: &Server, name: &'n str) -> Option<&'n str> {
    name.strip_prefix(&server.name)?.strip_prefix('_')
}

/// Where a tool is that its server has, but not under the name by which it was looked for.
fn elsewhere(server: &Server, offered: &OfferedTools, named: &str) -> anyhow::Error {
    let name = &server.name;
    let is_same = |tool: &&Tool| tool.on_server() == Some((name.as_str(), named));
    match offered.config.tools.values().find(is_same) {
        Some(tool) => anyhow!(hint!("call `{}`", tool.name)).context(format!(
            "the tool `{named}` of the server `{name}` has another name here"
        )),
        None => anyhow!(hint!(
            "`tools` and `hide` in `[mcp.servers.{name}]` say which are offered"
        ))
        .context(format!(
            "the tool `{named}` of the server `{name}` is hidden"
        )),
    }
}

/// The name that was probably meant: the nearest, or the only one that begins so.
pub fn closest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let names: Vec<&str> = names.collect();
    let mut longer = names.iter().filter(|other| other.starts_with(name));
    if let (Some(longer), None) = (longer.next(), longer.next())
        && !name.is_empty()
    {
        return Some(longer);
    }
    let nearest = names
        .into_iter()
        .map(|other| (strsim::damerau_levenshtein(name, other), other))
        .min();
    nearest
        .filter(|(distance, other)| *distance <= other.len() / 2)
        .map(|(_, other)| other)
}

/// Has the project know all tools of its servers; those of which nothing is known are asked. What is to be said about
/// servers comes back.
pub fn all(
    project: &mut Project,
    env: &CommandEnvironment,
) -> anyhow::Result<(ServersGuard, Vec<String>)> {
    if !project
        .config()
        .servers
        .values()
        .any(|server| server.enable)
    {
        return Ok((ServersGuard(None), Vec::new()));
    }
    let connections = WorkspaceServers::of(project, env)?;
    let ending = connections.ending();
    let offered = connections.offered(ServerSelection::MissingAwaited);
    let mut remarks = Vec::new();
    remarks.extend(
        offered
            .problems
            .iter()
            .map(|(_, why)| format!("jig: {why}")),
    );
    for server in project.config().servers.values() {
        let name = &server.name;
        if offered.waiting.contains(name) {
            remarks.push(format!(
                "jig: a file of this workspace declares the server `{name}`, which waits for you: `jig servers accept \
                 {name}`"
            ));
        } else if !connections.servers.held_of(server).is_empty() {
            remarks.push(format!(
                "jig: tools of the server `{name}` are held, because they are new or have changed: `jig servers accept \
                 {name}`"
            ));
        }
    }
    connections.give(project, &offered);
    Ok((ending, remarks))
}

/// Has the project know the tools of servers, as far as they are known, if it does not know this name.
pub fn know(project: &mut Project, name: &str, env: &CommandEnvironment) -> anyhow::Result<()> {
    let config = project.config();
    if config.tool(name).is_some()
        || config.server(plain(name)).is_some()
        || config.servers.is_empty()
    {
        return Ok(());
    }
    let connections = WorkspaceServers::of(project, env)?;
    let offered = connections.offered(ServerSelection::Known);
    connections.give(project, &offered);
    Ok(())
}

/// Whether the tool is there, with what its server says about it.
fn is_known(offered: &OfferedTools, name: &str) -> bool {
    let tool = offered.config.tool(name);
    tool.is_some_and(|tool| tool.definition.is_some())
}

/// The servers that a tool of this name could be of, the likeliest first: none, if it is known to be something else.
fn candidates(project: &Project, name: &str) -> Vec<Arc<Server>> {
    let config = project.config();
    let enabled = config.servers.values().filter(|server| server.enable);
    match config.tool(name) {
        Some(tool) => {
            let own = server_of(tool);
            let mine = enabled.filter(|server| own == Some(server.name.as_str()));
            mine.cloned().collect()
        }
        None => {
            let fitting = enabled.filter(|server| name.starts_with(&server.prefix));
            let mut fitting: Vec<_> = fitting.cloned().collect();
            fitting.sort_by_key(|server| std::cmp::Reverse(server.prefix.len()));
            fitting
        }
    }
}

/// The servers whose tool could be meant by a name that is none here: one with the prefix that they would have.
fn others(project: &Project, name: &str) -> Vec<Arc<Server>> {
    let config = project.config();
    if config.tool(name).is_some() {
        return Vec::new();
    }
    let servers = config.servers.values().filter(|server| server.enable);
    let others = servers
        .filter(|server| !name.starts_with(&server.prefix) && usual_name(server, name).is_some());
    others.cloned().collect()
}

/// The name of the server that a tool is of.
pub fn server_of(tool: &Tool) -> Option<&str> {
    tool.on_server().map(|(server, _)| server)
}

/// Asks a person whether a server may be started that a file of the workspace declares.
fn accept(
    connections: &WorkspaceServers,
    server: &Server,
    asker: &mut dyn Asker,
) -> anyhow::Result<()> {
    for held in connections.servers.held_of(server) {
        let answer = asker.ask(&Ask {
            tool: &server.name,
            question: &held.question(),
            about: held.about(),
            gone: None,
        });
        match answer {
            Answer::Given(Json::Bool(true)) | Answer::GivenForTurn(Json::Bool(true)) => {
                connections.accept(&held)?;
            }
            Answer::Unavailable | Answer::Later | Answer::TimedOut => return Err(waits(server)),
            _ => bail!("the server `{}` was not accepted", server.name),
        }
    }
    Ok(())
}

/// That a server waits for a person.
fn waits(server: &Server) -> anyhow::Error {
    let name = &server.name;
    let hint = hint!("`jig servers accept {name}` shows what it may do, and asks");
    anyhow!(hint).context(format!(
        "a file of this workspace declares the server `{name}`, or a part of it: it is not started before you accept it"
    ))
}

/// The tool whose rules hold for what has this name: for a tool of a server, and for a server itself (`NAME` or
/// `mcp.NAME`), the program of the server.
pub fn ruled<'p>(project: &'p Project, name: &str) -> anyhow::Result<&'p Tool> {
    let config = project.config();
    let server = match config.tool(name) {
        Some(tool) if !is_of_server(tool) => return Ok(tool),
        Some(tool) => config.server_of(tool),
        None => config.server(plain(name)),
    };
    let server = match server {
        Some(server) => server,
        None if plain(name) == name => return project.tool(name),
        None => declared(project, name)?,
    };
    server.policy().ok_or_else(|| {
        let hint = hint!("`jig servers {}` shows how it is reached", server.name);
        anyhow!(hint).context(format!(
            "the server `{}` runs elsewhere: no rule of this machine holds it",
            server.name
        ))
    })
}

/// The server of this name, or an error that suggests another.
pub fn declared<'p>(project: &'p Project, name: &str) -> anyhow::Result<&'p Server> {
    let plain = plain(name);
    let servers = &project.config().servers;
    if let Some(server) = servers.get(plain) {
        return Ok(server);
    }
    let names = servers.keys().map(String::as_str);
    let hint = match closest(plain, names) {
        Some(other) => hint!("did you mean `{other}`? `jig servers` lists all"),
        None if servers.is_empty() => {
            hint!(
                "it would be declared by `[mcp.servers.{}]`; none is",
                visible_line(plain)
            )
        }
        None => {
            let names: Vec<&str> = servers.keys().map(String::as_str).collect();
            hint!("there is {}", names.join(", "))
        }
    };
    Err(anyhow!(hint).context(format!("there is no server `{}`", visible_line(name))))
}

/// The name of a server that may be written as one: `mcp.NAME`, or `mcp:NAME` as in the log.
pub fn plain(name: &str) -> &str {
    let bare = name.strip_prefix("mcp.").or(name.strip_prefix("mcp:"));
    bare.unwrap_or(name)
}

/// The rules that hold for a tool of a server; `None` if the server runs elsewhere.
pub fn rules<'p>(project: &'p Project, tool: &Tool) -> Option<&'p Tool> {
    project.config().server_of(tool)?.policy()
}

/// The tools of which a person has to accept what their servers say of them now, each with the hash of that.
#[derive(Debug, Default)]
pub struct HeldTools(HashMap<(String, String), String>);

impl HeldTools {
    /// Those of all servers of a project, or of one.
    pub fn of(project: &Project, only: Option<&str>) -> Self {
        let Some(servers) = &project.servers else {
            return Self::default();
        };
        let declared = project.config().servers.values();
        let meant = declared.filter(|server| only.is_none_or(|only| server.name == only));
        let held = meant.flat_map(|server| servers.held_of(server));
        let held = held.filter_map(|held| match held {
            HeldOffer::Definition {
                server, tool, now, ..
            } => Some(((server, tool), now)),
            HeldOffer::Server { .. } => None,
        });
        Self(held.collect())
    }

    /// The hash of what its server says of a tool now, if that is held.
    pub fn now(&self, tool: &Tool) -> Option<&str> {
        let (server, named) = tool.on_server()?;
        let key = (server.to_owned(), named.to_owned());
        self.0.get(&key).map(String::as_str)
    }
}

/// Whether this is a tool of a server.
pub fn is_of_server(tool: &Tool) -> bool {
    tool.runtime == RuntimeKind::Mcp
}

/// What is to be known of a server, unless it is in the answer for which somebody waits here: that a server failed
/// always is.
fn reported(text: &str) {
    if !text.starts_with(FAILURE) {
        remark(&format!("jig: {text}"));
    }
}

/// What takes a while is told to whoever watches.
fn progress(text: &str) {
    if std::io::stderr().is_terminal() {
        remark(&format!("jig: {text}"));
    }
}

/// How the report of a failure begins.
const FAILURE: &str = "the MCP server `";
