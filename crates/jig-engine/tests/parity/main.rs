//! The same tools inside jig, as a confined program and as a component: the same results, byte for byte, and
//! the same decisions in the audit log, whatever the rules say (V-003, V-175).
//!
//! Every call of [`calls`] is made under every set of rules of [`rules`], by each of the three, in a workspace
//! that looks the same each time. What differs is a bug in one of the doors.
//!
//! This program is also the tool that runs as a program, so it has a `main` of its own.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests make real workspaces, and fail where that fails"
)]

mod calls;
mod door;
mod rules;
mod runner;
mod world;

use std::process::ExitCode;

use jig_tool::ToolError;

use crate::runner::Test;
use crate::world::On;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some("__tool") {
        return tool(&arguments.next().unwrap_or_default());
    }
    let sets = rules::SETS.iter();
    let tests = sets.flat_map(|set| {
        On::ALL.map(|on| Test {
            name: format!("{}::{}", on.name(), set.name),
            run: Box::new(move || door::compare(on, set)),
        })
    });
    runner::run(tests.collect())
}

/// A predefined tool as a program, as jig itself is one.
fn tool(name: &str) -> ExitCode {
    jig_tool::vfs::run(|host| {
        jig_engine::run_predefined(name, host)
            .unwrap_or_else(|| Err(ToolError::new(format!("there is no tool `{name}`"))))
    })
}
