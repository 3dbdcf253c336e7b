//! [`ToolArguments`]: the arguments of a call, each with an error that names it.

use jig_tool::ToolError;
use jig_tool::vfs::Host;
use serde_json::{Map, Value};

use crate::phrases::quoted;

/// The arguments of a call, taken out one by one.
pub(crate) struct ToolArguments(Map<String, Value>);

impl ToolArguments {
    pub(crate) fn of(host: &Host) -> Self {
        Self(host.tool().arguments.clone())
    }

    /// A path: text that is not empty.
    pub(crate) fn path(&mut self, name: &str) -> Result<String, ToolError> {
        self.optional_path(name)?
            .ok_or_else(|| missing(name, "a path"))
    }

    /// A path, if there is one.
    pub(crate) fn optional_path(&mut self, name: &str) -> Result<Option<String>, ToolError> {
        match self.optional_text(name)? {
            Some(path) if path.is_empty() => Err(ToolError::new(format!(
                "`{name}` is empty: give a path relative to the workspace (`.` is the workspace itself)"
            ))),
            path => Ok(path),
        }
    }

    /// Text that must be there.
    pub(crate) fn text(&mut self, name: &str) -> Result<String, ToolError> {
        self.optional_text(name)?
            .ok_or_else(|| missing(name, "a text"))
    }

    /// Text, if there is one.
    pub(crate) fn optional_text(&mut self, name: &str) -> Result<Option<String>, ToolError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(unexpected(name, "a text", &other)),
        }
    }

    /// A list of texts, if there is one. A single text is a list of one.
    pub(crate) fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>, ToolError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(vec![text])),
            Some(Value::Array(elements)) => {
                let text = |element| match element {
                    Value::String(text) => Ok(text),
                    other => Err(unexpected(name, "a list of texts", &other)),
                };
                elements
                    .into_iter()
                    .map(text)
                    .collect::<Result<_, _>>()
                    .map(Some)
            }
            Some(other) => Err(unexpected(name, "a list of texts", &other)),
        }
    }

    /// A list of objects that must be there.
    pub(crate) fn objects(&mut self, name: &str) -> Result<Vec<ToolArguments>, ToolError> {
        let elements = match self.take(name) {
            None => return Err(missing(name, "a list of objects")),
            Some(Value::Array(elements)) => elements,
            // Models forget the brackets around a single one.
            Some(Value::Object(only)) => vec![Value::Object(only)],
            Some(other) => return Err(unexpected(name, "a list of objects", &other)),
        };
        let object = |element| match element {
            Value::Object(members) => Ok(ToolArguments(members)),
            other => Err(unexpected(name, "a list of objects", &other)),
        };
        elements.into_iter().map(object).collect()
    }

    /// `true` or `false`; `false` if it is not there.
    pub(crate) fn flag(&mut self, name: &str) -> Result<bool, ToolError> {
        match self.take(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(other) => Err(unexpected(name, "`true` or `false`", &other)),
        }
    }

    /// A whole number that is not negative, if there is one. What is too large to count with is the
    /// largest that we can.
    pub(crate) fn count(&mut self, name: &str) -> Result<Option<u64>, ToolError> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let whole = match value.as_u64() {
            Some(count) => Some(count),
            // `3.0` is what some callers send for 3, and a number past 64 bits is read as a float.
            None => value
                .as_f64()
                .filter(|number| number.fract() == 0.0 && *number >= 0.0)
                .map(|number| number as u64),
        };
        match whole {
            Some(count) => Ok(Some(count)),
            None => Err(unexpected(name, "a whole number from 0", &value)),
        }
    }

    /// What is `null` is not there.
    fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name).filter(|value| !value.is_null())
    }
}

fn missing(name: &str, expected: &str) -> ToolError {
    ToolError::new(format!("`{name}` is missing: give {expected}"))
}

fn unexpected(name: &str, expected: &str, found: &Value) -> ToolError {
    let found = match found {
        Value::String(text) => format!("the text {}", quoted(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        plain => plain.to_string(),
    };
    ToolError::new(format!("`{name}` must be {expected}, not {found}"))
}
