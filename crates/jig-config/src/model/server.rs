//! [`Server`]: an MCP server whose tools are jig's, too.

mod describe;
mod filled;
mod read;
mod secret;
mod url;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use indexmap::IndexMap;
use jig_programs::Download;
use serde_json::{Map, Value as Json, json};

use super::definition::hash_of;
use super::{Config, Tool};
use crate::origin::{Layer, Origin};
use crate::quoting::key;
use crate::shape::keys;
use crate::value::ConfigNode;

pub use filled::{FillError, FilledError, ServerSettingText};
pub(crate) use read::{MergedServer, MergedServers, merge_servers, read_servers};
pub use secret::looks_secret;
pub(crate) use secret::{hide_lines, masked};
pub use url::{ServerUrlError, server_url};

/// An MCP server: `[mcp.servers.NAME]`, with every setting resolved.
#[derive(Debug, Clone)]
pub struct Server {
    /// The name under which it was declared: 1 to 32 letters, digits, `_` and `-`, a letter first.
    pub name: String,
    /// Whether its tools are there.
    pub enable: bool,
    /// How it is reached.
    pub reach: ServerReach,
    /// What a program gets in its environment, besides what its rules let through.
    pub env: IndexMap<String, ServerSettingText>,
    /// What the names of its tools begin with.
    pub prefix: String,
    /// What happens when it describes a tool in another way than before.
    pub definitions: DefinitionMode,
    /// How long it may take to start and to list its tools.
    pub start: Duration,
    /// How long it goes on without a call; `None` for as long as jig runs.
    pub idle: Option<Duration>,
    /// The longest that one call may take.
    pub time: Duration,
    /// The least trusted layer that wrote a part of it. What [`Layer::Workspace`] wrote, a person has to accept
    /// before it is started.
    pub layer: Layer,
    /// Whether a person accepted what the files of the workspace say.
    pub(crate) is_accepted: bool,
    /// The names or patterns of the tools that are offered; all, if there is none.
    pub(crate) tools: Vec<String>,
    /// Those of the tools that are not.
    pub(crate) hide: Vec<String>,
    pub(crate) fingerprint: OnceLock<String>,
    /// A tool of this server of which nobody said anything.
    pub(crate) template: Arc<Tool>,
    /// What files of the workspace say about when its tools are asked about: of which tools, by which key, and what.
    pub(crate) loosened: Vec<(String, &'static str, Json)>,
    /// Its dotted key: `mcp.servers.NAME`, or `providers.mcp.NAME`.
    pub(crate) key: String,
    pub(crate) values: Arc<ConfigNode>,
}

/// How a server is reached.
#[derive(Debug, Clone)]
// Exhaustive: whoever connects must have an answer to each.
pub enum ServerReach {
    /// A program that jig starts in its sandbox, and talks to over its standard streams.
    Program {
        /// The program, and then its arguments.
        command: Vec<ServerSettingText>,
        /// The program as a tool of runtime `stdio` that has the server's name: its rules and its sandbox. Of
        /// its command only the words without variables are there; what is started is `command`.
        policy: Box<Tool>,
    },
    /// A server that runs elsewhere, over Streamable HTTP.
    Remote {
        /// Where.
        url: ServerSettingText,
        /// What every request to it says, besides what the protocol does.
        headers: IndexMap<String, ServerSettingText>,
    },
}

/// What happens when a server describes a tool in another way than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
// Exhaustive: whoever lists tools must have an answer to each.
pub enum DefinitionMode {
    /// The tool is held until a person accepts it.
    Hold,
    /// It is taken as it comes.
    Follow,
}

impl DefinitionMode {
    /// The word, as in configuration.
    pub fn name(self) -> &'static str {
        match self {
            DefinitionMode::Hold => "hold",
            DefinitionMode::Follow => "follow",
        }
    }
}

impl Server {
    /// Whether a tool of this name on the server is offered, unless the configuration declares it by its
    /// source: then it is there in any case.
    pub fn offers(&self, tool: &str) -> bool {
        let any = |patterns: &[String]| {
            patterns
                .iter()
                .any(|one| crate::name_pattern::matches(one, tool))
        };
        (self.tools.is_empty() || any(&self.tools)) && !any(&self.hide)
    }

    /// The rules and the sandbox of its program, if it is one.
    pub fn policy(&self) -> Option<&Tool> {
        match &self.reach {
            ServerReach::Program { policy, .. } => Some(policy),
            ServerReach::Remote { .. } => None,
        }
    }

