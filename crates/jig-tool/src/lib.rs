//! What a tool needs to work for jig.
//!
//! A tool of the runtime `vfs` has no files, no network and no programs of its own: it asks its
//! host. [`vfs::run`] takes care of the protocol, and the tool is a function of a [`vfs::Host`]:
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use jig_tool::vfs;
//!
//! fn main() -> ExitCode {
//!     vfs::run(|host| {
//!         let text = host.read("CHANGELOG.md")?;
//!         let released = text.lines().filter(|line| line.starts_with("## ")).count();
//!         Ok(format!("{released} releases").into())
//!     })
//! }
//! ```
//!
//! Everything blocks, nothing needs a runtime, and it builds for `wasm32-wasip2` as well. The same
//! function runs inside of the host, on whatever [`vfs::Transport`] the host has.
//!
//! A tool that does touch files by itself, of the runtime `stdio`, can ask [`CheckAccess`] before
//! it does.

pub mod vfs;

pub use jig_policy::{Capability, CheckAccess, Checker, FsAccessError};
pub use jig_proto::{
    Access, Action, Block, Content, Context, Question, Resource, ResourceData, Text, ToolError,
    ToolState,
};
