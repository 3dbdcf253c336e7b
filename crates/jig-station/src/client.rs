//! [`StationClient`]: a connection to a station.

use std::io::{self, ErrorKind, Read as _};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use camino::{Utf8Path, Utf8PathBuf};
use jig_project::CommandEnvironment;
use jig_proto::hint;
use serde::de::DeserializeOwned;

use super::protocol::{
    LONGEST_REPLY, LONGEST_REQUEST, MessageReader, StationHello, StationReply, StationRequest,
    StationWelcome, VERSION, send,
};
use super::socket_directory::StationPlace;

/// A connection to the station of a workspace.
#[derive(Debug)]
pub struct StationClient {
    stream: UnixStream,
    lines: MessageReader<UnixStream>,
    welcome: StationWelcome,
}

impl StationClient {
    /// Connects to the station of the workspace at `root`, if there is one.
    pub fn find(root: &Utf8Path, env: &CommandEnvironment) -> anyhow::Result<Option<Self>> {
        let Some(place) = StationPlace::find(root, env)? else {
            return Ok(None);
        };
        let client = Self::at(&place)?;
        if let Some(client) = &client
            && client.welcome.workspace != root
        {
            bail!(
                "the station of `{}` is where that of `{root}` should be",
                client.welcome.workspace
            );
        }
        Ok(client)
    }

    /// Connects to the first station of these workspaces.
    pub fn find_first(
        roots: &[Utf8PathBuf],
        env: &CommandEnvironment,
    ) -> anyhow::Result<Option<Self>> {
        for root in roots {
            if let Some(client) = Self::find(root, env)? {
                return Ok(Some(client));
            }
        }
        Ok(None)
    }

    /// Connects to every station of this user.
    pub fn all(env: &CommandEnvironment) -> anyhow::Result<Vec<Self>> {
        let mut clients = Vec::new();
        for place in StationPlace::all(env)? {
            clients.extend(Self::at(&place)?);
        }
        Ok(clients)
    }

    /// Sends a request to the station of the workspace at `root`, which is started if there is none.
    pub fn ask_or_start<T: DeserializeOwned>(
        root: &Utf8Path,
        env: &CommandEnvironment,
        request: &StationRequest,
    ) -> anyhow::Result<T> {
        for _ in 0..MOST_STARTS {
            let Some(mut client) = Self::find(root, env)? else {
                start(root, env)?;
                continue;
            };
            match client.ask(request) {
                // It goes just as it is found; the next one waits until it has gone.
                Err(error) if error.is::<StationLeaving>() => {}
                answer => return answer,
            }
        }
        bail!("the station of `{root}` was started and is not there");
    }

    fn at(place: &StationPlace) -> anyhow::Result<Option<Self>> {
        let Some(stream) = place.connect()? else {
            return Ok(None);
        };
        // A station that is about to go, or was killed, may close the connection at any point of this.
        match Self::greet(place, stream) {
            Ok(client) => Ok(Some(client)),
            Err(error) if error.is::<StationLeaving>() || is_gone(&error) => Ok(None),
            Err(error) => Err(error.context("the station does not answer as it should")),
        }
    }

    fn greet(place: &StationPlace, stream: UnixStream) -> anyhow::Result<Self> {
        // It is read after the connection was made: a station that listens has written its key.
        let key = place.key()?.to_string();
        stream.set_read_timeout(Some(LONGEST_GREETING))?;
        let hello = StationHello {
            jig: VERSION.to_owned(),
            key,
        };
        send(&stream, &hello)?;
        let mut lines = MessageReader::new(stream.try_clone()?, LONGEST_REPLY);
        let welcome = value(&mut lines)?;
        stream.set_read_timeout(None)?;
        Ok(Self {
            stream,
            lines,
            welcome,
        })
    }

    /// What the station says of itself.
    pub fn welcome(&self) -> &StationWelcome {
        &self.welcome
    }

    /// Whether the station is of another version of jig, and only takes [`StationRequest::Shutdown`].
    pub fn is_foreign(&self) -> bool {
        self.welcome.jig != VERSION
    }

