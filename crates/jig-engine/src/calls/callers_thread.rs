//! [`CallersThread`]: a call whose tool begins on the thread of its caller.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};

use jig_config::{ResultMode, RunMode, RuntimeKind, Tool};
use jig_proto::{Content, ToolAction, ToolError};
use jig_runtime::{LentThread, Session};
use serde_json::{Map, Value};

use crate::engine::Engine;
use crate::questions::asker::{Answer, Ask, Asker};
use crate::questions::audit::QuestionOwner;
use crate::tools::effects::only_reads_files;

/// What a call needs whose tool may begin on the thread of its caller.
///
/// The tool runs there until it has to wait, and gives the thread back for that. Nobody drives the call before the tool
/// has something to say or to ask; then another thread does, with this engine and this asker.
#[derive(Clone)]
pub struct CallersThread {
    /// The thread.
    pub thread: Arc<dyn LentThread>,
    /// The engine that makes the call.
    pub engine: Arc<Engine>,
    /// The asker with which it makes the call.
    pub asker: Arc<Mutex<dyn Asker + Send>>,
}

impl fmt::Debug for CallersThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CallersThread").field(&self.thread).finish()
    }
}

impl Engine {
    /// Whether the tool of a call may begin on a thread that has other work to do: whatever takes long in such a call is
    /// known, and gives the thread back.
    ///
    /// Such a tool only reads files of this machine, with code of jig's own, or it is on a server. It runs to its end, and
    /// nobody is asked whether it runs, nor whether to pass on its result.
    pub fn begins_on_callers_thread(&self, tool: &str, arguments: &Map<String, Value>) -> bool {
        let Ok(tool) = self.tool(tool) else {
            return false;
        };
        let is_inside = match tool.runtime {
            RuntimeKind::Builtin => only_reads_files(tool) && self.files_are_local(),
            RuntimeKind::Mcp => true,
            _ => false,
        };
        let run = tool.run.of(ToolAction::Spawn);
        is_inside
            && tool.actions.is_one_shot()
            && tool.overlay.is_none()
            && tool.result == ResultMode::Unattended
            && run.rules().is_empty()
            && self.decided(tool, ToolAction::Spawn, arguments).mode == RunMode::Unattended
    }

    fn files_are_local(&self) -> bool {
        let is_local = || self.files.is_local();
        *self.common.files_are_local.get_or_init(is_local)
    }

    /// Runs a tool that begins on this thread, and drives its call.
    pub(crate) fn drive_on_callers_thread(
        &self,
        lent: CallersThread,
        of: QuestionOwner<'_>,
        tool: &Tool,
        session: &Arc<Session>,
        answers: Map<String, Value>,
        asker: &mut dyn Asker,
    ) -> Result<Content, ToolError> {
        let (told, driven) = channel();
        let CallersThread {
            thread,
            engine,
            asker: mut other,
        } = lent;
        let driver = {
            let (name, call) = (tool.name.clone(), of.call.map(str::to_owned));
            let (session, answers) = (Arc::clone(session), answers.clone());
            move || {
                let drive = || {
                    let of = QuestionOwner::of_call(name.as_str(), call.as_deref());
                    let tool = engine.config.tool(name.as_str())?;
                    Some(engine.drive(of, tool, &session, answers, &mut other))
                };
                let result = catch_unwind(AssertUnwindSafe(drive)).ok().flatten();
                match result {
                    Some(result) => drop(told.send(result)),
                    // The tool waits for an answer that nobody gives any more.
                    None => session.cancel(),
                }
            }
        };
        if !session.begin_on_this_thread(driver) {
            return self.drive(of, tool, session, answers, asker);
        }
        let mut result = None;
        thread.wait(&mut || result = driven.recv().ok());
        result.unwrap_or_else(|| Err(ToolError::new("the call failed by a bug in jig")))
    }
}

/// An asker that several threads have, one after the other.
impl<A: Asker + ?Sized> Asker for Arc<Mutex<A>> {
    fn ask(&mut self, ask: &Ask<'_>) -> Answer {
        self.lock().unwrap_or_else(PoisonError::into_inner).ask(ask)
    }

    fn ask_assistant(&mut self, ask: &Ask<'_>) -> Option<Answer> {
        let mut asker = self.lock().unwrap_or_else(PoisonError::into_inner);
        asker.ask_assistant(ask)
    }

    fn answered_by(&self) -> String {
        let asker = self.lock().unwrap_or_else(PoisonError::into_inner);
        asker.answered_by()
    }

    fn progress(&mut self, tool: &str, text: &str) {
        let mut asker = self.lock().unwrap_or_else(PoisonError::into_inner);
        asker.progress(tool, text);
    }

    fn warning(&mut self, tool: &str, text: &str) {
        let mut asker = self.lock().unwrap_or_else(PoisonError::into_inner);
        asker.warning(tool, text);
    }

    fn note(&mut self, tool: &str, text: &str) {
        let mut asker = self.lock().unwrap_or_else(PoisonError::into_inner);
        asker.note(tool, text);
    }
}
