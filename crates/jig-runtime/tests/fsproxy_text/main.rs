//! The text variant of the FS proxy over real sockets, to the byte.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "the tests use pipes and look into /proc, and a fixture that fails is a failed test"
)]

#[path = "../fsproxy_llm/world.rs"]
#[expect(
    dead_code,
    reason = "the tests of the framed variant use the rest of it"
)]
mod world;

mod chat;
mod errors;
mod files;
mod stream;
