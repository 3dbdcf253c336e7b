//! [`BegunCall`]: a call from its begin to its end.

use std::borrow::Cow;
use std::sync::Arc;

use jig_broker::{CancelHook, CancelToken};
use jig_config::{ResultMode, Tool};
use jig_files::ChangeLayer;
use jig_proto::{Action, Content, Invocation, StateName};
use jig_runtime::Session;
use serde_json::{Map, Value};

use crate::calls::call::{Call, CallError};
use crate::calls::handle_commands::own_arguments;
use crate::engine::{Engine, gets_answers_at_start, is_await};
use crate::questions::asker::Asker;
use crate::questions::audit::QuestionOwner;
use crate::results::reply::Reply;

/// A call that was [begun](Engine::begin). Dropping it ends its tool.
#[derive(Debug)]
pub struct BegunCall<'e> {
    engine: &'e Engine,
    stage: CallStage<'e>,
}

#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "it is moved once, and nearly every call runs a tool"
)]
enum CallStage<'e> {
    Over(Reply),
    Runs(OneShotRun<'e>),
}

/// A tool that runs to its end.
#[derive(Debug)]
struct OneShotRun<'e> {
    tool: Cow<'e, Tool>,
    call: Option<String>,
    session: Arc<Session>,
    answers: Map<String, Value>,
    layer: Option<ChangeLayer>,
    _hooks: [Option<CancelHook>; 2],
}

impl Engine {
    /// Begins a call, and asks `asker` whether it may. Whoever begins it has it [finished](BegunCall::finish).
    ///
    /// A tool that is not stateful, or that is called without `action`, runs to its end; the other calls
    /// of a stateful tool do one thing and tell where the tool stands then (S-031, S-032, X-21).
    ///
    /// It is the one way to a tool: of the command line, of MCP clients, of the station and of programs that embed jig.
    /// In the log, the id of a call that came this way begins with `c`, unless the caller gave it another.
    pub fn begin(&self, mut call: Call, asker: &mut dyn Asker) -> Result<BegunCall<'_>, CallError> {
        call.id = Some(call.id.take().unwrap_or_else(|| self.new_id('c')));
        let tool = self.whole_tool(&call.tool)?;
        let over = |reply| BegunCall {
            engine: self,
            stage: CallStage::Over(reply),
        };
        if is_await(&tool) {
            return self.wait_for_handles(&tool, call, asker).map(over);
        }
        if call.agreed && tool.actions.is_one_shot() {
            return Err(CallError::NotStateful(tool.name.to_string()));
        }
        let arguments = std::mem::take(&mut call.arguments);
        let invocation = Invocation::parse(arguments, tool.actions);
        match invocation.map_err(|error| CallError::command(&tool, error))? {
            Invocation::OneShot { args } => {
                call.arguments = own_arguments(&tool, args, asker);
                let run = self.begin_run(tool, call, asker)?;
                Ok(BegunCall {
                    engine: self,
                    stage: CallStage::Runs(run),
                })
            }
            Invocation::Command(command) => self.obey(&tool, command, call, asker).map(over),
        }
    }

    /// Asks whether the tool may run, and starts it.
    fn begin_run<'e>(
        &'e self,
        tool: Cow<'e, Tool>,
        mut call: Call,
        asker: &mut dyn Asker,
    ) -> Result<OneShotRun<'e>, CallError> {
        let runtime = tool.runtime.name();
        tracing::info!(tool = tool.name.as_str(), runtime, "call begins");
        call.arguments = self.arguments(&tool, call.arguments)?;
        let id = call.id.clone();
        self.accepted(&tool, &call, asker)?;
        call.arguments = self.agreed(&tool, &call, false, asker)?;
        let lent = call.callers_thread.take();
        let lent =
            lent.filter(|_| self.begins_on_callers_thread(tool.name.as_str(), &call.arguments));
        let (cancel, kill) = (call.cancel.clone(), call.kill.clone());
        let mut answers = call.answers.clone();
        self.remembered.add_to(&tool, &mut call.answers);
        let mut plan = self.plan(&tool, call, Action::Run, None)?;
        plan.given_up = cancel.as_ref().is_some_and(CancelToken::is_cancelled);
        plan.thread = lent;
        let layer = self.layer(&tool, &mut plan)?;
        let session = Arc::new(self.start_plan(&tool, plan)?.session);
        let hook = |token: Option<CancelToken>, end: fn(&Session)| {
            let running = Arc::downgrade(&session);
            Some(token?.on_cancel(move || {
                if let Some(session) = running.upgrade() {
                    end(&session);
                }
            }))
        };
        let _hooks = [hook(cancel, Session::cancel), hook(kill, Session::abort)];
        if gets_answers_at_start(&tool) {
            answers.clear();
        }
        Ok(OneShotRun {
            tool,
            call: id,
            session,
            answers,
            layer,
            _hooks,
        })
    }

    /// Runs the tool to its end, and hands its result on.
    fn finish_run(&self, run: OneShotRun<'_>, asker: &mut dyn Asker) -> Result<Content, CallError> {
        let OneShotRun {
            tool,
            call,
            session,
            answers,
            layer,
            _hooks,
        } = run;
        let tool = &*tool;
        let of = QuestionOwner::of_call(tool.name.as_str(), call.as_deref());
        let result = self.drive(of, tool, &session, answers, asker);
        tracing::info!(
            tool = tool.name.as_str(),
            is_error = result.is_err(),
            "call ended"
        );
        let most = self.most(tool);
        let mut content = match result {
            Ok(content) => self.fitting(tool, content, most).map_err(|mut error| {
                if let CallError::Output { discarded, .. } = &mut error {
                    *discarded = layer.is_some();
                }
                error
            })?,
            Err(mut error) => {
                if layer.is_some() {
                    error.trace.push(DISCARDED.to_owned());
                }
                return Err(CallError::Tool(self.bounded(tool, error)));
            }
        };
        if let (Some(layer), Some(mode)) = (layer, tool.overlay) {
            content = self.settle_layer(of, tool, mode, layer, content, asker)?;
        }
        let content = self.passed_on(of, tool, content, asker)?;
        // Somebody may have edited it.
        if tool.result == ResultMode::Edit {
            self.checked(tool, &content)?;
        }
        Ok(content)
    }
}

impl BegunCall<'_> {
    /// Waits, as a task, until there is something to do for whoever finishes the call: the tool has said something,
    /// asks, or has stopped.
    pub async fn first_news(&self) {
        if let CallStage::Runs(run) = &self.stage {
            run.session.first_news().await;
        }
    }

    /// Whether the tool has stopped, so that nobody waits for it any more.
    pub fn has_stopped(&self) -> bool {
        match &self.stage {
            CallStage::Over(_) => true,
            CallStage::Runs(run) => run.session.status() == StateName::Stopped,
        }
    }

    /// Brings the call to its end. Questions go to `asker`.
    pub fn finish(self, asker: &mut dyn Asker) -> Result<Reply, CallError> {
        match self.stage {
            CallStage::Over(reply) => Ok(reply),
            CallStage::Runs(run) => self.engine.finish_run(run, asker).map(Reply::Content),
        }
    }
}

/// What becomes of the layer of a call that failed.
const DISCARDED: &str = "what it changed was discarded";
