//! Paths that a broad rule does not cover: credentials, secrets and what runs by itself.
//!
//! A rule on `.` says "the project", and nobody who writes it means the keys that happen to lie
//! there. So a sensitive path is covered only by a rule that names it, or something below it. The
//! list can be extended and never reduced.

use jig_proto::ProjectPath;

use crate::guard::names::{NamePattern, components, folded, starts};
use crate::guard::{GuardLevel, GuardLines};

/// The list of sensitive paths: those of the table of guards and what was added to them.
#[derive(Debug, Clone)]
pub struct Sensitive {
    lines: GuardLines,
    added: Vec<AddedPattern>,
    /// Whether all added patterns begin with a dot: then a component that doesn't is passed over at once.
    all_dotted: bool,
}

impl Default for Sensitive {
    fn default() -> Self {
        Self::with_lines(GuardLines::only(|_| true))
    }
}

impl Sensitive {
    /// Those of these lines of the table that are sensitive.
    pub fn with_lines(lines: GuardLines) -> Self {
        Self {
            lines: lines.retain(|line| line.level() == GuardLevel::Sensitive),
            added: Vec::new(),
            all_dotted: true,
        }
    }

    /// Adds a pattern.
    ///
    /// It matches at any depth, or only at the root when it begins with `/` or `./`. `*` stands
    /// for any run of characters within one component; a leading `**/` says "at any
    /// depth" once more, also after `/`. Case plays no part.
    pub fn add(&mut self, pattern: &str) -> Result<(), PatternError> {
        let pattern = AddedPattern::parse(pattern)?;
        let first = pattern.names.components.first();
        self.all_dotted &= first.is_some_and(|name| name.starts_with('.'));
        self.added.push(pattern);
        Ok(())
    }

    /// The patterns as text, those of the table first.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        self.all().map(|(text, _)| text)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &NamePattern)> {
        let added = self.added.iter();
        let added = added.map(|pattern| (pattern.text.as_str(), &pattern.names));
        let table: Vec<(&str, &NamePattern)> = self.lines.sensitive().collect();
        table.into_iter().chain(added)
    }

    /// The sensitive path that `path` is or lies in; of several, one in the other, the deepest.
    pub fn find(&self, path: &ProjectPath) -> Option<SensitiveMatch<'_>> {
        let found = self.lines.deepest_sensitive(path.as_str());
        let mut deepest = found.map(|(pattern, depth)| SensitiveMatch { pattern, depth });
        if self.added.is_empty() {
            return deepest;
        }
        let path = folded(path.as_str());
        for (above, rest) in starts(&path) {
            if !rest.starts_with('.') && self.all_dotted {
                continue;
            }
            for pattern in &self.added {
                let end = above + pattern.names.components.len();
                let deeper = deepest.is_none_or(|found| found.depth < end);
                if deeper && pattern.names.matches_start(rest, above) {
                    deepest = Some(SensitiveMatch {
                        pattern: &pattern.text,
                        depth: end,
                    });
                }
            }
        }
        deepest
    }

    /// The sensitive paths that would lie below `path`: moving `.git` moves `.git/hooks`.
    pub(crate) fn find_below<'a>(
        &'a self,
        path: &ProjectPath,
    ) -> impl Iterator<Item = SensitiveBelow<'a>> + use<'a> {
        let text = folded(path.as_str());
        let names = components(&text);
        let mut found = Vec::new();
        for (text, pattern) in self.all() {
            let below = pattern.below(&names);
            found.extend(below.map(|below| SensitiveBelow::new(text, path, below)));
        }
        found.into_iter()
    }
}

/// Where a path is sensitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SensitiveMatch<'a> {
    /// The pattern of the list that matched.
    pub pattern: &'a str,
    /// How many components of the path make up the sensitive part. A rule must be at least as
    /// deep to name it.
    pub depth: usize,
}

/// A sensitive path below another path.
#[derive(Debug, Clone)]
pub(crate) struct SensitiveBelow<'a> {
    /// The pattern of the list.
    pub(crate) pattern: &'a str,
    /// The path; `None` if the pattern leaves its name open, so that no rule can name it.
    pub(crate) path: Option<ProjectPath>,
}

impl<'a> SensitiveBelow<'a> {
    fn new(pattern: &'a str, above: &ProjectPath, below: &[String]) -> Self {
        let literal = !below.iter().any(|name| name.contains('*'));
        let below = ProjectPath::normalize(&below.join("/")).ok();
        Self {
            pattern,
            path: below.filter(|_| literal).map(|below| above.join(&below)),
        }
    }
}

/// A pattern of a configuration.
#[derive(Debug, Clone)]
struct AddedPattern {
    text: String,
    names: NamePattern,
}

impl AddedPattern {
    fn parse(text: &str) -> Result<Self, PatternError> {
        if text.starts_with('~') {
            return Err(PatternError::Home);
        }
        let at_root = text.starts_with('/') || text.starts_with("./");
        let body = text.trim_start_matches("./").trim_start_matches('/');
        let (anchored, body) = match body.strip_prefix("**/") {
            Some(anywhere) => (false, anywhere),
            None => (at_root, body),
        };
        let path = ProjectPath::normalize(body).map_err(PatternError::Path)?;
        if path.is_root() {
            return Err(PatternError::Everything);
        }
        if let Some(bad) = path.components().find(|name| name.contains("**")) {
            return Err(PatternError::Stars(bad.to_owned()));
        }
        if path.components().all(|name| name == "*") {
            return Err(PatternError::Everything);
        }
        let mut names = NamePattern::of(path.as_str());
        names.anchored = anchored;
        Ok(Self {
            text: text.to_owned(),
            names,
        })
    }
}

/// Why a text is no pattern for a sensitive path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// It names the home directory, which no tool sees.
    #[error("the home directory is hidden from tools as a whole; patterns are for the workspace")]
    Home,
    /// It matches every path.
    #[error("it matches everything; leave the capability out of the rules instead")]
    Everything,
    /// `**` anywhere but in front.
    #[error("`**` in `{0}`: only a leading `**/` is understood, and `*` within one component")]
    Stars(String),
    /// It is no path of the workspace.
    #[error(transparent)]
    Path(jig_proto::PathSyntaxError),
}

#[cfg(test)]
mod tests;
