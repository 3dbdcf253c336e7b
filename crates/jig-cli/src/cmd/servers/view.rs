//! [`ServersView`]: the servers of a workspace, for a person and for programs.

use jig_config::{DefinitionMode, Server, ServerReach, ServerSettingText, looks_secret};
use jig_mcp::{DefinitionState, LedgerServer, LedgerTool, OfferedTools};
use jig_project::{
    Project,
    servers::{WorkspaceServers, server_of},
};
use jig_proto::{hint, visible_line, visible_words};
use serde_json::{Value as Json, json};

use crate::cmd::policy;
use crate::limits;
use crate::output::{BOLD, DIM, GREEN, RED, YELLOW, field, indented, table};

/// What is known of all servers.
pub(super) struct ServersView<'p> {
    project: &'p Project,
    connections: &'p WorkspaceServers,
    offered: OfferedTools,
}

/// How a server stands, as far as that is known without starting it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ServerReadiness {
    /// It is switched off.
    Off,
    /// It is not started before a person accepted it.
    Waits,
    /// It could not be started or reached just now.
    Failed(String),
    /// It was not asked for its tools yet.
    Unasked,
    /// So many of its tools wait for a person.
    Held(usize),
    /// All is well.
    Ready,
}

impl ServerReadiness {
    /// For programs.
    fn name(&self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Waits => "waits for you",
            Self::Failed(_) => "failed",
            Self::Unasked => "not asked yet",
            Self::Held(_) => "tools held",
            Self::Ready => "ready",
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Held(1) => "1 tool held".to_owned(),
            Self::Held(count) => format!("{count} tools held"),
            other => other.name().to_owned(),
        }
    }
}

impl<'p> ServersView<'p> {
    pub(super) fn new(
        project: &'p Project,
        connections: &'p WorkspaceServers,
        offered: OfferedTools,
    ) -> Self {
        Self {
            project,
            connections,
            offered,
        }
    }

