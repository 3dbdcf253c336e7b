//! [`Console`]: the ends of a running program, and what it must still be given.

use std::collections::VecDeque;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use crate::pty::set_nonblocking;
use crate::{Input, Key, Pty, Screen, Size};

/// The ends of a running program: its pipes or its terminal.
///
/// It has no thread and never waits. Its owner polls [`readers`](Self::readers) and
/// [`writer`](Self::writer), and calls [`read`](Self::read) and [`flush`](Self::flush) when they are
/// ready.
#[derive(Debug)]
pub struct Console {
    ends: ConsoleEnds,
    /// What waits to be written.
    queue: VecDeque<u8>,
    /// For pipes: close the input when all is written.
    ends_input: bool,
    /// A terminal that the program has closed. It stays open here until the console goes.
    ended: Option<Pty>,
}

#[derive(Debug)]
enum ConsoleEnds {
    Pipes {
        stdin: Option<PipeWriter>,
        stdout: Option<PipeReader>,
        stderr: Option<PipeReader>,
    },
    Terminal(Option<Pty>),
}

/// Where output came from. A terminal has only [`OutputSource::Output`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputSource {
    /// Standard output, or the terminal.
    Output,
    /// Standard error.
    Errors,
}

/// What became of input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SentInput {
    /// What the caller must send to the program's whole tree, in this order: a pipe cannot carry the
    /// keys that a terminal turns into signals. Empty for a terminal.
    pub signals: Vec<Signal>,
    /// The new size of the terminal, for its [`Screen`]. Empty for pipes.
    pub resized: Option<Size>,
}

/// A signal that a key stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// `ctrl-c`: SIGINT.
    Interrupt,
    /// `ctrl-\`: SIGQUIT.
    Quit,
    /// `ctrl-z`: SIGTSTP.
    Suspend,
}

/// Why input was refused. Nothing of it was sent then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The program does not read, and too much waits for it already.
    #[error(
        "the program has not read its input; {waiting} bytes wait for it, which is as much as is kept"
    )]
    Full {
        /// How many bytes wait.
        waiting: usize,
    },
    /// Nobody reads what would be sent.
    #[error("the input of the program has ended")]
    Ended,
    /// A plain process has no keyboard.
    #[error(
        "the program has no terminal, so it cannot be sent the key `{0}`; send text, or a line"
    )]
    NoKeyboard(Key),
    /// A plain process has no screen.
    #[error("the program has no terminal that could be resized")]
    NoTerminal,
    /// The terminal could not be resized.
    #[error("the terminal could not be resized")]
    Resize(#[source] io::Error),
}

impl Console {
    /// The console of a program that has pipes. They are made non-blocking. One that is missing has
    /// ended.
    pub fn piped(
        stdin: Option<PipeWriter>,
        stdout: Option<PipeReader>,
        stderr: Option<PipeReader>,
    ) -> io::Result<Self> {
        if let Some(stdin) = &stdin {
            set_nonblocking(stdin.as_fd())?;
        }
        for reader in [&stdout, &stderr].into_iter().flatten() {
            set_nonblocking(reader.as_fd())?;
        }
        Ok(Self::new(ConsoleEnds::Pipes {
            stdin,
            stdout,
            stderr,
        }))
    }

    /// The console of a program that has a terminal.
    pub fn terminal(pty: Pty) -> Self {
        Self::new(ConsoleEnds::Terminal(Some(pty)))
    }

    fn new(ends: ConsoleEnds) -> Self {
        Self {
            ends,
            queue: VecDeque::new(),
            ends_input: false,
            ended: None,
        }
    }

    /// What to poll for reading. Ends that have ended are not among them.
    pub fn readers(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let all = match &self.ends {
            ConsoleEnds::Pipes { stdout, stderr, .. } => [
                stdout.as_ref().map(AsFd::as_fd),
                stderr.as_ref().map(AsFd::as_fd),
            ],
            ConsoleEnds::Terminal(pty) => [pty.as_ref().map(AsFd::as_fd), None],
        };
        all.into_iter().flatten()
    }

