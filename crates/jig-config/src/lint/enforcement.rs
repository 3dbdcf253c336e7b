//! Rules that the runtime of a tool can't hold it to.

use crate::model::{Enforce, Runtime, Tool};
use crate::origin::Layer;
use crate::problem::Problem;

pub(super) fn lint(tool: &Tool, warnings: &mut Vec<Problem>) {
    // Whoever wrote rules for all tools did not mean those that only jig declares.
    let is_meant = tool.own_rules || tool.declared_at().layer() != Layer::BuiltIn;
    if tool.runtime == Runtime::Stdio && is_meant {
        warnings.extend(hosts(tool));
        warnings.extend(programs(tool));
    }
}

/// The system can cut a subprocess off from the network, not tell one host from another.
/// Where every rule denies, cutting it off is what they say.
fn hosts(tool: &Tool) -> Option<Problem> {
    let mut rules = tool.access.net.iter().zip(&tool.places.net);
    let (_, place) = rules.find(|(rule, _)| rule.allow)?;
    let (message, help) = match tool.sandbox.enforce {
        Enforce::Required => (
            format!(
                "the tool `{}` will not start: it has rules on hosts, and for the runtime `stdio` \
                 they can't be enforced",
                tool.name
            ),
            "write `runtime = \"vfs\"` if the tool speaks that protocol, so that jig makes its \
             requests; or remove the rules that allow hosts: then it runs without any network",
        ),
        Enforce::BestEffort => (
            format!(
                "the rules on hosts don't help `{}`: for the runtime `stdio` they can't be enforced, \
                 so it runs without any network",
                tool.name
            ),
            "write `runtime = \"vfs\"` if the tool speaks that protocol, or remove the rules",
        ),
    };
    let problem = Problem::warning(message, help);
    Some(problem.at(&place.origin, "").key(place.key.clone()))
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
        "what holds is what files and hosts it reaches; where the programs matter, write \
         `runtime = \"vfs\"`, so that jig starts them",
    );
    let key = format!("tools.{}.{above}.commands", tool.name);
    Some(problem.at(&node.origin, "").key(key))
}
