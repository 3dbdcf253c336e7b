//! [`File`]: an open file.

use std::collections::VecDeque;
use std::io;

use jig_proto::fsproxy::{Data, FIRST_HANDLE, MAX_READ, Op, OpenMode, ReadParams, WriteParams};

use super::client::wrong_reply;
use super::{Client, Error, PendingRequest, ProxyReply};

/// An open file of the parent, to be used as any [`io::Read`] and [`io::Write`].
///
/// It has one position, as a descriptor has. Dropping it closes it without waiting, but for what is
/// written behind; [`close`](Self::close) says whether that went well. The standard streams are never closed.
#[derive(Debug)]
pub struct File {
    client: Client,
    handle: u64,
    access: ProxyFileKind,
    /// How many requests are under way at once; 1 means that each is waited for.
    depth: usize,
    /// Reads ahead, oldest first.
    reads: VecDeque<PendingRequest>,
    /// What was read and not taken, from `taken` on.
    unread: Vec<u8>,
    taken: usize,
    /// Whether the last answer said that the file has ended: nothing is read ahead then.
    at_end: bool,
    /// Writes behind, oldest first, with their lengths.
    writes: VecDeque<(usize, PendingRequest)>,
    /// What went wrong with a write whose caller has gone on.
    failed: Option<Error>,
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProxyFileKind {
    Opened(OpenMode),
    /// One of the standard streams.
    Stream,
}

impl File {
    pub(super) fn new(client: Client, handle: u64, access: ProxyFileKind) -> Self {
        Self {
            client,
            handle,
            access,
            depth: 1,
            reads: VecDeque::new(),
            unread: Vec::new(),
            taken: 0,
            at_end: false,
            writes: VecDeque::new(),
            failed: None,
        }
    }

    /// The number by which the parent knows it.
    pub fn handle(&self) -> u64 {
        self.handle
    }

    /// Keeps up to `depth` requests of this file under way: what comes next is read ahead, and a
    /// write returns before it is done.
    ///
    /// What goes wrong with a write is reported by a later one, by `flush` or by
    /// [`close`](Self::close), and lost if the file is only dropped. A file that is both read and
    /// written has one position for both, so it is not read ahead.
    #[must_use]
    pub fn pipelined(mut self, depth: usize) -> Self {
        self.depth = depth.clamp(1, MAX_DEPTH);
        self
    }

    /// Closes the file, after all that is written behind.
    ///
    /// # Errors
    ///
    /// What went wrong with a write or with the closing. The file is closed all the same.
    pub fn close(mut self) -> Result<(), Error> {
        self.settle(0);
        let failed = self.failed.take();
        if self.is_stream() {
            return failed.map_or(Ok(()), Err);
        }
        let handle = self.handle;
        // Whatever happens now, `drop` has nothing to close.
        self.access = ProxyFileKind::Stream;
        let closed = match self.client.begin(&Op::Close { handle })?.wait() {
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        failed.map_or(closed, Err)
    }

    fn is_stream(&self) -> bool {
        self.access == ProxyFileKind::Stream || self.handle < FIRST_HANDLE
    }

    fn begin_read(&self, max: usize) -> Result<PendingRequest, Error> {
        self.client.begin_later(&Op::Read(ReadParams {
            handle: self.handle,
            max: max as u64,
        }))
    }

    /// Reads once, and waits for it.
    fn read_now(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let max = buffer.len().min(MAX_READ);
        let pending = self.begin_read(max)?;
        self.client.send()?;
        let (bytes, _) = content(pending)?;
        if bytes.len() > max {
            return Err(Error::nonsense("more was read than was asked for"));
        }
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }

    /// Takes the next piece of what is read ahead, and has more of it read.
    fn read_ahead(&mut self) -> Result<(), Error> {
        let depth = if self.at_end { 1 } else { self.depth };
        // Several at once, so that they share a write.
        if self.reads.len() <= depth / 2 {
            while self.reads.len() < depth {
                let pending = self.begin_read(MAX_READ)?;
                self.reads.push_back(pending);
            }
            self.client.send()?;
        }
        self.unread.clear();
        self.taken = 0;
        while let Some(pending) = self.reads.pop_front() {
            let (bytes, eof) = content(pending)?;
            self.at_end = eof;
            match self.unread.is_empty() {
                true => self.unread = bytes,
                false => self.unread.extend_from_slice(&bytes),
            }
            // Those that were under way at the end say the same. They are taken now: later, when the
            // file may have grown, they would be old.
            if !eof {
                break;
            }
        }
        Ok(())
    }

    /// Waits until at most so many writes are under way, and remembers the first failure.
    fn settle(&mut self, most: usize) {
        while self.writes.len() > most {
            let Some((length, pending)) = self.writes.pop_front() else {
                return;
            };
            let written = match pending.wait() {
                Ok(ProxyReply::Written(count)) if count == length as u64 => Ok(()),
                Ok(ProxyReply::Written(_)) => Err(Error::nonsense("not everything was written")),
                Ok(_) => Err(wrong_reply()),
                Err(error) => Err(error),
            };
            if let Err(error) = written {
                self.failed.get_or_insert(error);
            }
        }
    }

    fn write_some(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        let some = &bytes[..bytes.len().min(MAX_WRITE)];
        if self.depth > 1 {
            self.settle(self.depth - 1);
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
        }
        let pending = self.client.begin(&Op::Write(WriteParams {
            handle: self.handle,
            data: Data::encode(some),
            last: false,
        }))?;
        if self.depth > 1 {
            self.writes.push_back((some.len(), pending));
            return Ok(some.len());
        }
        match pending.wait()? {
            ProxyReply::Written(count) => usize::try_from(count)
                .ok()
                .filter(|count| *count <= some.len())
                .ok_or_else(|| Error::nonsense("more was written than there was")),
            _ => Err(wrong_reply()),
        }
    }
}

impl io::Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let is_shared = self.access == ProxyFileKind::Opened(OpenMode::ReadWrite);
        if self.depth == 1 || is_shared {
            return Ok(self.read_now(buffer)?);
        }
        if self.taken == self.unread.len() {
            self.read_ahead()?;
        }
        let rest = &self.unread[self.taken..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.taken += count;
        Ok(count)
    }
}

impl io::Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        Ok(self.write_some(bytes)?)
    }

    /// Waits for all that is written behind.
    fn flush(&mut self) -> io::Result<()> {
        self.settle(0);
        match self.failed.take() {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // Its writers were told that it is written: if the connection ended now, it might not be.
        self.settle(0);
        if !self.is_stream() {
            self.client.forget(self.handle);
        }
    }
}

fn content(pending: PendingRequest) -> Result<(Vec<u8>, bool), Error> {
    match pending.wait()? {
        // To a reader, nothing means the end.
        ProxyReply::Data { bytes, eof: false } if bytes.is_empty() => {
            Err(Error::nonsense("nothing was read, and it was not the end"))
        }
        ProxyReply::Data { bytes, eof } => Ok((bytes, eof)),
        _ => Err(wrong_reply()),
    }
}

/// The most bytes of one write: several of them fit into the buffer of a socket.
const MAX_WRITE: usize = 32 * 1024;

/// The most requests that one file keeps under way. A read ahead takes memory on both sides.
const MAX_DEPTH: usize = 256;
