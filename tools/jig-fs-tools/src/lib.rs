//! The `fs_*` tools: files of the workspace, through whatever host runs them.
//!
//! [`run`] does one call. The tools know nothing but their [`Host`]: the same code runs inside of
//! jig and as a confined subprocess, with the same results. What they may do is the host's to
//! decide; a denial reaches the caller with its explanation.
//!
//! Their parameters are declared in the built-in layer of the configuration. Arguments are checked
//! here all the same, because a tool may be called by others.

mod arguments;
mod create_file;
mod delete_file;
mod diff;
mod grep_files;
mod list_files;
mod modify_file;
mod move_file;
mod phrases;
mod preview;
mod read_file;
mod refusal;
mod replace;

use jig_tool::vfs::Host;
use jig_tool::{Content, ToolError};

/// The names of the tools.
pub const NAMES: [&str; 7] = [
    "fs_read_file",
    "fs_list_files",
    "fs_grep_files",
    "fs_create_file",
    "fs_modify_file",
    "fs_delete_file",
    "fs_move_file",
];

/// Does the call of `host` with the tool of this name; `None` if it is not one of [`NAMES`].
///
/// If the host only wants to show the call to a person, nothing is changed, and what comes back is
/// what the tool would do.
pub fn run(name: &str, host: &mut Host) -> Option<Result<Content, ToolError>> {
    let run = match name {
        "fs_read_file" => read_file::run,
        "fs_list_files" => list_files::run,
        "fs_grep_files" => grep_files::run,
        "fs_create_file" => create_file::run,
        "fs_modify_file" => modify_file::run,
        "fs_delete_file" => delete_file::run,
        "fs_move_file" => move_file::run,
        _ => return None,
    };
    Some(if host.only_shows() {
        preview::call(name, host)
    } else {
        run(host)
    })
}
