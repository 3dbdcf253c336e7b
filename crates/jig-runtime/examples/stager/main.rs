//! A stateful tool: it stages hunks one by one, as it is told, or talks with a program.

mod tool;

use std::process::ExitCode;

fn main() -> ExitCode {
    jig_tool::vfs::run(tool::stage)
}
