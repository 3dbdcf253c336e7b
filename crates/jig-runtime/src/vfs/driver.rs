//! [`VfsDriver`]: the one thread that owns a program and is the truth about it.

mod clock;
mod requests;
mod steering;

use std::io;
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use jig_broker::{AuditDecision, AuditNote, JudgedRequest, RunningProgram, Unapproved, Work};
use jig_proto::json::JsonLimits;
use jig_proto::vfs::host::{self, PartialRequest, ToolLine, ToolLineFault};
use jig_proto::vfs::{
    Capabilities, ErrorReply, Frame, Id, Init, LineBuffer, Method, Reading, Ready, VfsReply,
    VfsRequest,
};
use jig_proto::{Content, Question, ToolError, ToolState};
use jig_pty::SendError;
use jig_sandbox::{Child, Exit, Interest, Waker, poll};
use serde_json::Value;

use super::descriptors::DescriptorSender;
use super::open_requests::{AnswerForm, OpenRequestState, OpenRequests};
use super::runs::UnansweredRun;
use crate::denials;
use crate::launch::LaunchedProgram;
use crate::pipes::{ToolPipes, with_buffer};
use crate::rerun::CANCELLED;
use crate::session::{AskedBy, InputPurpose, SessionBoard, SessionOrder};
use crate::{ApplyError, Plan, ReachedLimit};

pub(super) struct VfsDriver {
    plan: Plan,
    child: Arc<Child>,
    /// Its program, until that is finished.
    program: Option<RunningProgram>,
    board: Arc<SessionBoard>,
    orders: Receiver<SessionOrder>,
    waker: Waker,
    pipes: ToolPipes,
    ledger: OpenRequests,
    finished: Receiver<FinishedRequest>,
    finish: Sender<FinishedRequest>,
    agreed: Capabilities,
    /// The way of open files to the tool, if they are offered.
    descriptors: Option<DescriptorSender>,
    reading: Reading,
    /// Whether the tool has sent its one `ready`.
    is_ready: bool,
    /// A request whose content follows as raw bytes.
    partial: Option<(Id<'static>, PartialRequest<'static>)>,
    /// The tool's own question.
    question: Option<(Content, Question)>,
    /// Whether a stateful tool has said where it stands and now waits for input.
    is_idle: bool,
    /// Whether the tool has said its last word: nothing is sent to it any more.
    has_spoken: bool,
    /// Whether the program has ended: what it asked for before is not done any more.
    has_exited: bool,
    /// Whether something was decided since the log was last written.
    unlogged: bool,
    /// Whether the caller does not want to know any more.
    given_up: bool,
    /// How many workers are at it.
    working: usize,
    /// What the call comes to, once that is known.
    result: Option<Result<Content, ToolError>>,
    ending: Option<KillSchedule>,
    /// Since when it runs, and for how long of that somebody was asked.
    started: Instant,
    asked: Duration,
    asking_since: Option<Instant>,
    /// When the tool last did something, or was last given something to do.
    active: Instant,
}

/// The way down from asking to killing.
struct KillSchedule {
    terminate_at: Instant,
    kill_at: Instant,
    terminated: bool,
    killed: bool,
}

/// Work that a worker has done.
struct FinishedRequest {
    number: u64,
    result: Result<VfsReply<'static>, ErrorReply>,
}

/// What there is to do after a wait.
#[derive(Default, PartialEq, Eq)]
struct WakeReasons {
    /// Orders, or work that is done.
    woken: bool,
    /// The program has ended.
    exited: bool,
    /// The program said something.
    output: bool,
    /// The program printed something as an error.
    errors: bool,
}

/// What the reader of lines does next.
enum VfsReadStep {
    Line,
    Blob(u64),
    SkipBlob(u64),
}

impl VfsDriver {
    pub(super) fn new(
        plan: Plan,
        run: LaunchedProgram,
        board: Arc<SessionBoard>,
        orders: Receiver<SessionOrder>,
        waker: Waker,
        first: Vec<u8>,
        descriptors: Option<DescriptorSender>,
    ) -> io::Result<Self> {
        let mut program = run.program;
        let child = Arc::clone(program.child());
        let mut pipes = ToolPipes::new(std::mem::take(&mut program.streams))?;
        trace_sent(&plan, &first);
        *pipes.out() = first;
        board.set_child(&child);
        let (finish, finished) = channel();
        Ok(Self {
            reading: Reading::PLAIN.with_limits(JsonLimits::for_bytes(plan.message_limit)),
            plan,
            child,
            program: Some(program),
            board,
            orders,
            waker,
            pipes,
            ledger: OpenRequests::default(),
            finished,
            finish,
            agreed: Capabilities::PLAIN,
            descriptors,
            is_ready: false,
            partial: None,
            question: None,
            // Until it is given something to do, it may wait for that without a word.
            is_idle: true,
            has_spoken: false,
            has_exited: false,
            unlogged: false,
            given_up: false,
            working: 0,
            result: None,
            ending: None,
            started: Instant::now(),
            asked: Duration::ZERO,
            asking_since: None,
            active: Instant::now(),
        })
    }

