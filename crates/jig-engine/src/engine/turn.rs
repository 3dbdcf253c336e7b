//! [`Turn`]: what lives and is remembered from one call to the next.

use std::sync::Arc;

use jig_broker::Approvals;
use jig_runtime::Handles;

use crate::engine::Engine;
use crate::questions::inquiry::RememberedAnswers;

/// What lives and is remembered from one call to the next: handles, approvals, answers.
///
/// Engines that [join](Engine::join) the same turn share all of it, whatever their configuration is.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    /// The running tools that callers drive themselves.
    pub handles: Arc<Handles>,
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) remembered: Arc<RememberedAnswers>,
}

impl Turn {
    /// A turn with this registry of handles, and nothing remembered yet.
    pub fn new(handles: Arc<Handles>) -> Self {
        Self {
            handles,
            ..Self::default()
        }
    }
}

impl Engine {
    /// Makes the calls from here on part of a turn.
    pub fn join(&mut self, turn: &Turn) {
        let Turn {
            handles,
            approvals,
            remembered,
        } = turn.clone();
        self.handles = handles;
        self.approvals = approvals;
        self.remembered = remembered;
    }
}
