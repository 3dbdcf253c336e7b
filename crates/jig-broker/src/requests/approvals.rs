//! [`Approvals`]: what a person has allowed for the rest of a turn.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jig_policy::{CommandTarget, EnvTarget, FileTarget, MoveTarget, NetTarget, RuleKind, Target};

/// What a person has allowed for the rest of a turn.
///
/// An approval is of one capability on one target for one tool, whichever call asks next: a path, a
/// variable, a command line, or the scheme, host and port of a URL. It never outlives the turn and
/// is never written anywhere. Shared by the brokers of all calls of a turn.
#[derive(Debug, Default)]
pub struct Approvals(Mutex<HashSet<ApprovalKey>>);

impl Approvals {
    /// Nothing is approved.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes all approvals back, at the end of a turn.
    pub fn clear(&self) {
        self.keys().clear();
    }

    pub(crate) fn remember(&self, key: ApprovalKey) {
        self.keys().insert(key);
    }

    pub(crate) fn has(&self, key: &ApprovalKey) -> bool {
        self.keys().contains(key)
    }

    fn keys(&self) -> MutexGuard<'_, HashSet<ApprovalKey>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an approval is of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ApprovalKey {
    tool: String,
    resource: RuleKind,
    operation: &'static str,
    target: String,
}

impl ApprovalKey {
    pub(crate) fn of(tool: &str, target: &impl ApprovableTarget) -> Self {
        Self {
            tool: tool.to_owned(),
            resource: target.resource(),
            operation: target.operation(),
            target: target.remembered_as(),
        }
    }
}

/// A target as people and logs see it.
pub(crate) trait ApprovableTarget: Target {
    /// What an approval for the turn covers. Two targets with the same text are one to whoever
    /// approves.
    fn remembered_as(&self) -> String {
        self.to_string()
    }

    /// The target in questions, errors and logs.
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl ApprovableTarget for FileTarget {}

impl ApprovableTarget for MoveTarget {
    fn remembered_as(&self) -> String {
        format!("{}\0{}\0{:?}", self.from.path(), self.to.path(), self.entry)
    }
}

impl ApprovableTarget for EnvTarget {}

impl ApprovableTarget for CommandTarget {
    fn remembered_as(&self) -> String {
        let mut key = self.program.to_string();
        for arg in &self.args {
            key.push('\0');
            key.push_str(arg);
        }
        key
    }
}

impl ApprovableTarget for NetTarget {
    fn remembered_as(&self) -> String {
        format!("{}://{}:{}", self.scheme(), self.host(), self.port())
    }

    /// Without the query, in which credentials are passed.
    fn shown(&self) -> String {
        let text = self.to_string();
        match text.find(['?', '#']) {
            Some(end) => format!("{}?…", &text[..end]),
            None => text,
        }
    }
}

#[cfg(test)]
mod tests;
