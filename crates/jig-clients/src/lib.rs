//! The programs through which people use agents: where they keep their settings, how jig becomes a server of theirs
//! (`jig setup`), and how their servers become jig's (`jig import`).
//!
//! Start at [`AgentClient`] and at [`import`]. Nothing here asks or prints a result: the `jig` program does.

mod client;
pub mod entry;
pub mod import;
pub mod jsonc;
pub mod settings_file;
mod toml;
pub mod way_to_server;

pub use client::{AgentClient, TOKEN};
