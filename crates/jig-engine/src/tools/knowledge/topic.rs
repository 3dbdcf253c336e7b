//! Which topic a call means, and what its component is told.

use jig_config::{Config, Topic};
use jig_proto::{hint, visible_line_to};
use jig_runtime::Mount;
use serde_json::{Map, Value, json};

use super::named;

/// Finds the topic that a call of `learn` names, tells the component what it must know of it, and says
/// which directory it is to see (W-051).
///
/// `most` is how long the answer may be, in bytes.
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
pub(super) fn find<'c>(config: &'c Config, asked: &str) -> Result<&'c Topic, KnowledgeError> {
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
            asked: visible_line_to(asked, MAX_QUOTED),
            meant: closest(&folded, &topics),
            topics: topics
                .iter()
                .map(|topic| named(&topic.id, topic.title()))
                .collect(),
        }
    })
}

/// What the component is told of a topic.
fn told(topic: &Topic, most: usize) -> Value {
    json!({
        "title": topic.title(),
        "description": topic.description,
        "disabled": topic.disabled,
        "learned": topic.learned,
        "directory": topic.subjects.to_string(),
        "most": most,
    })
}

/// The directory that the component sees.
fn mount(topic: &Topic) -> Mount {
    Mount {
        guest: SUBJECTS.to_owned(),
        path: topic.subjects.clone(),
        writable: false,
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

/// Why there is nothing to learn from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KnowledgeError {
    /// Nothing is declared, or everything is switched off.
    #[error(
        "there is no topic to learn\n{}",
        hint!("declare one: `[kb.topic.NAME]` with `subjects = \"docs/NAME\"`")
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
        "the tool that loads subjects is not there\n{}",
        hint!("`[tools.learn]` is another tool: declare one with `source = \"builtin.learn\"`")
    )]
    NoTool,
}

fn did_you_mean(meant: &Option<String>) -> String {
    let meant = meant
        .as_ref()
        .map(|meant| format!("\n{}", hint!("did you mean `{meant}`?")));
    meant.unwrap_or_default()
}

/// Where the component sees the directory of a topic (W-024).
const SUBJECTS: &str = "/subjects";

/// How much of a name is repeated in a message.
const MAX_QUOTED: usize = 80;
