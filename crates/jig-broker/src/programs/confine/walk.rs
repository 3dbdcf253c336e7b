//! The walk over a workspace that finds what a profile has to name one by one: sensitive files, which no
//! broad rule covers, and directories that may not be moved because of what is below them.
//!
//! It follows no link, so a tool that swaps directories for links meanwhile leads it nowhere else. What a
//! directory held is remembered for the next walk: as long as its times are the same, it is not read again.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jig_policy::{Capability, CompiledFsRule, GuardKind, GuardLines, Policy};
use jig_proto::ProjectPath;
use rustix::fs::{self, AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::listing::{self, DirectoryIdentity, SensitiveKind, SensitiveListing};
use super::{move_away, repository};

mod places;

pub(super) use places::{WalkScope, walk_places};

#[cfg(test)]
mod tests;

/// What a walk found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct WalkFindings {
    /// Sensitive paths that exist, relative to the workspace.
    pub(super) sensitive: Vec<PathBuf>,
    /// Links with sensitive names. They are judged by where they lead to, but none may come into being.
    pub(super) links: Vec<PathBuf>,
    /// Directories that may not be moved or removed, though what is in them may, relative as well.
    pub(super) pinned: Vec<PathBuf>,
    /// Repositories of git below the workspace, relative as well: their `.git`, if it is a directory.
    pub(super) repositories: Vec<PathBuf>,
    /// Whatever else has the name `.git` below the workspace, in any spelling: it leads to a repository.
    pub(super) git_links: Vec<PathBuf>,
    /// Directories, also the workspace itself, with something of the name `HEAD` in them: only such can be
    /// repositories without being called `.git`.
    pub(super) heads: Vec<PathBuf>,
    /// Directories that cannot be looked into, relative as well. Who owns them can open them at any time.
    pub(super) closed: Vec<PathBuf>,
    /// Directories that were not looked into, because there are too many, or too deep.
    pub(super) unseen: Vec<PathBuf>,
}

impl WalkFindings {
    /// All sensitive names that were found.
    pub(super) fn names(&self) -> Vec<PathBuf> {
        let mut names = self.sensitive.clone();
        names.extend(self.links.iter().cloned());
        names
    }

    /// All places below the workspace at which git finds a repository.
    pub(super) fn gits(&self) -> Vec<PathBuf> {
        let mut gits = self.repositories.clone();
        gits.extend(self.git_links.iter().cloned());
        gits
    }
}

/// Walks over the workspace at `root`.
pub(super) fn walk(policy: &Policy, root: &Path) -> rustix::io::Result<WalkFindings> {
    walk_at_most(policy, root, MOST_DIRECTORIES, None)
}

/// As [`walk`]. Directories that cannot be looked into are opened for their owner first, all but those of `closed`:
/// whatever a tool has put into them has to be seen.
pub(super) fn walk_and_open(
    policy: &Policy,
    root: &Path,
    closed: &BTreeSet<PathBuf>,
) -> rustix::io::Result<WalkFindings> {
    walk_at_most(policy, root, MOST_DIRECTORIES, Some(closed))
}

fn walk_at_most(
    policy: &Policy,
    root: &Path,
    most: usize,
    closed: Option<&BTreeSet<PathBuf>>,
) -> rustix::io::Result<WalkFindings> {
    let lines = named_lines(policy);
    let patterns = patterns(policy, &lines);
    let key = WalkKey::of(policy, root, &patterns);
    let mut walk = WorkspaceWalk::new(policy, root, closed)?;
    let mut tree = REMEMBERED.take(&key);
    // Level by level: if there is no end to it, it is the depth that stays unseen.
    let mut left = VecDeque::from([(&mut tree, PathBuf::new())]);
    let mut visited = 0;
    while let Some((node, path)) = left.pop_front() {
        if visited == most || path.as_os_str().len() > LONGEST {
            walk.found.unseen.push(path);
        } else {
            visited += 1;
            walk.directory(node, path, &mut left);
        }
    }
    REMEMBERED.put(key, tree);
    Ok(walk.found)
}

/// The lines of the table of guards that are found by name. A `.git` itself is found apart.
fn named_lines(policy: &Policy) -> GuardLines {
    let lines = policy.guard_lines();
    lines.retain(|line| line.kind() != GuardKind::Git || !line.only_itself())
}

/// How the names end that matter.
fn patterns<'a>(policy: &'a Policy, lines: &'a GuardLines) -> Vec<&'a str> {
    let named = lines.iter().map(|line| -> &str { line.pattern() });
    policy.sensitive().patterns().chain(named).collect()
}

