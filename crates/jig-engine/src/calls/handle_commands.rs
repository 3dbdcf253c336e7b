//! Commands to stateful tools: one thing is done with a handle, and its caller is told where it stands.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jig_broker::{CancelToken, Unapproved};
use jig_config::{QuestionTarget, ResultMode, Tool};
use jig_proto::{
    Action, Content, Details, Fetch, HANDLE_PARAMETERS, HandleId, HandleReport, Question,
    StateName, ToolAction, ToolCommand, ToolError, ToolState,
};
use jig_runtime::{Await, HandleError, HandleOptions, Session};
use serde_json::{Map, Value, json};

use crate::calls::call::{Call, CallError};
use crate::calls::drive::said_no;
use crate::engine::Engine;
use crate::questions::asker::{About, Answer, Asker};
use crate::questions::audit::QuestionOwner;
use crate::questions::inquiry::{InquiryOutcome, can_be_dismissed};
use crate::results::reply::Reply;
use crate::results::size_limit::{bound, without_large};

impl Engine {
    pub(crate) fn obey(
        &self,
        tool: &Tool,
        command: ToolCommand,
        call: Call,
        asker: &mut dyn Asker,
    ) -> Result<Reply, CallError> {
        let name = tool.name.as_str();
        let cancel = call.cancel.clone();
        let cancel = cancel.as_ref();
        let report = match command {
            ToolCommand::Spawn { id, args } => {
                let mut call = Call {
                    arguments: self.arguments(tool, own_arguments(tool, args, asker))?,
                    ..call
                };
                if call.agreed {
                    let report = self.started(tool, id, call, asker)?;
                    return Ok(Reply::Handle(report));
                }
                self.accepted(tool, &call, asker)?;
                call.arguments = self.agreed(tool, &call, true, asker)?;
                self.started(tool, id, call, asker)?
            }
            ToolCommand::Fetch { id, fetch } => {
                let shown = shown([("id", json!(id))]);
                self.agreed_to(tool, ToolAction::Fetch, &id, &shown, asker)?;
                let _ = self.attend(tool, &id, asker);
                let report = self.handles.fetch(name, &id, &fetch, cancel)?;
                self.attended(tool, report, &fetch, cancel, asker)?
            }
            ToolCommand::Apply { id, input, fetch } => {
                let shown = shown([("id", json!(id)), ("input", json!(input))]);
                self.agreed_to(tool, ToolAction::Apply, &id, &shown, asker)?;
                if self.attend(tool, &id, asker) != QuestionsOutcome::Nothing {
                    return Err(CallError::NotYours { id });
                }
                let asked = self.handles.question(&id);
                match self.handles.apply(name, &id, input, &fetch, cancel) {
                    Ok(report) => {
                        if let Some(asked) = asked {
                            let of = QuestionOwner::of_handle(name, &id);
                            let about = About::Tool(QuestionTarget::Assistant);
                            self.note_known(of, &asked.question, about, "the caller, by `apply`");
                        }
                        self.attended(tool, report, &fetch, cancel, asker)?
                    }
                    // There was nothing any more to give the input to; how it ended is news all the same.
                    Err(HandleError::Stopped { report, .. }) => *report,
                    Err(error) => return Err(error.into()),
                }
            }
            ToolCommand::Abort { id } => {
                let shown = shown([("id", json!(id))]);
                self.agreed_to(tool, ToolAction::Abort, &id, &shown, asker)?;
                self.handles.abort(name, &id)?
            }
            other => {
                let error = jig_proto::ToolCommandError::NotDeclared {
                    action: format!("`{}`", other.action()),
                    declared: tool.actions,
                };
                return Err(CallError::command(tool, error));
            }
        };
        Ok(Reply::Handle(self.passed_on_report(tool, report, asker)))
    }

    /// Asks whether a tool may be spawned, as its run mode says, and completes its arguments: for a caller
    /// that has another engine [call](Self::call) it, where nobody can be asked.
    ///
    /// The arguments are those of the tool itself, without `action` and `id`.
    pub fn agree(&self, call: &Call, asker: &mut dyn Asker) -> Result<Call, CallError> {
        let tool = self.tool(&call.tool)?;
        let mut call = call.clone();
        call.id = Some(call.id.take().unwrap_or_else(|| self.new_id('w')));
        call.arguments = self.arguments(tool, call.arguments)?;
        self.accepted(tool, &call, asker)?;
        call.arguments = self.agreed(tool, &call, true, asker)?;
        Ok(call)
    }

