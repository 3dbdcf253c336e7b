//! Whoever is asked: before a tool runs, while it runs, and about its result.

use jig_broker::Unapproved;
use jig_config::{
    FormatMode, Layer, Origin, QuestionTarget, ResultMode, RunMode, RuntimeKind, Tool,
};
use jig_proto::{Content, HandleId, Question, ToolAction, ToolError, ToolState};
use jig_runtime::{AskedBy, Session};
use serde_json::{Map, Value};

use crate::calls::call::{Call, CallError};
use crate::engine::Engine;
use crate::questions::asker::{About, Answer, Asker};
use crate::questions::audit::{QuestionOwner, REMEMBERED, WITH_CALL};
use crate::questions::inquiry::{AgreedRun, InquiryOutcome, can_be_dismissed};

impl Engine {
    /// Asks whether the tool may run, as its run mode says. `is_spawned` tells a tool that goes on when the call is
    /// answered.
    pub(crate) fn agreed(
        &self,
        tool: &Tool,
        call: &Call,
        is_spawned: bool,
        asker: &mut dyn Asker,
    ) -> Result<Map<String, Value>, CallError> {
        let name = tool.name.as_str();
        let arguments = call.arguments.clone();
        let decided = self.decided(tool, ToolAction::Spawn, &arguments);
        match decided.mode {
            RunMode::Unattended => Ok(arguments),
            RunMode::Skip => Err(CallError::Skipped(name.to_owned())),
            RunMode::Ask if asks_by_itself(tool) => Ok(arguments),
            RunMode::Ask => {
                let run = AgreedRun::new(tool, ToolAction::Spawn, decided.rule);
                let question = || {
                    let mut question = Question::yes_no("run", format!("Run `{name}`?"));
                    question.context = Some(self.shown_call(tool, call, is_spawned));
                    question
                };
                let of = QuestionOwner::of_call(name, call.id.as_deref());
                self.consent(run, question, of, asker).map(|()| arguments)
            }
            RunMode::Edit => {
                let text = format!("Edit the arguments of `{name}`.");
                let question = Question::new("arguments", text, tool.input_schema());
                let question = question.with_default(Value::Object(arguments.clone()));
                let of = QuestionOwner::of_call(name, call.id.as_deref());
                match self.ask(of, &question, About::Arguments, asker) {
                    Answer::Given(Value::Object(edited))
                    | Answer::GivenForTurn(Value::Object(edited)) => self.edited(tool, edited),
                    // Anything else that was given is no arguments.
                    Answer::Given(_) => Err(declined(name, None)),
                    other => permitted(other, name).map(|()| arguments),
                }
            }
        }
    }

    /// The arguments that somebody wrote. They need no further consent: whoever writes them agrees to them.
    /// What is never to run does not run for that either.
    fn edited(
        &self,
        tool: &Tool,
        edited: Map<String, Value>,
    ) -> Result<Map<String, Value>, CallError> {
        let arguments = self.arguments(tool, edited)?;
        match self.decided(tool, ToolAction::Spawn, &arguments).mode {
            RunMode::Skip => Err(CallError::Skipped(tool.name.to_string())),
            RunMode::Unattended | RunMode::Ask | RunMode::Edit => Ok(arguments),
        }
    }

    /// Asks for consent to a run, unless somebody gave it for the rest of the turn.
    fn consent(
        &self,
        run: AgreedRun,
        question: impl FnOnce() -> Question,
        of: QuestionOwner<'_>,
        asker: &mut dyn Asker,
    ) -> Result<(), CallError> {
        if self.remembered.has_agreed(&run) {
            self.note_known(of, &question(), About::Run, REMEMBERED);
            return Ok(());
        }
        let answer = self.ask(of, &question(), About::Run, asker);
        if answer == Answer::GivenForTurn(Value::Bool(true)) {
            self.remembered.agree(run);
        }
        permitted(answer, of.tool)
    }

