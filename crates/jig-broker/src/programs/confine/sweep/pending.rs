//! [`pending`]: what programs left behind whose jig was killed, and what those that run may have made.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use camino::Utf8Path;

use super::target::SweepTarget;
use crate::programs::confine::host_files;
use crate::programs::confine::intruder::{IntruderReport, Suspect};
use crate::programs::confine::journal::CallJournal;
use crate::programs::confine::walk::{self, WalkScope};

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
