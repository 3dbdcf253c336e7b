//! [`SweepWatch`]: looks after a call for what may not have come into being, and moves it away.
//!
//! Nothing is deleted: what appeared may be the user's own, made while the tool ran.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use camino::Utf8Path;
use jig_files::Journal;
use jig_policy::{Capability, Policy};
use jig_proto::ProjectPath;
use rustix::fs::{self, AtFlags, FileType};
use rustix::io::Errno;

use super::host_files;
use super::intruder::{Intruder, IntruderReport, Suspect};
use super::journal::{ANY_REPOSITORY, CallBaseline, CallJournal};
use super::move_away;
use super::repository;
use super::walk::{self, WalkFindings};
use super::workspace_rules::{self, ForbiddenPath};
use super::{ConfineError, ConfineSettings};

#[cfg(test)]
mod tests;

/// What to look for when a call is over, and from time to time while a program stays.
#[derive(Debug)]
pub(super) struct SweepWatch {
    policy: Arc<Policy>,
    root: PathBuf,
    state: Option<PathBuf>,
    known: Mutex<ForbiddenNames>,
}

/// What may not come into being, as of some moment.
#[derive(Debug)]
struct ForbiddenNames {
    forbidden: Vec<ForbiddenPath>,
    before: CallBaseline,
    /// The journal of this call.
    journal: Option<Journal>,
}

impl SweepWatch {
    /// Notes what a call may not leave behind. `None` if it can make nothing at all.
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
        let before = before(root, walked);
        let watch = Self {
            policy: Arc::clone(policy),
            root: root.to_owned(),
            state: settings.state.clone(),
            known: Mutex::new(ForbiddenNames {
                journal: None,
                forbidden,
                before,
            }),
        };
        let mut known = watch.known();
        let journal = watch.journal(&known.forbidden, &known.before);
        let written = settings.state.as_ref().map(|state| journal.write(state));
        known.journal = written
            .transpose()
            .map_err(|source| ConfineError::Journal {
                state: settings.state.clone().unwrap_or_default(),
                source,
            })?;
        drop(known);
        Ok(Some(watch))
    }

    /// Looks, and moves away what is there, of a program that goes on.
    pub(super) fn look(&self) -> Vec<Intruder> {
        let known = self.known();
        let place = SweepTarget {
            policy: Some(&self.policy),
            root: &self.root,
            state: self.state.as_deref(),
        };
        let excused = known.journal.as_ref().map(CallJournal::excused);
        place.clear(
            &known.forbidden,
            &known.before,
            &excused.unwrap_or_default(),
        )
    }

    /// Takes what has appeared since as made by others than the program, which goes on: it stays, and is not
    /// looked for any more. `is_so` is asked last, and decides. Gives the first of what has appeared.
    pub(super) fn pass(&self, is_so: &dyn Fn() -> bool) -> Option<PathBuf> {
        let mut known = self.known();
        let walked = walk::walk(&self.policy, &self.root).ok()?;
        let before = before(&self.root, &walked);
        let has_appeared = |name: &ForbiddenPath| {
            let base = name.base.as_deref().unwrap_or(&self.root);
            appeared(base, name).is_some()
        };
        let all = known.forbidden.iter().cloned();
        let (new, forbidden): (Vec<_>, Vec<_>) = all.partition(has_appeared);
        let first = new.first().map(|name| PathBuf::from(name.path.as_str()));
        let mut names = before.names.iter();
        let first = first.or_else(|| names.find(|one| !known.before.names.contains(one)).cloned());
        let is_same = CallBaseline {
            time: known.before.time,
            ..before.clone()
        } == known.before
            && new.is_empty();
        if !is_so() {
            return None;
        }
        if !is_same {
            // Without a journal that says so, the next jig would move it away if this one dies.
            let journal = self.journal(&forbidden, &before);
            if let Some((state, written)) = self.state.as_deref().zip(known.journal.as_mut()) {
                journal.replace(state, written).ok()?;
            }
            known.forbidden = forbidden;
        }
        known.before = before;
        first
    }

    /// Looks, moves away what is there, and forgets about the call.
    pub(super) fn end(self) -> Vec<Intruder> {
        let intruders = self.look();
        if let Some(journal) = self.known().journal.take() {
            journal.remove();
        }
        intruders
    }

    fn journal(&self, forbidden: &[ForbiddenPath], before: &CallBaseline) -> CallJournal {
        CallJournal::new(&self.policy, &self.root, forbidden, before.clone())
    }

    fn known(&self) -> MutexGuard<'_, ForbiddenNames> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is there now.
