//! [`Lines`]: one message on each line, as a transport of rmcp.
//!
//! A line that is too long, is no JSON or no message is answered, and the next one is read: rmcp's own transport
//! drops most of these without a word, and their sender waits for ever. A client that asks faster than it
//! reads answers is not read from until it does.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorData, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Messages on lines.
pub(super) struct Lines<R, W> {
    reader: BufReader<R>,
    /// The line as far as it has come. It is here, and not in a function: `receive` may be given up at any
    /// moment, and goes on where it was.
    line: Vec<u8>,
    /// Whether the rest of a line that was too long is still coming.
    is_skipping: bool,
    /// Whether there was a request: what comes before it means nothing.
    has_begun: bool,
    /// What is being answered to the last line that was no message.
    reply: Option<JoinHandle<()>>,
    out: Arc<Out<W>>,
    /// Told when the client has closed its side.
    closed: CancellationToken,
}

/// What goes to the client, and what is owed to it.
struct Out<W> {
    writer: tokio::sync::Mutex<Option<W>>,
    /// The requests that have no answer yet.
    owed: Mutex<HashSet<RequestId>>,
    paid: Notify,
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    /// Messages from `reader` and to `writer`. `closed` is cancelled when there is nothing more to read.
    pub(super) fn new(reader: R, writer: W, closed: CancellationToken) -> Self {
        Self {
            reader: BufReader::with_capacity(READ_AT_ONCE, reader),
            line: Vec::new(),
            is_skipping: false,
            has_begun: false,
            reply: None,
            out: Arc::new(Out {
                writer: tokio::sync::Mutex::new(Some(writer)),
                owed: Mutex::default(),
                paid: Notify::new(),
            }),
            closed,
        }
    }

    /// Reads on until there is a whole line.
    async fn next(&mut self) -> io::Result<Line> {
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                // Half a message is none.
                return Ok(Line::End);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            let is_too_long = self.line.len() + taken > MAX_LINE;
            if !self.is_skipping && !is_too_long {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.reader.consume(taken);
            // From here to the end nothing waits, so that nothing is lost if this is given up.
            match (end, self.is_skipping || is_too_long) {
                (None, false) => {}
                (Some(_), false) => return Ok(Line::Whole),
                (None, true) => {
                    self.is_skipping = true;
                    self.line = Vec::new();
                }
                (Some(_), true) => {
                    self.is_skipping = false;
                    self.line = Vec::new();
                    return Ok(Line::TooLong);
                }
            }
        }
    }

    /// What a whole line says.
    fn parsed(&mut self) -> Result<Option<ClientJsonRpcMessage>, Refused> {
        let line = self.line.trim_ascii();
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        let message = match line {
            [] => Ok(None),
            line => {
                message(line).map(|message| message.filter(|message| self.is_expected(message)))
            }
        };
        self.line.clear();
        // One large message must not hold its memory for ever.
        self.line.shrink_to(KEPT);
        message
    }

    /// Whether a message means something now. Before the first request, nothing else does, and rmcp would give
    /// the connection up.
    fn is_expected(&self, message: &ClientJsonRpcMessage) -> bool {
        self.has_begun || matches!(message, ClientJsonRpcMessage::Request(_))
    }

    /// Notes what a message owes or settles.
    fn noted(&mut self, message: &ClientJsonRpcMessage) {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                self.has_begun = true;
                self.out.owed().insert(request.id.clone());
            }
            // A request that was given up gets no answer.
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.out.settled(id);
                }
            }
            _ => {}
        }
    }

    /// Answers a line that is no message. A task does it, because `receive` may be given up in between; there
    /// is never more than one, so that a client that sends garbage and does not read is not read from.
    fn answer(&mut self, (id, error): (Option<RequestId>, ErrorData)) {
        let out = Arc::clone(&self.out);
        self.reply = Some(tokio::spawn(async move {
            let _ = out.write(&ServerJsonRpcMessage::error(error, id)).await;
        }));
    }

    /// Waits until the client has read enough to be read from.
    async fn has_room(&mut self) {
        if let Some(reply) = &mut self.reply {
            let _ = reply.await;
            self.reply = None;
        }
        loop {
            let paid = self.out.paid.notified();
            if self.out.owed().len() < MAX_OWED {
                return;
            }
            paid.await;
        }
    }
}

/// What a line that is no message is answered with, and which request it was, if that can be told.
type Refused = Box<(Option<RequestId>, ErrorData)>;

/// What was read.
enum Line {
    Whole,
    TooLong,
    End,
}

/// What a line says; nothing, if it is a notification that nobody knows. Otherwise the error that it is
/// answered with.
fn message(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Refused> {
    let error = match serde_json::from_slice(line) {
        Ok(message) => return Ok(Some(message)),
        Err(error) => error,
    };
    if !error.is_data() {
        let error = ErrorData::parse_error(format!("the line is no JSON: {error}"), None);
        return Err(Box::new((None, error)));
    }
    // It is JSON, but no message of the protocol. Whoever sent it should at least learn which one that was.
    let value: Value = serde_json::from_slice(line).unwrap_or_default();
    let id = match &value["id"] {
        Value::String(id) => Some(RequestId::String(id.as_str().into())),
        Value::Number(id) => id.as_i64().map(RequestId::Number),
        _ => None,
    };
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

impl<W> Out<W>
where
    W: AsyncWrite + Unpin,
{
    /// Writes one line, whole.
    async fn write(&self, message: &ServerJsonRpcMessage) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let mut writer = self.writer.lock().await;
        let gone = || io::Error::from(io::ErrorKind::NotConnected);
        let writer = writer.as_mut().ok_or_else(gone)?;
        writer.write_all(&line).await?;
        writer.flush().await
    }
}

impl<W> Out<W> {
    fn owed(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.owed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request has its answer, or gets none.
    fn settled(&self, id: &RequestId) {
        self.owed().remove(id);
        self.paid.notify_one();
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
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
        async move {
            let written = out.write(&message).await;
            match &message {
                ServerJsonRpcMessage::Response(response) => out.settled(&response.id),
                ServerJsonRpcMessage::Error(error) => {
                    if let Some(id) = &error.id {
                        out.settled(id);
                    }
                }
                _ => {}
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            self.has_room().await;
            let line = match self.next().await {
                Ok(Line::End) | Err(_) => {
                    self.closed.cancel();
                    return None;
                }
                Ok(Line::TooLong) => Err(Box::new((None, too_long()))),
                Ok(Line::Whole) => self.parsed(),
            };
            match line {
                Ok(Some(message)) => {
                    self.noted(&message);
                    return Some(message);
                }
                Ok(None) => {}
                Err(refused) => self.answer(*refused),
            }
        }
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

/// The longest line. Without a limit a client could make jig hold whatever it sends.
const MAX_LINE: usize = 16 * 1024 * 1024;

/// How many requests may wait for their answers before no more are read. Without a limit a client that sends
/// and never reads would fill the memory. Calls have their own, lower limit; this one is above all that a
/// client does in earnest.
const MAX_OWED: usize = 1024;

/// How much is read at once: a pipe holds as much.
const READ_AT_ONCE: usize = 64 * 1024;

/// How much memory a line keeps for the next one.
const KEPT: usize = 64 * 1024;

/// Some editors put it at the start of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[cfg(test)]
mod tests;
