//! What no rule, or no broad rule, gives away: the table of guards, and the paths of one workspace that are guarded
//! besides.

pub(crate) mod names;
mod pattern;
mod shape;
mod table;

use std::sync::LazyLock;

use jig_proto::ProjectPath;

use self::names::{NameIndex, NamePattern, components, folded, starts};
pub use self::pattern::{GuardPattern, PACKAGES};
pub use self::shape::{BareRepository, GitPart};
use self::table::TABLE;
use crate::lookup::{Lookup, LookupEntry};
use crate::planter::Planters;
use crate::sensitive::Sensitive;

/// One line of the table of guards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardLine {
    pub(crate) pattern: &'static str,
    pub(crate) depth: GuardDepth,
    pub(crate) level: GuardLevel,
    pub(crate) kind: GuardKind,
    pub(crate) only_itself: bool,
    pub(crate) why: &'static str,
}

impl GuardLine {
    /// All lines, as they are written.
    pub fn all() -> &'static [GuardLine] {
        TABLE
    }

    /// The path, by components; `*` stands for any run of characters in one. At the root it begins with `/`.
    pub fn pattern(&self) -> &'static str {
        self.pattern
    }

    /// Where it holds.
    pub fn depth(&self) -> GuardDepth {
        self.depth
    }

    /// How far it goes.
    pub fn level(&self) -> GuardLevel {
        self.level
    }

    /// What it is about.
    pub fn kind(&self) -> GuardKind {
        self.kind
    }

    /// Whether it is about the path alone, and not about what lies below it.
    pub fn only_itself(&self) -> bool {
        self.only_itself
    }

    /// Why, as a clause.
    pub fn why(&self) -> &'static str {
        self.why
    }
}

/// Where a line of the table holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardDepth {
    /// In every folder of the workspace.
    Any,
    /// At the top of the workspace.
    Root,
}

/// How far a line of the table goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GuardLevel {
    /// Only a rule that names the path, or something below it, covers it, for every capability.
    Sensitive,
    /// Only a rule that names the path, or something below it, allows a change.
    Named,
    /// Nothing allows a change.
    Never,
}

impl GuardLevel {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            GuardLevel::Sensitive => "sensitive",
            GuardLevel::Named => "named",
            GuardLevel::Never => "never",
        }
    }
}

/// What a line of the table is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardKind {
    /// Configuration of jig.
    JigFile,
    /// The folder of jig.
    JigFolder,
    /// The folder of JP.
    JpFolder,
    /// What git obeys.
    Git,
    /// What another version control system obeys.
    VersionControl,
    /// What hooks run.
    Hooks,
    /// What agents and editors obey.
    Obeyed,
    /// What a prompt runs.
    Prompt,
    /// What programs of a home obey.
    Home,
    /// Secrets, and what starts by itself.
    Sensitive,
}

impl GuardKind {
    /// What it is, as a noun phrase for people.
    pub fn what(self) -> &'static str {
        match self {
            GuardKind::JigFile => "configuration that jig loads",
            GuardKind::JigFolder => "the folder of jig",
            GuardKind::JpFolder => "the folder of JP",
            GuardKind::Git => GIT,
            GuardKind::VersionControl => {
                "the configuration of a version control system, which can name programs to run"
            }
            GuardKind::Hooks => "what hooks run at a commit",
            GuardKind::Obeyed => AGENT,
            GuardKind::Prompt => "what a prompt runs in a folder",
            GuardKind::Home => "configuration of your home, which can name programs to run",
            GuardKind::Sensitive => "a sensitive path",
        }
    }

    /// Whether it also holds in `node_modules`. Packages bring settings of editors and agents, which nobody opens
    /// there; installing and removing them is ordinary work.
    pub fn holds_in_packages(self) -> bool {
        !matches!(
            self,
            GuardKind::Hooks | GuardKind::Obeyed | GuardKind::Prompt
        )
    }
}

/// The lines of the table that count for a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GuardLines(u128);

/// The table, ready to be compared with names.
struct CompiledTable {
    patterns: Vec<NamePattern>,
    index: NameIndex,
    /// Each line as the protection that it is.
    protected: Vec<Protected>,
    git: GuardLines,
}

static COMPILED: LazyLock<CompiledTable> = LazyLock::new(|| {
    const { assert!(TABLE.len() <= 128) };
    let patterns: Vec<NamePattern> = TABLE
        .iter()
        .map(|line| NamePattern::of(line.pattern))
        .collect();
    let protected = TABLE
        .iter()
        .zip(&patterns)
        .map(|(line, pattern)| Protected {
            path: ProjectPath::normalize(&pattern.components.join("/")).unwrap_or_default(),
            level: match line.level {
                GuardLevel::Never => ProtectionLevel::Never,
                GuardLevel::Named | GuardLevel::Sensitive => ProtectionLevel::Named,
            },
            what: line.kind.what().to_owned(),
        });
    CompiledTable {
        protected: protected.collect(),
        index: NameIndex::of(&patterns),
        git: GuardLines::only(|line| line.kind == GuardKind::Git),
        patterns,
    }
});

