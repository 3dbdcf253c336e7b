//! Where a tool comes from, and whether there is such a place.

use jig_proto::hint;

use super::ToolBuilder;
use crate::model::ToolSource;
use crate::problem::Problem;
use crate::quoting::{clean, closest, dotted, quote};
use crate::value::ConfigNode;

impl ToolBuilder<'_> {
    /// The source, without which nothing else can be judged (G-008).
    pub(super) fn source(&mut self) -> Option<ToolSource> {
        let text = self.node.get("source").and_then(ConfigNode::text);
        if let Some(Ok(source)) = text.map(str::parse) {
            self.known_server(&source);
            return Some(source);
        }
        let meant = closest(self.name.as_str(), self.defined.iter().copied());
        let table = &self.prefix;
        let help = match meant {
            Some(meant) => hint!(
                "did you mean the tool `{meant}`? if not, add `source = \"local\"` and a `command` to `[{table}]`, or \
                 `source = \"mcp.SERVER\"`"
            ),
            None => hint!(
                "add `source = \"local\"` and a `command` to `[{table}]`, or `source = \"mcp.SERVER\"`"
            ),
        };
        let problem = Problem::error(
            format!(
                "the tool {} has no `source`, so there is nothing to run",
                quote(self.name.as_str())
            ),
            help,
        )
        .at(&self.node.origin, "")
        .key(format!("{}.source", self.prefix));
        self.errors.push(problem);
        None
    }

    /// A tool of a server that nobody declared is a mistake: nothing could ever run it.
    fn known_server(&mut self, source: &ToolSource) {
        let ToolSource::Mcp { server, .. } = source else {
            return;
        };
        if self.servers.contains(server) {
            return;
        }
        let meant = closest(server, self.servers.iter().map(String::as_str));
        let key = dotted(&["mcp".to_owned(), "servers".to_owned(), server.clone()]);
        let key = clean(&key);
        let help = match meant.map(clean) {
            Some(meant) => hint!(
                "did you mean the server `{meant}`? if not, declare it: `[{key}]` with `command` and `args`, or `url`"
            ),
            None => hint!("declare it: `[{key}]` with `command` and `args`, or `url`"),
        };
        let at = self
            .node
            .get("source")
            .map_or(&self.node.origin, |node| &node.origin);
        let problem = Problem::error(
            format!(
                "the tool {} is on the server {}, which is not declared",
                quote(self.name.as_str()),
                quote(server)
            ),
            help,
        );
        let problem = problem.at(at, "").key(format!("{}.source", self.prefix));
        self.errors.push(problem);
    }
}
