//! [`ServerEntry`]: a server among those of a client, looked for in a file and put into it.

use std::fmt;

use serde_json::{Value as Json, json};

use super::{jsonc, toml};
use crate::client::AgentClient;

/// A server, as a client has it among its servers.
#[derive(Debug)]
pub struct ServerEntry {
    /// Its name.
    pub name: String,
    /// What is written under the name.
    pub value: Json,
    /// A value that the client asks for, which VS Code has in a list of its own.
    pub input: Option<Json>,
}

impl ServerEntry {
    /// Whether what is written says at least what this entry says. What somebody added to it is theirs.
    pub fn is_within(&self, written: &Json) -> bool {
        let wanted = self.value.as_object().into_iter().flatten();
        written.is_object()
            && wanted
                .into_iter()
                .all(|(key, value)| written.get(key) == Some(value))
    }
}

/// What a file has under the name of the entry.
#[derive(Debug, PartialEq, Eq)]
pub enum ExistingEntry {
    /// Nothing.
    Missing,
    /// This entry.
    Same,
    /// Another entry, as it is written.
    Other(String),
}

/// What is wrong with a file, and where.
#[derive(Debug, PartialEq, Eq)]
pub struct SettingsSyntaxError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    what: String,
}

impl SettingsSyntaxError {
    /// At a byte of a text.
    pub fn at(text: &str, at: usize, what: impl Into<String>) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        Self {
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
            what: what.into(),
        }
    }
}

impl fmt::Display for SettingsSyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}, column {}: {}",
            self.line, self.column, self.what
        )
    }
}

impl AgentClient {
    /// What a file has under the name of an entry.
    pub fn find(
        self,
        text: &str,
        entry: &ServerEntry,
    ) -> Result<ExistingEntry, SettingsSyntaxError> {
        if self == Self::Codex {
            return toml::find(text, self.servers(), entry);
        }
        let document = jsonc::Document::parse(text)?;
        Ok(match document.get(&[self.servers(), &entry.name])? {
            None => ExistingEntry::Missing,
            Some((value, _)) if entry.is_within(&value) => ExistingEntry::Same,
            Some((_, text)) => ExistingEntry::Other(text.to_owned()),
        })
    }

    /// The text of a file with an entry in it, and all else as it was.
    pub fn edit(self, text: &str, entry: &ServerEntry) -> Result<String, SettingsSyntaxError> {
        let (before, after, edited);
        if self == Self::Codex {
            edited = toml::edit(text, self.servers(), entry)?;
            (before, after) = (toml::value(text), toml::value(&edited));
        } else {
            let document = jsonc::Document::parse(text)?;
            let splices = document.set(&[self.servers(), &entry.name], &entry.value)?;
            before = document.value();
            edited = match &entry.input {
                None => jsonc::apply(text, &splices),
                Some(input) => with_input(&jsonc::apply(text, &splices), input)?,
            };
            after = jsonc::Document::parse(&edited)?.value();
        }
        // Files are written in more ways than anybody thinks of. One that would come out wrong is left alone.
        match after == Some(expected(before, self.servers(), entry)) {
            true => Ok(edited),
            false => {
                let what =
                    "the entry cannot be added without changing something else: add it by hand";
                Err(SettingsSyntaxError::at(text, 0, what))
            }
        }
    }
}

/// The text with a value to be asked for, unless it has one of that name.
fn with_input(text: &str, input: &Json) -> Result<String, SettingsSyntaxError> {
    let document = jsonc::Document::parse(text)?;
    let inputs = document.get(&["inputs"])?.map(|(inputs, _)| inputs);
    if has_input(inputs.as_ref(), input) {
        return Ok(text.to_owned());
    }
    Ok(jsonc::apply(text, &document.push("inputs", input)?))
}

fn has_input(inputs: Option<&Json>, input: &Json) -> bool {
    let inputs = inputs.and_then(Json::as_array).into_iter().flatten();
    inputs.into_iter().any(|other| other["id"] == input["id"])
}

/// What a file has to say once the entry is in it.
fn expected(before: Option<Json>, servers: &str, entry: &ServerEntry) -> Json {
    let mut all = before.unwrap_or_else(|| json!({}));
    if !all[servers].is_object() {
        all[servers] = json!({});
    }
    all[servers][&entry.name] = entry.value.clone();
    if let Some(input) = &entry.input
        && !has_input(all.get("inputs"), input)
    {
        match all.get_mut("inputs").and_then(Json::as_array_mut) {
            Some(inputs) => inputs.push(input.clone()),
            None => all["inputs"] = json!([input]),
        }
    }
    all
}
