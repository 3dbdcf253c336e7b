//! How a connection begins: the newer way if the server knows it, the older one otherwise.
//!
//! The newer way is tried first, with `server/discover`. Servers of the older era answer that at once with an
//! error: those of the TypeScript SDK with -32601, those of the Python SDK 1.20 with -32602. Those of the Python
//! SDK 1.9 and before die of it, which is [`UpstreamError::ClosedAtProbe`]: only a new process, asked the older way,
//! can go on. One that says nothing is asked the older way as well after [`PROBE`].

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use super::message::{UNSUPPORTED_VERSION, UpstreamAnswer, words};
use super::upstream_connection::UpstreamConnection;
use super::{UpstreamError, UpstreamLimits};
use crate::client::check::Era;

/// What both sides have agreed on.
#[derive(Debug, Clone)]
pub(super) struct UpstreamAgreement {
    /// How it began.
    pub(super) era: Era,
    /// What the server offers.
    pub(super) capabilities: Value,
}

impl UpstreamAgreement {
    /// Whether the server says that there is something at these names.
    pub(super) fn offers(&self, pointer: &str) -> bool {
        let offered = self.capabilities.pointer(pointer);
        offered.is_some_and(|offered| !matches!(offered, Value::Null | Value::Bool(false)))
    }
}

/// Begins, within the limits.
pub(super) async fn begin(
    wire: &Arc<UpstreamConnection>,
    limits: &UpstreamLimits,
) -> Result<UpstreamAgreement, UpstreamError> {
    let begun = async {
        match limits.era {
            Some(Era::Handshake) => initialize(wire).await,
            Some(Era::Stateless) | None => discover_or_initialize(wire).await,
        }
    };
    let begun = tokio::time::timeout(limits.start, begun).await;
    begun.map_err(|_| UpstreamError::Late {
        method: match limits.era {
            Some(Era::Handshake) => "initialize",
            _ => "server/discover",
        },
        limit: limits.start,
    })?
}

async fn discover_or_initialize(
    wire: &Arc<UpstreamConnection>,
) -> Result<UpstreamAgreement, UpstreamError> {
    let mut answer = discover(wire).await?;
    if let EraProbe::Answer(Err(refusal)) = &answer
        && refusal.code == UNSUPPORTED_VERSION
        && supports(refusal.data.get("supported"), |version| version == NEWER)
    {
        // It says no, and that it does know the version: it gets one more chance.
        answer = discover(wire).await?;
    }
    match answer {
        EraProbe::Begun(agreed) => Ok(agreed),
        EraProbe::Answer(answer) => match agreed(wire, answer)? {
            Some(agreed) => Ok(agreed),
            None => initialize(wire).await,
        },
    }
}

/// What came of a question in the newer way.
enum EraProbe {
    Answer(UpstreamAnswer),
    /// The older way was faster.
    Begun(UpstreamAgreement),
}

async fn discover(wire: &Arc<UpstreamConnection>) -> Result<EraProbe, UpstreamError> {
    let params = Map::from_iter([("_meta".to_owned(), Value::Object(meta()))]);
    let discover = wire.exchange("server/discover", params, |_| {});
    let mut discover = std::pin::pin!(discover);
    // Over HTTP, every request is answered or fails by itself.
    let patience = async {
        match wire.pipes() {
            Some(_) => tokio::time::sleep(PROBE).await,
            None => std::future::pending().await,
        }
    };
    let answer = tokio::select! {
        answer = &mut discover => answer,
        () = patience => {
            let mut initialize = std::pin::pin!(initialize(wire));
            tokio::select! {
                // If both are there, the newer one was asked first.
                biased;
                answer = &mut discover => match answer {
                    Ok(Err(_)) => return initialize.await.map(EraProbe::Begun),
                    answer => answer,
                },
                agreed = &mut initialize => match agreed {
                    // It is just slow, and knows the newer way only.
                    Err(UpstreamError::Refused { .. }) => discover.await,
                    agreed => return agreed.map(EraProbe::Begun),
                },
            }
        }
    };
    match answer {
        Ok(answer) => Ok(EraProbe::Answer(answer)),
        Err(UpstreamError::Closed(why)) => Err(UpstreamError::ClosedAtProbe(why)),
        Err(error) => Err(error),
    }
}

/// What an answer to `server/discover` means; nothing if the server is of the older era.
fn agreed(
    wire: &Arc<UpstreamConnection>,
    answer: UpstreamAnswer,
) -> Result<Option<UpstreamAgreement>, UpstreamError> {
    let discovered = match answer {
        Ok(discovered) => discovered,
        Err(refusal) => {
            let versions = refusal.data.get("supported");
            let is_versions = refusal.code == UNSUPPORTED_VERSION && versions.is_some();
            return match is_versions && !supports(versions, is_older) {
                true => Err(no_version(versions)),
                false => Ok(None),
            };
        }
    };
    let versions = discovered.get("supportedVersions");
    if versions.is_none() {
        // Some servers answer whatever they are asked.
        return Ok(None);
    }
    if !supports(versions, |version| version == NEWER) {
        return match supports(versions, is_older) {
            true => Ok(None),
            false => Err(no_version(versions)),
        };
    }
    wire.introduce(meta());
    let capabilities = discovered.get("capabilities").cloned();
    Ok(Some(UpstreamAgreement {
        era: Era::Stateless,
        capabilities: capabilities.unwrap_or_default(),
    }))
}

