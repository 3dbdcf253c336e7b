//! What a person has to accept before it counts: what the files of a workspace allow beyond the defaults.
//!
//! Everything is compared as it comes out, never as it is written: the configuration with the files is set against the one
//! without them, and against those that were accepted. A change that allows nothing more, such as a comment, asks
//! nobody. Each tool and each server counts by itself, and so does what all share: one that allows more stays what was
//! accepted last, or what it is by default, and the others are what the files say. So a rule that only narrows holds
//! at once, unless it stands beside one that widens the same tool.

use std::collections::HashSet;
use std::sync::Arc;

use jig_proto::hint;
use serde::{Deserialize, Serialize};

use crate::loading::extends::read_text;
use crate::loading::load::{LoadedConfig, finish};
use crate::loading::overrides::from_set;
use crate::loading::sources::Sources;
use crate::model::{Config, ConfigFile, ConfigFolder, Server};
use crate::origin::{ConfigText, Layer};
use crate::problem::{ConfigErrors, Problem};
use crate::value::{ConfigNode, TableEntries, Value};
use crate::widening::{Widened, beyond};

/// What the files of a workspace say, to the last letter. It can be kept, and set against what they say later.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorkspaceContent {
    /// In the order in which they are laid over each other.
    files: Vec<ContentFile>,
}

/// One of the files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ContentFile {
    name: String,
    /// Whether keys outside the tools belong to JP.
    is_jps: bool,
    text: String,
}

/// What the files of a workspace allow and nobody has accepted.
#[derive(Debug)]
pub struct HeldBack {
    /// What that is, one entry for each change.
    pub widened: Vec<Widened>,
    /// The configuration that comes into force when [its content](Config::content) is accepted.
    pub config: Arc<Config>,
}

impl ContentFile {
    pub(crate) fn new(name: &str, is_jps: bool, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            is_jps,
            text: text.to_owned(),
        }
    }
}

impl WorkspaceContent {
    pub(crate) fn new(files: Vec<ContentFile>) -> Self {
        Self { files }
    }

    /// Whether the workspace has no file of configuration.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// How much text it is, in bytes.
    pub fn size(&self) -> usize {
        let sizes = self
            .files
            .iter()
            .map(|file| file.name.len() + file.text.len());
        sizes.sum()
    }

    /// A number, in hexadecimal digits, that only this content has.
    pub fn digest(&self) -> String {
        let mut hash = blake3::Hasher::new();
        for file in &self.files {
            for part in [&file.name, &file.text] {
                hash.update(&(part.len() as u64).to_le_bytes());
                hash.update(part.as_bytes());
            }
            hash.update(&[u8::from(file.is_jps)]);
        }
        hash.finalize().to_hex().to_string()
    }

    /// The trees of the files; `None` if one of them is not what this jig reads.
    fn layers(&self, sources: &Sources) -> Option<Vec<ConfigNode>> {
        let mut problems = Vec::new();
        let nodes: Option<Vec<ConfigNode>> = self
            .files
            .iter()
            .map(|file| {
                let path = sources.workspace.join(&file.name);
                let text = file.text.clone();
                let text = ConfigText::new(Layer::Workspace, &*file.name, Some(path), text);
                read_text(&text, file.is_jps, &mut Vec::new(), &mut problems)
            })
            .collect();
        nodes.filter(|_| problems.is_empty())
    }
}

/// What a configuration is made of.
pub(crate) struct LayerParts<'a> {
    pub(crate) sources: &'a Sources,
    /// All layers, the lowest first.
    pub(crate) layers: Vec<ConfigNode>,
    pub(crate) places: (Vec<ConfigFile>, Vec<ConfigFolder>),
}

impl LayerParts<'_> {
    /// The configuration with these trees in place of those of the workspace.
    fn with(&self, instead: Vec<ConfigNode>) -> Result<Config, ConfigErrors> {
        let (below, above) = self.others();
        let mut layers = [below, instead, above].concat();
        let declared = DeclaredNames::of(&layers);
        declared.leave_out_others(&mut layers);
        self.finished(layers)
    }

    /// The same to be compared. What the person says for this run about a tool that only the workspace declares does
    /// not count: it is theirs, and nothing to accept. Their own file counts. It was not written with this workspace in
    /// mind.
    fn compared(&self, instead: Vec<ConfigNode>, probe: &Probe) -> Result<Config, ConfigErrors> {
        let (mut below, mut above) = self.others();
        DeclaredNames::of(&[below.clone(), above.clone()].concat()).leave_out_others(&mut above);
        below.extend(instead);
        let declared = DeclaredNames::of(&[below.clone(), above.clone()].concat());
        declared.leave_out_others(&mut below);
        self.finished([below, above, probe.layers.clone()].concat())
    }

    /// The layers below those of the workspace, and those above.
    fn others(&self) -> (Vec<ConfigNode>, Vec<ConfigNode>) {
        let is_below = |layer: &ConfigNode| layer.origin.layer() < Layer::Workspace;
        let others = self.layers.iter();
        let others = others.filter(|layer| layer.origin.layer() != Layer::Workspace);
        others.cloned().partition(is_below)
    }

    fn finished(&self, layers: Vec<ConfigNode>) -> Result<Config, ConfigErrors> {
        let sources = Sources {
            lint: false,
            ..self.sources.clone()
        };
        let told = (Vec::new(), Vec::new());
        Ok(finish(&sources, layers, self.places.clone(), told)?.config)
    }

    fn of_workspace(&self) -> Vec<ConfigNode> {
        let layers = self.layers.iter();
        let own = layers.filter(|layer| layer.origin.layer() == Layer::Workspace);
        own.cloned().collect()
    }
}

