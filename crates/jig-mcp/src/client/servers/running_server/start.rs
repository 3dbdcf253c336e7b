//! [`open`]: from an entry of the configuration to a server that has listed its tools.

use std::sync::Arc;
use std::time::Duration;

use jig_broker::Secrets;
use jig_config::{Server, ServerReach};
use jig_engine::{CallError, Engine, ServerMark, ServerProcess};
use jig_proto::{Denial, Hint, hint};
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::packages::have_packages;
use super::{CLOSED_OUTPUT, END_KNOWN, LAST_BYTES, LiveServer, ServerPeer};
use crate::client::check::Era;
use crate::client::connection::{ListedTools, Strays, Upstream, UpstreamError, UpstreamLimits};
use crate::client::servers::slot::ServerFailure;
use crate::client::servers::{ServersCommon, after, error_texts};

/// Why a server is not up.
pub(in crate::client::servers) enum NotOpened {
    /// A person has to accept it first.
    NotAccepted,
    /// It is not wanted any more.
    Retired,
    Failed(ServerFailure),
}

/// Starts a server, or connects to it, and asks for its tools, which the ledger is told. All of it together may
/// take as long as the entry says, but for what is downloaded before.
pub(in crate::client::servers) async fn open(
    common: &Arc<ServersCommon>,
    engine: &Arc<Engine>,
    server: &Arc<Server>,
) -> Result<Arc<LiveServer>, NotOpened> {
    let may_start = {
        let (common, server) = (Arc::clone(common), Arc::clone(server));
        blocking(move || common.ledger.may_start(&server)).await?
    };
    if !may_start {
        return Err(NotOpened::NotAccepted);
    }
    have_packages(common, engine, server).await?;
    let opening = ServerConnector {
        common,
        engine,
        server,
        deadline: after(server.start),
    };
    let era = common.ledger.era(server).and_then(|era| era_named(&era));
    match opening.open(era).await {
        // Some servers of the older era end at the first question of the newer one.
        Err(ServerOpenError::AtProbe) => opening.open(Some(Era::Handshake)).await,
        // It may be another version by now, which begins differently.
        Err(ServerOpenError::AtBegin(failure)) if era.is_some() => {
            let again = opening.open(None).await;
            again.map_err(|_| ServerOpenError::Failed(failure))
        }
        outcome => outcome,
    }
    .map_err(ServerOpenError::into_failure)
}

struct ServerConnector<'o> {
    common: &'o Arc<ServersCommon>,
    engine: &'o Arc<Engine>,
    server: &'o Arc<Server>,
    deadline: Instant,
}

enum ServerOpenError {
    /// It ended when it was asked for its version.
    AtProbe,
    /// It answered, but not as it was expected to.
    AtBegin(ServerFailure),
    Failed(ServerFailure),
}

