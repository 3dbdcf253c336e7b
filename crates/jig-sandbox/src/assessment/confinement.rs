//! What keeps a tool inside its rules: Landlock, seccomp, namespaces.

use super::cause::{Cause, container_name, loosen_container};
use super::{Finding, Tier, first_failure};
use crate::machine::{Errno, Landlock, Machine, ProbeResult};

pub(super) fn foreign_system(machine: &Machine) -> Finding {
    const NAME: &str = "confinement";
    if machine.os == "macos" {
        return Finding::partial(
            NAME,
            "programs are started under the sandbox of macOS, which is not tried ahead",
            "creating, changing and deleting apart from each other; directories of a tool's own; limits on \
             a tool together with all that it starts",
            IN_A_VIRTUAL_MACHINE,
        );
    }
    Finding::missing(
        NAME,
        format!("jig cannot confine programs on {}", machine.os),
        "native tools and MCP servers run with all rights of the user; only Wasm and in-process tools \
         are held to their rules",
        match machine.os.as_str() {
            "windows" => "run jig inside WSL 2: `wsl --install`, then install jig there",
            _ => "run jig on Linux 6.12 or newer",
        },
    )
}

pub(super) fn landlock(machine: &Machine, tier: Tier) -> Finding {
    const NAME: &str = "landlock";
    const GAP: &str = "which files a program reads and writes; native tools do not start unless \
        sandbox.enforce is \"best-effort\"";
    let missing = |what: String, remedy: String| Finding::missing(NAME, what, GAP, remedy);
    let (abi, enforced) = match machine.landlock {
        Landlock::Available { abi, enforced } => (abi, enforced),
        Landlock::NotCompiledIn | Landlock::NotThisSystem => {
            return landlock_absent(machine, missing);
        }
        Landlock::DisabledAtBoot => {
            return missing(
                "Landlock was left out at boot".to_owned(),
                boot_with_landlock(machine),
            );
        }
        Landlock::Blocked {
            by: ProbeResult::NoChild { errno },
        } => {
            return missing(
                format!("Landlock could not be tried: no process could be started ({errno})"),
                Cause::NoProcess.remedy(machine),
            );
        }
        Landlock::Blocked { by } => {
            return missing(
                format!("asking for Landlock {by}"),
                loosen_container(machine),
            );
        }
    };
    if !enforced.works() {
        return missing(
            format!("the kernel offers Landlock ABI {abi}, but using it {enforced}"),
            loosen_container(machine),
        );
    }
    let gaps: Vec<&Addition> = ADDITIONS
        .iter()
        .filter(|addition| abi < addition.abi && (tier != Tier::A || !addition.namespaces_cover))
        .collect();
    let what = format!("Landlock ABI {abi} is in force when asked for");
    match gaps.last() {
        None => Finding::ok(NAME, what),
        Some(newest) => Finding::partial(
            NAME,
            what,
            gaps.iter()
                .map(|addition| addition.gap)
                .collect::<Vec<_>>()
                .join("; "),
            format!("use Linux {} or newer", newest.kernel),
        ),
    }
}

pub(super) fn seccomp(machine: &Machine) -> Finding {
    const NAME: &str = "seccomp";
    const GAP: &str = "which system calls a program makes; native tools do not start unless \
        sandbox.enforce is \"best-effort\"";
    let filters = machine.seccomp.filters;
    if filters.works() {
        return Finding::ok(NAME, "system-call filters were tried and work");
    }
    let remedy = match filters {
        ProbeResult::NoChild { .. } => Cause::NoProcess.remedy(machine),
        ProbeResult::Failed {
            errno: Errno::NOSYS,
        } if machine.is_older_than(3, 17) => "use Linux 3.17 or newer".to_owned(),
        ProbeResult::Failed {
            errno: Errno::NOSYS | Errno::INVAL,
        } if machine.privileges.seccomp_filtered != Some(true) => {
            "use a kernel with CONFIG_SECCOMP_FILTER".to_owned()
        }
        _ => loosen_container(machine),
    };
    Finding::missing(
        NAME,
        format!("installing a system-call filter {filters}"),
        GAP,
        remedy,
    )
}

