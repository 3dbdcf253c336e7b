//! The rules of a policy as rules of a profile.
//!
//! Nothing is decided here: what a path gets is what [`Policy::granted`] says, asked at every path where
//! the answer can change, so that the operating system and every other enforcer agree (G-120).

use std::collections::{BTreeSet, HashSet};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::path::{Path, PathBuf};

use jig_policy::{Capability, FileCapabilities, Policy, ProtectionLevel};
use jig_proto::ProjectPath;
use jig_sandbox::{Rights, RuleSource};

use super::host_files::{self, HostFileType};
use super::repository;
use super::shown_paths::ShownRules;
use super::walk::{self, WalkFindings};

#[cfg(test)]
mod tests;

/// What a workspace adds to a profile besides rules.
#[derive(Debug, Default)]
pub(super) struct WorkspaceAdditions {
    /// Directories that may not be renamed or removed.
    pub(super) pins: Vec<PathBuf>,
    /// Names that may not come into being, or not be replaced.
    pub(super) forbidden: Vec<ForbiddenPath>,
    /// What a person should know.
    pub(super) warnings: Vec<String>,
    /// How many directories are hidden because nobody knows what is in them.
    pub(super) hidden: usize,
}

/// A name of which the sandbox cannot keep a tool, because nothing stands there that it could hold on to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ForbiddenPath {
    /// The directory that the path is relative to, if it is not the workspace.
    pub(super) base: Option<PathBuf>,
    /// Relative to the workspace, or to `base`.
    pub(super) path: ProjectPath,
    /// Where a link of that name leads to, if there is one. It has to stay.
    pub(super) link: Option<PathBuf>,
    /// Why, as a clause: "it is configuration that jig loads".
    pub(super) reason: String,
}

/// Shows the workspace at the canonical path `root` as far as the policy grants it.
pub(super) fn show(
    policy: &Policy,
    root: &Path,
    walked: &WalkFindings,
    shown: &mut ShownRules,
) -> WorkspaceAdditions {
    let mut building = WorkspaceProfileBuilder {
        policy,
        root,
        shown,
        workspace: WorkspaceAdditions::default(),
        above: BTreeSet::new(),
        missing: HashSet::new(),
    };
    // From the root down: what a path is compared with has to be there.
    let mut paths: BTreeSet<(usize, &ProjectPath)> = BTreeSet::new();
    let outermost = ProjectPath::root();
    paths.insert((0, &outermost));
    paths.extend(
        policy
            .fs_rules()
            .iter()
            .map(|rule| (rule.path().depth(), rule.path())),
    );
    let protected = policy.protected().iter();
    paths.extend(protected.map(|guard| (guard.path.depth(), &guard.path)));
    // The one sensitive path that the user's own git would run is looked for also where no walk comes.
    let hooks = ProjectPath::normalize(".git/hooks").unwrap_or_default();
    if host_files::stands_itself(&root.join(".git")) == Some(HostFileType::Directory) {
        paths.insert((hooks.depth(), &hooks));
    }
    for (_, path) in paths {
        building.place(path);
    }
    if host_files::stands_itself(&root.join(".git")) == Some(HostFileType::Directory) {
        // Of its worktrees the policy knows those that were there when it was made.
        building.repository(Path::new(".git"));
    }
    for repository in &walked.repositories {
        building.repository(repository);
    }
    for path in &walked.git_links {
        building.git_link(path);
    }
    for path in &walked.sensitive {
        building.sensitive(path);
    }
    // What a rule opens in there had nothing to be opened against before.
    for rule in policy.fs_rules() {
        let inside = |sensitive: &PathBuf| Path::new(rule.path().as_str()).starts_with(sensitive);
        if walked.sensitive.iter().any(inside) {
            building.place(rule.path());
        }
    }
    if policy.protects_repositories() {
        let bare = walked.heads.iter();
        for folder in bare.filter(|folder| repository::is_bare(&root.join(folder))) {
            building.bare(folder);
        }
    }
    for path in &walked.closed {
        building.closed(path);
    }
    for path in gathered(&walked.unseen) {
        building.closed(&path);
    }
    building.pin(&walked.pinned);
    let mut workspace = building.workspace;
    if workspace.hidden > 1 {
        let more = workspace.hidden - 1;
        workspace.warnings.push(format!(
            "{more} more directories are hidden, because they cannot be looked into, or because there \
             are too many"
        ));
    }
    workspace
}

