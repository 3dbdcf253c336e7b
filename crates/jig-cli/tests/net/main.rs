//! Network by name: real programs, unchanged, in the real sandbox, against servers on the loopback.
//!
//! A name server of the test says which address a name has, and the configuration says who is asked; nothing
//! in jig knows that these are tests. A name that leads to the loopback is reached only because a rule names
//! that address as well, as it would have to for anybody.

#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests make real workspaces and start real programs, and fail where that fails"
)]

mod clients;
mod fixture;
mod git;
mod ipv6;
mod lies;
mod nothing_else;
mod pip;
mod protocols;
mod proxy;
mod requests;
mod resolver;
mod rules;
