//! The tools of servers, as they come into what is in force.
//!
//! A server that has told its tools before is not started for a list of them. The others are asked by the first list, all
//! at the same time ([`SharedServer::listed`]), and one that fails or takes long does not hold up the rest. From then on what a server says, and what a person accepts of it, comes into force by [`SharedServer::refresh`].

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use jig_config::{Config, Definition};
use jig_engine::{Engine, ToolServers};

use crate::client::servers::{ServerSelection, Servers};
use crate::shared::{ServedConfig, SharedServer};

/// What is known of the servers of a configuration.
pub(crate) struct GatheredServers {
    servers: Arc<Servers>,
    /// The engine of the configuration as it was loaded.
    base: Arc<Engine>,
    /// The definitions of each server that has told them, by their names.
    offers: Vec<(String, Vec<Arc<Definition>>)>,
    /// Whether there is a server that could be asked for its tools, and was not.
    is_incomplete: AtomicBool,
    problems: Mutex<ServerProblems>,
}

/// The servers that could not be asked for their tools, and why.
pub(crate) type ServerProblems = Vec<(String, String)>;

impl GatheredServers {
    /// What is known now. Nothing is started.
    pub(crate) fn new(servers: &Arc<Servers>, base: &Arc<Engine>) -> Self {
        let all = base.config().servers.values();
        let is_incomplete = all.into_iter().any(|server| servers.is_missing(server));
        Self {
            servers: Arc::clone(servers),
            base: Arc::clone(base),
            offers: servers.offers(base.config()),
            is_incomplete: AtomicBool::new(is_incomplete),
            problems: Mutex::default(),
        }
    }

    /// The same with what is known by now; `None` if that is the same.
    fn renewed(&self) -> Option<Self> {
        let offers = self.servers.offers(self.base.config());
        if offers == self.offers {
            return None;
        }
        let is_known = |name: &str| offers.iter().any(|(known, _)| known == name);
        let problems = self.problems().clone().into_iter();
        let problems = problems.filter(|(name, _)| !is_known(name)).collect();
        Some(Self {
            servers: Arc::clone(&self.servers),
            base: Arc::clone(&self.base),
            is_incomplete: AtomicBool::new(self.is_incomplete()),
            problems: Mutex::new(problems),
            offers,
        })
    }

    /// Notes that there is a server that can be asked for its tools now, and was not: somebody has accepted it.
    fn look_for_missing(&self) {
        let problems = self.problems().clone();
        let has_failed = |name: &str| problems.iter().any(|(failed, _)| failed == name);
        let mut all = self.base.config().servers.values();
        if all.any(|server| self.servers.is_missing(server) && !has_failed(&server.name)) {
            self.is_incomplete.store(true, Ordering::Release);
        }
    }

    /// A configuration with the tools of its servers in it.
    pub(crate) fn with_tools(&self, config: &Config) -> Config {
        config.with_definitions(&|server| {
            let mut offers = self.offers.iter();
            let offer = offers.find(|(name, _)| *name == server.name);
            offer.map(|(_, definitions)| definitions.clone())
        })
    }

    /// The servers, as an engine reaches them.
    pub(crate) fn reached(&self) -> Arc<dyn ToolServers> {
        Arc::clone(&self.servers) as Arc<dyn ToolServers>
    }

    fn is_incomplete(&self) -> bool {
        self.is_incomplete.load(Ordering::Acquire)
    }

    /// The servers that could not be asked for their tools, and why.
    pub(crate) fn problems(&self) -> MutexGuard<'_, ServerProblems> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServedConfig {
    /// Whether there is a server that could be asked for its tools, and was not.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.gathered
            .as_ref()
            .is_some_and(GatheredServers::is_incomplete)
    }

    /// Whether there is a server that could not be asked for its tools.
    pub(crate) fn has_problems(&self) -> bool {
        let gathered = self.gathered.as_ref();
        gathered.is_some_and(|gathered| !gathered.problems().is_empty())
    }
}

