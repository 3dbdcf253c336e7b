//! [`ClientForm`]: a question as a client can show it, and its answer as the engine wants it.
//!
//! A question about a run or an access is a choice: once, for this turn, or no. A question of a tool is asked
//! by its JSON Schema, as far as forms go; all else is asked as JSON text. What comes back is checked again
//! here: a client may send anything.

use jig_engine::{About, Answer, Ask, fits};
use jig_proto::json::{self, JsonLimits};
use jig_proto::{is_deceptive, visible_json, visible_line, visible_lines, visible_words};
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Map, Value, json};

use crate::text_prefix::cut;

/// A question as a client can show it.
#[derive(Debug, Clone)]
pub(crate) struct ClientForm {
    message: String,
    fields: ElicitationSchema,
    kind: ClientFormKind,
}

/// What is done with the answer.
#[derive(Debug, Clone)]
enum ClientFormKind {
    /// A choice about a run.
    Run,
    /// A choice about an access.
    Access,
    /// The form is the answer: an object that must match this schema.
    Fields(Value),
    /// One field is the answer, which must match this schema.
    One(Value),
    /// One field names one of these.
    Choice(Vec<Value>),
    /// One field holds the answer as JSON, which must match this schema.
    Text(Value),
}

/// What a call is about, in a few words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CallSubject {
    /// What the tool is to work on.
    target: Option<String>,
    /// How many bytes of text it is given besides.
    size: usize,
    /// Whether it is started, and stays.
    is_spawned: bool,
}

impl CallSubject {
    /// That of a call with these arguments.
    pub(crate) fn of(arguments: &Map<String, Value>) -> Self {
        let mut target = None;
        for name in TARGETS {
            target = match arguments.get(name) {
                Some(Value::String(text)) => Some((name, text.clone())),
                Some(Value::Array(all)) => {
                    let texts = all.iter().filter_map(Value::as_str);
                    let texts: Vec<&str> = texts.take(MOST_TARGETS).collect();
                    let more = if all.len() > texts.len() { ", …" } else { "" };
                    (!texts.is_empty()).then(|| (name, texts.join(", ") + more))
                }
                _ => continue,
            };
            if target.is_some() {
                break;
            }
        }
        let named = target.as_ref().map(|(name, _)| *name);
        let others = arguments
            .iter()
            .filter(|(name, _)| !HANDLED.contains(&name.as_str()) && Some(name.as_str()) != named);
        let size = others.map(|(_, value)| text_size(value, 0)).sum();
        let target = target.map(|(_, text)| {
            let shown = visible_line(cut(&text, LONGEST_TARGET));
            if shown.is_empty() {
                "\"\"".to_owned()
            } else {
                shown
            }
        });
        Self {
            target,
            size,
            is_spawned: arguments
                .get("action")
                .is_some_and(|action| action == "spawn"),
        }
    }

    /// The first line of a question whether the tool may run; `None` if there is nothing to add to the question.
    fn headline(&self, tool: &str) -> Option<String> {
        let tool = visible_line(tool);
        let size = (self.size > 0).then(|| match self.size {
            1 => "1 byte".to_owned(),
            size => format!("{size} bytes"),
        });
        let about: Vec<String> = self.target.clone().into_iter().chain(size).collect();
        let about = about.join(", ");
        match (self.is_spawned, about.is_empty()) {
            (false, true) => None,
            (false, false) => Some(format!("Run `{tool}`: {about}?")),
            (true, true) => Some(format!("Start `{tool}`, and leave it running?")),
            (true, false) => Some(format!("Start `{tool}`, and leave it running: {about}?")),
        }
    }
}

/// The bytes of text in a value.
fn text_size(value: &Value, depth: usize) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(all) if depth < DEEPEST => {
            all.iter().map(|one| text_size(one, depth + 1)).sum()
        }
        Value::Object(all) if depth < DEEPEST => {
            all.values().map(|one| text_size(one, depth + 1)).sum()
        }
        _ => 0,
    }
}

/// What a client's response to a form says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FormReply {
    /// Somebody decided.
    Decided(Answer),
    /// The form was put away, maybe by a program that shows none: the call gets this answer, and a person can still
    /// allow the next one.
    PutAway(Answer),
}