/// A directory as it was seen, with what the policy says about it.
#[derive(Debug, Default)]
struct WalkedDirectory {
    name: OsString,
    /// As of when `below` and `sensitive` hold; `None` if that has to be read.
    seen: Option<DirectoryIdentity>,
    below: Vec<WalkedDirectory>,
    /// Names in it that are sensitive, and no directories.
    sensitive: Vec<(OsString, SensitiveKind)>,
    /// Names in it that some file system takes for `.git`, and that are no directories.
    git_links: Vec<OsString>,
    /// Whether there is such a name for `HEAD`.
    has_head: bool,
    is_sensitive: bool,
    is_pinned: bool,
    /// Whether nothing in it matters.
    is_closed: bool,
    /// Whether it could not be looked into.
    is_locked: bool,
}

struct WorkspaceWalk<'p> {
    policy: &'p Policy,
    path: &'p Path,
    root: OwnedFd,
    /// What the table guards from changes.
    lines: GuardLines,
    /// Directories that stay closed; `None` if all do.
    stay_closed: Option<&'p BTreeSet<PathBuf>>,
    endings: Endings,
    found: WalkFindings,
    /// Room for the names of a directory.
    buffer: Vec<u8>,
}

impl<'p> WorkspaceWalk<'p> {
    fn new(
        policy: &'p Policy,
        path: &'p Path,
        stay_closed: Option<&'p BTreeSet<PathBuf>>,
    ) -> rustix::io::Result<Self> {
        let lines = named_lines(policy);
        Ok(Self {
            policy,
            path,
            root: fs::open(path, DIRECTORY, Mode::empty())?,
            endings: Endings::of(&patterns(policy, &lines)),
            lines,
            stay_closed,
            found: WalkFindings::default(),
            buffer: Vec::with_capacity(LISTING_BUFFER),
        })
    }

    /// Looks through a directory, and says what is left to be looked at.
    fn directory<'n>(
        &mut self,
        node: &'n mut WalkedDirectory,
        path: PathBuf,
        left: &mut VecDeque<(&'n mut WalkedDirectory, PathBuf)>,
    ) {
        if !self.is_as_seen(node, &path) {
            self.read(node, &path);
        }
        self.report(node, path, left);
    }

    /// Adds what a directory holds to the findings.
    fn report<'n>(
        &mut self,
        node: &'n mut WalkedDirectory,
        path: PathBuf,
        left: &mut VecDeque<(&'n mut WalkedDirectory, PathBuf)>,
    ) {
        for (name, kind) in &node.sensitive {
            let found = match kind {
                SensitiveKind::Link => &mut self.found.links,
                SensitiveKind::Other => &mut self.found.sensitive,
            };
            found.push(path.join(name));
        }
        for name in &node.git_links {
            self.found.git_links.push(path.join(name));
        }
        if node.has_head && !repository::is_kept_by_git(&path) {
            self.found.heads.push(path.clone());
        }
        for below in &mut node.below {
            let path = path.join(&below.name);
            if below.is_sensitive {
                self.found.sensitive.push(path.clone());
            }
            if below.is_pinned {
                self.found.pinned.push(path.clone());
            }
            if repository::is_git(&below.name) && path.as_os_str() != ".git" {
                self.found.repositories.push(path.clone());
            }
            if !below.is_closed {
                left.push_back((below, path));
            }
        }
        if node.is_locked {
            self.found.closed.push(path);
        }
    }

    fn is_as_seen(&self, node: &WalkedDirectory, path: &Path) -> bool {
        let Some(seen) = node.seen else {
            return false;
        };
        let stat = fs::statat(&self.root, at(path), AtFlags::SYMLINK_NOFOLLOW);
        stat.is_ok_and(|stat| DirectoryIdentity::of(&stat) == seen)
    }

    /// Reads a directory. One that is gone is empty. One that may not be read counts as locked: a tool that
    /// has the same user as we can open it, after having closed it in an earlier call.
    fn read(&mut self, node: &mut WalkedDirectory, path: &Path) {
        let mut listing = self.listing(path);
        if matches!(listing, Err(LOCKED | Errno::PERM))
            && self
                .stay_closed
                .is_some_and(|closed| !closed.contains(path))
            && move_away::open_up(self.path, path).is_ok()
        {
            listing = self.listing(path);
        }
        node.is_locked = matches!(listing, Err(LOCKED | Errno::PERM));
        self.take(node, path, listing.unwrap_or_default());
    }

    fn listing(&mut self, path: &Path) -> rustix::io::Result<SensitiveListing> {
        let endings = &self.endings;
        let wanted = |name: &[u8]| endings.may_be(name);
        open_below(self.root.as_fd(), at(path))
            .and_then(|directory| listing::read(&directory, &mut self.buffer, wanted))
    }

