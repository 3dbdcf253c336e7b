//! [`ProxyClient`]: one connection of a tree, and what it has open.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jig_broker::{AuditDecision, AuditNote, Broker, CancelToken};
use jig_proto::fsproxy::{
    FIRST_HANDLE, ListParams, OpenEffects, ProxyError, ProxyErrorCode, ProxyListReply,
};

use super::client_socket::ClientLink;
use super::departure_watch::watched;
use super::handles::ProxyFile;
use super::manager::ClientTree;
use super::options::{ClientOptions, ParentStreams};
use super::streams::ParentStream;
use super::table_rows::{ClientRow, FileRow};

/// One client of a [`Manager`](super::Manager). Dropping it does not end the connection.
#[derive(Debug, Clone)]
pub struct ProxyClient(Arc<ClientState>);

/// How a connection ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientEnd {
    /// The client has closed its end, after whole messages (F-080).
    Eof,
    /// The client has gone, or reads no more, with answers on their way to it (F-082). Nothing is wrong with a
    /// program that does not wait for its last answers.
    Gone,
    /// The connection failed, or what came over it was not the protocol. With what was wrong, in a few words.
    Broken(String),
    /// It was ended from this side.
    Ended,
}

impl ProxyClient {
    pub(super) fn new(state: Arc<ClientState>) -> Self {
        Self(state)
    }

    /// `c1`, `c2`, …, each once for a manager.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// Says which process is at the other end, which is known only once it is started; for the table of clients.
    pub fn set_pid(&self, pid: u32) {
        *lock(&self.0.pid) = Some(pid);
    }

    /// How many requests it has made so far, or had made when it ended.
    pub fn requests(&self) -> u64 {
        self.0.requests.load(Ordering::Relaxed)
    }

    /// Ends the connection, such as when the process at its other end has exited (F-087): a process of its own
    /// may still have the socket, and then there is no end of the stream. When this returns, its handles are
    /// closed and its record is gone. Calling it again does nothing.
    pub fn end(&self) {
        self.0.finish(ClientEnd::Ended);
        self.0.wait();
    }

    /// Waits until the connection has ended and all that belonged to it is gone.
    pub fn wait(&self) -> ClientEnd {
        self.0.wait()
    }

    /// The same for at most so long; `None` if it has not ended then.
    pub fn wait_timeout(&self, limit: Duration) -> Option<ClientEnd> {
        let start = Instant::now();
        let mut end = lock(&self.0.end);
        while end.is_none() {
            let left = limit.checked_sub(start.elapsed())?;
            let waited = self.0.ended.wait_timeout(end, left);
            end = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        end.clone()
    }
}

/// What is known of a client, and the operations that every variant of the protocol does on it.
///
/// The thread of the connection does them, one after the other. Others only look, or end it.
#[derive(Debug)]
pub(super) struct ClientState {
    tree: Arc<ClientTree>,
    number: u64,
    id: String,
    pipe_id: String,
    connected_at: Timestamp,
    top_level: bool,
    llm: bool,
    pid: Mutex<Option<u32>>,
    label: String,
    /// Given up at the end: who keeps a [`ProxyClient`] keeps no descriptor.
    reach: Mutex<Option<Arc<ClientEndpoints>>>,
    handles: Mutex<ClientHandles>,
    /// Held while a file is opened, read or written. The end waits for it: nothing is done to a file afterwards.
    at_work: Mutex<()>,
    /// Fired when the client is gone. Whatever takes long gives up then.
    pub(super) gone: CancelToken,
    end: Mutex<Option<ClientEnd>>,
    ended: Condvar,
    requests: AtomicU64,
    bytes_read: AtomicU64,
    bytes_written: AtomicU64,
}

/// What a client holds of the operating system, besides files.
#[derive(Debug)]
struct ClientEndpoints {
    link: Arc<ClientLink>,
    streams: ParentStreams,
}

#[derive(Debug, Default)]
struct ClientHandles {
    open: BTreeMap<u64, Arc<ProxyFile>>,
    /// Set once, by whoever cleans up. Nothing is opened afterwards.
    over: bool,
}

impl ClientState {
    pub(super) fn new(
        tree: Arc<ClientTree>,
        number: u64,
        link: Arc<ClientLink>,
        options: ClientOptions,
    ) -> Self {
        let ClientOptions {
            top_level,
            llm,
            streams,
            pid,
            label,
        } = options;
        Self {
            tree,
            number,
            id: format!("c{number}"),
            pipe_id: link.describe(),
            connected_at: Timestamp::now(),
            top_level,
            llm,
            pid: Mutex::new(pid),
            label,
            reach: Mutex::new(Some(Arc::new(ClientEndpoints { link, streams }))),
            handles: Mutex::default(),
            at_work: Mutex::default(),
            gone: CancelToken::new(),
            end: Mutex::new(None),
            ended: Condvar::new(),
            requests: AtomicU64::new(0),
            bytes_read: AtomicU64::new(0),
            bytes_written: AtomicU64::new(0),
        }
    }

