//! News for clients: what they have listed has changed, or a resource that they watch.
//!
//! A client of the older versions hears of lists by being connected, and of resources that it subscribed to
//! ([`ClientNotifier`]). One of the newer asks for both with `subscriptions/listen` ([`listen`]).

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, SubscriptionContext, SubscriptionSink};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::caller::Caller;
use crate::methods::resources;
use crate::shared::SharedServer;

/// What one connection of an older client hears. It ends with the last clone.
#[derive(Clone, Default)]
pub(crate) struct ClientNotifier {
    inner: Arc<NewsState>,
}

struct NewsState {
    watched: Arc<SubscribedUris>,
    has_begun: AtomicBool,
    end: CancellationToken,
    _guard: DropGuard,
}

/// The URIs that a client subscribed to.
type SubscribedUris = Mutex<BTreeSet<String>>;

impl Default for NewsState {
    fn default() -> Self {
        let end = CancellationToken::new();
        Self {
            watched: Arc::default(),
            has_begun: AtomicBool::new(false),
            end: end.clone(),
            _guard: end.drop_guard(),
        }
    }
}

impl ClientNotifier {
    /// Tells the peer of changes from now on, once it has said that it is there.
    pub(crate) fn begin(
        &self,
        shared: &Arc<SharedServer>,
        caller: &Arc<Caller>,
        peer: Peer<RoleServer>,
    ) {
        if self.inner.has_begun.swap(true, Ordering::Relaxed) {
            return;
        }
        let watched = Arc::clone(&self.inner.watched);
        let sources = ChangeSources::of(shared, caller);
        let end = self.inner.end.clone();
        tokio::spawn(async move {
            let to = NotifyTarget::Peer { peer, watched };
            tokio::select! {
                () = end.cancelled() => {}
                () = tell(&to, sources) => {}
            }
        });
    }

    /// Tells the peer of changes of a resource.
    ///
    /// # Errors
    ///
    /// If there is nothing at the URI that can change, or too much is watched already.
    pub(crate) fn subscribe(&self, shared: &SharedServer, uri: &str) -> Result<(), ErrorData> {
        if !resources::can_change(shared, uri) {
            return Err(resources::not_found(uri));
        }
        let mut watched = self.watched();
        if watched.len() >= MAX_WATCHED && !watched.contains(uri) {
            return Err(ErrorData::invalid_request(
                "too many resources are watched",
                None,
            ));
        }
        watched.insert(uri.to_owned());
        Ok(())
    }

    /// No longer tells the peer of changes of a resource.
    pub(crate) fn unsubscribe(&self, uri: &str) {
        self.watched().remove(uri);
    }

