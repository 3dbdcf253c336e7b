//! Streams of messages: that of a request, and that of what a server says on its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{HeaderName, HeaderValue, StatusCode};
use jig_proto::sse::{EventLimits, EventParser, EventTooLong, ServerEvent};
use reqwest::Response;
use tokio::sync::oneshot;

use super::{HttpUpstream, ResponseKind, kind, take, unreachable};
use crate::client::connection::UpstreamError;
use crate::client::connection::message::LONGEST;
use crate::client::connection::rate_limit::ReadThrottle;
use crate::client::connection::upstream_connection::{MessageUse, UpstreamConnection};

/// Takes in the stream of a request until its answer is there. A stream that breaks off is taken up again where
/// the server says that this can be done.
pub(super) async fn follow(
    http: &HttpUpstream,
    wire: &Arc<UpstreamConnection>,
    id: u64,
    response: Response,
) -> Result<(), UpstreamError> {
    let mut stream = EventStream::new(response);
    let mut tries = 0;
    loop {
        match stream.take(wire, Some(id)).await? {
            StreamEvent::Answer | StreamEvent::Message if !wire.is_waiting_for(id) => {
                stream.drain();
                return Ok(());
            }
            StreamEvent::Answer | StreamEvent::Message => tries = 0,
            StreamEvent::End => {
                let can_resume = !wire.is_stateless() && stream.place.is_some();
                if !can_resume || tries == TRIES {
                    return Err(UpstreamError::unreachable(BROKEN_OFF));
                }
                tries += 1;
                tokio::time::sleep(stream.retry).await;
                match get(http, stream.place.as_deref()).await {
                    Ok(response) => stream.resume(response),
                    Err(MissingStreamReason::Never) => {
                        return Err(UpstreamError::unreachable(BROKEN_OFF));
                    }
                    // The next round ends at once, and waits again.
                    Err(MissingStreamReason::Now) => stream.response = None,
                }
            }
        }
    }
}

/// Hears what a server of the older era says on its own, as long as the connection lasts. `opened` is dropped when
/// the server has said whether there is such a stream.
pub(in crate::client::connection) async fn listen(
    wire: Arc<UpstreamConnection>,
    opened: oneshot::Sender<()>,
) {
    let closed = wire.closed().clone();
    tokio::select! {
        () = hear(&wire, opened) => {}
        () = closed.cancelled() => {}
    }
}

async fn hear(wire: &Arc<UpstreamConnection>, opened: oneshot::Sender<()>) {
    let Some(http) = wire.http() else {
        return;
    };
    let mut place: Option<String> = None;
    let mut retry = RETRY;
    let mut failures = 0;
    let mut opened = Some(opened);
    while failures < FAILURES {
        let start = Instant::now();
        let got = get(http, place.as_deref()).await;
        drop(opened.take());
        match got {
            Err(MissingStreamReason::Never) => return,
            Err(MissingStreamReason::Now) => failures += 1,
            Ok(response) => {
                let mut stream = EventStream::new(response);
                stream.retry = retry;
                stream.place = place.take();
                loop {
                    match stream.take(wire, None).await {
                        Ok(StreamEvent::End) | Err(_) => break,
                        Ok(_) => {}
                    }
                }
                retry = stream.retry;
                place = stream.place;
                failures += 1;
            }
        }
        if start.elapsed() > LASTING {
            failures = 0;
            if place.is_none() {
                // What was said in between was not heard.
                wire.list_changed();
            }
        }
        let wait = retry.saturating_mul(1 << failures.min(6).saturating_sub(1));
        tokio::time::sleep(wait.min(LONGEST_RETRY)).await;
    }
}

/// Why there is no stream.
enum MissingStreamReason {
    /// There will be none.
    Never,
    /// There may be one later.
    Now,
}

async fn get(http: &HttpUpstream, place: Option<&str>) -> Result<Response, MissingStreamReason> {
    let session = http.session();
    let mut headers = http.base_headers(&session);
    headers.insert(
        http::header::ACCEPT,
        HeaderValue::from_static(super::EVENTS),
    );
    headers.remove(http::header::CONTENT_TYPE);
    if let Some(place) = place {
        let place = HeaderValue::from_str(place).map_err(|_| MissingStreamReason::Never)?;
        headers.insert(PLACE, place);
    }
    let request = http.client.get(http.url.clone()).headers(headers);
    let response = request.send().await.map_err(|_| MissingStreamReason::Now)?;
    let status = response.status();
    if status.is_success() {
        return match kind(&response) {
            ResponseKind::Events => Ok(response),
            _ => Err(MissingStreamReason::Never),
        };
    }
    // A session that was forgotten is made anew by the next request.
    let may_come = status.is_server_error()
        || status == StatusCode::TOO_MANY_REQUESTS
        || (status == StatusCode::NOT_FOUND && session.id.is_some());
    Err(if may_come {
        MissingStreamReason::Now
    } else {
        MissingStreamReason::Never
    })
}

