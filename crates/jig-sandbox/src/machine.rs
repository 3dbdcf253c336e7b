//! [`Machine`]: the facts about a machine and about this process on it, as plain data.

use std::fmt;

use serde::Serialize;

#[cfg(test)]
mod tests;

/// Looks at this machine, as the calling thread meets it.
///
/// It never fails: what cannot be found out is reported as such, and a probe that goes wrong says
/// nothing about the others. It takes a few milliseconds, more in a process with much memory, which
/// is slower to fork; no probe can hold it longer than a second.
///
/// What would change or endanger the process is tried in forked children, which are always reaped.
/// They raise no `SIGCHLD` and are invisible to a `waitpid(-1)` elsewhere in the process.
pub fn probe() -> Machine {
    crate::sys::probe()
}

/// All that is known about a machine. The result of [`probe`]; [`crate::assess`] judges it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// The operating system, as Rust names it: `linux`, `macos`, `windows`.
    pub os: String,
    /// The processor architecture, as Rust names it: `x86_64`, `aarch64`.
    pub arch: String,
    /// The running program, if known; remedies that name a program need it.
    pub program: Option<String>,
    /// The kernel, if known.
    pub kernel: Option<Kernel>,
    /// Landlock, the kernel's unprivileged access control.
    pub landlock: Landlock,
    /// System-call filters.
    pub seccomp: Seccomp,
    /// User namespaces and what they make possible.
    pub namespaces: Namespaces,
    /// Control groups, which limit a whole tree of processes.
    pub cgroup: Cgroup,
    /// Who this process is and what it may do.
    pub privileges: Privileges,
    /// What the process runs inside of.
    pub surroundings: HostSurroundings,
    /// What the WebAssembly runtime depends on.
    pub wasm: Wasm,
}

impl Machine {
    /// Whether the process holds `CAP_SYS_ADMIN`, which lifts most limits on user namespaces.
    pub(crate) fn is_admin(&self) -> bool {
        self.privileges.has_capability("sys_admin")
    }

    /// The container runtime around this process, if the trace of one is to be believed.
    ///
    /// A machine that was made from an image has its trace too. What tells a container apart is a
    /// filter, or the layered root that its image becomes.
    pub(crate) fn container(&self) -> Option<&Container> {
        let layered = ["overlay", "fuse-overlayfs", "fuse.fuse-overlayfs", "aufs"];
        let root = self.surroundings.root_file_system.as_deref();
        let confined = self.privileges.seccomp_filtered == Some(true)
            || root.is_some_and(|kind| layered.contains(&kind));
        self.surroundings.container.as_ref().filter(|_| confined)
    }

    /// Whether this is a Linux under Windows.
    pub(crate) fn is_wsl(&self) -> bool {
        self.kernel.as_ref().is_some_and(Kernel::is_wsl)
    }

    /// Whether the kernel is known to be older than `major.minor`.
    pub(crate) fn is_older_than(&self, major: u32, minor: u32) -> bool {
        self.kernel
            .as_ref()
            .is_some_and(|kernel| (kernel.major, kernel.minor) < (major, minor))
    }
}

/// A kernel and its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Kernel {
    /// The release as the kernel spells it, such as `6.8.0-45-generic`.
    pub release: String,
    /// The first number of the release.
    pub major: u32,
    /// The second number of the release.
    pub minor: u32,
}

impl Kernel {
    /// Reads the version from a release; `None` if it does not begin with two numbers.
    pub fn parse(release: &str) -> Option<Self> {
        let mut numbers = release.split(|c: char| !c.is_ascii_digit());
        let major = numbers.next()?.parse().ok()?;
        let minor = numbers.next()?.parse().ok()?;
        Some(Self {
            release: release.to_owned(),
            major,
            minor,
        })
    }

    fn is_wsl(&self) -> bool {
        self.release.to_ascii_lowercase().contains("microsoft")
    }
}

/// How one attempt went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "result", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProbeResult {
    /// It worked, and where that can be seen, it had its effect.
    Works,
    /// The kernel said no.
    Failed {
        /// The error.
        errno: Errno,
    },
    /// The kernel said yes, but nothing changed.
    NoEffect,
    /// The child that tried it was killed, as a strict system-call filter does.
    Killed {
        /// The signal that ended it.
        signal: i32,
    },
    /// The child that tried it hung and was ended.
    TimedOut,
    /// No child could be started to try it.
    NoChild {
        /// Why not.
        errno: Errno,
    },
    /// It was not tried, because something that it needs did not work or does not exist here.
    NotTried,
}

impl ProbeResult {
    /// Whether it worked.
    pub fn works(self) -> bool {
        self == ProbeResult::Works
    }

    /// The error, if the kernel said no.
    pub(crate) fn errno(self) -> Option<Errno> {
        match self {
            ProbeResult::Failed { errno } => Some(errno),
            _ => None,
        }
    }
}

