//! [`Upstream`]: one connection to an MCP server of somebody else, as its client.
//!
//! Over pipes or Streamable HTTP, in both eras of the protocol: [`handshake`] finds out which. What a server sends
//! is read as JSON and handed on as it came: typed results would drop what they do not know, and what a server
//! says is for the client behind jig, not for jig. Everything is bounded, because the other side is not ours:
//! lines, lists, questions, progress, and what comes without having been asked for. A server that breaks the
//! protocol loses its connection, and [`Upstream::why_closed`] says why.
//!
//! It declares forms (elicitation) and tasks, and nothing else: no sampling, no roots.

mod call;
pub(crate) mod conformance;
mod forms;
mod handshake;
mod http;
mod message;
mod pipes;
mod rate_limit;
mod scrub;
mod stray_lines;
mod task;
mod tool_list;
mod upstream_connection;

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use jig_broker::Scrubber;
use jig_config::Definition;
use jig_proto::Question;
use serde_json::{Map, Value};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Semaphore, oneshot, watch};
use tokio_util::sync::CancellationToken;

use self::handshake::UpstreamAgreement;
pub(crate) use self::message::UpstreamResult;
pub(crate) use self::scrub::clean_question;
pub(crate) use self::stray_lines::Strays;
use self::upstream_connection::UpstreamConnection;
use crate::client::check::Era;

/// A connection on which both sides have begun.
#[derive(Debug)]
pub(crate) struct Upstream {
    wire: Arc<UpstreamConnection>,
    agreed: UpstreamAgreement,
    calls: Semaphore,
}

/// How long a server may take, and what is known of it already.
#[derive(Debug, Clone)]
pub(crate) struct UpstreamLimits {
    /// How long it may take to begin. No request that is no call may take much longer later, either.
    pub(crate) start: Duration,
    /// How it began the last time, which saves the question.
    pub(crate) era: Option<Era>,
}

impl Default for UpstreamLimits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(60),
            era: None,
        }
    }
}

/// The tools of a server.
#[derive(Debug, Clone, Default)]
pub(crate) struct ListedTools {
    /// What it says about each, in its order.
    pub(crate) definitions: Vec<Arc<Definition>>,
    /// What was left out of the list, and why.
    pub(crate) notes: Vec<String>,
}

/// A call of a tool.
#[derive(Debug)]
pub(crate) struct UpstreamCall {
    /// The name of the tool in the list.
    pub(crate) name: String,
    /// The arguments.
    pub(crate) arguments: Map<String, Value>,
    /// Whose call it is: a question that could be of several calls is only put to a caller of all of them.
    pub(crate) caller: u64,
    /// Where progress and questions go. The server cannot fill it: what is too much is dropped.
    pub(crate) events: UnboundedSender<CallEvent>,
}

/// What happens during a call.
#[derive(Debug)]
pub(crate) enum CallEvent {
    /// How far it has come, in the words of the server: one line that is printable.
    Progress(String),
    /// The server asks.
    Ask {
        /// The question, in the words of the server.
        question: Question,
        /// Where the answer goes. Dropped, it means [`ElicitationAnswer::Cancelled`].
        answer: oneshot::Sender<ElicitationAnswer>,
    },
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ElicitationAnswer {
    /// This answer, by the schema of the question.
    Given(Value),
    /// The person said no.
    Declined,
    /// Nobody answered.
    Cancelled,
}

/// Why a request to a server came to nothing.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum UpstreamError {
    /// There is no connection any more.
    #[error("the connection to the server ended: {0}")]
    Closed(String),
    /// It ended on the first question, as some servers of the older era do: one that is started anew, and told
    /// [`Era::Handshake`] in its limits, may do better.
    #[error("the connection to the server ended when it was asked for its version: {0}")]
    ClosedAtProbe(String),
    /// It took too long.
    #[error("the server did not answer `{method}` within {limit:?}")]
    Late {
        /// What was asked.
        method: &'static str,
        /// How long it was waited for.
        limit: Duration,
    },
    /// It said no.
    #[error("the server answered `{method}` with error {code}: {message}")]
    Refused {
        /// What was asked.
        method: &'static str,
        /// The code of the error.
        code: i64,
        /// The words of the server, printable and not long.
        message: String,
    },
    /// What it said is not what the protocol has.
    #[error("the server broke the protocol: {0}")]
    Broken(String),
    /// It cannot be reached, or answers no request as a server of the protocol does.
    #[error("cannot reach {}: {why}", .place.as_deref().unwrap_or("the server"))]
    Unreachable {
        /// Where it should be, without what may be secret in that; `None` as long as nobody has named it.
        place: Option<String>,
        /// Why not.
        why: String,
    },
    /// It wants something for which there is nobody, or has not begun in a version that is known.
    #[error("{0}")]
    Unable(String),
}

impl UpstreamError {
    /// [`Unreachable`](Self::Unreachable), for somebody who does not know the place.
    fn unreachable(why: impl Into<String>) -> Self {
        Self::Unreachable {
            place: None,
            why: why.into(),
        }
    }
}