impl GuardLines {
    /// All lines of which `wanted` is true.
    pub fn only(wanted: impl Fn(&GuardLine) -> bool) -> Self {
        let numbers = (0_u32..).zip(TABLE).filter(|(_, line)| wanted(line));
        Self(numbers.fold(0, |bits, (number, _)| bits | (1 << number)))
    }

    /// Those of these lines of which `wanted` is true.
    #[must_use]
    pub fn retain(self, wanted: impl Fn(&GuardLine) -> bool) -> Self {
        Self(self.0 & Self::only(wanted).0)
    }

    /// Whether a line counts.
    fn has(self, number: usize) -> bool {
        self.0 & (1 << number) != 0
    }

    /// The lines.
    pub fn iter(self) -> impl Iterator<Item = &'static GuardLine> {
        let lines = TABLE.iter().enumerate();
        lines
            .filter(move |(number, _)| self.has(*number))
            .map(|(_, line)| line)
    }

    /// Whether one of them is about what git obeys.
    pub fn has_git(self) -> bool {
        self.0 & COMPILED.git.0 != 0
    }

    /// Calls `found` for every line that `path` is of, or lies in, with how many components make up the guarded part.
    pub(crate) fn each_on_the_way(self, path: &str, mut found: impl FnMut(usize, usize)) {
        if self.0 == 0 {
            return;
        }
        let table = &*COMPILED;
        let path = folded(path);
        let mut in_packages = false;
        for (above, rest) in starts(&path) {
            for number in table.index.of_name(rest) {
                let number = usize::from(number);
                if self.has(number)
                    && table.patterns[number].matches_start(rest, above)
                    && (!in_packages || TABLE[number].kind.holds_in_packages())
                {
                    found(number, above + table.patterns[number].components.len());
                }
            }
            in_packages |= is_packages(rest);
        }
    }

    /// The strongest protection from changes that `path` is or lies in, and of several the deepest, with the number
    /// of components that have it.
    pub(crate) fn on_the_way(self, path: &str) -> Option<(&'static Protected, usize)> {
        let mut strongest: Option<(&'static Protected, usize)> = None;
        self.each_on_the_way(path, |number, depth| {
            let (line, guard) = (&TABLE[number], &COMPILED.protected[number]);
            if line.level != GuardLevel::Sensitive
                && !line.only_itself
                && strongest.is_none_or(|(other, at)| (other.level, at) < (guard.level, depth))
            {
                strongest = Some((guard, depth));
            }
        });
        strongest
    }

    /// The protection of exactly this path, if it is one that does not hold below it.
    pub(crate) fn itself(self, path: &str) -> Option<&'static Protected> {
        let mut itself = None;
        let count = starts(path).count();
        self.each_on_the_way(path, |number, depth| {
            if TABLE[number].only_itself && depth == count {
                itself = Some(&COMPILED.protected[number]);
            }
        });
        itself
    }

    /// What would be protected below `path` because of how that is called: moving `.git` moves `.git/config`.
    pub(crate) fn below(self, path: &str) -> Option<&'static Protected> {
        let path = folded(path);
        let names = components(&path);
        let in_packages = names.iter().any(|name| is_packages(name));
        let mut lines = TABLE.iter().zip(&COMPILED.patterns).enumerate();
        let found = lines.find(|(number, (line, pattern))| {
            self.has(*number)
                && line.level != GuardLevel::Sensitive
                && !line.only_itself
                && (!in_packages || line.kind.holds_in_packages())
                && pattern.below(&names).next().is_some()
        });
        found.map(|(number, _)| &COMPILED.protected[number])
    }

    /// The sensitive lines as patterns, with the text of each.
    pub(crate) fn sensitive(self) -> impl Iterator<Item = (&'static str, &'static NamePattern)> {
        let lines = TABLE.iter().zip(&COMPILED.patterns).enumerate();
        let lines = lines.filter(move |(number, (line, _))| {
            self.has(*number) && line.level == GuardLevel::Sensitive
        });
        lines.map(|(_, (line, pattern))| (line.pattern, pattern))
    }

    /// The deepest sensitive line that `path` is of or lies in.
    pub(crate) fn deepest_sensitive(self, path: &str) -> Option<(&'static str, usize)> {
        let mut deepest: Option<(&'static str, usize)> = None;
        self.each_on_the_way(path, |number, depth| {
            let line = &TABLE[number];
            if line.level == GuardLevel::Sensitive && deepest.is_none_or(|(_, at)| at < depth) {
                deepest = Some((line.pattern, depth));
            }
        });
        deepest
    }

    /// Whether a line is about exactly this path, rather than about something that it lies in.
    pub fn names(self, path: &str) -> bool {
        let count = components(path).len();
        let mut names = false;
        self.each_on_the_way(path, |_, depth| names |= depth == count);
        names
    }
}

