//! Landlock: asked for its version, then tried.

use crate::machine::{Errno, Landlock, ProbeResult};
use crate::sys::linux::child::{self, Reporter};
use crate::sys::linux::uapi;

pub(super) fn probe() -> Landlock {
    #[expect(unsafe_code, reason = "the calls are made in a forked child")]
    // SAFETY: the job only uses uapi and the reporter.
    let attempts = unsafe { child::attempts(super::LIMIT, job) };
    let asked = attempts.trial(ABI);
    match (
        attempts.value(ABI).and_then(|abi| u32::try_from(abi).ok()),
        asked,
    ) {
        (Some(abi), _) => Landlock::Available {
            abi,
            enforced: attempts.trial(ENFORCED),
        },
        (
            None,
            ProbeResult::Failed {
                errno: Errno::NOSYS,
            },
        ) => Landlock::NotCompiledIn,
        (
            None,
            ProbeResult::Failed {
                errno: Errno::OPNOTSUPP,
            },
        ) => Landlock::DisabledAtBoot,
        (None, by) => Landlock::Blocked { by },
    }
}

fn job(reporter: &Reporter) {
    if reporter.attempt(ABI, uapi::landlock_abi) {
        reporter.attempt(ENFORCED, || {
            uapi::set_no_new_privs()?;
            uapi::landlock_hide_directories()?;
            Ok(uapi::open_directory(c"/") == Err(Errno::ACCES))
        });
    }
}

const ABI: usize = 0;
const ENFORCED: usize = 1;