/// The name of what [`guarded_names`] finds.
pub(super) const GUARDED_NAMES: &str = "guarded-names";

pub(super) fn guarded_names(machine: &Machine, tier: Tier) -> Finding {
    const GAP: &str = "nothing for long, but what a tool makes under a guarded name is moved away within a tenth of a \
        second instead of being refused";
    let partial = |what, of| {
        let remedy = format!("do what `{of}` above says");
        Finding::partial(GUARDED_NAMES, what, GAP, remedy)
    };
    match (tier, machine.seccomp.listener.works()) {
        (Tier::A, true) => Finding::ok(
            GUARDED_NAMES,
            "names that tools may not make are refused before they come into being",
        ),
        (Tier::A, false) => partial("nothing can supervise what makes names", "seccomp-notify"),
        _ => partial(
            "supervising what makes names takes namespaces",
            "namespaces",
        ),
    }
}

pub(super) fn notify(machine: &Machine) -> Finding {
    const NAME: &str = "seccomp-notify";
    const GAP: &str = "nothing, but a denial by the kernel is explained without the path and the \
        operation that it concerned";
    let seccomp = &machine.seccomp;
    if seccomp.listener.works() {
        return Finding::ok(NAME, "denials can be watched as they happen");
    }
    if seccomp.listener.errno() == Some(Errno::BUSY) {
        return Finding::partial(
            NAME,
            "another supervisor already watches this process",
            GAP,
            "run jig outside the other sandbox, which listens to system calls itself",
        );
    }
    let tried = match (seccomp.notify, seccomp.listener) {
        (notify, ProbeResult::NotTried) => notify,
        (_, listener) => listener,
    };
    let remedy = match tried {
        ProbeResult::Works | ProbeResult::NotTried => {
            "make system-call filters work first".to_owned()
        }
        _ if machine.is_older_than(5, 0) => "use Linux 5.0 or newer".to_owned(),
        ProbeResult::NoChild { .. } => Cause::NoProcess.remedy(machine),
        _ => loosen_container(machine),
    };
    let what = match tried {
        ProbeResult::Works | ProbeResult::NotTried => {
            "denials cannot be watched without filters".to_owned()
        }
        tried => format!("watching denials {tried}"),
    };
    Finding::missing(NAME, what, GAP, remedy)
}

pub(super) fn namespaces(machine: &Machine) -> Finding {
    const NAME: &str = "namespaces";
    let Some((step, trial)) = first_failure(&machine.namespaces) else {
        return Finding::ok(
            NAME,
            "user, mount, network, pid, ipc and uts namespaces were tried and work",
        );
    };
    let cause = Cause::of(machine, step, trial);
    Finding::missing(
        NAME,
        format!("the {step} {trial}: {}", cause.because(machine)),
        "single hosts of the network, so that tools with rules on hosts do not start unless sandbox.enforce is \
         \"best-effort\"; directories of a tool's own; modes, owners and times of files outside; and in a folder \
         that holds something withheld, as every repository does, tools can use what is there but make, remove \
         and rename nothing",
        cause.remedy(machine),
    )
}

/// `None` when it was not tried: whatever was in the way is a finding of its own.
pub(super) fn proc(machine: &Machine) -> Option<Finding> {
    const NAME: &str = "proc";
    let trial = machine.namespaces.proc;
    match trial {
        ProbeResult::NotTried | ProbeResult::NoChild { .. } => None,
        ProbeResult::Works => Some(Finding::ok(
            NAME,
            "a tool can have a /proc of its own processes",
        )),
        _ => {
            let what = match container_name(machine) {
                Some(name) => {
                    format!("mounting a private /proc {trial}, as {name} hides parts of its own")
                }
                None => format!("mounting a private /proc {trial}"),
            };
            Some(Finding::partial(
                NAME,
                what,
                "nothing, but a tool finds /proc empty, and programs that read it may fail",
                match machine.container() {
                    Some(_) => loosen_container(machine),
                    None => "unmount whatever covers parts of /proc (`grep ' /proc/' /proc/self/mountinfo`)"
                        .to_owned(),
                },
            ))
        }
    }
}