    fn started(
        &self,
        tool: &Tool,
        id: Option<HandleId>,
        mut call: Call,
        asker: &mut dyn Asker,
    ) -> Result<HandleReport, CallError> {
        let options = HandleOptions {
            notices: (tool.notices.stopped, tool.notices.waiting).into(),
        };
        let reserved = self.handles.reserve(id, tool.name.as_str(), options)?;
        call.handle = Some(reserved.id().clone());
        self.remembered.add_to(tool, &mut call.answers);
        let (cancel, kill) = (call.cancel.clone(), call.kill.clone());
        let mut plan = self.plan(tool, call, Action::Run, None)?;
        plan.stateful = true;
        // What is spawned may well run for the whole turn, and what it prints is kept in bounds anyway.
        plan.limits.time = tool.declared_time();
        plan.limits.output = tool.declared_output();
        let session = self.start_plan(tool, plan)?.session;
        let id = reserved.fill(session);
        let hook = |token: Option<CancelToken>, end: fn(&Session)| {
            let session = Arc::downgrade(&self.handles.session(&id)?);
            Some(token?.on_cancel(move || {
                if let Some(session) = session.upgrade() {
                    end(&session);
                }
            }))
        };
        let _hooks = [
            hook(cancel.clone(), Session::cancel),
            hook(kill, Session::abort),
        ];
        let report = self.handles.settle(&id, cancel.as_ref())?;
        self.attended(tool, report, &Fetch::default(), cancel.as_ref(), asker)
    }

    /// Sees to the questions of a handle that are not for the assistant.
    fn attend(&self, tool: &Tool, id: &HandleId, asker: &mut dyn Asker) -> QuestionsOutcome {
        // A handle of another tool has other answers.
        if self.handles.tool(id).as_deref() != Some(tool.name.as_str()) {
            return QuestionsOutcome::Nothing;
        }
        let mut attended = QuestionsOutcome::Nothing;
        for _ in 0..MOST_QUESTIONS {
            let Some(pending) = self.handles.question(id) else {
                return attended;
            };
            if !self.is_not_for_assistant(tool, &pending.question, pending.asked_by) {
                return attended;
            }
            let asked_by = Some(pending.asked_by);
            // A handle that ends while somebody is asked needs no answer any more.
            let session = self.handles.session(id);
            let gone = session.map(|session| session.asking(pending.number));
            let gone = gone.as_ref();
            let of = QuestionOwner::of_handle(tool.name.as_str(), id);
            match self.resolve(of, gone, tool, &pending.question, asked_by, asker) {
                InquiryOutcome::Answer(value) => {
                    drop(self.handles.answer(id, pending.number, value))
                }
                InquiryOutcome::Decline(why) => drop(self.handles.decline(id, pending.number, why)),
                InquiryOutcome::Later => return QuestionsOutcome::LeftOpen,
                InquiryOutcome::Cancel if can_be_dismissed(tool, asked_by) => {
                    let why = Unapproved::Dismissed;
                    drop(self.handles.decline(id, pending.number, why));
                }
                InquiryOutcome::Cancel => self.handles.cancel(id),
                InquiryOutcome::Reject(reason) => {
                    let error = said_no(tool, &reason);
                    self.handles.fail(id, error);
                }
            }
            attended = QuestionsOutcome::Answered;
            // The next question, if there is one, comes soon.
            if self.handles.settled(id).is_none() {
                return attended;
            }
        }
        // It would ask for ever.
        self.handles.cancel(id);
        attended
    }

