//! [`ProxyClientThread`]: the thread that serves one client.

use std::io;
use std::sync::Arc;

use jig_proto::fsproxy::{
    self, FIRST_HANDLE, FrameBuffer, Op, OpenParams, ProxyError, ProxyRequest, Variant, WriteParams,
};

use super::client::{ClientEnd, ClientState};
pub(super) use super::client_socket::ClientLink;
use super::options::ManagerOptions;
use super::{llm, text_variant};

/// Serves one client: reads what has come, answers all of it in order with one write, and waits for more.
///
/// A client that asks and does not read is waited for: no more than [`FLUSH`] and one answer are kept for it.
pub(super) struct ProxyClientThread {
    client: Arc<ClientState>,
    link: Arc<ClientLink>,
    lenient: bool,
    max_read: usize,
    legacy: bool,
    /// Answers that are not sent yet.
    out: Vec<u8>,
    /// Content on its way between a file and a message.
    content: Vec<u8>,
}

impl ProxyClientThread {
    pub(super) fn new(
        client: Arc<ClientState>,
        link: Arc<ClientLink>,
        options: &ManagerOptions,
    ) -> Self {
        Self {
            client,
            link,
            lenient: options.lenient,
            max_read: options.max_read,
            legacy: options.legacy,
            out: Vec::new(),
            content: Vec::new(),
        }
    }

    /// Serves the client to its end, and cleans up after it (F-080, F-082, F-083).
    pub(super) fn run(mut self) {
        // Whatever happens here must not leave handles behind (F-092).
        let _last = LastOfAll(Arc::clone(&self.client));
        let end = self.serve().unwrap_or_else(ClientEnd::from);
        let Self { client, link, .. } = self;
        link.shut_down();
        drop(link);
        client.finish(end);
    }

    fn serve(&mut self) -> io::Result<ClientEnd> {
        let mut frames = FrameBuffer::new(self.client.max_frame());
        let count = self.link.receive(frames.space())?;
        frames.filled(count);
        let Some(first) = frames.first() else {
            return Ok(ClientEnd::Eof);
        };
        match Variant::detect(first) {
            Variant::Framed => self.serve_frames(frames),
            Variant::Legacy if self.legacy => {
                let first = frames.into_rest();
                Ok(text_variant::serve(&self.client, &self.link, first))
            }
            Variant::UnframedJson => {
                let why = "a message begins with its length in 4 bytes, the highest first";
                self.out.extend(unframed(&ProxyError::arg(why)));
                self.flush()?;
                Ok(ClientEnd::Broken(
                    "messages without their length".to_owned(),
                ))
            }
            Variant::Legacy | Variant::Unknown => {
                Ok(ClientEnd::Broken("this is not the protocol".to_owned()))
            }
        }
    }

    fn serve_frames(&mut self, mut frames: FrameBuffer) -> io::Result<ClientEnd> {
        loop {
            loop {
                match frames.next() {
                    Ok(Some(frame)) => self.answer(frame)?,
                    Ok(None) => break,
                    Err(too_long) => {
                        let error = ProxyError::range(too_long.to_string());
                        fsproxy::write_error(&mut self.out, UNKNOWN_ID, &error);
                        self.flush()?;
                        return Ok(ClientEnd::Broken(too_long.to_string()));
                    }
                }
            }
            self.flush()?;
            let count = self.link.receive(frames.space())?;
            if count == 0 {
                return Ok(match frames.is_empty() {
                    true => ClientEnd::Eof,
                    false => ClientEnd::Broken("the stream ended inside of a message".to_owned()),
                });
            }
            frames.filled(count);
        }
    }

    /// Answers one request. Only what ends the connection is an error here.
    fn answer(&mut self, frame: &[u8]) -> io::Result<()> {
        self.client.count_request();
        match fsproxy::read_request(frame) {
            Ok(ProxyRequest { id, op }) => {
                if waits(&op) {
                    // The answers so far may be what the client needs before there is anything to read.
                    self.flush()?;
                }
                if let Err(error) = self.perform(&id, op) {
                    fsproxy::write_error(&mut self.out, &id, &error);
                }
            }
            Err(refusal) => {
                self.client.note_unread(&refusal.error.message);
                fsproxy::write_refusal(&mut self.out, &refusal);
            }
        }
        match self.out.len() >= FLUSH {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn perform(&mut self, id: &str, op: Op<'_>) -> Result<(), ProxyError> {
        let (client, out) = (&self.client, &mut self.out);
        match op {
            Op::Open(OpenParams {
                path,
                mode,
                is_top_level,
            }) => {
                let handle = client.open(&path, mode.into(), mode.text(), is_top_level)?;
                fsproxy::write_handle(out, id, handle);
            }
            Op::Read(read) => {
                let max = read.chunk(self.max_read, self.lenient)?;
                self.content.clear();
                let is_end = client.read(read.handle, max, &mut self.content)?;
                fsproxy::write_data(out, id, &self.content, is_end);
            }
            Op::Write(WriteParams { handle, data, .. }) => {
                self.content.clear();
                data.decode_into(&mut self.content)?;
                let count = client.write(handle, &self.content)?;
                fsproxy::write_written(out, id, count);
            }
            Op::Close { handle } => {
                client.close(handle)?;
                fsproxy::write_done(out, id);
            }
            Op::List(list) => {
                let reply = client.list(&list)?;
                fsproxy::write_result(out, id, &reply);
            }
            Op::Quota => {
                let report = llm::quota(client)?;
                fsproxy::write_result(out, id, &report);
            }
            Op::LlmCmd(command) => llm::serve(client, id, &command, out),
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.out.is_empty() {
            return Ok(());
        }
        let sent = self.link.send(&self.out);
        self.out.clear();
        // A client that got one large answer does not keep the memory of it.
        self.out.shrink_to(KEPT);
        self.content.shrink_to(KEPT);
        sent
    }
}

/// Cleans up when the thread ends in a way that nobody has foreseen; does nothing after any other end.
struct LastOfAll(Arc<ClientState>);

impl Drop for LastOfAll {
    fn drop(&mut self) {
        self.0
            .finish(ClientEnd::Broken("the host has failed".to_owned()));
    }
}

/// Whether an operation may wait for something else than a disk.
fn waits(op: &Op<'_>) -> bool {
    match op {
        Op::Read(read) => read.handle < FIRST_HANDLE,
        Op::Write(write) => write.handle < FIRST_HANDLE,
        Op::LlmCmd(_) => true,
        Op::Open(_) | Op::Close { .. } | Op::List(_) | Op::Quota => false,
    }
}

/// An error for a client that writes JSON without lengths, as it would read one: a line.
fn unframed(error: &ProxyError) -> Vec<u8> {
    let mut frame = Vec::new();
    fsproxy::write_error(&mut frame, UNKNOWN_ID, error);
    let mut line = frame.split_off(LENGTH.min(frame.len()));
    line.push(b'\n');
    line
}

/// The id of an answer to something that has no readable one.
const UNKNOWN_ID: &str = "?";

/// The bytes of a length before a message.
const LENGTH: usize = 4;

/// How many bytes of answers are collected before they are sent. Enough that a write costs little beside them; a
/// client that never reads makes us keep no more.
const FLUSH: usize = 64 * 1024;

/// How much memory for answers is kept between writes.
const KEPT: usize = 256 * 1024;
