//! The one algorithm that turns what a tool wrote into the path that rules are compared with.
//!
//! Start at [`Workspace::resolve`]. The same code serves rules and targets, the disk, the memory
//! backend and the SDK, so that they cannot disagree. It refuses everything that leaves the
//! workspace at any step, also a link that would lead back in: what left once can be moved outside
//! our sight.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use jig_proto::{PathSyntaxError, ProjectPath};

use crate::lookup::{DiskLookup, Lookup, LookupEntry};

/// A workspace as path resolution sees it: its tree and the absolute paths that mean its root.
#[derive(Clone)]
pub struct Workspace<L> {
    lookup: L,
    roots: Vec<Utf8PathBuf>,
}

impl<L: Lookup> Workspace<L> {
    /// A workspace whose root has the absolute path `root` in what tools write and links say.
    pub fn new(root: impl Into<Utf8PathBuf>, lookup: L) -> Self {
        Self {
            lookup,
            roots: vec![root.into()],
        }
    }

    /// The absolute path of the root.
    pub fn root(&self) -> &Utf8Path {
        self.roots.first().map_or(Utf8Path::new(""), |root| root)
    }

    /// The absolute path of the root with links resolved, where that is known; else as given.
    pub fn canonical_root(&self) -> &Utf8Path {
        self.roots.last().map_or(Utf8Path::new(""), |root| root)
    }

    /// The tree behind it.
    pub fn lookup(&self) -> &L {
        &self.lookup
    }

    /// Resolves the path of a rule: as [`resolve`](Self::resolve), with a bound on its length, and with what
    /// was met on the way.
    pub(crate) fn resolve_rule(&self, input: &str) -> Result<RulePath, ResolveError> {
        let written = self.written_rule(input)?;
        let mut links = Vec::new();
        let real = self.follow(&written, &mut links);
        match real {
            Ok(real) => Ok(RulePath {
                written,
                real: real.path,
                links,
            }),
            Err(reason) => Err(ResolveError {
                path: input.to_owned(),
                reason,
            }),
        }
    }

    /// The path of a rule as its text says it: no link is followed.
    pub(crate) fn written_rule(&self, input: &str) -> Result<ProjectPath, ResolveError> {
        if input.len() > MAX_RULE_PATH {
            let path = input.chars().take(80).chain("…".chars()).collect();
            let reason = ResolveReason::TooLong;
            return Err(ResolveError { path, reason });
        }
        self.normalize(input).map_err(|reason| ResolveError {
            path: input.to_owned(),
            reason,
        })
    }

    /// Resolves a path as a tool or a rule wrote it to its canonical form.
    ///
    /// Relative paths start at the root; absolute ones must lie under it. `..` is folded first,
    /// then every symbolic link on the way is resolved. Components that do not exist yet are kept
    /// as written. A link that dangles, loops or leaves the workspace is an escape.
    pub fn resolve(&self, input: &str) -> Result<ResolvedPath, ResolveError> {
        let fail = |reason| ResolveError {
            path: input.to_owned(),
            reason,
        };
        let start = self.normalize(input).map_err(fail)?;
        self.follow(&start, &mut Vec::new()).map_err(fail)
    }

    /// [`resolve`](Self::resolve), and the canonical places of the links that were met, also where they lead nowhere.
    pub fn resolve_by_links(
        &self,
        input: &str,
    ) -> (Result<ResolvedPath, ResolveError>, Vec<ProjectPath>) {
        let mut links = Vec::new();
        let start = self.normalize(input);
        let found = start.and_then(|start| self.follow(&start, &mut links));
        let found = found.map_err(|reason| ResolveError {
            path: input.to_owned(),
            reason,
        });
        (found, links)
    }

    fn normalize(&self, input: &str) -> Result<ProjectPath, ResolveReason> {
        let relative = if Utf8Path::new(input).has_root() {
            self.strip_root(input).ok_or(ResolveReason::Outside)?
        } else {
            input
        };
        match ProjectPath::normalize(relative) {
            Ok(path) => Ok(path),
            Err(PathSyntaxError::Escape) => Err(ResolveReason::DotDot),
            Err(PathSyntaxError::Absolute) => Err(ResolveReason::Outside),
            Err(other) => Err(ResolveReason::Syntax(other)),
        }
    }

