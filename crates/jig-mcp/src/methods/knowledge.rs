//! The knowledge base, as resources and prompts tell of it.
//!
//! Subjects are read by the tool `learn`, under its rules; nobody is asked.

use jig_config::{Config, Tool, ToolSource, Topic};
use jig_engine::{Call, CallError, Engine, Nobody};
use serde_json::json;

/// The topics that can be learned from: none where no tool is there to load them.
pub(crate) fn topics(config: &Config) -> Vec<&Topic> {
    match learn(config) {
        Some(_) => config.enabled_topics().collect(),
        None => Vec::new(),
    }
}

/// A topic that can be learned from, by its name.
pub(crate) fn topic<'c>(config: &'c Config, id: &str) -> Option<&'c Topic> {
    topics(config).into_iter().find(|topic| topic.id == id)
}

/// What `learn` says of a topic: its subjects, or the text of those that match `subject`.
pub(crate) fn learned(
    engine: &Engine,
    topic: &Topic,
    subject: Option<&str>,
) -> Result<String, CallError> {
    let tool = learn(engine.config()).map_or("learn", |tool| tool.name.as_str());
    let mut arguments = json!({ "topic": topic.id });
    if let Some(subject) = subject {
        arguments["subjects"] = json!([subject]);
    }
    let reply = engine.call(Call::new(tool, arguments), &mut Nobody)?;
    Ok(reply.into_content().to_text())
}

/// What a model should know of a topic before it starts.
#[cfg(feature = "wasm-tools")]
pub(crate) fn about(engine: &Engine, topic: &Topic) -> Result<String, CallError> {
    let known = engine.knowledge_about(&topic.id)?;
    if let Some(problem) = known.topics.iter().find_map(|one| one.problem.as_ref()) {
        return Err(CallError::Knowledge(problem.clone()));
    }
    match known.to_string() {
        nothing if nothing.is_empty() => Ok(format!("`{}` has no subjects yet.\n", topic.id)),
        text => Ok(text),
    }
}

/// What a model should know of a topic before it starts: nothing, where no components are run.
#[cfg(not(feature = "wasm-tools"))]
pub(crate) fn about(engine: &Engine, topic: &Topic) -> Result<String, CallError> {
    learned(engine, topic, None)
}

/// The names of the subjects of a topic.
#[cfg(feature = "wasm-tools")]
pub(crate) fn subjects(engine: &Engine, topic: &Topic) -> Vec<String> {
    let Ok(known) = engine.knowledge_about(&topic.id) else {
        return Vec::new();
    };
    let mut names = Vec::new();
    for topic in known.topics {
        names.extend(topic.subjects);
        names.extend(topic.learned.into_iter().map(|subject| subject.name));
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// The names of the subjects of a topic: none, where no components are run.
#[cfg(not(feature = "wasm-tools"))]
pub(crate) fn subjects(_: &Engine, _: &Topic) -> Vec<String> {
    Vec::new()
}

/// The tool that loads subjects, if it is offered.
fn learn(config: &Config) -> Option<&Tool> {
    let is_learn = |tool: &&Tool| match &tool.source {
        ToolSource::Builtin { tool: named } => {
            named.as_deref().unwrap_or(tool.name.as_str()) == "learn"
        }
        _ => false,
    };
    let is_offered =
        |tool: &&Tool| tool.enable.on && jig_engine::not_offered(config, tool).is_none();
    config
        .tools
        .values()
        .filter(is_offered)
        .find(|tool| is_learn(tool))
}