impl ClientForm {
    /// The form for a question of a call, of which `subject` says in a few words what it is about.
    pub(crate) fn of(ask: &Ask<'_>, subject: &CallSubject) -> Self {
        let (fields, kind) = match ask.about {
            About::Run => (decision(FOR_RUNS), ClientFormKind::Run),
            About::Access => (decision(FOR_ACCESS), ClientFormKind::Access),
            _ => by_schema(ask),
        };
        Self {
            message: message(ask, subject),
            fields: clean(fields).unwrap_or_else(|| ElicitationSchema::new(Default::default())),
            kind,
        }
    }

    /// The request that shows the form, after a wrong answer with what was wrong with it.
    pub(crate) fn request(&self, complaint: Option<&str>) -> ElicitRequestParams {
        let message = match complaint {
            Some(complaint) => format!("{complaint}\n\n{}", self.message),
            None => self.message.clone(),
        };
        ElicitRequestParams::FormElicitationParams {
            meta: None,
            message,
            requested_schema: self.fields.clone(),
        }
    }

    /// What a client's response, as it came, says.
    ///
    /// # Errors
    ///
    /// If it is no answer to this form, in words for whoever filled it in.
    pub(crate) fn read(&self, response: Value) -> Result<FormReply, String> {
        let response: ElicitResult = serde_json::from_value(response)
            .map_err(|_| "That is no response to a question.".to_owned())?;
        self.read_result(response)
    }

    /// The same for a response that was read already.
    pub(crate) fn read_result(&self, response: ElicitResult) -> Result<FormReply, String> {
        let put_away = |why: &str| FormReply::PutAway(Answer::Rejected(why.to_owned()));
        match response.action {
            ElicitationAction::Accept => self.filled(response).map(FormReply::Decided),
            ElicitationAction::Decline => Ok(put_away(DECLINED)),
            // Whoever puts a question of the policy away says no to it. A tool's own question knows no such
            // answer.
            _ => Ok(match self.kind {
                ClientFormKind::Run | ClientFormKind::Access => put_away(DISMISSED),
                _ => FormReply::PutAway(Answer::Cancel),
            }),
        }
    }

    /// What a form that was filled in says.
    fn filled(&self, response: ElicitResult) -> Result<Answer, String> {
        let Some(Value::Object(mut content)) = response.content else {
            return Err("The answer has no fields.".to_owned());
        };
        if size(&content) > LONGEST_ANSWER {
            return Err(format!("The answer is longer than {LONGEST_ANSWER} bytes."));
        }
        match &self.kind {
            ClientFormKind::Run | ClientFormKind::Access => self.decided(&content),
            ClientFormKind::Fields(schema) => checked(schema, Value::Object(content)),
            ClientFormKind::One(schema) => checked(schema, answer(&mut content)?),
            ClientFormKind::Choice(options) => {
                let named = answer(&mut content)?;
                let is_it = |option: &&Value| named.as_str() == Some(&name_of(option));
                let chosen = options.iter().find(is_it).cloned();
                chosen
                    .map(Answer::Given)
                    .ok_or_else(|| "The answer is none of those that there are.".to_owned())
            }
            ClientFormKind::Text(schema) => {
                let written = answer(&mut content)?;
                let text = written.as_str().ok_or("The answer is not text.")?;
                let value = json::value(text.as_bytes(), &JsonLimits::MESSAGE)
                    .map_err(|error| format!("The answer is not JSON: {error}."))?;
                checked(schema, value)
            }
        }
    }

    fn decided(&self, content: &Map<String, Value>) -> Result<Answer, String> {
        let decision = content.get(DECISION).and_then(Value::as_str);
        let is_access = matches!(self.kind, ClientFormKind::Access);
        match decision {
            Some(ONCE) if is_access => Ok(Answer::Given("once".into())),
            Some(ONCE) => Ok(Answer::Given(true.into())),
            Some(TURN) if is_access => Ok(Answer::Given("turn".into())),
            Some(TURN) => Ok(Answer::GivenForTurn(true.into())),
            Some(DENY) => Ok(Answer::Rejected(DENIED.to_owned())),
            _ => Err(format!(
                "`{DECISION}` must be `{ONCE}`, `{TURN}` or `{DENY}`."
            )),
        }
    }
}

