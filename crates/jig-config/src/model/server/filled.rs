//! [`ServerSettingText`]: a text of a server's entry that may hold variables, or that a command prints.
//!
//! Nothing is filled in while a configuration is loaded, so that no value can get into a message, a list
//! or a file by way of it. Whoever starts the server calls [`ServerSettingText::fill`].

use std::fmt;

use serde_json::{Value as Json, json};

use crate::quoting::clean;
use crate::value::{ConfigNode, Value};

/// A text in which `${NAME}` stands for a variable of the environment and `${NAME:-text}` for a variable
/// that may be missing; `$$` is a `$`. Or the words of a command that prints the text.
///
/// `Display` shows it as it was written.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ServerSettingText(SettingTextForm);

#[derive(Clone, PartialEq, Eq, Hash)]
enum SettingTextForm {
    Text {
        written: String,
        parts: Vec<ServerTextPart>,
    },
    Command(Vec<String>),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum ServerTextPart {
    Literal(String),
    Variable {
        name: String,
        /// What stands for it where it is not set, or empty.
        default: Option<String>,
    },
}

/// Why a text could not be filled. Says what is missing, and never a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FillError {
    /// A variable is not set, and nothing is given in its place.
    #[error("the variable `{0}` is not set")]
    Variable(String),
    /// The command that prints the text failed.
    #[error("the command `{}` did not give a value: {reason}", clean(program))]
    Command {
        /// Its first word.
        program: String,
        /// Why, in the words of whoever ran it.
        reason: String,
    },
    /// What came out holds a NUL byte or the end of a line, which no variable, argument or header can.
    #[error("the value of {} holds a line break or a NUL byte", clean(.0))]
    Unusable(String),
}

/// Why a text with variables cannot be read. Does not repeat the text, which may be a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FilledError {
    /// `${` without `}`.
    #[error("`${{` is not closed by `}}`")]
    Open,
    /// The name of a variable is none.
    #[error("what stands in `${{…}}` is not the name of a variable")]
    Name,
    /// A variable of another program, such as `${env:NAME}` or `${workspaceFolder}`.
    #[error("`${{…}}` holds a variable as another program spells it")]
    Foreign,
    /// A variable in the text that stands in its place.
    #[error("the default of a variable cannot hold another variable")]
    Nested,
    /// A NUL byte.
    #[error("it holds a NUL byte")]
    Nul,
}

