//! Where a command reads from and writes to.

use std::io::{self, Read as _, Write as _};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jig_tool::proxy::{Error, File, ProxyError};

/// Why a command ends before its end.
#[derive(Debug)]
pub(crate) enum CommandFailure {
    /// Whoever read what it writes has gone. Nobody is told.
    ReaderGone,
    /// Something failed.
    Said(String),
    /// The command was not given what it needs.
    Usage(String),
}

impl CommandFailure {
    /// `what` failed with an error of the proxy.
    pub(crate) fn at(what: &str, error: &io::Error) -> Self {
        Self::Said(format!("{what}: {}", words(error)))
    }
}

impl From<Error> for CommandFailure {
    fn from(error: Error) -> Self {
        Self::Said(words(&io::Error::from(error)))
    }
}

/// What an error says to a person, without the code of the protocol.
fn words(error: &io::Error) -> String {
    let told = error.get_ref().and_then(|told| told.downcast_ref());
    match told {
        Some(ProxyError { message, .. }) => message.clone(),
        None => error.to_string(),
    }
}

/// What takes the output of a command. Several streams of a command may share one.
pub(crate) type SharedSink = Arc<Mutex<ShellSink>>;

/// What is written to.
#[derive(Debug)]
pub(crate) enum ShellSink {
    /// Nobody reads it.
    Null,
    /// A handle of the proxy, and what it is called.
    File(Box<File>, String),
    /// The next command.
    Pipe(SyncSender<Vec<u8>>),
    /// Memory of whoever runs the shell.
    Kept(CapturedOutput),
}

/// Output that is kept, up to a limit.
#[derive(Debug, Clone, Default)]
pub(crate) struct CapturedOutput(Arc<Mutex<Vec<u8>>>);

impl CapturedOutput {
    fn write(&self, bytes: &[u8]) {
        let mut kept = lock(&self.0);
        let room = (MOST_KEPT + 1).saturating_sub(kept.len());
        kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// What was written, as text. A part that was left out is said.
    pub(crate) fn text(&self) -> String {
        let kept = lock(&self.0);
        let text = String::from_utf8_lossy(&kept[..kept.len().min(MOST_KEPT)]);
        match kept.len() > MOST_KEPT {
            true => format!(
                "{text}\n(cut: there was more than {} KiB)\n",
                MOST_KEPT >> 10
            ),
            false => text.into_owned(),
        }
    }
}

impl ShellSink {
    pub(crate) fn shared(self) -> SharedSink {
        Arc::new(Mutex::new(self))
    }

    fn write(&mut self, bytes: Vec<u8>) -> Result<(), CommandFailure> {
        match self {
            Self::Null => Ok(()),
            Self::File(file, name) => file
                .write_all(&bytes)
                .map_err(|error| CommandFailure::at(name, &error)),
            Self::Pipe(next) => next.send(bytes).map_err(|_| CommandFailure::ReaderGone),
            Self::Kept(kept) => {
                kept.write(&bytes);
                Ok(())
            }
        }
    }

    /// Ends it; it takes nothing more.
    pub(crate) fn finish(&mut self) -> Result<(), CommandFailure> {
        match std::mem::replace(self, Self::Null) {
            Self::File(file, name) => file
                .close()
                .map_err(|error| CommandFailure::at(&name, &io::Error::from(error))),
            Self::Null | Self::Pipe(_) | Self::Kept(_) => Ok(()),
        }
    }
}

/// A stream that a command writes to.
#[derive(Debug)]
pub(crate) struct ShellOutput {
    to: SharedSink,
    buffer: Vec<u8>,
}

impl ShellOutput {
    pub(crate) fn new(to: SharedSink) -> Self {
        Self {
            to,
            buffer: Vec::new(),
        }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), CommandFailure> {
        self.buffer.extend_from_slice(bytes);
        match self.buffer.len() >= CHUNK {
            true => self.push(),
            false => Ok(()),
        }
    }

    /// A line without its end.
    pub(crate) fn line(&mut self, bytes: &[u8]) -> Result<(), CommandFailure> {
        self.buffer.extend_from_slice(bytes);
        self.write(b"\n")
    }

    /// Hands on what was written so far.
    pub(crate) fn push(&mut self) -> Result<(), CommandFailure> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.buffer);
        lock(&self.to).write(bytes)
    }

    /// What it leads to.
    pub(crate) fn sink(&self) -> MutexGuard<'_, ShellSink> {
        lock(&self.to)
    }
}

/// A connection from one command to the next.
pub(crate) fn pipe() -> (ShellSink, ShellSource) {
    let (to, from) = sync_channel(PIPE_CHUNKS);
    (ShellSink::Pipe(to), ShellSource::Pipe(from))
}

