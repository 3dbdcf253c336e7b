//! [`BoardQuestion`]: a question as it stands on the board, and as people are shown it.

use std::time::Instant;

use jig_engine::{About, Ask};
use jig_proto::{Prompt, Question, visible_lines, visible_words};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::text_prefix::cut;

/// What a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum QuestionTopic {
    /// Whether a tool may run with these arguments.
    Run,
    /// The arguments, to be edited.
    Arguments,
    /// Whether a result may be passed on.
    Result,
    /// The result, to be edited.
    EditResult,
    /// Whether a tool may do what no rule covers.
    Access,
    /// Whether what a tool changed in its layer is applied.
    Changes,
    /// What a tool itself wants to know.
    Tool,
    /// Whether a configuration that allows more comes into force.
    Config,
    /// Whether a server of the workspace may be started.
    Server,
    /// Whether the definitions of a server's tools may be what they are now.
    Definition,
}

impl QuestionTopic {
    pub(crate) fn of(about: About) -> Self {
        match about {
            About::Run => Self::Run,
            About::Arguments => Self::Arguments,
            About::Result => Self::Result,
            About::EditResult => Self::EditResult,
            About::Access => Self::Access,
            About::Changes => Self::Changes,
            About::Server => Self::Server,
            About::Definition => Self::Definition,
            // One that this crate does not know yet is put as a plain question.
            _ => Self::Tool,
        }
    }

    /// Whether a yes is kept for good, whoever asked: what is accepted is not allowed once.
    pub(crate) fn is_accepted(self) -> bool {
        matches!(self, Self::Config | Self::Server | Self::Definition)
    }

    /// Whether an answer can hold for the rest of the turn.
    pub(crate) fn can_last(self) -> bool {
        matches!(self, Self::Run | Self::Access | Self::Tool)
    }
}

/// A question on the board.
#[derive(Debug)]
pub(crate) struct BoardQuestion {
    pub(crate) number: u64,
    /// Who made the call; nobody, if it is no question of a call.
    pub(crate) caller: Option<String>,
    pub(crate) tool: Option<String>,
    pub(crate) topic: QuestionTopic,
    /// The question. Its text and context are printable, and as long as a person reads.
    pub(crate) question: Question,
    /// How many bytes of the context are not shown.
    pub(crate) hidden: usize,
    pub(crate) fingerprint: Fingerprint,
    /// Whether it is kept for later servers, once it is refused.
    pub(crate) outlives_server: bool,
    pub(crate) since: Instant,
}

/// Whose question it is: a caller, and what its call is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallIdentity<'a> {
    /// What the caller is called.
    pub(crate) caller: &'a str,
    /// A hash of whatever makes the call the same: who makes it, its arguments, and what its tool is and may do.
    pub(crate) hash: [u8; 32],
    /// Whether it is about a handle, which means something else to the next server.
    pub(crate) is_of_handle: bool,
}

impl CallIdentity<'_> {
    /// Whether the same call may be made to a later server, and ask the same there.
    pub(super) fn outlives_server(&self, topic: QuestionTopic) -> bool {
        let is_before_it_runs = matches!(
            topic,
            QuestionTopic::Run
                | QuestionTopic::Arguments
                | QuestionTopic::Access
                | QuestionTopic::Tool
        );
        is_before_it_runs && !self.is_of_handle
    }
}

/// What makes two questions the same: the call that asks, and all that a person would be shown. What a person is shown
/// is not enough: it leaves out what is long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Fingerprint([u8; 32]);

impl Fingerprint {
    pub(crate) fn of(call: &CallIdentity<'_>, ask: &Ask<'_>) -> Self {
        let Question {
            id,
            text,
            context,
            schema,
            default,
        } = ask.question;
        let topic = QuestionTopic::of(ask.about);
        // The policy numbers its questions; what it asks is all in the text.
        let id = if topic == QuestionTopic::Access {
            ""
        } else {
            id
        };
        // As JSON the parts cannot run into each other.
        let (caller, hash) = (call.caller, (call.hash, call.is_of_handle));
        let parts = json!([
            caller, hash, ask.tool, topic, id, text, context, schema, default
        ]);
        Self(*blake3::hash(parts.to_string().as_bytes()).as_bytes())
    }

    /// As it is written to a file.
    pub(crate) fn to_hex(self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex().to_string()
    }

    /// Reads what was written. What is none of ours is that of no question.
    pub(crate) fn from_hex(text: &str) -> Self {
        Self(blake3::Hash::from_hex(text).map_or([0; 32], |hash| *hash.as_bytes()))
    }
}

