//! One attempt: one request to the provider, and what came of it.
//!
//! The request runs on a thread of its own, since looking a name up and connecting cannot be interrupted. The
//! caller waits for events: it stops at once when the call is given up or takes too long, and shuts the socket
//! down, which ends a read or a write on it. A thread that is still connecting then ends within
//! [`connect_time`](super::LlmSettings::connect_time).

use std::io::{self, Read as _};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use jig_proto::sse::{EventLimits, EventParser, EventTooLong};
use ureq::Agent;
use ureq::config::Config;
use ureq::http::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER,
};
use ureq::http::{Request, Response, Uri};
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver as AgentResolver};
use ureq::unversioned::transport::{
    ConnectionDetails, Connector, DefaultConnector, NextTimeout, Transport,
};
use url::Url;

use super::answer::{LlmAnswerOutcome, LlmAnswerPieces, whole};
use super::chat_completions::ProviderErrorBody;
use super::error::LlmError;
use super::retry::told_wait;
use super::settings::LlmSettings;
use crate::cancel::CancelToken;
use crate::network::address::{AddressLookup, route};
use crate::network::http_settings::{HttpSettings, agent_config};
use crate::network::resolver::Resolver;

/// What came of one attempt. The difference is who may have processed what.
#[derive(Debug)]
pub(super) enum Attempt {
    /// Nothing was sent.
    NotSent { error: LlmError, again: bool },
    /// The request went out, and nobody said what became of it.
    Unanswered { error: LlmError, again: bool },
    /// The provider refused it.
    Rejected {
        error: LlmError,
        again: bool,
        /// How long the provider wants us to wait.
        wait: Option<Duration>,
    },
    /// The provider took it.
    Answered(LlmAnswerOutcome),
}

/// What all attempts of a call have in common.
#[derive(Debug)]
pub(super) struct LlmExchange<'a> {
    pub(super) settings: &'a LlmSettings,
    pub(super) resolver: &'a Arc<dyn Resolver>,
    pub(super) body: &'a [u8],
    pub(super) deadline: Instant,
    pub(super) cancel: &'a CancelToken,
}