/// What is read from.
#[derive(Debug)]
pub(crate) enum ShellSource {
    /// There is nothing to read.
    Empty,
    /// A handle of the proxy.
    File(Box<File>),
    /// The standard input of this process, where the proxy has none: a terminal.
    Own,
    /// The command before.
    Pipe(Receiver<Vec<u8>>),
}

/// A stream that a command reads.
#[derive(Debug)]
pub(crate) struct ShellInput {
    from: ShellSource,
    /// How messages name it.
    pub(crate) name: String,
    buffer: Vec<u8>,
    taken: usize,
}

impl ShellInput {
    pub(crate) fn new(from: ShellSource, name: &str) -> Self {
        Self {
            from,
            name: name.to_owned(),
            buffer: Vec::new(),
            taken: 0,
        }
    }

    /// A stream of a text.
    pub(crate) fn text(text: Vec<u8>) -> Self {
        Self {
            buffer: text,
            ..Self::new(ShellSource::Empty, "the text")
        }
    }

    /// Where it reads from, if nothing was read yet.
    pub(crate) fn into_unread(self) -> Result<ShellSource, Self> {
        match self.buffer.is_empty() {
            true => Ok(self.from),
            false => Err(self),
        }
    }

    /// The next bytes, as many as come at once; nothing at the end. Before it waits, it has `out` hand on
    /// what was written: a reader at the other end sees results as they come.
    pub(crate) fn chunk(&mut self, out: &mut ShellOutput) -> Result<&[u8], CommandFailure> {
        self.fill(out)?;
        let from = std::mem::replace(&mut self.taken, self.buffer.len());
        Ok(&self.buffer[from..])
    }

    /// Reads the next line into `line`, with its end; `false` if there is none.
    pub(crate) fn line(
        &mut self,
        line: &mut Vec<u8>,
        out: &mut ShellOutput,
    ) -> Result<bool, CommandFailure> {
        line.clear();
        while self.fill(out)? {
            let unread = &self.buffer[self.taken..];
            let end = unread.iter().position(|byte| *byte == b'\n');
            let count = end.map_or(unread.len(), |end| end + 1);
            line.extend_from_slice(&unread[..count]);
            self.taken += count;
            if end.is_some() {
                return Ok(true);
            }
            if line.len() > MAX_LINE {
                let most = MAX_LINE >> 20;
                return Err(CommandFailure::Said(format!(
                    "{}: a line is longer than {most} MiB",
                    self.name
                )));
            }
        }
        Ok(!line.is_empty())
    }

    /// The same without the end of the line.
    pub(crate) fn bare_line(
        &mut self,
        line: &mut Vec<u8>,
        out: &mut ShellOutput,
    ) -> Result<bool, CommandFailure> {
        let is_there = self.line(line, out)?;
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        Ok(is_there)
    }

    /// Sees to it that something is unread; `false` at the end.
    fn fill(&mut self, out: &mut ShellOutput) -> Result<bool, CommandFailure> {
        if self.taken < self.buffer.len() {
            return Ok(true);
        }
        self.taken = 0;
        match &mut self.from {
            ShellSource::Empty => self.buffer.clear(),
            ShellSource::Pipe(before) => {
                self.buffer = match before.try_recv() {
                    Ok(bytes) => bytes,
                    Err(TryRecvError::Disconnected) => Vec::new(),
                    Err(TryRecvError::Empty) => {
                        out.push()?;
                        before.recv().unwrap_or_default()
                    }
                };
            }
            ShellSource::File(file) => {
                if file.handle() == 0 {
                    out.push()?;
                }
                let read = read(&mut self.buffer, |into| file.read(into));
                read.map_err(|error| CommandFailure::at(&self.name, &error))?;
            }
            ShellSource::Own => {
                out.push()?;
                let read = read(&mut self.buffer, |into| io::stdin().read(into));
                read.map_err(|error| CommandFailure::at(&self.name, &error))?;
            }
        }
        if self.buffer.is_empty() {
            self.from = ShellSource::Empty;
        }
        Ok(!self.buffer.is_empty())
    }
}

fn read(
    buffer: &mut Vec<u8>,
    mut once: impl FnMut(&mut [u8]) -> io::Result<usize>,
) -> io::Result<()> {
    buffer.resize(READ, 0);
    loop {
        match once(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => {
                buffer.truncate(*result.as_ref().unwrap_or(&0));
                return result.map(|_| ());
            }
        }
    }
}

/// A thread that panicked leaves nothing half done behind these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How much a command writes before it is handed on.
const CHUNK: usize = 32 * 1024;

/// How much output is kept.
const MOST_KEPT: usize = 64 * 1024;

/// How much is read at once. The proxy gives no more.
const READ: usize = 4096;

/// How many chunks wait between two commands: a fast one waits for a slow one, and memory stays small.
const PIPE_CHUNKS: usize = 8;

/// The longest line. Without it a file without ends of lines would be held as a whole.
const MAX_LINE: usize = 16 << 20;