/// A tool of which nobody says anything, so that what `'*'` gives to such a tool is compared, too.
struct Probe {
    layers: Vec<ConfigNode>,
}

impl Probe {
    fn new() -> Self {
        let sets = [
            format!("tools.{PROBE}.source=local"),
            format!("tools.{PROBE}.command=true"),
        ];
        let nodes = sets.iter().filter_map(|set| from_set(set, &mut Vec::new()));
        Self {
            layers: nodes.collect(),
        }
    }

    fn none() -> Self {
        Self { layers: Vec::new() }
    }
}

/// Takes out of a configuration what nobody has accepted.
///
/// # Errors
///
/// If nothing can be said about what the files of the workspace add, because the rest does not load without them.
pub(crate) fn hold_back(
    parts: &LayerParts<'_>,
    whole: LoadedConfig,
    accepted: &[WorkspaceContent],
) -> Result<LoadedConfig, ConfigErrors> {
    let content = Arc::clone(&whole.config.content);
    if content.is_empty() || accepted.contains(&content) {
        return Ok(whole);
    }
    let mut probe = Probe::new();
    // A setting for all tools may be one that no tool without arguments can have.
    let new = parts.compared(parts.of_workspace(), &probe);
    let new = match new {
        Ok(new) => new,
        Err(_) => {
            probe = Probe::none();
            parts.compared(parts.of_workspace(), &probe)?
        }
    };
    let defaults = parts.compared(Vec::new(), &probe).map_err(|errors| {
        let waits = Problem::error(
            "what the files of this workspace say waits for you, and the rest of the configuration does not load \
             without it",
            hint!("`jig trust` shows what waits, and accepts it"),
        );
        let all = std::iter::once(waits).chain(errors.problems().iter().cloned());
        ConfigErrors::of(all.collect())
    })?;
    let over_defaults = beyond(&defaults, &new);
    let mut before = None;
    for accepted in accepted {
        let Some(layers) = accepted.layers(parts.sources) else {
            continue;
        };
        let Ok(config) = parts.compared(layers.clone(), &probe) else {
            continue;
        };
        if beyond(&config, &new).is_empty() {
            return Ok(whole);
        }
        before.get_or_insert((config, layers));
    }
    let wider: HashSet<ConfigPart> = over_defaults.iter().map(ConfigPart::of).collect();
    let (mut held, layers) = match before {
        Some((config, layers)) => (beyond(&config, &new), layers),
        None => (over_defaults, Vec::new()),
    };
    held.retain(|one| wider.contains(&ConfigPart::of(one)));
    if held.is_empty() {
        return Ok(whole);
    }
    let before = parts.with(layers)?;
    let mut config = whole.config.clone();
    let held_parts: HashSet<ConfigPart> = held.iter().map(ConfigPart::of).collect();
    held_parts
        .iter()
        .for_each(|part| part.take(&before, &mut config));
    without_lost_tools(&mut config);
    config.held_back = Some(Arc::new(HeldBack {
        widened: told(held),
        config: Arc::new(whole.config),
    }));
    Ok(LoadedConfig {
        config,
        warnings: whole.warnings,
    })
}

/// What is held back or in force as one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum ConfigPart {
    Shared,
    Tool(String),
    Server(String),
}

impl ConfigPart {
    fn of(widened: &Widened) -> Self {
        let Some(name) = &widened.tool else {
            return Self::Shared;
        };
        // No name of a tool holds a dot.
        let server = ["mcp.servers.", "providers.mcp."].iter();
        let mut server = server.filter_map(|root| name.strip_prefix(root));
        let of_all = || name.strip_prefix("mcp.")?.strip_suffix(".*");
        match server.next().or_else(of_all) {
            Some(server) => Self::Server(server.to_owned()),
            None => Self::Tool(name.clone()),
        }
    }

