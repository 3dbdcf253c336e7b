//! [`Watch`]: looks after a call for what may not have come into being, and moves it away.
//!
//! Nothing is deleted: what appeared may be the user's own, made while the tool ran.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use camino::Utf8Path;
use jig_policy::{Capability, Policy};
use jig_proto::ProjectPath;
use rustix::fs::{self, AtFlags, FileType};
use rustix::io::Errno;

use super::host;
use super::intruder::{Intruder, Pending, Suspect};
use super::journal::{Before, Journal};
use super::remove;
use super::walk::{self, Walked};
use super::workspace::{self, Forbidden};
use super::{ConfineError, ConfineSettings};

#[cfg(test)]
mod tests;

/// What to look for when a call is over.
#[derive(Debug)]
pub(super) struct Watch {
    policy: Arc<Policy>,
    root: PathBuf,
    forbidden: Vec<Forbidden>,
    before: Before,
    state: Option<PathBuf>,
    /// The journal of this call.
    journal: Option<PathBuf>,
}

impl Watch {
    /// Notes what a call may not leave behind. `None` if it can make nothing at all.
    pub(super) fn begin(
        settings: &ConfineSettings,
        policy: &Arc<Policy>,
        root: &Path,
        forbidden: Vec<Forbidden>,
        walked: &Walked,
    ) -> Result<Option<Self>, ConfineError> {
        let mut rules = policy.fs_rules().iter();
        if !rules.any(|rule| rule.capabilities().has(Capability::Create)) {
            return Ok(None);
        }
        let before = Before {
            names: walked.names(),
            closed: walked.closed.clone(),
        };
        let journal = match &settings.state {
            None => None,
            Some(state) => {
                let journal = Journal::new(policy, root, &forbidden, before.clone());
                let written = journal.write(state).and_then(|path| {
                    journal.make_known(state, &path)?;
                    Ok(path)
                });
                Some(written.map_err(|source| ConfineError::Journal {
                    state: state.clone(),
                    source,
                })?)
            }
        };
        Ok(Some(Self {
            policy: Arc::clone(policy),
            root: root.to_owned(),
            forbidden,
            before,
            state: settings.state.clone(),
            journal,
        }))
    }

    /// Looks, moves away what is there, and forgets about the call.
    pub(super) fn end(self) -> Vec<Intruder> {
        let place = Place {
            policy: Some(&self.policy),
            root: &self.root,
            state: self.state.as_deref(),
        };
        let excused = self.journal.as_deref().map(Journal::excused);
        let excused = excused.unwrap_or_default();
        let intruders = place.clear(&self.forbidden, &self.before, &excused);
        if let Some(journal) = &self.journal {
            Journal::remove(journal);
        }
        intruders
    }
}

/// Clears away what calls left behind whose jig has crashed, and names what a call that still runs may have
/// made. To be called before configuration is loaded from the workspace at `root`: it could be a tool's.
///
/// # Errors
///
/// If the workspace cannot be looked at.
pub fn pending(state: &Path, root: &Utf8Path) -> io::Result<Pending> {
    let root = host::canonical_or(root.as_std_path())?;
    let mut pending = Pending::default();
    for (path, journal) in Journal::all(state, &root) {
        let forbidden = journal.forbidden();
        if journal.is_live() {
            let names = forbidden.iter();
            let suspects = names.filter_map(|name| {
                let base = name.base.as_deref().unwrap_or(&root);
                let path = appeared(base, name)?;
                Some(Suspect {
                    path: match &name.base {
                        Some(base) => base.join(path),
                        None => path,
                    },
                    process: journal.process,
                    reason: name.reason.clone(),
                })
            });
            pending.suspects.extend(suspects);
            continue;
        }
        let policy = journal.policy();
        let place = Place {
            policy: policy.as_ref(),
            root: &root,
            state: Some(state),
        };
        let excused = Journal::excused(&path);
        let removed = place.clear(&forbidden, &journal.before, &excused);
        pending.removed.extend(removed);
        Journal::remove(&path);
    }
    Ok(pending)
}

struct Place<'a> {
    /// By which sensitive names are judged.
    policy: Option<&'a Policy>,
    root: &'a Path,
    state: Option<&'a Path>,
}

