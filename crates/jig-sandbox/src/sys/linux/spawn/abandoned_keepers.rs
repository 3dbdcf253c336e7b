//! Keepers that were given up: one that hangs in the kernel, as on a dead network drive, is reaped when it
//! has ended at last, by whoever comes next.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

use crate::sys::linux::uapi;

static LEFT: Mutex<Vec<Arc<OwnedFd>>> = Mutex::new(Vec::new());

/// Reaps a child of this process, given by its process descriptor, now or later.
pub(super) fn bury(child: &Arc<OwnedFd>) {
    if uapi::still_runs(child) {
        lock().push(Arc::clone(child));
    }
}

/// Reaps those that have ended by now.
pub(super) fn visit() {
    // One that somebody else has reaped, by a `wait` for any child, is forgotten. A descriptor never means
    // another process.
    lock().retain(|child| uapi::still_runs(child));
}

fn lock() -> std::sync::MutexGuard<'static, Vec<Arc<OwnedFd>>> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}
