//! [`Process`]: a program that stays, and which the host runs for a tool.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;
use std::time::Duration;

use jig_proto::vfs::{
    Method, ProcessOutput, ProcessRead, ProcessStart, ProcessStop, ProcessWrite, TerminalSize,
    VfsReply, VfsRequest,
};
use jig_proto::{Fetch, View};
use serde_json::{Value, json};

use super::host_connection::HostLink;
use super::{Host, HostError};

/// A program to be started, made by [`Host::start_process`] and started by [`Start::start`].
///
/// It starts in the workspace, with nothing of the host's environment, and with pipes.
#[must_use = "nothing is started before `start` is called"]
pub struct Start<'h, 'a> {
    host: &'h mut Host,
    start: ProcessStart<'a>,
}

impl Host {
    /// A program that stays, by its name. The policy judges it as it judges [`Host::run`].
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// use jig_tool::vfs::{Host, HostError, ReadOptions};
    ///
    /// /// Hands on what a Python prompt prints and what the caller types, until it ends.
    /// fn talk(host: &mut Host) -> Result<String, HostError> {
    ///     let mut python = host.start_process("python3").on_terminal(24, 80).start()?;
    ///     loop {
    ///         let output = python.read(&ReadOptions::waiting(Duration::from_secs(30)))?;
    ///         if !output.content.is_empty() {
    ///             host.state(jig_tool::ToolState::running(output.content.as_ref()))?;
    ///         }
    ///         if !output.running {
    ///             return Ok("Python has ended.".to_owned());
    ///         }
    ///         while let Some(input) = host.try_apply()? {
    ///             python.write(input)?;
    ///         }
    ///     }
    /// }
    /// ```
    pub fn start_process<'a>(&mut self, program: impl Into<Cow<'a, str>>) -> Start<'_, 'a> {
        Start {
            host: self,
            start: ProcessStart::new(program),
        }
    }
}

impl<'a> Start<'_, 'a> {
    /// Adds an argument.
    pub fn arg(mut self, arg: impl Into<Cow<'a, str>>) -> Self {
        self.start.args.push(arg.into());
        self
    }

    /// Adds arguments.
    pub fn args<T: Into<Cow<'a, str>>>(mut self, args: impl IntoIterator<Item = T>) -> Self {
        self.start.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Lets the program see this variable of the host, if the policy allows it.
    pub fn env(mut self, name: impl Into<Cow<'a, str>>) -> Self {
        self.start.envs.push(name.into());
        self
    }

    /// Starts it in this directory of the workspace.
    pub fn in_dir(mut self, path: &str) -> Self {
        self.start.cwd = Some(Cow::Owned(self.host.wire_path(path).into_owned()));
        self
    }

    /// Gives it a terminal of this size: programs that talk with people want one.
    pub fn on_terminal(mut self, rows: u16, cols: u16) -> Self {
        self.start.terminal = Some(TerminalSize { rows, cols });
        self
    }

    /// Starts it.
    ///
    /// # Errors
    ///
    /// If it may not be run, or can't.
    pub fn start(self) -> Result<Process, HostError> {
        match self.host.request(&VfsRequest::ProcessStart(self.start))? {
            VfsReply::Started(started) => Ok(Process {
                number: started.process,
                link: self.host.link.clone(),
                is_stopped: false,
                beside_its_host: PhantomData,
            }),
            _ => Err(HostError::other_form(Method::ProcessStart)),
        }
    }
}

/// A program that was started. It is stopped when this is dropped.
///
/// It asks the same host, so one request blocks all others: while [`Process::read`] waits, the tool
/// does nothing else.
#[must_use = "it is stopped when this is dropped"]
pub struct Process {
    number: u64,
    link: HostLink,
    is_stopped: bool,
    /// Two threads would stand in each other's way.
    beside_its_host: PhantomData<Rc<()>>,
}

/// What [`Process::read`] asks for. By default: what is new, now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Which part of the output.
    pub view: View,
    /// What is new is counted from here, not from the last read: the `seq` of an earlier answer.
    pub after_seq: Option<u64>,
    /// The most bytes of output.
    pub max_bytes: Option<usize>,
    /// How long to wait.
    pub wait: Option<Duration>,
    /// Wait until the output has come to rest, instead of for the first of it.
    pub settle: bool,
}

