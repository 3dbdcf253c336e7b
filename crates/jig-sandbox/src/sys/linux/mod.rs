//! Linux: namespaces, Landlock, seccomp and control groups.

mod child;
mod confine;
mod creation;
mod observe;
mod order;
mod probe;
mod procfs;
mod readiness;
mod spawn;
mod stage;
mod stream;
mod uapi;

pub(crate) use creation::CreationReports;
pub(crate) use observe::Watcher;
pub(crate) use probe::probe;
pub(crate) use readiness::{Wake, poll, set_nonblocking};
pub(crate) use spawn::{ProcessTree, Zygote, is_temporary, shim, spawn, unchangeable};
pub(crate) use stream::without_device_commands;

/// Marks all descriptors but the standard streams to be closed by `exec`: at once since Linux 5.11, before
/// one by one.
pub(crate) fn seal_descriptors() -> std::io::Result<()> {
    match stage::calls::close_on_exec(3, u32::MAX) {
        Ok(()) => Ok(()),
        Err(_) => super::seal::seal_each("/proc/self/fd"),
    }
}
