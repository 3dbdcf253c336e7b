//! [`SharedServer`]: what all connections of a server have in common.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use jig_config::{Config, HeldBack};
use jig_engine::{Engine, Turn};
use tokio::sync::{Notify, Semaphore, watch};

use crate::caller::Callers;
use crate::calls::request_state::Seal;
use crate::client::servers::{Memory, Servers};
use crate::configuration::reload::Reload;
use crate::configuration::server_acceptance::AskedServers;
use crate::configuration::server_tools::GatheredServers;
use crate::methods::catalogue::Catalogue;
use crate::questions::Questions;

/// What a server needs to know of its host: where the configuration is, and how an engine is made.
pub trait Loader: Send + Sync + 'static {
    /// Loads the configuration as it is now.
    ///
    /// # Errors
    ///
    /// If it is not valid, in the words that a person reads.
    fn load(&self) -> Result<Arc<Config>, String>;

    /// Accepts what was held back of a configuration, and gives what comes into force by that: what was shown, whatever
    /// the files say by now.
    ///
    /// # Errors
    ///
    /// If it cannot be remembered.
    fn accept(&self, held_back: &HeldBack) -> Result<Arc<Config>, String> {
        Ok(Arc::clone(&held_back.config))
    }

    /// Takes note that a person did not accept it.
    fn decline(&self, held_back: &HeldBack) {
        let _ = held_back;
    }

    /// Makes an engine for the tools of a configuration, with nothing remembered yet.
    ///
    /// # Errors
    ///
    /// If the workspace cannot be used, in the words that a person reads.
    fn engine(&self, config: &Arc<Config>) -> Result<Engine, String>;

    /// A number that changes when a file changes that matters: a file of the configuration, also one that
    /// was missing, or a component of a tool.
    fn fingerprint(&self, config: &Config) -> u64;

    /// The workspace, as people are shown it.
    fn workspace(&self) -> String;

    /// The MCP servers behind this one, whose tools are served, too. Asked once; without it there are none.
    fn servers(&self) -> Option<Arc<Servers>> {
        None
    }

    /// Where questions that were refused are kept for later servers of the workspace. Asked once; without it they end
    /// with this one.
    fn memory(&self) -> Option<Arc<dyn Memory>> {
        None
    }

    /// Begins a turn of a caller.
    fn turn(&self) -> Turn {
        Turn::default()
    }

    /// Tells whoever looks after the server something. The text is printable, and may have several lines.
    fn report(&self, text: &str) {
        let _ = text;
    }
}

/// How a server serves.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// How many calls of one caller may be in flight at once.
    pub calls_per_caller: usize,
    /// How many calls may be in flight at once, whoever made them.
    pub calls: usize,
    /// How many connections callers may have over HTTP: each client keeps one open to be told what is new.
    pub connections: usize,
    /// How long a call waits for one of the others to end when there are as many as may be, before it is refused.
    pub room_wait: Duration,
    /// The most text of one result that a call may make, in bytes.
    pub max_result: usize,
    /// How long a list of tools waits for servers of which nothing is known. Those that take longer are announced.
    pub list_wait: Duration,
    /// Whether to serve also the resources and prompts of [`fixtures`](crate::fixtures), which the official
    /// conformance suite wants.
    pub fixtures: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            calls_per_caller: 64,
            calls: 256,
            connections: 2048,
            room_wait: Duration::from_secs(10),
            max_result: 16 << 20,
            list_wait: Duration::from_secs(2),
            fixtures: false,
        }
    }
}

/// What all connections of a server have in common.
pub struct SharedServer {
    pub(crate) loader: Box<dyn Loader>,
    pub(crate) options: Options,
    pub(crate) questions: Arc<Questions>,
    pub(crate) callers: Callers,
    /// Seals what clients take along from a parked call.
    pub(crate) seal: Seal,
    /// Room for requests that are answered on a thread of their own, other than calls. Without threads left, nothing else
    /// would go on: a call that gives its thread back needs one.
    pub(crate) answering: Semaphore,
    /// How many calls are in flight.
    pub(crate) running: AtomicUsize,
    /// Told when one of them ends.
    pub(crate) freed: Notify,
    /// How many calls were begun.
    pub(crate) begun: AtomicU64,
    /// What stands in the files and is not in force.
    pub(crate) reload: Reload,
    /// The MCP servers behind this one.
    pub(crate) servers: Option<Arc<Servers>>,
    /// What is asked about servers.
    asked: Mutex<AskedServers>,
    /// Whether anybody has wanted to know the tools.
    pub(crate) was_listed: AtomicBool,
    /// Held by whoever asks servers for their tools. That may take long, and nothing else waits for it.
    pub(crate) gathering: Mutex<()>,
    /// Whether somebody is asking them so that a list is complete, and told when that is over.
    pub(crate) completing: Mutex<bool>,
    pub(crate) completed: Condvar,
    current: RwLock<Arc<ServedConfig>>,
    /// Held by whoever makes another [`ServedConfig`] of the current one.
    changing: Mutex<()>,
    generation: watch::Sender<u64>,
}