    /// Asks whether a handle may be given a command, as the tool's run mode for it says (S-080).
    pub(crate) fn agreed_to(
        &self,
        tool: &Tool,
        action: ToolAction,
        handle: &HandleId,
        shown: &Map<String, Value>,
        asker: &mut dyn Asker,
    ) -> Result<(), CallError> {
        let name = tool.name.as_str();
        let decided = self.decided(tool, action, shown);
        match decided.mode {
            RunMode::Unattended => Ok(()),
            RunMode::Skip => Err(CallError::Skipped(name.to_owned())),
            // There is nothing to edit but the input, which the one who is asked can send as well.
            RunMode::Ask | RunMode::Edit => {
                let run = AgreedRun::new(tool, action, decided.rule);
                let question = || {
                    let text = format!("Let `{name}` do `{action}`?");
                    let mut question = Question::yes_no(action.name(), text);
                    question.context = serde_json::to_string_pretty(shown).ok();
                    question
                };
                self.consent(run, question, QuestionOwner::of_handle(name, handle), asker)
            }
        }
    }

    /// What whoever decides about a call is shown: the command that it would start, and its arguments. The command
    /// comes first, and nothing of the tool can stand before it.
    fn shown_call(&self, tool: &Tool, call: &Call, is_spawned: bool) -> String {
        let command = self.shown_command(tool, call, is_spawned);
        let command = command.map(|command| format!("$ {command}"));
        let has_arguments = command.is_none() || !call.arguments.is_empty();
        let arguments = has_arguments.then(|| self.shown_arguments(tool, call));
        let lines: Vec<String> = command.into_iter().chain(arguments).collect();
        lines.join("\n")
    }

    /// The arguments as they are shown to whoever decides about the call. Nothing of the tool runs for
    /// that before somebody agreed, unless the configuration says that it may.
    fn shown_arguments(&self, tool: &Tool, call: &Call) -> String {
        if tool.format == FormatMode::Unattended
            && let Ok(Some(formatted)) = self.format_arguments(call)
        {
            return formatted;
        }
        // Only so much is shown to a person: what is short must not hide behind what is long.
        let arguments = call.arguments.iter();
        let is_short = |value: &Value| value.to_string().len() <= SHORT_ARGUMENT;
        let (short, long): (Vec<_>, Vec<_>) = arguments.partition(|(_, value)| is_short(value));
        let ordered = short.into_iter().chain(long);
        let ordered = ordered.map(|(name, value)| (name.clone(), value.clone()));
        let ordered: Map<String, Value> = ordered.collect();
        serde_json::to_string_pretty(&ordered).unwrap_or_default()
    }

    /// Hands the result on, as the tool's result mode says.
    pub(crate) fn passed_on(
        &self,
        of: QuestionOwner<'_>,
        tool: &Tool,
        content: Content,
        asker: &mut dyn Asker,
    ) -> Result<Content, CallError> {
        let name = tool.name.as_str();
        let withheld = || CallError::ResultWithheld(name.to_owned());
        match tool.result {
            ResultMode::Unattended => Ok(content),
            ResultMode::Skip => Err(withheld()),
            ResultMode::Ask => {
                let text = format!("Pass on the result of `{name}`?");
                let mut question = Question::yes_no("result", text);
                question.context = Some(content.to_text());
                match self.ask(of, &question, About::Result, asker) {
                    Answer::Given(Value::Bool(true)) | Answer::GivenForTurn(Value::Bool(true)) => {
                        Ok(content)
                    }
                    _ => Err(withheld()),
                }
            }
            ResultMode::Edit => {
                let question = Question::text("result", format!("Edit the result of `{name}`."));
                let question = question.with_default(content.to_text());
                match self.ask(of, &question, About::EditResult, asker) {
                    Answer::Given(Value::String(edited))
                    | Answer::GivenForTurn(Value::String(edited)) => Ok(Content::text(edited)),
                    _ => Err(withheld()),
                }
            }
        }
    }