impl ServerConnector<'_> {
    async fn open(&self, era: Option<Era>) -> Result<Arc<LiveServer>, ServerOpenError> {
        let live = match &self.server.reach {
            ServerReach::Program { .. } => self.program(era).await,
            ServerReach::Remote { .. } => self.remote(era).await,
        }?;
        let era = live.upstream.era();
        let (ledger, server) = (Arc::clone(&self.common.ledger), Arc::clone(self.server));
        // That it cannot be remembered costs the next start a moment.
        let _ = blocking(move || ledger.note_era(&server, era_name(era))).await;
        let listed = live.listed();
        learn(self.common, self.server, &listed, |text| live.words(text)).await;
        Ok(live)
    }

    async fn program(&self, era: Option<Era>) -> Result<Arc<LiveServer>, ServerOpenError> {
        let (engine, server) = (Arc::clone(self.engine), Arc::clone(self.server));
        let starting = blocking(move || engine.start_server(&server));
        let started = timeout_at(self.deadline, starting).await;
        let process = match started.map_err(|_| self.late("be started"))?? {
            Ok(process) => process,
            Err(error) => return Err(ServerOpenError::Failed(lasting(&error))),
        };
        for warning in process.warnings() {
            let warning = error_texts::bounded(warning);
            (self.common.report)(&format!("MCP server `{}`: {warning}", self.server.name));
        }
        let Some((stdin, stdout)) = process.take_streams() else {
            return Err(failed("its streams are missing".to_owned()));
        };
        let ended = CancellationToken::new();
        process.on_end({
            let ended = ended.clone();
            move || ended.cancel()
        });
        let process = Arc::new(process);
        let limits = self.limits(era);
        let strays = Strays::default();
        let begun = async {
            let upstream = Upstream::over_pipes(stdin, stdout, &limits, strays.clone()).await?;
            let secrets = process.scrubber();
            let listed = upstream.definitions(secrets.as_ref()).await?;
            Ok((upstream, listed))
        };
        let begun = tokio::select! {
            biased;
            begun = begun_by(self.deadline, begun) => begun,
            // With its end the streams end. If something keeps them open, nothing comes of it any more.
            () = past(&ended, END_KNOWN) => Some(Err(UpstreamError::Closed(CLOSED_OUTPUT.to_owned()))),
        };
        let error = match begun {
            Some(Ok((upstream, listed))) => {
                let behind = ServerPeer::Program { process, ended };
                return Ok(LiveServer::new(upstream, behind, listed));
            }
            // Also if it knew the newer way the last time: it may be an older version by now.
            Some(Err(UpstreamError::ClosedAtProbe(_))) => return Err(ServerOpenError::AtProbe),
            Some(Err(error)) => Some(error),
            None => None,
        };
        let failure = self.not_begun(process, &ended, &strays, error.as_ref());
        let failure = failure.await;
        Err(match error.as_ref().is_some_and(is_answer) {
            true => ServerOpenError::AtBegin(failure),
            false => ServerOpenError::Failed(failure),
        })
    }

    /// Why a process did not begin, by an error or because its time was over. It is ended for that: what it was
    /// refused, and what it said, is known and in the log when it is gone.
    async fn not_begun(
        &self,
        process: Arc<ServerProcess>,
        ended: &CancellationToken,
        strays: &Strays,
        error: Option<&UpstreamError>,
    ) -> ServerFailure {
        let is_over = error.is_none_or(is_its_end);
        let mut advice = None;
        let mut why = match error {
            None => {
                advice = Some(self.more_time());
                self.late_words(BEGIN)
            }
            Some(error) => {
                if is_over {
                    // How it ended says more than that its streams did.
                    let _ = timeout(END_KNOWN, ended.cancelled()).await;
                }
                let how = process.ended().filter(|_| is_over);
                how.map_or_else(|| error.to_string(), |how| format!("it {how}"))
            }
        };
        let scrubber = process.scrubber();
        let scrub = |text: &str| match &scrubber {
            Some(scrubber) => scrubber.text(text.to_owned()),
            None => text.to_owned(),
        };
        let (tell, told) = oneshot::channel();
        let gone = spawn_blocking(move || {
            // Whoever has given up waiting does not hear it.
            let _ = tell.send(buried(&process));
            drop(process);
        });
        let told = timeout(BURIED, told).await;
        let (said, denials) = told.ok().and_then(Result::ok).unwrap_or_default();
        // A kernel that does not let go of a process is not waited for.
        let _ = timeout(BURIED, gone).await;
        let _ = timeout(LAST_BYTES, strays.over().cancelled()).await;
        if let Some(wrote) = strays.told(scrub).filter(|_| is_over) {
            why.push_str(&format!(
                "; on its output it wrote {wrote}, which is no message of MCP: is this command an MCP server?"
            ));
        }
        let mut why = error_texts::with_last_words(&scrub(&why), &said);
        if let Some(package) = self.engine.unasked_package(self.server) {
            let hint = hint!(
                "if npx has to download `{}`, write `command = [\"npx\", \"-y\", …]`: then jig downloads it \
                 before, and starts it offline, without a rule for the registry",
                error_texts::name(&package)
            );
            why.push_str(&format!("\n{hint}"));
        }
        ServerFailure {
            why,
            denials,
            advice,
            lasts: false,
        }
    }

    async fn remote(&self, era: Option<Era>) -> Result<Arc<LiveServer>, ServerOpenError> {
        let (engine, server) = (Arc::clone(self.engine), Arc::clone(self.server));
        let filling = blocking(move || engine.fill_server(&server));
        let filled = timeout_at(self.deadline, filling).await;
        let filled = match filled.map_err(|_| self.late("have its secrets looked up"))?? {
            Ok(filled) => filled,
            Err(error) => return Err(ServerOpenError::Failed(lasting(&error))),
        };
        let secrets = Secrets::new();
        for secret in &filled.secrets {
            secrets.remember(secret);
        }
        let scrubber = secrets.scrubber();
        let Some(url) = &filled.url else {
            return Err(failed("it has no address".to_owned()));
        };
        let limits = self.limits(era);
        let begun = async {
            let upstream = Upstream::over_http(url, &filled.headers, &limits).await?;
            let listed = upstream.definitions(scrubber.as_ref()).await?;
            Ok((upstream, listed))
        };
        match begun_by(self.deadline, begun).await {
            Some(Ok((upstream, listed))) => {
                let behind = ServerPeer::Remote(scrubber);
                Ok(LiveServer::new(upstream, behind, listed))
            }
            Some(Err(UpstreamError::ClosedAtProbe(_))) => Err(ServerOpenError::AtProbe),
            Some(Err(error)) => {
                let why = secrets.scrub_text(error.to_string());
                let failure = ServerFailure {
                    why: error_texts::bounded(&why),
                    ..ServerFailure::default()
                };
                Err(match is_answer(&error) {
                    true => ServerOpenError::AtBegin(failure),
                    false => ServerOpenError::Failed(failure),
                })
            }
            None => Err(self.late(BEGIN)),
        }
    }

    fn limits(&self, era: Option<Era>) -> UpstreamLimits {
        UpstreamLimits {
            // A little more than is left: it is told here that time is over, and what to do about it.
            start: self
                .deadline
                .saturating_duration_since(Instant::now())
                .saturating_add(END_KNOWN),
            era,
        }
    }

    fn late(&self, what: &str) -> ServerOpenError {
        ServerOpenError::Failed(ServerFailure {
            why: self.late_words(what),
            advice: Some(self.more_time()),
            ..ServerFailure::default()
        })
    }

    fn late_words(&self, what: &str) -> String {
        format!(
            "it took longer than {} to {what}",
            error_texts::time(self.server.start)
        )
    }

    fn more_time(&self) -> Hint {
        let name = &self.server.name;
        hint!("if it needs more time, set `start` in `[mcp.servers.{name}]`")
    }
}

