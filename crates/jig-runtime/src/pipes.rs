//! The pipes of a program: bytes in and out without ever waiting.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};

use jig_broker::ProgramStreams;
use jig_sandbox::set_nonblocking;

/// The three pipes. One that has ended is `None`.
pub(crate) struct ToolPipes {
    pub(crate) stdin: Option<PipeWriter>,
    pub(crate) stdout: Option<PipeReader>,
    pub(crate) stderr: Option<PipeReader>,
    /// What waits to be written, from `written` on.
    out: Vec<u8>,
    written: usize,
    /// The end of what the program printed as errors.
    errors: Vec<u8>,
    errors_cut: bool,
}

/// One of the two streams that a program writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgramStream {
    Output,
    Errors,
}

impl ToolPipes {
    pub(crate) fn new(streams: ProgramStreams) -> io::Result<Self> {
        let ProgramStreams {
            stdin,
            stdout,
            stderr,
        } = streams;
        if let Some(stdin) = &stdin {
            set_nonblocking(stdin.as_fd(), true)?;
        }
        for reader in [&stdout, &stderr].into_iter().flatten() {
            set_nonblocking(reader.as_fd(), true)?;
        }
        Ok(Self {
            stdin,
            stdout,
            stderr,
            out: Vec::new(),
            written: 0,
            errors: Vec::new(),
            errors_cut: false,
        })
    }

    /// The buffer to which lines for the program are appended; [`flush`](Self::flush) sends them.
    pub(crate) fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// How many bytes wait to be written.
    pub(crate) fn unwritten(&self) -> usize {
        self.out.len() - self.written
    }

    /// Writes what the pipe takes. A program that reads no more is no error: it may still finish.
    pub(crate) fn flush(&mut self) {
        while self.unwritten() > 0 {
            let Some(stdin) = &mut self.stdin else {
                self.written = self.out.len();
                break;
            };
            match stdin.write(&self.out[self.written..]) {
                Ok(0) => self.stdin = None,
                Ok(count) => self.written += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    // A tool that always leaves a rest must not make this grow for ever. Half of it
                    // at the least, so that moving the rest is paid for by what was sent.
                    if self.written >= KEPT_BYTES && self.written * 2 >= self.out.len() {
                        self.out.drain(..self.written);
                        self.written = 0;
                    }
                    return;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => self.stdin = None,
            }
        }
        self.out.clear();
        self.out.shrink_to(KEPT_BYTES);
        self.written = 0;
    }

    /// Reads what is there of the program's output; `None` if there is nothing now. At the end the
    /// pipe is closed and nothing comes any more.
    pub(crate) fn read<'b>(&mut self, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
        let count = read_some(&mut self.stdout, buffer)?;
        Some(&buffer[..count])
    }

    /// Reads what is there of one stream; `None` if there is nothing now.
    pub(crate) fn read_stream<'b>(
        &mut self,
        stream: ProgramStream,
        buffer: &'b mut [u8],
    ) -> Option<&'b [u8]> {
        let pipe = match stream {
            ProgramStream::Output => &mut self.stdout,
            ProgramStream::Errors => &mut self.stderr,
        };
        let count = read_some(pipe, buffer)?;
        Some(&buffer[..count])
    }

    /// Reads what is there of the program's errors and keeps the end of it.
    pub(crate) fn read_errors(&mut self, buffer: &mut [u8]) {
        for _ in 0..ERROR_ROUNDS {
            let Some(count) = read_some(&mut self.stderr, buffer) else {
                return;
            };
            self.errors.extend_from_slice(&buffer[..count]);
            let excess = self.errors.len().saturating_sub(KEPT_ERRORS);
            if excess > 0 {
                self.errors.drain(..excess);
                self.errors_cut = true;
            }
        }
    }

    /// The end of what the program printed as errors, as text.
    pub(crate) fn errors(&self) -> String {
        let text = String::from_utf8_lossy(&self.errors);
        let text = text.trim();
        match self.errors_cut {
            true => format!("… {text}"),
            false => text.to_owned(),
        }
    }
}

/// Lends a buffer for reading. There are only as many as are in use at one moment: thousands of sessions
/// wait, and few of them read.
pub(crate) fn with_buffer<R>(read: impl FnOnce(&mut [u8]) -> R) -> R {
    static FREE: Mutex<Vec<Box<[u8]>>> = Mutex::new(Vec::new());
    let free = || FREE.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = free().pop();
    let mut buffer = kept.unwrap_or_else(|| vec![0; BUFFER_BYTES].into_boxed_slice());
    let result = read(&mut buffer);
    let mut free = free();
    if free.len() < KEPT_BUFFERS {
        free.push(buffer);
    }
    result
}

fn read_some(pipe: &mut Option<PipeReader>, buffer: &mut [u8]) -> Option<usize> {
    loop {
        match pipe.as_mut()?.read(buffer) {
            Ok(0) => *pipe = None,
            Ok(count) => return Some(count),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => *pipe = None,
        }
    }
}

/// How much is read at once: as much as a pipe holds.
const BUFFER_BYTES: usize = 64 * 1024;

/// How many buffers are kept for the next who reads.
const KEPT_BUFFERS: usize = 4;

/// How much memory is kept between lines: a session that sent one large answer gives it back.
const KEPT_BYTES: usize = 64 * 1024;

/// How much of a program's errors is kept. A program can print them without end.
const KEPT_ERRORS: usize = 64 * 1024;

/// How often a program's errors are read in a row, so that one that floods them is still ended.
const ERROR_ROUNDS: usize = 16;