/// The fields of a choice about a run or an access. The values say what they mean: not every client shows
/// titles. There is one field: clients that go from field to field are done with it at once. `lasting` says what a yes for the turn is a yes to.
fn decision(lasting: &str) -> Value {
    json!({
        "type": "object",
        "properties": {
            DECISION: {
                "type": "string",
                "title": "Decision",
                "description": format!(
                    "What to do. {lasting} The turn ends with the connection, or when nothing happens for long."
                ),
                "enum": [ONCE, TURN, DENY],
            },
        },
        "required": [DECISION],
    })
}

/// The fields of any other question: as forms have them, if its schema can be one.
fn by_schema(ask: &Ask<'_>) -> (Value, ClientFormKind) {
    let question = ask.question;
    let schema = &question.schema;
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    if is_object && ask.about != About::Arguments && clean(schema.clone()).is_some() {
        let mut fields = schema.clone();
        if let Some(Value::Object(defaults)) = &question.default {
            for (name, default) in defaults {
                if let Some(field) = fields.pointer_mut(&format!("/properties/{}", escaped(name)))
                    && let Some(field) = field.as_object_mut()
                {
                    field.insert("default".to_owned(), default.clone());
                }
            }
        }
        if clean(fields.clone()).is_some() {
            return (fields, ClientFormKind::Fields(schema.clone()));
        }
        return (schema.clone(), ClientFormKind::Fields(schema.clone()));
    }
    if let Some(Value::Array(options)) = schema.get("enum")
        && !options.is_empty()
        && options
            .iter()
            .any(|option| !option.is_string() || !is_seen(option, 0))
    {
        let names: Vec<String> = options.iter().map(name_of).collect();
        let mut field = json!({ "type": "string", "enum": names });
        if let Some(default) = &question.default {
            field["default"] = name_of(default).into();
        }
        return (one(field), ClientFormKind::Choice(options.clone()));
    }
    if let Value::Object(field) = schema {
        let mut field = field.clone();
        if field.contains_key("enum") {
            field.entry("type").or_insert_with(|| "string".into());
        }
        if let Some(default) = &question.default {
            field.insert("default".to_owned(), default.clone());
        }
        let fields = one(Value::Object(field));
        if clean(fields.clone()).is_some() {
            return (fields, ClientFormKind::One(schema.clone()));
        }
    }
    let mut field = json!({ "type": "string", "description": "The answer, as JSON." });
    if let Some(default) = &question.default {
        let text = serde_json::to_string_pretty(default).unwrap_or_default();
        field["default"] = visible_json(text).into();
    }
    (one(field), ClientFormKind::Text(schema.clone()))
}

/// A form with one field that has to be there.
fn one(mut field: Value) -> Value {
    if let Some(field) = field.as_object_mut() {
        field.entry("title").or_insert_with(|| "Answer".into());
    }
    json!({ "type": "object", "properties": { ANSWER: field }, "required": [ANSWER] })
}

/// The fields as the protocol knows them, if they can be a form: every field is a plain value, and its names and
/// values, which come back as answers, are seen as what they are. Text in them comes from a tool.
fn clean(mut fields: Value) -> Option<ElicitationSchema> {
    make_visible(&mut fields, 0);
    if !is_seen(&fields, 0) {
        return None;
    }
    let fields: ElicitationSchema = serde_json::from_value(fields).ok()?;
    (!fields.properties.is_empty()).then_some(fields)
}

/// Whether all names and values are seen as what they are.
fn is_seen(value: &Value, depth: usize) -> bool {
    match value {
        Value::String(text) => !text.contains(is_deceptive),
        Value::Object(_) | Value::Array(_) if depth >= DEEPEST => false,
        Value::Object(members) => members.iter().all(|(name, member)| {
            let is_fine = match (name.as_str(), member) {
                // What may be changed may have lines.
                ("default", Value::String(text)) => {
                    !text.contains(|c| is_deceptive(c) && !matches!(c, '\n' | '\t'))
                }
                (_, member) => is_seen(member, depth + 1),
            };
            is_fine && !name.contains(is_deceptive)
        }),
        Value::Array(items) => items.iter().all(|item| is_seen(item, depth + 1)),
        _ => true,
    }
}

