//! [`Input`]: what is given to a running program.

use serde_json::{Map, Value};

use crate::{Key, KeyError, Size};

/// One thing that is given to a running program.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// Text, as if typed.
    Text(String),
    /// Text and the enter key.
    Line(String),
    /// Keys, one after the other.
    Keys(Vec<Key>),
    /// A new size of the terminal.
    Resize(Size),
    /// The end of the input.
    End,
}

impl Input {
    /// Reads the forms in which input is written.
    ///
    /// A string is text; an object is one of `{"line": "…"}`, `{"text": "…"}`, `{"key": "enter"}`,
    /// `{"keys": ["ctrl-c", "up"]}`, `{"resize": {"rows": 40, "cols": 120}}` and `{"end": true}`; a
    /// list holds any of these, in order. A number or a boolean is its text.
    ///
    /// ```
    /// use jig_pty::Input;
    /// use serde_json::json;
    ///
    /// let input = Input::read(&json!([{"line": "ls"}, {"key": "ctrl-d"}]))?;
    /// assert_eq!(input.len(), 2);
    /// assert_eq!(Input::read(&json!("y"))?, [Input::Text("y".to_owned())]);
    /// # Ok::<(), jig_pty::InputError>(())
    /// ```
    pub fn read(value: &Value) -> Result<Vec<Input>, InputError> {
        match value {
            Value::Array(items) => items.iter().map(read_one).collect(),
            one => Ok(vec![read_one(one)?]),
        }
    }
}

/// Why a value is no input.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The value has none of the forms.
    #[error("{what} is no input; {FORMS}")]
    Form {
        /// What was found.
        what: String,
    },
    /// A key has no known name.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A size is none.
    #[error("`resize` needs `rows` from 1 to {} and `cols` from 1 to {}", Size::MAX.rows, Size::MAX.cols)]
    Size,
}

fn read_one(value: &Value) -> Result<Input, InputError> {
    match value {
        Value::String(text) => Ok(Input::Text(text.clone())),
        Value::Number(number) => Ok(Input::Text(number.to_string())),
        Value::Bool(truth) => Ok(Input::Text(truth.to_string())),
        Value::Object(members) => read_object(members),
        Value::Null => Err(wrong("`null`")),
        Value::Array(_) => Err(wrong("a list inside a list")),
    }
}

fn read_object(members: &Map<String, Value>) -> Result<Input, InputError> {
    let mut all = members.iter();
    let (Some((name, value)), None) = (all.next(), all.next()) else {
        return Err(wrong(&format!("an object with {} members", members.len())));
    };
    match (name.as_str(), value) {
        ("line", value) => match plain(value) {
            Some(text) => Ok(Input::Line(text)),
            None => Err(wrong("`line` without a text")),
        },
        ("text", value) => match plain(value) {
            Some(text) => Ok(Input::Text(text)),
            None => Err(wrong("`text` without a text")),
        },
        ("key", Value::String(key)) => Ok(Input::Keys(vec![key.parse()?])),
        ("keys", Value::String(key)) => Ok(Input::Keys(vec![key.parse()?])),
        ("keys", Value::Array(keys)) => read_keys(keys),
        ("key" | "keys", _) => Err(wrong(&format!("`{name}` without the names of keys"))),
        ("resize", Value::Object(size)) => read_size(size),
        ("resize", _) => Err(InputError::Size),
        ("end", Value::Bool(true)) => Ok(Input::End),
        ("end", _) => Err(wrong("`end` that is not `true`")),
        (name, _) => {
            let shown: String = name.chars().take(SHOWN_CHARS).collect();
            Err(wrong(&format!("`{}`", jig_proto::visible_line(&shown))))
        }
    }
}

/// The text of a value that is one.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

fn read_keys(keys: &[Value]) -> Result<Input, InputError> {
    let key = |value: &Value| match value {
        Value::String(name) => Ok(name.parse()?),
        // A digit key, as a model may write it.
        Value::Number(number) => Ok(number.to_string().parse()?),
        _ => Err(wrong("`keys` without the names of keys")),
    };
    Ok(Input::Keys(keys.iter().map(key).collect::<Result<_, _>>()?))
}

fn read_size(size: &Map<String, Value>) -> Result<Input, InputError> {
    let number = |name: &str, most: u16| {
        let number = size.get(name).and_then(Value::as_u64);
        number
            .and_then(|number| u16::try_from(number).ok())
            .filter(|number| (1..=most).contains(number))
            .ok_or(InputError::Size)
    };
    if size.len() != 2 {
        return Err(InputError::Size);
    }
    let rows = number("rows", Size::MAX.rows)?;
    Ok(Input::Resize(Size::new(
        rows,
        number("cols", Size::MAX.cols)?,
    )))
}

fn wrong(what: &str) -> InputError {
    InputError::Form {
        what: what.to_owned(),
    }
}

const FORMS: &str = "it is a string, `{\"line\": \"…\"}` (text and enter), `{\"text\": \"…\"}`, \
     `{\"key\": \"enter\"}`, `{\"keys\": [\"ctrl-c\", \"up\"]}`, \
     `{\"resize\": {\"rows\": 24, \"cols\": 80}}`, `{\"end\": true}`, or a list of these";

/// How much of a strange name an error repeats.
const SHOWN_CHARS: usize = 40;

#[cfg(test)]
mod tests;
