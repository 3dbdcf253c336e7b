//! System-call filters: asked for their actions, then tried.

use crate::machine::{Errno, Seccomp};
use crate::sys::linux::child::{self, Reporter};
use crate::sys::linux::uapi;

pub(super) fn probe() -> Seccomp {
    #[expect(unsafe_code, reason = "the calls are made in a forked child")]
    // SAFETY: the job only uses uapi and the reporter.
    let attempts = unsafe { child::attempts(super::LIMIT, job) };
    Seccomp {
        filters: attempts.trial(FILTERS),
        notify: attempts.trial(NOTIFY),
        listener: attempts.trial(LISTENER),
    }
}

fn job(reporter: &Reporter) {
    let notify = reporter.attempt(NOTIFY, || {
        uapi::seccomp_action_available(libc::SECCOMP_RET_USER_NOTIF)
    });
    let filters = reporter.attempt(FILTERS, || {
        uapi::set_no_new_privs()?;
        uapi::seccomp_refuse_getppid(MARK)?;
        Ok(uapi::getppid() == Err(Errno(i32::from(MARK))))
    });
    if notify && filters {
        reporter.attempt(LISTENER, uapi::seccomp_listen);
    }
}

/// An error that `getppid` never gives, so that only our filter can be its cause.
const MARK: u16 = 76;

const NOTIFY: usize = 0;
const FILTERS: usize = 1;
const LISTENER: usize = 2;
