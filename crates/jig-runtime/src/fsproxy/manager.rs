//! [`Manager`]: the owner of all handles of one tree of clients.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use jig_broker::Broker;
use jig_proto::fsproxy::{
    FIRST_HANDLE, ListParams, OpenEffects, ProxyError, ProxyListReply, QuotaReport,
};

use super::client::{ClientEnd, ClientState, ProxyClient, lock};
use super::client_socket::ClientLink;
use super::connection::ProxyClientThread;
use super::handles::{CountedHandle, ProxyFileBacking, Seats};
use super::list::ProxyListing;
use super::names::ClientPath;
use super::open::ProxyOpenRequest;
use super::options::{ClientOptions, ManagerOptions};
use super::table_rows::{ClientRow, FileRow};
use super::virtual_files::VirtualFiles;

/// The owner of all handles of one tree of clients: one door to real files, one set of virtual ones, one quota.
///
/// A thread serves each client. Clones are the same manager; when the last one is dropped, all clients are ended
/// as by [`end`](Self::end).
#[derive(Debug, Clone)]
pub struct Manager {
    tree: Arc<ClientTree>,
    /// Held for its end.
    _tenure: Arc<ClientsGuard>,
}

/// Ends the clients when the last clone of a manager goes. Their threads know the tree, and must not keep it in
/// office.
#[derive(Debug)]
struct ClientsGuard(Arc<ClientTree>);

impl Drop for ClientsGuard {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Manager {
    /// A manager without clients, whose real files are behind `broker`.
    pub fn new(broker: Broker, options: ManagerOptions) -> Self {
        let tree = Arc::new(ClientTree {
            virtual_files: VirtualFiles::new(options.virtual_files, options.virtual_bytes),
            broker,
            options,
            next_handle: AtomicU64::new(FIRST_HANDLE),
            seats: Arc::default(),
            clients: Mutex::default(),
        });
        Self {
            _tenure: Arc::new(ClientsGuard(Arc::clone(&tree))),
            tree,
        }
    }

    /// Makes a client and the socket for it, which a child process inherits as descriptor 3. It is closed on
    /// exec until whoever starts the child says otherwise.
    pub fn connect(&self, options: ClientOptions) -> io::Result<(ProxyClient, OwnedFd)> {
        let (ours, theirs) = UnixStream::pair()?;
        let client = self.attach(ClientLink::socket(ours), options)?;
        Ok((client, theirs.into()))
    }

    /// Serves a client whose requests come from `input` and whose answers go to `output`. Both may be the
    /// same socket. The descriptors are used as they are; nothing is set on them.
    pub fn serve(
        &self,
        input: OwnedFd,
        output: OwnedFd,
        options: ClientOptions,
    ) -> io::Result<ProxyClient> {
        self.attach(ClientLink::pair(input, output)?, options)
    }

    /// The table of open handles, by number.
    pub fn files(&self) -> Vec<FileRow> {
        let clients = self.tree.snapshot();
        let rows = clients.iter().flat_map(|client| client.file_rows());
        let mut rows: Vec<FileRow> = rows.collect();
        rows.sort_by_key(|row| row.fileno);
        rows
    }

    /// The table of clients, in the order in which they came.
    pub fn clients(&self) -> Vec<ClientRow> {
        let clients = self.tree.snapshot();
        clients.iter().map(|client| client.row()).collect()
    }

    /// The names of the virtual files that there are, sorted: below the workspace as its paths are written,
    /// elsewhere absolute. What is in them is gone when the manager is.
    pub fn virtual_files(&self) -> Vec<String> {
        self.tree.virtual_files.names()
    }

    /// What the clients have used of their quota; `None` if there is no language model here.
    pub fn quota(&self) -> Option<QuotaReport> {
        self.tree.broker.llm().map(|llm| llm.quota())
    }

    /// Ends all clients. When this returns, both tables are empty; no client is taken any more.
    pub fn end(&self) {
        self.tree.end();
    }

