//! [`ServerStdin`]: a server whose standard input and output we hold, one message on each line.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jig_proto::lines::{Frame, LineBuffer};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

use super::message::{LONGEST, ServerMessage, parse, some_words, texts};
use super::rate_limit::ReadThrottle;
use super::stray_lines::Strays;
use super::upstream_connection::{MessageUse, UpstreamConnection};

/// What the server reads.
#[derive(Debug)]
pub(super) struct ServerStdin {
    writer: Arc<Mutex<Option<pipe::Sender>>>,
}

impl ServerStdin {
    /// What the server reads, and what it writes.
    pub(super) fn new(stdin: OwnedFd, stdout: OwnedFd) -> io::Result<(Self, pipe::Receiver)> {
        let writer = pipe::Sender::from_owned_fd(stdin)?;
        let reader = pipe::Receiver::from_owned_fd(stdout)?;
        let writer = Arc::new(Mutex::new(Some(writer)));
        Ok((Self { writer }, reader))
    }

    /// Writes a message. Given up, the message goes out whole or not at all: half a line would spoil the next.
    pub(super) async fn send(
        &self,
        mut line: Vec<u8>,
        closed: &CancellationToken,
    ) -> io::Result<()> {
        line.push(b'\n');
        // Nearly every message fits into the pipe: nobody has to wait for it.
        let (held, written) = match Arc::clone(&self.writer).try_lock_owned() {
            Ok(held) => {
                let written = written_at_once(&held, &line)?;
                if written == line.len() {
                    return Ok(());
                }
                (Some(held), written)
            }
            Err(_) => (None, 0),
        };
        Box::pin(self.send_rest(line, written, held, closed)).await
    }

    /// Writes what is left of a message. Whoever has begun with it `held` the writer.
    async fn send_rest(
        &self,
        line: Vec<u8>,
        mut written: usize,
        held: Option<OwnedMutexGuard<Option<pipe::Sender>>>,
        closed: &CancellationToken,
    ) -> io::Result<()> {
        let mut held = match held {
            Some(held) => held,
            None => {
                let held = Arc::clone(&self.writer).lock_owned().await;
                written = written_at_once(&held, &line)?;
                held
            }
        };
        if written == line.len() {
            return Ok(());
        }
        let closed = closed.clone();
        let rest = tokio::spawn(async move {
            let writer = held.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
            tokio::select! {
                written = writer.write_all(&line[written..]) => written,
                () = closed.cancelled() => Err(io::ErrorKind::BrokenPipe.into()),
            }
        });
        rest.await
            .unwrap_or_else(|error| Err(io::Error::other(error)))
    }

    /// Closes what the server reads, behind the last message that is being written, unless that takes long.
    pub(super) async fn shut(&self, closed: &CancellationToken) {
        tokio::select! {
            mut writer = self.writer.lock() => drop(writer.take()),
            () = tokio::time::sleep(LAST_MESSAGE) => {}
            () = closed.cancelled() => {}
        }
    }
}

/// How much of a line the pipe takes now.
fn written_at_once(writer: &Option<pipe::Sender>, line: &[u8]) -> io::Result<usize> {
    let writer = writer.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
    match writer.try_write(line) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
        written => written,
    }
}

/// Reads what the server writes until there is an end to it, and closes the connection. What is no message is in
/// `strays` by then.
pub(super) async fn read(
    wire: Arc<UpstreamConnection>,
    mut reader: pipe::Receiver,
    strays: Strays,
) {
    let mut output = ServerOutput::new(strays);
    let mut lines = LineBuffer::new(LONGEST).keeping_blank_lines();
    let why = tokio::select! {
        why = output.read(&wire, &mut reader, &mut lines) => why,
        () = wire.closed().cancelled() => String::new(),
    };
    output.end(lines.finish());
    wire.close(&why);
    // Now that it is closed, nobody holds the writer for long.
    if let Some(pipes) = wire.pipes() {
        drop(pipes.writer.lock().await.take());
    }
}

/// What a server writes.
struct ServerOutput {
    pace: ReadThrottle,
    /// Where lines that are no messages are kept until there was a message.
    kept: Strays,
    has_spoken: bool,
    strays: usize,
    stray_bytes: usize,
}

impl ServerOutput {
    fn new(kept: Strays) -> Self {
        Self {
            pace: ReadThrottle::new(Instant::now()),
            kept,
            has_spoken: false,
            strays: 0,
            stray_bytes: 0,
        }
    }

