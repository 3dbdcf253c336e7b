//! Whoever is asked: before a tool runs, while it runs, and about its result.

use jig_broker::Unapproved;
use jig_config::{FormatMode, OnUncovered, QuestionTarget, ResultMode, RunMode, Runtime, Tool};
use jig_proto::{Content, Question, ToolError, ToolState};
use jig_runtime::{AskedBy, Session};
use serde_json::{Map, Value};

use crate::asker::{About, Answer, Ask, Asker};
use crate::call::{Call, CallError};
use crate::engine::Engine;

impl Engine {
    /// Asks whether the tool may run, as its run mode says.
    pub(crate) fn agreed(
        &self,
        tool: &Tool,
        call: &Call,
        asker: &mut dyn Asker,
    ) -> Result<Map<String, Value>, CallError> {
        let name = tool.name.as_str();
        let arguments = call.arguments.clone();
        match tool.run {
            RunMode::Unattended => Ok(arguments),
            RunMode::Skip => Err(CallError::Skipped(name.to_owned())),
            RunMode::Ask => {
                let mut question = Question::yes_no("run", format!("Run `{name}`?"));
                question.context = Some(self.shown_arguments(tool, call));
                match ask(asker, name, &question, About::Run) {
                    Answer::Given(Value::Bool(true)) => Ok(arguments),
                    Answer::Given(_) | Answer::Cancel => Err(CallError::Declined(name.to_owned())),
                    _ => Err(CallError::NobodyToAsk(name.to_owned())),
                }
            }
            RunMode::Edit => {
                let text = format!("Edit the arguments of `{name}`.");
                let question = Question::new("arguments", text, tool.input_schema());
                let question = question.with_default(Value::Object(arguments));
                match ask(asker, name, &question, About::Arguments) {
                    Answer::Given(Value::Object(edited)) => self.arguments(tool, edited),
                    Answer::Given(_) | Answer::Cancel => Err(CallError::Declined(name.to_owned())),
                    _ => Err(CallError::NobodyToAsk(name.to_owned())),
                }
            }
        }
    }

    /// The arguments as they are shown to whoever decides about the call. Nothing of the tool runs for
    /// that before somebody agreed, unless the configuration says that it may.
    fn shown_arguments(&self, tool: &Tool, call: &Call) -> String {
        if tool.format == FormatMode::Unattended
            && let Ok(Some(formatted)) = self.format_arguments(call)
        {
            return formatted;
        }
        serde_json::to_string_pretty(&call.arguments).unwrap_or_default()
    }

    /// Hands the result on, as the tool's result mode says.
    pub(crate) fn passed_on(
        &self,
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
                match ask(asker, name, &question, About::Result) {
                    Answer::Given(Value::Bool(true)) => Ok(content),
                    _ => Err(withheld()),
                }
            }
            ResultMode::Edit => {
                let question = Question::text("result", format!("Edit the result of `{name}`."));
                let question = question.with_default(content.to_text());
                match ask(asker, name, &question, About::EditResult) {
                    Answer::Given(Value::String(edited)) => Ok(Content::text(edited)),
                    _ => Err(withheld()),
                }
            }
        }
    }

    /// The one loop: drives a session until it has stopped.
    pub(crate) fn drive(
        &self,
        tool: &Tool,
        session: &Session,
        mut answers: Map<String, Value>,
        asker: &mut dyn Asker,
    ) -> Result<Content, ToolError> {
        if tool.runtime == Runtime::Stdio {
            // It got them when it started: if it asks all the same, they did not satisfy it.
            answers.clear();
        }
        let mut seen = 0;
        loop {
            let update = session.wait(seen, None);
            seen = update.number;
            for warning in session.warnings() {
                self.warn(tool, warning, asker);
            }
            match update.state {
                ToolState::Stopped { result, .. } => return result,
                ToolState::Running { content } => {
                    if !content.is_empty() {
                        asker.progress(tool.name.as_str(), &content.to_text());
                    }
                }
                ToolState::Waiting { question, .. } => {
                    // Each answer that came with the call is used once: a tool that asks again is
                    // not satisfied by it.
                    let known = match update.asker {
                        Some(AskedBy::Policy) => None,
                        _ => answers.remove(&question.id),
                    };
                    let answer = match known {
                        Some(answer) => Answer::Given(answer),
                        None => self.answer(tool, &question, update.asker, asker),
                    };
                    // A tool that stops while it is asked needs no answer any more.
                    let _ = match answer {
                        Answer::Given(value) => session.apply(seen, value),
                        Answer::Cancel => {
                            session.cancel();
                            Ok(())
                        }
                        Answer::TimedOut => session.decline(seen, Unapproved::TimedOut),
                        _ => session.decline(seen, Unapproved::Unavailable),
                    };
                }
            }
        }
    }

    fn answer(
        &self,
        tool: &Tool,
        question: &Question,
        asked_by: Option<AskedBy>,
        asker: &mut dyn Asker,
    ) -> Answer {
        let name = tool.name.as_str();
        if asked_by == Some(AskedBy::Policy) {
            return match tool.on_uncovered {
                OnUncovered::Ask => ask(asker, name, question, About::Access),
                OnUncovered::Deny => Answer::Unavailable,
            };
        }
        let known = tool.questions.get(&question.id);
        if let Some(answer) = known.and_then(|known| known.answer.clone())
            && tool.runtime != Runtime::Stdio
        {
            return Answer::Given(answer);
        }
        let target = known.map_or(QuestionTarget::User, |known| known.target);
        ask(asker, name, question, About::Tool(target))
    }
}

fn ask(asker: &mut dyn Asker, tool: &str, question: &Question, about: About) -> Answer {
    asker.ask(&Ask {
        tool,
        question,
        about,
    })
}
