//! The log of what tools did.

use jig_proto::hint;

use crate::origin::Layer;
use crate::problem::Problem;
use crate::value::ConfigNode;

/// The log: `[log]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSettings {
    /// Whether nothing runs where the log cannot be written. Default: yes.
    pub required: bool,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self { required: true }
    }
}

impl LogSettings {
    /// Reads the checked table.
    pub(crate) fn read(node: Option<&ConfigNode>) -> Self {
        let required = node.and_then(|node| node.get("required"));
        let required = required.and_then(ConfigNode::bool);
        Self {
            required: required.unwrap_or(true),
        }
    }
}

/// What a workspace must not say: whoever writes the project's files would have nothing written down of what
/// its tools do.
pub(crate) fn check_workspace(layers: &[ConfigNode], problems: &mut Vec<Problem>) {
    let tables = layers.iter().filter_map(|layer| layer.get("log"));
    for node in tables.filter(|node| node.origin.layer() == Layer::Workspace) {
        let Some(entry) = node.entry("required") else {
            continue;
        };
        if entry.node.bool() != Some(false) {
            continue;
        }
        problems.push(
            Problem::error(
                "a file of the workspace cannot say that tools run without a log: whoever writes the project's \
                 files would hide what they do",
                hint!(
                    "remove it, or move it into your own file, `~/.config/jig/config.toml`; for one command, use \
                     `--optional-log`"
                ),
            )
            .at(&entry.key, "")
            .key("log.required"),
        );
    }
}
