//! [`CallAsker`]: who is asked when a call has a question.

use std::sync::Arc;

use jig_broker::CancelToken;
use jig_config::AskWay;
use jig_engine::{About, Answer, Ask, Asker, Engine};
use jig_proto::{ToolAction, visible_lines};
use rmcp::model::InputResponses;
use serde_json::Value;
use tokio::task::block_in_place;

use crate::caller::Caller;
use crate::calls::in_flight::{CallRequest, InFlight, ServerQuestionForm};
use crate::calls::tools_call::CLIENT;
use crate::questions::forms::{CallSubject, ClientForm, FormReply};
use crate::questions::sampling::Sampling;
use crate::questions::{CallIdentity, QuestionId, StandingQuestion};
use crate::shared::SharedServer;
use crate::text_prefix::cut;

/// Asks for one call: the client, if it can show a form or has a model, people elsewhere, or nobody.
///
/// It runs on the thread that drives the call, which waits here. Every question is on the board while it waits, so that
/// whoever answers first has answered it.
pub(crate) struct CallAsker {
    shared: Arc<SharedServer>,
    caller: Arc<Caller>,
    flight: Arc<InFlight>,
    engine: Arc<Engine>,
    /// The tool that the call is for, and whether it is about a handle.
    tool: String,
    is_of_handle: bool,
    /// What it is about, for whoever decides.
    subject: CallSubject,
    /// Whether the client can show a form.
    form: bool,
    /// Whether the client has its model answer questions.
    sampling: bool,
    /// Answers to the tool's own questions that came with the call.
    given: InputResponses,
    /// What the result has to tell besides.
    notes: Vec<String>,
    /// Who gave the last answer.
    by: String,
}

impl CallAsker {
    pub(crate) fn new(
        shared: &Arc<SharedServer>,
        caller: &Arc<Caller>,
        flight: &Arc<InFlight>,
        engine: &Arc<Engine>,
        request: &CallRequest,
    ) -> Self {
        let action = request.arguments.get("action").and_then(Value::as_str);
        Self {
            engine: Arc::clone(engine),
            tool: request.tool.clone(),
            subject: CallSubject::of(&request.arguments),
            is_of_handle: action.is_some_and(|action| action != ToolAction::Spawn.name()),
            shared: Arc::clone(shared),
            caller: Arc::clone(caller),
            flight: Arc::clone(flight),
            form: request.form,
            sampling: request.sampling,
            given: request.given.clone(),
            notes: Vec::new(),
            by: String::new(),
        }
    }

