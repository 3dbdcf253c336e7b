//! Searching the content of files, with ripgrep's matcher and searcher.
//!
//! [`search`] walks any [`SearchTree`] on several threads. It follows no link on the way, reads ignore
//! files of the workspace only (none above the root and none of the user), and gives the same
//! results in the same order however the threads run.

mod collect;
mod rules;
mod walk;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use jig_proto::ProjectPath;

use crate::FilesError;

pub(crate) use collect::GrepHits;
pub(crate) use walk::{NameKind, SearchStart, SearchTree, search};

/// What to search for, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepQuery {
    /// A regular expression in the syntax of Rust's `regex` crate; it is matched within lines.
    pub pattern: String,
    /// Take the pattern as plain text. Default: no.
    pub literal: bool,
    /// How case matters. Default: it does.
    pub case: Case,
    /// Files and directories to search; none means the whole workspace. A file that is named here
    /// is searched even if it is hidden or ignored.
    pub paths: Vec<ProjectPath>,
    /// Only files with one of these extensions (`rs` or `.rs`); none means all.
    pub extensions: Vec<String>,
    /// How many lines to show before and after each match. Default: 0.
    pub context: usize,
    /// Also search names that begin with a dot. Default: no.
    pub hidden: bool,
    /// Leave out what `.gitignore`, `.ignore`, `.rgignore` and `.git/info/exclude` say. Default: yes.
    pub ignore_files: bool,
    /// How many matching lines to give at most. Default: 10,000.
    pub max_matches: u64,
    /// How many bytes of lines to give at most. Default: 4 MiB.
    pub max_bytes: u64,
}

impl GrepQuery {
    /// A search of the whole workspace for a regular expression.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self {
            pattern: pattern.into(),
            literal: false,
            case: Case::Sensitive,
            paths: Vec::new(),
            extensions: Vec::new(),
            context: 0,
            hidden: false,
            ignore_files: true,
            max_matches: 10_000,
            max_bytes: 4 * 1024 * 1024,
        }
    }

    fn matcher(&self) -> Result<RegexMatcher, FilesError> {
        RegexMatcherBuilder::new()
            .fixed_strings(self.literal)
            .case_insensitive(self.case == Case::Insensitive)
            .case_smart(self.case == Case::Smart)
            .line_terminator(Some(b'\n'))
            .build(&self.pattern)
            .map_err(|error| FilesError::Pattern {
                message: error.to_string(),
            })
    }

    fn wants_extension(&self, name: &str) -> bool {
        if self.extensions.is_empty() {
            return true;
        }
        let Some((stem, found)) = name.rsplit_once('.') else {
            return false;
        };
        let wanted = |wanted: &String| wanted.strip_prefix('.').unwrap_or(wanted) == found;
        !stem.is_empty() && self.extensions.iter().any(wanted)
    }
}

/// How the case of letters matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Case {
    /// `a` is not `A`.
    #[default]
    Sensitive,
    /// `a` is `A`.
    Insensitive,
    /// Sensitive if the pattern holds a capital letter.
    Smart,
}

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matches {
    /// The files with matches, sorted by path.
    pub files: Vec<GrepFileMatches>,
    /// How many files and directories were not touched because the filter said no.
    pub skipped: u64,
    /// How many files and directories were left out because they are hidden or an ignore file names them.
    pub ignored: u64,
    /// How many files and directories the operating system did not let us read, or have a line that
    /// is too long to search.
    pub unreadable: u64,
    /// Whether there are more matches than the limits let through. Those given are the first ones.
    pub truncated: bool,
}

/// The matches in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepFileMatches {
    /// The file, relative to the workspace.
    pub path: ProjectPath,
    /// The matching lines and those around them, in order.
    pub lines: Vec<GrepLine>,
}

/// One line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepLine {
    /// Counted from 1.
    pub line_number: u64,
    /// The line without its end; what is not UTF-8 is replaced.
    pub content: String,
    /// Whether it matches, or is only near one that does.
    pub is_match: bool,
    /// Whether the line goes on: only its beginning is given.
    pub cut: bool,
}
