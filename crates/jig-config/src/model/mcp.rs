//! [`McpConfig`]: how the tools are served over MCP.
//!
//! How long an approval can be waited for, and how long it lasts, is for the person to say who gives it: a
//! file of a workspace can only make both shorter.

use std::time::Duration;

use jig_proto::hint;
use serde_json::Value as Json;

use super::settings::AskWay;
use crate::origin::{Layer, Origin};
use crate::problem::Problem;
use crate::shape::keys;
use crate::shape::quantity::{Amount, KIB, MINUTE};
use crate::value::ConfigNode;

/// How the tools are served over MCP: `[mcp]`, with every setting resolved.
#[derive(Debug, Clone)]
pub struct McpConfig {
    /// Who is asked what a call has to ask.
    pub ask: AskWay,
    /// How long a call waits for an approval that somebody connected to the server may give.
    pub approval_wait: Duration,
    /// How long a caller over HTTP may be silent before its turn ends.
    pub idle: Duration,
    /// The bytes of text above which a result links to it.
    pub link_above: u64,
    /// As it was written.
    pub(crate) values: Option<ConfigNode>,
}

impl Default for McpConfig {
    fn default() -> Self {
        Self::read(None)
    }
}

impl McpConfig {
    /// Where a setting was written; `None` for what nobody wrote: the default applies.
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        let node = self.values.as_ref()?.get(key)?;
        Some(&node.origin)
    }

    /// Reads the checked table, without servers.
    pub(crate) fn read(values: Option<ConfigNode>) -> Self {
        // A table that held nothing but servers says nothing.
        let values = values.filter(|node| node.table().is_some_and(|table| !table.is_empty()));
        let amount = |name: &str| {
            let written = values.as_ref().and_then(|node| amount(node, name));
            written.unwrap_or_else(|| default_of(name))
        };
        let ask = values.as_ref().and_then(ask);
        Self {
            ask: ask.unwrap_or(AskWay::Both),
            approval_wait: Duration::from_millis(amount("approval_wait")),
            idle: Duration::from_millis(amount("idle")),
            link_above: amount("link_above"),
            values,
        }
    }

    /// What holds although nobody wrote it, as it could be written.
    pub(crate) fn defaults(&self) -> Vec<(&'static str, Json)> {
        let is_written = |name: &str| self.origin(name).is_some();
        let defaults = keys::MCP.keys.iter().filter_map(|key| {
            let default = serde_json::from_str(key.default?).ok()?;
            (!is_written(key.name)).then_some((key.name, default))
        });
        defaults.collect()
    }
}

/// Who is asked, as a checked table says it.
fn ask(node: &ConfigNode) -> Option<AskWay> {
    AskWay::parse(node.get("ask")?.text()?)
}

/// What a checked table says for one key: milliseconds, or bytes.
fn amount(node: &ConfigNode, name: &str) -> Option<u64> {
    match keys::MCP.amount(node, name)? {
        Amount::Of(amount) => Some(amount),
        Amount::Unlimited | Amount::Default => None,
    }
}

/// What a workspace must not change: how long a turn lasts, and how long a call waits for a person.
pub(crate) fn check_workspace(layers: &[ConfigNode], problems: &mut Vec<Problem>) {
    let tables = || layers.iter().filter_map(|layer| layer.get("mcp"));
    check_ask(tables, problems);
    for (name, what) in ONLY_SHORTER {
        let own = tables()
            .filter(|node| node.origin.layer() < Layer::Workspace)
            .filter_map(|node| node.get(name).map(|value| (node, value)))
            .next_back();
        let limit = own.and_then(|(node, _)| amount(node, name));
        let limit = limit.unwrap_or_else(|| default_of(name));
        for node in tables().filter(|node| node.origin.layer() == Layer::Workspace) {
            let Some(entry) = node.entry(name) else {
                continue;
            };
            if amount(node, name).is_none_or(|wanted| wanted <= limit) {
                continue;
            }
            let problem = Problem::error(
                format!(
                    "a file of the workspace cannot raise `{name}`: whoever writes the project's files \
                     would decide how long {what}"
                ),
                hint!(
                    "remove it, or lower it; to allow more, raise it in your own file, or pass `--config FILE` or \
                     `--set`"
                ),
            )
            .at(&entry.key, "")
            .key(format!("mcp.{name}"));
            problems.push(match own {
                Some((_, value)) => problem.and(&value.origin, "your own value"),
                None => problem,
            });
        }
    }
}

/// Whoever wants to be asked at the board is not asked by a client because a project says so: some clients let a model
/// fill in their forms.
fn check_ask<'a, T: Iterator<Item = &'a ConfigNode>>(
    tables: impl Fn() -> T,
    problems: &mut Vec<Problem>,
) {
    let is_own = |node: &&ConfigNode| node.origin.layer() < Layer::Workspace;
    let own = tables().filter(is_own).filter_map(|node| node.get("ask"));
    let Some(own) = own
        .last()
        .filter(|value| value.text() == Some(AskWay::Board.name()))
    else {
        return;
    };
    for node in tables().filter(|node| node.origin.layer() == Layer::Workspace) {
        let Some(entry) = node.entry("ask") else {
            continue;
        };
        if ask(node).is_none_or(|way| way == AskWay::Board) {
            continue;
        }
        let problem = Problem::error(
            "a file of the workspace cannot have the client asked: you want to be asked at the board".to_owned(),
            hint!("remove it; to be asked by the client here, pass `--set mcp.ask=\"both\"`"),
        );
        let problem = problem.at(&entry.key, "").key("mcp.ask");
        problems.push(problem.and(&own.origin, "your own value"));
    }
}

fn default_of(name: &str) -> u64 {
    match name {
        "approval_wait" => 10 * MINUTE,
        "idle" => 30 * MINUTE,
        _ => 64 * KIB,
    }
}

/// The keys that a workspace can only lower, with what they say the length of.
const ONLY_SHORTER: [(&str, &str); 2] = [
    ("approval_wait", "your agent's calls stay open"),
    ("idle", "what you approved stays approved"),
];