    /// Judges the names of a directory.
    fn take(&mut self, node: &mut WalkedDirectory, path: &Path, listing: SensitiveListing) {
        node.seen = listing.identity;
        let mut known: HashMap<OsString, WalkedDirectory> = std::mem::take(&mut node.below)
            .into_iter()
            .map(|below| (below.name.clone(), below))
            .collect();
        let below = listing.directories.into_iter().map(|name| {
            let known = known.remove(&name);
            known.unwrap_or_else(|| self.judged(path, name))
        });
        node.below = below.collect();
        // That of the workspace itself is a path like others.
        let is_own = |name: &OsStr| path.as_os_str().is_empty() && name == ".git";
        let names = || listing.sensitive.iter().map(|(name, _)| name);
        let links = names().filter(|name| repository::is_git(name) && !is_own(name));
        node.git_links = links.cloned().collect();
        node.has_head = names().any(|name| repository::is_head(name));
        let sensitive = listing.sensitive.into_iter().filter(|(name, _)| {
            let asked = asked(&path.join(name));
            asked.is_some_and(|asked| self.is_sensitive_itself(&asked))
        });
        node.sensitive = sensitive.collect();
    }

    /// A directory that was not seen before.
    fn judged(&self, path: &Path, name: OsString) -> WalkedDirectory {
        let Some(asked) = asked(&path.join(&name)) else {
            return WalkedDirectory {
                name,
                is_closed: true,
                ..WalkedDirectory::default()
            };
        };
        WalkedDirectory {
            name,
            is_sensitive: self.is_sensitive_itself(&asked),
            is_pinned: self.is_pinned(&asked),
            is_closed: is_git_objects(&asked) || self.is_closed(&asked),
            ..WalkedDirectory::default()
        }
    }

    /// Whether the path is guarded by its last component, rather than for lying in such a directory.
    fn is_sensitive_itself(&self, asked: &ProjectPath) -> bool {
        let found = self.policy.sensitive().find(asked);
        found.is_some_and(|found| found.depth == asked.depth()) || self.is_guarded(asked)
    }

    /// Whether the table guards the path from changes.
    fn is_guarded(&self, asked: &ProjectPath) -> bool {
        self.lines.names(asked.as_str())
    }

    fn is_pinned(&self, asked: &ProjectPath) -> bool {
        !self.policy.can(Capability::Delete, asked)
            && self.policy.granted(asked).has(Capability::Delete)
    }

    /// Whether the tool cannot do anything at or below a path.
    fn is_closed(&self, asked: &ProjectPath) -> bool {
        let opens_below = |rule: &CompiledFsRule| {
            !rule.capabilities().is_empty() && rule.path().starts_with(asked)
        };
        !self.policy.can(Capability::Read, asked)
            && self.policy.granted(asked).is_empty()
            && !self.policy.fs_rules().iter().any(opens_below)
    }
}

/// A relative path as the policy is asked about it. One that is no text can be named by no rule; what it
/// would be sensitive for still counts.
pub(super) fn asked(path: &Path) -> Option<ProjectPath> {
    ProjectPath::normalize(&path.to_string_lossy()).ok()
}

/// A relative path as the kernel takes it.
pub(super) fn at(path: &Path) -> &OsStr {
    match path.as_os_str().is_empty() {
        true => OsStr::new("."),
        false => path.as_os_str(),
    }
}

/// Opens the directory at an absolute path.
pub(super) fn open_directory(path: &Path) -> rustix::io::Result<OwnedFd> {
    fs::open(path, DIRECTORY, Mode::empty())
}

/// Opens a directory of the workspace without following any link.
pub(super) fn open_below(root: BorrowedFd<'_>, path: &OsStr) -> rustix::io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    {
        use fs::ResolveFlags;
        let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match fs::openat2(root, path, DIRECTORY, Mode::empty(), how) {
            Err(Errno::NOSYS | Errno::AGAIN) => {}
            opened => return opened,
        }
    }
    let mut directory = fs::openat(root, ".", DIRECTORY, Mode::empty())?;
    for name in Path::new(path) {
        directory = fs::openat(&directory, name, DIRECTORY, Mode::empty())?;
    }
    Ok(directory)
}

/// How the names begin at which sensitive paths end, and those that make a repository, so that all others are
/// passed over quickly.
struct Endings {
    /// By the first byte of the name.
    first: Box<[bool; 256]>,
    starts: Vec<Vec<u8>>,
    /// How the names end of patterns that begin with `*`.
    ends: Vec<Vec<u8>>,
}

