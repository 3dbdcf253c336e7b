//! The declared rules of a tool as [`DeclaredAccess`], with the place of each.

use jig_policy::{
    Capability, DeclaredAccess, DeclaredCommandRule, DeclaredEnvRule, DeclaredFsRule,
    DeclaredNetRule, FileCapabilities,
};
use jig_proto::hint;

use crate::origin::Origin;
use crate::problem::Problem;
use crate::quoting::{key, quote};
use crate::value::{ConfigNode, TableEntry};

/// Where each rule of an [`DeclaredAccess`] was written, list by list in the same order.
#[derive(Debug, Clone, Default)]
pub(crate) struct RulePlaces {
    pub(crate) fs: Vec<RulePlace>,
    pub(crate) net: Vec<RulePlace>,
    pub(crate) env: Vec<RulePlace>,
    pub(crate) commands: Vec<RulePlace>,
}

/// The place of one rule.
#[derive(Debug, Clone)]
pub(crate) struct RulePlace {
    /// What tells the rule apart: its path, host, name or program.
    pub(crate) origin: Origin,
    /// The dotted key of the rule.
    pub(crate) key: String,
    /// Where its other keys have their values.
    pub(crate) parts: Vec<(String, Origin)>,
}

impl RulePlace {
    /// Where the value of `key` stands; the rule's own place if it has none.
    pub(crate) fn part(&self, key: &str) -> &Origin {
        let part = self.parts.iter().find(|(name, _)| name == key);
        part.map_or(&self.origin, |(_, origin)| origin)
    }
}

fn parts(rule: &ConfigNode) -> Vec<(String, Origin)> {
    let entries = rule.table().into_iter().flatten();
    entries
        .map(|(name, entry)| (name.clone(), entry.node.origin.clone()))
        .collect()
}

impl RulePlaces {
    pub(super) fn push_fs(
        &mut self,
        access: &mut DeclaredAccess,
        rule: DeclaredFsRule,
        place: RulePlace,
    ) {
        access.fs.push(rule);
        self.fs.push(place);
    }

    pub(super) fn push_net(
        &mut self,
        access: &mut DeclaredAccess,
        rule: DeclaredNetRule,
        place: RulePlace,
    ) {
        access.net.push(rule);
        self.net.push(place);
    }

    pub(super) fn push_env(
        &mut self,
        access: &mut DeclaredAccess,
        rule: DeclaredEnvRule,
        place: RulePlace,
    ) {
        access.env.push(rule);
        self.env.push(place);
    }
}

/// Reads the checked `access` table of the tool that stands at `prefix`.
pub(super) fn read(
    node: &ConfigNode,
    prefix: &str,
    problems: &mut Vec<Problem>,
) -> (DeclaredAccess, RulePlaces) {
    let mut access = DeclaredAccess::default();
    let mut places = RulePlaces::default();
    for (index, rule) in items(node, "fs") {
        let place = place(rule, "path", format!("{prefix}.access.fs[{index}]"));
        if let Some(external) = rule
            .entry("external")
            .filter(|entry| entry.node.bool() == Some(true))
        {
            problems.push(external_rule(rule, external, &place));
        }
        let rule = DeclaredFsRule {
            path: text(rule, "path"),
            capabilities: capabilities(rule),
            origin: rule.origin.to_policy(),
        };
        places.push_fs(&mut access, rule, place);
    }
    for (index, rule) in items(node, "net") {
        let place = place(rule, "host", format!("{prefix}.access.net[{index}]"));
        let port = rule.get("port").and_then(ConfigNode::int);
        let optional = |key: &str| rule.get(key).and_then(ConfigNode::text).map(str::to_owned);
        let rule = DeclaredNetRule {
            host: text(rule, "host"),
            scheme: optional("scheme"),
            port: port.and_then(|port| u16::try_from(port).ok()),
            path_prefix: optional("path_prefix"),
            methods: rule.get("methods").map(ConfigNode::texts),
            allow: flag(rule, "allow"),
            origin: rule.origin.to_policy(),
        };
        places.push_net(&mut access, rule, place);
    }
    for (index, rule) in items(node, "env") {
        let place = place(rule, "name", format!("{prefix}.access.env[{index}]"));
        let rule = DeclaredEnvRule {
            name: text(rule, "name"),
            read: flag(rule, "read"),
            header: flag(rule, "header"),
            origin: rule.origin.to_policy(),
        };
        places.push_env(&mut access, rule, place);
    }
    if let Some(commands) = node.get("commands") {
        read_commands(
            commands,
            &format!("{prefix}.access.commands"),
            &mut access,
            &mut places,
        );
    }
    (access, places)
}

/// Reads a checked table of programs. An empty table means that no program may be run.
pub(super) fn read_commands(
    node: &ConfigNode,
    prefix: &str,
    access: &mut DeclaredAccess,
    places: &mut RulePlaces,
) {
    let rules = access.commands.get_or_insert_default();
    for (program, entry) in node.table().into_iter().flatten() {
        let lists = entry.node.get("args").and_then(ConfigNode::list);
        rules.push(DeclaredCommandRule {
            program: program.clone(),
            args: lists.map(|lists| lists.iter().map(ConfigNode::texts).collect()),
            envs: entry
                .node
                .get("envs")
                .map(ConfigNode::texts)
                .unwrap_or_default(),
            origin: entry.key.to_policy(),
        });
        places.commands.push(RulePlace {
            origin: entry.key.clone(),
            parts: parts(&entry.node),
            key: format!("{prefix}.{}", key(program)),
        });
    }
}

fn items<'a>(node: &'a ConfigNode, list: &str) -> impl Iterator<Item = (usize, &'a ConfigNode)> {
    let items = node
        .get(list)
        .and_then(ConfigNode::list)
        .unwrap_or_default();
    items.iter().enumerate()
}

fn place(rule: &ConfigNode, telling: &str, key: String) -> RulePlace {
    let origin = rule.get(telling).map_or(&rule.origin, |node| &node.origin);
    RulePlace {
        origin: origin.clone(),
        key,
        parts: parts(rule),
    }
}

fn text(rule: &ConfigNode, key: &str) -> String {
    rule.get(key)
        .and_then(ConfigNode::text)
        .unwrap_or_default()
        .to_owned()
}

fn flag(rule: &ConfigNode, key: &str) -> bool {
    rule.get(key).and_then(ConfigNode::bool).unwrap_or(false)
}

/// `write` is the default of create, update and delete, which win over it (G-036).
fn capabilities(rule: &ConfigNode) -> FileCapabilities {
    let write = flag(rule, "write");
    let granted = |one: Capability| {
        let own = rule.get(one.name()).and_then(ConfigNode::bool);
        let is_write = FileCapabilities::WRITE.has(one);
        own.unwrap_or(is_write && write)
    };
    Capability::ALL
        .into_iter()
        .filter(|one| granted(*one))
        .collect()
}

fn external_rule(rule: &ConfigNode, external: &TableEntry, place: &RulePlace) -> Problem {
    let path = text(rule, "path");
    Problem::error(
        format!(
            "the rule on {} says `external = true`, and rules stay inside the workspace",
            quote(&path)
        ),
        hint!(
            "remove the rule, and list the absolute path in `sandbox.system` of the tool, such as `sandbox.system = \
             [\"/usr/share/dict\"]`"
        ),
    )
    .at(&external.key, "")
    .key(format!("{}.external", place.key))
}
