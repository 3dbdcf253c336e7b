//! Linux: namespaces, Landlock, seccomp and control groups.

mod child;
mod probe;
mod procfs;
mod readiness;
mod spawn;
mod uapi;

pub(crate) use probe::probe;
pub(crate) use readiness::{Wake, poll, set_nonblocking};
pub(crate) use spawn::{Process, spawn};