    /// Puts the part of one configuration in place of that of another.
    fn take(&self, from: &Config, into: &mut Config) {
        match self {
            Self::Shared => {
                into.network = from.network.clone();
                into.network_values.clone_from(&from.network_values);
                into.log = from.log.clone();
                into.log_values.clone_from(&from.log_values);
                into.llm.clone_from(&from.llm);
                into.topics.clone_from(&from.topics);
                into.mcp = from.mcp.clone();
            }
            Self::Tool(name) => {
                let Some((index, _, _)) = into.tools.get_full(name.as_str()) else {
                    return;
                };
                match from.tools.get(name.as_str()) {
                    Some(tool) => into.tools[index] = tool.clone(),
                    None => drop(into.tools.shift_remove_index(index)),
                }
            }
            Self::Server(name) => match from.servers.get(name) {
                Some(server) => drop(into.servers.insert(name.clone(), Arc::clone(server))),
                None => drop(into.servers.shift_remove(name)),
            },
        }
    }
}

/// Takes out the tools of servers that are not there.
fn without_lost_tools(config: &mut Config) {
    let servers: HashSet<String> = config.servers.keys().cloned().collect();
    let is_there = |server: &str| servers.contains(server);
    config.tools.retain(|_, tool| {
        let server = tool.on_server();
        server.is_none_or(|(server, _)| is_there(server))
    });
}

impl Config {
    /// Notes that a person has accepted what the files of the workspace say of servers: they may be started.
    pub fn accept_servers(&mut self) {
        for server in self.servers.values_mut() {
            if server.needs_acceptance() {
                let accepted = Server {
                    is_accepted: true,
                    ..Server::clone(server)
                };
                *server = Arc::new(accepted);
            }
        }
    }
}

/// What a person is told: what `'*'` gives to every tool is told once.
fn told(held: Vec<Widened>) -> Vec<Widened> {
    let is_of_all = |one: &Widened| one.tool.as_deref() == Some(PROBE);
    let (of_all, others): (Vec<Widened>, Vec<Widened>) = held.into_iter().partition(is_of_all);
    let is_told = |one: &Widened| {
        let mut same = of_all.iter().filter(|all| all.what == one.what);
        one.tool.is_some() && same.any(|all| all.at == one.at && all.at.is_some())
    };
    let others: Vec<Widened> = others.into_iter().filter(|one| !is_told(one)).collect();
    let named = of_all.into_iter().map(|one| Widened {
        tool: Some("'*'".to_owned()),
        ..one
    });
    named.chain(others).collect()
}

/// The tools and the servers that some layers declare.
#[derive(Default)]
struct DeclaredNames {
    tools: HashSet<String>,
    servers: HashSet<String>,
}

impl DeclaredNames {
    fn of(layers: &[ConfigNode]) -> Self {
        let mut declared = Self::default();
        for layer in layers {
            for (path, keys) in PLACES {
                let entries = layer.find(path).and_then(ConfigNode::table);
                let entries = entries.into_iter().flatten();
                let declares = |node: &ConfigNode| keys.iter().any(|key| node.get(key).is_some());
                let names = entries.filter(|(_, entry)| declares(&entry.node));
                let names = names.map(|(name, _)| name.clone());
                declared.names(keys).extend(names);
            }
        }
        declared
    }

    /// Takes out what the layers say about others: without a declaration that is nothing.
    fn leave_out_others(mut self, layers: &mut [ConfigNode]) {
        for layer in layers {
            for (path, keys) in PLACES {
                let declared = self.names(keys);
                if let Some(entries) = table_at(layer, path) {
                    entries.retain(|name, _| name == "*" || declared.contains(name));
                }
            }
        }
    }

    fn names(&mut self, keys: &[&str]) -> &mut HashSet<String> {
        match keys == DECLARE_TOOLS {
            true => &mut self.tools,
            false => &mut self.servers,
        }
    }
}

fn table_at<'a>(node: &'a mut ConfigNode, path: &[&str]) -> Option<&'a mut TableEntries> {
    path.iter()
        .try_fold(node, |node, step| match &mut node.value {
            Value::Table(table) => table.get_mut(*step).map(|entry| &mut entry.node),
            _ => None,
        })
        .and_then(|node| match &mut node.value {
            Value::Table(table) => Some(table),
            _ => None,
        })
}

/// Where tools and servers stand, and the keys of which one declares them.
const PLACES: [(&[&str], &[&str]); 4] = [
    (&["tools"], DECLARE_TOOLS),
    (&["conversation", "tools"], DECLARE_TOOLS),
    (&["mcp", "servers"], DECLARE_SERVERS),
    (&["providers", "mcp"], DECLARE_SERVERS),
];
const DECLARE_TOOLS: &[&str] = &["source", "command", "wasm"];
const DECLARE_SERVERS: &[&str] = &["command", "url", "type"];

/// The name of [`Probe`]. Whoever has a tool of this name is told of `'*'` what is said of it.
const PROBE: &str = "any_other_tool";
