//! [`Command`]: what a local tool starts.

mod shell;
mod syntax;
mod template;

use camino::Utf8Path;
use jig_programs::{SplitError, split_line, workspace_code, workspace_code_of_shell};
use jig_proto::ProjectPath;

pub(crate) use syntax::{Syntax, shell_syntax};
pub(crate) use template::{TemplateValues, is_template};

/// The program of a local tool and its arguments, each a template.
///
/// A string in the configuration is split into words here, before any template is filled in, so
/// that a value never becomes more than one argument (J-002).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The program: a name on the search path, or a path from the workspace.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Whether the program and the quoted arguments are handed to `sh -c` as one line (J-003).
    ///
    /// The program may then be any line of a shell, with templates anywhere but in arithmetic
    /// (J-004).
    pub shell: bool,
}

impl Command {
    /// Splits `line` as a shell splits words, without expanding anything.
    pub fn parse(line: &str) -> Result<Self, CommandSyntaxError> {
        let mut words = split_line(line)?.into_iter();
        let program = words.next().ok_or(CommandSyntaxError::Empty)?;
        let command = Self {
            program,
            args: words.collect(),
            shell: false,
        };
        command.check()?;
        Ok(command)
    }

    /// The files and folders of the workspace at `root` that the command runs: [`workspace_code()`] of its words.
    pub(crate) fn workspace_code(&self, root: &Utf8Path) -> Vec<ProjectPath> {
        if self.shell {
            let args = self.args.iter().map(String::as_str);
            return workspace_code_of_shell(root, &self.program, args);
        }
        workspace_code(root, &self.words().collect::<Vec<_>>())
    }

    /// Refuses what could never run.
    pub(crate) fn check(&self) -> Result<(), CommandSyntaxError> {
        if self.program.trim().is_empty() {
            return Err(CommandSyntaxError::Empty);
        }
        for word in std::iter::once(&self.program).chain(&self.args) {
            if word.contains('\0') {
                return Err(CommandSyntaxError::Nul);
            }
            if let Some(reason) = template::syntax_error(word) {
                return Err(CommandSyntaxError::Template {
                    word: word.clone(),
                    reason,
                });
            }
        }
        if self.shell {
            shell::check(&self.program)?;
        }
        Ok(())
    }
}

/// Why a text is no command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandSyntaxError {
    /// There is no program in it.
    #[error("the command is empty")]
    Empty,
    /// No argument can hold a NUL.
    #[error("the command holds a NUL byte")]
    Nul,
    /// A line whose words cannot be told apart.
    #[error(transparent)]
    Line(#[from] SplitError),
    /// A word with braces that is no template.
    #[error("the word {} is no template: {reason}", crate::quoting::quote(.word))]
    Template {
        /// The word.
        word: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A template inside the arithmetic of a shell line (J-004).
    #[error("a shell would calculate with the value of `{0}`, and can run code while it does")]
    Arithmetic(String),
}

#[cfg(test)]
mod tests;
