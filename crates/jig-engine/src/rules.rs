//! [`Rules`]: what a tool may do, as its runtime, its broker and the tool itself need it.
//!
//! The rules of a tool are compiled for every call, because they mean the workspace as it is: a rule on a link is
//! a rule on what the link leads to now. Of a tool that only looks, what was compiled can be kept. Its policy
//! depends on the configuration, which does not change, on where the state of jig lies, and on what compiling
//! looked up in the workspace; and compiling does the same whenever it finds the same. So before rules are used
//! again everything is looked up again, and one other answer makes them be compiled anew. Such a tool has few
//! look-ups, none at all without rules of its own, because it needs none of what is protected from changes: its
//! broker refuses every change by itself.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use jig_config::{OnUncovered, Runtime, Tool};
use jig_files::{FilesLookup, ProjectFiles};
use jig_policy::{Capabilities, Entry, Guards, Lookup, Policy, Workspace};
use jig_proto::vfs::Method;
use jig_proto::{Access, ProjectPath};

use crate::call::CallError;
use crate::effects::{grants, only_looks_at_files};
use crate::engine::Engine;
use crate::methods;

/// What a tool may do, in all the forms that a plan needs.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) policy: Arc<Policy>,
    /// As the tool is told.
    pub(crate) access: Access,
    /// The methods that may succeed.
    pub(crate) methods: Vec<Method>,
    /// Whether the policy holds only for looking at files.
    pub(crate) only_looks: bool,
}

impl Rules {
    fn new(tool: &Tool, policy: Policy, only_looks: bool) -> Self {
        Self {
            access: policy.to_wire(),
            methods: methods::open(&policy, tool.on_uncovered == OnUncovered::Ask),
            policy: Arc::new(policy),
            only_looks,
        }
    }
}

impl Engine {
    /// The rules of a tool for a call, in the workspace as it is now.
    pub(crate) fn rules(&self, tool: &Tool) -> Result<Arc<Rules>, CallError> {
        match looks_inside(tool) {
            true => self.looking(tool),
            false => Ok(Arc::new(Rules::new(tool, self.policy(tool)?, false))),
        }
    }

    /// The rules of a tool that only looks: those of its last call, if they are still the same.
    fn looking(&self, tool: &Tool) -> Result<Arc<Rules>, CallError> {
        let root = self.files.display_root();
        let state = self.config.state_inside(root);
        let kept = self.common.looking.get(tool);
        if let Some(kept) = kept
            && kept.state == state
            && kept.seen.iter().all(|seen| seen.is_still_so(&self.files))
        {
            return Ok(Arc::clone(&kept.rules));
        }
        let guards = Guards {
            sensitive: tool.sensitive(&state),
            ..Guards::default()
        };
        let recording = Recording::new(&self.files);
        let workspace = Workspace::new(root.to_owned(), recording);
        let policy = Policy::compile(&tool.access, tool.default_access, &guards, &workspace);
        let policy = policy.map_err(|errors| CallError::Policy {
            tool: tool.name.to_string(),
            errors: tool.rule_errors(&errors),
        })?;
        // Where something could be changed, protections show: a rule that is suggested for reading must keep what
        // may be changed, and grant nothing of what may not.
        if grants(&policy, Capabilities::WRITE) {
            return Ok(Arc::new(Rules::new(tool, self.policy(tool)?, true)));
        }
        let rules = Arc::new(Rules::new(tool, policy, true));
        if let Some(seen) = workspace.lookup().seen() {
            let rules = Arc::clone(&rules);
            self.common.looking.keep(tool, Kept { state, seen, rules });
        }
        Ok(rules)
    }
}

/// Whether the tool is code of jig's own that runs in this process and only looks at files. A subprocess needs
/// all rules, even of such a tool: they become its sandbox.
pub(crate) fn looks_inside(tool: &Tool) -> bool {
    tool.runtime == Runtime::Builtin && only_looks_at_files(tool)
}

/// The rules of tools that only look, by the name of the tool.
#[derive(Debug, Default)]
pub(crate) struct Looking(Mutex<HashMap<String, Arc<Kept>>>);

impl Looking {
    fn get(&self, tool: &Tool) -> Option<Arc<Kept>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(tool.name.as_str()).cloned()
    }

    fn keep(&self, tool: &Tool, rules: Kept) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(tool.name.to_string(), Arc::new(rules));
    }
}

/// Rules, and all that they depend on beside the configuration.
#[derive(Debug)]
struct Kept {
    /// Where the state of jig lies in the workspace.
    state: Vec<String>,
    /// What was looked up, in that order.
    seen: Vec<Seen>,
    rules: Arc<Rules>,
}

/// What a look-up found.
#[derive(Debug, Clone)]
struct Seen {
    path: ProjectPath,
    entry: Entry,
}

impl Seen {
    fn is_still_so(&self, files: &Arc<dyn ProjectFiles>) -> bool {
        let entry = FilesLookup(Arc::clone(files)).entry(&self.path);
        entry.is_ok_and(|entry| entry == self.entry)
    }
}

/// Looks things up, and notes what it finds.
struct Recording {
    files: FilesLookup,
    /// `None` once something could not be found out.
    seen: RefCell<Option<Vec<Seen>>>,
}

impl Recording {
    fn new(files: &Arc<dyn ProjectFiles>) -> Self {
        Self {
            files: FilesLookup(Arc::clone(files)),
            seen: RefCell::new(Some(Vec::new())),
        }
    }

    /// What was found, each once, if all could be found out.
    fn seen(&self) -> Option<Vec<Seen>> {
        self.seen.borrow().clone()
    }
}

impl Lookup for Recording {
    fn entry(&self, path: &ProjectPath) -> io::Result<Entry> {
        let found = self.files.entry(path);
        let mut seen = self.seen.borrow_mut();
        match &found {
            Err(_) => *seen = None,
            Ok(entry) => {
                if let Some(seen) = &mut *seen
                    && !seen
                        .iter()
                        .any(|seen| seen.path == *path && seen.entry == *entry)
                {
                    seen.push(Seen {
                        path: path.clone(),
                        entry: entry.clone(),
                    });
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests;
