//! From the layers to [`Server`]s.

mod reach;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use indexmap::IndexMap;
use jig_proto::hint;
use serde_json::Value as Json;

use super::secret;
use super::{DefinitionMode, Server};
use crate::loading::load::MergedTool;
use crate::loading::merge::merge;
use crate::model::{Tool, ToolSource, build};
use crate::origin::{Layer, Origin};
use crate::problem::Problem;
use crate::quoting::{dotted, quote};
use crate::shape::quantity::{Amount, DAY, MINUTE, SECOND};
use crate::shape::{ValueShape, keys};
use crate::value::{ConfigNode, TableEntries, TableEntry, Value};

/// The servers of all layers.
#[derive(Debug, Default)]
pub(crate) struct MergedServers {
    pub(crate) servers: IndexMap<String, MergedServer>,
    /// Where secrets are written out.
    pub(crate) secrets: Vec<Origin>,
}

/// One server after all layers were merged.
#[derive(Debug)]
pub(crate) struct MergedServer {
    pub(crate) node: Arc<ConfigNode>,
    /// Its dotted key, in the spelling in which it was mentioned first.
    pub(crate) key: String,
    /// The lists by which a file of the workspace offers tools that another layer does not, as they came to be.
    widened: Vec<(&'static str, Json)>,
}

impl MergedServer {
    /// What the tools of the server have from its entry, as a table of a tool.
    pub(crate) fn defaults(&self) -> ConfigNode {
        let of_tools = |(name, _): &(&String, &TableEntry)| keys::OF_TOOLS.contains(&name.as_str());
        let entries = self.node.table().into_iter().flatten().filter(of_tools);
        let entries = entries.map(|(name, entry)| (name.clone(), entry.clone()));
        ConfigNode {
            value: Value::Table(entries.collect()),
            origin: self.node.origin.clone(),
        }
    }
}

/// Takes the servers out of the layers and merges them.
pub(crate) fn merge_servers(
    layers: &mut [ConfigNode],
    problems: &mut Vec<Problem>,
) -> MergedServers {
    let shape = ValueShape::Table(&keys::SERVER);
    let mut merged = MergedServers::default();
    for layer in layers {
        let mut here: IndexMap<String, Origin> = IndexMap::new();
        for root in ROOTS {
            for (name, mut entry) in take(layer, root) {
                secret::written_out(&entry.node, &mut merged.secrets);
                let key = dotted(&[root[0], root[1], &name].map(str::to_owned));
                if let Some(other) = here.insert(name.clone(), entry.key.clone()) {
                    problems.push(declared_twice(&name, &key, &entry.key, &other));
                    continue;
                }
                one_spelling(&mut entry.node, &key, problems);
                match merged.servers.get_mut(&name) {
                    Some(server) => {
                        let below = Arc::clone(&server.node);
                        let is_of_workspace = entry.node.origin.layer() == Layer::Workspace;
                        let node = merge(&shape, Some(ConfigNode::clone(&below)), entry.node);
                        if is_of_workspace {
                            widened(&below, &node, &mut server.widened);
                        }
                        server.node = Arc::new(node);
                    }
                    None => {
                        let node = Arc::new(merge(&shape, None, entry.node));
                        let widened = Vec::new();
                        let server = MergedServer { node, key, widened };
                        merged.servers.insert(name, server);
                    }
                }
            }
        }
    }
    merged
}

/// Where servers stand: as JP has them, and as jig does.
const ROOTS: [[&str; 2]; 2] = [["providers", "mcp"], ["mcp", "servers"]];

/// Takes what stands below two keys out of a layer.
fn take(layer: &mut ConfigNode, [first, second]: [&str; 2]) -> TableEntries {
    let Value::Table(top) = &mut layer.value else {
        return TableEntries::new();
    };
    let Some(entry) = top.get_mut(first) else {
        return TableEntries::new();
    };
    let Value::Table(table) = &mut entry.node.value else {
        return TableEntries::new();
    };
    match table.shift_remove(second).map(|entry| entry.node.value) {
        Some(Value::Table(servers)) => servers,
        _ => TableEntries::new(),
    }
}

/// `arguments`, as JP spells it, is `args`.
fn one_spelling(server: &mut ConfigNode, key: &str, problems: &mut Vec<Problem>) {
    let Value::Table(table) = &mut server.value else {
        return;
    };
    let Some(entry) = table.shift_remove("arguments") else {
        return;
    };
    match table.get("args") {
        Some(args) => problems.push(
            Problem::error(
                format!(
                    "{} has both `args` and `arguments`, which mean the same",
                    quote(key)
                ),
                hint!("keep `args`, and remove `arguments`"),
            )
            .at(&entry.key, "")
            .and(&args.key, "the other")
            .key(format!("{key}.arguments")),
        ),
        None => {
            table.insert("args".to_owned(), entry);
        }
    }
}

fn declared_twice(name: &str, key: &str, here: &Origin, other: &Origin) -> Problem {
    Problem::error(
        format!(
            "the server {} is declared twice in one file, below `providers.mcp` and `mcp.servers`",
            quote(name)
        ),
        hint!("keep one of the two; both mean the same"),
    )
    .at(here, "")
    .and(other, "the other")
    .key(key)
}

/// Reads the merged servers, without those that something is wrong with. `star` is what all tools have in common,
/// `tools` are those that were declared.
pub(crate) fn read_servers(
    merged: &MergedServers,
    star: &build::SharedSettings,
    tools: &IndexMap<String, MergedTool>,
    blamed: impl Fn(&str) -> bool,
    errors: &mut Vec<Problem>,
    warnings: &mut Vec<Problem>,
) -> IndexMap<String, Arc<Server>> {
    let mut servers = IndexMap::with_capacity(merged.servers.len());
    for (name, one) in &merged.servers {
        if blamed(name) {
            continue;
        }
        let mut reader = ServerReader {
            name,
            merged: one,
            node: &one.node,
            errors: Vec::new(),
            warnings: Vec::new(),
        };
        let server = reader.server(star, tools);
        let failed = !reader.errors.is_empty();
        errors.append(&mut reader.errors);
        warnings.append(&mut reader.warnings);
        if let Some(server) = server.filter(|_| !failed) {
            servers.insert(name.clone(), Arc::new(server));
        }
    }
    servers
}

/// Reads one server.
struct ServerReader<'a> {
    name: &'a str,
    merged: &'a MergedServer,
    node: &'a ConfigNode,
    errors: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl ServerReader<'_> {
    fn server(
        &mut self,
        star: &build::SharedSettings,
        tools: &IndexMap<String, MergedTool>,
    ) -> Option<Server> {
        self.not_checked();
        let reach = self.reach(star);
        let env = self.all_filled("env");
        let template = build::template_of_server(self.name, self.merged, star, &mut self.errors);
        let (reach, template) = (reach?, template?);
        let loosened = self.loosened(&template, tools);
        let layer = match loosened.is_empty() {
            true => self.layer(&reach),
            false => Layer::Workspace,
        };
        let texts = |key: &str| {
            self.node
                .get(key)
                .map(ConfigNode::texts)
                .unwrap_or_default()
        };
        let text = |key: &str| self.node.get(key).and_then(ConfigNode::text);
        let prefix = text("prefix").map(str::to_owned);
        Some(Server {
            name: self.name.to_owned(),
            enable: self
                .node
                .get("enable")
                .and_then(ConfigNode::bool)
                .unwrap_or(true),
            env,
            prefix: prefix.unwrap_or_else(|| format!("{}_", self.name)),
            definitions: match text("definitions") {
                Some("follow") => DefinitionMode::Follow,
                _ => DefinitionMode::Hold,
            },
            start: self.start(),
            idle: match keys::SERVER.amount(self.node, "idle") {
                Some(Amount::Unlimited) => None,
                Some(Amount::Of(time)) => Some(Duration::from_millis(time)),
                Some(Amount::Default) | None => Some(Duration::from_millis(10 * MINUTE)),
            },
            time: self
                .time("time")
                .unwrap_or(Duration::from_millis(10 * MINUTE)),
            layer,
            is_accepted: false,
            tools: texts("tools"),
            hide: texts("hide"),
            fingerprint: OnceLock::new(),
            template: Arc::new(template),
            loosened,
            key: self.merged.key.clone(),
            values: Arc::clone(&self.merged.node),
            reach,
        })
    }

