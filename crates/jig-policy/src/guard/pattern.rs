//! [`GuardPattern`]: a guard as a pattern of names, for whoever compares names where no policy can be asked.

use jig_proto::ProjectPath;

use super::names::{NamePattern, components, folded, starts};
use super::{COMPILED, GuardKind, GuardLines, TABLE};
use crate::policy::Policy;

/// The name of the folders of packages, in which guards on what editors and agents obey do not hold.
pub const PACKAGES: &str = "node_modules";

/// A guard as a pattern of names. What is named by a rule is not left out of it.
#[derive(Debug, Clone, Copy)]
pub struct GuardPattern<'a> {
    names: &'a NamePattern,
    /// Whether it is about the path alone, and not about what lies below it.
    pub only_itself: bool,
    /// Whether it also holds in folders of [`PACKAGES`].
    pub holds_in_packages: bool,
}

impl<'a> GuardPattern<'a> {
    /// The names, folded; `*` stands for any run of characters in one.
    pub fn names(&self) -> &'a [String] {
        &self.names.components
    }

    /// Whether it holds only at the top of the workspace, and not in every folder.
    pub fn is_at_top(&self) -> bool {
        self.names.anchored
    }

    /// Whether a path is one of it, or lies in one.
    pub fn covers(&self, path: &ProjectPath) -> bool {
        let path = folded(path.as_str());
        starts(&path).any(|(above, rest)| self.names.matches_start(rest, above))
    }

    /// What of it would lie below a folder because of how that is called, as names, once for each way to see it.
    pub fn below(&self, folder: &ProjectPath) -> Vec<&'a [String]> {
        let folder = folded(folder.as_str());
        self.names.below(&components(&folder)).collect()
    }
}

impl Policy {
    /// What is guarded by name in this workspace, be it sensitive or protected.
    pub fn guard_patterns(&self) -> impl Iterator<Item = GuardPattern<'_>> {
        let lines: GuardLines = self.guard_lines();
        let table = TABLE.iter().zip(&COMPILED.patterns).enumerate();
        let protected = table.filter(move |(number, _)| lines.has(*number));
        let protected = protected.map(|(_, (line, names))| GuardPattern {
            names,
            only_itself: line.only_itself,
            holds_in_packages: line.kind.holds_in_packages(),
        });
        let sensitive = self.sensitive().all().map(|(_, names)| GuardPattern {
            names,
            only_itself: false,
            holds_in_packages: GuardKind::Sensitive.holds_in_packages(),
        });
        protected.chain(sensitive)
    }
}
