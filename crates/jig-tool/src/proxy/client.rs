//! [`Client`]: file work through a parent.

use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use jig_proto::fsproxy::{
    ListParams, ListedEntry, LlmCmd, LlmReply, Op, OpenMode, OpenParams, ProxyListReply,
    QuotaReport,
};
use rustix::io::FdFlags;

use super::answer_slot::{ProxyRequestKind, ReplySlot};
use super::descriptors::ProxyTransport;
use super::file::ProxyFileKind;
use super::shared_connection::{AnswerReceiver, ParentLink};
use super::{Error, File, ProxyConnectError, inherited_descriptors};

/// A connection to the parent, over which all file work goes.
///
/// It is cheap to clone, and any number of threads can use it at once; each waits for its own answers
/// only. When the last clone, the last [`File`] and the last [`PendingRequest`] are gone, the connection ends
/// and the parent closes whatever was left open.
#[derive(Debug, Clone)]
pub struct Client {
    connection: Arc<ParentConnection>,
}

/// Ends the connection when nobody uses it any more. A thread that reads for good holds only the
/// link, so that it does not keep the connection open.
#[derive(Debug)]
struct ParentConnection {
    link: Arc<ParentLink>,
}

impl Drop for ParentConnection {
    fn drop(&mut self) {
        self.link.end();
    }
}

impl Client {
    /// Takes over the connection that this process was started with: the descriptor that
    /// `JIG_PROXY_FD` names, or else descriptor 3.
    ///
    /// This works once in a process. Call it early: until then, programs that this process starts
    /// inherit the descriptor and could speak in its name.
    ///
    /// # Errors
    ///
    /// If there is no such descriptor, if it was opened by this process itself, if another process uses
    /// it, or if it can't be a connection. It is then left as it is.
    pub fn inherited() -> Result<Self, ProxyConnectError> {
        inherited_descriptors::take().map(Self::over)
    }

    /// A client over a socket of its own, such as one end of a pair.
    ///
    /// # Errors
    ///
    /// If it is not a stream socket.
    pub fn from_socket(socket: OwnedFd) -> io::Result<Self> {
        if !inherited_descriptors::is_stream(&socket) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the descriptor is not a stream socket",
            ));
        }
        rustix::io::fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
        Ok(Self::over(ProxyTransport::Socket(socket)))
    }

    /// A client over two descriptors, one to read from and one to write to.
    ///
    /// # Errors
    ///
    /// If the operating system refuses to keep them from child processes.
    pub fn from_pair(input: OwnedFd, output: OwnedFd) -> io::Result<Self> {
        rustix::io::fcntl_setfd(&input, FdFlags::CLOEXEC)?;
        rustix::io::fcntl_setfd(&output, FdFlags::CLOEXEC)?;
        Ok(Self::over(ProxyTransport::pair(input, output)))
    }

    fn over(wire: ProxyTransport) -> Self {
        let link = Arc::new(ParentLink::new(wire));
        Self {
            connection: Arc::new(ParentConnection { link }),
        }
    }

    /// Opens a file.
    ///
    /// # Errors
    ///
    /// `E_NOENT` if there is nothing to read, `E_PERM` if a rule says no.
    pub fn open(&self, path: &str, mode: OpenMode) -> Result<File, Error> {
        let opening = Op::Open(OpenParams {
            path: path.into(),
            mode,
            is_top_level: None,
        });
        match self.begin(&opening)?.wait()? {
            ProxyReply::Handle(handle) => Ok(self.file(handle, mode)),
            _ => Err(wrong_reply()),
        }
    }

    /// A file that was opened with [`begin`](Self::begin). It is closed when it is dropped.
    pub fn file(&self, handle: u64, mode: OpenMode) -> File {
        File::new(self.clone(), handle, ProxyFileKind::Opened(mode))
    }

    /// The whole content of a file.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), and if reading fails.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, Error> {
        let mut file = self.open(path, OpenMode::Read)?.pipelined(WHOLE_FILE_DEPTH);
        let mut content = Vec::new();
        file.read_to_end(&mut content).map_err(Error::from_io)?;
        Ok(content)
    }

    /// Makes `content` the whole content of a file, which is created if it is missing.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), and if writing fails; the file may then hold a part of it.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> Result<(), Error> {
        let mut file = self
            .open(path, OpenMode::Write)?
            .pipelined(WHOLE_FILE_DEPTH);
        file.write_all(content.as_ref()).map_err(Error::from_io)?;
        file.close()
    }

    /// Standard input, as the parent has it for this client; reading it is refused if it has none.
    pub fn stdin(&self) -> File {
        File::new(self.clone(), 0, ProxyFileKind::Stream)
    }

    /// Standard output, as the parent has it for this client.
    pub fn stdout(&self) -> File {
        File::new(self.clone(), 1, ProxyFileKind::Stream)
    }

    /// Standard error, as the parent has it for this client.
    pub fn stderr(&self) -> File {
        File::new(self.clone(), 2, ProxyFileKind::Stream)
    }

    /// The entries of a directory that this client may know of, by name: real files, and virtual ones.
    ///
    /// # Errors
    ///
    /// `E_NOENT` if there is no such directory, `E_ARG` if it is a file, `E_PERM` if no rule lets this client
    /// read it, and `E_UNSUPPORTED` if the proxy does not have this operation, which the protocol does not demand.
    pub fn list(&self, path: &str) -> Result<Vec<ListedEntry>, Error> {
        let mut all: Vec<ListedEntry> = Vec::new();
        loop {
            let listing = Op::List(ListParams {
                path: path.into(),
                after: all.last().map(|last| last.name.as_str().into()),
            });
            let ProxyListReply { entries, more } = match self.begin(&listing)?.wait()? {
                ProxyReply::List(reply) => reply,
                _ => return Err(wrong_reply()),
            };
            let goes_on = more && !entries.is_empty();
            all.extend(entries);
            if !goes_on {
                return Ok(all);
            }
        }
    }

    /// What this client and all others of its tree have used of their tokens.
    ///
    /// # Errors
    ///
    /// `E_UNSUPPORTED` without a quota, `E_PERM` if this client may not know.
    pub fn quota(&self) -> Result<QuotaReport, Error> {
        match self.begin(&Op::Quota)?.wait()? {
            ProxyReply::Quota(report) => Ok(report),
            _ => Err(wrong_reply()),
        }
    }

    /// Asks a language model.
    ///
    /// It may take minutes, and the parent answers what is asked later only after it.
    ///
    /// # Errors
    ///
    /// `E_UNSUPPORTED` if the parent has none, `E_RANGE` if the quota does not allow it.
    pub fn llm(&self, command: &LlmCmd) -> Result<LlmReply, Error> {
        let op = Op::LlmCmd(Box::new(command.clone()));
        match self.begin(&op)?.wait()? {
            ProxyReply::Llm(reply) => Ok(*reply),
            _ => Err(wrong_reply()),
        }
    }

    /// Sends a request without waiting for its answer, so that several are under way at once.
    ///
    /// The parent does them in order.
    ///
    /// # Errors
    ///
    /// If there is no connection any more, and `E_RANGE` if the request is too large to be sent.
    pub fn begin(&self, op: &Op<'_>) -> Result<PendingRequest, Error> {
        let pending = self.begin_later(op)?;
        self.link().send()?;
        Ok(pending)
    }

    /// As [`begin`](Self::begin), and leaves the sending to the next call of `send`.
    pub(super) fn begin_later(&self, op: &Op<'_>) -> Result<PendingRequest, Error> {
        let slot = Arc::new(ReplySlot::new(ProxyRequestKind::from(op)));
        self.link()
            .put(op, AnswerReceiver::Slot(Arc::clone(&slot)))?;
        Ok(PendingRequest {
            client: self.clone(),
            slot,
        })
    }

    pub(super) fn send(&self) -> Result<(), Error> {
        self.link().send()
    }

    /// Closes a handle without waiting.
    pub(super) fn forget(&self, handle: u64) {
        self.link()
            .post(&Op::Close { handle }, AnswerReceiver::Nobody);
    }

    pub(super) fn link(&self) -> &Arc<ParentLink> {
        &self.connection.link
    }
}