    fn start(&self) -> Duration {
        let of_jp = self
            .node
            .get("startup_timeout_secs")
            .and_then(ConfigNode::int);
        let of_jp = of_jp.and_then(|seconds| u64::try_from(seconds).ok());
        let of_jp = of_jp.map(|seconds| match seconds {
            0 => Duration::from_millis(DAY),
            seconds => Duration::from_secs(seconds),
        });
        let written = self.time("start").or(of_jp);
        written.unwrap_or(Duration::from_millis(60 * SECOND))
    }

    fn time(&self, key: &str) -> Option<Duration> {
        match keys::SERVER.amount(self.node, key)? {
            Amount::Of(time) => Some(Duration::from_millis(time)),
            Amount::Unlimited | Amount::Default => None,
        }
    }

    /// The least trusted layer that wrote a part of what the server is and may do. What only takes tools away, or
    /// names them, does not count.
    fn layer(&self, reach: &super::ServerReach) -> Layer {
        let mut layers = Vec::new();
        let entries = self.node.table().into_iter().flatten();
        for (name, entry) in entries {
            let harmless = HARMLESS.contains(&name.as_str());
            let narrows = name == "enable" && entry.node.bool() == Some(false);
            if !harmless && !narrows {
                writers(&entry.node, &mut layers);
            }
        }
        if let super::ServerReach::Program { policy, .. } = reach {
            for key in ["access", "sandbox"] {
                if let Some(node) = policy.values.get(key) {
                    writers(node, &mut layers);
                }
            }
        }
        match layers.contains(&Layer::Workspace) {
            true => Layer::Workspace,
            false => {
                let highest = layers.into_iter().max();
                highest.unwrap_or_else(|| self.node.origin.layer())
            }
        }
    }