    /// Returns why there is nothing more to read. What has come of a line stays in `lines`.
    async fn read(
        &mut self,
        wire: &Arc<UpstreamConnection>,
        reader: &mut pipe::Receiver,
        lines: &mut LineBuffer,
    ) -> String {
        let mut chunk = vec![0; READ_AT_ONCE];
        loop {
            let mut input = match reader.read(&mut chunk).await {
                Ok(0) => return "it closed its standard output".to_owned(),
                Ok(count) => &chunk[..count],
                Err(error) => return format!("its standard output cannot be read: {error}"),
            };
            while let Some(frame) = lines.next(&mut input) {
                let Frame::Line(line) = frame else {
                    return format!("it sent a line of more than {} MiB", LONGEST >> 20);
                };
                match self.line(wire, line) {
                    Ok(MessageUse::Answer) => {}
                    Ok(MessageUse::Noise) => {
                        if let Some(wait) = self.pace.noise(Instant::now(), line.len()) {
                            tokio::time::sleep(wait).await;
                        }
                    }
                    Err(why) => return why,
                }
            }
        }
    }

    /// Takes one line in.
    ///
    /// # Errors
    ///
    /// Why nothing that comes after it can be trusted.
    fn line(&mut self, wire: &Arc<UpstreamConnection>, line: &[u8]) -> Result<MessageUse, String> {
        let line = line.trim_ascii();
        if line.is_empty() {
            return Ok(MessageUse::Noise);
        }
        if let Some(answer) = texts(line) {
            return Ok(wire.incoming(answer, None));
        }
        let messages = match parse(line) {
            Ok(Value::Array(values)) => values.into_iter().map(ServerMessage::of).collect(),
            Ok(value) => vec![ServerMessage::of(value)],
            // A message that cannot be read may have been the answer to any request.
            Err(error) if is_meant_as_message(line) => {
                return Err(format!("it sent a message that cannot be read: {error}"));
            }
            Err(_) => vec![None],
        };
        let mut sought = MessageUse::Noise;
        for message in messages {
            match message {
                Some(message) => {
                    if !self.has_spoken {
                        self.has_spoken = true;
                        self.kept.forget();
                    }
                    if wire.incoming(message, None) == MessageUse::Answer {
                        sought = MessageUse::Answer;
                    }
                }
                None => self.stray(line)?,
            }
        }
        Ok(sought)
    }

    /// Many servers write a greeting, or a log, to where only messages belong. A few lines do no harm.
    fn stray(&mut self, line: &[u8]) -> Result<(), String> {
        self.strays += 1;
        self.stray_bytes = self.stray_bytes.saturating_add(line.len());
        if self.strays > STRAYS || self.stray_bytes > STRAY_BYTES {
            let shown = some_words(&String::from_utf8_lossy(line), LONGEST_SHOWN);
            return Err(format!(
                "it writes to its standard output what is no message of the protocol, for example: {shown}"
            ));
        }
        if !self.has_spoken {
            self.kept.add(line);
        }
        Ok(())
    }

    /// Takes in that nothing more comes. A last line without an end, such as a prompt, is no message either.
    fn end(&mut self, rest: Option<Frame<'_>>) {
        let rest = match rest {
            Some(Frame::Line(rest)) => rest.trim_ascii(),
            _ => &[],
        };
        let is_kept = !rest.is_empty() && rest.len() <= STRAY_BYTES && !is_meant_as_message(rest);
        if !self.has_spoken && is_kept {
            self.kept.add(rest);
        }
        self.kept.end();
    }
}

fn is_meant_as_message(line: &[u8]) -> bool {
    const NAME: &[u8] = b"\"jsonrpc\"";
    let start = &line[..line.len().min(LOOKED_AT)];
    let end = &line[line.len().saturating_sub(LOOKED_AT)..];
    [start, end]
        .iter()
        .any(|part| part.windows(NAME.len()).any(|part| part == NAME))
}

/// The default size of a pipe.
const READ_AT_ONCE: usize = 64 << 10;

/// How many lines that are no messages are passed over, and how many bytes of them.
const STRAYS: usize = 1000;
const STRAY_BYTES: usize = 256 << 10;

/// How much of such a line is shown.
const LONGEST_SHOWN: usize = 200;

/// Where a line that cannot be read says that it is a message: messages name their version first or last.
const LOOKED_AT: usize = 256;

/// How long the end of a connection waits for a server that does not read.
const LAST_MESSAGE: Duration = Duration::from_millis(100);