impl ServerSettingText {
    /// Reads a text with variables.
    ///
    /// # Errors
    ///
    /// If something after `$` cannot be read. The text is not repeated.
    pub fn parse(text: &str) -> Result<Self, FilledError> {
        if text.contains('\0') {
            return Err(FilledError::Nul);
        }
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            literal.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            rest = match after.as_bytes().first() {
                Some(b'$') => {
                    literal.push('$');
                    &after[1..]
                }
                Some(b'{') => {
                    let end = after.find('}').ok_or(FilledError::Open)?;
                    let variable = variable(&after[1..end])?;
                    if !literal.is_empty() {
                        parts.push(ServerTextPart::Literal(std::mem::take(&mut literal)));
                    }
                    parts.push(variable);
                    &after[end + 1..]
                }
                _ => {
                    literal.push('$');
                    after
                }
            };
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(ServerTextPart::Literal(literal));
        }
        Ok(Self(SettingTextForm::Text {
            written: text.to_owned(),
            parts,
        }))
    }

    /// The first variable in a text that is written as a shell would have it, `$NAME`, and is not filled in.
    ///
    /// A guess by the usual spelling of variables, so that passwords and prices are not taken for one.
    pub(crate) fn bare_variable(text: &str) -> Option<&str> {
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            rest = &rest[at + 1..];
            // `$$` is a `$`, whatever follows.
            if let Some(after) = rest.strip_prefix('$') {
                rest = after;
                continue;
            }
            let fits = |one: char| one.is_ascii_uppercase() || one.is_ascii_digit() || one == '_';
            let name = &rest[..rest.find(|one| !fits(one)).unwrap_or(rest.len())];
            if name.starts_with(|first: char| !first.is_ascii_digit()) {
                return Some(name);
            }
        }
        None
    }

    /// The text exactly as it is, whatever `$` it holds.
    pub fn literal(text: &str) -> Self {
        let parts = match text {
            "" => Vec::new(),
            text => vec![ServerTextPart::Literal(text.to_owned())],
        };
        Self(SettingTextForm::Text {
            written: text.replace('$', "$$"),
            parts,
        })
    }

    /// What the words of a command print, without the line's end.
    pub fn from_command(words: Vec<String>) -> Self {
        Self(SettingTextForm::Command(words))
    }

    /// Reads a checked value: a text, or a table with `command`.
    pub(crate) fn read(node: &ConfigNode) -> Result<Self, FilledError> {
        match &node.value {
            Value::Table(_) => {
                let words = node
                    .get("command")
                    .map(ConfigNode::texts)
                    .unwrap_or_default();
                match words.iter().any(|word| word.contains('\0')) {
                    true => Err(FilledError::Nul),
                    false => Ok(Self::from_command(words)),
                }
            }
            _ => Self::parse(node.text().unwrap_or_default()),
        }
    }

    /// Whether it holds a variable or comes from a command, so that what it comes to is not for logs.
    pub fn is_secret(&self) -> bool {
        match &self.0 {
            SettingTextForm::Command(_) => true,
            SettingTextForm::Text { parts, .. } => {
                let is_variable =
                    |part: &ServerTextPart| matches!(part, ServerTextPart::Variable { .. });
                parts.iter().any(is_variable)
            }
        }
    }

    /// The names of its variables, in their order.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        let parts = match &self.0 {
            SettingTextForm::Text { parts, .. } => parts.as_slice(),
            SettingTextForm::Command(_) => &[],
        };
        parts.iter().filter_map(|part| match part {
            ServerTextPart::Variable { name, .. } => Some(name.as_str()),
            ServerTextPart::Literal(_) => None,
        })
    }

    /// The words of the command that prints it.
    pub fn command(&self) -> Option<&[String]> {
        match &self.0 {
            SettingTextForm::Command(words) => Some(words),
            SettingTextForm::Text { .. } => None,
        }
    }

    /// The text, if nothing has to be filled in.
    pub fn plain(&self) -> Option<&str> {
        match &self.0 {
            SettingTextForm::Text { parts, .. } => match parts.as_slice() {
                [] => Some(""),
                [ServerTextPart::Literal(text)] => Some(text),
                _ => None,
            },
            SettingTextForm::Command(_) => None,
        }
    }

    /// What stands in it besides variables and commands, part by part.
    pub(crate) fn literals(&self) -> impl Iterator<Item = &str> {
        let parts = match &self.0 {
            SettingTextForm::Text { parts, .. } => parts.as_slice(),
            SettingTextForm::Command(_) => &[],
        };
        parts.iter().filter_map(|part| match part {
            ServerTextPart::Literal(text) => Some(text.as_str()),
            ServerTextPart::Variable { default, .. } => default.as_deref(),
        })
    }

    /// The text with everything filled in. `look` finds the value of a variable, `run` runs a command and
    /// gives what it printed, or why it failed, without any of what it printed. One line's end behind what a
    /// command prints does not count.
    ///
    /// # Errors
    ///
    /// If a variable is missing or a command fails; no value is part of the error.
    pub fn fill(
        &self,
        look: &mut dyn FnMut(&str) -> Option<String>,
        run: &mut dyn FnMut(&[String]) -> Result<String, String>,
    ) -> Result<String, FillError> {
        let (filled, what) = match &self.0 {
            SettingTextForm::Command(words) => {
                let program = words.first().cloned().unwrap_or_default();
                let printed = run(words).map_err(|reason| FillError::Command {
                    program: program.clone(),
                    reason,
                })?;
                let value = printed.strip_suffix('\n').unwrap_or(&printed);
                let value = value.strip_suffix('\r').unwrap_or(value).to_owned();
                if value.is_empty() {
                    return Err(FillError::Command {
                        program,
                        reason: "it printed nothing".to_owned(),
                    });
                }
                (value, format!("the command `{}`", clean(&program)))
            }
            SettingTextForm::Text { parts, .. } => {
                let mut filled = String::new();
                let mut what = String::new();
                for part in parts {
                    match part {
                        ServerTextPart::Literal(text) => filled.push_str(text),
                        ServerTextPart::Variable { name, default } => {
                            let value = look(name);
                            let value = match default {
                                // As in a shell: `:-` also stands for what is empty.
                                Some(default) => value
                                    .filter(|value| !value.is_empty())
                                    .or_else(|| Some(default.clone())),
                                None => value,
                            };
                            let value = value.ok_or_else(|| FillError::Variable(name.clone()))?;
                            filled.push_str(&value);
                            what = format!("the variable `{}`", clean(name));
                        }
                    }
                }
                (filled, what)
            }
        };
        // A text that somebody wrote may have lines; what comes from elsewhere could end a header with them.
        if self.is_secret() && filled.contains(['\n', '\r', '\0']) {
            return Err(FillError::Unusable(what));
        }
        Ok(filled)
    }

    /// As it was written, for programs.
    pub(crate) fn to_json(&self) -> Json {
        match &self.0 {
            SettingTextForm::Text { written, .. } => Json::String(written.clone()),
            SettingTextForm::Command(words) => json!({ "command": words }),
        }
    }
}

/// As it was written: `${TOKEN}`, or `{ command = ["gh", "auth", "token"] }`.
impl fmt::Display for ServerSettingText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            SettingTextForm::Text { written, .. } => f.write_str(written),
            SettingTextForm::Command(words) => {
                let words = words.iter().map(|word| crate::show::basic_string(word));
                let words: Vec<String> = words.collect();
                write!(f, "{{ command = [{}] }}", words.join(", "))
            }
        }
    }
}

/// Only what is no literal: a person may have written a secret there.
impl fmt::Debug for ServerSettingText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            SettingTextForm::Command(words) => f.debug_tuple("Command").field(words).finish(),
            SettingTextForm::Text { .. } => {
                let variables: Vec<&str> = self.variables().collect();
                f.debug_struct("Text")
                    .field("variables", &variables)
                    .finish_non_exhaustive()
            }
        }
    }
}

/// What stands between `${` and `}`.
fn variable(inside: &str) -> Result<ServerTextPart, FilledError> {
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    let begins = |one: char| one.is_ascii_alphabetic() || one == '_';
    let goes_on = |one: char| one.is_ascii_alphanumeric() || one == '_';
    if default.is_some_and(|default| default.contains("${")) {
        return Err(FilledError::Nested);
    }
    if !(name.starts_with(begins) && name.chars().all(goes_on)) {
        let is_foreign = name.contains([':', '.']) && name.starts_with(begins);
        return Err(match is_foreign {
            true => FilledError::Foreign,
            false => FilledError::Name,
        });
    }
    if FOREIGN.contains(&name) {
        return Err(FilledError::Foreign);
    }
    Ok(ServerTextPart::Variable {
        name: name.to_owned(),
        default: default.map(str::to_owned),
    })
}

/// Variables of editors that are no variables of an environment.
const FOREIGN: [&str; 6] = [
    "workspaceFolder",
    "workspaceFolderBasename",
    "userHome",
    "pathSeparator",
    "workspaceRoot",
    "cwd",
];

#[cfg(test)]
mod tests;