    fn attach(&self, link: ClientLink, options: ClientOptions) -> io::Result<ProxyClient> {
        let link = Arc::new(link);
        let client = self.tree.register(&link, options)?;
        let connection = ProxyClientThread::new(Arc::clone(&client), link, self.tree.options());
        let thread = thread::Builder::new().name(format!("jig-proxy-{}", client.number()));
        match thread.spawn(move || connection.run()) {
            Ok(_) => Ok(ProxyClient::new(client)),
            Err(error) => {
                client.finish(ClientEnd::Ended);
                Err(error)
            }
        }
    }
}

/// What the clients of a manager share.
#[derive(Debug)]
pub(super) struct ClientTree {
    broker: Broker,
    options: ManagerOptions,
    virtual_files: VirtualFiles,
    /// Counted up and never reused: a number that was closed stays closed.
    next_handle: AtomicU64,
    seats: Arc<Seats>,
    clients: Mutex<Clients>,
}

#[derive(Debug, Default)]
struct Clients {
    last: u64,
    by_number: BTreeMap<u64, Arc<ClientState>>,
    ended: bool,
}

impl ClientTree {
    pub(super) fn broker(&self) -> &Broker {
        &self.broker
    }

    pub(super) fn options(&self) -> &ManagerOptions {
        &self.options
    }

    /// Checks that a client that has so many handles may open another one, and reads the path of it.
    pub(super) fn admit(
        &self,
        path: &str,
        open: usize,
    ) -> Result<(CountedHandle, ClientPath), ProxyError> {
        let options = &self.options;
        let name = self.name(path)?;
        if open >= options.client_handles {
            return Err(ProxyError::range(format!(
                "{} handles are open, the most that a client can have",
                options.client_handles
            )));
        }
        let seat = self.seats.take(options.tree_handles).ok_or_else(|| {
            ProxyError::range(format!(
                "{} handles are open, the most that all clients can have",
                options.tree_handles
            ))
        })?;
        Ok((seat, name))
    }

    /// What a path of a client stands for.
    fn name(&self, path: &str) -> Result<ClientPath, ProxyError> {
        let most = self.options.path_bytes;
        if path.len() > most {
            let why = format!("the path is longer than {most} bytes");
            return Err(ProxyError::range(why));
        }
        self.options.names.resolve(path)
    }

    /// The names in a directory, as many as fit into an answer.
    pub(super) fn list(&self, list: &ListParams<'_>) -> Result<ProxyListReply, ProxyError> {
        let listing = ProxyListing {
            broker: &self.broker,
            files: &self.virtual_files,
            options: &self.options,
            text: &list.path,
        };
        listing.page(&self.name(&list.path)?, list.after.as_deref())
    }

    /// Opens what `path`, which a client wrote, stands for.
    pub(super) fn open(
        &self,
        path: &str,
        name: &ClientPath,
        opening: OpenEffects,
    ) -> Result<ProxyFileBacking, ProxyError> {
        let asked = ProxyOpenRequest {
            broker: &self.broker,
            files: &self.virtual_files,
            options: &self.options,
            text: path,
            opening,
        };
        asked.open(name)
    }

    pub(super) fn next_handle(&self) -> u64 {
        self.next_handle.fetch_add(1, Ordering::Relaxed)
    }

    /// Removes a client from the table.
    pub(super) fn forget(&self, number: u64) {
        let client = lock(&self.clients).by_number.remove(&number);
        drop(client);
    }

    fn register(
        self: &Arc<Self>,
        link: &Arc<ClientLink>,
        options: ClientOptions,
    ) -> io::Result<Arc<ClientState>> {
        let mut clients = lock(&self.clients);
        if clients.ended {
            return Err(io::Error::other("the proxy has ended"));
        }
        if clients.by_number.len() >= self.options.clients {
            return Err(io::Error::other(format!(
                "there are {} clients already, the most that there can be",
                self.options.clients
            )));
        }
        clients.last += 1;
        let number = clients.last;
        let client = ClientState::new(Arc::clone(self), number, Arc::clone(link), options);
        let client = Arc::new(client);
        clients.by_number.insert(number, Arc::clone(&client));
        Ok(client)
    }

    fn snapshot(&self) -> Vec<Arc<ClientState>> {
        lock(&self.clients).by_number.values().cloned().collect()
    }

    fn end(&self) {
        let clients: Vec<_> = {
            let mut clients = lock(&self.clients);
            clients.ended = true;
            clients.by_number.values().cloned().collect()
        };
        for client in clients {
            client.finish(ClientEnd::Ended);
            client.wait();
            client.close_all();
            self.forget(client.number());
        }
    }
}
