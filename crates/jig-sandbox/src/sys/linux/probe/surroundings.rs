//! What the process runs inside of, as far as it left traces.

use crate::machine::{Container, HostSurroundings, Sysctls};
use crate::sys::linux::procfs::{self, MountinfoLine};

pub(super) fn probe(mounts: &[MountinfoLine]) -> HostSurroundings {
    // The last mount at a place is the one on top.
    let root = mounts.iter().rfind(|mount| mount.target == "/");
    HostSurroundings {
        container: container(),
        // An empty list says nothing: `/proc` may be missing.
        chroot: !mounts.is_empty() && root.is_none(),
        root_file_system: root.map(|mount| mount.kind.clone()),
        systemd: procfs::exists("/run/systemd/system"),
        security_modules: procfs::read("/sys/kernel/security/lsm")
            .map(|list| list.trim().to_owned())
            .filter(|list| !list.is_empty()),
        sysctls: sysctls(),
    }
}

/// The innermost runtime first: a Kubernetes pod may also carry the traces of Docker.
fn container() -> Option<Container> {
    if procfs::exists("/var/run/secrets/kubernetes.io/serviceaccount") {
        return Some(Container::Kubernetes);
    }
    if procfs::exists("/run/.containerenv") {
        return Some(Container::Podman);
    }
    if procfs::exists("/.dockerenv") {
        return Some(Container::Docker);
    }
    let name = procfs::read("/run/systemd/container")?.trim().to_owned();
    match name.as_str() {
        // WSL has systemd think that it is in a container; the kernel's release tells it apart.
        "" | "wsl" => None,
        "docker" => Some(Container::Docker),
        "podman" => Some(Container::Podman),
        _ => Some(Container::Other(name)),
    }
}

fn sysctls() -> Sysctls {
    let kernel = |name: &str| procfs::setting(&format!("/proc/sys/kernel/{name}"));
    let user = |name: &str| procfs::setting(&format!("/proc/sys/user/{name}"));
    Sysctls {
        apparmor_restrict_unprivileged_userns: kernel("apparmor_restrict_unprivileged_userns"),
        unprivileged_userns_clone: kernel("unprivileged_userns_clone"),
        max_user_namespaces: user("max_user_namespaces"),
        max_mnt_namespaces: user("max_mnt_namespaces"),
        max_net_namespaces: user("max_net_namespaces"),
        max_pid_namespaces: user("max_pid_namespaces"),
        max_ipc_namespaces: user("max_ipc_namespaces"),
        max_uts_namespaces: user("max_uts_namespaces"),
    }
}