impl Place<'_> {
    /// Moves away what appeared since `before`, but for what is `excused`.
    fn clear(
        &self,
        forbidden: &[Forbidden],
        before: &Before,
        excused: &[PathBuf],
    ) -> Vec<Intruder> {
        let walked = self.policy.map(|policy| self.walked(policy, before));
        let is_excused = |path: &Path| {
            let mut excused = excused.iter();
            excused.any(|excused| path.starts_with(excused) || excused.starts_with(path))
        };
        let mut intruders = Vec::new();
        for name in forbidden {
            let base = name.base.as_deref().unwrap_or(self.root);
            if let Some(path) = appeared(base, name)
                && (name.always || !is_excused(&path))
            {
                let mut intruder = self.take(base, path, name.reason.clone());
                if name.base.is_some() {
                    intruder.path = base.join(&intruder.path);
                }
                intruders.push(intruder);
            }
            if let Some(link) = &name.link {
                self.restore(name, link);
            }
        }
        let (Some(policy), Some(Some(walked))) = (self.policy, walked) else {
            return intruders;
        };
        let mut names = walked.names();
        names.sort();
        for path in names {
            let is_taken = |other: &Intruder| path.starts_with(&other.path);
            if intruders.iter().any(is_taken)
                || before.names.contains(&path)
                || is_excused(&path)
                || is_harmless(self.root, &path)
            {
                continue;
            }
            let asked = ProjectPath::normalize(&path.to_string_lossy());
            let reason = match &asked {
                Ok(asked) if policy.granted(asked).has(Capability::Create) => continue,
                Ok(asked) => workspace::reason(policy, asked),
                Err(_) => "it is on the list of sensitive paths".to_owned(),
            };
            intruders.push(self.take(self.root, path, reason));
        }
        intruders
    }

    /// What is there now. Directories that were closed during the call are opened again first: whatever is
    /// in them has to be seen.
    fn walked(&self, policy: &Policy, before: &Before) -> Option<Walked> {
        let mut walked = walk::walk(policy, self.root).ok()?;
        for _ in 0..MOST_LOCKS {
            let closed = walked.closed.iter();
            let new = closed.filter(|path| !before.closed.contains(path));
            let opened = new.filter(|path| remove::open_up(self.root, path).is_ok());
            if opened.count() == 0 {
                break;
            }
            walked = walk::walk(policy, self.root).ok()?;
        }
        Some(walked)
    }

    fn take(&self, base: &Path, path: PathBuf, reason: String) -> Intruder {
        let moved = self
            .state
            .map(|state| remove::move_away(base, &path, state));
        match moved {
            Some(Ok(place)) => Intruder {
                path,
                moved_to: Some(place),
                reason,
            },
            Some(Err(error)) => Intruder {
                path,
                moved_to: None,
                reason: format!("{reason} (it cannot be moved away: {error})"),
            },
            None => Intruder {
                path,
                moved_to: None,
                reason,
            },
        }
    }

    /// Puts a link back that has to stay.
    fn restore(&self, name: &Forbidden, link: &Path) {
        let path = Path::new(name.path.as_str());
        let base = name.base.as_deref().unwrap_or(self.root);
        if let Ok((above, last)) = remove::parent(base, path) {
            // If something stands there, it is the link itself, or what could not be moved away.
            let _ = fs::symlinkat(link, &above, last);
        }
    }
}

/// What stands at a name where nothing may, or not this: the name itself, or a link on the way to it.
fn appeared(root: &Path, name: &Forbidden) -> Option<PathBuf> {
    let mut here = PathBuf::new();
    let names: Vec<&OsStr> = Path::new(name.path.as_str()).iter().collect();
    for (number, component) in names.iter().enumerate() {
        here.push(component);
        let (above, last) = remove::parent(root, &here).ok()?;
        let stat = match fs::statat(&above, &last, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return None,
            stat => stat.ok()?,
        };
        let is_link = FileType::from_raw_mode(stat.st_mode) == FileType::Symlink;
        let is_last = number + 1 == names.len();
        if !is_last && !is_link {
            continue;
        }
        let same = is_link
            && is_last
            && name.link.as_deref().is_some_and(|link| {
                let target = fs::readlinkat(&above, &last, Vec::new());
                target.is_ok_and(|target| link.as_os_str().as_encoded_bytes() == target.to_bytes())
            });
        return (!same).then_some(here);
    }
    None
}

/// Whether a directory of hooks holds only the examples that git puts into new repositories, which are never
/// run.
fn is_harmless(root: &Path, path: &Path) -> bool {
    let is_hooks = path.ends_with(".git/hooks");
    let full = root.join(path);
    let is_example = |name: &std::ffi::OsString| name.to_string_lossy().ends_with(".sample");
    is_hooks
        && host::stands_itself(&full) == Some(host::Stands::Directory)
        && host::names(&full).iter().all(is_example)
}

/// Closed directories may lie in closed directories, but somebody has to come to an end.
const MOST_LOCKS: usize = 64;