    /// What the result has to tell besides.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// An answer that came with the call. Only a tool's own question can be answered so: what the policy
    /// wants to know is asked, or it is no approval.
    fn given(&mut self, ask: &Ask<'_>, form: &ClientForm) -> Option<Answer> {
        match ask.about {
            About::Tool(_) if self.form => {
                let response = self.given.remove(&ask.question.id)?;
                match form.read(response) {
                    Ok(FormReply::Decided(answer)) => Some(answer),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Waits until somebody has answered a question on the board. Without a form, the client is not among those who
    /// can.
    fn wait(
        &mut self,
        pending: &StandingQuestion,
        ask: &Ask<'_>,
        way: Option<ServerQuestionForm>,
    ) -> Answer {
        let limit = self.shared.current().config.mcp.approval_wait;
        if let Some(way) = way {
            self.flight.ask(pending.id(), &ask.question.id, way);
        }
        let wait = || pending.wait(limit, self.flight.cancel_token(), ask.gone);
        // It may be the thread that serves the client, who is to answer.
        let answer = block_in_place(wait);
        self.flight.asked(pending.id());
        self.by = match pending.answered_by() {
            Some(CLIENT) => "the client's form".to_owned(),
            by => by.unwrap_or("nobody").to_owned(),
        };
        if self.shared.questions.is_refused(&pending.id()) {
            self.can_be_allowed(pending.id());
        }
        answer
    }

    /// What makes another call the same as this one: its caller, its arguments, and what its tool is and may do. If
    /// the configuration of the tool is another one meanwhile, what was allowed is not what would run.
    fn identity(&self) -> [u8; 32] {
        let config = self.engine.config();
        let tool = config.tool(&self.tool);
        let server = tool.and_then(|tool| config.server_of(tool));
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.flight.bound().as_bytes());
        hasher.update(&self.caller.key);
        hasher.update(format!("{tool:?} {server:?}").as_bytes());
        *hasher.finalize().as_bytes()
    }

    /// Nobody could be asked, or nobody answered, as the result says: a person may still allow it for the next
    /// time.
    fn unanswered(&mut self, call: &CallIdentity<'_>, ask: &Ask<'_>) {
        let id = self.shared.questions.refused(call, ask);
        self.can_be_allowed(id);
    }

    fn can_be_allowed(&mut self, id: QuestionId) {
        let note = format!(
            "A person can allow it with `jig approve {id}`; then make the same call again."
        );
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

impl Asker for CallAsker {
    fn ask(&mut self, ask: &Ask<'_>) -> Answer {
        let questions = Arc::clone(&self.shared.questions);
        let caller = Arc::clone(&self.caller);
        let call = &CallIdentity {
            caller: &caller.name,
            hash: self.identity(),
            is_of_handle: self.is_of_handle,
        };
        if let Some((answer, by)) = questions.allowed(call, ask) {
            self.by = format!("{by}, after an earlier call was refused");
            return answer;
        }
        let form = ClientForm::of(ask, &self.subject);
        if let Some(answer) = self.given(ask, &form) {
            "the client, with the call".clone_into(&mut self.by);
            return answer;
        }
        let way = self.shared.current().config.mcp.ask;
        // What is accepted holds for good, and some clients let a model fill in their forms.
        let is_for_good = matches!(ask.about, About::Server | About::Definition);
        let is_for_client = self.form && !is_for_good && way != AskWay::Board;
        let form = is_for_client.then(|| ServerQuestionForm::Form(Box::new(form)));
        let pending = match way {
            _ if is_for_client => Some(questions.put(call, ask)),
            AskWay::Board => Some(questions.put(call, ask)),
            AskWay::Client if !is_for_good => None,
            AskWay::Client | AskWay::Both => questions.put_to_watchers(call, ask),
        };
        let answer = match pending {
            Some(pending) => self.wait(&pending, ask, form),
            None => Answer::Unavailable,
        };
        let is_gone = ask.gone.is_some_and(CancelToken::is_cancelled);
        if !is_gone && matches!(answer, Answer::Unavailable | Answer::TimedOut) {
            self.unanswered(call, ask);
        }
        answer
    }

    /// The client's model, or else a form: some clients have a model fill that in.
    fn ask_assistant(&mut self, ask: &Ask<'_>) -> Option<Answer> {
        let questions = Arc::clone(&self.shared.questions);
        if self.sampling {
            let caller = Arc::clone(&self.caller);
            let call = CallIdentity {
                caller: &caller.name,
                hash: self.identity(),
                is_of_handle: self.is_of_handle,
            };
            let pending = questions.put(&call, ask);
            let sampling = Sampling::new(ask.tool, ask.question);
            let answer = self.wait(&pending, ask, Some(ServerQuestionForm::Sampling(sampling)));
            if !matches!(answer, Answer::Unavailable | Answer::TimedOut) {
                return Some(answer);
            }
        }
        self.form.then(|| self.ask(ask))
    }

    fn answered_by(&self) -> String {
        self.by.clone()
    }

    fn progress(&mut self, _tool: &str, text: &str) {
        self.flight
            .progress(&visible_lines(cut(text, LONGEST_PROGRESS)));
    }

    fn note(&mut self, _tool: &str, text: &str) {
        self.notes.push(visible_lines(cut(text, LONGEST_PROGRESS)));
    }
}

/// How much of what a running tool says is told as its progress.
const LONGEST_PROGRESS: usize = 2000;
