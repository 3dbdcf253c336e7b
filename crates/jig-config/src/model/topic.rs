//! [`Topic`]: a directory of subjects that the tool `learn` loads from.

use indexmap::IndexMap;
use jig_proto::{ProjectPath, hint};

use crate::origin::Origin;
use crate::problem::Problem;
use crate::quoting::{dotted, quote};
use crate::value::ConfigNode;

/// A topic of the knowledge base: `[kb.topic.NAME]`.
///
/// Its subjects are the files below one directory. The name of a subject is its path there, without the
/// extension.
#[derive(Debug, Clone)]
pub struct Topic {
    /// The name under which it was declared.
    pub id: String,
    /// Whether it is there.
    pub enable: bool,
    /// What it is called, if that is not its name.
    pub title: Option<String>,
    /// One line about it, for the list of topics in a system prompt.
    pub introduction: Option<String>,
    /// What its subjects are about.
    pub description: Option<String>,
    /// The directory of its subjects.
    pub subjects: ProjectPath,
    /// The subjects that a system prompt holds in full: names or patterns.
    pub learned: Vec<String>,
    /// The subjects that are never shown: names or patterns. They win over `learned`.
    pub disabled: Vec<String>,
    pub(crate) values: ConfigNode,
}

impl Topic {
    /// What people and models know it by: its title, or else its name.
    pub fn title(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.id)
    }

    /// Where the value at a dotted path below the topic was written: `subjects`, `learned.0`.
    ///
    /// `None` for what nobody wrote: the default applies.
    pub fn origin(&self, path: &str) -> Option<&Origin> {
        let steps: Vec<&str> = path.split('.').collect();
        self.values.find(&steps).map(|node| &node.origin)
    }

    /// Where the topic was first mentioned.
    pub fn declared_at(&self) -> &Origin {
        &self.values.origin
    }

    /// Reads the checked table of one topic; `None` if it is incomplete, which is then a problem.
    fn read(id: &str, node: &ConfigNode, errors: &mut Vec<Problem>) -> Option<Self> {
        let text = |key: &str| node.get(key).and_then(ConfigNode::text).map(str::to_owned);
        let texts = |key: &str| node.get(key).map(ConfigNode::texts).unwrap_or_default();
        let subjects = text("subjects").and_then(|path| ProjectPath::normalize(&path).ok());
        let Some(subjects) = subjects else {
            errors.push(no_subjects(id, node));
            return None;
        };
        Some(Self {
            id: id.to_owned(),
            enable: node
                .get("enable")
                .and_then(ConfigNode::bool)
                .unwrap_or(true),
            title: text("title"),
            introduction: text("introduction"),
            description: text("description"),
            subjects,
            learned: texts("learned"),
            disabled: texts("disabled"),
            values: node.clone(),
        })
    }
}

/// Reads the merged `[kb]`, without the topics that something is wrong with.
pub(crate) fn read_topics(
    node: Option<&ConfigNode>,
    blamed: impl Fn(&str) -> bool,
    errors: &mut Vec<Problem>,
) -> IndexMap<String, Topic> {
    let entries = node
        .and_then(|node| node.get("topic"))
        .and_then(ConfigNode::table);
    let entries = entries.into_iter().flatten();
    let mut topics = IndexMap::new();
    for (id, entry) in entries.filter(|(id, _)| !blamed(id)) {
        if let Some(topic) = Topic::read(id, &entry.node, errors) {
            topics.insert(id.clone(), topic);
        }
    }
    topics
}

fn no_subjects(id: &str, node: &ConfigNode) -> Problem {
    let key = dotted(&["kb".to_owned(), "topic".to_owned(), id.to_owned()]);
    Problem::error(
        format!(
            "the topic {} has no `subjects`, so there is nothing to learn",
            quote(id)
        ),
        hint!("add `subjects = \"docs/NAME\"` to `[{key}]`: a directory of the workspace"),
    )
    .at(&node.origin, "")
    .key(format!("{key}.subjects"))
}
