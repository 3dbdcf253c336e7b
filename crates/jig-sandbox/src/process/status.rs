//! [`Status`]: what is enforced on a child, as plain data.

use std::fmt;

use serde::Serialize;

#[cfg(test)]
mod tests;

/// What is enforced on a child, one field for each kind of thing it could reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// That no process of the tree outlives the child or the host.
    pub tree: Enforcement,
    /// That the tree can neither see nor reach processes outside of it.
    pub processes: Enforcement,
    /// That files are reached only as rules allow.
    pub files: Enforcement,
    /// That the network is reached only as rules allow.
    pub network: Enforcement,
}

impl Status {
    /// Whether everything is fully enforced.
    pub fn is_complete(&self) -> bool {
        [&self.tree, &self.processes, &self.files, &self.network]
            .into_iter()
            .all(|part| *part == Enforcement::Enforced)
    }
}

/// How far something is enforced. Not `non_exhaustive`: a caller that fails closed must know all cases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Enforcement {
    /// By the kernel, without known gaps.
    Enforced,
    /// With gaps.
    PartlyEnforced {
        /// What is not covered, each in one sentence without a period.
        gaps: Vec<String>,
    },
    /// Not at all.
    NotEnforced {
        /// Why, in one sentence without a period.
        reason: String,
    },
}

/// `enforced`, `partly enforced: …`, `not enforced: …`.
impl fmt::Display for Enforcement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Enforcement::Enforced => f.write_str("enforced"),
            Enforcement::PartlyEnforced { gaps } => {
                write!(f, "partly enforced: {}", gaps.join("; "))
            }
            Enforcement::NotEnforced { reason } => write!(f, "not enforced: {reason}"),
        }
    }
}