    /// What files of the workspace say about the tools of this server that is not for them to decide: that they are
    /// called, their questions answered or their results passed on without anybody being asked, which of its tools
    /// there are, and under which names. The server may have the user's credentials.
    fn loosened(
        &self,
        template: &Tool,
        tools: &IndexMap<String, MergedTool>,
    ) -> Vec<(String, &'static str, Json)> {
        let on_it = tools.iter().filter(|(_, tool)| {
            let source = tool.node.get("source").and_then(ConfigNode::text);
            let source = source.and_then(|text| text.parse().ok());
            matches!(source, Some(ToolSource::Mcp { server, .. }) if server == self.name)
        });
        let mut found = Vec::new();
        let mut look = |tool: &str, node: &ConfigNode, keys: &[&'static str]| {
            for &key in keys {
                let Some(value) = node.get(key) else {
                    continue;
                };
                let mut layers = Vec::new();
                writers(value, &mut layers);
                let is_strict = matches!(value.text(), Some("ask" | "edit" | "skip"))
                    || (key == "enable" && value.bool() == Some(false));
                let all = (ALL.to_owned(), key, value.to_json());
                // What holds for all is said once.
                if layers.contains(&Layer::Workspace) && !is_strict && !found.contains(&all) {
                    found.push((tool.to_owned(), key, all.2));
                }
            }
        };
        look(ALL, &template.values, &["run", "questions", "result"]);
        for (name, tool) in on_it {
            let keys = ["source", "run", "questions", "result", "enable"];
            look(name, &tool.node, &keys);
        }
        let widened = self.merged.widened.iter();
        found.extend(widened.map(|(key, list)| (ALL.to_owned(), *key, list.clone())));
        found
    }

    /// What jig does not do, although the entry says so.
    fn not_checked(&mut self) {
        if let Some(entry) = self.node.entry("checksum") {
            let problem = Problem::warning(
                format!(
                    "`checksum` of the server {} is not checked",
                    quote(self.name)
                ),
                hint!("remove it; jig confines the program, whatever it is"),
            );
            let key = format!("{}.checksum", self.merged.key);
            self.warnings.push(problem.at(&entry.key, "").key(key));
        }
    }
}

/// The layers that wrote a value and what is in it. A table belongs to those who wrote something into it.
fn writers(node: &ConfigNode, found: &mut Vec<Layer>) {
    match &node.value {
        Value::Table(entries) => entries
            .values()
            .for_each(|entry| writers(&entry.node, found)),
        Value::List(items) => {
            found.push(node.origin.layer());
            items.iter().for_each(|item| writers(item, found));
        }
        _ => found.push(node.origin.layer()),
    }
}

/// Notes where a file of the workspace offers tools of a server that another layer does not offer.
fn widened(below: &ConfigNode, merged: &ConfigNode, found: &mut Vec<(&'static str, Json)>) {
    let lists = |key: &str| {
        let texts = |node: &ConfigNode| node.get(key).map(ConfigNode::texts).unwrap_or_default();
        (texts(below), texts(merged))
    };
    let (before, now) = lists("tools");
    let is_more = now.is_empty() || now.iter().any(|one| !before.contains(one));
    if !before.is_empty() && is_more {
        found.push(("tools", now.into()));
    }
    let (before, now) = lists("hide");
    if before.iter().any(|one| !now.contains(one)) {
        found.push(("hide", now.into()));
    }
}

/// What stands for all tools of a server. No tool has such a name.
pub(super) const ALL: &str = "its tools";

/// The keys that make a server neither another one, nor let it or its tools do more: where `tools` and `hide` do,
/// that is noted as they are merged.
const HARMLESS: [&str; 7] = [
    "tools",
    "hide",
    "prefix",
    "start",
    "startup_timeout_secs",
    "idle",
    "optional",
];