fn before(root: &Path, walked: &WalkFindings) -> CallBaseline {
    CallBaseline {
        names: walked.names(),
        closed: walked.closed.clone(),
        gits: walked.gits(),
        complete: walked.unseen.is_empty(),
        repositories: identities(root, walked),
        time: now(),
    }
}

/// Clears away what calls left behind whose jig has crashed, and names what a call that still runs may have
/// made. To be called before configuration is loaded from the workspace at `root`: it could be a tool's.
///
/// # Errors
///
/// If the workspace cannot be looked at, or a journal cannot be read.
pub fn pending(state: &Path, root: &Utf8Path) -> io::Result<IntruderReport> {
    let root = host_files::canonical_or(root.as_std_path())?;
    let mut pending = IntruderReport::default();
    for call in CallJournal::all(state, &root)? {
        let journal = &call.journal;
        let forbidden = journal.forbidden();
        if call.is_live {
            let names = forbidden.iter();
            let suspects = names.filter_map(|name| {
                let base = name.base.as_deref().unwrap_or(&root);
                let path = appeared(base, name)?;
                Some(Suspect {
                    path: match &name.base {
                        Some(base) => base.join(path),
                        None => path,
                    },
                    process: call.process,
                    reason: name.reason.clone(),
                })
            });
            pending.suspects.extend(suspects);
            continue;
        }
        let policy = journal.policy();
        let place = SweepTarget {
            policy: policy.as_ref(),
            root: &root,
            state: Some(state),
        };
        let removed = place.clear(&forbidden, &journal.before, &call.excused);
        pending.removed.extend(removed);
        call.remove();
    }
    Ok(pending)
}

struct SweepTarget<'a> {
    /// By which sensitive names are judged.
    policy: Option<&'a Policy>,
    root: &'a Path,
    state: Option<&'a Path>,
}