/// `worked`, `failed with EPERM`: to follow the name of what was tried.
impl fmt::Display for ProbeResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProbeResult::Works => f.write_str("worked"),
            ProbeResult::Failed { errno } => write!(f, "failed with {errno}"),
            ProbeResult::NoEffect => f.write_str("was accepted but had no effect"),
            ProbeResult::Killed { signal } => {
                write!(f, "got the process killed by signal {signal}")
            }
            ProbeResult::TimedOut => f.write_str("hung"),
            ProbeResult::NoChild { errno } => {
                write!(
                    f,
                    "could not be tried, because no process could be started ({errno})"
                )
            }
            ProbeResult::NotTried => f.write_str("was not tried"),
        }
    }
}

/// An error number of Linux, with the values of the architectures that jig is built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Errno(pub i32);

impl Errno {
    /// `EPERM`: not permitted.
    pub const PERM: Errno = Errno(1);
    /// `EACCES`: refused by a security module or by permission bits.
    pub const ACCES: Errno = Errno(13);
    /// `EBUSY`: taken by somebody else.
    pub const BUSY: Errno = Errno(16);
    /// `EINVAL`: unknown to this kernel.
    pub const INVAL: Errno = Errno(22);
    /// `ENOSPC`: a limit on the number of namespaces is reached.
    pub const NOSPC: Errno = Errno(28);
    /// `ENOSYS`: no such system call.
    pub const NOSYS: Errno = Errno(38);
    /// `EUSERS`: what old kernels say for `ENOSPC`.
    pub const USERS: Errno = Errno(87);
    /// `EOPNOTSUPP`: built in but switched off.
    pub const OPNOTSUPP: Errno = Errno(95);
}

/// The name where it is one that the probes meet, else `errno 5`.
impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.0 {
            1 => "EPERM",
            2 => "ENOENT",
            11 => "EAGAIN",
            12 => "ENOMEM",
            13 => "EACCES",
            16 => "EBUSY",
            22 => "EINVAL",
            23 => "ENFILE",
            24 => "EMFILE",
            28 => "ENOSPC",
            30 => "EROFS",
            38 => "ENOSYS",
            87 => "EUSERS",
            95 => "EOPNOTSUPP",
            number => return write!(f, "errno {number}"),
        };
        f.write_str(name)
    }
}

/// Whether Landlock is there, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Landlock {
    /// The kernel has it.
    Available {
        /// The version of its interface, from 1.
        abi: u32,
        /// Whether a ruleset without rules really kept a process from reading a directory.
        enforced: ProbeResult,
    },
    /// The kernel does not know the call. A filter that answers `ENOSYS` looks the same.
    NotCompiledIn,
    /// The kernel has it, but it was left out of the list of security modules at boot.
    DisabledAtBoot,
    /// The call was refused, most often by a container's system-call filter.
    Blocked {
        /// How it was refused.
        by: ProbeResult,
    },
    /// This system has no Landlock.
    NotThisSystem,
}

impl Landlock {
    /// Whether it is there and was seen to hold.
    pub fn works(self) -> bool {
        matches!(
            self,
            Landlock::Available {
                enforced: ProbeResult::Works,
                ..
            }
        )
    }
}

/// What system-call filters can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Seccomp {
    /// Installing a filter that makes one harmless call fail, and seeing it fail.
    pub filters: ProbeResult,
    /// Whether the kernel knows the action that hands a call over to a supervisor.
    pub notify: ProbeResult,
    /// Installing a filter with a listener; `EBUSY` where a filter above has one already.
    pub listener: ProbeResult,
}

impl Seccomp {
    /// Whether the facility exists but something keeps this process from using it.
    pub fn is_blocked(&self) -> bool {
        matches!(self.filters, ProbeResult::Killed { .. })
            || matches!(self.filters.errno(), Some(Errno::PERM | Errno::ACCES))
    }
}

/// What happened when a child entered new namespaces, step by step.
///
/// Every kind is tried by itself inside the new user namespace, so that one that fails is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Namespaces {
    /// A new user namespace.
    pub user: ProbeResult,
    /// Mapping the own user into it.
    pub uid_map: ProbeResult,
    /// Mapping the own group into it.
    pub gid_map: ProbeResult,
    /// A new mount namespace.
    pub mount: ProbeResult,
    /// A new network namespace.
    pub net: ProbeResult,
    /// A new process namespace.
    pub pid: ProbeResult,
    /// A new namespace of System V and POSIX queues.
    pub ipc: ProbeResult,
    /// A new namespace of host names.
    pub uts: ProbeResult,
    /// Detaching all mounts from those of the host.
    pub private_mounts: ProbeResult,
    /// Mounting an empty file system.
    pub tmpfs: ProbeResult,
    /// Switching on the loopback device of the new network.
    pub loopback: ProbeResult,
    /// Mounting a `/proc` of the new process namespace, by its first process.
    pub proc: ProbeResult,
}