/// A request that was sent.
///
/// Dropping it gives the answer up, not the request; a file that it opens is closed again.
#[derive(Debug)]
#[must_use = "the request is done all the same, but nobody learns what came of it"]
pub struct PendingRequest {
    client: Client,
    slot: Arc<ReplySlot>,
}

impl PendingRequest {
    /// Waits for the answer.
    ///
    /// # Errors
    ///
    /// What the parent says, and the loss of the connection.
    pub fn wait(self) -> Result<ProxyReply, Error> {
        self.client.link().wait(&self.slot);
        self.slot.take()
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        if let Some(handle) = self.slot.abandon() {
            self.client.forget(handle);
        }
    }
}

/// What came of a request, by its operation.
///
/// Exhaustive: it has one form for each operation of the protocol.
#[derive(Debug, Clone, PartialEq)]
pub enum ProxyReply {
    /// Of `open`. Whoever has the number closes it, best as a [`Client::file`].
    Handle(u64),
    /// Of `read`.
    Data {
        /// What was read.
        bytes: Vec<u8>,
        /// Whether the file has ended.
        eof: bool,
    },
    /// Of `write`: how many bytes.
    Written(u64),
    /// Of `close`.
    Closed,
    /// Of `list`.
    List(ProxyListReply),
    /// Of `QUOTA`.
    Quota(QuotaReport),
    /// Of `LLMCMD`.
    Llm(Box<LlmReply>),
}

impl From<&Op<'_>> for ProxyRequestKind {
    fn from(op: &Op<'_>) -> Self {
        match op {
            Op::Open(_) => Self::Open,
            Op::Read(_) => Self::Read,
            Op::Write(_) => Self::Write,
            Op::Close { .. } => Self::Close,
            Op::List(_) => Self::List,
            Op::Quota => Self::Quota,
            Op::LlmCmd(_) => Self::Llm,
        }
    }
}

/// The kind of the slot decides about the form of the reply, so this is never seen.
pub(super) fn wrong_reply() -> Error {
    Error::nonsense("the answer belongs to another request")
}

/// How many requests are under way for a file that is read or written as a whole.
const WHOLE_FILE_DEPTH: usize = 16;