/// Whether a path begins with a folder of packages.
fn is_packages(rest: &str) -> bool {
    let name = rest.split('/').next().unwrap_or_default();
    name.len() == PACKAGES.len() && name.eq_ignore_ascii_case(PACKAGES)
}

/// What stands above the rules of every tool.
#[derive(Debug, Clone, Default)]
pub struct Guards {
    /// Paths that only a rule which names them covers, for every capability.
    pub sensitive: Sensitive,
    /// Paths whose change would let a tool widen its own access: those of the table at the root, and further ones.
    pub protected: Vec<Protected>,
    /// The lines of the table that hold at any depth.
    pub lines: GuardLines,
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

/// Paths that are protected for the same reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardGroup {
    /// The paths, with a space between them. Those of the table hold at any depth, unless they begin with `/`.
    pub paths: String,
    /// How far the protection goes.
    pub level: ProtectionLevel,
    /// What they are, as a noun phrase.
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
    /// The guards of every workspace: the whole table.
    pub fn of_workspace() -> Self {
        Self::with_lines(GuardLines::only(|_| true))
    }

    /// The guards of these lines.
    pub fn with_lines(lines: GuardLines) -> Self {
        let mut guards = Self {
            lines: lines.retain(|line| line.level != GuardLevel::Sensitive),
            sensitive: Sensitive::with_lines(lines),
            protected: Vec::new(),
            planters: Planters::default(),
            own: Vec::new(),
        };
        for (number, line) in TABLE.iter().enumerate() {
            if guards.lines.has(number)
                && !line.only_itself
                && let Some(path) = COMPILED.patterns[number].path()
            {
                let guard = &COMPILED.protected[number];
                guards.protect(path.as_str(), guard.level, &guard.what);
            }
        }
        guards
    }

    /// The same guards without those on git: for a tool that is meant to configure the repository.
    /// The hooks stay what they are, sensitive.
    #[must_use]
    pub fn without_git(mut self) -> Self {
        self.protected.retain(|guard| guard.what != GIT);
        self.lines = self.lines.retain(|line| line.kind != GuardKind::Git);
        self
    }

    /// The strongest protection that a path has or lies in, with the number of components that have it.
    pub fn protection(&self, path: &ProjectPath) -> Option<(&Protected, usize)> {
        let own = self.protected.iter();
        let own = own.filter(|guard| path.starts_with(&guard.path));
        let table = self.lines.on_the_way(path.as_str());
        own.map(|guard| (guard, guard.path.depth()))
            .chain(table)
            .max_by_key(|(guard, depth)| (guard.level, *depth))
    }

    /// What is protected, for people: the lines of the table by what they are about, then what this workspace adds.
    pub fn groups(&self) -> Vec<GuardGroup> {
        let mut groups: Vec<GuardGroup> = Vec::new();
        for (number, line) in TABLE.iter().enumerate() {
            if !self.lines.has(number) {
                continue;
            }
            let guard = &COMPILED.protected[number];
            match groups.last_mut() {
                Some(last) if last.what == guard.what && last.level == guard.level => {
                    last.paths.push(' ');
                    last.paths.push_str(line.pattern);
                }
                _ => groups.push(GuardGroup {
                    paths: line.pattern.to_owned(),
                    level: guard.level,
                    what: guard.what.clone(),
                }),
            }
        }
        let is_of_table = |guard: &&Protected| {
            let mut lines = COMPILED.protected.iter().enumerate();
            lines.any(|(number, line)| self.lines.has(number) && line == *guard)
        };
        let added = self.protected.iter().filter(|guard| !is_of_table(guard));
        groups.extend(added.map(|guard| GuardGroup {
            paths: guard.path.to_string(),
            level: guard.level,
            what: guard.what.clone(),
        }));
        groups
    }

    /// The protection of `.git` itself in this tree, if it needs one.
    pub(crate) fn git_link(&self, tree: &impl Lookup) -> Option<Protected> {
        let path = ProjectPath::normalize(".git").ok()?;
        let free = match tree.entry(&path) {
            // What a link leads to is protected part by part, as in a directory.
            Ok(LookupEntry::Directory | LookupEntry::Link(_)) => true,
            Ok(LookupEntry::File | LookupEntry::Missing) | Err(_) => false,
        };
        (self.lines.has_git() && !free).then(|| Protected {
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

/// What git obeys, in words.
const GIT: &str = "the configuration of git, which can name programs to run";

/// What agents and editors obey, in words.
const AGENT: &str = "the configuration of an agent or editor, which can name programs to run";

#[cfg(test)]
mod tests;