    fn servers(&self) -> impl Iterator<Item = &'p Server> {
        self.project
            .config()
            .servers
            .values()
            .map(|server| &**server)
    }

    fn told(&self, server: &Server) -> LedgerServer {
        self.connections.servers().told(server)
    }

    fn state(&self, server: &Server, told: &LedgerServer) -> ServerReadiness {
        let mut problems = self.offered.problems.iter();
        let problem = problems.find(|(of, _)| *of == server.name);
        let held = told.tools.iter().filter(|tool| is_held(tool)).count();
        match problem {
            _ if !server.enable => ServerReadiness::Off,
            _ if !told.accepted => ServerReadiness::Waits,
            Some((_, why)) => ServerReadiness::Failed(why.clone()),
            None if told.listed_at.is_none() => ServerReadiness::Unasked,
            None if held > 0 => ServerReadiness::Held(held),
            None => ServerReadiness::Ready,
        }
    }

    /// One line for each.
    pub(super) fn list(&self) -> String {
        let row = |server: &Server| {
            let told = self.told(server);
            let tools = match told.listed_at {
                None => "-".to_owned(),
                Some(_) => self.tools_of(server).len().to_string(),
            };
            vec![
                server.name.clone(),
                self.state(server, &told).shown(),
                tools,
                shortened(&reached(server)),
                server.declared_at().to_string(),
            ]
        };
        let rows: Vec<Vec<String>> = self.servers().map(row).collect();
        table(
            &["SERVER", "STATE", "TOOLS", "REACHED BY", "DECLARED"],
            &rows,
        )
    }

    pub(super) fn list_json(&self) -> Vec<Json> {
        let servers = self.servers();
        servers
            .map(|server| {
                let told = self.told(server);
                self.common_json(server, &told, json!(self.tools_of(server).len()))
            })
            .collect()
    }

    /// What a person should do about servers.
    pub(super) fn hints(&self) -> Vec<String> {
        self.servers()
            .flat_map(|server| self.hints_of(server))
            .collect()
    }

    pub(super) fn hints_of(&self, server: &Server) -> Vec<String> {
        let name = &server.name;
        let hint = match self.state(server, &self.told(server)) {
            ServerReadiness::Waits => hint!(
                "a file of this workspace declares `{name}`, which is not started before you accept it: `jig servers \
                 accept {name}`"
            )
            .to_string(),
            ServerReadiness::Held(_) => hint!(
                "tools of `{name}` are new or have changed: `jig servers accept {name}` shows how"
            )
            .to_string(),
            ServerReadiness::Failed(why) => format!("jig: {why}"),
            ServerReadiness::Off | ServerReadiness::Unasked | ServerReadiness::Ready => return Vec::new(),
        };
        vec![hint]
    }

    /// Where to ask about a server of which nothing is known. Why it failed is known only to who started it.
    pub(super) fn unasked(&self, server: &Server) -> Option<String> {
        let name = &server.name;
        let is_unasked = self.state(server, &self.told(server)) == ServerReadiness::Unasked;
        is_unasked.then(|| {
            hint!("`{name}` was not asked yet: `jig servers refresh {name}` starts it and tells")
                .to_string()
        })
    }

    /// One server in full.
    pub(super) fn one(&self, server: &Server) -> anyhow::Result<String> {
        let told = self.told(server);
        let state = self.state(server, &told);
        let style = match state {
            ServerReadiness::Ready => GREEN,
            ServerReadiness::Failed(_) => RED,
            ServerReadiness::Off | ServerReadiness::Unasked => DIM,
            ServerReadiness::Waits | ServerReadiness::Held(_) => YELLOW,
        };
        let mut text = format!(
            "{BOLD}{}{BOLD:#}  {style}{}{style:#}\n",
            server.name,
            state.shown()
        );
        let how = match server.reach {
            ServerReach::Program { .. } => "command",
            ServerReach::Remote { .. } => "url",
        };
        text.push_str(&field(how, visible_line(&reached(server))));
        for (name, value) in named_values(server) {
            text.push_str(&field("given", visible_line(&format!("{name} = {value}"))));
        }
        if server.prefix != format!("{}_", server.name) {
            text.push_str(&field("prefix", format!("\"{}\"", server.prefix)));
        }
        text.push_str(&field("changes", definitions(server)));
        let idle = match server.idle {
            Some(idle) => format!("stopped after {} without a call", limits::age(idle)),
            None => "never stopped while jig runs".to_owned(),
        };
        text.push_str(&field("idle", idle));
        text.push_str(&field(
            "a call",
            format!("at most {}", limits::age(server.time)),
        ));
        text.push_str(&field("declared", server.declared_at()));
        text.push_str(&self.tools_table(server, &told));
        if let ServerReach::Program { policy, .. } = &server.reach {
            let rules = self.project.policy(policy, &self.project.workspace()?)?;
            let guards = self.project.config().guards(policy, &self.project.root);
            text.push_str("\nWhat it may do:\n");
            text.push_str(&indented(&policy::shown(policy, &rules, &guards), 2));
        }
        Ok(text)
    }

    pub(super) fn one_json(&self, server: &Server) -> anyhow::Result<Json> {
        let told = self.told(server);
        let tool = |tool: &LedgerTool| {
            json!({
                "name": tool.definition.name,
                "tool": self.name_of(server, &tool.definition.name),
                "state": standing(&tool.standing),
                "hash": tool.definition.hash(),
            })
        };
        let tools: Vec<Json> = told.tools.iter().map(tool).collect();
        let mut shown = self.common_json(server, &told, Json::Array(tools));
        if let ServerReach::Program { policy, .. } = &server.reach {
            let rules = self.project.policy(policy, &self.project.workspace()?)?;
            let guards = self.project.config().guards(policy, &self.project.root);
            shown["policy"] = policy::shown_json(policy, &rules, &guards);
        }
        Ok(shown)
    }

    fn common_json(&self, server: &Server, told: &LedgerServer, tools: Json) -> Json {
        let state = self.state(server, told);
        let held = told.tools.iter().filter(|tool| is_held(tool)).count();
        let values = named_values(server).into_iter();
        let values = values.map(|(name, value)| (name, Json::String(value)));
        json!({
            "name": server.name,
            "state": state.name(),
            "why": match &state {
                ServerReadiness::Failed(why) => Some(why),
                _ => None,
            },
            "reach": match &server.reach {
                ServerReach::Remote { .. } => "remote",
                ServerReach::Program { .. } => "program",
            },
            "reached_by": reached(server),
            "given": values.collect::<serde_json::Map<_, _>>(),
            "accepted": told.accepted,
            "fingerprint": server.fingerprint(),
            "prefix": server.prefix,
            "definitions": server.definitions.name(),
            "tools": tools,
            "held": held,
            "origin": server.declared_at().to_string(),
        })
    }

    /// The names under which its tools are offered.
    fn tools_of(&self, server: &Server) -> Vec<String> {
        let tools = self.offered.config.tools.values();
        let own = tools.filter(|tool| {
            tool.definition.is_some() && server_of(tool) == Some(server.name.as_str())
        });
        own.map(|tool| tool.name.to_string()).collect()
    }

    fn name_of(&self, server: &Server, tool: &str) -> Option<String> {
        let mut tools = self.offered.config.tools.values();
        let found = tools.find(|one| one.on_server() == Some((server.name.as_str(), tool)));
        found.map(|tool| tool.name.to_string())
    }

    fn tools_table(&self, server: &Server, told: &LedgerServer) -> String {
        if told.tools.is_empty() {
            return String::new();
        }
        let row = |tool: &LedgerTool| {
            let name = visible_line(&tool.definition.name);
            let offered = self.name_of(server, &tool.definition.name);
            vec![
                offered.unwrap_or_else(|| "-".to_owned()),
                name,
                standing(&tool.standing).to_owned(),
                tool.definition.hash().chars().take(SHORT_HASH).collect(),
            ]
        };
        let rows: Vec<Vec<String>> = told.tools.iter().map(row).collect();
        let table = table(&["TOOL", "ON THE SERVER", "DEFINITION", "HASH"], &rows);
        format!("\n{table}")
    }
}

