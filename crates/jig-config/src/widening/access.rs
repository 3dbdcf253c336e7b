//! The declared rules of a tool before and after.
//!
//! Rules are compared as they are written: one that was added and grants something is new, and so is one that
//! was moved. What the taking away of a rule uncovers is asked of the policy, which knows how rules compete,
//! both as the workspace is now and by the names alone: a rule on a link is a rule on what it points to.

use jig_policy::{
    DeclaredAccess, DeclaredCommandRule, DeclaredEnvRule, DeclaredFsRule, DeclaredNetRule,
    FileCapabilities, Lookup, Policy, Workspace, hosts_overlap,
};
use jig_proto::ProjectPath;

use super::{ToolComparison, listed};
use crate::model::RulePlace;
use crate::origin::Origin;
use crate::policy::EmptyTree;
use crate::quoting::quote_whole as quote;

pub(super) fn compare(pair: &mut ToolComparison<'_>) {
    let DeclaredAccess {
        fs: _,
        net: _,
        env: _,
        commands: _,
    } = &pair.new.access;
    files(pair);
    hosts(pair);
    variables(pair);
    programs(pair);
}

/// What became of each rule of a list.
struct RuleAlignment<'a, R> {
    /// Those that are there now, with their place in the list and what stood there before.
    kept: Vec<(usize, &'a R, Option<&'a R>)>,
    removed: Vec<&'a R>,
}

/// Finds each rule of `new` in `old`, in the same order.
fn align<'a, R>(old: &'a [R], new: &'a [R], same: impl Fn(&R, &R) -> bool) -> RuleAlignment<'a, R> {
    let mut kept = Vec::with_capacity(new.len());
    let mut removed = Vec::new();
    let mut next = 0;
    for (index, rule) in new.iter().enumerate() {
        let found = old[next..].iter().position(|other| same(other, rule));
        let before = found.map(|offset| {
            removed.extend(&old[next..next + offset]);
            next += offset + 1;
            &old[next - 1]
        });
        kept.push((index, rule, before));
    }
    removed.extend(&old[next..]);
    RuleAlignment { kept, removed }
}

fn at(places: &[RulePlace], index: usize) -> Option<&Origin> {
    places.get(index).map(|place| &place.origin)
}

fn files(pair: &mut ToolComparison<'_>) {
    let (old, new) = (&pair.old.access.fs, &pair.new.access.fs);
    let aligned = align(old, new, |one: &DeclaredFsRule, other| {
        one.path == other.path
    });
    for (index, rule, before) in aligned.kept {
        let more = match before {
            Some(before) => rule.capabilities - before.capabilities,
            // The first rules of a tool take away what the default gives; the policy knows whether they do.
            None if old.is_empty() => FileCapabilities::NONE,
            None => rule.capabilities,
        };
        if !more.is_empty() {
            let what = format!("may now {more} {}", quote(&rule.path));
            let at = at(&pair.new.places.fs, index);
            pair.changes.add(what, at);
        }
    }
    if old.len() == new.len()
        && old
            .iter()
            .zip(new)
            .all(|(one, other)| same_file_rule(one, other))
    {
        return;
    }
    let text = Workspace::new(pair.new_config.workspace.clone(), EmptyTree);
    uncovered(pair, &text);
    if let Ok(disk) = Workspace::on_disk(pair.new_config.workspace.clone()) {
        uncovered(pair, &disk);
    }
    for rule in aligned
        .removed
        .iter()
        .filter(|rule| rule.capabilities.is_empty())
    {
        let path = quote(&rule.path);
        // Somebody may now be asked about it, even if no rule gives it.
        if !pair.changes.is_told(|what| what.ends_with(&path)) {
            pair.add_at("access.fs", format!("{path} is no longer denied"));
        }
    }
}

fn same_file_rule(one: &DeclaredFsRule, other: &DeclaredFsRule) -> bool {
    one.path == other.path && one.capabilities == other.capabilities
}

/// What is granted at the path of a rule, old or new, and was not.
fn uncovered<L: Lookup>(pair: &mut ToolComparison<'_>, workspace: &Workspace<L>) {
    let (Some(old), Some(new)) = (
        policy(pair.old_config.policy(pair.old, workspace)),
        policy(pair.new_config.policy(pair.new, workspace)),
    ) else {
        let what = "its rules on files can't be compared with those before";
        pair.add_at("access.fs", what);
        return;
    };
    let rules = pair.new.access.fs.iter().chain(&pair.old.access.fs);
    let paths = rules.filter_map(|rule| workspace.resolve(&rule.path).ok());
    let paths = paths.map(|resolved| resolved.path().clone());
    for path in std::iter::once(ProjectPath::root()).chain(paths) {
        let more = new.granted(&path) - old.granted(&path);
        let what = format!("may now {more} {}", quote(&path.to_string()));
        let is_known = pair
            .changes
            .found
            .iter()
            .any(|one| one.tool == pair.changes.tool && one.what == what);
        if !more.is_empty() && !is_known {
            pair.add_at("access.fs", what);
        }
    }
}

