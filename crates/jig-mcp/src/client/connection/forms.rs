//! [`UpstreamForm`]: what a server asks, as a question of jig, and its answer as the server wants it.
//!
//! A form with one field is the question for that field; a form without fields is a yes or no; any other is one
//! question whose answer is an object. Only forms are offered: a page to be opened in a browser is declined, and
//! whoever called is told its address.

use jig_proto::{Question, visible_lines};
use serde_json::{Map, Value, json};

use super::ElicitationAnswer;
use super::message::{INVALID_PARAMS, UpstreamReply, weight, words};
use crate::text_prefix::cut;

/// A question of a server.
#[derive(Debug, Clone)]
pub(super) struct UpstreamForm {
    question: Question,
    shape: FormShape,
    /// The fields, with their defaults.
    fields: Map<String, Value>,
}

#[derive(Debug, Clone)]
enum FormShape {
    /// Nothing but a text.
    Confirmation,
    /// One field, of this name.
    Field(String),
    /// Several fields.
    Object,
}

/// Why a server gets no answer.
#[derive(Debug)]
pub(super) struct FormRefusal {
    /// What it gets.
    pub(super) reply: UpstreamReply,
    /// What whoever called should know of it.
    pub(super) told: Option<String>,
}

impl UpstreamForm {
    /// The form that the parameters of `elicitation/create` describe.
    ///
    /// # Errors
    ///
    /// If they describe none, or something else.
    pub(super) fn of(params: &Value) -> Result<Self, FormRefusal> {
        let message = params.get("message").and_then(Value::as_str);
        let message = message.unwrap_or_default();
        if let Some(mode) = params.get("mode").and_then(Value::as_str)
            && mode != "form"
        {
            return Err(FormRefusal::mode(mode, params, message));
        }
        let schema = params.get("requestedSchema");
        let schema = schema.filter(|schema| schema.is_object() && weight(schema) <= BIGGEST);
        let fields = schema.map(|schema| schema.get("properties").and_then(Value::as_object));
        let (Some(schema), Some(fields)) = (schema, fields) else {
            return Err(FormRefusal::wrong(
                "`requestedSchema` is no object, or too big",
            ));
        };
        let fields = fields.cloned().unwrap_or_default();
        let (text, context) = split(message);
        let (shape, mut question) = match fields.iter().next() {
            None => (FormShape::Confirmation, Question::yes_no(ID, text)),
            Some((name, field)) if fields.len() == 1 && field.is_object() => {
                let mut question = Question::new(words(name), text, plain(field));
                question.default = default_of(field);
                (FormShape::Field(name.clone()), question)
            }
            Some(_) => {
                let mut question = Question::new(ID, text, schema.clone());
                let defaults = fields.iter().filter_map(|(name, field)| {
                    default_of(field).map(|default| (name.clone(), default))
                });
                let defaults: Map<_, _> = defaults.collect();
                question.default = (!defaults.is_empty()).then_some(Value::Object(defaults));
                (FormShape::Object, question)
            }
        };
        question.context = context;
        Ok(Self {
            question,
            shape,
            fields,
        })
    }

    /// The question.
    pub(super) fn question(&self) -> &Question {
        &self.question
    }

    /// The `ElicitResult` for what came of the question. Fields that the answer leaves out get their defaults.
    pub(super) fn result(&self, answered: ElicitationAnswer) -> Value {
        let value = match answered {
            ElicitationAnswer::Given(value) => value,
            ElicitationAnswer::Declined => return json!({"action": "decline"}),
            ElicitationAnswer::Cancelled => return json!({"action": "cancel"}),
        };
        let mut content = match (&self.shape, value) {
            (FormShape::Confirmation, Value::Bool(false)) => return json!({"action": "decline"}),
            (FormShape::Confirmation, _) => Map::new(),
            (FormShape::Field(name), value) => Map::from_iter([(name.clone(), value)]),
            (FormShape::Object, Value::Object(content)) => content,
            (FormShape::Object, _) => return json!({"action": "cancel"}),
        };
        for (name, field) in &self.fields {
            if let Some(default) = default_of(field)
                && !content.contains_key(name)
            {
                content.insert(name.clone(), default);
            }
        }
        json!({"action": "accept", "content": content})
    }
}

impl FormRefusal {
    fn mode(mode: &str, params: &Value, message: &str) -> Self {
        let url = params.get("url").and_then(Value::as_str);
        let told = url.map(|url| {
            words(&format!(
                "The server wants a page opened, which jig does not do: {url} ({message})"
            ))
        });
        Self {
            reply: UpstreamReply::Error {
                code: INVALID_PARAMS,
                message: format!("mode `{}` is not offered", words(mode)),
            },
            told,
        }
    }

    fn wrong(what: &str) -> Self {
        Self {
            reply: UpstreamReply::Error {
                code: INVALID_PARAMS,
                message: what.to_owned(),
            },
            told: None,
        }
    }
}

/// The first line beside the answer, and all of it above if there is more.
fn split(message: &str) -> (String, Option<String>) {
    let message = visible_lines(cut(message, LONGEST));
    let message = message.trim();
    match message.split_once('\n') {
        Some((first, _)) => (first.trim_end().to_owned(), Some(message.to_owned())),
        None if message.is_empty() => ("Do you agree?".to_owned(), None),
        None => (message.to_owned(), None),
    }
}

/// A field as a question: what can be chosen stands in `enum`, with names beside it.
fn plain(field: &Value) -> Value {
    let mut field = field.clone();
    if let Some(members) = field.as_object_mut() {
        members.remove("default");
        if let Some(Value::Array(options)) = members.get("oneOf") {
            let values = options.iter().map(|option| option.get("const").cloned());
            let values: Option<Vec<Value>> = values.collect();
            let titles = options.iter().map(|option| option.get("title").cloned());
            let titles: Option<Vec<Value>> = titles.collect();
            if let Some(values) = values.filter(|values| !values.is_empty()) {
                members.remove("oneOf");
                members.insert("enum".to_owned(), Value::Array(values));
                if let Some(titles) = titles {
                    members.insert("enumNames".to_owned(), Value::Array(titles));
                }
            }
        }
    }
    field
}

fn default_of(field: &Value) -> Option<Value> {
    field
        .get("default")
        .filter(|default| !default.is_null())
        .cloned()
}

/// What a question without a name of its own is called.
const ID: &str = "answer";

/// How many bytes the fields of a form may have. A person reads them.
const BIGGEST: usize = 64 << 10;

/// How many bytes of the text are shown.
const LONGEST: usize = 8 << 10;

#[cfg(test)]
mod tests;
