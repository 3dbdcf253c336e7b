//! One module for each command.

pub(crate) mod abort;
pub(crate) mod apply;
pub(crate) mod approve;
pub(crate) mod attach;
pub(crate) mod call;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod fetch;
pub(crate) mod knowledge;
pub(crate) mod log;
pub(crate) mod mcp;
pub(crate) mod policy;
pub(crate) mod proxy;
pub(crate) mod ps;
pub(crate) mod run;
pub(crate) mod setup;
pub(crate) mod spawn;
pub(crate) mod suggest;
pub(crate) mod tool;
pub(crate) mod tools;
pub(crate) mod vfs_host;
pub(crate) mod wait;
pub(crate) mod wasm;