    /// A report after the questions that it shows and that are not for the assistant were answered.
    fn attended(
        &self,
        tool: &Tool,
        mut report: HandleReport,
        fetch: &Fetch,
        cancel: Option<&CancelToken>,
        asker: &mut dyn Asker,
    ) -> Result<HandleReport, CallError> {
        if let Some(session) = self.handles.session(&report.id) {
            for warning in session.warnings() {
                self.warn(tool, warning, asker);
            }
        }
        while report.state.status() == StateName::Waiting
            && self.attend(tool, &report.id, asker) == QuestionsOutcome::Answered
        {
            let again = Fetch {
                after_seq: None,
                wait: None,
                ..fetch.clone()
            };
            let name = tool.name.as_str();
            let later = self.handles.fetch(name, &report.id, &again, cancel)?;
            report = joined(report, later);
        }
        Ok(report)
    }

    /// Hands a report on, as the tool's result mode says. Where nothing may be, what is left is the state.
    fn passed_on_report(
        &self,
        tool: &Tool,
        mut report: HandleReport,
        asker: &mut dyn Asker,
    ) -> HandleReport {
        let most = self.most(tool);
        if let ToolState::Stopped { result, .. } = &mut report.state {
            let whole = std::mem::replace(result, Ok(Content::EMPTY));
            *result = match whole {
                Ok(content) => Ok(bound(without_large(content, self.most_binary(tool)), most)),
                Err(error) => Err(self.bounded(tool, error)),
            };
        }
        let says_nothing =
            matches!(&report.state, ToolState::Running { content } if content.is_empty());
        let name = tool.name.as_str();
        match tool.result {
            ResultMode::Unattended => report,
            _ if says_nothing => report,
            ResultMode::Skip => withheld(name, report),
            ResultMode::Ask | ResultMode::Edit => {
                let text = format!("Pass on what `{name}` says?");
                let mut question = Question::yes_no("result", text);
                question.context = Some(report.to_string());
                let of = QuestionOwner::of_handle(name, &report.id);
                match self.ask(of, &question, About::Result, asker) {
                    Answer::Given(Value::Bool(true)) | Answer::GivenForTurn(Value::Bool(true)) => {
                        report
                    }
                    _ => withheld(name, report),
                }
            }
        }
    }

    /// The predefined tool `await`: waits until one or all of some handles have stopped, or wait for an
    /// answer.
    pub(crate) fn wait_for_handles(
        &self,
        tool: &Tool,
        call: Call,
        asker: &mut dyn Asker,
    ) -> Result<Reply, CallError> {
        let cancel = call.cancel.clone();
        let arguments = self.arguments(tool, call.arguments.clone())?;
        let call = Call { arguments, ..call };
        let arguments = self.agreed(tool, &call, false, asker)?;
        let ids = self.ids(arguments.get("ids"))?;
        let mode = match arguments.get("mode").and_then(Value::as_str) {
            Some("all") => Await::All,
            _ => Await::Any,
        };
        let wait = arguments.get("timeout_ms").and_then(Value::as_u64);
        let wait = wait.map_or(Fetch::LONGEST_WAIT, Duration::from_millis);
        let deadline = Instant::now().checked_add(wait.min(Fetch::LONGEST_WAIT));
        let reports = self.await_handles(&ids, mode, deadline, cancel.as_ref(), asker)?;
        Ok(Reply::Awaited(reports))
    }

    fn await_handles(
        &self,
        ids: &[HandleId],
        mode: Await,
        deadline: Option<Instant>,
        cancel: Option<&CancelToken>,
        asker: &mut dyn Asker,
    ) -> Result<Vec<HandleReport>, CallError> {
        loop {
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            self.handles.until(ids, mode, left, cancel)?;
            // Questions that are not for the assistant are answered on the way.
            let attended = ids.iter().filter(|id| match self.tool_of(id) {
                Some(tool) => self.attend(tool, id, asker) == QuestionsOutcome::Answered,
                None => false,
            });
            let is_over = deadline.is_some_and(|at| Instant::now() >= at);
            let is_cancelled = cancel.is_some_and(CancelToken::is_cancelled);
            if attended.count() == 0 || is_over || is_cancelled {
                break;
            }
        }
        let mut reports = Vec::new();
        for id in ids {
            let Some(tool) = self.tool_of(id) else {
                continue;
            };
            let shown = shown([("id", json!(id))]);
            let name = tool.name.as_str();
            if self
                .agreed_to(tool, ToolAction::Fetch, id, &shown, asker)
                .is_err()
            {
                // Where it stands is what was waited for; the rest is for a fetch that somebody agrees to.
                if let Some(session) = self.handles.session(id) {
                    let state = session.state().state;
                    reports.push(withheld(name, HandleReport::new(id.clone(), state)));
                }
                continue;
            }
            // It may have been fetched by somebody else meanwhile.
            if let Ok(report) = self.handles.fetch(name, id, &Fetch::default(), cancel) {
                reports.push(self.passed_on_report(tool, report, asker));
            }
        }
        if reports.is_empty() && !ids.is_empty() {
            // Somebody else had them all, or the turn has ended: that is told.
            self.handles.until(ids, mode, Some(Duration::ZERO), None)?;
        }
        Ok(reports)
    }

