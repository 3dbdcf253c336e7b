//! [`assess`]: from facts to what is enforced, what is not, and how to change that.
//!
//! A pure function of [`Machine`]: it reads no file and makes no call, so that any machine can be
//! judged from its facts alone.

mod cause;
mod confinement;
mod resources;

use std::fmt;

use serde::Serialize;

use crate::machine::{Machine, Namespaces, ProbeResult};

#[cfg(test)]
mod tests;

/// Judges a machine.
pub fn assess(machine: &Machine) -> Assessment {
    let (tier, reason) = tier(machine);
    let findings = if machine.os == "linux" {
        [
            Some(confinement::landlock(machine, tier)),
            Some(confinement::seccomp(machine)),
            Some(confinement::notify(machine)),
            Some(confinement::namespaces(machine)),
            confinement::proc(machine),
            Some(confinement::guarded_names(machine, tier)),
            Some(resources::cgroup(machine)),
            Some(resources::privileges(machine)),
            Some(resources::wasm_compiler(machine)),
            Some(resources::wasm_memory(machine)),
        ]
        .into_iter()
        .flatten()
        .collect()
    } else {
        vec![
            confinement::foreign_system(machine),
            resources::wasm_compiler(machine),
        ]
    };
    Assessment {
        tier,
        reason,
        findings,
    }
}

/// The judgement on a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Assessment {
    /// How strongly tools can be confined.
    pub tier: Tier,
    /// Why it is this tier, in one sentence.
    pub reason: String,
    /// The parts, in a fixed order; those that do not exist on this system are left out.
    pub findings: Vec<Finding>,
}

impl Assessment {
    /// Whether a supervisor can refuse names before they come into being.
    pub fn refuses_guarded_names(&self) -> bool {
        let mut findings = self.findings.iter();
        findings.any(|one| one.name == confinement::GUARDED_NAMES && one.level == Level::Ok)
    }
}

/// How strongly tools can be confined. Not `non_exhaustive`: a caller must know what each means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Namespaces, mount masks, Landlock and seccomp: every rule can be enforced.
    A,
    /// Landlock and seccomp: no rule that denies something inside what another allows, no network
    /// limited to some hosts for programs that run unmediated. Or the sandbox of macOS, which has such
    /// rules and tells other things apart less well.
    B,
    /// Neither, or not enough to hold: only Wasm and in-process tools are confined.
    None,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Tier::A => "A",
            Tier::B => "B",
            Tier::None => "none",
        })
    }
}

/// One part of what a machine can enforce. Made by [`assess`] only.
///
/// `gap` and `remedy` are present together, namely when the level is not [`Level::Ok`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// A stable name, such as `landlock`.
    pub name: &'static str,
    /// How much of it is there.
    pub level: Level,
    /// What was found, in one sentence.
    pub what: String,
    /// What is not enforced, or not done, because of it.
    pub gap: Option<String>,
    /// What a person can do about it: a command, a setting or a version.
    pub remedy: Option<String>,
}

impl Finding {
    fn ok(name: &'static str, what: impl Into<String>) -> Self {
        Self {
            name,
            level: Level::Ok,
            what: what.into(),
            gap: None,
            remedy: None,
        }
    }

    fn partial(
        name: &'static str,
        what: impl Into<String>,
        gap: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            name,
            level: Level::Partial,
            what: what.into(),
            gap: Some(gap.into()),
            remedy: Some(remedy.into()),
        }
    }

    fn missing(
        name: &'static str,
        what: impl Into<String>,
        gap: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            level: Level::Missing,
            ..Self::partial(name, what, gap, remedy)
        }
    }
}

/// How much of something is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Level {
    /// All that jig uses.
    Ok,
    /// Some of it, or with a weakness.
    Partial,
    /// Nothing of it.
    Missing,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Ok => "ok",
            Level::Partial => "partial",
            Level::Missing => "missing",
        })
    }
}

fn tier(machine: &Machine) -> (Tier, String) {
    if machine.os == "macos" {
        return (
            Tier::B,
            "the sandbox of macOS decides about files and network".to_owned(),
        );
    }
    if machine.os != "linux" {
        return (
            Tier::None,
            format!(
                "jig confines programs on Linux and macOS only, and this is {}",
                machine.os
            ),
        );
    }
    let lacking: Vec<&str> = [
        ("Landlock", machine.landlock.works()),
        ("seccomp", machine.seccomp.filters.works()),
    ]
    .into_iter()
    .filter_map(|(name, works)| (!works).then_some(name))
    .collect();
    if !lacking.is_empty() {
        // Namespaces alone do not hold: a mask can be taken off again from a nested namespace.
        return (
            Tier::None,
            format!("{} cannot be used here", lacking.join(" and ")),
        );
    }
    match first_failure(&machine.namespaces) {
        None => (
            Tier::A,
            "namespaces, mounts, Landlock and seccomp were tried and work".to_owned(),
        ),
        Some((step, trial)) => (
            Tier::B,
            format!("Landlock and seccomp work, but the {step} {trial}"),
        ),
    }
}

/// The first step on the way into namespaces that did not work, if a tool needs it.
///
/// A `/proc` of its own is left out: a tool without one is confined no less.
fn first_failure(namespaces: &Namespaces) -> Option<(&'static str, ProbeResult)> {
    namespaces
        .steps()
        .into_iter()
        .filter(|(name, _)| *name != "proc mount")
        .find(|(_, trial)| !trial.works())
}
