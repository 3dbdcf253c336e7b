//! [`Pipes`]: the protocol over two streams of bytes.

use std::fmt;
use std::io::{self, Read, Write};
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use jig_proto::ToolState;
use jig_proto::json::JsonLimits;
use jig_proto::vfs::tool::{self, HostLine, RawReply};
use jig_proto::vfs::{
    ErrorReply, Frame, Id, Init, LineBuffer, Method, Reading, Ready, VfsReply, VfsRequest,
};
use serde_json::Value;

use super::inbox::{AppliedInput, Inbox};
use super::opened::StdFile;
use super::{ConnectError, Descriptors, HostAnswer, Notification, RequestError, Transport};

/// The protocol over two streams of bytes, such as standard input and output.
///
/// Each message is one write. Nothing is read but while a request, or the wait for input, blocks:
/// that is when a `cancel` of the host is noticed.
#[derive(Debug)]
pub struct Pipes<R, W> {
    from_host: R,
    to_host: W,
    lines: LineBuffer,
    /// What was read; of it, `start..end` has not been looked at.
    chunk: Box<[u8]>,
    start: usize,
    end: usize,
    reading: Reading,
    /// The line that is written; kept for its memory.
    out: Vec<u8>,
    max_in_flight: NonZeroU32,
    last_id: u64,
    /// The requests that wait for an answer. One that is answered after it was given up is not
    /// among them, and its answer is passed over.
    open: Vec<UnansweredRequest>,
    /// The answer whose content arrives next; without request if nobody waits for it.
    with_blob: Option<(Option<UnansweredRequest>, RawReply<'static>)>,
    inbox: Inbox,
    /// Where open files come from.
    descriptors: Option<Descriptors>,
    readiness: Option<InputReadiness>,
    is_cancelled: bool,
}

/// Waits until there is something to read, for so long at most, and says whether there is.
struct InputReadiness(Box<WaitFunction>);

type WaitFunction = dyn FnMut(Duration) -> io::Result<bool> + Send;

impl fmt::Debug for InputReadiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Readiness")
    }
}

/// A request that waits for its answer.
#[derive(Debug, Clone, Copy)]
struct UnansweredRequest {
    id: u64,
    method: Method,
    index: usize,
    bytes: usize,
}

/// What the host has to say.
enum HostMessage {
    Init(Box<Init>),
    Answer(UnansweredRequest, Result<HostAnswer, ErrorReply>),
    Cancel,
    Apply(AppliedInput),
}

/// What a line means for whoever reads on.
enum PipeStep {
    Event(HostMessage),
    /// The content of an answer follows.
    Blob(Option<UnansweredRequest>, RawReply<'static>, u64),
    /// A file that nobody waits for any more.
    StrayFile,
    Nothing,
}

impl<R: Read, W: Write> Pipes<R, W> {
    /// Waits for `init`, and gives it with the streams that it came over.
    ///
    /// # Errors
    ///
    /// If the first line is not `init`.
    pub fn open(from_host: R, to_host: W) -> Result<(Init, Self), ConnectError> {
        let mut pipes = Self {
            from_host,
            to_host,
            lines: LineBuffer::new(LINE_BYTES),
            chunk: vec![0; CHUNK_BYTES].into_boxed_slice(),
            start: 0,
            end: 0,
            reading: Reading::PLAIN.with_limits(JsonLimits::for_bytes(LINE_BYTES)),
            out: Vec::new(),
            max_in_flight: NonZeroU32::MIN,
            last_id: 0,
            open: Vec::new(),
            with_blob: None,
            inbox: Inbox::default(),
            descriptors: None,
            readiness: None,
            is_cancelled: false,
        };
        match pipes.next_event() {
            Ok(HostMessage::Init(init)) => {
                pipes.admit(&init);
                Ok((*init, pipes))
            }
            Ok(_) => Err(ConnectError::NotInit),
            Err(RequestError::Disconnected(error)) => Err(match error.kind() {
                io::ErrorKind::UnexpectedEof => ConnectError::NoHost,
                _ => ConnectError::Io(error),
            }),
            Err(RequestError::Misunderstood(error)) => match error.downcast() {
                Ok(bad) => Err(ConnectError::Line(*bad)),
                Err(_) => Err(ConnectError::NotInit),
            },
            Err(_) => Err(ConnectError::NotInit),
        }
    }

