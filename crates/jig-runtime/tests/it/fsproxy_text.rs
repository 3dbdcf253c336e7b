//! The text variant of the FS proxy over real sockets, to the byte.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "the tests use pipes and look into /proc, and a fixture that fails is a failed test"
)]

use crate::fsproxy_llm::world;

mod chat;
mod errors;
mod files;
mod stream;
