//! [`Knowledge`]: the part of a system prompt that is about the knowledge base.

use std::fmt;

use jig_config::{RunMode, Tool, Topic};
use jig_proto::{Action, visible_line};
use serde_json::{Map, Value, json};

use super::topic::{KnowledgeError, find};
use super::{is_learn, named, one_line};
use crate::calls::call::{Call, CallError};
use crate::engine::Engine;
use crate::questions::asker::Nobody;
use crate::questions::audit::QuestionOwner;

/// What a model should know of the knowledge base before it starts.
///
/// It displays as the text for a system prompt, empty if there is nothing to say: the topics that have
/// something to load, then the subjects that `learned` names, in full. The same configuration and files
/// give the same text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Knowledge {
    /// The topics that are switched on, in the order of the configuration.
    pub topics: Vec<TopicKnowledge>,
    /// The name of the tool that loads subjects; `None` if the model can't call it, and the text then says
    /// nothing of what could be loaded.
    pub tool: Option<String>,
}

/// One topic, as far as the rules of the tool `learn` let it be seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TopicKnowledge {
    /// Its name in the configuration.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// One line about it.
    pub introduction: Option<String>,
    /// What its subjects are about.
    pub description: Option<String>,
    /// The subjects that can be loaded and are not yet, as far as they are named.
    pub subjects: Vec<String>,
    /// How many there are besides.
    pub more: usize,
    /// The subjects that are loaded from the start.
    pub learned: Vec<LoadedSubject>,
    /// What was left out, each in words.
    pub notes: Vec<String>,
    /// Why nothing is known of it.
    pub problem: Option<String>,
}

/// A subject with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedSubject {
    /// Its path below the directory of the topic, without the extension.
    pub name: String,
    /// Its text, as a model reads it.
    pub text: String,
}

impl Engine {
    /// The part of a system prompt that is about the knowledge base.
    ///
    /// Subjects are read by the tool `learn`, under its rules; nobody is asked. A topic that can't be read
    /// is there with its problem. All pre-loaded text together is bounded by 256 KiB.
    ///
    /// # Errors
    ///
    /// If the tool can't be run at all.
    pub fn knowledge(&self) -> Result<Knowledge, CallError> {
        self.knowledge_of(self.config.enabled_topics().collect())
    }

    /// As [`knowledge`](Self::knowledge), of one topic, given by its name or its title.
    ///
    /// # Errors
    ///
    /// Also if there is no such topic: the error names those that there are.
    pub fn knowledge_about(&self, topic: &str) -> Result<Knowledge, CallError> {
        let topic = find(&self.config, topic);
        let topic = topic.map_err(|error| CallError::Knowledge(error.to_string()))?;
        self.knowledge_of(vec![topic])
    }

    fn knowledge_of(&self, topics: Vec<&Topic>) -> Result<Knowledge, CallError> {
        if topics.is_empty() {
            return Ok(Knowledge::default());
        }
        let tools = || self.config.tools.values().filter(|tool| is_learn(tool));
        let is_open = |tool: &&Tool| tool.enable.on && !tool.run.spawn.is_always(RunMode::Skip);
        let open = tools().find(is_open);
        let Some(tool) = open.or_else(|| tools().next()) else {
            return Err(CallError::Knowledge(KnowledgeError::NoTool.to_string()));
        };
        let mut knowledge = Knowledge {
            topics: Vec::with_capacity(topics.len()),
            tool: open.map(|tool| tool.name.to_string()),
        };
        let mut left = MAX_LEARNED;
        for topic in topics {
            let known = self.survey(tool, topic, left)?;
            let taken: usize = known.learned.iter().map(|one| one.text.len()).sum();
            left = left.saturating_sub(taken);
            knowledge.topics.push(known);
        }
        Ok(knowledge)
    }

    /// Has the component look at one topic.
    fn survey(&self, tool: &Tool, topic: &Topic, most: usize) -> Result<TopicKnowledge, CallError> {
        let mut known = TopicKnowledge {
            id: topic.id.clone(),
            title: topic.title().to_owned(),
            introduction: topic.introduction.clone(),
            description: topic.description.clone(),
            ..TopicKnowledge::default()
        };
        let call = Call::new(tool.name.as_str(), json!({ "topic": topic.id }));
        let mut plan = self.plan(tool, call, Action::Run, None)?;
        if let Some(Value::Object(told)) = plan.input.arguments.get_mut("_topic") {
            told.insert("survey".to_owned(), true.into());
            told.insert("most".to_owned(), most.into());
        }
        // It is data, of which no half is any good; the component bounds it by `most`.
        plan.max_result = usize::MAX;
        let session = self.start_plan(tool, plan)?.session;
        let of = QuestionOwner::of_call(tool.name.as_str(), None);
        let answer = match self.drive(of, tool, &session, Map::new(), &mut Nobody) {
            Ok(answer) => answer.to_text(),
            Err(error) => {
                known.problem = Some(error.message);
                return Ok(known);
            }
        };
        match serde_json::from_str::<Value>(&answer) {
            Ok(answer) => known.fill(&answer),
            Err(error) => known.problem = Some(error.to_string()),
        }
        Ok(known)
    }
}

