//! [`LiveServer`]: a server that runs, from the moment it has listed its tools until it has ended.

mod packages;
mod relisting;
mod start;

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use jig_broker::Scrubber;
use jig_engine::{ServerMark, ServerProcess};
use jig_proto::Denial;
use tokio::sync::Notify;
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::{sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::ServersCommon;
use super::error_texts;
use super::slot::{ServerFailure, ServerSlot};
use crate::client::connection::{ListedTools, Upstream};

use self::relisting::ToolListTimes;
pub(super) use self::start::{NotOpened, open};

/// A server that runs. Everybody who uses it shares it.
pub(crate) struct LiveServer {
    pub(crate) upstream: Arc<Upstream>,
    /// The connection has ended.
    closed: CancellationToken,
    behind: ServerPeer,
    listed: RwLock<Arc<ListedTools>>,
    since: Instant,
    started: SystemTime,
    /// How many use it now.
    visits: AtomicUsize,
    /// When it was last used, in milliseconds after `since`.
    last_used: AtomicU64,
    /// Nobody new may use it.
    closing: AtomicBool,
    /// Somebody waits for the last visit to end.
    is_awaited: AtomicBool,
    left: Notify,
    /// Why we ended the connection, if we did because it was of no use.
    condemned: OnceLock<String>,
    /// Why it died, once that is known.
    fate: OnceLock<ServerFailure>,
    fated: CancellationToken,
    /// It has ended, with all that it had started.
    buried: CancellationToken,
}

/// What is at the other end.
enum ServerPeer {
    /// A process of ours. Calls that were in flight when it died still ask it what it was refused.
    Program {
        process: Arc<ServerProcess>,
        /// It has ended.
        ended: CancellationToken,
    },
    /// Something elsewhere, and what removes what we told it in confidence from what it says.
    Remote(Option<Scrubber>),
}

/// Somebody uses a server: as long as this is there, it is not stopped for being idle.
pub(super) struct ServerUse(Arc<LiveServer>);

impl ServerUse {
    pub(super) fn live(&self) -> &Arc<LiveServer> {
        &self.0
    }
}

impl Drop for ServerUse {
    fn drop(&mut self) {
        let live = &self.0;
        live.touch();
        let was = live.visits.fetch_sub(1, Ordering::SeqCst);
        // Waking somebody for every call would cost more than the rest of all this.
        if was == 1 && live.is_awaited.load(Ordering::SeqCst) {
            live.left.notify_one();
        }
    }
}

impl LiveServer {
    fn new(upstream: Arc<Upstream>, behind: ServerPeer, listed: ListedTools) -> Arc<Self> {
        Arc::new(Self {
            closed: upstream.closed(),
            upstream,
            behind,
            listed: RwLock::new(Arc::new(listed)),
            since: Instant::now(),
            started: SystemTime::now(),
            visits: AtomicUsize::new(0),
            last_used: AtomicU64::new(0),
            closing: AtomicBool::new(false),
            is_awaited: AtomicBool::new(false),
            left: Notify::new(),
            condemned: OnceLock::new(),
            fate: OnceLock::new(),
            fated: CancellationToken::new(),
            buried: CancellationToken::new(),
        })
    }

    /// What it says about its tools.
    pub(crate) fn listed(&self) -> Arc<ListedTools> {
        let listed = self.listed.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&listed)
    }

    /// Whether it can be used.
    pub(super) fn is_open(&self) -> bool {
        !self.closing.load(Ordering::Acquire) && !self.closed.is_cancelled()
    }

    /// Cancelled when the connection has ended.
    pub(super) fn closed(&self) -> &CancellationToken {
        &self.closed
    }

    /// Begins to use it. The lock of its slot is held, so that it is not just being closed.
    pub(super) fn enter(self: &Arc<Self>) -> ServerUse {
        self.visits.fetch_add(1, Ordering::AcqRel);
        ServerUse(Arc::clone(self))
    }

    /// Whether somebody uses it.
    pub(super) fn is_visited(&self) -> bool {
        self.visits.load(Ordering::SeqCst) > 0
    }

    /// Lets nobody new use it. The lock of its slot is held, so that nobody is just about to.
    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::Release);
    }

    /// Closes it if nobody has used it for so long. The lock of its slot is held.
    pub(super) fn close_if_idle(&self, idle: Duration) -> bool {
        let is_idle = !self.is_visited() && self.unused() >= idle;
        if is_idle {
            self.close();
        }
        is_idle
    }

    /// Cancelled when it has ended, with all that it had started.
    pub(super) fn buried(&self) -> &CancellationToken {
        &self.buried
    }

    /// How long it has been there.
    pub(super) fn lived(&self) -> Duration {
        self.since.elapsed()
    }

    /// When it came up.
    pub(super) fn since(&self) -> SystemTime {
        self.started
    }

    /// Its process, if it is one of ours.
    pub(super) fn pid(&self) -> Option<u32> {
        match &self.behind {
            ServerPeer::Program { process, .. } => Some(process.pid()),
            ServerPeer::Remote(_) => None,
        }
    }

    /// Notes where it stands, for [`refused_since`](Self::refused_since).
    pub(super) fn mark(&self) -> Option<ServerMark> {
        match &self.behind {
            ServerPeer::Program { process, .. } => Some(process.mark()),
            ServerPeer::Remote(_) => None,
        }
    }

    /// What it was refused since then. With calls beside each other nobody knows whose it was: each is told.
    pub(super) fn refused_since(&self, mark: Option<&ServerMark>) -> Vec<Denial> {
        match (&self.behind, mark) {
            (ServerPeer::Program { process, .. }, Some(mark)) => process.refused_since(mark),
            _ => Vec::new(),
        }
    }

    /// What it was seen to be refused since then, of what a call that went well must tell: a server that is refused a
    /// host, or a place to write to, may put that in friendly words. To find it out can take a moment, and is done on
    /// another thread.
    pub(super) async fn refused_in_passing(&self, mark: Option<ServerMark>) -> Vec<Denial> {
        match (&self.behind, mark) {
            (ServerPeer::Program { process, .. }, Some(mark))
                if process.may_have_refused(&mark) =>
            {
                let process = Arc::clone(process);
                let told = spawn_blocking(move || process.told_since(&mark)).await;
                let mut told = told.unwrap_or_default();
                told.retain(is_telling);
                told.truncate(MOST_IN_PASSING);
                told
            }
            _ => Vec::new(),
        }
    }

    /// What it left since then where nothing may come into being, and what was moved away therefore. To look for it
    /// can take a while, and is done on another thread.
    ///
    /// # Errors
    ///
    /// If it could not be looked for.
    pub(super) async fn intruded_since(
        &self,
        mark: Option<ServerMark>,
    ) -> Result<Vec<Denial>, JoinError> {
        match (&self.behind, mark) {
            (ServerPeer::Program { process, .. }, Some(mark))
                if process.may_have_intruded(&mark) =>
            {
                let process = Arc::clone(process);
                spawn_blocking(move || process.intruded_since(&mark)).await
            }
            _ => Ok(Vec::new()),
        }
    }

    /// What a failure names, and the server was not given. What is `known` is left out.
    pub(super) fn refused_by_its_words(&self, said: &str, known: &[Denial]) -> Vec<Denial> {
        match &self.behind {
            ServerPeer::Program { process, .. } => process.refused_by_its_words(said, known),
            ServerPeer::Remote(_) => Vec::new(),
        }
    }

    /// The text without secrets that the server was given.
    pub(super) fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(scrubber) = self.scrubber() else {
            return Cow::Borrowed(text);
        };
        match scrubber.bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // Whole texts were replaced by text in it.
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// What takes secrets that the server was given out of its words.
    pub(super) fn scrubber(&self) -> Option<Scrubber> {
        match &self.behind {
            ServerPeer::Program { process, .. } => process.scrubber(),
            ServerPeer::Remote(scrubber) => scrubber.clone(),
        }
    }

    /// Ends the connection for this reason: it is of no use.
    pub(super) async fn condemn(&self, why: &str) {
        let _ = self
            .condemned
            .set(format!("it takes no more messages: {why}"));
        let _ = timeout(CLOSE, self.upstream.close()).await;
    }

    /// Why it died, for a call that was in flight. It takes a moment until that is known.
    pub(super) async fn fate(&self) -> ServerFailure {
        let _ = timeout(FATE_KNOWN, self.fated.cancelled()).await;
        self.fate.get().cloned().unwrap_or_else(|| {
            let why = self.upstream.why_closed();
            ServerFailure {
                why: self.words(&why.unwrap_or_else(|| "the connection ended".to_owned())),
                ..ServerFailure::default()
            }
        })
    }

    fn touch(&self) {
        let now = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_used.store(now, Ordering::Release);
    }

    /// For how long nobody has used it.
    fn unused(&self) -> Duration {
        let used = Duration::from_millis(self.last_used.load(Ordering::Acquire));
        self.since.elapsed().saturating_sub(used)
    }

    /// Words of the server, as a result may have them.
    fn words(&self, text: &str) -> String {
        error_texts::bounded(&self.scrub(text))
    }
}