    /// The one loop: drives a session until it has stopped.
    pub(crate) fn drive(
        &self,
        of: QuestionOwner<'_>,
        tool: &Tool,
        session: &Session,
        mut answers: Map<String, Value>,
        asker: &mut dyn Asker,
    ) -> Result<Content, ToolError> {
        let mut seen = 0;
        let mut rejected: Option<String> = None;
        loop {
            let update = session.wait(seen, None);
            // The tool may have said something right before it stopped, or asked.
            for said in session.progress(seen, update.number) {
                asker.progress(tool.name.as_str(), &said);
            }
            seen = update.number;
            for warning in session.warnings() {
                self.warn(tool, warning, asker);
            }
            match update.state {
                ToolState::Stopped { result, .. } => {
                    for note in session.notes_after(0) {
                        asker.note(tool.name.as_str(), &note);
                    }
                    return match rejected {
                        Some(reason) => Err(said_no(tool, &reason)),
                        None => result,
                    };
                }
                ToolState::Running { .. } => {}
                ToolState::Waiting { question, .. } => {
                    // Each answer that came with the call is used once: a tool that asks again is
                    // not satisfied by it.
                    let known = match update.asker {
                        Some(AskedBy::Policy) => None,
                        _ => answers.remove(&question.id),
                    };
                    let resolved = match known {
                        Some(answer) => {
                            let about = About::Tool(QuestionTarget::User);
                            self.note_known(of, &question, about, WITH_CALL);
                            InquiryOutcome::Answer(answer)
                        }
                        None => {
                            let gone = session.asking(seen);
                            self.resolve(of, Some(&gone), tool, &question, update.asker, asker)
                        }
                    };
                    // A tool that stops while it is asked needs no answer any more.
                    match resolved {
                        InquiryOutcome::Answer(value) => drop(session.apply(seen, value)),
                        InquiryOutcome::Decline(why) => drop(session.decline(seen, why)),
                        InquiryOutcome::Later => {
                            drop(session.decline(seen, Unapproved::Unavailable));
                        }
                        InquiryOutcome::Cancel if can_be_dismissed(tool, update.asker) => {
                            drop(session.decline(seen, Unapproved::Dismissed));
                        }
                        InquiryOutcome::Cancel => session.cancel(),
                        InquiryOutcome::Reject(reason) => {
                            rejected = Some(reason);
                            session.cancel();
                        }
                    }
                }
            }
        }
    }
}

/// Whether it is the tool that shows a person each of its changes before it makes one: then that is the question, and
/// there is one for one change. Where somebody says in the configuration who is asked, or what, it is as they say.
fn asks_by_itself(tool: &Tool) -> bool {
    let is_ours = |origin: &Origin| origin.layer() == Layer::BuiltIn;
    tool.name.as_str() == "fs_modify_file"
        && tool.runtime == RuntimeKind::Builtin
        && tool.origin("run").is_some_and(is_ours)
        && tool.options.is_empty()
        && tool.questions.is_empty()
}

/// What a yes-or-no question came to, or why it is a no.
fn permitted(answer: Answer, tool: &str) -> Result<(), CallError> {
    match answer {
        Answer::Given(Value::Bool(true)) | Answer::GivenForTurn(Value::Bool(true)) => Ok(()),
        Answer::Given(_) | Answer::GivenForTurn(_) | Answer::Cancel => Err(declined(tool, None)),
        Answer::Rejected(reason) => Err(declined(tool, Some(reason))),
        Answer::TimedOut => Err(CallError::NobodyAnswered(tool.to_owned())),
        Answer::Later | Answer::Unavailable => Err(CallError::NobodyToAsk(tool.to_owned())),
    }
}

fn declined(tool: &str, reason: Option<String>) -> CallError {
    CallError::Declined {
        tool: tool.to_owned(),
        reason: reason.filter(|reason| !reason.trim().is_empty()),
    }
}

/// The end of a tool whose question somebody said no to.
pub(crate) fn said_no(tool: &Tool, reason: &str) -> ToolError {
    let name = tool.name.as_str();
    ToolError::new(format!(
        "`{name}` was ended: its question was rejected: {reason}"
    ))
}

/// An argument that is longer is shown after those that are not, in bytes of JSON.
const SHORT_ARGUMENT: usize = 500;
