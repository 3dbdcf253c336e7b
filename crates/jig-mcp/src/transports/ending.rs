//! What all transports have in common: how a server is told to end, and what is done beside serving.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use jig_broker::{CancelHook, CancelToken};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::caller;
use crate::shared::SharedServer;

/// How a server is told to end.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ServerStop {
    /// Ends it: turns end, tools are asked to end and killed if they do not in time.
    pub gently: CancelToken,
    /// Ends the waiting for that: what still runs ends with the process.
    pub at_once: CancelToken,
}

/// Why a server could not serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// No runtime or thread to serve on.
    #[error("cannot start to serve")]
    Start(#[source] io::Error),
    /// The address cannot be listened at.
    #[error("cannot listen at `{address}`")]
    Listen {
        /// The address.
        address: String,
        /// Why.
        source: io::Error,
    },
    /// Whoever can connect would be served, and that would not be this machine alone.
    #[error("without tokens, nothing is served at `{address}`: it can be reached from elsewhere")]
    Unguarded {
        /// The address.
        address: String,
    },
    /// The client did something that left no way to go on.
    #[error("the connection failed: {0}")]
    Connection(String),
}

/// The gentle end of a server, as tasks wait for it.
pub(crate) struct Stopping {
    pub(crate) token: CancellationToken,
    _hook: CancelHook,
}

impl ServerStop {
    /// Ends a server as these tokens say.
    pub fn new(gently: CancelToken, at_once: CancelToken) -> Self {
        Self { gently, at_once }
    }

    pub(crate) fn stopping(&self) -> Stopping {
        let token = CancellationToken::new();
        let hook = {
            let token = token.clone();
            self.gently.on_cancel(move || token.cancel())
        };
        Stopping { token, _hook: hook }
    }
}

/// Ends the turns of callers that are idle for too long, for as long as it is polled.
pub(crate) async fn end_idle_turns(shared: Arc<SharedServer>) {
    let mut ticks = tokio::time::interval(LOOK_FOR_IDLE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let limit = shared.current().config.mcp.idle;
        let left = shared.callers.leave_idle(limit, &shared.questions);
        if left.is_empty() {
            continue;
        }
        let shared = Arc::clone(&shared);
        // Their tools may take their time; others are served meanwhile.
        tokio::task::spawn_blocking(move || {
            caller::end(&shared, &left, &CancelToken::new());
        });
    }
}

/// Ends all turns, and writes what the log still holds back. Blocks until that is done.
pub(crate) fn end_all_turns(shared: &SharedServer, stop: &ServerStop) {
    let left = shared.callers.leave_all(&shared.questions);
    caller::end(shared, &left, &stop.at_once);
    if let Some(servers) = &shared.servers {
        servers.stop_all();
    }
    // A log that cannot be written was told of when that was first noticed.
    let _ = shared.current().engine.audit.flush();
}

/// How often idle callers are looked for.
const LOOK_FOR_IDLE: Duration = Duration::from_secs(1);