/// A stream of events.
struct EventStream {
    response: Option<Response>,
    parser: EventParser,
    pace: ReadThrottle,
    /// After which event to go on.
    place: Option<String>,
    /// When.
    retry: Duration,
}

/// What came.
enum StreamEvent {
    Answer,
    Message,
    End,
}

impl EventStream {
    fn new(response: Response) -> Self {
        Self {
            response: Some(response),
            parser: EventParser::new(LIMITS),
            pace: ReadThrottle::new(Instant::now()),
            place: None,
            retry: RETRY,
        }
    }

    fn resume(&mut self, response: Response) {
        self.response = Some(response);
        self.parser = EventParser::new(LIMITS);
    }

    /// Takes the next event in.
    async fn take(
        &mut self,
        wire: &Arc<UpstreamConnection>,
        origin: Option<u64>,
    ) -> Result<StreamEvent, UpstreamError> {
        loop {
            if let Some(event) = self.parser.next().map_err(too_long)? {
                match self.event(wire, event, origin).await? {
                    Some(taken) => return Ok(taken),
                    None => continue,
                }
            }
            let Some(response) = &mut self.response else {
                return Ok(StreamEvent::End);
            };
            let Ok(Some(bytes)) = response.chunk().await.map_err(unreachable) else {
                self.response = None;
                return Ok(StreamEvent::End);
            };
            self.parser.feed(&bytes).map_err(too_long)?;
        }
    }

    async fn event(
        &mut self,
        wire: &Arc<UpstreamConnection>,
        event: ServerEvent,
        origin: Option<u64>,
    ) -> Result<Option<StreamEvent>, UpstreamError> {
        if let Some(id) = event.id {
            // An empty one says that there is no way to go on.
            self.place = Some(id).filter(|id| !id.is_empty());
        }
        if let Some(retry) = event.retry {
            self.retry = retry.min(LONGEST_RETRY);
        }
        let data = event.data.as_deref().unwrap_or_default().trim_ascii();
        if data.is_empty() {
            return Ok(None);
        }
        if take(wire, data, origin)? == MessageUse::Answer {
            return Ok(Some(StreamEvent::Answer));
        }
        if let Some(wait) = self.pace.noise(Instant::now(), data.len()) {
            tokio::time::sleep(wait).await;
        }
        Ok(Some(StreamEvent::Message))
    }

    /// Reads what is left, which is nothing if the server is decent, so that the connection can be used again.
    fn drain(self) {
        if let Some(mut response) = self.response {
            tokio::spawn(tokio::time::timeout(DRAIN, async move {
                let mut left = KEEP;
                while let Ok(Some(bytes)) = response.chunk().await {
                    left = left.saturating_sub(bytes.len());
                    if left == 0 {
                        return;
                    }
                }
            }));
        }
    }
}

fn too_long(_: EventTooLong) -> UpstreamError {
    let limit = LONGEST >> 20;
    UpstreamError::Broken(format!("it sent an event of more than {limit} MiB"))
}

/// A message is one event, and may be one line of it.
const LIMITS: EventLimits = EventLimits {
    line: LONGEST + FIELD,
    event: LONGEST,
};

/// The name of a field, before what it says.
const FIELD: usize = b"data: ".len();

const PLACE: HeaderName = HeaderName::from_static("last-event-id");

const BROKEN_OFF: &str = "the stream of its response broke off before the answer";

/// How long to wait before a stream is taken up again, if the server does not say.
const RETRY: Duration = Duration::from_secs(1);

/// The longest that a server may want it to be.
const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// How often in a row the stream of a request is taken up without a message.
const TRIES: usize = 5;

/// The same for the stream of a connection.
const FAILURES: u32 = 10;

/// A stream that held so long did not fail: many a proxy ends one on which nothing was said for half a minute.
const LASTING: Duration = Duration::from_secs(20);

/// How long the end of a stream is waited for, and how many bytes are passed over for it.
const DRAIN: Duration = Duration::from_secs(1);
const KEEP: usize = 16 << 10;
