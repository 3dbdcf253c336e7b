//! A question at the terminal, and what a person decides there.

use jig_config::QuestionTarget;
use jig_engine::{About, Answer, Ask, Asker as _};
use jig_proto::Prompt;
use serde_json::{Value as Json, json};

use super::shown_question::ServerQuestion;
use crate::interrupt;
use crate::output::YELLOW;
use crate::prompt::PromptTerminal;

/// What a person decides.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PersonDecision {
    /// `once`, `turn`, `deny` or `accept`.
    pub(super) decision: &'static str,
    pub(super) value: Option<Json>,
    pub(super) reason: Option<String>,
    /// Whether they were shown the question for it.
    pub(super) at_terminal: bool,
}

impl PersonDecision {
    fn here(decision: &'static str) -> Self {
        Self {
            decision,
            value: None,
            reason: None,
            at_terminal: true,
        }
    }

    fn with(self, value: Json) -> Self {
        let value = Some(value);
        Self { value, ..self }
    }

    /// As the server is told it.
    pub(super) fn request(&self, id: &str) -> Json {
        json!({
            "do": "answer",
            "id": id,
            "decision": self.decision,
            "value": self.value,
            "reason": self.reason,
            "by": "jig approve",
        })
    }

    /// What was done, for the person. The server says whether a call still waited for it.
    pub(super) fn told(&self, asked: &ServerQuestion, reply: &Json) -> String {
        let id = &asked.id;
        let what = match self.decision {
            "accept" => asked.consequence(true),
            "deny" if asked.is_accepted() => asked.consequence(false),
            "deny" => "denied",
            "turn" => "allowed for this turn",
            _ if self.value.is_some() => "answered",
            _ => "allowed once",
        };
        match reply["state"] == "waiting" || self.decision == "deny" {
            true => format!("{id}: {what}"),
            false => format!("{id}: {what}; the agent has to make the same call again"),
        }
    }
}

/// Shows a question and takes the answer. `None` if it is left as it is.
pub(super) fn ask(terminal: &mut PromptTerminal, asked: &ServerQuestion) -> Option<PersonDecision> {
    let head = format!("\n{YELLOW}?{YELLOW:#} {}", asked.shown());
    let question = asked.question();
    let (help, words): (&str, &[&str]) = match (asked.about.as_str(), question.prompt()) {
        ("run" | "access", _) => (
            "[o]nce, for this [t]urn, [l]ater, [n]o, or n and a reason",
            &["once", "turn", "later", "no"],
        ),
        ("result" | "changes" | "config" | "server" | "definition", _) => (
            "[y]es, [l]ater, [n]o, or n and a reason",
            &["yes", "later", "no"],
        ),
        ("tool", Prompt::YesNo) => (
            "[y]es, [a]lways in this turn, [l]ater, [n]o, or n and a reason",
            &["yes", "always", "later", "no"],
        ),
        (about, _) => {
            let about = match about {
                "arguments" => About::Arguments,
                "edit_result" => About::EditResult,
                _ => About::Tool(QuestionTarget::User),
            };
            return value(terminal, &head, asked, about);
        }
    };
    let _asking = interrupt::asking();
    let answer = terminal.choose(&head, help, words);
    let is_tool = asked.about == "tool";
    match answer {
        Answer::Rejected(reason) => Some(PersonDecision {
            reason: Some(reason),
            ..PersonDecision::here("deny")
        }),
        Answer::Given(Json::String(word)) => match &*word {
            "once" => Some(PersonDecision::here("once")),
            "turn" => Some(PersonDecision::here("turn")),
            "yes" if asked.is_accepted() => Some(PersonDecision::here("accept")),
            "yes" => Some(PersonDecision::here("once")),
            "always" => Some(PersonDecision::here("turn")),
            "no" if is_tool => Some(PersonDecision::here("once").with(json!(false))),
            "no" => Some(PersonDecision::here("deny")),
            _ => None,
        },
        _ => None,
    }
}

/// An answer that is more than a word.
fn value(
    terminal: &mut PromptTerminal,
    head: &str,
    asked: &ServerQuestion,
    about: About,
) -> Option<PersonDecision> {
    terminal.show(head);
    let answer = terminal.ask(&Ask {
        tool: asked.tool.as_deref().unwrap_or_default(),
        question: &asked.question(),
        about,
        gone: None,
    });
    match answer {
        Answer::Given(value) | Answer::GivenForTurn(value) => {
            Some(PersonDecision::here("once").with(value))
        }
        _ => None,
    }
}
