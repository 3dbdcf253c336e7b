//! The knowledge base: what the tool `learn` is told of a topic, and what a system prompt says of all.
//!
//! The subjects themselves are read by the component of `learn` alone, under the rules of that tool:
//! nothing here opens a file.

#[cfg(feature = "wasm-tools")]
mod section;

use jig_config::{Config, Source, Tool, Topic};
#[cfg(feature = "wasm-tools")]
use jig_runtime::Mount;
use serde_json::{Map, Value};

#[cfg(feature = "wasm-tools")]
pub use section::{Knowledge, LoadedSubject, TopicKnowledge};

/// Whether it is the builtin tool that loads from the knowledge base, under whatever name.
pub(crate) fn is_learn(tool: &Tool) -> bool {
    match &tool.source {
        Source::Builtin { tool: named } => named.as_deref().unwrap_or(tool.name.as_str()) == LEARN,
        _ => false,
    }
}

/// Why a tool that is switched on is not offered: `learn` without a topic has nothing to say.
///
/// `None` for every tool that is offered.
pub fn not_offered(config: &Config, tool: &Tool) -> Option<&'static str> {
    let is_empty = is_learn(tool) && config.enabled_topics().next().is_none();
    is_empty.then_some("there is no topic to learn: declare one, `[kb.topic.NAME]`")
}

/// What the description of `learn` says about the topics that there are, for a model to choose from:
/// names, titles and introductions, at most [`MAX_SUMMARY`] topics. `None` for every other tool.
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

/// Finds the topic that a call of `learn` names, tells the component what it must know of it, and says
/// which directory it is to see (W-051).
///
/// `most` is how long the answer may be, in bytes.
#[cfg(feature = "wasm-tools")]
pub(crate) fn prepare(
    config: &Config,
    arguments: &mut Map<String, Value>,
    most: usize,
) -> Result<Mount, KnowledgeError> {
    let asked = arguments.get("topic").and_then(Value::as_str);
    let topic = find(config, asked.unwrap_or_default())?;
    // Whatever a caller wrote there is not the host's word.
    arguments.insert("_topic".to_owned(), told(topic, most));
    Ok(mount(topic))
}

/// The topic of that name or, whatever the case of its letters, of that title or name.
///
/// # Errors
///
/// If there is none: the error names those that there are.
pub(crate) fn find<'c>(config: &'c Config, asked: &str) -> Result<&'c Topic, KnowledgeError> {
    let asked = asked.trim();
    let by_name = config.topics.get(asked).filter(|topic| topic.enable);
    let folded = asked.to_lowercase();
    let called = |name: fn(&Topic) -> &str| {
        let mut topics = config.enabled_topics();
        topics.find(|topic| name(topic).to_lowercase() == folded)
    };
    let by_name = by_name.or_else(|| called(Topic::title));
    let by_name = by_name.or_else(|| called(|topic| &topic.id));
    by_name.ok_or_else(|| {
        let topics: Vec<&Topic> = config.enabled_topics().collect();
        if topics.is_empty() {
            return KnowledgeError::NoTopics;
        }
        KnowledgeError::UnknownTopic {
            asked: asked
                .chars()
                .filter(|one| !one.is_control())
                .take(MAX_QUOTED)
                .collect(),
            meant: closest(&folded, &topics),
            topics: topics
                .iter()
                .map(|topic| named(&topic.id, topic.title()))
                .collect(),
        }
    })
}

/// What the component is told of a topic.
#[cfg(feature = "wasm-tools")]
fn told(topic: &Topic, most: usize) -> Value {
    serde_json::json!({
        "title": topic.title(),
        "description": topic.description,
        "disabled": topic.disabled,
        "learned": topic.learned,
        "directory": topic.subjects.to_string(),
        "most": most,
    })
}

/// The directory that the component sees.
#[cfg(feature = "wasm-tools")]
fn mount(topic: &Topic) -> Mount {
    Mount {
        guest: SUBJECTS.to_owned(),
        path: topic.subjects.clone(),
        writable: false,
    }
}

/// `` `rust` (Rust at our place) ``.
fn named(id: &str, title: &str) -> String {
    match title == id {
        true => format!("`{id}`"),
        false => format!("`{id}` ({title})"),
    }
}

/// The name of the topic that was probably meant.
fn closest(asked: &str, topics: &[&Topic]) -> Option<String> {
    if asked.is_empty() || asked.len() > MAX_QUOTED {
        return None;
    }
    let distance = |topic: &&&Topic| {
        let names = [topic.id.to_lowercase(), topic.title().to_lowercase()];
        names
            .iter()
            .map(|name| match name.contains(asked) && asked.len() > 2 {
                true => 1,
                false => strsim::damerau_levenshtein(asked, name),
            })
            .min()
    };
    let best = topics.iter().min_by_key(|topic| distance(topic))?;
    let limit = (asked.chars().count() / 3).max(1);
    (distance(&best)? <= limit).then(|| best.id.clone())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Why there is nothing to learn from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KnowledgeError {
    /// Nothing is declared, or everything is switched off.
    #[error(
        "there is no topic to learn\nhint: declare one: `[kb.topic.NAME]` with `subjects = \"docs/NAME\"`"
    )]
    NoTopics,
    /// There are topics, and this is none of them.
    #[error("there is no topic `{asked}`; the topics are {}{}", .topics.join(", "), did_you_mean(.meant))]
    UnknownTopic {
        /// What was asked for.
        asked: String,
        /// The name of the topic that was probably meant.
        meant: Option<String>,
        /// All that there are, with their titles.
        topics: Vec<String>,
    },
    /// The tool that reads the subjects is not there: its name belongs to another one.
    #[error(
        "the tool that loads subjects is not there\nhint: `[tools.learn]` is another tool: declare one with `source = \"builtin.learn\"`"
    )]
    NoTool,
}

fn did_you_mean(meant: &Option<String>) -> String {
    let meant = meant
        .as_ref()
        .map(|meant| format!("\nhint: did you mean `{meant}`?"));
    meant.unwrap_or_default()
}

/// The name of the builtin.
const LEARN: &str = "learn";

/// Where the component sees the directory of a topic (W-024).
#[cfg(feature = "wasm-tools")]
const SUBJECTS: &str = "/subjects";

/// How many topics a description names. It is sent with every request to a model.
const MAX_SUMMARY: usize = 100;

/// How much of a name is repeated in a message.
const MAX_QUOTED: usize = 80;

#[cfg(test)]
mod tests;