    /// What to poll for writing, while something waits to be written.
    pub fn writer(&self) -> Option<BorrowedFd<'_>> {
        if self.queue.is_empty() {
            return None;
        }
        match &self.ends {
            ConsoleEnds::Pipes { stdin, .. } => stdin.as_ref().map(AsFd::as_fd),
            ConsoleEnds::Terminal(pty) => pty.as_ref().map(AsFd::as_fd),
        }
    }

    /// Reads what is there and hands it to `sink` as it comes. A program that prints without pause
    /// does not keep this from returning.
    pub fn read(&mut self, buffer: &mut [u8], sink: &mut dyn FnMut(OutputSource, &[u8])) {
        match &mut self.ends {
            ConsoleEnds::Pipes { stdout, stderr, .. } => {
                read_end(stdout, PipeReader::read, buffer, &mut |bytes| {
                    sink(OutputSource::Output, bytes);
                });
                read_end(stderr, PipeReader::read, buffer, &mut |bytes| {
                    sink(OutputSource::Errors, bytes);
                });
            }
            ConsoleEnds::Terminal(pty) => {
                // A program closes its end before it has exited, and closing ours then would kill it: whoever
                // has a terminal that hangs up gets SIGHUP.
                let mut open = pty.as_ref();
                read_end(
                    &mut open,
                    |pty, buffer| pty.read(buffer),
                    buffer,
                    &mut |bytes| {
                        sink(OutputSource::Output, bytes);
                    },
                );
                if open.is_none() {
                    self.ended = pty.take().or(self.ended.take());
                    self.queue = VecDeque::new();
                }
            }
        }
    }

    /// Queues input and writes what can be written. `screen` tells which forms of keys a program in a
    /// terminal has asked for. All of `input` is taken, or nothing.
    pub fn send(
        &mut self,
        input: &[Input],
        screen: Option<&Screen>,
    ) -> Result<SentInput, SendError> {
        let mut typed = EncodedInput::default();
        for one in input {
            match &self.ends {
                ConsoleEnds::Pipes { .. } => typed.add_to_pipe(one)?,
                ConsoleEnds::Terminal(_) => typed.add_to_terminal(one, screen),
            }
        }
        let is_open = match &self.ends {
            ConsoleEnds::Pipes { stdin, .. } => stdin.is_some() && !self.ends_input,
            ConsoleEnds::Terminal(pty) => pty.is_some(),
        };
        if !is_open && !typed.bytes.is_empty() {
            return Err(SendError::Ended);
        }
        if !typed.bytes.is_empty() && self.queue.len() + typed.bytes.len() > MOST_QUEUED {
            return Err(SendError::Full {
                waiting: self.queue.len(),
            });
        }
        if let (ConsoleEnds::Terminal(Some(pty)), Some(size)) = (&self.ends, typed.sent.resized) {
            pty.resize(size).map_err(SendError::Resize)?;
        }
        self.queue.extend(typed.bytes);
        self.ends_input |= typed.ends;
        self.flush();
        Ok(typed.sent)
    }

    /// Queues what a terminal answers to a query. It is dropped while much waits already: a program
    /// that asks and does not read must not fill memory.
    pub fn write_answers(&mut self, bytes: &[u8]) {
        let is_open = matches!(&self.ends, ConsoleEnds::Terminal(Some(_)));
        if is_open && self.queue.len() + bytes.len() <= MOST_ANSWERS_QUEUED {
            self.queue.extend(bytes);
            self.flush();
        }
    }

    /// Writes what the program takes now. A program that has stopped reading is no error: what waits
    /// for it is dropped.
    pub fn flush(&mut self) {
        match &mut self.ends {
            ConsoleEnds::Pipes { stdin, .. } => {
                write_end(stdin, PipeWriter::write, &mut self.queue);
                if self.queue.is_empty() && self.ends_input {
                    *stdin = None;
                }
            }
            // The host's end stays open when it cannot be written: there may be output to read.
            ConsoleEnds::Terminal(pty) => {
                let mut end = pty.as_ref();
                write_end(&mut end, |pty, bytes| pty.write(bytes), &mut self.queue);
            }
        }
    }

    /// How many bytes wait to be written.
    pub fn unwritten(&self) -> usize {
        self.queue.len()
    }

    /// Whether nothing can be read any more: every writer has closed its end.
    pub fn is_ended(&self) -> bool {
        self.readers().next().is_none()
    }
}

/// Input, as the bytes and signals that it stands for.
#[derive(Default)]
struct EncodedInput {
    bytes: Vec<u8>,
    ends: bool,
    sent: SentInput,
}

impl EncodedInput {
    fn add_to_terminal(&mut self, input: &Input, screen: Option<&Screen>) {
        match input {
            Input::Text(text) => self.type_text(text),
            Input::Line(text) => {
                let is_block = text.trim_end_matches(['\r', '\n']).contains('\n');
                match is_block && screen.is_some_and(Screen::bracketed_paste) {
                    true => self.paste(text),
                    false if is_block => self.type_text(text),
                    // The end that a single line has already is the enter key itself.
                    false => self.type_text(text.trim_end_matches(['\r', '\n'])),
                }
                self.bytes.push(b'\r');
            }
            Input::Keys(keys) => {
                let is_application = screen.is_some_and(Screen::cursor_keys_are_application);
                for key in keys {
                    self.bytes.extend(key.bytes(is_application));
                }
            }
            Input::Resize(size) => self.sent.resized = Some(size.clamped()),
            Input::End => self.bytes.push(END_OF_TRANSMISSION),
        }
    }