impl Namespaces {
    /// Every step with its name, in the order in which they are tried.
    pub fn steps(&self) -> [(&'static str, ProbeResult); 12] {
        [
            ("user namespace", self.user),
            ("uid map", self.uid_map),
            ("gid map", self.gid_map),
            ("mount namespace", self.mount),
            ("network namespace", self.net),
            ("pid namespace", self.pid),
            ("ipc namespace", self.ipc),
            ("uts namespace", self.uts),
            ("private mounts", self.private_mounts),
            ("tmpfs mount", self.tmpfs),
            ("loopback device", self.loopback),
            ("proc mount", self.proc),
        ]
    }

    /// The same result for every step.
    pub fn all(trial: ProbeResult) -> Self {
        Self {
            user: trial,
            uid_map: trial,
            gid_map: trial,
            mount: trial,
            net: trial,
            pid: trial,
            ipc: trial,
            uts: trial,
            private_mounts: trial,
            tmpfs: trial,
            loopback: trial,
            proc: trial,
        }
    }
}

/// How control groups are mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CgroupLayout {
    /// Version 2 only.
    Unified,
    /// Version 2 beside version 1, whose controllers are then missing from version 2.
    Hybrid,
    /// Version 1 only.
    V1Only,
    /// None is mounted, or none can be seen.
    Absent,
}

/// The control group of this process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cgroup {
    /// What is mounted.
    pub layout: CgroupLayout,
    /// The own group in the version 2 hierarchy, such as `/user.slice/session-2.scope`.
    pub path: Option<String>,
    /// Its directory, where it can be reached.
    pub directory: Option<String>,
    /// Whether this process may make groups below it and move processes into them.
    pub delegated: bool,
    /// The controllers that the own group has.
    pub controllers: Vec<String>,
    /// The controllers that it passes on to groups below it.
    pub subtree_control: Vec<String>,
}

/// Who this process is. What `/proc` did not tell is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Privileges {
    /// The effective user.
    pub uid: Option<u32>,
    /// The effective capabilities, in lower case and without `CAP_`.
    pub capabilities: Option<Vec<String>>,
    /// Whether the process has given up gaining privileges by `execve`.
    pub no_new_privs: Option<bool>,
    /// Whether a system-call filter is already in force.
    pub seccomp_filtered: Option<bool>,
    /// The label that AppArmor or SELinux gave the process.
    pub security_label: Option<String>,
    /// Whether the process already lives in a user namespace that maps only some users.
    pub in_user_namespace: Option<bool>,
}

impl Privileges {
    /// Whether the process acts as root, at least within its user namespace.
    pub fn is_root(&self) -> bool {
        self.uid == Some(0)
    }

    /// Whether the capability, such as `sys_admin`, is in effect.
    pub fn has_capability(&self, name: &str) -> bool {
        self.capabilities.iter().flatten().any(|held| held == name)
    }
}

/// The container runtime that left a trace. A machine made from a container image has one too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Container {
    /// `/.dockerenv` exists.
    Docker,
    /// `/run/.containerenv` exists.
    Podman,
    /// A service account of Kubernetes is mounted.
    Kubernetes,
    /// Named by `/run/systemd/container`.
    Other(String),
}

/// What the process runs inside of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostSurroundings {
    /// Traces of a container runtime.
    pub container: Option<Container>,
    /// The kind of file system at the root, such as `ext4` or `overlay`.
    pub root_file_system: Option<String>,
    /// Whether the root directory is no mount point, as after `chroot`. A root that was changed to
    /// a mount point is not noticed.
    pub chroot: bool,
    /// Whether systemd manages the machine.
    pub systemd: bool,
    /// The active security modules, comma-separated, as in `/sys/kernel/security/lsm`.
    pub security_modules: Option<String>,
    /// Settings that restrict namespaces.
    pub sysctls: Sysctls,
}

/// Kernel settings; `None` for one that this kernel does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
pub struct Sysctls {
    /// `kernel.apparmor_restrict_unprivileged_userns`: not 0 on Ubuntu from 23.10.
    pub apparmor_restrict_unprivileged_userns: Option<u64>,
    /// `kernel.unprivileged_userns_clone`: 0 on some Debian and hardened kernels.
    pub unprivileged_userns_clone: Option<u64>,
    /// `user.max_user_namespaces`.
    pub max_user_namespaces: Option<u64>,
    /// `user.max_mnt_namespaces`.
    pub max_mnt_namespaces: Option<u64>,
    /// `user.max_net_namespaces`.
    pub max_net_namespaces: Option<u64>,
    /// `user.max_pid_namespaces`.
    pub max_pid_namespaces: Option<u64>,
    /// `user.max_ipc_namespaces`.
    pub max_ipc_namespaces: Option<u64>,
    /// `user.max_uts_namespaces`.
    pub max_uts_namespaces: Option<u64>,
}

/// What the WebAssembly runtime depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Wasm {
    /// Whether the compiler can make native code for this architecture.
    pub compiler: bool,
    /// The limit on address space in bytes (`ulimit -v`); `None` if there is none or it is unknown.
    pub address_space: Option<u64>,
}

impl Wasm {
    /// The facts for this build, under a limit on address space.
    pub(crate) fn under(address_space: Option<u64>) -> Self {
        Self {
            compiler: COMPILED.contains(&std::env::consts::ARCH),
            address_space,
        }
    }
}

/// The architectures for which wasmtime's compiler has a backend.
const COMPILED: [&str; 4] = ["x86_64", "aarch64", "riscv64", "s390x"];
