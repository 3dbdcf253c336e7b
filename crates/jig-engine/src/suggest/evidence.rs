//! [`Evidence`]: who did something, and how often.

use std::collections::BTreeSet;

use jig_policy::{Capability, FileCapabilities};
use jig_sandbox::ObservedAccess;

/// Who did something, and how often.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The programs, by their names.
    pub programs: BTreeSet<String>,
    /// How often, all together. It differs a little from run to run.
    pub count: u64,
}

impl Evidence {
    pub(super) fn of(seen: &ObservedAccess) -> Self {
        Self {
            programs: seen.programs.iter().cloned().collect(),
            count: seen.count,
        }
    }

    pub(super) fn add(&mut self, other: &Evidence) {
        self.programs.extend(other.programs.iter().cloned());
        self.count = self.count.saturating_add(other.count);
    }

    /// `by cargo, rustc (repeatedly)`
    pub fn told(&self) -> String {
        format!("by {} ({})", self.names(), how_often(self.count))
    }

    fn names(&self) -> String {
        let mut names: Vec<&str> = self.programs.iter().map(String::as_str).collect();
        let more = names.len().saturating_sub(MOST_NAMES);
        names.truncate(MOST_NAMES);
        match (names.is_empty(), more) {
            (true, _) => "the command".to_owned(),
            (_, 0) => names.join(", "),
            (_, more) => format!("{} and {more} more", names.join(", ")),
        }
    }
}

/// What was done by whom, a line for those that were done by the same.
pub(super) fn lines(evidence: &[(Capability, Evidence)]) -> Vec<String> {
    let mut told: Vec<(String, FileCapabilities)> = Vec::new();
    for (one, evidence) in evidence {
        let by = evidence.told();
        match told.iter_mut().find(|(other, _)| *other == by) {
            Some((_, all)) => *all = all.with((*one).into()),
            None => told.push((by, (*one).into())),
        }
    }
    told.iter()
        .map(|(by, all)| {
            let done: Vec<&str> = all.iter().map(done).collect();
            format!("{} {by}", done.join(", "))
        })
        .collect()
}

fn done(one: Capability) -> &'static str {
    match one {
        Capability::Read => "read",
        Capability::Create => "created",
        Capability::Update => "changed",
        Capability::Delete => "removed",
        Capability::Execute => "run",
    }
}

/// How often something was done, in words that do not change from run to run, as numbers do.
fn how_often(count: u64) -> &'static str {
    match count {
        0 | 1 => "once",
        _ => "repeatedly",
    }
}

/// How many programs are named.
const MOST_NAMES: usize = 6;
