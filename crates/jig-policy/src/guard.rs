//! What no rule, or no broad rule, gives away: sensitive paths and jig's own files.

use jig_proto::ProjectPath;

use crate::lookup::{Entry, Lookup};
use crate::sensitive::Sensitive;

/// What stands above the rules of every tool.
#[derive(Debug, Clone, Default)]
pub struct Guards {
    /// Paths that only a rule which names them covers, for every capability.
    pub sensitive: Sensitive,
    /// Paths whose change would let a tool widen its own access.
    pub protected: Vec<Protected>,
    /// Whether a `.git` that is no directory is protected as a whole. There it is the name of a
    /// repository elsewhere, or nothing yet: who writes it chooses the configuration that git obeys.
    pub repository: bool,
}

/// A path that a tool may not change, or not by a broad rule. Reading is not affected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protected {
    /// The path and everything below it.
    pub path: ProjectPath,
    /// How far the protection goes.
    pub level: ProtectionLevel,
    /// What it is, as a noun phrase for people: "the configuration of jig".
    pub what: String,
}

/// How far the protection of a path goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProtectionLevel {
    /// Only a rule that names the path, or something below it, allows a change.
    Named,
    /// Nothing allows a change.
    Never,
}

impl Guards {
    /// The guards of every workspace: the files in which jig looks for configuration, whether
    /// they exist or not, the folders of jig and JP, and what makes git run programs.
    pub fn of_workspace() -> Self {
        let mut guards = Self::default();
        for file in ["jig.toml", ".jig/config.toml", ".jp/config.toml"] {
            guards.protect(file, ProtectionLevel::Never, "configuration that jig loads");
        }
        guards.protect(".jig", ProtectionLevel::Named, "the folder of jig");
        guards.protect(".jp", ProtectionLevel::Named, "the folder of JP");
        for path in GIT_PATHS {
            guards.protect(path, ProtectionLevel::Named, GIT);
        }
        guards.repository = true;
        guards
    }

    /// Protects the configuration of a linked worktree that the repository already has. New ones can
    /// be made freely.
    pub fn protect_worktree(&mut self, name: &str) {
        for file in ["commondir", "config.worktree"] {
            let path = format!(".git/worktrees/{name}/{file}");
            self.protect(&path, ProtectionLevel::Named, GIT);
        }
    }

    /// Protects all linked worktrees at once, where there are too many to name each. None can be
    /// added then.
    pub fn protect_worktrees(&mut self) {
        self.protect(".git/worktrees", ProtectionLevel::Named, GIT);
    }

    /// The same guards without those on git: for a tool that is meant to configure the repository.
    /// The hooks stay what they are, sensitive.
    #[must_use]
    pub fn without_git(mut self) -> Self {
        self.protected.retain(|guard| guard.what != GIT);
        self.repository = false;
        self
    }

    /// The protection of `.git` itself in this tree, if it needs one.
    pub(crate) fn git_link(&self, tree: &impl Lookup) -> Option<Protected> {
        let path = ProjectPath::normalize(".git").ok()?;
        let free = match tree.entry(&path) {
            // What a link leads to is protected part by part, as in a directory.
            Ok(Entry::Directory | Entry::Link(_)) => true,
            Ok(Entry::File | Entry::Missing) | Err(_) => false,
        };
        (self.repository && !free).then(|| Protected {
            path,
            level: ProtectionLevel::Named,
            what: GIT.to_owned(),
        })
    }

    /// The protection of the same parts in repositories below the workspace, wherever they are.
    pub(crate) fn nested_repositories(&self) -> Option<Protected> {
        let path = ProjectPath::normalize(".git").ok()?;
        self.repository.then(|| Protected {
            path,
            level: ProtectionLevel::Named,
            what: GIT.to_owned(),
        })
    }

    /// Adds a protected path, unless it has this protection already. One that is not inside the
    /// workspace needs none.
    pub fn protect(&mut self, path: &str, level: ProtectionLevel, what: &str) {
        let Ok(path) = ProjectPath::normalize(path) else {
            return;
        };
        let known = |other: &Protected| other.path == path && other.level >= level;
        if !self.protected.iter().any(known) {
            self.protected.push(Protected {
                path,
                level,
                what: what.to_owned(),
            });
        }
    }
}

/// How many components of `path` make up what git obeys in a repository below the workspace; of several, one
/// in the other, the most.
pub(crate) fn nested_depth(path: &str) -> Option<usize> {
    let found = path.match_indices("/.git/").filter_map(|(at, _)| {
        let rest = &path[at + 1..];
        let obeyed = GIT_PATHS.iter().any(|part| {
            let below = rest.strip_prefix(part);
            below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
        });
        obeyed.then(|| path[..at].split('/').count() + 2)
    });
    found.last()
}

/// What git obeys, in words.
const GIT: &str = "the configuration of git, which can name programs to run";

/// What in a repository makes the user's own git run programs later: the configuration of the
/// repository, of its main worktree and of its submodules, and the file that names another place
/// for all of them. Hooks are on the list of sensitive paths. `info/attributes` only chooses among
/// drivers that the configuration names. Committing, branching and adding worktrees change none of
/// these.
const GIT_PATHS: [&str; 4] = [
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
    ".git/modules",
];

#[cfg(test)]
mod tests;
