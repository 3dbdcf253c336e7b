//! [`Shared`]: what all connections of a server have in common.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use jig_config::Config;
use jig_engine::{Engine, Turn};
use tokio::sync::watch;

use crate::caller::Callers;
use crate::catalogue::Catalogue;
use crate::questions::Questions;
use crate::reload::Reload;
use crate::state::Seal;

/// What a server needs to know of its host: where the configuration is, and how an engine is made.
pub trait Loader: Send + Sync + 'static {
    /// Loads the configuration as it is now.
    ///
    /// # Errors
    ///
    /// If it is not valid, in the words that a person reads.
    fn load(&self) -> Result<Arc<Config>, String>;

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
    /// The most text of one result that a call may make, in bytes.
    pub max_result: usize,
    /// Whether to serve also the resources and prompts of [`fixtures`](crate::fixtures), which the official
    /// conformance suite wants.
    pub fixtures: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            calls_per_caller: 64,
            calls: 256,
            max_result: 16 << 20,
            fixtures: false,
        }
    }
}

/// What all connections of a server have in common.
pub struct Shared {
    pub(crate) loader: Box<dyn Loader>,
    pub(crate) options: Options,
    pub(crate) questions: Arc<Questions>,
    pub(crate) callers: Callers,
    /// Seals what clients take along from a parked call.
    pub(crate) seal: Seal,
    /// How many calls are in flight.
    pub(crate) running: AtomicUsize,
    /// Whether a quick call runs on a thread that serves connections.
    pub(crate) quick: AtomicBool,
    /// How many calls were begun.
    pub(crate) begun: AtomicU64,
    /// What stands in the files and is not in force.
    pub(crate) reload: Reload,
    current: RwLock<Arc<Served>>,
    generation: watch::Sender<u64>,
}

/// A configuration in force.
pub(crate) struct Served {
    pub(crate) config: Arc<Config>,
    /// The engine from which that of each caller is made.
    pub(crate) engine: Engine,
    /// Counts up with every configuration that comes into force, and with every change of a component.
    pub(crate) generation: u64,
    catalogue: OnceLock<Catalogue>,
}

impl Shared {
    /// A server for the tools of the configuration that `loader` loads.
    ///
    /// # Errors
    ///
    /// If there is no valid configuration, or the workspace cannot be used.
    pub fn new(loader: Box<dyn Loader>, options: Options) -> Result<Arc<Self>, String> {
        let config = loader.load()?;
        let first = Served::new(&*loader, &options, config, 1)?;
        Ok(Arc::new(Self {
            loader,
            options,
            questions: Arc::new(Questions::new()),
            callers: Callers::new(),
            seal: Seal::new()?,
            running: AtomicUsize::new(0),
            quick: AtomicBool::new(false),
            begun: AtomicU64::new(0),
            reload: Reload::default(),
            current: RwLock::new(Arc::new(first)),
            generation: watch::Sender::new(1),
        }))
    }

    /// The questions that wait for a person.
    pub fn questions(&self) -> &Arc<Questions> {
        &self.questions
    }

    /// The configuration in force.
    pub(crate) fn current(&self) -> Arc<Served> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current)
    }

    /// Puts a configuration in force: calls from now on are judged by it, those in flight go on as they
    /// began.
    pub(crate) fn replace(&self, config: Arc<Config>) -> Result<(), String> {
        let generation = self.current().generation + 1;
        let next = Arc::new(Served::new(
            &*self.loader,
            &self.options,
            config,
            generation,
        )?);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = next;
        self.generation.send_replace(generation);
        Ok(())
    }

    /// Tells of every generation that begins.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.generation.subscribe()
    }
}

impl Served {
    fn new(
        loader: &dyn Loader,
        options: &Options,
        config: Arc<Config>,
        generation: u64,
    ) -> Result<Self, String> {
        let mut engine = loader.engine(&config)?;
        engine.max_result = options.max_result;
        Ok(Self {
            config,
            engine,
            generation,
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
