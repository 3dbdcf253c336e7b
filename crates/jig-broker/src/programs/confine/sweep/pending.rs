//! [`pending`]: what programs left behind whose jig was killed, and what those that run may have made. [`RunningCalls`]:
//! what those that run may have made of the files that are read meanwhile.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use camino::Utf8Path;
use jig_policy::Capability;

use super::target::SweepTarget;
use crate::programs::confine::host_files;
use crate::programs::confine::intruder::{IntruderReport, Suspect};
use crate::programs::confine::journal::{CallJournal, FoundCall};
use crate::programs::confine::walk::{self, WalkScope};
use crate::programs::confine::workspace_rules;

/// Clears away what calls left behind whose jig has crashed, and names what a call that still runs may have
/// made. To be called before configuration is loaded from the workspace at `root`: it could be a tool's.
///
/// A call counts also if its own workspace is a folder above `root`. `files` will be loaded, relative to `root`: of what a
/// call that runs may have made, only these and the names that its rules forbid one by one are looked at.
///
/// # Errors
///
/// If the workspace cannot be looked at, or a journal cannot be read.
pub fn pending(state: &Path, root: &Utf8Path, files: &[&str]) -> io::Result<IntruderReport> {
    let root = host_files::canonical_or(root.as_std_path())?;
    let mut pending = IntruderReport::default();
    for call in CallJournal::around(state, &root)? {
        let journal = &call.journal;
        let forbidden = journal.forbidden();
        let policy = journal.policy();
        let policy = policy.as_ref();
        let target = SweepTarget {
            policy,
            root: &journal.root,
            state: Some(state),
        };
        let before = &journal.before;
        // Relative to the workspace that was asked about, where it lies in that.
        let named = |path: &Path| -> PathBuf {
            let full = journal.root.join(path);
            full.strip_prefix(&root)
                .map_or_else(|_| full.clone(), Path::to_owned)
        };
        let scope = WalkScope::Everything;
        if call.is_live {
            let folder = root.strip_prefix(&journal.root).unwrap_or(Path::new(""));
            let places: BTreeSet<PathBuf> = files.iter().map(|file| folder.join(file)).collect();
            let walked = policy
                .and_then(|policy| walk::walk_places(policy, &journal.root, &places, None).ok());
            let found = target.out_of_place(&forbidden, before, walked.as_ref(), scope);
            pending
                .suspects
                .extend(found.into_iter().map(|found| Suspect {
                    path: match found.base {
                        Some(base) => base.join(&found.path),
                        None => named(&found.path),
                    },
                    process: call.process,
                    reason: found.reason,
                }));
            continue;
        }
        let walked = policy
            .and_then(|policy| walk::walk_and_open(policy, &journal.root, &before.closed).ok());
        let removed = target.clear(&forbidden, before, walked.as_ref(), scope);
        pending
            .removed
            .extend(removed.into_iter().map(|mut removed| {
                removed.path = named(&removed.path);
                removed
            }));
        call.remove();
    }
    Ok(pending)
}

/// The calls that run in a workspace, or in a folder above it, when its configuration begins to be read.
#[derive(Debug)]
pub struct RunningCalls {
    state: PathBuf,
    root: PathBuf,
    calls: Vec<FoundCall>,
}

impl RunningCalls {
    /// To be called before any file is read.
    ///
    /// # Errors
    ///
    /// If a journal cannot be read.
    pub fn around(state: &Path, root: &Utf8Path) -> io::Result<Self> {
        let root = host_files::canonical_or(root.as_std_path())?;
        Ok(Self {
            calls: CallJournal::around(state, &root)?,
            state: state.to_owned(),
            root,
        })
    }

    /// Which of the files that were read since then a call may have made. Whether it is still there, or was when somebody
    /// looked, plays no part: a tool could make a file for the moment in which it is read. The paths are absolute.
    ///
    /// # Errors
    ///
    /// If a journal cannot be read.
    pub fn suspects<'f>(
        &self,
        files: impl IntoIterator<Item = &'f Path> + Clone,
    ) -> io::Result<Vec<Suspect>> {
        let begun = CallJournal::around(&self.state, &self.root)?;
        let mut suspects = Vec::new();
        for call in self.calls.iter().chain(&begun).filter(|call| call.is_live) {
            for file in files.clone() {
                suspects.extend(call.may_have_made(file).map(|reason| Suspect {
                    path: file.to_owned(),
                    process: call.process,
                    reason,
                }));
            }
        }
        Ok(suspects)
    }
}

impl FoundCall {
    /// Why a file may not be there, if it was not there before the call, which may not make it.
    fn may_have_made(&self, file: &Path) -> Option<String> {
        let journal = &self.journal;
        let path = file.strip_prefix(&journal.root).ok()?;
        let names = journal.forbidden().into_iter();
        let mut names = names.filter(|name| name.base.is_none() && name.link.is_none());
        if let Some(name) = names.find(|name| path.starts_with(name.path.as_str())) {
            return Some(name.reason);
        }
        let was_there = |path: &Path| journal.before.names.contains(path);
        let asked = walk::asked(path)?;
        let policy = journal.policy()?;
        // Of other names it was not noted whether they were there.
        let is_noted = policy.guard_patterns().any(|guard| guard.covers(&asked));
        let may_make = policy.can(Capability::Create, &asked);
        let is_new = is_noted && !may_make && !path.ancestors().any(was_there);
        is_new.then(|| workspace_rules::reason(&policy, &asked))
    }
}