impl ReadOptions {
    /// What is new; if there is nothing, what comes first within `limit`.
    pub fn waiting(limit: Duration) -> Self {
        Self {
            wait: Some(limit),
            ..Self::default()
        }
    }

    /// What is new when the program has said what it has to say, as far as one can tell, or when
    /// `limit` is over.
    pub fn settled(limit: Duration) -> Self {
        Self {
            settle: true,
            ..Self::waiting(limit)
        }
    }

    /// The same, for what a person would see now.
    #[must_use]
    pub fn screen(self) -> Self {
        Self {
            view: View::Screen,
            ..self
        }
    }
}

impl Process {
    /// What it printed, and whether it runs.
    ///
    /// A read that waits also returns when it has ended, and when there is input for the tool, which
    /// [`Host::try_apply`] then has.
    ///
    /// # Errors
    ///
    /// If the host does not know it any more.
    pub fn read(&mut self, read: &ReadOptions) -> Result<ProcessOutput<'static>, HostError> {
        let request = VfsRequest::ProcessRead(ProcessRead {
            process: self.number,
            fetch: Fetch {
                view: read.view,
                after_seq: read.after_seq,
                max_bytes: read.max_bytes,
                wait: read.wait,
            },
            settle: read.settle,
        });
        match self.link.ask(|transport| transport.request(&request))? {
            VfsReply::Output(output) => Ok(output),
            _ => Err(HostError::other_form(Method::ProcessRead)),
        }
    }

    /// Sends it input: text is sent as it is, and an object or a list of them is read by the host, so
    /// that what a caller applies can be handed on as it came. See [`Process::line`],
    /// [`Process::keys`] and [`Process::resize`] for what they are.
    ///
    /// # Errors
    ///
    /// If it has ended, or the input is none.
    pub fn write(&mut self, input: impl Into<Value>) -> Result<(), HostError> {
        let request = VfsRequest::ProcessWrite(ProcessWrite {
            process: self.number,
            input: input.into(),
        });
        match self.link.ask(|transport| transport.request(&request))? {
            VfsReply::Done(_) => Ok(()),
            _ => Err(HostError::other_form(Method::ProcessWrite)),
        }
    }

    /// Sends it a line: the text, and the end of the line or the enter key.
    ///
    /// # Errors
    ///
    /// If it has ended.
    pub fn line(&mut self, text: &str) -> Result<(), HostError> {
        self.write(json!({"line": text}))
    }

    /// Presses keys, such as `ctrl-c`, `up` or `enter`. With pipes there are only a few of them.
    ///
    /// # Errors
    ///
    /// If it has ended, or there is no such key.
    pub fn keys(&mut self, keys: &[&str]) -> Result<(), HostError> {
        self.write(json!({"keys": keys}))
    }

    /// Gives its terminal another size.
    ///
    /// # Errors
    ///
    /// If it has ended, or has no terminal.
    pub fn resize(&mut self, rows: u16, cols: u16) -> Result<(), HostError> {
        self.write(json!({"resize": {"rows": rows, "cols": cols}}))
    }

    /// Ends its input.
    ///
    /// # Errors
    ///
    /// If it has ended.
    pub fn end_input(&mut self) -> Result<(), HostError> {
        self.write(json!({"end": true}))
    }

    /// Asks it to end, and ends it if it does not. Gives what it printed that was not read yet, and
    /// how it ended.
    ///
    /// # Errors
    ///
    /// If the host can't be asked.
    pub fn stop(mut self) -> Result<ProcessOutput<'static>, HostError> {
        self.end()
    }

    fn end(&mut self) -> Result<ProcessOutput<'static>, HostError> {
        self.is_stopped = true;
        let request = VfsRequest::ProcessStop(ProcessStop {
            process: self.number,
        });
        match self.link.ask(|transport| transport.request(&request))? {
            VfsReply::Output(output) => Ok(output),
            _ => Err(HostError::other_form(Method::ProcessStop)),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_stopped {
            // If the host can't be asked, it ends the program with the tool.
            let _ = self.end();
        }
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process")
            .field("number", &self.number)
            .field("is_stopped", &self.is_stopped)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
