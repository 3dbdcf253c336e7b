//! Questions to language models, to a server on the loopback interface that behaves, and to one that does not.

#![expect(clippy::unwrap_used, reason = "a fixture that fails is a failed test")]

mod answers;
mod cancels;
mod counted;
mod misbehaving;
mod parallel;
mod retries;
mod secrets;
mod tls;
mod world;
