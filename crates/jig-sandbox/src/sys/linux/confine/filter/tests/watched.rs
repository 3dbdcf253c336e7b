use super::machine::{Call, run, verify};
use super::*;
use crate::sys::linux::observe;
use crate::sys::linux::stage::calls::OWN_CALL;

/// What the filter of observers answers to a call with these arguments, on the processor of this machine.
#[track_caller]
fn check(name: &str, arguments: &[u64], expected: SeccompAction) {
    let Some(number) = number_here(name) else {
        return;
    };
    let mut padded = [0; 6];
    padded[..arguments.len()].copy_from_slice(arguments);
    let call = Call {
        number,
        arch: Architecture::of_host()
            .expect("there is a table")
            .audit_arch(),
        arguments: padded,
    };
    let (answer, _) = run(observe::filter(), &call);
    assert_eq!(answer, expected.value(), "{name} {arguments:?}");
}

#[test]
fn calls_with_paths_and_addresses_are_shown() {
    for name in [
        "open", "openat", "openat2", "creat", "rename", "unlinkat", "connect", "statx",
    ] {
        check(name, &[1; 6], SeccompAction::Notify);
    }
    check(
        "sendto",
        &[3, 1, 1, 0, 0x7000_1000, 16],
        SeccompAction::Notify,
    );
    check("sendto", &[3, 1, 1, 0, 0, 0], Allow);
    check("newfstatat", &[3, 1, 1, 0x100], SeccompAction::Notify);
    check("newfstatat", &[3, 1, 1, 0x1000], Allow);
    check("statx", &[3, 1, 0x1000], Allow);
    check("utimensat", &[3, 0, 0, 0], Allow);
    check("utimensat", &[3, 0x7000_1000, 0, 0], SeccompAction::Notify);
}

/// What the tool does on the way to its program would wait for an answer that nobody gives yet.
#[test]
fn own_calls_are_not_shown() {
    let mark = u64::from(OWN_CALL);
    for name in ["execve", "sendmsg"] {
        check(name, &[1, 1, 1, mark], Allow);
        check(name, &[1, 1, 1, 0], SeccompAction::Notify);
    }
    for name in [
        "fcntl",
        "dup3",
        "close",
        "close_range",
        "prlimit64",
        "rt_sigprocmask",
        "ioctl",
        "ppoll",
    ] {
        check(name, &[0; 6], Allow);
    }
}

/// The two calls that programs do not expect to be interrupted, and all that is about descriptors.
#[test]
fn other_calls_are_not_shown() {
    for name in [
        "close", "fork", "vfork", "clone", "clone3", "read", "write", "fstat", "fchmod", "mmap",
    ] {
        check(name, &[0; 6], Allow);
    }
}

/// It refuses nothing, of whatever kind.
#[test]
fn nothing_is_refused() {
    let program = observe::filter();
    verify(program);
    let own = Architecture::of_host()
        .expect("there is a table")
        .audit_arch();
    for arch in [own, 0x4000_0003, 0] {
        for number in (0..1024).chain([0x4000_0000, u32::MAX]) {
            let call = Call {
                number,
                arch,
                arguments: [0; 6],
            };
            let (answer, steps) = run(program, &call);
            let allowed = [Allow.value(), SeccompAction::Notify.value()];
            assert!(allowed.contains(&answer), "{number} of {arch:#x}");
            assert!(arch == own || answer == Allow.value());
            assert!(steps < 30, "{number} takes {steps} steps");
        }
    }
}