    /// Takes open files from a socket beside the streams.
    #[must_use]
    pub fn with_descriptors(self, descriptors: Descriptors) -> Self {
        Self {
            descriptors: Some(descriptors),
            ..self
        }
    }

    /// Makes it possible to wait for input with a limit: `wait` blocks until there is something to
    /// read from the host, or its end, for so long at most, and says whether there is.
    ///
    /// Without it, input that has not come during a request is not seen before
    /// [`wait_apply`](Transport::wait_apply).
    #[must_use]
    pub fn with_readiness(
        self,
        wait: impl FnMut(Duration) -> io::Result<bool> + Send + 'static,
    ) -> Self {
        Self {
            readiness: Some(InputReadiness(Box::new(wait))),
            ..self
        }
    }

    fn receive(&mut self) -> Result<StdFile, RequestError> {
        let Some(descriptors) = &mut self.descriptors else {
            return Err(misunderstood("an open file, for which there is no way"));
        };
        // The host sends the file before the line, so one that is not there will not come.
        descriptors.receive().map_err(misunderstood)
    }

    /// Makes room for the messages that the host says it may send.
    fn admit(&mut self, init: &Init) {
        if init.stateful {
            self.inbox.trust_marks();
        }
        let Some(limits) = init.limits else { return };
        // Raw bytes may be as long as a file, whatever the limit on lines.
        let largest = limits.message_bytes.max(limits.file_bytes);
        let largest = usize::try_from(largest).unwrap_or(usize::MAX - 1);
        if largest > LINE_BYTES {
            // Nothing is lost: between two lines the buffer is empty.
            self.lines = LineBuffer::new(largest);
            self.reading = self.reading.with_limits(JsonLimits::for_bytes(largest));
        }
    }

    fn next_event(&mut self) -> Result<HostMessage, RequestError> {
        loop {
            if let Some(event) = self.event_within(None)? {
                return Ok(event);
            }
        }
    }

    /// The next event that comes before `until`; without that, whenever it comes.
    fn event_within(
        &mut self,
        until: Option<Instant>,
    ) -> Result<Option<HostMessage>, RequestError> {
        loop {
            let mut input = &self.chunk[self.start..self.end];
            let before = input.len();
            let frame = self.lines.next(&mut input);
            self.start += before - input.len();
            let (open, with_blob) = (&mut self.open, &mut self.with_blob);
            let step = match frame {
                Some(frame) => Some(understand(frame, &self.reading, open, with_blob)?),
                None => None,
            };
            let step = match step {
                Some(step) => step,
                None if !self.is_readable(until)? => return Ok(None),
                None if self.refill()? => continue,
                None => self.last_step()?,
            };
            match step {
                PipeStep::Event(mut event) => {
                    if let HostMessage::Answer(_, Ok(answer)) = &mut event
                        && matches!(answer.reply, VfsReply::Descriptor(_))
                    {
                        answer.file = Some(self.receive()?);
                    }
                    return Ok(Some(event));
                }
                // They come in the order of the answers, so it must go before the next one.
                PipeStep::StrayFile if self.descriptors.is_some() => drop(self.receive()?),
                PipeStep::StrayFile => {}
                PipeStep::Nothing => {}
                PipeStep::Blob(open, raw, length) => {
                    match open {
                        Some(_) => self.lines.expect_blob(length),
                        None => self.lines.skip_blob(length),
                    }
                    self.with_blob = Some((open, raw));
                }
            }
        }
    }