impl LlmExchange<'_> {
    /// Makes one attempt. `on_text` gets the text of an answer that comes in pieces, as it comes.
    pub(super) fn attempt(&self, on_text: &mut dyn FnMut(&str)) -> Attempt {
        let url = self.settings.endpoint();
        let request = match self.request(&url) {
            Ok(request) => request,
            Err(error) => {
                return Attempt::NotSent {
                    error,
                    again: false,
                };
            }
        };
        let progress = Arc::new(AttemptProgress::new());
        let agent = self.agent(url, &progress);
        let (events, received) = mpsc::sync_channel(MAX_WAITING);
        let closer = agent.clone();
        let giving_up = events.clone();
        let _hook = self.cancel.on_cancel(move || {
            // If there is no room, the caller is about to wake up anyway, and looks.
            let _ = giving_up.try_send(LlmAttemptEvent::GivenUp);
            closer.clone().shutdown();
        });
        let worker = (agent.clone(), Arc::clone(&progress));
        let thread = thread::Builder::new().name(THREAD.to_owned());
        let spawned = thread.spawn(move || {
            let (agent, progress) = worker;
            let attempt = run(&agent, request, &progress, &events);
            let _ = events.send(LlmAttemptEvent::End(attempt));
        });
        let Ok(thread) = spawned else {
            let error = LlmError::Unreachable("there is no thread to call it".to_owned());
            return Attempt::NotSent {
                error,
                again: false,
            };
        };
        match self.follow(&received, &progress, on_text) {
            Ok(attempt) => {
                // It has sent its last event, and is as good as over.
                let _ = thread.join();
                attempt
            }
            Err(error) => {
                agent.shutdown();
                progress.stopped(error)
            }
        }
    }

    /// Waits for the end of the attempt; an error if nobody waits any longer.
    fn follow(
        &self,
        received: &mpsc::Receiver<LlmAttemptEvent>,
        progress: &AttemptProgress,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<Attempt, LlmError> {
        // While the caller is busy with a piece, nothing is read: that is not the provider's silence.
        let mut listening = Instant::now();
        loop {
            let now = Instant::now();
            let until = match progress.last_byte() {
                // Before it begins to answer, a model may think as long as the whole call may take.
                None => self.deadline,
                Some(last) => {
                    let silent = last.max(listening);
                    self.deadline.min(silent + self.settings.idle_time)
                }
            };
            if now >= until {
                return Err(LlmError::Timeout);
            }
            let event = received.recv_timeout(until - now);
            // A body that ends with its connection looks complete when the socket was shut down.
            if self.cancel.is_cancelled() {
                return Err(LlmError::Cancelled);
            }
            match event {
                Ok(LlmAttemptEvent::Text(text)) => on_text(&text),
                Ok(LlmAttemptEvent::End(attempt)) => return Ok(attempt),
                Ok(LlmAttemptEvent::Begun | LlmAttemptEvent::GivenUp) => {}
                // Bytes may have come meanwhile: the loop looks.
                Err(_) => continue,
            }
            listening = Instant::now();
        }
    }

    fn request(&self, url: &Url) -> Result<Request<Vec<u8>>, LlmError> {
        let unfit = || LlmError::InvalidRequest("the provider cannot be called".to_owned());
        let uri: Uri = url.as_str().parse().map_err(|_| unfit())?;
        let mut request = Request::post(uri)
            .header(CONTENT_TYPE, "application/json")
            .header("accept", "application/json, text/event-stream");
        if let Some(key) = &self.settings.key {
            let value = HeaderValue::from_str(&format!("Bearer {key}"));
            let mut value = value.map_err(|_| unfit())?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        request.body(self.body.to_vec()).map_err(|_| unfit())
    }

    fn agent(&self, url: Url, progress: &Arc<AttemptProgress>) -> Agent {
        let http = HttpSettings {
            resolver: Arc::clone(self.resolver),
            roots: self.settings.roots.clone(),
            ..HttpSettings::default()
        };
        let left = self.deadline.saturating_duration_since(Instant::now());
        let connect = Some(self.settings.connect_time.min(left));
        let config = agent_config(&http, &url, left, connect);
        let mark = ProgressConnector(Arc::clone(progress));
        let connector = DefaultConnector::default().chain(mark);
        let resolver = Arc::clone(self.resolver);
        Agent::with_parts(config, connector, ProviderAddresses { url, resolver })
    }
}

/// What the thread of an attempt tells.
#[derive(Debug)]
enum LlmAttemptEvent {
    /// The provider has begun to answer.
    Begun,
    Text(String),
    End(Attempt),
    /// Not from the thread: the call was given up. It only wakes the caller.
    GivenUp,
}

/// How far an attempt is.
#[derive(Debug)]
struct AttemptProgress {
    start: Instant,
    /// Whether there is a connection, over which the request goes at once.
    connected: AtomicBool,
    /// The status that the provider answered; 0 as long as there is none.
    status: AtomicU16,
    /// When the last bytes came, in milliseconds after the start.
    last: AtomicU64,
}

impl AttemptProgress {
    fn new() -> Self {
        Self {
            start: Instant::now(),
            connected: AtomicBool::new(false),
            status: AtomicU16::new(0),
            last: AtomicU64::new(0),
        }
    }

    fn bytes_came(&self) {
        let passed = self.start.elapsed().as_millis();
        let passed = u64::try_from(passed).unwrap_or(u64::MAX);
        self.last.store(passed, Ordering::SeqCst);
    }

    /// When the last bytes of an answer came; `None` before the first.
    fn last_byte(&self) -> Option<Instant> {
        let last = || Duration::from_millis(self.last.load(Ordering::SeqCst));
        (self.status.load(Ordering::SeqCst) != 0).then(|| self.start + last())
    }

    /// What an attempt is that nobody waits for any longer.
    fn stopped(&self, error: LlmError) -> Attempt {
        let again = false;
        if !self.connected.load(Ordering::SeqCst) {
            return Attempt::NotSent { error, again };
        }
        match self.status.load(Ordering::SeqCst) {
            0 | 200 => Attempt::Unanswered { error, again },
            _ => Attempt::Rejected {
                error,
                again,
                wait: None,
            },
        }
    }
}

/// Notes that there is a connection, and leaves it as it is.
#[derive(Debug)]
struct ProgressConnector(Arc<AttemptProgress>);

impl<In: Transport> Connector<In> for ProgressConnector {
    type Out = In;

    fn connect(
        &self,
        _: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<In>, ureq::Error> {
        self.0.connected.store(chained.is_some(), Ordering::SeqCst);
        Ok(chained)
    }
}

/// Finds the addresses of the provider, whatever is asked for. They are not judged: whoever runs the host has
/// named the provider, and it has to prove its name unless it is on this machine.
#[derive(Debug)]
struct ProviderAddresses {
    url: Url,
    resolver: Arc<dyn Resolver>,
}

impl AgentResolver for ProviderAddresses {
    fn resolve(
        &self,
        _: &Uri,
        _: &Config,
        _: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = match route(&self.url) {
            AddressLookup::Known(addresses) => addresses,
            AddressLookup::Ask(name) => self.resolver.resolve(&name).unwrap_or_default(),
        };
        let port = self.url.port_or_known_default();
        let (Some(port), false) = (port, found.is_empty()) else {
            return Err(ureq::Error::HostNotFound);
        };
        let mut addresses = self.empty();
        for address in found.into_iter().take(MAX_ADDRESSES) {
            addresses.push(SocketAddr::new(address, port));
        }
        Ok(addresses)
    }
}

/// The whole attempt, on its own thread.
fn run(
    agent: &Agent,
    request: Request<Vec<u8>>,
    progress: &AttemptProgress,
    events: &mpsc::SyncSender<LlmAttemptEvent>,
) -> Attempt {
    let response = match agent.run(request) {
        Ok(response) => response,
        Err(error) => return failed(&error, progress.connected.load(Ordering::SeqCst)),
    };
    let status = response.status().as_u16();
    progress.bytes_came();
    progress.status.store(status, Ordering::SeqCst);
    let _ = events.send(LlmAttemptEvent::Begun);
    if status == 200 {
        return Attempt::Answered(read(response, progress, events));
    }
    let wait = told_wait(
        text(response.headers(), &RETRY_AFTER_MS),
        text(response.headers(), &RETRY_AFTER),
    );
    let mut body = Vec::new();
    let mut reader = response.into_body().into_reader().take(MAX_REFUSAL);
    // The status says enough if the rest does not come.
    let _ = reader.read_to_end(&mut body);
    Attempt::Rejected {
        error: LlmError::Refused {
            status,
            message: refusal(status, &body),
        },
        again: matches!(status, 429 | 500 | 502 | 503 | 504),
        wait,
    }
}

/// Reads what the provider answers to a call that it took.
fn read(
    response: Response<ureq::Body>,
    progress: &AttemptProgress,
    events: &mpsc::SyncSender<LlmAttemptEvent>,
) -> LlmAnswerOutcome {
    let form = match LlmAnswerFormat::of(response.headers()) {
        Ok(form) => form,
        Err(error) => return LlmAnswerOutcome::unknown(error),
    };
    let mut reader = response.into_body().into_reader();
    let mut buffer = vec![0; 16 * 1024];
    let mut total = 0;
    let mut body = Vec::new();
    let mut parser = EventParser::new(EVENT_LIMITS);
    let mut pieces = LlmAnswerPieces::default();
    while !pieces.is_done() {
        let length = match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                let error = match is_timeout(&error) {
                    true => LlmError::Timeout,
                    false => LlmError::bad("the connection ended in the middle of it"),
                };
                return LlmAnswerOutcome::unknown(error);
            }
        };
        progress.bytes_came();
        let piece = &buffer[..length];
        total += length;
        let taken = match form {
            LlmAnswerFormat::Json if total > MAX_BODY => Err(LlmError::bad("it is too long")),
            LlmAnswerFormat::Json => {
                body.extend_from_slice(piece);
                Ok(())
            }
            LlmAnswerFormat::Events if total > MAX_STREAM => {
                Err(LlmError::bad("its stream is too long"))
            }
            LlmAnswerFormat::Events => take_events(&mut parser, piece, |data| {
                if let Some(text) = pieces.add(data)? {
                    let _ = events.send(LlmAttemptEvent::Text(text));
                }
                Ok(())
            }),
        };
        if let Err(error) = taken {
            return LlmAnswerOutcome::unknown(error);
        }
    }
    match form {
        LlmAnswerFormat::Events => pieces.finish(),
        LlmAnswerFormat::Json => whole(&body, &mut |text| {
            let _ = events.send(LlmAttemptEvent::Text(text));
        }),
    }
}

