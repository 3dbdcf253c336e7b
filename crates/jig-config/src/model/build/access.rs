//! The rules of a tool, in whichever spelling they were written.

use jig_proto::hint;

use super::ToolBuilder;
use crate::model::{RulePlaces, ToolSource, access_spelling, rules};
use crate::origin::Layer;
use crate::problem::Problem;
use crate::quoting::{clean, dotted, quote};

impl ToolBuilder<'_> {
    /// The rules, from whichever spelling declares them.
    pub(super) fn access(
        &mut self,
        source: &ToolSource,
    ) -> (jig_policy::DeclaredAccess, RulePlaces) {
        let access = self
            .node
            .entry("access")
            .filter(|entry| entry.node.table().is_some_and(|table| !table.is_empty()));
        let in_sandbox = access_spelling::declared(self.node);
        if !source.is_local() && !self.is_confined_builtin(source) {
            self.refuse_rules(source);
            return Default::default();
        }
        match (access, in_sandbox) {
            // What jig itself declares is no second spelling; it holds where nothing else is said.
            (Some(access), Some(_)) if access.node.is_built_in() => {
                let (mut rules, mut places) = self.in_sandbox();
                if rules.commands.is_none() {
                    let (ours, our_places) =
                        rules::read(&access.node, &self.prefix, &mut self.errors);
                    rules.commands = ours.commands;
                    places.commands = our_places.commands;
                }
                (rules, places)
            }
            (Some(access), Some(in_sandbox)) => {
                let problem = Problem::error(
                    format!(
                        "the {} {} declares its rules twice, in `access` and in `sandbox`",
                        self.owner.name(),
                        quote(self.name.as_str())
                    ),
                    hint!(
                        "keep `access`, and move what `sandbox.filesystem`, `.network` and `.commands` allow into it"
                    ),
                )
                .at(&in_sandbox.key, "rules in `sandbox`")
                .and(&access.key, "rules in `access`")
                .key(format!("{}.access", self.prefix));
                self.errors.push(problem);
                Default::default()
            }
            (Some(access), None) => rules::read(&access.node, &self.prefix, &mut self.errors),
            (None, Some(_)) => self.in_sandbox(),
            (None, None) => Default::default(),
        }
    }

    /// Whether it is a built-in tool that runs as a component: it meets its rules behind WASI, as others do.
    fn is_confined_builtin(&self, source: &ToolSource) -> bool {
        match source {
            ToolSource::Builtin { tool } => {
                tool.as_deref().unwrap_or(self.name.as_str()) == "learn"
            }
            _ => false,
        }
    }

    /// The rules in `sandbox`.
    fn in_sandbox(&mut self) -> (jig_policy::DeclaredAccess, RulePlaces) {
        let sandbox = self.node.get("sandbox").unwrap_or(self.node);
        access_spelling::read(sandbox, &self.prefix, &mut self.errors)
    }

    /// Rules on a tool that jig can't hold to them would give false confidence (G-006).
    fn refuse_rules(&mut self, source: &ToolSource) {
        let kind = source.kind();
        let name = quote(self.name.as_str());
        let (why, help) = match source {
            ToolSource::Mcp { server, .. } if self.remote.contains(server) => (
                "its server runs elsewhere, where jig cannot confine it",
                hint!("remove the rules; what the tool may be called with is for `run` to say"),
            ),
            ToolSource::Mcp { server, .. } => {
                let server = dotted(&["mcp".to_owned(), "servers".to_owned(), server.clone()]);
                (
                    "all tools of a server run in its one program",
                    hint!(
                        "rules belong to the server: write them in `[{}.access]`",
                        clean(&server)
                    ),
                )
            }
            _ => (
                "it is code of jig itself",
                hint!("remove the rules; only tools of source `local` can have them"),
            ),
        };
        // Nobody meant the tools that only jig declares.
        if self.node.origin.layer() == Layer::BuiltIn && self.merged.own_rules.is_none() {
            return;
        }
        if let Some(key) = &self.merged.own_rules {
            // The words of JP (J-026).
            let name = clean(self.name.as_str());
            let problem = Problem::error(
                format!(
                    "conversation.tools.{name}: `access` is only supported on local tools, but \
                     '{name}' is a {kind} tool"
                ),
                help,
            )
            .at(key, why)
            .key(format!("{}.access", self.prefix));
            self.errors.push(problem);
            return;
        }
        // They hold for the program of its server.
        if matches!(source, ToolSource::Mcp { .. }) {
            return;
        }
        let inherited = self
            .node
            .entry("access")
            .or_else(|| access_spelling::declared(self.node));
        if let Some(entry) = inherited {
            let problem = Problem::warning(
                format!(
                    "the rules of `'*'` don't hold for {name}, a tool of source `{kind}`: {why}"
                ),
                hint!("move the rules to the tools that they are meant for"),
            )
            .at(&entry.key, "")
            .key("tools.'*'.access");
            self.warnings.push(problem);
        }
    }
}
