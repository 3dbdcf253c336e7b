//! Linux: namespaces, Landlock, seccomp and control groups.

mod child;
mod confine;
mod order;
mod probe;
mod procfs;
mod readiness;
mod spawn;
mod stage;
mod uapi;

pub(crate) use probe::probe;
pub(crate) use readiness::{Wake, poll, set_nonblocking};
pub(crate) use spawn::{Process, Zygote, shim, spawn};