impl Endings {
    fn of(patterns: &[&str]) -> Self {
        let mut endings = Self {
            first: Box::new([false; 256]),
            starts: Vec::new(),
            ends: Vec::new(),
        };
        for pattern in patterns {
            let last = pattern.rsplit('/').next().unwrap_or(pattern);
            let start = last.split('*').next().unwrap_or_default().as_bytes();
            match start.first() {
                Some(first) => {
                    endings.begins(*first);
                    endings.starts.push(start.to_vec());
                }
                None => {
                    let end = last.rsplit('*').next().unwrap_or_default();
                    endings.ends.push(end.as_bytes().to_vec());
                }
            }
        }
        // No sensitive path ends there, but a repository begins.
        for start in [".git", "HEAD"] {
            endings.begins(start.as_bytes()[0]);
            endings.starts.push(start.as_bytes().to_vec());
        }
        endings
    }

    /// Case plays no part.
    fn begins(&mut self, first: u8) {
        self.first[usize::from(first.to_ascii_lowercase())] = true;
        self.first[usize::from(first.to_ascii_uppercase())] = true;
    }

    /// A name that is not ASCII may be another spelling of any, and is looked at.
    fn may_be(&self, name: &[u8]) -> bool {
        let begins = |start: &Vec<u8>| {
            let head = name.get(..start.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(start))
        };
        let is_first = |first: &u8| self.first[usize::from(*first)];
        let ends = |end: &Vec<u8>| {
            let start = name.len().checked_sub(end.len());
            start.is_some_and(|start| name[start..].eq_ignore_ascii_case(end))
        };
        // Dots and spaces at the end may not count.
        let has_tail = matches!(name.last(), Some(b'.' | b' '));
        (name.first().is_some_and(is_first) && self.starts.iter().any(begins))
            || self.ends.iter().any(ends)
            || has_tail
            || !name.is_ascii()
    }
}

/// What was seen, for the workspaces and policies that were asked for last.
struct WalkCache(Mutex<Vec<(WalkKey, WalkedDirectory)>>);

/// All that decides what a walk finds, besides what is there.
#[derive(Debug, PartialEq, Eq)]
struct WalkKey {
    root: PathBuf,
    /// Rules, protected paths and the list of sensitive ones.
    policy: String,
}

impl WalkKey {
    fn of(policy: &Policy, root: &Path, patterns: &[&str]) -> Self {
        let mut text = patterns.join("\n");
        for rule in policy.fs_rules() {
            let (granted, link) = (rule.capabilities(), rule.unfollowed());
            text.push_str(&format!("\n\n{}\n{granted}\n{link:?}", rule.path()));
        }
        for guard in policy.protected() {
            text.push_str(&format!("\n\n\n{}\n{:?}", guard.path, guard.level));
        }
        text.push_str(&format!("\n\n\n\n{:?}", policy.guard_lines()));
        Self {
            root: root.to_owned(),
            policy: text,
        }
    }
}

impl WalkCache {
    /// What is known. It is given away: a second walk at the same time has to read for itself.
    fn take(&self, key: &WalkKey) -> WalkedDirectory {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.iter().position(|(other, _)| other == key);
        known.map(|known| all.remove(known).1).unwrap_or_default()
    }

    fn put(&self, key: WalkKey, tree: WalkedDirectory) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(other, _)| *other != key);
        if all.len() == MOST_REMEMBERED {
            all.remove(0);
        }
        all.push((key, tree));
    }
}

static REMEMBERED: WalkCache = WalkCache(Mutex::new(Vec::new()));

/// Git's store of contents: many directories, and only names that git makes up.
pub(super) fn is_git_objects(asked: &ProjectPath) -> bool {
    let text = asked.as_str();
    text == ".git/objects" || text.ends_with("/.git/objects")
}

/// What a directory answers whose owner has closed it.
const LOCKED: Errno = Errno::ACCESS;

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// A workspace with more directories than this is not looked through to its end, and what was not seen is
/// hidden: a tool could make any number of them, to have something found no more. A large project has some
/// ten thousand, of which each takes a hundredth of a millisecond once, and a fifth of that later.
const MOST_DIRECTORIES: usize = 200_000;

/// A path that is longer may not fit into what the kernel takes, together with that of the workspace.
const LONGEST: usize = 3000;

/// A server works on one workspace with a few tools. Each takes some hundred bytes for a directory.
const MOST_REMEMBERED: usize = 8;

/// As much as one system call may give.
const LISTING_BUFFER: usize = 32 * 1024;
