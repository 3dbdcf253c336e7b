//! [`Shell`]: runs scripts.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::thread;

use jig_tool::proxy::{Client, OpenMode};

use crate::builtin::{self, ShellBuiltin};
use crate::stage::{CommandContext, DEPTH, NULL, STDIN, open};
use crate::stream::{
    CapturedOutput, CommandFailure, SharedSink, ShellInput, ShellOutput, ShellSink, ShellSource,
    pipe,
};
use crate::syntax::{
    Pipeline, PipelineCondition, Redirect, RedirectedStreams, ShellCommand, ShellScript, parse,
};
use crate::{SyntaxError, glob};

/// Runs scripts over a client of the FS proxy.
pub struct Shell {
    client: Client,
    stdin: Stdin,
    /// The exit code of the last pipeline.
    status: u8,
    exited: bool,
    /// Where all output goes, if the lines are those of a model.
    kept: Option<CapturedOutput>,
}

/// What the commands of a shell read where they name no file.
///
/// Exhaustive: a stream is there, is a terminal, or is not for commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdin {
    /// Handle 0 of the proxy.
    Handle,
    /// The standard input of this process: a terminal, which a proxy leaves to its command.
    Own,
    /// Nothing: the script itself came from there.
    Empty,
}

impl Stdin {
    /// What it is for a process of a proxy.
    pub fn of_this_process() -> Self {
        match io::stdin().is_terminal() {
            true => Self::Own,
            false => Self::Handle,
        }
    }
}

impl Shell {
    /// A shell that has every file opened by `client`.
    pub fn new(client: Client, stdin: Stdin) -> Self {
        Self {
            client,
            stdin,
            status: 0,
            exited: false,
            kept: None,
        }
    }

    /// Runs a script of a model: gives its exit code, and all that it prints.
    pub(crate) fn run_kept(client: Client, script: &str) -> (u8, String) {
        let kept = CapturedOutput::default();
        let mut shell = Self {
            kept: Some(kept.clone()),
            ..Self::new(client, Stdin::Empty)
        };
        match shell.run(script) {
            Ok(code) => (code, kept.text()),
            Err(error) => (USAGE, format!("jig sh: {error}\n")),
        }
    }

    /// Runs a script and gives its exit code, that of the last pipeline.
    ///
    /// # Errors
    ///
    /// If the text is not a script of this shell. Nothing was run then.
    pub fn run(&mut self, script: &str) -> Result<u8, SyntaxError> {
        let script = parse(script)?;
        self.script(&script);
        Ok(self.status)
    }

    /// Runs the lines of a person at a terminal, each when it is there, and gives the last exit code.
    ///
    /// # Errors
    ///
    /// If the terminal cannot be read.
    pub fn converse(&mut self) -> io::Result<u8> {
        let mut line = String::new();
        while !self.exited {
            self.say(PROMPT);
            line.clear();
            if io::stdin().lock().read_line(&mut line)? == 0 {
                self.say("\n");
                break;
            }
            if let Err(error) = self.run(&line) {
                self.say(&format!("jig sh: {error}\n"));
                self.status = USAGE;
            }
        }
        Ok(self.status)
    }

    /// Says something on standard error.
    pub fn say(&self, text: &str) {
        if let Some(kept) = &self.kept {
            let mut out = ShellOutput::new(ShellSink::Kept(kept.clone()).shared());
            let _ = out.write(text.as_bytes()).and_then(|()| out.push());
            return;
        }
        // If nobody takes it, nobody is there to be told.
        let _ = self.client.stderr().write_all(text.as_bytes());
    }

