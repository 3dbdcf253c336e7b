//! [`ToolRules`]: what a tool may do, as its runtime, its broker and the tool itself need it.
//!
//! The rules of a tool are compiled for every call, because they mean the workspace as it is: a rule on a link is
//! a rule on what the link leads to now. What a tool may not change is looked for later, when it is about to change
//! something.

use std::sync::Arc;

use jig_config::{OnUncovered, Tool};
use jig_policy::Policy;
use jig_proto::Access;
use jig_proto::vfs::Method;

use crate::calls::call::CallError;
use crate::engine::Engine;
use crate::planning::open_methods;

/// What a tool may do, in all the forms that a plan needs.
#[derive(Debug)]
pub(crate) struct ToolRules {
    pub(crate) policy: Arc<Policy>,
    /// As the tool is told.
    pub(crate) access: Access,
    /// The methods that may succeed.
    pub(crate) methods: Vec<Method>,
}

impl Engine {
    /// The rules of a tool for a call, in the workspace as it is now.
    pub(crate) fn rules(&self, tool: &Tool) -> Result<ToolRules, CallError> {
        let policy = self.policy_of_call(tool)?;
        Ok(ToolRules {
            access: policy.to_wire(),
            methods: open_methods::open(&policy, tool.on_uncovered == OnUncovered::Ask),
            policy: Arc::new(policy),
        })
    }
}