/// Looks after a server until it has ended: stops it when it is idle or not wanted any more, asks it for its tools
/// again when they have changed, and finds out why it died.
pub(super) async fn look_after(
    common: &Arc<ServersCommon>,
    slot: &ServerSlot,
    live: Arc<LiveServer>,
) {
    let end = until_end(common, slot, &live).await;
    slot.close(&live);
    let failure = match end {
        ServerStopReason::Died => Some(autopsy(&live).await),
        ServerStopReason::Unwanted => None,
    };
    let grace = match failure {
        // It has had its chance to end.
        Some(_) => Duration::ZERO,
        None => GRACE,
    };
    // Calls that are in flight wait for this, and tell it.
    let is_told = live.is_visited();
    if let Some(failure) = &failure {
        let _ = live.fate.set(failure.clone());
        live.fated.cancel();
        let name = slot.server().name.clone();
        (common.report)(&format!(
            "the MCP server `{name}` has ended: {}",
            failure.why
        ));
    }
    let _ = timeout(CLOSE, live.upstream.close()).await;
    if let ServerPeer::Program { process, .. } = &live.behind {
        let process = Arc::clone(process);
        // If there is no thread for it, dropping the process kills it.
        let _ = spawn_blocking(move || process.stop(grace)).await;
    }
    slot.ended(&live, failure, is_told);
    live.buried.cancel();
    common.tell_change();
}

