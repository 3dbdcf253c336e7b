//! The table of all attacks, one file for each group of classes.

mod files;
mod gateway;
mod inside;
mod kernel;
mod machine;
mod mounts;
mod network;
mod processes;
mod resources;
mod work;

use crate::attack::Attack;
pub use gateway::GATEWAY_PORT;

/// Every attack there is, class by class.
pub const TABLES: &[&[Attack]] = &[
    files::OUTSIDE,
    inside::INSIDE,
    mounts::MOUNTS,
    mounts::PRIVILEGES,
    machine::MACHINE,
    network::NETWORK,
    gateway::GATEWAY,
    processes::IPC,
    processes::PROCESSES,
    kernel::KERNEL,
    kernel::EXECUTION,
    machine::TERMINAL,
    resources::SURVIVAL,
    resources::LIMITS,
    resources::OUTPUT,
    machine::INHERITANCE,
    work::WORK,
];

/// Every attack there is, class by class.
pub fn attacks() -> impl Iterator<Item = &'static Attack> {
    TABLES.iter().copied().flatten()
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.into_iter().map(str::to_owned).collect()
}

/// Why a layer leaves something open.
mod because {
    pub(super) const METADATA: &str = "Landlock does not cover what is known about a file";
    pub(super) const VISIBLE: &str = "without a process namespace other processes can be seen";
    pub(super) const UNCOUNTED: &str = "the kernel counts tasks by process namespace only";
    pub(super) const MISSING: &str =
        "a name that does not exist cannot be covered; the runtime looks for it after the call";
    pub(super) const REPLACED: &str =
        "a mount goes with its name: what the user replaces meanwhile is not covered any more";
    pub(super) const HANDED: &str =
        "a descriptor gives power over mode, times and attributes, however it was opened";
    pub(super) const READER: &str = "whoever reads bounds and cleans it";
}

#[cfg(test)]
mod tests;
