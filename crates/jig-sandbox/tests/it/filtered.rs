//! Under a system-call filter, as containers have one: what is reported, and that the host survives.
//!
//! A filter binds the thread that installs it, so each case runs on a thread of its own.
#![expect(unsafe_code, reason = "filters are installed by system calls")]

use std::ffi::c_long;
use std::thread;

use jig_sandbox::{Errno, Landlock, Machine, ProbeResult, Tier, assess, probe};

const REFUSE: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
const UNKNOWN: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
const KILL: u32 = libc::SECCOMP_RET_KILL_PROCESS;
const SIGSYS: ProbeResult = ProbeResult::Killed {
    signal: libc::SIGSYS,
};
const EPERM: ProbeResult = ProbeResult::Failed { errno: Errno::PERM };

/// Answers the call `number` with `action` from now on, on this thread.
fn filter(number: c_long, action: u32, flags: u64) {
    let step = |code: u32, jf: u8, k: u32| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf,
        k,
    };
    let mut steps = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        step(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            1,
            number as u32,
        ),
        step(libc::BPF_RET | libc::BPF_K, 0, action),
        step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: steps.len() as u16,
        filter: steps.as_mut_ptr(),
    };
    // SAFETY: the program and its steps are live locals, which the kernel only reads.
    let result = unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let operation = c_long::from(libc::SECCOMP_SET_MODE_FILTER);
        libc::syscall(libc::SYS_seccomp, operation, flags, &raw const program)
    };
    // With a listener the result is its descriptor, which stays open, or the filter would fail.
    assert!(result >= 0, "{}", std::io::Error::last_os_error());
}

fn probe_under(number: c_long, action: u32, flags: u64) -> Machine {
    thread::spawn(move || {
        filter(number, action, flags);
        probe()
    })
    .join()
    .expect("the probe does not panic")
}

#[test]
fn blocked_landlock_is_told_from_missing() {
    #[track_caller]
    fn check(action: u32, expected: Landlock) {
        let machine = probe_under(libc::SYS_landlock_create_ruleset, action, 0);
        assert_eq!(machine.landlock, expected);
        assert_eq!(machine.privileges.seccomp_filtered, Some(true));
        assert_eq!(
            machine.seccomp.filters,
            ProbeResult::Works,
            "the other probes go on"
        );
        assert_eq!(assess(&machine).tier, Tier::None);
    }
    check(REFUSE, Landlock::Blocked { by: EPERM });
    check(UNKNOWN, Landlock::NotCompiledIn);
    check(KILL, Landlock::Blocked { by: SIGSYS });
}

#[test]
fn landlock_that_cannot_be_applied_is_no_landlock() {
    let free = probe();
    let machine = probe_under(libc::SYS_landlock_restrict_self, REFUSE, 0);
    match (free.landlock, machine.landlock) {
        (Landlock::Available { abi, .. }, found) => {
            assert_eq!(
                found,
                Landlock::Available {
                    abi,
                    enforced: EPERM
                }
            );
            assert!(!found.works());
        }
        // A kernel without Landlock is the same with a filter.
        (without, found) => assert_eq!(found, without),
    }
}

#[test]
fn blocked_namespaces_leave_tier_b() {
    #[track_caller]
    fn check(action: u32, user: ProbeResult) {
        let free = probe();
        let machine = probe_under(libc::SYS_unshare, action, 0);
        assert_eq!(machine.namespaces.user, user);
        assert!(
            machine.namespaces.steps()[1..]
                .iter()
                .all(|(_, trial)| *trial == ProbeResult::NotTried)
        );
        assert_eq!(machine.landlock, free.landlock, "the other probes go on");
        let assessment = assess(&machine);
        if free.landlock.works() {
            assert_eq!(assessment.tier, Tier::B, "{}", assessment.reason);
        }
        let namespaces = assessment
            .findings
            .iter()
            .find(|one| one.name == "namespaces")
            .unwrap();
        assert!(namespaces.what.contains("filter"), "{}", namespaces.what);
    }
    check(REFUSE, EPERM);
    check(KILL, SIGSYS);
}

#[test]
fn each_step_that_fails_is_named() {
    let free = probe();
    let machine = probe_under(libc::SYS_mount, KILL, 0);
    if free.namespaces.mount.works() {
        assert_eq!(machine.namespaces.private_mounts, SIGSYS);
        assert_eq!(
            machine.namespaces.user,
            ProbeResult::Works,
            "what came before is kept"
        );
        assert_eq!(machine.namespaces.tmpfs, ProbeResult::NotTried);
    } else {
        assert_eq!(machine.namespaces.private_mounts, ProbeResult::NotTried);
    }
}

#[test]
fn blocked_filters_are_seen() {
    let machine = probe_under(libc::SYS_seccomp, REFUSE, 0);
    assert_eq!(machine.seccomp.filters, EPERM);
    assert!(machine.seccomp.is_blocked());
    assert_eq!(assess(&machine).tier, Tier::None);
}

/// A second listener in the chain is refused, so watching denials must stay optional.
#[test]
fn a_supervisor_above_takes_the_listener() {
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    let machine = probe_under(libc::SYS_getppid, libc::SECCOMP_RET_ALLOW, flags);
    assert_eq!(machine.seccomp.filters, ProbeResult::Works);
    assert_eq!(
        machine.seccomp.listener,
        ProbeResult::Failed { errno: Errno::BUSY }
    );
    let findings = assess(&machine).findings;
    let notify = findings
        .iter()
        .find(|one| one.name == "seccomp-notify")
        .unwrap();
    assert_eq!(
        notify.what,
        "another supervisor already watches this process"
    );
}
