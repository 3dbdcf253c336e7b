//! A client and a relay, against a parent that a test plays and against one that keeps files in memory.
#![expect(clippy::unwrap_used, reason = "a fixture that fails is a failed test")]

mod client;
mod file;
mod parent;
mod relay;
mod relay_ends;
mod relay_llm;
#[cfg(target_os = "linux")]
mod spawn;