impl ServerOpenError {
    fn into_failure(self) -> NotOpened {
        NotOpened::Failed(match self {
            Self::AtBegin(failure) | Self::Failed(failure) => failure,
            Self::AtProbe => ServerFailure {
                why: "it ended when it was asked for its version".to_owned(),
                ..ServerFailure::default()
            },
        })
    }
}

impl From<ServerFailure> for ServerOpenError {
    fn from(failure: ServerFailure) -> Self {
        Self::Failed(failure)
    }
}

impl From<ServerFailure> for NotOpened {
    fn from(failure: ServerFailure) -> Self {
        Self::Failed(failure)
    }
}

/// Tells the ledger what a server has, and whoever looks after jig what was left out of that. `clean` makes a
/// server's words fit to be told.
pub(super) async fn learn(
    common: &Arc<ServersCommon>,
    server: &Arc<Server>,
    listed: &ListedTools,
    clean: impl Fn(&str) -> String,
) {
    for note in &listed.notes {
        (common.report)(&format!("MCP server `{}`: {}", server.name, clean(note)));
    }
    let (ledger, entry) = (Arc::clone(&common.ledger), Arc::clone(server));
    let definitions = listed.definitions.clone();
    let learnt = blocking(move || ledger.learn(&entry, &definitions)).await;
    if let Ok(Some(problem)) = learnt {
        let name = &server.name;
        (common.report)(&format!(
            "what the MCP server `{name}` offers cannot be remembered: {problem}"
        ));
    }
}

/// What comes of it before the deadline.
async fn begun_by<T>(
    deadline: Instant,
    begun: impl Future<Output = Result<T, UpstreamError>>,
) -> Option<Result<T, UpstreamError>> {
    timeout_at(deadline, begun).await.ok()
}

/// Waits for the token, and then for so long.
async fn past(token: &CancellationToken, time: Duration) {
    token.cancelled().await;
    tokio::time::sleep(time).await;
}

/// Runs what blocks on a thread where it may.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ServerFailure> {
    spawn_blocking(work).await.map_err(|_| ServerFailure {
        why: "starting it failed by a bug in jig".to_owned(),
        ..ServerFailure::default()
    })
}

/// Ends a process that came to nothing, which blocks; returns its last words, and all that it was refused.
fn buried(process: &ServerProcess) -> (String, Vec<Denial>) {
    process.stop(Duration::ZERO);
    let refused = process.refused_since(&ServerMark::default());
    (process.last_words(), refused)
}

/// How long the end of a process is waited for whose start has failed.
const BURIED: Duration = Duration::from_secs(10);

/// Why a server was not started, which will not pass by itself, but for packages that are downloaded again:
/// something is missing, or its entry is wrong. That it was not, and which, stands before it.
pub(super) fn lasting(error: &CallError) -> ServerFailure {
    ServerFailure {
        why: match error {
            CallError::Server { why, .. } => error_texts::bounded(why),
            error => error_texts::chain(error),
        },
        lasts: !matches!(error, CallError::PackagesGone(_)),
        ..ServerFailure::default()
    }
}

/// Whether it was the server that ended the connection.
fn is_its_end(error: &UpstreamError) -> bool {
    use UpstreamError::{Closed, ClosedAtProbe};
    matches!(error, Closed(why) | ClosedAtProbe(why) if why == CLOSED_OUTPUT)
}

/// Whether the server is there and did not like how it was asked.
fn is_answer(error: &UpstreamError) -> bool {
    use UpstreamError::{Broken, Refused, Unable};
    matches!(error, Refused { .. } | Unable(_) | Broken(_))
}

fn failed(why: String) -> ServerOpenError {
    ServerOpenError::Failed(ServerFailure {
        why,
        ..ServerFailure::default()
    })
}

fn era_name(era: Era) -> &'static str {
    match era {
        Era::Handshake => "handshake",
        Era::Stateless => "stateless",
    }
}

fn era_named(name: &str) -> Option<Era> {
    [Era::Handshake, Era::Stateless]
        .into_iter()
        .find(|&era| era_name(era) == name)
}

/// What a server has to do within its time.
const BEGIN: &str = "begin and list its tools";

#[cfg(test)]
mod tests;
