//! Where namespaces are refused, as in most containers: what still holds, and what is said.
//!
//! A filter binds the thread that installs it and its children, so each case has a thread of its own.

use std::ffi::c_long;

use jig_sandbox::{Enforcement, SpawnError, Status};

use super::*;

/// From now on, on this thread, `number` fails with EPERM if its first argument has a bit of `mask`.
fn refuse(number: c_long, mask: u32) {
    let step = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let first_argument = std::mem::offset_of!(libc::seccomp_data, args) as u32;
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let mut steps = [
        step(load, 0, 0, 0),
        step(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            0,
            3,
            number as u32,
        ),
        step(load, 0, 0, first_argument),
        step(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, 0, 1, mask),
        step(
            libc::BPF_RET,
            0,
            0,
            libc::SECCOMP_RET_ERRNO | libc::EPERM as u32,
        ),
        step(libc::BPF_RET, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: steps.len() as u16,
        filter: steps.as_mut_ptr(),
    };
    // SAFETY: the program and its steps are live locals, which the kernel only reads.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let operation = c_long::from(libc::SECCOMP_SET_MODE_FILTER);
        let flags: c_long = 0;
        assert_eq!(
            libc::syscall(libc::SYS_seccomp, operation, flags, &raw const program),
            0
        );
    }
}

/// The status, or the error, of a start under a refusal; and that it ran.
fn start_under(number: c_long, mask: u32, containment: Containment) -> Result<Status, SpawnError> {
    thread::spawn(move || {
        refuse(number, mask);
        let mut request = shell("exit 8");
        request.containment = containment;
        let child = spawn(request)?;
        assert_eq!(child.wait().expect("waitable"), Exit::Exited { code: 8 });
        Ok(child.status)
    })
    .join()
    .expect("it does not panic")
}

#[test]
fn refused_namespaces_leave_the_weaker_way() {
    // Filters of this thread do not bind the zygote of a pool.
    if launches_by_pool() {
        return;
    }
    let namespace = libc::CLONE_NEWUSER.cast_unsigned();
    let why = "new namespaces are refused here: making a process failed with EPERM";
    let status = start_under(libc::SYS_clone, namespace, Containment::BestEffort)
        .expect("it starts without them");
    let Enforcement::PartlyEnforced { gaps } = &status.tree else {
        panic!("{status:?}")
    };
    assert_eq!(gaps[0], why);
    assert_eq!(
        status.processes,
        Enforcement::NotEnforced {
            reason: why.to_owned()
        }
    );

    let error = start_under(libc::SYS_clone, namespace, Containment::Required)
        .expect_err("nothing else is allowed");
    assert_eq!(
        error.to_string(),
        format!("the processes of `/bin/sh` cannot be contained: {why}")
    );
}

/// As in a container that hides parts of /proc: the tree is held, and the view is not.
#[test]
fn a_refused_mount_leaves_the_namespaces() {
    if launches_by_pool() {
        return;
    }
    // The first argument of a mount is a pointer, or null for the change of propagation before it.
    let status = start_under(libc::SYS_mount, u32::MAX, Containment::Required).expect("it starts");
    assert_eq!(status.tree, Enforcement::Enforced);
    let gap = "/proc shows the processes of the host, because mounting a new one failed with EPERM";
    assert_eq!(
        status.processes,
        Enforcement::PartlyEnforced {
            gaps: vec![gap.to_owned()]
        }
    );
}

/// Without the call that closes descriptors the tool would inherit them: it does not start.
#[test]
fn what_cannot_be_closed_is_not_passed_on() {
    if launches_by_pool() {
        return;
    }
    // The last of the ranges begins above all descriptors, and so is not zero.
    let error = start_under(libc::SYS_close_range, u32::MAX, Containment::BestEffort)
        .expect_err("descriptors must be closed");
    let text = "`/bin/sh` could not be started: closing descriptors failed";
    assert_eq!(error.to_string(), text);
}
