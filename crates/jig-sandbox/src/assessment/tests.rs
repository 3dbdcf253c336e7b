//! Machines as people have them, and what is said about each.

use super::*;
use crate::machine::{
    Cgroup, CgroupLayout, Container, Errno, HostSurroundings, Kernel, Landlock, Privileges,
    Seccomp, Sysctls, Wasm,
};

mod causes;
mod resources;

const EPERM: ProbeResult = ProbeResult::Failed { errno: Errno::PERM };
const EACCES: ProbeResult = ProbeResult::Failed {
    errno: Errno::ACCES,
};
const EINVAL: ProbeResult = ProbeResult::Failed {
    errno: Errno::INVAL,
};
const ENOSPC: ProbeResult = ProbeResult::Failed {
    errno: Errno::NOSPC,
};
const ENOSYS: ProbeResult = ProbeResult::Failed {
    errno: Errno::NOSYS,
};

/// A current desktop on which everything works: each machine below says how it differs.
fn modern() -> Machine {
    Machine {
        os: "linux".to_owned(),
        arch: "x86_64".to_owned(),
        program: Some("/usr/bin/jig".to_owned()),
        kernel: Kernel::parse("6.12.9-arch1-1"),
        landlock: Landlock::Available {
            abi: 6,
            enforced: ProbeResult::Works,
        },
        seccomp: Seccomp {
            filters: ProbeResult::Works,
            notify: ProbeResult::Works,
            listener: ProbeResult::Works,
        },
        namespaces: Namespaces::all(ProbeResult::Works),
        cgroup: Cgroup {
            layout: CgroupLayout::Unified,
            path: Some("/user.slice/app.slice/jig.scope".to_owned()),
            directory: Some("/sys/fs/cgroup/user.slice/app.slice/jig.scope".to_owned()),
            delegated: true,
            controllers: words("cpu memory pids"),
            subtree_control: Vec::new(),
        },
        privileges: Privileges {
            uid: Some(1000),
            capabilities: Some(Vec::new()),
            no_new_privs: Some(false),
            seccomp_filtered: Some(false),
            security_label: None,
            in_user_namespace: Some(false),
        },
        surroundings: HostSurroundings {
            container: None,
            root_file_system: Some("ext4".to_owned()),
            chroot: false,
            systemd: true,
            security_modules: Some("capability,landlock,lockdown,yama".to_owned()),
            sysctls: Sysctls {
                max_user_namespaces: Some(60_000),
                ..Sysctls::default()
            },
        },
        wasm: Wasm {
            compiler: true,
            address_space: None,
        },
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// A user namespace that cannot be made, so that nothing after it is tried.
fn refused(user: ProbeResult) -> Namespaces {
    Namespaces {
        user,
        ..Namespaces::all(ProbeResult::NotTried)
    }
}

fn old_kernel() -> Machine {
    Machine {
        kernel: Kernel::parse("5.10.0-28-amd64"),
        landlock: Landlock::NotCompiledIn,
        ..modern()
    }
}

fn ubuntu_24_04() -> Machine {
    let mut machine = modern();
    machine.kernel = Kernel::parse("6.8.0-45-generic");
    machine.landlock = Landlock::Available {
        abi: 4,
        enforced: ProbeResult::Works,
    };
    // The namespace is made, but every capability in it is denied.
    machine.namespaces = Namespaces {
        user: ProbeResult::Works,
        uid_map: EPERM,
        ..Namespaces::all(EPERM)
    };
    machine.namespaces.private_mounts = ProbeResult::NotTried;
    machine.namespaces.tmpfs = ProbeResult::NotTried;
    machine.namespaces.loopback = ProbeResult::NotTried;
    machine.namespaces.proc = ProbeResult::NotTried;
    machine.privileges.security_label = Some("unconfined".to_owned());
    machine
        .surroundings
        .sysctls
        .apparmor_restrict_unprivileged_userns = Some(1);
    machine.cgroup.path = Some("/user.slice/user-1000.slice/session-2.scope".to_owned());
    machine.cgroup.delegated = false;
    machine
}

fn docker() -> Machine {
    let mut machine = modern();
    machine.namespaces = refused(EPERM);
    machine.privileges.uid = Some(0);
    machine.privileges.capabilities = Some(words("chown kill setuid"));
    machine.privileges.seccomp_filtered = Some(true);
    machine.privileges.security_label = Some("docker-default (enforce)".to_owned());
    machine.surroundings.container = Some(Container::Docker);
    machine.surroundings.root_file_system = Some("overlay".to_owned());
    machine.surroundings.systemd = false;
    machine.cgroup.path = Some("/".to_owned());
    machine.cgroup.delegated = false;
    machine
}

fn wsl2() -> Machine {
    let mut machine = modern();
    machine.kernel = Kernel::parse("5.15.153.1-microsoft-standard-WSL2");
    machine.landlock = Landlock::NotCompiledIn;
    machine.cgroup.layout = CgroupLayout::Hybrid;
    machine.cgroup.controllers = Vec::new();
    machine
}

fn macos() -> Machine {
    let mut machine = modern();
    machine.os = "macos".to_owned();
    machine.arch = "aarch64".to_owned();
    machine.kernel = None;
    machine.landlock = Landlock::NotThisSystem;
    machine.namespaces = Namespaces::all(ProbeResult::NotTried);
    machine.seccomp.filters = ProbeResult::NotTried;
    machine
}

/// A virtual machine made from a container image, with version 1 control groups.
fn image_as_vm() -> Machine {
    let mut machine = modern();
    machine.landlock = Landlock::Available {
        abi: 7,
        enforced: ProbeResult::Works,
    };
    machine.privileges.uid = Some(0);
    machine.privileges.capabilities = Some(words("sys_admin"));
    machine.surroundings.container = Some(Container::Docker);
    machine.surroundings.systemd = false;
    machine.cgroup.layout = CgroupLayout::Hybrid;
    machine.cgroup.controllers = words("hugetlb");
    machine
}

fn finding(machine: &Machine, name: &str) -> Finding {
    let findings = assess(machine).findings;
    findings
        .into_iter()
        .find(|one| one.name == name)
        .unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn tiers() {
    #[track_caller]
    fn check(machine: Machine, tier: Tier, reason: &str) {
        let found = assess(&machine);
        assert_eq!((found.tier, found.reason.as_str()), (tier, reason));
    }
    let works = "namespaces, mounts, Landlock and seccomp were tried and work";
    check(modern(), Tier::A, works);
    check(image_as_vm(), Tier::A, works);
    check(old_kernel(), Tier::None, "Landlock cannot be used here");
    check(wsl2(), Tier::None, "Landlock cannot be used here");
    check(
        ubuntu_24_04(),
        Tier::B,
        "Landlock and seccomp work, but the uid map failed with EPERM",
    );
    check(
        docker(),
        Tier::B,
        "Landlock and seccomp work, but the user namespace failed with EPERM",
    );
    check(
        macos(),
        Tier::B,
        "the sandbox of macOS decides about files and network",
    );
    check(
        Machine {
            os: "windows".to_owned(),
            ..macos()
        },
        Tier::None,
        "jig confines programs on Linux and macOS only, and this is windows",
    );

    let mut neither = old_kernel();
    neither.seccomp.filters = ENOSYS;
    check(
        neither,
        Tier::None,
        "Landlock and seccomp cannot be used here",
    );
    // Namespaces without Landlock do not hold, and a Landlock that was seen not to work is none.
    let mut hollow = modern();
    hollow.landlock = Landlock::Available {
        abi: 6,
        enforced: ProbeResult::NoEffect,
    };
    check(hollow, Tier::None, "Landlock cannot be used here");
    // A tool without a /proc of its own is confined no less.
    let mut masked = modern();
    masked.namespaces.proc = EPERM;
    check(masked, Tier::A, works);
    // One kind that is missing is enough to lose the tier.
    let mut without_ipc = modern();
    without_ipc.namespaces.ipc = EINVAL;
    check(
        without_ipc,
        Tier::B,
        "Landlock and seccomp work, but the ipc namespace failed with EINVAL",
    );
}

#[test]
fn levels() {
    #[track_caller]
    fn check(machine: Machine, expected: &[&str]) {
        let found: Vec<String> = assess(&machine)
            .findings
            .iter()
            .map(|finding| format!("{} {}", finding.name, finding.level))
            .collect();
        assert_eq!(found, expected);
    }
    check(
        modern(),
        &[
            "landlock ok",
            "seccomp ok",
            "seccomp-notify ok",
            "namespaces ok",
            "proc ok",
            "guarded-names ok",
            "cgroup ok",
            "privileges ok",
            "wasm-compiler ok",
            "wasm-memory ok",
        ],
    );
    check(
        docker(),
        &[
            "landlock ok",
            "seccomp ok",
            "seccomp-notify ok",
            "namespaces missing",
            "guarded-names partial",
            "cgroup missing",
            "privileges partial",
            "wasm-compiler ok",
            "wasm-memory ok",
        ],
    );
    check(macos(), &["confinement partial", "wasm-compiler ok"]);
}

#[test]
fn guarded_names_are_refused_where_a_supervisor_works() {
    assert!(assess(&modern()).refuses_guarded_names());
    assert!(!assess(&docker()).refuses_guarded_names());
    let mut nested = modern();
    nested.seccomp.listener = ProbeResult::Failed { errno: Errno::BUSY };
    assert!(!assess(&nested).refuses_guarded_names());
    assert!(!assess(&macos()).refuses_guarded_names());
}

/// Every gap comes with a remedy, whatever fails, and neither is said where all is well.
#[test]
fn gaps_have_remedies() {
    let trials = [
        ProbeResult::Works,
        EPERM,
        EACCES,
        EINVAL,
        ENOSPC,
        ENOSYS,
        ProbeResult::Failed { errno: Errno::BUSY },
        ProbeResult::NoEffect,
        ProbeResult::Killed { signal: 31 },
        ProbeResult::TimedOut,
        ProbeResult::NoChild { errno: Errno(11) },
        ProbeResult::NotTried,
    ];
    let machines = [
        modern(),
        old_kernel(),
        ubuntu_24_04(),
        docker(),
        wsl2(),
        macos(),
        image_as_vm(),
    ];
    let mut judged = 0;
    for machine in machines {
        for trial in trials {
            let landlocks = [
                machine.landlock,
                Landlock::Available {
                    abi: 1,
                    enforced: trial,
                },
                Landlock::Blocked { by: trial },
                Landlock::DisabledAtBoot,
                Landlock::NotCompiledIn,
            ];
            for landlock in landlocks {
                let mut machine = machine.clone();
                machine.landlock = landlock;
                machine.seccomp = Seccomp {
                    filters: trial,
                    notify: trial,
                    listener: trial,
                };
                machine.namespaces = Namespaces::all(trial);
                for finding in assess(&machine).findings {
                    let well = finding.level == Level::Ok;
                    assert_eq!(finding.gap.is_none(), well, "{finding:?}");
                    assert_eq!(finding.remedy.is_none(), well, "{finding:?}");
                    judged += 1;
                }
            }
        }
    }
    assert!(judged > 1000);
}

#[test]
fn landlock() {
    #[track_caller]
    fn check(machine: Machine, what: &str, remedy: &str) {
        let found = finding(&machine, "landlock");
        assert_eq!(
            (found.what.as_str(), found.remedy.as_deref().unwrap_or("")),
            (what, remedy)
        );
    }
    check(modern(), "Landlock ABI 6 is in force when asked for", "");
    check(
        old_kernel(),
        "this kernel is too old for Landlock",
        "use Linux 5.13 or newer, better 6.12 or newer",
    );
    let custom = Machine {
        landlock: Landlock::NotCompiledIn,
        ..modern()
    };
    check(
        custom,
        "the kernel was built without Landlock",
        "use a kernel with CONFIG_SECURITY_LANDLOCK=y and `landlock` in CONFIG_LSM",
    );
    // The list replaces the one in force, so it must not lose the modules of today.
    let mut disabled = Machine {
        landlock: Landlock::DisabledAtBoot,
        ..modern()
    };
    disabled.surroundings.security_modules = Some("capability,yama,apparmor".to_owned());
    check(
        disabled,
        "Landlock was left out at boot",
        "add `lsm=landlock,yama,apparmor` to GRUB_CMDLINE_LINUX in /etc/default/grub, run `sudo \
         update-grub` (Fedora: `sudo grub2-mkconfig -o /boot/grub2/grub.cfg`) and reboot",
    );
    let wsl = finding(&wsl2(), "landlock");
    assert_eq!(wsl.what, "this WSL kernel has no Landlock");
    assert!(
        wsl.remedy
            .unwrap()
            .starts_with("run `wsl --update` in Windows")
    );
    let blocked = Machine {
        landlock: Landlock::Blocked { by: EPERM },
        ..docker()
    };
    let blocked = finding(&blocked, "landlock");
    assert_eq!(blocked.what, "asking for Landlock failed with EPERM");
    assert!(
        blocked
            .remedy
            .unwrap()
            .contains("--security-opt seccomp=unconfined")
    );
}

/// What an old version leaves open depends on whether namespaces close it.
#[test]
fn landlock_versions() {
    #[track_caller]
    fn check(abi: u32, namespaces: Namespaces, gap: &str, remedy: &str) {
        let landlock = Landlock::Available {
            abi,
            enforced: ProbeResult::Works,
        };
        let found = finding(
            &Machine {
                landlock,
                namespaces,
                ..modern()
            },
            "landlock",
        );
        let texts = (
            found.gap.unwrap_or_default(),
            found.remedy.unwrap_or_default(),
        );
        assert_eq!(texts, (gap.to_owned(), remedy.to_owned()), "ABI {abi}");
    }
    let (inside, outside) = (Namespaces::all(ProbeResult::Works), refused(EPERM));
    let ioctl = "control commands (ioctl) to devices that are open to a tool";
    let scope = "signals to other processes of the user; abstract unix sockets";
    check(6, inside, "", "");
    check(6, outside, "", "");
    check(5, inside, "", "");
    check(5, outside, scope, "use Linux 6.12 or newer");
    check(4, inside, ioctl, "use Linux 6.10 or newer");
    check(
        4,
        outside,
        &format!("{ioctl}; {scope}"),
        "use Linux 6.12 or newer",
    );
    check(
        3,
        outside,
        &format!("TCP ports; {ioctl}; {scope}"),
        "use Linux 6.12 or newer",
    );
    check(2, inside, ioctl, "use Linux 6.10 or newer");
    check(
        1,
        inside,
        &format!(
            "no move of a file to another directory is possible, even where rules allow it; {ioctl}"
        ),
        "use Linux 6.10 or newer",
    );
}

#[test]
fn watching_denials() {
    #[track_caller]
    fn check(release: &str, notify: ProbeResult, listener: ProbeResult, what: &str, remedy: &str) {
        let seccomp = Seccomp {
            filters: ProbeResult::Works,
            notify,
            listener,
        };
        let machine = Machine {
            seccomp,
            kernel: Kernel::parse(release),
            ..modern()
        };
        let found = finding(&machine, "seccomp-notify");
        assert_eq!(
            (found.what.as_str(), found.remedy.as_deref().unwrap_or("")),
            (what, remedy)
        );
    }
    let unknown = ProbeResult::Failed {
        errno: Errno::OPNOTSUPP,
    };
    let taken = ProbeResult::Failed { errno: Errno::BUSY };
    check(
        "6.12.0",
        ProbeResult::Works,
        ProbeResult::Works,
        "denials can be watched as they happen",
        "",
    );
    check(
        "4.18.0-553.el8",
        unknown,
        ProbeResult::NotTried,
        "watching denials failed with EOPNOTSUPP",
        "use Linux 5.0 or newer",
    );
    check(
        "6.12.0",
        ProbeResult::Works,
        taken,
        "another supervisor already watches this process",
        "run jig outside the other sandbox, which listens to system calls itself",
    );
    check(
        "6.12.0",
        ProbeResult::Works,
        ProbeResult::NotTried,
        "denials cannot be watched without filters",
        "make system-call filters work first",
    );
}

#[test]
fn other_systems() {
    #[track_caller]
    fn check(os: &str, remedy: &str) {
        let machine = Machine {
            os: os.to_owned(),
            ..macos()
        };
        let found = finding(&machine, "confinement");
        assert_eq!(found.what, format!("jig cannot confine programs on {os}"));
        assert!(found.remedy.unwrap().contains(remedy));
    }
    check("windows", "wsl --install");
    check("freebsd", "Linux 6.12");
    let found = finding(&macos(), "confinement");
    assert_eq!(
        found.what,
        "programs are started under the sandbox of macOS, which is not tried ahead"
    );
    assert!(found.remedy.unwrap().contains("limactl start"));
}
