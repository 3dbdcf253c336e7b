//! [`Inquiry`]: a request that no rule covers, put to whoever can answer.

use jiff::Timestamp;
use jig_proto::Question;
use jig_proto::vfs::{ErrorKind, ErrorReply};
use jig_proto::visible_line_to;

use crate::audit::AuditDecision;
use crate::broker::Broker;
use crate::denial::MAX_TARGET;
use crate::requests::approvals::ApprovalKey;
use crate::requests::judge::DecisionNote;
use crate::requests::kinds::BrokerRequest;
use crate::requests::work::{AuditRecord, JudgedRequest};

/// A request that no rule covers.
///
/// It is a value: whoever holds it decides when and whom to ask, and nothing waits meanwhile. All
/// its texts are fit to be shown on a terminal.
#[derive(Debug)]
#[must_use]
pub struct Inquiry {
    broker: Broker,
    wanted: Box<dyn BrokerRequest>,
    asks: Vec<ApprovalRequest>,
    /// What was approved before for this same request.
    once: Vec<ApprovalKey>,
}

/// One thing that has to be approved.
#[derive(Debug, Clone)]
pub struct ApprovalRequest {
    pub(crate) operation: &'static str,
    pub(crate) target: String,
    pub(crate) why: String,
    pub(crate) rule: Option<String>,
    pub(crate) reply: ErrorReply,
    pub(crate) key: ApprovalKey,
}

impl ApprovalRequest {
    /// The capability, or `reach`, `header`, `run`, `move`.
    pub fn operation(&self) -> &'static str {
        self.operation
    }

    /// On what.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// What it would be refused as: [`Uncovered`](ErrorKind::Uncovered), or a kind that says more.
    pub fn kind(&self) -> ErrorKind {
        self.reply.kind()
    }

    /// Why it is asked, in words.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// The rule that would cover it, as TOML.
    pub fn rule(&self) -> Option<&str> {
        self.rule.as_deref()
    }
}

/// How far an approval goes. There is no further one: what is to last belongs into a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalScope {
    /// This request.
    Once,
    /// This capability on this target, for this tool, until the turn ends.
    Turn,
}

/// Who answers questions, seen from whoever reads what came of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Person {
    /// Somebody else: the reader is a tool or a model.
    #[default]
    User,
    /// The reader, as with a command at the terminal.
    Reader,
}

/// Why an inquiry was not approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unapproved {
    /// Somebody said no.
    Denied,
    /// Nobody can be asked.
    Unavailable,
    /// Nobody answered in time.
    TimedOut,
    /// Somebody was asked, and put the question away without an answer.
    Dismissed,
}

impl Inquiry {
    pub(crate) fn new(
        broker: &Broker,
        wanted: Box<dyn BrokerRequest>,
        asks: Vec<ApprovalRequest>,
        once: Vec<ApprovalKey>,
    ) -> Self {
        let clean =
            |text: String| visible_line_to(&broker.inner.secrets.scrub_text(text), MAX_TARGET);
        let asks = asks.into_iter().map(|ask| ApprovalRequest {
            target: clean(ask.target),
            ..ask
        });
        Self {
            broker: broker.clone(),
            wanted,
            asks: asks.collect(),
            once,
        }
    }

    /// The tool that asks.
    pub fn tool(&self) -> &str {
        &self.broker.inner.tool
    }

    /// What has to be approved; at least one thing, and all of it or nothing.
    pub fn asks(&self) -> &[ApprovalRequest] {
        &self.asks
    }

    /// The question in one line.
    pub fn text(&self) -> String {
        let wants: Vec<String> = self
            .asks
            .iter()
            .map(|ask| format!("{} `{}`", verb(ask.operation), ask.target))
            .collect();
        let tool = visible_line_to(&self.broker.inner.tool, MAX_TARGET);
        format!("Allow `{tool}` to {}?", wants.join(" and to "))
    }

    /// What to know before answering: the reasons and the rules that would cover it.
    pub fn context(&self) -> String {
        let mut text = format!("{} asks by `{}`.", self.tool(), self.wanted.method());
        for ask in &self.asks {
            text.push_str(&format!(
                "\n{} `{}`: {}.",
                ask.operation, ask.target, ask.why
            ));
            if ask.operation == "reach" {
                text.push_str(" For the turn, all of this scheme, host and port is meant.");
            }
        }
        let rules: Vec<&str> = self.asks.iter().filter_map(ApprovalRequest::rule).collect();
        if !rules.is_empty() {
            text.push_str("\nThe rule that would cover it:\n");
            text.push_str(&rules.join("\n"));
        }
        // Names are in the rules, too, and the secrets that a server may have put into a URL.
        let text = self.broker.inner.secrets.scrub_text(text);
        let lines: Vec<String> = text
            .lines()
            .map(|line| visible_line_to(line, MAX_CONTEXT))
            .collect();
        lines.join("\n")
    }

