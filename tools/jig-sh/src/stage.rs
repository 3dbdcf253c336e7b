//! [`CommandContext`]: one command of a pipeline while it runs.

use jig_tool::proxy::{Client, File, OpenMode};

use crate::stream::{CommandFailure, ShellInput, ShellOutput, ShellSource};

/// What a command has to work with.
pub(crate) struct CommandContext<'s> {
    pub(crate) client: &'s Client,
    /// The command's name, which its messages begin with.
    pub(crate) name: &'s str,
    /// Taken by whoever reads it.
    pub(crate) stdin: Option<ShellInput>,
    pub(crate) out: ShellOutput,
    pub(crate) err: ShellOutput,
    /// Whether it has complained.
    pub(crate) failed: bool,
    /// Whether a model has written the line.
    pub(crate) is_of_model: bool,
}

impl CommandContext<'_> {
    /// The exit code of a command that went on to its end.
    pub(crate) fn code(&self) -> u8 {
        u8::from(self.failed)
    }

    /// Says that something went wrong, and goes on.
    pub(crate) fn complain(&mut self, message: &str) {
        self.failed = true;
        self.note(message);
    }

    /// Says something on standard error.
    pub(crate) fn note(&mut self, message: &str) {
        // What was found before the complaint comes before it. If nobody takes either, nobody is there to
        // be told.
        let _ = self.out.push();
        let line = format!("{}: {message}", self.name);
        let _ = self.err.line(line.as_bytes());
        let _ = self.err.push();
    }

    /// Opens an operand to read it: `-` is standard input. If it cannot be, says so, and gives `None`.
    pub(crate) fn open(&mut self, path: &str) -> Option<ShellInput> {
        if path == "-" {
            let empty = || ShellInput::new(ShellSource::Empty, STDIN);
            return Some(self.stdin.take().unwrap_or_else(empty));
        }
        if path == NULL {
            return Some(ShellInput::new(ShellSource::Empty, path));
        }
        match open(self.client, path) {
            Ok(file) => Some(ShellInput::new(ShellSource::File(Box::new(file)), path)),
            Err(fail) => {
                self.told(fail);
                None
            }
        }
    }

    /// Opens a file to write it; `None` as with [`open`](Self::open).
    pub(crate) fn create(&mut self, path: &str, mode: OpenMode) -> Option<File> {
        match self.client.open(path, mode) {
            Ok(file) => Some(file.pipelined(DEPTH)),
            Err(error) => {
                self.told(error.into());
                None
            }
        }
    }

    /// Complains about a failure, unless nobody is to be told.
    pub(crate) fn told(&mut self, fail: CommandFailure) {
        match fail {
            CommandFailure::ReaderGone => {}
            CommandFailure::Said(message) | CommandFailure::Usage(message) => {
                self.complain(&message)
            }
        }
    }
}

/// What a command without operands reads.
pub(crate) fn operands(given: &[String]) -> Vec<&str> {
    match given.is_empty() {
        true => vec!["-"],
        false => given.iter().map(String::as_str).collect(),
    }
}

/// Opens a file to read it, with several reads under way.
pub(crate) fn open(client: &Client, path: &str) -> Result<File, CommandFailure> {
    let file = client.open(path, OpenMode::Read)?;
    Ok(file.pipelined(DEPTH))
}

/// How messages name standard input.
pub(crate) const STDIN: &str = "standard input";

/// Where nothing is, and whatever is written is gone. The proxy would keep it as a virtual file.
pub(crate) const NULL: &str = "/dev/null";

/// How many reads or writes of a file are under way at once.
pub(crate) const DEPTH: usize = 16;
