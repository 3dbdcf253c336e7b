//! [`ServerSlot`]: what there is of one server, and how it comes up.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jig_config::Server;
use jig_engine::Engine;
use jig_proto::{Denial, Hint, ToolError, hint};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::backoff::Backoff;
use super::error_texts;
use super::ledger::Ledger;
use super::running_server::{self, LiveServer, NotOpened, ServerUse};
use super::status::{ServerState, ServerStatus};
use super::{Servers, ServersCommon};

/// What there is of one entry of the configuration.
///
/// At any time there is at most one process, or connection, of it: also one that is being stopped counts.
pub(super) struct ServerSlot {
    identity: String,
    inner: Mutex<ServerSlotState>,
    /// How many calls went to it.
    calls: AtomicU64,
    /// Nothing is started any more, and what runs is stopped when its calls are over.
    pub(super) retired: CancellationToken,
    /// What runs is stopped now.
    pub(super) ending: CancellationToken,
}

struct ServerSlotState {
    server: Arc<Server>,
    phase: ServerPhase,
    backoff: Backoff,
    /// Why it last failed, until it is up again.
    failure: Option<ServerFailure>,
    /// That it died when nobody called it, until a result has told so.
    untold: Option<String>,
    tools: Option<usize>,
}

enum ServerPhase {
    Down,
    /// Several may wait for the outcome.
    Starting(watch::Receiver<Option<ServerStartOutcome>>),
    Up(Arc<LiveServer>),
}

type ServerStartOutcome = Result<(), Unavailable>;

/// Why a server failed.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerFailure {
    /// In words, without secrets.
    pub(crate) why: String,
    /// What it was refused, which may be the reason.
    pub(crate) denials: Vec<Denial>,
    /// What may help if nothing was refused.
    pub(crate) advice: Option<Hint>,
    /// Whether it will not pass by itself.
    pub(crate) lasts: bool,
}

/// Why a server cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Unavailable {
    /// The configuration has none of that name, or it is turned off there.
    #[error("the configuration has no MCP server `{0}`, or turns it off")]
    Unknown(String),
    /// A person has to accept it before it may be started.
    #[error(
        "the MCP server `{0}` is declared by a file of the workspace, and nobody has accepted it yet\n{hint}",
        hint = hint!("see what it may do and accept it with `jig servers accept {}`", .0)
    )]
    NotAccepted(String),
    /// It does not start, or has died too often.
    #[error("the MCP server `{server}` does not run: {failure}{}", again(*.retry_in))]
    Failed {
        /// Its name.
        server: String,
        /// Why.
        failure: Box<ServerFailure>,
        /// How long it is not tried again.
        retry_in: Duration,
    },
    /// Its entry has changed, or jig is ending.
    #[error(
        "the MCP server `{0}` is being stopped, because its configuration has changed or jig ends"
    )]
    Gone(String),
    /// jig cannot look after servers.
    #[error("{0}")]
    Unable(String),
}

/// All of it: why, what was refused, and then what else may help.
impl fmt::Display for ServerFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)?;
        f.write_str(&error_texts::denied(&self.denials))?;
        match &self.advice {
            Some(advice) => write!(f, "\n{advice}"),
            None => Ok(()),
        }
    }
}

fn again(retry_in: Duration) -> String {
    match retry_in.is_zero() {
        true => String::new(),
        false => format!(
            "\nit is not tried again for {}",
            error_texts::time(retry_in)
        ),
    }
}

impl Unavailable {
    /// What a call is told that cannot be made. It has had no effect.
    pub(super) fn into_error(mut self) -> ToolError {
        let (mut denials, mut transient) = (Vec::new(), false);
        if let Self::Failed { failure, .. } = &mut self {
            denials = std::mem::take(&mut failure.denials);
            transient = !failure.lasts;
            // Denials are told after the message, and advice that would stand before them leads astray.
            if !denials.is_empty() {
                failure.advice = None;
            }
        }
        ToolError {
            denials,
            transient,
            ..ToolError::new(self.to_string())
        }
    }
}

/// What somebody who needs the server has to do.
enum SlotStep {
    Use(ServerUse),
    WaitForStart(watch::Receiver<Option<ServerStartOutcome>>),
    WaitForEnd(CancellationToken),
    Pause(Duration),
}

impl ServerSlot {
    /// What there is of this server: nothing. With another `identity` it would be another one.
    pub(super) fn new(server: Arc<Server>, identity: String) -> Self {
        Self {
            identity,
            inner: Mutex::new(ServerSlotState {
                server,
                phase: ServerPhase::Down,
                backoff: Backoff::default(),
                failure: None,
                untold: None,
                tools: None,
            }),
            calls: AtomicU64::new(0),
            retired: CancellationToken::new(),
            ending: CancellationToken::new(),
        }
    }

