//! What runs between a fork and the tool's program: the keeper, the tool before its program, and the
//! steps of a confinement.
//!
//! The code is freestanding: it needs `core` and raw system calls, never the C library, an allocator or
//! a thread's memory. So it may run in a fork of a host with many threads, where any lock may be held for
//! good, and it is compiled a second time into the launcher, a program of a few kilobytes that starts
//! tools for hosts that are too large to fork. For that second life every path here is relative.
//!
//! It decides nothing. The host packs all that there is to do into one [`order::OrderBlock`], a flat block of
//! bytes, and hears of it by [`record::KeeperMessage`]s.

pub(crate) mod bounds;
pub(crate) mod call_path;
pub(crate) mod calls;
pub(crate) mod clocks;
pub(crate) mod creation;
pub(crate) mod early_tool;
pub(crate) mod folded_path;
pub(crate) mod guarded_names;
pub(crate) mod held_calls;
pub(crate) mod keeper;
pub(crate) mod listen;
pub(crate) mod makers;
pub(crate) mod mounts;
pub(crate) mod namespaces;
pub(crate) mod network;
pub(crate) mod order;
pub(crate) mod overlay;
pub(crate) mod raw;
pub(crate) mod record;
pub(crate) mod root;
pub(crate) mod sockets;
pub(crate) mod steps;
pub(crate) mod supervisor;
pub(crate) mod tool;
pub(crate) mod tree_limits;
pub(crate) mod zygote;

#[cfg(test)]
mod tests;