    /// Sends a request, and waits for the answer for as long as that takes.
    pub fn ask<T: DeserializeOwned>(&mut self, request: &StationRequest) -> anyhow::Result<T> {
        if self.is_foreign() && !matches!(request, StationRequest::Shutdown) {
            let hint = hint!(
                "`jig abort --all` ends it and what it runs; then this jig can start its own"
            );
            let context = format!(
                "the station of this workspace is jig {}, and this is jig {VERSION}",
                self.welcome.jig
            );
            return Err(anyhow!(hint).context(context));
        }
        let line = serde_json::to_vec(request)?;
        if line.len() >= LONGEST_REQUEST {
            let hint = hint!("arguments and environment together may take 1 MiB");
            return Err(anyhow!(hint).context("this is too much for one request to the station"));
        }
        let asked = send(&self.stream, request).map_err(anyhow::Error::from);
        let answer = asked.and_then(|()| value(&mut self.lines));
        answer.map_err(|error| match is_gone(&error) {
            true => anyhow!("the station has ended, and with it what it ran"),
            false => error,
        })
    }

    /// The connection itself, for what is not a question and its answer.
    pub fn into_parts(self) -> (UnixStream, MessageReader<UnixStream>) {
        (self.stream, self.lines)
    }
}

/// The value of the next reply.
fn value<T: DeserializeOwned>(lines: &mut MessageReader<UnixStream>) -> anyhow::Result<T> {
    match lines.message()? {
        Some(StationReply::Ok(value)) => {
            serde_json::from_value(value).context("the answer has another form")
        }
        Some(StationReply::Error(failure)) => Err(failure.into_error()),
        Some(StationReply::Going) => Err(StationLeaving.into()),
        None => Err(io::Error::from(ErrorKind::UnexpectedEof).into()),
    }
}

/// A station that is about to go has done nothing.
#[derive(Debug)]
struct StationLeaving;

impl std::fmt::Display for StationLeaving {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the station is about to end, and with it what it runs")
    }
}

impl std::error::Error for StationLeaving {}

/// Whether an error says that nobody is at the other end any more.
fn is_gone(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref().map(io::Error::kind);
    kind.is_some_and(|kind| {
        matches!(
            kind,
            ErrorKind::UnexpectedEof
                | ErrorKind::ConnectionReset
                | ErrorKind::BrokenPipe
                | ErrorKind::NotFound
        )
    })
}

/// Starts the station of the workspace at `root`, and waits until it serves.
///
/// It is this program once more, and takes nothing along but the variables that it needs itself: those that
/// count for a tool come with each spawn.
#[expect(
    clippy::disallowed_methods,
    reason = "the station is this program itself, not one that a tool names"
)]
fn start(root: &Utf8Path, env: &CommandEnvironment) -> anyhow::Result<()> {
    let failed = "cannot start the station";
    let program = std::env::current_exe().context(failed)?;
    jig_sandbox::seal_descriptors().context(failed)?;
    let own = env.some(|name| OWN_VARIABLES.contains(&name) || name.starts_with("LC_"));
    let mut station = Command::new(program)
        .arg("__station")
        .arg(root)
        .env_clear()
        .envs(own)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context(failed)?;
    let mut said = String::new();
    if let Some(errors) = station.stderr.take() {
        // It ends when the station serves, or has ended.
        let mut errors = errors.take(LONGEST_ERROR);
        errors.read_to_string(&mut said).context(failed)?;
    }
    match said.trim() {
        "" => Ok(()),
        said => Err(anyhow!(said.to_owned()).context(failed)),
    }
}

/// The variables that the station itself needs: where its files are, and what the sandbox passes on as the
/// smallest environment there is.
const OWN_VARIABLES: [&str; 8] = [
    "HOME",
    "LANG",
    "PATH",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_STATE_HOME",
];

/// A station that goes just as it is found is followed by another, but not for ever.
const MOST_STARTS: usize = 8;

/// How long a station may take to say who it is.
const LONGEST_GREETING: Duration = Duration::from_secs(10);

/// In bytes.
const LONGEST_ERROR: u64 = 64 << 10;
