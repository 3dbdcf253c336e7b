//! Why namespaces cannot be entered: the likely cause, and what to do about it.

use crate::machine::{Container, Errno, Machine, ProbeResult};

/// What most likely keeps a process out of namespaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cause {
    /// The kernel was built without them.
    NotCompiledIn,
    /// A limit on their number, by the setting's name and value.
    Limit(&'static str, Option<u64>),
    /// The root directory was changed, and the kernel then refuses user namespaces.
    Chroot,
    /// Debian's switch for unprivileged users is off.
    UnprivilegedClone,
    /// Ubuntu's AppArmor restriction.
    AppArmor,
    /// A system-call filter, as containers have.
    Filter,
    /// The profile or context that a security module put on this process.
    Label(String),
    /// No process could be started.
    NoProcess,
    /// Nothing that we know of.
    Unknown,
}

impl Cause {
    /// Judges from the first step that failed.
    ///
    /// The order matters where one error has several causes: settings that were read come before
    /// suspicion of a filter, whose rules cannot be read.
    pub(super) fn of(machine: &Machine, step: &str, trial: ProbeResult) -> Self {
        let privileges = &machine.privileges;
        let surroundings = &machine.surroundings;
        let sysctls = &surroundings.sysctls;
        let filtered = privileges.seccomp_filtered == Some(true);
        let errno = match trial {
            ProbeResult::Failed { errno } => errno,
            ProbeResult::Killed { .. } if filtered => return Cause::Filter,
            ProbeResult::NoChild { .. } => return Cause::NoProcess,
            _ => return Cause::Unknown,
        };
        match errno {
            Errno::NOSYS if filtered => Cause::Filter,
            Errno::NOSYS | Errno::INVAL if step.ends_with("namespace") => Cause::NotCompiledIn,
            Errno::NOSPC | Errno::USERS => limit(machine, step),
            Errno::PERM if step == "user namespace" && surroundings.chroot => Cause::Chroot,
            Errno::PERM
                if step == "user namespace"
                    && sysctls.unprivileged_userns_clone == Some(0)
                    && !machine.is_admin() =>
            {
                Cause::UnprivilegedClone
            }
            // A filter refuses with EPERM at the first step. AppArmor lets the namespace be made and
            // then denies every capability in it, or refuses it with EACCES.
            Errno::PERM if step == "user namespace" && filtered => Cause::Filter,
            Errno::PERM | Errno::ACCES => {
                if let Some(label) = &privileges.security_label
                    && !is_unconfined(label)
                {
                    return Cause::Label(label.clone());
                }
                let restricted = sysctls
                    .apparmor_restrict_unprivileged_userns
                    .is_some_and(|value| value != 0);
                match (restricted && !machine.is_admin(), filtered) {
                    (true, _) => Cause::AppArmor,
                    (false, true) => Cause::Filter,
                    (false, false) => Cause::Unknown,
                }
            }
            _ => Cause::Unknown,
        }
    }

    /// The cause as the end of a sentence.
    pub(super) fn because(&self, machine: &Machine) -> String {
        match self {
            Cause::NotCompiledIn => "the kernel was built without it".to_owned(),
            Cause::Limit(name, Some(0)) => format!("{name} is 0"),
            Cause::Limit(name, Some(value)) => format!("the limit {name} of {value} is reached"),
            Cause::Limit(name, None) => format!("the limit {name} is reached"),
            Cause::Chroot => "the process runs in a chroot".to_owned(),
            Cause::UnprivilegedClone => "kernel.unprivileged_userns_clone is 0".to_owned(),
            Cause::AppArmor => "AppArmor restricts unprivileged user namespaces".to_owned(),
            Cause::Filter => match container_name(machine) {
                Some(name) => format!("the system-call filter of {name} most likely refuses it"),
                None => "a system-call filter most likely refuses it".to_owned(),
            },
            Cause::Label(label) => {
                format!("the security profile `{label}` of this process most likely refuses it")
            }
            Cause::NoProcess => "no process could be started to try it".to_owned(),
            Cause::Unknown => "the cause is not known".to_owned(),
        }
    }

    /// What a person can do.
    pub(super) fn remedy(&self, machine: &Machine) -> String {
        match self {
            Cause::NotCompiledIn => {
                "use a kernel with CONFIG_NAMESPACES, CONFIG_USER_NS, CONFIG_PID_NS, \
                 CONFIG_NET_NS, CONFIG_IPC_NS and CONFIG_UTS_NS, as all large distributions ship"
                    .to_owned()
            }
            Cause::Limit(name, Some(value)) if *value >= PLENTY => {
                format!("end processes that hold namespaces (`lsns`), or raise the limit {name}")
            }
            Cause::Limit(name, _) => set(name, PLENTY),
            Cause::Chroot => "run jig outside the chroot, or enter the tree with \
                 `systemd-nspawn -D DIRECTORY`, which changes the root by pivot_root"
                .to_owned(),
            Cause::UnprivilegedClone => set("kernel.unprivileged_userns_clone", 1),
            Cause::AppArmor => apparmor(machine),
            Cause::Filter => loosen_container(machine),
            Cause::Label(label) if machine.container().is_some() || is_docker(label) => {
                loosen_container(machine)
            }
            Cause::Label(label) => format!(
                "look into the log for what was refused (`journalctl -k -g 'apparmor|avc'`) and allow user \
                 namespaces and mounts in `{label}`, or start jig from an unconfined shell"
            ),
            Cause::NoProcess => {
                "raise the limit on processes: `ulimit -u`, or pids.max of the control group"
                    .to_owned()
            }
            Cause::Unknown => {
                "try `unshare --user --map-current-user --mount --net --pid --fork true` and \
                 look into the kernel's log (`journalctl -k` or `dmesg`) for what was refused"
                    .to_owned()
            }
        }
    }
}