    /// What it was made for.
    pub(super) fn identity(&self) -> &str {
        &self.identity
    }

    /// The entry.
    pub(super) fn server(&self) -> Arc<Server> {
        Arc::clone(&self.inner().server)
    }

    /// Takes over what has changed of an entry that is still the same server: its times, say.
    pub(super) fn set_server(&self, server: Arc<Server>) {
        self.inner().server = server;
    }

    /// The server, up, for somebody who uses it until they drop the visit. It is started if it has to be.
    ///
    /// # Errors
    ///
    /// If it cannot be used. One that failed a moment ago is waited for; one that goes on failing is not.
    pub(super) async fn ready(
        self: &Arc<Self>,
        servers: &Servers,
    ) -> Result<ServerUse, Unavailable> {
        // Each round is a start or an end, and after a few that failed the pause is too long to wait for.
        loop {
            match self.next(servers)? {
                SlotStep::Use(visit) => return Ok(visit),
                SlotStep::WaitForEnd(end) => end.cancelled().await,
                SlotStep::Pause(pause) => tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    () = self.retired.cancelled() => {}
                },
                SlotStep::WaitForStart(mut started) => {
                    let outcome = match started.wait_for(Option::is_some).await {
                        Ok(outcome) => outcome.clone(),
                        Err(_) => None,
                    };
                    match outcome {
                        Some(outcome) => outcome?,
                        None => self.lost(&started),
                    }
                }
            }
        }
    }

    /// The server, if it is up: at once, and without starting it.
    pub(super) fn is_up(&self) -> bool {
        matches!(&self.inner().phase, ServerPhase::Up(live) if live.is_open())
    }

    fn next(self: &Arc<Self>, servers: &Servers) -> Result<SlotStep, Unavailable> {
        let mut inner = self.inner();
        match &inner.phase {
            ServerPhase::Up(live) if live.is_open() => {
                return Ok(SlotStep::Use(live.enter()));
            }
            ServerPhase::Up(live) => return Ok(SlotStep::WaitForEnd(live.buried().clone())),
            ServerPhase::Starting(started) => return Ok(SlotStep::WaitForStart(started.clone())),
            ServerPhase::Down => {}
        }
        let name = &inner.server.name;
        let engine = servers.engine().filter(|_| !self.retired.is_cancelled());
        let engine = engine.ok_or_else(|| Unavailable::Gone(name.clone()))?;
        let pause = inner.backoff.left(Instant::now());
        if pause > PATIENCE {
            return Err(Unavailable::Failed {
                server: name.clone(),
                failure: Box::new(inner.failure.clone().unwrap_or_default()),
                retry_in: pause,
            });
        }
        if !pause.is_zero() {
            return Ok(SlotStep::Pause(pause));
        }
        let runtime = servers.runtime().map_err(Unavailable::Unable)?;
        let (tell, started) = watch::channel(None);
        inner.phase = ServerPhase::Starting(started.clone());
        let starting = start(Arc::clone(&servers.common), Arc::clone(self), engine, tell);
        // A task: whoever asked for the start may give up, and others wait for it, too.
        runtime.spawn(starting);
        Ok(SlotStep::WaitForStart(started))
    }

    /// Notes how a start came out.
    fn started(self: &Arc<Self>, opened: Result<Arc<LiveServer>, NotOpened>) -> ServerStartOutcome {
        let mut inner = self.inner();
        let server = inner.server.name.clone();
        match opened {
            Ok(live) => {
                inner.tools = Some(live.listed().definitions.len());
                inner.failure = None;
                inner.phase = ServerPhase::Up(live);
                Ok(())
            }
            Err(not) => {
                inner.phase = ServerPhase::Down;
                Err(match not {
                    NotOpened::NotAccepted => Unavailable::NotAccepted(server),
                    NotOpened::Retired => Unavailable::Gone(server),
                    NotOpened::Failed(failure) => {
                        inner.backoff.failed(Duration::ZERO, Instant::now());
                        inner.failure = Some(failure.clone());
                        Unavailable::Failed {
                            server,
                            failure: Box::new(failure),
                            retry_in: Duration::ZERO,
                        }
                    }
                })
            }
        }
    }

    /// Notes that a start has ended without saying how, which only a mistake of ours can bring about.
    fn lost(&self, started: &watch::Receiver<Option<ServerStartOutcome>>) {
        let mut inner = self.inner();
        if matches!(&inner.phase, ServerPhase::Starting(current) if current.same_channel(started)) {
            inner.phase = ServerPhase::Down;
            inner.backoff.failed(Duration::ZERO, Instant::now());
            inner.failure = Some(ServerFailure {
                why: "starting it failed by a bug in jig".to_owned(),
                ..ServerFailure::default()
            });
        }
    }

    /// Lets nobody new use a server that is about to be stopped.
    pub(super) fn close(&self, live: &LiveServer) {
        let _inner = self.inner();
        live.close();
    }

    /// Whether the server that nobody has called for so long is to be stopped: from then on it is not open.
    pub(super) fn closes_idle(&self, live: &LiveServer, idle: Duration) -> bool {
        let _inner = self.inner();
        live.close_if_idle(idle)
    }

    /// Notes that a server has ended. `failure` says why if it was not us who wanted that, and `is_told` whether
    /// some call tells of it.
    pub(super) fn ended(
        &self,
        live: &Arc<LiveServer>,
        failure: Option<ServerFailure>,
        is_told: bool,
    ) {
        let mut inner = self.inner();
        if matches!(&inner.phase, ServerPhase::Up(current) if Arc::ptr_eq(current, live)) {
            inner.phase = ServerPhase::Down;
        }
        if let Some(failure) = failure {
            inner.backoff.failed(live.lived(), Instant::now());
            if !is_told {
                let told = error_texts::restarted(&inner.server.name, &failure.why);
                inner.untold = Some(told);
            }
            inner.failure = Some(failure);
        }
    }

    /// Counts a call.
    pub(super) fn called(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes how many tools the server has.
    pub(super) fn listed(&self, tools: usize) {
        self.inner().tools = Some(tools);
    }

    /// What the next result has to tell: that the server was restarted, and why. It is told once.
    pub(super) fn take_untold(&self) -> Option<String> {
        self.inner().untold.take()
    }

    /// Starts nothing any more, and stops the server when its calls are over.
    pub(super) fn retire(&self) {
        self.retired.cancel();
    }

    /// The same, and stops the server now. What is returned is cancelled when that is done.
    pub(super) fn end(&self) -> Option<CancellationToken> {
        self.retired.cancel();
        self.ending.cancel();
        match &self.inner().phase {
            ServerPhase::Up(live) => Some(live.buried().clone()),
            // A start that is given up kills what it has started.
            ServerPhase::Starting(_) | ServerPhase::Down => None,
        }
    }

    pub(super) fn status(&self, ledger: &Ledger) -> ServerStatus {
        let server = self.server();
        let waits = !ledger.may_start(&server);
        let held = match waits {
            true => 0,
            false => ledger.all_held(&server).len(),
        };
        let inner = self.inner();
        let mut status = ServerStatus {
            held,
            tools: inner.tools,
            calls: self.calls.load(Ordering::Relaxed),
            ..ServerStatus::off(&server.name)
        };
        status.state = match (&inner.phase, &inner.failure) {
            (ServerPhase::Up(live), _) if live.is_open() => {
                status.pid = live.pid();
                status.since = Some(live.since());
                ServerState::Running
            }
            (ServerPhase::Starting(_), _) => ServerState::Starting,
            _ if waits => ServerState::Waits,
            (_, Some(failure)) => ServerState::Failed {
                why: failure.to_string(),
                retry_in: inner.backoff.left(Instant::now()),
            },
            _ => ServerState::Idle,
        };
        status
    }

    fn inner(&self) -> MutexGuard<'_, ServerSlotState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts a server, and looks after it until it has ended.
async fn start(
    common: Arc<ServersCommon>,
    slot: Arc<ServerSlot>,
    engine: Arc<Engine>,
    tell: watch::Sender<Option<ServerStartOutcome>>,
) {
    common.tell_change();
    let server = slot.server();
    let opened = tokio::select! {
        opened = running_server::open(&common, &engine, &server) => opened,
        () = slot.retired.cancelled() => Err(NotOpened::Retired),
    };
    let up = opened.as_ref().ok().map(Arc::clone);
    let outcome = slot.started(opened);
    if let Err(unavailable @ Unavailable::Failed { .. }) = &outcome {
        (common.report)(&unavailable.to_string());
    }
    // Before anybody uses it: what they see has been told.
    common.tell_change();
    tell.send_replace(Some(outcome));
    if let Some(live) = up {
        running_server::look_after(&common, &slot, live).await;
    }
}

/// How long a call waits for a server that failed and must not be started yet. After a first failure, or two, the
/// next call just takes longer; after more of them it is told at once why there is no server.
const PATIENCE: Duration = Duration::from_millis(1200);
