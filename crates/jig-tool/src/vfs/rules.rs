//! What the rules say that a tool was told, before it asks the host.

use std::io;

use jig_policy::{
    Capability, DeclaredAccess, DefaultAccess, Guards, Lookup, LookupEntry, Policy, Workspace,
};
use jig_proto::ProjectPath;

use super::Host;

impl Host {
    /// Whether the rules that the host has told cover `capability` on a path.
    ///
    /// This is for a tool that can do without: it need not bother anyone. The host decides by the
    /// same rules, but it also knows where links lead and may ask a person about what no rule
    /// covers. Without rules, the answer is yes.
    pub fn may(&self, capability: Capability, path: impl AsRef<str>) -> bool {
        let Some(context) = self.context() else {
            return true;
        };
        // On the wire an empty list is one that was not declared.
        let Some(access) = context
            .access
            .as_ref()
            .filter(|access| !access.fs.is_empty())
        else {
            return true;
        };
        let workspace = Workspace::new(context.root.clone(), NothingKnown);
        let access = DeclaredAccess {
            fs: DeclaredAccess::from(access).fs,
            ..DeclaredAccess::default()
        };
        let guards = Guards::of_workspace();
        let policy = Policy::compile(&access, DefaultAccess::NOTHING, &guards, &workspace);
        match (policy, workspace.resolve(&self.wire_path(path.as_ref()))) {
            (Ok(policy), Ok(target)) => policy.decide_fs(capability, &target).is_allowed(),
            _ => false,
        }
    }
}

/// A tree that a tool without files knows: every name may be there, and none is known to be a link.
struct NothingKnown;

impl Lookup for NothingKnown {
    fn entry(&self, _: &ProjectPath) -> io::Result<LookupEntry> {
        Ok(LookupEntry::Missing)
    }
}

#[cfg(test)]
mod tests;