impl Knowledge {
    /// The same as data.
    pub fn to_json(&self) -> Value {
        let topics: Vec<Value> = self.topics.iter().map(TopicKnowledge::to_json).collect();
        json!({ "tool": self.tool, "topics": topics, "text": self.to_string() })
    }
}

impl TopicKnowledge {
    /// How many subjects can be loaded that are not yet.
    pub fn available(&self) -> usize {
        self.subjects.len().saturating_add(self.more)
    }

    /// Takes over what the component says.
    fn fill(&mut self, answer: &Value) {
        let list = |key: &str| answer[key].as_array().into_iter().flatten();
        let texts = |key: &str| list(key).filter_map(Value::as_str).map(str::to_owned);
        self.subjects = texts("subjects").collect();
        self.notes = texts("notes").collect();
        self.more = answer["more"]
            .as_u64()
            .map_or(0, |more| usize::try_from(more).unwrap_or(usize::MAX));
        self.learned = list("learned")
            .filter_map(|one| {
                Some(LoadedSubject {
                    name: one["name"].as_str()?.to_owned(),
                    text: one["text"].as_str()?.to_owned(),
                })
            })
            .collect();
    }

    /// The same as data.
    pub fn to_json(&self) -> Value {
        let learned = self.learned.iter();
        let learned: Vec<Value> = learned
            .map(|one| json!({ "name": one.name, "text": one.text }))
            .collect();
        json!({
            "id": self.id,
            "title": self.title,
            "introduction": self.introduction,
            "description": self.description,
            "subjects": self.subjects,
            "more": self.more,
            "learned": learned,
            "notes": self.notes,
            "problem": self.problem,
        })
    }
}

impl fmt::Display for Knowledge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = self.topics.iter().filter(|topic| topic.available() > 0);
        let open: Vec<&TopicKnowledge> = open.filter(|_| self.tool.is_some()).collect();
        let is_said =
            |topic: &&TopicKnowledge| !topic.learned.is_empty() || !topic.notes.is_empty();
        let loaded: Vec<&TopicKnowledge> = self.topics.iter().filter(is_said).collect();
        if open.is_empty() && loaded.is_empty() {
            return Ok(());
        }
        f.write_str("# Knowledge\n")?;
        if let Some(tool) = self.tool.as_ref().filter(|_| !open.is_empty()) {
            writeln!(
                f,
                "\nThis project has written down what it knows about the topics below. Before work that one of \
                 them covers, load what you need with the tool `{tool}`: with `topic` alone it lists the subjects \
                 of a topic, with `subjects` it returns their text.\n"
            )?;
        }
        for topic in &open {
            topic.write_line(f)?;
        }
        if !loaded.is_empty() {
            f.write_str("\nWhat follows is loaded already.\n")?;
        }
        for topic in &loaded {
            topic.write_learned(f)?;
        }
        Ok(())
    }
}

impl TopicKnowledge {
    /// The entry in the list of topics.
    fn write_line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = named(&self.id, &self.title);
        let count = match self.available() {
            1 => "1 subject".to_owned(),
            count => format!("{count} subjects"),
        };
        write!(f, "- {name}, {count}")?;
        if let Some(introduction) = &self.introduction {
            write!(f, ": {}", one_line(introduction))?;
        }
        f.write_str("\n")?;
        let description = self.description.as_deref().unwrap_or_default().trim();
        for line in description.lines() {
            match line.trim_end() {
                "" => f.write_str("\n")?,
                line => writeln!(f, "  {line}")?,
            }
        }
        Ok(())
    }

    /// The subjects that are loaded from the start.
    fn write_learned(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for LoadedSubject { name, text } in &self.learned {
            let (topic, name) = (attribute(&self.id), attribute(name));
            writeln!(f, "\n<subject topic=\"{topic}\" name=\"{name}\">")?;
            writeln!(f, "{}", text.trim_end_matches('\n'))?;
            f.write_str("</subject>\n")?;
        }
        for note in &self.notes {
            writeln!(f, "\n[{}: {note}]", named(&self.id, &self.title))?;
        }
        Ok(())
    }
}

/// A name between quotes, on one line: whoever named a file writes nothing into the prompt by that.
fn attribute(name: &str) -> String {
    let name = visible_line(name).replace('&', "&amp;");
    name.replace('"', "&quot;").replace('<', "&lt;")
}

/// How much pre-loaded text there is at most, in bytes: all of it is sent with every request to a model.
const MAX_LEARNED: usize = 256 * 1024;
