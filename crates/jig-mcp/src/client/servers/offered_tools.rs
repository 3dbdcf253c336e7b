//! What servers offer: their tools, in a configuration, and what of them is held until a person accepts it.

use std::sync::Arc;
use std::time::Duration;

use jig_config::{Config, Definition, Server};
use jig_engine::{Engine, HeldOffer};
use jig_proto::{visible_lines, visible_words};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::Servers;
use super::error_texts;
use super::ledger::LedgerServer;

/// Which servers are asked for their tools. Nobody asks one that waits for acceptance, or is turned off.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerSelection {
    /// None: what is known has to do.
    Known,
    /// Those of which nothing is known.
    Missing,
    /// The same for somebody with whom all servers end: what has to be downloaded first is waited for.
    MissingAwaited,
    /// All.
    Fresh,
    /// This one.
    One(String),
}

/// The tools that there are.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OfferedTools {
    /// The configuration, with the tools of servers in it.
    pub config: Arc<Config>,
    /// The servers that could not be asked, and why, in printable text without secrets.
    pub problems: Vec<(String, String)>,
    /// The servers that are not started before a person has accepted their entry.
    pub waiting: Vec<String>,
}

/// What was accepted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AcceptedOffer {
    /// The entry: the server may be started from now on, and could not before.
    pub server: bool,
    /// The definitions of these tools, which were new or have changed.
    pub tools: Vec<String>,
}

impl Servers {
    /// The tools that there are, with those of servers as far as they are known. `which` are asked first, all at
    /// the same time; that takes as long as the slowest of them, and for [`ServerSelection::Missing`] never longer than a
    /// minute. One that takes longer, or fails, is told among the problems, and does not hold up the others.
    ///
    /// The engine is that of the configuration as it was loaded. It is attached if none is. `tell` is told what is
    /// waited for. This blocks, and must not be called where tasks run.
    pub fn offered(
        self: &Arc<Self>,
        engine: &Arc<Engine>,
        which: ServerSelection,
        tell: &dyn Fn(&str),
    ) -> OfferedTools {
        if self.engine().is_none() {
            self.attach(Arc::clone(engine));
        }
        let config = engine.config();
        let servers = config.servers.values().filter(|server| server.enable);
        let (may, waiting): (Vec<&Arc<Server>>, Vec<_>) =
            servers.partition(|server| self.ledger.may_start(server));
        let is_meant = |server: &Server| match &which {
            ServerSelection::Known => false,
            ServerSelection::Missing | ServerSelection::MissingAwaited => {
                self.ledger.offered(server).is_none()
            }
            ServerSelection::Fresh => true,
            ServerSelection::One(name) => server.name == *name,
        };
        let asked: Vec<String> = may
            .into_iter()
            .filter(|server| is_meant(server))
            .map(|server| server.name.clone())
            .collect();
        let has_to_download = |asked: &[String]| {
            let servers = asked.iter().filter_map(|name| config.server(name));
            let mut packages = servers.filter_map(|server| engine.packages(server));
            packages.any(|packages| packages.are_missing())
        };
        let problems = match asked.is_empty() {
            true => Vec::new(),
            false => {
                tell(&format!("asking for tools: {}", asked.join(", ")));
                // Whoever means a server waits for as long as its entry says.
                let limit = match which {
                    ServerSelection::One(_) | ServerSelection::Fresh => super::VERY_LONG,
                    // A download has its own limit, and begins anew if nobody waits for its end.
                    ServerSelection::MissingAwaited if has_to_download(&asked) => super::VERY_LONG,
                    ServerSelection::Known
                    | ServerSelection::Missing
                    | ServerSelection::MissingAwaited => LONGEST,
                };
                self.ask(asked, limit)
            }
        };
        OfferedTools {
            config: Arc::new(config.with_definitions(&|server| self.offers_of(server))),
            problems,
            waiting: waiting.into_iter().map(|it| it.name.clone()).collect(),
        }
    }

    /// The definitions of each server of a configuration that has told them, by their names.
    pub(crate) fn offers(&self, config: &Config) -> Vec<(String, Vec<Arc<Definition>>)> {
        let all = config.servers.values();
        let offers = all.filter_map(|server| Some((server.name.clone(), self.offers_of(server)?)));
        offers.collect()
    }

    fn offers_of(&self, server: &Server) -> Option<Vec<Arc<Definition>>> {
        let offered = || self.ledger.offered(server);
        server.enable.then(offered).flatten()
    }

    /// Whether a server could be asked for its tools, which nobody knows yet.
    pub(crate) fn is_missing(&self, server: &Server) -> bool {
        server.enable && self.ledger.may_start(server) && self.offers_of(server).is_none()
    }

    /// Asks servers for their tools, all at the same time; returns what went wrong, in their order.
    fn ask(self: &Arc<Self>, servers: Vec<String>, limit: Duration) -> Vec<(String, String)> {
        let runtime = match self.runtime() {
            Ok(runtime) => runtime,
            Err(why) => {
                return servers
                    .into_iter()
                    .map(|name| (name, why.clone()))
                    .collect();
            }
        };
        let asked = async {
            let mut tasks = JoinSet::new();
            for (place, name) in servers.into_iter().enumerate() {
                let this = Arc::clone(self);
                tasks.spawn(async move {
                    let problem = match timeout(limit, this.connected(&name)).await {
                        Ok(Ok(_)) => None,
                        Ok(Err(error)) => Some(visible_lines(&error.to_string())),
                        // It goes on starting; when it has its tools, that is news.
                        Err(_) => Some(format!(
                            "the MCP server `{name}` has not told its tools within {}",
                            error_texts::time(limit)
                        )),
                    };
                    (place, name, problem)
                });
            }
            tasks.join_all().await
        };
        let mut done = runtime.block_on(asked);
        done.sort_unstable_by_key(|(place, ..)| *place);
        let problems = done.into_iter();
        problems
            .filter_map(|(_, name, problem)| Some((name, problem?)))
            .collect()
    }

    /// What is known of a server, without asking it.
    pub fn told(&self, server: &Server) -> LedgerServer {
        self.ledger.told(server)
    }

    /// All that a person has to accept of a server, as far as it is known: its entry, or else the definitions of
    /// tools that are new or have changed. [`ToolServers::accept`](jig_engine::ToolServers::accept) accepts
    /// exactly one of them.
    pub fn held_of(&self, server: &Server) -> Vec<HeldOffer> {
        self.ledger.all_held(server)
    }

    /// Accepts all that is held of a server of the attached configuration. It is not started for that.
    ///
    /// # Errors
    ///
    /// If there is no such server, or if it cannot be written down; in the words that a person reads.
    pub fn accept_server(&self, name: &str) -> Result<AcceptedOffer, String> {
        let engine = self.engine();
        let server = engine.as_ref().and_then(|it| it.config().servers.get(name));
        let server = server.ok_or_else(|| {
            let name = visible_words(name);
            format!("there is no MCP server `{name}` in the configuration")
        })?;
        let mut accepted = AcceptedOffer::default();
        for held in self.ledger.all_held(server) {
            self.ledger.accept(server, &held)?;
            match held {
                HeldOffer::Server { .. } => accepted.server = true,
                HeldOffer::Definition { tool, .. } => accepted.tools.push(tool),
            }
        }
        if accepted.server {
            // What it said when its entry was another one's may still be known.
            for held in self.ledger.all_held(server) {
                self.ledger.accept(server, &held)?;
            }
        }
        Ok(accepted)
    }
}

/// The longest that a list of tools waits for those of servers.
const LONGEST: Duration = Duration::from_secs(25);
