//! [`Driver`]: the one thread that owns a program and is the truth about it.

use std::io;
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use jig_broker::{Judged, Unapproved, Work};
use jig_proto::json::Limits;
use jig_proto::vfs::host::{self, Fault, PartialRequest, ToolLine};
use jig_proto::vfs::{
    Capabilities, ErrorReply, Frame, Id, LineBuffer, Method, Reading, Reply, Request,
};
use jig_proto::{Content, Question, Response, ToolError, ToolState};
use jig_sandbox::{Child, Interest, Waker, poll};
use serde_json::Value;

use super::descriptors::Descriptors;
use super::open::{AnswerForm, Doing, Ledger};
use super::pipes::Pipes;
use crate::Plan;
use crate::session::{AskedBy, Board, Order};

pub(super) struct Driver {
    plan: Plan,
    child: Child,
    board: Arc<Board>,
    orders: Receiver<Order>,
    waker: Waker,
    pipes: Pipes,
    ledger: Ledger,
    finished: Receiver<Finished>,
    finish: Sender<Finished>,
    agreed: Capabilities,
    /// The way of open files to the tool, if they are offered.
    descriptors: Option<Descriptors>,
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
    /// How many workers are at it.
    working: usize,
    /// What the call comes to, once that is known.
    result: Option<Result<Content, ToolError>>,
    ending: Option<Ending>,
    /// When the tool last did something, or was last given something to do.
    active: Instant,
}

/// The way down from asking to killing.
struct Ending {
    terminate_at: Instant,
    kill_at: Instant,
    terminated: bool,
    killed: bool,
}

/// Work that a worker has done.
struct Finished {
    number: u64,
    result: Result<Reply<'static>, ErrorReply>,
}

/// What there is to do after a wait.
#[derive(Default, PartialEq, Eq)]
struct Event {
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
enum Next {
    Line,
    Blob(u64),
    SkipBlob(u64),
}

impl Driver {
    pub(super) fn new(
        plan: Plan,
        mut child: Child,
        board: Arc<Board>,
        orders: Receiver<Order>,
        waker: Waker,
        first: Vec<u8>,
        descriptors: Option<Descriptors>,
    ) -> io::Result<Self> {
        let mut pipes = Pipes::take_from(&mut child)?;
        trace_sent(&plan, &first);
        *pipes.out() = first;
        let (finish, finished) = channel();
        Ok(Self {
            reading: Reading::PLAIN.with_limits(Limits::for_bytes(plan.message_limit)),
            plan,
            child,
            board,
            orders,
            waker,
            pipes,
            ledger: Ledger::default(),
            finished,
            finish,
            agreed: Capabilities::PLAIN,
            descriptors,
            is_ready: false,
            partial: None,
            question: None,
            is_idle: false,
            has_spoken: false,
            has_exited: false,
            unlogged: false,
            working: 0,
            result: None,
            ending: None,
            active: Instant::now(),
        })
    }

    /// Drives the tool until it has stopped.
    pub(super) fn run(mut self) {
        let mut lines = LineBuffer::new(self.plan.message_limit);
        let mut buffer = vec![0; BUFFER_BYTES];
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
            if event == Event::default() && std::mem::take(&mut self.unlogged) {
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
                        self.drain(&mut lines, &mut buffer);
                        let result = match self.result.take() {
                            Some(result) => result,
                            None => Err(self.no_result(&exit.to_string())),
                        };
                        return self.stop(result);
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
                self.pipes.read_errors(&mut buffer);
            }
            if event.output && self.reads() {
                self.read(&mut lines, &mut buffer);
            }
        }
    }

