//! What the log says about a call itself: that it begins, and how it ended.

use jig_broker::{AuditDecision, AuditNote, RunRecord};
use jig_proto::{Action, Content, ToolError};
use serde_json::{Map, Value};

use crate::session::SessionBoard;
use crate::{ComponentSource, Plan, StartError};

#[cfg(test)]
mod tests;

impl Plan {
    /// Writes that the call begins. It must not if that fails.
    pub(crate) fn record(&self) -> Result<RunRecord, StartError> {
        let record = self.broker.record_run(
            self.operation(),
            shown(&self.input.arguments),
            self.remark.as_str(),
        );
        record.map_err(StartError::Log)
    }

    /// The same for a call inside this process. What code of jig's own asks for is in the log anyway, so that
    /// it is enough that the log can be written.
    pub(crate) fn record_inside(&self) -> Result<Option<RunRecord>, StartError> {
        let component = self.component.as_ref().map(|component| &component.source);
        let is_foreign =
            component.is_some_and(|source| !matches!(source, ComponentSource::Embedded(_)));
        match is_foreign || self.stateful {
            true => self.record().map(Some),
            false => self
                .broker
                .check_log()
                .map(|()| None)
                .map_err(StartError::Log),
        }
    }

    /// Writes a line about a call that ended without any: there is one for every call.
    pub(crate) fn record_silent(&self, result: &Result<Content, ToolError>) {
        if !self.broker.is_in_log() {
            let note = AuditNote::new(
                self.operation(),
                shown(&self.input.arguments),
                AuditDecision::Allow,
                self.remark.as_str(),
            );
            self.broker.note(AuditNote {
                outcome: Some(outcome(result, false)),
                ..note
            });
        }
    }

    /// Writes what waits for the log, and tells whoever called if not all of it got there.
    pub(crate) fn close_log(&self, board: &SessionBoard) {
        self.broker.flush_audit();
        if let Some(error) = self.broker.take_audit_failure() {
            board.warn([format!(
                "not all that it did is in the log, which cannot be written: {error}"
            )]);
        }
    }

    fn operation(&self) -> &'static str {
        match self.context.action {
            Action::FormatArguments => "format",
            _ if self.stateful => "spawn",
            _ => "call",
        }
    }
}

/// How a call ended, in a word.
pub(crate) fn outcome(result: &Result<Content, ToolError>, given_up: bool) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(_) if given_up => "cancelled",
        Err(_) => "error",
    }
}

/// The arguments of a call as the log has them. A long one may be the content of a file: only its size is told.
fn shown(arguments: &Map<String, Value>) -> String {
    if arguments.is_empty() {
        return String::new();
    }
    let shown = arguments.iter().map(|(name, value)| {
        let length = match value {
            Value::String(text) => text.len(),
            value => value.to_string().len(),
        };
        let value = match length > LONGEST_ARGUMENT {
            true => Value::String(format!("[{length} bytes]")),
            false => value.clone(),
        };
        (name.clone(), value)
    });
    Value::Object(shown.collect()).to_string()
}

/// An argument that is longer is not repeated in the log, in bytes.
const LONGEST_ARGUMENT: usize = 500;
