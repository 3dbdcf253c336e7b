//! Settings of a tool that are tables of their own.

use camino::Utf8PathBuf;
use indexmap::{IndexMap, IndexSet};

use super::{SettingsOwner, ToolBuilder};
use crate::model::{
    AllowToggle, Enable, Enforce, Preset, QuestionSettings, QuestionTarget, Sandbox, SandboxLimits,
    SystemPath,
};
use crate::value::ConfigNode;

impl ToolBuilder<'_> {
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
        let toggle = node.get("allow_toggle").and_then(ConfigNode::text);
        Enable {
            on,
            allow_toggle: toggle.and_then(AllowToggle::parse).unwrap_or(by_word),
        }
    }

    pub(super) fn questions(&self) -> IndexMap<String, QuestionSettings> {
        let entries = self
            .node
            .get("questions")
            .and_then(ConfigNode::table)
            .into_iter()
            .flatten();
        let question = |node: &ConfigNode| QuestionSettings {
            target: node
                .get("target")
                .and_then(ConfigNode::text)
                .and_then(QuestionTarget::parse)
                .unwrap_or(QuestionTarget::User),
            answer: node.get("answer").map(ConfigNode::to_json),
            remember: node
                .get("remember")
                .and_then(ConfigNode::bool)
                .unwrap_or(false),
        };
        entries
            .map(|(id, entry)| (id.clone(), question(&entry.node)))
            .collect()
    }

    pub(super) fn sandbox(&self) -> Sandbox {
        let node = self.node.get("sandbox");
        let get = |key: &str| node.and_then(|node| node.get(key));
        let items = |key: &str| get(key).and_then(ConfigNode::list).unwrap_or_default();
        let flag = |item: &ConfigNode, key: &str| {
            item.get(key).and_then(ConfigNode::bool).unwrap_or(false)
        };
        let system = items("system").iter().filter_map(|item| {
            let path = item
                .text()
                .or_else(|| item.get("path").and_then(ConfigNode::text))?;
            Some(SystemPath {
                path: Utf8PathBuf::from(path),
                write: flag(item, "write"),
                execute: flag(item, "execute"),
                origin: item.origin.clone(),
            })
        });
        let presets: IndexSet<Preset> = items("presets")
            .iter()
            .filter_map(ConfigNode::text)
            .filter_map(Preset::parse)
            .collect();
        Sandbox {
            enforce: get("enforce")
                .and_then(ConfigNode::text)
                .and_then(Enforce::parse)
                .unwrap_or(Enforce::Required),
            system: system.collect(),
            presets: presets.into_iter().collect(),
            limits: SandboxLimits::read(get("limits")),
            sensitive_paths: get("sensitive_paths")
                .map(ConfigNode::texts)
                .unwrap_or_default(),
            proxy: get("proxy").and_then(ConfigNode::bool) == Some(true),
            // What a server is refused, only watching it can tell: no call of it ends with its program.
            observe: get("observe")
                .and_then(ConfigNode::bool)
                .unwrap_or(self.owner == SettingsOwner::Server),
        }
    }
}
