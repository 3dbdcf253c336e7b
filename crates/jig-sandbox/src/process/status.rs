//! [`Status`]: what is enforced on a child, as plain data.

use std::fmt;

use serde::Serialize;

use crate::assessment::Tier;

#[cfg(test)]
mod tests;

/// What is enforced on a child, one field for each kind of thing it could reach.
///
/// It is computed from what the kernel accepted when the child was started, not from what was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// How it is confined as a whole.
    pub tier: Tier,
    /// That no process of the tree outlives the child or the host.
    pub tree: Enforcement,
    /// That the tree can neither see nor reach processes outside of it.
    pub processes: Enforcement,
    /// That files are reached only as rules allow.
    pub files: Enforcement,
    /// That the network is reached only as rules allow.
    pub network: Enforcement,
    /// That shared memory, semaphores, queues and sockets of others are out of reach.
    pub ipc: Enforcement,
    /// That it has no privilege, cannot gain one, and can make only ordinary system calls.
    pub privileges: Enforcement,
    /// That the limits hold for the tree as a whole.
    pub limits: Enforcement,
    /// Rules on files that are not held, each in one sentence without a period; they are among the gaps of `files`, too.
    /// A profile that requires all of them to be held does not start instead.
    pub unheld: Vec<String>,
    /// That the names which [`Profile::guarded_names`](crate::Profile::guarded_names) lists do not come into being, not
    /// even for a moment; `None` if it lists none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guarded_names: Option<Enforcement>,
}

impl Status {
    /// The parts with their names, in a fixed order.
    pub fn parts(&self) -> [(&'static str, &Enforcement); 7] {
        [
            ("tree", &self.tree),
            ("processes", &self.processes),
            ("files", &self.files),
            ("network", &self.network),
            ("ipc", &self.ipc),
            ("privileges", &self.privileges),
            ("limits", &self.limits),
        ]
    }

    /// Whether everything is fully enforced.
    pub fn is_complete(&self) -> bool {
        self.parts()
            .into_iter()
            .all(|(_, part)| *part == Enforcement::Enforced)
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

impl Enforcement {
    /// Enforced, but for these gaps, if there are any.
    #[cfg_attr(
        not(any(target_os = "linux", target_os = "macos")),
        expect(dead_code, reason = "nothing is started there")
    )]
    pub(crate) fn but_for(gaps: Vec<String>) -> Self {
        if gaps.is_empty() {
            Enforcement::Enforced
        } else {
            Enforcement::PartlyEnforced { gaps }
        }
    }
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
