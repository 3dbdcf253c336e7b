//! Settings of programs that the operating system confines, on tools that are none.

use jig_proto::hint;

use super::ToolBuilder;
use crate::model::{OverlayMode, RuntimeKind};
use crate::problem::Problem;
use crate::quoting::quote;
use crate::value::ConfigNode;

impl ToolBuilder<'_> {
    /// Warns of settings that do nothing, because the runtime has no use for them.
    pub(super) fn only_of_programs(&mut self, runtime: RuntimeKind) {
        if runtime == RuntimeKind::Stdio {
            return;
        }
        let is_on = |node: Option<&ConfigNode>| node.and_then(ConfigNode::bool) == Some(true);
        if is_on(self.node.get("repeatable")) {
            self.ignored(
                "repeatable",
                &format!(
                    "{}, so no call is run again to say why it failed",
                    what(runtime)
                ),
                hint!("remove `repeatable`; it is for tools of runtime `stdio`"),
            );
        }
        // Whoever sets them for all tools knows that some are no programs.
        let Some(own) = self.merged.own_sandbox.as_ref() else {
            return;
        };
        let useless = [
            ("proxy", "so it makes no connections of its own"),
            (
                "observe",
                "so jig knows without looking what it was refused",
            ),
        ];
        for (key, why) in useless {
            let Some(entry) = own.entry(key).filter(|entry| is_on(Some(&entry.node))) else {
                continue;
            };
            let problem = Problem::warning(
                format!(
                    "`sandbox.{key}` of {} does nothing: {}, {why}",
                    quote(self.name.as_str()),
                    what(runtime)
                ),
                hint!("remove `{key}`; it is for tools of runtime `stdio`"),
            );
            let key = format!("{}.sandbox.{key}", self.prefix);
            self.warnings.push(problem.at(&entry.key, "").key(key));
        }
    }

    /// What becomes of what the tool writes. A layer that could not be made would let it write to the
    /// workspace after all, so this is no mere warning.
    pub(super) fn overlay(&mut self, runtime: RuntimeKind, one_shot: bool) -> Option<OverlayMode> {
        let entry = self.node.entry("overlay")?;
        let mode = entry.node.text().and_then(OverlayMode::parse)?;
        let problem = if runtime != RuntimeKind::Stdio {
            let why = match runtime {
                RuntimeKind::Mcp => "it runs on a server",
                RuntimeKind::Builtin => "its code is part of jig",
                RuntimeKind::Vfs | RuntimeKind::Wasm => "jig writes for it, rule by rule",
                RuntimeKind::Stdio => "",
            };
            let problem = Problem::error(
                format!(
                    "{} can't write to a layer: {why}",
                    quote(self.name.as_str())
                ),
                hint!("remove `overlay`; it is for tools of runtime `stdio`"),
            );
            let declared = self.node.get("runtime");
            let problem = problem.at(&entry.node.origin, "");
            match declared.filter(|node| !node.is_built_in()) {
                Some(node) => problem.and(&node.origin, "the runtime"),
                None => problem,
            }
        } else if !one_shot {
            let problem = Problem::error(
                format!(
                    "{} can't write to a layer: it goes on between calls, and a layer belongs to a \
                     call that ends",
                    quote(self.name.as_str())
                ),
                hint!("remove `overlay`, or write `stateful = false`"),
            );
            let problem = problem.at(&entry.node.origin, "");
            match self.node.entry("stateful") {
                Some(stateful) => problem.and(&stateful.key, "stateful by this"),
                None => problem,
            }
        } else {
            return Some(mode);
        };
        self.errors
            .push(problem.key(format!("{}.overlay", self.prefix)));
        None
    }
}

fn what(runtime: RuntimeKind) -> &'static str {
    match runtime {
        RuntimeKind::Mcp => "it runs on a server",
        RuntimeKind::Builtin => "its code is part of jig",
        RuntimeKind::Vfs | RuntimeKind::Wasm => "it asks jig for what it needs",
        RuntimeKind::Stdio => "it is a program",
    }
}