impl BoardQuestion {
    /// The question of a call.
    pub(crate) fn new(number: u64, call: &CallIdentity<'_>, ask: &Ask<'_>) -> Self {
        let mut asked = Self {
            number,
            caller: Some(call.caller.to_owned()),
            tool: Some(ask.tool.to_owned()),
            topic: QuestionTopic::of(ask.about),
            question: ask.question.clone(),
            hidden: 0,
            fingerprint: Fingerprint::of(call, ask),
            outlives_server: call.outlives_server(QuestionTopic::of(ask.about)),
            since: Instant::now(),
        };
        asked.shorten();
        asked
    }

    /// A question of the server itself, and of no call: what would be accepted is the context.
    pub(crate) fn of_host(number: u64, topic: QuestionTopic, text: &str, context: String) -> Self {
        let mut question = Question::yes_no("accept", text);
        question.context = Some(context);
        let mut asked = Self {
            number,
            caller: None,
            tool: None,
            topic,
            question,
            hidden: 0,
            fingerprint: Fingerprint([0; 32]),
            outlives_server: false,
            since: Instant::now(),
        };
        asked.shorten();
        asked
    }

    fn shorten(&mut self) {
        let question = &mut self.question;
        question.text = visible_words(cut(&question.text, LONGEST_TEXT));
        if let Some(context) = &mut question.context {
            let shown = cut(context, LONGEST_CONTEXT);
            self.hidden = context.len() - shown.len();
            *context = visible_lines(shown);
        }
        // What is edited has to be there as a whole, or it could not be edited.
        let size = |value: &Value| value.to_string().len();
        if size(&question.schema) > LONGEST_SCHEMA {
            question.schema = Value::Bool(true);
        }
        if question.default.as_ref().map_or(0, size) > LONGEST_DEFAULT {
            question.default = None;
        }
    }

    /// `q_1`.
    pub(crate) fn id(&self) -> super::QuestionId {
        super::QuestionId(self.number)
    }

    /// What can be decided.
    pub(crate) fn decisions(&self) -> &'static [&'static str] {
        match self.topic {
            topic if topic.is_accepted() => &["accept", "deny"],
            topic if topic.can_last() => &["once", "turn", "deny"],
            _ => &["once", "deny"],
        }
    }

    /// Whether a decision alone is no answer: a value is needed, too.
    pub(crate) fn needs_value(&self) -> bool {
        match self.topic {
            QuestionTopic::Arguments | QuestionTopic::EditResult => true,
            QuestionTopic::Tool => !matches!(self.question.prompt(), Prompt::YesNo),
            _ => false,
        }
    }

    /// As a client of the ask socket sees it in a list.
    pub(crate) fn in_short(&self, state: &'static str) -> Map<String, Value> {
        let age = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut all = Map::new();
        let mut put = |name: &str, value: Value| drop(all.insert(name.to_owned(), value));
        put("id", json!(self.id().to_string()));
        put("state", json!(state));
        put("about", json!(self.topic));
        put("caller", json!(self.caller.as_deref().map(visible_words)));
        put("tool", json!(self.tool.as_deref().map(visible_words)));
        put("age_ms", json!(age));
        put("text", json!(self.question.text));
        put("decisions", json!(self.decisions()));
        put("needs_value", json!(self.needs_value()));
        put("begins", json!(self.begins()));
        all
    }

    /// The first words of what it is about, in one line: what tells it from another of the same tool.
    fn begins(&self) -> Option<String> {
        let context = self.question.context.as_deref()?;
        // More than enough for the line, whatever of it is space.
        let words: Vec<&str> = cut(context, LONGEST_TEXT).split_whitespace().collect();
        let line = words.join(" ");
        let begins = cut(&line, LONGEST_BEGINNING);
        let more = if begins.len() < line.len() { "…" } else { "" };
        Some(format!("{begins}{more}"))
    }

    /// As a client of the ask socket sees it in full.
    pub(crate) fn to_json(&self, state: &'static str) -> Map<String, Value> {
        let mut all = self.in_short(state);
        let mut put = |name: &str, value: Value| drop(all.insert(name.to_owned(), value));
        put("context", json!(self.question.context));
        put("hidden_bytes", json!(self.hidden));
        put("schema", self.question.schema.clone());
        put("default", json!(self.question.default));
        all
    }
}

/// How much of a context a list shows, in bytes.
const LONGEST_BEGINNING: usize = 60;

/// The longest line of a question, in bytes.
const LONGEST_TEXT: usize = 4 << 10;

/// The longest context, in bytes: more than that nobody reads. A tool chooses how long it is.
pub(crate) const LONGEST_CONTEXT: usize = 64 << 10;

/// The longest schema of an answer, in bytes.
const LONGEST_SCHEMA: usize = 64 << 10;

/// The longest default of an answer, in bytes: it may be a whole result, to be edited.
const LONGEST_DEFAULT: usize = 1 << 20;