    /// The question as a state of the call carries it. The answers are `once`, `turn` and `no`;
    /// [`answer`](Self::answer) takes them.
    pub fn question(&self, id: impl Into<String>) -> Question {
        let mut question = Question::select(id, self.text(), [ONCE, TURN, NO]);
        question.context = Some(self.context());
        question.with_default(NO)
    }

    /// Takes the answer to [`question`](Self::question). Everything but `once` and `turn` is a no; one
    /// that has a reason, `no: REASON`, tells it to the tool.
    pub fn answer(self, answer: &str) -> JudgedRequest {
        match answer {
            ONCE => self.approve(ApprovalScope::Once),
            TURN => self.approve(ApprovalScope::Turn),
            other => {
                let reason = other
                    .strip_prefix(NO)
                    .and_then(|rest| rest.strip_prefix(": "));
                JudgedRequest::Refused(self.refuse(Unapproved::Denied, reason))
            }
        }
    }

    /// Somebody who may has said yes.
    ///
    /// The request is judged again, with the approval in force: time has passed, and what stands at
    /// a path may be something else by now. It is [`JudgedRequest::Ready`] unless that is so.
    pub fn approve(self, scope: ApprovalScope) -> JudgedRequest {
        let Self {
            broker,
            wanted,
            asks,
            mut once,
        } = self;
        for ask in asks {
            match scope {
                ApprovalScope::Once => once.push(ask.key),
                ApprovalScope::Turn => broker.inner.approvals.remember(ask.key),
            }
        }
        broker.judge_with(&*wanted, &once)
    }

    /// It was not approved; this is the answer to the tool.
    pub fn deny(self, why: Unapproved) -> ErrorReply {
        self.refuse(why, None)
    }

    fn refuse(self, why: Unapproved, because: Option<&str>) -> ErrorReply {
        let (kind, words) = match (why, self.broker.inner.person) {
            (Unapproved::Denied, Person::Reader) => (ErrorKind::ApprovalDenied, "you said no"),
            (Unapproved::Denied, Person::User) => (ErrorKind::ApprovalDenied, "the user said no"),
            (Unapproved::Dismissed, Person::Reader) => {
                (ErrorKind::ApprovalDenied, "you gave no answer")
            }
            (Unapproved::Dismissed, Person::User) => {
                (ErrorKind::ApprovalDenied, "the user gave no answer")
            }
            (Unapproved::Unavailable, _) => {
                (ErrorKind::ApprovalUnavailable, "nobody can be asked here")
            }
            (Unapproved::TimedOut, _) => (ErrorKind::ApprovalTimeout, "nobody answered in time"),
        };
        let words = match because {
            Some(because) => format!("{words}: {because}"),
            None => words.to_owned(),
        };
        let mut asks = self.asks.into_iter();
        let Some(ask) = asks.next() else {
            return ErrorReply::denied(kind, words);
        };
        let note = DecisionNote {
            target: ask.target,
            reason: format!("{words}: {}", ask.why),
            rule: None,
            origin: None,
            hint: ask.rule,
        };
        let method = self.wanted.method();
        AuditRecord::new(
            &self.broker.inner,
            method,
            AuditDecision::Deny,
            Timestamp::now(),
            Some(note),
        )
        .write();
        let mut reply = ErrorReply::new(kind, format!("{}; {words}", ask.reply.message));
        reply.data = Box::new(jig_proto::vfs::ErrorData {
            kind,
            retryable: reply.data.retryable,
            ..*ask.reply.data
        });
        // Whoever said no to it has just read which rule would allow it.
        if self.broker.inner.person == Person::Reader && kind == ErrorKind::ApprovalDenied {
            reply.data.hint = None;
        }
        let reply = self.broker.inner.scrub_error(reply);
        self.broker.inner.note_refusal(&reply);
        reply
    }
}

fn verb(operation: &'static str) -> &'static str {
    match operation {
        "header" => "send the value of",
        other => other,
    }
}

/// How much of a line is shown before a question. A tool chooses how long its arguments are.
const MAX_CONTEXT: usize = 2000;

const ONCE: &str = "once";
const TURN: &str = "turn";
const NO: &str = "no";
