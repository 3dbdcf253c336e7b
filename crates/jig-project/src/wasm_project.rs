//! A new project that is a tool, complete and ready to be built: its name, its files, its folder.

#![expect(
    clippy::disallowed_methods,
    reason = "a person has files made in a folder of their own, before any tool is there"
)]

mod templates;

use std::io;

use anyhow::{Context, anyhow, bail};
use camino::Utf8Path;
use jig_proto::{hint, visible_lines};

pub use templates::{JS, PYTHON, ProjectTemplate, RUST};

/// Makes the folder with all files, or nothing.
pub fn make(dir: &Utf8Path, files: &[(&str, String)]) -> anyhow::Result<()> {
    let (Some(parent), Some(_)) = (dir.parent(), dir.file_name()) else {
        bail!("`{dir}` is not the name of a new folder");
    };
    let parent = match parent.as_str() {
        "" => Utf8Path::new("."),
        _ => parent,
    };
    let cannot = || format!("cannot make `{dir}`");
    std::fs::create_dir_all(parent).with_context(cannot)?;
    // Everything is written elsewhere and appears in one step, so that half a project is never there.
    let scratch = tempfile::Builder::new()
        .prefix(".jig-new-")
        .tempdir_in(parent)
        .with_context(cannot)?;
    let draft = scratch.path().join("project");
    for (path, text) in files {
        let path = draft.join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(cannot)?;
        }
        std::fs::write(path, text).with_context(cannot)?;
    }
    // A folder takes the place of an empty one and of nothing else.
    match std::fs::rename(&draft, dir) {
        Ok(()) => Ok(()),
        Err(error) if is_taken(&error) => {
            let hint =
                hint!("choose another name, or another folder with --dir; nothing was changed");
            Err(anyhow!(hint).context(format!("there is already something at `{dir}`")))
        }
        Err(error) => Err(anyhow!(error).context(cannot())),
    }
}

fn is_taken(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::AlreadyExists
            | io::ErrorKind::DirectoryNotEmpty
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::ResourceBusy
    )
}

/// The name of a project: words of lower-case letters and digits, each beginning with a letter.
#[derive(Debug, PartialEq, Eq)]
pub struct ProjectName {
    words: Vec<String>,
}

impl ProjectName {
    /// Reads a name, or says which one could have been meant.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let name = Self {
            words: text.split(['-', '_']).map(str::to_owned).collect(),
        };
        let is_word = |word: &String| {
            word.starts_with(|c: char| c.is_ascii_lowercase())
                && word
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        };
        let problem = if !name.words.iter().all(is_word) {
            "a name has small letters and digits, in words that begin with a letter: word-count"
        } else if text.len() > MOST_LETTERS {
            "a name has at most 50 letters"
        } else if TAKEN.contains(&name.snake().as_str()) {
            "it means something else in one of the languages"
        } else {
            return Ok(name);
        };
        let text = visible_lines(text);
        let error = match suggestion(&text) {
            Some(other) => anyhow!(hint!("{problem}; did you mean `{other}`?")),
            None => anyhow!(hint!("{problem}")),
        };
        Err(error.context(format!("`{text}` cannot be the name of a tool's project")))
    }

    /// For folders and packages.
    pub fn kebab(&self) -> String {
        self.words.join("-")
    }

    /// For the tool and its component.
    pub fn snake(&self) -> String {
        self.words.join("_")
    }

    /// A text of a template, with this name in place of the template's own.
    pub fn put_into(&self, text: &str) -> String {
        text.replace("my-tool", &self.kebab())
            .replace("my_tool", &self.snake())
    }
}

/// The nearest text that is a name.
fn suggestion(text: &str) -> Option<String> {
    let mut words: Vec<String> = Vec::new();
    let mut was_lower = false;
    for c in text.chars() {
        // `wordCount` is two words.
        let begins = c.is_ascii_uppercase() && was_lower;
        was_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        if !c.is_ascii_alphanumeric() {
            words.push(String::new());
            continue;
        }
        if begins || words.is_empty() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(c.to_ascii_lowercase());
        }
    }
    let mut words: Vec<&str> = words
        .iter()
        .map(|word| word.trim_start_matches(|c: char| c.is_ascii_digit()))
        .filter(|word| !word.is_empty())
        .collect();
    let snake = words.join("_");
    if TAKEN.contains(&snake.as_str()) {
        words.push("tool");
    }
    let name: String = words.join("-").chars().take(MOST_LETTERS).collect();
    let name = name.trim_end_matches('-').to_owned();
    (!name.is_empty()).then_some(name)
}

/// Shorter than the name of a tool may be, so that it also fits where something is added to it.
const MOST_LETTERS: usize = 50;

/// Names that a compiler, a package manager or the project itself uses for something else.
const TAKEN: [&str; 41] = [
    "alloc",
    "app",
    "as",
    "async",
    "await",
    "break",
    "component",
    "const",
    "continue",
    "core",
    "crate",
    "dyn",
    "else",
    "enum",
    "extern",
    "fn",
    "for",
    "if",
    "impl",
    "in",
    "json",
    "let",
    "loop",
    "match",
    "mod",
    "move",
    "mut",
    "pub",
    "ref",
    "return",
    "self",
    "serde",
    "serde_json",
    "static",
    "std",
    "struct",
    "super",
    "test",
    "use",
    "wit_bindgen",
    "wit_world",
];

#[cfg(test)]
mod tests;
