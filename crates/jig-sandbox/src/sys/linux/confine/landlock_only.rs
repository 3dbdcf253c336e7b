//! The steps without namespaces: Landlock alone, on the paths of the host.
//!
//! Landlock adds up what rules grant along a path, so nothing can be withheld below a directory that is granted.
//! A directory that holds something withheld is therefore *divided*: it gets what is safe for all that is in it,
//! and every name in it that exists gets a rule of its own, down the way to what is withheld. To make, remove or
//! rename something in a divided directory takes a right on the directory, which would count for what is withheld
//! too, so it is not granted. A name that comes into being later has no rule.
//!
//! Nothing can be private either: a private directory is left out, not replaced by what the host has there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::host_path::{self, HostLookup, HostPathState};
use super::landlock;
use super::outline::{Outline, OutlineEntry, c_string};
use super::refusal::{EnforcementGaps, ProfileError};
use crate::profile::{Enforce, PathRule, Profile, Rights, RuleSource};
use crate::sys::linux::order::{OrderStep, StepAction};

/// The steps of a call.
pub(super) fn steps(
    host: &mut dyn HostLookup,
    profile: &Profile,
    outline: &Outline<'_>,
    abi: u32,
    gaps: &mut EnforcementGaps,
) -> Result<Bare, ProfileError> {
    if abi == 0 {
        return Ok(Bare::default());
    }
    let mut granting = LandlockGrants {
        steps: harmless(host, abi),
        divided: BTreeMap::new(),
        twins: Vec::new(),
        names_left: MOST_NAMES,
        host,
        outline,
        abi,
        gaps,
    };
    granting.find_twins();
    for (path, place) in outline.iter() {
        match place {
            OutlineEntry::Rule(rule) => granting.rule(rule)?,
            OutlineEntry::Private(_) => granting.gaps.note(format!(
                "the tool has no directory of its own at `{}`, and none of the host's",
                path.display()
            )),
            OutlineEntry::Pin => {}
        }
    }
    let (steps, divided) = (granting.steps, granting.divided);
    if let Some(door) = &profile.door {
        if profile.enforce == Enforce::Required {
            return Err(ProfileError::NoDoor { path: door.clone() });
        }
        gaps.note(format!("there is no socket at `{}`", door.display()));
    }
    let unchangeable = divided
        .into_iter()
        .filter(|(_, rights)| rights.has_any(ENTRIES));
    Ok(Bare {
        steps,
        unchangeable: unchangeable.map(|(path, _)| path).collect(),
    })
}

/// What a profile comes to without namespaces.
#[derive(Debug, Default)]
pub(super) struct Bare {
    pub(super) steps: Vec<OrderStep>,
    /// Directories in which nothing can be made, removed or renamed, though a rule grants that.
    pub(super) unchangeable: Vec<PathBuf>,
}

struct LandlockGrants<'a> {
    host: &'a mut dyn HostLookup,
    outline: &'a Outline<'a>,
    abi: u32,
    gaps: &'a mut EnforcementGaps,
    steps: Vec<OrderStep>,
    /// Directories that were divided, with what the rule above grants there.
    divided: BTreeMap<PathBuf, Rights>,
    /// Files with a rule that have other names too, and what the rule grants. A rule of Landlock is one for the
    /// file, whichever name it was found by.
    twins: Vec<(host_path::FileIdentity, Rights)>,
    names_left: usize,
}

/// Something inside of a granted directory that has less than the directory.
struct WithheldPath<'a> {
    /// `None` for a private directory.
    rule: Option<&'a PathRule>,
    /// What it may have of the rights of the directory.
    rights: Rights,
    found: HostPathState,
}

/// More names than can be granted one by one.
struct TooManyNames;

impl<'a> LandlockGrants<'a> {
    fn find_twins(&mut self) {
        let outline = self.outline;
        for (path, place) in outline.iter() {
            if let OutlineEntry::Rule(rule) = place
                && host_path::find(self.host, path) == HostPathState::File
                && self.host.has_other_names(path)
                && let Some(identity) = self.host.identity(path)
            {
                self.twins.push((identity, rule.rights));
            }
        }
    }

    fn rule(&mut self, rule: &'a PathRule) -> Result<(), ProfileError> {
        let found = host_path::find(self.host, &rule.path);
        match found {
            HostPathState::Directory | HostPathState::File => self.grant(rule, &found),
            HostPathState::Missing => {
                self.missing(rule);
                Ok(())
            }
            // What is above it is divided, and cannot be listed.
            HostPathState::Hidden => Ok(()),
            HostPathState::Link(_) | HostPathState::BeyondLink => self.leads_elsewhere(rule),
        }
    }