    /// Waits until there is something to do, and says what.
    fn wait(&mut self, now: Instant) -> Event {
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
            Ok(ready) => Event {
                woken: ready.contains(0),
                exited: ready.contains(1),
                output: output.is_some_and(|place| ready.contains(place)),
                errors: errors.is_some_and(|place| ready.contains(place)),
            },
            Err(_) => {
                // Without the ability to wait, the only safe thing is to end.
                self.child.kill();
                Event {
                    exited: true,
                    ..Event::default()
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
                Next::Line => {}
                Next::Blob(length) => lines.expect_blob(length),
                Next::SkipBlob(length) => lines.skip_blob(length),
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

    fn frame(&mut self, frame: Frame<'_>) -> Next {
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
        Next::Line
    }

    fn line(&mut self, line: &[u8]) -> Next {
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
                return Next::Blob(length);
            }
            Ok(ToolLine::Result(response)) => self.finish(outcome(response.value)),
            Ok(ToolLine::Error(error)) => self.finish(Err(error)),
            Ok(ToolLine::State(state)) => self.state(state.value),
            Ok(ToolLine::Cancel { request_id }) => self.give_up(request_id.as_ref()),
            Ok(ToolLine::Ready(ready)) => {
                if !std::mem::replace(&mut self.is_ready, true) {
                    self.agreed = self.plan.offer.common(&ready.capabilities);
                    self.reading = self.reading.with_blobs(self.agreed.blobs);
                }
            }
            Err(Fault::Answer { id, error, blob }) => {
                self.refuse(id.as_ref(), &error);
                if let Some(length) = blob {
                    return Next::SkipBlob(length);
                }
            }
            Err(Fault::BrokenNotification { name, error })
                if matches!(name, "result" | "error" | "state") =>
            {
                let what = format!("the tool sent a `{name}` that cannot be read");
                let mut broken = ToolError::new(what);
                broken.trace.push(error.to_string());
                self.finish(Err(broken));
            }
            // What is not understood and cannot be answered is passed over.
            Err(_) => {}
        }
        Next::Line
    }

    // Requests.

    fn request(&mut self, id: Id<'_>, request: Request<'_>) {
        if self.result.is_some() || self.ending.is_some() || self.has_exited {
            self.refuse(Some(&id), &ErrorReply::cancelled());
            return;
        }
        self.is_idle = false;
        if self.ledger.must_wait(request.method(), self.most()) {
            self.ledger.hold(id.into_owned(), request.into_owned());
            return;
        }
        self.begin(id, &request);
    }

    fn most(&self) -> usize {
        self.agreed.max_in_flight().get() as usize
    }

    fn begin(&mut self, id: Id<'_>, request: &Request<'_>) {
        self.unlogged = true;
        let form = match request {
            Request::FsRead(read) if read.blob && self.agreed.blobs => AnswerForm::Blob,
            _ => AnswerForm::Inline,
        };
        let judged = self.plan.broker.judge(request);
        self.judged(id, request.method(), form, judged);
    }

    fn judged(&mut self, id: Id<'_>, method: Method, form: AnswerForm, judged: Judged) {
        match judged {
            Judged::Ready(work) => self.ready(id, method, form, work),
            Judged::Uncovered(inquiry) => {
                if self.agreed.pending {
                    let mut line = Vec::new();
                    host::write_pending(&mut line, &id, "awaiting user approval");
                    self.send(line);
                }
                let doing = Doing::Asking(Some(inquiry));
                self.ledger.open(id.into_owned(), method, form, doing);
                self.publish();
            }
            Judged::Refused(error) => self.refuse(Some(&id), &error),
        }
    }

    /// Does what may be done: a file that can be passed is, what is quick is done here, and the rest
    /// by a worker.
    fn ready(&mut self, id: Id<'_>, method: Method, form: AnswerForm, work: Work) {
        let work = match self.descriptors.as_ref().filter(|_| self.agreed.fd_pass) {
            Some(descriptors) => match work.hand_over(|file| descriptors.send(file)) {
                Ok(reply) => return self.answer(&id, AnswerForm::Inline, Ok(reply)),
                Err(work) => work,
            },
            None => work,
        };
        if work.is_quick() {
            let result = work.perform();
            self.answer(&id, form, result);
        } else {
            let doing = Doing::Working(work.cancel_token());
            let number = self.ledger.open(id.into_owned(), method, form, doing);
            self.delegate(number, work);
        }
    }

    /// Has a worker do what takes long.
    fn delegate(&mut self, number: u64, work: Work) {
        self.working += 1;
        let (finish, waker) = (self.finish.clone(), self.waker.clone());
        let started = thread::Builder::new()
            .name("jig-work".to_owned())
            .spawn(move || {
                // A mistake of ours must not leave the tool without an answer.
                let result = catch_unwind(AssertUnwindSafe(|| work.perform()))
                    .unwrap_or_else(|_| Err(ErrorReply::internal("jig failed by a bug")));
                // A driver that is gone needs no answer.
                let _ = finish.send(Finished { number, result });
                waker.wake();
            });
        if started.is_err() {
            let error = ErrorReply::internal("there are no threads left on the host");
            let _ = self.finish.send(Finished {
                number,
                result: Err(error),
            });
            self.waker.wake();
        }
    }

    fn take_finished(&mut self) {
        while let Ok(Finished { number, result }) = self.finished.try_recv() {
            self.working = self.working.saturating_sub(1);
            if let Some(open) = self.ledger.close(number) {
                self.answer(&open.id, open.form, result);
                self.release();
            }
        }
    }

    /// Begins held requests whose turn has come.
    fn release(&mut self) {
        while self.pipes.unwritten() <= MAX_UNWRITTEN
            && let Some((id, request)) = self.ledger.release(self.most())
        {
            self.begin(id, &request);
        }
    }

    fn answer(&mut self, id: &Id<'_>, form: AnswerForm, result: Result<Reply<'_>, ErrorReply>) {
        let reply = match result {
            Ok(reply) if self.agreed.etag => reply,
            Ok(reply) => without_etag(reply),
            Err(error) => return self.refuse(Some(id), &error),
        };
        let start = self.pipes.out().len();
        let written = match form {
            AnswerForm::Blob => {
                let blob = host::write_reply_with_blob(self.pipes.out(), id, &reply);
                let end = self.pipes.out().len();
                self.traced(start, end);
                self.pipes.out().extend_from_slice(blob);
                self.active = Instant::now();
                return;
            }
            AnswerForm::Inline => {
                host::write_reply_within(self.pipes.out(), id, &reply, self.plan.message_limit)
            }
        };
        match written {
            Ok(()) => {
                let end = self.pipes.out().len();
                self.traced(start, end);
                self.active = Instant::now();
            }
            Err(error) => self.refuse(Some(id), &error),
        }
    }

    fn refuse(&mut self, id: Option<&Id<'_>>, error: &ErrorReply) {
        if id.is_none() && self.pipes.unwritten() > MAX_COMPLAINTS {
            return;
        }
        let start = self.pipes.out().len();
        host::write_error(self.pipes.out(), id, error);
        let end = self.pipes.out().len();
        self.traced(start, end);
        self.active = Instant::now();
    }

    fn send(&mut self, line: Vec<u8>) {
        trace_sent(&self.plan, &line);
        self.pipes.out().extend_from_slice(&line);
    }

    fn traced(&mut self, start: usize, end: usize) {
        if self.plan.tracer.is_some() {
            let line = self.pipes.out()[start..end].to_vec();
            trace_sent(&self.plan, &line);
        }
    }

    /// The tool takes a request back. It is still answered, once.
    fn give_up(&mut self, id: Option<&Id<'_>>) {
        if let Some(id) = id
            && let Some(held) = self.ledger.drop_held(id)
        {
            return self.refuse(Some(&held), &ErrorReply::cancelled());
        }
        let Some(number) = self.ledger.named(id) else {
            return;
        };
        match self.ledger.open_mut(number).map(|open| &open.what) {
            Some(Doing::Working(token)) => token.cancel(),
            Some(Doing::Asking(_)) => {
                if let Some(open) = self.ledger.close(number) {
                    self.refuse(Some(&open.id), &ErrorReply::cancelled());
                    self.publish();
                    self.release();
                }
            }
            None => {}
        }
    }

    // States.

    fn state(&mut self, state: ToolState) {
        // Whoever has said the last word, or is being ended, asks nobody any more.
        if self.result.is_some() || self.ending.is_some() {
            return;
        }
        match state {
            ToolState::Running { content } => {
                self.question = None;
                self.is_idle = true;
                match self.ledger.asking() {
                    // The policy's question stays until it is answered.
                    Some(_) => self.publish(),
                    None => self.board.running(content),
                }
            }
            ToolState::Waiting { content, question } => {
                self.question = Some((content, question));
                self.publish();
            }
            ToolState::Stopped { result, .. } => self.finish(result),
        }
    }

    /// Shows the question that is to be answered next: the policy's before the tool's.
    fn publish(&self) {
        if let Some((number, inquiry)) = self.ledger.asking() {
            let question = inquiry.question(format!("access-{number}"));
            self.board
                .waiting(Content::EMPTY, question, AskedBy::Policy);
        } else if let Some((content, question)) = &self.question {
            self.board
                .waiting(content.clone(), question.clone(), AskedBy::Tool);
        } else {
            self.board.running(Content::EMPTY);
        }
    }

    /// The tool said its last word; it has a moment to exit.
    fn finish(&mut self, result: Result<Content, ToolError>) {
        if self.result.is_none() {
            self.result = Some(result);
            self.question = None;
            self.has_spoken = true;
            self.cancel_requests();
            self.end(self.plan.timing.cancel_grace);
        }
    }

    fn no_result(&self, exit: &str) -> ToolError {
        let errors = self.plan.broker.secrets().scrub_text(self.pipes.errors());
        let name = &self.plan.input.name;
        let mut error = ToolError::new(match errors.as_str() {
            "" => format!("the tool `{name}` ended without a result and without a word ({exit})"),
            errors => errors.to_owned(),
        });
        error
            .trace
            .push(format!("`{name}` ended without a result: {exit}"));
        error
    }

    fn stop(mut self, result: Result<Content, ToolError>) {
        self.cancel_requests();
        // The whole tree is gone before anybody hears of the end.
        self.child.kill();
        let _ = self.child.wait();
        // And so is what was done for it: after the end nothing more happens.
        let until = Instant::now() + self.plan.timing.kill_grace;
        while self.working > 0 {
            let left = until.saturating_duration_since(Instant::now());
            match self.finished.recv_timeout(left) {
                Ok(_) => self.working -= 1,
                Err(_) => break,
            }
        }
        self.plan.broker.flush_audit();
        self.board.stopped(result);
    }

    // Orders.

    fn take_orders(&mut self) {
        while let Ok(order) = self.orders.try_recv() {
            match order {
                Order::Apply(seen, input) if self.board.shows(seen) => self.apply(input),
                Order::Decline(seen, why) if self.board.shows(seen) => self.decline(why),
                // Given to a question that is not shown any more: whoever answers sees the new one.
                Order::Apply(..) | Order::Decline(..) => {}
                Order::Cancel => self.cancel("the call was cancelled"),
                Order::Abort => {
                    let aborted = ToolError::new("the call was aborted");
                    self.result.get_or_insert(Err(aborted));
                    self.child.kill();
                }
            }
        }
    }

    fn apply(&mut self, input: Value) {
        if let Some((number, _)) = self.ledger.asking() {
            let answer = input.as_str().unwrap_or_default();
            return self.resolve(number, |inquiry| inquiry.answer(answer));
        }
        if self.question.take().is_some() || self.plan.stateful {
            let mut line = Vec::new();
            host::write_apply(&mut line, &input);
            self.send(line);
            self.is_idle = false;
            self.active = Instant::now();
            self.publish();
        }
    }

    fn decline(&mut self, why: Unapproved) {
        if let Some((number, _)) = self.ledger.asking() {
            return self.resolve(number, |inquiry| Judged::Refused(inquiry.deny(why)));
        }
        if let Some((_, question)) = self.question.take() {
            let reason = match why {
                Unapproved::Denied => "the question was not answered",
                Unapproved::Unavailable => "nobody can answer",
                Unapproved::TimedOut => "nobody answered in time",
            };
            self.cancel(&format!("the tool asks `{}`, and {reason}", question.text));
        }
    }

    fn resolve(&mut self, number: u64, judge: impl FnOnce(jig_broker::Inquiry) -> Judged) {
        let Some(open) = self.ledger.close(number) else {
            return;
        };
        let (id, form) = (open.id, open.form);
        if let Doing::Asking(Some(inquiry)) = open.what {
            let method = open.method;
            let judged = judge(inquiry);
            self.judged(id, method, form, judged);
        }
        self.publish();
        self.release();
    }

    fn cancel(&mut self, why: &str) {
        if self.ending.is_some() {
            return;
        }
        let mut line = Vec::new();
        host::write_cancel(&mut line);
        self.send(line);
        self.result.get_or_insert(Err(ToolError::new(why)));
        self.question = None;
        self.cancel_requests();
        self.end(self.plan.timing.cancel_grace);
    }

    fn cancel_requests(&mut self) {
        let (open, held) = self.ledger.take_all();
        for open in open {
            match &open.what {
                // Its worker says what became of it: it may be done already.
                Doing::Working(token) => {
                    token.cancel();
                    self.ledger.put_back(open);
                }
                Doing::Asking(_) => self.refuse(Some(&open.id), &ErrorReply::cancelled()),
            }
        }
        for id in held {
            self.refuse(Some(&id), &ErrorReply::cancelled());
        }
    }

    // Time.

    fn end(&mut self, grace: Duration) {
        let terminate_at = Instant::now() + grace;
        self.ending.get_or_insert(Ending {
            terminate_at,
            kill_at: terminate_at + self.plan.timing.kill_grace,
            terminated: false,
            killed: false,
        });
    }

    /// Takes the steps whose time has come.
    fn step_down(&mut self, now: Instant) {
        if let Some(hung_at) = self.hung_at().filter(|at| *at <= now) {
            let silence = hung_at.saturating_duration_since(self.active).as_secs_f32();
            let what = format!("the tool was silent for {silence:.0} s and was ended");
            let mut hung = ToolError::new(what);
            hung.transient = true;
            let errors = self.plan.broker.secrets().scrub_text(self.pipes.errors());
            if !errors.is_empty() {
                hung.trace.push(errors);
            }
            self.result.get_or_insert(Err(hung));
            self.end(Duration::ZERO);
        }
        let Some(ending) = &mut self.ending else {
            return;
        };
        if !ending.terminated && ending.terminate_at <= now {
            ending.terminated = true;
            self.child.terminate();
        }
        if !ending.killed && ending.kill_at <= now {
            ending.killed = true;
            self.child.kill();
        }
    }

    /// When silence becomes hanging. The clock stands still while the host owes an answer, while
    /// somebody is asked, and while a stateful tool waits for input.
    fn hung_at(&self) -> Option<Instant> {
        let counts = self.ending.is_none()
            && self.ledger.is_empty()
            && self.question.is_none()
            && !(self.plan.stateful && self.is_idle);
        counts.then(|| self.active + self.plan.timing.silence)
    }

    fn deadline(&self) -> Option<Instant> {
        match &self.ending {
            None => self.hung_at(),
            Some(ending) if !ending.terminated => Some(ending.terminate_at),
            Some(ending) if !ending.killed => Some(ending.kill_at),
            Some(_) => None,
        }
    }
}

/// Adds an interest and gives its place.
fn push<'a>(interests: &mut Vec<Interest<'a>>, interest: Interest<'a>) -> usize {
    interests.push(interest);
    interests.len() - 1
}

