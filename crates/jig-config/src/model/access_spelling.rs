//! `sandbox.filesystem`, `.network` and `.commands`: another spelling of `access`.

use jig_policy::{
    Capability, DeclaredAccess, DeclaredEnvRule, DeclaredFsRule, DeclaredNetRule, FileCapabilities,
};
use jig_proto::hint;
use url::Url;

use super::rules::{RulePlace, RulePlaces, read_commands};
use crate::problem::Problem;
use crate::quoting::quote;
use crate::value::{ConfigNode, TableEntry};

/// The keys of `sandbox` that stand for rules.
const KEYS: [&str; 3] = ["filesystem", "network", "commands"];

/// The first entry of `sandbox` that stands for rules.
pub(crate) fn declared(tool: &ConfigNode) -> Option<&TableEntry> {
    let sandbox = tool.get("sandbox")?;
    KEYS.iter().find_map(|key| sandbox.entry(key))
}

/// Turns the checked `sandbox` table of the tool at `prefix` into rules.
pub(super) fn read(
    sandbox: &ConfigNode,
    prefix: &str,
    problems: &mut Vec<Problem>,
) -> (DeclaredAccess, RulePlaces) {
    let mut access = DeclaredAccess::default();
    let mut places = RulePlaces::default();
    if let Some(filesystem) = sandbox.get("filesystem") {
        let prefix = format!("{prefix}.sandbox.filesystem");
        read_filesystem(filesystem, &prefix, &mut access, &mut places);
    }
    if let Some(network) = sandbox.get("network") {
        let prefix = format!("{prefix}.sandbox.network");
        read_network(network, &prefix, &mut access, &mut places, problems);
    }
    if let Some(commands) = sandbox.get("commands") {
        let prefix = format!("{prefix}.sandbox.commands");
        read_commands(commands, &prefix, &mut access, &mut places);
    }
    (access, places)
}

/// Every path of `allow` becomes a rule; without `allow` it is the workspace.
fn read_filesystem(
    node: &ConfigNode,
    prefix: &str,
    access: &mut DeclaredAccess,
    places: &mut RulePlaces,
) {
    let writable = node
        .get("writable")
        .and_then(ConfigNode::bool)
        .unwrap_or(false);
    let mut granted = FileCapabilities::from(Capability::Read);
    if writable {
        granted = granted | FileCapabilities::WRITE;
    }
    let rule = |path: &str, capabilities, at: &ConfigNode, key: String| {
        let rule = DeclaredFsRule {
            path: path.to_owned(),
            capabilities,
            origin: at.origin.to_policy(),
        };
        let origin = at.origin.clone();
        (
            rule,
            RulePlace {
                origin,
                key,
                parts: Vec::new(),
            },
        )
    };
    let Some(allow) = node.get("allow") else {
        let (rule, place) = rule(".", granted, node, prefix.to_owned());
        places.push_fs(access, rule, place);
        return;
    };
    let paths = allow.list().unwrap_or_default();
    if paths.is_empty() {
        // An allow-list with nothing in it allows nothing. Left out, the runtime's default would
        // apply: the opposite of what was written.
        let (rule, place) = rule(
            ".",
            FileCapabilities::NONE,
            allow,
            format!("{prefix}.allow"),
        );
        places.push_fs(access, rule, place);
    }
    for (index, path) in paths.iter().enumerate() {
        let text = path.text().unwrap_or_default();
        let (rule, place) = rule(text, granted, path, format!("{prefix}.allow[{index}]"));
        places.push_fs(access, rule, place);
    }
}

fn read_network(
    node: &ConfigNode,
    prefix: &str,
    access: &mut DeclaredAccess,
    places: &mut RulePlaces,
    problems: &mut Vec<Problem>,
) {
    let items = |key: &str| node.get(key).and_then(ConfigNode::list).unwrap_or_default();
    for (index, item) in items("allow").iter().enumerate() {
        let place = RulePlace {
            origin: item.origin.clone(),
            key: format!("{prefix}.allow[{index}]"),
            parts: Vec::new(),
        };
        match net_rule(item) {
            Ok(rule) => places.push_net(access, rule, place),
            Err(reason) => problems.push(
                Problem::error(
                    format!(
                        "{} is no place to reach: {reason}",
                        quote(item.text().unwrap_or_default())
                    ),
                    hint!(
                        "write a URL without user, query and fragment, `\"https://api.example.com/v1\"`, or a bare \
                         host, `\"api.example.com\"`"
                    ),
                )
                .at(&item.origin, "")
                .key(place.key),
            ),
        }
    }
    for (index, item) in items("envs").iter().enumerate() {
        let rule = DeclaredEnvRule {
            name: item.text().unwrap_or_default().to_owned(),
            read: false,
            header: true,
            origin: item.origin.to_policy(),
        };
        let place = RulePlace {
            origin: item.origin.clone(),
            key: format!("{prefix}.envs[{index}]"),
            parts: Vec::new(),
        };
        places.push_env(access, rule, place);
    }
}

/// A URL as a rule: its scheme, host, port if it names one, and path if it has one. Anything
/// without `://` is a host, which the policy checks.
fn net_rule(item: &ConfigNode) -> Result<DeclaredNetRule, String> {
    let text = item.text().unwrap_or_default();
    let mut rule = DeclaredNetRule {
        host: text.to_owned(),
        scheme: None,
        port: None,
        path_prefix: None,
        methods: None,
        allow: true,
        origin: item.origin.to_policy(),
    };
    if !text.contains("://") {
        return Ok(rule);
    }
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    let Some(host) = url.host_str() else {
        return Err("the URL has no host".to_owned());
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err("a rule has no user or password".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("a rule has no query and no fragment".to_owned());
    }
    rule.host = host.to_owned();
    rule.scheme = Some(url.scheme().to_owned());
    rule.port = url.port();
    rule.path_prefix = (url.path() != "/" && !url.path().is_empty()).then(|| url.path().to_owned());
    Ok(rule)
}