struct WorkspaceProfileBuilder<'a> {
    policy: &'a Policy,
    root: &'a Path,
    shown: &'a mut ShownRules,
    workspace: WorkspaceAdditions,
    /// The directories above all that is restricted.
    above: BTreeSet<ProjectPath>,
    /// The names at which nothing stands and nothing may.
    missing: HashSet<ProjectPath>,
}

impl WorkspaceProfileBuilder<'_> {
    /// Shows one path at which the policy may say something else than above it.
    fn place(&mut self, path: &ProjectPath) {
        let root = self.root;
        self.place_found(path, || found(root, path));
    }

    /// The same of a path at which that stands what `found` gives.
    fn place_found(&mut self, path: &ProjectPath, found: impl FnOnce() -> PathPresence) {
        let full = self.full(path);
        let rights = rights(self.policy.granted(path));
        let outside = self.shown.rights(&full);
        if rights == outside {
            return;
        }
        self.note_above(path);
        let found = found();
        // What is there must be held. What is not cannot be, and is looked for afterwards instead.
        let source = match found {
            _ if self.is_declared(path) => RuleSource::Declared,
            PathPresence::Present => RuleSource::Implied,
            PathPresence::Missing { .. } | PathPresence::Link(_) | PathPresence::BehindLink => {
                RuleSource::Guard
            }
        };
        match found {
            PathPresence::Present => self.shown.add(full, rights, source),
            PathPresence::Link(target) => self.forbid(path, Some(target)),
            PathPresence::BehindLink => {}
            PathPresence::Missing { first } => {
                if outside.has_any(Rights::CREATE) && !rights.has(Rights::CREATE) {
                    self.forbid_missing(path, first);
                    self.shown.add(full, rights, source);
                } else if source == RuleSource::Declared
                    && rights.has(Rights::CREATE)
                    && !outside.has(Rights::CREATE)
                {
                    self.workspace.warnings.push(format!(
                        "`{path}` does not exist, and a confined program cannot make it where it may \
                         not change `{}`: make it first",
                        path.parent().unwrap_or_default()
                    ));
                }
            }
        }
    }

    /// Shows what the policy may say about the parts of a repository below the workspace.
    fn repository(&mut self, git: &Path) {
        let text = git
            .to_str()
            .and_then(|git| ProjectPath::normalize(git).ok());
        let Some(git) = text else {
            // No rule can name it, and nobody should have to guess what it says.
            return self.closed(git);
        };
        // Opened once: a path with many components takes the kernel a while each time.
        let Ok(directory) = walk::open_directory(self.root)
            .and_then(|root| walk::open_below(root.as_fd(), Path::new(git.as_str()).as_os_str()))
        else {
            return;
        };
        let own = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()));
        let mut parts: Vec<String> = REPOSITORY.iter().map(|part| (*part).to_owned()).collect();
        for name in host_files::names(&own.join("worktrees")) {
            // One that is no text is as good as unseen, and git makes none.
            if let Some(name) = name.to_str() {
                parts.push(format!("worktrees/{name}/commondir"));
                parts.push(format!("worktrees/{name}/config.worktree"));
            }
        }
        let depth = git.depth();
        for part in parts {
            if let Ok(part) = ProjectPath::normalize(&part) {
                self.place_found(&git.join(&part), || match found(&own, &part) {
                    PathPresence::Missing { first } => PathPresence::Missing {
                        first: first + depth,
                    },
                    found => found,
                });
            }
        }
    }

    /// Keeps a bare repository as it is: its settings and hooks lie among its data.
    fn bare(&mut self, folder: &Path) {
        let full = self.root.join(folder);
        let rights = self.shown.rights(&full);
        if rights.has_any(Rights::WRITE) {
            let kept = rights.without(Rights::WRITE);
            self.shown.add(full, kept, RuleSource::Implied);
        }
    }

    /// Keeps what leads to a repository as it is, unless the policy lets it be changed. What lies below a
    /// `.git` that is a directory may be, which is why the policy grants more there than on a file.
    fn git_link(&mut self, path: &Path) {
        let text = path
            .to_str()
            .and_then(|path| ProjectPath::normalize(path).ok());
        let Some(asked) = text else {
            return self.closed(path);
        };
        let full = self.root.join(path);
        let outside = self.shown.rights(&full);
        if !outside.has_any(Rights::WRITE) || self.policy.can(Capability::Update, &asked) {
            return;
        }
        match found(self.root, &asked) {
            PathPresence::Present => {
                let granted = Capability::ALL.into_iter();
                let granted = granted.filter(|one| self.policy.can(*one, &asked));
                self.shown
                    .add(full, rights(granted.collect()), RuleSource::Implied);
            }
            PathPresence::Link(target) => self.forbid(&asked, Some(target)),
            PathPresence::Missing { .. } | PathPresence::BehindLink => {}
        }
    }

    /// Hides a sensitive path that exists.
    fn sensitive(&mut self, path: &Path) {
        let full = self.root.join(path);
        // A name that is no text can be named by no rule.
        let named = path
            .to_str()
            .and_then(|path| ProjectPath::normalize(path).ok());
        // What is guarded itself, such as a `.hg` that is a file, is open for what lies below it only.
        let is_directory = host_files::stands_itself(&full) == Some(HostFileType::Directory);
        let granted = named.map_or(FileCapabilities::NONE, |path| {
            let granted = self.policy.granted(&path).iter();
            let granted = granted.filter(|one| is_directory || self.policy.can(*one, &path));
            granted.collect()
        });
        let rights = rights(granted);
        if rights != self.shown.rights(&full) {
            self.shown.add(full, rights, RuleSource::Implied);
        }
    }

    /// Hides a directory into which we cannot look, since there is no telling what is in it.
    fn closed(&mut self, path: &Path) {
        let full = self.root.join(path);
        if self.shown.rights(&full) != Rights::NONE {
            self.shown.add(full, Rights::NONE, RuleSource::Implied);
            self.workspace.hidden += 1;
            if self.workspace.hidden == 1 {
                self.workspace.warnings.push(format!(
                    "`{}` is hidden, because it cannot be looked into",
                    path.display()
                ));
            }
        }
    }

    /// Pins the directories that the policy lets nobody move away, but lets be changed inside.
    fn pin(&mut self, walked: &[PathBuf]) {
        let mut pins: BTreeSet<PathBuf> = walked.iter().map(|path| self.root.join(path)).collect();
        let root = walk::open_directory(self.root);
        for path in &self.above {
            let may_change = self.policy.granted(path).has(Capability::Delete);
            let full = path.as_str();
            if may_change
                && !self.policy.can(Capability::Delete, path)
                && let Ok(root) = &root
                && walk::open_below(root.as_fd(), full.as_ref()).is_ok()
            {
                pins.insert(self.root.join(full));
            }
        }
        self.workspace.pins.extend(pins);
    }

    /// Forbids a name at which nothing stands, from the component with this number on.
    fn forbid_missing(&mut self, path: &ProjectPath, first: usize) {
        // Whatever lies in something that is missing is forbidden with it. What is above the first is there.
        let mut here = Some(path.clone());
        while let Some(path) = here.filter(|path| path.depth() >= first) {
            #[cfg(test)]
            super::testing::count_step();
            if self.missing.contains(&path) {
                return;
            }
            here = path.parent();
        }
        self.missing.insert(path.clone());
        self.forbid(path, None);
    }

    fn forbid(&mut self, path: &ProjectPath, link: Option<PathBuf>) {
        self.workspace.forbidden.push(ForbiddenPath {
            base: None,
            path: path.clone(),
            link,
            reason: reason(self.policy, path),
        });
    }

    fn note_above(&mut self, path: &ProjectPath) {
        let mut above = path.parent();
        while let Some(path) = above.filter(|path| !path.is_root()) {
            #[cfg(test)]
            super::testing::count_step();
            above = path.parent();
            // Of a directory that is known, those above it are known as well.
            if !self.above.insert(path) {
                return;
            }
        }
    }

    fn is_declared(&self, path: &ProjectPath) -> bool {
        let mut rules = self.policy.fs_rules().iter();
        // The workspace as a whole is meant also where only a default speaks of it.
        path.is_root() || rules.any(|rule| rule.path() == path)
    }

    fn full(&self, path: &ProjectPath) -> PathBuf {
        match path.is_root() {
            true => self.root.to_owned(),
            false => self.root.join(path.as_str()),
        }
    }
}