impl SharedServer {
    /// What is in force, with the tools of all servers that have told them. Those of which nothing is known are
    /// asked first, once; whoever comes meanwhile waits for the same. It may take half a minute.
    pub(crate) fn complete(&self) -> Arc<ServedConfig> {
        self.was_listed.store(true, Ordering::Release);
        // Another configuration may come into force meanwhile, with servers of its own.
        for _ in 0..MOST_ROUNDS {
            if !self.current().is_incomplete() {
                break;
            }
            let _one = self.gathering();
            if self.current().is_incomplete() {
                self.gather();
            }
        }
        self.current()
    }

    /// What is in force, with the tools of those servers that have told them by now. Those of which nothing is known are
    /// asked, and have a moment to answer: a client that asks once then knows them all. One that takes longer holds up
    /// nobody; its tools are announced when they are there.
    pub(crate) fn listed(self: &Arc<Self>) -> Arc<ServedConfig> {
        self.was_listed.store(true, Ordering::Release);
        if !self.current().is_incomplete() {
            return self.current();
        }
        let completing = || {
            self.completing
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let mut is_completing = completing();
        if !*is_completing {
            let shared = Arc::clone(self);
            let asking = move || {
                shared.complete();
                *shared
                    .completing
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner) = false;
                shared.completed.notify_all();
            };
            let thread = thread::Builder::new().name("jig-list".to_owned());
            *is_completing = thread.spawn(asking).is_ok();
        }
        let wait = self.options.list_wait;
        let waited = self
            .completed
            .wait_timeout_while(is_completing, wait, |is| *is);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        self.refresh();
        loop {
            let served = self.current();
            served.catalogue();
            // Whatever comes from now on is news to whoever is told this.
            if Arc::ptr_eq(&served, &self.current()) {
                return served;
            }
        }
    }

    /// Whether anybody has wanted to know the tools.
    pub(crate) fn was_listed(&self) -> bool {
        self.was_listed.load(Ordering::Acquire)
    }

    /// Asks those servers again that could not be asked for their tools.
    pub(crate) fn gather_again(&self) {
        let _one = self.gathering();
        self.gather();
    }

    /// Asks servers of which nothing is known. To be called by whoever holds [`SharedServer::gathering`].
    fn gather(&self) {
        let served = self.current();
        let Some(gathered) = &served.gathered else {
            return;
        };
        let offered = gathered
            .servers
            .offered(&gathered.base, ServerSelection::Missing, &|_| {});
        self.refresh();
        let now = self.current();
        let is_same = Arc::ptr_eq(&now.loaded, &served.loaded);
        if let Some(now) = now.gathered.as_ref().filter(|_| is_same) {
            // Whoever looks after the server was told by the servers themselves.
            *now.problems() = offered.problems;
            now.is_incomplete.store(false, Ordering::Release);
        }
    }

    /// Has what is in force be what servers offer now, as far as that is known.
    pub(crate) fn refresh(&self) {
        let refreshed = self.change(|served| {
            let Some(gathered) = &served.gathered else {
                return Ok(None);
            };
            gathered.look_for_missing();
            let Some(gathered) = gathered.renewed() else {
                return Ok(None);
            };
            let parts = (Arc::clone(&served.loaded), Some(gathered));
            let generation = served.generation + 1;
            let next = ServedConfig::with(&*self.loader, &self.options, parts, generation)?;
            // Nobody has to be told who was never told another list.
            Ok(Some((next, served.is_catalogued())))
        });
        if let Err(why) = refreshed {
            let text = format!("the tools of MCP servers cannot be offered: {why}");
            self.loader.report(&text);
        }
    }

    fn gathering(&self) -> MutexGuard<'_, ()> {
        self.gathering
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// How often servers are asked because the configuration has changed while others were.
const MOST_ROUNDS: usize = 3;

#[cfg(test)]
mod tests;
