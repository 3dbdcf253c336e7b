//! [`status`]: what is enforced, from what was asked for and what the kernel accepted.

use super::network;
use crate::assessment::Tier;
use crate::process::{Enforcement, ProcessLimits, Status};
use crate::profile::{Network, Profile, Rights, RuleSource};
use crate::sys::linux::order::{ConfinementOutcome, ConfinementSteps, Ruleset};

/// What is enforced on a tool that was started with `confinement`, on a machine of this tier.
///
/// A step that was passed over takes something away from the tool and opens nothing, so it is no gap.
pub(crate) fn status(
    profile: &Profile,
    limits: &ProcessLimits,
    tier: Tier,
    confinement: &ConfinementSteps,
    accepted: &ConfinementOutcome,
) -> Status {
    let view = StatusContext {
        profile,
        tier,
        confinement,
        landlock: confinement.landlock.as_ref(),
        filtered: !confinement.filter.is_empty(),
    };
    Status {
        tier: view.reached(),
        tree: view.tree(),
        processes: view.processes(),
        files: view.files(),
        network: view.network(),
        ipc: view.ipc(),
        privileges: view.privileges(),
        limits: limits_of(limits, confinement.namespaces, accepted),
        unheld: confinement.unheld.clone(),
        // The listener comes later.
        guarded_names: None,
    }
}

struct StatusContext<'a> {
    profile: &'a Profile,
    tier: Tier,
    confinement: &'a ConfinementSteps,
    landlock: Option<&'a Ruleset>,
    filtered: bool,
}

