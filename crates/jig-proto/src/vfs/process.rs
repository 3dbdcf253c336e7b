//! Programs: one that is run to its end ([`ProcessRun`]) and one that stays ([`ProcessStart`]).

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::json::Unique;
use crate::text::{self, WireText, or_default};
use crate::vfs::owned::{IntoOwned, owned, plain};
use crate::vfs::write::ObjectWriter;
use crate::{CutReport, Fetch, TerminalReport, View};

/// `process.run`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ProcessRun<'a> {
    /// The program.
    #[serde(borrow)]
    pub program: Cow<'a, str>,
    /// Its arguments.
    #[serde(borrow, default, deserialize_with = "text::list")]
    pub args: Vec<Cow<'a, str>>,
    /// The names of the host's variables that it should see.
    #[serde(borrow, default, deserialize_with = "text::list")]
    pub envs: Vec<Cow<'a, str>>,
    /// The directory to start it in, relative to the workspace; its root if the tool does not say.
    #[serde(borrow, default, deserialize_with = "text::optional")]
    pub cwd: Option<Cow<'a, str>>,
}

/// `process.start`: a program that the tool reads from and writes to while it runs.
///
/// It is judged as `process.run` is, and ends with the tool at the latest.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ProcessStart<'a> {
    /// The program.
    #[serde(borrow)]
    pub program: Cow<'a, str>,
    /// Its arguments.
    #[serde(borrow, default, deserialize_with = "text::list")]
    pub args: Vec<Cow<'a, str>>,
    /// The names of the host's variables that it should see.
    #[serde(borrow, default, deserialize_with = "text::list")]
    pub envs: Vec<Cow<'a, str>>,
    /// The directory to start it in, relative to the workspace; its root if the tool does not say.
    #[serde(borrow, default, deserialize_with = "text::optional")]
    pub cwd: Option<Cow<'a, str>>,
    /// Give it a terminal of this size, not pipes.
    #[serde(default, deserialize_with = "terminal_size")]
    pub terminal: Option<TerminalSize>,
}

/// The size of a terminal, as the tool wants it. The host may give it another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    /// The height; 24 if the tool does not say.
    pub rows: u16,
    /// The width; 80 if the tool does not say.
    pub cols: u16,
}

/// `process.read`: what a started program printed.
///
/// If it waits, it waits for new output and for the end, and no longer than until there is input for
/// the tool: a tool can wait for its program and its caller at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessRead {
    /// The number of the program.
    pub process: u64,
    /// Which part of its output, and how long to wait for it.
    pub fetch: Fetch,
    /// Wait until the output has come to rest, instead of for the first of it.
    pub settle: bool,
}

/// `process.write`: input for a started program.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ProcessWrite {
    /// The number of the program.
    pub process: u64,
    /// Text as it is, or an object such as `{"line": …}` or `{"keys": […]}`, or a list of those.
    #[serde(deserialize_with = "unique")]
    pub input: Value,
}

/// `process.stop`: asks a started program to end, and ends it if it does not. The answer is what it
/// printed that was not read yet, and how it ended; its number means nothing from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct ProcessStop {
    /// The number of the program.
    pub process: u64,
}

/// A program that was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct StartedProcess {
    /// Its number, which only this tool can use.
    pub process: u64,
}

/// What a started program printed, and where it stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct ProcessOutput<'a> {
    /// Whether it still runs.
    pub running: bool,
    /// The output that was asked for. What is not UTF-8 has been replaced.
    #[serde(borrow)]
    pub content: Cow<'a, str>,
    /// How far the output was read: what is new next time comes after it.
    pub seq: u64,
    /// What is missing in the content.
    #[serde(default, deserialize_with = "or_default")]
    pub cut: Option<CutReport>,
    /// The screen, if it has a terminal.
    #[serde(default, deserialize_with = "or_default")]
    pub terminal: Option<TerminalReport>,
    /// The code that it exited with, if it did.
    #[serde(default, deserialize_with = "or_default")]
    pub exit_code: Option<i32>,
    /// The number of the signal that ended it, if one did.
    #[serde(default, deserialize_with = "or_default")]
    pub signal: Option<i32>,
}

impl<'a> ProcessStart<'a> {
    /// A program on pipes, without arguments, in the root of the workspace.
    pub fn new(program: impl Into<Cow<'a, str>>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            envs: Vec::new(),
            cwd: None,
            terminal: None,
        }
    }
}

impl ProcessRead {
    /// What is new, now.
    pub fn new(process: u64) -> Self {
        Self {
            process,
            fetch: Fetch::default(),
            settle: false,
        }
    }
}