    /// A line that the host did not end before it closed the stream still counts.
    fn last_step(&mut self) -> Result<PipeStep, RequestError> {
        match self.lines.finish() {
            Some(frame) => understand(frame, &self.reading, &mut self.open, &mut self.with_blob),
            None => Err(disconnected(io::ErrorKind::UnexpectedEof.into())),
        }
    }

    /// Whether reading does not block, or may block because nobody sets a limit.
    fn is_readable(&mut self, until: Option<Instant>) -> Result<bool, RequestError> {
        let Some(until) = until else { return Ok(true) };
        let Some(InputReadiness(wait)) = &mut self.readiness else {
            return Ok(false);
        };
        loop {
            match wait(until.saturating_duration_since(Instant::now())) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other.map_err(disconnected),
            }
        }
    }

    /// Reads more; `false` at the end of the stream.
    fn refill(&mut self) -> Result<bool, RequestError> {
        loop {
            match self.from_host.read(&mut self.chunk) {
                Ok(length) => {
                    (self.start, self.end) = (0, length);
                    return Ok(length > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(disconnected(error)),
            }
        }
    }

    /// Adds a request to what is to be written; content that is large is written at once.
    fn put(&mut self, request: &VfsRequest<'_>, index: usize) -> Result<(), RequestError> {
        self.last_id += 1;
        let before = self.out.len();
        let id = Id::from(self.last_id);
        let blob = if self.reading.blobs {
            tool::write_request_with_blob(&mut self.out, &id, request)
        } else {
            tool::write_request(&mut self.out, &id, request);
            &[]
        };
        self.open.push(UnansweredRequest {
            id: self.last_id,
            method: request.method(),
            index,
            bytes: self.out.len() - before + blob.len(),
        });
        if blob.len() <= CHUNK_BYTES {
            self.out.extend_from_slice(blob);
            return Ok(());
        }
        self.send()?;
        self.to_host.write_all(blob).map_err(disconnected)
    }

    /// Writes what was put.
    fn send(&mut self) -> Result<(), RequestError> {
        let sent = self.to_host.write_all(&self.out);
        self.out.clear();
        self.out.shrink_to(CHUNK_BYTES);
        sent.and_then(|()| self.to_host.flush())
            .map_err(disconnected)
    }

    /// Waits for an answer to any of the open requests.
    fn next_answer(
        &mut self,
    ) -> Result<(UnansweredRequest, Result<HostAnswer, ErrorReply>), RequestError> {
        loop {
            match self.next_event()? {
                HostMessage::Answer(open, answer) => return Ok((open, answer)),
                HostMessage::Apply(applied) => self.inbox.push(applied),
                HostMessage::Cancel => return Err(self.cancel()),
                HostMessage::Init(_) => {}
            }
        }
    }

    /// Waits until `take` finds in the inbox what it wants, or `until` has come.
    fn wait_for(
        &mut self,
        take: fn(&mut Inbox) -> Option<Value>,
        until: Option<Instant>,
    ) -> Result<Option<Value>, RequestError> {
        loop {
            if let Some(input) = take(&mut self.inbox) {
                return Ok(Some(input));
            }
            match self.event_within(until)? {
                Some(HostMessage::Apply(applied)) => self.inbox.push(applied),
                Some(HostMessage::Cancel) => return Err(self.cancel()),
                Some(HostMessage::Answer(..) | HostMessage::Init(_)) => {}
                None => return Ok(None),
            }
        }
    }

    /// Puts what has come so far before the question of this id, which is to be sent next.
    fn put_question(&mut self, id: &str) -> Result<(), RequestError> {
        let nothing: fn(&mut Inbox) -> Option<Value> = |_| None;
        self.wait_for(nothing, Some(Instant::now()))?;
        self.inbox.put_question(id);
        Ok(())
    }

    fn cancel(&mut self) -> RequestError {
        self.is_cancelled = true;
        self.open.clear();
        RequestError::Cancelled
    }
}

impl<R: Read + Send, W: Write + Send> Transport for Pipes<R, W> {
    fn request(&mut self, request: &VfsRequest<'_>) -> Result<VfsReply<'static>, RequestError> {
        self.open(request).map(|answer| answer.reply)
    }

    fn receives_files(&self) -> bool {
        self.descriptors.is_some()
    }

    fn open(&mut self, request: &VfsRequest<'_>) -> Result<HostAnswer, RequestError> {
        self.open.clear();
        self.put(request, 0)?;
        self.send()?;
        let (_, answer) = self.next_answer()?;
        answer.map_err(RequestError::Refused)
    }

    fn request_each<'r>(
        &mut self,
        requests: &mut dyn Iterator<Item = VfsRequest<'r>>,
        answer: &mut dyn FnMut(usize, Result<HostAnswer, ErrorReply>),
    ) -> Result<(), RequestError> {
        let most = usize::try_from(self.max_in_flight.get()).unwrap_or(usize::MAX);
        let mut requests = requests.enumerate();
        let mut in_flight_bytes = 0;
        self.open.clear();
        loop {
            // Half of them at once, so that they share a write.
            while self.open.len() <= most / 2 || !self.out.is_empty() {
                if self.open.len() >= most
                    || (in_flight_bytes >= IN_FLIGHT_BYTES && !self.open.is_empty())
                {
                    break;
                }
                let Some((index, request)) = requests.next() else {
                    break;
                };
                self.put(&request, index)?;
                in_flight_bytes += self.open.last().map_or(0, |open| open.bytes);
            }
            self.send()?;
            if self.open.is_empty() {
                return Ok(());
            }
            let (open, result) = self.next_answer()?;
            in_flight_bytes -= open.bytes;
            answer(open.index, result);
        }
    }

    fn notify(&mut self, notification: &Notification<'_>) -> Result<(), RequestError> {
        match notification {
            Notification::Ready(ready) => {
                tool::write_ready(&mut self.out, ready);
                self.agree(ready);
            }
            Notification::Result(response) => tool::write_result(&mut self.out, response),
            Notification::Error(error) => tool::write_error(&mut self.out, error),
            Notification::State(state) => {
                if let ToolState::Waiting { question, .. } = state {
                    self.put_question(&question.id)?;
                }
                tool::write_state(&mut self.out, state);
            }
        }
        self.send()
    }

    fn wait_apply(&mut self) -> Result<Value, RequestError> {
        // Without a limit it comes, or there is an error.
        let next = self.wait_for(Inbox::take_next, None)?;
        next.ok_or(RequestError::Cancelled)
    }

    fn wait_answer(&mut self, question: &str) -> Result<Value, RequestError> {
        if !self.inbox.asks(question) {
            return Err(RequestError::question_not_open(question));
        }
        let answer = self.wait_for(Inbox::take_answer, None)?;
        answer.ok_or(RequestError::Cancelled)
    }

    fn wait_apply_for(&mut self, limit: Duration) -> Result<Option<Value>, RequestError> {
        if let Some(input) = self.inbox.take_next() {
            return Ok(Some(input));
        }
        if self.readiness.is_none() && !limit.is_zero() {
            let why = "input can't be waited for with a limit on this system";
            return Err(RequestError::Refused(ErrorReply::internal(why)));
        }
        // A limit beyond all times is none that anybody will see the end of.
        let far = Duration::from_secs(u64::from(u32::MAX));
        self.wait_for(Inbox::take_next, Some(Instant::now() + limit.min(far)))
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled
    }
}

impl<R, W> Pipes<R, W> {
    fn agree(&mut self, ready: &Ready) {
        self.reading = self.reading.with_blobs(ready.capabilities.blobs);
        self.max_in_flight = ready.capabilities.max_in_flight();
    }
}

fn understand(
    frame: Frame<'_>,
    reading: &Reading,
    open: &mut Vec<UnansweredRequest>,
    with_blob: &mut Option<(Option<UnansweredRequest>, RawReply<'static>)>,
) -> Result<PipeStep, RequestError> {
    match frame {
        Frame::Line(line) => understand_line(line, reading, open),
        Frame::Blob(content) => match with_blob.take() {
            Some((Some(open), raw)) => {
                let reply = raw.read_with_blob(open.method, content);
                let reply = reply.map_err(misunderstood)?.into_owned();
                Ok(PipeStep::Event(HostMessage::Answer(open, Ok(reply.into()))))
            }
            _ => Ok(PipeStep::Nothing),
        },
        Frame::BlobDropped => match with_blob.take() {
            Some((Some(_), _)) => Err(misunderstood("content that is longer than agreed upon")),
            _ => Ok(PipeStep::Nothing),
        },
        Frame::BlobCut => Err(disconnected(io::ErrorKind::UnexpectedEof.into())),
        Frame::LineTooLong => Err(misunderstood("a line that is too long")),
        _ => Ok(PipeStep::Nothing),
    }
}

fn understand_line(
    line: &[u8],
    reading: &Reading,
    open: &mut Vec<UnansweredRequest>,
) -> Result<PipeStep, RequestError> {
    let mut take = |id: &Id<'_>| {
        let place = open.iter().position(|one| Some(one.id) == id.as_u64())?;
        Some(open.swap_remove(place))
    };
    let event = match tool::read_line(line, reading).map_err(misunderstood)? {
        HostLine::Init(init) => HostMessage::Init(init),
        HostLine::Reply { id, result } => match take(&id) {
            Some(open) => {
                let reply = result.read(open.method).map_err(misunderstood)?;
                HostMessage::Answer(open, Ok(reply.into_owned().into()))
            }
            None => {
                return Ok(match result.read(Method::FsRead) {
                    Ok(VfsReply::Descriptor(_)) => PipeStep::StrayFile,
                    _ => PipeStep::Nothing,
                });
            }
        },
        HostLine::ReplyWithBlob { id, result, length } => {
            return Ok(PipeStep::Blob(take(&id), result.into_owned(), length));
        }
        HostLine::Error {
            id: Some(id),
            error,
        } => match take(&id) {
            Some(open) => HostMessage::Answer(open, Err(error)),
            None => return Ok(PipeStep::Nothing),
        },
        // The host could not read the id, as when the line is too long.
        HostLine::Error { id: None, error } => match open.pop() {
            Some(only) if open.is_empty() => HostMessage::Answer(only, Err(error)),
            _ => return Err(misunderstood(error)),
        },
        HostLine::Cancel => HostMessage::Cancel,
        HostLine::Apply { input, question } => HostMessage::Apply(AppliedInput { input, question }),
        // `pending`, because we wait anyway, and what newer hosts may send.
        _ => return Ok(PipeStep::Nothing),
    };
    Ok(PipeStep::Event(event))
}

fn disconnected(error: io::Error) -> RequestError {
    RequestError::Disconnected(error)
}

fn misunderstood(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> RequestError {
    RequestError::Misunderstood(error.into())
}

/// The longest line of a host that does not say what it may send. It is more than any message of the
/// documented protocol, since the arguments of a call come in one line. Without it, a host in
/// disorder could fill the memory of the tool.
const LINE_BYTES: usize = 64 * 1024 * 1024;

/// How much is read at once, and how much memory is kept for writing.
const CHUNK_BYTES: usize = 64 * 1024;

/// How many bytes of requests may be open at once. They fit into a pipe: a host that answers each
/// request before it reads the next one would else wait for us while we wait for it.
const IN_FLIGHT_BYTES: usize = 16 * 1024;

#[cfg(test)]
mod tests;
