//! [`Command`]: what a local tool starts.

mod code;
mod program;
mod shell;
mod syntax;
mod template;

pub use program::ProgramMistake;
pub(crate) use syntax::{Syntax, shell_syntax};
pub(crate) use template::{Known, is_template};

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
    pub fn parse(line: &str) -> Result<Self, CommandError> {
        let mut words = split(line)?.into_iter();
        let program = words.next().ok_or(CommandError::Empty)?;
        let command = Self {
            program,
            args: words.collect(),
            shell: false,
        };
        command.check()?;
        Ok(command)
    }

    /// Refuses what could never run.
    pub(crate) fn check(&self) -> Result<(), CommandError> {
        if self.program.trim().is_empty() {
            return Err(CommandError::Empty);
        }
        for word in std::iter::once(&self.program).chain(&self.args) {
            if word.contains('\0') {
                return Err(CommandError::Nul);
            }
            if let Some(reason) = template::syntax_error(word) {
                return Err(CommandError::Template {
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
pub enum CommandError {
    /// There is no program in it.
    #[error("the command is empty")]
    Empty,
    /// No argument can hold a NUL.
    #[error("the command holds a NUL byte")]
    Nul,
    /// A quote that is not closed.
    #[error("the quote {0} is not closed")]
    OpenQuote(char),
    /// A backslash at the end.
    #[error("there is nothing after the last backslash")]
    TrailingBackslash,
    /// A word with braces that is no template.
    #[error("the word {} is no template: {reason}", crate::hint::quote(.word))]
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

/// The words of a line by POSIX quoting: `'…'` is literal, `"…"` knows `\"`, `\\`, `\$` and
/// `` \` ``, a backslash takes the next character. Nothing is expanded, and `#`, `|`, `;` and `&`
/// are ordinary characters, because no shell will see them. A template outside of quotes is a part of its word with all
/// that it holds, spaces and quotes included.
pub(super) fn split(line: &str) -> Result<Vec<String>, CommandError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars();
    while let Some(one) = rest.next() {
        let here = line.len() - rest.as_str().len() - one.len_utf8();
        match one {
            '{' if let Some(end) = template::end(&line[here..]) => {
                word.get_or_insert_default()
                    .push_str(&line[here..here + end]);
                rest = line[here + end..].chars();
            }
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next().ok_or(CommandError::OpenQuote('\''))? {
                        '\'' => break,
                        one => word.push(one),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next().ok_or(CommandError::OpenQuote('"'))? {
                        '"' => break,
                        '\\' => match rest.next().ok_or(CommandError::OpenQuote('"'))? {
                            one @ ('"' | '\\' | '$' | '`') => word.push(one),
                            '\n' => {}
                            one => word.extend(['\\', one]),
                        },
                        one => word.push(one),
                    }
                }
            }
            '\\' => match rest.next().ok_or(CommandError::TrailingBackslash)? {
                '\n' => {}
                one => word.get_or_insert_default().push(one),
            },
            one => word.get_or_insert_default().push(one),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests;