fn landlock_absent(machine: &Machine, missing: impl Fn(String, String) -> Finding) -> Finding {
    if machine.is_older_than(5, 13) && !machine.is_wsl() {
        return missing(
            "this kernel is too old for Landlock".to_owned(),
            "use Linux 5.13 or newer, better 6.12 or newer".to_owned(),
        );
    }
    if machine.is_wsl() {
        return missing(
            "this WSL kernel has no Landlock".to_owned(),
            "run `wsl --update` in Windows; if that does not help, build a kernel with \
             CONFIG_SECURITY_LANDLOCK=y, name it by `kernel=` under [wsl2] in \
             %UserProfile%\\.wslconfig and run `wsl --shutdown`"
                .to_owned(),
        );
    }
    if machine.privileges.seccomp_filtered == Some(true) {
        return missing(
            "Landlock is not in the kernel, or a system-call filter hides it".to_owned(),
            format!(
                "update the container runtime, or {}",
                loosen_container(machine)
            ),
        );
    }
    missing(
        "the kernel was built without Landlock".to_owned(),
        "use a kernel with CONFIG_SECURITY_LANDLOCK=y and `landlock` in CONFIG_LSM".to_owned(),
    )
}

/// The list must name the modules of today as well, because `lsm=` replaces it.
fn boot_with_landlock(machine: &Machine) -> String {
    let modules = match &machine.surroundings.security_modules {
        Some(active) => {
            let others = active
                .split(',')
                .filter(|name| !["capability", "landlock"].contains(name));
            let list: Vec<&str> = std::iter::once("landlock").chain(others).collect();
            format!("`lsm={}`", list.join(","))
        }
        None => "`lsm=landlock,` and the names in /sys/kernel/security/lsm".to_owned(),
    };
    format!(
        "add {modules} to GRUB_CMDLINE_LINUX in /etc/default/grub, run `sudo update-grub` (Fedora: \
         `sudo grub2-mkconfig -o /boot/grub2/grub.cfg`) and reboot"
    )
}

/// What a version of Landlock brought, and what is open before it.
struct Addition {
    abi: u32,
    kernel: &'static str,
    gap: &'static str,
    /// Whether a tool in its own namespaces is held without it.
    namespaces_cover: bool,
}

const IN_A_VIRTUAL_MACHINE: &str = "for more, run jig inside a Linux virtual machine, for example \
    `limactl start` and `limactl shell default jig …`";

/// In the order of their versions, which is also that of the kernels. Later ones leave nothing open (7:
/// audit; 8: threads), or something that depends on the tool and is in the status of each call (9: unix
/// sockets of others in directories that a tool is shown).
const ADDITIONS: [Addition; 5] = [
    Addition {
        abi: 2,
        kernel: "5.19",
        gap: "no move of a file to another directory is possible, even where rules allow it",
        namespaces_cover: false,
    },
    Addition {
        abi: 3,
        kernel: "6.2",
        gap: "truncation of files that may only be read",
        namespaces_cover: true,
    },
    Addition {
        abi: 4,
        kernel: "6.7",
        gap: "TCP ports",
        namespaces_cover: true,
    },
    Addition {
        abi: 5,
        kernel: "6.10",
        gap: "control commands (ioctl) to devices that are open to a tool",
        namespaces_cover: false,
    },
    Addition {
        abi: 6,
        kernel: "6.12",
        gap: "signals to other processes of the user; abstract unix sockets",
        namespaces_cover: true,
    },
];
