//! [`Servers`]: the MCP servers behind jig, started when they are needed and kept while they are.
//!
//! A *slot* holds what there is of one server: nothing, a start that several callers wait for, or the one
//! connection that they share. A server is started by its first call, or when somebody asks for its tools and
//! nobody knows them; it is stopped when it was not called for a while, when its entry changes, and when it breaks
//! the protocol. One that fails is not started again before a pause that doubles each time. What a call had going
//! in a server that died is not repeated: it may have had effects.
//!
//! Nothing here knows files, processes or the protocol: processes come from
//! [`Engine::start_server`](jig_engine::Engine::start_server), what they say is read by `upstream`, and what a
//! person has accepted of them is in the ledger.

mod async_runtime;
mod backoff;
mod error_texts;
mod ledger;
mod memory;
mod offered_tools;
mod running_server;
mod slot;
mod status;
mod tool_call;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jig_config::{Config, Server};
use jig_engine::{Engine, Turn};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::Instant;

use self::async_runtime::LazyRuntime;
use self::ledger::Ledger;
use self::running_server::ServerUse;
use self::slot::ServerSlot;

pub use self::ledger::{DefinitionState, LedgerServer, LedgerTool};
pub use self::memory::{ContentUpdate, ForgetfulMemory, Memory};
pub use self::offered_tools::{AcceptedOffer, OfferedTools, ServerSelection};
pub(crate) use self::running_server::LiveServer;
pub(crate) use self::slot::Unavailable;
pub use self::status::{ServerState, ServerStatus};

/// The MCP servers behind jig: one process, or one connection, for each, shared by all callers.
///
/// It is the [`ToolServers`](jig_engine::ToolServers) of an engine. Whoever drops the last reference ends all
/// servers at once; [`stop_all`](Self::stop_all) gives them time.
pub struct Servers {
    pub(crate) ledger: Arc<Ledger>,
    common: Arc<ServersCommon>,
    place: LazyRuntime,
    pool: Mutex<ServerPool>,
}

/// What the tasks of servers need, who do not keep [`Servers`] alive.
struct ServersCommon {
    ledger: Arc<Ledger>,
    report: Arc<dyn Fn(&str) + Send + Sync>,
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct ServerPool {
    engine: Option<Arc<Engine>>,
    /// Those that are turned on, by their names.
    slots: HashMap<String, Arc<ServerSlot>>,
}

impl Servers {
    /// Servers of which is remembered what `memory` keeps. `report` is told what whoever looks after jig should
    /// know, in printable text without secrets.
    pub fn new(memory: Arc<dyn Memory>, report: Arc<dyn Fn(&str) + Send + Sync>) -> Arc<Self> {
        let ledger = Arc::new(Ledger::new(memory));
        let common = ServersCommon {
            ledger: Arc::clone(&ledger),
            report,
            changes: watch::Sender::new(0),
        };
        Arc::new(Self {
            ledger,
            common: Arc::new(common),
            place: LazyRuntime::default(),
            pool: Mutex::default(),
        })
    }

    /// Has servers looked after on this runtime, which has to outlive them. It counts if nothing was started
    /// yet; without it there will be one of their own.
    pub fn on(&self, runtime: Handle) {
        self.place.give(runtime);
    }

    /// Starts servers from the configuration of this engine from now on.
    ///
    /// Those whose entry has changed, or is gone, are stopped when their calls are over.
    pub fn attach(self: &Arc<Self>, engine: Arc<Engine>) {
        // The engine that is given may have these servers, and would then keep them alive for ever.
        let mut own = engine.for_turn(&Turn::default());
        own.servers = None;
        let config = own.config();
        let around = around(config);
        let mut kept = Vec::new();
        let mut pool = self.pool();
        let mut before = std::mem::take(&mut pool.slots);
        for (name, server) in &config.servers {
            if !server.enable {
                continue;
            }
            let identity = identity(server, &around);
            let slot = match before.remove(name) {
                Some(slot) if slot.identity() == identity => {
                    kept.push((Arc::clone(&slot), Arc::clone(server)));
                    slot
                }
                other => {
                    if let Some(other) = other {
                        other.retire();
                    }
                    Arc::new(ServerSlot::new(Arc::clone(server), identity))
                }
            };
            pool.slots.insert(name.clone(), slot);
        }
        pool.engine = Some(Arc::new(own));
        // Whoever holds the lock of a slot may want that of the pool; nobody wants them the other way round.
        drop(pool);
        for (slot, server) in kept {
            slot.set_server(server);
        }
        for slot in before.into_values() {
            slot.retire();
        }
        self.common.tell_change();
    }