    fn watched(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.inner
            .watched
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// What of the news that a client wants it can have.
pub(crate) fn accepted(shared: &SharedServer, wanted: &SubscriptionFilter) -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::new();
    filter.tools_list_changed = wanted.tools_list_changed;
    filter.prompts_list_changed = wanted.prompts_list_changed;
    filter.resources_list_changed = wanted.resources_list_changed;
    filter.resource_subscriptions = wanted.resource_subscriptions.as_ref().map(|uris| {
        let known = uris.iter().filter(|uri| resources::can_change(shared, uri));
        known.take(MAX_WATCHED).cloned().collect()
    });
    filter
}

/// Tells a client of what it asked for, until it no longer listens.
pub(crate) async fn listen(
    shared: &Arc<SharedServer>,
    caller: &Arc<Caller>,
    context: SubscriptionContext,
) -> Result<(), ErrorData> {
    let to = NotifyTarget::Subscription {
        sink: context.sink().clone(),
        filter: context.accepted().clone(),
    };
    tokio::select! {
        () = context.cancelled() => {}
        () = tell(&to, ChangeSources::of(shared, caller)) => {}
    }
    Ok(())
}

/// Where news come from.
struct ChangeSources {
    /// Every configuration that comes into force.
    generations: watch::Receiver<u64>,
    /// Every change that is held, refused, or does not load.
    held: watch::Receiver<u64>,
    /// Every line of the audit log.
    audit: watch::Receiver<u64>,
}

impl ChangeSources {
    fn of(shared: &SharedServer, caller: &Caller) -> Self {
        Self {
            generations: shared.changes(),
            held: shared.reload.news(),
            audit: caller.tail.changes(),
        }
    }
}

/// Tells of changes until the client is gone, or the server is.
async fn tell(to: &NotifyTarget, mut from: ChangeSources) {
    let mut quiet_until = Instant::now();
    loop {
        let audit = async {
            sleep_until(quiet_until).await;
            from.audit.changed().await
        };
        let sent = tokio::select! {
            changed = from.generations.changed() => match changed {
                Ok(()) => to.new_generation().await,
                Err(_) => return,
            },
            changed = from.held.changed() => match changed {
                Ok(()) => to.updated(resources::CONFIG).await,
                Err(_) => return,
            },
            changed = audit => match changed {
                Ok(()) => {
                    quiet_until = Instant::now() + QUIET;
                    to.updated(resources::AUDIT).await
                }
                Err(_) => return,
            },
            () = tokio::time::sleep(LOOK) => to.is_there(),
        };
        if sent.is_none() {
            return;
        }
    }
}

/// Who is told. Every method returns `None` once nobody is there.
enum NotifyTarget {
    Peer {
        peer: Peer<RoleServer>,
        watched: Arc<SubscribedUris>,
    },
    Subscription {
        sink: SubscriptionSink,
        filter: SubscriptionFilter,
    },
}

impl NotifyTarget {
    /// All lists may have changed, and so may every resource that the configuration makes.
    async fn new_generation(&self) -> Option<()> {
        match self {
            Self::Peer { peer, .. } => {
                peer.notify_tool_list_changed().await.ok()?;
                peer.notify_prompt_list_changed().await.ok()?;
                peer.notify_resource_list_changed().await.ok()?;
            }
            Self::Subscription { sink, filter } => {
                if filter.tools_list_changed == Some(true) {
                    sink.notify_tool_list_changed().await.ok()?;
                }
                if filter.prompts_list_changed == Some(true) {
                    sink.notify_prompt_list_changed().await.ok()?;
                }
                if filter.resources_list_changed == Some(true) {
                    sink.notify_resource_list_changed().await.ok()?;
                }
            }
        }
        for uri in self.watched() {
            if uri != resources::AUDIT {
                self.updated(&uri).await?;
            }
        }
        Some(())
    }

    /// A resource has changed: tells it if it is watched.
    async fn updated(&self, uri: &str) -> Option<()> {
        if !self.watches(uri) {
            return self.is_there();
        }
        match self {
            Self::Peer { peer, .. } => {
                let about = ResourceUpdatedNotificationParam::new(uri);
                peer.notify_resource_updated(about).await.ok()
            }
            Self::Subscription { sink, .. } => sink.notify_resource_updated(uri).await.ok(),
        }
    }

    fn is_there(&self) -> Option<()> {
        match self {
            Self::Peer { peer, .. } => (!peer.is_transport_closed()).then_some(()),
            Self::Subscription { .. } => Some(()),
        }
    }

    fn watches(&self, uri: &str) -> bool {
        match self {
            Self::Peer { watched, .. } => {
                let watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
                watched.contains(uri)
            }
            Self::Subscription { filter, .. } => {
                let uris = filter.resource_subscriptions.as_ref();
                uris.is_some_and(|uris| uris.iter().any(|one| one == uri))
            }
        }
    }

    /// The resources that are watched.
    fn watched(&self) -> Vec<String> {
        match self {
            Self::Peer { watched, .. } => {
                let watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
                watched.iter().cloned().collect()
            }
            Self::Subscription { filter, .. } => {
                filter.resource_subscriptions.clone().unwrap_or_default()
            }
        }
    }
}

/// How long nothing is told of the audit log after something was: every request of a tool is a line.
const QUIET: Duration = Duration::from_secs(1);

/// How often it is looked whether a client is still there of whom nothing else tells it.
const LOOK: Duration = Duration::from_secs(30);

/// How many resources a client can watch.
const MAX_WATCHED: usize = 256;

#[cfg(test)]
mod tests;