/// Why a server is not to run any longer.
enum ServerStopReason {
    Died,
    Unwanted,
}

async fn until_end(
    common: &Arc<ServersCommon>,
    slot: &ServerSlot,
    live: &Arc<LiveServer>,
) -> ServerStopReason {
    let closed = live.closed();
    let ended = live.behind.ended();
    let mut changed = live.upstream.changed();
    // What it said before it listed its tools is in the list, and what it said while it did may not be.
    let mut is_stale = changed.has_changed().unwrap_or(false);
    let mut lists = ToolListTimes::default();
    let mut list_at = tokio::time::Instant::now();
    loop {
        let idle = slot.server().idle;
        // It is looked at again when it could be idle at the earliest, and now and then while it is used.
        let look_in = match idle {
            Some(idle) if live.is_visited() => Some(idle.clamp(LOOK_AGAIN, LONGEST_LOOK)),
            Some(idle) => Some(idle.saturating_sub(live.unused())),
            None => None,
        };
        let look_in = look_in.unwrap_or(LONGEST_LOOK);
        tokio::select! {
            () = closed.cancelled() => return ServerStopReason::Died,
            () = ended.cancelled() => {
                // What it wrote before it ended is still read.
                let _ = timeout(LAST_BYTES, closed.cancelled()).await;
                return ServerStopReason::Died;
            }
            () = slot.ending.cancelled() => return ServerStopReason::Unwanted,
            () = slot.retired.cancelled() => {
                slot.close(live);
                return last_visit(slot, live).await;
            }
            () = sleep(look_in) => {
                if idle.is_some_and(|idle| slot.closes_idle(live, idle)) {
                    return ServerStopReason::Unwanted;
                }
            }
            said = changed.changed(), if !is_stale => {
                // Without a sender the connection is about to end.
                if said.is_err() {
                    closed.cancelled().await;
                    return ServerStopReason::Died;
                }
                is_stale = true;
            }
            () = sleep_until(list_at), if is_stale => {
                is_stale = false;
                // Its own word for a change in between is not lost: the receiver has not seen it.
                tokio::select! {
                    () = list_again(common, slot, live) => {}
                    // A server that never answers is stopped all the same.
                    () = slot.retired.cancelled() => {}
                }
                let now = tokio::time::Instant::now();
                list_at = now + lists.listed(now.into_std());
            }
        }
    }
}

