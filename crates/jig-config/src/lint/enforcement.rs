//! Rules that the runtime of a tool can't hold it to.

use jig_policy::DeclaredNetRule;
use jig_proto::hint;

use crate::model::{RuntimeKind, Tool};
use crate::origin::Layer;
use crate::problem::Problem;
use crate::quoting::quote;

pub(super) fn lint(tool: &Tool, warnings: &mut Vec<Problem>) {
    // Whoever wrote rules for all tools did not mean those that only jig declares.
    let is_meant = tool.own_rules || tool.declared_at().layer() != Layer::BuiltIn;
    if tool.runtime == RuntimeKind::Stdio && is_meant {
        paths_under_tls(tool, warnings);
        warnings.extend(programs(tool));
    }
}

/// A program that makes its own connections shows no paths under TLS, so where one has to decide,
/// they are refused. One word for each host is enough.
fn paths_under_tls(tool: &Tool, warnings: &mut Vec<Problem>) {
    let rules = || tool.access.net.iter().zip(&tool.places.net);
    let same =
        |one: &DeclaredNetRule, other: &DeclaredNetRule| one.host.eq_ignore_ascii_case(&other.host);
    for (index, (rule, place)) in rules().enumerate().filter(|(_, (rule, _))| hides(rule)) {
        let earlier = rules().take(index);
        let is_told = earlier
            .into_iter()
            .any(|(other, _)| hides(other) && same(rule, other));
        // Where nothing is allowed, nothing more is lost.
        let is_open = rules().any(|(other, _)| other.allow && same(rule, other));
        if is_told || !is_open {
            continue;
        }
        let problem = Problem::warning(
            format!(
                "`{}` can't reach {} over TLS: this rule is on paths or methods, which a program that makes \
                 its own connections shows only in plain HTTP",
                tool.name,
                quote(&rule.host)
            ),
            hint!(
                "remove `path_prefix` and `methods`; or write `scheme = \"http\"` if only plain HTTP is meant, or `runtime = \
                 \"vfs\"` if the tool speaks that protocol, so that jig makes its requests"
            ),
        );
        warnings.push(problem.at(&place.origin, "").key(place.key.clone()));
    }
}

/// Whether a rule is on a path of what may be TLS.
fn hides(rule: &DeclaredNetRule) -> bool {
    let plain = |scheme: &String| matches!(scheme.to_ascii_lowercase().as_str(), "http" | "ws");
    let root = |prefix: &String| prefix.bytes().all(|byte| byte == b'/');
    let of_path = rule
        .path_prefix
        .as_ref()
        .is_some_and(|prefix| !root(prefix));
    (of_path || rule.methods.is_some()) && !rule.scheme.as_ref().is_some_and(plain)
}

/// A subprocess starts programs itself. What it can read, it can also run: as a copy, or through the
/// loader of the system.
fn programs(tool: &Tool) -> Option<Problem> {
    tool.access.commands.as_ref()?;
    let node = ["access", "sandbox"].iter().find_map(|above| {
        tool.values
            .find(&[above, "commands"])
            .map(|node| (above, node))
    });
    let (above, node) = node?;
    let problem = Problem::note(
        format!(
            "the rules on programs guide `{}` and don't confine it: a tool of the runtime `stdio` \
             starts programs itself, and can run any file that it can read",
            tool.name
        ),
        hint!(
            "what holds is what files and hosts it reaches; where the programs matter, write `runtime = \"vfs\"`, so \
             that jig starts them"
        ),
    );
    let key = format!("{}.{above}.commands", tool.table());
    Some(problem.at(&node.origin, "").key(key))
}
