//! `jig __tool`: a predefined tool as a program of its own, for `runtime = "vfs"`.

use std::process::ExitCode;

use jig_tool::{ToolError, vfs};

pub(crate) fn run(name: &str) -> ExitCode {
    vfs::run(|host| {
        let unknown = || {
            Err(ToolError::new(format!(
                "there is no predefined tool `{name}`"
            )))
        };
        jig_engine::run_predefined(name, host).unwrap_or_else(unknown)
    })
}