    /// Drives the tool until it has stopped, or until it has ended with a question: then it is to be run again with
    /// the answer.
    pub(super) fn run(mut self) -> Option<UnansweredRun> {
        let mut lines = LineBuffer::new(self.plan.message_limit);
        loop {
            self.pipes.flush();
            self.release();
            if self.has_spoken && self.pipes.unwritten() == 0 {
                // Its last word is said: whoever still reads finds the end.
                self.pipes.stdin = None;
            }
            let now = Instant::now();
            self.step_down(now);
            if self.pipes.stdout.is_none() && self.result.is_none() && self.ending.is_none() {
                // It can neither ask nor answer any more.
                self.end(self.plan.timing.cancel_grace);
            }
            let event = self.wait(now);
            if event == WakeReasons::default() && std::mem::take(&mut self.unlogged) {
                // Nothing to do for a moment: now there is time to write down what was decided.
                self.plan.broker.flush_audit();
            }
            if event.woken {
                // In this order: what comes in between wakes again.
                self.waker.clear();
                self.take_orders();
                self.take_finished();
            }
            if event.exited {
                match self.child.try_wait() {
                    Ok(Some(exit)) => {
                        self.has_exited = true;
                        with_buffer(|buffer| self.drain(&mut lines, buffer));
                        return match self.result.take() {
                            Some(Ok(content)) => match content.into_question() {
                                Ok(_) if self.given_up => self.stop(Err(ToolError::new(CANCELLED))),
                                Ok((content, question)) => Some(self.ask(content, question)),
                                Err(content) => self.stop(Ok(content)),
                            },
                            Some(result) => self.stop(result),
                            None => {
                                let error = self.no_result(exit);
                                self.stop(Err(error))
                            }
                        };
                    }
                    Ok(None) => {}
                    Err(error) => {
                        self.child.kill();
                        let what = format!("the program cannot be watched: {error}");
                        return self.stop(Err(ToolError::new(what)));
                    }
                }
            }
            if event.errors {
                with_buffer(|buffer| self.pipes.read_errors(buffer));
            }
            if event.output && self.reads() {
                with_buffer(|buffer| self.read(&mut lines, buffer));
            }
        }
    }

    /// Waits until there is something to do, and says what.
    fn wait(&mut self, now: Instant) -> WakeReasons {
        let mut interests = Vec::with_capacity(5);
        interests.extend([Interest::Woken(&self.waker), Interest::Exited(&self.child)]);
        let output = self.pipes.stdout.as_ref().filter(|_| self.reads());
        let output = output.map(|pipe| push(&mut interests, Interest::Readable(pipe.as_fd())));
        let errors = self.pipes.stderr.as_ref();
        let errors = errors.map(|pipe| push(&mut interests, Interest::Readable(pipe.as_fd())));
        if let Some(stdin) = self
            .pipes
            .stdin
            .as_ref()
            .filter(|_| self.pipes.unwritten() > 0)
        {
            interests.push(Interest::Writable(stdin.as_fd()));
        }
        let mut limit = self.deadline().map(|at| at.saturating_duration_since(now));
        if self.unlogged {
            limit = Some(limit.map_or(LOG_AFTER, |limit| limit.min(LOG_AFTER)));
        }
        match poll(&interests, limit) {
            Ok(ready) => WakeReasons {
                woken: ready.contains(0),
                exited: ready.contains(1),
                output: output.is_some_and(|place| ready.contains(place)),
                errors: errors.is_some_and(|place| ready.contains(place)),
            },
            Err(_) => {
                // Without the ability to wait, the only safe thing is to end.
                self.child.kill();
                WakeReasons {
                    exited: true,
                    ..WakeReasons::default()
                }
            }
        }
    }

    /// Whether more of the tool's output is read now: not while it has more to do than it waits for,
    /// nor while it does not read its answers.
    fn reads(&self) -> bool {
        !self.ledger.is_full() && self.pipes.unwritten() <= MAX_UNWRITTEN
    }

    fn read(&mut self, lines: &mut LineBuffer, buffer: &mut [u8]) {
        let Some(mut input) = self.pipes.read(buffer) else {
            return;
        };
        self.active = Instant::now();
        self.frames(lines, &mut input);
        self.pipes.flush();
    }

    fn frames(&mut self, lines: &mut LineBuffer, input: &mut &[u8]) {
        loop {
            let next = match lines.next(input) {
                None => return,
                Some(frame) => self.frame(frame),
            };
            match next {
                VfsReadStep::Line => {}
                VfsReadStep::Blob(length) => lines.expect_blob(length),
                VfsReadStep::SkipBlob(length) => lines.skip_blob(length),
            }
        }
    }

