//! Who answers a question of a tool: an answer that is known, the person, or the assistant.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use jig_broker::{CancelToken, Unapproved};
use jig_config::{OnUncovered, QuestionTarget, Tool};
use jig_proto::{Question, ToolAction};
use jig_runtime::AskedBy;
use serde_json::{Map, Value, json};

use crate::engine::{Engine, gets_answers_at_start};
use crate::questions::asker::{About, Answer, Ask, Asker};
use crate::questions::assistant::AnsweredBy;
use crate::questions::audit::{CONFIGURED, QuestionOwner, REMEMBERED, trace_question};

/// What somebody said that holds for the rest of a turn.
#[derive(Debug, Default)]
pub(crate) struct RememberedAnswers {
    /// Answers to questions of tools, by tool and id of the question.
    answers: Mutex<HashMap<(String, String), Value>>,
    /// The runs that need no further consent.
    runs: Mutex<HashSet<AgreedRun>>,
}

/// What somebody agreed to when they agreed to a run for the rest of the turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct AgreedRun {
    tool: String,
    action: ToolAction,
    /// The rule of `run` that made it a question, by its place.
    rule: Option<usize>,
    /// The rules and what they start. A turn may outlive a configuration: another tool of the same name, or
    /// another rule at the same place, is not what somebody agreed to.
    definition: String,
}

impl AgreedRun {
    pub(crate) fn new(tool: &Tool, action: ToolAction, rule: Option<usize>) -> Self {
        let started = (&tool.source, tool.runtime, &tool.command, &tool.wasm);
        Self {
            tool: tool.name.to_string(),
            action,
            rule,
            definition: format!("{:?} {started:?}", tool.run),
        }
    }
}

impl RememberedAnswers {
    /// Whether somebody agreed to such runs for the rest of the turn.
    pub(crate) fn has_agreed(&self, run: &AgreedRun) -> bool {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.contains(run)
    }

    /// Keeps that somebody did.
    pub(crate) fn agree(&self, run: AgreedRun) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.insert(run);
    }

    fn get(&self, tool: &Tool, question: &Question) -> Option<Value> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.get(&kept_as(tool, question)).cloned()
    }

    fn keep(&self, tool: &Tool, question: &Question, answer: Value) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.insert(kept_as(tool, question), answer);
    }

    /// Adds what is known of the tool's questions to the answers with which it starts.
    pub(crate) fn add_to(&self, tool: &Tool, given: &mut Map<String, Value>) {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let own = answers
            .iter()
            .filter(|((name, _), _)| name == tool.name.as_str());
        for ((_, question), answer) in own {
            let known = given.entry(question.clone());
            known.or_insert_with(|| answer.clone());
        }
    }
}

/// The tool, and what an answer is kept for: the id of its question. All questions of a server can have one id, so
/// that what was answered there is all that it asked.
fn kept_as(tool: &Tool, question: &Question) -> (String, String) {
    let kept_for = match tool.on_server() {
        None => question.id.clone(),
        Some(_) => {
            let Question {
                id,
                text,
                context,
                schema,
                ..
            } = question;
            json!([id, text, context, schema]).to_string()
        }
    };
    (tool.name.to_string(), kept_for)
}

/// Whether a tool goes on when somebody puts its question away. One on a server is told so, and decides: the
/// protocol has a word for it.
pub(crate) fn can_be_dismissed(tool: &Tool, asked_by: Option<AskedBy>) -> bool {
    tool.on_server().is_some() && asked_by != Some(AskedBy::Policy)
}

/// What to do about a question.
pub(crate) enum InquiryOutcome {
    /// Give this answer.
    Answer(Value),
    /// Say that nobody answers it.
    Decline(Unapproved),
    /// Leave it open.
    Later,
    /// Somebody put it away: end the tool, unless it [can go on](can_be_dismissed).
    Cancel,
    /// End the tool, because somebody said no to its question.
    Reject(String),
}

