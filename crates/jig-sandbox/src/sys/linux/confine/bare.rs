//! The steps without namespaces: Landlock alone, on the paths of the host.
//!
//! Landlock adds up what rules grant along a path. A rule that withholds something inside what another one
//! grants therefore cannot be held. Nothing can be private either: a private directory is left out, not
//! replaced by what the host has there.

use std::path::{Path, PathBuf};

use super::host::{self, Found, Lookup};
use super::landlock;
use super::outline::{Outline, Place, c_string};
use super::refused::{Gaps, Refused};
use crate::profile::{Enforce, PathRule, Profile, Rights, RuleSource};
use crate::sys::linux::order::{Act, Step};

/// The steps of a call.
pub(super) fn steps(
    host: &mut dyn Lookup,
    profile: &Profile,
    outline: &Outline<'_>,
    abi: u32,
    gaps: &mut Gaps,
) -> Result<Vec<Step>, Refused> {
    if abi == 0 {
        return Ok(Vec::new());
    }
    let mut steps = harmless(host, abi);
    let mut above = vec![(PathBuf::from("/"), Rights::NONE)];
    for (path, place) in outline.iter() {
        while above.len() > 1
            && above
                .last()
                .is_some_and(|(outer, _)| !path.starts_with(outer))
        {
            above.pop();
        }
        let granted = above.last().map_or(Rights::NONE, |(_, granted)| *granted);
        match place {
            Place::Rule(rule) => {
                let found = host::find(host, path);
                hold(rule, &found, granted, gaps)?;
                if let Some(step) = allow(rule, &found, abi) {
                    gaps.coarser(rule, &found);
                    steps.push(step);
                    above.push((
                        path.to_owned(),
                        granted.with(landlock::effective(rule.rights, &found)),
                    ));
                }
            }
            Place::Private(_) => gaps.note(format!(
                "the tool has no directory of its own at `{}`, and none of the host's",
                path.display()
            )),
            Place::Pin => {}
        }
    }
    if let Some(door) = &profile.door {
        if profile.enforce == Enforce::Required {
            return Err(Refused::NoDoor { path: door.clone() });
        }
        gaps.note(format!("there is no socket at `{}`", door.display()));
    }
    Ok(steps)
}

/// Checks that what a rule withholds is granted by none above it.
fn hold(rule: &PathRule, found: &Found, granted: Rights, gaps: &mut Gaps) -> Result<(), Refused> {
    let open = granted.without(landlock::effective(rule.rights, found));
    if open == Rights::NONE || rule.source == RuleSource::System && *found == Found::Missing {
        return Ok(());
    }
    if *found == Found::Missing {
        if granted.has(Rights::CREATE) {
            gaps.missing(&rule.path);
        }
        return Ok(());
    }
    gaps.cannot_hold(
        rule,
        open,
        "a rule above it allows that, and without namespaces nothing below can be withheld",
        "`jig doctor` says how to get namespaces, and with `sandbox.enforce = \"best-effort\"` the tool runs \
         without this rule",
    )
}

fn allow(rule: &PathRule, found: &Found, abi: u32) -> Option<Step> {
    if !matches!(found, Found::Directory | Found::File) {
        return None;
    }
    let rights = landlock::access(rule.rights, found, abi);
    (rights != 0).then(|| Step {
        act: Act::Allow {
            target: c_string(&rule.path),
            rights,
        },
        optional: rule.source == RuleSource::System,
    })
}

/// Devices that hold nothing of anybody, and facts about the machine. What the host has in `/proc` about
/// processes is left out, that of the tool included: its number is not known before it runs, and those of
/// its children never.
fn harmless(host: &mut dyn Lookup, abi: u32) -> Vec<Step> {
    let device = DEVICES.map(|path| (path, landlock::device(&Found::File, abi)));
    let mut paths = device.to_vec();
    for path in FACTS {
        let found = host::find(host, Path::new(path));
        paths.push((path, landlock::access(Rights::READ, &found, abi)));
    }
    paths
        .into_iter()
        .filter(|(path, _)| {
            let found = host::find(host, Path::new(path));
            matches!(found, Found::Directory | Found::File)
        })
        .map(|(path, rights)| Step {
            act: Act::Allow {
                target: c_string(Path::new(path)),
                rights,
            },
            optional: true,
        })
        .collect()
}

const DEVICES: [&str; 5] = [
    "/dev/full",
    "/dev/null",
    "/dev/random",
    "/dev/urandom",
    "/dev/zero",
];

const FACTS: [&str; 17] = [
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/fs/nr_open",
    "/proc/sys/fs/pipe-max-size",
    "/proc/sys/kernel/cap_last_cap",
    "/proc/sys/kernel/ngroups_max",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/ostype",
    "/proc/sys/kernel/pid_max",
    "/proc/sys/kernel/threads-max",
    "/proc/sys/vm/overcommit_memory",
    "/proc/uptime",
    "/proc/version",
    "/sys/devices/system/cpu",
];