/// The limit that a step runs into.
fn limit(machine: &Machine, step: &str) -> Cause {
    let sysctls = &machine.surroundings.sysctls;
    match step {
        "user namespace" => Cause::Limit("user.max_user_namespaces", sysctls.max_user_namespaces),
        "mount namespace" => Cause::Limit("user.max_mnt_namespaces", sysctls.max_mnt_namespaces),
        "network namespace" => Cause::Limit("user.max_net_namespaces", sysctls.max_net_namespaces),
        "pid namespace" => Cause::Limit("user.max_pid_namespaces", sysctls.max_pid_namespaces),
        "ipc namespace" => Cause::Limit("user.max_ipc_namespaces", sysctls.max_ipc_namespaces),
        "uts namespace" => Cause::Limit("user.max_uts_namespaces", sysctls.max_uts_namespaces),
        _ => Cause::Unknown,
    }
}

/// How to start the container, or the service, without the filter that is in the way.
pub(super) fn loosen_container(machine: &Machine) -> String {
    match machine.container() {
        Some(Container::Docker) => "start the container with `docker run --security-opt seccomp=unconfined \
             --security-opt apparmor=unconfined --security-opt systempaths=unconfined …` (jig filters \
             the tools itself), or run jig outside the container"
            .to_owned(),
        Some(Container::Podman) => "start the container with `podman run --security-opt seccomp=unconfined \
             --security-opt label=disable --security-opt unmask=ALL …` (jig filters the tools \
             itself), or run jig outside the container"
            .to_owned(),
        Some(Container::Kubernetes) => "set `seccompProfile: {type: Unconfined}` and `appArmorProfile: {type: Unconfined}` \
             in the container's securityContext, with `procMount: Unmasked` and the pod's \
             `hostUsers: false` for a private /proc"
            .to_owned(),
        Some(Container::Other(name)) => format!(
            "allow unshare, mount and pivot_root in the system-call filter that {name} sets, or run \
             jig outside it"
        ),
        None => "start jig from a shell without the filter; for a systemd unit set \
             `RestrictNamespaces=no` and add `SystemCallFilter=@mount @sandbox unshare`"
            .to_owned(),
    }
}

/// The container runtime's name for a sentence.
pub(super) fn container_name(machine: &Machine) -> Option<&str> {
    machine.container().map(|container| match container {
        Container::Docker => "Docker",
        Container::Podman => "Podman",
        Container::Kubernetes => "Kubernetes",
        Container::Other(name) => name,
    })
}

fn is_docker(label: &str) -> bool {
    label.starts_with("docker-default")
}

/// `unconfined`, a profile in that mode, or SELinux's `unconfined_u:…`.
fn is_unconfined(label: &str) -> bool {
    label.starts_with("unconfined") || label.ends_with("(unconfined)")
}

/// The setting for everybody, or a profile for this program alone.
fn apparmor(machine: &Machine) -> String {
    let program = machine
        .program
        .as_deref()
        .filter(|path| is_plain(path))
        .unwrap_or(INSTALLED);
    format!(
        "allow this program alone with \
         `printf 'abi <abi/4.0>,\\nprofile jig {program} flags=(unconfined) {{\\n  userns,\\n}}\\n' \
         | sudo tee /etc/apparmor.d/jig && sudo apparmor_parser -r /etc/apparmor.d/jig`, or all \
         programs: {}",
        set("kernel.apparmor_restrict_unprivileged_userns", 0)
    )
}

/// The command that changes a setting now and at each boot.
fn set(name: &str, value: u64) -> String {
    format!(
        "`echo '{name} = {value}' | sudo tee -a /etc/sysctl.d/60-jig.conf && sudo sysctl -p /etc/sysctl.d/60-jig.conf`"
    )
}

/// Whether a path can stand in a shell command and in a profile as it is.
fn is_plain(path: &str) -> bool {
    path.starts_with('/')
        && path
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"/._-+".contains(&byte))
}

/// The path in a remedy when that of the running program is unknown or would need quoting.
const INSTALLED: &str = "/usr/local/bin/jig";

/// A limit on namespaces that no ordinary use reaches.
const PLENTY: u64 = 15_000;
