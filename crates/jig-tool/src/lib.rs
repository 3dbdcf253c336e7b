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
//! A *stateful* tool is started, looked at, sent input and stopped by its caller, while it runs:
//! [`vfs::Host::state`] shows something, [`vfs::Host::wait_apply`] waits for input, and
//! [`vfs::Host::start_process`] starts a program that stays. Its author writes the schema of its own
//! parameters; [`stateful_schema`] makes that of its arguments, and [`published`] what a model
//! provider takes:
//!
//! ```
//! use jig_tool::{Actions, SchemaForm, published, stateful_schema};
//! use serde_json::json;
//!
//! let own = json!({"properties": {"command": {"type": "string"}}, "required": ["command"]});
//! let own = own.as_object().expect("it is an object");
//! let schema = stateful_schema(own, Actions::ALL)?;
//! assert_eq!(schema["oneOf"][1]["properties"]["action"], json!({"const": "fetch"}));
//!
//! let given = published("git", "Runs git.", own, Actions::ALL, SchemaForm::Flat)?;
//! assert_eq!(given[0].parameters["type"], json!("object"));
//! assert!(given[0].parameters["properties"].get("command").is_some());
//! # Ok::<(), jig_tool::SchemaError>(())
//! ```
//!
//! The same function is a Wasm component by [`wasm_tool!`].
//!
//! A process that was started by a proxy does its file work through its parent: see `proxy`, where there are sockets.
//!
//! A tool that does touch files, hosts or variables by itself, of the runtime `stdio`, can ask
//! [`CheckAccess`] before it does.

#[cfg(unix)]
pub mod proxy;
pub mod vfs;
pub mod wasm;

pub use jig_policy::{
    CanAccess, Capability, CheckAccess, Checker, EnvAccessError, FsAccessError, NetAccessError,
};
pub use jig_proto::{
    Access, Action, Actions, Block, Content, Context, CutReport, Published, Question, Resource,
    ResourceData, SchemaError, SchemaForm, TerminalReport, Text, ToolAction, ToolError, ToolState,
    View, is_deceptive, published, stateful_schema, visible_line, visible_lines, visible_words,
};
#[doc(hidden)]
pub use jig_proto::{Hint, hint};
