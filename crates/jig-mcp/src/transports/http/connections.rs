//! [`HttpConnections`]: how many there may be, and for how long one may hold its place without showing a token.
//!
//! Strangers and callers are counted apart. A stranger that opens connections and says nothing, or says it
//! byte by byte, loses the oldest of them to the next one that comes, so that a caller, who shows its token
//! with the first bytes, always gets in.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::HttpService;

/// The connections of a server.
pub(super) struct HttpConnections {
    /// Those that have shown no token yet, the oldest first.
    strangers: Mutex<VecDeque<Weak<ConnectionPlace>>>,
    callers: Arc<Semaphore>,
    /// Held by every connection: when all of it is there, there is none.
    all: Arc<Semaphore>,
    /// How many those are: all of both kinds, and some that are just being closed.
    most: usize,
    ending: CancellationToken,
}

/// One connection, as others see it.
pub(super) struct ConnectionPlace {
    /// Its place among the callers, once it has shown a token.
    place: Mutex<Option<OwnedSemaphorePermit>>,
    is_admitted: AtomicBool,
    connections: Arc<HttpConnections>,
    dropped: CancellationToken,
}

impl HttpConnections {
    /// At most `callers` of them are of callers.
    pub(super) fn new(callers: usize) -> Self {
        Self {
            strangers: Mutex::default(),
            callers: Arc::new(Semaphore::new(callers)),
            all: Arc::new(Semaphore::new(2 * (callers + MAX_STRANGERS))),
            most: 2 * (callers + MAX_STRANGERS),
            ending: CancellationToken::new(),
        }
    }

    /// Waits until all connections have ended, and ends those that have not in time.
    pub(super) async fn end(&self, limit: Duration) {
        self.ending.cancel();
        let all = self
            .all
            .acquire_many(u32::try_from(self.most).unwrap_or(u32::MAX));
        let _ = tokio::time::timeout(limit, all).await;
    }

    /// Takes in a stranger. If there are too many, the one that has been one for longest goes.
    fn welcome(self: &Arc<Self>) -> Arc<ConnectionPlace> {
        let watched = Arc::new(ConnectionPlace {
            place: Mutex::new(None),
            is_admitted: AtomicBool::new(false),
            connections: Arc::clone(self),
            dropped: CancellationToken::new(),
        });
        let mut strangers = self.strangers();
        strangers.retain(|one| {
            one.upgrade()
                .is_some_and(|one| !one.is_admitted.load(Ordering::Acquire))
        });
        while strangers.len() >= MAX_STRANGERS {
            if let Some(oldest) = strangers.pop_front().and_then(|one| one.upgrade()) {
                oldest.dropped.cancel();
            }
        }
        strangers.push_back(Arc::downgrade(&watched));
        watched
    }

    fn strangers(&self) -> MutexGuard<'_, VecDeque<Weak<ConnectionPlace>>> {
        self.strangers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionPlace {
    /// A request has shown a token. Whether there is a place for its caller.
    pub(super) fn admit(&self) -> bool {
        if self.is_admitted.load(Ordering::Acquire) {
            return true;
        }
        let Ok(permit) = Arc::clone(&self.connections.callers).try_acquire_owned() else {
            return false;
        };
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = Some(permit);
        self.is_admitted.store(true, Ordering::Release);
        true
    }
}

/// Takes connections until `stopping`, and serves each on a task of its own.
pub(super) async fn accept(
    listener: &TcpListener,
    connections: &Arc<HttpConnections>,
    service: &Arc<HttpService>,
    stopping: &CancellationToken,
) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stopping.cancelled() => return,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(_) => {
                // Out of descriptors, most likely: others have to be closed first.
                tokio::time::sleep(AFTER_FAILURE).await;
                continue;
            }
        };
        let watched = connections.welcome();
        let Ok(held) = Arc::clone(&connections.all).try_acquire_owned() else {
            continue;
        };
        let service = Arc::clone(service);
        tokio::spawn(async move {
            serve(stream, &service, &watched).await;
            drop(held);
        });
    }
}

async fn serve(stream: TcpStream, service: &Arc<HttpService>, watched: &Arc<ConnectionPlace>) {
    // Answers are small and whole: waiting for more to send only delays them.
    let _ = stream.set_nodelay(true);
    let answer = service_fn(|request| {
        let (service, watched) = (Arc::clone(service), Arc::clone(watched));
        async move { Ok::<_, Infallible>(service.answer(request, &watched).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(UNUSED)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), answer);
    let mut connection = std::pin::pin!(connection);
    let is_stranger = || !watched.is_admitted.load(Ordering::Acquire);
    let mut as_stranger = std::pin::pin!(tokio::time::sleep(STRANGER_TIME));
    let mut is_ending = false;
    loop {
        tokio::select! {
            // However it ended, it did.
            _ = connection.as_mut() => return,
            () = watched.dropped.cancelled(), if is_stranger() => return,
            () = as_stranger.as_mut(), if !as_stranger.is_elapsed() => {
                if is_stranger() {
                    return;
                }
            }
            () = watched.connections.ending.cancelled(), if !is_ending => {
                is_ending = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

/// How many connections of strangers there may be. Whoever can connect is one: a page in a browser, another
/// user of the machine.
const MAX_STRANGERS: usize = 128;

/// How long a connection may take until it shows a token.
const STRANGER_TIME: Duration = Duration::from_secs(10);

/// How long the connection of a caller may be unused.
const UNUSED: Duration = Duration::from_secs(90);

/// The most that the head of a request may hold. hyper answers a longer one itself.
const MAX_HEAD: usize = 64 * 1024;

/// How long nothing is accepted after that has failed.
const AFTER_FAILURE: Duration = Duration::from_millis(50);
