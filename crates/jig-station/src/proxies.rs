//! [`Registration`] and [`list`]: how `jig ps` finds the proxies that run, and asks each for its tables.
//!
//! A proxy serves its tables where a station would serve a workspace (`place`): on a socket
//! in jig's state, which no tool sees, to processes of the same user that can read its key and are in no
//! sandbox. There is one question and one answer. Neither side trusts the other with its time or its memory:
//! a proxy that was stopped does not stop `jig ps`, and the other way round.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use jig_project::CommandEnvironment;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::client_threads::{Manner, Reception};
use super::connection::admitted;
use super::protocol::{MessageReader, StationHello, StationReply, VERSION, send};
use super::socket_directory::{StationKey, StationPlace, is_ours};

/// What a proxy tells of itself: an object with the lists `clients` and `files`, `quota`, and the words of
/// the `command`, if it runs one.
pub type ProxySnapshot = Arc<dyn Fn() -> Json + Send + Sync>;

/// As long as it is there, `jig ps` shows the proxy.
#[derive(Debug)]
#[must_use]
pub struct Registration(#[expect(dead_code, reason = "it serves as long as it is held")] Reception);

/// What all connections share.
struct ProxyRegistrationState {
    workspace: Utf8PathBuf,
    since: Instant,
    snapshot: ProxySnapshot,
}

/// What a proxy answers.
#[derive(Debug, Serialize, Deserialize)]
pub struct Proxy {
    /// The workspace that it works for.
    pub workspace: Utf8PathBuf,
    /// Its process.
    pub pid: u32,
    /// How long it has been there.
    pub age_ms: u64,
    /// What it said of itself, as far as that fits.
    #[serde(flatten)]
    pub tables: Map<String, Json>,
}

/// What came of asking all proxies.
#[derive(Debug, Default)]
pub struct FoundProxies {
    /// Those that answered.
    pub proxies: Vec<Proxy>,
    /// Those that did not answer, each with the reason.
    pub silent: Vec<String>,
}

impl Registration {
    /// Makes a proxy of the workspace at `root` known to `jig ps`. `snapshot` is called on threads of its
    /// own, for each question.
    pub fn publish(
        root: &Utf8Path,
        env: &CommandEnvironment,
        snapshot: ProxySnapshot,
    ) -> anyhow::Result<Self> {
        let failed = "cannot make the proxy known to `jig ps`";
        let number = PUBLISHED.fetch_add(1, Ordering::Relaxed);
        let place = StationPlace::make_proxy(root, env, number).context(failed)?;
        let desk = ProxyRegistrationState {
            workspace: root.to_owned(),
            since: Instant::now(),
            snapshot,
        };
        let manner = Manner {
            name: "jig-tables",
            most: MOST_VISITORS,
            patience: PATIENCE,
        };
        let reception = Reception::open(place, manner, move |key, stream| {
            answer(&desk, key, &stream)
        });
        reception.map(Self).context(failed)
    }
}

fn answer(desk: &ProxyRegistrationState, key: &StationKey, stream: &UnixStream) -> io::Result<()> {
    if !is_ours(stream)? {
        return Ok(());
    }
    let timed = TimedConnection::new(stream, PATIENCE);
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut lines = MessageReader::new(timed, LONGEST_HELLO);
    if admitted("proxy", stream, &mut lines, key)?.is_none() {
        return Ok(());
    }
    let proxy = Proxy {
        workspace: desk.workspace.clone(),
        pid: std::process::id(),
        age_ms: u64::try_from(desk.since.elapsed().as_millis()).unwrap_or(u64::MAX),
        tables: bounded((desk.snapshot)(), LONGEST_TABLES),
    };
    let proxy = serde_json::to_value(proxy)?;
    send(timed, &StationReply::Ok(proxy))
}

/// As much of a snapshot as fits into so many bytes. Of long lists the first rows are kept, and `omitted`
/// says how many are missing; what is no list and does not fit is left out.
fn bounded(snapshot: Json, mut bytes: usize) -> Map<String, Json> {
    let Json::Object(snapshot) = snapshot else {
        return Map::new();
    };
    let mut fits = |value: &Json| {
        let size = value.to_string().len() + 1;
        let fits = size <= bytes;
        bytes -= if fits { size } else { bytes };
        fits
    };
    let mut kept = Map::new();
    let mut omitted = Map::new();
    for (name, value) in snapshot {
        match value {
            Json::Array(rows) => {
                let all = rows.len();
                let rows: Vec<Json> = rows.into_iter().take_while(&mut fits).collect();
                if rows.len() < all {
                    omitted.insert(name.clone(), (all - rows.len()).into());
                }
                kept.insert(name, Json::Array(rows));
            }
            value if fits(&value) => {
                kept.insert(name, value);
            }
            _ => {}
        }
    }
    if !omitted.is_empty() {
        kept.insert("omitted".to_owned(), Json::Object(omitted));
    }
    kept
}

/// Asks the proxies of the workspace at `root`, or all of this user, for their tables. What killed ones
/// left is removed.
pub fn list(root: Option<&Utf8Path>, env: &CommandEnvironment) -> anyhow::Result<FoundProxies> {
    let deadline = Instant::now() + PATIENCE;
    let mut found = FoundProxies::default();
    // All are asked before the first is heard, so that those that are slow are so at the same time.
    let mut asked = Vec::new();
    for place in StationPlace::proxies(root, env)? {
        let pid = place.pid().unwrap_or_default();
        match ask(&place) {
            Ok(Some(stream)) => asked.push((pid, stream)),
            Ok(None) => {}
            Err(error) => found.silent.push(silence(pid, &error)),
        }
    }
    for (pid, stream) in asked {
        let left = deadline.saturating_duration_since(Instant::now());
        match hear(&stream, left.max(LEAST_PATIENCE)) {
            Ok(Some(proxy)) => found.proxies.push(proxy),
            Ok(None) => {}
            Err(error) => found.silent.push(silence(pid, &error)),
        }
    }
    // By what does not change from one look to the next.
    let key = |proxy: &Proxy| (proxy.workspace.clone(), proxy.pid);
    found.proxies.sort_by_cached_key(key);
    Ok(found)
}

/// As [`list`], for the first of these workspaces in which there are any.
pub fn list_first(roots: &[Utf8PathBuf], env: &CommandEnvironment) -> anyhow::Result<FoundProxies> {
    for root in roots {
        let found = list(Some(root), env)?;
        if !found.proxies.is_empty() || !found.silent.is_empty() {
            return Ok(found);
        }
    }
    Ok(FoundProxies::default())
}

/// Sends the question. `None` if nobody is there.
fn ask(place: &StationPlace) -> anyhow::Result<Option<UnixStream>> {
    let Some(stream) = place.connect_at_once()? else {
        return Ok(None);
    };
    // It is read after the connection was made: a proxy that listens has written its key.
    let key = match place.key() {
        Ok(key) => key.to_string(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let hello = StationHello {
        jig: VERSION.to_owned(),
        key,
    };
    match send(TimedConnection::new(&stream, LEAST_PATIENCE), &hello) {
        Err(error) if is_gone(&error) => Ok(None),
        sent => Ok(sent.map(|()| Some(stream))?),
    }
}

/// The answer. `None` if the proxy has gone meanwhile.
fn hear(stream: &UnixStream, patience: Duration) -> anyhow::Result<Option<Proxy>> {
    let mut lines = MessageReader::new(TimedConnection::new(stream, patience), LONGEST_ANSWER);
    match lines.message() {
        Ok(Some(StationReply::Ok(value))) => {
            let proxy = serde_json::from_value(value).context("its answer has another form")?;
            Ok(Some(proxy))
        }
        Ok(Some(StationReply::Error(failure))) => Err(failure.into_error()),
        Ok(Some(StationReply::Going) | None) => Ok(None),
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}

fn silence(pid: u32, error: &anyhow::Error) -> String {
    use io::ErrorKind::{TimedOut, WouldBlock};
    let kind = error.downcast_ref().map(io::Error::kind);
    match kind {
        Some(TimedOut | WouldBlock) => format!("the proxy with the pid {pid} does not answer"),
        _ => format!("the proxy with the pid {pid} cannot be asked: {error:#}"),
    }
}

/// A connection that has so much time altogether, however the other end uses it.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimedConnection<'a> {
    stream: &'a UnixStream,
    deadline: Instant,
}

impl<'a> TimedConnection<'a> {
    pub(super) fn new(stream: &'a UnixStream, patience: Duration) -> Self {
        Self {
            stream,
            deadline: Instant::now() + patience,
        }
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        match left.is_zero() {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => Ok(Some(left)),
        }
    }
}

impl Read for TimedConnection<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(buffer)
    }
}

impl Write for TimedConnection<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How many this process has published: each has files of its own.
static PUBLISHED: AtomicU32 = AtomicU32::new(0);

/// How long one exchange may take, and all of them together at first.
const PATIENCE: Duration = Duration::from_secs(3);

/// What each proxy gets even if others have used up the time. One that lives has long answered by then.
const LEAST_PATIENCE: Duration = Duration::from_millis(200);

/// The longest first line of a client, in bytes.
const LONGEST_HELLO: usize = 4 << 10;

/// The most of a snapshot, in bytes: the names of files are chosen by whoever is behind the proxy.
const LONGEST_TABLES: usize = 8 << 20;

/// The longest answer that is read, in bytes.
const LONGEST_ANSWER: usize = LONGEST_TABLES + (1 << 20);

/// A client is there for a moment; more than these are up to no good.
const MOST_VISITORS: usize = 16;

#[cfg(test)]
mod tests;
