//! [`CallProgress`]: what a running tool says, as notifications that a client can follow.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::time::{Instant, sleep_until};

/// Tells a client how its call goes: only if it wants to know, not too often, and always the latest.
pub(crate) struct CallProgress {
    token: Option<ProgressToken>,
    peer: Peer<RoleServer>,
    pace: ProgressPace,
}

/// When what is told.
#[derive(Debug, Default)]
struct ProgressPace {
    /// What is to be told next.
    latest: Option<Arc<str>>,
    /// What was noted last.
    noted: Option<Arc<str>>,
    /// Not before then.
    not_before: Option<Instant>,
    /// How many were told.
    count: u64,
}

impl CallProgress {
    /// For the request with this token, if it has one.
    pub(crate) fn new(token: Option<ProgressToken>, peer: Peer<RoleServer>) -> Self {
        Self {
            token,
            peer,
            pace: ProgressPace::default(),
        }
    }

    /// Notes what is to be told. What was noted before and not told yet is not told any more.
    pub(crate) fn note(&mut self, text: Arc<str>) {
        if self.token.is_some() {
            self.pace.note(text);
        }
    }

    /// Waits until there is something to tell and the time has come for it.
    pub(crate) async fn due(&self) {
        match self.pace.due() {
            Some(Some(at)) => sleep_until(at).await,
            Some(None) => {}
            None => std::future::pending().await,
        }
    }

    /// Tells it.
    pub(crate) async fn tell(&mut self) {
        let Some(token) = &self.token else { return };
        let Some((count, text)) = self.pace.take(Instant::now()) else {
            return;
        };
        let told = ProgressNotificationParam::new(token.clone(), count as f64);
        // A client that is gone is noticed elsewhere.
        let _ = self.peer.notify_progress(told.with_message(&*text)).await;
    }
}

impl ProgressPace {
    fn note(&mut self, text: Arc<str>) {
        // A call that changes otherwise still has the same to say.
        let is_old = self
            .noted
            .as_ref()
            .is_some_and(|old| Arc::ptr_eq(old, &text));
        if !is_old {
            self.noted = Some(Arc::clone(&text));
            self.latest = Some(text);
        }
    }

    /// When the next is told: not at all, now, or at this time.
    fn due(&self) -> Option<Option<Instant>> {
        self.latest.as_ref().map(|_| self.not_before)
    }

    fn take(&mut self, now: Instant) -> Option<(u64, Arc<str>)> {
        let text = self.latest.take()?;
        self.count += 1;
        self.not_before = Some(now + INTERVAL);
        Some((self.count, text))
    }
}

/// At most ten in a second: a tool that prints without end must not flood its client.
const INTERVAL: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests;
