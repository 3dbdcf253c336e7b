//! [`plan`]: from a profile to a restricted token and a job object.
//!
//! A job holds the tree together: it ends with its last handle, counts processes, and limits memory of
//! the whole tree by itself, which Linux needs a control group for. A token restricts what a program may
//! reach as a user: it is a copy of the host's without privileges, without membership in administrators
//! and at low integrity, so that it can write to nothing that does not say so. It knows no paths: which
//! files can be read stays what the user may read, and the network stays open.

#![cfg_attr(
    not(test),
    expect(dead_code, reason = "no program is started on Windows yet")
)]

use crate::process::ProcessLimits;
use crate::profile::{Network, Profile, Rights};

#[cfg(test)]
mod tests;

/// What to start a program with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WindowsPlan {
    pub(crate) job: JobObjectLimits,
    pub(crate) token: RestrictedToken,
    /// What of the profile stays open, each in one sentence without a period.
    pub(crate) gaps: Vec<String>,
}

/// The limits of a job object, as `SetInformationJobObject` takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JobObjectLimits {
    /// `JOBOBJECT_BASIC_LIMIT_INFORMATION::LimitFlags`.
    pub(crate) limits: u32,
    /// `ActiveProcessLimit`, where the flags name it.
    pub(crate) processes: u32,
    /// `JobMemoryLimit` in bytes, where the flags name it.
    pub(crate) memory: u64,
    /// `JOBOBJECT_BASIC_UI_RESTRICTIONS::UIRestrictionsClass`.
    pub(crate) interface: u32,
}

/// A restricted token, as `CreateRestrictedToken` makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RestrictedToken {
    pub(crate) flags: u32,
    /// Groups that count only where something is denied to them.
    pub(crate) deny_only: &'static [&'static str],
    /// The integrity level to set.
    pub(crate) integrity: &'static str,
}

/// What to start a program with.
pub(crate) fn plan(profile: &Profile, limits: &ProcessLimits) -> WindowsPlan {
    WindowsPlan {
        job: job(limits),
        token: RestrictedToken {
            flags: DISABLE_MAX_PRIVILEGE | LUA_TOKEN,
            deny_only: &[ADMINISTRATORS, POWER_USERS],
            integrity: LOW_INTEGRITY,
        },
        gaps: gaps(profile, limits),
    }
}

fn job(limits: &ProcessLimits) -> JobObjectLimits {
    let mut job = JobObjectLimits {
        limits: KILL_ON_JOB_CLOSE | DIE_ON_UNHANDLED_EXCEPTION,
        processes: 0,
        memory: 0,
        interface: ALL_INTERFACE_RESTRICTIONS,
    };
    if let Some(tasks) = limits.tasks {
        job.limits |= ACTIVE_PROCESS;
        job.processes = u32::try_from(tasks).unwrap_or(u32::MAX);
    }
    if let Some(memory) = limits.memory {
        job.limits |= JOB_MEMORY;
        job.memory = memory;
    }
    job
}

fn gaps(profile: &Profile, limits: &ProcessLimits) -> Vec<String> {
    let mut gaps = vec![
        "all files can be read that the user may read".to_owned(),
        "programs can be run wherever the user may run them".to_owned(),
    ];
    for rule in &profile.paths {
        if rule.rights.has_any(Rights::WRITE) {
            gaps.push(format!(
                "`{}` cannot be written to before it is marked as of low integrity",
                rule.path.display()
            ));
        }
    }
    for private in &profile.private {
        gaps.push(format!(
            "the tool has no directory of its own at `{}`, and none of the host's",
            private.path.display()
        ));
    }
    if profile.network != Network::Host {
        gaps.push("the network can be used".to_owned());
    }
    if limits.tasks.is_some() {
        gaps.push("threads are not limited, only processes".to_owned());
    }
    if limits.descriptors.is_some() || limits.file_size.is_some() {
        gaps.push("open files and sizes of files are not limited".to_owned());
    }
    if limits.disk.is_some() || limits.files.is_some() {
        gaps.push("how much fuller the disk becomes is not limited".to_owned());
    }
    gaps
}

// Of `winnt.h` and `winbase.h`.
const ACTIVE_PROCESS: u32 = 0x0000_0008;
const JOB_MEMORY: u32 = 0x0000_0200;
const DIE_ON_UNHANDLED_EXCEPTION: u32 = 0x0000_0400;
const KILL_ON_JOB_CLOSE: u32 = 0x0000_2000;

/// No handles of other windows, no clipboard, no settings, no display, no global atoms, no desktops, no
/// log-off.
const ALL_INTERFACE_RESTRICTIONS: u32 = 0x0000_00ff;

const DISABLE_MAX_PRIVILEGE: u32 = 0x1;
const LUA_TOKEN: u32 = 0x4;

const ADMINISTRATORS: &str = "S-1-5-32-544";
const POWER_USERS: &str = "S-1-5-32-547";
const LOW_INTEGRITY: &str = "S-1-16-4096";
