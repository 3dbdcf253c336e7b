//! [`CommandLine`]: what a tool that is a program is started as.

mod display;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use camino::Utf8Path;
use jig_files::FilesView;
use jig_proto::ProjectPath;

use crate::shell::{BoundScript, quote};
use crate::template::{TemplateError, Values};

pub use display::command_shown;

#[cfg(test)]
mod tests;

/// A program with its arguments, as they were configured.
///
/// Words are filled in anew for each run, because a tool that asks is run again with the answers. A
/// value never becomes more than a part of the word in which it stands, also where a shell reads it.
#[derive(Debug, Clone)]
pub struct CommandLine {
    /// A name to be found on the search path of the sandbox, or a path, which is one of the workspace
    /// unless it is absolute. With [`shell`](Self::shell): the text that the shell reads.
    pub program: CommandWord,
    /// The arguments, without the program's own name.
    pub args: Vec<CommandWord>,
    /// Whether a shell reads the program and the arguments as one line.
    pub shell: bool,
    /// The directory in which it starts: the files of the workspace, as programs see them.
    pub view: Arc<FilesView>,
    /// What it sees as the home directory, if it is not confined.
    pub home: PathBuf,
    /// Whether the files that its literal words name belong to the tool, which may then read them.
    pub names_files: bool,
}

impl CommandLine {
    /// A program and arguments in which nothing is to be filled in.
    pub fn literal<T: Into<String>>(
        program: impl Into<String>,
        args: impl IntoIterator<Item = T>,
        view: Arc<FilesView>,
        home: impl Into<PathBuf>,
    ) -> Self {
        Self {
            program: CommandWord::Literal(program.into()),
            args: args
                .into_iter()
                .map(|arg| CommandWord::Literal(arg.into()))
                .collect(),
            shell: false,
            view,
            home: home.into(),
            names_files: true,
        }
    }

    /// The same command, whose words name no files: what they say is not a path, or not one to be read.
    #[must_use]
    pub fn naming_nothing(mut self) -> Self {
        self.names_files = false;
        self
    }

    /// The program to start, filled in.
    pub(crate) fn program(&self, values: &Values) -> Result<String, TemplateError> {
        if self.shell {
            return Ok(SHELL.to_owned());
        }
        let program = self.program.fill(values)?;
        if let CommandWord::Template(word) = &self.program
            && !self.is_inside(&program)
        {
            return Err(TemplateError {
                word: word.clone(),
                reason: format!("`{program}` is neither a name nor a path in the workspace"),
            });
        }
        // A path is one of the workspace, not of the directory in which somebody called us.
        Ok(match program.contains('/') {
            true => self.view.path().join(&program).into_string(),
            false => program,
        })
    }

    /// The arguments of that program, filled in.
    pub(crate) fn arguments(&self, values: &Values) -> Result<Vec<String>, TemplateError> {
        let args = self.args.iter().map(|word| word.fill(values));
        let args: Vec<String> = args.collect::<Result<_, _>>()?;
        if !self.shell {
            return Ok(args);
        }
        let mut script = match &self.program {
            CommandWord::Literal(text) => BoundScript::plain(text.clone()),
            CommandWord::Template(text) => values.fill_script(text)?,
        };
        for arg in &args {
            script.text.push(' ');
            script.text.push_str(&quote(arg));
        }
        Ok(script.into_arguments())
    }

    /// The words that stand as they are: the files that they name belong to the tool. What comes out of
    /// a template is chosen by whoever calls the tool, and does not.
    pub(crate) fn literals(&self) -> Vec<OsString> {
        if !self.names_files {
            return Vec::new();
        }
        let args = self.args.iter().filter_map(CommandWord::as_literal);
        let (CommandWord::Literal(text) | CommandWord::Template(text)) = &self.program;
        let is_plain = |word: &&str| !word.is_empty() && !word.contains(['{', '}', '$']);
        let words = text.split(|c: char| c.is_whitespace() || "|&;()<>\"'`".contains(c));
        let words = words.filter(|word| self.shell && is_plain(word));
        words.chain(args).map(Into::into).collect()
    }

    /// Whether a program that came out of a template is a name or a path in the workspace. Whoever calls
    /// the tool may choose among those, and not show it something else of the host as its own program.
    fn is_inside(&self, program: &str) -> bool {
        let inside = Utf8Path::new(program).strip_prefix(self.root());
        let relative = inside.map_or(program, Utf8Path::as_str);
        let climbs = relative.split('/').any(|part| part == "..");
        !climbs && ProjectPath::normalize(relative).is_ok_and(|path| !path.is_root())
    }

    /// The root of the workspace, as the program sees it.
    pub(crate) fn root(&self) -> &Utf8Path {
        self.view.path()
    }
}

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandWord {
    /// It stands as it is.
    Literal(String),
    /// It is filled in: `--path={{tool.arguments.path}}`.
    Template(String),
}

impl CommandWord {
    /// The word as it stands in a configuration: a template if anything in it is to be filled in.
    pub fn parse(text: impl Into<String>) -> Self {
        let text = text.into();
        match ["{{", "{%", "{#"].iter().any(|mark| text.contains(mark)) {
            true => CommandWord::Template(text),
            false => CommandWord::Literal(text),
        }
    }

    fn fill(&self, values: &Values) -> Result<String, TemplateError> {
        match self {
            CommandWord::Literal(text) => Ok(text.clone()),
            CommandWord::Template(text) => values.fill(text),
        }
    }

    fn as_literal(&self) -> Option<&str> {
        match self {
            CommandWord::Literal(text) => Some(text),
            CommandWord::Template(_) => None,
        }
    }
}

/// What reads a command with `shell = true`.
const SHELL: &str = "sh";