    /// Reads what is left when the program has ended.
    fn drain(&mut self, lines: &mut LineBuffer, buffer: &mut [u8]) {
        while let Some(mut input) = self.pipes.read(buffer) {
            self.frames(lines, &mut input);
        }
        if let Some(frame) = lines.finish() {
            self.frame(frame);
        }
        self.pipes.read_errors(buffer);
    }

    fn frame(&mut self, frame: Frame<'_>) -> VfsReadStep {
        match frame {
            Frame::Line(line) => return self.line(line),
            Frame::LineTooLong => {
                self.refuse(None, &ErrorReply::line_too_long(self.plan.message_limit));
            }
            Frame::Blob(content) => {
                if let Some((id, request)) = self.partial.take() {
                    let request = request.with_content(content.into_owned());
                    self.request(id, request);
                }
            }
            Frame::BlobDropped => {
                if let Some((id, _)) = self.partial.take() {
                    let limit = self.plan.message_limit;
                    self.refuse(Some(&id), &ErrorReply::line_too_long(limit));
                }
            }
            _ => self.partial = None,
        }
        VfsReadStep::Line
    }

    fn line(&mut self, line: &[u8]) -> VfsReadStep {
        if let Some(tracer) = &self.plan.tracer {
            tracer.received(line);
        }
        let reading = self.reading;
        match host::read_line(line, &reading) {
            Ok(ToolLine::Request { id, request }) => self.request(id, request),
            Ok(ToolLine::RequestWithBlob {
                id,
                request,
                length,
            }) => {
                self.partial = Some((id.into_owned(), request.into_owned()));
                return VfsReadStep::Blob(length);
            }
            Ok(ToolLine::Result(response)) => self.finish(response.value.into_result()),
            Ok(ToolLine::Error(error)) => self.finish(Err(error)),
            Ok(ToolLine::State(state)) => self.state(state.value),
            Ok(ToolLine::Cancel { request_id }) => self.give_up(request_id.as_ref()),
            Ok(ToolLine::Ready(ready)) => {
                if !std::mem::replace(&mut self.is_ready, true) {
                    if let Some(error) = unspoken(&ready) {
                        self.finish(Err(error));
                        return VfsReadStep::Line;
                    }
                    self.agreed = self.plan.offer.common(&ready.capabilities);
                    self.reading = self.reading.with_blobs(self.agreed.blobs);
                }
            }
            Err(ToolLineFault::Answer { id, error, blob }) => {
                self.refuse(id.as_ref(), &error);
                if let Some(length) = blob {
                    return VfsReadStep::SkipBlob(length);
                }
            }
            Err(ToolLineFault::BrokenNotification { name, error })
                if matches!(name, "result" | "error" | "state") =>
            {
                let what = format!("the tool sent a `{name}` that cannot be read");
                let mut broken = ToolError::new(what);
                broken.trace.push(error.to_string());
                self.finish(Err(broken));
            }
            Err(fault @ ToolLineFault::RequestWithoutId { method }) => {
                let deny = AuditDecision::Deny;
                let note = AuditNote::new(method.name(), "", deny, fault.to_string());
                self.plan.broker.note(note);
                self.unlogged = true;
            }
            // What is not understood and cannot be answered is passed over.
            Err(_) => {}
        }
        VfsReadStep::Line
    }
}

/// That a tool wants a version of the protocol that nobody here speaks (V-172).
fn unspoken(ready: &Ready) -> Option<ToolError> {
    let wanted = ready.protocol_version.as_deref()?;
    let spoken = Init::SUPPORTED_VERSIONS;
    (!spoken.contains(&wanted)).then(|| {
        ToolError::new(format!(
            "the tool wants version {wanted:?} of the protocol; jig speaks {}",
            spoken.join(" and ")
        ))
    })
}

/// Adds an interest and gives its place.
fn push<'a>(interests: &mut Vec<Interest<'a>>, interest: Interest<'a>) -> usize {
    interests.push(interest);
    interests.len() - 1
}

fn trace_sent(plan: &Plan, line: &[u8]) {
    if let Some(tracer) = &plan.tracer {
        tracer.sent(line.trim_ascii_end());
    }
}

/// How much may wait for a tool that does not read before its own output is not read any more.
const MAX_UNWRITTEN: usize = 16 * 1024 * 1024;

/// How much may wait before lines that are no requests go unanswered, and no more input is taken. A tool
/// that prints its log where the protocol should be reads no answers; it would otherwise be stopped by them
/// and count as hung.
const MAX_COMPLAINTS: usize = 1024 * 1024;

/// How long decisions may wait before they are written to the log, while nothing else is to be done.
/// Writing them at once would hold up every request, or the tool's next one.
const LOG_AFTER: Duration = Duration::from_millis(20);