    /// The part of an absolute path below the root; `.` for the root itself.
    fn strip_root<'a>(&self, absolute: &'a str) -> Option<&'a str> {
        // A root that is not absolute is no name for any absolute path.
        let mut roots = self.roots.iter().filter(|root| root.has_root());
        roots.find_map(|root| {
            let rest = Utf8Path::new(absolute).strip_prefix(root).ok()?;
            Some(if rest.as_str().is_empty() {
                "."
            } else {
                rest.as_str()
            })
        })
    }

    /// Follows the links on the way. The canonical place of each is added to `places`.
    fn follow(
        &self,
        start: &ProjectPath,
        places: &mut Vec<ProjectPath>,
    ) -> Result<ResolvedPath, ResolveReason> {
        // A stack: the next component is at the end. Those that came out of a link are marked,
        // because a link must lead somewhere, while what the caller wrote need not exist yet.
        let mut pending: Vec<ResolveStep> = steps(start.as_str(), false).collect();
        pending.reverse();
        let mut done = ProjectPath::root();
        while let Some(step) = pending.pop() {
            if step.name == ".." {
                done = done.parent().ok_or(ResolveReason::LinkLeaves)?;
                continue;
            }
            let name = ProjectPath::normalize(&step.name).map_err(ResolveReason::Syntax)?;
            let here = done.join(&name);
            match self.lookup.entry(&here).map_err(ResolveReason::Lookup)? {
                LookupEntry::Directory => done = here,
                LookupEntry::Missing if step.from_link => return Err(ResolveReason::Dangling),
                LookupEntry::File if pending.last().is_some_and(|next| next.from_link) => {
                    return Err(ResolveReason::Dangling);
                }
                LookupEntry::Missing => {
                    return Ok(ResolvedPath::new(rest_of(here, pending), false));
                }
                LookupEntry::File => {
                    let exists = pending.is_empty();
                    return Ok(ResolvedPath::new(rest_of(here, pending), exists));
                }
                LookupEntry::Link(target) => {
                    places.push(here);
                    if places.len() > MAX_LINKS {
                        return Err(ResolveReason::Loop);
                    }
                    let target = if Utf8Path::new(&target).has_root() {
                        done = ProjectPath::root();
                        self.strip_root(&target).ok_or(ResolveReason::LinkLeaves)?
                    } else {
                        target.as_str()
                    };
                    let before = pending.len();
                    pending.extend(steps(target, true));
                    pending[before..].reverse();
                    if pending.len() > MAX_STEPS {
                        return Err(ResolveReason::Loop);
                    }
                }
            }
        }
        Ok(ResolvedPath::new(done, true))
    }
}

impl Workspace<DiskLookup> {
    /// A directory of the operating system, known by the path given and by its canonical one.
    pub fn on_disk(root: impl Into<Utf8PathBuf>) -> io::Result<Self> {
        let given = root.into();
        let lookup = DiskLookup::new(given.clone());
        let canonical = lookup.canonical_root()?;
        let mut roots = vec![given];
        if !roots.contains(&canonical) {
            roots.push(canonical);
        }
        Ok(Self { lookup, roots })
    }
}

struct ResolveStep {
    name: String,
    from_link: bool,
}

fn steps(path: &str, from_link: bool) -> impl Iterator<Item = ResolveStep> {
    path.split('/')
        .filter(|name| !name.is_empty() && *name != ".")
        .map(move |name| ResolveStep {
            name: name.to_owned(),
            from_link,
        })
}

fn rest_of(here: ProjectPath, mut pending: Vec<ResolveStep>) -> ProjectPath {
    let mut text = here.as_str().to_owned();
    while let Some(step) = pending.pop() {
        text.push('/');
        text.push_str(&step.name);
    }
    // What is pending was normal when it was pushed, so this only puts the type back on.
    ProjectPath::normalize(&text).unwrap_or(here)
}

/// The path of a rule: its text, where that leads, and by which links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RulePath {
    /// The text in normal form, no link followed.
    pub(crate) written: ProjectPath,
    /// Where it leads. The same, if there are no links.
    pub(crate) real: ProjectPath,
    /// The canonical places of the links on the way.
    pub(crate) links: Vec<ProjectPath>,
}

impl RulePath {
    /// A rule path that goes nowhere but where its text says.
    pub(crate) fn direct(path: ProjectPath) -> Self {
        Self {
            written: path.clone(),
            real: path,
            links: Vec::new(),
        }
    }
}

