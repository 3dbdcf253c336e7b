//! What the tool asks for: judged, done here or by a worker, and answered exactly once.

use super::*;

impl VfsDriver {
    pub(super) fn request(&mut self, id: Id<'_>, request: VfsRequest<'_>) {
        if self.result.is_some() || self.ending.is_some() || self.has_exited {
            self.refuse(Some(&id), &ErrorReply::cancelled());
            return;
        }
        self.is_idle = false;
        let request = self.negotiated(request);
        if self.ledger.must_wait(request.method(), self.most()) {
            self.ledger.hold(id.into_owned(), request.into_owned());
            return;
        }
        self.begin(id, &request);
    }

    /// The request without the fields of a capability that was not agreed on: to the plain protocol they are
    /// unknown fields. Without `pages`, a listing has all entries (V-055).
    fn negotiated<'r>(&self, mut request: VfsRequest<'r>) -> VfsRequest<'r> {
        if let VfsRequest::FsListDir(list) = &mut request
            && !self.agreed.pages
        {
            (list.cursor, list.limit) = (None, None);
        }
        request
    }

    pub(super) fn most(&self) -> usize {
        self.agreed.max_in_flight().get() as usize
    }

    pub(super) fn begin(&mut self, id: Id<'_>, request: &VfsRequest<'_>) {
        self.unlogged = true;
        let form = match request {
            VfsRequest::FsRead(read) if read.blob && self.agreed.blobs => AnswerForm::Blob,
            _ => AnswerForm::Inline,
        };
        let judged = self.plan.broker.judge(request);
        self.judged(id, request.method(), form, judged);
    }

    pub(super) fn judged(
        &mut self,
        id: Id<'_>,
        method: Method,
        form: AnswerForm,
        judged: JudgedRequest,
    ) {
        match judged {
            JudgedRequest::Ready(work) => self.ready(id, method, form, work),
            JudgedRequest::Uncovered(inquiry) => {
                if self.agreed.pending {
                    let mut line = Vec::new();
                    host::write_pending(&mut line, &id, "awaiting user approval");
                    self.send(line);
                }
                let doing = OpenRequestState::Asking(Some(inquiry));
                self.ledger.open(id.into_owned(), method, form, doing);
                self.publish();
            }
            JudgedRequest::Refused(error) => self.refuse(Some(&id), &error),
        }
    }

    /// Does what may be done: a file that can be passed is, what is quick is done here, and the rest
    /// by a worker.
    pub(super) fn ready(&mut self, id: Id<'_>, method: Method, form: AnswerForm, work: Work) {
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
            let doing = OpenRequestState::Working(work.cancel_token());
            let number = self.ledger.open(id.into_owned(), method, form, doing);
            self.delegate(number, work);
        }
    }

    /// Has a worker do what takes long.
    pub(super) fn delegate(&mut self, number: u64, work: Work) {
        self.working += 1;
        let (finish, waker) = (self.finish.clone(), self.waker.clone());
        let started = thread::Builder::new()
            .name("jig-work".to_owned())
            .spawn(move || {
                // A mistake of ours must not leave the tool without an answer.
                let result = catch_unwind(AssertUnwindSafe(|| work.perform()))
                    .unwrap_or_else(|_| Err(ErrorReply::internal("jig failed by a bug")));
                // A driver that is gone needs no answer.
                let _ = finish.send(FinishedRequest { number, result });
                waker.wake();
            });
        if started.is_err() {
            let error = ErrorReply::internal("there are no threads left on the host");
            let _ = self.finish.send(FinishedRequest {
                number,
                result: Err(error),
            });
            self.waker.wake();
        }
    }

    pub(super) fn take_finished(&mut self) {
        while let Ok(FinishedRequest { number, result }) = self.finished.try_recv() {
            self.working = self.working.saturating_sub(1);
            if let Some(open) = self.ledger.close(number) {
                self.answer(&open.id, open.form, result);
                self.release();
            }
        }
    }

    /// Begins held requests whose turn has come.
    pub(super) fn release(&mut self) {
        while self.pipes.unwritten() <= MAX_UNWRITTEN
            && let Some((id, request)) = self.ledger.release(self.most())
        {
            self.begin(id, &request);
        }
    }

    pub(super) fn answer(
        &mut self,
        id: &Id<'_>,
        form: AnswerForm,
        result: Result<VfsReply<'_>, ErrorReply>,
    ) {
        let reply = match result {
            Ok(reply) if self.agreed.etag => reply,
            Ok(reply) => reply.without_etag(),
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

    pub(super) fn refuse(&mut self, id: Option<&Id<'_>>, error: &ErrorReply) {
        if id.is_none() && self.pipes.unwritten() > MAX_COMPLAINTS {
            return;
        }
        let start = self.pipes.out().len();
        host::write_error(self.pipes.out(), id, error);
        let end = self.pipes.out().len();
        self.traced(start, end);
        self.active = Instant::now();
    }

    pub(super) fn send(&mut self, line: Vec<u8>) {
        trace_sent(&self.plan, &line);
        self.pipes.out().extend_from_slice(&line);
    }

    pub(super) fn traced(&mut self, start: usize, end: usize) {
        if self.plan.tracer.is_some() {
            let line = self.pipes.out()[start..end].to_vec();
            trace_sent(&self.plan, &line);
        }
    }

    /// The tool takes a request back. It is still answered, once.
    pub(super) fn give_up(&mut self, id: Option<&Id<'_>>) {
        if let Some(id) = id
            && let Some(held) = self.ledger.drop_held(id)
        {
            return self.refuse(Some(&held), &ErrorReply::cancelled());
        }
        let Some(number) = self.ledger.named(id) else {
            return;
        };
        match self.ledger.open_mut(number).map(|open| &open.what) {
            Some(OpenRequestState::Working(token)) => token.cancel(),
            Some(OpenRequestState::Asking(_)) => {
                if let Some(open) = self.ledger.close(number) {
                    self.refuse(Some(&open.id), &ErrorReply::cancelled());
                    self.publish();
                    self.release();
                }
            }
            None => {}
        }
    }
}
