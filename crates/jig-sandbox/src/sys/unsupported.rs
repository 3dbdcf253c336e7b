//! Systems on which nothing is confined or started yet: the probe and the errors say so.

mod process;

pub(crate) use process::{Process, Wake, poll, set_nonblocking, spawn};

use crate::machine::{
    Cgroup, CgroupLayout, Landlock, Machine, Namespaces, Privileges, Seccomp, Surroundings,
    Sysctls, Trial, Wasm,
};

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
            filters: Trial::NotTried,
            notify: Trial::NotTried,
            listener: Trial::NotTried,
        },
        namespaces: Namespaces::all(Trial::NotTried),
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
        surroundings: Surroundings {
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
