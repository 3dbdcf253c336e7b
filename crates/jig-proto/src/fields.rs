//! Taking typed fields out of a JSON object, with errors that say what was expected and where.
//!
//! The forms that we read vary too much for derived code (one field under two names, a string or a
//! list, a flag that overrides an alias), and derived code for such forms answers every mistake
//! with "did not match any variant".

use std::fmt;

use serde_json::{Map, Value};

use crate::visible::visible_line;

/// A field of a message that is missing or is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldError {
    /// The field is absent, or `null`.
    #[error("`{at}` is missing: expected {expected}")]
    Missing {
        /// Where it should be, such as `question.id` or `access.fs[2].path`; `$` is the whole.
        at: String,
        /// What it should be.
        expected: &'static str,
    },
    /// The field holds something else.
    #[error("`{at}`: expected {expected}, found {found}")]
    Unexpected {
        /// Where it is.
        at: String,
        /// What it should be.
        expected: &'static str,
        /// What it is; a long text is shortened and control characters are escaped.
        found: String,
    },
}

impl FieldError {
    /// Where the field is or should be, such as `question.id`.
    pub fn at(&self) -> &str {
        match self {
            Self::Missing { at, .. } | Self::Unexpected { at, .. } => at,
        }
    }

    pub(crate) fn missing(at: FieldPath<'_>, expected: &'static str) -> Self {
        Self::Missing {
            at: at.to_string(),
            expected,
        }
    }

    pub(crate) fn unexpected(at: FieldPath<'_>, expected: &'static str, found: &Value) -> Self {
        Self::Unexpected {
            at: at.to_string(),
            expected,
            found: describe(found),
        }
    }
}

/// A place in a message; costs nothing until it is displayed.
#[derive(Clone, Copy)]
pub(crate) enum FieldPath<'a> {
    Root,
    Key(&'a FieldPath<'a>, &'a str),
    Index(&'a FieldPath<'a>, usize),
}

impl fmt::Display for FieldPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldPath::Root => f.write_str("$"),
            FieldPath::Key(FieldPath::Root, key) => write!(f, "{}", shortened(key)),
            FieldPath::Key(parent, key) => write!(f, "{parent}.{}", shortened(key)),
            FieldPath::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// A type that is read from a JSON value.
pub(crate) trait FromValue: Sized {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError>;
}

impl FromValue for String {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(FieldError::unexpected(at, "a string", &other)),
        }
    }
}

impl FromValue for bool {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        match value {
            Value::Bool(flag) => Ok(flag),
            other => Err(FieldError::unexpected(at, "`true` or `false`", &other)),
        }
    }
}

impl FromValue for i32 {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        value
            .as_i64()
            .and_then(|number| number.try_into().ok())
            .ok_or_else(|| FieldError::unexpected(at, "a whole number", &value))
    }
}

impl<T: FromValue> FromValue for Vec<T> {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        let Value::Array(elements) = value else {
            return Err(FieldError::unexpected(at, "a list", &value));
        };
        elements
            .into_iter()
            .enumerate()
            .map(|(index, element)| T::from_value(element, FieldPath::Index(&at, index)))
            .collect()
    }
}

/// Any value at all.
impl FromValue for Value {
    fn from_value(value: Value, _: FieldPath<'_>) -> Result<Self, FieldError> {
        Ok(value)
    }
}

/// The fields of one object. What is never taken is ignored, so that a message may carry more than
/// we know.
pub(crate) struct ObjectFields<'a> {
    map: Map<String, Value>,
    at: FieldPath<'a>,
}

impl<'a> ObjectFields<'a> {
    pub(crate) fn open(
        value: Value,
        at: FieldPath<'a>,
        expected: &'static str,
    ) -> Result<Self, FieldError> {
        match value {
            Value::Object(map) => Ok(Self { map, at }),
            other => Err(FieldError::unexpected(at, expected, &other)),
        }
    }

    pub(crate) fn at(&self) -> FieldPath<'a> {
        self.at
    }

    /// Takes the value of `key`, where `null` is the same as absent.
    pub(crate) fn take(&mut self, key: &str) -> Option<Value> {
        // Removing would move the members behind it: a tool could make that slow.
        match self.map.get_mut(key).map(Value::take) {
            Some(Value::Null) | None => None,
            some => some,
        }
    }

    pub(crate) fn optional<T: FromValue>(&mut self, key: &str) -> Result<Option<T>, FieldError> {
        let at = self.at;
        self.take(key)
            .map(|value| T::from_value(value, FieldPath::Key(&at, key)))
            .transpose()
    }

    pub(crate) fn required<T: FromValue>(
        &mut self,
        key: &str,
        expected: &'static str,
    ) -> Result<T, FieldError> {
        self.optional(key)?
            .ok_or_else(|| FieldError::missing(FieldPath::Key(&self.at, key), expected))
    }

    pub(crate) fn or_default<T: FromValue + Default>(
        &mut self,
        key: &str,
    ) -> Result<T, FieldError> {
        Ok(self.optional(key)?.unwrap_or_default())
    }
}

/// Implements `Deserialize` by reading a value without repeated keys and then its fields.
macro_rules! deserialize_from_value {
    ($($type:ty),+ $(,)?) => {$(
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let crate::json::Unique(value) = serde::Deserialize::deserialize(deserializer)?;
                crate::fields::FromValue::from_value(value, crate::fields::FieldPath::Root)
                    .map_err(serde::de::Error::custom)
            }
        }
    )+};
}
pub(crate) use deserialize_from_value;

/// `text` in double quotes, escaped and shortened, for a message that shows what a tool wrote.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", shortened(text))
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", visible_line(&text[..end])),
        None => visible_line(text),
    }
}

fn describe(value: &Value) -> String {
    match value {
        Value::Null => "`null`".to_owned(),
        Value::Bool(flag) => format!("`{flag}`"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the string {}", quoted(text)),
        Value::Array(elements) if elements.is_empty() => "an empty list".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// How much of a tool's text an error repeats. Without it an error is as large as the message.
const SHOWN_CHARS: usize = 60;