/// A configuration in force.
pub(crate) struct ServedConfig {
    /// As it was loaded.
    pub(crate) loaded: Arc<Config>,
    /// The same with the tools of servers, as far as they are known.
    pub(crate) config: Arc<Config>,
    /// The engine from which that of each caller is made.
    pub(crate) engine: Engine,
    /// Counts up with every configuration that comes into force, and with every change of a component.
    pub(crate) generation: u64,
    /// What is known of the servers; `None` where there are none.
    pub(crate) gathered: Option<GatheredServers>,
    catalogue: OnceLock<Catalogue>,
}

impl SharedServer {
    /// A server for the tools of the configuration that `loader` loads.
    ///
    /// # Errors
    ///
    /// If there is no valid configuration, or the workspace cannot be used.
    pub fn new(loader: Box<dyn Loader>, options: Options) -> Result<Arc<Self>, String> {
        let loaded = loader.load()?;
        let servers = loader.servers();
        let questions = match loader.memory() {
            Some(memory) => Questions::remembering(memory),
            None => Questions::new(),
        };
        let first = ServedConfig::new(&*loader, &options, servers.as_ref(), loaded, 1)?;
        Ok(Arc::new(Self {
            loader,
            options,
            questions: Arc::new(questions),
            callers: Callers::new(),
            seal: Seal::new()?,
            answering: Semaphore::new(MOST_ANSWERING),
            running: AtomicUsize::new(0),
            freed: Notify::new(),
            begun: AtomicU64::new(0),
            reload: Reload::default(),
            servers,
            asked: Mutex::default(),
            was_listed: AtomicBool::new(false),
            gathering: Mutex::new(()),
            completing: Mutex::new(false),
            completed: Condvar::new(),
            current: RwLock::new(Arc::new(first)),
            changing: Mutex::new(()),
            generation: watch::Sender::new(1),
        }))
    }

    /// The questions that wait for a person.
    pub fn questions(&self) -> &Arc<Questions> {
        &self.questions
    }

    /// The configuration in force.
    pub(crate) fn current(&self) -> Arc<ServedConfig> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current)
    }

    /// Puts a configuration in force: calls from now on are judged by it, those in flight go on as they
    /// began.
    pub(crate) fn replace(&self, loaded: Arc<Config>) -> Result<(), String> {
        self.change(|current| {
            let generation = current.generation + 1;
            let servers = self.servers.as_ref();
            let next =
                ServedConfig::new(&*self.loader, &self.options, servers, loaded, generation)?;
            Ok(Some((next, true)))
        })
    }

    /// Puts in force what `next` makes of what is, and tells of it if that is news.
    pub(crate) fn change(
        &self,
        next: impl FnOnce(&Arc<ServedConfig>) -> Result<Option<(ServedConfig, bool)>, String>,
    ) -> Result<(), String> {
        let _one = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((next, is_news)) = next(&self.current())? else {
            return Ok(());
        };
        let generation = next.generation;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
        if is_news {
            self.generation.send_replace(generation);
        }
        Ok(())
    }

    /// The questions about servers that stand on the board.
    pub(crate) fn asked(&self) -> AskedServers {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.clone()
    }

    /// Notes which these are.
    pub(crate) fn set_asked(&self, now: AskedServers) {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// Tells of every generation that begins.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.generation.subscribe()
    }
}

impl ServedConfig {
    fn new(
        loader: &dyn Loader,
        options: &Options,
        servers: Option<&Arc<Servers>>,
        loaded: Arc<Config>,
        generation: u64,
    ) -> Result<Self, String> {
        // Those that were there before are to be stopped, too.
        let is_needed =
            |servers: &&Arc<Servers>| !loaded.servers.is_empty() || servers.engine().is_some();
        let Some(servers) = servers.filter(is_needed) else {
            return Self::with(loader, options, (loaded, None), generation);
        };
        let base = Arc::new(loader.engine(&loaded)?);
        let gathered = GatheredServers::new(servers, &base);
        let served = Self::with(loader, options, (loaded, Some(gathered)), generation)?;
        servers.attach(base);
        Ok(served)
    }

    /// What is in force if a configuration is, with what is known of its servers.
    pub(crate) fn with(
        loader: &dyn Loader,
        options: &Options,
        (loaded, gathered): (Arc<Config>, Option<GatheredServers>),
        generation: u64,
    ) -> Result<Self, String> {
        let config = match &gathered {
            Some(gathered) => Arc::new(gathered.with_tools(&loaded)),
            None => Arc::clone(&loaded),
        };
        let mut engine = loader.engine(&config)?;
        engine.max_result = options.max_result;
        engine.servers = gathered.as_ref().map(GatheredServers::reached);
        Ok(Self {
            loaded,
            config,
            engine,
            generation,
            gathered,
            catalogue: OnceLock::new(),
        })
    }

    /// Whether [`catalogue`](Self::catalogue) returns at once.
    pub(crate) fn is_catalogued(&self) -> bool {
        self.catalogue.get().is_some()
    }

    /// What is listed of the tools.
    pub(crate) fn catalogue(&self) -> &Catalogue {
        self.catalogue.get_or_init(|| Catalogue::of(&self.engine))
    }
}

/// How many requests other than calls are answered at once, by all clients together.
const MOST_ANSWERING: usize = 64;