/// Directories, or where there are many, those that they are in: each costs a mount.
pub(super) fn gathered(directories: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut gathered: BTreeSet<PathBuf> = directories.iter().cloned().collect();
    loop {
        let depth = |path: &Path| path.iter().count();
        let deepest = gathered.iter().map(|path| depth(path)).max().unwrap_or(0);
        if gathered.len() <= MOST_CLOSED || deepest <= 1 {
            return gathered;
        }
        gathered = gathered
            .into_iter()
            .map(|mut path| {
                if depth(&path) == deepest {
                    path.pop();
                }
                path
            })
            .collect();
    }
}

/// How many directories are closed one by one.
const MOST_CLOSED: usize = 256;

/// Why a path may not come into being, as a clause.
pub(super) fn reason(policy: &Policy, path: &ProjectPath) -> String {
    let guard = policy.protection(path);
    if let Some(found) = policy.sensitive().find(path)
        && policy.granted(path).is_empty()
    {
        return format!("it is on the list of sensitive paths (`{}`)", found.pattern);
    }
    match guard {
        Some(guard) if guard.level == ProtectionLevel::Never => {
            format!("it is {}, which no tool may change", guard.what)
        }
        Some(guard) => format!("it is {}, which no broad rule covers", guard.what),
        None if policy.protects_repositories() && path.components().any(|name| name == ".git") => {
            "git obeys it, and no broad rule covers that (`--preset git` of a command, or the preset of a tool, does)".to_owned()
        }
        None => "no rule lets the tool create it".to_owned(),
    }
}

