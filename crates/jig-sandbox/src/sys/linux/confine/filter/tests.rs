mod c_library;
mod machine;
mod watched;

use std::collections::HashSet;

use self::machine::{Call, run, verify};
use super::program::SeccompAction::{self, Allow, Errno, Kill};
use super::rules::FilterRule;
use super::*;

const BOTH: [Architecture; 2] = [Architecture::X86_64, Architecture::Aarch64];

const EPERM: SeccompAction = Errno(1);
const EAFNOSUPPORT: SeccompAction = Errno(97);
const EPROTONOSUPPORT: SeccompAction = Errno(93);

/// With namespaces and a network of its own.
const TIER_A: FilterContext = FilterContext {
    namespaces: true,
    network: false,
    sockets_by_path: false,
    truncation: true,
};

const TIER_B: FilterContext = FilterContext {
    namespaces: false,
    ..TIER_A
};

const TIER_B_NETWORK: FilterContext = FilterContext {
    network: true,
    ..TIER_B
};

fn all_surroundings() -> impl Iterator<Item = FilterContext> {
    (0..16).map(|bits| FilterContext {
        namespaces: bits & 1 != 0,
        network: bits & 2 != 0,
        sockets_by_path: bits & 4 != 0,
        truncation: bits & 8 != 0,
    })
}

/// Makes the call on every architecture that has it.
#[track_caller]
fn check(around: FilterContext, name: &str, arguments: &[u64], expected: SeccompAction) {
    let mut tried = 0;
    for architecture in BOTH {
        let Some(number) = number(architecture, name) else {
            continue;
        };
        let mut padded = [0; 6];
        padded[..arguments.len()].copy_from_slice(arguments);
        let call = Call {
            number,
            arch: architecture.audit_arch(),
            arguments: padded,
        };
        let (answer, _) = run(&filter(architecture, around), &call);
        assert_eq!(answer, expected.value(), "{name} on {architecture:?}");
        tried += 1;
    }
    assert!(tried > 0, "{name} has no number");
}

#[test]
fn every_program_is_one_that_the_kernel_takes() {
    for architecture in BOTH {
        for around in all_surroundings() {
            verify(&filter(architecture, around));
        }
    }
}

#[test]
fn the_table_is_consistent() {
    let grouped: Vec<&str> = GROUPS
        .iter()
        .flat_map(|group| group.calls)
        .copied()
        .collect();
    let unique: HashSet<&str> = grouped.iter().copied().collect();
    assert_eq!(unique.len(), grouped.len(), "a call is in two groups");
    let numbered: Vec<&str> = NUMBERS.iter().map(|call| call.0).collect();
    assert!(numbered.is_sorted(), "numbers are looked up by halving");
    assert_eq!(unique, numbered.iter().copied().collect());
    for architecture in BOTH {
        let numbers: Vec<u32> = NUMBERS
            .iter()
            .filter_map(|call| architecture.number(call))
            .collect();
        let unique: HashSet<&u32> = numbers.iter().collect();
        assert_eq!(unique.len(), numbers.len(), "a number has two names");
    }
    assert!(GROUPS.iter().all(|group| !group.why.is_empty()));
}

/// Every line of the table on both architectures and in all surroundings, against a plain reading of
/// its clauses.
#[test]
fn every_line_of_the_table_is_what_the_program_answers() {
    let interesting = [
        0,
        1,
        2,
        3,
        5,
        10,
        16,
        0o4755,
        0o2755,
        0x5412,
        0x1000_0000,
        u64::MAX,
    ];
    for architecture in BOTH {
        for around in all_surroundings() {
            let program = filter(architecture, around);
            for group in GROUPS {
                let clauses = group.rule.clauses(around);
                for number in group
                    .calls
                    .iter()
                    .filter_map(|name| number(architecture, name))
                {
                    for first in interesting {
                        for second in interesting {
                            let call = Call {
                                number,
                                arch: architecture.audit_arch(),
                                arguments: [first, second, first, second, 0, 0],
                            };
                            let expected = plainly(&clauses, &call);
                            assert_eq!(run(&program, &call).0, expected.value(), "{call:?}");
                        }
                    }
                }
            }
        }
    }
}

