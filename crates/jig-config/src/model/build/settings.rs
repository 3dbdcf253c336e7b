//! Settings of a tool that are tables of their own.

use camino::Utf8PathBuf;
use indexmap::{IndexMap, IndexSet};

use super::{Builder, Owner};
use crate::model::{
    AllowToggle, Enable, Enforce, Preset, Question, QuestionTarget, Sandbox, SandboxLimits,
    SystemPath,
};
use crate::value::Node;

impl Builder<'_> {
    pub(super) fn enable(&self) -> Enable {
        let Some(node) = self.node.get("enable") else {
            return Enable::default();
        };
        let state = node.get("state").unwrap_or(node);
        let on = match (state.bool(), state.text()) {
            (Some(on), _) => on,
            (None, Some(word)) => matches!(word, "on" | "always"),
            (None, None) => true,
        };
        let by_word = match node.text() {
            Some("always") => AllowToggle::Never,
            Some("explicit") => AllowToggle::IfNamed,
            _ => AllowToggle::Any,
        };
        let toggle = node.get("allow_toggle").and_then(Node::text);
        Enable {
            on,
            allow_toggle: toggle.and_then(AllowToggle::parse).unwrap_or(by_word),
        }
    }

    pub(super) fn questions(&self) -> IndexMap<String, Question> {
        let entries = self
            .node
            .get("questions")
            .and_then(Node::table)
            .into_iter()
            .flatten();
        let question = |node: &Node| Question {
            target: node
                .get("target")
                .and_then(Node::text)
                .and_then(QuestionTarget::parse)
                .unwrap_or(QuestionTarget::User),
            answer: node.get("answer").map(Node::to_json),
            remember: node.get("remember").and_then(Node::bool).unwrap_or(false),
        };
        entries
            .map(|(id, entry)| (id.clone(), question(&entry.node)))
            .collect()
    }

    pub(super) fn sandbox(&self) -> Sandbox {
        let node = self.node.get("sandbox");
        let get = |key: &str| node.and_then(|node| node.get(key));
        let items = |key: &str| get(key).and_then(Node::list).unwrap_or_default();
        let flag = |item: &Node, key: &str| item.get(key).and_then(Node::bool).unwrap_or(false);
        let system = items("system").iter().filter_map(|item| {
            let path = item
                .text()
                .or_else(|| item.get("path").and_then(Node::text))?;
            Some(SystemPath {
                path: Utf8PathBuf::from(path),
                write: flag(item, "write"),
                execute: flag(item, "execute"),
                origin: item.origin.clone(),
            })
        });
        let presets: IndexSet<Preset> = items("presets")
            .iter()
            .filter_map(Node::text)
            .filter_map(Preset::parse)
            .collect();
        Sandbox {
            enforce: get("enforce")
                .and_then(Node::text)
                .and_then(Enforce::parse)
                .unwrap_or(Enforce::Required),
            system: system.collect(),
            presets: presets.into_iter().collect(),
            limits: SandboxLimits::read(get("limits")),
            sensitive_paths: get("sensitive_paths").map(Node::texts).unwrap_or_default(),
            proxy: get("proxy").and_then(Node::bool) == Some(true),
            // What a server is refused, only watching it can tell: no call of it ends with its program.
            observe: get("observe")
                .and_then(Node::bool)
                .unwrap_or(self.owner == Owner::Server),
        }
    }
}