impl SweepTarget<'_> {
    /// Moves away what appeared since `before`, but for what is `excused`.
    fn clear(
        &self,
        forbidden: &[ForbiddenPath],
        before: &CallBaseline,
        excused: &[PathBuf],
    ) -> Vec<Intruder> {
        let walked = self.policy.map(|policy| self.walked(policy, before));
        let is_excused = |path: &Path| {
            let mut excused = excused.iter();
            excused.any(|excused| path.starts_with(excused) || excused.starts_with(path))
        };
        let any_repository = excused.iter().any(|one| one.as_os_str() == ANY_REPOSITORY);
        // A call beside this one may make repositories. Those that run nothing are taken for its.
        let is_excused_repository = |path: &Path| {
            let made_beside = any_repository
                && match path.file_name() {
                    Some(name) if name == ".git" => repository::is_plain(self.root, path),
                    Some(name) if name == "config" => path
                        .parent()
                        .is_some_and(|git| repository::says_nothing_special(&self.root.join(git))),
                    _ => false,
                };
            is_excused(path) || made_beside
        };
        let mut intruders = Vec::new();
        for name in forbidden {
            let base = name.base.as_deref().unwrap_or(self.root);
            if let Some(path) = appeared(base, name)
                && (name.always || !is_excused_repository(&path))
                && !is_harmless(base, &path)
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
        // A tool can make any number of names: each is looked up, none is searched for.
        let mut taken: HashSet<PathBuf> = intruders.iter().map(|one| one.path.clone()).collect();
        let is_taken = |taken: &HashSet<PathBuf>, path: &Path| {
            path.ancestors().any(|above| taken.contains(above))
        };
        for (path, reason) in self.repositories(policy, &walked, before) {
            if !is_taken(&taken, &path) && !is_excused_repository(&path) {
                taken.insert(path.clone());
                intruders.push(self.take(self.root, path, reason.to_owned()));
            }
        }
        let known: HashSet<&PathBuf> = before.names.iter().collect();
        let mut names = walked.names();
        names.sort();
        for path in names {
            if is_taken(&taken, &path)
                || known.contains(&path)
                || is_excused(&path)
                || is_harmless(self.root, &path)
            {
                continue;
            }
            let asked = ProjectPath::normalize(&path.to_string_lossy());
            let reason = match &asked {
                Ok(asked) if policy.granted(asked).has(Capability::Create) => continue,
                Ok(asked) => workspace_rules::reason(policy, asked),
                Err(_) => "it is on the list of sensitive paths".to_owned(),
            };
            taken.insert(path.clone());
            intruders.push(self.take(self.root, path, reason));
        }
        if intruders.len() > MOST_TOLD {
            let more = intruders.len() - MOST_TOLD;
            intruders.truncate(MOST_TOLD);
            if let Some(last) = intruders.last_mut() {
                last.reason
                    .push_str(&format!(" (and {more} more were moved away like it)"));
            }
        }
        if before.complete
            && let Some(first) = walked.unseen.first()
        {
            // Something may be in there that the user's programs find, and we cannot.
            intruders.push(Intruder {
                path: first.clone(),
                moved_to: None,
                reason: UNSEEN.to_owned(),
            });
        }
        intruders
    }

    /// What appeared and makes a repository of a folder, with the reason why it may not be there.
    fn repositories(
        &self,
        policy: &Policy,
        walked: &WalkFindings,
        before: &CallBaseline,
    ) -> Vec<(PathBuf, &'static str)> {
        if !policy.protects_repositories() {
            return Vec::new();
        }
        let is_new = |path: &Path| {
            let identity = identity(self.root, path);
            // One that came along when its folder was moved is still the same.
            identity.is_none_or(|identity| !before.repositories.contains(&identity))
        };
        let is_named = |path: &Path| {
            let asked = ProjectPath::normalize(&path.to_string_lossy());
            asked.is_ok_and(|asked| policy.can(Capability::Create, &asked))
        };
        let mut found = Vec::new();
        for path in walked.gits() {
            if before.gits.contains(&path) || !is_new(&path) || is_named(&path) {
                continue;
            }
            if self.was_there(path.parent(), before.time) {
                found.push((path, NEW_REPOSITORY));
            } else if !repository::is_plain(self.root, &path) {
                found.push((path, HOSTILE_REPOSITORY));
            }
        }
        for folder in &walked.heads {
            let full = self.root.join(folder);
            if !repository::is_bare(&full) || !is_new(folder) {
                continue;
            }
            // Without its head it is none. Whatever it says now, its folder is like any other for later
            // calls, so that it could say something else then.
            found.push((folder.join("HEAD"), BARE_REPOSITORY));
        }
        found
    }

    /// Whether a directory was made before a time. Where that cannot be told, it was.
    fn was_there(&self, directory: Option<&Path>, time: i64) -> bool {
        let born = directory
            .and_then(|path| move_away::parent(self.root, path).ok())
            .and_then(|(above, name)| born(above.as_fd(), Path::new(&name)));
        born.is_none_or(|born| born + i128::from(TICK) < i128::from(time))
    }

    /// What is there now. Directories that were closed during the call are opened again first: whatever is
    /// in them has to be seen.
    fn walked(&self, policy: &Policy, before: &CallBaseline) -> Option<WalkFindings> {
        let mut walked = walk::walk(policy, self.root).ok()?;
        for _ in 0..MOST_LOCKS {
            let closed = walked.closed.iter();
            let new = closed.filter(|path| !before.closed.contains(path));
            let opened = new.filter(|path| move_away::open_up(self.root, path).is_ok());
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
            .map(|state| move_away::move_away(base, &path, state));
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
    fn restore(&self, name: &ForbiddenPath, link: &Path) {
        let path = Path::new(name.path.as_str());
        let base = name.base.as_deref().unwrap_or(self.root);
        if let Ok((above, last)) = move_away::parent(base, path) {
            // If something stands there, it is the link itself, or what could not be moved away.
            let _ = fs::symlinkat(link, &above, last);
        }
    }
}

/// What stands at a name where nothing may, or not this: the name itself, or a link on the way to it.
fn appeared(root: &Path, name: &ForbiddenPath) -> Option<PathBuf> {
    let mut here = PathBuf::new();
    let names: Vec<&OsStr> = Path::new(name.path.as_str()).iter().collect();
    for (number, component) in names.iter().enumerate() {
        here.push(component);
        let (above, last) = move_away::parent(root, &here).ok()?;
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

/// Whether a directory of hooks holds only the examples that git puts into new repositories.
fn is_harmless(root: &Path, path: &Path) -> bool {
    path.ends_with(".git/hooks") && repository::has_only_examples(&root.join(path))
}

/// How many names are told one by one.
const MOST_TOLD: usize = 100;

/// Closed directories may lie in closed directories, but somebody has to come to an end.
const MOST_LOCKS: usize = 64;

/// What stands for the repositories that are known, wherever they are moved.
fn identities(root: &Path, walked: &WalkFindings) -> Vec<String> {
    let bare = walked.heads.iter();
    let bare = bare.filter(|folder| repository::is_bare(&root.join(folder)));
    let all = walked.gits().into_iter().chain(bare.cloned());
    all.filter_map(|path| identity(root, &path)).collect()
}

fn identity(root: &Path, path: &Path) -> Option<String> {
    let full = root.join(path);
    let stat = fs::lstat(&full).ok()?;
    // File systems give the number of what was removed to what is made next.
    let born = born(fs::CWD, &full).unwrap_or_default();
    Some(format!("{}:{}:{born}", stat.st_dev, stat.st_ino))
}

/// When something was made, in nanoseconds since 1970, if the file system says so.
#[cfg(target_os = "linux")]
fn born(above: BorrowedFd<'_>, path: &Path) -> Option<i128> {
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    let stat = fs::statx(above, path, flags, fs::StatxFlags::BTIME).ok()?;
    let known = fs::StatxFlags::from_bits_retain(stat.stx_mask);
    let born = stat.stx_btime;
    known
        .contains(fs::StatxFlags::BTIME)
        .then(|| i128::from(born.tv_sec) * 1_000_000_000 + i128::from(born.tv_nsec))
}

#[cfg(not(target_os = "linux"))]
fn born(_above: BorrowedFd<'_>, _path: &Path) -> Option<i128> {
    None
}

/// Who makes a repository in a folder of the user's chooses what their git obeys there.
const NEW_REPOSITORY: &str =
    "it makes a repository of git of a folder that was there before (the preset `git` allows that)";

const BARE_REPOSITORY: &str = "it makes a folder a bare repository of git, whose settings and hooks nothing \
    would keep (the preset `git` allows that)";

const UNSEEN: &str =
    "there are so many directories now, or they are so deep, that nobody has looked into it";

const HOSTILE_REPOSITORY: &str = "it is a repository of git with settings that can name programs to run \
     (the preset `git` allows that)";

/// The time, in nanoseconds since 1970.
fn now() -> i64 {
    i64::try_from(jiff::Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX)
}

/// File systems count time in steps of a few milliseconds. In nanoseconds.
const TICK: i64 = 20_000_000;
