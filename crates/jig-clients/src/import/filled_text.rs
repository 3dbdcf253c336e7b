//! [`ImportText`]: what a client's file says, with the client's variables turned into jig's.

use camino::Utf8Path;

use super::ImportFrom;
use super::declared::ImportContext;

/// A text of a server: as a configuration of jig has it, and what it comes to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportText {
    parts: Vec<ImportTextPart>,
}

/// A piece of a [`ImportText`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportTextPart {
    /// Characters as they are.
    Plain(String),
    /// A variable of the environment.
    Variable {
        /// Its name.
        name: String,
        /// What stands for it where it is not set.
        default: Option<String>,
        /// What it would be now, if that is known from elsewhere than the environment: the secret that the
        /// client's file holds, or the default of a question.
        known: Option<String>,
    },
}

impl ImportText {
    /// A text without variables.
    #[cfg(test)]
    pub fn plain(text: &str) -> Self {
        Self::of(vec![ImportTextPart::Plain(text.to_owned())])
    }

    /// A variable and nothing else.
    pub fn variable(name: &str, known: Option<&str>) -> Self {
        Self::of(vec![ImportTextPart::Variable {
            name: name.to_owned(),
            default: None,
            known: known.map(str::to_owned),
        }])
    }

    /// These parts, one after the other.
    pub fn of(parts: Vec<ImportTextPart>) -> Self {
        let mut text = Self::default();
        for part in parts {
            match (text.parts.last_mut(), part) {
                (Some(ImportTextPart::Plain(before)), ImportTextPart::Plain(more)) => {
                    before.push_str(&more)
                }
                (_, ImportTextPart::Plain(more)) if more.is_empty() => {}
                (_, part) => text.parts.push(part),
            }
        }
        text
    }

    /// Its pieces; no two plain ones follow each other.
    pub fn parts(&self) -> &[ImportTextPart] {
        &self.parts
    }

    /// The whole of it, if it holds no variable.
    pub fn as_plain(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [ImportTextPart::Plain(text)] => Some(text),
            _ => None,
        }
    }

    /// Puts a variable in the place of a value. Says whether it was there.
    pub fn hide(&mut self, value: &str, variable: &str) -> bool {
        let is_there = |part: &ImportTextPart| matches!(part, ImportTextPart::Plain(plain) if plain.contains(value));
        if value.is_empty() || !self.parts.iter().any(is_there) {
            return false;
        }
        let mut parts = Vec::new();
        for part in &self.parts {
            let ImportTextPart::Plain(plain) = part else {
                parts.push(part.clone());
                continue;
            };
            for (index, piece) in plain.split(value).enumerate() {
                if index > 0 {
                    parts.extend(Self::variable(variable, Some(value)).parts);
                }
                parts.push(ImportTextPart::Plain(piece.to_owned()));
            }
        }
        *self = Self::of(parts);
        true
    }

    /// As a configuration of jig has it.
    pub fn written(&self) -> String {
        let part = |part: &ImportTextPart| match part {
            ImportTextPart::Plain(text) => text.replace('$', "$$"),
            ImportTextPart::Variable { name, default, .. } => match default {
                Some(default) => format!("${{{name}:-{default}}}"),
                None => format!("${{{name}}}"),
            },
        };
        self.parts.iter().map(part).collect()
    }

    /// What it comes to with these variables; the name of the first that is missing otherwise.
    pub fn filled<'t>(&'t self, look: &dyn Fn(&str) -> Option<String>) -> Result<String, &'t str> {
        let part = |part: &'t ImportTextPart| match part {
            ImportTextPart::Plain(text) => Ok(text.clone()),
            ImportTextPart::Variable {
                name,
                default,
                known,
            } => {
                let set = known.clone().or_else(|| look(name));
                // As shells have it: what is set to nothing is not set.
                let set = set.filter(|value| default.is_none() || !value.is_empty());
                set.or_else(|| default.clone()).ok_or(name.as_str())
            }
        };
        self.parts.iter().map(part).collect()
    }

    /// The names of its variables.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            ImportTextPart::Plain(_) => None,
            ImportTextPart::Variable { name, .. } => Some(name.as_str()),
        })
    }
}

/// Where a text stands: a path is meant from the workspace where a program gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportTextPlace {
    /// A word of the command, or the value of a variable.
    Program,
    /// An address or a header.
    Remote,
}