    fn tool_of(&self, id: &HandleId) -> Option<&Tool> {
        self.config.tool(&self.handles.tool(id)?)
    }

    fn ids(&self, given: Option<&Value>) -> Result<Vec<HandleId>, CallError> {
        let mut ids: Vec<HandleId> = Vec::new();
        for id in given.and_then(Value::as_array).into_iter().flatten() {
            let text = id.as_str().unwrap_or_default();
            let unknown = || HandleError::unknown(text);
            let id: HandleId = text.parse().map_err(|_| unknown())?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        Ok(ids)
    }
}

/// What became of the questions of a handle that are not for the assistant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QuestionsOutcome {
    /// There was none.
    Nothing,
    /// They were answered, or nobody could.
    Answered,
    /// Somebody answers later.
    LeftOpen,
}

/// A command to a handle, as rules judge it and people see it.
fn shown<const N: usize>(parts: [(&str, Value); N]) -> Map<String, Value> {
    let parts = parts.into_iter();
    parts
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Two reports of one handle as one: what the first said comes before what the second says.
fn joined(first: HandleReport, mut second: HandleReport) -> HandleReport {
    let said = first.state.content().clone();
    let content = match &mut second.state {
        ToolState::Running { content }
        | ToolState::Waiting { content, .. }
        | ToolState::Stopped { content, .. } => content,
    };
    if !said.is_empty() {
        let blocks = said.into_blocks().into_iter();
        *content = blocks
            .chain(std::mem::take(content).into_blocks())
            .collect();
    }
    second.details.cut = second.details.cut.or(first.details.cut);
    second.details.notes.splice(..0, first.details.notes);
    second
}

/// A report that tells where a handle stands, and nothing that its tool said.
fn withheld(tool: &str, report: HandleReport) -> HandleReport {
    let words = format!("[what `{tool}` says was not passed on]");
    let state = match report.state {
        ToolState::Running { .. } => ToolState::running(words),
        ToolState::Waiting { question, .. } => ToolState::Waiting {
            content: Content::EMPTY,
            question: Question::new(question.id, words, Value::Bool(true)),
        },
        ToolState::Stopped { result: Ok(_), .. } => ToolState::succeeded(words),
        ToolState::Stopped { .. } => ToolState::failed(ToolError::new(words)),
    };
    HandleReport {
        state,
        details: Details {
            terminal: None,
            cut: None,
            ..report.details
        },
        ..report
    }
}

/// How many questions of one handle are answered in one call. One whose answers are known could ask for
/// ever.
const MOST_QUESTIONS: usize = 100;

/// The arguments of the tool itself, out of those that start it. What is only for a handle that is there may have been
/// sent along, because the published schema has it: it is left out, and told if it said something. An `id` names a
/// handle, and is refused where there is none.
pub(crate) fn own_arguments(
    tool: &Tool,
    mut arguments: Map<String, Value>,
    asker: &mut dyn Asker,
) -> Map<String, Value> {
    if tool.actions.is_one_shot() {
        return arguments;
    }
    let schema = tool.input_schema();
    for name in HANDLE_PARAMETERS {
        let is_own = schema["properties"].get(name).is_some();
        let is_needed = |value: &Value| name == "id" && !value.is_null();
        if is_own || arguments.get(name).is_none_or(is_needed) {
            continue;
        }
        if arguments
            .shift_remove(name)
            .is_some_and(|value| !value.is_null())
        {
            let what = format!("`{name}` was ignored: it is for a handle that is there");
            asker.note(tool.name.as_str(), &what);
        }
    }
    arguments
}
