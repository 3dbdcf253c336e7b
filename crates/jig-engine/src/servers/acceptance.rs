//! [`HeldOffer`]: what a person has to accept before a server's tool may be called.

use std::fmt;

use jig_broker::{AuditDecision, AuditNote};
use jig_config::Tool;
use jig_proto::Question;
use serde_json::Value;

use super::ServerTool;
use crate::calls::call::{Call, CallError};
use crate::engine::Engine;
use crate::questions::asker::{About, Answer, Asker};
use crate::questions::audit::QuestionOwner;

/// What a person has to accept before a tool may be called.
#[derive(Debug, Clone, PartialEq, Eq)]
// Exhaustive: whoever keeps what was accepted must know all of it.
pub enum HeldOffer {
    /// The server: a file of the workspace declares it, and it was never started.
    Server {
        /// Its name in the configuration.
        name: String,
        /// What of its entry is accepted, as one number.
        fingerprint: String,
        /// What it is and may do, line by line.
        described: Vec<String>,
    },
    /// The definition of the tool: its server describes it in another way than the one that was accepted.
    Definition {
        /// The server's name in the configuration.
        server: String,
        /// The tool's name there.
        tool: String,
        /// The hash of the definition that was accepted; empty if the tool is new.
        accepted: String,
        /// The hash of the definition as it is now.
        now: String,
        /// What changed, to be read by a person.
        changed: String,
    },
}

/// Why something held was not accepted. Exhaustive: there is nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unaccepted {
    /// Somebody was asked and said no, and maybe why.
    Declined(Option<String>),
    /// Nobody can be asked here.
    NobodyToAsk,
    /// Nobody answered in time.
    NobodyAnswered,
    /// Somebody said yes, and it could not be kept.
    NotKept(String),
}

impl HeldOffer {
    /// What the question about it is about.
    pub fn about(&self) -> About {
        match self {
            Self::Server { .. } => About::Server,
            Self::Definition { .. } => About::Definition,
        }
    }

    /// The question that is put to a person.
    pub fn question(&self) -> Question {
        let (id, text, context) = match self {
            Self::Server {
                name, described, ..
            } => (
                "server",
                format!("Start the MCP server `{name}`, which a file of this workspace declares?"),
                described.join("\n"),
            ),
            Self::Definition {
                server,
                tool,
                accepted,
                now,
                changed,
            } => {
                let (text, before) = match accepted.as_str() {
                    "" => (
                        format!("The MCP server `{server}` has a new tool `{tool}`. Accept it?"),
                        "nothing: it is new",
                    ),
                    before => (
                        format!(
                            "The MCP server `{server}` describes its tool `{tool}` in another way than the one \
                             that was accepted. Accept what it says now?"
                        ),
                        before,
                    ),
                };
                let context = format!("accepted: {before}\nnow:      {now}\n\n{changed}");
                ("definition", text, context)
            }
        };
        let mut question = Question::yes_no(id, text);
        question.context = Some(context).filter(|context| !context.is_empty());
        question
    }

    /// The server that it is about.
    pub fn server(&self) -> &str {
        match self {
            Self::Server { name, .. } => name,
            Self::Definition { server, .. } => server,
        }
    }
}

/// What is held, in a sentence.
impl fmt::Display for HeldOffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server { name, .. } => write!(
                f,
                "the MCP server `{name}` is declared by a file of this workspace, and nobody has accepted it yet"
            ),
            Self::Definition {
                server,
                tool,
                accepted,
                now,
                ..
            } if accepted.is_empty() => write!(
                f,
                "the tool `{tool}` of the MCP server `{server}` is new, and nobody has accepted its definition \
                 yet ({})",
                short(now)
            ),
            Self::Definition {
                server,
                tool,
                accepted,
                now,
                ..
            } => write!(
                f,
                "the MCP server `{server}` changed the definition of its tool `{tool}` after it was accepted \
                 ({}, now {})",
                short(accepted),
                short(now)
            ),
        }
    }
}

