//! [`Question`]: what a tool wants to know before it goes on.

use serde::Serialize;
use serde_json::{Value, json};

use crate::FieldError;
use crate::fields::{FieldPath, FromValue, ObjectFields, deserialize_from_value};
use crate::json::{self, JsonLimits};

/// A question of a tool, or of the policy on a tool's behalf.
///
/// It is written as `{id, text, context?, schema, default?}`. Older tools say `pre_amble` for
/// `context` and give an `answer_type` (`Boolean`, `Text`, `{"Select": {"options": […]}}`, in any
/// letter case) instead of a schema: those are read, never written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Question {
    /// The key under which the answer is handed to the tool.
    pub id: String,
    /// One line, shown beside the input.
    pub text: String,
    /// What to know before answering, shown above the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The JSON Schema that the answer must match: an object or a boolean.
    pub schema: Value,
    /// The answer that is taken if the asked one just confirms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
}

/// How a question is put to a person, by its schema.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Prompt<'a> {
    /// Yes or no.
    YesNo,
    /// One of these values; at least one.
    Select(&'a [Value]),
    /// A line of text.
    Text,
    /// Anything else: the answer is written as JSON, in an editor.
    Other,
}

impl Question {
    /// A question whose answer must match `schema`, without context or default.
    pub fn new(id: impl Into<String>, text: impl Into<String>, schema: Value) -> Self {
        Self {
            id: id.into(),
            text: text.into(),
            context: None,
            schema,
            default: None,
        }
    }

    /// A question that is answered by yes or no.
    pub fn yes_no(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(id, text, json!({"type": "boolean"}))
    }

    /// A question that is answered by any text.
    pub fn text(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(id, text, json!({"type": "string"}))
    }

    /// A question that is answered by one of `options`.
    pub fn select<T: Into<String>>(
        id: impl Into<String>,
        text: impl Into<String>,
        options: impl IntoIterator<Item = T>,
    ) -> Self {
        let options = options.into_iter().map(|one| Value::String(one.into()));
        Self::new(id, text, select_schema(options.collect()))
    }

    /// The question with a default answer.
    #[must_use]
    pub fn with_default(self, default: impl Into<Value>) -> Self {
        Self {
            // `null` is how the wire says that there is no default.
            default: Some(default.into()).filter(|value| !value.is_null()),
            ..self
        }
    }

    /// How to put the question to a person.
    pub fn prompt(&self) -> Prompt<'_> {
        let Value::Object(schema) = &self.schema else {
            return Prompt::Other;
        };
        let kind = match schema.get("type") {
            Some(Value::Array(kinds)) if kinds.len() == 1 => kinds.first(),
            other => other,
        };
        match (kind.and_then(Value::as_str), schema.get("enum")) {
            (Some("boolean"), _) => Prompt::YesNo,
            (_, Some(Value::Array(options))) if !options.is_empty() => Prompt::Select(options),
            (Some("string"), None) => Prompt::Text,
            _ => Prompt::Other,
        }
    }

    /// The `answer-type` of the WIT record: `boolean`, `text` or `{"select":{"options":[…]}}`.
    ///
    /// `None` if the schema asks for something else, which that record cannot say.
    pub fn wit_answer_type(&self) -> Option<String> {
        match self.prompt() {
            Prompt::YesNo => Some("boolean".to_owned()),
            Prompt::Text => Some("text".to_owned()),
            Prompt::Select(options) => Some(json!({"select": {"options": options}}).to_string()),
            Prompt::Other => None,
        }
    }

    /// The `default` of the WIT record: the default answer as JSON text.
    pub fn wit_default(&self) -> Option<String> {
        self.default.as_ref().map(Value::to_string)
    }

    /// The question from the four fields of the WIT record.
    ///
    /// # Errors
    ///
    /// If `answer_type` is none of the three that are allowed, in any letter case, or `default` is
    /// not JSON. Both texts come from a guest: they are read within [`JsonLimits::SHORT`].
    pub fn from_wit(
        id: impl Into<String>,
        text: impl Into<String>,
        answer_type: &str,
        default: Option<&str>,
    ) -> Result<Self, FieldError> {
        let at = FieldPath::Key(&FieldPath::Root, "answer-type");
        let answer_type = Value::String(answer_type.to_owned());
        let inner = match &answer_type {
            Value::String(text) if text.trim_start().starts_with('{') => {
                json::value(text.as_bytes(), &JsonLimits::SHORT)
                    .map_err(|_| FieldError::unexpected(at, ANSWER_TYPE, &answer_type))?
            }
            plain => plain.clone(),
        };
        let mut question = Self::new(id, text, schema_of_answer_type(inner, at)?);
        if let Some(default) = default {
            let value = json::value(default.as_bytes(), &JsonLimits::SHORT).map_err(|_| {
                let at = FieldPath::Key(&FieldPath::Root, "default");
                FieldError::unexpected(at, "JSON text", &Value::String(default.to_owned()))
            })?;
            question = question.with_default(value);
        }
        Ok(question)
    }
}

