//! The requests of one child.

use std::sync::Arc;
use std::time::SystemTime;

use jig_proto::fsproxy::{
    self, FIRST_HANDLE, FrameBuffer, FrameRefusal, MAX_FRAME, MAX_READ, Op, OpenParams, ProxyError,
    ProxyRequest, ReadParams, Variant, WriteParams, legacy,
};
use rustix::io::Errno;

use super::super::Error;
use super::super::shared_connection::{AnswerReceiver, Flush, ReplyCallback, RequestOutcome};
use super::child::{ChildConnection, ConnectionEnded, FlushedConnection};
use super::standard_streams::{self, StandardStream};
use super::{ChildStream, RelayedFile, llm};

/// Serves a child until it ends.
pub(super) fn serve(connection: &Arc<ChildConnection>) {
    let server = RelayServer { connection };
    if server.read_all().is_ok() {
        connection.finish();
    }
    connection.end();
}

/// Reads requests, answers those that are its own to answer, and passes the others on.
#[derive(Clone, Copy)]
pub(super) struct RelayServer<'a> {
    pub(super) connection: &'a Arc<ChildConnection>,
}

impl RelayServer<'_> {
    /// Until the child will ask nothing more.
    fn read_all(self) -> Result<(), ConnectionEnded> {
        let mut input = FrameBuffer::new(MAX_FRAME);
        let mut is_new = true;
        loop {
            let count = match rustix::io::read(self.connection.socket(), input.space()) {
                Err(Errno::INTR) => continue,
                Err(_) => return Err(ConnectionEnded),
                Ok(0) => return Ok(()),
                Ok(count) => count,
            };
            input.filled(count);
            if std::mem::take(&mut is_new) && !self.speaks_frames(&input)? {
                return Ok(());
            }
            loop {
                match input.next() {
                    Ok(Some(frame)) => self.take(frame)?,
                    Ok(None) => break,
                    Err(error) => {
                        let refusal =
                            FrameRefusal::without_id(ProxyError::range(error.to_string()));
                        self.refuse(&refusal)?;
                        return Ok(());
                    }
                }
            }
            self.send()?;
        }
    }

    /// Whether the first byte is that of a frame; what is not gets an answer that it understands.
    fn speaks_frames(self, input: &FrameBuffer) -> Result<bool, ConnectionEnded> {
        match input.first().map(Variant::detect) {
            Some(Variant::Framed) | None => return Ok(true),
            Some(Variant::Legacy) => {
                let place = self.place()?;
                self.connection.answer(place, |out| {
                    legacy::write_error(out, "only the process at the top speaks this protocol");
                });
                self.send()?;
            }
            Some(_) => {
                let why = "a message is a length of four bytes and JSON";
                self.refuse(&FrameRefusal::without_id(ProxyError::arg(why)))?;
            }
        }
        Ok(false)
    }

    fn take(self, frame: &[u8]) -> Result<(), ConnectionEnded> {
        match fsproxy::read_request(frame) {
            Ok(request) => self.decide(&request),
            Err(refusal) => self.refuse(&refusal),
        }
    }

    fn refuse(self, refusal: &FrameRefusal) -> Result<(), ConnectionEnded> {
        let place = self.place()?;
        self.connection
            .answer(place, |out| fsproxy::write_refusal(out, refusal));
        self.send()
    }

    fn decide(self, request: &ProxyRequest<'_>) -> Result<(), ConnectionEnded> {
        let place = self.place()?;
        let id = &*request.id;
        match &request.op {
            Op::Open(open) => self.open(place, id, open),
            Op::Read(read) => match StandardStream::of(&self.connection.options, read.handle) {
                Some(standard) => self.read_standard(place, id, standard, read),
                None => self.forward_for(place, id, read.handle, &request.op),
            },
            Op::Write(write) => match StandardStream::of(&self.connection.options, write.handle) {
                Some(standard) => self.write_standard(place, id, standard, write),
                None => self.forward_for(place, id, write.handle, &request.op),
            },
            Op::Close { handle } => match StandardStream::of(&self.connection.options, *handle) {
                Some(standard) => self.close_standard(place, id, standard),
                // From here on it is closed: whatever the parent says, nobody can use it.
                None if self.connection.release(*handle) => self.forward(place, id, &request.op),
                None => self.fail(place, id, &ProxyError::closed(*handle)),
            },
            // Which names there are is decided at the top, as it is which files.
            Op::List(_) => self.forward(place, id, &request.op),
            Op::Quota if self.connection.options.llm => self.forward(place, id, &request.op),
            Op::Quota => self.fail(place, id, &ProxyError::perm("LLM quota access denied")),
            Op::LlmCmd(command) => llm::run(self, place, id, command),
        }
    }

    /// The place of the answer to the next request. A child that has too many is not read from.
    fn place(self) -> Result<u64, ConnectionEnded> {
        loop {
            if let Some(place) = self.connection.take_place()? {
                return Ok(place);
            }
            self.send()?;
            self.connection.wait_for_room();
        }
    }

    /// Sends on what was asked, and back what was answered. To be done before anything that waits.
    pub(super) fn send(self) -> Result<(), ConnectionEnded> {
        self.connection
            .upstream
            .send()
            .map_err(|_| ConnectionEnded)?;
        FlushedConnection(Arc::clone(self.connection)).flush();
        Ok(())
    }

    pub(super) fn fail(
        self,
        place: u64,
        id: &str,
        error: &ProxyError,
    ) -> Result<(), ConnectionEnded> {
        self.connection
            .answer(place, |out| fsproxy::write_error(out, id, error));
        Ok(())
    }

    fn open(self, place: u64, id: &str, open: &OpenParams<'_>) -> Result<(), ConnectionEnded> {
        let connection = Arc::clone(self.connection);
        let (own_id, name, mode) = (id.to_owned(), open.path.clone().into_owned(), open.mode);
        let op = Op::Open(OpenParams {
            is_top_level: Some(false),
            ..open.clone()
        });
        self.forward_then(place, id, &op, move |outcome: RequestOutcome<'_>| {
            let error = match outcome {
                Err(_) => return None,
                Ok(Err(error)) => error,
                Ok(Ok(answer)) => match answer.handle() {
                    Ok(handle) if handle >= FIRST_HANDLE => {
                        let file = RelayedFile {
                            name,
                            mode,
                            opened_at: SystemTime::now(),
                        };
                        if !connection.opened(handle, file) {
                            connection.upstream.forget(handle);
                        }
                        connection.answer(place, |out| fsproxy::write_handle(out, &own_id, handle));
                        return Some(Arc::new(FlushedConnection(connection)));
                    }
                    _ => ProxyError::io("the parent gave no handle"),
                },
            };
            connection.answer(place, |out| fsproxy::write_error(out, &own_id, &error));
            Some(Arc::new(FlushedConnection(connection)))
        })
    }

    fn read_standard(
        self,
        place: u64,
        id: &str,
        standard: StandardStream,
        read: &ReadParams,
    ) -> Result<(), ConnectionEnded> {
        let max = match read.chunk(MAX_READ, false) {
            _ if standard.number != 0 => return self.fail(place, id, &standard.refusal()),
            Err(error) => return self.fail(place, id, &error),
            Ok(max) => max,
        };
        let bytes = match standard.stream {
            ChildStream::None => return self.fail(place, id, &standard.refusal()),
            ChildStream::Handle(handle) => {
                let read = Op::Read(ReadParams { handle, ..*read });
                return self.forward(place, id, &read);
            }
            ChildStream::Null => Vec::new(),
            ChildStream::Inherit => {
                self.send()?;
                match standard_streams::read_stdin(self.connection, max)? {
                    Ok(bytes) => bytes,
                    Err(error) => return self.fail(place, id, &error),
                }
            }
        };
        self.connection.answer(place, |out| {
            fsproxy::write_data(out, id, &bytes, bytes.is_empty());
        });
        Ok(())
    }

    fn write_standard(
        self,
        place: u64,
        id: &str,
        standard: StandardStream,
        write: &WriteParams<'_>,
    ) -> Result<(), ConnectionEnded> {
        if standard.number == 0 || standard.stream == ChildStream::None {
            return self.fail(place, id, &standard.refusal());
        }
        if let ChildStream::Handle(handle) = standard.stream {
            let write = Op::Write(WriteParams {
                handle,
                ..write.clone()
            });
            return self.forward(place, id, &write);
        }
        let mut bytes = Vec::new();
        if let Err(error) = write.data.decode_into(&mut bytes) {
            return self.fail(place, id, &error);
        }
        if standard.stream == ChildStream::Inherit {
            self.send()?;
            if let Err(error) = standard_streams::write(self.connection, standard.number, &bytes)? {
                return self.fail(place, id, &error);
            }
        }
        self.connection.answer(place, |out| {
            fsproxy::write_written(out, id, bytes.len() as u64);
        });
        Ok(())
    }

    fn close_standard(
        self,
        place: u64,
        id: &str,
        standard: StandardStream,
    ) -> Result<(), ConnectionEnded> {
        if standard.stream == ChildStream::None {
            return self.fail(place, id, &standard.refusal());
        }
        self.connection
            .answer(place, |out| fsproxy::write_done(out, id));
        Ok(())
    }

    /// Passes a request on, if the handle is the child's.
    fn forward_for(
        self,
        place: u64,
        id: &str,
        handle: u64,
        op: &Op<'_>,
    ) -> Result<(), ConnectionEnded> {
        if !self.connection.owns(handle) {
            return self.fail(place, id, &ProxyError::closed(handle));
        }
        self.forward(place, id, op)
    }

    /// Passes a request on, and its answer back as it comes.
    pub(super) fn forward(self, place: u64, id: &str, op: &Op<'_>) -> Result<(), ConnectionEnded> {
        let connection = Arc::clone(self.connection);
        let own_id = id.to_owned();
        self.forward_then(place, id, op, move |outcome: RequestOutcome<'_>| {
            let result = outcome.ok()?;
            connection.answer(place, |out| match &result {
                Ok(answer) => fsproxy::write_answer(out, &own_id, answer),
                Err(error) => fsproxy::write_error(out, &own_id, error),
            });
            Some(Arc::new(FlushedConnection(connection)))
        })
    }

    /// Passes a request on; `then` gets what comes of it, unless it can't be passed on at all.
    pub(super) fn forward_then(
        self,
        place: u64,
        id: &str,
        op: &Op<'_>,
        then: impl FnOnce(RequestOutcome<'_>) -> Option<Arc<dyn Flush>> + Send + 'static,
    ) -> Result<(), ConnectionEnded> {
        let call = AnswerReceiver::Call(ReplyCallback::new(then));
        match self.connection.upstream.link().put(op, call) {
            Ok(()) => Ok(()),
            Err(Error::Proxy(error)) => self.fail(place, id, &error),
            Err(Error::Connection(_)) => Err(ConnectionEnded),
        }
    }
}
