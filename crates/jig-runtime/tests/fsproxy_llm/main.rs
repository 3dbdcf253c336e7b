//! LLMCMD and QUOTA over real sockets, with a provider that speaks HTTP on a loopback address.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "the tests use pipes and look into /proc, and a fixture that fails is a failed test"
)]

#[expect(dead_code, reason = "the tests of the text variant use the rest of it")]
mod world;

mod attacks;
mod calls;
mod delivery;
mod inputs;
mod quota;
mod rights;
mod terminal;
