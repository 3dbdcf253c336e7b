//! WASI 0.2, on the broker.
//!
//! Nothing here is the operating system's: a descriptor is a place that the policy has judged, a clock is
//! read, a wait can be given up. Each interface has a module with a `link` that adds it to the linker.

#![expect(
    unreachable_pub,
    reason = "the bindings hand on the types of resources as public ones, in modules that are private"
)]

pub(crate) mod cli;
pub(crate) mod clocks;
pub(crate) mod filesystem;
pub(crate) mod http;
pub(crate) mod io;
pub(crate) mod random;
pub(crate) mod sockets;
