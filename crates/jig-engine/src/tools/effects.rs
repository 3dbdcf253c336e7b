//! [`Effects`]: what a call of a tool can do, as its policy has it.

use std::sync::PoisonError;

use jig_config::{Enforce, OnUncovered, OverlayMode, RuntimeKind, Tool};
use jig_policy::{Capability, FileCapabilities, Policy};
use jig_sandbox::Layers;
use serde_json::Value;

use crate::engine::{Engine, is_await};
use crate::tools::knowledge::is_learn;

/// What a call of a tool can do at most.
///
/// It is what holds whatever the tool's code does: what a rule grants counts as done, and so does what somebody
/// could allow while the tool runs. The code of jig's own tools is known, and counts as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Effects {
    /// It changes nothing, neither in the workspace nor elsewhere.
    pub read_only: bool,
    /// It may overwrite or remove something. Always `false` if it is read-only.
    pub destructive: bool,
    /// Calling it again with the same arguments changes nothing more: it is read-only, or its configuration
    /// says that it is `repeatable`.
    pub idempotent: bool,
    /// It may reach the network.
    pub open_world: bool,
}

impl Effects {
    /// Of a tool about which nothing is sure.
    pub const ANY: Self = Self {
        read_only: false,
        destructive: true,
        idempotent: false,
        open_world: true,
    };

    /// Of a tool that only looks at the workspace.
    pub const NONE: Self = Self {
        read_only: true,
        destructive: false,
        idempotent: true,
        open_world: false,
    };
}

impl Engine {
    /// What a call of the tool can do at most, under its rules as they are now.
    pub fn effects(&self, tool: &Tool) -> Effects {
        if only_looks(tool) {
            return Effects::NONE;
        }
        if let Some((server, _)) = tool.on_server() {
            return self.served_effects(tool, server);
        }
        let effects = match self.policy(tool) {
            // It cannot be called until its rules are right, and then by other rules.
            Err(_) => Effects::ANY,
            Ok(policy) => self.effects_under(tool, &policy),
        };
        Effects {
            idempotent: effects.read_only || tool.repeatable,
            ..effects
        }
    }

    /// Of a tool on a server: what the server's program can do at most. What the server itself says of the tool
    /// can only make it look worse.
    fn served_effects(&self, tool: &Tool, server: &str) -> Effects {
        let mut effects = self.server_effects(server);
        effects.idempotent = effects.read_only || tool.repeatable;
        let annotations = tool
            .definition
            .as_ref()
            .and_then(|one| one.annotations.as_ref());
        let says = |hint: &str, what: bool| {
            annotations.is_some_and(|hints| hints[hint] == Value::Bool(what))
        };
        if says("readOnlyHint", false) {
            effects.read_only = false;
            effects.idempotent &= tool.repeatable;
        }
        effects.destructive |= says("destructiveHint", true) && !effects.read_only;
        effects.idempotent &= effects.read_only || !says("idempotentHint", false);
        effects.open_world |= says("openWorldHint", true);
        effects
    }

    /// What a server can do at most. Its rules are looked at once: it may have hundreds of tools, and its program
    /// is held to the rules with which it was started.
    fn server_effects(&self, name: &str) -> Effects {
        let known = &self.common.server_effects;
        let known = || known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(effects) = known().get(name) {
            return *effects;
        }
        let server = self.config.servers.get(name);
        let effects = match server.and_then(|server| server.policy()) {
            Some(program) => self.effects(program),
            // It may do anything, wherever it runs.
            None => Effects::ANY,
        };
        known().insert(name.to_owned(), effects);
        effects
    }

    fn effects_under(&self, tool: &Tool, policy: &Policy) -> Effects {
        // Somebody may allow anything that no rule speaks of, a host among it.
        let asks = tool.on_uncovered == OnUncovered::Ask;
        let net = policy.net_rules().iter().any(|rule| rule.allow());
        if jig_fs_tools::NAMES.contains(&tool.implementation().unwrap_or_default()) {
            // Those that do more than look; they ask for files, whatever else the rules allow.
            return Effects {
                read_only: false,
                destructive: true,
                idempotent: false,
                open_world: false,
            };
        }
        match tool.runtime {
            RuntimeKind::Stdio if self.holds(tool) => self.confined(tool, policy, net),
            RuntimeKind::Vfs if self.holds(tool) && !asks => mediated(policy, net),
            RuntimeKind::Builtin | RuntimeKind::Wasm if !asks => mediated(policy, net),
            _ => Effects::ANY,
        }
    }

    /// Whether the operating system surely holds the tool's program to its rules.
    fn holds(&self, tool: &Tool) -> bool {
        !self.unconfined
            && self.confine.layers == Layers::ALL
            && tool.sandbox.enforce == Enforce::Required
    }

    /// Of a program that does all by itself, within its sandbox. What it starts is in there with it.
    fn confined(&self, tool: &Tool, policy: &Policy, net: bool) -> Effects {
        let in_workspace = match tool.overlay {
            Some(OverlayMode::Discard) => false,
            // A layer is applied to the workspace in the end.
            Some(OverlayMode::Ask | OverlayMode::Apply) | None => {
                grants(policy, FileCapabilities::WRITE)
            }
        };
        // The caches among what a preset opens can be changed.
        let elsewhere =
            !tool.sandbox.presets.is_empty() || tool.sandbox.system.iter().any(|path| path.write);
        // A request may change anything on a server.
        let changes = in_workspace || elsewhere || net;
        Effects {
            read_only: !changes,
            // The system knows no right to create a file without the one to write to it.
            destructive: changes,
            idempotent: false,
            open_world: net,
        }
    }
}

/// Of code that does nothing but through its broker, and where nobody is asked.
fn mediated(policy: &Policy, net: bool) -> Effects {
    let commands = policy.any_command()
        || policy
            .command_rules()
            .is_some_and(|rules| !rules.is_empty());
    // A request may change anything on a server, and a program anything that the sandbox leaves open.
    let beyond = net || commands;
    let overwrites = [Capability::Update, Capability::Delete];
    let overwrites = overwrites.into_iter().collect();
    Effects {
        read_only: !beyond && !grants(policy, FileCapabilities::WRITE),
        destructive: beyond || grants(policy, overwrites),
        idempotent: false,
        open_world: net,
    }
}

/// Whether some rule grants one of these.
fn grants(policy: &Policy, wanted: FileCapabilities) -> bool {
    let mut rules = policy.fs_rules().iter();
    rules.any(|rule| {
        let granted = rule.capabilities();
        wanted.iter().any(|one| granted.has(one))
    })
}

/// Whether the code of the tool is jig's own and changes nothing, whatever its rules would allow.
fn only_looks(tool: &Tool) -> bool {
    is_await(tool) || is_learn(tool) || only_reads_files(tool)
}

/// Whether the code of the tool is jig's own and does nothing but ask for files of the workspace.
pub(crate) fn only_reads_files(tool: &Tool) -> bool {
    let named = tool.implementation();
    named.is_some_and(|name| LOOK.contains(&name))
}

/// The predefined tools that only look at the workspace.
const LOOK: [&str; 3] = ["fs_read_file", "fs_list_files", "fs_grep_files"];

#[cfg(test)]
mod tests;