/// Reads a text as the client does. An error names what only that client can fill in.
pub fn read(
    text: &str,
    place: ImportTextPlace,
    context: &ImportContext<'_>,
) -> Result<ImportText, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, from) = rest.split_at(at);
        let Some(end) = from.find('}') else {
            break;
        };
        parts.push(ImportTextPart::Plain(before.to_owned()));
        let inside = &from[2..end];
        let root = || ImportTextPart::Plain(root(place, &parts, context.root));
        let part = match context.client {
            ImportFrom::Codex => None,
            ImportFrom::Claude => of_shell(inside, root, context),
            ImportFrom::Cursor | ImportFrom::VsCode => Some(of_editor(inside, root, context)?),
        };
        match part {
            Some(part) => {
                parts.push(part);
                rest = &from[end + 1..];
            }
            None => {
                parts.push(ImportTextPart::Plain("${".to_owned()));
                rest = &from[2..];
            }
        }
    }
    parts.push(ImportTextPart::Plain(rest.to_owned()));
    Ok(ImportText::of(parts))
}

/// A variable as a shell writes it. What is none stays as it is.
fn of_shell(
    inside: &str,
    root: impl Fn() -> ImportTextPart,
    context: &ImportContext<'_>,
) -> Option<ImportTextPart> {
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    if !is_variable(name) || default.is_some_and(|it| it.contains('$')) {
        return None;
    }
    Some(match name {
        // What is filled in by a variable counts as a secret and is taken out of results, which the path of the
        // home must not be.
        "HOME" if context.home.is_some() => home(context),
        "CLAUDE_PROJECT_DIR" | "PWD" => root(),
        name => ImportTextPart::Variable {
            name: name.to_owned(),
            default: default.map(str::to_owned),
            known: None,
        },
    })
}

/// A variable as editors write it.
fn of_editor(
    inside: &str,
    root: impl Fn() -> ImportTextPart,
    context: &ImportContext<'_>,
) -> Result<ImportTextPart, String> {
    let variable = |name: &str, default: Option<String>| ImportTextPart::Variable {
        name: name.to_owned(),
        default,
        known: None,
    };
    if let Some(name) = inside.strip_prefix("env:") {
        return match (is_variable(name), name) {
            (true, "HOME") if context.home.is_some() => Ok(home(context)),
            (true, name) => Ok(variable(name, None)),
            (false, _) => Err(format!("`${{{inside}}}` names no variable")),
        };
    }
    if let Some(id) = inside.strip_prefix("input:") {
        let input = context.inputs.iter().find(|input| input.id == id);
        let input = input
            .ok_or_else(|| format!("`${{{inside}}}` is not among the `inputs` of the file"))?;
        return Ok(variable(&input.variable, input.default.clone()));
    }
    Ok(match inside {
        "workspaceFolder" => root(),
        "workspaceFolderBasename" => {
            ImportTextPart::Plain(context.root.file_name().unwrap_or_default().to_owned())
        }
        "userHome" if context.home.is_some() => home(context),
        "pathSeparator" | "/" => ImportTextPart::Plain("/".to_owned()),
        _ => {
            return Err(format!(
                "`${{{inside}}}` is a variable that only the client can fill in"
            ));
        }
    })
}

/// The workspace. Servers start there, so that a word or a value that begins with it can do without its path,
/// which is another on every machine.
fn root(place: ImportTextPlace, before: &[ImportTextPart], root: &Utf8Path) -> String {
    let begins = match before {
        [ImportTextPart::Plain(text)] => {
            text.is_empty() || text.starts_with('-') && text.ends_with('=')
        }
        _ => false,
    };
    match place == ImportTextPlace::Program && begins {
        true => ".".to_owned(),
        false => root.to_string(),
    }
}

fn home(context: &ImportContext<'_>) -> ImportTextPart {
    ImportTextPart::Plain(context.home.map(ToString::to_string).unwrap_or_default())
}

/// Whether this is the name of a variable of the environment.
pub fn is_variable(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.len() <= LONGEST_VARIABLE
        && name.chars().all(is_part)
        && name.starts_with(|c: char| !c.is_ascii_digit())
}

/// A name for a variable that says what this text does.
pub fn as_variable(text: &str) -> String {
    let letters = text.chars().take(LONGEST_VARIABLE / 2);
    let letters = letters.map(|c| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_uppercase(),
        false => '_',
    });
    let name: String = letters.collect();
    match name.trim_matches('_') {
        "" => "VALUE".to_owned(),
        name if name.starts_with(|c: char| c.is_ascii_digit()) => format!("_{name}"),
        name => name.to_owned(),
    }
}

/// Longer names are nobody's.
const LONGEST_VARIABLE: usize = 128;

#[cfg(test)]
mod tests;
