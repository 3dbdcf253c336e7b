//! [`AskConnection`]: a connection to the ask socket of an MCP server.

use std::io;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use camino::{Utf8Path, Utf8PathBuf};
use jig_mcp::ASK_PROTOCOL;
use jig_project::CommandEnvironment;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::ServerWelcome;
use crate::protocol::{MessageReader, StationHello, StationReply, VERSION, send};
use crate::proxies::{TimedConnection, is_gone};
use crate::socket_directory::StationPlace;

/// A connection to an MCP server that runs.
#[derive(Debug)]
pub struct AskConnection {
    /// What it says of itself.
    pub welcome: ServerWelcome,
    stream: UnixStream,
}

/// What came of looking for servers.
#[derive(Debug, Default)]
pub struct FoundServers {
    /// Those that answered.
    pub servers: Vec<AskConnection>,
    /// Those that did not answer, each with the reason.
    pub silent: Vec<String>,
}

/// What came of a request: what the server says, or why it does not do it.
#[derive(Debug, Clone)]
pub enum AskReply {
    /// It was done.
    Ok(Json),
    /// It was not done.
    Error(AskRefusal),
}

/// A reply, as it comes.
#[derive(Debug, Deserialize)]
struct AskReplyLine {
    #[serde(default)]
    ok: Json,
    error: Option<AskRefusal>,
}

/// Why a server does not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskRefusal {
    /// `unknown`, `gone`, `already_answered`, `no_answer`, `not_understood`.
    pub kind: String,
    /// The reason, for a person.
    pub message: String,
}

/// Connects to the servers of the workspace at `root`, or to all of this user. What killed ones left is
/// removed.
pub fn servers(root: Option<&Utf8Path>, env: &CommandEnvironment) -> anyhow::Result<FoundServers> {
    some_servers(root, env, |_| true)
}

/// The first of these workspaces that has a server, else the first of all.
pub fn first_served(
    roots: &[Utf8PathBuf],
    env: &CommandEnvironment,
) -> anyhow::Result<Utf8PathBuf> {
    for root in roots {
        if !StationPlace::servers(Some(root), env)?.is_empty() {
            return Ok(root.clone());
        }
    }
    roots.first().cloned().context("there is no workspace")
}

/// As [`servers`], of those whose process is wanted.
pub fn some_servers(
    root: Option<&Utf8Path>,
    env: &CommandEnvironment,
    is_wanted: impl Fn(u32) -> bool,
) -> anyhow::Result<FoundServers> {
    let deadline = Instant::now() + PATIENCE;
    let mut found = FoundServers::default();
    for place in StationPlace::servers(root, env)? {
        if place.pid().is_some_and(|pid| !is_wanted(pid)) {
            continue;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        match AskConnection::at(&place, left.max(LEAST_PATIENCE)) {
            Ok(Some(server)) => found.servers.push(server),
            Ok(None) => {}
            Err(error) => {
                let pid = place.pid().unwrap_or_default();
                found
                    .silent
                    .push(format!("the server with the pid {pid}: {error:#}"));
            }
        }
    }
    let key = |server: &AskConnection| (server.welcome.workspace.clone(), server.welcome.pid);
    found.servers.sort_by_cached_key(key);
    Ok(found)
}

impl AskConnection {
    /// Connects. `None` if nobody is there any more.
    fn at(place: &StationPlace, patience: Duration) -> anyhow::Result<Option<Self>> {
        let Some(stream) = place.connect_at_once()? else {
            return Ok(None);
        };
        match Self::greet(place, stream, patience) {
            Ok(server) => Ok(Some(server)),
            Err(error) if error.downcast_ref().is_some_and(is_gone) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn greet(place: &StationPlace, stream: UnixStream, patience: Duration) -> anyhow::Result<Self> {
        // It is read after the connection was made: a server that listens has written its key.
        let key = place.key()?.to_string();
        let jig = VERSION.to_owned();
        send(
            TimedConnection::new(&stream, patience),
            &StationHello { jig, key },
        )?;
        let mut lines = MessageReader::new(TimedConnection::new(&stream, patience), LONGEST_LINE);
        let welcome: Json = match lines.message()? {
            Some(StationReply::Ok(welcome)) => welcome,
            Some(StationReply::Error(failure)) => return Err(failure.into_error()),
            Some(StationReply::Going) | None => return Err(io::Error::from(GONE).into()),
        };
        let welcome: ServerWelcome =
            serde_json::from_value(welcome).context("its greeting has another form")?;
        if welcome.protocol != ASK_PROTOCOL {
            bail!(
                "it is jig {}, which asks in another way than this jig {VERSION} understands",
                welcome.jig
            );
        }
        // They are shared by both ends of the clone that reads, too.
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { welcome, stream })
    }

    /// Sends a request, and takes the reply. Not for `watch`: what follows that is read by
    /// [`watch`](Self::watch).
    pub fn ask(&mut self, request: &Json) -> anyhow::Result<AskReply> {
        let pid = self.welcome.pid;
        let failed = || format!("the server with the pid {pid} does not answer");
        send(&self.stream, request).with_context(failed)?;
        let mut lines = MessageReader::new(&self.stream, LONGEST_LINE);
        let line: Option<AskReplyLine> = lines.message().with_context(failed)?;
        let line = line.with_context(|| format!("the server with the pid {pid} has ended"))?;
        Ok(match line.error {
            Some(refusal) => AskReply::Error(refusal),
            None => AskReply::Ok(line.ok),
        })
    }

    /// Watches: what comes from now on, and what more requests are written to.
    pub fn watch(self) -> io::Result<(MessageReader<UnixStream>, UnixStream)> {
        let reader = self.stream.try_clone()?;
        let mut lines = MessageReader::new(reader, LONGEST_LINE);
        send(&self.stream, &serde_json::json!({ "do": "watch" }))?;
        let reply: Option<AskReplyLine> = lines.message()?;
        if reply.is_none_or(|reply| reply.error.is_some()) {
            return Err(GONE.into());
        }
        self.stream.set_read_timeout(None)?;
        Ok((lines, self.stream))
    }
}

const GONE: io::ErrorKind = io::ErrorKind::UnexpectedEof;

/// How long all servers together have to greet, and one to answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// What each server gets even if others have used up the time.
const LEAST_PATIENCE: Duration = Duration::from_millis(200);

/// The longest line of a server, in bytes: one question with a result to be edited, as JSON.
const LONGEST_LINE: usize = 16 << 20;