/// Whether a tool waits for a person.
pub(super) fn is_held(tool: &LedgerTool) -> bool {
    matches!(
        tool.standing,
        DefinitionState::Changed(_) | DefinitionState::New(_)
    )
}

fn standing(standing: &DefinitionState) -> &'static str {
    match standing {
        DefinitionState::Accepted => "accepted",
        DefinitionState::Changed(_) => "held: changed",
        DefinitionState::New(_) => "held: new",
        _ => "gone",
    }
}

/// The program and its arguments, or the address: as written, and without what looks like a secret.
fn reached(server: &Server) -> String {
    match &server.reach {
        ServerReach::Program { command, .. } => {
            // The value of an option is named by the option.
            let mut option = String::new();
            let mut words = Vec::new();
            for word in command {
                let text = shown(&option, word);
                option = text.trim_start_matches('-').to_owned();
                words.push(
                    match text.contains(char::is_whitespace) || text.is_empty() {
                        true => format!("'{text}'"),
                        false => text,
                    },
                );
            }
            words.join(" ")
        }
        ServerReach::Remote { url, .. } => shown("url", url),
    }
}

/// The variables or headers that it is given.
fn named_values(server: &Server) -> Vec<(String, String)> {
    let values = match &server.reach {
        ServerReach::Remote { headers, .. } => headers,
        ServerReach::Program { .. } => &server.env,
    };
    let values = values.iter();
    values
        .map(|(name, value)| (name.clone(), shown(name, value)))
        .collect()
}

/// A value as it is written, unless that is a secret.
fn shown(name: &str, value: &ServerSettingText) -> String {
    let written = value.to_string();
    match value.command().is_none() && looks_secret(name, &written) {
        true => "…".to_owned(),
        false => written,
    }
}

fn definitions(server: &Server) -> &'static str {
    match server.definitions {
        DefinitionMode::Follow => "of its tools are taken over as they come",
        DefinitionMode::Hold => "of its tools are held until you accept them",
    }
}

/// As much of a long command as a line of a table has room for.
fn shortened(text: &str) -> String {
    let text = visible_words(text);
    match text.chars().count() > LONGEST_REACH {
        true => text.chars().take(LONGEST_REACH - 1).chain(['…']).collect(),
        false => text,
    }
}

/// How much of a hash is shown to people: enough to tell two apart.
pub(super) const SHORT_HASH: usize = 12;

const LONGEST_REACH: usize = 60;