    /// Opens a file. It counts as work of the top level if the client does and does not say otherwise.
    pub(super) fn open(
        &self,
        path: &str,
        opening: OpenEffects,
        mode: &str,
        is_top_level: Option<bool>,
    ) -> Result<u64, ProxyError> {
        let _at_work = lock(&self.at_work);
        let (seat, name) = {
            let handles = lock(&self.handles);
            if handles.over {
                // What it asked for before its end and nobody has done yet. Opening alone can empty a file.
                return Err(ProxyError::new(
                    ProxyErrorCode::Closed,
                    "the client has ended",
                ));
            }
            self.tree.admit(path, handles.open.len())?
        };
        let handle = Arc::new(ProxyFile {
            file: self.tree.open(path, &name, opening)?,
            name: name.text().to_owned(),
            mode: mode.to_owned(),
            opened_at: Timestamp::now(),
            is_top_level: self.top_level && is_top_level.unwrap_or(true),
            opening,
            offset: Mutex::new(0),
            _seat: seat,
        });
        let number = self.tree.next_handle();
        let mut handles = lock(&self.handles);
        if handles.over {
            // It was ended while the file was being opened. Nobody would close the handle any more.
            return Err(ProxyError::closed(number));
        }
        handles.open.insert(number, handle);
        Ok(number)
    }

    /// The names in a directory, as many as fit into an answer.
    pub(super) fn list(&self, list: &ListParams<'_>) -> Result<ProxyListReply, ProxyError> {
        let _at_work = lock(&self.at_work);
        if lock(&self.handles).over {
            return Err(ProxyError::new(
                ProxyErrorCode::Closed,
                "the client has ended",
            ));
        }
        self.tree.list(list)
    }

    /// Reads up to `max` bytes to the end of `into`; true if there was none because the file has ended.
    pub(super) fn read(
        &self,
        handle: u64,
        max: usize,
        into: &mut Vec<u8>,
    ) -> Result<bool, ProxyError> {
        let before = into.len();
        let is_end = match handle {
            0..FIRST_HANDLE => {
                let reach = self.reach(handle)?;
                let stream = reach.readable(handle)?;
                stream.read(&reach.link, max, into)?
            }
            _ => {
                let _at_work = lock(&self.at_work);
                self.handle(handle)?.read(max, into)?
            }
        };
        let count = into.len().saturating_sub(before);
        self.bytes_read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(is_end)
    }

    /// Writes all bytes and gives how many they are. Writing none says whether the handle can be written.
    pub(super) fn write(&self, handle: u64, bytes: &[u8]) -> Result<u64, ProxyError> {
        match handle {
            0..FIRST_HANDLE => {
                let reach = self.reach(handle)?;
                reach.writable(handle)?.write(&reach.link, bytes)?;
            }
            _ => {
                let _at_work = lock(&self.at_work);
                self.handle(handle)?.write(bytes)?;
            }
        }
        let count = bytes.len() as u64;
        self.bytes_written.fetch_add(count, Ordering::Relaxed);
        Ok(count)
    }

    /// Closes a handle. A stream of the parent stays open (F-013).
    pub(super) fn close(&self, handle: u64) -> Result<(), ProxyError> {
        if handle < FIRST_HANDLE {
            return self.reach(handle)?.stream(handle).map(|_| ());
        }
        let closed = lock(&self.handles).open.remove(&handle);
        closed.map(|_| ()).ok_or_else(|| ProxyError::closed(handle))
    }

    /// The path of an open handle, as the tables show it.
    pub(super) fn name(&self, handle: u64) -> Option<String> {
        self.handle(handle).ok().map(|handle| handle.name.clone())
    }

    /// Whether 0, 1 or 2 is a stream of the parent.
    pub(super) fn has_stream(&self, handle: u64) -> bool {
        let reach = lock(&self.reach).clone();
        reach.is_some_and(|reach| reach.stream(handle).is_ok())
    }

    /// Whether 0, 1 or 2 is a stream of the parent that is a terminal.
    pub(super) fn stream_is_terminal(&self, handle: u64) -> bool {
        let reach = lock(&self.reach).clone();
        reach.is_some_and(|reach| reach.stream(handle).is_ok_and(ParentStream::is_terminal))
    }

    /// Does something that may take long. The token is fired when the client is gone meanwhile, or is ended.
    pub(super) fn watched<T>(&self, act: impl FnOnce(&CancelToken) -> T) -> T {
        let reach = lock(&self.reach).clone();
        match reach {
            Some(reach) => watched(&reach.link, &self.gone, act),
            None => act(&self.gone),
        }
    }

    /// Its number among the clients of the tree.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The door behind which the real files are.
    pub(super) fn broker(&self) -> &Broker {
        self.tree.broker()
    }

    /// Whether it may have language models called.
    pub(super) fn allows_llm(&self) -> bool {
        self.llm
    }

    /// Whether it was connected as a client of the top level.
    pub(super) fn is_top_level(&self) -> bool {
        self.top_level
    }

