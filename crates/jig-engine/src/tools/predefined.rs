//! The tools whose code is part of jig.

use jig_proto::{Content, ToolError};
use jig_runtime::BuiltinRuntime;
use jig_tool::vfs::Host;

/// Does the call of `host` with the predefined tool of this name; `None` if there is none.
///
/// It is the code that runs inside jig, and that a program runs that stands for such a tool.
pub fn run_predefined(name: &str, host: &mut Host) -> Option<Result<Content, ToolError>> {
    jig_fs_tools::run(name, host).or_else(|| jig_git::run(name, host))
}

/// Runs them inside jig.
pub(crate) const RUNTIME: BuiltinRuntime = BuiltinRuntime {
    names: &NAMES,
    run: run_predefined,
};

const NAMES: [&str; COUNT] = {
    let mut names = [""; COUNT];
    let mut at = 0;
    while at < COUNT {
        names[at] = match at.checked_sub(jig_fs_tools::NAMES.len()) {
            None => jig_fs_tools::NAMES[at],
            Some(at) => jig_git::NAMES[at],
        };
        at += 1;
    }
    names
};

const COUNT: usize = jig_fs_tools::NAMES.len() + jig_git::NAMES.len();