/// What came of asking, as the rest of a sentence about what is held.
impl fmt::Display for Unaccepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Declined(None) => f.write_str("the user was asked to accept it, and declined"),
            Self::Declined(Some(reason)) => {
                write!(f, "the user was asked to accept it, and declined: {reason}")
            }
            Self::NobodyToAsk => f.write_str("nobody can be asked here to accept it"),
            Self::NobodyAnswered => f.write_str("nobody answered in time whether to accept it"),
            Self::NotKept(why) => write!(f, "it was accepted, which could not be kept: {why}"),
        }
    }
}

/// The beginning of a hash, as people compare them.
fn short(hash: &str) -> &str {
    &hash[..hash.floor_char_boundary(SHOWN_HASH)]
}

impl Engine {
    /// Has somebody accept what is held of a server's tool, if anything is; nothing of other tools.
    pub(crate) fn accepted(
        &self,
        tool: &Tool,
        call: &Call,
        asker: &mut dyn Asker,
    ) -> Result<(), CallError> {
        if tool.on_server().is_none() {
            return Ok(());
        }
        let ServerTool {
            server,
            named,
            servers,
        } = self.reached(tool)?;
        // A server that was accepted just now may hold a tool, and one that changes its tools without end
        // must not ask without end.
        for _ in 0..MOST_HOLDS {
            let held = servers.held(&server.name, named, call.cancel.as_ref());
            let Some(held) = held.map_err(CallError::Tool)? else {
                return Ok(());
            };
            let of = QuestionOwner::of_call(tool.name.as_str(), call.id.as_deref());
            let answer = self.ask(of, &held.question(), held.about(), asker);
            // It was settled elsewhere, which says nothing about what was shown here: what is held now is looked at.
            if answer == Answer::Given(Value::Null) {
                continue;
            }
            let why = match accepts(answer) {
                Ok(()) => match servers.accept(&held) {
                    Ok(()) => continue,
                    Err(why) => Unaccepted::NotKept(why),
                },
                Err(why) => why,
            };
            return Err(self.unaccepted(tool, call, held, why));
        }
        let why = Unaccepted::NotKept("it changes again and again".to_owned());
        let held = servers.held(&server.name, named, call.cancel.as_ref());
        match held.map_err(CallError::Tool)? {
            None => Ok(()),
            Some(held) => Err(self.unaccepted(tool, call, held, why)),
        }
    }

    /// The error, of which a line is written.
    fn unaccepted(&self, tool: &Tool, call: &Call, held: HeldOffer, why: Unaccepted) -> CallError {
        let broker = self.served_broker(tool, call.id.clone(), None);
        if let (Ok(broker), Ok(ServerTool { server, named, .. })) = (broker, self.reached(tool)) {
            broker.note(AuditNote {
                decision: AuditDecision::Deny,
                reason: format!("{held}; {why}"),
                ..self.note(tool, server, named)
            });
            broker.flush_audit();
        }
        CallError::Held {
            tool: tool.name.to_string(),
            held: Box::new(held),
            why,
        }
    }
}

fn accepts(answer: Answer) -> Result<(), Unaccepted> {
    match answer {
        Answer::Given(Value::Bool(true)) | Answer::GivenForTurn(Value::Bool(true)) => Ok(()),
        Answer::Given(_) | Answer::GivenForTurn(_) | Answer::Cancel => {
            Err(Unaccepted::Declined(None))
        }
        Answer::Rejected(reason) => {
            let reason = Some(reason).filter(|reason| !reason.trim().is_empty());
            Err(Unaccepted::Declined(reason))
        }
        Answer::TimedOut => Err(Unaccepted::NobodyAnswered),
        Answer::Later | Answer::Unavailable => Err(Unaccepted::NobodyToAsk),
    }
}

/// How much of a hash is shown in a sentence: enough to tell two apart that nobody made to be alike. The
/// question has all of it.
const SHOWN_HASH: usize = 12;

/// How often one call asks somebody to accept something: the server, its tool, and the tool once more if it
/// changed meanwhile.
const MOST_HOLDS: usize = 3;