/// Takes a piece of a stream, and hands over the data of each event that ends in it.
fn take_events(
    parser: &mut EventParser,
    piece: &[u8],
    mut each: impl FnMut(&str) -> Result<(), LlmError>,
) -> Result<(), LlmError> {
    parser.feed(piece).map_err(too_long)?;
    while let Some(event) = parser.next().map_err(too_long)? {
        let Some(data) = event.data else {
            continue;
        };
        let data =
            str::from_utf8(&data).map_err(|_| LlmError::bad("its event stream is not UTF-8"))?;
        each(data)?;
    }
    Ok(())
}

fn too_long(what: EventTooLong) -> LlmError {
    LlmError::bad(match what {
        EventTooLong::Line => "a line of its event stream is too long",
        EventTooLong::Event => "an event of its stream is too long",
    })
}

/// The two forms of an answer. A provider that knows no streams answers in one piece, and is understood.
#[derive(Debug, Clone, Copy)]
enum LlmAnswerFormat {
    Json,
    Events,
}

impl LlmAnswerFormat {
    fn of(headers: &HeaderMap) -> Result<Self, LlmError> {
        // A secret cannot be found in what is compressed, and nobody asked for it.
        let coding = text(headers, &CONTENT_ENCODING).unwrap_or("identity");
        if !coding.eq_ignore_ascii_case("identity") {
            return Err(LlmError::bad("it is compressed"));
        }
        let kind = text(headers, &CONTENT_TYPE).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        match kind.to_ascii_lowercase().as_str() {
            "application/json" => Ok(Self::Json),
            "text/event-stream" => Ok(Self::Events),
            _ => Err(LlmError::bad("it is neither JSON nor an event stream")),
        }
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// What a refusal means. The provider's own words are repeated only where they speak about the request: in
/// others it may name the account, or a part of the key.
fn refusal(status: u16, body: &[u8]) -> String {
    let own = match status {
        401 | 403 => "it does not accept the key",
        429 => "it has too many requests, or the account has no credit",
        300..=399 => "it redirects, and redirects are not followed",
        500..=599 => "it has a problem of its own",
        _ => "it does not accept the request",
    };
    if !matches!(status, 400 | 404 | 413 | 422) {
        return own.to_owned();
    }
    match serde_json::from_slice::<ProviderErrorBody>(body) {
        Ok(refusal) => refusal.error.into_message(),
        Err(_) => own.to_owned(),
    }
}

/// What an attempt is that failed before there was an answer. Of what the system said only the sort is told.
fn failed(error: &ureq::Error, connected: bool) -> Attempt {
    let unreachable = |why: &str| LlmError::Unreachable(why.to_owned());
    let (error, again) = match error {
        ureq::Error::Timeout(_) => (LlmError::Timeout, false),
        ureq::Error::HostNotFound => (unreachable("its host was not found"), false),
        ureq::Error::Io(error) => match error.kind() {
            io::ErrorKind::TimedOut => (LlmError::Timeout, false),
            io::ErrorKind::ConnectionRefused => (unreachable("the connection was refused"), true),
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::UnexpectedEof => (unreachable("it closed the connection"), true),
            io::ErrorKind::InvalidData => (unreachable(CERTIFICATE), false),
            _ => (unreachable("the connection failed"), false),
        },
        ureq::Error::Rustls(_) | ureq::Error::Tls(_) => (unreachable(CERTIFICATE), false),
        _ if connected => (LlmError::bad("it is not HTTP as it should be"), false),
        _ => (unreachable("the connection failed"), false),
    };
    match connected {
        true => Attempt::Unanswered { error, again },
        false => Attempt::NotSent { error, again },
    }
}

fn is_timeout(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    error.kind() == io::ErrorKind::TimedOut || matches!(inner, Some(ureq::Error::Timeout(_)))
}

/// What the threads are called.
const THREAD: &str = "jig-llm";

/// The header in which OpenAI says the same as in `Retry-After`, more exactly.
const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");

const CERTIFICATE: &str = "its certificate is not valid";

/// How many addresses are tried; the agent has room for no more.
const MAX_ADDRESSES: usize = 16;

/// How many pieces of an answer wait for a caller that is slower than the provider, before no more is read.
const MAX_WAITING: usize = 64;

/// The most that is read of a refusal, which is shown in part at best.
const MAX_REFUSAL: u64 = 64 * 1024;

/// The longest answer in one piece, escapes and other members included.
const MAX_BODY: usize = 8 * 1024 * 1024;

/// The longest stream. Each few letters come in an event of some hundred bytes.
const MAX_STREAM: usize = 64 * 1024 * 1024;

/// How long the parts of a stream may be. A piece of an answer has a few hundred bytes.
const EVENT_LIMITS: EventLimits = EventLimits {
    line: 1024 * 1024,
    event: 2 * 1024 * 1024,
};

#[cfg(test)]
mod tests;