impl Engine {
    /// Whether a question is for somebody else than the assistant: the policy's always, the tool's if its
    /// answer is known or the configuration says that a person answers it.
    pub(crate) fn is_not_for_assistant(
        &self,
        tool: &Tool,
        question: &Question,
        asked_by: AskedBy,
    ) -> bool {
        let known = tool.questions.get(&question.id);
        // What a server wants to know, it asks the person: the protocol says so.
        let is_for_person = tool.on_server().is_some()
            && known.is_none_or(|known| known.target == QuestionTarget::User);
        asked_by == AskedBy::Policy
            || is_for_person
            || self.remembered.get(tool, question).is_some()
            || known
                .is_some_and(|known| known.answer.is_some() || known.target == QuestionTarget::User)
    }

    /// Answers a question: by what is known (J-016), or by whoever can be asked, until `gone` says that nobody wants
    /// to know any more.
    pub(crate) fn resolve(
        &self,
        of: QuestionOwner<'_>,
        gone: Option<&CancelToken>,
        tool: &Tool,
        question: &Question,
        asked_by: Option<AskedBy>,
        asker: &mut dyn Asker,
    ) -> InquiryOutcome {
        let is_policy = asked_by == Some(AskedBy::Policy);
        let known = tool.questions.get(&question.id).filter(|_| !is_policy);
        if !is_policy && !gets_answers_at_start(tool) {
            let target = known.map_or(QuestionTarget::User, |known| known.target);
            let configured = known.and_then(|known| known.answer.clone());
            let configured = configured.map(|answer| (answer, CONFIGURED));
            let remembered = || Some((self.remembered.get(tool, question)?, REMEMBERED));
            if let Some((answer, by)) = configured.or_else(remembered) {
                self.note_known(of, question, About::Tool(target), by);
                return InquiryOutcome::Answer(answer);
            }
        }
        let about = match is_policy {
            true if tool.on_uncovered == OnUncovered::Deny => {
                return InquiryOutcome::Decline(Unapproved::Unavailable);
            }
            true => About::Access,
            false => About::Tool(known.map_or(QuestionTarget::User, |known| known.target)),
        };
        let ask = Ask {
            tool: of.tool,
            question,
            about,
            gone,
        };
        trace_question(&ask);
        let mut by_model = false;
        let answer = match about {
            About::Tool(QuestionTarget::Assistant) => {
                let (answer, by) = self.ask_assistant(tool, &ask, asker);
                by_model = by == AnsweredBy::Model;
                answer
            }
            _ => asker.ask(&ask),
        };
        // Whatever was said is not said to what the tool does now, and does not end it.
        if gone.is_some_and(CancelToken::is_cancelled) {
            return InquiryOutcome::Decline(Unapproved::Unavailable);
        }
        match by_model {
            true => self.note_known(of, question, about, "the model of `[llm]`"),
            false => self.note_answer(of, &ask, &answer, asker),
        }
        match answer {
            Answer::Given(value) if known.is_some_and(|known| known.remember) => {
                self.remembered.keep(tool, question, value.clone());
                InquiryOutcome::Answer(value)
            }
            Answer::Given(value) => InquiryOutcome::Answer(value),
            Answer::GivenForTurn(value) => {
                if !is_policy {
                    self.remembered.keep(tool, question, value.clone());
                }
                InquiryOutcome::Answer(value)
            }
            Answer::Rejected(reason) if is_policy => {
                InquiryOutcome::Answer(Value::String(format!("no: {reason}")))
            }
            // A server goes on without an answer, or says itself that it cannot.
            Answer::Rejected(_) if tool.on_server().is_some() => {
                InquiryOutcome::Decline(Unapproved::Denied)
            }
            Answer::Rejected(reason) => InquiryOutcome::Reject(reason),
            Answer::Later => InquiryOutcome::Later,
            Answer::Cancel => InquiryOutcome::Cancel,
            Answer::TimedOut => InquiryOutcome::Decline(Unapproved::TimedOut),
            Answer::Unavailable => InquiryOutcome::Decline(Unapproved::Unavailable),
        }
    }
}
