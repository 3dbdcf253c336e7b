//! Where the tool stands, and what its caller orders.

use jig_broker::{Broker, ProgramEnding};

use super::*;
use crate::in_process::{not_answered, refused_question};
use crate::rerun::ABORTED;

impl VfsDriver {
    pub(super) fn state(&mut self, state: ToolState) {
        // Whoever has said the last word, or is being ended, asks nobody any more.
        if self.result.is_some() || self.ending.is_some() {
            return;
        }
        match state {
            ToolState::Running { content } => {
                self.board.tell(&content);
                if self.question.is_some() {
                    // Only an answer ends the waiting (S-027). What it tells meanwhile is not lost.
                    return;
                }
                self.is_idle = true;
                match self.ledger.asking() {
                    // The policy's question stays until it is answered.
                    Some(_) => self.publish(),
                    None => self.board.running(content),
                }
            }
            ToolState::Waiting { content, question } => {
                self.board.tell(&content);
                if let Some((_, open)) = &self.question
                    && let Some(refused) = refused_question(open, &question)
                {
                    return self.refuse(None, &refused);
                }
                self.question = Some((content, question));
                self.publish();
            }
            ToolState::Stopped { content, result } => {
                self.board.tell(&content);
                self.finish(result);
            }
        }
    }

    /// Shows the question that is to be answered next: the policy's before the tool's.
    pub(super) fn publish(&self) {
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
    pub(super) fn finish(&mut self, result: Result<Content, ToolError>) {
        if self.result.is_none() {
            self.result = Some(result);
            self.question = None;
            self.has_spoken = true;
            self.cancel_requests();
            let grace = self.plan.timing.cancel_grace;
            // Somebody waits to hear of the end.
            self.end(match self.plan.stateful {
                true => grace.min(LAST_WORD),
                false => grace,
            });
        }
    }

    pub(super) fn no_result(&self, exit: Exit) -> ToolError {
        let program = self.program.as_ref();
        let reached = program.map(|program| ReachedLimit::by(program.child(), program.limits()));
        let reached = reached.unwrap_or_default();
        self.board.reached(&reached);
        let name = &self.plan.name;
        let errors = self.plan.broker.secrets().scrub_text(self.pipes.errors());
        let mut error = match ReachedLimit::deadly(&reached, exit) {
            Some(reached) => ToolError::new(format!("`{name}` {reached}")),
            None if errors.is_empty() => ToolError::new(format!(
                "the tool `{name}` ended without a result and without a word ({exit})"
            )),
            None => ToolError::new(&errors),
        };
        if error.message != errors && !errors.is_empty() {
            error.trace.push(errors);
        }
        error
            .trace
            .push(format!("`{name}` ended without a result: {exit}"));
        for reached in reached {
            let key = reached.key();
            error
                .trace
                .push(format!("it {reached} (`{key}` sets the limit)"));
            error.denials.push(reached.denial(name));
        }
        error
    }

    /// Tells what the tool came to.
    pub(super) fn stop(mut self, mut result: Result<Content, ToolError>) -> Option<UnansweredRun> {
        self.clear(Broker::end_processes);
        if let Err(error) = &mut result {
            denials::add_refusals(error, &self.plan.broker);
        }
        self.plan.close_log(&self.board);
        self.board.stopped(result);
        None
    }

    /// Asks what the tool ended with (V-027).
    pub(super) fn ask(mut self, content: Content, question: Question) -> UnansweredRun {
        self.clear(Broker::clear_processes);
        self.plan.broker.flush_audit();
        self.board.tell(&content);
        self.board.waiting(content, question.clone(), AskedBy::Tool);
        UnansweredRun {
            plan: self.plan,
            board: self.board,
            orders: self.orders,
            waker: self.waker,
            question,
        }
    }

    /// Ends what is left of the run; `end_processes` ends the programs that it started.
    fn clear(&mut self, end_processes: impl FnOnce(&Broker)) {
        self.cancel_requests();
        // The whole tree is gone before anybody hears of the end.
        if let Some(program) = self.program.take() {
            program.finish(ProgramEnding::Unexplained);
        }
        // And so is what was done for it: after the end nothing more happens.
        end_processes(&self.plan.broker);
        let until = Instant::now() + self.plan.timing.kill_grace;
        while self.working > 0 {
            let left = until.saturating_duration_since(Instant::now());
            match self.finished.recv_timeout(left) {
                Ok(_) => self.working -= 1,
                Err(_) => break,
            }
        }
    }

    pub(super) fn take_orders(&mut self) {
        while let Ok(order) = self.orders.try_recv() {
            match order {
                SessionOrder::Apply(applied) => {
                    let result = self.apply(applied.given, &applied.input);
                    applied.reply(result);
                }
                SessionOrder::Decline(seen, why) if self.board.asks(seen) => self.decline(why),
                // Said to a question that is not asked any more: whoever answers sees the new one.
                SessionOrder::Decline(..) => {}
                SessionOrder::Cancel => {
                    self.given_up = true;
                    self.cancel(CANCELLED);
                }
                SessionOrder::Abort => {
                    self.given_up = true;
                    let aborted = ToolError::new(ABORTED);
                    self.result.get_or_insert(Err(aborted));
                    self.child.kill();
                }
            }
        }
    }

    pub(super) fn apply(&mut self, given: InputPurpose, input: &Value) -> Result<(), ApplyError> {
        match given {
            InputPurpose::Answer(number) if !self.board.asks(number) => {
                return Err(ApplyError::Changed);
            }
            InputPurpose::Answer(_) => {
                if let Some((number, _)) = self.ledger.asking() {
                    let answer = input.as_str().unwrap_or_default();
                    self.resolve(number, |inquiry| inquiry.answer(answer));
                    return Ok(());
                }
                let question = self.question.take();
                self.hand(input, question.map(|(_, question)| question.id).as_deref());
                self.publish();
            }
            // What is sent now would be taken as the answer.
            InputPurpose::Input if self.question.is_some() => return Err(ApplyError::Changed),
            InputPurpose::Input if self.result.is_some() || self.ending.is_some() => {
                return Err(ApplyError::NotRunning);
            }
            InputPurpose::Input => {
                let waiting = self.pipes.unwritten();
                if waiting > MAX_COMPLAINTS {
                    return Err(SendError::Full { waiting }.into());
                }
                self.hand(input, None);
            }
        }
        Ok(())
    }

    /// Sends the tool the answer to its question of this id, or input (V-122).
    fn hand(&mut self, input: &Value, question: Option<&str>) {
        let mut line = Vec::new();
        host::write_apply(&mut line, input, question);
        self.send(line);
        self.is_idle = false;
        self.active = Instant::now();
        // It may wait for a program at this moment.
        self.plan.broker.input_has_come();
    }

    pub(super) fn decline(&mut self, why: Unapproved) {
        if let Some((number, _)) = self.ledger.asking() {
            return self.resolve(number, |inquiry| JudgedRequest::Refused(inquiry.deny(why)));
        }
        if let Some((_, question)) = self.question.take() {
            self.cancel(&not_answered(&question.text, why).message);
        }
    }

    pub(super) fn resolve(
        &mut self,
        number: u64,
        judge: impl FnOnce(jig_broker::Inquiry) -> JudgedRequest,
    ) {
        let Some(open) = self.ledger.close(number) else {
            return;
        };
        let (id, form) = (open.id, open.form);
        if let OpenRequestState::Asking(Some(inquiry)) = open.what {
            let method = open.method;
            let judged = judge(inquiry);
            self.judged(id, method, form, judged);
        }
        self.publish();
        self.release();
    }

    pub(super) fn cancel(&mut self, why: &str) {
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

    pub(super) fn cancel_requests(&mut self) {
        let (open, held) = self.ledger.take_all();
        for open in open {
            match &open.what {
                // Its worker says what became of it: it may be done already.
                OpenRequestState::Working(token) => {
                    token.cancel();
                    self.ledger.put_back(open);
                }
                OpenRequestState::Asking(_) => {
                    self.refuse(Some(&open.id), &ErrorReply::cancelled())
                }
            }
        }
        for id in held {
            self.refuse(Some(&id), &ErrorReply::cancelled());
        }
    }
}

/// How long a stateful tool may take to exit after its last word.
const LAST_WORD: Duration = Duration::from_millis(500);