impl Question {
    pub(crate) fn from_fields(mut fields: ObjectFields<'_>) -> Result<Self, FieldError> {
        Ok(Self {
            id: fields.required("id", "a string")?,
            text: fields.required("text", "a string")?,
            context: match fields.optional("context")? {
                Some(context) => Some(context),
                None => fields.optional("pre_amble")?,
            },
            schema: read_schema(&mut fields)?,
            default: fields.take("default"),
        })
    }
}

impl FromValue for Question {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        let expected = "an object with `id`, `text` and `schema`";
        ObjectFields::open(value, at, expected).and_then(Self::from_fields)
    }
}

deserialize_from_value!(Question);

fn read_schema(fields: &mut ObjectFields<'_>) -> Result<Value, FieldError> {
    let at = fields.at();
    if let Some(schema) = fields.take("schema") {
        return match schema {
            Value::Object(_) | Value::Bool(_) => Ok(schema),
            other => {
                let at = FieldPath::Key(&at, "schema");
                Err(FieldError::unexpected(at, "a JSON Schema", &other))
            }
        };
    }
    match fields.take("answer_type") {
        Some(answer_type) => schema_of_answer_type(answer_type, FieldPath::Key(&at, "answer_type")),
        None => Err(FieldError::missing(
            FieldPath::Key(&at, "schema"),
            "a JSON Schema (or an `answer_type`)",
        )),
    }
}

fn schema_of_answer_type(answer_type: Value, at: FieldPath<'_>) -> Result<Value, FieldError> {
    match answer_type {
        Value::String(name) if name.eq_ignore_ascii_case("boolean") => {
            Ok(json!({"type": "boolean"}))
        }
        Value::String(name) if name.eq_ignore_ascii_case("text") => Ok(json!({"type": "string"})),
        Value::Object(members) if members.len() == 1 => {
            let expected = "`select` with its `options`";
            match members.into_iter().next() {
                Some((name, select)) if name.eq_ignore_ascii_case("select") => {
                    let at = FieldPath::Key(&at, "select");
                    select_options(select, at).map(select_schema)
                }
                Some((name, _)) => Err(FieldError::unexpected(at, expected, &Value::String(name))),
                None => Err(FieldError::missing(at, expected)),
            }
        }
        other => Err(FieldError::unexpected(at, ANSWER_TYPE, &other)),
    }
}

fn select_options(select: Value, at: FieldPath<'_>) -> Result<Vec<Value>, FieldError> {
    let expected = "an object with `options`";
    let Value::Object(members) = select else {
        return Err(FieldError::unexpected(at, expected, &select));
    };
    let options = members
        .into_iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("options"));
    let at = FieldPath::Key(&at, "options");
    match options {
        Some((_, Value::Array(options))) if !options.is_empty() => Ok(options),
        Some((_, other)) => Err(FieldError::unexpected(
            at,
            "a list that is not empty",
            &other,
        )),
        None => Err(FieldError::missing(at, "a list that is not empty")),
    }
}

fn select_schema(options: Vec<Value>) -> Value {
    if options.iter().all(Value::is_string) {
        json!({"type": "string", "enum": options})
    } else {
        json!({"enum": options})
    }
}

const ANSWER_TYPE: &str = "`boolean`, `text` or `{\"select\": {\"options\": […]}}`";

#[cfg(test)]
mod tests;
