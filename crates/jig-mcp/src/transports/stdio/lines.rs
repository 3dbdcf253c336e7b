//! [`StdioLines`]: one message on each line, as a transport of rmcp.
//!
//! A line that is too long, is no JSON or no message is answered, and the next one is read: rmcp's own transport
//! drops most of these without a word, and their sender waits for ever. A client that asks faster than it
//! reads answers is not read from until it does.

mod lone_surrogates;
mod unanswered_requests;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jig_proto::lines::{Frame, LineBuffer};
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorData, GetExtensions, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use self::unanswered_requests::{HeldRequest, HeldRequests};

/// Messages on lines.
pub(super) struct StdioLines<R, W: AsyncWrite + Unpin + Send + 'static> {
    input: StdioInput<R, W>,
    /// Whether there was a request: what comes before it means nothing.
    has_begun: bool,
    out: Arc<StdioSender<W>>,
    /// Told when the client has closed its side.
    closed: CancellationToken,
}

/// What comes from the client.
struct StdioInput<R, W> {
    reader: BufReader<R>,
    /// The line as far as it has come. It is here, and not in a function: `receive` may be given up at any
    /// moment, and goes on where it was.
    lines: LineBuffer,
    /// The last whole line.
    line: Vec<u8>,
    /// What is being answered to the last line that was no message.
    reply: Option<JoinHandle<()>>,
    out: Arc<StdioSender<W>>,
}

/// What goes to the client, and what is owed to it.
struct StdioSender<W> {
    writer: tokio::sync::Mutex<Option<W>>,
    /// The requests that have no answer yet.
    owed: Mutex<HashMap<RequestId, Arc<HeldRequest>>>,
    debts: Arc<HeldRequests>,
    /// Told when nobody reads any more.
    gone: CancellationToken,
}

impl<R, W> StdioLines<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    /// Messages from `reader` and to `writer`. `closed` is cancelled when there is nothing more to read.
    pub(super) fn new(reader: R, writer: W, closed: CancellationToken) -> Self {
        let out = Arc::new(StdioSender {
            writer: tokio::sync::Mutex::new(Some(writer)),
            owed: Mutex::default(),
            debts: Arc::default(),
            gone: CancellationToken::new(),
        });
        Self {
            input: StdioInput {
                reader: BufReader::with_capacity(READ_AT_ONCE, reader),
                lines: LineBuffer::new(MAX_LINE),
                line: Vec::new(),
                reply: None,
                out: Arc::clone(&out),
            },
            has_begun: false,
            out,
            closed,
        }
    }

    /// What a whole line says.
    fn parsed(&mut self) -> Result<Option<ClientJsonRpcMessage>, LineRejection> {
        let line = self.input.line.trim_ascii();
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        let bytes = line.len();
        let message = match line {
            [] => Ok(None),
            line => {
                message(line).map(|message| message.filter(|message| self.is_expected(message)))
            }
        };
        let message = message.and_then(|message| match message {
            Some(message) => self.noted(message, bytes).map(Some),
            None => Ok(None),
        });
        self.input.line.clear();
        // One large message must not hold its memory for ever.
        self.input.line.shrink_to(KEPT);
        message
    }

    /// Whether a message means something now. Before the first request, nothing else does, and rmcp would give
    /// the connection up.
    fn is_expected(&self, message: &ClientJsonRpcMessage) -> bool {
        self.has_begun || matches!(message, ClientJsonRpcMessage::Request(_))
    }

    /// Notes what a message of so many bytes owes or settles.
    fn noted(
        &mut self,
        mut message: ClientJsonRpcMessage,
        bytes: usize,
    ) -> Result<ClientJsonRpcMessage, LineRejection> {
        match &mut message {
            ClientJsonRpcMessage::Request(request) => {
                self.has_begun = true;
                let debt = HeldRequest::new(&self.out.debts, bytes);
                // The handler holds it, too: one whose request was given up may go on for a while.
                request.request.extensions_mut().insert(Arc::clone(&debt));
                match self.out.owed().entry(request.id.clone()) {
                    Entry::Vacant(place) => place.insert(debt),
                    // Nobody could tell the answers of both apart, nor which of them is to be cancelled.
                    Entry::Occupied(_) => return Err(Box::new((None, in_use(&request.id)))),
                };
            }
            // A request that was given up gets no answer.
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.out.owed().remove(id);
                }
            }
            _ => {}
        }
        Ok(message)
    }

    /// The next message, if there is one.
    async fn received(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let line = match self.input.line().await {
                Ok(LineOutcome::End) | Err(_) => return None,
                Ok(LineOutcome::TooLong) => Err(Box::new((None, too_long()))),
                Ok(LineOutcome::Whole) => self.parsed(),
            };
            match line {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(refused) => self.input.answer(*refused),
            }
        }
    }
}