impl Upstream {
    /// Begins to talk to the server behind two pipes: what it reads, and what it writes. What it writes that is no
    /// message is in `strays`, also if this is given up.
    ///
    /// # Errors
    ///
    /// If it does not begin. After [`UpstreamError::ClosedAtProbe`], another process of the same server may.
    pub(crate) async fn over_pipes(
        stdin: OwnedFd,
        stdout: OwnedFd,
        limits: &UpstreamLimits,
        strays: Strays,
    ) -> Result<Arc<Self>, UpstreamError> {
        let limit = limits.start.max(REQUEST);
        let wire = UpstreamConnection::over_pipes(stdin, stdout, limit, strays)?;
        Self::begin(wire, limits).await
    }

    /// Begins to talk to the server at `url`, which gets these headers with every request.
    ///
    /// # Errors
    ///
    /// If it cannot be reached or does not begin. No error shows a header, or the query or the user of the URL.
    pub(crate) async fn over_http(
        url: &str,
        headers: &[(String, String)],
        limits: &UpstreamLimits,
    ) -> Result<Arc<Self>, UpstreamError> {
        let wire = UpstreamConnection::over_http(url, headers, limits.start.max(REQUEST))?;
        Self::begin(wire, limits).await
    }

    async fn begin(
        wire: Arc<UpstreamConnection>,
        limits: &UpstreamLimits,
    ) -> Result<Arc<Self>, UpstreamError> {
        match handshake::begin(&wire, limits).await {
            Ok(agreed) => {
                let upstream = Arc::new(Self {
                    wire,
                    agreed,
                    calls: Semaphore::new(CALLS),
                });
                // Should nobody wait for it any more, the connection ends with it.
                handshake::listen(&upstream.wire, &upstream.agreed).await;
                Ok(upstream)
            }
            Err(error) => {
                let error = ended(&wire, error).await;
                wire.close("it did not begin");
                Err(error)
            }
        }
    }

    /// The way in which the server begins, for [`UpstreamLimits::era`] of the next connection.
    pub(crate) fn era(&self) -> Era {
        self.agreed.era
    }

    /// The tools of the server, asked for now, in its words without `secrets`.
    ///
    /// # Errors
    ///
    /// If the server does not answer, or not with a list.
    pub(crate) async fn definitions(
        &self,
        secrets: Option<&Scrubber>,
    ) -> Result<ListedTools, UpstreamError> {
        tool_list::definitions(&self.wire, &self.agreed, secrets).await
    }

    /// Calls a tool, answers what the server asks, and waits for the end of a task if it makes one of the call.
    /// Returns the result as it came: a `CallToolResult`, also if it says `isError`. Given up, the server is told.
    ///
    /// # Errors
    ///
    /// If the server refused it, or the connection ended. Then it may have had effects.
    pub(crate) async fn call(
        &self,
        mut call: UpstreamCall,
    ) -> Result<UpstreamResult, UpstreamError> {
        let _permit = match self.calls.try_acquire() {
            Ok(permit) => Ok(permit),
            Err(_) => Box::pin(self.calls.acquire()).await,
        };
        if let Some(name) = self.wire.known().told_as(&call.name) {
            call.name = name;
        }
        call::call(&self.wire, &self.agreed, call).await
    }

    /// Counts up when the server says that its list of tools changed, a few times per second at most.
    pub(crate) fn changed(&self) -> watch::Receiver<u64> {
        self.wire.changed()
    }

    /// Cancelled when the connection has ended.
    pub(crate) fn closed(&self) -> CancellationToken {
        self.wire.closed().clone()
    }

    /// Why the connection ended, once it has.
    pub(crate) fn why_closed(&self) -> Option<String> {
        self.wire.why_closed()
    }

    /// Ends the connection. A server behind pipes sees the end of what it reads.
    pub(crate) async fn close(&self) {
        self.wire.end().await;
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.wire.close("it is not needed any more");
    }
}

/// Waits for the end of a connection on which nothing can be sent any more. What a server wrote before it stopped to
/// read is read meanwhile, and how its output ended says more than that its input did.
async fn ended(wire: &UpstreamConnection, error: UpstreamError) -> UpstreamError {
    use UpstreamError::{Closed, ClosedAtProbe};
    if matches!(error, Closed(_) | ClosedAtProbe(_)) {
        let _ = tokio::time::timeout(LAST_LINES, wire.closed().cancelled()).await;
    }
    match (error, wire.why_closed()) {
        (Closed(_), Some(why)) => Closed(why),
        (ClosedAtProbe(_), Some(why)) => ClosedAtProbe(why),
        (error, _) => error,
    }
}

/// How long the end of a server that does not read any more is waited for.
const LAST_LINES: Duration = Duration::from_millis(500);

/// How long a request that is no call may take at least: what is left of the time to begin may be nothing.
const REQUEST: Duration = Duration::from_secs(30);

/// How many calls a server gets at the same time; more of them wait. A server keeps something for each.
const CALLS: usize = 64;

#[cfg(test)]
mod tests;
