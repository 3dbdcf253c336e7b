//! [`Inbox`]: what the host has sent by `apply` and the tool has not taken yet.
//!
//! Answers and input come the same way. Whoever sends input must not be able to answer a question by it
//! before it is asked, so this is where the two are told apart.

use std::collections::VecDeque;

use serde_json::Value;

/// What the host sends by one `apply`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AppliedInput {
    pub(super) input: Value,
    /// The id of the question that it answers. Without, it is input, or the host does not say.
    pub(super) question: Option<String>,
}

/// What has come and was not taken, in the order in which it came.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    /// What came before the last question: none of it is the answer.
    before: VecDeque<AppliedInput>,
    /// What came since.
    since: VecDeque<AppliedInput>,
    /// The id of the question that was put and is not answered.
    open: Option<String>,
    /// Whether the host says of every answer which question it answers. All do that let a tool be driven.
    marks_answers: bool,
}

impl Inbox {
    /// From now on an `apply` that names no question is input.
    pub(super) fn trust_marks(&mut self) {
        self.marks_answers = true;
    }

    pub(super) fn push(&mut self, applied: AppliedInput) {
        self.since.push_back(applied);
    }

    /// The question of this id is put now. One that was open before is not any more.
    pub(super) fn put_question(&mut self, id: &str) {
        self.before.append(&mut self.since);
        self.open = Some(id.to_owned());
    }

    /// Whether the question of this id was put and is not answered.
    pub(super) fn asks(&self, id: &str) -> bool {
        self.open.as_deref() == Some(id)
    }

    /// Takes the answer to the open question.
    pub(super) fn take_answer(&mut self) -> Option<Value> {
        let is_answer = |applied: &AppliedInput| self.is_answer(applied);
        let place = self.since.iter().position(is_answer)?;
        self.open = None;
        Some(self.since.remove(place)?.input)
    }

    /// Takes what the tool is given next. While a question is open and answers are told from input, that
    /// is the answer, and input waits.
    pub(super) fn take_next(&mut self) -> Option<Value> {
        if self.open.is_some() && self.marks_answers {
            return self.take_answer();
        }
        if let Some(applied) = self.before.pop_front() {
            return Some(applied.input);
        }
        let applied = self.since.pop_front()?;
        if self.is_answer(&applied) {
            self.open = None;
        }
        Some(applied.input)
    }

    /// Whether something that came after the question answers it.
    fn is_answer(&self, applied: &AppliedInput) -> bool {
        match (&self.open, &applied.question) {
            (Some(open), Some(answered)) => open == answered,
            (Some(_), None) => !self.marks_answers,
            (None, _) => false,
        }
    }
}

#[cfg(test)]
mod tests;
