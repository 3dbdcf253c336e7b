//! [`Caches`]: what the programs of a toolchain download, kept from run to run.
//!
//! It is kept for one tool of one workspace, below jig's state, where neither the user's own programs nor other
//! tools look, and only for runs that see the same files and variables: a run that may reach hosts must not find there
//! what one that sees more has left. A run whose changes go to a layer has caches of its own: what somebody did not
//! accept is not met again. What the user has downloaded already lies below it: programs find that, and what they change goes
//! into a layer over it.

use std::path::{Path, PathBuf};

use jig_files::Slot;
use jig_policy::Policy;
use jig_sandbox::{Overlay, Rights, RuleSource};

use super::shown_paths::ShownRules;
use super::{ConfineSettings, ProgramReach, host_files};

/// What kind of run caches are for.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunKind {
    /// How much of the workspace it reaches by itself.
    pub(super) reach: ProgramReach,
    /// Whether its changes go to a layer, and may be thrown away.
    pub(super) is_tried: bool,
    /// Whether it may run what it makes.
    pub(super) is_executable: bool,
}

/// The caches of one program.
#[derive(Debug)]
pub(super) struct Caches {
    pub(super) slot: Slot,
    /// Layers over what the user has.
    pub(super) overlays: Vec<Overlay>,
    /// What may be done there.
    rights: Rights,
}

impl Caches {
    /// The caches of a tool. `None` if there is no place for them: then nothing survives.
    pub(super) fn of(
        settings: &ConfineSettings,
        policy: &Policy,
        root: &Path,
        tool: &str,
        kind: RunKind,
    ) -> Option<Self> {
        let state = settings.state.as_deref().filter(|_| settings.caches)?;
        let mut owner = vec![root.to_str()?.to_owned(), tool.to_owned()];
        let rules = policy.fs_rules().iter();
        owner.extend(rules.map(|rule| format!("{} {}", rule.path(), rule.capabilities())));
        let variables = policy.env_rules().iter().map(|rule| rule.declared());
        owner.extend(variables.map(|rule| format!("{} {}", rule.name, rule.read)));
        owner.push(format!("{:?} {}", kind.reach, kind.is_tried));
        let system = settings.system.iter().chain(&settings.provided);
        owner.extend(system.map(|access| format!("{access:?}")));
        let slot = Slot::take(state, KIND, owner.iter().map(String::as_str)).ok()??;
        let mut rights = Rights::READ.with(Rights::WRITE);
        if kind.is_executable {
            rights = rights.with(Rights::EXECUTE);
        }
        Some(Self {
            slot,
            overlays: Vec::new(),
            rights,
        })
    }

    /// A directory for a cache. All of them lie in one that is shown.
    pub(super) fn folder(&mut self, name: &str, shown: &mut ShownRules) -> Option<PathBuf> {
        let all = self.slot.folder(FOLDERS).ok()?;
        // Whatever a program has left under that name is not followed.
        let folder = self.slot.folder(&format!("{FOLDERS}/{name}")).ok()?;
        shown.add(&all, self.rights, RuleSource::System);
        Some(folder)
    }

    /// Has changes below a canonical directory of the user's go to a layer. Whether there can be one.
    pub(super) fn over(&mut self, lower: &Path, name: &str, shown: &mut ShownRules) -> bool {
        // The kernel copies what is changed, with its owner, and can give away nothing.
        if !host_files::is_ours(lower) || self.overlays.len() >= MOST_LAYERS {
            return false;
        }
        let upper = self.slot.folder(name);
        let work = self.slot.empty_folder(&format!("{name}.work"));
        let (Ok(upper), Ok(work)) = (upper, work) else {
            return false;
        };
        // The rule is one for the directory itself, should there be no layer after all.
        let has = shown.rights(lower);
        if has.has_any(Rights::WRITE) {
            // Somebody declared that it may be changed itself.
            return true;
        }
        let rights = has.with(self.rights.without(Rights::WRITE));
        shown.add(lower, rights, RuleSource::System);
        self.overlays.push(Overlay {
            path: lower.to_owned(),
            upper,
            work,
            cache: true,
        });
        true
    }
}

/// The folder in jig's state.
const KIND: &str = "caches";

/// The folder of a slot in which the directories for caches are.
const FOLDERS: &str = "own";

/// Some are left for others.
const MOST_LAYERS: usize = 5;
