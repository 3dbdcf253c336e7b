//! [`SweepWatch`]: looks for what a program has made where nothing may come into being, and moves it away.
//!
//! It looks while the program runs, as soon as something appears ([`live`]), and once more when it has ended. Whatever
//! was not there before the program started is moved away, whoever made it: nobody can tell for certain who that was.
//! Nothing is deleted, because it may be a person's own.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jig_files::Journal;
use jig_policy::{Capability, CompiledFsRule, Policy};

use super::intruder::Intruder;
use super::journal::{CallBaseline, CallJournal};
use super::walk::{self, WalkFindings, WalkScope};
use super::workspace_rules::ForbiddenPath;
use super::{ConfineError, ConfineSettings};
use target::SweepTarget;

mod live;
mod pending;
mod target;

pub(crate) use live::LiveSweep;
pub use pending::{RunningCalls, pending};

#[cfg(test)]
mod tests;

/// What to look for while a program runs, and when it has ended.
#[derive(Debug)]
pub(super) struct SweepWatch(Arc<SweptProgram>);

/// What one program may not leave behind in one place: the workspace, or what it may change outside of that.
#[derive(Debug)]
struct SweptProgram {
    policy: Arc<Policy>,
    root: PathBuf,
    state: Option<PathBuf>,
    forbidden: Vec<ForbiddenPath>,
    before: CallBaseline,
    /// Held while somebody looks: who looks next finds also what was found until then.
    looking: Mutex<()>,
    found: Mutex<SweepReport>,
    /// The journal of this program, until it is over.
    journal: Mutex<Option<Journal>>,
}

/// What was found and not told yet.
#[derive(Debug, Default)]
struct SweepReport {
    intruders: Vec<Intruder>,
    /// How often each of these was found again, and how many others there were.
    more: usize,
}

impl SweepWatch {
    /// Notes what a program may not leave behind. `None` if it can make nothing at all.
    pub(super) fn begin(
        settings: &ConfineSettings,
        policy: &Arc<Policy>,
        root: &Path,
        forbidden: Vec<ForbiddenPath>,
        walked: &WalkFindings,
    ) -> Result<Option<Self>, ConfineError> {
        let mut rules = policy.fs_rules().iter();
        if !rules.any(|rule| rule.capabilities().has(Capability::Create)) {
            return Ok(None);
        }
        let before = CallBaseline::of(root, walked);
        let state = settings.state.clone();
        let journal = state.as_ref().map(|state| {
            let journal = CallJournal::new(policy, root, &forbidden, before.clone());
            let written = journal.write(state);
            written.map_err(|source| ConfineError::Journal {
                state: state.clone(),
                source,
            })
        });
        Ok(Some(Self(Arc::new(SweptProgram {
            policy: Arc::clone(policy),
            root: root.to_owned(),
            state,
            forbidden,
            before,
            looking: Mutex::default(),
            found: Mutex::default(),
            journal: Mutex::new(journal.transpose()?),
        }))))
    }

    /// Looks whenever something appears, until the sweep that this gives is dropped.
    ///
    /// # Errors
    ///
    /// If nothing can watch, for lack of descriptors or threads.
    pub(super) fn look_while_it_runs(&self) -> std::io::Result<LiveSweep> {
        LiveSweep::begin(&self.0)
    }

    /// Looks everywhere, and moves away what is there.
    pub(super) fn look(&self) {
        self.0.look(WalkScope::Everything);
    }

    /// What was moved away and not told yet.
    pub(super) fn take_found(&self) -> Vec<Intruder> {
        self.0.found().take()
    }

    /// Looks, moves away what is there, forgets about the program, and tells the rest.
    pub(super) fn end(self) -> Vec<Intruder> {
        self.look();
        if let Some(journal) = self.0.journal().take() {
            journal.remove();
        }
        self.take_found()
    }
}

impl SweptProgram {
    fn look(&self, scope: WalkScope<'_>) {
        let _looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        let walked = match scope {
            WalkScope::Everything => {
                walk::walk_and_open(&self.policy, &self.root, &self.before.closed)
            }
            WalkScope::Places(places) => {
                walk::walk_places(&self.policy, &self.root, places, Some(&self.before.closed))
            }
        };
        let target = SweepTarget {
            policy: Some(&self.policy),
            root: &self.root,
            state: self.state.as_deref(),
        };
        let intruders = target.clear(&self.forbidden, &self.before, walked.ok().as_ref(), scope);
        if !intruders.is_empty() {
            self.found().add(intruders);
        }
    }

    /// What has to be looked at when something has come into being at `path`: what lies in something sensitive belongs
    /// to that.
    fn place_to_look_at(&self, path: &Path) -> Option<PathBuf> {
        let asked = walk::asked(path)?;
        let depth = self
            .policy
            .sensitive()
            .find(&asked)
            .map(|found| found.depth);
        Some(path.iter().take(depth.unwrap_or(usize::MAX)).collect())
    }

    /// Whether the program can make something in a directory, and in one below it.
    fn can_make(&self, directory: &Path) -> (bool, bool) {
        let Some(asked) = walk::asked(directory) else {
            return (true, true);
        };
        let is_here = self.policy.granted(&asked).has(Capability::Create);
        let makes_below = |rule: &CompiledFsRule| {
            rule.capabilities().has(Capability::Create) && rule.path().starts_with(&asked)
        };
        let is_below = is_here || self.policy.fs_rules().iter().any(makes_below);
        match walk::is_git_objects(&asked) {
            true => (false, false),
            false => (is_here, is_below),
        }
    }

    /// The directories outside the workspace in which some names may not come into being.
    fn bases(&self) -> impl Iterator<Item = &Path> {
        let names = self.forbidden.iter();
        names.filter_map(|name| name.base.as_deref())
    }

    /// Whether a link in a directory has to stay.
    fn has_link_in(&self, directory: &Path) -> bool {
        let mut links = self.forbidden.iter().filter(|name| name.link.is_some());
        links.any(|name| {
            let above = Path::new(name.path.as_str()).parent();
            name.base.is_none() && above == Some(directory)
        })
    }

    fn found(&self) -> MutexGuard<'_, SweepReport> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn journal(&self) -> MutexGuard<'_, Option<Journal>> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SweepReport {
    /// A program can make the same name again and again: each is told once.
    fn add(&mut self, intruders: Vec<Intruder>) {
        for intruder in intruders {
            let is_same = |known: &Intruder| known.path == intruder.path;
            match self.intruders.iter().any(is_same) || self.intruders.len() >= MOST_TOLD {
                true => self.more += 1,
                false => self.intruders.push(intruder),
            }
        }
    }

    fn take(&mut self) -> Vec<Intruder> {
        let mut intruders = std::mem::take(&mut self.intruders);
        if let Some(last) = intruders.last_mut()
            && self.more > 0
        {
            let more = self.more;
            last.reason
                .push_str(&format!(" (and {more} more were moved away like it)"));
        }
        self.more = 0;
        intruders
    }
}

/// How many names are told one by one.
const MOST_TOLD: usize = 100;