fn policy<E>(compiled: Result<Policy, E>) -> Option<Policy> {
    compiled.ok()
}

fn hosts(pair: &mut ToolComparison<'_>) {
    let (old, new) = (&pair.old.access.net, &pair.new.access.net);
    let same = |one: &DeclaredNetRule, other: &DeclaredNetRule| {
        one.host == other.host
            && one.scheme == other.scheme
            && one.port == other.port
            && one.path_prefix == other.path_prefix
            && one.methods == other.methods
    };
    let aligned = align(old, new, same);
    for (index, rule, before) in aligned.kept {
        if rule.allow && !before.is_some_and(|before| before.allow) {
            let what = format!("may now reach {}", shown_host(rule));
            pair.changes.add(what, at(&pair.new.places.net, index));
        }
    }
    for rule in aligned.removed {
        // A rule on a part of a host also says that connections are not to be had where the part can't be
        // seen, so that another rule on the same host may give more without it.
        let others = new
            .iter()
            .any(|other| other.allow && hosts_overlap(&other.host, &rule.host));
        if !rule.allow || others {
            let what = format!("the rule on {} is gone", shown_host(rule));
            pair.add_at("access.net", what);
        }
    }
}

fn shown_host(rule: &DeclaredNetRule) -> String {
    let scheme = rule.scheme.iter().map(|scheme| format!("{scheme}://"));
    let port = rule.port.iter().map(|port| format!(":{port}"));
    let path = rule.path_prefix.iter().cloned();
    let methods = rule
        .methods
        .iter()
        .map(|methods| format!("{} ", methods.join(",")));
    let scheme = methods.chain(scheme);
    let parts = scheme.chain([rule.host.clone()]).chain(port).chain(path);
    quote(&parts.collect::<String>())
}

fn variables(pair: &mut ToolComparison<'_>) {
    let (old, new) = (&pair.old.access.env, &pair.new.access.env);
    let aligned = align(old, new, |one: &DeclaredEnvRule, other| {
        one.name == other.name
    });
    for (index, rule, before) in aligned.kept {
        let (read, header) = before.map_or((false, false), granted);
        let now = granted(rule);
        let what = match (now.0 && !read, now.1 && !header) {
            (true, _) => "may now read the variable",
            (false, true) => "may now send, in a header, the variable",
            (false, false) => continue,
        };
        let what = format!("{what} {}", quote(&rule.name));
        pair.changes.add(what, at(&pair.new.places.env, index));
    }
    // One that gave everything can't have kept another from giving more.
    for rule in aligned.removed.iter().filter(|rule| !rule.read) {
        let what = format!("the rule on the variable {} is gone", quote(&rule.name));
        pair.add_at("access.env", what);
    }
}

/// Whether a rule lets a variable be read, and be sent in a header.
fn granted(rule: &DeclaredEnvRule) -> (bool, bool) {
    (rule.read, rule.read || rule.header)
}

fn programs(pair: &mut ToolComparison<'_>) {
    let (old, new) = (&pair.old.access.commands, &pair.new.access.commands);
    let Some(new) = new else {
        if old.is_some() {
            pair.add_at("access", "the rules on programs are gone");
        }
        return;
    };
    let any = old.is_none() && pair.old.default_access.commands;
    let old: &[DeclaredCommandRule] = old.as_deref().unwrap_or_default();
    for (index, rule) in new.iter().enumerate() {
        let before = old.iter().find(|before| before.program == rule.program);
        let program = quote(&rule.program);
        let at = at(&pair.new.places.commands, index);
        let what = match before {
            None if any => None,
            None => Some(format!("may now run {program}")),
            Some(before) if !allows(before, rule) => {
                Some(format!("may now run {program} with other arguments"))
            }
            Some(_) => None,
        };
        if let Some(what) = what {
            pair.changes.add(what, at);
        }
        let known = before.map_or(&[] as &[String], |before| &before.envs);
        let more = rule.envs.iter().filter(|name| !known.contains(name));
        let more: Vec<&str> = more.map(String::as_str).collect();
        if !more.is_empty() {
            let what = format!("may now give {program} the variables {}", listed(more));
            pair.changes.add(what, at);
        }
    }
}

/// Whether `old` allows all argument lists that `new` does.
fn allows(old: &DeclaredCommandRule, new: &DeclaredCommandRule) -> bool {
    match (&old.args, &new.args) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(old), Some(new)) => new
            .iter()
            .all(|list| old.iter().any(|other| covers(other, list))),
    }
}

/// Whether every argument list that `list` stands for is one that `other` does.
fn covers(other: &[String], list: &[String]) -> bool {
    match other.split_last() {
        Some((last, beginning)) if last == REST => list.starts_with(beginning),
        _ => other == list,
    }
}

/// The last element of a list that matches any further arguments.
const REST: &str = "**";