    fn grant(&mut self, rule: &'a PathRule, found: &HostPathState) -> Result<(), ProfileError> {
        let granted = self.granted_above(&rule.path);
        let effective = landlock::effective(rule.rights, found);
        if *found == HostPathState::File
            && granted.without(effective) != Rights::NONE
            && self.host.has_other_names(&rule.path)
        {
            self.gaps.other_names(&rule.path);
        }
        if rule.rights == Rights::NONE {
            return Ok(());
        }
        self.gaps.coarser(rule, found);
        let withheld = self.withheld(&rule.path, effective);
        let is_optional = rule.source == RuleSource::System;
        let access = landlock::access(rule.rights, found, self.abi);
        if withheld.is_empty() {
            self.push(&rule.path, access, is_optional);
            return Ok(());
        }
        let (steps, names_left) = (self.steps.len(), self.names_left);
        let divided = self.divided.clone();
        if self
            .divide(&rule.path, effective, &withheld, is_optional)
            .is_ok()
        {
            return Ok(());
        }
        self.steps.truncate(steps);
        self.names_left = names_left;
        self.divided = divided;
        for one in withheld {
            if let Some(inner) = one.rule {
                self.gaps.cannot_hold(
                    inner,
                    effective.without(one.rights),
                    "a rule above it allows that, and without namespaces each name beside it needs a rule of \
                     its own, of which there are too many",
                    "`jig doctor` says how to get namespaces; or let the tool have only the folders that it \
                     needs; with `sandbox.enforce = \"best-effort\"` it runs without this rule",
                )?;
            }
        }
        self.push(&rule.path, access, is_optional);
        Ok(())
    }

    /// Grants what is in a directory name by name, but for what is withheld.
    fn divide(
        &mut self,
        directory: &Path,
        rights: Rights,
        withheld: &[WithheldPath<'a>],
        is_optional: bool,
    ) -> Result<(), TooManyNames> {
        self.divided.insert(directory.to_owned(), rights);
        let for_all = withheld
            .iter()
            .fold(rights.without(ENTRIES), |all, one| all.and(one.rights));
        let mut access = landlock::access(for_all, &HostPathState::Directory, self.abi);
        if rights.has(Rights::READ) && withheld.iter().all(WithheldPath::lets_names_be_seen) {
            access |= landlock::listing();
        }
        self.push(directory, access, is_optional);
        let names = self.host.names(directory, self.names_left);
        for name in names.ok_or(TooManyNames)? {
            let path = directory.join(name);
            if matches!(
                self.outline.at(&path),
                Some(OutlineEntry::Rule(_) | OutlineEntry::Private(_))
            ) {
                continue;
            }
            let found = self.host.lookup(&path);
            if !matches!(found, HostPathState::Directory | HostPathState::File) {
                continue;
            }
            self.names_left = self.names_left.checked_sub(1).ok_or(TooManyNames)?;
            let below = self.withheld(&path, rights);
            if below.is_empty() {
                let rights = self.of_all_names(&path, &found, rights);
                let access = landlock::access(rights, &found, self.abi);
                self.push(&path, access, true);
            } else {
                self.divide(&path, rights, &below, true)?;
            }
        }
        Ok(())
    }

    /// What a file may have under each of its names that have a rule.
    fn of_all_names(&mut self, path: &Path, found: &HostPathState, rights: Rights) -> Rights {
        if *found != HostPathState::File || self.twins.is_empty() {
            return rights;
        }
        let identity = self.host.identity(path);
        let twins = self.twins.iter();
        let same = twins.filter(|(other, _)| Some(other) == identity.as_ref());
        same.fold(rights, |rights, (_, twin)| rights.and(*twin))
    }

    /// What exists below a path and may not have all of these rights.
    fn withheld(&mut self, path: &Path, rights: Rights) -> Vec<WithheldPath<'a>> {
        let outline = self.outline;
        let mut withheld = Vec::new();
        for (path, place) in outline.below(path) {
            let (rule, granted) = match place {
                OutlineEntry::Rule(rule) => (Some(rule), rule.rights),
                OutlineEntry::Private(_) => (None, Rights::NONE),
                OutlineEntry::Pin => continue,
            };
            let found = host_path::find(self.host, path);
            let is_there = match found {
                HostPathState::Directory | HostPathState::File => true,
                HostPathState::Hidden => rule.is_some_and(|rule| rule.source != RuleSource::System),
                HostPathState::Missing | HostPathState::Link(_) | HostPathState::BeyondLink => {
                    false
                }
            };
            let granted = landlock::effective(granted, &found);
            if is_there && !granted.has(rights) {
                withheld.push(WithheldPath {
                    rule,
                    rights: rights.and(granted),
                    found,
                });
            }
        }
        withheld
    }