impl Default for TerminalSize {
    fn default() -> Self {
        Self { rows: 24, cols: 80 }
    }
}

impl ProcessRun<'_> {
    pub(super) fn write(&self, object: &mut ObjectWriter<'_>) {
        object.put("program", &self.program);
        object.put("args", &self.args);
        object.put("envs", &self.envs);
        object.put_some("cwd", self.cwd.as_ref());
    }
}

impl ProcessStart<'_> {
    pub(super) fn write(&self, object: &mut ObjectWriter<'_>) {
        object.put("program", &self.program);
        object.put("args", &self.args);
        object.put("envs", &self.envs);
        object.put_some("cwd", self.cwd.as_ref());
        if let Some(TerminalSize { rows, cols }) = self.terminal {
            let mut size = object.object("terminal");
            size.put("rows", &rows);
            size.put("cols", &cols);
            size.close();
        }
    }
}

impl ProcessRead {
    pub(super) fn write(&self, object: &mut ObjectWriter<'_>) {
        let Fetch {
            view,
            after_seq,
            max_bytes,
            wait,
        } = &self.fetch;
        object.put("process", &self.process);
        object.put_some("view", Some(view.name()).filter(|_| *view != View::New));
        object.put_some("after_seq", *after_seq);
        object.put_some("max_bytes", *max_bytes);
        object.put_some("wait_ms", wait.map(milliseconds));
        object.put_flag("settle", self.settle);
    }
}

impl ProcessWrite {
    pub(super) fn write(&self, object: &mut ObjectWriter<'_>) {
        object.put("process", &self.process);
        object.put("input", &self.input);
    }
}

impl ProcessStop {
    pub(super) fn write(self, object: &mut ObjectWriter<'_>) {
        object.put("process", &self.process);
    }
}

impl ProcessOutput<'_> {
    pub(super) fn write(&self, object: &mut ObjectWriter<'_>) {
        object.put("running", &self.running);
        object.put("content", &self.content);
        object.put("seq", &self.seq);
        object.put_some("cut", self.cut.as_ref());
        object.put_some("terminal", self.terminal.as_ref());
        object.put_some("exit_code", self.exit_code);
        object.put_some("signal", self.signal);
    }
}

impl<'de> Deserialize<'de> for ProcessRead {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct WireProcessRead<'a> {
            process: u64,
            #[serde(borrow)]
            view: Option<WireText<'a>>,
            after_seq: Option<u64>,
            max_bytes: Option<u64>,
            wait_ms: Option<u64>,
            #[serde(default, deserialize_with = "or_default")]
            settle: bool,
        }

        let wire = WireProcessRead::deserialize(deserializer)?;
        let view = match wire.view {
            None => View::New,
            Some(WireText(name)) => View::named(&name).map_err(serde::de::Error::custom)?,
        };
        Ok(Self {
            process: wire.process,
            fetch: Fetch {
                view,
                after_seq: wire.after_seq,
                max_bytes: wire
                    .max_bytes
                    .map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
                wait: wire
                    .wait_ms
                    .map(|wait| Duration::from_millis(wait).min(Fetch::LONGEST_WAIT)),
            },
            settle: wire.settle,
        })
    }
}

/// A value in which no object has a key twice.
fn unique<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    Unique::deserialize(deserializer).map(|Unique(value)| value)
}

/// A size of which each part may be absent, as the whole may be.
fn terminal_size<'de, D>(deserializer: D) -> Result<Option<TerminalSize>, D::Error>
where
    D: Deserializer<'de>,
{
    #[derive(Deserialize)]
    struct WireTerminalSize {
        rows: Option<u16>,
        cols: Option<u16>,
    }

    let wire: Option<text::WireObject<WireTerminalSize>> = Option::deserialize(deserializer)?;
    let usual = TerminalSize::default();
    Ok(wire.map(|text::WireObject(wire)| TerminalSize {
        rows: wire.rows.unwrap_or(usual.rows),
        cols: wire.cols.unwrap_or(usual.cols),
    }))
}

/// Whole milliseconds, and not none at all for a wait that is shorter than one.
fn milliseconds(wait: Duration) -> u64 {
    u64::try_from(wait.as_micros().div_ceil(1_000)).unwrap_or(u64::MAX)
}

plain!(TerminalSize, CutReport, TerminalReport);
owned!(ProcessRun {
    program,
    args,
    envs,
    cwd
});
owned!(ProcessStart {
    program,
    args,
    envs,
    cwd,
    terminal
});
owned!(ProcessOutput {
    running,
    content,
    seq,
    cut,
    terminal,
    exit_code,
    signal
});
