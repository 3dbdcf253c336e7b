//! [`load`]: from files, variables and assignments to one [`Config`].

use std::sync::Arc;

use camino::Utf8Path;
use indexmap::IndexMap;

use crate::loading::acceptance::{LayerParts, WorkspaceContent, hold_back};
use crate::loading::extends::{GatheredLayers, checked, gather, read_text, refuse};
use crate::loading::merge::merge;
use crate::loading::overrides::{from_set, from_variable, ours};
use crate::loading::sources::Sources;
use crate::model::{
    Config, ConfigFile, ConfigFolder, ConfigSections, LlmConfig, McpConfig, MergedServers,
    SharedSettings, ToolSource, build, check_log, check_mcp, check_quota, declared_in_sandbox,
    hide_lines, merge_servers, read_servers, read_topics,
};
use crate::origin::{ConfigText, Layer, Origin};
use crate::problem::{ConfigErrors, Problem};
use crate::quoting::dotted;
use crate::shape::{TableShape, ValueShape, keys};
use crate::value::{ConfigNode, Value};

/// A configuration that was loaded in full.
#[derive(Debug, Clone)]
pub struct LoadedConfig {
    /// The configuration.
    pub config: Config,
    /// What works, but probably not as it was meant, and what should be known.
    pub warnings: Vec<Problem>,
}

/// Reads all layers, checks and merges them.
///
/// Nothing is loaded by halves: with one error there is no configuration. All errors that can be
/// found are reported at once; what a mistake makes unclear is not.
pub fn load(sources: &Sources) -> Result<LoadedConfig, ConfigErrors> {
    load_with(sources, None)
}

/// As [`load`], with another text in place of one of the files.
pub(crate) fn load_with(
    sources: &Sources,
    instead: Option<(&Utf8Path, &str)>,
) -> Result<LoadedConfig, ConfigErrors> {
    let GatheredLayers {
        mut layers,
        files,
        folders,
        contents,
        mut problems,
        warnings,
    } = gather(sources, instead);
    for (name, value) in ours(&sources.environment) {
        let node = from_variable(name, value, &mut problems);
        layers.extend(node.map(|node| overriding(node, &mut problems)));
    }
    for assignment in &sources.sets {
        let node = from_set(assignment, &mut problems);
        layers.extend(node.map(|node| overriding(node, &mut problems)));
    }
    layers.insert(0, built_in(sources, &layers, &mut problems));
    let places = (files, folders);
    let parts = sources.accepted.as_ref().map(|accepted| {
        let (layers, places) = (layers.clone(), places.clone());
        (
            accepted,
            LayerParts {
                sources,
                layers,
                places,
            },
        )
    });
    let mut whole = finish(sources, layers, places, (problems, warnings))?;
    whole.config.content = Arc::new(WorkspaceContent::new(contents));
    let loaded = match parts {
        Some((accepted, parts)) => hold_back(&parts, whole, accepted)?,
        None => whole,
    };
    let read = loaded.config.files.iter().filter(|file| file.found);
    for file in read {
        tracing::info!(path = file.path.as_str(), layer = ?file.layer, "configuration read");
    }
    Ok(loaded)
}

/// What a variable or an assignment says, with its problems reported.
fn overriding(node: ConfigNode, problems: &mut Vec<Problem>) -> ConfigNode {
    refuse(&node, problems);
    checked(node, problems)
}

/// The embedded layer. It goes through the same checks as every other text.
fn built_in(sources: &Sources, layers: &[ConfigNode], problems: &mut Vec<Problem>) -> ConfigNode {
    let content = match &sources.only {
        None => BUILT_IN.to_owned(),
        Some(only) => only_of_built_in(|name| name == only || mentions(layers, name)),
    };
    let text = ConfigText::new(Layer::BuiltIn, "built-in", None, content);
    let empty = ConfigNode {
        value: Value::Table(IndexMap::new()),
        origin: Origin::new(&text, 0..0),
    };
    read_text(&text, false, &mut Vec::new(), problems).unwrap_or(empty)
}

/// The embedded layer with the lines of all other tools left empty, so that every line keeps its number.
fn only_of_built_in(is_wanted: impl Fn(&str) -> bool) -> String {
    let mut content = String::with_capacity(BUILT_IN.len());
    let mut wanted = true;
    for line in BUILT_IN.lines() {
        if let Some(name) = line.strip_prefix("[tools.") {
            let end = name.find(['.', ']']).unwrap_or(name.len());
            wanted = is_wanted(&name[..end]);
        }
        if wanted {
            content.push_str(line);
        }
        content.push('\n');
    }
    content
}

