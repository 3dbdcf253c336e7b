//! LLMCMD and QUOTA over real sockets, with a provider that speaks HTTP on a loopback address.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "the tests use pipes and look into /proc, and a fixture that fails is a failed test"
)]

pub(crate) mod world;

mod attacks;
mod calls;
mod delivery;
mod inputs;
mod quota;
mod rights;
mod terminal;
