//! A workspace on disk, as a person uses it: found, cleared of what a killed jig left there, its configuration
//! loaded, and an engine made for it.
//!
//! Start at [`Project`]. The `jig` program and the station stand on this crate. An embedder who has a
//! configuration of their own needs only jig-engine.

pub mod accepted;
pub mod audit_log;
#[cfg(feature = "wasm-tools")]
pub mod component_bench;
#[cfg(feature = "wasm-tools")]
pub mod component_file;
pub mod confinement;
pub mod engines;
mod environment;
pub mod first_config;
pub mod hosts;
pub mod learned_rules;
pub mod leftovers;
pub mod locate;
pub mod mcp_server;
pub mod open_files;
mod project;
pub mod proxy_service;
pub mod servers;
mod shell_word;
mod stderr_remark;
pub mod wasm_project;

pub use accepted::questions as kept_questions;
pub use environment::CommandEnvironment;
pub use project::{HeldProject, Project, Selection};
pub use shell_word::shell_word;
pub use stderr_remark::{age, remark, time};