impl<R, W> StdioInput<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    /// The next line, when there is room for it.
    async fn line(&mut self) -> io::Result<LineOutcome> {
        self.has_room().await;
        self.next().await
    }

    /// Reads on until there is a whole line.
    async fn next(&mut self) -> io::Result<LineOutcome> {
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                // Half a message is none.
                return Ok(LineOutcome::End);
            }
            let mut rest = available;
            let frame = self.lines.next(&mut rest);
            let outcome = match frame {
                None => None,
                Some(Frame::Line(line)) => {
                    self.line.extend_from_slice(line);
                    Some(LineOutcome::Whole)
                }
                Some(_) => Some(LineOutcome::TooLong),
            };
            let taken = available.len() - rest.len();
            self.reader.consume(taken);
            // From the reading to here nothing waits, so that nothing is lost if this is given up.
            if let Some(outcome) = outcome {
                return Ok(outcome);
            }
        }
    }

    /// Answers a line that is no message. A task does it, because `receive` may be given up in between; there
    /// is never more than one, so that a client that sends garbage and does not read is not read from.
    fn answer(&mut self, (id, error): (Option<RequestId>, ErrorData)) {
        let out = Arc::clone(&self.out);
        self.reply = Some(tokio::spawn(async move {
            if let Ok(line) = line(&ServerJsonRpcMessage::error(error, id)) {
                let _ = out.write(line).await;
            }
        }));
    }

    /// Waits until the client has read enough to be read from.
    async fn has_room(&mut self) {
        if let Some(reply) = &mut self.reply {
            let _ = reply.await;
            self.reply = None;
        }
        self.out.debts.are_bearable().await;
    }
}

/// What a line that is no message is answered with, and which request it was, if that can be told.
type LineRejection = Box<(Option<RequestId>, ErrorData)>;

/// What was read.
enum LineOutcome {
    Whole,
    TooLong,
    End,
}

/// What a line says; nothing, if it is a notification that nobody knows. Otherwise the error that it is
/// answered with.
fn message(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, LineRejection> {
    let error = match serde_json::from_slice(line) {
        Ok(message) => return Ok(Some(message)),
        Err(error) => error,
    };
    if !error.is_data() {
        let error = ErrorData::parse_error(format!("the line is no JSON: {error}"), None);
        // Halves of characters are the one fault that clients make in earnest: where a model, or somebody who
        // counts in UTF-16, has cut an emoji in two.
        let mended = lone_surrogates::replaced(line);
        let mended = mended.and_then(|line| serde_json::from_slice::<Value>(&line).ok());
        return Err(Box::new((mended.as_ref().and_then(id_of), error)));
    }
    // It is JSON, but no message of the protocol. Whoever sent it should at least learn which one that was.
    let value: Value = serde_json::from_slice(line).unwrap_or_default();
    let id = id_of(&value);
    if id.is_none() && value["method"].is_string() {
        return Ok(None);
    }
    let what = match value {
        Value::Array(_) => "messages come one on each line, not as a batch",
        Value::Object(_) => "the line is no request, notification or response of JSON-RPC 2.0",
        _ => "the line is no JSON object",
    };
    Err(Box::new((id, ErrorData::invalid_request(what, None))))
}

/// The id of something that may have been meant as a request.
fn id_of(value: &Value) -> Option<RequestId> {
    match &value["id"] {
        Value::String(id) => Some(RequestId::String(id.as_str().into())),
        Value::Number(id) => id.as_i64().map(RequestId::Number),
        _ => None,
    }
}

/// A message as a line.
fn line(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

impl<W> StdioSender<W>
where
    W: AsyncWrite + Unpin,
{
    /// Writes one line, whole.
    async fn write(&self, line: Vec<u8>) -> io::Result<()> {
        let mut writer = self.writer.lock().await;
        let gone = || io::Error::from(io::ErrorKind::NotConnected);
        let writer = writer.as_mut().ok_or_else(gone)?;
        let written = match writer.write_all(&line).await {
            Ok(()) => writer.flush().await,
            Err(error) => Err(error),
        };
        // Half a line may be out: whatever comes after it would not be understood.
        written.inspect_err(|_| self.gone.cancel())
    }
}

impl<W> StdioSender<W> {
    fn owed(&self) -> MutexGuard<'_, HashMap<RequestId, Arc<HeldRequest>>> {
        self.owed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a message is the answer to. It is owed until it was read, even if the request was given up.
    fn settled(&self, message: &ServerJsonRpcMessage) -> Option<Arc<HeldRequest>> {
        let id = match message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => return None,
        };
        let debt = id.and_then(|id| self.owed().remove(id));
        debt.or_else(|| Some(HeldRequest::new(&self.debts, 0)))
    }
}

impl<R, W> Transport<RoleServer> for StdioLines<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let out = Arc::clone(&self.out);
        let debt = out.settled(&message);
        async move {
            let written = out.write(line(&message)?).await;
            drop(debt);
            written
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let gone = self.out.gone.clone();
        let received = tokio::select! {
            received = self.received() => received,
            // Nobody would learn what comes of it.
            () = gone.cancelled() => None,
        };
        if received.is_none() {
            self.closed.cancel();
        }
        received
    }

    async fn close(&mut self) -> io::Result<()> {
        self.out.writer.lock().await.take();
        Ok(())
    }
}

fn too_long() -> ErrorData {
    let limit = MAX_LINE / 1024 / 1024;
    ErrorData::invalid_request(format!("the line is longer than {limit} MiB"), None)
}

fn in_use(id: &RequestId) -> ErrorData {
    let id = id.to_string();
    let id = crate::text_prefix::cut(&id, SHOWN);
    let text = format!("the id `{id}` is that of a request which has no answer yet");
    ErrorData::invalid_request(text, None)
}

/// The longest line. Without a limit a client could make jig hold whatever it sends.
const MAX_LINE: usize = 16 * 1024 * 1024;

/// How much is read at once: a pipe holds as much.
const READ_AT_ONCE: usize = 64 * 1024;

/// How much of an id is shown.
const SHOWN: usize = 64;

/// How much memory a line keeps for the next one.
const KEPT: usize = 64 * 1024;

/// Some editors put it at the start of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[cfg(test)]
mod tests;
