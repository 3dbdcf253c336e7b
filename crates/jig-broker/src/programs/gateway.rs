//! The gateway of a confined program: how it reaches the hosts that its rules name, and no others.
//!
//! The program is in a network of its own, whose sockets the sandbox has handed out. It looks names
//! up as on any machine; the [`Gateway`] answers with an address that stands for the name, for names
//! of which a rule allows something. A connection to such an address arrives here, so its name and port are
//! known. What it speaks is read from its first bytes: plain HTTP is judged by the URL of each request, TLS
//! by the name that it asks for, which must be the one that was looked up, and anything else by host and
//! port. Only then is the name really resolved, once; the addresses are judged as those of `http.*` are, and
//! one of those is connected to.
//!
//! What it refuses to do: it does not look into TLS, so a rule on a path refuses a TLS connection. It
//! takes no part in UDP but for lookups. It forwards no bytes of an HTTP connection that were not judged: one
//! request each, written anew.

mod body;
mod connection;
mod denials;
mod destination;
mod dial;
mod exchange;
mod first_bytes;
mod head;
mod host_name;
mod lookup;
mod names;
mod proxy;
mod relay;
mod response;
mod tls;
mod wire;

use std::io;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd as _;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use jig_proto::Denial;
use jig_sandbox::{
    GatewaySockets, Interest, Observation, ObservedTarget, ReadyInterests, Waker, poll,
};
use rustix::process::Resource;

use self::denials::Denials;
pub(crate) use self::denials::{LOOK_UP, lookup_refused};
use self::names::{AddressPlan, GatewayNames};
use crate::broker::BrokerCore;
use crate::cancel::CancelToken;

/// Serves the connections of one confined program.
///
/// Dropping it ends all connections and waits until they have ended.
#[derive(Debug)]
pub struct Gateway {
    shared: Arc<GatewayState>,
    threads: Vec<JoinHandle<()>>,
}

impl Gateway {
    fn open(
        inner: &Arc<BrokerCore>,
        sockets: GatewaySockets,
        plan: AddressPlan,
    ) -> io::Result<Self> {
        let mut sources = Vec::new();
        for lookup in sockets.lookups {
            let socket = UdpSocket::from(lookup);
            socket.set_nonblocking(true)?;
            sources.push(GatewayListener::Lookups(socket));
        }
        let ports = sockets.listeners.iter().map(|(port, _)| *port).collect();
        for (port, listener) in sockets.listeners {
            let listener = TcpListener::from(listener);
            listener.set_nonblocking(true)?;
            sources.push(GatewayListener::Connections(port, listener));
        }
        let mut groups = Vec::new();
        while !sources.is_empty() {
            let rest = sources.split_off(sources.len().min(MAX_SOURCES));
            groups.push((std::mem::replace(&mut sources, rest), Waker::new()?));
        }
        let stopped = Waker::new()?;
        let stop = CancelToken::new();
        let shared = Arc::new(GatewayState {
            inner: Arc::clone(inner),
            names: GatewayNames::new(plan),
            denials: Denials::default(),
            refused: Waker::new()?,
            ports,
            limit: connection_limit(),
            open: Mutex::new(0),
            all_ended: Condvar::new(),
            room: groups.iter().map(|(_, room)| room.clone()).collect(),
            stop,
            stopped,
        });
        // What is started is ended by the drop if the next cannot be.
        let mut gateway = Self {
            shared,
            threads: Vec::new(),
        };
        for (sources, room) in groups {
            let shared = Arc::clone(&gateway.shared);
            let thread = thread::Builder::new().name("jig-gateway".to_owned());
            let thread = thread.spawn(move || serve(&shared, &sources, &room))?;
            gateway.threads.push(thread);
        }
        Ok(gateway)
    }

    /// Serves the sockets of a program until this is closed or dropped.
    pub(crate) fn serve(inner: &Arc<BrokerCore>, sockets: GatewaySockets) -> io::Result<Self> {
        let plan = AddressPlan::of(&sockets);
        Self::open(inner, sockets, plan)
    }

    /// What was refused so far, each once and with how often.
    pub fn denials(&self) -> Vec<Denial> {
        self.shared.denials.all()
    }

    /// What is refused from now on, told as it happens.
    pub fn refusals(&self) -> Refusals {
        Refusals {
            shared: Arc::clone(&self.shared),
            told: Vec::new(),
        }
    }

    /// What was refused since this was last asked, each once and with how often: for a program that stays. As
    /// [`close_watched`](Self::close_watched) it tells also what was only seen.
    pub fn take_denials(&self, observation: &Observation) -> Vec<Denial> {
        self.tell_unserved(observation);
        self.shared.denials.take()
    }

    /// Ends all connections, and tells what was refused.
    pub fn close(mut self) -> Vec<Denial> {
        self.end();
        self.denials()
    }

    /// As [`close`](Self::close), for a program that was watched. A connection to a name on a port that no rule
    /// opens never arrives here: it is told, too, if it was seen.
    pub fn close_watched(mut self, observation: &Observation) -> Vec<Denial> {
        self.end();
        self.tell_unserved(observation);
        self.denials()
    }

    fn tell_unserved(&self, observation: &Observation) {
        for seen in &observation.seen {
            if let ObservedTarget::Address(address) = &seen.target {
                connection::tell_unserved(&self.shared, *address, seen.count);
            }
        }
    }

