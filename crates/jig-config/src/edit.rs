//! [`ConfigEdit`]: changes to a person's file of configuration that keep their comments, order and layout.
//!
//! It only ever adds: what was granted before is granted afterwards. The text is checked by
//! [`ConfigEdit::check`], which loads it in place of the file, and written by [`ConfigEdit::save`].

mod lists;
mod rules;
mod save;

use std::fmt;

use camino::Utf8Path;
use jig_policy::FileCapabilities;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use crate::loading::load::{LoadedConfig, load_with};
use crate::loading::sources::Sources;
use crate::model::Preset;
use crate::problem::ConfigErrors;
use crate::quoting::quote;
use crate::show::basic_string;

pub use save::SaveError;

/// A file of configuration that is being changed.
#[derive(Debug, Clone)]
pub struct ConfigEdit {
    before: Option<String>,
    document: DocumentMut,
}

/// What a tool is to have besides what it has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Additions {
    /// What the tool starts, word by word, for one that is new. A tool that has a command keeps it.
    pub command: Option<Vec<String>>,
    /// Rules on files of the workspace. One on a path that has a rule widens that rule.
    pub fs: Vec<AddedFs>,
    /// Hosts that may be reached.
    pub net: Vec<AddedNet>,
    /// Paths outside the workspace. One that is there already is widened.
    pub system: Vec<AddedSystem>,
    /// Toolchains.
    pub presets: Vec<Preset>,
}

/// A rule on files to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedFs {
    /// Relative to the workspace; `.` is the workspace.
    pub path: String,
    /// What is granted there.
    pub capabilities: FileCapabilities,
    /// What a reader should know about it, line by line.
    pub comment: Vec<String>,
}

/// A rule on a host to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedNet {
    /// The host.
    pub host: String,
    /// Only this scheme.
    pub scheme: Option<String>,
    /// Only this port.
    pub port: Option<u16>,
    /// Only URLs whose path begins so.
    pub path_prefix: Option<String>,
    /// What a reader should know about it, line by line.
    pub comment: Vec<String>,
}

/// A path outside the workspace to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedSystem {
    /// Absolute, or starting with `~/`.
    pub path: String,
    /// Whether it may be changed.
    pub write: bool,
    /// Whether programs there may be run.
    pub execute: bool,
    /// What a reader should know about it, line by line.
    pub comment: Vec<String>,
}

/// Why a file of configuration cannot be changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// It is no TOML.
    #[error("the file is not valid TOML")]
    Syntax(#[source] toml_edit::TomlError),
    /// A key holds something else than it must.
    #[error("{} is not what it should be: `jig config check` says more", quote(.0))]
    Shape(String),
    /// A word of a command that would be read as a template.
    #[error(
        "the word {} of the command would be read as a template: write `command` by hand",
        quote(.0)
    )]
    Template(String),
}

impl ConfigEdit {
    /// Begins with the text of a file; `None` if there is no such file yet.
    ///
    /// # Errors
    ///
    /// If it is no TOML.
    pub fn new(text: Option<&str>) -> Result<Self, EditError> {
        let document = text.unwrap_or_default().parse::<DocumentMut>();
        Ok(Self {
            before: text.map(str::to_owned),
            document: document.map_err(EditError::Syntax)?,
        })
    }

    /// Adds to the tool of this name, which is declared if it is not. What it has already is left alone.
    ///
    /// # Errors
    ///
    /// If a part of the file is not what it must be, or if the command holds a template. The edit is of no
    /// use then.
    pub fn add(&mut self, tool: &str, additions: &Additions) -> Result<(), EditError> {
        let entry = entry(&mut self.document, tool)?;
        if let Some(words) = &additions.command {
            command(entry.table, words)?;
        }
        rules_and_sandbox(entry, additions)
    }

    /// Adds to the entry of the server of this name, `[mcp.servers.NAME]`, as [`add`](Self::add) does to a tool.
    /// What the additions say of a command is left out.
    ///
    /// # Errors
    ///
    /// If a part of the file is not what it must be. The edit is of no use then.
    pub fn add_server(&mut self, server: &str, additions: &Additions) -> Result<(), EditError> {
        let entry = server_entry(&mut self.document, server)?;
        rules_and_sandbox(entry, additions)
    }

    /// Whether anything was changed.
    pub fn is_changed(&self) -> bool {
        self.to_string() != self.before.as_deref().unwrap_or_default()
    }

    /// What the configuration comes to with the changed text in place of the file at `path`, which is one of
    /// the sources. Nothing is written.
    ///
    /// # Errors
    ///
    /// All that is wrong with the configuration then.
    pub fn check(&self, sources: &Sources, path: &Utf8Path) -> Result<LoadedConfig, ConfigErrors> {
        let text = self.to_string();
        load_with(sources, Some((path, &text)))
    }

    /// Writes the changed text to the file at `path`, from which the old text came: all of it or nothing, with
    /// the mode and the owner that the file has.
    ///
    /// # Errors
    ///
    /// If the file is a link or anything else than a file, if it has changed since it was read, or if it
    /// cannot be written.
    pub fn save(&self, path: &Utf8Path) -> Result<(), SaveError> {
        save::replace(path, self.before.as_deref(), &self.to_string())
    }
}