    /// The longest message.
    pub(super) fn max_frame(&self) -> usize {
        self.tree.options().max_frame
    }

    /// Counts a request.
    pub(super) fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// The end, however it came: whoever is first closes the handles and removes the record, and all others
    /// find that it is done.
    pub(super) fn finish(&self, end: ClientEnd) {
        let keep = !self.tree.options().auto_cleanup;
        let open = {
            let mut handles = lock(&self.handles);
            if handles.over {
                return;
            }
            handles.over = true;
            match keep {
                true => BTreeMap::new(),
                false => std::mem::take(&mut handles.open),
            }
        };
        self.gone.cancel();
        // The descriptors are let go before anybody hears of the end.
        let reach = lock(&self.reach).take();
        if let Some(reach) = reach {
            reach.link.shut_down();
        }
        drop(lock(&self.at_work));
        drop(open);
        if !keep {
            self.tree.forget(self.number);
        }
        if let ClientEnd::Broken(why) = &end {
            self.note_unread(why);
        }
        *lock(&self.end) = Some(end);
        self.ended.notify_all();
    }

    /// Writes down that a request could not be read (F-081).
    pub(super) fn note_unread(&self, why: &str) {
        let deny = AuditDecision::Deny;
        self.broker()
            .note(AuditNote::new("proxy.unread", self.id.as_str(), deny, why));
        self.broker().flush_audit();
    }

    /// Waits until the end has come and the cleanup is done.
    pub(super) fn wait(&self) -> ClientEnd {
        let mut end = lock(&self.end);
        loop {
            match &*end {
                Some(end) => return end.clone(),
                None => {
                    let waited = self.ended.wait(end);
                    end = waited.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    /// Closes what [`ManagerOptions::auto_cleanup`](super::ManagerOptions::auto_cleanup) has kept.
    pub(super) fn close_all(&self) {
        let open = std::mem::take(&mut lock(&self.handles).open);
        drop(open);
    }

    /// Its row in the table of clients.
    pub(super) fn row(&self) -> ClientRow {
        ClientRow {
            id: self.id.clone(),
            pipe_id: self.pipe_id.clone(),
            open_files: lock(&self.handles).open.keys().copied().collect(),
            connected_at: self.connected_at.to_string(),
            pid: *lock(&self.pid),
            label: self.label.clone(),
            requests: self.requests.load(Ordering::Relaxed),
            bytes_read: self.bytes_read.load(Ordering::Relaxed),
            bytes_written: self.bytes_written.load(Ordering::Relaxed),
        }
    }

    /// Its rows in the table of files.
    pub(super) fn file_rows(&self) -> Vec<FileRow> {
        let handles = lock(&self.handles);
        let rows = handles.open.iter().map(|(number, handle)| FileRow {
            fileno: *number,
            filename: handle.name.clone(),
            mode: handle.mode.clone(),
            client_id: self.id.clone(),
            opened_at: handle.opened_at.to_string(),
            is_top_level: handle.is_top_level,
            is_virtual: handle.is_virtual(),
        });
        rows.collect()
    }

    fn handle(&self, number: u64) -> Result<Arc<ProxyFile>, ProxyError> {
        let handles = lock(&self.handles);
        // Those that are kept for the tables are closed for the client.
        let handle = handles.open.get(&number).filter(|_| !handles.over);
        handle.cloned().ok_or_else(|| ProxyError::closed(number))
    }

    fn reach(&self, handle: u64) -> Result<Arc<ClientEndpoints>, ProxyError> {
        let reach = lock(&self.reach).clone();
        reach.ok_or_else(|| ProxyError::closed(handle))
    }
}

impl ClientEndpoints {
    fn stream(&self, handle: u64) -> Result<&ParentStream, ProxyError> {
        let (stream, what) = match handle {
            0 => (&self.streams.stdin, "standard input"),
            1 => (&self.streams.stdout, "standard output"),
            _ => (&self.streams.stderr, "standard error"),
        };
        stream.as_ref().ok_or_else(|| {
            ProxyError::perm(format!(
                "handle {handle} is reserved for {what}, which is not connected here"
            ))
        })
    }

    fn readable(&self, handle: u64) -> Result<&ParentStream, ProxyError> {
        let stream = self.stream(handle)?;
        match handle {
            0 => Ok(stream),
            _ => Err(ProxyError::perm(format!("handle {handle} cannot be read"))),
        }
    }

    fn writable(&self, handle: u64) -> Result<&ParentStream, ProxyError> {
        let stream = self.stream(handle)?;
        match handle {
            0 => Err(ProxyError::perm("handle 0 cannot be written")),
            _ => Ok(stream),
        }
    }
}

/// Locks something that a panic elsewhere cannot have left half-changed.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl From<io::Error> for ClientEnd {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => ClientEnd::Gone,
            kind => ClientEnd::Broken(kind.to_string()),
        }
    }
}

#[cfg(test)]
mod tests;