impl StatusContext<'_> {
    /// The tier that the layers in use make up.
    fn reached(&self) -> Tier {
        match (self.landlock.is_some() && self.filtered, self.isolated()) {
            (true, true) => Tier::A,
            (true, false) => Tier::B,
            (false, _) => Tier::None,
        }
    }

    fn isolated(&self) -> bool {
        self.confinement.namespaces
    }

    fn tree(&self) -> Enforcement {
        if self.isolated() {
            return Enforcement::Enforced;
        }
        let keeps_signals = self.landlock.is_some_and(Ruleset::keeps_signals_inside);
        Enforcement::but_for(vec![
            if keeps_signals {
                "a tool that starts processes faster than they are found can leave some behind"
            } else {
                "a tool that stops or kills its keeper, or that starts processes faster than they are \
                 found, can leave some behind"
            }
            .to_owned(),
        ])
    }

    fn processes(&self) -> Enforcement {
        if self.isolated() {
            return Enforcement::Enforced;
        }
        let mut gaps = Vec::new();
        match self.landlock {
            None if !self.filtered => {
                let left_out = !self.profile.layers.namespaces;
                return self.nothing("a process namespace", left_out);
            }
            Some(landlock) if landlock.keeps_signals_inside() => {}
            _ => gaps.push("signals reach other processes of the user"),
        }
        if !self.filtered {
            gaps.push("limits and priorities of other processes of the user can be changed");
        }
        gaps.push("which processes the machine has can be found out by their numbers");
        sentences(gaps)
    }

    fn files(&self) -> Enforcement {
        let mut gaps = self.confinement.gaps.clone();
        let mut open = |gap: &str| gaps.push(gap.to_owned());
        match (self.landlock, self.isolated()) {
            (None, false) => {
                return self.nothing("Landlock", self.profile.layers.landlock == 0);
            }
            (None, true) => {
                open(
                    "creating, changing and deleting are not told apart, because Landlock is not in use",
                );
            }
            (Some(landlock), true) => {
                let can_empty = !landlock.decides_truncation() && !self.filtered;
                let partly_writable =
                    |rights: Rights| rights.has_any(Rights::WRITE) && !rights.has(Rights::UPDATE);
                if can_empty && self.any_rule(partly_writable) {
                    open("files can be emptied where a rule allows other changes");
                }
            }
            (Some(landlock), false) => {
                open(
                    "modes, owners, times and attributes of all files that the user owns can be changed",
                );
                open("names that are guessed can be looked up anywhere, with size and times");
                if self.any_rule(|rights| rights.has(Rights::READ) && !rights.has(Rights::EXECUTE))
                {
                    open(
                        "a program that may be run can load code from files that may only be read",
                    );
                }
                if !landlock.decides_truncation() && !self.filtered {
                    open("files that may only be read can be emptied");
                }
                if !landlock.decides_device_commands() {
                    open("devices in directories that may be read take commands");
                }
            }
        }
        Enforcement::but_for(gaps)
    }

    fn network(&self) -> Enforcement {
        if network::opened(&self.profile.network).is_some() && !self.confinement.own_network {
            return self.only_ports();
        }
        if self.profile.network == Network::Host || self.confinement.own_network || self.filtered {
            return Enforcement::Enforced;
        }
        match self.landlock {
            Some(landlock) if landlock.decides_tcp() => {
                sentences(vec!["only TCP is refused, because no filter is in use"])
            }
            _ => self.nothing(
                "a network namespace or a filter",
                !self.profile.layers.seccomp,
            ),
        }
    }

    /// A gateway without a namespace to make it in.
    fn only_ports(&self) -> Enforcement {
        match self.landlock {
            Some(landlock) if landlock.decides_tcp() => sentences(vec![
                "every address can be connected to on the ports of its rules, also those of this machine, \
                 because names and addresses are judged only in a network namespace",
                "UDP and the first packet of TCP fast open are not filtered",
            ]),
            _ if self.filtered => sentences(vec![
                "there is no network at all, because this machine can filter neither names nor ports",
            ]),
            _ => self.nothing(
                "a network namespace, or Landlock that knows ports",
                !self.profile.layers.namespaces,
            ),
        }
    }

    fn ipc(&self) -> Enforcement {
        let by_path = self.landlock.is_some_and(Ruleset::decides_sockets_by_path);
        let abstract_ones = self
            .landlock
            .is_some_and(Ruleset::keeps_abstract_sockets_inside);
        let mut gaps = Vec::new();
        if self.isolated() {
            if !by_path && let Some(places) = self.declared_places() {
                gaps.push(format!(
                    "a unix socket on which another process listens in {places} can be connected to"
                ));
            }
            if self.profile.network == Network::Host && !abstract_ones {
                gaps.push("abstract unix sockets of the host can be connected to".to_owned());
            }
        } else if !self.filtered {
            return self.nothing("an IPC namespace or a filter", !self.profile.layers.seccomp);
        }
        Enforcement::but_for(gaps)
    }

    fn privileges(&self) -> Enforcement {
        if self.filtered {
            Enforcement::Enforced
        } else {
            sentences(vec![
                "all system calls can be made, because no filter is in use",
            ])
        }
    }

    fn any_rule(&self, holds: impl Fn(Rights) -> bool) -> bool {
        self.profile.paths.iter().any(|rule| holds(rule.rights))
    }

    /// The places of the host that a person let the tool see.
    fn declared_places(&self) -> Option<String> {
        let places: Vec<String> = self
            .profile
            .paths
            .iter()
            .filter(|rule| rule.source == RuleSource::Declared && rule.rights != Rights::NONE)
            .map(|rule| format!("`{}`", rule.path.display()))
            .collect();
        match places.split_last() {
            None => None,
            Some((only, [])) => Some(only.clone()),
            Some((last, others)) => Some(format!("{} or {last}", others.join(", "))),
        }
    }

    fn nothing(&self, means: &str, left_out: bool) -> Enforcement {
        let why = if left_out && self.tier != Tier::None {
            "the profile leaves it out"
        } else {
            "this machine does not let it be used"
        };
        Enforcement::NotEnforced {
            reason: format!("it needs {means}, and {why}"),
        }
    }
}

/// Limits of each process are the kernel's business everywhere; these are about the tree as a whole.
fn limits_of(
    limits: &ProcessLimits,
    namespaces: bool,
    accepted: &ConfinementOutcome,
) -> Enforcement {
    let mut gaps = Vec::new();
    if limits.tasks.is_some() && !accepted.tasks_limited {
        gaps.push(if namespaces {
            "processes and threads are not limited, because this kernel does not count them by namespace"
        } else {
            "processes and threads are not limited, because that needs a process namespace"
        });
    } else if limits.tasks.is_some() && !accepted.tasks_exact {
        gaps.push(
            "root can have up to 300 processes and threads more than the limit, because this kernel does not let their \
             numbers be chosen",
        );
    }
    if limits.memory.is_some() {
        gaps.push(
            "memory is looked at from time to time, so that a tool can have more for a moment",
        );
    }
    if limits.disk.is_some() || limits.files.is_some() {
        gaps.push(
            "how much fuller the disk becomes is looked at from time to time, whoever fills it",
        );
    }
    sentences(gaps)
}

fn sentences(gaps: Vec<&str>) -> Enforcement {
    Enforcement::but_for(gaps.into_iter().map(str::to_owned).collect())
}
