//! [`compile`]: from a [`Profile`] to the steps that a keeper takes; [`status()`]: from what the kernel
//! made of them to a [`Status`](crate::process::Status).
//!
//! Both look at nothing but their arguments and, for the steps, at what lies at the paths of the profile.
//! Nothing is created, mounted or restricted here.
//!
//! With namespaces the mounts decide what exists, what is read-only and what cannot be run, and Landlock
//! seals it; without them Landlock stands alone. Landlock adds up what rules grant along a path, so it can
//! give back below what was withheld above, never the other way round: whatever a rule withholds inside a
//! tree that another one grants is a mount's business. What neither can express is refused, or becomes a
//! gap, as the profile wants it.

mod filter;
mod host_path;
mod landlock;
mod landlock_only;
mod mounts;
mod network;
mod outline;
mod overlay;
mod refusal;
mod replaced;
mod skeleton;
mod status;
mod terminal;

use std::path::Path;

use self::filter::FilterContext;
pub(in crate::sys::linux) use self::filter::{UnwatchedCondition, number_here, watching};
use self::host_path::{Disk, HostLookup};
use self::outline::Outline;
use self::refusal::EnforcementGaps;
pub(crate) use self::refusal::ProfileError;
pub(crate) use self::status::status;
pub(crate) use self::terminal::ToolTerminal;
use super::order::{ConfinementSteps, OrderStep, StepAction};
use crate::assessment::Tier;
use crate::process::ProcessLimits;
use crate::profile::{Enforce, Network, Profile};

#[cfg(test)]
mod tests;

/// The steps that enforce a profile, on a machine of this tier and with this version of Landlock (0 for
/// none). A layer that the profile leaves out is left out, and the status says so.
pub(crate) fn compile(
    profile: &Profile,
    limits: &ProcessLimits,
    terminal: Option<&ToolTerminal>,
    tier: Tier,
    landlock_abi: u32,
) -> Result<ConfinementSteps, ProfileError> {
    let host = &mut Disk::default();
    let before = |_: &mut dyn HostLookup, abi| skeleton::before_on_disk(abi);
    let mut confinement = compile_on(host, before, profile, limits, tier, landlock_abi)?;
    if let Some(terminal) = terminal {
        let abi = landlock_abi.min(profile.layers.landlock.into());
        let namespaces = confinement.namespaces;
        // Not in the base: keepers that were made ahead of time serve tools with and without one.
        let steps = terminal.steps(host, namespaces, abi);
        confinement.steps.extend(steps);
    }
    Ok(confinement)
}

/// The step that lets a tool use a directory of the host as if it were its own.
pub(crate) fn own_directory(path: &Path, executable: bool, landlock_abi: u32) -> OrderStep {
    OrderStep {
        act: StepAction::Allow {
            target: outline::c_string(path),
            rights: landlock::private(executable, landlock_abi),
        },
        optional: true,
    }
}

fn compile_on(
    host: &mut dyn HostLookup,
    before: impl Fn(&mut dyn HostLookup, u32) -> Vec<OrderStep>,
    profile: &Profile,
    limits: &ProcessLimits,
    tier: Tier,
    landlock_abi: u32,
) -> Result<ConfinementSteps, ProfileError> {
    if profile.enforce == Enforce::Required {
        check_means(profile, tier, landlock_abi)?;
    }
    let profile = &*overlay::guarded(profile)?;
    let outline = Outline::of(profile)?;
    let abi = landlock_abi.min(profile.layers.landlock.into());
    let namespaces = tier == Tier::A && profile.layers.namespaces;
    overlay::check_means(profile, namespaces)?;
    let mut gaps = EnforcementGaps::new(profile.enforce);
    let mut unchangeable = Vec::new();
    let (base, steps) = if namespaces {
        let before = before(host, abi);
        let (base, mut steps) = mounts::steps(host, before, profile, &outline, abi, &mut gaps)?;
        steps.extend(replaced::steps(host, profile, &outline, abi, &mut gaps)?);
        steps.extend(network::steps(&profile.network));
        (base, steps)
    } else {
        let bare = landlock_only::steps(host, profile, &outline, abi, &mut gaps)?;
        gaps.unchangeable(&bare.unchangeable);
        unchangeable = bare.unchangeable;
        let mut steps = bare.steps;
        steps.extend(network::bare(profile, abi)?);
        replaced::bare(profile, &mut gaps);
        (Vec::new(), steps)
    };
    let own_network = namespaces && profile.network != Network::Host;
    Ok(ConfinementSteps {
        namespaces,
        own_network,
        base,
        steps,
        landlock: (abi > 0).then(|| landlock::ruleset(abi, own_network, &profile.network)),
        // A machine of no tier may be one whose kernel refuses filters.
        filter: if profile.layers.seccomp && tier != Tier::None {
            filter::of_host(FilterContext {
                namespaces,
                network: network::is_hosts(&profile.network, own_network, abi),
                sockets_by_path: landlock::knows_sockets(abi),
                truncation: landlock::knows_truncation(abi),
            })
        } else {
            Vec::new()
        },
        tasks: limits.tasks.filter(|_| namespaces),
        memory: limits.memory,
        unheld: gaps.unheld().to_vec(),
        gaps: gaps.into_sentences(),
        unchangeable,
    })
}

/// Checks that the machine has what the profile asks for. A layer that it leaves out is not missed.
fn check_means(profile: &Profile, tier: Tier, landlock_abi: u32) -> Result<(), ProfileError> {
    let no_landlock = landlock_abi == 0 && profile.layers.landlock > 0;
    if tier == Tier::None || no_landlock {
        return Err(ProfileError::NothingToConfineWith);
    }
    if profile.layers.seccomp && !filter::is_known_here() {
        return Err(ProfileError::UnknownProcessor);
    }
    Ok(())
}
