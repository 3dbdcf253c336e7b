//! What no rule, or no broad rule, gives away: sensitive paths and jig's own files.

use jig_proto::ProjectPath;

use crate::Capability;
use crate::lookup::{Lookup, LookupEntry};
use crate::planter::Planters;
use crate::sensitive::Sensitive;

/// What stands above the rules of every tool.
#[derive(Debug, Clone, Default)]
pub struct Guards {
    /// Paths that only a rule which names them covers, for every capability.
    pub sensitive: Sensitive,
    /// Paths whose change would let a tool widen its own access.
    pub protected: Vec<Protected>,
    /// Whether repositories of git are protected wherever they lie: what git obeys in them, and a `.git`
    /// that is no directory as a whole. There it is the name of a repository elsewhere, or nothing yet: who
    /// writes it chooses the configuration that git obeys.
    pub repository: bool,
    /// Who else may leave links in the workspace, which rules then find on their paths.
    pub planters: Planters,
    /// What is protected from those, and not from this tool: its own code.
    pub own: Vec<ProjectPath>,
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

impl Protected {
    /// Whether this is one of the guards on what git obeys, which [`Guards::without_git`] lifts.
    pub fn is_of_git(what: &str) -> bool {
        what == GIT
    }
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
    /// they exist or not, the folders of jig and JP, what makes git run programs, and what makes agents
    /// and editors run them.
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
        for path in AGENT_PATHS {
            guards.protect(path, ProtectionLevel::Named, AGENT);
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
            Ok(LookupEntry::Directory | LookupEntry::Link(_)) => true,
            Ok(LookupEntry::File | LookupEntry::Missing) | Err(_) => false,
        };
        (self.repository && !free).then(|| Protected {
            path,
            level: ProtectionLevel::Named,
            what: GIT.to_owned(),
        })
    }

    /// What git obeys in every repository of the workspace, wherever it lies.
    pub(crate) fn repositories(&self) -> Option<Protected> {
        let path = ProjectPath::normalize(GIT_PATHS[0]).ok()?;
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

/// How many components of `path` make up something that git obeys in a repository, wherever that lies; of
/// several, one in the other, the most.
pub(crate) fn obeyed_depth(capability: Capability, path: &str) -> Option<usize> {
    let mut deepest = None;
    let mut names = path.split('/').enumerate();
    while let Some((above, name)) = names.next() {
        if name != ".git" {
            continue;
        }
        let mut rest = names.clone().map(|(_, name)| name);
        let depth = match rest.next() {
            Some("config" | "config.worktree" | "commondir" | "modules") => above + 2,
            // Those of the workspace's own repository that exist are protected by their names, so that new
            // ones can be made by every tool.
            Some(WORKTREES) if above > 0 || capability != Capability::Create => match rest.nth(1) {
                Some("commondir" | "config.worktree") => above + 4,
                _ => continue,
            },
            _ => continue,
        };
        deepest = deepest.max(Some(depth));
    }
    deepest
}

/// Whether something that git obeys may lie below `path`, so that moving it away and back would change that.
/// What a repository lies in takes its name along and can be moved.
pub(crate) fn holds_obeyed(path: &str) -> bool {
    let mut names = path.rsplit('/');
    let (last, above, further) = (names.next(), names.next(), names.next());
    let git = Some(".git");
    last == git
        || (last == Some(WORKTREES) && above == git)
        || (above == Some(WORKTREES) && further == git)
}

/// Whether `path` makes a repository of a folder below the workspace. As a file it says which.
pub(crate) fn names_repository(path: &str) -> bool {
    path.ends_with("/.git")
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

/// What agents and editors obey, in words.
const AGENT: &str = "the configuration of an agent or editor, which can name programs to run";

/// What in a workspace makes the user's own agent or editor run programs later, outside of any sandbox: the
/// servers and hooks of agents (that jig is one of the servers is written there, too), and the tasks of
/// editors.
const AGENT_PATHS: [&str; 6] = [
    ".mcp.json",
    ".claude",
    ".codex",
    ".cursor",
    ".vscode",
    ".zed",
];

/// Where a repository keeps what belongs to each of its linked worktrees.
const WORKTREES: &str = "worktrees";

#[cfg(test)]
mod tests;