/// Begins the older way. Over HTTP, it makes a new session.
pub(super) async fn initialize(
    wire: &Arc<UpstreamConnection>,
) -> Result<UpstreamAgreement, UpstreamError> {
    let params = [
        ("protocolVersion".to_owned(), OLDER[0].into()),
        (
            "capabilities".to_owned(),
            json!({"elicitation": {"form": {}}}),
        ),
        ("clientInfo".to_owned(), about()),
    ];
    let said = wire.request("initialize", Map::from_iter(params)).await?;
    let named = said.get("protocolVersion");
    let version = named.and_then(Value::as_str);
    let version = version.filter(|version| OLDER.contains(version));
    let version = version.ok_or_else(|| no_version(named))?;
    if let Some(http) = wire.http() {
        http.agreed(version);
    }
    wire.notify("notifications/initialized", Map::new()).await?;
    Ok(UpstreamAgreement {
        era: Era::Handshake,
        capabilities: said.get("capabilities").cloned().unwrap_or_default(),
    })
}

/// Hears what the server says without being asked, where it needs something for that.
pub(super) async fn listen(wire: &Arc<UpstreamConnection>, agreed: &UpstreamAgreement) {
    match agreed.era {
        Era::Handshake => {
            if wire.http().is_some() {
                let (opened, is_open) = oneshot::channel();
                tokio::spawn(super::http::listen(Arc::clone(wire), opened));
                // What comes during the first call would have nowhere to go. Not every server opens the stream
                // before there is something to say.
                let _ = tokio::time::timeout(OPENING, is_open).await;
            }
        }
        Era::Stateless if agreed.offers("/tools/listChanged") => {
            tokio::spawn(subscribe(Arc::clone(wire)));
        }
        Era::Stateless => {}
    }
}

/// Asks for changes of the list, again if that ends, until it keeps ending at once.
async fn subscribe(wire: Arc<UpstreamConnection>) {
    let closed = wire.closed().clone();
    let again = async {
        let mut ended = 0;
        while let Some(wait) = AGAIN.get(ended) {
            let start = Instant::now();
            let wanted = json!({"toolsListChanged": true});
            let params = Map::from_iter([("notifications".to_owned(), wanted)]);
            let heard = wire.request("subscriptions/listen", params).await;
            if let Err(UpstreamError::Refused { .. } | UpstreamError::Unable(_)) = heard {
                return;
            }
            ended = if start.elapsed() > LASTING {
                0
            } else {
                ended + 1
            };
            tokio::time::sleep(*wait).await;
            // What was said in between was not heard.
            wire.list_changed();
        }
    };
    tokio::select! {
        () = again => {}
        () = closed.cancelled() => {}
    }
}

/// What every request of the newer era says about us.
fn meta() -> Map<String, Value> {
    Map::from_iter([
        (
            "io.modelcontextprotocol/protocolVersion".to_owned(),
            NEWER.into(),
        ),
        ("io.modelcontextprotocol/clientInfo".to_owned(), about()),
        (
            "io.modelcontextprotocol/clientCapabilities".to_owned(),
            json!({
                "elicitation": {"form": {}},
                "extensions": {"io.modelcontextprotocol/tasks": {}},
            }),
        ),
    ])
}

fn about() -> Value {
    json!({"name": "jig", "version": env!("CARGO_PKG_VERSION")})
}

fn is_older(version: &str) -> bool {
    OLDER.contains(&version)
}

/// Whether there is such a version in a list of them.
fn supports(versions: Option<&Value>, is_it: impl Fn(&str) -> bool) -> bool {
    let versions = versions.and_then(Value::as_array).into_iter().flatten();
    versions.filter_map(Value::as_str).any(is_it)
}

/// What a server says that has nothing for us: one version, or a list.
fn no_version(versions: Option<&Value>) -> UpstreamError {
    let named = match versions {
        Some(Value::String(version)) => version.clone(),
        Some(Value::Array(versions)) => {
            let versions = versions.iter().take(SHOWN).filter_map(Value::as_str);
            versions.collect::<Vec<_>>().join(", ")
        }
        _ => "none".to_owned(),
    };
    UpstreamError::Unable(format!(
        "the server speaks no version of the protocol that jig knows, but: {}",
        words(&named)
    ))
}

/// The version of the newer era.
pub(super) const NEWER: &str = "2026-07-28";

/// The versions of the older era, the newest first.
const OLDER: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// How many versions that nobody knows are named.
const SHOWN: usize = 16;

/// How long a server behind pipes may say nothing to `server/discover` before it is asked the older way, too.
const PROBE: Duration = Duration::from_secs(5);

/// How long the first call waits for the stream of the connection.
const OPENING: Duration = Duration::from_millis(250);

/// After how long a subscription that ended is made again.
const AGAIN: [Duration; 5] = [
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(60),
];

/// A subscription that held so long did not fail: many a proxy ends a stream on which nothing was said for half a
/// minute.
const LASTING: Duration = Duration::from_secs(20);