fn outcome(response: Response) -> Result<Content, ToolError> {
    if !response.is_error {
        return Ok(response.content);
    }
    let details = response.error.unwrap_or_default();
    Err(ToolError {
        message: response.content.to_text(),
        trace: details.trace,
        transient: details.transient,
    })
}

/// The reply as the plain protocol has it, for a tool that did not pick versions.
fn without_etag(mut reply: Reply<'_>) -> Reply<'_> {
    match &mut reply {
        Reply::Read(read) => read.etag = None,
        Reply::Descriptor(descriptor) => descriptor.etag = None,
        Reply::Done(done) => done.etag = None,
        Reply::Metadata(metadata) => metadata.etag = None,
        _ => {}
    }
    reply
}

fn trace_sent(plan: &Plan, line: &[u8]) {
    if let Some(tracer) = &plan.tracer {
        tracer.sent(line.trim_ascii_end());
    }
}

/// How much is read at once: as much as a pipe holds.
const BUFFER_BYTES: usize = 64 * 1024;

/// How much may wait for a tool that does not read before its own output is not read any more.
const MAX_UNWRITTEN: usize = 16 * 1024 * 1024;

/// How much may wait before lines that are no requests go unanswered. A tool that prints its log where
/// the protocol should be reads no answers; it would otherwise be stopped by them and count as hung.
const MAX_COMPLAINTS: usize = 1024 * 1024;

/// How long decisions may wait before they are written to the log, while nothing else is to be done.
/// Writing them at once would hold up every request, or the tool's next one.
const LOG_AFTER: Duration = Duration::from_millis(20);
