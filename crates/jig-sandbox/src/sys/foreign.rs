//! What is the same on every system but Linux: the facts that hold without asking, and no pools.

use std::convert::Infallible;
use std::io;
use std::path::{Path, PathBuf};

use crate::machine::{
    Cgroup, CgroupLayout, HostSurroundings, Landlock, Machine, Namespaces, Privileges, ProbeResult,
    Seccomp, Sysctls, Wasm,
};
use crate::process::{Observation, RefusedNames};
use crate::profile::Profile;

/// The facts that hold without asking the system.
pub(crate) fn probe() -> Machine {
    Machine {
        os: std::env::consts::OS.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        program: std::env::current_exe()
            .ok()
            .map(|path| path.to_string_lossy().into_owned()),
        kernel: None,
        landlock: Landlock::NotThisSystem,
        seccomp: Seccomp {
            filters: ProbeResult::NotTried,
            notify: ProbeResult::NotTried,
            listener: ProbeResult::NotTried,
        },
        namespaces: Namespaces::all(ProbeResult::NotTried),
        cgroup: Cgroup {
            layout: CgroupLayout::Absent,
            path: None,
            directory: None,
            delegated: false,
            controllers: Vec::new(),
            subtree_control: Vec::new(),
        },
        privileges: Privileges {
            uid: None,
            capabilities: None,
            no_new_privs: None,
            seccomp_filtered: None,
            security_label: None,
            in_user_namespace: None,
        },
        surroundings: HostSurroundings {
            container: None,
            root_file_system: None,
            chroot: false,
            systemd: false,
            security_modules: None,
            sysctls: Sysctls::default(),
        },
        wasm: Wasm::under(None),
    }
}

/// Nothing decides about commands to devices here.
pub(crate) fn without_device_commands(
    _: super::BorrowedDescriptor<'_>,
) -> io::Result<super::Descriptor> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A helper that does not exist.
#[derive(Debug, Clone)]
pub(crate) struct Zygote(Infallible);

impl Zygote {
    pub(crate) fn start(_ready: usize) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Nothing can be watched.
#[derive(Debug)]
pub(crate) struct Watcher(Infallible);

impl Watcher {
    pub(crate) fn take(&self) -> Observation {
        match self.0 {}
    }

    pub(crate) fn finish(self) -> Observation {
        match self.0 {}
    }
}

/// Nothing is supervised.
#[derive(Debug)]
pub(crate) struct CreationReports(Infallible);

impl CreationReports {
    pub(crate) fn take(&self) -> RefusedNames {
        match self.0 {}
    }
}

/// There is none: programs find no door here.
pub(crate) fn shim() -> Option<&'static [u8]> {
    None
}

/// Nothing is granted name by name.
pub(crate) fn unchangeable(_profile: &Profile) -> Vec<PathBuf> {
    Vec::new()
}

/// Tools have the temporary directory of the host.
pub(crate) fn is_temporary(_path: &Path) -> bool {
    false
}