    /// What its command downloads before it can start, as far as that is certain from the words without variables.
    pub fn download(&self) -> Option<Download> {
        match &self.reach {
            ServerReach::Program { command, .. } => {
                let words: Vec<String> = command.iter().map(ToString::to_string).collect();
                Download::of(&words)
            }
            ServerReach::Remote { .. } => None,
        }
    }

    /// Whether a person has to accept it before it is started: a file of the workspace wrote a part of it, and
    /// the workspace may be a stranger's.
    pub fn needs_acceptance(&self) -> bool {
        self.layer == Layer::Workspace && !self.is_accepted
    }

    /// What a person accepts, as one number in hexadecimal digits: what is started or connected to, with which
    /// variables and headers, what it may do, and when its tools are asked about. It changes whenever one of these
    /// does, and with nothing else.
    pub fn fingerprint(&self) -> String {
        self.fingerprint.get_or_init(|| self.hashed()).clone()
    }

    fn hashed(&self) -> String {
        let filled = |all: &IndexMap<String, ServerSettingText>| -> Json {
            let all = all
                .iter()
                .map(|(name, value)| (name.clone(), value.to_json()));
            Json::Object(all.collect())
        };
        let reach = match &self.reach {
            ServerReach::Program { command, policy } => {
                let words: Vec<Json> = command.iter().map(ServerSettingText::to_json).collect();
                let part = |key: &str| policy.values.get(key).map(ConfigNode::to_json);
                json!({ "command": words, "access": part("access"), "sandbox": part("sandbox") })
            }
            ServerReach::Remote { url, headers } => {
                json!({ "url": url.to_json(), "headers": filled(headers) })
            }
        };
        let of_tools = keys::OF_TOOLS.iter().filter_map(|key| {
            let value = self.values.get(key)?;
            Some(((*key).to_owned(), value.to_json()))
        });
        hash_of(&json!({
            "name": self.name,
            "reach": reach,
            "env": filled(&self.env),
            "tools": of_tools.collect::<Map<String, Json>>(),
            "definitions": self.definitions.name(),
            "loosened": self.loosened,
        }))
    }

    /// The dotted key of its entry, as TOML: `mcp.servers.NAME`, or `providers.mcp.NAME` if it was first written so.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Where the value at a dotted path below the server was written: `command`, `env.TOKEN`.
    ///
    /// `None` for what nobody wrote: the default applies.
    pub fn origin(&self, path: &str) -> Option<&Origin> {
        let steps: Vec<&str> = path.split('.').collect();
        let own = self.values.find(&steps);
        // Rules of all tools hold for the program, too.
        let found = own.or_else(|| self.policy()?.values.find(&steps));
        found.map(|node| &node.origin)
    }

    /// Where the server was first mentioned.
    pub fn declared_at(&self) -> &Origin {
        &self.values.origin
    }
}

impl Config {
    /// The server of that name.
    pub fn server(&self, name: &str) -> Option<&Arc<Server>> {
        self.servers.get(name)
    }

    /// The server that a tool is on, if it is on one.
    pub fn server_of(&self, tool: &Tool) -> Option<&Arc<Server>> {
        let (server, _) = tool.on_server()?;
        self.server(server)
    }

    /// What has rules: the tool of that name, or, as `mcp:NAME`, the program of a server. The same as
    /// [`Tool::label`] says.
    pub fn labelled(&self, label: &str) -> Option<&Tool> {
        match label.strip_prefix(SERVER_LABEL) {
            Some(server) => self.servers.get(server)?.policy(),
            None => self.tool(label),
        }
    }

    /// All that has rules: the tools, and then the programs of servers.
    pub(crate) fn confined(&self) -> impl Iterator<Item = &Tool> {
        let servers = self.servers.values().filter_map(|server| server.policy());
        self.tools.values().chain(servers)
    }
}

impl Tool {
    /// What it is called where tools and the programs of servers stand side by side, as in hints and in the log:
    /// its name, or `mcp:NAME` for the program of a server. No tool has such a name.
    pub fn label(&self) -> String {
        match self.is_server() {
            true => format!("{SERVER_LABEL}{}", self.name),
            false => self.name.to_string(),
        }
    }

    /// The dotted key of its table, as TOML: `tools.NAME`, or `mcp.servers.NAME` for the program of a server.
    pub fn table(&self) -> String {
        match &self.server {
            Some(key) => key.clone(),
            None => format!("tools.{}", key(self.name.as_str())),
        }
    }

    /// Whether it is no tool, but the program of the server that has its name.
    pub fn is_server(&self) -> bool {
        self.server.is_some()
    }
}

/// What the label of a server's program begins with.
const SERVER_LABEL: &str = "mcp:";
