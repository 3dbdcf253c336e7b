//! A workspace on disk, as a person uses it: found, cleared of what a killed jig left there, its configuration
//! loaded, and an engine made for it.
//!
//! Start at [`Project`]. The `jig` program and the station stand on this crate. An embedder who has a
//! configuration of their own needs only jig-engine.

pub mod accepted;
pub mod audit_log;
pub mod engines;
mod environment;
pub mod leftovers;
pub mod locate;
mod project;
mod remark;
pub mod servers;
mod shell_word;

pub use environment::Environment;
pub use project::{Project, Selection};
pub use remark::{age, remark};
pub use shell_word::shell_word;
