//! What the log says about questions: what was asked, what came of it, who answered, and by which way.

use jig_broker::{AuditDecision, AuditEntry, AuditNote};
use jig_proto::{HandleId, Question};
use serde_json::Value;

use crate::engine::Engine;
use crate::questions::asker::{About, Answer, Ask, Asker};

#[cfg(test)]
mod tests;

/// Whose question it is, as the log names it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuestionOwner<'a> {
    /// The tool.
    pub(crate) tool: &'a str,
    /// The call, if it is known.
    pub(crate) call: Option<&'a str>,
    /// The handle, if it is about one.
    pub(crate) handle: Option<&'a HandleId>,
}

impl<'a> QuestionOwner<'a> {
    /// A question of a call.
    pub(crate) fn of_call(tool: &'a str, call: Option<&'a str>) -> Self {
        let handle = None;
        Self { tool, call, handle }
    }

    /// A question of a handle.
    pub(crate) fn of_handle(tool: &'a str, handle: &'a HandleId) -> Self {
        Self {
            tool,
            call: None,
            handle: Some(handle),
        }
    }
}

impl Engine {
    /// Asks, and writes down what came of it.
    pub(crate) fn ask(
        &self,
        of: QuestionOwner<'_>,
        question: &Question,
        about: About,
        asker: &mut dyn Asker,
    ) -> Answer {
        let ask = Ask {
            tool: of.tool,
            question,
            about,
            gone: None,
        };
        trace_question(&ask);
        let answer = asker.ask(&ask);
        self.note_answer(of, &ask, &answer, asker);
        answer
    }

    /// Writes down what came of a question, and who answered it.
    pub(crate) fn note_answer(
        &self,
        of: QuestionOwner<'_>,
        ask: &Ask<'_>,
        answer: &Answer,
        asker: &dyn Asker,
    ) {
        if let Some((decision, words)) = told(ask.about, answer) {
            let by = match answer {
                Answer::Unavailable | Answer::TimedOut => String::new(),
                _ => format!(", by {}", asker.answered_by()),
            };
            self.note_question(
                of,
                ask.question,
                ask.about,
                decision,
                format!("{words}{by}"),
            );
        }
    }

    /// Writes down that a question was answered without anybody being asked.
    pub(crate) fn note_known(
        &self,
        of: QuestionOwner<'_>,
        question: &Question,
        about: About,
        by: &str,
    ) {
        let reason = format!("answered by {by}");
        self.note_question(of, question, about, AuditDecision::Allow, reason);
    }

    fn note_question(
        &self,
        of: QuestionOwner<'_>,
        question: &Question,
        about: About,
        decision: AuditDecision,
        reason: String,
    ) {
        let note = AuditNote::new(operation(about), question.text.as_str(), decision, reason);
        let entry = AuditEntry {
            handle: of.handle.map(ToString::to_string),
            ..note.into_entry(of.tool, of.call.unwrap_or_default())
        };
        entry.trace();
        // A line that cannot be written goes on waiting, and nothing runs before it is written.
        let _ = self.audit.record(&entry).and_then(|()| self.audit.flush());
    }
}

/// Tells whoever watches that a call waits for an answer; not for which: the question can repeat arguments.
pub(crate) fn trace_question(ask: &Ask<'_>) {
    tracing::info!(
        tool = ask.tool,
        operation = operation(ask.about),
        "waits for an answer"
    );
}

/// What the line of a question is called.
fn operation(about: About) -> &'static str {
    match about {
        About::Run => "ask.run",
        About::Arguments => "ask.edit",
        About::Result | About::EditResult => "ask.result",
        About::Access => "ask.access",
        About::Changes => "ask.changes",
        About::Server => "ask.server",
        About::Definition => "ask.define",
        About::Tool(_) => "ask.tool",
    }
}

/// What came of a question; `None` if another line says it, or if nothing came of it yet. What a tool was
/// answered is not told: it may be a password.
fn told(about: About, answer: &Answer) -> Option<(AuditDecision, String)> {
    let is_tools = matches!(about, About::Tool(_));
    let value = |value: &Value| match (about, value) {
        (About::Access, Value::String(word)) if word == "once" => {
            (AuditDecision::Allow, "allowed once".to_owned())
        }
        (About::Access, Value::String(word)) if word == "turn" => {
            (AuditDecision::Allow, "allowed for this turn".to_owned())
        }
        (About::Access, _) => (AuditDecision::Deny, "no".to_owned()),
        (About::Tool(_), _) => (AuditDecision::Allow, "answered".to_owned()),
        (About::Arguments | About::EditResult, _) => (AuditDecision::Allow, "edited".to_owned()),
        (_, Value::Bool(true)) => (AuditDecision::Allow, "yes".to_owned()),
        (_, _) => (AuditDecision::Deny, "no".to_owned()),
    };
    Some(match answer {
        // It was settled elsewhere, and is asked again.
        Answer::Given(Value::Null) if matches!(about, About::Server | About::Definition) => {
            return None;
        }
        Answer::Given(given) => value(given),
        Answer::GivenForTurn(given) => {
            let (decision, words) = value(given);
            (decision, format!("{words}, for this turn"))
        }
        Answer::Rejected(reason) => (AuditDecision::Deny, format!("no ({reason})")),
        Answer::Cancel if is_tools => {
            (AuditDecision::Deny, "put away without an answer".to_owned())
        }
        Answer::Cancel => (AuditDecision::Deny, "no answer".to_owned()),
        Answer::Later => return None,
        // The refusal of the request says so.
        Answer::TimedOut | Answer::Unavailable if about == About::Access => return None,
        Answer::TimedOut => (AuditDecision::Deny, "nobody answered in time".to_owned()),
        Answer::Unavailable => (AuditDecision::Deny, "nobody can be asked here".to_owned()),
    })
}

/// Who answered what somebody said before, and what holds for the turn.
pub(crate) const REMEMBERED: &str = "what was said earlier in this turn";

/// Who answered what the configuration has the answer to.
pub(crate) const CONFIGURED: &str = "the configuration";

/// Who answered what came with a call.
pub(crate) const WITH_CALL: &str = "the caller, with the call";