    /// What the servers of a configuration are: to [attach](Self::attach) one of which this is another text stops
    /// some of them.
    pub fn identity(config: &Config) -> String {
        let around = around(config);
        let servers = config.servers.values().filter(|server| server.enable);
        let named = servers.map(|server| format!("{} {}", server.name, identity(server, &around)));
        named.collect::<Vec<String>>().join("\n")
    }

    /// How each server of the configuration stands, in its order.
    pub fn status(&self) -> Vec<ServerStatus> {
        let Some(engine) = self.engine() else {
            return Vec::new();
        };
        let servers = engine.config().servers.values();
        let status = servers.map(|server| match self.slot(&server.name) {
            Some(slot) => slot.status(&self.ledger),
            None => ServerStatus::off(&server.name),
        });
        status.collect()
    }

    /// Stops all servers, and returns when they have stopped, which takes a few seconds at most. None is started
    /// afterwards, before another engine is attached.
    ///
    /// This blocks, and must not be called where tasks run.
    pub fn stop_all(&self) {
        let slots: Vec<Arc<ServerSlot>> = {
            let mut pool = self.pool();
            pool.engine = None;
            pool.slots.drain().map(|(_, slot)| slot).collect()
        };
        let ended: Vec<_> = slots.iter().filter_map(|slot| slot.end()).collect();
        let Some(runtime) = self.place.there_is().filter(|_| !ended.is_empty()) else {
            return;
        };
        let all = async {
            for ended in ended {
                ended.cancelled().await;
            }
        };
        // A runtime that is being shut down ends nothing any more; then dropping does.
        let _ = runtime.block_on(async { tokio::time::timeout(LONGEST_STOP, all).await });
    }

    /// The connection to a server, which is started if it does not run: when this returns, its tools are listed
    /// and the ledger knows of them.
    ///
    /// # Errors
    ///
    /// If there is no such server, if a person has to accept it first, or if it does not start.
    pub(crate) async fn connected(&self, server: &str) -> Result<Arc<LiveServer>, Unavailable> {
        let (_, visit) = self.enter(server).await?;
        Ok(Arc::clone(visit.live()))
    }

    /// The same for somebody who uses it until they drop the visit.
    async fn enter(&self, server: &str) -> Result<(Arc<ServerSlot>, ServerUse), Unavailable> {
        let slot = self.slot(server);
        let mut slot = slot.ok_or_else(|| Unavailable::Unknown(server.to_owned()))?;
        loop {
            let ready = slot.ready(self).await;
            let now = self.slot(server).filter(|now| !Arc::ptr_eq(now, &slot));
            match (ready, now) {
                // Another configuration has come into force meanwhile.
                (Err(Unavailable::Gone(_)), Some(now)) => slot = now,
                (ready, _) => return ready.map(|visit| (slot, visit)),
            }
        }
    }

    /// Counts up when a server began or ended, when its tools changed, and when something of it was accepted.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.common.changes.subscribe()
    }

    /// The engine from which servers are started.
    pub(crate) fn engine(&self) -> Option<Arc<Engine>> {
        self.pool().engine.clone()
    }

    /// Where tasks of servers run.
    ///
    /// # Errors
    ///
    /// If there is no thread to be had, in words.
    pub(crate) fn runtime(&self) -> Result<Handle, String> {
        self.place.handle()
    }

    fn slot(&self, name: &str) -> Option<Arc<ServerSlot>> {
        self.pool().slots.get(name).cloned()
    }

    fn pool(&self) -> MutexGuard<'_, ServerPool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServersCommon {
    fn tell_change(&self) {
        self.changes.send_modify(|number| *number += 1);
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        for slot in self.pool().slots.values() {
            // Whoever is in the middle of a call has these servers, so there is no call.
            let _ = slot.end();
        }
    }
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.pool().slots.keys().cloned().collect();
        f.debug_tuple("Servers").field(&names).finish()
    }
}

/// What holds for every program of a configuration: a server that runs does not take it over.
fn around(config: &Config) -> String {
    format!(
        "{:?}",
        (
            &config.network,
            &config.files,
            &config.folders,
            &config.state
        )
    )
}

/// What a server is: with another text it is another one.
fn identity(server: &Server, around: &str) -> String {
    format!("{} {around}", server.fingerprint())
}

/// When so much time is over. A time that no clock can show is a very long one.
fn after(time: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(time).unwrap_or(now + VERY_LONG)
}

const VERY_LONG: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// The longest that all servers get to stop: as long as one, since they stop beside each other, and some more for
/// a machine that has much to do.
const LONGEST_STOP: Duration = Duration::from_secs(10);