/// Whether a layer says something about the tool of this name.
fn mentions(layers: &[ConfigNode], name: &str) -> bool {
    layers.iter().any(|layer| {
        let roots: [&[&str]; 2] = [&["tools", name], &["conversation", "tools", name]];
        roots.iter().any(|path| layer.find(path).is_some())
    })
}

/// Merges and checks the layers of a configuration, the lowest first.
pub(crate) fn finish(
    sources: &Sources,
    mut layers: Vec<ConfigNode>,
    (files, folders): (Vec<ConfigFile>, Vec<ConfigFolder>),
    (mut problems, mut warnings): (Vec<Problem>, Vec<Problem>),
) -> Result<LoadedConfig, ConfigErrors> {
    let mut errors = Vec::new();
    let merged_servers = merge_servers(&mut layers, &mut errors);
    let secrets = &merged_servers.secrets;
    // A text without a tree, or without a key to blame, leaves everything unclear.
    let unclear = problems.iter().any(|problem| {
        let key = problem.key_path();
        key.is_empty() || key.starts_with("tools.'*'") || key.starts_with("conversation.tools.'*'")
    });
    if unclear {
        hide_lines(secrets, &mut problems);
        return Err(ConfigErrors::of(problems));
    }
    let blamed = |own: &[&str]| {
        let own: Vec<String> = own.iter().map(|&step| step.to_owned()).collect();
        let own = dotted(&own);
        let hit = |key: &str| {
            let key = key.strip_prefix("conversation.").unwrap_or(key);
            key.strip_prefix(own.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        problems.iter().any(|problem| hit(problem.key_path()))
    };
    let network = merge_table(&layers, "network", &keys::NETWORK);
    let log = merge_table(&layers, "log", &keys::LOG);
    check_log(&layers, &mut errors);
    let knowledge = merge_table(&layers, "kb", &keys::KNOWLEDGE);
    let is_blamed = |id: &str| blamed(&["kb", "topic", id]);
    let topics = read_topics(knowledge.as_ref(), is_blamed, &mut errors);
    let llm = merge_table(&layers, "llm", &keys::LLM).filter(|_| !blamed(&["llm"]));
    let llm = llm.and_then(|node| {
        check_quota(&layers, &mut errors);
        LlmConfig::read(&node, &mut errors)
    });
    let mcp = merge_table(&layers, "mcp", &keys::MCP).filter(|_| !blamed(&["mcp"]));
    if mcp.is_some() {
        check_mcp(&layers, &mut errors);
    }
    let mcp = McpConfig::read(mcp);
    let (merged, shared) = merge_tools(layers, &merged_servers, |name| blamed(&["tools", name]));
    let is_blamed =
        |name: &str| blamed(&["mcp", "servers", name]) || blamed(&["providers", "mcp", name]);
    let servers = read_servers(
        &merged_servers,
        &shared,
        &merged,
        is_blamed,
        &mut errors,
        &mut warnings,
    );
    let beside = ConfigSections {
        network,
        log,
        topics,
        llm,
        mcp,
        servers,
        shared_rules: shared.file_rules(),
        server_names: merged_servers.servers.keys().cloned().collect(),
        files,
        folders,
    };
    let built = build(sources, merged, beside);
    problems.append(&mut errors);
    problems.extend(built.errors);
    warnings.extend(built.warnings);
    hide_lines(secrets, &mut problems);
    hide_lines(secrets, &mut warnings);
    match ConfigErrors::new(problems) {
        Some(errors) => Err(errors),
        None => Ok(LoadedConfig {
            config: built.config,
            warnings,
        }),
    }
}

/// One table of the top, such as `[network]`, merged; `None` if no layer has it.
fn merge_table(
    layers: &[ConfigNode],
    name: &str,
    table: &'static TableShape,
) -> Option<ConfigNode> {
    let shape = ValueShape::Table(table);
    let declared = layers.iter().filter_map(|layer| layer.get(name));
    declared.fold(None, |below, above| {
        Some(merge(&shape, below, above.clone()))
    })
}

/// The merged tree of every tool that nothing is wrong with.
///
/// From below: what jig declares for the tool, then `'*'` of all layers, then what the entry of its
/// server says about its tools, then the tool's own entries of all layers. So a tool's own value wins
/// over `'*'`, wherever the two were written, and `'*'` wins over jig's own defaults.
fn merge_tools(
    layers: Vec<ConfigNode>,
    servers: &MergedServers,
    blamed: impl Fn(&str) -> bool,
) -> (IndexMap<String, MergedTool>, SharedSettings) {
    let mut defaults: Vec<ConfigNode> = Vec::new();
    let mut parts: IndexMap<String, (Vec<ConfigNode>, Vec<ConfigNode>)> = IndexMap::new();
    for (index, layer) in layers.into_iter().enumerate() {
        for tools in both_roots(layer) {
            let Value::Table(entries) = tools.value else {
                continue;
            };
            for (name, entry) in entries {
                if name == "*" {
                    defaults.push(entry.node);
                    continue;
                }
                let (built_in, own) = parts.entry(name).or_default();
                if index == 0 {
                    built_in.push(entry.node);
                } else {
                    own.push(entry.node);
                }
            }
        }
    }
    let mut shared_arguments = Vec::new();
    for run in defaults.iter().filter_map(|node| node.get("run")) {
        collect_arguments(run, &mut shared_arguments);
    }
    let shape = ValueShape::Table(&keys::TOOL);
    let mut merged = IndexMap::new();
    for (name, (built_in, own)) in parts {
        if blamed(&name) {
            continue;
        }
        let built_in = if is_redefined(&own) {
            Vec::new()
        } else {
            built_in
        };
        let declared = built_in
            .first()
            .or(own.first())
            .map(|node| node.origin.clone());
        let own_rules = built_in.iter().chain(&own).find_map(rules_key);
        let own_sandbox = own
            .iter()
            .rev()
            .find_map(|node| node.get("sandbox").cloned());
        let of_server = server_of(&own, servers);
        let below = built_in
            .into_iter()
            .chain(defaults.iter().cloned())
            .chain(of_server)
            .chain(own);
        let node = below.fold(None, |below, above| Some(merge(&shape, below, above)));
        if let (Some(node), Some(declared)) = (node, declared) {
            let node = Arc::new(ConfigNode {
                origin: declared,
                ..node
            });
            let tool = MergedTool {
                node,
                own_rules,
                own_sandbox,
                shared_arguments: shared_arguments.clone(),
            };
            merged.insert(name, tool);
        }
    }
    let all = defaults.into_iter();
    let shared = SharedSettings {
        node: all.fold(None, |below, above| Some(merge(&shape, below, above))),
        arguments: shared_arguments,
    };
    (merged, shared)
}

/// What the server of a tool says about all its tools, if it is on one.
fn server_of(own: &[ConfigNode], servers: &MergedServers) -> Option<ConfigNode> {
    let mut sources = own.iter().rev().filter_map(|node| node.get("source"));
    match sources.next()?.text()?.parse() {
        Ok(ToolSource::Mcp { server, .. }) => Some(servers.servers.get(&server)?.defaults()),
        _ => None,
    }
}

/// Whether a tool only shares its name with one of jig's: a file may have a `git` of its own, and then
/// nothing of ours belongs into it.
fn is_redefined(own: &[ConfigNode]) -> bool {
    let has = |key: &str| own.iter().any(|node| node.get(key).is_some());
    let sources = own.iter().filter_map(|node| node.get("source"));
    let foreign = sources
        .filter_map(ConfigNode::text)
        .any(|source| !source.starts_with("local"));
    foreign || has("source") && (has("command") || has("wasm"))
}

/// One tool after all layers were merged.
#[derive(Debug)]
pub(crate) struct MergedTool {
    pub(crate) node: Arc<ConfigNode>,
    /// Where the tool's own entries, not `'*'`, declare rules.
    pub(crate) own_rules: Option<Origin>,
    /// The last `sandbox` of the tool's own entries, not of `'*'`.
    pub(crate) own_sandbox: Option<ConfigNode>,
    /// Where the run rules of `'*'` name arguments.
    pub(crate) shared_arguments: Vec<Origin>,
}

/// Where `arg` stands in what `run` says, at any depth.
fn collect_arguments(node: &ConfigNode, found: &mut Vec<Origin>) {
    match &node.value {
        Value::Table(entries) => {
            for (name, entry) in entries {
                match name.as_str() {
                    "arg" => found.push(entry.node.origin.clone()),
                    _ => collect_arguments(&entry.node, found),
                }
            }
        }
        Value::List(items) => items.iter().for_each(|item| collect_arguments(item, found)),
        _ => {}
    }
}

/// Where an entry of a tool declares rules, in either spelling.
pub(crate) fn rules_key(tool: &ConfigNode) -> Option<Origin> {
    let access = tool.entry("access");
    let entry = access.or_else(|| declared_in_sandbox(tool))?;
    Some(entry.key.clone())
}

/// `conversation.tools`, then `tools`.
fn both_roots(layer: ConfigNode) -> Vec<ConfigNode> {
    let Value::Table(mut table) = layer.value else {
        return Vec::new();
    };
    let conversation = table
        .swap_remove("conversation")
        .and_then(|entry| match entry.node.value {
            Value::Table(mut table) => table.swap_remove("tools"),
            _ => None,
        });
    let roots = [conversation, table.swap_remove("tools")];
    roots
        .into_iter()
        .flatten()
        .map(|entry| entry.node)
        .collect()
}

/// jig's own layer.
const BUILT_IN: &str = include_str!("../built-in.toml");