/// Waits until nobody uses it, or it dies.
async fn last_visit(slot: &ServerSlot, live: &LiveServer) -> ServerStopReason {
    // Before it is looked who visits, in one order for all: one of the two sees the other.
    live.is_awaited.store(true, Ordering::SeqCst);
    while live.is_visited() {
        tokio::select! {
            () = live.left.notified() => {}
            () = slot.ending.cancelled() => return ServerStopReason::Unwanted,
            () = live.closed().cancelled() => return ServerStopReason::Died,
        }
    }
    ServerStopReason::Unwanted
}

async fn list_again(common: &Arc<ServersCommon>, slot: &ServerSlot, live: &Arc<LiveServer>) {
    let server = slot.server();
    let secrets = live.scrubber();
    match live.upstream.definitions(secrets.as_ref()).await {
        Ok(listed) => {
            slot.listed(listed.definitions.len());
            start::learn(common, &server, &listed, |text| live.words(text)).await;
            let mut place = live.listed.write().unwrap_or_else(PoisonError::into_inner);
            *place = Arc::new(listed);
            drop(place);
            common.tell_change();
        }
        Err(error) if !live.closed().is_cancelled() => {
            let why = live.words(&error.to_string());
            (common.report)(&format!(
                "the MCP server `{}` says that its tools have changed, but does not list them: {why}",
                server.name
            ));
        }
        // Its end is told.
        Err(_) => {}
    }
}

/// Finds out why a server died.
async fn autopsy(live: &LiveServer) -> ServerFailure {
    let condemned = live.condemned.get().cloned();
    let closed = condemned.or_else(|| live.upstream.why_closed());
    let ServerPeer::Program { process, ended } = &live.behind else {
        let why = closed.unwrap_or_else(|| "the connection ended".to_owned());
        return ServerFailure {
            why: live.words(&why),
            ..ServerFailure::default()
        };
    };
    if let Some(why) = closed.as_deref().filter(|why| *why != CLOSED_OUTPUT) {
        // It was us who closed the connection. How it ends after that says nothing.
        return ServerFailure {
            why: live.words(why),
            ..ServerFailure::default()
        };
    }
    // Its streams end a moment before its end is known, and how it ended says more.
    let _ = timeout(END_KNOWN, ended.cancelled()).await;
    let why = match process.ended() {
        Some(how) => format!("it {how}"),
        None => CLOSED_OUTPUT.to_owned(),
    };
    ServerFailure {
        why: error_texts::with_last_words(&live.scrub(&why), &process.last_words()),
        ..ServerFailure::default()
    }
}

impl ServerPeer {
    /// Cancelled when the process has ended.
    fn ended(&self) -> CancellationToken {
        match self {
            Self::Program { ended, .. } => ended.clone(),
            Self::Remote(_) => CancellationToken::new(),
        }
    }
}

/// What `upstream` says of a connection that the server ended, perhaps by ending itself.
const CLOSED_OUTPUT: &str = "it closed its standard output";

/// How long a server may take to end once its input is closed, and again once it was asked to, before it is killed.
/// Whoever runs one command waits for this with a server that does not look for the end of its input.
const GRACE: Duration = Duration::from_secs(1);

/// How long it is waited for a connection to be closed.
const CLOSE: Duration = Duration::from_secs(1);

/// How long it is waited for the end of a process whose streams have ended. One that only closed them lives on.
const END_KNOWN: Duration = Duration::from_secs(1);

/// How long it is waited for the end of the streams of a process that has ended.
const LAST_BYTES: Duration = Duration::from_millis(500);

/// How long a call that was in flight waits to be told why its server died. It takes longer than
/// [`END_KNOWN`] and [`LAST_BYTES`] together.
const FATE_KNOWN: Duration = Duration::from_secs(5);

/// How often it is looked whether a server that is in use has become idle.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
const LONGEST_LOOK: Duration = Duration::from_secs(10);

/// Whether a denial matters to a call that went well: programs try many files that they do without.
fn is_telling(denial: &Denial) -> bool {
    !denial.guessed
        && matches!(
            denial.operation.as_str(),
            "connect" | "look up" | "create" | "update" | "delete"
        )
}

/// How many denials a call that went well tells.
const MOST_IN_PASSING: usize = 5;