fn plainly(clauses: &[Clause], call: &Call) -> SeccompAction {
    let low = |argument: u8| call.arguments[usize::from(argument)] as u32;
    let holds = |test: &program::ArgumentTest| match *test {
        program::ArgumentTest::AnyBit { argument, mask } => low(argument) & mask != 0,
        program::ArgumentTest::Equals {
            argument,
            mask,
            value,
        } => low(argument) & mask == value,
    };
    let decides = |clause: &&Clause| clause.tests.iter().all(holds);
    clauses.iter().find(decides).unwrap().outcome
}

#[test]
fn numbers_in_no_group_do_not_exist() {
    for architecture in BOTH {
        let known: HashSet<u32> = NUMBERS
            .iter()
            .filter_map(|call| architecture.number(call))
            .collect();
        let program = filter(architecture, TIER_A);
        let highest = known.iter().max().unwrap();
        let x32 = (0..=600).map(|number| 0x4000_0000 | number);
        let edges = [
            *highest + 1,
            0x3fff_ffff,
            0x7fff_ffff,
            0x8000_0000,
            u32::MAX,
        ];
        for number in (0..2000).chain(x32).chain(edges) {
            if known.contains(&number) {
                continue;
            }
            let call = Call {
                number,
                arch: architecture.audit_arch(),
                arguments: [0; 6],
            };
            assert_eq!(run(&program, &call).0, ENOSYS.value(), "{number}");
        }
    }
}

/// Calls in the manner of another architecture, as 32-bit code makes them, have other numbers.
#[test]
fn another_architecture_is_killed() {
    const I386: u32 = 0x4000_0003;
    const ARM: u32 = 0x4000_0028;
    for architecture in BOTH {
        let other = BOTH
            .into_iter()
            .find(|other| *other != architecture)
            .unwrap();
        for arch in [I386, ARM, other.audit_arch(), 0, u32::MAX] {
            for number in 0..500 {
                let call = Call {
                    number,
                    arch,
                    arguments: [0; 6],
                };
                let (answer, _) = run(&filter(architecture, TIER_A), &call);
                assert_eq!(answer, Kill.value());
            }
        }
    }
}

/// What no tool may do anywhere, by name: a call that moves to another group by mistake is noticed.
#[test]
fn what_is_dangerous_is_refused_everywhere() {
    const REFUSED: &str = "mount umount2 pivot_root chroot move_mount open_tree open_tree_attr fsopen \
        fsconfig fsmount fspick mount_setattr unshare setns bpf perf_event_open userfaultfd \
        io_uring_setup io_uring_enter io_uring_register keyctl add_key request_key kexec_load \
        kexec_file_load init_module finit_module delete_module ptrace process_vm_readv \
        process_vm_writev process_madvise kcmp open_by_handle_at name_to_handle_at quotactl \
        quotactl_fd reboot swapon swapoff acct settimeofday clock_settime adjtimex clock_adjtime iopl \
        ioperm lookup_dcookie nfsservctl vhangup syslog sethostname setdomainname fanotify_init \
        modify_ldt";
    for around in all_surroundings() {
        for name in REFUSED.split_whitespace() {
            check(around, name, &[], EPERM);
        }
        for name in ["clone3", "openat2", "memfd_create", "memfd_secret"] {
            check(around, name, &[], ENOSYS);
        }
    }
}

/// What the descriptors of the mediated protocol, and programs that confine themselves, need.
#[test]
fn what_ordinary_programs_need_is_allowed_everywhere() {
    const ALLOWED: &str = "read write openat close mmap execve exit_group wait4 futex rseq pidfd_open \
        pidfd_getfd recvmsg sendmsg seccomp prctl landlock_create_ruleset landlock_add_rule \
        landlock_restrict_self clone epoll_pwait eventfd2 getrandom statx set_robust_list prlimit64 \
        sched_getaffinity rt_sigaction copy_file_range sendfile timerfd_create signalfd4 fchown";
    for around in all_surroundings() {
        for name in ALLOWED.split_whitespace() {
            check(around, name, &[], Allow);
        }
    }
}