    /// The enter key sends a carriage return, whatever ends a line elsewhere.
    fn type_text(&mut self, text: &str) {
        let text = text.replace("\r\n", "\r").replace('\n', "\r");
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Several lines as one block, so that an editor does not run or indent each of them. The text
    /// must not be able to end the block.
    fn paste(&mut self, text: &str) {
        self.bytes.extend_from_slice(b"\x1b[200~");
        self.type_text(&text.replace(['\x1b', '\u{9b}'], ""));
        self.bytes.extend_from_slice(b"\x1b[201~");
    }

    fn add_to_pipe(&mut self, input: &Input) -> Result<(), SendError> {
        let open = match self.ends {
            true => Err(SendError::Ended),
            false => Ok(()),
        };
        match input {
            Input::Text(text) => {
                open?;
                self.bytes.extend_from_slice(text.as_bytes());
            }
            Input::Line(text) => {
                open?;
                self.bytes.extend_from_slice(text.as_bytes());
                if !text.ends_with('\n') {
                    self.bytes.push(b'\n');
                }
            }
            Input::Keys(keys) => {
                for key in keys {
                    self.add_key_to_pipe(key)?;
                }
            }
            Input::Resize(_) => return Err(SendError::NoTerminal),
            Input::End => self.ends = true,
        }
        Ok(())
    }

    /// A pipe carries the keys that have an evident meaning without a terminal.
    fn add_key_to_pipe(&mut self, key: &Key) -> Result<(), SendError> {
        match key.control_character() {
            Some(0x03) => self.sent.signals.push(Signal::Interrupt),
            Some(0x1c) => self.sent.signals.push(Signal::Quit),
            Some(0x1a) => self.sent.signals.push(Signal::Suspend),
            Some(END_OF_TRANSMISSION) => self.ends = true,
            _ => {
                let char = key.typed().ok_or(SendError::NoKeyboard(*key))?;
                if self.ends {
                    return Err(SendError::Ended);
                }
                let mut buffer = [0; 4];
                self.bytes
                    .extend_from_slice(char.encode_utf8(&mut buffer).as_bytes());
            }
        }
        Ok(())
    }
}

/// Reads what is there, bounded. An end that has ended is dropped.
fn read_end<E>(
    end: &mut Option<E>,
    read: impl Fn(&mut E, &mut [u8]) -> io::Result<usize>,
    buffer: &mut [u8],
    sink: &mut dyn FnMut(&[u8]),
) {
    let mut taken = 0;
    let start = Instant::now();
    while let Some(open) = end
        && taken < MOST_READ
        && start.elapsed() < LONGEST_READ
        && !buffer.is_empty()
    {
        match read(open, buffer) {
            Ok(0) => *end = None,
            Ok(count) => {
                taken += count;
                sink(&buffer[..count]);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => *end = None,
        }
    }
}

/// Writes what is taken. An end that takes nothing any more is dropped, with what waits for it.
fn write_end<E>(
    end: &mut Option<E>,
    write: impl Fn(&mut E, &[u8]) -> io::Result<usize>,
    queue: &mut VecDeque<u8>,
) {
    while let (Some(open), (bytes, _)) = (&mut *end, queue.as_slices())
        && !bytes.is_empty()
    {
        match write(open, bytes) {
            Ok(count) if count > 0 => drop(queue.drain(..count)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => *end = None,
        }
    }
    if end.is_none() {
        queue.clear();
    }
    if queue.is_empty() {
        queue.shrink_to(KEPT_BYTES);
    }
}

/// What `ctrl-d` sends.
const END_OF_TRANSMISSION: u8 = 0x04;

/// How much input waits for a program at most. One that never reads could otherwise be fed until
/// memory is full.
const MOST_QUEUED: usize = 1 << 20;

/// How much may wait when an answer is added to it.
const MOST_ANSWERS_QUEUED: usize = 64 << 10;

/// How much is read from one end in a row, so that a program that floods it is still ended on time.
const MOST_READ: usize = 256 << 10;

/// How long one end is read in a row. What takes the output in may be slow, if the program wants it.
const LONGEST_READ: Duration = Duration::from_millis(20);

/// How much memory is kept when nothing waits.
const KEPT_BYTES: usize = 4 << 10;

#[cfg(test)]
mod tests;
