//! What stands for a server among tools: its program, which has rules, and its tools of which nobody said
//! anything.

use std::sync::Arc;

use jig_policy::DeclaredFsRule;

use super::{SettingsOwner, ToolBuilder};
use crate::loading::load::MergedTool;
use crate::loading::merge::merge;
use crate::model::server::{MergedServer, ServerSettingText};
use crate::model::{Command, RuntimeKind, Tool, ToolName, ToolSource, access_spelling, rules};
use crate::origin::Origin;
use crate::problem::Problem;
use crate::shape::{ValueShape, keys};
use crate::value::{ConfigNode, TableEntries, TableEntry, Value};

/// What all tools have in common: `[tools.'*']`, merged.
#[derive(Debug, Default)]
pub(crate) struct SharedSettings {
    pub(crate) node: Option<ConfigNode>,
    /// Where its run rules name arguments.
    pub(crate) arguments: Vec<Origin>,
}

impl SharedSettings {
    /// The rules on files that every tool has which declares none.
    pub(crate) fn file_rules(&self) -> Vec<DeclaredFsRule> {
        let Some(node) = &self.node else {
            return Vec::new();
        };
        // What is wrong with them is said where tools are built of them.
        let mut errors = Vec::new();
        let (access, _) = match (node.get("access"), node.get("sandbox")) {
            (Some(access), _) => rules::read(access, "tools.'*'", &mut errors),
            (None, Some(sandbox)) => access_spelling::read(sandbox, "tools.'*'", &mut errors),
            (None, None) => return Vec::new(),
        };
        access.fs
    }
}

/// The program of a server as a tool of runtime `stdio`: the rules and the sandbox of its entry, over those of all
/// tools.
pub(crate) fn policy_of_server(
    name: &str,
    merged: &MergedServer,
    command: &[ServerSettingText],
    shared: &SharedSettings,
    errors: &mut Vec<Problem>,
    warnings: &mut Vec<Problem>,
) -> Option<Tool> {
    let rules = |node: &ConfigNode| only(node, &["access", "sandbox"]);
    let mut own = rules(&merged.node);
    let own_rules = crate::loading::load::rules_key(&own);
    let own_sandbox = own.get("sandbox").cloned();
    grant_variables(&merged.node, &mut own);
    let shape = ValueShape::Table(&keys::TOOL);
    let below = shared.node.as_ref().map(rules);
    let node = ConfigNode {
        origin: merged.node.origin.clone(),
        ..merge(&shape, below, own)
    };
    let merged_tool = MergedTool {
        node: Arc::new(node),
        own_rules,
        own_sandbox,
        shared_arguments: Vec::new(),
    };
    let before = errors.len();
    let mut builder = ToolBuilder::new(ToolName::new(name).ok()?, &merged_tool);
    builder.prefix.clone_from(&merged.key);
    builder.owner = SettingsOwner::Server;
    let mut plain = command
        .iter()
        .filter_map(ServerSettingText::plain)
        .map(str::to_owned);
    let runs = Command {
        program: match command.first().and_then(ServerSettingText::plain) {
            Some(_) => plain.next().unwrap_or_default(),
            None => command.first().map(ToString::to_string).unwrap_or_default(),
        },
        args: plain.collect(),
        shell: false,
    };
    let source = ToolSource::Local { tool: None };
    let tool = builder.finish(source, RuntimeKind::Stdio, Some(runs), None);
    errors.append(&mut builder.errors);
    warnings.append(&mut builder.warnings);
    let tool = Tool {
        server: Some(merged.key.clone()),
        ..tool
    };
    (errors.len() == before).then_some(tool)
}

/// A tool of a server of which nobody said anything: as all tools are, and as the server's entry says.
pub(crate) fn template_of_server(
    name: &str,
    merged: &MergedServer,
    shared: &SharedSettings,
    errors: &mut Vec<Problem>,
) -> Option<Tool> {
    let shape = ValueShape::Table(&keys::TOOL);
    let node = ConfigNode {
        origin: merged.node.origin.clone(),
        ..merge(&shape, shared.node.clone(), merged.defaults())
    };
    let merged_tool = MergedTool {
        node: Arc::new(node),
        own_rules: None,
        own_sandbox: None,
        shared_arguments: shared.arguments.clone(),
    };
    let before = errors.len();
    let mut builder = ToolBuilder::new(ToolName::new(name).ok()?, &merged_tool);
    builder.prefix.clone_from(&merged.key);
    builder.owner = SettingsOwner::Server;
    let source = ToolSource::Mcp {
        server: name.to_owned(),
        tool: None,
    };
    let tool = builder.finish(source, RuntimeKind::Mcp, None, None);
    // The warnings are those of every other tool: that the rules of `'*'` do not hold for it.
    errors.append(&mut builder.errors);
    (errors.len() == before).then_some(tool)
}

/// Some keys of a table.
fn only(node: &ConfigNode, keys: &[&str]) -> ConfigNode {
    let entries = node.table().into_iter().flatten();
    let entries = entries.filter(|(name, _)| keys.contains(&name.as_str()));
    let entries = entries.map(|(name, entry)| (name.clone(), entry.clone()));
    ConfigNode {
        value: Value::Table(entries.collect()),
        origin: node.origin.clone(),
    }
}

/// Adds the rules that `variables`, as JP has it, stands for.
fn grant_variables(server: &ConfigNode, rules: &mut ConfigNode) {
    let Some(variables) = server.entry("variables") else {
        return;
    };
    let rule = |name: &ConfigNode| {
        let entry = |value: Value| TableEntry {
            key: name.origin.clone(),
            node: ConfigNode {
                value,
                origin: name.origin.clone(),
            },
        };
        let table = TableEntries::from_iter([
            ("name".to_owned(), entry(name.value.clone())),
            ("read".to_owned(), entry(Value::Bool(true))),
        ]);
        ConfigNode {
            value: Value::Table(table),
            origin: name.origin.clone(),
        }
    };
    let items = variables.node.list().unwrap_or_default();
    let granted: Vec<ConfigNode> = items.iter().map(rule).collect();
    let empty = |value: Value| TableEntry {
        key: variables.key.clone(),
        node: ConfigNode {
            value,
            origin: variables.node.origin.clone(),
        },
    };
    let Value::Table(rules) = &mut rules.value else {
        return;
    };
    let access = rules
        .entry("access".to_owned())
        .or_insert_with(|| empty(Value::Table(TableEntries::new())));
    if let Value::Table(access) = &mut access.node.value {
        let env = access
            .entry("env".to_owned())
            .or_insert_with(|| empty(Value::List(Vec::new())));
        if let Value::List(env) = &mut env.node.value {
            env.extend(granted);
        }
    }
}