/// What stands at a path, and whether it is reached without links.
#[derive(Debug, PartialEq, Eq)]
enum PathPresence {
    Present,
    /// Nothing stands there, nor at the component with this number, counted from 1.
    Missing {
        first: usize,
    },
    /// It is a link.
    Link(PathBuf),
    /// A directory above it is a link by now.
    BehindLink,
}

fn found(root: &Path, path: &ProjectPath) -> PathPresence {
    let mut here = root.to_owned();
    let count = path.depth();
    for (number, name) in path.components().enumerate() {
        here.push(name);
        let is_last = number + 1 == count;
        match host_files::stands_itself(&here) {
            None => return PathPresence::Missing { first: number + 1 },
            Some(HostFileType::Link(target)) if is_last => return PathPresence::Link(target),
            Some(HostFileType::Link(_)) => return PathPresence::BehindLink,
            Some(_) => {}
        }
    }
    PathPresence::Present
}

/// The parts of a repository about which the policy may say something else than about the rest.
const REPOSITORY: [&str; 5] = ["config", "config.worktree", "commondir", "modules", "hooks"];

/// Capabilities in the words of the sandbox.
pub(super) fn rights(granted: FileCapabilities) -> Rights {
    granted.iter().fold(Rights::NONE, |rights, one| {
        rights.with(match one {
            Capability::Read => Rights::READ,
            Capability::Create => Rights::CREATE,
            Capability::Update => Rights::UPDATE,
            Capability::Delete => Rights::DELETE,
            Capability::Execute => Rights::EXECUTE,
        })
    })
}
