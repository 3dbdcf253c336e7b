//! [`Planters`]: who may leave symbolic links in a workspace that others find there.

use std::fmt;

use jig_proto::ProjectPath;

use crate::rules::DeclaredFsRule;
use crate::{Capability, FileCapabilities};

/// Who may leave links in a workspace, besides the tool whose rules are compiled.
///
/// A rule follows a link on its path only as far as this gives nobody anything: whoever may put a link there
/// has to be allowed at the place that it leads to what the rule grants. They could carry that over without a
/// link just as well.
#[derive(Debug, Clone)]
pub enum Planters {
    /// These, and nobody else.
    These(Vec<Planter>),
    /// Anybody: no rule follows a link. For rules that were canonical when they were made, such as those that a tool
    /// is told: a link on their path has come later.
    Anyone,
}

impl Default for Planters {
    fn default() -> Self {
        Self::These(Vec::new())
    }
}

/// Rules by which somebody may write in the workspace.
#[derive(Debug, Clone)]
pub struct Planter {
    /// Who it is, in words: "the tool `build`".
    pub name: String,
    /// Its rules on files, as declared.
    pub rules: Vec<DeclaredFsRule>,
    /// What it may do everywhere if it declares none.
    pub default: FileCapabilities,
    /// The sensitive paths that were added for it, as patterns.
    pub sensitive: Vec<String>,
    /// Whether it may change what git obeys.
    pub configures_git: bool,
    /// What is protected from all others, and not from it: its own code.
    pub own: Vec<ProjectPath>,
}

impl Planter {
    /// Whether a rule of it lets it change anything. Who changes nothing leaves no links.
    pub fn writes(&self) -> bool {
        let writes = |one: FileCapabilities| !(one & FileCapabilities::WRITE).is_empty();
        match self.rules.is_empty() {
            true => writes(self.default),
            false => self.rules.iter().any(|rule| writes(rule.capabilities)),
        }
    }
}

/// What of a rule does not reach the place to which the links on its path lead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfollowedLink {
    /// What the rule grants and does not grant there.
    pub capabilities: FileCapabilities,
    /// The first link on the way.
    pub link: ProjectPath,
    /// Where the path really leads.
    pub real: ProjectPath,
    /// Why.
    pub why: UnfollowedBecause,
}

/// Why a rule does not follow the links on its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnfollowedBecause {
    /// They lead to what only a rule that names it covers. What it is: the sensitive or protected path.
    Guarded(ProjectPath),
    /// Somebody may put a link there and lacks a right at the place that it leads to.
    Planter {
        /// Who, in words.
        name: String,
        /// What they may not do there.
        lacks: Capability,
    },
}

/// A clause for people: why the rule does not reach the real place.
impl fmt::Display for UnfollowedLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { link, real, .. } = self;
        write!(f, "`{link}` is a link that leads to `{real}`, and ")?;
        match &self.why {
            UnfollowedBecause::Guarded(guarded) => {
                write!(
                    f,
                    "only a rule with `{guarded}` in its own path covers that"
                )
            }
            UnfollowedBecause::Planter { name, lacks } => write!(
                f,
                "{name} may replace the link, but may not {lacks} everything in `{real}`"
            ),
        }
    }
}
