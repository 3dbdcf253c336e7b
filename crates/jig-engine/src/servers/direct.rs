//! [`Engine::try_direct`]: calls of servers' tools that their caller makes itself.
//!
//! A session is a thread, and a server that waits for another one has no use for it: a task that awaits the answer
//! does. Where nobody has to be asked before or after a call, all that the engine adds to it is checks and a line
//! in the log.

use std::sync::Arc;
use std::time::Instant;

use jig_broker::{AuditDraft, AuditSink, CancelToken};
use jig_config::{ResultMode, RunMode, Tool};
use jig_proto::{Content, Question, ToolAction, ToolError};
use jig_runtime::AskedBy;
use serde_json::Value;

use super::{Reached, ServerCall};
use crate::asker::Asker;
use crate::asking::Asking;
use crate::call::{Call, CallError};
use crate::engine::Engine;
use crate::inquiry::Resolved;
use crate::reply::Reply;

/// The end of a call of a server's tool that nobody has to agree to: what is left to do with its result.
#[derive(Debug)]
pub struct Direct {
    tool: String,
    /// What its caller names the call.
    id: Option<String>,
    /// Its line in the log, as far as it is written.
    draft: Option<AuditDraft>,
    log: Arc<dyn AuditSink>,
    begun: Instant,
}

/// What came of a question of a server.
#[derive(Debug, Clone, PartialEq)]
pub enum Inquired {
    /// Somebody answered.
    Given(Value),
    /// Nobody does, or somebody said no: the server goes on without.
    Unanswered,
    /// Somebody put it away: the server is told so, and decides.
    GivenUp,
}

impl Engine {
    /// A call of a server's tool that is ready to be made; `None` if the tool is none, or if somebody has to be
    /// asked before it runs or about its result.
    ///
    /// Whoever makes it sees to it that nothing of the tool is [held](super::ToolServers::held).
    ///
    /// # Errors
    ///
    /// If the arguments don't fit, or the log cannot be written.
    pub fn try_direct(&self, call: &mut Call) -> Result<Option<(ServerCall, Direct)>, CallError> {
        let Ok(tool) = self.tool(&call.tool) else {
            return Ok(None);
        };
        let is_plain = tool.actions.is_one_shot() && tool.result == ResultMode::Unattended;
        if !is_plain || tool.on_server().is_none() {
            return Ok(None);
        }
        let arguments = self.arguments(tool, std::mem::take(&mut call.arguments))?;
        // Of what is sent, and not of what was given: a rule must not be got around by JSON in a string.
        let decided = self.decided(tool, ToolAction::Spawn, &arguments);
        if decided.mode != RunMode::Unattended {
            call.arguments = arguments;
            return Ok(None);
        }
        // What is not in the log is not called: lines of earlier calls may wait to be written.
        self.audit.flush().map_err(|error| CallError::Log {
            tool: tool.name.to_string(),
            error,
        })?;
        let direct = Direct {
            tool: tool.name.as_str().to_owned(),
            id: call.id.take(),
            draft: None,
            log: Arc::clone(&self.audit),
            begun: Instant::now(),
        };
        Ok(Some((self.server_call(tool, arguments)?, direct)))
    }

    /// Answers a question that a server has during such a call, until `gone` says that nobody wants to know any
    /// more.
    pub fn inquire(
        &self,
        tool: &str,
        question: &Question,
        gone: &CancelToken,
        asker: &mut dyn Asker,
    ) -> Inquired {
        let Ok(tool) = self.tool(tool) else {
            return Inquired::Unanswered;
        };
        let of = Asking::of_call(tool.name.as_str(), None);
        match self.resolve(of, Some(gone), tool, question, Some(AskedBy::Tool), asker) {
            Resolved::Answer(value) => Inquired::Given(value),
            Resolved::Decline(_) | Resolved::Later => Inquired::Unanswered,
            Resolved::Cancel | Resolved::Reject(_) => Inquired::GivenUp,
        }
    }
}

impl Direct {
    /// The tool, by the name that jig has for it.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Writes what is known of the call's line in the log before the call is over. Whoever waits for a server has the
    /// time; otherwise its end does it.
    ///
    /// # Errors
    ///
    /// If the tool is none of a server any more.
    pub fn prepare(&mut self, engine: &Engine) -> Result<(), CallError> {
        if self.draft.is_none() {
            let tool = engine.tool(&self.tool)?;
            let Reached { server, named, .. } = engine.reached(tool)?;
            let note = engine.note(tool, server, named);
            let id = engine.call_id(self.id.take());
            let entry = note.into_entry(self.tool.as_str(), id);
            self.draft = Some(AuditDraft::new(entry));
        }
        Ok(())
    }

    /// Writes the call's line in the log, and hands its result on.
    ///
    /// # Errors
    ///
    /// As for [`Engine::call`].
    pub fn end(
        mut self,
        engine: &Engine,
        result: Result<Content, ToolError>,
        was_cancelled: bool,
    ) -> Result<Reply, CallError> {
        self.prepare(engine)?;
        self.note(match &result {
            Ok(_) => "ok",
            Err(_) if was_cancelled => "cancelled",
            Err(_) => "error",
        });
        let tool: &Tool = engine.tool(&self.tool)?;
        let most = engine.most(tool);
        match result {
            Ok(content) => engine.fitting(tool, content, most).map(Reply::Content),
            Err(error) => Err(CallError::Tool(engine.bounded(tool, error))),
        }
    }

    /// Writes its line in the log, if it is not written yet.
    fn note(&mut self, outcome: &str) {
        if let Some(draft) = self.draft.take() {
            let noted = draft.end(outcome, self.begun.elapsed(), &*self.log);
            // A log that cannot be written keeps nobody from what was done already.
            let _ = noted.and_then(|()| self.log.flush());
        }
    }
}

impl Drop for Direct {
    /// A call that nobody waited for to its end is in the log, too: its server may have done it.
    fn drop(&mut self) {
        self.note("abandoned");
    }
}
