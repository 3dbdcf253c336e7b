//! The station's own process: it listens, serves each client on a thread, and goes when it is not needed.

use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use jig_engine::Turn;
use jig_project::{CommandEnvironment, leftovers::JOURNAL, open_files};
use jig_runtime::{HandleLimits, Handles};
use jig_sandbox::{Interest, Waker};
use rustix::fs::{Mode, OFlags};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::connection;
use super::protocol::{StationFailure, StationReply, send};
use super::socket_directory::{StationKey, StationPlace};
use super::tool_servers::SpawnedServers;

/// What all connections share.
#[derive(Debug)]
pub(super) struct Station {
    /// The workspace.
    pub(super) root: Utf8PathBuf,
    /// What a client has to show.
    pub(super) key: StationKey,
    /// What runs.
    pub(super) handles: Arc<Handles>,
    /// The MCP servers that spawned tools are on.
    pub(super) behind: SpawnedServers,
    /// What runs, and what a person allowed or answered for as long as the station lives.
    pub(super) turn: Turn,
    connections: AtomicUsize,
    is_over: AtomicBool,
    waker: Waker,
}

impl Station {
    /// Ends the station, with all that it runs.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        self.waker.wake();
    }

    /// Whether it is about to go.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    /// Whether anybody may still need it: a client, a tool that runs, a result that nobody has fetched.
    fn need(&self) -> StationNeed {
        let counts = self.handles.counts();
        if counts.live > 0 || self.connections.load(Ordering::SeqCst) > 0 {
            StationNeed::Now
        } else if counts.stopped > 0 {
            StationNeed::For(RESULTS_KEPT)
        } else {
            StationNeed::For(LINGER)
        }
    }
}

enum StationNeed {
    Now,
    /// Not now, and not any more if that stays so for this long.
    For(Duration),
}

/// Serves the workspace at `root` until the station is not needed any more.
///
/// Whoever started it reads what it prints as errors until that ends: then it serves, or has failed.
pub fn run(root: &Utf8Path) -> anyhow::Result<()> {
    // A session of its own: a closed terminal or its ctrl-C is not for the station. It fails only where
    // the process leads a session already.
    let _ = rustix::process::setsid();
    let env = CommandEnvironment::of_this_process();
    let Some(claim) = StationPlace::make(root, &env)?.claim(PATIENCE)? else {
        return Ok(());
    };
    open_files::raise_limit();
    let (listener, key) = claim.listen()?;
    listener
        .set_nonblocking(true)
        .context("cannot listen without waiting")?;
    let handles = match env.state() {
        Some(state) => {
            let directory = state.join(JOURNAL);
            Handles::with_journal(HandleLimits::default(), directory.as_std_path())
                .with_context(|| format!("cannot use the folder `{directory}`"))?
        }
        None => Handles::default(),
    };
    let handles = Arc::new(handles);
    let station = Arc::new(Station {
        root: root.to_owned(),
        key,
        turn: Turn::new(Arc::clone(&handles)),
        handles,
        behind: SpawnedServers::default(),
        connections: AtomicUsize::new(0),
        is_over: AtomicBool::new(false),
        waker: Waker::new().context("cannot be woken")?,
    });
    end_on_signals(&station)?;
    let_go_of_streams()?;

    let mut unneeded_since = Instant::now();
    while !station.is_over() {
        let waits = [
            Interest::Readable(listener.as_fd()),
            Interest::Woken(&station.waker),
        ];
        jig_sandbox::poll(&waits, Some(BETWEEN_LOOKS)).context("cannot wait for clients")?;
        station.waker.clear();
        while let Ok((stream, _)) = listener.accept() {
            receive(&station, stream);
        }
        station.behind.tidy();
        match station.need() {
            StationNeed::Now => unneeded_since = Instant::now(),
            StationNeed::For(time) if unneeded_since.elapsed() > time => break,
            StationNeed::For(_) => {}
        }
    }
    // From here on clients find nobody, and start the next station, which waits for the claim. Those that
    // have connected and were not received yet notice that nobody answers.
    station.end();
    claim.close();
    drop(listener);
    station.handles.end(GRACE);
    station.behind.end();
    // What was asked before gets its answer.
    let deadline = Instant::now() + FAREWELL;
    while station.connections.load(Ordering::SeqCst) > 0 && Instant::now() < deadline {
        station.waker.clear();
        let left = deadline.saturating_duration_since(Instant::now());
        jig_sandbox::poll(&[Interest::Woken(&station.waker)], Some(left))
            .context("cannot wait for clients")?;
    }
    Ok(())
}

/// Serves a client on a thread of its own.
fn receive(station: &Arc<Station>, stream: UnixStream) {
    // What was accepted may have taken that over.
    if stream.set_nonblocking(false).is_err() {
        return;
    }
    let visit = ServedClient::new(station);
    if visit.number > MOST_CONNECTIONS {
        let _ = stream.set_write_timeout(Some(Duration::from_millis(100)));
        let busy = StationFailure {
            message: "the station serves too many clients already".to_owned(),
            causes: Vec::new(),
        };
        let _ = send(&stream, &StationReply::Error(busy));
        return;
    }
    // Without a thread the client finds the connection closed, and may try again.
    let _ = thread::Builder::new()
        .name("jig-client".to_owned())
        .spawn(move || connection::serve(&visit.station, &stream));
}

/// Counts a client for as long as it is served.
struct ServedClient {
    station: Arc<Station>,
    number: usize,
}

impl ServedClient {
    fn new(station: &Arc<Station>) -> Self {
        Self {
            station: Arc::clone(station),
            number: station.connections.fetch_add(1, Ordering::SeqCst) + 1,
        }
    }
}

impl Drop for ServedClient {
    fn drop(&mut self) {
        self.station.connections.fetch_sub(1, Ordering::SeqCst);
        // It may have been the last.
        self.station.waker.wake();
    }
}

fn end_on_signals(station: &Arc<Station>) -> anyhow::Result<()> {
    let failed = "cannot listen for signals";
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP]).context(failed)?;
    let station = Arc::clone(station);
    thread::Builder::new()
        .name("jig-signals".to_owned())
        .spawn(move || {
            for _ in signals.forever() {
                station.end();
            }
        })
        .context(failed)?;
    Ok(())
}

/// Tells whoever started the station that it serves, and keeps nothing of theirs open.
fn let_go_of_streams() -> anyhow::Result<()> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    let nothing = rustix::fs::open("/dev/null", flags, Mode::empty());
    let nothing = nothing.context("cannot open /dev/null")?;
    let give = || -> io::Result<()> {
        rustix::stdio::dup2_stdin(&nothing)?;
        rustix::stdio::dup2_stdout(&nothing)?;
        rustix::stdio::dup2_stderr(&nothing)?;
        Ok(())
    };
    give().context("cannot let go of the standard streams")
}

/// How long a station without anything to do stays, so that the next spawn finds it.
const LINGER: Duration = Duration::from_secs(5);

/// How long the results of stopped tools are kept when nothing else is left.
const RESULTS_KEPT: Duration = Duration::from_secs(3600);

/// Between two looks at whether the station is needed.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// From asking what runs to end to killing it.
const GRACE: Duration = Duration::from_secs(5);

/// How long clients have to take their answers when the station goes.
const FAREWELL: Duration = Duration::from_secs(2);

/// How long to wait for a station that is about to go: as long as that may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Clients at once. Each has a thread; without a limit, one that connects in a loop takes all memory.
const MOST_CONNECTIONS: usize = 256;