    fn script(&mut self, script: &ShellScript) {
        for (when, pipeline) in &script.items {
            let is_due = match when {
                PipelineCondition::Always => true,
                PipelineCondition::AfterSuccess => self.status == 0,
                PipelineCondition::AfterFailure => self.status != 0,
            };
            if is_due {
                let status = self.pipeline(pipeline);
                self.status = match pipeline.negated {
                    true => u8::from(status == 0),
                    false => status,
                };
            }
            if self.exited {
                return;
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> u8 {
        let mut before = self.first_input();
        let mut ready = Vec::new();
        let last = pipeline.commands.len() - 1;
        for (number, command) in pipeline.commands.iter().enumerate() {
            let (to, next) = match number == last {
                true => (self.stream(1), None),
                false => {
                    let (sink, source) = pipe();
                    (sink, Some(ShellInput::new(source, STDIN)))
                }
            };
            ready.push(self.prepare(command, before, to.shared()));
            before = next;
        }
        if let [only] = ready.as_slice()
            && let Some(status) = self.exit(&only.words)
        {
            return status;
        }
        let Some(end) = ready.pop() else {
            return self.status;
        };
        let client = &self.client;
        thread::scope(|scope| {
            for stage in ready {
                let started = thread::Builder::new().spawn_scoped(scope, move || stage.run(client));
                if let Err(error) = started {
                    self.say(&format!("jig sh: a command cannot be started: {error}\n"));
                }
            }
            end.run(client)
        })
    }

    /// `exit`, which ends the shell only where it stands alone.
    fn exit(&mut self, words: &[String]) -> Option<u8> {
        let [name, rest @ ..] = words else {
            return None;
        };
        if name != "exit" {
            return None;
        }
        let status = match rest {
            [] => self.status,
            [code] if code.parse::<u8>().is_ok() => code.parse().unwrap_or(USAGE),
            _ => {
                self.say("exit: write one number from 0 to 255\n");
                return Some(USAGE);
            }
        };
        self.exited = true;
        Some(status)
    }

    fn first_input(&self) -> Option<ShellInput> {
        let source = match self.stdin {
            Stdin::Handle => ShellSource::File(Box::new(self.client.stdin())),
            Stdin::Own => ShellSource::Own,
            Stdin::Empty => ShellSource::Empty,
        };
        Some(ShellInput::new(source, STDIN))
    }

    fn stream(&self, number: u64) -> ShellSink {
        if let Some(kept) = &self.kept {
            return ShellSink::Kept(kept.clone());
        }
        match number {
            1 => ShellSink::File(Box::new(self.client.stdout()), "standard output".to_owned()),
            _ => ShellSink::File(Box::new(self.client.stderr()), "standard error".to_owned()),
        }
    }

    /// Expands the words of a command, and opens what it is redirected to.
    fn prepare(
        &self,
        command: &ShellCommand,
        stdin: Option<ShellInput>,
        stdout: SharedSink,
    ) -> ReadyCommand {
        let mut ready = ReadyCommand {
            words: Vec::new(),
            stdin,
            stdout,
            stderr: self.stream(2).shared(),
            refused: None,
            is_of_model: self.kept.is_some(),
        };
        for word in &command.words {
            match glob::expand(&self.client, word, self.status) {
                Ok(words) => ready.words.extend(words),
                Err(fail) => {
                    ready.refused = Some(fail);
                    return ready;
                }
            }
        }
        for redirect in &command.redirects {
            if let Err(fail) = self.redirect(redirect, &mut ready) {
                ready.refused = Some(fail);
                return ready;
            }
        }
        ready
    }

    fn redirect(
        &self,
        redirect: &Redirect,
        ready: &mut ReadyCommand,
    ) -> Result<(), CommandFailure> {
        match redirect {
            Redirect::Text(word) => {
                let text = format!("{}\n", word.text(self.status));
                ready.stdin = Some(ShellInput::text(text.into_bytes()));
            }
            Redirect::Input(word) => {
                let path = word.text(self.status);
                let source = match path == NULL {
                    true => ShellSource::Empty,
                    false => ShellSource::File(Box::new(open(&self.client, &path)?)),
                };
                ready.stdin = Some(ShellInput::new(source, &path));
            }
            Redirect::Output {
                streams,
                to,
                append,
            } => {
                let sink = self.target(to.text(self.status), *append)?.shared();
                if *streams != RedirectedStreams::Output {
                    ready.stderr = Arc::clone(&sink);
                }
                if *streams != RedirectedStreams::Error {
                    ready.stdout = sink;
                }
            }
            Redirect::ErrorToOutput => ready.stderr = Arc::clone(&ready.stdout),
            Redirect::OutputToError => ready.stdout = Arc::clone(&ready.stderr),
        }
        Ok(())
    }

    fn target(&self, path: String, append: bool) -> Result<ShellSink, CommandFailure> {
        if path == NULL {
            return Ok(ShellSink::Null);
        }
        let mode = match append {
            true => OpenMode::Append,
            false => OpenMode::Write,
        };
        let file = self.client.open(&path, mode)?.pipelined(DEPTH);
        Ok(ShellSink::File(Box::new(file), path))
    }
}

/// A command that can be run.
struct ReadyCommand {
    words: Vec<String>,
    stdin: Option<ShellInput>,
    stdout: SharedSink,
    stderr: SharedSink,
    /// Why it cannot be.
    refused: Option<CommandFailure>,
    is_of_model: bool,
}

impl ReadyCommand {
    /// Runs it to its end and gives its exit code.
    fn run(self, client: &Client) -> u8 {
        let name = self.words.first().map_or("jig sh", String::as_str);
        let builtin = ShellBuiltin::find(name);
        let mut stage = CommandContext {
            client,
            name: match builtin {
                Some(_) if self.refused.is_none() => name,
                _ => "jig sh",
            },
            stdin: self.stdin,
            out: ShellOutput::new(Arc::clone(&self.stdout)),
            err: ShellOutput::new(Arc::clone(&self.stderr)),
            failed: false,
            is_of_model: self.is_of_model,
        };
        let mut status = match (self.refused, builtin) {
            (Some(fail), _) => {
                stage.told(fail);
                1
            }
            (None, None) => {
                stage.complain(&unknown(name));
                UNKNOWN
            }
            (None, Some(builtin)) => {
                let ended = (builtin.run)(&mut stage, &self.words[1..]);
                let ended = ended.and_then(|status| stage.out.push().map(|()| status));
                match ended {
                    Ok(status) => status,
                    Err(CommandFailure::ReaderGone) => READER_GONE,
                    Err(CommandFailure::Said(message)) => {
                        stage.complain(&message);
                        builtin.failure
                    }
                    Err(CommandFailure::Usage(message)) => {
                        stage.complain(&message);
                        USAGE
                    }
                }
            }
        };
        // Whoever writes to this command must not wait for it.
        stage.stdin = None;
        let closed = stage.out.sink().finish();
        if let Err(fail) = closed {
            stage.told(fail);
            status = status.max(1);
        }
        // Nobody could be told.
        let _ = stage.err.sink().finish();
        status
    }
}

fn unknown(name: &str) -> String {
    let names: Vec<&str> = builtin::TABLE.iter().map(|builtin| builtin.name).collect();
    let names = names.join(", ");
    format!("there is no command `{name}`: this shell starts no programs, it has {names}")
}

const PROMPT: &str = "jig$ ";

/// The exit code of a command that was used wrongly.
const USAGE: u8 = 2;

/// The exit code of a command that does not exist, as in other shells.
const UNKNOWN: u8 = 127;

/// The exit code of a command whose reader has gone, as of a program that SIGPIPE ends.
const READER_GONE: u8 = 141;