    fn end(&mut self) {
        self.shared.stop.cancel();
        self.shared.stopped.wake();
        for thread in self.threads.drain(..) {
            // A panic there ended it, which is what is wanted.
            let _ = thread.join();
        }
        let mut open = self.shared.open();
        while *open > 0 {
            let waited = self.shared.all_ended.wait(open);
            open = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.end();
    }
}

/// What a gateway refuses, told as it happens: by [`Gateway::refusals`]. One reader of a gateway has it.
#[derive(Debug)]
pub struct Refusals {
    shared: Arc<GatewayState>,
    /// The targets that were told.
    told: Vec<String>,
}

impl Refusals {
    /// Woken when something may have been refused.
    pub fn waker(&self) -> &Waker {
        &self.shared.refused
    }

    /// What was refused since this was last asked; of each host or address only the first refusal, and the waker is
    /// cleared.
    pub fn take(&mut self) -> Vec<Denial> {
        self.shared.refused.clear();
        let mut news = Vec::new();
        for denial in self.shared.denials.all() {
            if !self.told.contains(&denial.target) {
                self.told.push(denial.target.clone());
                news.push(denial);
            }
        }
        news
    }
}

/// What all threads of a gateway know.
#[derive(Debug)]
struct GatewayState {
    inner: Arc<BrokerCore>,
    names: GatewayNames,
    denials: Denials,
    /// Woken when something is refused that was not refused before.
    refused: Waker,
    /// The ports that are served.
    ports: Vec<u16>,
    /// How many connections there may be.
    limit: usize,
    /// How many connections there are.
    open: Mutex<usize>,
    all_ended: Condvar,
    /// Woken when a connection has ended.
    room: Vec<Waker>,
    /// Gives up what waits elsewhere than at a socket.
    stop: CancelToken,
    /// Woken once, and never cleared, when the gateway is closed.
    stopped: Waker,
}

impl GatewayState {
    fn open(&self) -> MutexGuard<'_, usize> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for one more connection.
    fn place(self: &Arc<Self>) -> Option<OpenConnection> {
        let mut open = self.open();
        if *open >= self.limit {
            return None;
        }
        *open += 1;
        Some(OpenConnection(Arc::clone(self)))
    }
}

/// Held by a connection as long as it is there.
#[derive(Debug)]
struct OpenConnection(Arc<GatewayState>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let mut open = self.0.open();
        *open -= 1;
        if *open == 0 {
            self.0.all_ended.notify_all();
        }
        drop(open);
        for room in &self.0.room {
            room.wake();
        }
    }
}

/// Where something arrives.
#[derive(Debug)]
enum GatewayListener {
    Lookups(UdpSocket),
    Connections(u16, TcpListener),
}

/// Serves sources until the gateway is closed. While there is no room for connections they wait where the
/// kernel keeps them; lookups go on.
fn serve(shared: &Arc<GatewayState>, sources: &[GatewayListener], room: &Waker) {
    while !shared.stop.is_cancelled() {
        room.clear();
        let is_full = *shared.open() >= shared.limit;
        let mut interests = vec![Interest::Woken(&shared.stopped), Interest::Woken(room)];
        let mut waiting = Vec::with_capacity(sources.len());
        for source in sources {
            match source {
                GatewayListener::Lookups(socket) => {
                    interests.push(Interest::Readable(socket.as_fd()))
                }
                GatewayListener::Connections(..) if is_full => continue,
                GatewayListener::Connections(_, listener) => {
                    interests.push(Interest::Readable(listener.as_fd()));
                }
            }
            waiting.push(source);
        }
        let Ok(ready) = poll(&interests, None) else {
            return;
        };
        if ready.contains(0) {
            return;
        }
        for (index, source) in waiting.into_iter().enumerate() {
            if !ready.contains(index + 2) {
                continue;
            }
            match source {
                GatewayListener::Lookups(socket) => lookup::serve_datagrams(shared, socket),
                GatewayListener::Connections(port, listener) => accept(shared, *port, listener),
            }
        }
    }
}

/// Takes one connection and serves it on a thread of its own.
fn accept(shared: &Arc<GatewayState>, port: u16, listener: &TcpListener) {
    let Some(place) = shared.place() else {
        return;
    };
    let stream: TcpStream = match listener.accept() {
        Ok((stream, _)) => stream,
        Err(error) => {
            let passing = matches!(
                error.kind(),
                io::ErrorKind::WouldBlock
                    | io::ErrorKind::Interrupted
                    | io::ErrorKind::ConnectionAborted
            );
            if !passing {
                // Without descriptors the connection stays where it is, and asking again at once would spin.
                let _ = poll(&[Interest::Woken(&shared.stopped)], Some(PAUSE));
            }
            return;
        }
    };
    let thread = thread::Builder::new().name("jig-connection".to_owned());
    let thread = thread.stack_size(STACK);
    // Without a thread the connection is dropped, and the program sees it end.
    let _ = thread.spawn(move || connection::serve(&place.0, stream, port));
}

/// How many connections a program may have at once: each takes two descriptors, and several programs together must
/// not take all that the host has.
fn connection_limit() -> usize {
    let limit = rustix::process::getrlimit(Resource::Nofile).current;
    let share = usize::try_from(limit.unwrap_or(u64::MAX) / SHARE).unwrap_or(usize::MAX);
    share.clamp(MIN_CONNECTIONS, MAX_CONNECTIONS)
}

/// The part of the host's descriptors for which a gateway may have connections.
const SHARE: u64 = 16;

/// The least and the most connections of a program at once; more wait. Each takes a thread and a buffer or two of the
/// host.
const MIN_CONNECTIONS: usize = 16;
const MAX_CONNECTIONS: usize = 128;

/// How many sources a thread waits for, besides its two wakers.
const MAX_SOURCES: usize = ReadyInterests::MOST - 2;

/// How long accepting rests when the host has no descriptors left.
const PAUSE: Duration = Duration::from_millis(100);

/// The stack of a connection's thread: its buffers are elsewhere.
const STACK: usize = 512 * 1024;

#[cfg(test)]
mod tests;
