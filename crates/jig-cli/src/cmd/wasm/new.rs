//! `jig wasm new`: a small project that is a tool, complete and ready to be built.

#![expect(
    clippy::disallowed_methods,
    reason = "a person has files made in a folder of their own, before any tool is there"
)]

use std::io;

use anyhow::{Context, anyhow, bail};
use camino::{Utf8Path, Utf8PathBuf};
use jig_project::locate;
use jig_proto::{hint, visible_line, visible_lines};
use serde_json::json;

use super::templates::{self, Template};
use crate::args::{Global, WasmNewArgs};
use crate::exit::Done;
use crate::output::{BOLD, DIM, GREEN, Output, field, indented};

pub(crate) fn run(args: &WasmNewArgs, global: &Global, out: &mut Output) -> anyhow::Result<Done> {
    let name = Name::parse(&args.name)?;
    let template = templates::of(args.lang);
    let dir = args.dir.clone().unwrap_or_else(|| name.kebab().into());
    let files: Vec<(&str, String)> = template
        .files
        .iter()
        .map(|(path, text)| (*path, name.put_into(text)))
        .collect();
    make(&dir, &files)?;
    let made = Made {
        name: &name,
        template,
        component: name.put_into(template.component),
        outer: around(&dir, global),
        dir: &dir,
    };
    if out.is_json() {
        let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
        return told_as_json(&made, &paths, out);
    }
    told(&made, &files, out)
}

/// What was made.
struct Made<'a> {
    name: &'a Name,
    template: &'a Template,
    dir: &'a Utf8Path,
    /// The component that building gives, below the folder.
    component: String,
    /// The folder as seen from the workspace around it, if it lies in one.
    outer: Option<Utf8PathBuf>,
}

impl Made<'_> {
    /// One line for a shell, from here to a component.
    fn build(&self) -> String {
        let steps = self.name.put_into(self.template.build);
        format!("cd {} && {steps}", quoted(self.dir.as_str()))
    }

    fn call(&self) -> String {
        let (dir, tool) = (quoted(self.dir.as_str()), self.name.snake());
        format!("jig -C {dir} call {tool} path=README.md")
    }

    /// What the workspace around it needs in its configuration.
    fn lines(&self) -> Option<String> {
        let component = self.outer.as_ref()?.join(&self.component);
        let tool = self.name.snake();
        // A TOML string of this kind is written as a JSON string is.
        let component = json!(component.as_str());
        Some(format!(
            "[tools.{tool}]\nsource = \"local\"\nwasm = {component}\n"
        ))
    }
}

fn told(made: &Made<'_>, files: &[(&str, String)], out: &mut Output) -> anyhow::Result<Done> {
    let dir = visible_line(made.dir.as_str());
    let language = made.template.language;
    let mut text = format!(
        "{GREEN}made{GREEN:#} {BOLD}{dir}{BOLD:#}: a tool in {language}, {} files\n",
        files.len()
    );
    text.push_str(&field("edit", format_args!("{dir}/{}", made.template.main)));
    text.push_str(&field("build", visible_lines(&made.build())));
    text.push_str(&field("run", visible_lines(&made.call())));
    if let Some(lines) = made.lines() {
        text.push_str(&format!(
            "{DIM}For the workspace around it, in its jig.toml:{DIM:#}\n{}",
            indented(&visible_lines(&lines), 2)
        ));
    }
    out.text(&text)?;
    Ok(Done::Ok)
}

fn told_as_json(made: &Made<'_>, paths: &[&str], out: &mut Output) -> anyhow::Result<Done> {
    out.json(&json!({
        "name": made.name.snake(),
        "dir": made.dir,
        "files": paths,
        "component": made.component,
        "build": made.build(),
        "call": made.call(),
        "config": made.lines(),
    }))?;
    Ok(Done::Ok)
}

/// The folder as the workspace around the current folder names it.
fn around(dir: &Utf8Path, global: &Global) -> Option<Utf8PathBuf> {
    let root = locate::root(global.workspace.as_deref()).ok()?;
    let dir = locate::resolved(dir).ok()?;
    dir.strip_prefix(root).ok().map(Utf8Path::to_owned)
}

/// Makes the folder with all files, or nothing.
fn make(dir: &Utf8Path, files: &[(&str, String)]) -> anyhow::Result<()> {
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

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    match !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The name of a project: words of lower-case letters and digits, each beginning with a letter.
#[derive(Debug, PartialEq, Eq)]
struct Name {
    words: Vec<String>,
}

impl Name {
    fn parse(text: &str) -> anyhow::Result<Self> {
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
    fn kebab(&self) -> String {
        self.words.join("-")
    }

    /// For the tool and its component.
    fn snake(&self) -> String {
        self.words.join("_")
    }

    /// A text of a template, with this name in place of the template's own.
    fn put_into(&self, text: &str) -> String {
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
