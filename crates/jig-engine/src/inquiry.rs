//! Who answers a question of a tool: an answer that is known, the person, or the assistant.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use jig_broker::Unapproved;
use jig_config::{OnUncovered, QuestionTarget, Tool};
use jig_proto::Question;
use jig_runtime::AskedBy;
use serde_json::{Map, Value};

use crate::asker::{About, Answer, Ask, Asker};
use crate::engine::{Engine, gets_answers_at_start};

/// Answers that hold for the rest of a turn, by tool and id of the question.
#[derive(Debug, Default)]
pub(crate) struct Remembered(Mutex<HashMap<(String, String), Value>>);

impl Remembered {
    fn get(&self, tool: &Tool, question: &str) -> Option<Value> {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (tool.name.to_string(), question.to_owned());
        answers.get(&key).cloned()
    }

    fn keep(&self, tool: &Tool, question: &str, answer: Value) {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.insert((tool.name.to_string(), question.to_owned()), answer);
    }

    /// Adds what is known of the tool's questions to the answers with which it starts.
    pub(crate) fn add_to(&self, tool: &Tool, given: &mut Map<String, Value>) {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = answers
            .iter()
            .filter(|((name, _), _)| name == tool.name.as_str());
        for ((_, question), answer) in own {
            let known = given.entry(question.clone());
            known.or_insert_with(|| answer.clone());
        }
    }
}

/// What to do about a question.
pub(crate) enum Resolved {
    /// Give this answer.
    Answer(Value),
    /// Say that nobody answers it.
    Decline(Unapproved),
    /// Leave it open.
    Later,
    /// End the tool.
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
        asked_by == AskedBy::Policy
            || self.remembered.get(tool, &question.id).is_some()
            || known
                .is_some_and(|known| known.answer.is_some() || known.target == QuestionTarget::User)
    }

    /// Answers a question: by what is known (J-016), or by whoever can be asked.
    pub(crate) fn resolve(
        &self,
        tool: &Tool,
        question: &Question,
        asked_by: Option<AskedBy>,
        asker: &mut dyn Asker,
    ) -> Resolved {
        let name = tool.name.as_str();
        let is_policy = asked_by == Some(AskedBy::Policy);
        let known = tool.questions.get(&question.id).filter(|_| !is_policy);
        if !is_policy && !gets_answers_at_start(tool) {
            let answer = known.and_then(|known| known.answer.clone());
            if let Some(answer) = answer.or_else(|| self.remembered.get(tool, &question.id)) {
                return Resolved::Answer(answer);
            }
        }
        let about = match is_policy {
            true if tool.on_uncovered == OnUncovered::Deny => {
                return Resolved::Decline(Unapproved::Unavailable);
            }
            true => About::Access,
            false => About::Tool(known.map_or(QuestionTarget::User, |known| known.target)),
        };
        let answer = ask(asker, name, question, about);
        match answer {
            Answer::Given(value) if known.is_some_and(|known| known.remember) => {
                self.remembered.keep(tool, &question.id, value.clone());
                Resolved::Answer(value)
            }
            Answer::Given(value) => Resolved::Answer(value),
            Answer::GivenForTurn(value) => {
                if !is_policy {
                    self.remembered.keep(tool, &question.id, value.clone());
                }
                Resolved::Answer(value)
            }
            Answer::Rejected(reason) if is_policy => {
                Resolved::Answer(Value::String(format!("no: {reason}")))
            }
            Answer::Rejected(reason) => Resolved::Reject(reason),
            Answer::Later => Resolved::Later,
            Answer::Cancel => Resolved::Cancel,
            Answer::TimedOut => Resolved::Decline(Unapproved::TimedOut),
            Answer::Unavailable => Resolved::Decline(Unapproved::Unavailable),
        }
    }
}

pub(crate) fn ask(asker: &mut dyn Asker, tool: &str, question: &Question, about: About) -> Answer {
    asker.ask(&Ask {
        tool,
        question,
        about,
    })
}
