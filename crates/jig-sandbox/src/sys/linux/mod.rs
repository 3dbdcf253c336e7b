//! Linux: namespaces, Landlock, seccomp and control groups.

mod child;
mod probe;
mod procfs;
mod uapi;

pub(crate) use probe::probe;