/// Makes titles and descriptions visible. Names and values stay what they are.
fn make_visible(value: &mut Value, depth: usize) {
    match value {
        Value::Object(members) if depth < DEEPEST => {
            for (name, member) in members {
                match member {
                    Value::String(text) if matches!(name.as_str(), "title" | "description") => {
                        *text = visible_words(cut(text, LONGEST_TEXT));
                    }
                    member => make_visible(member, depth + 1),
                }
            }
        }
        Value::Array(items) if depth < DEEPEST => {
            for item in items {
                make_visible(item, depth + 1);
            }
        }
        _ => {}
    }
}

/// What the person is told. A tool's own words are marked as such, so that they cannot pass for jig's. The first line
/// says what matters: some clients show three lines.
fn message(ask: &Ask<'_>, subject: &CallSubject) -> String {
    let text = visible_words(cut(&ask.question.text, LONGEST_TEXT));
    let mut message = match ask.about {
        About::Run => subject.headline(ask.tool).unwrap_or(text),
        About::Tool(_) => format!("The tool `{}` asks: {text}", visible_line(ask.tool)),
        _ => text,
    };
    if let Some(context) = &ask.question.context {
        let shown = cut(context, LONGEST_CONTEXT);
        message.push_str("\n\n");
        message.push_str(&visible_lines(shown));
        let hidden = context.len() - shown.len();
        if hidden > 0 {
            message.push_str(&format!("\n… and {hidden} bytes more"));
        }
    }
    message
}

fn answer(content: &mut Map<String, Value>) -> Result<Value, String> {
    let answer = content.remove(ANSWER);
    answer.ok_or_else(|| "The answer is missing.".to_owned())
}

fn checked(schema: &Value, value: Value) -> Result<Answer, String> {
    match fits(schema, &value) {
        Ok(()) => Ok(Answer::Given(value)),
        Err(why) => Err(format!("The answer does not fit: {}.", visible_words(&why))),
    }
}

/// What an option is called in a form that knows only text.
fn name_of(option: &Value) -> String {
    match option {
        Value::String(text) => visible_line(text),
        other => visible_json(other.to_string()),
    }
}

/// A name as a part of a JSON Pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn size(content: &Map<String, Value>) -> usize {
    // The transport has bounded what there is to count.
    serde_json::to_vec(content).map_or(usize::MAX, |bytes| bytes.len())
}

const DECISION: &str = "decision";
const ANSWER: &str = "answer";
const ONCE: &str = "allow once";
const TURN: &str = "allow for this turn";
const DENY: &str = "deny";

/// Whoever has seen one call must know that they agree to others.
const FOR_RUNS: &str = "For this turn: further calls of the tool, too, with any arguments that the same rule asks about.";
const FOR_ACCESS: &str = "For this turn: the same access again, by the same tool.";

/// Who said no: a client declines also where it has nobody to show a form to.
const DENIED: &str = "denied in the form of the client";
const DECLINED: &str = "the client declined the question, without a decision";
const DISMISSED: &str = "the client closed the question, without a decision";

/// The arguments that mostly say what a tool is to work on, the best first.
const TARGETS: [&str; 12] = [
    "path",
    "file_path",
    "file",
    "paths",
    "url",
    "uri",
    "command",
    "cmd",
    "program",
    "query",
    "pattern",
    "name",
];

/// Arguments about handles.
const HANDLED: [&str; 2] = ["action", "id"];

/// How many targets are named.
const MOST_TARGETS: usize = 3;

/// How much of a target is shown, in bytes: what comes after it must be seen, too.
const LONGEST_TARGET: usize = 120;

/// How much of a tool's text stands in one line.
const LONGEST_TEXT: usize = 2000;

/// How much of what a question is about is shown. The arguments of a call are its client's to choose.
const LONGEST_CONTEXT: usize = 64 << 10;

/// An answer is kept in memory and handed to a tool. Edited arguments may hold a whole file.
const LONGEST_ANSWER: usize = 1 << 20;

/// How deep a schema is looked at. A tool writes it.
const DEEPEST: usize = 16;

#[cfg(test)]
mod tests;