/// A path in canonical form: inside the workspace, with every link resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedPath {
    path: ProjectPath,
    exists: bool,
    /// The depth of the folder that is a repository of git, or becomes one with this path.
    repository: Option<u16>,
}

impl ResolvedPath {
    fn new(path: ProjectPath, exists: bool) -> Self {
        Self {
            path,
            exists,
            repository: None,
        }
    }

    /// Vouches that `path` is canonical, for callers that read it off an open handle.
    ///
    /// A path that still goes through a link is then judged by its alias: only what the kernel
    /// itself reported for an open descriptor belongs here.
    pub fn from_handle(path: ProjectPath) -> Self {
        Self::new(path, true)
    }

    /// The same path, where making or changing it concerns a repository of git: `names` of its components are the
    /// folder that is one, or becomes one. Only a rule on something in that folder opens it.
    #[must_use]
    pub fn in_repository(self, names: usize) -> Self {
        Self {
            // No path is as deep as that: file systems end at 4096 bytes.
            repository: Some(u16::try_from(names).unwrap_or(u16::MAX)),
            ..self
        }
    }

    /// Whether it is a path of a repository, as [`in_repository`](Self::in_repository) says.
    pub fn is_in_repository(&self) -> bool {
        self.repository.is_some()
    }

    /// How many components make up the folder that is a repository, or becomes one.
    pub(crate) fn repository(&self) -> Option<usize> {
        self.repository.map(usize::from)
    }

    /// The canonical path.
    pub fn path(&self) -> &ProjectPath {
        &self.path
    }

    /// Whether something stood there when it was resolved.
    pub fn exists(&self) -> bool {
        self.exists
    }
}

/// A path that cannot be resolved inside the workspace.
#[derive(Debug, thiserror::Error)]
#[error("{}: {path}", .reason.headline())]
pub struct ResolveError {
    /// The path as it was written.
    pub path: String,
    /// What is wrong with it.
    #[source]
    pub reason: ResolveReason,
}

impl ResolveError {
    /// Whether the path is somewhere else from the start, rather than leaving on the way.
    pub fn is_outside(&self) -> bool {
        matches!(self.reason, ResolveReason::Outside)
    }
}

/// What is wrong with a path.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveReason {
    /// An absolute path that does not begin with the root.
    #[error("it is absolute and not under the workspace root")]
    Outside,
    /// `..` climbs above the root.
    #[error("it climbs above the root by `..`")]
    DotDot,
    /// A symbolic link on the way points outside.
    #[error("a symbolic link on the way points outside")]
    LinkLeaves,
    /// A symbolic link on the way points to nothing.
    #[error("a symbolic link on the way points to nothing")]
    Dangling,
    /// Symbolic links form a loop, or a chain too long to tell.
    #[error("symbolic links on the way form a loop")]
    Loop,
    /// A rule's path is longer than any path can be.
    #[error("it is longer than {MAX_RULE_PATH} bytes")]
    TooLong,
    /// The text is no path.
    #[error(transparent)]
    Syntax(PathSyntaxError),
    /// The tree could not be asked.
    #[error("the path could not be looked up")]
    Lookup(#[source] io::Error),
}

impl ResolveReason {
    /// Whether the text is a path of the workspace, and only what stands there is in the way.
    pub fn is_of_the_tree(&self) -> bool {
        matches!(
            self,
            Self::LinkLeaves | Self::Dangling | Self::Loop | Self::Lookup(_)
        )
    }

    fn headline(&self) -> &'static str {
        match self {
            Self::Outside => "path is outside the workspace",
            Self::DotDot | Self::LinkLeaves | Self::Dangling | Self::Loop => {
                "path escapes the workspace"
            }
            Self::Syntax(_) | Self::TooLong => "path is not valid",
            Self::Lookup(_) => "path cannot be resolved",
        }
    }
}

/// As many links as Linux follows in one path. A tool can make endless chains of them.
const MAX_LINKS: usize = 40;

/// As long as a path can be on Linux. What is restricted below a path is noted at every path above
/// it, which would cost the square of an unbounded depth.
pub(crate) const MAX_RULE_PATH: usize = 4096;

/// Link targets can be 4 KiB of components each; forty of them must not grow without bound.
const MAX_STEPS: usize = 8192;

#[cfg(test)]
mod tests;
