//! [`ServedCall`]: a call that a server works on.

use std::time::Instant;

use jig_broker::AuditNote;
use jig_proto::{Content, ToolError};
use jig_runtime::InProcess;

/// A call that a server works on, in the hands of whoever reaches the server. It ends when it is dropped, and has failed
/// if that is not by [`end`](Self::end).
#[derive(Debug)]
pub struct ServedCall {
    /// The way back to the caller.
    pub door: InProcess,
    /// The line in the log about the call, until it is written.
    note: Option<AuditNote>,
    begun: Instant,
    result: Option<Result<Content, ToolError>>,
}

impl ServedCall {
    pub(super) fn new(door: InProcess, note: AuditNote) -> Self {
        Self {
            door,
            note: Some(note),
            begun: Instant::now(),
            result: None,
        }
    }

    /// Ends the call.
    pub fn end(mut self, result: Result<Content, ToolError>) {
        self.result = Some(result);
    }
}

impl Drop for ServedCall {
    fn drop(&mut self) {
        let result = self.result.take();
        let result = result.unwrap_or_else(|| Err(ToolError::new(DROPPED)));
        if let Some(mut note) = self.note.take() {
            note.duration = Some(self.begun.elapsed());
            note.outcome = Some(match &result {
                Ok(_) => "ok",
                Err(_) if self.door.give_up() => "cancelled",
                Err(_) => "error",
            });
            self.door.plan().broker.note(note);
        }
        self.door.end(result);
    }
}

/// What a call is told that nobody brought to its end.
const DROPPED: &str = "the tool failed by a bug in jig";