/// The text of a file of configuration; `None` if there is none.
///
/// # Errors
///
/// If it cannot be read, is no regular file, is too large or is no UTF-8.
pub fn read_config(path: &Utf8Path, shown: &str) -> Result<Option<String>, ConfigErrors> {
    crate::loading::files::read(path, shown)
        .map(|found| found.map(|(text, _)| text))
        .map_err(|problem| ConfigErrors::of(vec![*problem]))
}

/// The changed text.
impl fmt::Display for ConfigEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.document, f)
    }
}

/// A table of the file.
struct EditTable<'a> {
    table: &'a mut dyn TableLike,
    /// Whether no line of its own can begin a table in it: it stands between braces, or its keys are dotted.
    is_closed: bool,
}

/// Whether a new table that holds nothing but tables gets a line of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TableHeader {
    Shown,
    Hidden,
}

/// The table of a tool, in the one of both roots that has it already.
fn entry<'a>(document: &'a mut DocumentMut, tool: &str) -> Result<EditTable<'a>, EditError> {
    let conversation = document.get("conversation").and_then(|it| it.get("tools"));
    let is_there = conversation.is_some_and(|tools| tools.get(tool).is_some());
    let mut place = EditTable {
        table: document.as_table_mut(),
        is_closed: false,
    };
    if is_there {
        place = place.table("conversation", TableHeader::Hidden)?;
    }
    let tools = place.table("tools", TableHeader::Hidden)?;
    tools.table(tool, TableHeader::Shown)
}

/// The table of a server, in the one of both roots that has it already.
fn server_entry<'a>(
    document: &'a mut DocumentMut,
    server: &str,
) -> Result<EditTable<'a>, EditError> {
    let of_jp = document.get("providers").and_then(|it| it.get("mcp"));
    let root = match of_jp.is_some_and(|servers| servers.get(server).is_some()) {
        true => ["providers", "mcp"],
        false => ["mcp", "servers"],
    };
    let mut place = EditTable {
        table: document.as_table_mut(),
        is_closed: false,
    };
    for key in root {
        place = place.table(key, TableHeader::Hidden)?;
    }
    place.table(server, TableHeader::Shown)
}

/// Adds all but the command.
fn rules_and_sandbox(mut entry: EditTable<'_>, additions: &Additions) -> Result<(), EditError> {
    if !additions.system.is_empty() || !additions.presets.is_empty() {
        let mut sandbox = entry.again().table("sandbox", TableHeader::Shown)?;
        rules::add_presets(sandbox.again(), &additions.presets)?;
        rules::add_system(sandbox, &additions.system)?;
    }
    if !additions.fs.is_empty() || !additions.net.is_empty() {
        let mut access = entry.table("access", TableHeader::Hidden)?;
        rules::add_fs(access.again(), &additions.fs)?;
        rules::add_net(access, &additions.net)?;
    }
    Ok(())
}

impl<'a> EditTable<'a> {
    /// The table below a key, made if there is none: in the way in which this one is written.
    fn table(self, key: &str, header: TableHeader) -> Result<EditTable<'a>, EditError> {
        if !self.table.contains_key(key) {
            let item = match self.is_closed {
                true => toml_edit::value(InlineTable::new()),
                false => {
                    let mut table = Table::new();
                    table.set_implicit(header == TableHeader::Hidden);
                    Item::Table(table)
                }
            };
            self.table.insert(key, item);
        }
        let item = self.table.get_mut(key);
        let item = item.filter(|item| item.is_table_like());
        let item = item.ok_or_else(|| EditError::Shape(key.to_owned()))?;
        let in_braces = item.is_inline_table();
        let table = item.as_table_like_mut();
        let table = table.ok_or_else(|| EditError::Shape(key.to_owned()))?;
        Ok(EditTable {
            is_closed: self.is_closed || in_braces || table.is_dotted(),
            table,
        })
    }

    /// The same place, to be used once more afterwards.
    fn again(&mut self) -> EditTable<'_> {
        EditTable {
            table: self.table,
            is_closed: self.is_closed,
        }
    }
}

/// Says what a tool starts, unless it says so itself.
fn command(entry: &mut dyn TableLike, words: &[String]) -> Result<(), EditError> {
    let is_template = |word: &&String| ["{{", "{%", "{#"].iter().any(|mark| word.contains(mark));
    if let Some(word) = words.iter().find(is_template) {
        return Err(EditError::Template(word.clone()));
    }
    let Some((program, args)) = words.split_first() else {
        return Ok(());
    };
    if entry.get("command").is_some() || entry.get("wasm").is_some() {
        return Ok(());
    }
    if entry.get("source").is_none() {
        entry.insert("source", toml_edit::value("local"));
    }
    let is_plain = |word: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
        !word.is_empty() && word.chars().all(plain)
    };
    let value = match words.iter().all(is_plain) {
        true => toml_edit::value(string(&words.join(" "))),
        false => {
            let mut table = InlineTable::new();
            table.insert("program", string(program));
            let args = args.iter().map(|word| string(word));
            table.insert("args", Value::Array(args.collect::<Array>()));
            toml_edit::value(table)
        }
    };
    entry.insert("command", value);
    Ok(())
}

/// A string on one line, whatever is in it: one that goes on over lines could look like something else.
fn string(text: &str) -> Value {
    let written = basic_string(text).parse::<Value>();
    written.unwrap_or_else(|_| Value::from(text))
}

#[cfg(test)]
mod tests;
