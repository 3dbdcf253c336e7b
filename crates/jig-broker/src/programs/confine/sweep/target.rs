//! [`SweepTarget`]: judges what stands in a workspace, and moves away what may not.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use jig_policy::{Capability, Policy};
use jig_proto::ProjectPath;
use rustix::fs::{self, AtFlags, FileType};
use rustix::io::Errno;

use crate::programs::confine::intruder::Intruder;
use crate::programs::confine::journal::CallBaseline;
use crate::programs::confine::walk::{self, WalkFindings, WalkScope};
use crate::programs::confine::workspace_rules::{self, ForbiddenPath};
use crate::programs::confine::{move_away, repository};

/// A workspace, and what it is judged by.
pub(super) struct SweepTarget<'a> {
    /// By which sensitive names are judged.
    pub(super) policy: Option<&'a Policy>,
    pub(super) root: &'a Path,
    pub(super) state: Option<&'a Path>,
}

/// Something that may not be where it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OutOfPlace<'a> {
    /// The directory that the path is relative to, if it is not the workspace.
    pub(super) base: Option<&'a Path>,
    pub(super) path: PathBuf,
    /// Why, as a clause.
    pub(super) reason: String,
}

impl SweepTarget<'_> {
    /// Moves away what appeared since `before`, as far as `scope` goes and `walked` shows.
    pub(super) fn clear(
        &self,
        forbidden: &[ForbiddenPath],
        before: &CallBaseline,
        walked: Option<&WalkFindings>,
        scope: WalkScope<'_>,
    ) -> Vec<Intruder> {
        let found = self.out_of_place(forbidden, before, walked, scope);
        let intruders = found.into_iter().filter_map(|found| self.take(found));
        let mut intruders: Vec<Intruder> = intruders.collect();
        for name in forbidden {
            if let Some(link) = &name.link
                && scope.touches(Path::new(name.path.as_str()))
            {
                self.restore(name, link);
            }
        }
        let unseen = walked.into_iter().flat_map(|walked| &walked.unseen);
        // Something may be in there that the user's programs find, and we cannot.
        let mut new = unseen.filter(|path| !before.unseen.contains(*path));
        intruders.extend(new.next().map(|first| Intruder {
            path: first.clone(),
            moved_to: None,
            reason: UNSEEN.to_owned(),
        }));
        intruders
    }

    /// What appeared since `before` and may not be there, what lies in other such things left out.
    pub(super) fn out_of_place<'f>(
        &self,
        forbidden: &'f [ForbiddenPath],
        before: &CallBaseline,
        walked: Option<&WalkFindings>,
        scope: WalkScope<'_>,
    ) -> Vec<OutOfPlace<'f>> {
        let mut found: Vec<OutOfPlace<'f>> = Vec::new();
        // A tool can make any number of names: each is looked up, none is searched for.
        let mut known: HashSet<PathBuf> = HashSet::new();
        for name in forbidden {
            if name.base.is_none() && !scope.touches(Path::new(name.path.as_str())) {
                continue;
            }
            let base = name.base.as_deref().unwrap_or(self.root);
            if let Some(path) = appeared(base, name)
                && !is_harmless(base, &path)
            {
                if name.base.is_none() {
                    known.insert(path.clone());
                }
                found.push(OutOfPlace {
                    base: name.base.as_deref(),
                    path,
                    reason: name.reason.clone(),
                });
            }
        }
        let (Some(policy), Some(walked)) = (self.policy, walked) else {
            return found;
        };
        let mut add = |path: PathBuf, reason: String| {
            // Where the program can make nothing, others did.
            let above = walk::asked(path.parent().unwrap_or(Path::new("")));
            if above.is_some_and(|above| !policy.granted(&above).has(Capability::Create)) {
                return;
            }
            if !path.ancestors().any(|above| known.contains(above)) {
                known.insert(path.clone());
                found.push(OutOfPlace {
                    base: None,
                    path,
                    reason,
                });
            }
        };
        for (path, reason) in self.repositories(policy, walked, before) {
            add(path, reason.to_owned());
        }
        let mut names = walked.names();
        names.sort();
        for path in names {
            if before.names.contains(&path)
                || is_harmless(self.root, &path)
                || self.came_with_repository(&path, before)
            {
                continue;
            }
            match ProjectPath::normalize(&path.to_string_lossy()) {
                Ok(asked) if policy.can(Capability::Create, &asked) => {}
                Ok(asked) => add(path, workspace_rules::reason(policy, &asked)),
                Err(_) => add(path, "it is on the list of sensitive paths".to_owned()),
            }
        }
        found
    }

    /// Whether a path lies in a repository that was there before under another name: all of it came along.
    fn came_with_repository(&self, path: &Path, before: &CallBaseline) -> bool {
        let mut above = path.ancestors().skip(1);
        let git = above.find(|above| above.file_name().is_some_and(repository::is_git));
        git.is_some_and(|git| {
            let identity = super::super::journal::identity(self.root, git);
            !before.gits.contains(git)
                && identity.is_some_and(|identity| before.repositories.contains(&identity))
        })
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
            let identity = super::super::journal::identity(self.root, path);
            // One that came along when its folder was moved is still the same.
            identity.is_none_or(|identity| !before.repositories.contains(&identity))
        };
        let is_named = |path: &Path| {
            let asked = ProjectPath::normalize(&path.to_string_lossy());
            asked.is_ok_and(|asked| policy.can(Capability::Create, &asked))
        };
        let gits = walked.gits().into_iter();
        let gits =
            gits.filter(|path| !before.gits.contains(path) && is_new(path) && !is_named(path));
        let bare = walked
            .heads
            .iter()
            .filter(|folder| repository::is_bare(&self.root.join(folder)) && is_new(folder));
        // Without its head it is none. Whatever it says now, its folder is like any other for later calls, so that it
        // could say something else then.
        let bare = bare.map(|folder| {
            let head = repository::head(&self.root.join(folder));
            (folder.join(head), BARE_REPOSITORY)
        });
        gits.map(|path| (path, NEW_REPOSITORY))
            .chain(bare)
            .collect()
    }

    /// Moves something away; `None` if it has gone meanwhile.
    fn take(&self, found: OutOfPlace<'_>) -> Option<Intruder> {
        let OutOfPlace { base, path, reason } = found;
        let told = match base {
            Some(base) => base.join(&path),
            None if self.root == Path::new("/") => self.root.join(&path),
            None => path.clone(),
        };
        let base = base.unwrap_or(self.root);
        let moved = self
            .state
            .map(|state| move_away::move_away(base, &path, state));
        let (moved_to, reason) = match moved {
            // Another program is looked after there as well, or its maker has taken it away.
            Some(Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP)) => return None,
            Some(Err(error)) => {
                let reason = format!("{reason} (it cannot be moved away: {error})");
                (None, reason)
            }
            Some(Ok(place)) => (Some(place), reason),
            None => (None, reason),
        };
        Some(Intruder {
            path: told,
            moved_to,
            reason,
        })
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
pub(super) fn appeared(root: &Path, name: &ForbiddenPath) -> Option<PathBuf> {
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

/// Who makes a repository in a folder of the user's chooses what their git obeys there.
const NEW_REPOSITORY: &str = "it makes a folder a repository of git, which runs what its settings say \
    (`--preset git` of a command, or the preset of a tool, allows that)";

const BARE_REPOSITORY: &str = "it makes a folder a bare repository of git, whose settings and hooks nothing \
    would keep (`--preset git` of a command, or the preset of a tool, allows that)";

const UNSEEN: &str =
    "there are so many directories now, or they are so deep, that nobody has looked into it";
