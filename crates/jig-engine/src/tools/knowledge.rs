//! The knowledge base: what the tool `learn` is told of a topic, and what a system prompt says of all.
//!
//! The subjects themselves are read by the component of `learn` alone, under the rules of that tool:
//! nothing here opens a file.

#[cfg(feature = "wasm-tools")]
mod section;
#[cfg(feature = "wasm-tools")]
mod topic;

use jig_config::{Config, Tool, ToolSource};

#[cfg(feature = "wasm-tools")]
pub use section::{Knowledge, LoadedSubject, TopicKnowledge};
#[cfg(feature = "wasm-tools")]
pub(crate) use topic::prepare;

/// Whether it is the builtin tool that loads from the knowledge base, under whatever name.
pub(crate) fn is_learn(tool: &Tool) -> bool {
    match &tool.source {
        ToolSource::Builtin { tool: named } => {
            named.as_deref().unwrap_or(tool.name.as_str()) == LEARN
        }
        _ => false,
    }
}

/// Why a tool that is switched on is not offered: `learn` without a topic has nothing to say, and of a server's
/// tool nobody knows what to say.
///
/// `None` for every tool that is offered.
pub fn not_offered(config: &Config, tool: &Tool) -> Option<&'static str> {
    if tool.on_server().is_some() && tool.definition.is_none() {
        return Some("its server has not described it");
    }
    if !is_learn(tool) {
        return None;
    }
    if cfg!(not(feature = "wasm-tools")) {
        return Some("this jig was built without the feature `wasm-tools`");
    }
    let is_empty = config.enabled_topics().next().is_none();
    is_empty.then_some("there is no topic to learn: declare one, `[kb.topic.NAME]`")
}

/// What the description of `learn` says about the topics that there are, for a model to choose from:
/// names, titles and introductions, of at most 100 topics. `None` for every other tool.
pub fn topics_summary(config: &Config, tool: &Tool) -> Option<String> {
    if !is_learn(tool) {
        return None;
    }
    let mut summary = String::from("The topics are:");
    for (index, topic) in config.enabled_topics().enumerate() {
        if index == MAX_SUMMARY {
            summary.push_str("\n- … and others: an unknown topic is answered with all names");
            break;
        }
        summary.push_str("\n- ");
        summary.push_str(&named(&topic.id, topic.title()));
        if let Some(introduction) = &topic.introduction {
            summary.push_str(": ");
            summary.push_str(&one_line(introduction));
        }
    }
    Some(summary)
}

/// `` `rust` (Rust at our place) ``.
fn named(id: &str, title: &str) -> String {
    match title == id {
        true => format!("`{id}`"),
        false => format!("`{id}` ({title})"),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The name of the builtin.
const LEARN: &str = "learn";

/// How many topics a description names. It is sent with every request to a model.
const MAX_SUMMARY: usize = 100;

#[cfg(all(test, feature = "wasm-tools"))]
mod tests;
