//! [`probe`]: what this kernel lets this process do.
//!
//! Each part stands by itself. Facts are read from `/proc` and `/sys`; calls that change a process,
//! or that a filter might punish with death, are made in children only.

mod cgroup;
mod landlock;
mod namespaces;
mod seccomp;
mod surroundings;

use std::time::Duration;

use rustix::process::Resource;

use crate::machine::{Kernel, Machine, Wasm};

/// Collects all facts.
pub(crate) fn probe() -> Machine {
    let mounts = super::procfs::mounts();
    Machine {
        os: std::env::consts::OS.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        program: std::env::current_exe()
            .ok()
            .map(|path| path.to_string_lossy().into_owned()),
        kernel: Kernel::parse(&rustix::system::uname().release().to_string_lossy()),
        landlock: landlock::probe(),
        seccomp: seccomp::probe(),
        namespaces: namespaces::probe(),
        cgroup: cgroup::probe(&mounts),
        privileges: super::procfs::privileges(),
        surroundings: surroundings::probe(&mounts),
        wasm: Wasm::under(rustix::process::getrlimit(Resource::As).current),
    }
}

/// How long one child may take. Each needs well below a millisecond of work, but the machine may be
/// busy; without a limit, a hanging mount would hang whoever asks.
const LIMIT: Duration = Duration::from_secs(1);