#[test]
fn modes_that_lend_an_identity_are_refused() {
    const O_CREAT: u64 = 0o100;
    const O_TMPFILE: u64 = 0o20_200_000;
    for (mode, expected) in [
        (0o755, Allow),
        (0o1777, Allow),
        (0o4755, EPERM),
        (0o2755, EPERM),
        (0o6000, EPERM),
        (0o104_755, EPERM),
    ] {
        for name in ["chmod", "fchmod", "creat", "mknod"] {
            check(TIER_A, name, &[7, mode], expected);
        }
        for name in ["fchmodat", "fchmodat2", "mknodat"] {
            check(TIER_A, name, &[7, 7, mode], expected);
        }
        for flags in [O_CREAT, O_CREAT | 1, O_TMPFILE | 2] {
            check(TIER_A, "open", &[7, flags, mode], expected);
            check(TIER_A, "openat", &[7, 7, flags, mode], expected);
        }
        // Without a new file the last argument is whatever the register held.
        check(TIER_A, "open", &[7, 0o200_000, mode], Allow);
        check(TIER_A, "openat", &[7, 7, 2, mode], Allow);
    }
}

/// Before Landlock decides about it, reading a file is enough to empty it.
#[test]
fn files_are_not_emptied_behind_landlocks_back() {
    const O_TRUNC: u64 = 0o1000;
    let old = FilterContext {
        truncation: false,
        ..TIER_A
    };
    for (flags, expected) in [
        (O_TRUNC, EPERM),
        (O_TRUNC | 0o2_000_000, EPERM),
        (O_TRUNC | 1, Allow),
        (O_TRUNC | 0o100 | 2, Allow),
        (0, Allow),
    ] {
        check(old, "open", &[7, flags, 0], expected);
        check(old, "openat", &[7, 7, flags, 0], expected);
        check(TIER_A, "openat", &[7, 7, flags, 0], Allow);
    }
    check(old, "truncate", &[], EPERM);
    check(TIER_A, "truncate", &[], Allow);
    check(old, "ftruncate", &[], Allow);
}

#[test]
fn new_namespaces_are_refused() {
    const THREAD: u64 = 0x003d_0f00;
    const FORK: u64 = 0x0120_0011;
    for flags in [THREAD, FORK, 17, 0x4111] {
        check(TIER_A, "clone", &[flags], Allow);
    }
    for kind in [
        libc::CLONE_NEWNS,
        libc::CLONE_NEWCGROUP,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
    ] {
        let kind = u64::from(kind as u32);
        check(TIER_A, "clone", &[kind | 17], EPERM);
        check(TIER_B, "clone", &[FORK | kind], EPERM);
    }
}

#[test]
fn sockets_are_of_few_kinds() {
    const CLOEXEC: u64 = 0o2_000_000;
    let check = |around, socket: [u64; 3], expected| check(around, "socket", &socket, expected);
    for inet in [2, 10] {
        for around in [TIER_A, TIER_B_NETWORK] {
            check(around, [inet, 1 | CLOEXEC, 0], Allow);
            check(around, [inet, 1, 6], Allow);
            check(around, [inet, 2 | CLOEXEC, 17], Allow);
            check(around, [inet, 3, 0], EPROTONOSUPPORT);
            check(around, [inet, 1, 262], EPROTONOSUPPORT);
            check(around, [inet, 1, 256], EPROTONOSUPPORT);
            check(around, [inet, 2, 6], EPROTONOSUPPORT);
        }
        check(TIER_B, [inet, 1, 0], EAFNOSUPPORT);
        check(TIER_B, [inet, 2, 17], EAFNOSUPPORT);
    }
    check(TIER_A, [2, 2, 1], Allow);
    check(TIER_A, [10, 2, 58], Allow);
    check(TIER_A, [1, 1, 0], Allow);
    check(TIER_B, [1, 1, 0], EAFNOSUPPORT);
    check(TIER_B_NETWORK, [1, 1, 0], EAFNOSUPPORT);
    let by_path = FilterContext {
        sockets_by_path: true,
        ..TIER_B_NETWORK
    };
    check(by_path, [1, 1, 0], Allow);
    check(TIER_A, [16, 3, 0], Allow);
    check(TIER_A, [16, 3, 9], EAFNOSUPPORT);
    check(TIER_B, [16, 3, 0], EAFNOSUPPORT);
    // Packets, the kernel's ciphers, Bluetooth, virtual machines, SMC, XDP.
    for family in [0, 3, 5, 17, 31, 38, 40, 43, 44, 45] {
        for around in all_surroundings() {
            check(around, [family, 1, 0], EAFNOSUPPORT);
        }
    }
}