    /// Nothing holds a name that does not exist, unless none can be made where it would be.
    fn missing(&mut self, rule: &PathRule) {
        let granted = self.granted_above(&rule.path);
        let is_withheld = !rule.rights.has(granted) && rule.source != RuleSource::System;
        if !is_withheld || !granted.has(Rights::CREATE) {
            return;
        }
        let mut above = rule.path.ancestors().skip(1);
        let directory = above.find(|above| self.host.lookup(above) == HostPathState::Directory);
        let is_divided = |directory: &Path| self.divided.contains_key(directory);
        if !directory.is_some_and(is_divided) {
            self.gaps.missing(&rule.path);
        }
    }

    /// A guard is not told of where its path leads to; there it is guarded too.
    fn leads_elsewhere(&mut self, rule: &PathRule) -> Result<(), ProfileError> {
        let open = self.granted_above(&rule.path).without(rule.rights);
        if open == Rights::NONE || rule.source == RuleSource::System {
            return Ok(());
        }
        if rule.source == RuleSource::Guard {
            self.gaps.note(format!(
                "`{}` is open to {open}, because it is, or lies behind, a symbolic link",
                rule.path.display()
            ));
            return Ok(());
        }
        self.gaps.cannot_hold(
            rule,
            open,
            "it is, or lies behind, a symbolic link",
            "name the path that the link leads to",
        )
    }

    /// What the next rule above a path grants there, of those whose paths exist.
    fn granted_above(&mut self, path: &Path) -> Rights {
        for above in path.ancestors().skip(1) {
            let found = match self.outline.at(above) {
                Some(OutlineEntry::Rule(rule)) => Some((rule, host_path::find(self.host, above))),
                Some(OutlineEntry::Private(_)) => return Rights::NONE,
                Some(OutlineEntry::Pin) | None => None,
            };
            if let Some((rule, found @ (HostPathState::Directory | HostPathState::File))) = found {
                return landlock::effective(rule.rights, &found);
            }
        }
        Rights::NONE
    }

    fn push(&mut self, path: &Path, rights: u64, optional: bool) {
        if rights != 0 {
            let target = c_string(path);
            let act = StepAction::Allow { target, rights };
            self.steps.push(OrderStep { act, optional });
        }
    }
}

impl WithheldPath<'_> {
    /// Whether the names in it may be listed with those of the directories above it, as Landlock does not tell the
    /// one from the other. What a person hid from the tool stays hidden; the names of what is sensitive by
    /// itself, such as git's hooks, are worth less than a workspace that can be listed.
    fn lets_names_be_seen(&self) -> bool {
        self.found == HostPathState::File
            || self.rights.has(Rights::READ)
            || self
                .rule
                .is_some_and(|rule| rule.source != RuleSource::Declared)
    }
}

/// What is done to the names in a directory, rather than to what they stand for.
const ENTRIES: Rights = Rights::CREATE.with(Rights::DELETE);

/// The most names that are granted one by one. Each takes the kernel some microseconds at the start of a tool, which
/// could make any number of them for its next call.
const MOST_NAMES: usize = 10_000;

/// Devices that hold nothing of anybody, and facts about the machine. What the host has in `/proc` about
/// processes is left out, that of the tool included: its number is not known before it runs, and those of
/// its children never.
fn harmless(host: &mut dyn HostLookup, abi: u32) -> Vec<OrderStep> {
    let device = DEVICES.map(|path| (path, landlock::device(&HostPathState::File, abi)));
    let mut paths = device.to_vec();
    for path in FACTS {
        let found = host_path::find(host, Path::new(path));
        paths.push((path, landlock::access(Rights::READ, &found, abi)));
    }
    paths
        .into_iter()
        .filter(|(path, _)| {
            let found = host_path::find(host, Path::new(path));
            matches!(found, HostPathState::Directory | HostPathState::File)
        })
        .map(|(path, rights)| OrderStep {
            act: StepAction::Allow {
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
