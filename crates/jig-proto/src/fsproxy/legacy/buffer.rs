//! [`CommandBuffer`]: bytes as they arrive become commands.

use crate::fsproxy::bytes::StreamBuffer;
use crate::fsproxy::legacy::command::{AwaitedCommand, LegacyLineError, parse};
use crate::fsproxy::legacy::{LegacyCommand, LegacyRefusal, MAX_LINE};

/// Cuts a stream into commands.
///
/// Read into [`space`](Self::space), say how much came with [`filled`](Self::filled), and take commands
/// with [`next`](Self::next) until there is none. The memory grows with what arrives, and stays within
/// the limit and one line. A refused command takes the bytes behind its line with it, so that the
/// next command is found; where that can't be, the refusal is fatal.
#[derive(Debug)]
pub struct CommandBuffer {
    bytes: StreamBuffer,
    max: usize,
    /// The command whose line has come.
    awaited: Option<AwaitedCommand>,
    /// How many bytes are still to be dropped.
    skip: u64,
    /// Whether a refusal was fatal.
    is_lost: bool,
}

impl CommandBuffer {
    /// A buffer for commands with at most `max` bytes behind their line.
    pub fn new(max: usize) -> Self {
        Self {
            bytes: StreamBuffer::default(),
            max,
            awaited: None,
            skip: 0,
            is_lost: false,
        }
    }

    /// Where to read the next bytes of the stream to; never empty.
    pub fn space(&mut self) -> &mut [u8] {
        self.bytes
            .space(self.max.saturating_add(MAX_LINE + LINE_END))
    }

    /// Says that so many bytes were read into the beginning of the space.
    ///
    /// # Panics
    ///
    /// If that is more than [`space`](Self::space) had.
    pub fn filled(&mut self, count: usize) {
        self.bytes.filled(count);
    }

    /// Adds bytes that were read elsewhere, such as those by which the client was recognized.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let space = self.space();
            let count = space.len().min(bytes.len());
            let (now, later) = bytes.split_at(count);
            space[..count].copy_from_slice(now);
            self.filled(count);
            bytes = later;
        }
    }

    /// Takes the next command; `None` means that more of the stream is needed.
    ///
    /// # Errors
    ///
    /// [`LegacyRefusal`], which is to be answered; after a fatal one, nothing more comes.
    #[expect(
        clippy::should_implement_trait,
        reason = "what it returns is borrowed from the buffer, which no iterator can do"
    )]
    pub fn next(&mut self) -> Result<Option<LegacyCommand<'_>>, LegacyRefusal> {
        if !self.skip() {
            return Ok(None);
        }
        let awaited = match self.awaited {
            Some(awaited) => awaited,
            None => {
                let Some(end) = self.line_end()? else {
                    return Ok(None);
                };
                let line = &self.bytes.waiting()[..end];
                match AwaitedCommand::parse(line, self.max) {
                    None => return parse(&self.bytes.take(end + 1)[..end]).map(Some),
                    Some(parsed) => {
                        self.bytes.take(end + 1);
                        parsed.map_err(|fault| self.refuse(fault))?
                    }
                }
            }
        };
        if self.bytes.waiting().len() < awaited.size() {
            self.awaited = Some(awaited);
            return Ok(None);
        }
        self.awaited = None;
        awaited.command(self.bytes.take(awaited.size())).map(Some)
    }

    /// What is to be answered at the end of the stream, if it ended within a command.
    pub fn finish(&self) -> Option<LegacyRefusal> {
        let arrived = self.bytes.waiting().len();
        match &self.awaited {
            _ if self.is_lost || self.skip > 0 => None,
            Some(awaited) => Some(awaited.cut(arrived)),
            None if arrived > 0 => Some(LegacyRefusal::fatal("the request has no end")),
            None => None,
        }
    }

    /// Whether nothing waits: at the end of a stream, whether it ended between two commands.
    pub fn is_empty(&self) -> bool {
        self.bytes.waiting().is_empty() && self.awaited.is_none() && self.skip == 0
    }

    /// The bytes of memory that are held.
    pub fn memory(&self) -> usize {
        self.bytes.memory()
    }

    /// Drops what belongs to a refused command; `false` if there is more of it to come.
    fn skip(&mut self) -> bool {
        let waiting = self.bytes.waiting().len();
        if self.is_lost {
            self.bytes.take(waiting);
            return false;
        }
        let here = usize::try_from(self.skip).map_or(waiting, |skip| skip.min(waiting));
        self.bytes.take(here);
        self.skip -= here as u64;
        self.skip == 0
    }

    /// Where the next line ends, if its end has come.
    fn line_end(&mut self) -> Result<Option<usize>, LegacyRefusal> {
        let waiting = self.bytes.waiting();
        let searched = &waiting[..waiting.len().min(MAX_LINE + LINE_END)];
        match memchr::memchr(b'\n', searched) {
            Some(end) => Ok(Some(end)),
            None if searched.len() < MAX_LINE + LINE_END => Ok(None),
            None => {
                self.is_lost = true;
                let text = format!("the request has more than {MAX_LINE} bytes in its line");
                Err(LegacyRefusal::fatal(text))
            }
        }
    }

    fn refuse(&mut self, fault: LegacyLineError) -> LegacyRefusal {
        self.skip = fault.skip;
        self.is_lost = fault.refused.fatal;
        fault.refused
    }
}

/// A line ends with `\n`, or with `\r\n`.
const LINE_END: usize = 2;
