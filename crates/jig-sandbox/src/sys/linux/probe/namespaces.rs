//! Namespaces: entered one by one, then used.

use crate::machine::Namespaces;
use crate::sys::linux::child::{self, Reporter};
use crate::sys::linux::uapi;

pub(super) fn probe() -> Namespaces {
    // Made before the fork, because the child must not allocate. The own ids are mapped to
    // themselves, the one mapping that every user may ask for.
    let (uid, gid) = (
        rustix::process::geteuid().as_raw(),
        rustix::process::getegid().as_raw(),
    );
    let (uid_map, gid_map) = (format!("{uid} {uid} 1"), format!("{gid} {gid} 1"));
    let job = |reporter: &Reporter| job(reporter, uid_map.as_bytes(), gid_map.as_bytes());
    #[expect(unsafe_code, reason = "the calls are made in a forked child")]
    // SAFETY: the job only uses uapi and the reporter.
    let attempts = unsafe { child::attempts(super::LIMIT, job) };
    Namespaces {
        user: attempts.trial(USER),
        uid_map: attempts.trial(UID_MAP),
        gid_map: attempts.trial(GID_MAP),
        mount: attempts.trial(MOUNT),
        net: attempts.trial(NET),
        pid: attempts.trial(PID),
        ipc: attempts.trial(IPC),
        uts: attempts.trial(UTS),
        private_mounts: attempts.trial(PRIVATE_MOUNTS),
        tmpfs: attempts.trial(TMPFS),
        loopback: attempts.trial(LOOPBACK),
        proc: attempts.trial(PROC),
    }
}

fn job(reporter: &Reporter, uid_map: &[u8], gid_map: &[u8]) {
    // Everything below happens inside the user namespace or not at all: as root, the other
    // namespaces could be had without it, but with rights over the host's.
    if !reporter.attempt(USER, || uapi::unshare(libc::CLONE_NEWUSER)) {
        return;
    }
    reporter.attempt(UID_MAP, || uapi::write_file(c"/proc/self/uid_map", uid_map));
    reporter.attempt(GID_MAP, || {
        // Unprivileged users must give up `setgroups` first.
        uapi::write_file(c"/proc/self/setgroups", b"deny")?;
        uapi::write_file(c"/proc/self/gid_map", gid_map)
    });
    let mount = reporter.attempt(MOUNT, || uapi::unshare(libc::CLONE_NEWNS));
    let net = reporter.attempt(NET, || uapi::unshare(libc::CLONE_NEWNET));
    reporter.attempt(IPC, || uapi::unshare(libc::CLONE_NEWIPC));
    reporter.attempt(UTS, || uapi::unshare(libc::CLONE_NEWUTS));
    // Nothing is mounted before the mounts are private, so that nothing can reach the host's.
    let private = mount && reporter.attempt(PRIVATE_MOUNTS, uapi::make_mounts_private);
    if private {
        // The root always exists. It is covered only for those who enter it anew, not for us.
        reporter.attempt(TMPFS, || uapi::mount_new(c"tmpfs", c"/"));
    }
    if net {
        reporter.attempt(LOOPBACK, uapi::raise_loopback);
    }
    let pid = reporter.attempt(PID, || uapi::unshare(libc::CLONE_NEWPID));
    if pid && private {
        reporter.attempt_in_child(PROC, || uapi::mount_new(c"proc", c"/proc"));
    }
}

const USER: usize = 0;
const UID_MAP: usize = 1;
const GID_MAP: usize = 2;
const MOUNT: usize = 3;
const NET: usize = 4;
const PID: usize = 5;
const IPC: usize = 6;
const UTS: usize = 7;
const PRIVATE_MOUNTS: usize = 8;
const TMPFS: usize = 9;
const LOOPBACK: usize = 10;
const PROC: usize = 11;
