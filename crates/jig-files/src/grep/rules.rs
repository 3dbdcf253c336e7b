//! Which names ignore files leave out, as ripgrep understands them.
//!
//! Git's files count whether or not there is a repository (`rg --no-require-git`), because its top
//! may lie above the workspace, where nothing is read.

use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, Glob};

/// The ignore files of one directory and of those above it.
#[derive(Debug)]
pub(super) struct IgnoreRules {
    above: Option<Arc<IgnoreRules>>,
    /// How much of a path below this directory is the directory itself, with its slash.
    prefix: usize,
    /// By precedence: `.rgignore`, `.ignore`, `.gitignore`, `.git/info/exclude`.
    sets: [Option<Gitignore>; 4],
}

/// What the rules say about a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IgnoreVerdict {
    Nothing,
    LeaveOut,
    /// Named as an exception, which also brings back a hidden file.
    Keep,
}

impl IgnoreRules {
    pub(super) fn top() -> Arc<Self> {
        Arc::new(Self {
            above: None,
            prefix: 0,
            sets: [None, None, None, None],
        })
    }

    /// Adds the ignore files of a directory. `names` says which of [`FILES`] and `.git` are there,
    /// so that nothing is opened on speculation; `read` gets a file's content by its path in the
    /// directory.
    pub(super) fn below(
        self: &Arc<Self>,
        directory: &str,
        present: IgnoreFilePresence,
        read: impl Fn(&str) -> Option<Vec<u8>>,
    ) -> Arc<Self> {
        if present == IgnoreFilePresence::default() {
            return Arc::clone(self);
        }
        let load = |there: bool, name: &str| there.then(|| parse(&read(name)?)).flatten();
        let sets = [
            load(present.files[0], FILES[0]),
            load(present.files[1], FILES[1]),
            load(present.files[2], FILES[2]),
            load(present.git, EXCLUDE),
        ];
        if sets.iter().all(Option::is_none) {
            return Arc::clone(self);
        }
        Arc::new(Self {
            above: Some(Arc::clone(self)),
            prefix: match directory.len() {
                0 => 0,
                length => length + 1,
            },
            sets,
        })
    }

    /// What is said about a path, which is relative to the workspace.
    pub(super) fn say(&self, path: &str, is_directory: bool) -> IgnoreVerdict {
        let mut said = [IgnoreVerdict::Nothing; 4];
        let mut here = Some(self);
        while let Some(rules) = here {
            let own = path.get(rules.prefix..).unwrap_or(path);
            for (kind, set) in rules.sets.iter().enumerate() {
                // The nearest directory decides, for each kind of file by itself.
                if let (Some(set), IgnoreVerdict::Nothing) = (set, said[kind]) {
                    said[kind] = heard(set.matched(own, is_directory));
                }
            }
            here = rules.above.as_deref();
        }
        let first = said
            .into_iter()
            .find(|said| *said != IgnoreVerdict::Nothing);
        first.unwrap_or(IgnoreVerdict::Nothing)
    }
}

/// Which files that matter here a directory holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct IgnoreFilePresence {
    files: [bool; 3],
    git: bool,
}

impl IgnoreFilePresence {
    pub(super) fn note(&mut self, name: &str) {
        if name == ".git" {
            self.git = true;
        } else if let Some(index) = FILES.iter().position(|file| *file == name) {
            self.files[index] = true;
        }
    }
}

fn heard(found: Match<&Glob>) -> IgnoreVerdict {
    match found {
        Match::None => IgnoreVerdict::Nothing,
        Match::Ignore(_) => IgnoreVerdict::LeaveOut,
        Match::Whitelist(_) => IgnoreVerdict::Keep,
    }
}

/// A line that is no pattern is passed over, as git and ripgrep do.
fn parse(content: &[u8]) -> Option<Gitignore> {
    let text = String::from_utf8_lossy(content);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    // `.` makes the matcher take paths as they are.
    let mut builder = GitignoreBuilder::new(".");
    for line in text.lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|set| !set.is_empty())
}

const FILES: [&str; 3] = [".rgignore", ".ignore", ".gitignore"];

const EXCLUDE: &str = ".git/info/exclude";