#[test]
fn pairs_of_sockets_are_of_the_unix_family() {
    for (family, kind, in_a, in_b) in [
        (1, 1, Allow, Allow),
        (1, 5 | 0o2_000_000, Allow, Allow),
        (1, 2, Allow, EAFNOSUPPORT),
        (2, 1, EAFNOSUPPORT, EAFNOSUPPORT),
        (30, 1, EAFNOSUPPORT, EAFNOSUPPORT),
    ] {
        check(TIER_A, "socketpair", &[family, kind, 0], in_a);
        check(TIER_B, "socketpair", &[family, kind, 0], in_b);
    }
}

#[test]
fn terminals_are_not_typed_into() {
    for command in [0x5412, 0x541c, 0x5423, 0xdead_beef_0000_5412] {
        check(TIER_A, "ioctl", &[0, command], EPERM);
    }
    for command in [0x5401, 0x5413, 0x5414, 0x540e] {
        check(TIER_A, "ioctl", &[0, command], Allow);
    }
}

#[test]
fn without_namespaces_others_are_out_of_reach() {
    for name in [
        "prlimit64",
        "sched_setaffinity",
        "sched_setattr",
        "sched_setparam",
        "sched_setscheduler",
    ] {
        check(TIER_A, name, &[4711], Allow);
        check(TIER_B, name, &[4711], EPERM);
        check(TIER_B, name, &[0], Allow);
        // The kernel sees a number of 32 bits.
        check(TIER_B, name, &[1 << 32], Allow);
    }
    for (name, process, user) in [("setpriority", 0, 2), ("ioprio_set", 1, 3)] {
        check(TIER_A, name, &[process, 4711], Allow);
        check(TIER_B, name, &[process, 4711], EPERM);
        check(TIER_B, name, &[process, 0], Allow);
        check(TIER_B, name, &[user, 0], EPERM);
    }
    for name in [
        "shmget",
        "semget",
        "msgget",
        "mq_open",
        "inotify_init1",
        "bind",
        "connect",
    ] {
        check(TIER_A, name, &[], Allow);
        check(TIER_B, name, &[], EPERM);
    }
    for name in ["bind", "connect"] {
        check(TIER_B_NETWORK, name, &[], Allow);
    }
}

#[test]
fn only_the_ordinary_personality_can_be_had() {
    for (value, expected) in [
        (0, Allow),
        (0xffff_ffff, Allow),
        (0x0004_0000, EPERM),
        (0x0400_0000, EPERM),
        (8, EPERM),
    ] {
        check(TIER_A, "personality", &[value], expected);
    }
}

/// The most frequent calls take a handful of comparisons, however long the table is.
#[test]
fn a_call_is_found_in_few_steps() {
    for architecture in BOTH {
        let program = filter(architecture, TIER_A);
        for call in NUMBERS.iter().filter_map(|call| architecture.number(call)) {
            let call = Call {
                number: call,
                arch: architecture.audit_arch(),
                arguments: [0; 6],
            };
            assert!(run(&program, &call).1 <= 64);
        }
        let read = Call {
            number: number(architecture, "read").unwrap(),
            arch: architecture.audit_arch(),
            arguments: [0; 6],
        };
        let (_, steps) = run(&program, &read);
        assert!(steps <= 12, "{steps} steps on {architecture:?}");
    }
    assert!(matches!(GROUPS[0].rule, FilterRule::Allow));
}
