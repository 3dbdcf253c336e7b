//! [`Sessions`]: the sessions of the protocols before 2026-07-28, each held to the turn in which it was opened.
//!
//! rmcp keeps them by an id that is hard to guess, and asks nobody whose it is. Whoever learned an id, from a log
//! or over a shoulder, would otherwise use the session of another caller with a token of its own. Nor does rmcp
//! count them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use http::HeaderMap;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager};

use crate::caller::Caller;
use crate::shared::SharedServer;

/// The sessions of a server.
pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    owners: Mutex<HashMap<SessionId, SessionOwner>>,
    /// How many sessions a caller may have: as many as all callers may have connections. One token may be that of a
    /// whole fleet of agents.
    most: usize,
}

/// Whose session it is.
struct SessionOwner {
    caller: Weak<Caller>,
    used: Instant,
}

impl Sessions {
    pub(super) fn new(most: usize) -> Self {
        let mut manager = LocalSessionManager::default();
        // A call may be silent for longer than any limit. Sessions end with the turns of their callers.
        manager.session_config.keep_alive = None;
        // All answers of the last minute would otherwise be held for clients that may want them again.
        manager.session_config.completed_cache_ttl = KEPT;
        Self {
            manager: Arc::new(manager),
            owners: Mutex::default(),
            most,
        }
    }

    /// What rmcp knows of them.
    pub(super) fn manager(&self) -> &Arc<LocalSessionManager> {
        &self.manager
    }

    /// Whether a request of this caller may go on: it names no session, or none of another caller or turn.
    pub(super) fn allow(&self, headers: &HeaderMap, caller: &Arc<Caller>) -> bool {
        let Some(id) = named(headers) else {
            return true;
        };
        match self.owners().get_mut(id) {
            Some(owner) if owner.is(caller) => {
                owner.used = Instant::now();
                true
            }
            Some(_) => false,
            // rmcp does not know it either, and says so.
            None => true,
        }
    }

    /// Notes the session that an answer opens. If its caller has too many, the one goes that was not used for
    /// longest: a client that opens one after the other hurts nobody but itself.
    pub(super) async fn note(&self, answer: &HeaderMap, caller: &Arc<Caller>) {
        let Some(id) = named(answer) else {
            return;
        };
        let surplus = {
            let mut owners = self.owners();
            if owners.contains_key(id) {
                return;
            }
            let own = owners.iter().filter(|(_, owner)| owner.is(caller));
            let mut own: Vec<_> = own
                .map(|(id, owner)| (owner.used, Arc::clone(id)))
                .collect();
            own.sort();
            let surplus = (own.len() + 1).saturating_sub(self.most);
            own.truncate(surplus);
            for (_, id) in &own {
                owners.remove(id);
            }
            let owner = SessionOwner {
                caller: Arc::downgrade(caller),
                used: Instant::now(),
            };
            owners.insert(id.into(), owner);
            own
        };
        for (_, id) in surplus {
            let _ = self.manager.close_session(&id).await;
        }
    }

    /// Ends the sessions of callers whose turn has ended, for as long as it is polled.
    pub(super) async fn end_with_turns(self: Arc<Self>, shared: Arc<SharedServer>) {
        let mut ticks = tokio::time::interval(LOOK_AGAIN);
        loop {
            ticks.tick().await;
            let open: Vec<SessionId> = self.manager.sessions.read().await.keys().cloned().collect();
            let ended: Vec<SessionId> = {
                let mut owners = self.owners();
                // Those that their clients have closed.
                owners.retain(|id, _| open.contains(id));
                let ended = owners.extract_if(|_, owner| !owner.is_there(&shared));
                ended.map(|(id, _)| id).collect()
            };
            for id in ended {
                let _ = self.manager.close_session(&id).await;
            }
        }
    }

    fn owners(&self) -> MutexGuard<'_, HashMap<SessionId, SessionOwner>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionOwner {
    fn is(&self, caller: &Arc<Caller>) -> bool {
        std::ptr::eq(self.caller.as_ptr(), Arc::as_ptr(caller))
    }

    fn is_there(&self, shared: &SharedServer) -> bool {
        let caller = self.caller.upgrade();
        caller.is_some_and(|caller| shared.callers.has(&caller))
    }
}

fn named(headers: &HeaderMap) -> Option<&str> {
    headers.get("mcp-session-id")?.to_str().ok()
}

/// How long an answer is kept for a client whose connection broke: it comes again after three seconds.
const KEPT: Duration = Duration::from_secs(10);

/// How often ended turns are looked for.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
