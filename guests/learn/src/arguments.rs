//! The arguments of a call: those of the model, and what the host adds.

use std::fmt;

use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, de};

use crate::pattern::Pattern;
use crate::subject::Subject;
use crate::text::{clean, quote};

/// The arguments of a call (W-050).
#[derive(Deserialize)]
pub(crate) struct Arguments {
    /// The topic as the caller named it.
    #[serde(default)]
    topic: Option<String>,
    /// What to load; nothing: a listing is wanted.
    #[serde(default, deserialize_with = "one_or_many")]
    pub(crate) subjects: Vec<String>,
    /// What the host says about the topic.
    #[serde(default, rename = "_topic")]
    pub(crate) topic_info: TopicInfo,
}

/// What the host knows about the topic (W-051).
#[derive(Deserialize)]
#[serde(default)]
pub(crate) struct TopicInfo {
    title: Option<String>,
    pub(crate) description: Option<String>,
    #[serde(deserialize_with = "patterns")]
    disabled: Vec<Pattern>,
    #[serde(deserialize_with = "patterns")]
    learned: Vec<Pattern>,
    /// The directory, for messages.
    pub(crate) directory: Option<String>,
    /// How long the answer may be, in bytes.
    most: u64,
    /// Whether the host wants to know all about the topic, for a system prompt.
    pub(crate) survey: bool,
}

impl Default for TopicInfo {
    fn default() -> Self {
        Self {
            title: None,
            description: None,
            disabled: Vec::new(),
            learned: Vec::new(),
            directory: None,
            most: MOST,
            survey: false,
        }
    }
}

impl Arguments {
    /// What the topic is called.
    pub(crate) fn title(&self) -> String {
        let title = self.topic_info.title.as_ref().or(self.topic.as_ref());
        clean(title.map_or("this topic", String::as_str), MOST_SHOWN)
    }

    /// How long the answer may be, in bytes.
    pub(crate) fn most(&self) -> usize {
        self.topic_info.most.clamp(LEAST, MOST_EVER) as usize
    }

    /// Whether nobody gets the subject. It is enough that the name fits in any of its spellings.
    pub(crate) fn is_disabled(&self, subject: &Subject) -> bool {
        let disabled = &self.topic_info.disabled;
        disabled.iter().any(|pattern| subject.is_meant_by(pattern))
    }

    /// Whether the subject is part of the system prompt. One that is hidden must be named exactly.
    pub(crate) fn is_learned(&self, subject: &Subject) -> bool {
        let learned = &self.topic_info.learned;
        learned.iter().any(|pattern| subject.is_asked_by(pattern))
    }

    /// The patterns of `learned`.
    pub(crate) fn learned(&self) -> &[Pattern] {
        &self.topic_info.learned
    }

    /// The call in one line, for a person.
    pub(crate) fn shown(&self) -> String {
        let topic = quote(&self.title());
        if self.subjects.is_empty() {
            return format!("list the subjects of {topic}");
        }
        let named = self
            .subjects
            .iter()
            .take(MOST_NAMED)
            .map(|name| quote(name));
        let mut line = format!("load {}", named.collect::<Vec<_>>().join(", "));
        if let Some(more @ 1..) = self.subjects.len().checked_sub(MOST_NAMED) {
            line.push_str(&format!(" and {more} more"));
        }
        format!("{line} of {topic}")
    }
}

/// A string, a list of strings, or nothing. A string that holds a list in JSON, as models send it, is that
/// list.
fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct OneOrMany;

    impl<'de> Visitor<'de> for OneOrMany {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("`subjects` as a string or a list of strings")
        }

        fn visit_str<E: de::Error>(self, one: &str) -> Result<Self::Value, E> {
            let list = one.trim_start().starts_with('[');
            let many = list.then(|| serde_json::from_str(one).ok()).flatten();
            Ok(many.unwrap_or_else(|| vec![one.to_owned()]))
        }

        fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
            Ok(Vec::new())
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            let mut many = Vec::new();
            while let Some(one) = items.next_element()? {
                if many.len() == MOST_PATTERNS {
                    return Err(Error::custom(format_args!(
                        "`subjects` has more than {MOST_PATTERNS} items; use `*` and `**`"
                    )));
                }
                many.push(one);
            }
            Ok(many)
        }
    }

    let mut many = deserializer.deserialize_any(OneOrMany)?;
    many.retain(|one| !one.trim().is_empty());
    Ok(many)
}

fn patterns<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Pattern>, D::Error> {
    let many = Vec::<String>::deserialize(deserializer)?;
    Ok(many.iter().map(|one| Pattern::new(one)).collect())
}

/// How long an answer is where the host does not say.
const MOST: u64 = 256 * 1024;

/// How long an answer is at most, whatever the host says: all of it is in memory at once.
const MOST_EVER: u64 = 8 * 1024 * 1024;

/// How long an answer may always be: shorter ones could not even say what is left out.
const LEAST: u64 = 2048;

/// How many patterns one call may have: each is tried on every subject.
const MOST_PATTERNS: usize = 200;

/// How many of them are shown to a person.
const MOST_NAMED: usize = 8;

/// How much of a title is repeated.
const MOST_SHOWN: usize = 200;
